//! Attacks on the check, with few and small trees.

use alloc::{vec, vec::Vec};

use foxtrot_kernel::{
    Backend,
    gf::gf128,
    lpn::{Challenges, Check, Prefix},
};

use super::*;
use crate::{
    Decode, Error, Misbehaved, Seed,
    base::Choice,
    extension::{OtKind, Places, ROWS, Shape, softspoken},
    ideal,
    protocol::Adversary,
    tasks::only,
};

/// Trees, and their levels.
const TREES: usize = 2;
const HEIGHT: usize = 5;

/// VOLE with so few trees that it hides nothing.
fn toy() -> Silent<Gf128> {
    Silent::with_noise(vole(), TREES)
}

fn session() -> Session {
    Session::new(Sid::from_bytes([8; 32]))
}

type Parties<F> = (Sender<F>, Receiver<F>);

fn parties<F: Field>(silent: Silent<F>, delta: Option<Bits>) -> Parties<F> {
    let seed = |byte| Seed::from_bytes([byte; 32]);
    let (pairs, chosen) = match delta {
        Some(delta) => ideal::given(delta, &seed(3)),
        None => ideal::random(ROWS, &seed(3)),
    };
    let below = || session().sub("below", 0, crate::Direction::default());
    let extension = silent.extension();
    let (receiver, setup) = extension::Receiver::new(below(), extension, pairs, seed(1)).unwrap();
    let sender = extension::Sender::new(below(), extension, chosen, &setup, seed(2)).unwrap();
    (
        Sender::new(session(), silent, sender, seed(4)).unwrap(),
        Receiver::new(session(), silent, receiver, seed(5)).unwrap(),
    )
}

/// The OTs of a batch.
fn ots<F: Field>(
    (sender, receiver): &mut Parties<F>,
    n: usize,
) -> (Secret<Block>, (Bits, Secret<Block>)) {
    let (sender, receiver) = (sender.ots().unwrap(), receiver.ots().unwrap());
    let mut corrections = Vec::new();
    let unanswered = only(receiver.extend(vec![(Choice::Random(n), &mut corrections)]).unwrap());
    let absorbed = sender.absorb(&[(Shape::random(n), &corrections)]).unwrap();
    let (unverified, challenge) = only(absorbed);
    let (mut q, mut t) = (vec![[0; 16]; n], vec![[0; 16]; n]);
    let batch = (unanswered, challenge.as_slice().as_flattened(), t.as_mut_slice());
    let (choices, proof) = only(receiver.finish(OtKind::Correlated, vec![batch]).unwrap());
    sender.finish(vec![(unverified, &proof, Places::Correlated(&mut q))]).unwrap();
    (Secret(q), (choices, Secret(t)))
}

/// Messages of a batch that may change on their way.
trait Channel {
    fn trees(&mut self, _: &mut Vec<u8>) {}
    fn challenge(&mut self, _: &mut Vec<u8>) {}
    fn check(&mut self, _: &mut Vec<u8>) {}
    fn answer(&mut self, _: &mut Vec<u8>) {}
}

/// Changes a bit of one of the messages.
struct Flip {
    message: usize,
    bit: usize,
}

impl Flip {
    fn flip(&self, message: usize, bytes: &mut [u8]) {
        if self.message == message {
            bytes[self.bit / 8] ^= 1 << (self.bit % 8);
        }
    }
}

impl Channel for Flip {
    fn trees(&mut self, bytes: &mut Vec<u8>) {
        self.flip(0, bytes);
    }

    fn challenge(&mut self, bytes: &mut Vec<u8>) {
        self.flip(1, bytes);
    }

    fn check(&mut self, bytes: &mut Vec<u8>) {
        self.flip(2, bytes);
    }

    fn answer(&mut self, bytes: &mut Vec<u8>) {
        self.flip(3, bytes);
    }
}

struct Honest;

impl Channel for Honest {}

type Run<F> = Result<(Sent<F>, Received<F>), Error>;

/// A batch of m outputs over that channel.
fn run<F: Field>(
    silent: Silent<F>,
    parties: &mut Parties<F>,
    m: usize,
    channel: &mut impl Channel,
) -> Run<F> {
    let (sent, (choices, received)) = ots(parties, silent.size(m)?.ots);
    let (sender, receiver) = parties;
    let (planted, mut trees) = sender.plant(m, sent)?;
    channel.trees(&mut trees);
    let (grown, mut challenge) = receiver.grow(m, choices, received, &trees)?;
    channel.challenge(&mut challenge);
    let encoded = sender.encode(planted, &challenge)?;
    let (unverified, mut check) = receiver.encode(grown)?;
    channel.check(&mut check);
    let (sent, mut answer) = sender.answer(encoded, &check)?;
    channel.answer(&mut answer);
    Ok((sent, receiver.verify(unverified, &answer)?))
}

const FAILED: Error = Error::Misbehaved(Misbehaved::ConsistencyCheck);

fn assert_fits(delta: u128, sent: Sent<Gf128>, received: Received<Gf128>) {
    let (w, (u, v)) = (sent.into_rows(), received.into_parts());
    let product = |u| gf128::mul(Backend::best(), u, delta);
    assert!((0..w.len()).all(|i| v[i] == w[i] ^ product(u[i])));
}

#[test]
fn a_changed_bit_of_any_message_ends_the_run_or_changes_nothing() {
    let size = toy().size(32).unwrap();
    let messages = [size.trees_len, 16, 16, 32];
    let mut passed = 0;
    for (message, len) in messages.into_iter().enumerate() {
        for byte in (0..len).step_by(3) {
            let mut parties = parties(toy(), None);
            let delta = *parties.0.delta().unwrap();
            let ended =
                run(toy(), &mut parties, 32, &mut Flip { message, bit: 8 * byte + byte % 8 });
            let of_tree = byte / 16 % (2 * HEIGHT + 1);
            match ended {
                // Of a sum that the receiver does not open.
                Ok((sent, received)) => {
                    assert!(message == 0 && of_tree < 2 * HEIGHT, "{message} {byte}");
                    assert_fits(delta, sent, received);
                    passed += 1;
                }
                Err(error) => assert_eq!(error, FAILED),
            }
        }
    }
    assert!((40..70).contains(&passed), "{passed} of {} sums", TREES * 2 * HEIGHT * 16 / 3);
}

/// Any bit but that which counts for nothing: bit 0 of the sum of a tree's leaves.
#[test]
fn a_changed_bit_of_any_message_of_ots_ends_the_run() {
    let silent = silent_of_ots();
    let size = silent.size(32).unwrap();
    for (message, len) in [size.trees_len, 16, 16, 64].into_iter().enumerate() {
        for byte in 0..len {
            let mut parties = parties(silent, None);
            let bit = 8 * byte + byte % 7 + 1;
            let ended = run(silent, &mut parties, 32, &mut Flip { message, bit }).map(drop);
            let refused = ended == Err(Error::Decode(Decode::SpareBits { message: "Trees" }));
            assert!(ended == Err(FAILED) || refused && (message, byte) == (0, 32), "{ended:?}");
        }
    }
}

#[test]
fn a_failed_check_ends_the_session_and_that_of_the_extension() {
    for (message, cut) in [(2, false), (0, true), (2, true)] {
        let mut parties = parties(silent_of_ots(), None);
        struct Cut(usize, bool);
        impl Channel for Cut {
            fn trees(&mut self, bytes: &mut Vec<u8>) {
                if self.0 == 0 && self.1 {
                    bytes.pop();
                }
            }
            fn answer(&mut self, bytes: &mut Vec<u8>) {
                match *self {
                    Self(2, true) => drop(bytes.pop()),
                    Self(2, false) => bytes[40] ^= 1,
                    _ => {}
                }
            }
        }
        let error = run(silent_of_ots(), &mut parties, 32, &mut Cut(message, cut)).unwrap_err();
        assert_eq!(error == FAILED, !cut);
        assert!(cut == matches!(error, Error::Decode(_)));
        let receiver = &mut parties.1;
        assert!(receiver.ots().is_err());
        let n = silent_of_ots().size(32).unwrap().ots;
        let (bits, rows) = (Bits::from_bools(vec![false; n]), vec![[0; 16]; n]);
        let next = receiver.grow(32, bits, Secret(rows), &[]).map(drop);
        assert_eq!(next, Err(Usage::SessionEnded.into()));
    }
}

/// Silent OTs with few trees.
fn silent_of_ots() -> Silent<Gf2> {
    Silent::with_noise(ot(), TREES)
}

#[test]
fn a_wrong_check_ends_the_senders_session() {
    let mut parties = parties(toy(), None);
    let (sent, _) = ots(&mut parties, toy().size(7).unwrap().ots);
    let (planted, _) = parties.0.plant(7, sent).unwrap();
    assert!(matches!(parties.0.encode(planted, &[0; 15]), Err(Error::Decode(_))));
    assert_eq!(parties.0.delta().map(drop), Err(Usage::SessionEnded));
    assert!(parties.0.ots().is_err());

    let mut parties = self::parties(toy(), None);
    let (sent, _) = ots(&mut parties, toy().size(7).unwrap().ots);
    let (planted, _) = parties.0.plant(7, sent).unwrap();
    let encoded = parties.0.encode(planted, &[3; 16]).unwrap();
    assert!(matches!(parties.0.answer(encoded, &[0; 17]), Err(Error::Decode(_))));
    assert_eq!(parties.0.delta().map(drop), Err(Usage::SessionEnded));
}

/// Runs batches of 32 outputs whose trees are those of a corrupt sender; returns how often the receiver accepts if the sender adds
/// `answer` of the challenge to its sum.
fn accepted<F: Field>(
    silent: Silent<F>,
    runs: usize,
    mut change: impl FnMut(&mut [Block]),
    mut answer: impl FnMut(&Challenge) -> u128,
) -> usize {
    let size = silent.size(32).unwrap();
    let mut parties = parties(silent, None);
    let mut accepted = 0;
    for _ in 0..runs {
        let (sent, (choices, received)) = ots(&mut parties, size.ots);
        let (sender, receiver) = &mut parties;
        let (planted, mut trees) = sender.plant(32, sent).unwrap();
        change(trees[silent.head_len()..].as_chunks_mut().0);
        let (grown, challenge) = receiver.grow(32, choices, received, &trees).unwrap();
        let mut encoded = sender.encode(planted, &challenge).unwrap();
        encoded.change(answer(challenge.first_chunk().expect("a seed")));
        let (unverified, check) = receiver.encode(grown).unwrap();
        let (_, answer) = sender.answer(encoded, &check).unwrap();
        // Without the end of the session.
        accepted += usize::from(receiver.would_accept(unverified, &answer));
    }
    accepted
}

/// Runs an attack on VOLE, with three accumulators and with two.
macro_rules! attack {
    ($attack:ident) => {
        $attack(toy());
        $attack(toy().with_two_accumulators());
    };
}

const RUNS: usize = 1 << 10;

#[test]
fn a_wrong_sum_of_any_level_passes_in_half_of_all_runs() {
    fn attack<F: Field>(silent: Silent<F>) {
        for level in [0, HEIGHT - 1] {
            let passed = accepted(silent, RUNS, |trees| trees[2 * level][3] ^= 1, |_| 0);
            // Six standard deviations.
            assert!((416..=608).contains(&passed), "level {level}: {passed} of {RUNS}");
        }
    }
    attack!(attack);
}

/// Tests that wrong sums of k levels pass if k guesses are right.
#[test]
fn wrong_sums_of_all_levels_pass_as_often_as_a_place_is_guessed() {
    fn attack<F: Field>(silent: Silent<F>) {
        let change =
            |trees: &mut [Block]| (0..HEIGHT).for_each(|level| trees[2 * level + 1][0] ^= 4);
        let passed = accepted(silent, RUNS, change, |_| 0);
        assert!((5..=70).contains(&passed), "{passed} of {RUNS}");
    }
    attack!(attack);
}

/// A wrong sum of a correlated tree changes what the receiver has on either side of a node.
#[test]
fn a_wrong_sum_of_a_correlated_tree_does_not_pass_by_itself() {
    for level in 0..HEIGHT {
        let change = |trees: &mut [Block]| trees[level][3] ^= 1;
        assert_eq!(accepted(silent_of_ots(), 128, change, |_| 0), 0, "{level}");
    }
}

/// Tests the sender's best use of a wrong block for the last level: after it has seen χ it corrects the sum that it answers with for a guessed
/// place. A wrong D changes one leaf, a wrong sum of a correlated tree the noise's leaf and the one beside it.
#[test]
fn a_wrong_correction_of_a_leaf_passes_only_if_the_place_is_guessed() {
    fn attack<F: Field>(
        silent: Silent<F>,
        changed: core::ops::RangeInclusive<usize>,
        expected: core::ops::RangeInclusive<usize>,
    ) {
        let error = 1u128 << 77;
        let change = |trees: &mut [Block]| {
            let block = &mut trees[F::blocks_of_tree(HEIGHT) - 1];
            *block = (u128::from_le_bytes(*block) ^ error).to_le_bytes();
        };
        assert_eq!(accepted(silent, 64, change, |_| 0), 0);
        // What the error adds to the sum.
        let size = silent.size(32).unwrap();
        let code = code::Code::new(Backend::best(), size.leaves(), size.accumulators);
        let mut leaves = vec![[0; 16]; size.leaves()];
        leaves[changed.clone()].fill(error.to_le_bytes());
        let guessed = |challenge: &Challenge| {
            let backend = Backend::best();
            let [mut cells, other] = [(); 2].map(|()| Cells::zeroed(size.leaves()));
            Prefix::new(backend).add(&leaves, code.first(), cells.get_mut());
            let challenges = Challenges::new(backend, challenge);
            let check = Check { challenges: &challenges, bits: false };
            let machine = code::Machine { backend, executor: &crate::tasks::InPlace };
            code.accumulate((machine, F::factors), cells, other, Some(check)).1[0]
        };
        let passed = accepted(silent, RUNS, change, guessed);
        assert!(expected.contains(&passed), "{passed} of {RUNS}");
    }
    attack(toy(), 11..=11, 5..=70);
    attack(toy().with_two_accumulators(), 11..=11, 5..=70);
    attack(silent_of_ots(), 10..=11, 18..=110);
}

/// Errors of two trees that cancel in all sums behind both places.
#[test]
fn errors_that_cancel_in_most_sums_never_pass() {
    fn attack<F: Field>(silent: Silent<F>) {
        let change = |trees: &mut [Block]| {
            let last = F::blocks_of_tree(HEIGHT) - 1;
            trees.chunks_mut(last + 1).for_each(|tree| tree[last][5] ^= 8);
        };
        assert_eq!(accepted(silent, 128, change, |_| 0), 0);
    }
    attack!(attack);
    attack(silent_of_ots());
}

/// R20-1 and R20-4: what the receiver sends depends on its noise only, whatever the sender has sent. If it sent a hash of
/// its sum instead, the sender could try all places until one fits, without any risk.
#[test]
fn r20_4_the_receivers_messages_say_nothing_of_its_leaves() {
    fn attack<F: Field>(silent: Silent<F>) {
        let size = silent.size(32).unwrap();
        let messages = |change: fn(&mut [Block])| {
            let mut parties = parties(silent, None);
            let (sent, (choices, received)) = ots(&mut parties, size.ots);
            let (_, mut trees) = parties.0.plant(32, sent).unwrap();
            change(trees[silent.head_len()..].as_chunks_mut().0);
            let (grown, challenge) = parties.1.grow(32, choices, received, &trees).unwrap();
            (challenge, parties.1.encode(grown).unwrap().1)
        };
        let honest = messages(|_| ());
        assert_eq!(honest, messages(|trees| trees[F::blocks_of_tree(HEIGHT) - 1][0] ^= 2));
        assert_eq!(honest, messages(|trees| trees[F::SUMS * (HEIGHT - 1)..][..2].fill([0xfe; 16])));
        assert_eq!(honest, messages(|trees| trees.fill([6; 16])));
    }
    attack!(attack);
    attack(silent_of_ots());
}

/// Tests that D_j ⊕ v_j is not (1 ⊕ u_j)·Δ, which it is if all leaves of a tree add up to Δ.
#[test]
fn corrections_of_leaves_do_not_reveal_delta() {
    let size = toy().size(32).unwrap();
    let mut parties = parties(toy(), None);
    let delta = *parties.0.delta().unwrap();
    let product = |a, b| gf128::mul(Backend::best(), a, b);
    for _ in 0..8 {
        let (sent, (choices, received)) = ots(&mut parties, size.ots);
        let (_, trees) = parties.0.plant(32, sent).unwrap();
        let trees = trees.as_chunks::<16>().0.chunks(2 * HEIGHT + 1);
        for (j, tree) in trees.enumerate() {
            let u = field::pack_bits(&choices, 128 * j, 128);
            let v = field::pack_rows(Backend::best(), &received[128 * j..][..128])[0];
            let d = u128::from_le_bytes(tree[2 * HEIGHT]);
            assert_ne!(d ^ v, product(1 ^ u, delta));
            // The trap itself, with leaves that add up to Δ.
            let w = v ^ product(u, delta);
            assert_eq!((delta ^ w) ^ v, product(1 ^ u, delta));
        }
    }
}

#[test]
fn a_sender_with_a_delta_of_zero_gets_what_the_receiver_has() {
    let mut parties = parties(toy(), Some(Bits::from_bools([false; 128])));
    let (sent, received) = run(toy(), &mut parties, 32, &mut Honest).unwrap();
    let (w, (u, v)) = (sent.into_rows(), received.into_parts());
    assert!(*w == *v && u.iter().any(|&u| u != 0));
}

/// Both values of the bit that is no part of Δ of the outputs.
#[test]
fn choices_are_bit_0_of_rows_whatever_it_is_in_delta() {
    for bit in [false, true] {
        let delta = Bits::from_bools((0..128).map(|k| k == 5 || k == 0 && bit));
        for silent in [silent_of_ots(), Silent::with_noise(ot_semi_honest(), TREES)] {
            let mut parties = parties(silent, Some(Bits::from_bytes(delta.as_bytes(), 128)));
            let of_outputs = *parties.0.delta().unwrap();
            assert_eq!(of_outputs, 1 << 5 | 1);
            let (sent, received) = run(silent, &mut parties, 32, &mut Honest).unwrap();
            let (w, (u, v)) = (sent.into_rows(), received.into_parts());
            let choices = (0..32).filter(|&i| u.get(i).unwrap_u8() == 1).count();
            assert!((1..32).contains(&choices), "{choices}");
            for (i, (w, v)) in w.iter().zip(&*v).enumerate() {
                assert_eq!(w ^ v, u128::from(u.get(i).unwrap_u8()) * of_outputs);
            }
        }
    }
}

/// Any value of the nibble that is no part of Δ of the outputs.
#[test]
fn choices_of_sixteen_are_nibble_0_of_rows_whatever_it_is_in_delta() {
    let silent = Silent::with_noise(ot_16_semi_honest(), TREES);
    for nibble in [0, 1, 6, 15] {
        let delta = 1 << 4 | 1 << 127 | nibble;
        let delta = Bits::from_bools((0..128).map(|k| delta >> k & 1_u128 == 1));
        let mut parties = parties(silent, Some(delta));
        assert_eq!(*parties.0.delta().unwrap(), 1 << 127 | 1 << 4 | 1);
        let (sent, received) = run(silent, &mut parties, 32, &mut Honest).unwrap();
        let (w, (u, v)) = (sent.into_rows(), received.into_parts());
        assert!(u.iter().any(|u| *u != 0));
        // 8·u, in the nibble that has 8 in Δ.
        let eight = |u: u8| {
            let double = |u: u8| if u & 8 == 0 { u << 1 } else { u << 1 ^ 0x13 };
            u128::from(double(double(double(u))))
        };
        for (i, (w, v)) in w.iter().zip(&*v).enumerate() {
            assert_eq!(w ^ v, (eight(u[i]) << 124) | (u128::from(u[i]) * 0x11));
            assert_eq!(v & 0xf, u128::from(u[i]));
        }
    }
}

/// R20-5, where U is a nibble of V.
#[test]
fn r20_5_a_correction_of_a_leaf_has_no_nibble_0() {
    let silent = Silent::with_noise(ot_16_semi_honest(), TREES);
    for (change, is_refused) in [(1, true), (8, true), (0x10, false)] {
        let mut parties = parties(silent, None);
        let ended = run(silent, &mut parties, 32, &mut Change(2 * 16 * HEIGHT, change));
        let refused = Error::Decode(Decode::SpareBits { message: "Trees" });
        assert_eq!(ended.map(drop), if is_refused { Err(refused) } else { Ok(()) }, "{change}");
        assert_eq!(parties.1.ots().is_err(), is_refused);
    }
}

/// R20-5: a sender that lies about bit 0 of its Δ would know the choices, which are bit 0 of c: all 0 if bit 0 of Δ were.
#[test]
fn r20_5_a_wrong_bit_of_delta_ends_the_run() {
    for (byte, change, error) in [
        (32, 1, FAILED),
        (32, 2, Error::Decode(Decode::SpareBits { message: "Trees" })),
        (32, 0x80, Error::Decode(Decode::SpareBits { message: "Trees" })),
    ] {
        let mut parties = parties(silent_of_ots(), None);
        let mut channel = Change(byte, change);
        let run = run(silent_of_ots(), &mut parties, 32, &mut channel);
        assert_eq!(run.map(drop), Err(error), "{byte} {change}");
        assert!(parties.1.ots().is_err());
    }
}

/// The sum of leaves of every tree with another bit 0: leaves have it 0 all the same.
#[test]
fn bit_0_of_the_sums_of_leaves_counts_for_nothing() {
    struct Stray;
    impl Channel for Stray {
        fn trees(&mut self, bytes: &mut Vec<u8>) {
            for tree in bytes[33..].as_chunks_mut::<16>().0.chunks_mut(HEIGHT) {
                tree[HEIGHT - 1][0] ^= 1;
            }
        }
    }
    let mut parties = parties(silent_of_ots(), None);
    let delta = *parties.0.delta().unwrap();
    let (sent, received) = run(silent_of_ots(), &mut parties, 32, &mut Stray).unwrap();
    let (w, (u, v)) = (sent.into_rows(), received.into_parts());
    assert!((0..32).all(|i| w[i] ^ v[i] == u128::from(u.get(i).unwrap_u8()) * delta));
}

/// Changes a byte of `Trees`.
struct Change(usize, u8);

impl Channel for Change {
    fn trees(&mut self, bytes: &mut Vec<u8>) {
        bytes[self.0] ^= self.1;
    }
}

#[test]
fn messages_of_another_batch_do_not_fit() {
    /// The messages of the batch before, and the number of the one that is sent again.
    struct Replay([Vec<u8>; 4], Option<usize>);
    impl Replay {
        fn replay(&mut self, message: usize, bytes: &mut Vec<u8>) {
            if self.1 == Some(message) {
                bytes.clone_from(&self.0[message]);
            }
            self.0[message].clone_from(bytes);
        }
    }
    impl Channel for Replay {
        fn trees(&mut self, bytes: &mut Vec<u8>) {
            self.replay(0, bytes);
        }
        fn challenge(&mut self, bytes: &mut Vec<u8>) {
            self.replay(1, bytes);
        }
        fn check(&mut self, bytes: &mut Vec<u8>) {
            self.replay(2, bytes);
        }
        fn answer(&mut self, bytes: &mut Vec<u8>) {
            self.replay(3, bytes);
        }
    }
    for message in 0..4 {
        let mut parties = parties(toy(), None);
        let mut channel = Replay(Default::default(), None);
        drop(run(toy(), &mut parties, 32, &mut channel).unwrap());
        channel.1 = Some(message);
        assert_eq!(run(toy(), &mut parties, 32, &mut channel).map(drop), Err(FAILED));
    }
}

#[test]
fn a_challenge_does_not_pass_for_a_check() {
    struct Exchange(Vec<u8>);
    impl Channel for Exchange {
        fn challenge(&mut self, bytes: &mut Vec<u8>) {
            self.0.clone_from(bytes);
        }
        fn check(&mut self, bytes: &mut Vec<u8>) {
            core::mem::swap(&mut self.0, bytes);
        }
    }
    let mut parties = parties(toy(), None);
    let ended = run(toy(), &mut parties, 32, &mut Exchange(Vec::new()));
    assert_eq!(ended.map(drop), Err(FAILED));
}

/// The messages of names without a check are empty, and others are refused.
#[test]
fn messages_of_a_check_end_a_session_that_has_none() {
    fn refused<F: Field>(silent: Silent<F>, m: usize) {
        for at_once in [true, false] {
            let mut parties = parties(silent, None);
            let (sent, _) = ots(&mut parties, silent.size(m).unwrap().ots);
            let sender = &mut parties.0;
            let (planted, _) = sender.plant(m, sent).unwrap();
            let error = if at_once {
                sender.encode(planted, &[0; 16]).unwrap_err()
            } else {
                let encoded = sender.encode(planted, &[]).unwrap();
                sender.answer(encoded, &[0; 16]).unwrap_err()
            };
            assert!(matches!(error, Error::Decode(_)), "{error}");
            assert!(sender.ots().is_err());
        }
    }
    refused(Silent::with_noise(ot_semi_honest(), TREES), 32);
    refused(Silent::with_noise(vole_semi_honest(), TREES), 32);
    refused(vole_packed(), 3);
}

/// States of a batch that were begun before another batch ended the session.
#[test]
fn no_batch_goes_on_after_the_end_of_the_session() {
    let n = toy().size(32).unwrap().ots;
    for step in 0..2 {
        let mut parties = parties(toy(), None);
        let batches = [(); 2].map(|()| {
            let (sent, (choices, received)) = ots(&mut parties, n);
            let (planted, trees) = parties.0.plant(32, sent).unwrap();
            (planted, parties.1.grow(32, choices, received, &trees).unwrap())
        });
        let (sender, receiver) = &mut parties;
        let [(first, (grown, challenge)), (second, (later, _))] = batches;
        // Both are under way, and the first one is right.
        let encoded = sender.encode(first, &challenge).unwrap();
        let (unverified, check) = receiver.encode(grown).unwrap();
        let ended = Some(Error::from(Usage::SessionEnded));
        if step == 0 {
            assert!(sender.encode(second, &[]).is_err());
            assert_eq!(sender.answer(encoded, &check).err(), ended);
            assert!(receiver.verify(unverified, &[]).is_err());
            assert_eq!(receiver.encode(later).err(), Some(Usage::SessionEnded));
        } else {
            let (_, answer) = sender.answer(encoded, &check).unwrap();
            drop(receiver.verify(unverified, &answer).unwrap());
            let encoded = sender.encode(second, &[7; 16]).unwrap();
            assert!(sender.answer(encoded, &[]).is_err());
            assert_eq!(sender.delta().map(drop), Err(Usage::SessionEnded));
        }
    }
}

#[test]
fn batches_and_extensions_of_others_are_refused() {
    let ots_needed = toy().size(32).unwrap().ots;
    let mut first = parties(toy(), None);
    let (sent, (choices, received)) = ots(&mut first, ots_needed);
    let (planted, trees) = first.0.plant(32, sent).unwrap();
    let (grown, challenge) = first.1.grow(32, choices, received, &trees).unwrap();
    let (mut sender, mut receiver) = parties(toy(), None);
    let others = || Session::new(Sid::from_bytes([9; 32]));
    sender.set_session(others());
    receiver.set_session(others());
    let foreign = Error::from(Usage::ForeignBatch);
    assert_eq!(sender.encode(planted, &challenge).map(drop), Err(foreign));
    assert_eq!(receiver.encode(grown).map(drop), Err(Usage::ForeignBatch));

    let (sent, (choices, received)) = ots(&mut first, ots_needed);
    let (planted, trees) = first.0.plant(32, sent).unwrap();
    let (grown, challenge) = first.1.grow(32, choices, received, &trees).unwrap();
    let encoded = first.0.encode(planted, &challenge).unwrap();
    let (unverified, check) = first.1.encode(grown).unwrap();
    assert_eq!(sender.answer(encoded, &check).map(drop), Err(foreign));
    assert_eq!(receiver.verify(unverified, &[0; 32]).map(drop), Err(foreign));

    let wrong = Usage::CountMismatch { what: "OTs of the extension", expected: ots_needed, got: 9 };
    let (sent, (choices, received)) = ots(&mut first, 9);
    assert_eq!(first.0.plant(32, sent).map(drop), Err(wrong));
    assert_eq!(first.1.grow(32, choices, received, &trees).map(drop), Err(wrong.into()));

    for (extension, why) in [
        (softspoken::semi_honest(8).unwrap(), Incompatible::Adversary),
        (softspoken::malicious(4).unwrap(), Incompatible::NoVariant),
    ] {
        assert_eq!(check_extension(&toy(), extension), Err(Usage::Incompatible(why)));
    }
    // The other way round it would do, but the wire names one.
    let semi_honest = ot_semi_honest();
    let malicious = softspoken::malicious(8).unwrap();
    let refused = Err(Usage::Incompatible(Incompatible::NoVariant));
    assert_eq!(check_extension(&semi_honest, malicious), refused);
    assert_eq!(semi_honest.adversary(), Adversary::SemiHonest);
}

#[test]
fn states_show_no_secrets() {
    let mut parties = parties(toy(), None);
    let delta = *parties.0.delta().unwrap();
    let (sent, received) = run(toy(), &mut parties, 32, &mut Honest).unwrap();
    let (more, (choices, received_more)) = ots(&mut parties, toy().size(32).unwrap().ots);
    let (planted, trees) = parties.0.plant(32, more).unwrap();
    let (grown, challenge) = parties.1.grow(32, choices, received_more, &trees).unwrap();
    let mut shown = alloc::format!("{:?} {:?} {sent:?} {received:?}", parties.0, parties.1);
    shown += &alloc::format!("{planted:?} {grown:?}");
    let encoded = parties.0.encode(planted, &challenge).unwrap();
    let (unverified, _) = parties.1.encode(grown).unwrap();
    shown += &alloc::format!("{encoded:?} {unverified:?}");
    assert!(!shown.contains(&alloc::format!("{delta}")) && shown.matches("redacted").count() >= 6);
}
