#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

extern crate std;

use std::vec::Vec;

use p256::{ProjectivePoint, elliptic_curve::group::GroupEncoding};
use proptest::prelude::*;

use super::*;

/// p, big endian.
const P: [u8; 32] = [
    0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
];

/// The scalar of the crate `p256` for the same coins, bit by bit.
fn theirs(coins: &[u8; Scalar::COINS]) -> p256::Scalar {
    let digits = coins.iter().rev().map(|&byte| p256::Scalar::from(u64::from(byte)));
    digits.fold(p256::Scalar::ZERO, |sum, digit| sum * p256::Scalar::from(256u64) + digit)
}

fn bytes(point: &ProjectivePoint) -> [u8; POINT_LEN] {
    point.to_bytes().as_slice().try_into().unwrap()
}

fn coins() -> impl Strategy<Value = [u8; Scalar::COINS]> {
    let few = (any::<u8>(), 0..Scalar::COINS).prop_map(|(byte, place)| {
        let mut coins = [0; Scalar::COINS];
        coins[place] = byte;
        coins
    });
    let all = proptest::collection::vec(any::<u8>(), Scalar::COINS)
        .prop_map(|coins| coins.try_into().unwrap());
    prop_oneof![few, all, Just([0xff; Scalar::COINS])]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn multiples_equal_those_of_another_implementation(s in coins(), t in coins(), h in coins()) {
        let g = ProjectivePoint::GENERATOR;
        let h = g * (theirs(&h) + p256::Scalar::ONE);
        prop_assume!(h != ProjectivePoint::IDENTITY);
        let [ours_g, ours_h] = [g, h].map(|point| decode(&bytes(&point)).unwrap());
        let [ours_s, ours_t] = [s, t].map(|coins| Scalar::from_coins(&coins));
        let [s, t] = [s, t].map(|coins| theirs(&coins));
        let sum = g * s + h * t;
        let tables = [ours_g, ours_h].map(|point| Table::new(&point));
        let terms = [(&tables[0], &ours_s), (&tables[1], &ours_t)];
        let by_table = Table::combine(terms);
        let without = Point::combine([(&ours_g, &ours_s), (&ours_h, &ours_t)]);
        prop_assert!(by_table == without);
        for (choice, base) in [(0, g), (1, h)] {
            let product = Table::times_one_of([&tables[0], &tables[1]], choice, &ours_s);
            let selected = Point::select(&ours_g, &ours_h, choice);
            prop_assert!(product == Point::combine([(&selected, &ours_s)]));
            if s != p256::Scalar::ZERO {
                prop_assert_eq!(encode(&[product])[0], bytes(&(base * s)));
            }
        }
        if sum != ProjectivePoint::IDENTITY {
            prop_assert_eq!(encode(&[by_table, ours_h]), [bytes(&sum), bytes(&h)]);
        }
    }

    #[test]
    fn decoding_agrees_with_another_implementation(tag in 0u8..5, x in any::<[u8; 32]>()) {
        let encoding: Vec<u8> = [&[tag][..], &x].concat();
        let other = ProjectivePoint::from_bytes(&encoding.as_slice().try_into().unwrap());
        let other = other.into_option().filter(|_| tag & !1 == 2);
        let ours = decode(&encoding);
        prop_assert_eq!(ours.map(|point| encode(&[point])[0]), other.map(|point| bytes(&point)));
    }
}

#[test]
fn coordinates_are_canonical_and_on_the_curve() {
    let encoding = |tag: u8, x: &[u8; 32]| [&[tag][..], x].concat();
    let small = |x: u8| core::array::from_fn(|k| if k == 31 { x } else { 0 });
    // The least x of a point; its other name p + x must be none.
    let least = (1..).find(|&x| decode(&encoding(2, &small(x))).is_some()).unwrap();
    let mut not_reduced = P;
    not_reduced[19] = 1;
    not_reduced[20..].fill(0);
    not_reduced[31] = least - 1;
    assert!(decode(&encoding(2, &not_reduced)).is_none());
    assert!(decode(&encoding(2, &P)).is_none());
    // x³ − 3x + b is a square for about half of all x.
    let points = (0..=255).filter(|&x| decode(&encoding(3, &small(x))).is_some()).count();
    assert!((96..160).contains(&points), "{points}");
    let point = decode(&encoding(3, &small(least))).unwrap();
    let [encoded] = encode(&[point]);
    for tag in (0..=255).filter(|tag| ![2, 3].contains(tag)) {
        assert!(decode(&encoding(tag, &small(least))).is_none());
    }
    for len in 0..POINT_LEN {
        assert!(decode(&encoded[..len]).is_none());
    }
}

#[test]
fn scalars_are_little_endian_numbers_mod_the_order() {
    let base = ProjectivePoint::GENERATOR;
    let ours = decode(&bytes(&base)).unwrap();
    for bit in [0, 63, 64, 191, 192, 255, 256, 383] {
        let mut coins = [0; Scalar::COINS];
        coins[bit / 8] = 1 << (bit % 8);
        let product = Point::combine([(&ours, &Scalar::from_coins(&coins))]);
        assert_eq!(encode(&[product])[0], bytes(&(base * theirs(&coins))), "2^{bit}");
    }
    let order: [u8; 32] = (-p256::Scalar::ONE).to_bytes().into();
    let mut coins = [0; Scalar::COINS];
    order.iter().rev().zip(&mut coins).for_each(|(from, to)| *to = *from);
    coins[0] += 1;
    let zero = Point::combine([(&ours, &Scalar::from_coins(&coins))]);
    coins[0] -= 1;
    let inverse = Point::combine([(&ours, &Scalar::from_coins(&coins))]);
    assert!(zero == ours.plus(&inverse) && zero != ours && inverse != ours);
}
