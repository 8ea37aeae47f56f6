//! One batch between honest parties and a network that changes messages.

use foxtrot_ot::{
    Bits, Direction, Error, Seed, Session, Sid,
    base::{BaseOt, Choice, Functionality, ReceiverKeys, SenderKeys},
    engine::Engine,
    pair::{Pair, assert_rot},
};

use crate::{Change, changed};

/// Runs a batch of 1 to 3 instances; each change is for the message of that number (modulo 3).
///
/// # Panics
/// If a change leaves the parties a key in common, goes unnoticed in an opening, or ends the run
/// with an error that does not blame the peer; if a run without one does not give the keys.
pub fn check_batch(base: &dyn BaseOt, n: u8, changes: &[(u8, Change)]) {
    let n = usize::from(n % 3) + 1;
    let session = || Session::new(Sid::from_bytes([1; 32])).sub("fuzz", 0, Direction::default());
    let pair = Pair::new(sender(base, session(), n), receiver(base, session(), n));
    let mut tampered = Vec::new();
    let result = pair.run_through(|_, honest| {
        let mine = changes.iter().filter(|(at, _)| usize::from(at % 3) == tampered.len());
        let message = changed(&honest, mine.map(|(_, change)| change));
        tampered.push(message != honest);
        message
    });
    let opening = tampered.get(2) == Some(&true);
    let tampered = tampered.contains(&true);
    match result {
        Ok((sender, receiver)) if tampered => {
            assert!(!opening, "an opening that was not committed to");
            let all = sender.pairs().as_flattened();
            assert!(receiver.keys().iter().all(|key| !all.contains(key)), "a key in common");
        }
        Ok((sender, receiver)) => assert_rot(&sender, &receiver),
        Err((_, Error::Decode(_) | Error::Misbehaved(_))) => assert!(tampered),
        Err((party, error)) => panic!("{party:?}: {error}"),
    }
}

/// Runs a batch of any protocol, without a claim on its keys after a change; each change is for the
/// message of that number (modulo 7).
///
/// # Panics
/// If a change ends the run with an error that does not blame the peer; if a run without one fails, or
/// does not give the keys.
pub fn check_any(base: &dyn BaseOt, n: u8, changes: &[(u8, Change)]) {
    let n = usize::from(n % 3) + 1;
    let session = || Session::new(Sid::from_bytes([1; 32])).sub("fuzz", 0, Direction::default());
    let pair = Pair::new(sender(base, session(), n), receiver(base, session(), n));
    let (mut number, mut tampered) = (0, false);
    let result = pair.run_through(|_, honest| {
        let mine = changes.iter().filter(|(at, _)| usize::from(at % 7) == number);
        let message = changed(&honest, mine.map(|(_, change)| change));
        tampered |= message != honest;
        number += 1;
        message
    });
    match result {
        Ok((sender, receiver)) if tampered => {
            assert_eq!((sender.pairs().len(), receiver.keys().len()), (n, n));
        }
        Ok((sender, receiver)) => assert_rot(&sender, &receiver),
        Err((_, Error::Decode(_) | Error::Misbehaved(_))) => assert!(tampered),
        Err((party, error)) => panic!("{party:?}: {error}"),
    }
}

/// The sender of a batch, always with the same seed.
pub fn sender(base: &dyn BaseOt, session: Session, n: usize) -> Engine<'static, SenderKeys> {
    base.sender(session, n, Seed::from_bytes([2; 32])).expect("a small batch")
}

/// The receiver of a batch, always with the same seed; given choices alternate.
pub fn receiver(base: &dyn BaseOt, session: Session, n: usize) -> Engine<'static, ReceiverKeys> {
    let choice = match base.info().functionality {
        Functionality::Random => Choice::Random(n),
        _ => Choice::Given(Bits::from_bools((0..n).map(|i| i % 2 == 1))),
    };
    base.receiver(session, choice, Seed::from_bytes([3; 32])).expect("a small batch")
}
