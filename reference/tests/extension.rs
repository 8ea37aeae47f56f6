//! Tests of an extension's promises on whole runs.

use foxtrot_reference::extension::{
    Block, DELTA_BITS, Protocol, Received, Receiver, Rejected, Sender, Sent,
};
use foxtrot_reference::oracle::{Id, oracle};

const ID: Id = [7; 32];
const RECEIVER_SEED: [u8; 32] = [1; 32];
const SENDER_SEED: [u8; 32] = [2; 32];

fn names() -> Vec<String> {
    let fixed = ["iknp", "kos"].map(str::to_string).into_iter();
    let suffixes = ["", "-semi-honest"].into_iter();
    let softspoken = suffixes.flat_map(|s| (1..=8).map(move |k| format!("softspoken-{k}{s}")));
    fixed.chain(softspoken).collect()
}

fn is_checked(name: &str) -> bool {
    name != "iknp" && !name.ends_with("-semi-honest")
}

fn delta() -> [bool; DELTA_BITS] {
    core::array::from_fn(|r| r % 3 == 0 || r % 7 == 2)
}

fn base_keys() -> [[Block; 2]; DELTA_BITS] {
    let key = |r, b| oracle("foxtrot v1 test", &ID, r, b, &[], 16);
    let block = |bytes: Vec<u8>| bytes.iter().rev().fold(0, |x, &b| x << 8 | Block::from(b));
    core::array::from_fn(|r| [block(key(r, 0)), block(key(r, 1))])
}

fn receiver(protocol: Protocol) -> (Receiver, Vec<u8>) {
    Receiver::setup(protocol, &ID, &base_keys(), &RECEIVER_SEED)
}

fn sender(
    protocol: Protocol,
    delta: &[bool; DELTA_BITS],
    setup: &[u8],
) -> Result<Sender, Rejected> {
    let keys = base_keys();
    let keys = core::array::from_fn(|r| keys[r][usize::from(delta[r])]);
    Sender::setup(protocol, &ID, delta, &keys, &SENDER_SEED, setup)
}

fn choices(n: usize) -> Vec<bool> {
    (0..n).map(|i| i % 5 < 2 || i % 11 == 3).collect()
}

/// Runs batches of these sizes, with given choices or without; returns their outputs.
fn run(name: &str, given: bool, sizes: &[usize]) -> Vec<(Sent, Received)> {
    let protocol = Protocol::named(name);
    let (mut receiver, setup) = receiver(protocol);
    let mut sender = sender(protocol, &delta(), &setup).expect("honest");
    let mut batch = |&n: &usize| {
        let choices = given.then(|| choices(n));
        let (receiver, corrections) = receiver.correct(n, choices.as_deref());
        let (sender, challenge) = sender.challenge(n, given, &corrections);
        let (received, proof) = receiver.finish(&challenge);
        (sender.finish(&proof).expect("honest"), received)
    };
    sizes.iter().map(&mut batch).collect()
}

#[test]
fn rows_differ_by_delta_where_the_choice_is_one_and_keys_fit_choices() {
    let delta = (0..DELTA_BITS).map(|r| Block::from(delta()[r]) << r).sum::<Block>();
    for (name, given) in names().iter().flat_map(|name| [(name, false), (name, true)]) {
        for (n, (sent, received)) in [13, 449].into_iter().zip(run(name, given, &[13, 449])) {
            assert_eq!([sent.rows.len(), sent.keys.len(), received.keys.len()], [n; 3]);
            for i in 0..n {
                let choice = received.choices[i];
                let correlation = if choice { delta } else { 0 };
                assert_eq!(sent.rows[i], received.rows[i] ^ correlation, "{name} {given} {n} {i}");
                let [key, other] = [choice, !choice].map(|b| sent.keys[i][usize::from(b)]);
                assert_eq!(received.keys[i], key, "{name} {given} {n} {i}");
                assert_ne!(received.keys[i], other, "{name} {given} {n} {i}");
            }
        }
    }
}

#[test]
fn given_choices_are_the_choices_and_random_ones_are_not_constant() {
    for name in names() {
        for (n, (_, received)) in [13, 449].into_iter().zip(run(&name, true, &[13, 449])) {
            assert_eq!(received.choices, choices(n), "{name}");
        }
        for (_, received) in run(&name, false, &[200, 200]) {
            let ones = received.choices.iter().filter(|&&b| b).count();
            assert!((50..150).contains(&ones), "{name}: {ones}");
        }
    }
}

#[test]
fn no_row_and_no_key_appears_twice_in_a_run() {
    for name in ["iknp", "kos", "softspoken-4", "softspoken-8-semi-honest"] {
        let mut values = vec![];
        for (sent, received) in run(name, false, &[600, 1100]) {
            values.extend(sent.keys.concat());
            values.extend(received.rows);
        }
        let count = values.len();
        values.sort_unstable();
        values.dedup();
        assert_eq!(values.len(), count, "{name}");
    }
}

#[test]
fn messages_have_the_lengths_of_the_wire_document() {
    for (name, given) in names().iter().flat_map(|name| [(name, false), (name, true)]) {
        let protocol = Protocol::named(name);
        let (mut receiver, setup) = receiver(protocol);
        assert_eq!(setup.len(), protocol.setup_len(), "{name}");
        let k = match name.strip_prefix("softspoken-") {
            Some(rest) => usize::from(rest.as_bytes()[0] - b'0'),
            None => 1,
        };
        let trees = DELTA_BITS.div_ceil(k);
        let check = if is_checked(name) && k > 1 { 32 * (trees + 1) } else { 0 };
        assert_eq!(setup.len(), 32 * (DELTA_BITS - trees) + check, "{name}");

        let n = 449;
        let m = if is_checked(name) { 1024 } else { 512 };
        let [coin, hashes] = if is_checked(name) { [32, 8 * 129] } else { [0; 2] };
        let corrected = trees - usize::from(!given && name.starts_with("softspoken"));
        let choices = given.then(|| choices(n));
        let (receiver, corrections) = receiver.correct(n, choices.as_deref());
        assert_eq!(corrections.len(), coin + corrected * m / 8, "{name}");
        let (_, proof) = receiver.finish(&vec![0; coin]);
        assert_eq!(proof.len(), coin + hashes, "{name}");
    }
}

/// `bytes` with one bit changed.
fn changed(bytes: &[u8], bit: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[bit / 8] ^= 1 << (bit % 8);
    bytes
}

#[test]
fn a_changed_tree_correction_is_caught_unless_the_sender_does_not_use_it() {
    // Every level has C⁰ and C¹, and the sender uses the one of its unchosen branch.
    for k in 2..=8 {
        let protocol = Protocol::named(&format!("softspoken-{k}"));
        let (_, setup) = receiver(protocol);
        let mut offset = 0;
        for rows in protocol.trees() {
            for level in 2..=rows.len() {
                for b in [false, true] {
                    let caught = sender(protocol, &delta(), &changed(&setup, offset + 77)).is_err();
                    assert_eq!(caught, delta()[rows.end - level] != b, "{k} {rows:?} {level} {b}");
                    offset += 128;
                }
            }
        }
    }
}

#[test]
fn an_xor_or_the_digest_of_a_setup_is_always_caught() {
    for k in 2..=8 {
        let protocol = Protocol::named(&format!("softspoken-{k}"));
        let (_, setup) = receiver(protocol);
        for value in 1..=protocol.trees().len() + 1 {
            let bit = 8 * setup.len() - 256 * value + 93;
            let result = sender(protocol, &delta(), &changed(&setup, bit));
            assert_eq!(result.err(), Some(Rejected), "{k} {value}");
        }
    }
}

#[test]
fn a_correction_of_a_batch_is_caught_unless_delta_is_zero_in_all_rows_of_its_tree() {
    for (name, given) in
        [("kos", false), ("kos", true), ("softspoken-1", false), ("softspoken-2", false)]
            .into_iter()
            .chain([("softspoken-3", true), ("softspoken-5", false), ("softspoken-8", true)])
    {
        let protocol = Protocol::named(name);
        let (mut receiver, setup) = receiver(protocol);
        // Zero in the first rows, so that some whole trees of every size are.
        let delta = core::array::from_fn(|r| r > 40 && delta()[r]);
        let (n, m) = (20, 512);
        let choices = given.then(|| choices(n));
        let (receiver, corrections) = receiver.correct(n, choices.as_deref());
        let accepts = |corrections: &[u8], proof: Option<&[u8]>| {
            let mut sender = sender(protocol, &delta, &setup).expect("honest");
            let (sender, challenge) = sender.challenge(n, given, corrections);
            proof.map(|proof| sender.finish(proof).is_ok()).ok_or(challenge)
        };
        // The challenge does not depend on the corrections, so one honest proof serves all.
        let challenge = accepts(&corrections, None).expect_err("no proof");
        let (_, proof) = receiver.finish(&challenge);
        assert_eq!(accepts(&corrections, Some(&proof)), Ok(true), "{name}");
        assert_eq!(accepts(&changed(&corrections, 9), Some(&proof)), Ok(false), "{name}");
        let (mut caught, mut missed) = (0, 0);
        for (tau, rows) in
            protocol.trees().into_iter().skip(protocol.uncorrected(given)).enumerate()
        {
            // A column of an OT, one of none, and one of the last element.
            for column in [3, 300, m - 1] {
                let wrong = changed(&corrections, 256 + tau * m + column);
                let guessed = rows.clone().all(|r| !delta[r]);
                assert_eq!(accepts(&wrong, Some(&proof)), Ok(guessed), "{name} {rows:?} {column}");
                *if guessed { &mut missed } else { &mut caught } += 1;
            }
        }
        assert!(caught > 0 && missed > 0, "{name}");
    }
}

#[test]
fn a_receiver_that_knows_delta_gets_through_with_other_choices_in_one_tree() {
    // h(T) corrected by Δᵣ times the difference: exactly the guess that the functionality allows.
    let (protocol, n) = (Protocol::named("softspoken-4"), 20);
    let (mut receiver, setup) = receiver(protocol);
    let delta = delta();
    let (receiver, corrections) = receiver.correct(n, Some(&choices(n)));
    // The last element counts once, so that a changed bit e of it changes h by zᵉ.
    let (tree, m, e) = (2, 512, 5);
    let wrong = changed(&corrections, 256 + tree * m + m - 64 + e);
    let mut sender = sender(protocol, &delta, &setup).expect("honest");
    let (sender, challenge) = sender.challenge(n, true, &wrong);
    let (_, mut proof) = receiver.finish(&challenge);
    for r in (4 * tree..4 * tree + 4).filter(|&r| delta[r]) {
        proof = changed(&proof, 8 * (32 + 8 + 8 * r) + e);
    }
    assert!(sender.finish(&proof).is_ok());
}

#[test]
fn a_changed_proof_is_caught() {
    for name in ["kos", "softspoken-1", "softspoken-4", "softspoken-7"] {
        let protocol = Protocol::named(name);
        let accepts = |delta: &[bool; DELTA_BITS], bit: Option<usize>| {
            let (mut receiver, setup) = receiver(protocol);
            let mut sender = sender(protocol, delta, &setup).expect("honest");
            let (receiver, corrections) = receiver.correct(9, None);
            let (sender, challenge) = sender.challenge(9, false, &corrections);
            let (_, proof) = receiver.finish(&challenge);
            sender.finish(&bit.map_or(proof.clone(), |bit| changed(&proof, bit))).is_ok()
        };
        assert!(accepts(&delta(), None));
        // t, h(X), h(T₀), h(T₁), h(T₁₂₇).
        for byte in [0, 31, 32, 39, 40, 55, 32 + 8 + 8 * 127] {
            assert!(!accepts(&delta(), Some(8 * byte + 6)), "{name} {byte}");
        }
        // Without Δ there are no choices to prove anything about.
        let zero = [false; DELTA_BITS];
        assert!(accepts(&zero, Some(8 * 32)) && !accepts(&zero, Some(8 * 40)));
    }
}

#[test]
fn a_challenge_of_another_batch_is_rejected() {
    let protocol = Protocol::named("kos");
    let (mut receiver, setup) = receiver(protocol);
    let mut sender = sender(protocol, &delta(), &setup).expect("honest");
    let mut exchange = || {
        let (receiver, corrections) = receiver.correct(9, None);
        let (sender, challenge) = sender.challenge(9, false, &corrections);
        (sender, receiver.finish(&challenge).1)
    };
    let [(_, first_proof), (second, _)] = [exchange(), exchange()];
    assert_eq!(second.finish(&first_proof).err(), Some(Rejected));
}

#[test]
fn messages_of_the_wrong_length_are_rejected() {
    for name in ["softspoken-2", "softspoken-2-semi-honest"] {
        let protocol = Protocol::named(name);
        let (mut receiver, setup) = receiver(protocol);
        for wrong in [&setup[1..], &[&setup[..], &[0]].concat()] {
            assert_eq!(sender(protocol, &delta(), wrong).err(), Some(Rejected));
        }
        let mut sender = sender(protocol, &delta(), &setup).expect("honest");
        for longer in [false, true] {
            let (receiver, corrections) = receiver.correct(1, None);
            let (sender, challenge) = sender.challenge(1, false, &corrections);
            let (_, mut proof) = receiver.finish(&challenge);
            if longer || proof.pop().is_none() {
                proof.push(0);
            }
            assert_eq!(sender.finish(&proof).err(), Some(Rejected));
        }
    }
}
