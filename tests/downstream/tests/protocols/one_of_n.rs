//! 1-of-N extensions, with and without checks.

use foxtrot_downstream::{ALL_SIZES, on_small_stacks, seed, session};
use foxtrot_ot::{
    extension::one_of_n::{self, Places, Receiver, Sender},
    ideal,
};

#[test]
fn every_one_of_n_extension_runs_on_a_small_stack() {
    runs(&[1, 1024]);
}

#[test]
#[ignore = "takes longer"]
fn every_one_of_n_extension_runs_on_a_small_stack_at_every_size() {
    runs(&ALL_SIZES);
}

fn runs(sizes: &'static [usize]) {
    for extension in one_of_n::registry() {
        on_small_stacks(extension.info().name, move |backend| {
            let parameters = extension.parameters();
            let (pairs, chosen) = ideal::random(parameters.length, &seed(3));
            let mut sender =
                Sender::new(session(backend), extension, chosen, seed(1)).expect("a sender");
            let mut receiver =
                Receiver::new(session(backend), extension, pairs, seed(2)).expect("a receiver");
            for &n in sizes {
                // Words of all codes there are: one of them has two.
                let word = |i: usize| parameters.word((i % 2) as u64).expect("a word");
                let words: Vec<u8> = (0..n).flat_map(word).collect();
                let mut corrections = Vec::new();
                let unanswered = receiver.extend(n, &words, &mut corrections).expect("a batch");
                let (unverified, challenge) = sender.absorb(n, &corrections).expect("corrections");
                let challenge = challenge.map_or_else(Vec::new, Vec::from);
                let mut chosen = vec![[0; 16]; n];
                let proof = receiver.finish(unanswered, &challenge, &mut chosen).expect("a proof");
                let mut keys = vec![[0; 16]; 2 * n];
                sender.finish(unverified, &proof, Places::All(2, &mut keys)).expect("keys");
                for (i, key) in chosen.iter().enumerate() {
                    assert_eq!(keys[2 * i + i % 2], *key);
                }
            }
        });
    }
}
