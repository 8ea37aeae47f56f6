//! The laws of oblivious key-value stores, and what a peer can send.

use foxtrot_ot::{Backend, Decode, Session, Sid, Usage};
use foxtrot_psi::{
    Digest, Error, RowSeed,
    okvs::{Coins, MAX_KEYS, Okvs},
};

fn session(counter: u64) -> Session {
    Session::new(Sid::from_bytes([1; 32])).sub("test", counter, Default::default())
}

fn coins(number: usize) -> Coins {
    let mut bytes = [0xc0; 32];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    Coins::from_bytes(bytes)
}

/// Distinct keys; any do.
fn keys(first: usize, number: usize) -> Vec<Digest> {
    let key = |k: usize| core::array::from_fn(|i| if i < 8 { k.to_le_bytes()[i] } else { 7 });
    (first..first + number).map(key).collect()
}

/// Values that look random and are not.
fn values<const W: usize>(number: usize) -> Vec<[u8; W]> {
    let byte = |k: usize| u8::try_from(k.wrapping_mul(0x9e37_79b1) >> 13 & 0xff).expect("a byte");
    (0..number).map(|k| core::array::from_fn(|i| byte(k * W + i + 1))).collect()
}

/// Encodes under a session of its own, and decodes again.
fn round_trip<const W: usize>(okvs: &Okvs, number: usize) {
    let n = okvs.keys();
    let session = session(number as u64);
    let (keys, values) = (keys(number, n), values::<W>(n));
    let mut slots = vec![[0; W]; okvs.slots()];
    let seed = okvs.encode(&session, coins(number), &keys, &values, &mut slots);
    let seed = seed.unwrap_or_else(|failure| panic!("{n} keys: {failure}"));
    let mut decoded = vec![[0xff; W]; n];
    let decoder = okvs.decoder(&slots).expect("as many as there are");
    let plan = okvs.plan(&session, &seed, &keys).expect("not too many");
    plan.decode(&decoder, &mut decoded).expect("as many as there are");
    assert!(decoded == values, "{n} keys, {} hashes, {W} bytes", okvs.sparse());
}

#[test]
fn every_key_has_its_value_in_small_stores() {
    for n in 0..=600 {
        for run in 0..4 {
            round_trip::<3>(&Okvs::three(n).unwrap(), 1000 * n + run);
            round_trip::<3>(&Okvs::two(n).unwrap(), 1000 * n + run);
        }
    }
}

#[test]
fn every_key_has_its_value_whatever_the_width() {
    for n in [1, 10, 1000] {
        let (three, two) = (Okvs::three(n).unwrap(), Okvs::two(n).unwrap());
        round_trip::<1>(&three, n);
        round_trip::<11>(&three, n);
        round_trip::<29>(&three, n);
        round_trip::<64>(&three, n);
        round_trip::<101>(&three, n);
        round_trip::<104>(&three, n);
        round_trip::<29>(&two, n);
        round_trip::<128>(&two, n);
    }
}

#[test]
fn every_key_has_its_value_in_large_stores() {
    for n in [1 << 11, 5000, 1 << 14, 100_000, (1 << 19) + 1] {
        round_trip::<8>(&Okvs::three(n).unwrap(), n);
    }
    for n in [1 << 11, 1 << 14, 100_000] {
        round_trip::<8>(&Okvs::two(n).unwrap(), n);
    }
    for n in [0, 1, 1000, 100_000, 1 << 17, (1 << 18) - 1, 1 << 18] {
        round_trip::<16>(&Okvs::four(n).unwrap(), n);
    }
}

#[test]
fn every_backend_encodes_and_decodes_alike() {
    for n in [1, 2, 17, 100] {
        let okvs = Okvs::three(n).unwrap();
        let (keys, values) = (keys(0, n), values::<29>(n));
        let mut first = None;
        for backend in Backend::all() {
            let session = session(0).with_backend(backend);
            let mut slots = vec![[0; 29]; okvs.slots()];
            let seed = okvs.encode(&session, coins(0), &keys, &values, &mut slots).unwrap();
            assert_eq!(first.get_or_insert((seed, slots.clone())), &(seed, slots));
        }
    }
}

#[test]
fn parts_of_a_plan_decode_side_by_side_as_the_whole() {
    let okvs = Okvs::three((1 << 19) + 1).unwrap();
    let slots: Vec<[u8; 5]> = values(okvs.slots());
    let decoder = okvs.decoder(&slots).unwrap();
    let seed = RowSeed::decode(&[8; 32]).unwrap();
    let keys = keys(0, 1000);
    let plan = okvs.plan(&session(0), &seed, &keys).unwrap();
    let mut whole = vec![[0; 5]; 1000];
    plan.decode(&decoder, &mut whole).unwrap();
    let check = |range: std::ops::Range<usize>| {
        let mut part = vec![[0; 5]; range.len()];
        plan.decode_range(&decoder, range.clone(), &mut part).unwrap();
        for (value, &index) in part.iter().zip(&plan.order()[range]) {
            assert_eq!(value, &whole[index as usize]);
        }
    };
    std::thread::scope(|threads| {
        for range in [0..0, 0..1, 1..400, 400..1000] {
            threads.spawn(|| check(range));
        }
    });
    let mut order = plan.order().to_vec();
    order.sort_unstable();
    assert!(order.into_iter().eq(0..1000));

    for (key, value) in keys.iter().zip(&whole) {
        let mut alone = [[0; 5]];
        let plan = okvs.plan(&session(0), &seed, &[*key]).unwrap();
        plan.decode(&decoder, &mut alone).unwrap();
        assert_eq!(&alone[0], value);
    }
}

#[test]
fn rows_depend_on_session_seed_and_shape() {
    let decode = |okvs: &Okvs, session: &Session, seed: u8| {
        let mut slots = vec![[0; 16]; okvs.slots()];
        slots.iter_mut().zip(0_u128..).for_each(|(slot, k)| *slot = (k * k).to_le_bytes());
        let seed = RowSeed::decode(&[seed; 32]).unwrap();
        let mut decoded = [[0; 16]; 3];
        let plan = okvs.plan(session, &seed, &keys(0, 3)).unwrap();
        plan.decode(&okvs.decoder(&slots).unwrap(), &mut decoded).unwrap();
        decoded
    };
    let okvs = Okvs::three(1000).unwrap();
    let base = decode(&okvs, &session(0), 0);
    assert_eq!(base, decode(&okvs, &session(0), 0));
    assert_ne!(base, decode(&okvs, &session(1), 0));
    assert_ne!(base, decode(&okvs, &session(0), 1));
    assert_ne!(base, decode(&Okvs::three(999).unwrap(), &session(0), 0));
}

/// Pearson's statistic of bytes against 255 degrees of freedom: beyond 400 with probability 10⁻⁸.
fn chi_square(bytes: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    bytes.iter().for_each(|&byte| counts[usize::from(byte)] += 1);
    let expected = f64::from(u32::try_from(bytes.len()).unwrap()) / 256.0;
    counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum()
}

#[test]
fn slots_of_random_values_look_uniform_wherever_they_are() {
    let n = 200;
    let okvs = Okvs::three(n).unwrap();
    // The keystream that fills the free slots of empty stores is random enough for values.
    let random = |number| {
        let empty = Okvs::three(0).unwrap();
        let mut values = vec![[0; 32 * 200 / 44]; empty.slots()];
        empty.encode(&session(9), coins(number), &[], &[], &mut values).unwrap();
        values.as_flattened()[..n * 32].as_chunks::<32>().0.to_vec()
    };
    let mut places = vec![Vec::new(); okvs.slots()];
    for run in 0..500 {
        let mut slots = vec![[0; 32]; okvs.slots()];
        let values = random(run);
        okvs.encode(&session(0), coins(run), &keys(0, n), &values, &mut slots).unwrap();
        places.iter_mut().zip(&slots).for_each(|(place, slot)| place.extend_from_slice(slot));
    }
    let worst = places.iter().map(|place| chi_square(place)).fold(0.0, f64::max);
    assert!(worst < 400.0, "{worst}");
    assert!(chi_square(places.concat().as_slice()) < 400.0);
    assert!(chi_square(&[1, 2, 3].repeat(10_000)) > 400.0, "the test can fail");
}

/// A store of other keys says nothing about ours: its values there look random, not like those encoded.
#[test]
fn keys_that_are_not_in_the_store_get_random_values() {
    let okvs = Okvs::three(500).unwrap();
    let mut slots = vec![[0; 16]; okvs.slots()];
    let seed =
        okvs.encode(&session(0), coins(0), &keys(0, 500), &[[7; 16]; 500], &mut slots).unwrap();
    let mut decoded = vec![[0; 16]; 5000];
    let plan = okvs.plan(&session(0), &seed, &keys(500, 5000)).unwrap();
    plan.decode(&okvs.decoder(&slots).unwrap(), &mut decoded).unwrap();
    assert!(!decoded.contains(&[7; 16]));
    assert!(chi_square(decoded.as_flattened()) < 400.0);
}

#[test]
fn equal_keys_fail_and_leave_no_values() {
    let okvs = Okvs::three(10).unwrap();
    let mut keys = keys(0, 10);
    keys[9] = keys[0];
    for value in [[1; 4], [2; 4]] {
        let mut values = vec![[1; 4]; 10];
        values[9] = value;
        let mut slots = vec![[0xaa; 4]; okvs.slots()];
        let failed = okvs.encode(&session(0), coins(0), &keys, &values, &mut slots);
        assert_eq!(failed, Err(Error::Unlucky));
        assert!(slots.iter().all(|slot| slot == &[0; 4]));
    }
}

#[test]
fn wrong_lengths_and_sizes_are_errors() {
    let mismatch = |what, expected, got| Usage::CountMismatch { what, expected, got };
    let okvs = Okvs::three(10).unwrap();
    let m = okvs.slots();
    let mut slots = vec![[0; 4]; m];
    for (n, values, expected) in
        [(9, 10, mismatch("keys", 10, 9)), (10, 11, mismatch("values", 10, 11))]
    {
        let values = vec![[0; 4]; values];
        let failed = okvs.encode(&session(0), coins(0), &keys(0, n), &values, &mut slots);
        assert_eq!(failed, Err(Error::from(expected)));
    }
    for len in [0, 1, m - 1, m + 1] {
        let mut slots = vec![[0; 4]; len];
        assert_eq!(okvs.decoder(&slots).unwrap_err(), mismatch("slots", m, len));
        let failed = okvs.encode(&session(0), coins(0), &keys(0, 10), &[[0; 4]; 10], &mut slots);
        assert_eq!(failed, Err(mismatch("slots", m, len).into()));
    }
    let seed = RowSeed::decode(&[8; 32]).unwrap();
    let plan = okvs.plan(&session(0), &seed, &keys(0, 5)).unwrap();
    let decoder = okvs.decoder(&slots).unwrap();
    for len in [4, 6] {
        let failed = plan.decode(&decoder, &mut vec![[0; 4]; len]);
        assert_eq!(failed, Err(mismatch("values", 5, len)));
    }
    let failed = plan.decode_range(&decoder, 3..6, &mut [[0; 4]; 3]);
    assert_eq!(failed, Err(mismatch("values", 3, 3)));
    #[expect(clippy::reversed_empty_ranges, reason = "that is what is tested")]
    let failed = plan.decode_range(&decoder, 6..3, &mut []);
    assert_eq!(failed, Err(mismatch("values", 0, 0)));
    let other = Okvs::three(100).unwrap();
    let slots = vec![[0; 4]; other.slots()];
    let failed = plan.decode(&other.decoder(&slots).unwrap(), &mut [[0; 4]; 5]);
    assert_eq!(failed, Err(mismatch("slots", m, other.slots())));
}

#[test]
fn okvs_sizes_above_the_maximum_are_usage_errors() {
    let beyond_32_bits = usize::try_from(1_u64 << 32).unwrap_or(usize::MAX);
    for n in [MAX_KEYS + 1, beyond_32_bits, usize::MAX] {
        let expected = Err(Usage::BatchTooLarge { n, max: MAX_KEYS });
        assert_eq!(Okvs::three(n).map(|_| ()), expected);
        assert_eq!(Okvs::two(n).map(|_| ()), expected);
    }
    assert!(Okvs::three(MAX_KEYS).is_ok() && Okvs::two(MAX_KEYS).is_ok());
}

#[test]
fn a_row_seed_has_32_bytes() {
    for len in [0, 1, 31, 33, 64] {
        let expected = Decode::Length { message: "RowSeed", expected: 32, got: len };
        assert_eq!(RowSeed::decode(&vec![0; len]), Err(expected));
    }
    assert_eq!(RowSeed::decode(&[5; 32]).unwrap().as_bytes(), &[5; 32]);
}

/// A party may find a store for few keys where it has many: decoding them is not an error.
#[test]
fn stores_for_no_keys_decode() {
    let (three, two) = (Okvs::three(0).unwrap(), Okvs::two(0).unwrap());
    let seed = RowSeed::decode(&[8; 32]).unwrap();
    let mut decoded = vec![[0; 2]; 100];
    let slots = vec![[1; 2]; three.slots()];
    let plan = three.plan(&session(0), &seed, &keys(0, 100)).unwrap();
    plan.decode(&three.decoder(&slots).unwrap(), &mut decoded).unwrap();
    let slots = vec![[1; 2]; two.slots()];
    let plan = two.plan(&session(0), &seed, &keys(0, 100)).unwrap();
    plan.decode(&two.decoder(&slots).unwrap(), &mut decoded).unwrap();
}
