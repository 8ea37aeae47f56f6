//! Laws of the field, stamped onto every backend of this machine.

extern crate std;
use std::vec::Vec;

use super::*;
use crate::{
    Backend,
    laws::{Stream, on_every_backend},
};

/// Numbers of 256 bits, the slow way.
type Number = [u64; 4];

const PRIME: Number = [0u64.wrapping_sub(19), u64::MAX, u64::MAX, u64::MAX >> 1];

fn sum(a: Number, b: Number) -> Number {
    let mut carry = 0;
    core::array::from_fn(|k| {
        let sum = u128::from(a[k]) + u128::from(b[k]) + carry;
        carry = sum >> 64;
        crate::halves(sum)[0]
    })
}

fn below(a: Number, b: Number) -> bool {
    a.iter().rev().lt(b.iter().rev())
}

fn complement(a: Number) -> Number {
    sum(a.map(|word| !word), [1, 0, 0, 0])
}

fn reduced(mut a: Number) -> Number {
    while !below(a, PRIME) {
        a = sum(a, complement(PRIME));
    }
    a
}

fn plus(a: Number, b: Number) -> Number {
    reduced(sum(a, b))
}

fn minus(a: Number, b: Number) -> Number {
    plus(a, reduced(sum(PRIME, complement(b))))
}

fn times(a: Number, b: Number) -> Number {
    (0..256).rev().fold([0; 4], |product, k| {
        let twice = plus(product, product);
        if b[k / 64] >> (k % 64) & 1 == 1 { plus(twice, a) } else { twice }
    })
}

fn bytes(a: Number) -> [u8; 32] {
    core::array::from_fn(|i| a[i / 8].to_le_bytes()[i % 8])
}

fn number(a: &[u8; 32]) -> Number {
    let mut words = words_of(a);
    words[3] &= u64::MAX >> 1;
    reduced(words)
}

/// Values at which carries, signs and the modulus matter, and others.
fn special() -> Vec<[u8; 32]> {
    let mut all: Vec<Number> = [0, 1, 2, 18, 19, 20, (1 << 51) - 1, 1 << 51]
        .into_iter()
        .flat_map(|small| [[small, 0, 0, 0], sum(PRIME, complement([small, 0, 0, 0]))])
        .collect();
    // p and what is above.
    all.extend((0..19).step_by(6).map(|k| sum(PRIME, [k, 0, 0, 0])));
    all.extend([[u64::MAX; 4], [0x5555_5555_5555_5555; 4], [0xaaaa_aaaa_aaaa_aaaa; 4]]);
    // Limbs at the ends of the signed and of the unsigned ones.
    for limb in [1 << 50, (1 << 50) - 1, (1 << 50) + 1, LOW - 1] {
        all.extend((0..5).map(|k| {
            words_of(&to_bytes(&core::array::from_fn(|i| if i == k { limb } else { 0 })))
        }));
        all.push(words_of(&to_bytes(&[limb; 5])));
    }
    let mut random = Stream(51);
    all.extend((0..24).map(|_| core::array::from_fn(|_| random.word())));
    all.into_iter().map(bytes).collect()
}

/// An expression in a, b and c, computed in lanes and the slow way.
#[derive(Clone, Copy, Debug)]
enum Law {
    Load,
    Add,
    Sub,
    Mul,
    Square,
    Small,
    Negate,
    ProductOfSum,
    ProductOfDifference,
    SmallOfDifference,
    SquareOfCarried,
    CarryOfThree,
    SumOfProducts,
    DifferenceOfProducts,
    FourProducts,
    Invert,
    Root,
}

const LAWS: [Law; 17] = [
    Law::Load,
    Law::Add,
    Law::Sub,
    Law::Mul,
    Law::Square,
    Law::Small,
    Law::Negate,
    Law::ProductOfSum,
    Law::ProductOfDifference,
    Law::SmallOfDifference,
    Law::SquareOfCarried,
    Law::CarryOfThree,
    Law::SumOfProducts,
    Law::DifferenceOfProducts,
    Law::FourProducts,
    Law::Invert,
    Law::Root,
];

const SMALL: u32 = 121_665;

/// Out of line, so that they are compiled once.
#[inline(always)]
fn product<F: Field>(f: F, a: F::Element, b: F::Element) -> F::Wide {
    f.outlined(
        #[inline(always)]
        || f.product(a, b),
    )
}

#[inline(always)]
fn small_product<F: Field>(f: F, a: F::Element) -> F::Wide {
    f.outlined(
        #[inline(always)]
        || f.small_product(a, SMALL),
    )
}

#[inline(always)]
fn square_product<F: Field>(f: F, a: F::Element) -> F::Wide {
    f.outlined(
        #[inline(always)]
        || f.square_product(a),
    )
}

#[inline(always)]
fn in_lanes<F: Field>(f: F, law: Law, [a, b, c]: [&[[u8; 32]]; 3], out: &mut [[u8; 32]]) {
    let n = out.len();
    for start in (0..n).step_by(F::LANES) {
        let [a, b, c] = [
            crate::curve::batch::load(f, start, n, a),
            crate::curve::batch::load(f, start, n, b),
            crate::curve::batch::load(f, start, n, c),
        ];
        let x = match law {
            Law::Load => a,
            Law::Add => f.add(a, b),
            Law::Sub => f.sub(a, b),
            Law::Mul => f.times(a, b),
            Law::Square => square(f, a),
            Law::Small => f.reduce(small_product(f, a)),
            Law::Negate => f.negate(a),
            Law::ProductOfSum => f.times(f.add(f.add(a, b), c), b),
            Law::ProductOfDifference => f.times(a, f.sub(f.sub(a, b), c)),
            Law::SmallOfDifference => f.reduce(small_product(f, f.sub(a, f.add(b, c)))),
            Law::SquareOfCarried => square(f, f.carry(f.sub(f.add(a, b), c))),
            Law::CarryOfThree => f.carry(f.sub(a, f.sub(b, c))),
            Law::SumOfProducts => f.reduce(f.add_wide(product(f, a, b), product(f, b, c))),
            Law::DifferenceOfProducts => {
                f.reduce(f.sub_wide(square_product(f, a), product(f, f.add(b, c), f.carry(c))))
            }
            Law::FourProducts => {
                let wide = product(f, f.add(f.add(a, b), c), c);
                f.reduce(f.sub_wide(f.add_wide(f.add_wide(wide, wide), wide), product(f, a, b)))
            }
            Law::Invert => invert(f, a),
            // The root, and whether it is one of a/b.
            Law::Root => {
                let (square, root) = sqrt_ratio(f, a, b);
                negate_where(f, &square, root)
            }
        };
        crate::curve::batch::store(f, x, start, out);
    }
}

fn power(a: Number, exponent: Number) -> Number {
    (0..256).rev().fold([1, 0, 0, 0], |power, k| {
        let square = times(power, power);
        if exponent[k / 64] >> (k % 64) & 1 == 1 { times(square, a) } else { square }
    })
}

fn inverse(a: Number) -> Number {
    power(a, sum(PRIME, complement([2, 0, 0, 0])))
}

fn slowly(law: Law, a: Number, b: Number, c: Number) -> Number {
    let small = [SMALL.into(), 0, 0, 0];
    match law {
        Law::Load => a,
        Law::Add => plus(a, b),
        Law::Sub => minus(a, b),
        Law::Mul => times(a, b),
        Law::Square => times(a, a),
        Law::Small => times(a, small),
        Law::Negate => minus([0; 4], a),
        Law::ProductOfSum => times(plus(plus(a, b), c), b),
        Law::ProductOfDifference => times(a, minus(minus(a, b), c)),
        Law::SmallOfDifference => times(minus(a, plus(b, c)), small),
        Law::SquareOfCarried => {
            let x = minus(plus(a, b), c);
            times(x, x)
        }
        Law::CarryOfThree => minus(a, minus(b, c)),
        Law::SumOfProducts => plus(times(a, b), times(b, c)),
        Law::DifferenceOfProducts => minus(times(a, a), times(plus(b, c), c)),
        Law::FourProducts => {
            let product = times(plus(plus(a, b), c), c);
            minus(plus(plus(product, product), product), times(a, b))
        }
        Law::Invert => inverse(a),
        Law::Root => {
            let ratio = times(a, inverse(b));
            // (p + 3)/8, (p − 1)/4.
            let root = power(ratio, [u64::MAX - 1, u64::MAX, u64::MAX, u64::MAX >> 4]);
            let i = power([2, 0, 0, 0], [u64::MAX - 4, u64::MAX, u64::MAX, u64::MAX >> 3]);
            let candidates = [root, times(root, i)];
            let found = |of: Number| candidates.into_iter().find(|&x| times(x, x) == of);
            let even = |x: Number| if x[0] & 1 == 1 { minus([0; 4], x) } else { x };
            match found(ratio) {
                // 0/0 counts as a square, and a/0 does not.
                Some(root) if b != [0; 4] || a == [0; 4] => minus([0; 4], even(root)),
                _ => even(found(times(ratio, i)).expect("a root of the one or the other")),
            }
        }
    }
}

fn arithmetic(backend: Backend) {
    let all = special();
    for law in LAWS {
        // Every value meets every other, and a third one.
        let shifts: &[usize] = match law {
            Law::Invert | Law::Load => &[0],
            Law::Root => &[0, 1, 5, 33],
            _ => &[0, 1, 2, 7, 19, 24, 30, 41, 55],
        };
        for &shift in shifts {
            let turned = |by: usize| {
                let mut all = all.clone();
                let n = all.len();
                all.rotate_left(by % n);
                all
            };
            let (b, c) = (turned(shift), turned(3 * shift + 1));
            let mut out = std::vec![[0; 32]; all.len()];
            dispatch!(
                backend, f => in_lanes(f, law, [&all, &b, &c], &mut out));
            for (i, out) in out.into_iter().enumerate() {
                let [a, b, c] = [number(&all[i]), number(&b[i]), number(&c[i])];
                assert_eq!(out, bytes(slowly(law, a, b, c)), "{law:?} of {a:x?} {b:x?} {c:x?}");
            }
        }
    }
}

/// A triple of a table, without pattern.
fn triple(table: usize, entry: usize) -> [Limbs; 3] {
    let limb = |k: usize, limb: usize| {
        let place = (((table * 16 + entry) * 3 + k) * 5 + limb + 1) as u64;
        place.wrapping_mul(0x9e37_79b9_7f4a_7c15) & LOW
    };
    core::array::from_fn(|k| core::array::from_fn(|i| limb(k, i)))
}

/// Selections, digits and tables, lane by lane.
#[inline(always)]
fn choices<F: Field>(f: F, words: &Words) {
    let word = f.words(words);
    let element = |x: u64| f.splat(&[x, x + 1, x + 2, x + 3, x + 4]);
    let mut tables = [Sixteen::ZERO; 2];
    for (which, table) in tables.iter_mut().enumerate() {
        for entry in 0..16 {
            table.set(entry, &triple(which, entry));
        }
    }
    let [first, second] = &tables;
    for k in 0..64 {
        let mask = f.bit(word, k);
        let selected = f.store(f.select(mask, element(100), element(200)));
        let (a, b) = f.swap(mask, element(100), element(200));
        let (a, b) = (f.store(a), f.store(b));
        for (lane, &word) in words.iter().enumerate().take(F::LANES) {
            let set = word >> k & 1 == 1;
            let start = if set { 100 } else { 200 };
            let expected = |start: u64| core::array::from_fn::<u64, 5, _>(|i| start + i as u64);
            assert_eq!(canonical(&selected.lane(lane)), expected(start));
            assert_eq!(canonical(&a.lane(lane)), expected(300 - start));
            assert_eq!(canonical(&b.lane(lane)), expected(start));
        }
        if k >= 12 {
            continue;
        }
        let (index, negative) = f.digit::<5>(word, k);
        let (short, _) = f.digit::<4>(word, k);
        let short = f.lookup(first, short).map(|x| f.store(x));
        let sign = f.store(f.select(negative, element(100), element(200)));
        let one = f.lookup(first, index).map(|x| f.store(x));
        let either = f.lookup_either([first, second], mask, index).map(|x| f.store(x));
        for (lane, &word) in words.iter().enumerate().take(F::LANES) {
            let digit = word >> (4 * k) & 15;
            let short_entry = if digit < 8 { 7 - digit } else { digit - 8 };
            let digit = word >> (5 * k) & 31;
            let entry = if digit < 16 { 15 - digit } else { digit - 16 };
            let [entry, short_entry] = [entry, short_entry].map(|x| usize::try_from(x).unwrap());
            let table = usize::from(word >> k & 1 == 1);
            assert_eq!(canonical(&sign.lane(lane))[0], if digit < 16 { 100 } else { 200 });
            for t in 0..3 {
                assert_eq!(canonical(&one[t].lane(lane)), triple(0, entry)[t]);
                assert_eq!(canonical(&short[t].lane(lane)), triple(0, short_entry)[t]);
                assert_eq!(canonical(&either[t].lane(lane)), triple(table, entry)[t]);
            }
        }
    }
}

fn choosing(backend: Backend) {
    let mut random = Stream(52);
    let mut words: Words = core::array::from_fn(|_| random.word());
    for _ in 0..8 {
        dispatch!(backend, f => choices(f, &words));
        words.rotate_left(1);
    }
}

fn conditions(backend: Backend) {
    #[inline(always)]
    fn conditions<F: Field>(f: F, values: &[[u8; 32]]) {
        let n = values.len();
        for start in (0..n).step_by(F::LANES) {
            let x = crate::curve::batch::load(f, start, n, values);
            let (zero, odd) = (is_zero(f, x), is_odd(f, x));
            for lane in 0..F::LANES.min(n - start) {
                let x = number(&values[start + lane]);
                assert_eq!(zero[lane], u64::from(x == [0; 4]));
                assert_eq!(odd[lane], x[0] & 1);
            }
        }
    }
    let all = special();
    dispatch!(backend, f => conditions(f, &all));
}

on_every_backend! {
    every_law_holds => arithmetic;
    selection_follows_the_mask_of_each_lane => choosing;
    conditions_depend_on_the_residue_only => conditions;
}

#[test]
fn bytes_and_limbs_are_the_same_numbers() {
    for value in special() {
        let expected = bytes(number(&value));
        assert_eq!(to_bytes(&from_bytes(&value)), expected);
        assert_eq!(canonical(&from_bytes(&value)), from_bytes(&expected));
        // Limbs that were not carried.
        let loose = from_bytes(&value).map(|limb| limb + LOW);
        let loose = to_bytes(&loose);
        let all_ones = from_bytes(&[0xff; 32]);
        assert_eq!(number(&loose), plus(number(&value), number(&to_bytes(&all_ones))));
    }
}
