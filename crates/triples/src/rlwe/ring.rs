//! The tables of a set, with which both parties compute; without secrets.

use alloc::{vec, vec::Vec};

use foxtrot_kernel::{
    Backend,
    rns::{
        Divider, MixedRadix, Modulus, Ntt, pack, residues,
        sample::{self, Streams},
        set_signed,
    },
};
use foxtrot_ot::{Decode, Error, expect_len};

use crate::params::Set;

/// R_q of a set on a backend.
pub(crate) struct Ring {
    pub(super) set: &'static Set,
    pub(super) backend: Backend,
    /// The transforms for all primes, those of p first.
    ntts: Vec<Ntt<Vec<u64>>>,
    /// Integers in (−p/2, p/2).
    pub(super) centred: MixedRadix,
    /// Integers in [0, p).
    pub(super) whole: MixedRadix,
    /// F_t₀ and F_t₁.
    pub(super) dividers: [Divider; 2],
}

impl Ring {
    pub(super) fn new(set: &'static Set, backend: Backend) -> Self {
        let n = set.n();
        let modulus = |p: u64| Modulus::new(p).expect("sets consist of primes");
        let plain: Vec<_> = set.plain.iter().copied().map(modulus).collect();
        let rest: Vec<_> = set.rest.iter().copied().map(modulus).collect();
        let ntt = |p: &Modulus| {
            let memory = vec![0; Ntt::<Vec<u64>>::WORDS * n];
            Ntt::new(backend, p, n, memory).expect("primes have the roots")
        };
        Self {
            set,
            backend,
            ntts: plain.iter().chain(&rest).map(ntt).collect(),
            centred: MixedRadix::centred(&plain),
            whole: MixedRadix::new(&plain),
            dividers: set.t.map(|t| Divider::new(&plain, &rest, t)),
        }
    }

    pub(super) fn n(&self) -> usize {
        self.set.n()
    }

    /// Returns the number of primes of p, and of q.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.set.plain.len(), self.ntts.len())
    }

    pub(super) fn ntt(&self, i: usize) -> &Ntt<Vec<u64>> {
        &self.ntts[i]
    }

    pub(super) fn modulus(&self, i: usize) -> &Modulus {
        self.ntts[i].modulus()
    }

    /// Δ modulo a prime of p.
    pub(super) fn delta(&self, i: usize) -> u64 {
        let p = self.modulus(i);
        self.set.rest.iter().fold(1, |delta, r| p.mul(delta, p.reduce(*r)))
    }

    /// o modulo a prime of p: what is added to products, which are signed, before r is taken from them; 0 without the
    /// fix. It is a multiple of 2^ℓ, so that shares do not have it.
    pub(super) fn offset(&self, i: usize) -> u64 {
        let (p, bits) = (self.modulus(i), u64::from(self.set.bits()));
        match self.set.fix() {
            Some(_) => p.sub(p.pow(2, 2 * bits - 1), p.pow(2, bits)),
            None => 0,
        }
    }

    /// The values of a small polynomial modulo prime i.
    pub(super) fn values(&self, i: usize, small: &[i8], out: &mut [u64]) {
        residues::set_small(self.backend, self.modulus(i), out, small);
        self.ntts[i].forward(out);
    }

    /// The values of a uniform half modulo prime i.
    pub(super) fn uniform_half(&self, i: usize, streams: &Streams, out: &mut [u64]) {
        sample::uniform_public(streams, i as u64, self.modulus(i), out);
    }

    /// Signed shares modulo prime i of p.
    pub(super) fn slots(&self, i: usize, shares: &[u8], out: &mut [u64]) {
        let p = self.modulus(i);
        match self.set.width() {
            1 => small_slots(p, shares, out, |[x]: [u8; 1]| x.cast_signed().into()),
            2 => small_slots(p, shares, out, |x| i16::from_le_bytes(x).into()),
            4 => small_slots(p, shares, out, |x| i32::from_le_bytes(x).into()),
            _ => set_signed(self.backend, p, out, shares.as_chunks().0),
        }
    }

    /// Packs residues modulo prime i to the front of `message`; returns the rest of it.
    pub(super) fn pack<'m>(&self, i: usize, words: &[u64], message: &'m mut [u8]) -> &'m mut [u8] {
        self.pack_bits(self.modulus(i).bits(), words, message)
    }

    pub(super) fn pack_bits<'m>(
        &self,
        bits: u32,
        words: &[u64],
        message: &'m mut [u8],
    ) -> &'m mut [u8] {
        let (packed, rest) = message.split_at_mut(pack::packed_len(words.len(), bits));
        pack::pack(self.backend, bits, words, packed);
        rest
    }

    /// Unpacks residues modulo prime i from a message, of which they are the `place`.
    pub(super) fn unpack(
        &self,
        i: usize,
        message: Message<'_>,
        place: usize,
        out: &mut [u64],
    ) -> Result<(), Decode> {
        let p = self.modulus(i);
        let packed = &message.bytes[place..][..pack::packed_len(out.len(), p.bits())];
        pack::unpack_residues(self.backend, p, packed, out).map_err(|_| message.out_of_range())
    }

    /// Bytes of a polynomial modulo prime i.
    pub(super) fn packed_len(&self, i: usize) -> usize {
        pack::packed_len(self.n(), self.modulus(i).bits())
    }
}

/// A message of the peer, of the right length.
#[derive(Clone, Copy)]
pub(super) struct Message<'m> {
    pub(super) bytes: &'m [u8],
    name: &'static str,
    batch: u64,
}

impl<'m> Message<'m> {
    pub(super) fn new(
        name: &'static str,
        batch: u64,
        bytes: &'m [u8],
        expected: usize,
    ) -> Result<Self, Error> {
        expect_len(name, bytes, expected)?;
        Ok(Self { bytes, name, batch })
    }

    fn out_of_range(&self) -> Decode {
        let instance = usize::try_from(self.batch).unwrap_or(usize::MAX);
        Decode::Coefficient { message: self.name, instance }
    }
}

/// Integers of absolute value below p.
fn small_slots<const W: usize>(
    p: &Modulus,
    shares: &[u8],
    out: &mut [u64],
    signed: impl Fn([u8; W]) -> i64,
) {
    for (out, share) in out.iter_mut().zip(shares.as_chunks().0) {
        let x = signed(*share);
        *out = x.cast_unsigned().wrapping_add(p.value() & (x >> 63).cast_unsigned());
    }
}

/// c = a·b + d, or a·b − d, modulo 2^ℓ.
pub(super) fn combine(width: usize, [a, b, c]: [&mut [u8]; 3], d: &[u64], negative: bool) {
    match width {
        1 => combine_with::<1>([a, b, c], d, negative),
        2 => combine_with::<2>([a, b, c], d, negative),
        4 => combine_with::<4>([a, b, c], d, negative),
        _ => combine_with::<8>([a, b, c], d, negative),
    }
}

fn combine_with<const W: usize>([a, b, c]: [&mut [u8]; 3], d: &[u64], negative: bool) {
    // −d = (d ⊕ 1…1) + 1.
    let (flip, one) = if negative { (u64::MAX, 1) } else { (0, 0) };
    let (a, b) = (a.as_chunks::<W>().0, b.as_chunks::<W>().0);
    let shares = a.iter().zip(b).zip(c.as_chunks_mut::<W>().0);
    for (((a, b), c), d) in shares.zip(d) {
        let sum = word(a).wrapping_mul(word(b)).wrapping_add((d ^ flip).wrapping_add(one));
        store(c, sum);
    }
}

/// A share as a word, and the low bits of a word as a share.
pub(super) fn word<const W: usize>(share: &[u8; W]) -> u64 {
    let mut bytes = [0; 8];
    bytes[..W].copy_from_slice(share);
    u64::from_le_bytes(bytes)
}

pub(super) fn store<const W: usize>(share: &mut [u8; W], word: u64) {
    share.copy_from_slice(&word.to_le_bytes()[..W]);
}

foxtrot_kernel::redacted! {
    Ring, ring => "{}, {:?}", ring.set.name(), ring.backend;
}
