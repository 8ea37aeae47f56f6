//! `chou-orlandi` as a [`BaseOt`]: 1 of 2, of random keys and of chosen messages.

use super::{Chosen, Keys, Points, Sender, Share, choose, ciphertexts_len};
use crate::{
    Bits, Error, Seed, Session,
    base::{
        Adversary, BaseOt, Block, Choice, Functionality, Protocol, ReceiverKeys, Run, SenderKeys,
        check_batch, chosen::drawn_messages,
    },
    engine::{Engine, Io},
    erase::SecretBytes,
};

/// Random keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChouOrlandi;

/// Messages of the sender, which are drawn from its seed here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChouOrlandiChosen;

const RANDOM: Protocol = Protocol {
    name: "chou-orlandi",
    family: "chou-orlandi",
    paper: "CO15",
    adversary: Adversary::SemiHonest,
    assumption: "gap Diffie-Hellman, random oracle",
    params: "Curve25519",
    security: "126 classical, 0 quantum",
    caveat: "not UC against malicious peers: choices are bound too late; a quantum computer reads \
        choices and keys",
    flows: 2,
    receiver_bytes: Points::encoded_len,
    sender_bytes: Share::encoded_len,
    ..Protocol::BASE_OT
};

const CHOSEN: Protocol = Protocol {
    name: "chou-orlandi:chosen",
    functionality: Functionality::ChosenMessage,
    flows: 3,
    sender_bytes: |n| Share::encoded_len(n) + ciphertexts_len(n, 2),
    ..RANDOM
};

fn bytes_of(choices: &Bits) -> SecretBytes {
    let mut bytes = SecretBytes::zeroed(choices.len());
    bytes.iter_mut().enumerate().for_each(|(i, byte)| *byte = choices.get(i).unwrap_u8());
    bytes
}

/// The first 128 bits of a key.
fn block(key: &[u8; 32]) -> Block {
    key.as_chunks().0[0]
}

fn pairs(keys: &Keys) -> SenderKeys {
    let pair = |i| core::array::from_fn(|j| block(&keys.of(i)[j]));
    SenderKeys::new((0..keys.instances()).map(pair).collect())
}

async fn send(io: &Io, session: Session, n: usize, seed: Seed) -> Result<Keys, Error> {
    let (sender, share) = Sender::start(session, n, 2, seed)?;
    io.send(share.into_bytes()).await;
    Ok(sender.finish(&Points::receive(io, n).await?)?)
}

async fn receive(io: &Io, session: Session, choices: &Bits, seed: Seed) -> Result<Chosen, Error> {
    let share = Share::receive(io, choices.len()).await?;
    let (chosen, points) = choose(session, 2, &bytes_of(choices), &share, seed)?;
    io.send(points.into_bytes()).await;
    Ok(chosen)
}

impl BaseOt for ChouOrlandi {
    fn info(&self) -> &'static Protocol {
        &RANDOM
    }

    fn sender(&self, session: Session, n: usize, seed: Seed) -> Run<SenderKeys> {
        check_batch(n)?;
        Ok(Engine::new(move |io| async move { Ok(pairs(&send(&io, session, n, seed).await?)) }))
    }

    fn receiver(&self, session: Session, choice: Choice, seed: Seed) -> Run<ReceiverKeys> {
        let choices = choice.given(RANDOM.name)?;
        check_batch(choices.len())?;
        Ok(Engine::new(move |io| async move {
            let chosen = receive(&io, session, &choices, seed).await?;
            let keys = chosen.keys().iter().map(block).collect();
            Ok(ReceiverKeys::new(choices, keys))
        }))
    }
}

impl BaseOt for ChouOrlandiChosen {
    fn info(&self) -> &'static Protocol {
        &CHOSEN
    }

    fn sender(&self, session: Session, n: usize, seed: Seed) -> Run<SenderKeys> {
        check_batch(n)?;
        let messages = drawn_messages(&session, n, &seed);
        Ok(Engine::new(move |io| async move {
            let keys = send(&io, session, n, seed).await?;
            let ciphertexts = keys.encrypt(messages.pairs().as_flattened())?;
            io.send(ciphertexts).await;
            Ok(messages)
        }))
    }

    fn receiver(&self, session: Session, choice: Choice, seed: Seed) -> Run<ReceiverKeys> {
        let choices = choice.given(CHOSEN.name)?;
        check_batch(choices.len())?;
        Ok(Engine::new(move |io| async move {
            let n = choices.len();
            let chosen = receive(&io, session, &choices, seed).await?;
            let messages = chosen.decrypt(&io.recv(ciphertexts_len(n, 2)).await)?;
            Ok(ReceiverKeys::new(choices, messages))
        }))
    }
}
