//! A session from the opening of the line to the last step of the closing.

use alloc::{boxed::Box, rc::Rc, vec::Vec};
use core::{cell::RefCell, pin::Pin};

use foxtrot_ot::{
    Direction, Seed, Session, Usage,
    base::{
        BaseOt,
        roted::{Endemic, Rot},
    },
    convert::{self, Format},
    engine::{Engine, Progress},
    line::{CONFIRMATION_LEN, Key, MAGIC, OPENING_LEN, Responder},
    oracle::{Purpose, Query},
};
use zeroize::Zeroizing;

use crate::{
    Fault, Job, Outcome, hello,
    wire::{HELLO, PROTOCOL, Port, Wire, pause, put, receive},
};

/// Bytes of a step of the closing: its number and the transcript.
const STEP_LEN: usize = 33;
/// The most transfers: one batch of the wire.
const MOST_TRANSFERS: usize = 1024;

/// Runs a session. A failure after the hellos is told to the host.
// As blocks, not `async fn`: that would keep each argument twice.
pub(crate) fn run(
    port: Rc<RefCell<Port>>,
    job: Job,
    key: Key,
    random: Zeroizing<[[u8; 32]; 3]>,
) -> impl Future<Output = Result<Outcome, Fault>> {
    async move {
        let line = boxed(greet(&port, key, &random[0])).await?;
        let mut wire = Wire::new(port, line);
        let ended = boxed(talk(&mut wire, job, &random)).await;
        let reason = match &ended {
            Ok(_) => None,
            // A host that has not heard our hello takes no reason.
            Err(Fault::Hello | Fault::Terms | Fault::GaveUp(_) | Fault::Ended) => None,
            Err(Fault::Frame | Fault::Line(_)) => Some(1),
            Err(Fault::Protocol | Fault::Transcript) => Some(2),
            Err(Fault::Silence) => Some(3),
            Err(Fault::Job) => Some(4),
        };
        if let Some(reason) = reason {
            // Whether the host hears it or not.
            let _ = wire.send(HELLO, &[reason]).await;
        }
        let closed = wire.close().await;
        if ended.is_ok() {
            closed?
        }
        ended
    }
}

/// A part of the session on the heap, which is there only while it runs, and whose frame is its own.
fn boxed<'a, Out>(part: impl Future<Output = Out> + 'a) -> Pin<Box<dyn Future<Output = Out> + 'a>> {
    Box::pin(part)
}

/// Waits for an opening, among whatever bytes come, and makes the line.
async fn greet(
    port: &RefCell<Port>,
    key: Key,
    nonce: &[u8; 32],
) -> Result<foxtrot_ot::line::Line, Fault> {
    let mut window = 0;
    while window != u64::from_be_bytes(MAGIC) {
        let [byte] = receive(port).await?;
        window = window << 8 | u64::from(byte);
    }
    port.borrow_mut().in_session = true;
    let rest: [u8; OPENING_LEN - MAGIC.len()] = receive(port).await?;
    let mut opening = [0; OPENING_LEN];
    opening[..MAGIC.len()].copy_from_slice(&MAGIC);
    opening[MAGIC.len()..].copy_from_slice(&rest);
    let (responder, answer) = Responder::answer(key, &opening, *nonce)?;
    put(port, &answer);
    let confirmation: [u8; CONFIRMATION_LEN] = receive(port).await?;
    Ok(responder.finish(&confirmation)?)
}

/// Hashes of the frames of the protocol that go one way (`docs/wire/README.md`, section 2.1).
struct Tally {
    side: u8,
    /// The number of frames to come.
    left: usize,
    state: Frames,
}

enum Frames {
    None,
    Some(Box<Query>),
    All([u8; 32]),
}

impl Tally {
    fn new(side: u8, left: usize) -> Self {
        Self { side, left, state: Frames::None }
    }

    // Never inlined: a query takes 2 KB of the stack.
    #[inline(never)]
    fn frame(&mut self, session: &Session, payload: &[u8]) {
        let oracle = session.oracle(const { Purpose::new("foxtrot v1 frames") });
        self.left -= 1;
        self.state = match (core::mem::replace(&mut self.state, Frames::None), self.left) {
            // A single frame needs no state, which is large.
            (Frames::None, 0) => {
                let mut all = [0; 32];
                oracle.answer(PROTOCOL.into(), self.side, &[payload], &mut all);
                Frames::All(all)
            }
            (Frames::None, _) => {
                Frames::Some(Box::new(oracle.query(PROTOCOL.into(), self.side).field(payload)))
            }
            (Frames::Some(query), 0) => Frames::All(query.field(payload).finish()),
            (Frames::Some(query), _) => Frames::Some(Box::new(query.field(payload))),
            (all, _) => all,
        };
    }

    fn hash(&self, session: &Session) -> [u8; 32] {
        match &self.state {
            Frames::All(all) => *all,
            _ => empty(session, PROTOCOL, self.side),
        }
    }
}

/// The hash of no frames.
#[inline(never)]
fn empty(session: &Session, lane: u8, side: u8) -> [u8; 32] {
    let mut hash = [0; 32];
    session.oracle(const { Purpose::new("foxtrot v1 frames") }).answer(
        lane.into(),
        side,
        &[],
        &mut hash,
    );
    hash
}

/// A session whose sides have agreed.
struct Talk<'a> {
    wire: &'a mut Wire,
    session: Session,
    /// The host's frames, and ours.
    tallies: [Tally; 2],
}

fn talk(
    wire: &mut Wire,
    job: Job,
    random: &Zeroizing<[[u8; 32]; 3]>,
) -> impl Future<Output = Result<Outcome, Fault>> {
    async move {
        let (base, n) = match &job {
            Job::SendRandom(n) | Job::ReceiveRandom(n) => (Rot.info().name, *n),
            Job::SendMessages { messages, .. } => (Endemic.info().name, messages.len()),
            Job::ReceiveMessages { choices, .. } => (Endemic.info().name, choices.len()),
        };
        if !(1..=MOST_TRANSFERS).contains(&n) {
            return Err(Fault::Job);
        }
        let is_receiver = matches!(job, Job::ReceiveRandom(..) | Job::ReceiveMessages { .. });
        let session = agree(wire, &job, base, n, is_receiver, &random[1]).await?;
        let (session, message_len) = session;
        // A hash of the device takes less than 4 MiB, and one takes all that a side sends.
        if message_len + 1125 > (2 << 20) / n {
            return Err(Fault::Job);
        }
        let direction =
            if is_receiver { Direction::InitiatorSends } else { Direction::ResponderSends };

        // Frames of each side on the protocol's lane.
        let sealed = match &job {
            Job::SendRandom(..) | Job::ReceiveRandom(..) => 0,
            _ => (2 * n).div_ceil(Format::Pairs.messages_per_frame(message_len)),
        };
        let of_receiver = if sealed == 0 { 2 } else { 1 };
        let (host, device) =
            if is_receiver { (1 + sealed, of_receiver) } else { (of_receiver, 1 + sealed) };
        let tallies = [Tally::new(0, host), Tally::new(1, device)];
        let (of_base, seed) = (session.sub(base, 0, direction), Seed::from_bytes(random[2]));
        let talk = &mut Talk { wire, session, tallies };
        // Each job names its protocol and its role, so that an image has only what its jobs need.
        let work = match job {
            #[cfg(feature = "send-random")]
            Job::SendRandom(..) => boxed(async move {
                let keys = talk.play(Rot.sender(of_base, n, seed)).await?;
                let transcript = talk.finish().await?;
                talk.await_step(1, &transcript).await?;
                talk.step(1, &transcript).await?;
                Ok(Outcome::SenderKeys(keys))
            }),
            #[cfg(feature = "receive-random")]
            Job::ReceiveRandom(..) => boxed(async move {
                let keys = talk
                    .play(Rot.receiver(of_base, foxtrot_ot::base::Choice::Random(n), seed))
                    .await?;
                let transcript = talk.finish().await?;
                talk.step(1, &transcript).await?;
                talk.await_step(1, &transcript).await?;
                Ok(Outcome::ReceiverKeys(keys))
            }),
            #[cfg(feature = "send-messages")]
            Job::SendMessages { messages, .. } => boxed(async move {
                let keys = talk.play(Endemic.sender(of_base, n, seed)).await?;
                let of_messages = talk.session.sub("chosen-messages", 0, direction);
                let mut sender = convert::Sender::new(of_messages, Format::Pairs, message_len)
                    .map_err(|_| Fault::Job)?;
                let per_frame = Format::Pairs.messages_per_frame(message_len);
                let (keys, messages) = (keys.pairs().as_flattened(), messages.as_flattened());
                for (keys, messages) in keys.chunks(per_frame).zip(messages.chunks(per_frame)) {
                    let frame = sender.seal(keys, messages).map_err(|_| Fault::Job)?;
                    talk.send(frame).await?;
                }
                talk.finish().await?;
                Ok(Outcome::Sent)
            }),
            #[cfg(feature = "receive-messages")]
            Job::ReceiveMessages { choices, .. } => boxed(async move {
                let mut chosen = Zeroizing::new(Vec::with_capacity(n));
                chosen.extend((0..n).map(|i| u64::from(choices.get(i).unwrap_u8())));
                let keys = talk
                    .play(Endemic.receiver(of_base, foxtrot_ot::base::Choice::Given(choices), seed))
                    .await?;
                let keys = Zeroizing::new(keys.keys().to_vec());
                let of_messages = talk.session.sub("chosen-messages", 0, direction);
                let mut receiver =
                    convert::Receiver::new(of_messages, Format::Pairs, message_len, chosen, keys)
                        .map_err(|_| Fault::Job)?;
                while let Some(len) = receiver.next_frame_len() {
                    let frame = talk.receive(len).await?;
                    receiver.take(&frame).map_err(|_| Fault::Protocol)?;
                }
                let sealed = receiver.finish().map_err(|_| Fault::Protocol)?;
                // The host learns that all has come before anything is opened.
                talk.finish().await?;
                let opened: Vec<_> = sealed.open().collect();
                let messages = opened.into_iter().collect::<Option<_>>();
                Ok(Outcome::Messages(messages.ok_or(Fault::Ended)?))
            }),
            // The image is without this job.
            #[allow(unreachable_patterns, reason = "with all features there is none")]
            _ => return Err(Fault::Job),
        };
        work.await
    }
}

/// Hellos and details: the session, and the length of messages.
async fn agree(
    wire: &mut Wire,
    job: &Job,
    base: &str,
    n: usize,
    is_receiver: bool,
    nonce: &[u8; 32],
) -> Result<(Session, usize), Fault> {
    let (mut digits, mut more) = ([0; 20], [0; 20]);
    let format = |hex: &bool| if *hex { "hex" } else { "text" };
    let (name, format) = match job {
        Job::SendRandom(..) | Job::ReceiveRandom(..) => ("rot", None),
        Job::SendMessages { hex, .. } | Job::ReceiveMessages { hex, .. } => {
            ("ot", Some(("format", format(hex))))
        }
    };
    let mut terms = Vec::with_capacity(6);
    terms.extend([
        ("adversary", "malicious"),
        ("base", base),
        ("count", hello::decimal(n, &mut digits)),
        ("extension", "none"),
    ]);
    terms.extend(format);
    terms.push(("job", name));
    let ours = hello::encode(nonce, is_receiver, &terms);
    drop(terms);
    wire.send(HELLO, &ours).await?;
    let theirs = wire.frame(HELLO, [hello::LEAST, hello::MOST]).await?;
    hello::compare(&ours, &theirs)?;
    let greeting = hello::greeting(&theirs, &ours, wire.exporter());

    let theirs = wire.frame(HELLO, [hello::LEAST_DETAILS, hello::MOST]).await?;
    let told = hello::check_details(&greeting, &theirs)?;
    let longest = |pairs: &[[Zeroizing<Vec<u8>>; 2]]| {
        pairs.as_flattened().iter().map(|message| message.len()).max().unwrap_or_default()
    };
    let (message_len, ours) = match job {
        Job::SendMessages { messages, .. } => {
            let len = longest(messages);
            let told = ("message-length", hello::decimal(len, &mut more));
            (len, hello::details(&greeting, &[told]))
        }
        Job::ReceiveMessages { .. } => {
            let len = told.filter(|&len| len <= convert::MAX_MESSAGE).ok_or(Fault::Hello)?;
            (len, hello::details(&greeting, &[]))
        }
        _ => (0, hello::details(&greeting, &[])),
    };
    wire.send(HELLO, &ours).await?;
    Ok((hello::session(&greeting, &theirs, &ours), message_len))
}

impl Talk<'_> {
    async fn send(&mut self, frame: Vec<u8>) -> Result<(), Fault> {
        self.tallies[1].frame(&self.session, &frame);
        pause(&self.wire.port).await;
        self.wire.send(PROTOCOL, &frame).await
    }

    async fn receive(&mut self, len: usize) -> Result<Vec<u8>, Fault> {
        let frame = self.wire.frame(PROTOCOL, [len, len]).await?;
        self.tallies[0].frame(&self.session, &frame);
        pause(&self.wire.port).await;
        Ok(frame)
    }

    /// Plays an engine, a message to a step.
    async fn play<Out>(&mut self, engine: Result<Engine<'_, Out>, Usage>) -> Result<Out, Fault> {
        let mut engine = engine.map_err(|_| Fault::Job)?;
        loop {
            let progress = engine.advance().map_err(|_| Fault::Protocol)?;
            pause(&self.wire.port).await;
            while let Some((_, message)) = engine.outgoing() {
                self.send(message).await?;
            }
            match progress {
                Progress::Sending => {}
                Progress::Done(out) => return Ok(out),
                Progress::Waiting { len, .. } => engine.deliver(0, self.receive(len).await?),
            }
        }
    }

    /// Both sides say that they have all, and compare what each has received with what the other sent.
    async fn finish(&mut self) -> Result<[u8; 32], Fault> {
        let mut hashes = Vec::with_capacity(14);
        for lane in 1..8 {
            for side in 0..2 {
                hashes.push(match lane {
                    PROTOCOL => self.tallies[usize::from(side)].hash(&self.session),
                    _ => empty(&self.session, lane, side),
                });
            }
            pause(&self.wire.port).await;
        }
        let mut transcript = [0; 32];
        let oracle = self.session.oracle(const { Purpose::new("foxtrot v1 transcript") });
        oracle.answer(0, 0, &[hashes.as_flattened()], &mut transcript);
        self.step(0, &transcript).await?;
        self.await_step(0, &transcript).await?;
        Ok(transcript)
    }

    async fn step(&mut self, number: u8, transcript: &[u8; 32]) -> Result<(), Fault> {
        let mut step = [number; STEP_LEN];
        step[1..].copy_from_slice(transcript);
        self.wire.send(HELLO, &step).await
    }

    async fn await_step(&mut self, number: u8, transcript: &[u8; 32]) -> Result<(), Fault> {
        let step = self.wire.frame(HELLO, [STEP_LEN, STEP_LEN]).await?;
        match step[0] == number && step[1..] == transcript[..] {
            true => Ok(()),
            false => Err(Fault::Transcript),
        }
    }
}
