//! `chou-orlandi` as a [`BaseOt`]: 1 of 2, of random keys and of chosen messages.

use alloc::{boxed::Box, vec::Vec};

use super::{Chosen, Ciphertexts, Keys, Points, Sender, Share, choose};
use crate::{
    Bits, Seed, Session, Usage,
    base::{
        Adversary, BaseOt, Block, Choice, Functionality, Info, ReceiverKeys, Role, SenderKeys,
        Step, Waiting, check_batch, chosen::drawn_messages,
    },
    erase::SecretBytes,
};

/// Random keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChouOrlandi;

/// Messages of the sender, which are drawn from its seed here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChouOrlandiChosen;

const RANDOM: Info = Info {
    name: "chou-orlandi",
    family: "chou-orlandi",
    paper: "CO15",
    functionality: Functionality::Endemic,
    adversary: Adversary::SemiHonest,
    assumption: "gap Diffie-Hellman, random oracle",
    params: "Curve25519",
    security: "126 classical, 0 quantum",
    caveat: "not UC against malicious peers: choices are bound too late; a quantum computer reads \
        choices and keys",
    reproduction: false,
    flows: 2,
    receiver_bytes: Points::encoded_len,
    sender_bytes: Share::encoded_len,
};

const CHOSEN: Info = Info {
    name: "chou-orlandi:chosen",
    functionality: Functionality::ChosenMessage,
    flows: 3,
    sender_bytes: |n| Share::encoded_len(n) + Ciphertexts::encoded_len(n, 2),
    ..RANDOM
};

/// The choices as bytes.
fn bytes_of(choices: &Bits) -> SecretBytes {
    let mut bytes = SecretBytes::zeroed(choices.len());
    bytes.iter_mut().enumerate().for_each(|(i, byte)| *byte = choices.get(i).unwrap_u8());
    bytes
}

fn given(choice: Choice, info: &Info) -> Result<Bits, Usage> {
    let choices = choice.given(info.name)?;
    check_batch(choices.len())?;
    Ok(choices)
}

/// The first 128 bits of a key.
fn block(key: &[u8; 32]) -> Block {
    key.as_chunks().0[0]
}

fn pairs(keys: &Keys) -> SenderKeys {
    let pair = |i| core::array::from_fn(|j| block(&keys.of(i)[j]));
    SenderKeys::new((0..keys.instances()).map(pair).collect())
}

/// Sends the share, and does `then` with all keys.
fn sender<Out: Send + 'static>(
    session: Session,
    n: usize,
    seed: Seed,
    then: impl FnOnce(Keys) -> Result<Step<Out>, crate::Error> + Send + 'static,
) -> Box<dyn Role<Out = Out>> {
    Waiting::first(move || {
        let (sender, share) = Sender::start(session, n, 2, seed)?;
        let finish = Waiting::message(Points::encoded_len(n), move |bytes| {
            then(sender.finish(&Points::decode(bytes, n)?)?)
        });
        Ok(Step::send(share.into_bytes(), finish))
    })
}

/// Answers the share, and does `then` with the chosen keys and the answer.
fn receiver(
    session: Session,
    choices: Bits,
    seed: Seed,
    then: impl FnOnce(Bits, Chosen, Vec<u8>) -> Step<ReceiverKeys> + Send + 'static,
) -> Box<dyn Role<Out = ReceiverKeys>> {
    let n = choices.len();
    Waiting::message(Share::encoded_len(n), move |bytes| {
        let share = Share::decode(bytes, n)?;
        let (chosen, points) = choose(session, 2, &bytes_of(&choices), &share, seed)?;
        Ok(then(choices, chosen, points.into_bytes()))
    })
}

impl BaseOt for ChouOrlandi {
    fn info(&self) -> &'static Info {
        &RANDOM
    }

    fn sender(
        &self,
        session: Session,
        n: usize,
        seed: Seed,
    ) -> Result<Box<dyn Role<Out = SenderKeys>>, Usage> {
        check_batch(n)?;
        Ok(sender(session, n, seed, |keys| Ok(Step::done(None, pairs(&keys)))))
    }

    fn receiver(
        &self,
        session: Session,
        choice: Choice,
        seed: Seed,
    ) -> Result<Box<dyn Role<Out = ReceiverKeys>>, Usage> {
        let choices = given(choice, &RANDOM)?;
        Ok(receiver(session, choices, seed, |choices, chosen, answer| {
            let keys = chosen.keys().iter().map(block).collect();
            Step::done(Some(answer), ReceiverKeys::new(choices, keys))
        }))
    }
}

impl BaseOt for ChouOrlandiChosen {
    fn info(&self) -> &'static Info {
        &CHOSEN
    }

    fn sender(
        &self,
        session: Session,
        n: usize,
        seed: Seed,
    ) -> Result<Box<dyn Role<Out = SenderKeys>>, Usage> {
        check_batch(n)?;
        let messages = drawn_messages(&session, n, &seed);
        Ok(sender(session, n, seed, |keys| {
            let ciphertexts = keys.encrypt(messages.pairs().as_flattened())?;
            Ok(Step::done(Some(ciphertexts.into_bytes()), messages))
        }))
    }

    fn receiver(
        &self,
        session: Session,
        choice: Choice,
        seed: Seed,
    ) -> Result<Box<dyn Role<Out = ReceiverKeys>>, Usage> {
        let choices = given(choice, &CHOSEN)?;
        Ok(receiver(session, choices, seed, |choices, chosen, answer| {
            let n = choices.len();
            let finish = Waiting::message(Ciphertexts::encoded_len(n, 2), move |bytes| {
                let messages = chosen.decrypt(&Ciphertexts::decode(bytes, n, 2)?)?;
                Ok(Step::done(None, ReceiverKeys::new(choices, messages)))
            });
            Step::send(answer, finish)
        }))
    }
}
