//! The two-round Feistel POPF [[MRR20](https://eprint.iacr.org/2020/1043)] over any group.
//!
//! φ = (T, s); its value at x is T + H₁(x, s ⊕ H′(x, T)). To program value P at x: draw r, set
//! T = P − H₁(x, r) and s = r ⊕ H′(x, T). Both oracles are bound to the session and the instance;
//! H′ takes a digest of T, so that evaluating at both points hashes T once.

use alloc::{vec, vec::Vec};
use core::fmt;

use zeroize::Zeroize;

use super::Group;
use crate::{
    erase::{SecretBytes, erase},
    oracle::{Keyed, Texts},
};

/// Length of s and r in bytes: 3κ bits, which the extraction argument needs.
pub const S_LEN: usize = 48;

/// The most instances that one call takes.
pub const GROUP: usize = 16;

/// The POPF with its three oracles, for consecutive instances side by side.
pub struct Feistel2<G: Group> {
    group: G,
    h1: Keyed,
    digest: Keyed,
    h_prime: Keyed,
}

/// Room to compute in, erased when dropped.
pub struct Room<G: Group> {
    answers: SecretBytes,
    /// Two, as hashing takes them, or one if there is but one instance.
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
    pub fn new(group: G, h1: Keyed, digest: Keyed, h_prime: Keyed) -> Self {
        Self { group, h1, digest, h_prime }
    }

    /// Room for so many instances at once.
    pub fn room(&self, instances: usize) -> Room<G> {
        let answers = SecretBytes::zeroed(instances.min(GROUP) * G::ANSWER_LEN);
        Room { answers, hashes: vec![self.group.zero(); instances.min(2)] }
    }

    /// Writes the φ of the instances from `first` on, each with a value at its `x`, from uniform
    /// coins `r`. `difference` writes the encoding of the value of an instance minus the given
    /// element. `x` is secret.
    ///
    /// # Panics
    /// If there are more than [`GROUP`] instances or than there is room for, or not as many `r`, or
    /// `phis` has not [`Feistel2::ENCODED_LEN`] bytes for each.
    pub fn program(
        &self,
        room: &mut Room<G>,
        first: u64,
        x: &[u8],
        r: &[[u8; S_LEN]],
        mut difference: impl FnMut(usize, &G::Element, &mut [u8]),
        phis: &mut [u8],
    ) -> Digests {
        assert!(phis.len() == x.len() * Self::ENCODED_LEN && r.len() == x.len());
        self.ask_h1(first, x, r, &mut room.answers);
        let answers = room.answers[..x.len() * G::ANSWER_LEN].chunks(2 * G::ANSWER_LEN);
        let pairs = answers.zip(phis.chunks_mut(2 * Self::ENCODED_LEN));
        for (pair, (answers, phis)) in pairs.enumerate() {
            let hashes = &mut room.hashes[..answers.len() / G::ANSWER_LEN];
            self.group.hash(answers, hashes);
            for (k, (hash, phi)) in
                hashes.iter().zip(phis.chunks_exact_mut(Self::ENCODED_LEN)).enumerate()
            {
                difference(2 * pair + k, hash, &mut phi[..G::ENCODED_LEN]);
            }
        }
        let digests = self.open(first, phis);
        let mut masks = self.masks(&digests, x);
        for ((phi, r), mask) in phis.chunks_exact_mut(Self::ENCODED_LEN).zip(r).zip(&masks) {
            phi[G::ENCODED_LEN..].copy_from_slice(&xor(r, mask));
        }
        erase(masks.as_flattened_mut());
        digests
    }

    /// Prepares the φ of the instances from `first` on for evaluation.
    ///
    /// # Panics
    /// If there are more than [`GROUP`].
    pub fn open(&self, first: u64, phis: &[u8]) -> Digests {
        let count = phis.len() / Self::ENCODED_LEN;
        let mut digests = [[0; 32]; GROUP];
        let texts = Texts { bytes: phis, stride: Self::ENCODED_LEN, len: G::ENCODED_LEN };
        self.digest.ask_long(first, texts, &mut digests[..count]);
        Digests { first, digests }
    }

    /// Gives the values at x of opened descriptions, whose T were checked, to `value`.
    ///
    /// # Panics
    /// If there are more descriptions than [`GROUP`] or than there is room for.
    pub fn evaluate(
        &self,
        room: &mut Room<G>,
        digests: &Digests,
        phis: &[u8],
        x: u8,
        mut value: impl FnMut(usize, &G::Element),
    ) {
        let count = phis.len() / Self::ENCODED_LEN;
        let coins = self.coins(digests, phis, x);
        self.ask_h1(digests.first, &[x; GROUP][..count], &coins[..count], &mut room.answers);
        let answers = room.answers.chunks_exact(G::ANSWER_LEN);
        for (k, (answer, phi)) in answers.zip(phis.chunks_exact(Self::ENCODED_LEN)).enumerate() {
            // Of a description that the peer sees, both values are computed.
            let point = &mut room.hashes[0];
            self.group.hash_public(answer, point);
            self.group.add_encoded(point, &phi[..G::ENCODED_LEN]);
            value(k, point);
        }
    }

    /// The r that programming at x would have used.
    pub(crate) fn coins(&self, digests: &Digests, phis: &[u8], x: u8) -> [[u8; S_LEN]; GROUP] {
        let count = phis.len() / Self::ENCODED_LEN;
        let mut coins = self.masks(digests, &[x; GROUP][..count]);
        for (coins, phi) in coins.iter_mut().zip(phis.chunks_exact(Self::ENCODED_LEN)) {
            *coins = xor(&phi[G::ENCODED_LEN..], coins);
        }
        coins
    }

    /// H₁(i, x, r), as bytes.
    fn ask_h1(&self, first: u64, x: &[u8], r: &[[u8; S_LEN]], answers: &mut [u8]) {
        let answers = &mut answers[..x.len() * G::ANSWER_LEN];
        self.h1.ask(x.len(), |k| (first + k as u64, x[k], r[k]), answers);
    }

    /// H′(i, x, T).
    fn masks(&self, digests: &Digests, x: &[u8]) -> [[u8; S_LEN]; GROUP] {
        let mut masks = [[0; S_LEN]; GROUP];
        let answers = masks[..x.len()].as_flattened_mut();
        let question = |k: usize| (digests.first + k as u64, x[k], digests.digests[k]);
        self.h_prime.ask(x.len(), question, answers);
        masks
    }
}

impl Digests {
    /// All of them; those behind the last instance are zero.
    #[must_use]
    pub fn all(&self) -> &[[u8; 32]; GROUP] {
        &self.digests
    }
}

impl<G: Group> Drop for Room<G> {
    fn drop(&mut self) {
        self.hashes.iter_mut().for_each(Zeroize::zeroize);
    }
}

impl<G: Group> fmt::Debug for Feistel2<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Feistel2")
    }
}

impl<G: Group> fmt::Debug for Room<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Room(<redacted>)")
    }
}

fn xor(a: &[u8], b: &[u8; S_LEN]) -> [u8; S_LEN] {
    core::array::from_fn(|k| a[k] ^ b[k])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Session, Sid};

    /// Bytes under addition mod 256, counting hashes of either kind and additions.
    #[derive(Debug, Default)]
    struct Bytes {
        calls: core::cell::Cell<[u32; 3]>,
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

        fn hash_public(&self, answer: &[u8], element: &mut [u8; 16]) {
            self.count(1);
            element.copy_from_slice(&answer[4..]);
        }

        fn add_encoded(&self, a: &mut [u8; 16], bytes: &[u8]) {
            self.count(2);
            a.iter_mut().zip(bytes).for_each(|(a, b)| *a = a.wrapping_add(*b));
        }
    }

    fn popf(sid: u8) -> Feistel2<Bytes> {
        let session = Session::new(Sid::from_bytes([sid; 32]));
        let [h1, t, h_prime] = ["h1", "t", "h'"].map(|context| session.keyed(context, &[]));
        Feistel2::new(Bytes::default(), h1, t, h_prime)
    }

    /// Values at both points.
    fn values(popf: &Feistel2<Bytes>, first: u64, phis: &[u8]) -> [Vec<[u8; 16]>; 2] {
        let digests = popf.open(first, phis);
        [0, 1].map(|x| {
            let mut values = Vec::new();
            let mut room = popf.room(phis.len() / 64);
            popf.evaluate(&mut room, &digests, phis, x, |_, value| values.push(*value));
            values
        })
    }

    fn programmed(popf: &Feistel2<Bytes>, first: u64, x: &[u8]) -> Vec<u8> {
        let mut phis = vec![0; 64 * x.len()];
        let coins: [[u8; S_LEN]; 16] = core::array::from_fn(|k| [u8::try_from(k).unwrap(); S_LEN]);
        let difference = |k: usize, hash: &[u8; 16], bytes: &mut [u8]| {
            let value = 9 + u8::try_from(k).unwrap();
            bytes.copy_from_slice(&hash.map(|hash| value.wrapping_sub(hash)));
        };
        let mut room = popf.room(x.len());
        popf.program(&mut room, first, x, &coins[..x.len()], difference, &mut phis);
        phis
    }

    #[test]
    fn the_programmed_values_come_out_where_they_were_programmed() {
        let popf = popf(1);
        for count in [1, 5, 16] {
            let x: Vec<u8> = (0..count).map(|k| u8::from(k % 3 == 1)).collect();
            let phis = programmed(&popf, 5, &x);
            let values = values(&popf, 5, &phis);
            for (k, &x) in x.iter().enumerate() {
                let point = [9 + u8::try_from(k).unwrap(); 16];
                assert_eq!(values[usize::from(x)][k], point);
                assert_ne!(values[usize::from(1 - x)][k], point);
            }
        }
    }

    #[test]
    fn a_description_means_something_else_in_another_instance_or_session() {
        let phi = programmed(&popf(1), 5, &[0]);
        let here = values(&popf(1), 5, &phi);
        for there in [values(&popf(1), 6, &phi), values(&popf(2), 5, &phi)] {
            assert!(there[0] != here[0] && there[1] != here[1]);
        }
    }

    #[test]
    fn programming_takes_the_same_work_at_both_points() {
        let work = |x| {
            let popf = popf(1);
            programmed(&popf, 5, &[x]);
            popf.group.calls.get()
        };
        assert_eq!((work(0), work(1)), ([1, 0, 0], [1, 0, 0]));
    }

    /// Each oracle by itself: together they would cover for each other.
    #[test]
    fn every_oracle_is_bound_to_session_instance_and_point() {
        let digests = |first| Digests { first, digests: [[5; 32]; GROUP] };
        let answers = |sid: u8, i: u64, x: u8| {
            let (popf, mut answer) = (popf(sid), [0; 20]);
            popf.ask_h1(i, &[x], &[[3; S_LEN]], &mut answer);
            (answer, popf.masks(&digests(i), &[x])[0])
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
