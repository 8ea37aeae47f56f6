//! Multiplication triples, from ring-LWE and from OT.

use foxtrot_downstream::{ALL_SIZES, on_small_stacks, seed, session};
use foxtrot_ot::{ideal, tasks::only};
use foxtrot_papers::rlwe_paper::{self, PaperSet};
use foxtrot_triples::{
    Shares, gilboa,
    params::{self, Set},
    rlwe::{Answering, P0, P1, Receiving},
    wrong_in_batch,
};

fn rlwe(set: &'static Set) {
    on_small_stacks(set.name(), move |backend| {
        let (mut p0, public_key) = P0::new(session(backend), set, seed(1));
        let mut p1 = P1::new(session(backend), set, &public_key, seed(2)).expect("a public key");
        let (mut ours, mut theirs) = (Shares::new(set), Shares::new(set));
        let (mut request, mut response, mut correction) = (Vec::new(), Vec::new(), Vec::new());
        let (pairs, chosen) = ideal::random(set.ots(), &seed(3));
        let chosen = set.fix().map(|_| (&chosen).into());
        let requested = only(p0.request(vec![&mut request]));
        let (shares, answer) = (&mut theirs, &mut response);
        let asked = Answering { request: &request, ots: chosen, shares, response: answer };
        let responded = only(p1.respond(vec![asked]).expect("a request"));
        let (ots, shares) = (Some(pairs.pairs()), &mut ours);
        let correcting = &mut correction;
        let answered =
            Receiving { requested, response: &response, ots, shares, correction: correcting };
        p0.receive(vec![answered]).expect("a response");
        p1.finish(vec![(responded, &correction, &mut theirs)]).expect("a correction");
        assert_eq!(wrong_in_batch(&ours, &theirs), 0);
    });
}

fn paper(set: &'static PaperSet) {
    on_small_stacks(set.name(), move |backend| {
        let (mut p0, public_key) = rlwe_paper::P0::new(session(backend), set, seed(1));
        let mut p1 =
            rlwe_paper::P1::new(session(backend), set, &public_key, seed(2)).expect("a public key");
        let (mut ours, mut theirs) = (set.shares(), set.shares());
        let (mut request, mut response) = (Vec::new(), Vec::new());
        let requested = p0.request(&mut request);
        p1.respond(&request, &mut theirs, &mut response).expect("a request");
        p0.receive(requested, &response, &mut ours).expect("a response");
        assert_eq!(wrong_in_batch(&ours, &theirs), 0);
    });
}

#[test]
fn triples_from_ring_lwe_run_on_a_small_stack() {
    for name in ["rlwe-8", "rlwe-lift-8"] {
        rlwe(params::find(name).expect("a set"));
    }
    paper(&rlwe_paper::SETS[0]);
}

#[test]
#[ignore = "takes minutes"]
fn triples_of_every_set_run_on_a_small_stack() {
    params::registry().for_each(rlwe);
    rlwe_paper::SETS.iter().for_each(paper);
    gilboa::registry().for_each(|set| of_ots(set, &ALL_SIZES));
}

#[test]
fn triples_from_oblivious_transfer_run_on_a_small_stack() {
    for bits in [8, 64] {
        of_ots(gilboa::of_bits(bits, gilboa::DEFAULT_K).expect("a set"), &[1, 1024]);
    }
}

fn of_ots(set: &'static gilboa::Set, sizes: &'static [usize]) {
    on_small_stacks(set.name(), move |backend| {
        let (pairs, chosen) = ideal::random(128, &seed(3));
        let whole = session(backend);
        let (one, opening) =
            gilboa::GilboaParty::responder(&whole, set, pairs, seed(2)).expect("a responder");
        let (mut zero, setup) =
            gilboa::GilboaParty::initiator(&whole, set, chosen, seed(1), &opening)
                .expect("an initiator");
        let mut one = one(&setup).expect("a set-up");
        for n in sizes.iter().map(|n| set.n().min(*n)) {
            let mut messages = [const { Vec::new() }; 4];
            let [m0, m1, p0, p1] = &mut messages;
            let ours = only(zero.extend(vec![(set.shares(n), m0)]).expect("a batch"));
            let theirs = only(one.extend(vec![(set.shares(n), m1)]).expect("a batch"));
            let ours = only(zero.multiply(vec![(ours, m1, p0)]).expect("corrections"));
            let theirs = only(one.multiply(vec![(theirs, m0, p1)]).expect("corrections"));
            let ours = only(zero.add(vec![(ours, p1)]).expect("products"));
            let theirs = only(one.add(vec![(theirs, p0)]).expect("products"));
            assert_eq!(wrong_in_batch(&ours, &theirs), 0);
        }
    });
}
