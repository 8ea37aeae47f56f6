//! Faults of ROTed's Figure 1, as attacks on `roted_figure1`, and beside each the same attack on the
//! repaired `base::roted`, where it fails. The prose is in `crates/papers/src/roted_figure1.md`,
//! sections 4 and 5.
//!
//! Attackers use public messages and the random oracle. Where a test needs a secret to compare with,
//! it computes it from the party's seed.
#![allow(clippy::cast_possible_truncation, reason = "small numbers")]

#[path = "roted_faults/figure1.rs"]
mod figure1;
#[path = "roted_faults/repaired.rs"]
mod repaired;
#[path = "roted_faults/reuse.rs"]
mod reuse;

use foxtrot_kernel::aes::Aes128;
use foxtrot_ot::{
    Backend, Seed,
    base::roted::{self, Blinded as RepairedBlinded, Endemic, rot},
};
use foxtrot_papers::roted_figure1::{Blinded, Reply, Sender};

const RECEIVER: [u8; 32] = [1; 32];
const SENDER: [u8; 32] = [2; 32];
const GARBAGE: [u8; 16] = [0xaa; 16];

fn seed(bytes: [u8; 32]) -> Seed {
    Seed::from_bytes(bytes)
}

/// Piece `number` of the stream of a party's coins.
fn coins<const L: usize>(context: &'static str, seed: [u8; 32], number: usize) -> [u8; L] {
    let mut coins = [0; L];
    let oracle = figure1::session().oracle(context);
    let bytes: [u8; 24] = oracle.query(0, 0).field(&seed).finish();
    let (key, nonce) = bytes.split_at(16);
    let nonce = u64::from_le_bytes(nonce.try_into().unwrap());
    let aes = Aes128::new(Backend::PORTABLE, key.try_into().unwrap());
    aes.ctr(u128::from(nonce) << 64 | (number * L / 16) as u128, &mut coins);
    coins
}

fn bit(bytes: &[u8], k: usize) -> bool {
    bytes[k / 8] >> (k % 8) & 1 == 1
}

/// Counts the positions in which two strings of bits differ.
fn distance(a: &[u8], b: &[u8]) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
}

/// An honest sender's reply, and its two confirmations in the order of the branches.
fn honest_reply(blinded: &Blinded) -> (Reply, Vec<[[u8; 16]; 2]>) {
    let (_, reply) = Sender::respond(figure1::session(), blinded, seed(SENDER));
    let by_branch = |i| {
        let [k_a, k_not_a] = figure1::ReplyView::of(&reply, i).confirmations;
        if figure1::SenderCoins::new(SENDER, i).a == 0 { [k_a, k_not_a] } else { [k_not_a, k_a] }
    };
    let by_branch = (0..reply.instances()).map(by_branch).collect();
    (reply, by_branch)
}

/// §4.1. The third rule, "b = c if neither key matches", was added so that a wrong key would not
/// show. But a sender that sends (garbage, K₀) gets b = 1 from everybody: a receiver with c = 0 finds
/// its key in the second place, so b = 1; one with c = 1 finds it nowhere, so b = c = 1. With
/// (K₁, garbage) it gets b = 0 in the same way. In F_ROT the bit is uniform if either party is corrupt.
#[test]
fn in_figure_1_a_sender_fixes_every_choice_bit() {
    let n = 500;
    let wanted = |i: usize| i.is_multiple_of(3);
    let (receiver, blinded) = figure1::honest(n, RECEIVER);
    let (reply, keys) = honest_reply(&blinded);
    let forged = figure1::with_confirmations(&reply, |i| {
        if wanted(i) { [GARBAGE, keys[i][0]] } else { [keys[i][1], GARBAGE] }
    });
    let (received, _) = receiver.finish(&forged).unwrap();
    for i in 0..n {
        assert_eq!(bool::from(received.choices().get(i)), wanted(i), "instance {i}");
    }
    // Both branches occurred, or it would be easy.
    let ones: usize = (0..n).map(|i| figure1::branch(RECEIVER, i)).sum();
    assert!((200..300).contains(&ones), "{ones} of {n} branches are 1");
}

/// §4.1. The repaired protocol sends a in clear and has nothing to match: b = c ⊕ a, c hidden.
#[test]
fn in_roted_no_reply_biases_the_choice_bits() {
    let n = 1000;
    let choices = repaired::choices(RECEIVER, n);
    // Five standard deviations.
    let ones: u32 = choices.iter().map(|byte| byte.count_ones()).sum();
    assert!((420..580).contains(&ones), "{ones} of {n}");
    let (_, blinded) = rot::Receiver::start(repaired::session(), n, seed(RECEIVER)).unwrap();
    let (_, honest) = rot::Sender::respond(repaired::session(), &blinded, seed(SENDER));
    let head = 32 + n / 8;
    for spoiled_branch in [None, Some(0), Some(1)] {
        for a in [0x00, 0xff, 0x5a] {
            let mut bytes = honest.as_bytes().to_vec();
            bytes[32..head].fill(a);
            for instance in bytes[head..].chunks_mut(2176) {
                if let Some(j) = spoiled_branch {
                    instance[1088 * j..][..1088].fill(0xaa);
                }
            }
            let reply = roted::Reply::decode(&bytes, n).unwrap();
            let (receiver, _) =
                rot::Receiver::start(repaired::session(), n, seed(RECEIVER)).unwrap();
            let (received, _) = receiver.finish(&reply).unwrap();
            let expected: Vec<u8> = choices.iter().map(|c| c ^ a).collect();
            assert_eq!(received.choices().as_bytes(), expected, "{spoiled_branch:?}, a = {a:#x}");
        }
    }
}

/// A receiver with the rule of the authors' code: its choice, or `None` if it gives up.
fn choose_or_give_up(seed: [u8; 32], i: usize, reply: &Reply) -> Option<usize> {
    let k_c = figure1::receivers_confirmation(seed, i, reply);
    figure1::ReplyView::of(reply, i).confirmations.iter().position(|k| *k == k_c)
}

/// §4.2. Neither the paper nor `roted_figure1` has this rule, but the authors' code
/// (`alice_rot_t::msg2` returns false): the receiver gives up if neither key matches. Then
/// (garbage, K₀) makes it give up exactly if c = 1: the sender reads one bit of each receiver that it
/// is willing to lose, and with one such instance in a batch it reads that bit of the batch.
#[test]
fn with_the_rule_in_the_authors_code_giving_up_is_the_secret_branch() {
    let n = 500;
    let (_, blinded) = figure1::honest(n, RECEIVER);
    let (reply, keys) = honest_reply(&blinded);
    let forged = figure1::with_confirmations(&reply, |i| [GARBAGE, keys[i][0]]);
    for i in 0..n {
        let (a, c) = (figure1::SenderCoins::new(SENDER, i).a, figure1::branch(RECEIVER, i));
        assert_eq!(choose_or_give_up(RECEIVER, i, &reply), Some(a ^ c), "instance {i}");
        let gives_up = choose_or_give_up(RECEIVER, i, &forged).is_none();
        assert_eq!(gives_up, c == 1, "instance {i}");
    }
}

/// §4.2. The repaired receiver compares nothing: no reply makes it give up, whatever its branch.
#[test]
fn in_roted_a_spoiled_branch_never_makes_the_receiver_give_up() {
    for byte in 0..64 {
        let receiver = || rot::Receiver::start(repaired::session(), 1, seed([byte; 32])).unwrap();
        let (_, honest) = rot::Sender::respond(repaired::session(), &receiver().1, seed(SENDER));
        for j in [0, 1] {
            let mut bytes = honest.as_bytes().to_vec();
            bytes[33 + 1088 * j..][..1088].fill(0xaa);
            assert!(receiver().0.finish(&roted::Reply::decode(&bytes, 1).unwrap()).is_ok());
        }
    }
}

/// Returns the number of bits that a signal tells of a secret coefficient: the mutual information
/// of the samples.
fn information(samples: impl Iterator<Item = (usize, bool)>) -> f64 {
    let mut counts = [[0u32; 2]; 32];
    samples.for_each(|(secret, signal)| counts[secret][usize::from(signal)] += 1);
    let total: f64 = counts.as_flattened().iter().copied().map(f64::from).sum();
    let signals = [0, 1].map(|k| counts.iter().map(|row| f64::from(row[k])).sum::<f64>());
    let term = |row: &[u32; 2], k: usize| {
        let (joint, secret) = (f64::from(row[k]), f64::from(row[0] + row[1]));
        if joint == 0.0 {
            0.0
        } else {
            joint / total * (joint * total / secret / signals[k]).log2()
        }
    };
    counts.iter().map(|row| term(row, 0) + term(row, 1)).sum()
}

/// A coefficient of a secret as an index.
fn index(x: u16, q: i32) -> usize {
    let x = i32::from(x);
    (if x > q / 2 { x - q } else { x } + 16).unsigned_abs() as usize
}

/// §4.3. The signals σ₀ are thresholds of s_S·p⁰ + 2e′_S, and the receiver picks p⁰. With the
/// constant polynomial p⁰ = (q − 1)/2 each coefficient of k⁰ is one coefficient of s_S times about q/2:
/// near 0 if it is even, near q/2 if it is odd. The signals are s_S mod 2: a whole bit per coefficient,
/// the most that a signal can say. And s_S also protects the other branch.
#[test]
fn in_figure_1_the_signals_of_one_branch_are_the_parities_of_the_secret_of_both() {
    let n = 64;
    let constant = figure1::sparse(&[(0, (figure1::Q - 1) / 2)]);
    let blinded = figure1::malicious(n, |_, _| constant.clone());
    let (_, reply) = Sender::respond(figure1::session(), &blinded, seed(SENDER));
    let mut samples = Vec::new();
    for i in 0..n {
        let (coins, view) =
            (figure1::SenderCoins::new(SENDER, i), figure1::ReplyView::of(&reply, i));
        let secret = coins.s.coefficients();
        let signals = (0..figure1::N).map(|k| bit(&view.signals[0], k));
        samples.extend(secret.iter().map(|&x| index(x, figure1::Q)).zip(signals));
        // The same s_S makes the key of the other branch.
        let [_, p_1] = figure1::points(&blinded, i);
        let (_, sk_1) = coins.string(1, &p_1);
        assert_eq!(view.confirmations[1 - coins.a], figure1::confirmation(i, &sk_1));
    }
    let bits = information(samples.into_iter());
    println!("Figure 1: {bits:.3} bits of s_S per coefficient from the signals of one run");
    assert!(bits > 0.99, "{bits}");
}

/// Returns the number of bits that the hints of branch 0 of each instance tell of a coefficient of
/// the secret that `other` finds in the same answers.
fn told(answers: &[[repaired::Branch; 2]], other: impl Fn(usize) -> Option<(usize, usize)>) -> f64 {
    let with_other = answers.iter().enumerate().filter_map(|(i, [zero, _])| {
        let (i, j) = other(i)?;
        Some((&zero.hints, &answers[i][j].secrets.s[0]))
    });
    information(with_other.flat_map(|(hints, secret)| {
        let secret = secret.coefficients().map(|x| index(x, repaired::Q));
        secret.into_iter().enumerate().map(move |(k, x)| (x, bit(hints, k)))
    }))
}

/// `Blinded` of a receiver that programs every branch 0 so that its hints are the parities of the
/// secret.
fn parity_reader(n: usize) -> RepairedBlinded<Endemic> {
    // Hints are signals of twice the value, hence a quarter.
    let quarter = repaired::constant((repaired::Q as u16 - 1) / 4);
    repaired::malicious(n, |_, _| quarter.clone())
}

/// A sender that is wrong on purpose: its secrets, but for e_S, are those of instance i and branch j
/// after `of`.
fn sharing(of: impl Fn(usize, u8) -> (usize, u8)) -> impl Fn(usize, u8) -> repaired::Secrets {
    move |i, j| {
        let (shared_i, shared_j) = of(i, j);
        let shared = repaired::Secrets::new(SENDER, shared_i, shared_j);
        repaired::Secrets { e: repaired::Secrets::new(SENDER, i, j).e, ..shared }
    }
}

/// §4.3. The repaired sender draws s_S afresh for each branch. A receiver that programs one branch reads
/// the parities of the secret of that branch, whose key it may know anyway, and nothing of the other's.
/// Of a sender that shares s_S it reads both.
#[test]
fn in_roted_hints_of_one_branch_do_not_reveal_the_secret_of_the_other() {
    let blinded = parity_reader(128);
    let bits = |answers: &[_]| [0, 1].map(|j| told(answers, |i| Some((i, j))));
    let [own, other] = bits(&repaired::honest_answers(&blinded, SENDER));
    println!("roted: {own:.3} bits of the branch's own secret, {other:.5} of the other's");
    assert!(own > 0.99, "the attack does what it should: {own}");
    assert!(other < 0.001, "{other}");

    let [own, other] = bits(&repaired::answers(&blinded, sharing(|i, _| (i, 0))));
    assert!(own > 0.99 && other > 0.99, "the test sees what it is for: {own}, {other}");
}

/// §4.4. The figure draws one e′_S and uses it for both keys, so it cancels: k¹ − k⁰ = s_S·h, with
/// h = H₁(r) public. That is no Ring-LWE sample but the secret itself, times a known element
/// that is nearly always invertible; a party that learned both k would solve for s_S.
#[test]
fn in_figure_1_the_difference_of_the_keys_is_the_secret_times_a_public_value() {
    let n = 32;
    let (_, blinded) = figure1::honest(n, RECEIVER);
    let (_, reply) = Sender::respond(figure1::session(), &blinded, seed(SENDER));
    for i in 0..n {
        let (coins, view) =
            (figure1::SenderCoins::new(SENDER, i), figure1::ReplyView::of(&reply, i));
        let points = figure1::points(&blinded, i);
        // These are the sender's k: its signals, all 1024, and its keys come out of them.
        for (j, p) in points.iter().enumerate() {
            let (signals, sk) = coins.string(j, p);
            assert_eq!(view.signals[j], signals);
            assert_eq!(view.confirmations[j ^ coins.a], figure1::confirmation(i, &sk));
        }
        let [k_0, k_1] = points.each_ref().map(|p| coins.k(p).into_ntt(Backend::PORTABLE));
        let r = &blinded.as_bytes()[976 * i + 896..][..16];
        let s_times_h = figure1::times(&figure1::h1(i, r), &coins.s);
        assert_eq!(figure1::difference(&k_1, &k_0), figure1::coefficients(&s_times_h));
    }
}

/// §4.4. Each branch of the repaired protocol has an s_S and an e′ of its own: what k¹ − k⁰ is besides
/// s_S·(P¹ − P⁰), for the s_S of either branch, is no noise. Of a sender that shares s_S, but not e′, it
/// is nothing but noise.
#[test]
fn in_roted_the_difference_of_the_keys_is_no_secret_times_a_public_value() {
    let blinded = repaired::malicious(32, |_, h| repaired::half(h));
    let noises = |[zero, one]: &[repaired::Branch; 2]| {
        let (k_0, k_1) = (zero.secrets.k(&zero.p), one.secrets.k(&one.p));
        let difference = repaired::difference(&one.p, &zero.p);
        [zero, one].map(|branch| {
            let mut expected = branch.secrets.times(&difference);
            expected.add(Backend::PORTABLE, &k_0);
            repaired::near(&k_1, &expected)
        })
    };
    for instance in &repaired::honest_answers(&blinded, SENDER) {
        let near = noises(instance);
        // A uniform difference has nine of 7681 values in that range: 0.3 of 256 coefficients.
        assert!(near.iter().all(|&near| near < 10), "{near:?} of 256");
    }
    let shared = |i, j| repaired::Secrets {
        s: repaired::Secrets::new(SENDER, i, 0).s,
        ..repaired::Secrets::new(SENDER, i, j)
    };
    for instance in &repaired::answers(&blinded, shared) {
        assert_eq!(noises(instance), [repaired::N; 2], "the test sees what it is for");
    }
}

/// §4.5, made visible by §4.4. The proof's Claim 3 needs p^{1−c} = p⁰ ± H₁(r) to be
/// uniform for a corrupt receiver. But it sees h = H₁(r) before it picks p⁰. With p⁰ = −h/2 it has
/// p¹ = h/2 = −p⁰, k¹ = −k⁰ + 4e′_S, and so σ₁ = σ₀ and sk¹ = sk⁰ ⊕ σ₀ but for a few positions: a party
/// that learns one string has the other.
#[test]
fn in_figure_1_a_receiver_derives_one_string_from_the_other() {
    let n = 32;
    let minus_half = figure1::sparse(&[(0, (figure1::Q - 1) / 2)]);
    let blinded =
        figure1::malicious(n, |_, h| figure1::times(h, &figure1::coefficients(&minus_half)));
    let (_, reply) = Sender::respond(figure1::session(), &blinded, seed(SENDER));
    let (mut signals_differ, mut strings_differ) = (0, 0);
    for i in 0..n {
        let view = figure1::ReplyView::of(&reply, i);
        let [sigma_0, sigma_1] = &view.signals;
        signals_differ += distance(sigma_0, sigma_1);
        let coins = figure1::SenderCoins::new(SENDER, i);
        let [p_0, p_1] = figure1::points(&blinded, i);
        let ((_, sk_0), (_, sk_1)) = (coins.string(0, &p_0), coins.string(1, &p_1));
        let guess: Vec<u8> = sk_0.iter().zip(sigma_0).map(|(sk, sigma)| sk ^ sigma).collect();
        strings_differ += distance(&guess, &sk_1);
    }
    let all = f64::from(n as u32 * 512);
    let [signals, strings] = [signals_differ, strings_differ].map(|x| f64::from(x) / all);
    println!(
        "Figure 1: {:.2} % of signals, {:.2} % of bits differ",
        100.0 * signals,
        100.0 * strings
    );
    // An honest receiver's differ in a half.
    assert!(signals < 0.01 && strings < 0.01);
    let (_, blinded) = figure1::honest(n, RECEIVER);
    let (_, reply) = Sender::respond(figure1::session(), &blinded, seed(SENDER));
    let view = figure1::ReplyView::of(&reply, 0);
    assert!((180..330).contains(&distance(&view.signals[0], &view.signals[1])));
}

/// §4.5. In the repaired protocol the other point comes out of the oracle after T is fixed. A receiver
/// that does the same, with the hash that it knows, gets an unrelated other branch: its hints are others
/// and its string is not told by the one of branch 0.
#[test]
fn in_roted_the_other_point_is_out_of_the_receivers_control() {
    let n = 64;
    let blinded = repaired::malicious(n, |_, h| repaired::half(h));
    let (mut hints, mut strings) = (0, 0);
    for [zero, one] in &repaired::honest_answers(&blinded, SENDER) {
        hints += distance(&zero.hints, &one.hints);
        let guess: Vec<u8> = zero.sk.iter().zip(zero.hints).map(|(sk, hint)| sk ^ hint).collect();
        strings += distance(&guess, &one.sk);
    }
    for differ in [hints, strings] {
        let share = f64::from(differ) / f64::from(n as u32 * 256);
        assert!((0.48..0.52).contains(&share), "{share}");
    }
}

/// §4.6, of an economy that the figure invites and does not forbid: p_S is most of `Reply`, and one
/// for a whole batch would save it. 16 instances with small multiples of the secret give all of s_S to
/// the receiver, and with it both keys of every instance.
#[test]
fn one_p_s_for_a_batch_of_sixteen_gives_the_receiver_both_keys_of_every_instance() {
    let blinded = reuse::blinded();
    for sender in 0..8 {
        let (reply, senders_keys) = reuse::respond_with_one_secret(&blinded, [sender; 32]);
        let secret = reuse::recover_secret(&reply).expect("the signals determine it");
        assert!(secret == figure1::SenderCoins::new([sender; 32], 0).s);
        assert_eq!(reuse::both_keys(&blinded, &reply, &secret), senders_keys);
    }
}

/// §4.6. The figure itself draws s_S in every instance: the same 16 instances give it away only when they
/// share it.
#[test]
fn sixteen_instances_of_figure_1_with_fresh_secrets_do_not_give_one_away() {
    let (_, reply) = Sender::respond(figure1::session(), &reuse::blinded(), seed(SENDER));
    assert!(reuse::recover_secret(&reply).is_none());
}

/// §4.6. Two readings give all magnitudes of a secret of Module768 if a batch shares it, and what branch 0
/// tells of one instance it tells of the next. In a batch of `roted` nothing is shared.
#[test]
fn in_roted_every_instance_and_branch_has_a_secret_of_its_own() {
    let whole_batch = || sharing(|_, _| (0, 0));
    let constants = repaired::malicious(2, |i, _| repaired::constant([1920, 800][i]));
    let magnitudes_fit = |answers: &[[repaired::Branch; 2]]| {
        let [odd, two] = [0, 1].map(|i| answers[i][0].hints);
        let secret = answers[0][0].secrets.s[0].coefficients();
        let fits = secret.iter().enumerate().map(|(k, &x)| {
            let magnitude = x.min(repaired::Q as u16 - x);
            (bit(&odd, k), bit(&two, k)) == (magnitude == 1, magnitude == 2)
        });
        fits.filter(|&fits| fits).count()
    };
    assert_eq!(magnitudes_fit(&repaired::answers(&constants, whole_batch())), repaired::N);
    // Of an unrelated secret, "2" is read in one coefficient out of eight.
    let fit = magnitudes_fit(&repaired::honest_answers(&constants, SENDER));
    assert!(fit < 240, "{fit} of 256");

    let n = 128;
    let blinded = parity_reader(n);
    let elsewhere =
        |answers: &[_]| [0, 1].map(|j| told(answers, |i| (i + 1 < n).then_some((i + 1, j))));
    // Samples of one secret only.
    let shared = elsewhere(&repaired::answers(&blinded, whole_batch()));
    assert!(shared.iter().all(|&bits| bits > 0.95), "the test sees what it is for: {shared:?}");
    let answers = repaired::honest_answers(&blinded, SENDER);
    let bits = elsewhere(&answers);
    assert!(bits.iter().all(|&bits| bits < 0.001), "{bits:?}");

    let points: Vec<_> = answers.iter().flatten().map(|branch| &branch.u).collect();
    assert!((0..2 * n).all(|k| !points[..k].contains(&points[k])));
}
