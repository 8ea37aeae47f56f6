//! Silent VOLE and silent OTs whose every message the fuzzer changes: nobody panics, and a receiver that checks has output only
//! if it fits the sender's.
#![no_main]

use foxtrot_fuzz::{Change, changed};
use foxtrot_kernel::{Backend, gf::gf128};
use foxtrot_ot::{
    Seed, Session, Sid,
    base::Choice,
    erase::Secret,
    extension::{self, OtKind, Places, Shape},
    ideal,
    silent::{self, Field, Receiver, Sender, Silent},
    tasks::only,
};
use libfuzzer_sys::fuzz_target;

/// Outputs.
const M: usize = 40;

type Messages = [Vec<Change>; 5];

fuzz_target!(|input: (u8, Messages)| {
    let (protocol, messages) = input;
    if protocol == 0 {
        // It has no check: nobody panics.
        if let Some(((sent, _), received)) = run(silent::ot_16_semi_honest(), &messages) {
            let _ = (sent.into_rows(), received.into_parts());
        }
    } else if protocol % 2 == 1 {
        let Some((sent, mut received)) = run(silent::ot(), &messages) else { return };
        let (mut sent, delta) = sent;
        let choices = foxtrot_ot::Bits::from_bools((0..M).map(|i| i % 3 == 0));
        let flips = changed(&received.choose(choices).unwrap(), &messages[4]);
        let changed_nothing = messages[4].is_empty();
        if sent.flip(&flips).is_ok() && changed_nothing {
            let (w, (u, v)) = (sent.into_rows(), received.into_parts());
            for i in 0..M {
                let product = u128::from(u.get(i).unwrap_u8()).wrapping_neg() & delta;
                assert_eq!(v[i], w[i] ^ product);
            }
        }
    } else if let Some(((sent, delta), received)) = run(silent::vole(), &messages) {
        let (w, (u, v)) = (sent.into_rows(), received.into_parts());
        for i in 0..M {
            assert_eq!(v[i], w[i] ^ gf128::mul(Backend::best(), u[i], delta));
        }
    }
});

type Outputs<F> = ((silent::Sent<F>, u128), silent::Received<F>);

fn run<F: Field>(silent: Silent<F>, messages: &Messages) -> Option<Outputs<F>> {
    let [trees, challenges, check, answer, _] = messages;
    let session =
        |protocol| Session::new(Sid::from_bytes([1; 32])).sub(protocol, 0, Default::default());
    let seed = |byte| Seed::from_bytes([byte; 32]);
    let (base, chosen) = ideal::random(128, &seed(4));
    let extension = silent.extension();
    let (receiver, setup) =
        extension::Receiver::new(session("ots"), extension, base, seed(3)).unwrap();
    let sender =
        extension::Sender::new(session("ots"), extension, chosen, &setup, seed(2)).unwrap();
    let mut sender = Sender::new(session("silent"), silent, sender, seed(5)).unwrap();
    let mut receiver = Receiver::new(session("silent"), silent, receiver, seed(6)).unwrap();
    let delta = *sender.delta().unwrap();

    let (n, mut corrections) = (silent.size(M).unwrap().ots, Vec::new());
    let ots = receiver.ots().unwrap();
    let unanswered = only(ots.extend(vec![(Choice::Random(n), &mut corrections)]).unwrap());
    let of_sender = sender.ots().unwrap();
    let absorbed = of_sender.absorb(&[(Shape::random(n), &corrections)]).unwrap();
    let (unverified, challenge) = only(absorbed);
    let (mut q, mut t) = (vec![[0; 16]; n], vec![[0; 16]; n]);
    let batch = (unanswered, challenge.as_slice().as_flattened(), t.as_mut_slice());
    let (choices, proof) = only(ots.finish(OtKind::Correlated, vec![batch]).unwrap());
    of_sender.finish(vec![(unverified, &proof, Places::Correlated(&mut q))]).unwrap();

    let (planted, message) = sender.plant(M, Secret(q)).unwrap();
    let (grown, message) = receiver.grow(M, choices, Secret(t), &changed(&message, trees)).ok()?;
    let encoded = sender.encode(planted, &changed(&message, challenges)).ok()?;
    let (unverified, message) = receiver.encode(grown).ok()?;
    let (sent, message) = sender.answer(encoded, &changed(&message, check)).ok()?;
    let received = receiver.verify(unverified, &changed(&message, answer)).ok()?;
    Some(((sent, delta), received))
}
