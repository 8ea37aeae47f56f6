//! The most stack and heap that a role of one `roted` instance takes, on each backend:
//! `cargo run --release -p foxtrot-ot --example memory`.
//!
//! The stack is found by trial: this program calls itself, spends a part of a small stack of known
//! size, and runs the role on what is left, until it overflows. The heap is counted by the
//! allocator; the messages that the role receives and sends, and the keys, are part of it.

use std::{
    env,
    hint::black_box,
    process::{Command, Stdio},
    thread,
};

use foxtrot_ot::{
    Backend, Seed, Session, Sid,
    base::roted::{
        Blinded, Opening, Reply, Rot,
        rot::{Receiver, Sender},
    },
};
use peak_alloc::PeakAlloc;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// Parts of the protocol that run on the small stack.
const PARTS: [&str; 5] =
    ["nothing", "R until Blinded", "R to the end", "S until Reply", "S to the end"];

/// More than any part needs.
const STACK: usize = 128 << 10;

fn session() -> Session {
    Session::new(Sid::from_bytes([1; 32]))
}

fn seed(role: u8) -> Seed {
    Seed::from_bytes([role; 32])
}

/// The messages of the batch, as they would come from the network.
fn messages() -> [Vec<u8>; 3] {
    let (receiver, blinded) = Receiver::start(session(), 1, seed(2)).expect("not empty");
    let (sender, reply) = Sender::respond(session(), &blinded, seed(3));
    let (keys, opening) = receiver.finish(&reply).expect("as many as there are");
    let pairs = sender.finish(&opening).expect("the opening of the commitment");
    drop((keys, pairs));
    [blinded.into_bytes(), reply.into_bytes(), opening.into_bytes()]
}

fn run(part: usize, [blinded, reply, opening]: &[Vec<u8>; 3]) {
    match part {
        1 | 2 => receive((part == 2).then_some(reply)),
        _ => send(blinded, (part == 4).then_some(opening)),
    }
}

#[inline(never)]
fn receive(reply: Option<&Vec<u8>>) {
    let (receiver, blinded) = Receiver::start(session(), 1, seed(2)).expect("not empty");
    drop(black_box(blinded));
    if let Some(reply) = reply {
        let reply = Reply::<Rot>::decode(reply, 1).expect("a reply");
        drop(black_box(receiver.finish(&reply).expect("as many as there are")));
    }
}

#[inline(never)]
fn send(blinded: &[u8], opening: Option<&Vec<u8>>) {
    let blinded = Blinded::<Rot>::decode(blinded, 1).expect("a batch");
    let (sender, reply) = Sender::respond(session(), &blinded, seed(3));
    drop(black_box((blinded, reply)));
    if let Some(opening) = opening {
        let opening = Opening::decode(opening, 1).expect("an opening");
        drop(black_box(sender.finish(&opening).expect("the opening of the commitment")));
    }
}

/// Spends so many frames of the stack first.
#[inline(never)]
fn beneath(frames: usize, part: usize, messages: &[Vec<u8>; 3]) {
    if black_box(frames) > 0 {
        beneath(frames - 1, part, messages);
    } else if part > 0 {
        run(part, messages);
    }
    black_box(&frames);
}

/// Tries a part in a process of its own: returns whether it ends with a stack of `stack` bytes less
/// `frames` frames, and its heap.
fn trial(backend: Backend, part: usize, stack: usize, frames: usize) -> Option<usize> {
    let arguments = [part, stack, frames].map(|number| number.to_string());
    let output = Command::new(env::current_exe().expect("this program"))
        .args(arguments)
        .env("FOXTROT_BACKEND", backend.name())
        .stderr(Stdio::null())
        .output()
        .expect("it runs");
    let heap = || String::from_utf8(output.stdout).ok()?.trim().parse().ok();
    output.status.success().then(|| heap().expect("it prints its heap"))
}

/// Finds the largest number of frames less with which the part still ends.
fn most_frames(backend: Backend, part: usize, stack: usize) -> usize {
    let (mut ends, mut overflows) = (0, stack / 16);
    assert!(trial(backend, part, stack, ends).is_some(), "it needs more than {stack} bytes");
    while overflows - ends > 1 {
        let middle = usize::midpoint(ends, overflows);
        if trial(backend, part, stack, middle).is_some() {
            ends = middle;
        } else {
            overflows = middle;
        }
    }
    ends
}

fn main() {
    let arguments: Vec<usize> =
        env::args().skip(1).map(|text| text.parse().expect("a number")).collect();
    if let [part, stack, frames] = arguments[..] {
        let messages = Box::leak(Box::new(messages()));
        let before = HEAP.current_usage();
        HEAP.reset_peak_usage();
        let small = thread::Builder::new().stack_size(stack);
        let role = small.spawn(move || beneath(frames, part, messages)).expect("a thread");
        role.join().expect("it ends");
        println!("{}", HEAP.peak_usage() - before);
        return;
    }
    for backend in Backend::all() {
        let nothing = most_frames(backend, 0, STACK);
        // Frames are whole units of 16 bytes.
        let frames = most_frames(backend, 0, 2 * STACK) - nothing;
        let frame = (STACK / 16 + frames / 2) / frames * 16;
        let overhead = trial(backend, 0, STACK, 0).expect("it does nothing");
        for (part, name) in PARTS.iter().enumerate().skip(1) {
            let stack = (nothing - most_frames(backend, part, STACK)) * frame;
            let heap = trial(backend, part, STACK, 0).expect("it ran before") - overhead;
            let both = stack + heap;
            println!(
                "{:9} {name:16} stack {stack:6}  heap {heap:6}  both {both:6}",
                backend.name()
            );
        }
    }
}
