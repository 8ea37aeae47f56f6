//! A 1-of-N extension whose every message the fuzzer changes: nobody panics, and a sender that checks
//! has output only if it fits the receiver's.
#![no_main]

use foxtrot_fuzz::{Change, changed};
use foxtrot_ot::{
    Seed, Session, Sid,
    base::{Adversary, Block},
    extension::one_of_n::{Extension, Places, Receiver, Sender, registry},
    ideal,
};
use libfuzzer_sys::fuzz_target;

const N: usize = 20;

fuzz_target!(|input: (u8, [u8; N], [Vec<Change>; 3])| {
    let (which, choices, [corrections, challenge, proof]) = input;
    let extension = registry().nth(usize::from(which) % registry().count()).unwrap();
    let words: Vec<u8> = choices
        .iter()
        .flat_map(|choice| vec![*choice; extension.parameters().word_len()])
        .collect();
    if let Some((sender, receiver)) = run(extension, &words, &corrections, &challenge, &proof) {
        let changed_nothing = [corrections, challenge, proof].iter().all(Vec::is_empty);
        if changed_nothing || extension.info().adversary == Adversary::Malicious {
            assert_eq!(sender, receiver);
        }
    }
});

fn run(
    extension: Extension,
    words: &[u8],
    corrections: &[Change],
    challenge: &[Change],
    proof: &[Change],
) -> Option<(Vec<Block>, Vec<Block>)> {
    let session = || Session::new(Sid::from_bytes([1; 32]));
    let rows = extension.parameters().length;
    let (base, chosen) = ideal::random(rows, &Seed::from_bytes([4; 32]));
    let mut receiver =
        Receiver::new(session(), extension, base, Seed::from_bytes([3; 32])).unwrap();
    let mut sender = Sender::new(session(), extension, chosen, Seed::from_bytes([2; 32])).unwrap();
    let mut message = Vec::new();
    let unanswered = receiver.extend(N, words, &mut message).unwrap();
    let (unverified, coin) = sender.absorb(N, &changed(&message, corrections)).ok()?;
    let coin = changed(&coin.map_or(Vec::new(), Vec::from), challenge);
    let mut received = vec![[0; 16]; N];
    let message = receiver.finish(unanswered, &coin, &mut received).ok()?;
    let mut sent = vec![[0; 16]; N];
    let places = Places::Words(words, &mut sent);
    sender.finish(unverified, &changed(&message, proof), places).ok()?;
    Some((sent, received))
}
