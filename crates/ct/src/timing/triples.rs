//! Triples: either party by its seed, from which its shares and its noise come.

use std::{hint::black_box, time::Instant};

use foxtrot_ot::{Backend, Session, Sid, extension::ROWS, ideal, tasks::only};
use foxtrot_triples::{
    Shares, bits,
    gilboa::{self, DEFAULT_K},
    params::{Set, TOY, TOY_LIFT},
    rlwe::{Answering, P0, P1, Receiving},
};

use super::{Step, nanoseconds, secret_seed, seed, session};

/// Triples of a batch from oblivious transfer.
const N: usize = 64;

pub(super) fn steps() -> impl Iterator<Item = Step> {
    // The small rings: the same code, run often enough.
    let rlwe = [&TOY, &TOY_LIFT].into_iter().flat_map(|set| [0, 1].map(|party| rlwe(set, party)));
    let sets = [8, 64].into_iter().filter_map(|it| gilboa::of_bits(it, DEFAULT_K));
    let from_ots = sets.flat_map(|set| [0, 1].map(|party| from_ot(set, party)));
    rlwe.chain(from_ots).chain([0, 1].map(of_bits))
}

/// Bit triples by the keys and choices of their OTs.
fn of_bits(timed: usize) -> Step {
    let run = move |_, _, secret: &[u8; 128]| {
        let (pairs, chosen) = ideal::random(bits::ots(N), &secret_seed(secret));
        let (mut sent, mut received) = (bits::Sent::new(N), bits::Received::new(N));
        let start = Instant::now();
        let left = sent.add(pairs.pairs());
        black_box((left, sent.triples()));
        let of_sender = nanoseconds(start);
        let start = Instant::now();
        let taken = received.add(chosen.choices(), chosen.keys());
        black_box((taken, received.triples()));
        [of_sender, nanoseconds(start)][timed]
    };
    Step { name: format!("bits: OTs of party {timed}"), run: Box::new(run) }
}

fn rlwe(set: &'static Set, timed: usize) -> Step {
    let run = move |backend: Backend, run, secret: &[u8; 128]| {
        let coins =
            |party, byte| if party == timed { secret_seed(secret) } else { seed(byte, run) };
        let (first, second) = (coins(0, 1), coins(1, 2));
        let (pairs, chosen) = ideal::random(set.ots(), &seed(3, run));
        let ots = set.fix().map(|_| (&chosen).into());
        let (mut ours, mut theirs) = (Shares::new(set), Shares::new(set));
        let (mut request, mut response, mut correction) = (Vec::new(), Vec::new(), Vec::new());
        let mut times = [0.0; 2];

        let start = Instant::now();
        let (mut p0, key) = P0::new(session(backend, set.name()), set, first);
        let requested = only(p0.request(vec![&mut request]));
        times[0] += nanoseconds(start);
        let start = Instant::now();
        let mut p1 = P1::new(session(backend, set.name()), set, &key, second).expect("a key");
        let (shares, answer) = (&mut theirs, &mut response);
        let batch = Answering { request: &request, ots, shares, response: answer };
        let responded = only(p1.respond(vec![batch]).expect("a request"));
        times[1] += nanoseconds(start);
        let start = Instant::now();
        let (ots, shares, corrects) = (Some(pairs.pairs()), &mut ours, &mut correction);
        let batch = Receiving { requested, response: &response, ots, shares, correction: corrects };
        let received = p0.receive(vec![batch]);
        times[0] += nanoseconds(start);
        received.expect("a response");
        let start = Instant::now();
        p1.finish(vec![(responded, &correction, &mut theirs)]).expect("a correction");
        times[1] += nanoseconds(start);
        black_box((&ours, &theirs));
        times[timed]
    };
    Step { name: format!("{}: seed of party {timed}", set.name()), run: Box::new(run) }
}

fn from_ot(set: &'static gilboa::Set, timed: usize) -> Step {
    let run = move |backend: Backend, run, secret: &[u8; 128]| {
        let coins =
            |party, byte| if party == timed { secret_seed(secret) } else { seed(byte, run) };
        let (first, second) = (coins(0, 1), coins(1, 2));
        let session = Session::new(Sid::from_bytes([0; 32])).with_backend(backend);
        let (pairs, chosen) = ideal::random(ROWS, &seed(3, run));
        let [mut from_zero, mut from_one] = [Vec::new(), Vec::new()];
        let [mut of_zero, mut of_one] = [Vec::new(), Vec::new()];
        let mut times = [0.0; 2];
        let mut time = |party: usize, start| times[party] += nanoseconds(start);

        let start = Instant::now();
        let (one, opening) =
            gilboa::GilboaParty::responder(&session, set, pairs, second).expect("base OTs");
        time(1, start);
        let start = Instant::now();
        let (mut zero, setup) =
            gilboa::GilboaParty::initiator(&session, set, chosen, first, &opening)
                .expect("an opening");
        let ours = only(zero.extend(vec![(set.shares(N), &mut from_zero)]).expect("a batch"));
        time(0, start);
        let start = Instant::now();
        let mut one = one(&setup).expect("a set-up");
        let theirs = only(one.extend(vec![(set.shares(N), &mut from_one)]).expect("a batch"));
        let theirs =
            only(one.multiply(vec![(theirs, &from_zero, &mut of_one)]).expect("corrections"));
        time(1, start);
        let start = Instant::now();
        let ours = only(zero.multiply(vec![(ours, &from_one, &mut of_zero)]).expect("corrections"));
        let ours = only(zero.add(vec![(ours, &of_one)]).expect("products"));
        time(0, start);
        let start = Instant::now();
        let theirs = only(one.add(vec![(theirs, &of_zero)]).expect("products"));
        time(1, start);
        black_box((&ours, &theirs));
        times[timed]
    };
    Step { name: format!("{}: seed of party {timed}", set.name()), run: Box::new(run) }
}
