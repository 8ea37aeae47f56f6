//! `circuit-psi`, `docs/wire/circuit-psi.md`: sizes, values of stores, and the circuit.

use foxtrot_reference::bits_from_bytes;
use foxtrot_reference::circuit::{
    Gates, LookUps, accept, compared_bits, equal, look_up, look_ups, lower, nibbles, number_bytes,
    oprf_value, products, raise, release, segment, tables, triples, value,
};
use foxtrot_reference::oracle::oracle;
use foxtrot_reference::vole_psi::Protocol;

fn random(branch: u8, len: usize) -> Vec<u8> {
    oracle("foxtrot v1 test look-ups", &[5; 32], len, branch, &[], len)
}

fn ots(n: usize) -> LookUps {
    let masks: Vec<u16> =
        random(0, 2 * n).as_chunks().0.iter().map(|it| u16::from_le_bytes(*it)).collect();
    let choices: Vec<u8> = random(1, n).iter().map(|byte| byte % 16).collect();
    let bits = masks.iter().zip(&choices).map(|(mask, c)| mask >> c & 1 == 1).collect();
    LookUps { masks, choices, bits }
}

#[test]
fn a_look_up_tells_which_nibbles_are_equal() {
    let ots = ots(256);
    let x: Vec<u8> = (0..=255).map(|i| i % 16).collect();
    let y: Vec<u8> = (0..=255).map(|i| i / 16).collect();
    let changes = nibbles(&ots.choices, &y);
    let (tables, ours) = tables(&ots.masks, &x, &changes);
    assert_eq!((changes.len(), tables.len()), (256 / 2, 256 / 16 * 30));
    let theirs = look_up(&ots.bits, &y, &tables);
    for i in 0..256 {
        assert_eq!(ours[i] ^ theirs[i], x[i] == y[i], "{i}");
    }
}

fn words(branch: u8, n: usize) -> Vec<u64> {
    random(branch, 8 * n).as_chunks().0.iter().map(|it| u64::from_le_bytes(*it)).collect()
}

#[test]
fn strings_have_40_bits_more_than_the_number_of_bins() {
    for (bins, bits) in
        [(1, 40), (2, 41), (3, 42), (512, 49), (513, 50), (1 << 20, 60), (1_331_964, 61)]
    {
        assert_eq!(compared_bits(bins), bits, "{bins}");
    }
    for (receiver_items, bits) in [(1, 49), (300, 50), (1 << 16, 57), (1 << 20, 61)] {
        assert_eq!(compared_bits(3 * segment(receiver_items)), bits, "{receiver_items}");
    }
}

#[test]
fn numbers_have_as_many_bytes_as_the_result_can_need() {
    for (c, omega) in
        [(1, 1), (127, 1), (128, 2), (32_767, 2), (32_768, 3), (1 << 20, 3), ((1 << 23) - 1, 3)]
    {
        assert_eq!(number_bytes(c, 0), [omega, 1], "{c}");
        // The least count less the threshold, and the largest count.
        let bound = 1_i64 << (8 * omega - 1);
        assert!(-(c as i64 + 1) >= -bound && (c as i64) < bound);
    }
    for (c, m, omega) in [
        (1, 0, 1),
        (1, 1, 1),
        (1, 255, 1),
        (1, 256, 2),
        (255, 1, 1),
        (256, 1, 2),
        (2, 127, 1),
        (2, 128, 2),
        (1, (1 << 56) - 1, 7),
        (1, 1 << 56, 8),
        (1 << 20, (1 << 36) - 1, 7),
        (1 << 20, 1 << 36, 8),
        (1, u64::MAX, 8),
        (1 << 20, (1 << 44) - 1, 8),
    ] {
        assert_eq!(number_bytes(c, m)[1], omega, "{c}, {m}");
    }
    assert!(std::panic::catch_unwind(|| number_bytes(1 << 20, 1 << 44)).is_err());
}

#[test]
fn both_parties_have_the_same_element_of_a_common_item() {
    // u is that of the VOLE, p what the receiver's store decodes to, and all else follows.
    let protocol =
        Protocol { id: [5; 32], small: true, receiver_items: 1, sender_items: 1, buckets: 1 };
    let product = |u: u64, a| protocol.product(u.into(), a);
    let [delta, w] =
        [4, 5].map(|branch| u128::from_le_bytes(random(branch, 16).try_into().expect("16 bytes")));
    let (u, word) = (words(6, 1)[0], words(7, 1)[0]);
    let value = |f| oprf_value(&[5; 32], &[6; 32], f);
    for used in 0..3 {
        let v = w ^ product(u, delta);
        let masked = u ^ word ^ used;
        let k = w ^ product(masked, delta);
        for i in 0..3 {
            let f = k ^ product(word ^ i, delta);
            assert_eq!(value(f) == value(v), i == used);
        }
    }
}

#[test]
fn columns_of_a_value_have_string_and_number_under_their_own_bytes() {
    let ([t, numbers], hidden) = ([[1, 2, 3], [!0, 1 << 32, 7]], [[0; 16], [1; 16], [2; 16]]);
    assert_eq!(value(t, numbers, &hidden, 2, None), [1, 0, 3, 1, 1, 2]);
    let with_sum = [1, 0, 255, 255, 255, 3, 1, 1, 1, 1, 1, 2, 5, 2, 2];
    assert_eq!(value(t, numbers, &hidden, 2, Some(3)), with_sum);
    let own = core::array::from_fn(|k| u8::try_from(k).expect("16 bytes"));
    let all = value([0; 3], [0; 3], &[own; 3], 7, Some(8));
    assert_eq!(all[..15], own[..15]);
    assert_eq!(all.len(), 3 * 15);
}

#[test]
fn a_lane_takes_20_look_ups_for_61_bits() {
    for (bits, number) in [
        (1, 0),
        (2, 1),
        (4, 1),
        (5, 2),
        (6, 3),
        (17, 6),
        (49, 16),
        (50, 17),
        (57, 19),
        (61, 20),
        (64, 21),
    ] {
        assert_eq!(look_ups(bits), number, "{bits}");
    }
}

/// Runs the circuit on strings of the sender and the receiver, and returns the lanes that have the bit.
fn equal_lanes(compared: usize, strings: [&[u64]; 2]) -> (Vec<usize>, Vec<[usize; 2]>) {
    let lanes = strings[0].len();
    let (messages, shares) = equal(&ots(look_ups(compared) * lanes), compared, strings);
    let bit = |lane: &usize| (shares[0][lane / 64] ^ shares[1][lane / 64]) >> (lane % 64) & 1 == 1;
    let lengths = messages.iter().map(|both| both.each_ref().map(Vec::len)).collect();
    ((0..lanes).filter(bit).collect(), lengths)
}

#[test]
fn the_circuit_tells_which_strings_are_equal_in_the_compared_bits() {
    let (ours, others) = (words(2, 192), words(3, 192));
    for compared in 1..=64 {
        let of_lanes = |lanes: core::ops::Range<usize>| lanes.collect::<Vec<_>>();
        assert_eq!(equal_lanes(compared, [&ours, &ours]).0, of_lanes(0..192));
        let below = |lane: usize| (ours[lane] ^ others[lane]) << (64 - compared) == 0;
        let alike: Vec<usize> = (0..192).filter(|&lane| below(lane)).collect();
        assert_eq!(equal_lanes(compared, [&ours, &others]).0, alike);
        // Bit by bit, then above the compared bits, then nowhere.
        let change = |lane: usize| match lane {
            0..64 => 1 << lane,
            64..128 => others[lane].checked_shl(u32::try_from(compared).expect("64")).unwrap_or(0),
            _ => 0,
        };
        let theirs: Vec<u64> = (0..192).map(|lane| ours[lane] ^ change(lane)).collect();
        let (equal, lengths) = equal_lanes(compared, [&ours, &theirs]);
        assert_eq!(equal, of_lanes(compared..192));
        let sent: usize = lengths.iter().map(|[nibbles, _]| 2 * nibbles).sum();
        assert_eq!(sent, 192 * look_ups(compared));
        if compared == 61 {
            assert_eq!(lengths, [15, 4, 1].map(|it| [it * 192 / 2, it * 192 / 16 * 30]));
        }
    }
}

#[test]
fn a_frame_has_at_most_131072_look_ups() {
    let lanes = 8192 + 64;
    let (equal, lengths) = equal_lanes(64, [&vec![u64::MAX; lanes], &vec![0; lanes]]);
    assert_eq!(equal, []);
    let look_ups: Vec<usize> = lengths.iter().map(|[nibbles, _]| 2 * nibbles).collect();
    assert_eq!(look_ups, [1 << 17, 1024, 4 * lanes, lanes]);
    assert!(lengths.iter().all(|[nibbles, tables]| 15 * nibbles == 4 * tables));
}

/// Runs products with random OTs: shares of the sum of the numbers in lanes where the bits differ, that of the party with the numbers first.
fn sums(bits: [&[bool]; 2], numbers: &[Vec<u64>], omega: &[usize]) -> [Vec<u64>; 2] {
    let lanes = numbers.len();
    let pairs: Vec<[[u8; 16]; 2]> = random(8, 32 * lanes).as_chunks().0.as_chunks().0.to_vec();
    let choices = bits_from_bytes(&random(9, lanes / 8), lanes);
    let flips: Vec<bool> = bits[1].iter().zip(&choices).map(|(bit, c)| bit ^ c).collect();
    let (message, share) = products(&pairs, bits[0], &flips, numbers, omega);
    assert_eq!(message.len(), lanes * omega.iter().sum::<usize>());
    let keys: Vec<[u8; 16]> =
        pairs.iter().zip(&choices).map(|(pair, c)| pair[usize::from(*c)]).collect();
    [share, accept(&keys, bits[1], &message, omega)]
}

/// Runs products and release for c lanes with the number m, of which the first `common` are equal; returns the mask, and count and sum.
fn result(c: usize, m: u64, threshold: usize, common: usize) -> (u64, [u64; 2]) {
    let (omega, lanes) = (number_bytes(c, m), c.next_multiple_of(64));
    let threshold = threshold.min(c + 1) as u64;
    let ours = bits_from_bytes(&random(10, lanes / 8), lanes);
    let theirs: Vec<bool> = (0..lanes).map(|lane| ours[lane] ^ (lane < common)).collect();
    let (r, random_z) = (words(11, lanes), words(12, lanes));
    let z = |lane: usize| {
        let z = if lane < common { m.wrapping_sub(r[lane]) } else { random_z[lane] };
        vec![z & u64::MAX >> (64 - 8 * omega[1])]
    };
    let forward: Vec<Vec<u64>> = r.iter().map(|&r| vec![1, r]).collect();
    let backward: Vec<Vec<u64>> = (0..lanes).map(z).collect();
    let [sender, mut receiver] = sums([&ours, &theirs], &forward, &omega);
    let [of_receiver, of_sender] = sums([&theirs, &ours], &backward, &omega[1..]);
    receiver[0] = receiver[0].wrapping_sub(threshold);
    receiver[1] = receiver[1].wrapping_add(of_receiver[0]);
    let sender = [sender[0], sender[1].wrapping_add(of_sender[0])];
    let raised =
        [&sender, &receiver[..]].map(|sums| [0, 1].map(|i| raise(sums[i], omega[i])).to_vec());

    let n = 2 * 64 * 14 * 2;
    let pairs: Vec<[bool; 2]> = bits_from_bytes(&random(13, n / 4), 2 * n).as_chunks().0.to_vec();
    let [first, second] = triples(&pairs, &bits_from_bytes(&random(14, n / 8), n));
    let mut parties =
        [Gates { triples: first, first: true }, Gates { triples: second, first: false }];
    let shares = release(&mut parties, [&raised[0], &raised[1]]);
    assert!(parties.iter().all(|party| party.triples.is_empty()));
    let [mask, count, sum] = [0, 1, 2].map(|i| shares[0][i] ^ shares[1][i]);
    (mask, [lower(count, omega[0]) + threshold, lower(sum, omega[1])])
}

#[test]
fn count_and_sum_come_out_at_the_ends_of_their_bytes() {
    for (c, m) in [(1, 0), (1, 255), (1, 256), (127, 2), (128, 2), (127, 1 << 57), (200, 1 << 40)] {
        for common in [0, 1, c / 2, c - 1, c] {
            for threshold in [0, 1, common, common + 1, c, c + 1, usize::MAX] {
                let (mask, result) = result(c, m, threshold, common);
                if threshold > common {
                    // Nothing of sums is left under the mask.
                    assert_eq!((mask, result), (0, [threshold.min(c + 1) as u64, 0]));
                } else {
                    assert_eq!((mask, result), (u64::MAX, [common as u64, common as u64 * m]));
                }
            }
        }
    }
}
