//! The rule by which wraps are found, for all numbers where these are few, and at its edges for the sets; and whole
//! batches of the most extreme shares.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

extern crate std;
use std::{println, vec, vec::Vec};

use foxtrot_ot::{
    Backend, Direction, Seed, Session, Sid,
    base::{ReceiverKeys, SenderKeys},
    ideal,
};

use super::{
    super::{
        coins::{self, ANSWER},
        p0::{self, Decrypted, P0, decrypt, encrypt},
        p1::{self, Masked, P1, mask, multiply},
        ring::{Message, Ring, combine},
    },
    add_where, correct, take_keys,
};
use crate::{
    Shares,
    params::{MSB_40, MSB_64, Set, TOY},
    wrong_in_batch,
};

fn sets() -> impl Iterator<Item = &'static Set> {
    MSB_40.iter().chain(&MSB_64).chain([&TOY])
}

/// 2^(2ℓ) − 2^ℓ, the greatest value of a product and o.
fn most(bits: u32) -> u128 {
    (0u128.wrapping_sub(1) >> (128 - 2 * bits)) - ((1 << bits) - 1)
}

/// v + o for all shares of ℓ bits.
fn sums(bits: u32) -> Vec<i64> {
    let half = 1i64 << (bits - 1);
    let offset = (1 << (2 * bits - 1)) - (1 << bits);
    let shares = || -half..half;
    let products = || shares().flat_map(|a| shares().map(move |b| a * b));
    let mut sums: Vec<_> =
        products().flat_map(|x| products().map(move |y| x + y + offset)).collect();
    sums.sort_unstable();
    sums.dedup();
    sums
}

/// Sums V and masks r with which the rule is wrong.
fn exceptions(sums: &[i64], p: i64) -> usize {
    let threshold = (p + 1) / 2;
    let is_wrong = |v: i64, r: i64| {
        let (m1, m0) = (r >= threshold, (v + r) % p < threshold);
        (m0 && m1) != (v + r >= p)
    };
    sums.iter().map(|&v| (0..p).filter(|&r| is_wrong(v, r)).count()).sum()
}

#[test]
fn the_rule_finds_all_wraps_from_a_bound_on_and_not_below() {
    for bits in [2, 3] {
        let sums = sums(bits);
        let (first, last) = (sums[0], sums[sums.len() - 1]);
        let last = u128::try_from(last).unwrap();
        assert_eq!((first, last), (0, most(bits)), "products and o fill that range");
        let bound = 2 * i64::try_from(last).unwrap() + 1;
        for p in (bound..bound + 60).step_by(2) {
            assert_eq!(exceptions(&sums, p), 0, "{bits} {p}");
        }
        // Below it is wrong for the sums from (p + 1)/2 on, each with a few masks: what is said of ℓ = 64.
        for p in ((3 * bound / 4) | 1..bound).step_by(2) {
            let over = sums.iter().map(|v| 2 * v - (p + 1)).filter(|over| *over >= 0);
            let expected = over.map(|over| usize::try_from(over + 1).unwrap()).sum::<usize>();
            assert!(expected > 0 && exceptions(&sums, p) == expected, "{bits} {p}");
        }
    }
}

/// Both parties' shares of what is left of d − r when wraps are put right.
struct Fixed {
    ours: Vec<u8>,
    theirs: Vec<u8>,
}

/// The fix alone, on residues of r and of d, with shares of a and b that are 0.
fn fix(ring: &Ring, r: &mut [u64], d: &mut [u64], ots: &(SenderKeys, ReceiverKeys)) -> Fixed {
    let (set, n) = (ring.set, ring.n());
    let (pairs, chosen) = ots;
    let words = |residues: &mut [u64]| {
        let (mut words, mut upper) = (vec![0; n], vec![0; n]);
        ring.whole.digits(ring.backend, residues);
        ring.whole.words(ring.backend, residues, &mut words);
        ring.whole.exceeds_half(ring.backend, residues, &mut upper);
        (words, upper)
    };
    let ((mut r, m1), (mut d, upper)) = (words(r), words(d));
    let shares = |x: &[u64], negative| {
        let [mut a, mut b, mut c] = [0; 3].map(|_| vec![0; n * set.width()]);
        combine(set.width(), [&mut a, &mut b, &mut c], x, negative);
        c
    };
    let e: Vec<u64> =
        (0..n).map(|j| m1[j] ^ u64::from(chosen.choices().get(j).unwrap_u8())).collect();
    take_keys(&mut r, chosen.keys());
    let mut z = vec![0; set.correction_len()];
    correct(set, pairs.pairs(), [&upper, &e], &mut d, &mut z);
    let (ours, mut theirs) = (shares(&d, false), shares(&r, true));
    add_where(set.width(), &m1, &z, &mut theirs);
    Fixed { ours, theirs }
}

#[test]
fn sums_at_the_edges_are_put_right() {
    for set in sets() {
        for backend in Backend::all() {
            edges(&Ring::new(set, backend));
        }
    }
}

fn edges(ring: &Ring) {
    let (set, n) = (ring.set, ring.n());
    let most = most(set.bits());
    // Where p is below the bound the greatest sums are wrong for some of these masks.
    let exact = set.bits() < 64;
    let greatest = if exact { most } else { most - (most >> 20) };
    let values = [0, 1, greatest, greatest - 1, greatest / 2, greatest / 3];
    // Masks as residues, from those of V and of 1/2, which is (p + 1)/2.
    let masks: [fn(u64, u64) -> i128; 9] = [
        |_, _| 0,
        |_, _| -1,
        |_, half| i128::from(half),
        |_, half| i128::from(half) - 1,
        |_, half| i128::from(half) - 2,
        |v, _| -i128::from(v),
        |v, _| -i128::from(v) - 1,
        |v, _| 1 - i128::from(v),
        |v, half| i128::from(half) - i128::from(v),
    ];
    let (mut r, mut d) = (Vec::new(), Vec::new());
    for i in 0..ring.counts().0 {
        let p = ring.modulus(i);
        let prime = i128::from(p.value());
        for j in 0..n {
            let v = u64::try_from(values[j % 6] % u128::from(p.value())).unwrap();
            let mask = masks[j / 6 % 9](v, p.inv(2)).rem_euclid(prime);
            let mask = u64::try_from(mask).unwrap();
            r.push(mask);
            d.push(p.add(mask, v));
        }
    }
    let ots = ideal::random(n, &Seed::from_bytes([8; 32]));
    let Fixed { ours, theirs } = fix(ring, &mut r, &mut d, &ots);
    let width = set.width();
    for (j, (c0, c1)) in ours.chunks(width).zip(theirs.chunks(width)).enumerate() {
        let word = |c: &[u8]| c.iter().rev().fold(0u128, |x, byte| x << 8 | u128::from(*byte));
        let sum = (word(c0) + word(c1) + (1 << set.bits()) - values[j % 6] % (1 << set.bits()))
            % (1 << set.bits());
        assert_eq!(sum, 0, "{set:?}, {:?}, {j}", ring.backend);
    }
}

/// Returns extreme numbers in bytes, little endian: the least number, the next one, the greatest
/// and 77.
fn extremes(set: &Set, period: usize) -> Vec<u8> {
    let top = 1u64 << (set.bits() - 1);
    let numbers = [top, top + 1, top - 1, 77];
    let bytes = |j: usize| numbers[j / period % 4].to_le_bytes()[..set.width()].to_vec();
    (0..set.n()).flat_map(bytes).collect()
}

/// Every pair of extremes of P₀ meets every pair of P₁, in a batch with all that is in it.
#[test]
fn triples_of_the_most_extreme_shares_are_right() {
    for set in sets() {
        let session =
            || Session::new(Sid::from_bytes([3; 32])).sub("test", 0, Direction::default());
        let seed = |byte| Seed::from_bytes([byte; 32]);
        let (p0, public_key) = P0::new(session(), set, seed(1));
        let p1 = P1::new(session(), set, &public_key, seed(2)).unwrap();
        let (ring, width) = (&p0.ring, set.width());
        let [mut a0, mut b0, mut a1, mut b1] = [1, 4, 16, 64].map(|it| extremes(set, it));

        let ours = coins::of_request(&p0.session, &p0.seed, 0);
        let mut request = vec![0; set.request_len()];
        let mut scratch = p0::Scratch::new(ring);
        let mut rest = request.as_mut_slice();
        for (which, share) in [(0, &a0), (1, &b0)] {
            let half = coins::of_uniform_half(&p0.session, 0, which);
            scratch.share.copy_from_slice(share);
            rest = encrypt(ring, &p0.negated, &ours, &half, which, &mut scratch, rest);
        }
        assert!(rest.is_empty());

        let theirs = coins::of_response(&p1.session, &p1.seed, 0);
        let halves = [0, 1].map(|which| coins::of_uniform_half(&p1.session, 0, which));
        let message = Message::new("Request", 0, &request, request.len()).unwrap();
        let mut of_p1 = p1::Scratch::new(ring);
        multiply(ring, &p1.public_key, [&a1, &b1], &theirs, &halves, message, &mut of_p1).unwrap();
        let half = coins::of_uniform_half(&p1.session, 0, ANSWER);
        let mut response = vec![0; set.response_len()];
        let Masked { r, upper: m1, .. } = mask(ring, &half, &mut of_p1, &mut response);

        let message = Message::new("Response", 0, &response, response.len()).unwrap();
        let keys = [&*p0.negated, &*p0.scaled];
        let decrypted = decrypt(ring, keys, &half, message, &mut scratch).unwrap();
        let Decrypted { d, fix: Some([upper, _]) } = decrypted else { panic!("there is a fix") };

        let (pairs, chosen) = ideal::random(set.ots(), &seed(3));
        let e: Vec<u64> = m1
            .iter()
            .enumerate()
            .map(|(j, m1)| m1 ^ u64::from(chosen.choices().get(j).unwrap_u8()))
            .collect();
        let [mut c0, mut c1, mut z] = [0; 3].map(|_| vec![0; set.n() * width]);
        take_keys(r, chosen.keys());
        correct(set, pairs.pairs(), [upper, &e], d, &mut z);
        combine(width, [&mut a0, &mut b0, &mut c0], d, false);
        combine(width, [&mut a1, &mut b1, &mut c1], r, true);
        add_where(width, m1, &z, &mut c1);
        let ours = Shares::of_parts(width, [&a0, &b0, &c0]);
        let theirs = Shares::of_parts(width, [&a1, &b1, &c1]);
        assert_eq!(wrong_in_batch(&ours, &theirs), 0, "{set:?}");
        let wraps = m1.iter().zip(upper).filter(|(m1, upper)| **m1 == 1 && **upper == 0).count();
        println!("{set:?}: {wraps} wraps of {}", set.n());
        assert!(wraps > set.n() / 16, "{set:?}");
    }
}
