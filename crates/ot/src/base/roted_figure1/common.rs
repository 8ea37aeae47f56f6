//! What both parties compute alike. Step numbers are those of `docs/protocols/roted-figure1.md`.

use foxtrot_kernel::{
    Backend,
    ring::paper512::{BITS, NttPoly, Poly, UNIFORM_BYTES},
};
use zeroize::Zeroizing;

use crate::{Session, base::Block, oracle::Oracle};

/// Bytes of one packed polynomial.
pub(super) const POLY_LEN: usize = 512 * BITS / 8;
/// Bytes of one bit per coefficient.
pub(super) const BITS_LEN: usize = 512 / 8;
/// Bytes of coins for one noise polynomial.
pub(super) const NOISE_LEN: usize = 2 * 512;

/// sk, an element of R₂.
pub(super) type Sk = [u8; BITS_LEN];
/// t, u or r: κ bits.
pub(super) type Nonce = [u8; 16];
/// H(t), of 2κ bits.
pub(super) type Commitment = [u8; 32];

/// The oracles of a batch, and m.
#[derive(Debug)]
pub(super) struct Common {
    pub(super) backend: Backend,
    m: NttPoly,
    h1: Oracle,
    commitment: Oracle,
    confirmation: Oracle,
    output: Oracle,
}

impl Common {
    pub(super) fn new(session: &Session) -> Self {
        let backend = session.backend();
        Self {
            backend,
            m: uniform(backend, &session.oracle("foxtrot v1 roted-figure1 m"), 0, &[]),
            h1: session.oracle("foxtrot v1 roted-figure1 H1"),
            commitment: session.oracle("foxtrot v1 roted-figure1 commitment"),
            confirmation: session.oracle("foxtrot v1 roted-figure1 confirmation"),
            output: session.oracle("foxtrot v1 roted-figure1 output"),
        }
    }

    /// m·s + 2e and s, in NTT order, from the coins of s and of e.
    pub(super) fn sample(&self, s: &[u8], e: &[u8]) -> (NttPoly, Zeroizing<NttPoly>) {
        let backend = self.backend;
        let s = Zeroizing::new(Poly::gaussian(backend, s).into_ntt(backend));
        let e = Zeroizing::new(self.twice_noise(e).into_ntt(backend));
        let mut p = NttPoly::inner_product(backend, [&self.m], [&s]);
        p.add(backend, &e);
        (p, s)
    }

    /// 2e from the coins of e.
    pub(super) fn twice_noise(&self, coins: &[u8]) -> Poly {
        let mut e = Poly::gaussian(self.backend, coins);
        e.double(self.backend);
        e
    }

    /// s·p + 2e′, by coefficients.
    pub(super) fn product(
        &self,
        s: &NttPoly,
        p: &NttPoly,
        twice_e_prime: &Poly,
    ) -> Zeroizing<Poly> {
        let product = NttPoly::inner_product(self.backend, [s], [p]);
        let mut k = Zeroizing::new(product.into_poly(self.backend));
        k.add(self.backend, twice_e_prime);
        k
    }

    /// H₁(r), in NTT order.
    pub(super) fn h1(&self, i: usize, r: &[u8]) -> NttPoly {
        uniform(self.backend, &self.h1, i as u64, &[r])
    }

    /// The commitment to t.
    pub(super) fn commit(&self, i: usize, t: &[u8]) -> Commitment {
        self.commitment.query(i as u64, 0).field(t).finish()
    }

    /// H₂(sk), as in K.
    pub(super) fn confirm(&self, i: usize, sk: &Sk) -> Block {
        self.confirmation.query(i as u64, 0).field(sk).finish()
    }

    /// H₂(sk, t, u), as in M.
    pub(super) fn output(&self, i: usize, sk: &Sk, t: &[u8], u: &[u8]) -> Block {
        self.output.query(i as u64, 0).field(sk).field(t).field(u).finish()
    }
}

fn uniform(backend: Backend, oracle: &Oracle, i: u64, fields: &[&[u8]]) -> NttPoly {
    let mut bytes = [0; UNIFORM_BYTES];
    fields.iter().fold(oracle.query(i, 0), |query, field| query.field(field)).fill(&mut bytes);
    let [poly] = NttPoly::uniform::<BITS, 1>(backend, &bytes);
    poly
}

/// The sum of the lengths.
pub(super) const fn total<const K: usize>(lengths: [usize; K]) -> usize {
    let (mut k, mut sum) = (0, 0);
    while k < K {
        sum += lengths[k];
        k += 1;
    }
    sum
}

/// Consecutive parts of these lengths.
pub(super) fn split<const K: usize>(mut bytes: &[u8], lengths: [usize; K]) -> [&[u8]; K] {
    lengths.map(|length| {
        let (part, rest) = bytes.split_at(length);
        bytes = rest;
        part
    })
}

/// Writes the parts one after another.
pub(super) fn join<const K: usize>(parts: [&[u8]; K], mut bytes: &mut [u8]) {
    for part in parts {
        let (place, rest) = bytes.split_at_mut(part.len());
        place.copy_from_slice(part);
        bytes = rest;
    }
}

/// The bytes as an array of their length.
pub(super) fn array<const L: usize>(bytes: &[u8]) -> [u8; L] {
    core::array::from_fn(|k| bytes[k])
}

/// A polynomial from bytes that were checked when the message was decoded.
pub(super) fn decoded(backend: Backend, bytes: &[u8]) -> NttPoly {
    NttPoly::unpack::<BITS>(backend, bytes)
        .unwrap_or_else(|_| unreachable!("decoding the message has checked it"))
}
