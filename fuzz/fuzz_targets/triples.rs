//! Multiplication triples, with the MSB fix, without it and as the paper has them, whose every message the fuzzer
//! changes: nobody panics, errors blame the peer, and the triples are right if nothing was changed.
#![no_main]

use foxtrot_fuzz::{Change, changed};
use foxtrot_ot::{Error, Seed, Session, Sid, ideal, tasks::only};
use foxtrot_papers::rlwe_paper::{self, SETS};
use foxtrot_triples::{
    Shares,
    params::{Set, TOY, TOY_LIFT},
    rlwe::{Answering, P0, P1, Receiving},
    wrong_in_batch,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, [Vec<Change>; 4])| {
    let (which, changes) = input;
    let result = match which {
        // There is none for tests, and they take long.
        0xff => of_paper(&changes),
        _ => run(if which % 2 == 1 { &TOY_LIFT } else { &TOY }, &changes),
    };
    match result {
        Ok(wrong) => assert!(wrong == 0 || !changes.iter().all(Vec::is_empty)),
        Err(error) => assert!(matches!(error, Error::Decode(_)), "{error}"),
    }
});

fn run(set: &'static Set, changes: &[Vec<Change>; 4]) -> Result<usize, Error> {
    let [key, request, response, correction] = changes;
    let session = || Session::new(Sid::from_bytes([1; 32]));
    let (mut p0, message) = P0::new(session(), set, Seed::from_bytes([2; 32]));
    let mut p1 = P1::new(session(), set, &changed(&message, key), Seed::from_bytes([3; 32]))?;
    let (mut ours, mut theirs) = (Shares::new(set), Shares::new(set));
    let (mut asked, mut answered, mut corrects) = (Vec::new(), Vec::new(), Vec::new());
    let (pairs, chosen) = ideal::random(set.ots(), &Seed::from_bytes([4; 32]));
    let ots = set.fix().map(|_| (&chosen).into());
    let requested = only(p0.request(vec![&mut asked]));
    let (request, shares, response_to) = (&changed(&asked, request), &mut theirs, &mut answered);
    let batch = Answering { request, ots, shares, response: response_to };
    let responded = only(p1.respond(vec![batch])?);
    let (response, ots, shares) = (&changed(&answered, response), Some(pairs.pairs()), &mut ours);
    p0.receive(vec![Receiving { requested, response, ots, shares, correction: &mut corrects }])?;
    p1.finish(vec![(responded, &changed(&corrects, correction), &mut theirs)])?;
    Ok(wrong_in_batch(&ours, &theirs))
}

fn of_paper([key, request, response, _]: &[Vec<Change>; 4]) -> Result<usize, Error> {
    let (set, session) = (&SETS[0], || Session::new(Sid::from_bytes([1; 32])));
    let (mut p0, message) = rlwe_paper::P0::new(session(), set, Seed::from_bytes([2; 32]));
    let message = changed(&message, key);
    let mut p1 = rlwe_paper::P1::new(session(), set, &message, Seed::from_bytes([3; 32]))?;
    let (mut ours, mut theirs) = (set.shares(), set.shares());
    let (mut asked, mut answered) = (Vec::new(), Vec::new());
    let requested = p0.request(&mut asked);
    p1.respond(&changed(&asked, request), &mut theirs, &mut answered)?;
    p0.receive(requested, &changed(&answered, response), &mut ours)?;
    Ok(wrong_in_batch(&ours, &theirs))
}
