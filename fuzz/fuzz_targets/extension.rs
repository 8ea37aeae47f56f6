//! An extension whose every message the fuzzer changes: nobody panics, and a sender that checks has
//! output only if it fits the receiver's.
#![no_main]

use foxtrot_fuzz::{Change, changed};
use foxtrot_ot::{
    Bits, Seed, Session, Sid,
    base::{Adversary, Block, Choice},
    extension::{Extension, OtKind, Places, Receiver, Sender, Shape, registry},
    ideal,
    tasks::only,
};
use libfuzzer_sys::fuzz_target;

const N: usize = 20;

fuzz_target!(|input: (u8, bool, [Vec<Change>; 4])| {
    let (which, given, [setup, corrections, challenge, proof]) = input;
    let extension = registry().nth(usize::from(which) % registry().count()).unwrap();
    if let Some((sender, receiver, choices, delta)) =
        run(extension, given, &setup, &corrections, &challenge, &proof)
    {
        let changed_nothing = [setup, corrections, challenge, proof].iter().all(Vec::is_empty);
        if changed_nothing || extension.info().adversary == Adversary::Malicious {
            for (i, (q, t)) in sender.iter().zip(&receiver).enumerate() {
                let sum = u128::from_le_bytes(*q) ^ u128::from_le_bytes(*t);
                assert_eq!(sum, if choices.get(i).into() { delta } else { 0 });
            }
        }
    }
});

fn run(
    extension: Extension,
    given: bool,
    setup: &[Change],
    corrections: &[Change],
    challenge: &[Change],
    proof: &[Change],
) -> Option<(Vec<Block>, Vec<Block>, Bits, u128)> {
    let session = || Session::new(Sid::from_bytes([1; 32]));
    let (base, chosen) = ideal::random(128, &Seed::from_bytes([4; 32]));
    let (mut receiver, message) =
        Receiver::new(session(), extension, base, Seed::from_bytes([3; 32])).unwrap();
    let message = changed(&message, setup);
    let mut sender =
        Sender::new(session(), extension, chosen, &message, Seed::from_bytes([2; 32])).ok()?;
    let delta = u128::from_le_bytes(*sender.delta().unwrap());
    let choice = match given {
        true => Choice::Given(Bits::from_bools((0..N).map(|i| i % 3 == 0))),
        false => Choice::Random(N),
    };
    let (shape, mut message) = (Shape::of(&choice), Vec::new());
    let unanswered = only(receiver.extend(vec![(choice, &mut message)]).unwrap());
    let absorbed = sender.absorb(&[(shape, &changed(&message, corrections))]).ok()?;
    let (unverified, coin) = only(absorbed);
    let coin = changed(&coin.map_or(Vec::new(), Vec::from), challenge);
    let mut rows = vec![[0; 16]; N];
    let batch = (unanswered, coin.as_slice(), rows.as_mut_slice());
    let (choices, message) = only(receiver.finish(OtKind::Correlated, vec![batch]).ok()?);
    let mut sent = vec![[0; 16]; N];
    let places = Places::Correlated(&mut sent);
    sender.finish(vec![(unverified, &changed(&message, proof), places)]).ok()?;
    Some((sent, rows, choices, delta))
}
