//! OT extensions, with and without checks.

use foxtrot_downstream::{ALL_SIZES, choices, on_small_stacks, seed, session};
use foxtrot_ot::{
    base::Choice,
    extension::{self, OtKind, Places, Receiver, Sender, Shape},
    ideal,
    tasks::only,
};

#[test]
fn every_extension_runs_on_a_small_stack() {
    runs(&[1, 1024]);
}

#[test]
#[ignore = "takes longer"]
fn every_extension_runs_on_a_small_stack_at_every_size() {
    runs(&ALL_SIZES);
}

fn runs(sizes: &'static [usize]) {
    for extension in extension::registry() {
        on_small_stacks(extension.info().name, move |backend| {
            let (pairs, chosen) = ideal::random(extension::ROWS, &seed(3));
            let (mut receiver, setup) =
                Receiver::new(session(backend), extension, pairs, seed(2)).expect("a receiver");
            let mut sender = Sender::new(session(backend), extension, chosen, &setup, seed(1))
                .expect("a sender");
            for &n in sizes {
                let mut corrections = Vec::new();
                let choice = Choice::Given(choices(n));
                let unanswered = receiver.extend(vec![(choice, &mut corrections)]);
                let unanswered = only(unanswered.expect("a batch"));
                let absorbed = sender.absorb(&[(Shape::given(n), &corrections)]);
                let (unverified, challenge) = only(absorbed.expect("corrections"));
                let challenge = challenge.map_or_else(Vec::new, Vec::from);
                let mut chosen = vec![[0; 16]; n];
                let batch = (unanswered, challenge.as_slice(), chosen.as_mut_slice());
                let (bits, proof) =
                    only(receiver.finish(OtKind::Random, vec![batch]).expect("a proof"));
                let mut pairs = vec![[[0; 16]; 2]; n];
                let batch = (unverified, proof.as_slice(), Places::Random(&mut pairs));
                sender.finish(vec![batch]).expect("keys");
                for (i, (pair, key)) in pairs.iter().zip(&chosen).enumerate() {
                    assert_eq!(pair[usize::from(bits.get(i).unwrap_u8())], *key);
                }
            }
        });
    }
}
