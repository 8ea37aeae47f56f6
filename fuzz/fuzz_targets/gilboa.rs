//! Triples from oblivious transfer, every message of which the fuzzer changes: nobody panics, errors blame the peer, and
//! the triples are right if nothing was changed.
#![no_main]

use foxtrot_fuzz::{Change, changed};
use foxtrot_ot::{Error, Seed, Session, Sid, ideal, tasks::only};
use foxtrot_triples::{
    gilboa::{GilboaParty, registry},
    wrong_in_batch,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u8, [Vec<Change>; 6])| {
    let (which, n, changes) = input;
    match run(which, n, &changes) {
        Ok(wrong) => assert!(wrong == 0 || !changes.iter().all(Vec::is_empty)),
        Err(error) => assert!(matches!(error, Error::Decode(_)), "{error}"),
    }
});

fn run(which: u8, n: u8, changes: &[Vec<Change>; 6]) -> Result<usize, Error> {
    let set = registry().nth(usize::from(which) % registry().count()).unwrap();
    let n = usize::from(n) % 10;
    let session = || Session::new(Sid::from_bytes([1; 32]));
    let [first, second, third] = [2, 3, 4].map(|byte| Seed::from_bytes([byte; 32]));
    let (pairs, chosen) = ideal::random(128, &first);
    let (one, opening) = GilboaParty::responder(&session(), set, pairs, second)?;
    let opening = changed(&opening, &changes[0]);
    let (mut zero, setup) = GilboaParty::initiator(&session(), set, chosen, third, &opening)?;
    let mut one = one(&changed(&setup, &changes[1]))?;
    let [mut from_zero, mut from_one] = [Vec::new(), Vec::new()];
    let ours = only(zero.extend(vec![(set.shares(n), &mut from_zero)])?);
    let theirs = only(one.extend(vec![(set.shares(n), &mut from_one)])?);
    let [mut of_zero, mut of_one] = [Vec::new(), Vec::new()];
    let ours = only(zero.multiply(vec![(ours, &changed(&from_one, &changes[2]), &mut of_zero)])?);
    let theirs =
        only(one.multiply(vec![(theirs, &changed(&from_zero, &changes[3]), &mut of_one)])?);
    let ours = only(zero.add(vec![(ours, &changed(&of_one, &changes[4]))])?);
    let theirs = only(one.add(vec![(theirs, &changed(&of_zero, &changes[5]))])?);
    Ok(wrong_in_batch(&ours, &theirs))
}
