//! A party of Foxtrot on a small device: it answers the ordinary command over a serial line.
//!
//! A [`Board`] moves bytes, tells the time and gives randomness. [`Party::step`] does a bounded piece of a session; a
//! firmware calls it in its main loop and feeds its watchdog in between:
//!
//! ```
//! # struct MyBoard;
//! # impl foxtrot_device::Board for MyBoard {
//! #     fn receive(&mut self) -> Option<u8> { None }
//! #     fn send(&mut self, _: u8) -> bool { true }
//! #     fn milliseconds(&mut self) -> u32 { 0 }
//! #     fn random(&mut self, bytes: &mut [u8]) { bytes.fill(4) }
//! # }
//! use foxtrot_device::{Bits, Job, Party, Step};
//! use foxtrot_ot::line::Key;
//!
//! let mut board = MyBoard;
//! let job = Job::ReceiveMessages { choices: Bits::from_bools([true]), hex: false };
//! // The key is in the board's storage, and in the host's --psk file.
//! let mut party = Party::new(job, Key::from_bytes([7; 32]), &mut board);
//! match party.step(&mut board) {
//!     Step::Waits => {} // sleep until a byte or a timer comes
//!     Step::Works => {} // call again
//!     Step::Done(_outcome) => {}
//!     Step::Failed(_fault) => {} // make another party
//! }
//! ```
//!
//! **Work of a step.** A step moves at most [`BYTES_PER_STEP`] bytes each way. Then it does at most one of these: seal or open
//! one record of at most 256 bytes, hash one frame, or compute one message of the protocol. The last is the longest; it
//! grows with the number of transfers.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod hello;
mod session;
mod wire;

use alloc::{boxed::Box, rc::Rc, vec::Vec};
use core::{
    cell::RefCell,
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll, Waker},
};

pub use foxtrot_ot::Bits;
use foxtrot_ot::{
    base::{ReceiverKeys, SenderKeys},
    line::{Broken, Key},
};
use zeroize::Zeroizing;

use wire::Port;

/// The most bytes that a step moves each way.
pub const BYTES_PER_STEP: usize = 64;

/// The time without a byte after which a session ends, in milliseconds, unless the firmware chooses another.
pub const SILENCE: u32 = 10_000;

/// The machine, as a party sees it.
pub trait Board {
    /// A byte from the line, if one has come.
    fn receive(&mut self) -> Option<u8>;

    /// Puts a byte on the line; false if it does not take one now.
    fn send(&mut self, byte: u8) -> bool;

    /// A clock in milliseconds, which may wrap around.
    fn milliseconds(&mut self) -> u32;

    /// Fills the bytes with uniform randomness that nobody can guess or repeat. All security rests on it: a hardware
    /// generator with its health tests, or a generator that was seeded from one and keeps its state over resets.
    fn random(&mut self, bytes: &mut [u8]);
}

/// The work of a session, which the host's command has to want as well. The image has only the jobs whose features it
/// takes, for the sake of its flash: `send-random`, `receive-random`, `send-messages`, `receive-messages`, by default all.
pub enum Job {
    /// Sends that many random OTs of `roted`: `foxtrot rot receive --extension none -n N`.
    SendRandom(usize),
    /// Receives random OTs of `roted`, with choices that the protocol draws: `foxtrot rot send --extension none -n N`.
    ReceiveRandom(usize),
    /// Sends one of each pair of messages, over `roted-endemic`: `foxtrot ot receive --extension none`.
    SendMessages {
        /// The pairs.
        messages: Vec<[Zeroizing<Vec<u8>>; 2]>,
        /// True if the host has `--hex`.
        hex: bool,
    },
    /// Receives of each pair the message that is chosen, over `roted-endemic`: `foxtrot ot send --extension none`.
    ReceiveMessages {
        /// The choices.
        choices: Bits,
        /// True if the host has `--hex`.
        hex: bool,
    },
}

/// The result of a session.
#[derive(Debug)]
pub enum Outcome {
    /// Both keys of each random OT.
    SenderKeys(SenderKeys),
    /// Choices and keys of random OTs.
    ReceiverKeys(ReceiverKeys),
    /// The messages have been sent.
    Sent,
    /// The chosen messages.
    Messages(Vec<Zeroizing<Vec<u8>>>),
}

/// The reason why a session ended without a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The line lost or changed bytes, or the host has another key.
    Line(Broken),
    /// The host ended the line in the middle of the session.
    Ended,
    /// No byte came in time, or the line took none.
    Silence,
    /// The host's hello is none, or of another version.
    Hello,
    /// The host wants something else than the job.
    Terms,
    /// The host's frame is not the one that is due.
    Frame,
    /// The host gave up, for this reason (`docs/wire/README.md`, section 2).
    GaveUp(u8),
    /// The protocol ended the session: the host sent what cannot be, or failed a check.
    Protocol,
    /// The sides have not received what the other sent.
    Transcript,
    /// The job cannot be done: too many transfers, messages that are too long, or an image without it.
    Job,
}

/// The result of [`Party::step`].
#[derive(Debug)]
pub enum Step {
    /// Nothing can be done until a byte comes, the line takes one, or time passes.
    Waits,
    /// There is more to do at once.
    Works,
    /// The session has ended well.
    Done(Outcome),
    /// The session has ended without a result.
    Failed(Fault),
}

type Run = Pin<Box<dyn Future<Output = Result<Outcome, Fault>>>>;

/// One session of a device, which waits for the host to begin it.
pub struct Party {
    port: Rc<RefCell<Port>>,
    run: Option<Run>,
    /// The time of the last byte either way.
    moved: u32,
    silence: u32,
}

impl Party {
    /// A party for one session, with 96 bytes of the board's randomness.
    // Never inlined: the session, which it moves to the heap, is not to stay on the stack.
    #[inline(never)]
    pub fn new(job: Job, key: Key, board: &mut impl Board) -> Self {
        let port = Rc::new(RefCell::new(Port::new()));
        let mut random = Zeroizing::new([[0; 32]; 3]);
        board.random(random.as_flattened_mut());
        let run = session::run(Rc::clone(&port), job, key, random);
        Self { port, run: Some(Box::pin(run)), moved: board.milliseconds(), silence: SILENCE }
    }

    /// The party, which ends a session after this time without a byte, in milliseconds.
    #[must_use]
    pub fn with_silence(self, silence: u32) -> Self {
        Self { silence, ..self }
    }

    /// Does a bounded piece of the session: see the crate's documentation. After [`Step::Done`] or [`Step::Failed`] there is
    /// nothing left to do, and it says [`Step::Waits`].
    pub fn step(&mut self, board: &mut impl Board) -> Step {
        let Some(run) = &mut self.run else { return Step::Waits };
        let (now, mut port) = (board.milliseconds(), self.port.borrow_mut());
        let moved = port.exchange(board);
        if moved > 0 {
            self.moved = now;
        } else if port.in_session && now.wrapping_sub(self.moved) > self.silence {
            port.silence = true;
        }
        let due = port.is_due();
        drop(port);
        if !due {
            return if moved > 0 { Step::Works } else { Step::Waits };
        }
        // Nothing is to be woken: a step after the next byte polls again.
        match run.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Pending => Step::Works,
            Poll::Ready(ended) => {
                self.run = None;
                match ended {
                    Ok(outcome) => Step::Done(outcome),
                    Err(fault) => Step::Failed(fault),
                }
            }
        }
    }
}

impl From<Broken> for Fault {
    fn from(why: Broken) -> Self {
        Self::Line(why)
    }
}

impl Fault {
    /// The fault in words, without numbers: formatting takes flash.
    pub const fn words(&self) -> &'static str {
        match self {
            Self::Line(Broken::Magic) => "the host does not speak Foxtrot",
            Self::Line(Broken::Key) => "the host does not have this key",
            Self::Line(_) => "bytes on the line were lost, added or changed",
            Self::Ended => "the host ended the line in the middle of the session",
            Self::Silence => "no byte came from the host in time",
            Self::Hello => "the host's hello is none of this version",
            Self::Terms => "the host wants another job",
            Self::Frame => "the host sent another message than the one due",
            Self::GaveUp(_) => "the host gave up",
            Self::Protocol => "the host's message is wrong",
            Self::Transcript => "the sides have not received what the other sent",
            Self::Job => "the job cannot be done",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())?;
        match self {
            Self::GaveUp(reason) => write!(f, ": reason {reason}"),
            _ => Ok(()),
        }
    }
}

impl core::error::Error for Fault {}

impl fmt::Debug for Party {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Party")
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Job(<redacted>)")
    }
}
