//! Multiplication triples whose every message the fuzzer changes: nobody panics, errors blame the peer, and the triples
//! are right if nothing was changed.
#![no_main]

use foxtrot_fuzz::{Change, changed};
use foxtrot_ot::{Error, Seed, Session, Sid};
use foxtrot_triples::{
    Shares,
    params::TOY,
    rlwe::{P0, P1},
    wrong_in_batch,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|changes: [Vec<Change>; 3]| match run(&changes) {
    Ok(wrong) => assert!(wrong == 0 || !changes.iter().all(Vec::is_empty)),
    Err(error) => assert!(matches!(error, Error::Decode(_)), "{error}"),
});

fn run([key, request, response]: &[Vec<Change>; 3]) -> Result<usize, Error> {
    let session = || Session::new(Sid::from_bytes([1; 32]));
    let (mut p0, message) = P0::new(session(), &TOY, Seed::from_bytes([2; 32]));
    let mut p1 = P1::new(session(), &TOY, &changed(&message, key), Seed::from_bytes([3; 32]))?;
    let (mut ours, mut theirs) = (Shares::new(&TOY), Shares::new(&TOY));
    let (mut asked, mut answered) = (Vec::new(), Vec::new());
    let requested = p0.request(&mut asked);
    p1.respond(&changed(&asked, request), &mut theirs, &mut answered)?;
    p0.receive(requested, &changed(&answered, response), &mut ours)?;
    Ok(wrong_in_batch(&ours, &theirs))
}
