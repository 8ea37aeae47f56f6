//! The random OTs of the MSB fix: base OTs in both directions side by side, and from them an extension for each of the
//! two streams, whose sender is P₀. A batch of triples takes a batch of it.

use core::fmt;

use foxtrot_ot::{
    Bits, Direction, Error as Protocol, Session, Usage,
    base::{BaseOt, Block, Choice, roted::Endemic},
    extension::{Extension, Kind, Places, ROWS, Receiver, SemiHonest, Sender, Shape},
    tasks::Executor,
};
use foxtrot_triples::{params::Set, rlwe::Chosen};
use zeroize::{Zeroize, Zeroizing};

use crate::{
    Channel, Error, Lane, drive,
    extend::{fresh_seed, random},
};

/// A party's side of both extensions: in its own stream, in which it is P₀, it is the sender.
pub(super) struct Ots {
    shape: Shape,
    /// Bytes of the corrections of a batch.
    corrections_len: usize,
    sender: Sender<SemiHonest>,
    receiver: Receiver<SemiHonest>,
    /// Keys of as many batches as are computed at once, used again.
    pairs: Vec<Zeroizing<Vec<[Block; 2]>>>,
    keys: Vec<Zeroizing<Vec<Block>>>,
    choices: Vec<Bits>,
}

impl Ots {
    /// Runs the base OTs and sets both extensions up: on our lane for our stream, whose direction is given, and on the
    /// other one for the peer's.
    pub(super) fn set_up(
        channel: &Channel,
        set: &Set,
        extension: Extension<SemiHonest>,
        session: &Session,
        direction: Direction,
        [ours, theirs]: [Lane; 2],
    ) -> Result<Self, Error> {
        let base_session =
            |direction: Direction| session.sub(Endemic.info().name, 0, direction.reversed());
        let of_stream = |direction| session.sub(extension.name(), 0, direction);
        let told = |e: Usage| channel.give_up(e);

        let delta = Bits::from_bytes(&*random::<{ ROWS / 8 }>()?, ROWS);
        let base = Endemic.receiver(base_session(direction), Choice::Given(delta), fresh_seed()?);
        let mut base = base.map_err(told)?;
        drive::advance(channel, ours, &mut base)?;
        let their_base = Endemic.sender(base_session(direction.reversed()), ROWS, fresh_seed()?);
        let pairs = drive::run(channel, theirs, their_base.map_err(told)?)?;
        let their_stream = of_stream(direction.reversed());
        let receiver = Receiver::new(their_stream, extension, pairs, fresh_seed()?);
        let (receiver, setup) = receiver.map_err(told)?;
        channel.send(theirs, setup)?;

        let chosen = drive::run(channel, ours, base)?;
        let setup = channel.recv(ours, extension.setup_len())?;
        let sender = Sender::new(of_stream(direction), extension, chosen, &setup, fresh_seed()?);
        let sender = sender.map_err(|e| channel.give_up(e))?;
        let shape = Shape::random(set.ots());
        let corrections_len = extension.corrections_len(shape);
        let (pairs, keys, choices) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self { shape, corrections_len, sender, receiver, pairs, keys, choices })
    }

    /// The same, on several threads.
    pub(super) fn with_executors(self, [first, second]: [Box<dyn Executor>; 2]) -> Self {
        let sender = self.sender.with_executor(first);
        Self { sender, receiver: self.receiver.with_executor(second), ..self }
    }

    /// Bytes of the message for a batch.
    pub(super) fn corrections_len(&self) -> usize {
        self.corrections_len
    }

    /// The next OTs of the peer's stream, for so many batches; with what has to be sent.
    pub(super) fn choose(&mut self, n: usize) -> Result<Vec<Vec<u8>>, Usage> {
        let mut messages = vec![Vec::new(); n];
        let batches = messages.iter_mut().map(|it| (Choice::Random(self.shape.n()), it));
        let received = self.receiver.extend_all(batches.collect())?;
        grow(&mut self.keys, n, self.shape.n());
        let places = self.keys.iter_mut().map(|keys| keys.as_mut_slice());
        let received = received.into_iter().zip(places).collect();
        self.choices = self.receiver.output_all(Kind::Random, received)?;
        Ok(messages)
    }

    /// What the last [`Ots::choose`] has got.
    pub(super) fn chosen(&self) -> impl Iterator<Item = Chosen<'_>> {
        self.choices.iter().zip(&self.keys).map(|(choices, keys)| Chosen { choices, keys })
    }

    /// The next OTs of our stream, from the peer's messages.
    pub(super) fn take(
        &mut self,
        messages: &[Vec<u8>],
    ) -> Result<impl Iterator<Item = &[[Block; 2]]>, Protocol> {
        let of_shapes: Vec<_> = messages.iter().map(|it| (self.shape, it.as_slice())).collect();
        let sent = self.sender.absorb_all(&of_shapes)?;
        grow(&mut self.pairs, messages.len(), self.shape.n());
        let places = self.pairs.iter_mut().map(|pairs| Places::Random(pairs));
        self.sender.output_all(sent.into_iter().zip(places).collect())?;
        Ok(self.pairs.iter().take(messages.len()).map(|pairs| pairs.as_slice()))
    }
}

/// So many buffers of that length, at least.
fn grow<T: Clone + Default + Zeroize>(buffers: &mut Vec<Zeroizing<Vec<T>>>, n: usize, len: usize) {
    while buffers.len() < n {
        buffers.push(Zeroizing::new(vec![T::default(); len]));
    }
}

impl fmt::Debug for Ots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ots({:?}, {:?})", self.sender, self.receiver)
    }
}
