//! The bytes of every protocol in each direction, as hashes in `traces.baseline`: a change of the
//! wire is a change of that file. Print a new one with
//! `FOXTROT_TRACES=print cargo test -p foxtrot-ot --test traces -- --nocapture`.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use foxtrot_ot::{
    Bits, Direction, Seed, Session, Sid,
    base::{BaseOt, Choice, Functionality, registry},
    pair::{Pair, Party},
};

fn trace(base: &dyn BaseOt, n: usize) -> String {
    let session =
        || Session::new(Sid::from_bytes([1; 32])).sub("trace", 0, Direction::InitiatorSends);
    let choice = match base.info().functionality {
        Functionality::Random => Choice::Random(n),
        _ => Choice::Given(Bits::from_bools((0..n).map(|i| i % 3 == 1))),
    };
    let sender = base.sender(session(), n, Seed::from_bytes([2; 32])).unwrap();
    let receiver = base.receiver(session(), choice, Seed::from_bytes([3; 32])).unwrap();
    let mut hashers = [blake3::Hasher::new(), blake3::Hasher::new()];
    Pair::new(sender, receiver)
        .run_through(|from, message| {
            hashers[usize::from(from == Party::Receiver)].update(&message);
            message
        })
        .unwrap();
    let [sender, receiver] = hashers.map(|hasher| hasher.finalize().to_hex());
    format!("{} n={n} sender={sender} receiver={receiver}\n", base.info().name)
}

#[test]
fn the_bytes_on_the_wire_are_those_of_the_baseline() {
    let traces: String =
        registry().iter().flat_map(|base| [1, 16].map(|n| trace(*base, n))).collect();
    if std::env::var_os("FOXTROT_TRACES").is_some() {
        println!("{traces}");
    }
    assert_eq!(traces, include_str!("traces.baseline"));
}
