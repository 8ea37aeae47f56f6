//! CPU time of the states: `cargo run --release -p foxtrot-triples --example triples-time [RUNS] [SET]`.
//!
//! For each set, or those whose names begin so, and each step the least of so many runs (20), in nanoseconds per triple:
//! a request, its response, what becomes of that, and the OTs of both; then the key in milliseconds. The yardstick is a
//! copy of 32 MiB.

use std::time::Duration;

use foxtrot_ot::{
    Backend, Seed, Session, Sid,
    base::Choice,
    extension::{Extension, OtKind, Places, Receiver, Sender, Shape},
    ideal,
    tasks::only,
};
use foxtrot_triples::{
    Shares,
    params::{self, Set},
    rlwe::{Answering, Chosen, P0, P1, Receiving},
    wrong_in_batch,
};

fn main() {
    let runs = std::env::args().nth(1).and_then(|runs| runs.parse().ok()).unwrap_or(20);
    let wanted = std::env::args().nth(2).unwrap_or_default();
    println!("copy of 32 MiB: {:.2} ms", least(runs, copy).as_secs_f64() * 1e3);
    println!("{}", Backend::best().name());
    println!(
        "set                request respond receive finish |  OTs P0     P1 |     P0      P1   party | key ms"
    );
    for set in params::registry().filter(|set| set.name().starts_with(&wanted)) {
        report(set, runs);
    }
}

fn report(set: &'static Set, runs: usize) {
    let session = || Session::new(Sid::from_bytes([7; 32])).sub(set.name(), 0, Default::default());
    let seed = |byte| Seed::from_bytes([byte; 32]);
    let mut made = None;
    let key = least(3, || made = Some(P0::new(session(), set, seed(1))));
    let (mut p0, public_key) = made.expect("a key");
    let mut p1 = P1::new(session(), set, &public_key, seed(2)).expect("a public key");
    let (mut ours, mut theirs) = (Shares::new(set), Shares::new(set));
    let (mut request, mut response, mut correction) = (Vec::new(), Vec::new(), Vec::new());
    let mut extension = set.fix().map(|it| set_up(it, session()));
    let (mut pairs, mut keys) = (vec![[[0; 16]; 2]; set.ots()], vec![[0; 16]; set.ots()]);
    let (mut message, mut choices) = (Vec::new(), None);
    let mut times = [Duration::MAX; 6];
    for _ in 0..runs {
        let (mut requested, mut responded) = (None, None);
        let mut steps = [Duration::ZERO; 6];
        if let Some((sender, receiver)) = &mut extension {
            steps[5] = least(1, || {
                let batch = receiver.extend(vec![(Choice::Random(set.ots()), &mut message)]);
                let batch = (only(batch.expect("a batch")), &[][..], keys.as_mut_slice());
                let received = receiver.finish(OtKind::Random, vec![batch]);
                choices = Some(only(received.expect("keys")).0);
            });
            steps[4] = least(1, || {
                let absorbed = sender.absorb(&[(Shape::random(set.ots()), &message)]);
                let (batch, _) = only(absorbed.expect("corrections"));
                sender.finish(vec![(batch, &[], Places::Random(&mut pairs))]).expect("keys");
            });
        }
        let mut ots = choices.as_ref().map(|choices| Chosen { choices, keys: &keys });
        steps[0] = least(1, || requested = Some(only(p0.request(vec![&mut request]))));
        steps[1] = least(1, || {
            let (request, ots) = (&request, ots.take());
            let (shares, response) = (&mut theirs, &mut response);
            let result = p1.respond(vec![Answering { request, ots, shares, response }]);
            responded = Some(only(result.expect("a request")));
        });
        steps[2] = least(1, || {
            let requested = requested.take().expect("requested");
            let (response, ots) = (&response, Some(&*pairs));
            let (shares, correction) = (&mut ours, &mut correction);
            let batch = Receiving { requested, response, ots, shares, correction };
            p0.receive(vec![batch]).expect("a response");
        });
        steps[3] = least(1, || {
            let responded = responded.take().expect("responded");
            p1.finish(vec![(responded, &correction, &mut theirs)]).expect("a correction");
        });
        assert_eq!(wrong_in_batch(&ours, &theirs), 0);
        times.iter_mut().zip(steps).for_each(|(time, step)| *time = step.min(*time));
    }
    let [ask, answer, receive, finish, sent, received] =
        times.map(|time| time.as_secs_f64() * 1e9 / set.n() as f64);
    let (p0, p1) = (ask + receive + sent, answer + finish + received);
    println!(
        "{:<18} {ask:>7.1} {answer:>7.1} {receive:>7.1} {finish:>6.1} | {sent:>7.1} {received:>6.1} | {p0:>6.1}  \
         {p1:>6.1}  {:>6.1} | {:.1}",
        set.name(),
        (p0 + p1) / 2.0,
        key.as_secs_f64() * 1e3,
    );
}

/// An extension over base OTs of a double.
fn set_up(extension: Extension, session: Session) -> (Sender, Receiver) {
    let seed = |byte| Seed::from_bytes([byte; 32]);
    let (pairs, chosen) = ideal::random(128, &seed(3));
    let id = || session.sub(extension.name(), 0, Default::default());
    let (receiver, setup) = Receiver::new(id(), extension, pairs, seed(4)).expect("128 base OTs");
    let sender = Sender::new(id(), extension, chosen, &setup, seed(5)).expect("its set-up");
    (sender, receiver)
}

/// The least CPU time of several runs.
fn least(runs: usize, mut run: impl FnMut()) -> Duration {
    let time = || {
        let start = cpu();
        run();
        cpu() - start
    };
    std::iter::repeat_with(time).take(runs).min().unwrap_or_default()
}

fn copy() {
    let source = vec![1u8; 32 << 20];
    std::hint::black_box(source.clone());
}

fn cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).expect("not negative")
}
