//! P₁, which multiplies under P₀'s keys, masks and floods.

use foxtrot_kernel::rns::{Modulus, residues, sample, set_signed};
use foxtrot_ot::{Error, Seed, Session, erase::Secret, expect_len};
use foxtrot_triples::Shares;

use super::{
    coins::{self, FLOODED, MASK, SHARES},
    p0::check_shares,
    params::PaperSet,
    plain::Plain,
    tables::{Tables, word},
};

/// The party that answers requests, under one set of keys of P₀.
#[derive(Debug)]
pub struct P1 {
    tables: Tables,
    session: Session,
    seed: Seed,
    keys: Vec<PublicKey>,
    batch: u64,
    scratch: Scratch,
}

/// The public key of an instance: values modulo all primes of q.
#[derive(Debug)]
struct PublicKey {
    a: Vec<u64>,
    b: Vec<u64>,
}

#[derive(Debug)]
struct Scratch {
    /// Modulo all primes: C₀ and C₁.
    c: [Secret<u64>; 2],
    /// The coefficients of r, the mask modulo the instance's prime.
    mask: Secret<u64>,
    /// The shares, made ready to be added.
    scaled: Secret<[u8; 8]>,
    /// a₁ and b₁ as centred coefficients.
    lifts: [Secret<[u8; 8]>; 2],
    words: [Secret<u64>; 3],
    /// Three words of 64 bits for each triple: r.
    wide: Secret<u8>,
    flood: Secret<u8>,
    small: Secret<i8>,
}

/// Words of r.
const WIDE: usize = 3;

impl P1 {
    /// Takes P₀'s public keys.
    ///
    /// # Errors
    /// [`Decode`](foxtrot_ot::Decode) if the message is malformed.
    pub fn new(
        session: Session,
        set: &'static PaperSet,
        public_key: &[u8],
        seed: Seed,
    ) -> Result<Self, Error> {
        let tables = Tables::new(set, session.backend());
        let (n, all) = (set.n(), set.primes().len());
        expect_len("PublicKey", public_key, set.public_key_len())?;
        let mut message = public_key;
        let mut keys = Vec::new();
        for instance in 0..set.plain().len() {
            let public = coins::public_key(&session, instance);
            let (mut a, mut b) = (vec![0; all * n], vec![0; all * n]);
            let halves = a.chunks_exact_mut(n).zip(b.chunks_exact_mut(n));
            for (j, (a, b)) in halves.enumerate() {
                tables.uniform_half(j, &public, a);
                message = tables.unpack(j, ("PublicKey", 0), message, b)?;
            }
            keys.push(PublicKey { a, b });
        }
        let words = |polynomials: usize| Secret::zeroed(polynomials * n);
        let scratch = Scratch {
            c: [words(all), words(all)],
            mask: words(1),
            scaled: Secret::zeroed(n),
            lifts: [Secret::zeroed(n), Secret::zeroed(n)],
            words: [words(1), words(1), words(1)],
            wide: Secret::zeroed(8 * WIDE * n),
            flood: Secret::zeroed(16 * n),
            small: Secret::zeroed(n),
        };
        Ok(Self { tables, session, seed, keys, batch: 0, scratch })
    }

    /// Answers the next request; writes the shares, and `response` becomes the message, whatever was in it.
    ///
    /// # Errors
    /// [`Decode`](foxtrot_ot::Decode) if the message is malformed; there are then no shares, and the response is empty.
    /// [`Usage::CountMismatch`](foxtrot_ot::Usage::CountMismatch) if the shares are for another set.
    pub fn respond(
        &mut self,
        request: &[u8],
        shares: &mut Shares,
        response: &mut Vec<u8>,
    ) -> Result<(), Error> {
        response.clear();
        let (set, number) = (self.tables.set, self.batch);
        self.batch += 1;
        check_shares(set, shares)?;
        let context = "foxtrot v1 rlwe-paper P1 shares";
        let streams = coins::secret(&self.session, context, &self.seed, number, 0);
        streams.bytes(MASK, &mut self.scratch.wide);
        let [a, b, c] = shares.parts_mut();
        streams.bytes(SHARES[0], a);
        streams.bytes(SHARES[1], b);
        response.resize(set.response_len(), 0);
        let answered = self.answer(number, request, [a, b], response);
        if answered.is_err() {
            shares.clear();
            response.clear();
            return answered;
        }
        let factors = a.chunks_exact(set.width()).zip(b.chunks_exact(set.width()));
        let masks = self.scratch.wide.chunks_exact(8 * WIDE);
        for ((c, (a, b)), r) in c.chunks_exact_mut(set.width()).zip(factors).zip(masks) {
            let difference = word(a).wrapping_mul(word(b)).wrapping_sub(word(&r[..8]));
            c.copy_from_slice(&difference.to_le_bytes()[..set.width()]);
        }
        Ok(())
    }

    fn answer(
        &mut self,
        number: u64,
        request: &[u8],
        shares: [&[u8]; 2],
        response: &mut [u8],
    ) -> Result<(), Error> {
        let Self { tables, session, seed, keys, scratch, .. } = self;
        let (set, n, backend) = (tables.set, tables.n(), tables.backend);
        expect_len("Request", request, set.request_len())?;
        let about = ("Request", number);
        // ct_a's polynomials come first: for every prime c₁, then c₀.
        let (each, half) = (request.len() / keys.len(), request.len() / keys.len() / 2);
        let Scratch { c: [c0, c1], mask, scaled, lifts, words, wide, flood, small } = scratch;
        let [x, alpha, beta] = words;
        let mut message = response;
        for (instance, key) in keys.iter().enumerate() {
            let plain = &tables.plains[instance];
            let streams =
                coins::secret(session, "foxtrot v1 rlwe-paper response", seed, number, instance);
            for (share, lift) in shares.into_iter().zip(&mut *lifts) {
                tables.encode(instance, share, x);
                centre(plain, x, lift);
            }
            mask_slots(plain, set.mask_bits(), wide, mask);
            plain.inverse(mask);
            tables.scale(instance, mask, scaled);
            streams.bytes(FLOODED[2], flood);
            sample::ternary(&streams, FLOODED[0], small);
            let (mut ct_a, mut ct_b) = request[instance * each..][..each].split_at(half);
            for (j, ntt) in tables.ntts.iter().enumerate() {
                let (r, at) = (ntt.modulus(), j * n);
                let (c0, c1) = (&mut c0[at..][..n], &mut c1[at..][..n]);
                for (lift, values) in lifts.iter().zip([&mut *alpha, &mut *beta]) {
                    set_signed(backend, r, values, lift);
                    ntt.forward(values);
                }
                for (c, key) in [(&mut *c1, &key.a), (&mut *c0, &key.b)] {
                    ct_a = tables.unpack(j, about, ct_a, c)?;
                    residues::mul(backend, r, c, beta);
                    ct_b = tables.unpack(j, about, ct_b, x)?;
                    residues::mul_add(backend, r, c, x, alpha);
                    tables.values(j, small, x);
                    residues::mul_add(backend, r, c, x, &key[at..][..n]);
                    ntt.inverse(c);
                }
                tables.add_message(instance, j, c0, scaled, x);
                add_flood(r, set.flood_bits(instance), flood, c0);
            }
            sample::binomial(&streams, FLOODED[1], small);
            for (j, c1) in c1.chunks_exact_mut(n).enumerate() {
                residues::add_small(backend, tables.ntts[j].modulus(), c1, small);
            }
            let kept = set.kept().len() * n;
            for c in [&mut *c0, &mut *c1] {
                let (kept, removed) = c.split_at_mut(kept);
                tables.divider.divide(backend, kept, removed, x);
            }
            let halves = c0.chunks_exact(n).zip(c1.chunks_exact(n));
            for (j, (c0, c1)) in halves.enumerate().take(set.kept().len()) {
                message = tables.pack(j, c0, message);
                message = tables.pack(j, c1, message);
            }
        }
        Ok(())
    }
}

/// The coefficients as integers in (−p/2, p/2).
fn centre(plain: &Plain, m: &[u64], out: &mut [[u8; 8]]) {
    let half = plain.value() / 2;
    for (out, m) in out.iter_mut().zip(m) {
        let above = (half.wrapping_sub(*m) >> 63).wrapping_neg();
        *out = m.wrapping_sub(plain.value() & above).to_le_bytes();
    }
}

/// r modulo the instance's prime: the low `bits` bits of three words; those above are cleared.
fn mask_slots(plain: &Plain, bits: u32, wide: &mut [u8], out: &mut [u64]) {
    let keep = |word: u32| match bits.saturating_sub(64 * word) {
        bits @ 0..64 => (1u64 << bits) - 1,
        _ => u64::MAX,
    };
    let masks = [keep(0), keep(1), keep(2)];
    let weight = plain.pow(2, 64);
    let weights = [1, weight, plain.pow(2, 128)].map(|weight| plain.factor(weight));
    for (out, r) in out.iter_mut().zip(wide.as_chunks_mut::<{ 8 * WIDE }>().0) {
        *out = 0;
        for (k, (mask, weight)) in masks.iter().zip(weights).enumerate() {
            let bytes = &mut r[8 * k..][..8];
            let word = word(bytes) & mask;
            bytes.copy_from_slice(&word.to_le_bytes());
            *out = plain.add(*out, plain.mul(word, weight));
        }
    }
}

/// x += f modulo r, f uniform in [−2^w, 2^w) from the low w + 1 bits of two words, 64 ≤ w < 127.
fn add_flood(r: &Modulus, w: u32, flood: &[u8], x: &mut [u64]) {
    let (weight, mask) = (r.pow(2, 64), (1u64 << (w - 63)) - 1);
    let offset = r.neg(r.pow(2, w.into()));
    for (x, f) in x.iter_mut().zip(flood.as_chunks::<16>().0) {
        let (low, high) = (word(&f[..8]), word(&f[8..]) & mask);
        let sum = r.add(r.reduce(low), r.mul(r.reduce(high), weight));
        *x = r.add(*x, r.add(sum, offset));
    }
}
