//! Attacks on `base::bdgm`, `base::pvw` and `base::rot_from_ot`: every test is an attack that
//! fails, but for the one that shows what the check of BDGM19's authors lets through.

use foxtrot_ot::{
    Bits, Decode, Direction, Error, Misbehaved, Seed, Session, Sid, Usage,
    base::{
        BaseOt, Block, Choice, SenderKeys,
        bdgm::{self, Bdgm},
        chosen::drawn_messages,
        find,
        pvw::{self, Ciphertexts, PublicKeys, Pvw},
        rot_from_ot::{self, Commitment, Opening, Swap},
    },
    ideal,
    pair::assert_rot,
};

fn batch(counter: u64) -> Session {
    Session::new(Sid::from_bytes([1; 32])).sub("test", counter, Direction::default())
}

fn seed(byte: u8) -> Seed {
    Seed::from_bytes([byte; 32])
}

fn bits<const N: usize>(bits: [bool; N]) -> Bits {
    Bits::from_bools(bits)
}

fn messages(n: usize) -> SenderKeys {
    drawn_messages(&batch(0), n, &seed(3))
}

fn assert_all_distinct<T: PartialEq>(values: &[T]) {
    for (i, value) in values.iter().enumerate() {
        assert!(!values[..i].contains(value), "value {i} occurs before");
    }
}

mod pvw_attacks {
    use super::*;
    use p256::{
        AffinePoint, FieldBytes, ProjectivePoint, Scalar,
        elliptic_curve::point::{AffineCoordinates, DecompressPoint},
    };

    /// The parts U and C of every branch.
    fn branches(ciphertexts: &Ciphertexts) -> Vec<(Vec<u8>, Vec<u8>)> {
        ciphertexts.as_bytes().chunks(49).map(|b| (b[..33].to_vec(), b[33..].to_vec())).collect()
    }

    fn keys(choice: bool, n: usize) -> PublicKeys {
        let choices = Bits::from_bools((0..n).map(|_| choice));
        pvw::Receiver::start(batch(0), choices, seed(1)).unwrap().1
    }

    fn send(keys: &PublicKeys, messages: SenderKeys) -> Ciphertexts {
        pvw::send(batch(0), keys, messages, seed(2)).unwrap().0
    }

    /// The authors' code (`ddhcry.hpp`, `randomise`) leaves s = t = 0, so that U is the identity and V, which should hide the
    /// message, is the message.
    #[test]
    fn messages_are_hidden_by_masks_that_do_not_depend_on_them() {
        let n = 20;
        let branches_of = |messages: Vec<[Block; 2]>| {
            let messages = SenderKeys::new(messages);
            branches(&send(&keys(true, n), messages))
        };
        let zeros = branches_of(vec![[[0; 16]; 2]; n]);
        let (points, masks): (Vec<_>, Vec<_>) = zeros.iter().cloned().unzip();
        assert_all_distinct(&points);
        assert_all_distinct(&masks);
        let ones: u32 = masks.concat().iter().map(|byte| byte.count_ones()).sum();
        assert!((2300..2820).contains(&ones), "{ones} of 5120 bits are 1");
        for ((u, mask), (other_u, c)) in zeros.iter().zip(branches_of(vec![[[0xff; 16]; 2]; n])) {
            assert_eq!(u, &other_u);
            assert!(mask.iter().zip(&c).all(|(mask, c)| mask ^ c == 0xff));
        }
    }

    /// The mask of a branch for that V: `docs/wire/rot-from-ot.md`, section 9.
    fn mask(i: usize, j: u8, key: &[u8], u: &[u8], v: &ProjectivePoint) -> Block {
        let v = v.to_affine();
        let v = [&[2 | v.y_is_odd().unwrap_u8()][..], &v.x()].concat();
        let query = batch(0).oracle("foxtrot v1 pvw mask").query(i as u64, j);
        query.field(key).field(u).field(&v).finish()
    }

    /// The r of instance i of `keys`.
    fn scalar(i: usize) -> Scalar {
        let mut coins = [0; 48];
        let oracle = batch(0).oracle("foxtrot v1 pvw receiver coins");
        oracle.query(i as u64, 0).field(&[1; 32]).fill(&mut coins);
        let from_256 = Scalar::from(256u64);
        coins.iter().rev().fold(Scalar::ZERO, |r, &x| r * from_256 + Scalar::from(u64::from(x)))
    }

    /// Shows that with r the receiver opens its branch, and nothing in the other. With a reference string in
    /// which G_1 = y·G_0 and H_1 = y·H_0 it would: the unit test `knowing_the_trapdoor_y_decrypts_both_branches`.
    #[test]
    fn the_receivers_scalar_decrypts_its_branch_only() {
        let n = 8;
        let pairs = messages(n);
        for b in [0, 1] {
            let keys = keys(b == 1, n);
            let parts = branches(&send(&keys, messages(n)));
            for i in 0..n {
                let opened = [0, 1].map(|j| -> Block {
                    let (u, c) = &parts[2 * i + usize::from(j)];
                    let x = FieldBytes::try_from(&u[1..]).unwrap();
                    let point = AffinePoint::decompress(&x, (u[0] & 1).into()).unwrap();
                    let key = &keys.as_bytes()[66 * i..][..66];
                    let mask = mask(i, j, key, u, &(ProjectivePoint::from(point) * scalar(i)));
                    core::array::from_fn(|k| c[k] ^ mask[k])
                });
                assert_eq!(opened[b], pairs.pairs()[i][b]);
                assert_ne!(opened[1 - b], pairs.pairs()[i][1 - b]);
            }
        }
    }

    #[test]
    fn an_invalid_point_is_refused_with_its_place() {
        let n = 3;
        let keys = keys(false, n).into_bytes();
        let keys_of = PublicKeys::decode(&keys, n).unwrap();
        let sent = send(&keys_of, messages(n)).into_bytes();
        // p ≤ x, once with a point at x − p: the prime is 2²⁵⁶ − 2²²⁴ + 2¹⁹² + 2⁹⁶ − 1.
        let p = [[0xff; 4], [0, 0, 0, 1], [0; 4], [0; 4], [0; 4], [0xff; 4], [0xff; 4], [0xff; 4]];
        let mut above_p = p.concat();
        above_p[19] = 1;
        above_p[20..].fill(0);
        let off_curve = (1..=255).map(|x| [&[2][..], &[0; 31], &[x]].concat()).find(|bytes| {
            let whole = [&bytes[..], &keys[33..66]].concat();
            PublicKeys::decode(&whole, 1).is_err()
        });
        let bad: Vec<Vec<u8>> = vec![
            vec![0; 33],
            [&[2][..], &p.concat()].concat(),
            [&[3][..], &above_p].concat(),
            [&[2][..], &[0xff; 32]].concat(),
            off_curve.unwrap(),
        ];
        let wrong_tags = [0x00, 0x01, 0x04, 0x05, 0x82].map(|tag| [&[tag], &keys[1..33]].concat());
        for point in bad.iter().chain(&wrong_tags) {
            for place in 0..2 * n {
                let mut bytes = keys.clone();
                bytes[33 * place..][..33].copy_from_slice(point);
                let expected = Decode::Point { message: "PublicKeys", instance: place / 2 };
                assert_eq!(PublicKeys::decode(&bytes, n), Err(expected.into()));
                let mut bytes = sent.clone();
                bytes[49 * place..][..33].copy_from_slice(point);
                let expected = Decode::Point { message: "Ciphertexts", instance: place / 2 };
                assert_eq!(Ciphertexts::decode(&bytes, n), Err(expected.into()));
            }
        }
    }

    #[test]
    fn a_first_message_replayed_gives_unrelated_masks() {
        let (one, n) = (keys(true, 1), 8);
        let zeros = || SenderKeys::new(vec![[[0; 16]; 2]; n]);
        let replayed = PublicKeys::decode(&one.as_bytes().repeat(n), n).unwrap();
        // Even a sender that reused its seed would not repeat itself.
        let sent =
            [0, 1].map(|k| branches(&pvw::send(batch(k), &replayed, zeros(), seed(2)).unwrap().0));
        let (points, masks): (Vec<_>, Vec<_>) = sent.concat().into_iter().unzip();
        assert_all_distinct(&points);
        assert_all_distinct(&masks);
    }

    #[test]
    fn no_points_of_a_reference_string_are_reused() {
        // With the same r, a key is r times a point of the string.
        let points = [(0, false), (0, true), (1, false), (1, true)].map(|(counter, choice)| {
            let (_, keys) = pvw::Receiver::start(batch(counter), bits([choice]), seed(1)).unwrap();
            [keys.as_bytes()[1..33].to_vec(), keys.as_bytes()[34..].to_vec()]
        });
        assert_all_distinct(&points.concat());
    }

    #[test]
    fn batches_that_do_not_fit_are_usage_errors() {
        let (receiver, keys) = pvw::Receiver::start(batch(0), bits([true; 2]), seed(1)).unwrap();
        assert!(matches!(
            pvw::send(batch(0), &keys, messages(3), seed(2)),
            Err(Usage::CountMismatch { .. })
        ));
        let keys = PublicKeys::decode(&keys.as_bytes()[..66], 1).unwrap();
        let sent = send(&keys, messages(1));
        assert!(matches!(receiver.finish(&sent), Err(Usage::CountMismatch { .. })));
        let too_large = Err(Usage::BatchTooLarge { n: 65537, max: 65536 });
        assert_eq!(Pvw.sender(batch(0), 65537, seed(1)).map(drop), too_large);
        let random = Choice::Random(1);
        assert!(matches!(Pvw.receiver(batch(0), random, seed(1)), Err(Usage::Choice { .. })));
    }
}

mod bdgm_attacks {
    use super::*;

    fn challenged(choice: bool) -> (bdgm::Receiver, bdgm::Sender, bdgm::Challenge) {
        let choices = bits([choice; 2]);
        let (receiver, blinded) = bdgm::Receiver::start(batch(0), choices, seed(1)).unwrap();
        let sender = bdgm::Sender::challenge(batch(0), &blinded, messages(2), seed(2)).unwrap();
        (receiver, sender.0, sender.1)
    }

    /// Selective abort: a sender that spoils one branch learns the choice from whether the receiver
    /// can go on. Here every change of either branch ends the run, whatever the choice.
    #[test]
    fn the_answer_to_a_changed_challenge_does_not_depend_on_the_choice() {
        for choice in [false, true] {
            let (_, _, honest) = challenged(choice);
            for position in 0..honest.as_bytes().len() {
                let (receiver, _, _) = challenged(choice);
                let mut bytes = honest.as_bytes().to_vec();
                bytes[position] ^= 1 << (position % 8);
                let changed = bdgm::Challenge::decode(&bytes, 2).unwrap();
                let error = receiver.respond(&changed).unwrap_err();
                assert_eq!(error, Misbehaved::Challenge.into(), "byte {position}");
            }
        }
    }

    /// The other way to spoil a branch: well made, but for another w, point, instance or batch.
    #[test]
    fn a_branch_made_for_something_else_is_noticed_whatever_the_choice() {
        for choice in [false, true] {
            let (_, _, honest) = challenged(choice);
            let (_, other_blinded) =
                bdgm::Receiver::start(batch(0), bits([true; 2]), seed(9)).unwrap();
            let (_, other_points) =
                bdgm::Sender::challenge(batch(0), &other_blinded, messages(2), seed(2)).unwrap();
            let (_, blinded) = bdgm::Receiver::start(batch(0), bits([choice; 2]), seed(1)).unwrap();
            let (_, other_w) =
                bdgm::Sender::challenge(batch(0), &blinded, messages(2), seed(8)).unwrap();
            let (_, other_batch) =
                bdgm::Sender::challenge(batch(1), &blinded, messages(2), seed(2)).unwrap();
            for other in [&other_points, &other_w, &other_batch] {
                for branch in 0..4 {
                    let mut bytes = honest.as_bytes().to_vec();
                    let place = 1120 * branch..1120 * (branch + 1);
                    bytes[place.clone()].copy_from_slice(&other.as_bytes()[place]);
                    let mixed = bdgm::Challenge::decode(&bytes, 2).unwrap();
                    let (receiver, _, _) = challenged(choice);
                    let error = receiver.respond(&mixed).unwrap_err();
                    assert_eq!(error, Misbehaved::Challenge.into());
                }
            }
            let mut exchanged = honest.as_bytes().to_vec();
            exchanged.rotate_left(2240);
            let (receiver, _, _) = challenged(choice);
            let exchanged = bdgm::Challenge::decode(&exchanged, 2).unwrap();
            assert!(receiver.respond(&exchanged).is_err());
        }
    }

    fn hash(tag: u8, input: &[u8]) -> [u8; 96] {
        let mut output = [0; 96];
        blake3::Hasher::new().update(&[tag]).update(input).finalize_xof().fill(&mut output);
        output
    }

    fn xor(a: &[u8], b: &[u8]) -> Vec<u8> {
        a.iter().zip(b).map(|(a, b)| a ^ b).collect()
    }

    /// Encryption of w under k with coins z.
    fn encrypt(k: &[u8], w: &[u8], z: &[u8]) -> Vec<u8> {
        [z, &xor(w, &hash(0, &[k, z].concat()))].concat()
    }

    /// The challenge of the framework, as its authors' code makes it (`rlweot.hpp`): a_j = Enc(k_j, w_j; z_j) and
    /// u_j = H₃(w_j) ⊕ (w ‖ k ‖ z of the other branch), where k_j should be H₂(sk_j).
    fn authors_challenge(k: [[u8; 32]; 2]) -> [(Vec<u8>, Vec<u8>); 2] {
        let (w, z) = ([[5; 32], [6; 32]], [[7; 32], [8; 32]]);
        [0, 1].map(|j| {
            let other = [w[1 - j], k[1 - j], z[1 - j]].concat();
            (encrypt(&k[j], &w[j], &z[j]), xor(&hash(3, &w[j]), &other))
        })
    }

    /// The receiver's check, as its authors' code makes it (`msg2` of `rlweot.hpp`): `k` is H₂(sk_c), the
    /// only key that it can compute. Says whether it goes on. Stricter than the code in one respect: z
    /// is part of what is compared; there it is the IV, and only `buf` is compared.
    fn authors_check(challenge: &[(Vec<u8>, Vec<u8>); 2], c: usize, k: &[u8; 32]) -> bool {
        let opened = |w: &[u8], j: usize| {
            let other = xor(&challenge[j].1, &hash(3, w));
            [0, 32, 64].map(|start| other[start..start + 32].to_vec())
        };
        let (z, masked) = challenge[c].0.split_at(32);
        let w = xor(masked, &hash(0, &[k, z].concat()));
        let [other_w, other_k, other_z] = opened(&w, c);
        let [own_w, own_k, own_z] = opened(&other_w, 1 - c);
        encrypt(&other_k, &other_w, &other_z) == challenge[1 - c].0
            && (&own_w, own_k.as_slice()) == (&w, k.as_slice())
            && encrypt(&own_k, &own_w, &own_z) == challenge[c].0
    }

    /// Shows why the challenge here is another one: nothing ties the other branch's k to the
    /// receiver's other point, so that a sender may use any there.
    #[test]
    fn the_authors_check_lets_a_sender_read_the_choice() {
        let shared = [[1; 32], [2; 32]];
        let honest = authors_challenge(shared);
        let spoilt = authors_challenge([[9; 32], shared[1]]);
        for c in [0, 1] {
            assert!(authors_check(&honest, c, &shared[c]));
            assert_eq!(authors_check(&spoilt, c, &shared[c]), c == 1);
        }
    }

    #[test]
    fn without_the_right_response_there_are_no_ciphertexts() {
        let (receiver, sender, challenge) = challenged(true);
        let (_, response) = receiver.respond(&challenge).unwrap();
        for position in 0..32 {
            let mut bytes = response.as_bytes().to_vec();
            bytes[position] ^= 0x10;
            let (_, sender, _) = challenged(true);
            let wrong = bdgm::Response::decode(&bytes, 2).unwrap();
            assert_eq!(sender.finish(&wrong).unwrap_err(), Misbehaved::Response);
        }
        assert!(sender.finish(&response).is_ok());
    }

    /// Ciphertexts of any content give the receiver something, whatever its choice.
    #[test]
    fn malicious_ciphertexts_never_make_the_receiver_abort() {
        for (zero, one) in [(0x00, 0x00), (0xff, 0x00), (0x00, 0xff), (0x55, 0xaa)] {
            for choice in [false, true] {
                let (receiver, _, challenge) = challenged(choice);
                let (receiver, _) = receiver.respond(&challenge).unwrap();
                let bytes = [[zero; 1104], [one; 1104]].concat().repeat(2);
                let ciphertexts = bdgm::Ciphertexts::decode(&bytes, 2).unwrap();
                assert_eq!(receiver.finish(&ciphertexts).unwrap().keys().len(), 2);
            }
        }
    }

    #[test]
    fn a_first_message_replayed_gives_unrelated_challenges_and_ciphertexts() {
        let n = 8;
        let (receiver, blinded) = bdgm::Receiver::start(batch(0), bits([true]), seed(1)).unwrap();
        drop(receiver);
        let replayed = bdgm::Blinded::decode(&blinded.as_bytes().repeat(n), n).unwrap();
        let mut parts = Vec::new();
        // Even a sender that reused its seed would not repeat itself.
        for counter in [0, 1] {
            let zeros = || SenderKeys::new(vec![[[0; 16]; 2]; n]);
            let (_, challenge) =
                bdgm::Sender::challenge(batch(counter), &replayed, zeros(), seed(2)).unwrap();
            parts.extend(challenge.as_bytes().chunks(1120).map(|b| b[..1056].to_vec()));
            parts.extend(challenge.as_bytes().chunks(1120).map(|b| b[1088..].to_vec()));
        }
        // The ciphertexts themselves come only to who answers, so with a fresh first message: the
        // same coins and zeros in every instance would show in C.
        let choices = Bits::from_bools([false; 8]);
        let (receiver, blinded) = bdgm::Receiver::start(batch(0), choices, seed(1)).unwrap();
        let zeros = || SenderKeys::new(vec![[[0; 16]; 2]; n]);
        let (sender, challenge) =
            bdgm::Sender::challenge(batch(0), &blinded, zeros(), seed(2)).unwrap();
        let (_, response) = receiver.respond(&challenge).unwrap();
        let (sent, _) = sender.finish(&response).unwrap();
        parts.extend(sent.as_bytes().chunks(1104).map(|b| b[..1056].to_vec()));
        parts.extend(sent.as_bytes().chunks(1104).map(|b| b[1088..].to_vec()));
        assert_all_distinct(&parts);
    }

    #[test]
    fn coefficients_out_of_range_are_refused_with_their_place() {
        let (_, blinded) = bdgm::Receiver::start(batch(0), bits([true; 3]), seed(1)).unwrap();
        for (instance, offset) in [(0, 0), (1, 1296 + 416), (2, 2 * 1296 + 1248 - 2)] {
            let mut bytes = blinded.as_bytes().to_vec();
            bytes[offset..offset + 2].fill(0xff);
            let expected = Decode::Coefficient { message: "Blinded", instance }.into();
            assert_eq!(bdgm::Blinded::decode(&bytes, 3), Err(expected));
        }
    }

    #[test]
    fn batches_that_do_not_fit_are_usage_errors() {
        let (receiver, _, _) = challenged(true);
        let three = bdgm::Challenge::decode(&[0; 3 * 2240], 3).unwrap();
        assert!(matches!(receiver.respond(&three), Err(Error::Usage(Usage::CountMismatch { .. }))));
        let (receiver, _, challenge) = challenged(true);
        let (receiver, _) = receiver.respond(&challenge).unwrap();
        let three = bdgm::Ciphertexts::decode(&[0; 3 * 2208], 3).unwrap();
        assert!(matches!(receiver.finish(&three), Err(Usage::CountMismatch { .. })));
        let (_, blinded) = bdgm::Receiver::start(batch(0), bits([true]), seed(1)).unwrap();
        assert!(bdgm::Sender::challenge(batch(0), &blinded, messages(2), seed(2)).is_err());
        let too_large = Err(Usage::BatchTooLarge { n: 65537, max: 65536 });
        assert_eq!(Bdgm.sender(batch(0), 65537, seed(1)).map(drop), too_large);
    }
}

mod figure2_attacks {
    use super::*;
    use foxtrot_ot::base::Functionality::{ChosenMessage, Random};

    /// Figure 2 over the ideal OT, with a swap of the sender's.
    fn run(n: usize, swap: Option<&[u8]>) -> (SenderKeys, foxtrot_ot::base::ReceiverKeys) {
        let (receiver, commitment, choices) =
            rot_from_ot::Receiver::start(batch(0), n, &seed(1)).unwrap();
        let (sent, received) = ideal::given(choices, &seed(3));
        let sent = ideal::sent(sent);
        let (sender, honest) =
            rot_from_ot::Sender::start(batch(0), &commitment, &seed(2))(sent).unwrap();
        let swap = swap.map_or(honest, |bytes| Swap::decode(bytes, n).unwrap());
        let (keys, opening) = receiver.finish(received, &swap).unwrap();
        (sender.finish(&opening).unwrap(), keys)
    }

    #[test]
    fn rot_from_ot_is_random_ot_when_the_inner_ot_is_ideal() {
        for n in [0, 1, 7, 8, 9, 128] {
            let (sender, receiver) = run(n, None);
            assert_rot(&sender, &receiver);
        }
    }

    #[test]
    fn the_senders_bits_flip_the_choices_only() {
        let [zeros, ones] = [[0; 8], [0xff; 8]].map(|swap| run(64, Some(&swap)).1);
        let (zeros_bits, ones_bits) = (zeros.choices().as_bytes(), ones.choices().as_bytes());
        assert!(zeros_bits.iter().zip(ones_bits).all(|(a, b)| a ^ b == 0xff));
        assert_eq!(zeros.keys(), ones.keys());
        let ones: u32 = zeros_bits.iter().map(|byte| byte.count_ones()).sum();
        assert!((12..52).contains(&ones), "{ones} of 64 choices are 1");
    }

    /// A sender that chooses its messages does not choose the keys: the shares come from t.
    #[test]
    fn chosen_messages_do_not_choose_the_keys() {
        let n = 16;
        let (receiver, commitment, choices) =
            rot_from_ot::Receiver::start(batch(0), n, &seed(1)).unwrap();
        let (ot_receiver, keys) = pvw::Receiver::start(batch(1), choices, seed(1)).unwrap();
        let zeros = || SenderKeys::new(vec![[[0; 16]; 2]; n]);
        let (ciphertexts, sent) = pvw::send(batch(1), &keys, zeros(), seed(2)).unwrap();
        let (sender, swap) =
            rot_from_ot::Sender::start(batch(0), &commitment, &seed(2))(sent).unwrap();
        let (received, opening) =
            receiver.finish(ot_receiver.finish(&ciphertexts).unwrap(), &swap).unwrap();
        assert_rot(&sender.finish(&opening).unwrap(), &received);
    }

    #[test]
    fn values_without_a_commitment_do_not_open() {
        let opened = |counter, wrong: Option<usize>| {
            let (receiver, commitment, choices) =
                rot_from_ot::Receiver::start(batch(0), 4, &seed(1)).unwrap();
            let (sent, received) = ideal::given(choices, &seed(3));
            let sent = ideal::sent(sent);
            let (sender, swap) =
                rot_from_ot::Sender::start(batch(counter), &commitment, &seed(2))(sent).unwrap();
            let mut bytes = receiver.finish(received, &swap).unwrap().1.into_bytes();
            if let Some(position) = wrong {
                bytes[position] ^= 1;
            }
            sender.finish(&Opening::decode(&bytes, 4).unwrap())
        };
        assert!(opened(0, None).is_ok());
        for position in 0..32 {
            let error = opened(0, Some(position)).unwrap_err();
            assert_eq!(error, Misbehaved::CommitmentMismatch);
        }
        // Nor does a commitment of another batch.
        assert_eq!(opened(1, None).unwrap_err(), Misbehaved::CommitmentMismatch);
    }

    #[test]
    fn two_batches_with_the_same_seeds_share_no_bytes() {
        let started = [0, 1].map(|counter| {
            let (_, commitment, choices) =
                rot_from_ot::Receiver::start(batch(counter), 64, &seed(1)).unwrap();
            (commitment.into_bytes(), choices.as_bytes().to_vec())
        });
        assert!(started[0].0 != started[1].0 && started[0].1 != started[1].1);
    }

    #[test]
    fn spare_bits_of_the_swap_are_refused() {
        let expected = Err(Error::Decode(Decode::SpareBits { message: "Swap" }));
        assert_eq!(Swap::decode(&[0x08], 3), expected);
        assert!(Swap::decode(&[0x07], 3).is_ok());
        assert!(Commitment::decode(&[0; 31], 3).is_err());
    }

    #[test]
    fn batches_that_do_not_fit_are_usage_errors() {
        let start = || rot_from_ot::Receiver::start(batch(0), 2, &seed(1)).unwrap();
        let ((receiver, commitment, choices), three) = (start(), bits([true; 3]));
        let swap = Swap::decode(&[0], 3).unwrap();
        let received = ideal::given(choices, &seed(3)).1;
        assert!(matches!(receiver.finish(received, &swap), Err(Usage::CountMismatch { .. })));
        let (sent, received) = ideal::given(three, &seed(3));
        let two = Swap::decode(&[0], 2).unwrap();
        let finished = start().0.finish(received, &two);
        assert!(matches!(finished, Err(Usage::CountMismatch { .. })));
        let swapped =
            rot_from_ot::Sender::start(batch(0), &commitment, &seed(2))(ideal::sent(sent));
        assert!(matches!(swapped, Err(Usage::CountMismatch { .. })));
        for name in ["rot-from-ot:bdgm", "rot-from-ot:pvw"] {
            let base = find(name, Random).unwrap();
            let given = Choice::Given(bits([true]));
            assert!(matches!(base.receiver(batch(0), given, seed(1)), Err(Usage::Choice { .. })));
            let too_large = Err(Usage::BatchTooLarge { n: 65537, max: 65536 });
            assert_eq!(base.sender(batch(0), 65537, seed(1)).map(drop), too_large);
            let many = Choice::Random(65537);
            assert_eq!(base.receiver(batch(0), many, seed(1)).map(drop), too_large);
        }
    }

    #[test]
    fn a_family_name_means_its_first_member() {
        assert_eq!(find("rot-from-ot", Random).unwrap().info().name, "rot-from-ot:bdgm");
        assert_eq!(find("pvw", ChosenMessage).unwrap().info().name, "pvw");
        assert!(find("pvw", Random).is_none());
    }
}
