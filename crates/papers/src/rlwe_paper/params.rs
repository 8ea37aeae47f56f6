//! Table 1 as data.

use foxtrot_triples::{Shares, params::width_of};

/// A row of Table 1 with primes: ⌈log₂ q⌉ = 150, 170, 218, 190 and e primes of plaintexts of 30, 38, 54, 44 bits, for
/// ℓ = 8, 16, 32, 64; σ = 40. n is 8192 in all of them.
pub struct PaperSet {
    name: &'static str,
    bits: u32,
    plain: &'static [u64],
    primes: &'static [u64],
    kept: usize,
}

/// σ.
const SIGMA: u32 = 40;

/// log₂ n.
const LOG_N: u32 = 13;

/// Bits by which the noise that P₁ adds is longer than a prime of plaintexts.
const FLOOD: u32 = 68;

impl PaperSet {
    /// Its name, which is also the protocol of its sub-session.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// ℓ.
    #[must_use]
    pub const fn bits(&self) -> u32 {
        self.bits
    }

    /// n: the dimension of the ring, and the triples of a batch.
    #[must_use]
    pub const fn n(&self) -> usize {
        1 << LOG_N
    }

    /// The primes of the plaintexts' modulus: one of each instance.
    #[must_use]
    pub const fn plain(&self) -> &'static [u64] {
        self.plain
    }

    /// The primes of q, of every instance.
    #[must_use]
    pub const fn primes(&self) -> &'static [u64] {
        self.primes
    }

    /// Returns the primes of the modulus to which P₁ rounds its ciphertexts: the first `kept` of
    /// all.
    #[must_use]
    pub const fn kept(&self) -> &'static [u64] {
        self.primes.split_at(self.kept).0
    }

    /// Room for a batch's shares.
    #[must_use]
    pub fn shares(&self) -> Shares {
        Shares::with(self.width(), self.n())
    }

    /// Bytes of a share.
    #[must_use]
    pub const fn width(&self) -> usize {
        self.bits as usize / 8
    }

    /// Returns the number of batches for these triples.
    #[must_use]
    pub const fn batches(&self, triples: u64) -> u64 {
        triples.div_ceil(1 << LOG_N)
    }

    /// Bits of r: 2ℓ + σ + 1.
    #[must_use]
    pub const fn mask_bits(&self) -> u32 {
        2 * self.bits + SIGMA + 1
    }

    /// w: the flood of that instance is uniform in [−2^w, 2^w).
    #[must_use]
    pub const fn flood_bits(&self, instance: usize) -> u32 {
        width_of(self.plain[instance]) + FLOOD
    }

    /// Bytes of the public keys: a polynomial modulo q each.
    #[must_use]
    pub fn public_key_len(&self) -> usize {
        self.plain.len() * self.packed_len(self.primes)
    }

    /// Bytes of a request: four polynomials modulo q for each instance.
    #[must_use]
    pub fn request_len(&self) -> usize {
        4 * self.public_key_len()
    }

    /// Bytes of a response: two polynomials modulo the kept primes for each instance.
    #[must_use]
    pub fn response_len(&self) -> usize {
        2 * self.plain.len() * self.packed_len(self.kept())
    }

    fn packed_len(&self, primes: &[u64]) -> usize {
        let bits: u32 = primes.iter().map(|p| width_of(*p)).sum();
        self.n() / 8 * bits as usize
    }
}

foxtrot_kernel::redacted! {
    PaperSet, paper_set => "{}", paper_set.name;
}

/// The four rows.
pub static SETS: [PaperSet; 4] = [
    PaperSet {
        name: "rlwe-paper-8",
        bits: 8,
        plain: &[1073692673, 1073643521],
        primes: &[1125899906826241, 1125899906629633, 1125899905744897],
        kept: 1,
    },
    PaperSet {
        name: "rlwe-paper-16",
        bits: 16,
        plain: &[274877562881, 274877202433],
        primes: &[1125899906826241, 1099511480321, 1099510890497, 1099510824961],
        kept: 1,
    },
    PaperSet {
        name: "rlwe-paper-32",
        bits: 32,
        plain: &[18014398508400641, 18014398508138497],
        primes: &[17179754497, 17179672577, 1125899906826241, 1125899906629633, 1125899905744897],
        kept: 2,
    },
    PaperSet {
        name: "rlwe-paper-64",
        bits: 64,
        plain: &[17592186028033, 17592185438209, 17592184717313, 17592184225793],
        primes: &[8589852673, 8589475841, 4398046150657, 2199023190017, 2199022927873],
        kept: 2,
    },
];
