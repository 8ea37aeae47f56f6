//! Tables with which both parties compute, without secrets; and steps that both take.

use foxtrot_kernel::{
    Backend,
    rns::{
        Divider, MixedRadix, Modulus, Ntt, pack, residues,
        sample::{self, Streams},
        set_signed,
    },
};
use foxtrot_ot::{Decode, Error};

use super::{
    params::PaperSet,
    plain::{Factor, Plain},
};

pub(super) struct Tables {
    pub(super) set: &'static PaperSet,
    pub(super) backend: Backend,
    pub(super) ntts: Vec<Ntt<Vec<u64>>>,
    pub(super) plains: Vec<Plain>,
    /// Division to the kept primes.
    pub(super) divider: Divider,
    pub(super) whole: MixedRadix,
    pub(super) centred: MixedRadix,
    /// Inverses for j < i: 1/pⱼ modulo pᵢ is `garner[i][j]`.
    garner: Vec<Vec<Factor>>,
}

impl Tables {
    pub(super) fn new(set: &'static PaperSet, backend: Backend) -> Self {
        let n = set.n();
        let modulus = |p: &u64| Modulus::new(*p).expect("sets consist of primes");
        let primes: Vec<Modulus> = set.primes().iter().map(modulus).collect();
        let ntt = |p: &Modulus| {
            let memory = vec![0; Ntt::<Vec<u64>>::WORDS * n];
            Ntt::new(backend, p, n, memory).expect("primes have the roots")
        };
        let (kept, removed) = primes.split_at(set.kept().len());
        let plains: Vec<_> = set.plain().iter().map(|p| Plain::new(backend, *p, n)).collect();
        let inverses = |(i, p): (usize, &Plain)| {
            let inverse = |other: &Plain| p.factor(p.pow(p.reduce(other.value()), p.value() - 2));
            plains[..i].iter().map(inverse).collect()
        };
        let garner = plains.iter().enumerate().map(inverses).collect();
        Self {
            set,
            backend,
            ntts: primes.iter().map(ntt).collect(),
            divider: Divider::new(kept, removed, 0),
            whole: MixedRadix::new(kept),
            centred: MixedRadix::centred(kept),
            plains,
            garner,
        }
    }

    pub(super) fn n(&self) -> usize {
        self.set.n()
    }

    /// Writes the encoding of a message m: q·m − p·⌊q·m/p⌉, in (−p/2, p/2). Modulo the primes of q it is
    /// −p·⌊q·m/p⌉.
    pub(super) fn scale(&self, instance: usize, m: &[u64], out: &mut [[u8; 8]]) {
        let plain = &self.plains[instance];
        let times = |x: u64, r: &u64| plain.mul(x, plain.factor(plain.reduce(*r)));
        let q = plain.factor(self.set.primes().iter().fold(1, times));
        let half = plain.value() / 2;
        for (out, m) in out.iter_mut().zip(m) {
            // q·m + h modulo p is what rounding down leaves.
            let rest = plain.add(plain.mul(*m, q), half);
            *out = rest.wrapping_sub(half).to_le_bytes();
        }
    }

    /// Unsigned shares as the coefficients of the polynomial whose slots they are.
    pub(super) fn encode(&self, instance: usize, shares: &[u8], out: &mut [u64]) {
        let plain = &self.plains[instance];
        for (out, share) in out.iter_mut().zip(shares.chunks_exact(self.set.width())) {
            *out = plain.reduce(word(share));
        }
        plain.inverse(out);
    }

    /// The values of a small polynomial modulo prime j.
    pub(super) fn values(&self, j: usize, small: &[i8], out: &mut [u64]) {
        residues::set_small(self.backend, self.ntts[j].modulus(), out, small);
        self.ntts[j].forward(out);
    }

    /// x += ⌊q·m/p⌉ modulo prime j, coefficients, from the message's [`Tables::scale`]; `words` is room.
    pub(super) fn add_message(
        &self,
        instance: usize,
        j: usize,
        x: &mut [u64],
        scaled: &[[u8; 8]],
        words: &mut [u64],
    ) {
        let r = self.ntts[j].modulus();
        set_signed(self.backend, r, words, scaled);
        let inverse = r.inv(r.reduce(self.plains[instance].value()));
        residues::mul_scalar_add(self.backend, r, x, words, r.neg(inverse));
    }

    /// The values of the uniform half of an instance's key modulo prime j.
    pub(super) fn uniform_half(&self, j: usize, streams: &Streams, out: &mut [u64]) {
        sample::uniform_public(streams, j as u64, self.ntts[j].modulus(), out);
    }

    /// Packs residues modulo prime j to the front of `message`; returns the rest of it.
    pub(super) fn pack<'m>(&self, j: usize, words: &[u64], message: &'m mut [u8]) -> &'m mut [u8] {
        let bits = self.ntts[j].modulus().bits();
        let (packed, rest) = message.split_at_mut(pack::packed_len(words.len(), bits));
        pack::pack(self.backend, bits, words, packed);
        rest
    }

    /// The inverse of [`Tables::pack`].
    pub(super) fn unpack<'m>(
        &self,
        j: usize,
        (name, batch): (&'static str, u64),
        message: &'m [u8],
        out: &mut [u64],
    ) -> Result<&'m [u8], Error> {
        let p = self.ntts[j].modulus();
        let (packed, rest) = message.split_at(pack::packed_len(out.len(), p.bits()));
        let instance = usize::try_from(batch).unwrap_or(usize::MAX);
        pack::unpack_residues(self.backend, p, packed, out)
            .map_err(|_| Decode::Coefficient { message: name, instance })?;
        Ok(rest)
    }

    /// The integer in [0, Πpᵢ) modulo 2⁶⁴, of its residues modulo the primes of plaintexts.
    pub(super) fn combine<const E: usize>(&self, residues: [u64; E]) -> u64 {
        let (mut digits, mut sum, mut weight) = ([0; E], 0u64, 1u64);
        for (i, (p, inverses)) in self.plains.iter().zip(&self.garner).enumerate().take(E) {
            let mut digit = residues[i];
            for (other, inverse) in digits.iter().zip(inverses) {
                digit = p.mul(p.sub(digit, p.reduce(*other)), *inverse);
            }
            digits[i] = digit;
            sum = sum.wrapping_add(weight.wrapping_mul(digit));
            weight = weight.wrapping_mul(p.value());
        }
        sum
    }
}

/// A number of at most 8 bytes.
pub(super) fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

foxtrot_kernel::redacted! {
    Tables, tables => "{}, {:?}", tables.set.name(), tables.backend;
}
