//! The random OTs of the MSB fix: base OTs in both directions side by side, and from them an extension for each of the
//! two streams, whose sender is P₀. A batch of triples takes a batch of it.

use alloc::{vec, vec::Vec};

use super::Chosen;
use crate::{erase::Secret, params::Set};
use foxtrot_ot::{
    Bits, Context, Direction, Error,
    base::{BaseOt, Block, Choice, roted::Endemic},
    engine::{Io, batches::sized, join},
    extension::{Extension, OtKind, Places, ROWS, Receiver, Sender, Shape},
};

/// A party's side of both extensions: in its own stream, in which it is P₀, it is the sender.
pub(super) struct Ots {
    shape: Shape,
    /// Bytes of the corrections of a batch.
    corrections_len: usize,
    sender: Sender,
    receiver: Receiver,
    /// Keys of as many batches as are computed at once, used again.
    pairs: Vec<Secret<[Block; 2]>>,
    keys: Vec<Secret<Block>>,
    choices: Vec<Bits>,
}

impl Ots {
    /// Runs the base OTs and sets both extensions up: on our stream, whose direction is given, and on the peer's.
    pub(super) async fn set_up(
        [ours, theirs]: &[Io; 2],
        cx: &mut Context<'_>,
        set: &Set,
        extension: Extension,
        direction: Direction,
    ) -> Result<Self, Error> {
        let peers = direction.reversed();
        let delta = Choice::Given(cx.bits(ROWS));
        let [base_seed, their_base_seed, sender_seed, receiver_seed] = [(); 4].map(|()| cx.seed());
        let base_session =
            |direction: Direction| cx.session().sub(Endemic.info().name, 0, direction.reversed());
        let of_stream = |direction| cx.session().sub(extension.name(), 0, direction);
        let base = Endemic.receiver(base_session(direction), delta, base_seed)?;
        let their_base = Endemic.sender(base_session(peers), ROWS, their_base_seed)?;
        let sender = async {
            let chosen = ours.run(base).await?;
            let setup = ours.recv(extension.setup_len()).await;
            Sender::new(of_stream(direction), extension, chosen, &setup, sender_seed)
        };
        let receiver = async {
            let pairs = theirs.run(their_base).await?;
            let (receiver, setup) =
                Receiver::new(of_stream(peers), extension, pairs, receiver_seed)?;
            theirs.send(setup).await;
            Ok(receiver)
        };
        let (sender, receiver) = join(sender, receiver).await?;
        let shape = Shape::random(set.ots());
        let corrections_len = extension.corrections_len(shape);
        let (pairs, keys, choices) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self { shape, corrections_len, sender, receiver, pairs, keys, choices })
    }

    /// Bytes of the message for a batch.
    pub(super) fn corrections_len(&self) -> usize {
        self.corrections_len
    }

    /// Returns the next OTs of the peer's stream, for several batches, and the message to send.
    pub(super) fn choose(&mut self, n: usize) -> Result<Vec<Vec<u8>>, Error> {
        let mut messages = vec![Vec::new(); n];
        let batches = messages.iter_mut().map(|it| (Choice::Random(self.shape.n()), it));
        let unanswered = self.receiver.extend(batches.collect())?;
        let sizes = vec![self.shape.n(); n];
        let places = sized(&mut self.keys, &sizes);
        let batches =
            unanswered.into_iter().zip(places).map(|(batch, keys)| (batch, &[][..], keys));
        let received = self.receiver.finish(OtKind::Random, batches.collect())?;
        self.choices = received.into_iter().map(|(choices, _)| choices).collect();
        Ok(messages)
    }

    /// Choices and keys of the last [`Ots::choose`].
    pub(super) fn chosen(&self) -> impl Iterator<Item = Chosen<'_>> {
        let n = self.shape.n();
        let batches = self.choices.iter().zip(&self.keys);
        batches.map(move |(choices, keys)| Chosen { choices, keys: &keys[..n] })
    }

    /// The next OTs of our stream, from the peer's messages.
    pub(super) fn take(
        &mut self,
        messages: &[Vec<u8>],
    ) -> Result<impl Iterator<Item = &[[Block; 2]]>, Error> {
        let of_shapes: Vec<_> = messages.iter().map(|it| (self.shape, it.as_slice())).collect();
        let unverified = self.sender.absorb(&of_shapes)?;
        let sizes = vec![self.shape.n(); messages.len()];
        let places = sized(&mut self.pairs, &sizes).map(Places::Random);
        let batches = unverified.into_iter().zip(places);
        let batches = batches.map(|((batch, _), places)| (batch, &[][..], places));
        self.sender.finish(batches.collect())?;
        let n = self.shape.n();
        Ok(self.pairs.iter().take(messages.len()).map(move |pairs| &pairs[..n]))
    }
}

foxtrot_kernel::redacted! {
    Ots, ots => "{:?}, {:?}", ots.sender, ots.receiver;
}
