//! The two-round Feistel POPF [[MRR20](https://eprint.iacr.org/2020/1043)] over any group.
//!
//! φ = (T, s); its value at x is T + H₁(x, s ⊕ H′(x, T)). To program value P at x: draw r, set
//! T = P − H₁(x, r) and s = r ⊕ H′(x, T). Both oracles are bound to the session and the instance;
//! H′ takes a digest of T, so that evaluating at both points hashes T once.

use alloc::{vec, vec::Vec};
use core::fmt;

use foxtrot_kernel::Backend;

use super::Group;
use crate::{
    erase::{SecretBytes, erase},
    oracle::{Oracle, Wide},
};

/// Length of s and r in bytes: 3κ bits, which the extraction argument needs.
pub const S_LEN: usize = 48;

/// The most instances that one call takes.
pub const GROUP: usize = 16;

/// The POPF with its three oracles, for consecutive instances side by side.
pub struct Feistel2<G: Group> {
    group: G,
    h1: Oracle,
    digest: Oracle,
    h_prime: Oracle,
    wide: Wide,
    answers: SecretBytes,
    hashes: Vec<G::Element>,
}

/// The digests of T of consecutive instances: what both points of a description need.
#[derive(Debug)]
pub struct Digests {
    first: u64,
    digests: [[u8; 32]; GROUP],
}

impl<G: Group> Feistel2<G> {
    /// Length of φ in bytes.
    pub const ENCODED_LEN: usize = G::ENCODED_LEN + S_LEN;

    /// With H₁, the digest of T and H′.
    pub fn new(group: G, backend: Backend, h1: Oracle, digest: Oracle, h_prime: Oracle) -> Self {
        let answers = SecretBytes::zeroed(GROUP * G::ANSWER_LEN);
        let hashes = vec![group.zero(); GROUP];
        Self { group, h1, digest, h_prime, wide: Wide::new(backend), answers, hashes }
    }

    /// Writes the φ of the instances from `first` on, each with its value at its `x`, from uniform
    /// coins r. `x` is secret; `values` are spent.
    ///
    /// # Panics
    /// If there are more than [`GROUP`] instances, or `phis` has not [`Feistel2::ENCODED_LEN`] bytes
    /// for each.
    pub fn program<'a>(
        &mut self,
        first: u64,
        x: &[u8],
        values: &mut [G::Element],
        r: impl Fn(usize) -> &'a [u8; S_LEN],
        phis: &mut [u8],
    ) {
        assert_eq!(phis.len(), x.len() * Self::ENCODED_LEN);
        self.hash(first, x, &r);
        let hashed = values.iter_mut().zip(&self.hashes);
        for ((value, hash), phi) in hashed.zip(phis.chunks_exact_mut(Self::ENCODED_LEN)) {
            self.group.sub(value, hash);
            self.group.encode(value, &mut phi[..G::ENCODED_LEN]);
        }
        let digests = self.open(first, phis);
        let mut coins = self.masks(&digests, x);
        for (k, phi) in phis.chunks_exact_mut(Self::ENCODED_LEN).enumerate() {
            phi[G::ENCODED_LEN..].copy_from_slice(&xor(r(k), &coins[k]));
        }
        erase(coins.as_flattened_mut());
    }

    /// Prepares the φ of the instances from `first` on for evaluation.
    ///
    /// # Panics
    /// If there are more than [`GROUP`].
    pub fn open(&mut self, first: u64, phis: &[u8]) -> Digests {
        let count = phis.len() / Self::ENCODED_LEN;
        let mut digests = [[0; 32]; GROUP];
        let t = |k| (first + k as u64, 0, [&phis[k * Self::ENCODED_LEN..][..G::ENCODED_LEN]]);
        self.wide.ask(&self.digest, count, t, digests[..count].as_flattened_mut());
        Digests { first, digests }
    }

    /// The values at x of opened descriptions. On entry `values` are their T, decoded.
    ///
    /// # Panics
    /// If there are other numbers of descriptions and values, or more than [`GROUP`].
    pub fn evaluate(&mut self, digests: &Digests, phis: &[u8], x: u8, values: &mut [G::Element]) {
        assert_eq!(phis.len(), values.len() * Self::ENCODED_LEN);
        let coins = self.coins(digests, phis, x);
        self.hash(digests.first, &[x; GROUP][..values.len()], |k| &coins[k]);
        for (value, hash) in values.iter_mut().zip(&self.hashes) {
            self.group.add(value, hash);
        }
    }

    /// The r that programming at x would have used.
    pub(crate) fn coins(&mut self, digests: &Digests, phis: &[u8], x: u8) -> [[u8; S_LEN]; GROUP] {
        let count = phis.len() / Self::ENCODED_LEN;
        let mut coins = self.masks(digests, &[x; GROUP][..count]);
        for (coins, phi) in coins.iter_mut().zip(phis.chunks_exact(Self::ENCODED_LEN)) {
            *coins = xor(&phi[G::ENCODED_LEN..], coins);
        }
        coins
    }

    /// H₁(i, x, r), to `self.hashes`.
    fn hash<'a>(&mut self, first: u64, x: &[u8], r: impl Fn(usize) -> &'a [u8; S_LEN]) {
        let answers = &mut self.answers[..x.len() * G::ANSWER_LEN];
        let question = |k: usize| (first + k as u64, x[k], [r(k).as_slice()]);
        self.wide.ask(&self.h1, x.len(), question, answers);
        self.group.hash(answers, &mut self.hashes[..x.len()]);
    }

    /// H′(i, x, T).
    fn masks(&mut self, digests: &Digests, x: &[u8]) -> [[u8; S_LEN]; GROUP] {
        let mut masks = [[0; S_LEN]; GROUP];
        let answers = masks[..x.len()].as_flattened_mut();
        let question = |k: usize| (digests.first + k as u64, x[k], [digests.digests[k].as_slice()]);
        self.wide.ask(&self.h_prime, x.len(), question, answers);
        masks
    }
}

impl<G: Group> fmt::Debug for Feistel2<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Feistel2")
    }
}

fn xor(a: &[u8], b: &[u8; S_LEN]) -> [u8; S_LEN] {
    core::array::from_fn(|k| a[k] ^ b[k])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Session, Sid};

    /// Bytes under addition mod 256, counting hashes, additions, subtractions and encodings.
    #[derive(Debug, Default)]
    struct Bytes {
        calls: core::cell::Cell<[u32; 4]>,
    }

    impl Bytes {
        fn count(&self, operation: usize) {
            let mut calls = self.calls.get();
            calls[operation] += 1;
            self.calls.set(calls);
        }
    }

    impl Group for Bytes {
        type Element = [u8; 16];
        const ENCODED_LEN: usize = 16;
        const ANSWER_LEN: usize = 20;

        fn zero(&self) -> [u8; 16] {
            [0; 16]
        }

        fn hash(&self, answers: &[u8], elements: &mut [[u8; 16]]) {
            for (answer, element) in answers.chunks_exact(20).zip(elements) {
                self.count(0);
                element.copy_from_slice(&answer[4..]);
            }
        }

        fn add(&self, a: &mut [u8; 16], b: &[u8; 16]) {
            self.count(1);
            a.iter_mut().zip(b).for_each(|(a, b)| *a = a.wrapping_add(*b));
        }

        fn sub(&self, a: &mut [u8; 16], b: &[u8; 16]) {
            self.count(2);
            a.iter_mut().zip(b).for_each(|(a, b)| *a = a.wrapping_sub(*b));
        }

        fn encode(&self, a: &[u8; 16], bytes: &mut [u8]) {
            self.count(3);
            bytes.copy_from_slice(a);
        }
    }

    fn popf(sid: u8) -> Feistel2<Bytes> {
        let session = Session::new(Sid::from_bytes([sid; 32]));
        Feistel2::new(
            Bytes::default(),
            session.backend(),
            session.oracle("h1"),
            session.oracle("t"),
            session.oracle("h'"),
        )
    }

    /// Values at both points.
    fn values(popf: &mut Feistel2<Bytes>, first: u64, phis: &[u8]) -> [Vec<[u8; 16]>; 2] {
        let digests = popf.open(first, phis);
        [0, 1].map(|x| {
            let mut values: Vec<_> =
                phis.chunks(64).map(|phi| phi[..16].try_into().unwrap()).collect();
            popf.evaluate(&digests, phis, x, &mut values);
            values
        })
    }

    fn programmed(popf: &mut Feistel2<Bytes>, first: u64, x: &[u8]) -> Vec<u8> {
        let mut phis = vec![0; 64 * x.len()];
        let mut points: Vec<_> = (0..16).map(|k| [9 + k; 16]).take(x.len()).collect();
        let coins: [[u8; S_LEN]; 16] = core::array::from_fn(|k| [u8::try_from(k).unwrap(); S_LEN]);
        popf.program(first, x, &mut points, |k| &coins[k], &mut phis);
        phis
    }

    #[test]
    fn the_programmed_values_come_out_where_they_were_programmed() {
        let mut popf = popf(1);
        for count in [1, 5, 16] {
            let x: Vec<u8> = (0..count).map(|k| u8::from(k % 3 == 1)).collect();
            let phis = programmed(&mut popf, 5, &x);
            let values = values(&mut popf, 5, &phis);
            for (k, &x) in x.iter().enumerate() {
                let point = [9 + u8::try_from(k).unwrap(); 16];
                assert_eq!(values[usize::from(x)][k], point);
                assert_ne!(values[usize::from(1 - x)][k], point);
            }
        }
    }

    #[test]
    fn a_description_means_something_else_in_another_instance_or_session() {
        let phi = programmed(&mut popf(1), 5, &[0]);
        let here = values(&mut popf(1), 5, &phi);
        for there in [values(&mut popf(1), 6, &phi), values(&mut popf(2), 5, &phi)] {
            assert!(there[0] != here[0] && there[1] != here[1]);
        }
    }

    #[test]
    fn programming_takes_the_same_work_at_both_points() {
        let work = |x| {
            let mut popf = popf(1);
            programmed(&mut popf, 5, &[x]);
            popf.group.calls.get()
        };
        assert_eq!((work(0), work(1)), ([1, 0, 1, 1], [1, 0, 1, 1]));
    }

    /// Each oracle by itself: together they would cover for each other.
    #[test]
    fn every_oracle_is_bound_to_session_instance_and_point() {
        let digests = |first| Digests { first, digests: [[5; 32]; GROUP] };
        let answers = |sid: u8, i: u64, x: u8| {
            let mut popf = popf(sid);
            popf.hash(i, &[x], |_| &[3; S_LEN]);
            (popf.hashes[0], popf.masks(&digests(i), &[x])[0])
        };
        let here = answers(1, 5, 0);
        for there in [answers(2, 5, 0), answers(1, 6, 0), answers(1, 5, 1)] {
            assert!(here.0 != there.0 && here.1 != there.1);
        }
        let digest = |sid, i, t| popf(sid).open(i, &[t; 64]).digests[0];
        assert_ne!(digest(1, 5, 1), digest(1, 6, 1));
        assert_ne!(digest(1, 5, 1), digest(2, 5, 1));
        assert_ne!(digest(1, 5, 1), digest(1, 5, 2));
    }
}
