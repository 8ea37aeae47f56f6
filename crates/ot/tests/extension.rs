//! Tests the correlation that an extension promises, for every protocol, size and kind of choices;
//! and that one set of base OTs serves batch after batch.

use crate::support::extension as support;
use crate::support::runs::{Run, Runs};
use foxtrot_ot::{
    Backend, Seed, Usage,
    base::{self, Adversary, Choice, Functionality, SenderKeys},
    extension::{
        Incompatible, OtKind, Places, Receiver, Sender, Shape, compatible, find, kos, registry,
        softspoken,
    },
    ideal,
    tasks::only,
};
use support::{absorb, answer, bit, bits, extend, session, states, verify};

/// Asserts that the outputs of both parties obey the law of their kind.
fn assert_fits(run: &Run, delta: &[u8; 16]) {
    match run {
        Run::Random { pairs, choices, keys } => {
            assert_eq!((pairs.len(), keys.len()), (choices.len(), choices.len()));
            for (i, (pair, key)) in pairs.iter().zip(keys).enumerate() {
                let choice = usize::from(bit(choices, i));
                assert_eq!(pair[choice], *key, "OT {i}: not the chosen key");
                assert_ne!(pair[1 - choice], *key, "OT {i}: both keys are the same");
            }
        }
        Run::Correlated { sender, choices, receiver } => {
            assert_eq!((sender.len(), receiver.len()), (choices.len(), choices.len()));
            for (i, (q, t)) in sender.iter().zip(receiver).enumerate() {
                let sum = u128::from_le_bytes(*q) ^ u128::from_le_bytes(*t);
                let expected = if bit(choices, i) { u128::from_le_bytes(*delta) } else { 0 };
                assert_eq!(sum, expected, "OT {i}: q ⊕ t is not bΔ");
            }
        }
    }
}

#[test]
fn every_extension_gives_the_chosen_keys_for_every_size_and_kind() {
    for extension in registry() {
        let mut runs = Runs::new(extension, Backend::best());
        let delta = runs.delta();
        for n in [0, 1, 7, 8, 9, 127, 128, 447, 448, 449, 511, 512, 513, 1023, 1024, 1025, 3000] {
            for kind in [OtKind::Random, OtKind::Correlated] {
                let run = runs.batch(Choice::Random(n), kind);
                assert_eq!(run.choices().len(), n);
                assert_fits(&run, &delta);
                let given = bits(n, 5);
                let run = runs.batch(Choice::Given(bits(n, 5)), kind);
                assert_eq!(
                    run.choices(),
                    &given,
                    "{}: not the given choices",
                    extension.info().name
                );
                assert_fits(&run, &delta);
            }
        }
    }
}

#[test]
fn the_largest_batch_works_and_a_larger_one_is_refused() {
    for extension in
        [find("softspoken-8", Adversary::Malicious), find("iknp", Adversary::SemiHonest)]
    {
        let extension = extension.unwrap();
        let max = extension.max_batch();
        let mut runs = Runs::new(extension, Backend::best());
        assert_fits(&runs.batch(Choice::Random(max), OtKind::Random), &runs.delta());
        let too_many = runs.try_batch(Choice::Random(max + 1), OtKind::Random).unwrap_err();
        assert_eq!(too_many, Usage::BatchTooLarge { n: max + 1, max }.into());
    }
}

#[test]
fn outputs_do_not_depend_on_the_backend() {
    for name in ["softspoken-1", "softspoken-2", "softspoken-3", "softspoken-8"] {
        let run = |backend| {
            let mut runs = Runs::new(find(name, Adversary::Malicious).unwrap(), backend);
            let first = runs.batch(Choice::Random(700), OtKind::Random);
            (first, runs.batch(Choice::Given(bits(1500, 3)), OtKind::Correlated))
        };
        let portable = run(Backend::PORTABLE);
        for backend in Backend::all() {
            assert_eq!(run(backend), portable, "{name} on {backend:?}");
        }
    }
}

#[test]
fn outputs_do_not_depend_on_the_number_of_threads() {
    for (name, threads) in [("softspoken-3", 2), ("softspoken-4", 3), ("softspoken-8", 40)] {
        let extension = find(name, Adversary::Malicious).unwrap();
        let mut alone = Runs::new(extension, Backend::best());
        let mut together = Runs::on_threads(extension, threads);
        for n in [1, 1000, 5000] {
            for kind in [OtKind::Random, OtKind::Correlated] {
                let run = together.batch(Choice::Random(n), kind);
                assert_eq!(run, alone.batch(Choice::Random(n), kind), "{name}");
                assert_fits(&run, &alone.delta());
                let run = together.batch(Choice::Given(bits(n, 3)), kind);
                assert_eq!(run, alone.batch(Choice::Given(bits(n, 3)), kind), "{name}");
            }
        }
    }
}

#[test]
fn no_key_occurs_twice_over_all_batches_of_a_session() {
    let mut runs = Runs::new(find("softspoken-2", Adversary::Malicious).unwrap(), Backend::best());
    let mut all = Vec::new();
    for _ in 0..4 {
        let Run::Random { pairs, .. } = runs.batch(Choice::Random(1500), OtKind::Random) else {
            unreachable!()
        };
        all.extend(pairs.into_iter().flatten());
    }
    let n = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), n);
}

#[test]
fn random_choices_are_balanced_and_differ_from_batch_to_batch() {
    for extension in registry() {
        let mut runs = Runs::new(extension, Backend::best());
        let one = runs.batch(Choice::Random(4096), OtKind::Random);
        let two = runs.batch(Choice::Random(4096), OtKind::Random);
        for run in [&one, &two] {
            let ones = (0..4096).filter(|&i| bit(run.choices(), i)).count();
            // Six standard deviations of 32.
            assert!((2048 - 192..=2048 + 192).contains(&ones), "{ones} of 4096");
        }
        assert_ne!(one.choices(), two.choices());
    }
}

#[test]
fn batches_may_begin_before_earlier_ones_are_verified() {
    let extension = softspoken::malicious(4).unwrap();
    let (mut receiver, mut sender) = states(extension, session);
    let mut messages = [Vec::new(), Vec::new()];
    let unanswered =
        messages.each_mut().map(|it| extend(&mut receiver, Choice::Random(300), it).unwrap());
    let unverified =
        messages.each_ref().map(|it| absorb(&mut sender, Shape::random(300), it).unwrap());
    for (unanswered, (unverified, challenge)) in unanswered.into_iter().zip(unverified) {
        let (mut pairs, mut keys) = (vec![[[0; 16]; 2]; 300], vec![[0; 16]; 300]);
        let batch = (unanswered, challenge.as_slice().as_flattened(), keys.as_mut_slice());
        let (choices, proof) = only(receiver.finish(OtKind::Random, vec![batch]).unwrap());
        sender.finish(vec![(unverified, &proof, Places::Random(&mut pairs))]).unwrap();
        assert_fits(&Run::Random { pairs, choices, keys }, &sender.delta().unwrap());
    }
}

#[test]
fn messages_have_the_lengths_of_the_formulas() {
    for extension in registry() {
        let info = extension.info();
        let mut runs = Runs::new(extension, Backend::best());
        runs.batch(Choice::Random(1000), OtKind::Random);
        runs.batch(Choice::Given(bits(1000, 2)), OtKind::Random);
        let checked = info.adversary == Adversary::Malicious;
        let k: usize = info.params.strip_prefix("k = ").unwrap().parse().unwrap();
        let trees = 128usize.div_ceil(k);
        let uncorrected = usize::from(info.family == "softspoken");
        let columns = if checked { 1536 } else { 1024 };
        let coin = if checked { 32 } else { 0 };
        assert_eq!(
            runs.corrections,
            [coin + (trees - uncorrected) * columns / 8, coin + trees * columns / 8]
        );
        let setup = match (k, checked) {
            (1, _) => 0,
            (_, false) => (128 - trees) * 32,
            (_, true) => (128 - trees) * 32 + (trees + 1) * 32,
        };
        assert_eq!((runs.setup, extension.setup_len()), (setup, setup), "{}", info.name);
        assert_eq!(runs.proofs, [if checked { 1064 } else { 0 }; 2]);
    }
}

#[test]
fn a_batch_of_full_length_costs_the_bytes_that_are_announced() {
    let per_ot = |name, adversary| {
        let extension = find(name, adversary).unwrap();
        let n = 16 * extension.max_batch();
        (extension.receiver_bytes(n) + extension.sender_bytes(n)) as f64 / n as f64
    };
    for (name, adversary, bytes) in [
        ("softspoken-2", Adversary::Malicious, 7.90),
        ("softspoken-4", Adversary::Malicious, 3.90),
        ("softspoken-8", Adversary::Malicious, 1.90),
        ("kos", Adversary::Malicious, 16.03),
        ("iknp", Adversary::SemiHonest, 16.0),
    ] {
        assert!(
            (per_ot(name, adversary) - bytes).abs() < 0.01,
            "{name}: {}",
            per_ot(name, adversary)
        );
    }
}

#[test]
fn a_wrong_number_of_base_ots_or_of_places_is_a_usage_error() {
    let base = |n| ideal::random(n, &Seed::from_bytes([1; 32]));
    let (keys, _): (SenderKeys, _) = base(127);
    let refused = Receiver::new(session(), kos::malicious(), keys, Seed::from_bytes([0; 32]));
    let expected = Usage::CountMismatch { what: "base OTs", expected: 128, got: 127 };
    assert_eq!(refused.map(drop).unwrap_err(), expected);
    let (_, keys) = base(129);
    let refused = Sender::new(session(), kos::malicious(), keys, &[], Seed::from_bytes([0; 32]));
    let expected = Usage::CountMismatch { what: "base OTs", expected: 128, got: 129 };
    assert_eq!(refused.map(drop).unwrap_err(), expected.into());

    let (mut receiver, mut sender) = states(softspoken::semi_honest(2).unwrap(), session);
    let mut message = Vec::new();
    let unanswered = extend(&mut receiver, Choice::Random(10), &mut message).unwrap();
    let (unverified, _) = absorb(&mut sender, Shape::random(10), &message).unwrap();
    let expected = Usage::CountMismatch { what: "places for keys", expected: 10, got: 9 };
    assert_eq!(answer(&mut receiver, 9, unanswered, &[]).unwrap_err(), expected.into());
    assert_eq!(verify(&mut sender, 9, unverified, &[]).unwrap_err(), expected.into());
}

#[test]
fn names_and_families_are_found() {
    let name = |name, adversary| find(name, adversary).map(|extension| extension.info().name);
    assert_eq!(name("softspoken", Adversary::Malicious), Some("softspoken-4"));
    assert_eq!(name("softspoken", Adversary::SemiHonest), Some("softspoken-4-semi-honest"));
    assert_eq!(name("softspoken-7", Adversary::SemiHonest), Some("softspoken-7-semi-honest"));
    assert_eq!(name("kos", Adversary::Malicious), Some("kos"));
    assert_eq!(name("kos", Adversary::SemiHonest), None);
    assert_eq!(name("iknp", Adversary::SemiHonest), Some("iknp"));
    assert_eq!(name("softspoken-9", Adversary::Malicious), None);
    assert_eq!(softspoken::malicious(0).map(drop).unwrap_err(), Usage::FieldSize { k: 0 });
    assert_eq!(softspoken::semi_honest(9).map(drop).unwrap_err(), Usage::FieldSize { k: 9 });
    assert_eq!(registry().count(), 18);
}

#[test]
fn a_base_ot_too_weak_for_an_extension_is_refused_with_the_reason() {
    let info = |functionality, adversary, reproduction| base::Protocol {
        functionality,
        adversary,
        reproduction,
        ..*base::registry()[0].info()
    };
    let malicious = find("softspoken", Adversary::Malicious).unwrap().info();
    let semi_honest = find("iknp", Adversary::SemiHonest).unwrap().info();
    use {Adversary as A, Functionality as F};
    for (base, extension, verdict) in [
        (info(F::Endemic, A::Malicious, false), malicious, Ok(())),
        (info(F::Random, A::Malicious, false), malicious, Ok(())),
        (
            info(F::ChosenMessage, A::Malicious, false),
            malicious,
            Err(Incompatible::Functionality(F::ChosenMessage)),
        ),
        (info(F::Endemic, A::SemiHonest, false), malicious, Err(Incompatible::Adversary)),
        (info(F::ChosenMessage, A::SemiHonest, false), semi_honest, Ok(())),
        (info(F::Random, A::SemiHonest, true), semi_honest, Err(Incompatible::Reproduction)),
    ] {
        assert_eq!(compatible(&base, extension), verdict);
    }
}

#[test]
fn debugging_shows_no_secret() {
    let (receiver, sender) = states(kos::malicious(), session);
    assert_eq!(
        format!("{receiver:?} {sender:?}"),
        "Receiver(kos, 0 batches) Sender(kos, 0 batches)"
    );
    let mut keys = [[[7; 16]; 2]; 3];
    let places = Places::Random(&mut keys);
    assert_eq!(format!("{places:?}"), "Random(<3 redacted>)");
    assert_eq!(format!("{:?}", kos::malicious()), "Extension(kos)");
}
