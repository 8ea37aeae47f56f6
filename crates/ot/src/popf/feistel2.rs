//! The two-round Feistel POPF [[MRR20](https://eprint.iacr.org/2020/1043)] over any group.
//!
//! φ = (T, s); its value at x is T + H₁(x, s ⊕ H′(x, T)). To program value P at x: draw r, set
//! T = P − H₁(x, r) and s = r ⊕ H′(x, T). Both oracles are bound to the session and the instance;
//! H′ takes a digest of T, so that evaluating at both points hashes T once.

use super::Group;
use crate::oracle::Oracle;

/// Length of s and r in bytes: 3κ bits, which the extraction argument needs.
pub const S_LEN: usize = 48;

/// The POPF with its three oracles.
#[derive(Debug)]
pub struct Feistel2<G> {
    group: G,
    h1: Oracle,
    digest: Oracle,
    h_prime: Oracle,
}

/// A description whose T has been hashed, ready to be evaluated.
#[derive(Debug)]
pub struct Opened<'a, G: Group> {
    popf: &'a Feistel2<G>,
    i: u64,
    digest: [u8; 32],
    s: &'a [u8],
    t: G::Element,
}

impl<G: Group> Feistel2<G> {
    /// Length of φ in bytes.
    pub const ENCODED_LEN: usize = G::ENCODED_LEN + S_LEN;

    /// With H₁, the digest of T and H′.
    pub fn new(group: G, h1: Oracle, digest: Oracle, h_prime: Oracle) -> Self {
        Self { group, h1, digest, h_prime }
    }

    /// Writes the φ of instance i that is `value` at `x`, from uniform coins r. `x` is secret.
    ///
    /// # Panics
    /// If `phi` has not [`Feistel2::ENCODED_LEN`] bytes.
    pub fn program(&self, i: u64, x: u8, value: G::Element, r: &[u8; S_LEN], phi: &mut [u8]) {
        let mut t = value;
        self.group.sub(&mut t, &self.group.hash(self.h1.query(i, x).field(r)));
        let (t_bytes, s) = phi.split_at_mut(G::ENCODED_LEN);
        self.group.encode(&t, t_bytes);
        s.copy_from_slice(&xor(r, &self.mask(i, x, &self.digest(i, t_bytes))));
    }

    /// Prepares φ of instance i for evaluation; `t` is its first part, decoded.
    ///
    /// # Panics
    /// If `phi` has not [`Feistel2::ENCODED_LEN`] bytes.
    pub fn open<'a>(&'a self, i: u64, phi: &'a [u8], t: G::Element) -> Opened<'a, G> {
        let (t_bytes, s) = phi.split_at(G::ENCODED_LEN);
        assert_eq!(s.len(), S_LEN);
        Opened { popf: self, i, digest: self.digest(i, t_bytes), s, t }
    }

    fn digest(&self, i: u64, t_bytes: &[u8]) -> [u8; 32] {
        self.digest.query(i, 0).field(t_bytes).finish()
    }

    /// H′(i, x, T).
    fn mask(&self, i: u64, x: u8, digest: &[u8; 32]) -> [u8; S_LEN] {
        self.h_prime.query(i, x).field(digest).finish()
    }
}

impl<G: Group> Opened<'_, G> {
    /// The value of φ at x.
    #[must_use]
    pub fn evaluate(&self, x: u8) -> G::Element {
        let popf = self.popf;
        let mut value = popf.group.hash(popf.h1.query(self.i, x).field(&self.coins(x)));
        popf.group.add(&mut value, &self.t);
        value
    }

    /// The r that programming at x would have used.
    pub(crate) fn coins(&self, x: u8) -> [u8; S_LEN] {
        xor(self.s, &self.popf.mask(self.i, x, &self.digest))
    }
}

fn xor(a: &[u8], b: &[u8; S_LEN]) -> [u8; S_LEN] {
    core::array::from_fn(|k| a[k] ^ b[k])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Session, Sid, oracle::Query};

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

        fn hash(&self, query: Query) -> [u8; 16] {
            self.count(0);
            query.finish()
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
            session.oracle("h1"),
            session.oracle("t"),
            session.oracle("h'"),
        )
    }

    fn values(popf: &Feistel2<Bytes>, i: u64, phi: &[u8]) -> [[u8; 16]; 2] {
        let opened = popf.open(i, phi, phi[..16].try_into().unwrap());
        [opened.evaluate(0), opened.evaluate(1)]
    }

    #[test]
    fn the_programmed_value_comes_out_where_it_was_programmed() {
        let popf = popf(1);
        for x in [0, 1] {
            let mut phi = [0; 64];
            popf.program(5, x, [9; 16], &[3; S_LEN], &mut phi);
            let [zero, one] = values(&popf, 5, &phi);
            let (programmed, other) = if x == 0 { (zero, one) } else { (one, zero) };
            assert_eq!(programmed, [9; 16]);
            assert_ne!(other, [9; 16]);
        }
    }

    #[test]
    fn a_description_means_something_else_in_another_instance_or_session() {
        let mut phi = [0; 64];
        popf(1).program(5, 0, [9; 16], &[3; S_LEN], &mut phi);
        let here = values(&popf(1), 5, &phi);
        for there in [values(&popf(1), 6, &phi), values(&popf(2), 5, &phi)] {
            assert!(there[0] != here[0] && there[1] != here[1]);
        }
    }

    #[test]
    fn programming_takes_the_same_work_at_both_points() {
        let work = |x| {
            let popf = popf(1);
            popf.program(5, x, [9; 16], &[3; S_LEN], &mut [0; 64]);
            popf.group.calls.get()
        };
        assert_eq!((work(0), work(1)), ([1, 0, 1, 1], [1, 0, 1, 1]));
    }

    /// Each oracle by itself: together they would cover for each other.
    #[test]
    fn every_oracle_is_bound_to_session_instance_and_point() {
        let answers = |sid: u8, i: u64, x: u8| {
            let popf = popf(sid);
            let h1: [u8; 32] = popf.h1.query(i, x).field(b"r").finish();
            (h1, popf.mask(i, x, &[5; 32]))
        };
        let here = answers(1, 5, 0);
        for there in [answers(2, 5, 0), answers(1, 6, 0), answers(1, 5, 1)] {
            assert!(here.0 != there.0 && here.1 != there.1);
        }
        assert_ne!(popf(1).digest(5, b"T"), popf(1).digest(6, b"T"));
        assert_ne!(popf(1).digest(5, b"T"), popf(2).digest(5, b"T"));
        assert_ne!(popf(1).digest(5, b"T"), popf(1).digest(5, b"U"));
    }
}
