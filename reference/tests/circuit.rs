//! `circuit-psi`, `docs/wire/circuit-psi.md`: sizes, values of stores, and the circuit.

use foxtrot_reference::bits_from_bytes;
use foxtrot_reference::circuit::{
    Gates, Layer, LookUps, accept, column, compared_bits, drawn, drawn_words, equal, look_up,
    look_ups, lower, nibbles, number_bits, oprf_value, packed, products, raise, release, segment,
    tables, triples, unpacked,
};
use foxtrot_reference::oracle::oracle;
use foxtrot_reference::vole_psi::Protocol;
use std::collections::HashSet;

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
    let (tables, ours) = tables(Layer::Later, &ots.masks, &x, &changes);
    assert_eq!((changes.len(), tables.len()), (256 / 2, 256 / 16 * 30));
    let theirs = look_up(Layer::Later, &ots.choices, &ots.bits, &y, &tables);
    for i in 0..256 {
        assert_eq!(ours[i] ^ theirs[i], x[i] == y[i], "{i}");
    }
}

/// Returns the coefficients of each look-up as a word, bit i being a_i, and 0 if a_i is not sent.
fn coefficients(layer: Layer, tables: &[u8]) -> Vec<u16> {
    let sent = layer.sent();
    let words: Vec<u16> = tables.as_chunks().0.iter().map(|it| u16::from_le_bytes(*it)).collect();
    let of = |words: &[u16], j: usize| -> u16 {
        sent.iter().zip(words).map(|(i, word)| (word >> j & 1) << i).sum()
    };
    words.chunks(sent.len()).flat_map(|words| (0..16).map(move |j| of(words, j))).collect()
}

#[test]
fn coefficients_give_back_a_row() {
    // m is 0 and d too, so w_v = [v = x]: the coefficients are those of i that have all bits of x.
    let x: Vec<u8> = (0..16).collect();
    let (tables, shares) = tables(Layer::Later, &[0; 16], &x, &[0; 8]);
    for (x, a) in coefficients(Layer::Later, &tables).into_iter().enumerate() {
        for i in 1..16 {
            assert_eq!(a >> i & 1 == 1, i & x == x, "{x}, {i}");
        }
        assert_eq!(shares[x], x == 0);
    }
}

#[test]
fn an_ot_with_one_bit_gives_its_place_as_the_nibble() {
    for v in 0..16 {
        assert_eq!(drawn(1 << v), v);
    }
    assert_eq!([0, 3, 5, u16::MAX].map(drawn), [15, 15 ^ 1, 15 ^ 2, 15]);
}

/// All bits m of an OT, and the nibbles that they give.
fn all_masks() -> (Vec<u16>, Vec<u8>) {
    let masks: Vec<u16> = (0..=u16::MAX).collect();
    let x = masks.iter().map(|mask| drawn(*mask)).collect();
    (masks, x)
}

#[test]
fn the_receiver_computes_the_coefficients_that_are_not_sent() {
    let (masks, x) = all_masks();
    for d in 0..16 {
        let changes = vec![d << 4 | d; 1 << 15];
        let whole = tables(Layer::Later, &masks, &x, &changes);
        let first = tables(Layer::First, &masks, &x, &changes);
        assert_eq!((first.0.len(), &first.1), ((1 << 12) * 22, &whole.1));
        let sent = coefficients(Layer::First, &first.0);
        for (a, sent) in coefficients(Layer::Later, &whole.0).into_iter().zip(sent) {
            for (k, i) in [(0, 14), (1, 13), (2, 11), (3, 7)] {
                let expected = if a >> 15 == 0 { d >> k & 1 } else { 0 };
                assert_eq!(a >> i & 1, u16::from(expected), "{a}, {d}, {i}");
            }
            assert_eq!(sent, a & !(1 << 7 | 1 << 11 | 1 << 13 | 1 << 14));
        }
        for y in 0..16 {
            let c = y ^ d;
            let bits: Vec<bool> = masks.iter().map(|mask| mask >> c & 1 == 1).collect();
            let theirs = look_up(Layer::First, &[c; 1 << 16], &bits, &[y; 1 << 16], &first.0);
            let equal = first.1.iter().zip(theirs).map(|(ours, theirs)| ours ^ theirs);
            assert!(equal.eq(x.iter().map(|x| *x == y)), "{d}, {y}");
        }
    }
}

#[test]
fn sixteen_bits_match_one_to_one_what_the_sender_has_and_sends() {
    // For each d, nibble, share and coefficients that are sent tell the bits m, and none are impossible.
    let (masks, x) = all_masks();
    for d in 0..16 {
        let (tables, shares) = tables(Layer::First, &masks, &x, &vec![d << 4 | d; 1 << 15]);
        let sent = coefficients(Layer::First, &tables);
        let all: HashSet<(u8, bool, u16)> =
            (0..1 << 16).map(|m| (x[m], shares[m], sent[m])).collect();
        // There are 4 + 1 + 11 bits.
        assert_eq!(all.len(), 1 << 16, "{d}");
        // The same holds for nibble, the receiver's bit m of its choice, and what is sent.
        let places = Layer::First.sent();
        for choice in 0..16 {
            let mut seen = vec![false; 1 << 16];
            for m in 0..1 << 16 {
                let bit = usize::from(masks[m] >> choice & 1);
                let low = usize::from(x[m]) << 1 | bit;
                let bits = places.iter().enumerate();
                let high = bits.map(|(k, i)| usize::from(sent[m] >> i & 1) << k).sum::<usize>();
                assert!(!std::mem::replace(&mut seen[high << 5 | low], true), "{d}, {choice}");
            }
        }
        assert_eq!(Layer::First.sent().len(), 11);
    }
}

#[test]
fn strings_have_the_nibbles_of_the_first_layer_and_bits_of_their_own_above() {
    let words = words(3, 64);
    for (compared, low) in [(40, 40), (41, 40), (60, 60), (61, 60), (64, 64)] {
        let masks = ots(64 * look_ups(compared)).masks;
        for (lane, t) in drawn_words(&masks, compared, &words).into_iter().enumerate() {
            for j in 0..16 {
                let own = words[lane] >> (4 * j) & 15;
                let of_ot = || u64::from(drawn(masks[64 * j + lane]));
                assert_eq!(t >> (4 * j) & 15, if 4 * j < low { of_ot() } else { own });
            }
        }
    }
}

#[test]
fn the_first_layer_takes_no_other_nibbles() {
    let panics = |x: u8| {
        std::panic::catch_unwind(|| tables(Layer::First, &[0; 16], &[x; 16], &[0; 8])).is_err()
    };
    assert!(!panics(15) && (0..15).all(panics));
}

fn words(branch: u8, n: usize) -> Vec<u64> {
    random(branch, 8 * n).as_chunks().0.iter().map(|it| u64::from_le_bytes(*it)).collect()
}

#[test]
fn strings_have_at_least_40_bits_more_than_the_number_of_bins() {
    for (bins, bits) in [
        (1, 40),
        (2, 41),
        (3, 44),
        (16, 44),
        (17, 45),
        (32, 45),
        (33, 48),
        (512, 49),
        (513, 52),
        (1 << 20, 60),
        (1_331_964, 61),
    ] {
        assert_eq!(compared_bits(bins), bits, "{bins}");
    }
    for (receiver_items, bits) in [(1, 49), (300, 52), (1 << 16, 57), (1 << 20, 61)] {
        assert_eq!(compared_bits(3 * segment(receiver_items)), bits, "{receiver_items}");
    }
}

#[test]
fn numbers_have_as_many_bits_as_the_result_can_need() {
    for (c, omega) in [
        (1, 2),
        (2, 3),
        (3, 3),
        (4, 4),
        (127, 8),
        (128, 9),
        (32_767, 16),
        (32_768, 17),
        ((1 << 20) - 1, 21),
        (1 << 20, 22),
    ] {
        assert_eq!(number_bits(c, 0), [omega, 1], "{c}");
        // The least count less the threshold, and the largest count.
        let bound = 1_i64 << (omega - 1);
        assert!(-(c as i64 + 1) >= -bound && (c as i64) < bound);
        assert!(c as i64 >= bound / 2);
    }
    for (c, m, omega) in [
        (1, 0, 1),
        (1, 1, 1),
        (1, 2, 2),
        (2, 1, 2),
        (3, 1, 2),
        (1, 255, 8),
        (1, 256, 9),
        (255, 1, 8),
        (256, 1, 9),
        (2, 127, 8),
        (2, 128, 9),
        (3, 85, 8),
        (3, 86, 9),
        (1 << 20, 1, 21),
        (1 << 20, (1 << 43) - 1, 63),
        (1 << 20, 1 << 43, 64),
        (1 << 20, (1 << 44) - 1, 64),
    ] {
        assert_eq!(number_bits(c, m)[1], omega, "{c}, {m}");
    }
    for bits in 1..=64 {
        assert_eq!(number_bits(1, u64::MAX >> (64 - bits))[1], bits);
        assert_eq!(number_bits(1, 1 << (bits - 1))[1], bits);
    }
    for (c, m) in [(1 << 20, 1 << 44), (2, 1 << 63), (3, u64::MAX / 3 + 1)] {
        assert!(std::panic::catch_unwind(|| number_bits(c, m)).is_err(), "{c}, {m}");
    }
    assert_eq!(number_bits(3, u64::MAX / 3), [3, 64]);
}

/// Numbers of this many bits, of which some have all bits or none.
fn numbers_of_bits(bits: usize, n: usize) -> Vec<u128> {
    let bytes = random(15, 16 * n);
    let mut numbers: Vec<u128> =
        bytes.as_chunks().0.iter().map(|it| u128::from_le_bytes(*it)).collect();
    numbers.extend([u128::MAX, 0, 1, u128::MAX]);
    numbers.iter().map(|number| number >> (128 - bits)).collect()
}

#[test]
fn packed_numbers_stand_bit_after_bit() {
    assert_eq!(packed(&[], 7), []);
    assert_eq!(packed(&[1, 0, 1, 1], 1), [0b1101]);
    assert_eq!(packed(&[0b101, 0b001, 0b110], 3), [0b1000_1101, 0b1]);
    assert_eq!(packed(&[0x123, 0xabc], 12), [0x23, 0xc1, 0xab]);
    assert_eq!(packed(&[0x1234, 0xabcd], 16), [0x34, 0x12, 0xcd, 0xab]);
    assert_eq!(packed(&[1, 1], 9), [0b1, 0b10, 0]);
    // Only the low bits of a number count.
    assert_eq!(packed(&[0xfff3, 0xfff5], 4), [0x53]);
    assert_eq!(packed(&[u128::MAX], 127), (u128::MAX >> 1).to_le_bytes());
    for bits in 1..=128 {
        let numbers = numbers_of_bits(bits, 20);
        let bytes = packed(&numbers, bits);
        for (i, number) in numbers.iter().enumerate() {
            for k in 0..bits {
                let place = bits * i + k;
                assert_eq!(bytes[place / 8] >> (place % 8) & 1 == 1, number >> k & 1 == 1);
            }
        }
    }
}

#[test]
fn packed_numbers_come_back_from_no_other_length_and_no_ones_behind_the_last() {
    for bits in 1..=128 {
        let numbers = numbers_of_bits(bits, 20);
        for n in 0..=numbers.len() {
            let bytes = packed(&numbers[..n], bits);
            assert_eq!(bytes.len(), (n * bits).div_ceil(8));
            assert_eq!(unpacked(&bytes, n, bits).as_deref(), Some(&numbers[..n]), "{bits}");
            assert_eq!(unpacked(&[&bytes[..], &[0]].concat(), n, bits), None, "{bits}, {n}");
            if n > 0 {
                assert_eq!(unpacked(&bytes[..bytes.len() - 1], n, bits), None, "{bits}, {n}");
            }
            for place in n * bits..8 * bytes.len() {
                let mut bytes = bytes.clone();
                bytes[place / 8] |= 1 << (place % 8);
                assert_eq!(unpacked(&bytes, n, bits), None, "{bits}, {n}, {place}");
            }
        }
    }
}

#[test]
fn frames_of_slots_join_to_all_slots_packed_together() {
    // A frame that is not the last has whole bytes.
    let numbers = numbers_of_bits(83, 3 * (1 << 14));
    let frames = numbers.chunks(3 << 14).flat_map(|frame| packed(frame, 83));
    assert!(frames.eq(packed(&numbers, 83)));
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
fn a_column_has_the_string_and_above_it_the_number_under_the_oprfs_value() {
    let none = [0; 16];
    assert_eq!(column(0b101, 0b11, &none, 4, 3), 0b011_0101);
    // Bits from l on, and of numbers from omega on, do not count.
    assert_eq!(column(!0, 0b1001, &none, 4, 3), 0b001_1111);
    assert_eq!(column(0, !0, &none, 4, 3), 0b111_0000);
    assert_eq!(column(0b101, !0, &none, 4, 0), 0b0101);
    assert_eq!(column(!0, 0, &none, 64, 64), u64::MAX.into());
    assert_eq!(column(0, !0, &none, 64, 64), u128::from(u64::MAX) << 64);
    let own: [u8; 16] = core::array::from_fn(|k| u8::try_from(k + 1).expect("16 bytes"));
    let hidden = u128::from_le_bytes(own);
    assert_eq!(column(0, 0, &own, 12, 0), 0x201);
    assert_eq!(column(0, 0, &own, 12, 5), 0x3_0201 & 0x1_ffff);
    assert_eq!(column(0, 0, &own, 64, 64), hidden);
    let [t, number] = words(16, 2).try_into().expect("two words");
    for compared in (40..=64).filter(|compared| compared % 4 < 2) {
        for omega in 0..=64 {
            // The receiver adds the OPRF's value.
            let all = u128::MAX >> (128 - compared - omega);
            let column = column(t, number, &own, compared, omega);
            assert_eq!(column & !all, 0);
            let open = column ^ hidden & all;
            let (s, z) = (open & u128::MAX >> (128 - compared), open >> compared);
            assert_eq!(s, u128::from(t) & u128::MAX >> (128 - compared));
            assert_eq!(z, u128::from(number) & ((1 << omega) - 1), "{compared}, {omega}");
        }
    }
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

/// Runs the circuit on strings of the sender, whose bits above those of look-ups are given, and of the receiver, which differ from them by `changes`. Returns
/// the lanes that have the bit, and the lengths of messages.
fn equal_lanes(compared: usize, words: &[u64], changes: &[u64]) -> (Vec<usize>, Vec<[usize; 2]>) {
    let lanes = words.len();
    let ots = ots(look_ups(compared) * lanes);
    let ours = drawn_words(&ots.masks, compared, words);
    let theirs: Vec<u64> = ours.iter().zip(changes).map(|(word, change)| word ^ change).collect();
    let (messages, shares) = equal(&ots, compared, [&ours, &theirs]);
    let bit = |lane: &usize| (shares[0][lane / 64] ^ shares[1][lane / 64]) >> (lane % 64) & 1 == 1;
    let lengths = messages.iter().map(|both| both.each_ref().map(Vec::len)).collect();
    ((0..lanes).filter(bit).collect(), lengths)
}

#[test]
fn the_circuit_tells_which_strings_are_equal_in_the_compared_bits() {
    let (ours, others) = (words(2, 192), words(3, 192));
    for compared in (1..=64).filter(|compared| compared % 4 < 2) {
        let of_lanes = |lanes: core::ops::Range<usize>| lanes.collect::<Vec<_>>();
        assert_eq!(equal_lanes(compared, &ours, &[0; 192]).0, of_lanes(0..192));
        let below = |lane: usize| others[lane] << (64 - compared) == 0;
        let alike: Vec<usize> = (0..192).filter(|&lane| below(lane)).collect();
        assert_eq!(equal_lanes(compared, &ours, &others).0, alike);
        // Bit by bit, then above the compared bits, then nowhere.
        let change = |lane: usize| match lane {
            0..64 => 1 << lane,
            64..128 => others[lane].checked_shl(u32::try_from(compared).expect("64")).unwrap_or(0),
            _ => 0,
        };
        let changes: Vec<u64> = (0..192).map(change).collect();
        let (equal, lengths) = equal_lanes(compared, &ours, &changes);
        assert_eq!(equal, of_lanes(compared..192));
        let sent: usize = lengths.iter().map(|[nibbles, _]| 2 * nibbles).sum();
        assert_eq!(sent, 192 * look_ups(compared));
        if compared == 61 {
            let expected = [(15, 22), (4, 30), (1, 30)];
            assert_eq!(lengths, expected.map(|(it, bytes)| [it * 192 / 2, it * 192 / 16 * bytes]));
        }
    }
}

#[test]
fn strings_have_a_length_of_0_or_1_modulo_4() {
    for compared in 1..=64 {
        let run = || equal_lanes(compared, &[0; 64], &[0; 64]);
        assert_eq!(std::panic::catch_unwind(run).is_ok(), compared % 4 < 2, "{compared}");
    }
}

#[test]
fn a_frame_has_at_most_131072_look_ups() {
    let lanes = 8192 + 64;
    let (equal, lengths) = equal_lanes(64, &vec![0; lanes], &vec![u64::MAX; lanes]);
    assert_eq!(equal, []);
    let look_ups: Vec<usize> = lengths.iter().map(|[nibbles, _]| 2 * nibbles).collect();
    assert_eq!(look_ups, [1 << 17, 1024, 4 * lanes, lanes]);
    for ([nibbles, tables], bytes) in lengths.into_iter().zip([22, 22, 30, 30]) {
        assert_eq!(tables, nibbles / 8 * bytes);
    }
}

/// Runs products with random OTs: shares of the sum of the numbers in lanes where the bits differ, that of the party with the numbers first.
fn sums(bits: [&[bool]; 2], numbers: &[Vec<u64>], omega: &[usize]) -> [Vec<u64>; 2] {
    let lanes = numbers.len();
    let pairs: Vec<[[u8; 16]; 2]> = random(8, 32 * lanes).as_chunks().0.as_chunks().0.to_vec();
    let choices = bits_from_bytes(&random(9, lanes / 8), lanes);
    let flips: Vec<bool> = bits[1].iter().zip(&choices).map(|(bit, c)| bit ^ c).collect();
    let (message, share) = products(&pairs, bits[0], &flips, numbers, omega);
    assert_eq!(message.len(), lanes * omega.iter().sum::<usize>() / 8);
    let keys: Vec<[u8; 16]> =
        pairs.iter().zip(&choices).map(|(pair, c)| pair[usize::from(*c)]).collect();
    [share, accept(&keys, bits[1], &message, omega)]
}

#[test]
fn products_are_shared_in_numbers_of_any_bits() {
    let lanes = 128;
    let [ours, theirs] = [17, 18].map(|branch| bits_from_bytes(&random(branch, lanes / 8), lanes));
    let numbers: Vec<Vec<u64>> = words(19, 2 * lanes).chunks(2).map(<[u64]>::to_vec).collect();
    for omega in [&[1, 1][..], &[2, 1], &[21, 37], &[22, 64], &[64, 63], &[64, 64], &[1], &[37]] {
        let numbers: Vec<Vec<u64>> = numbers.iter().map(|it| it[..omega.len()].to_vec()).collect();
        let shares = sums([&ours, &theirs], &numbers, omega);
        for (i, &omega) in omega.iter().enumerate() {
            let counted = (0..lanes).filter(|&lane| ours[lane] != theirs[lane]);
            let sum = counted.map(|lane| numbers[lane][i]).fold(0, u64::wrapping_add);
            let raised = [0, 1].map(|party: usize| raise(shares[party][i], omega));
            let both = raised[0].wrapping_add(raised[1]);
            assert_eq!(both, raise(sum, omega));
            assert_eq!(lower(both, omega), sum & u64::MAX >> (64 - omega));
        }
    }
}

#[test]
fn products_have_the_numbers_of_a_lane_bit_after_bit() {
    // Without keys a number is sent as it is, or less than 0 where the party's bit is 1.
    let (pairs, numbers) = ([[[0; 16]; 2]; 2], [vec![1, 0b101], vec![1, 0b110]]);
    let (message, shares) = products(&pairs, &[false, true], &[false, true], &numbers, &[3, 4]);
    assert_eq!(unpacked(&message, 2, 7), Some(vec![0b101 << 3 | 1, 0b1010 << 3 | 7]));
    assert_eq!((message, shares), (vec![0b1010_1001, 0b10_1011], vec![1, 0b110]));
    let accepted =
        |bits: &[bool; 2]| accept(&[[0; 16]; 2], bits, &[0b1010_1001, 0b10_1011], &[3, 4]);
    assert_eq!(accepted(&[false, false]), [0, 0]);
    assert_eq!(accepted(&[true, false]), [1, 0b101]);
    assert_eq!(accepted(&[true, true]), [8, 0b1111]);
    for other in [&[0, 0, 0][..], &[0], &[0, 0b100_0000]] {
        let accept = || accept(&[[0; 16]; 2], &[true; 2], other, &[3, 4]);
        assert!(std::panic::catch_unwind(accept).is_err());
    }
}

/// Runs products and release for c lanes with the number m, of which the first `common` are equal; returns the mask, and count and sum.
fn result(c: usize, m: u64, threshold: usize, common: usize) -> (u64, [u64; 2]) {
    let (omega, lanes) = (number_bits(c, m), c.next_multiple_of(64));
    let threshold = threshold.min(c + 1) as u64;
    let ours = bits_from_bytes(&random(10, lanes / 8), lanes);
    let theirs: Vec<bool> = (0..lanes).map(|lane| ours[lane] ^ (lane < common)).collect();
    let (r, random_z) = (words(11, lanes), words(12, lanes));
    let z = |lane: usize| {
        let z = if lane < common { m.wrapping_sub(r[lane]) } else { random_z[lane] };
        vec![z & u64::MAX >> (64 - omega[1])]
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
fn count_and_sum_come_out_at_the_ends_of_their_bits() {
    for (c, m) in [
        (1, 0),
        (1, 1),
        (1, 2),
        (1, u64::MAX),
        (2, 1),
        (3, 85),
        (64, 1 << 57),
        (127, 1),
        (127, 1 << 57),
        (128, 2),
        (200, 1 << 40),
    ] {
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
