//! Whole sessions over a channel: hello, batches of base OTs, chosen messages.

use core::time::Duration;
use std::{
    sync::mpsc::{RecvTimeoutError, channel},
    thread,
};

use foxtrot_net::{
    Channel, Error, Lane, drive,
    hello::{self, Agreement, Binding, Hello, Role},
};
use foxtrot_ot::{
    Bits, Misbehaved, Seed, Session,
    base::{BaseOt, Block, Choice, Functionality, registry},
    convert::{self, Format, frame_len},
};

use crate::stream::{Plan, Way, Wire};

pub(crate) const BATCHES: usize = 2;
/// Instances of a batch, and transfers of a frame of messages.
pub(crate) const BATCH: usize = 2;
pub(crate) const MESSAGE_LEN: usize = 8;
const CHOICES: [bool; BATCHES * BATCH] = [true, false, false, true];

/// No party takes as long, whatever happens to its connection.
pub(crate) const BOUND: Duration = Duration::from_secs(30);
/// A timeout for sessions that have to end without one.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// The job of the two parties.
#[derive(Clone, Copy)]
pub(crate) struct Job {
    pub(crate) base: &'static dyn BaseOt,
    /// Chosen messages after the base OTs.
    pub(crate) messages: bool,
    /// True if the sender is the side that opened the connection.
    pub(crate) sender_opens: bool,
}

/// The sender's output.
pub(crate) type Pairs = Vec<[Block; 2]>;

/// The receiver's output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Received {
    pub(crate) choices: Vec<bool>,
    pub(crate) keys: Vec<Block>,
    pub(crate) messages: Vec<Vec<u8>>,
}

/// The end of a session.
pub(crate) struct Ended {
    pub(crate) sender: Result<Pairs, Error>,
    pub(crate) receiver: Result<Received, Error>,
    /// The bytes written, by [`Way`].
    pub(crate) logs: [Vec<u8>; 2],
    /// Places from which on nothing was followed by anything of the other way.
    pub(crate) answered: [usize; 2],
}

/// Every base OT that the command offers, by itself and with messages if it takes choices, opened
/// by the sides in turns.
pub(crate) fn jobs() -> impl Iterator<Item = Job> {
    registry().iter().enumerate().flat_map(|(i, &base)| {
        let endemic = base.info().functionality == Functionality::Endemic;
        let with_messages = [false, true].into_iter().filter(move |&messages| endemic || !messages);
        with_messages.map(move |messages| {
            let sender_opens = (i + usize::from(messages)).is_multiple_of(2);
            Job { base, messages, sender_opens }
        })
    })
}

/// Both parties over a connection in memory.
///
/// # Panics
/// If a party panics or does not end.
pub(crate) fn run(job: Job, plan: &Plan, timeout: Duration) -> Ended {
    let wire = Wire::new(plan.clone());
    let sender = bounded({
        let channel = wire.end(Way::ToReceiver, timeout);
        move || send(job, channel, None)
    });
    let receiver = bounded({
        let channel = wire.end(Way::ToSender, timeout);
        move || receive(job, channel, None)
    });
    Ended {
        sender: sender(),
        receiver: receiver(),
        logs: Way::BOTH.map(|way| wire.log(way)),
        answered: Way::BOTH.map(|way| wire.answered(way)),
    }
}

/// Runs `party` on a thread; the closure waits for it, but not for ever.
pub(crate) fn bounded<T: Send + 'static>(
    party: impl FnOnce() -> T + Send + 'static,
) -> impl FnOnce() -> T {
    let (done, outcome) = channel();
    thread::spawn(move || done.send(party()));
    move || match outcome.recv_timeout(BOUND) {
        Ok(outcome) => outcome,
        Err(RecvTimeoutError::Timeout) => panic!("a party hangs"),
        Err(RecvTimeoutError::Disconnected) => panic!("a party panicked"),
    }
}

pub(crate) fn send(job: Job, channel: Channel, binding: Option<Binding>) -> Result<Pairs, Error> {
    let hello = job.hello(Role::Sender, binding).detail("message-length", MESSAGE_LEN);
    let agreement = hello::exchange(&channel, job.sender_opens, &hello)?;
    let mut pairs = Pairs::new();
    for batch in 0..BATCHES {
        let session = sub(&agreement, job.base.info().name, batch);
        let role = job.base.sender(session, BATCH, seed(1, batch)).unwrap();
        pairs.extend(drive::run(&channel, role)?.pairs());
    }
    if job.messages {
        for (batch, pairs) in pairs.chunks(BATCH).enumerate() {
            let session = sub(&agreement, "chosen-messages", batch);
            let mut sender = convert::Sender::new(session, Format::Pairs, MESSAGE_LEN).unwrap();
            let transfers = batch * BATCH..(batch + 1) * BATCH;
            let messages: Vec<_> = transfers.flat_map(|i| [0, 1].map(|j| message(i, j))).collect();
            let frame = sender.seal(pairs.as_flattened(), &messages).unwrap();
            channel.send(Lane::PROTOCOL, frame)?;
        }
    }
    channel.close()?;
    Ok(pairs)
}

pub(crate) fn receive(
    job: Job,
    channel: Channel,
    binding: Option<Binding>,
) -> Result<Received, Error> {
    let hello = job.hello(Role::Receiver, binding);
    let agreement = hello::exchange(&channel, !job.sender_opens, &hello)?;
    let mut batches = Vec::new();
    for batch in 0..BATCHES {
        let session = sub(&agreement, job.base.info().name, batch);
        let choice = match job.base.info().functionality {
            Functionality::Random => Choice::Random(BATCH),
            _ => Choice::Given(Bits::from_bools(CHOICES[batch * BATCH..][..BATCH].to_vec())),
        };
        let role = job.base.receiver(session, choice, seed(2, batch)).unwrap();
        batches.push(drive::run(&channel, role)?);
    }
    let choices = |bits: &Bits| -> Vec<bool> { (0..BATCH).map(|i| bits.get(i).into()).collect() };
    let mut sealed = Vec::new();
    for (number, batch) in batches.iter().enumerate().filter(|_| job.messages) {
        let session = sub(&agreement, "chosen-messages", number);
        let chosen: Vec<_> = choices(batch.choices()).into_iter().map(u64::from).collect();
        let (chosen, keys) = (chosen.into(), batch.keys().to_vec().into());
        let mut receiver =
            convert::Receiver::new(session, Format::Pairs, MESSAGE_LEN, chosen, keys).unwrap();
        receiver.take(&channel.recv(Lane::PROTOCOL, frame_len(2 * BATCH, MESSAGE_LEN))?)?;
        sealed.push(receiver.finish().unwrap());
    }
    channel.close()?;
    let opened = sealed.into_iter().flat_map(convert::Sealed::open);
    let opened = opened.map(|message| message.map(|message| message.to_vec()));
    let messages = opened.collect::<Option<_>>();
    let messages = messages.ok_or(foxtrot_ot::Error::from(Misbehaved::MessageAuthentication))?;
    Ok(Received {
        choices: batches.iter().flat_map(|batch| choices(batch.choices())).collect(),
        keys: batches.iter().flat_map(|batch| batch.keys()).copied().collect(),
        messages,
    })
}

impl Job {
    fn hello(self, role: Role, binding: Option<Binding>) -> Hello {
        let hello = Hello::new(role)
            // So that two runs write the same bytes.
            .with_nonce([if role == Role::Sender { 1 } else { 2 }; 32])
            .term("base", self.base.info().name)
            .term("count", BATCHES * BATCH);
        match binding {
            Some(binding) => hello.bound_to(binding),
            None => hello,
        }
    }
}

impl core::fmt::Debug for Job {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { base, messages, sender_opens } = self;
        let (messages, opens) = (
            if *messages { " with messages" } else { "" },
            if *sender_opens { "sender" } else { "receiver" },
        );
        write!(f, "{}{messages}, opened by the {opens}", base.info().name)
    }
}

/// The message of transfer i for choice j.
pub(crate) fn message(i: usize, j: usize) -> Vec<u8> {
    format!("{j} of {i}").into_bytes()
}

fn sub(agreement: &Agreement, protocol: &str, counter: usize) -> Session {
    Session::new(agreement.sid).sub(protocol, counter as u64, agreement.direction())
}

/// A party's seed: the same in every run, so that a run without faults has the same outputs.
fn seed(party: u8, batch: usize) -> Seed {
    let mut seed = [party; 32];
    seed[..8].copy_from_slice(&(batch as u64).to_le_bytes());
    Seed::from_bytes(seed)
}
