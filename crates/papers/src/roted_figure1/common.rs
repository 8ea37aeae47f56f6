//! Steps that both parties compute alike. Step numbers are those of
//! [`roted_figure1`](crate::roted_figure1).

use foxtrot_kernel::Backend;
use foxtrot_ot::{Session, base::Block, oracle::Keyed};

use super::ring::{BITS, Factor, NttPoly, Poly, UNIFORM_BYTES, USUAL_BYTES, gaussian};

/// Bytes of one packed polynomial.
pub(super) const POLY_LEN: usize = 512 * BITS / 8;
/// Bytes of one bit per coefficient.
pub(super) const BITS_LEN: usize = 512 / 8;
/// Bytes of coins for one noise polynomial.
pub(super) const NOISE_LEN: usize = 2 * 512;
/// The number of instances that query H₁ together.
pub(super) const GROUP: usize = 16;
/// Bytes of room for H₁'s answers to them.
pub(super) const ANSWERS_LEN: usize = GROUP * USUAL_BYTES;

/// sk, an element of R₂.
pub(super) type Sk = [u8; BITS_LEN];
/// t, u or r: κ bits.
pub(super) type Nonce = [u8; 16];
/// H(t), of 2κ bits.
pub(super) type Commitment = [u8; 32];

/// The oracles of a batch, and m.
pub(super) struct Common {
    pub(super) backend: Backend,
    m: NttPoly,
    h1: Keyed,
    commitment: Keyed,
    confirmation: Keyed,
    output: Keyed,
}

impl Common {
    pub(super) fn new(session: &Session) -> Self {
        let backend = session.backend();
        let mut bytes = [0; UNIFORM_BYTES];
        session.oracle("foxtrot v1 roted-figure1 m").query(0, 0).fill(&mut bytes);
        let mut m = [NttPoly::ZERO];
        // Too few candidates come with a probability below 2⁻¹⁵⁰.
        let _enough = NttPoly::set_uniform_public::<BITS, 1>(backend, &bytes, &mut m);
        let [m] = m;
        Self {
            backend,
            m,
            h1: session.keyed("foxtrot v1 roted-figure1 H1", &[]),
            commitment: session.keyed("foxtrot v1 roted-figure1 commitment", &[]),
            confirmation: session.keyed("foxtrot v1 roted-figure1 confirmation", &[]),
            output: session.keyed("foxtrot v1 roted-figure1 output", &[]),
        }
    }

    /// s and m·s + 2e, in NTT order, from the coins of s and of e.
    pub(super) fn sample(&self, s: &mut Factor, p: &mut NttPoly, coins: [&[u8]; 2]) {
        let [of_s, of_e] = coins;
        s.set_signed(self.backend, gaussian::<1>(of_s));
        p.set_signed(self.backend, gaussian::<2>(of_e));
        p.add_product(self.backend, s, &self.m);
    }

    /// 2e′ from the coins of e′.
    pub(super) fn twice_noise(&self, e_prime: &mut Poly, coins: &[u8]) {
        e_prime.set_signed(self.backend, gaussian::<2>(coins));
    }

    /// s·p + 2e′, by coefficients.
    pub(super) fn product(&self, k: &mut Poly, s: &Factor, p: &NttPoly, twice_e_prime: &Poly) {
        k.set_product_plus(self.backend, s, p, twice_e_prime);
    }

    /// H₁(r) of the instances from `first` on, at most [`GROUP`], in NTT order; each r is public.
    /// There is room for [`ANSWERS_LEN`] bytes.
    pub(super) fn h1(&self, room: &mut [u8], first: usize, r: &[Nonce], h: &mut [[NttPoly; 1]]) {
        let question = |k: usize| ((first + k) as u64, 0, r[k]);
        let lengths = [USUAL_BYTES, UNIFORM_BYTES];
        self.h1.ask_by_need(r.len(), question, lengths, room, |k, answer| {
            NttPoly::set_uniform_public::<BITS, 1>(self.backend, answer, &mut h[k])
        });
    }

    /// The commitments to t₀ and t₁ of every instance.
    pub(super) fn commit(&self, t: &[Nonce]) -> Vec<Commitment> {
        let mut commitments = vec![[0; 32]; t.len()];
        let question = |k: usize| ((k / 2) as u64, 0, t[k]);
        self.commitment.ask(t.len(), question, commitments.as_flattened_mut());
        commitments
    }

    /// H₂(sk), as in K, with so many sk of each instance.
    pub(super) fn confirm(&self, strings: &[Sk], of_each: usize, answers: &mut [u8]) {
        let question = |k: usize| ((k / of_each) as u64, 0, strings[k]);
        self.confirmation.ask(strings.len(), question, answers);
    }

    /// H₂(sk, t, u), as in M, each with its instance.
    pub(super) fn output(
        &self,
        question: impl Fn(usize) -> (usize, Sk, Nonce, Nonce),
        answers: &mut [Block],
    ) {
        let question = |k: usize| {
            let (i, sk, t, u) = question(k);
            let mut text = [0; BITS_LEN + 32];
            text[..BITS_LEN].copy_from_slice(&sk);
            text[BITS_LEN..][..16].copy_from_slice(&t);
            text[BITS_LEN + 16..].copy_from_slice(&u);
            (i as u64, 0, text)
        };
        self.output.ask(answers.len(), question, answers.as_flattened_mut());
    }
}

/// A polynomial from bytes that were checked when the message was decoded.
pub(super) fn decode(backend: Backend, p: &mut NttPoly, bytes: &[u8]) {
    let decoded = p.set_unpacked::<BITS>(backend, bytes);
    debug_assert!(decoded.is_ok(), "decoding the message has checked it");
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

/// Splits bytes to be written into parts of these lengths.
pub(super) fn split_mut<const K: usize>(
    mut bytes: &mut [u8],
    lengths: [usize; K],
) -> [&mut [u8]; K] {
    lengths.map(|length| {
        let (part, rest) = std::mem::take(&mut bytes).split_at_mut(length);
        bytes = rest;
        part
    })
}

/// The bytes as an array of their length.
pub(super) fn array<const L: usize>(bytes: &[u8]) -> [u8; L] {
    let mut array = [0; L];
    array.copy_from_slice(bytes);
    array
}
