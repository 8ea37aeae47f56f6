//! Parameter sets: rings, moduli and roundings, as data. Their promises are recomputed by the crate's
//! tests (`tests/parameters.rs`) and argued in `docs/protocols/triples.md`.

use foxtrot_ot::{
    base::{Adversary, Functionality},
    extension::{Extension, ROWS, Shape, softspoken},
    protocol::{Protocol, ProtocolKind},
    records,
};

use crate::CAVEAT;

/// The extension that makes the OTs of the fix. With k = 6 an OT takes 21 bits and 2^k/k = 10.7 blocks of a key stream; with 5 it would be half a
/// byte more, with 7 three bits less and 18.3 blocks, with 8 six bits less and 32.
const SOFTSPOKEN: Extension = match softspoken::semi_honest(6) {
    Ok(extension) => extension,
    Err(_) => panic!("k is 1 to 8"),
};

/// A set of parameters that two parties agree on: the bits of a triple's shares, ring, moduli and roundings.
///
/// A batch has as many triples as the ring has coefficients. Sets are constants of this module.
#[non_exhaustive]
pub struct Set {
    name: &'static str,
    bits: u32,
    sigma: u32,
    /// log₂ n.
    pub log_n: u32,
    /// The primes pᵢ, whose product p is the modulus of plaintexts.
    pub plain: &'static [u64],
    /// The primes rⱼ: those of the modulus q of ciphertexts that are not in p.
    pub rest: &'static [u64],
    /// t₀ and t₁: the halves C₀ and C₁ of a response are rounded to moduli p·2^t₀ and p·2^t₁.
    pub t: [u32; 2],
    /// A batch does not decrypt with probability 2^−failure or less. One coefficient that does not spoils all triples of the
    /// batch; the triple that is opened tells.
    pub failure: u32,
    fix: Option<Extension>,
    /// Bits of core-SVP of the primal attack. Guidelines for homomorphic encryption count polynomial factors as well, and
    /// come to 35 bits more.
    core_svp: &'static str,
}

impl Set {
    /// Its name in `docs/wire/rlwe.md`, which is also the protocol of its sub-session.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// ℓ, the bits of a share: 8, 16, 32 or 64.
    #[must_use]
    pub const fn bits(&self) -> u32 {
        self.bits
    }

    /// Bytes of a share.
    #[must_use]
    pub const fn width(&self) -> usize {
        self.bits as usize / 8
    }

    /// σ: what P₁ hides from P₀ statistically is 2^−(σ−1) per batch, whatever the shares are, and 2^−σ if noise is
    /// distributed as experiments find it (`docs/protocols/triples.md`, section 6).
    #[must_use]
    pub const fn sigma(&self) -> u32 {
        self.sigma
    }

    /// n: the dimension of the ring, and the triples of a batch.
    #[must_use]
    pub const fn n(&self) -> usize {
        1 << self.log_n
    }

    /// All primes of q, those of p first.
    #[must_use]
    pub fn primes(&self) -> impl ExactSizeIterator<Item = u64> + Clone + use<> {
        let (plain, rest) = (self.plain, self.rest);
        (0..plain.len() + rest.len())
            .map(move |i| if i < plain.len() { plain[i] } else { rest[i - plain.len()] })
    }

    /// The extension that gives the random OTs of the MSB fix: with one OT for each triple the parties find out,
    /// and put right, where the sum of product and mask leaves [0, p). `None` for the sets whose p is so large that
    /// it hardly ever does.
    #[must_use]
    pub const fn fix(&self) -> Option<Extension> {
        self.fix
    }

    /// Random OTs of a batch, of which P₀ is the sender: n, or none.
    #[must_use]
    pub const fn ots(&self) -> usize {
        if self.fix.is_some() { self.n() } else { 0 }
    }

    /// Bytes of `PublicKey`: a polynomial modulo every rⱼ.
    #[must_use]
    pub const fn public_key_len(&self) -> usize {
        self.packed(width_of_all(self.rest))
    }

    /// Bytes of `Request`: two polynomials modulo q.
    #[must_use]
    pub const fn request_len(&self) -> usize {
        self.packed(2 * (width_of_all(self.plain) + width_of_all(self.rest)))
    }

    /// Bytes of `Response`: a polynomial modulo p·2^t₁, t₀ bits of every coefficient of another one, and a bit for
    /// each OT.
    #[must_use]
    pub const fn response_len(&self) -> usize {
        self.packed(width_of_all(self.plain) + self.t[0] + self.t[1]) + self.ots() / 8
    }

    /// Bytes of `Correction`, ℓ bits for each OT; without any it is not sent.
    #[must_use]
    pub const fn correction_len(&self) -> usize {
        self.ots() * self.width()
    }

    /// Bytes that P₀ and P₁ send for a batch, without keys and base OTs: requests and corrections; responses, and
    /// what the OTs take.
    #[must_use]
    pub fn batch_bytes(&self) -> [usize; 2] {
        let ots = self.fix.map_or(0, |it| it.corrections_len(Shape::random(self.n())));
        [self.request_len() + self.correction_len(), self.response_len() + ots]
    }

    const fn record(&self) -> Protocol {
        let (flows, assumption) = match self.fix {
            // A request, its response and the correction; keys and base OTs before them are two more each way.
            Some(_) => (
                3,
                "Ring-LWE, AES as a PRG and as an ideal cipher, random oracle, Module-LWE, AEGIS-128L as a PRG",
            ),
            None => (2, "Ring-LWE, AES as a PRG and as an ideal cipher, random oracle"),
        };
        Protocol {
            name: self.name,
            family: "rlwe",
            kind: ProtocolKind::Triples,
            paper: "after RSS19, rounding in place of flooding",
            functionality: Functionality::Triples { bits: self.bits },
            adversary: Adversary::SemiHonest,
            assumption,
            params: match self.log_n {
                12 => "ring of dimension 4096",
                13 => "ring of dimension 8192",
                14 => "ring of dimension 16384",
                15 => "ring of dimension 32768",
                _ => panic!("no set has another one"),
            },
            security: self.core_svp,
            caveat: CAVEAT,
            flows,
            ..Protocol::BASE_OT
        }
    }

    /// Payload bytes of P₀ for n triples in whole batches, without keys and base OTs.
    fn sender_bytes(&self, n: usize) -> usize {
        n.div_ceil(self.n()).saturating_mul(self.batch_bytes()[0])
    }

    /// Payload bytes of P₁ for n triples in whole batches, without keys and base OTs.
    fn receiver_bytes(&self, n: usize) -> usize {
        n.div_ceil(self.n()).saturating_mul(self.batch_bytes()[1])
    }

    /// Returns the bytes of `bits` bits of every coefficient.
    const fn packed(&self, bits: u32) -> usize {
        self.n() / 8 * bits as usize
    }

    /// Triples of a batch that are used: one is opened, to find accidents.
    #[must_use]
    pub const fn usable(&self) -> usize {
        self.n() - 1
    }

    /// Returns the number of batches for these usable triples.
    #[must_use]
    pub const fn batches(&self, triples: u64) -> u64 {
        triples.div_ceil(self.usable() as u64)
    }

    /// Bits that a run of so many triples hides statistically: a batch hides σ − 1 whatever the shares are, and a party has
    /// to hide what it has in every other batch.
    #[must_use]
    pub fn hidden(&self, triples: u64) -> u32 {
        let answered = self.batches(triples).div_ceil(2);
        (self.sigma - 1).saturating_sub(answered.next_power_of_two().ilog2())
    }

    /// Bytes of both parties before the first batch: both keys, and with the fix base OTs and what sets the extensions up.
    #[must_use]
    pub fn set_up_bytes(&self, base: &Protocol) -> u64 {
        let of_ots = |extension: Extension| {
            (base.receiver_bytes)(ROWS) + (base.sender_bytes)(ROWS) + extension.setup_len()
        };
        2 * (self.public_key_len() + self.fix().map_or(0, of_ots)) as u64
    }
}

impl PartialEq for Set {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Set {}

foxtrot_kernel::redacted! {
    Set, set => "{}", set.name;
}

/// Bits that a residue takes on the wire: those of the prime.
#[must_use]
pub const fn width_of(prime: u64) -> u32 {
    u64::BITS - prime.leading_zeros()
}

const fn width_of_all(primes: &[u64]) -> u32 {
    match primes {
        [first, others @ ..] => width_of(*first) + width_of_all(others),
        [] => 0,
    }
}

/// All sets of `rlwe`, by ℓ: those with the MSB fix, σ = 40, then 64; then the others, likewise.
pub fn registry() -> impl Iterator<Item = &'static Set> {
    MSB_40.iter().chain(&MSB_64).chain(&LIFT_40).chain(&LIFT_64)
}

/// The records of every set, in the order of [`registry`].
pub static PROTOCOLS: [Protocol; 16] = records![
    MSB_40[0], MSB_40[1], MSB_40[2], MSB_40[3], MSB_64[0], MSB_64[1], MSB_64[2], MSB_64[3],
    LIFT_40[0], LIFT_40[1], LIFT_40[2], LIFT_40[3], LIFT_64[0], LIFT_64[1], LIFT_64[2], LIFT_64[3],
];

/// The set of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Set> {
    registry().find(|set| set.name == name)
}

/// The usual set for shares of ℓ bits: with the MSB fix, σ = 40.
#[must_use]
pub fn of_bits(bits: u32) -> Option<&'static Set> {
    MSB_40.iter().find(|set| set.bits == bits)
}

/// Sets with the MSB fix; σ = 40. p is at least 2·(2^(2ℓ) − 2^ℓ) + 1, so that half of it has room for all products,
/// and triples are wrong only if their batch does not decrypt ([`Set::failure`]). For ℓ = 64 p is less than that by
/// a part of 2^−23.5, and one is wrong with probability below 2^−115 besides.
pub static MSB_40: [Set; 4] = [
    Set {
        name: "rlwe-8",
        bits: 8,
        sigma: 40,
        log_n: 12,
        plain: &[147457],
        rest: &[549755731969, 274877816833],
        t: [1, 9],
        failure: 42,
        fix: Some(SOFTSPOKEN),
        core_svp: "core-SVP 118 classical, 107 quantum",
    },
    Set {
        name: "rlwe-16",
        bits: 16,
        sigma: 40,
        log_n: 13,
        plain: &[8589852673],
        rest: &[140737488273409, 140737488125953],
        t: [1, 10],
        failure: 93,
        fix: Some(SOFTSPOKEN),
        core_svp: "core-SVP 203 classical, 184 quantum",
    },
    Set {
        name: "rlwe-32",
        bits: 32,
        sigma: 40,
        log_n: 13,
        plain: &[8589852673, 4295049217],
        rest: &[4398046150657, 4398045708289, 4398045511681],
        t: [1, 10],
        failure: 93,
        fix: Some(SOFTSPOKEN),
        core_svp: "core-SVP 115 classical, 104 quantum",
    },
    Set {
        name: "rlwe-64",
        bits: 64,
        sigma: 40,
        log_n: 14,
        plain: &[8796092858369, 8796092792833, 8796092661761],
        rest: &[281474976546817, 281474976317441, 281474975662081, 281474975563777],
        t: [1, 10],
        failure: 42,
        fix: Some(SOFTSPOKEN),
        core_svp: "core-SVP 147 classical, 133 quantum",
    },
];

/// Sets with the MSB fix for σ = 64. (For ℓ = 32 a ring of dimension 8192 would need 215 bits of q, of which the guidelines of 2024
/// have 214.)
pub static MSB_64: [Set; 4] = [
    Set {
        name: "rlwe-8-s64",
        bits: 8,
        sigma: 64,
        log_n: 13,
        plain: &[147457],
        rest: &[17179754497, 17179672577, 17179410433],
        t: [1, 10],
        failure: 93,
        fix: Some(SOFTSPOKEN),
        core_svp: "core-SVP 220 classical, 200 quantum",
    },
    Set {
        name: "rlwe-16-s64",
        bits: 16,
        sigma: 64,
        log_n: 13,
        plain: &[8589852673],
        rest: &[1099511480321, 549755731969, 549755486209],
        t: [1, 10],
        failure: 93,
        fix: Some(SOFTSPOKEN),
        core_svp: "core-SVP 160 classical, 145 quantum",
    },
    Set {
        name: "rlwe-32-s64",
        bits: 32,
        sigma: 64,
        log_n: 14,
        plain: &[8589475841, 4295294977],
        rest: &[274877153281, 274877022209, 274876334081, 274875842561],
        t: [1, 11],
        failure: 195,
        fix: Some(SOFTSPOKEN),
        core_svp: "core-SVP 250 classical, 227 quantum",
    },
    Set {
        name: "rlwe-64-s64",
        bits: 64,
        sigma: 64,
        log_n: 14,
        plain: &[8796092858369, 8796092792833, 8796092661761],
        rest: &[17592183914497, 8796092399617, 8796090597377, 8796090105857, 8796090007553],
        t: [1, 11],
        failure: 195,
        fix: Some(SOFTSPOKEN),
        core_svp: "core-SVP 133 classical, 120 quantum",
    },
];

/// Sets without the fix, which need no OTs: p is 2^(2ℓ + σ), about: the sum of product and mask wraps around it
/// with probability 2^−43 per triple, on average, besides [`Set::failure`]; σ = 40. Neither party notices, but a
/// party that learns later *that* a triple was wrong learns, with its own share, a bound on a₀·b₁ + a₁·b₀.
pub static LIFT_40: [Set; 4] = [
    Set {
        name: "rlwe-lift-8",
        bits: 8,
        sigma: 40,
        log_n: 13,
        plain: &[268369921, 268271617],
        rest: &[549755731969, 549755486209, 549754617857],
        t: [1, 10],
        failure: 93,
        fix: None,
        core_svp: "core-SVP 132 classical, 120 quantum",
    },
    Set {
        name: "rlwe-lift-16",
        bits: 16,
        sigma: 40,
        log_n: 13,
        plain: &[68719230977, 68718428161],
        rest: &[35184371613697, 17592186028033, 17592185438209],
        t: [1, 10],
        failure: 93,
        fix: None,
        core_svp: "core-SVP 104 classical, 94 quantum",
    },
    Set {
        name: "rlwe-lift-32",
        bits: 32,
        sigma: 40,
        log_n: 14,
        plain: &[34359410689, 34359214081, 17179672577],
        rest: &[4398046150657, 4398044938241, 4398044577793, 2199023190017],
        t: [1, 10],
        failure: 42,
        fix: None,
        core_svp: "core-SVP 185 classical, 168 quantum",
    },
    Set {
        name: "rlwe-lift-64",
        bits: 64,
        sigma: 40,
        log_n: 14,
        plain: &[4398046150657, 4398044938241, 4398044577793, 4398043594753],
        rest: &[140737488125953, 70368743587841, 70368743489537, 70368743292929, 70368742408193],
        t: [1, 10],
        failure: 42,
        fix: None,
        core_svp: "core-SVP 107 classical, 98 quantum",
    },
];

/// Sets without the fix for σ = 64; the wrap has probability 2^−67.
pub static LIFT_64: [Set; 4] = [
    Set {
        name: "rlwe-lift-8-s64",
        bits: 8,
        sigma: 64,
        log_n: 14,
        plain: &[1099510054913, 1099508121601],
        rest: &[4398046150657, 4398044938241, 4398044577793, 2199023190017],
        t: [1, 11],
        failure: 195,
        fix: None,
        core_svp: "core-SVP 210 classical, 191 quantum",
    },
    Set {
        name: "rlwe-lift-16-s64",
        bits: 16,
        sigma: 64,
        log_n: 14,
        plain: &[281474976546817, 281474976317441],
        rest: &[70368743587841, 70368743489537, 70368743292929, 35184371138561],
        t: [1, 11],
        failure: 195,
        fix: None,
        core_svp: "core-SVP 178 classical, 162 quantum",
    },
    Set {
        name: "rlwe-lift-32-s64",
        bits: 32,
        sigma: 64,
        log_n: 14,
        plain: &[8796092858369, 8796092792833, 4398046150657],
        rest: &[8796092661761, 8796092399617, 8796090597377, 8796090105857, 8796090007553],
        t: [1, 11],
        failure: 195,
        fix: None,
        core_svp: "core-SVP 134 classical, 121 quantum",
    },
    Set {
        name: "rlwe-lift-64-s64",
        bits: 64,
        sigma: 64,
        log_n: 15,
        plain: &[281474976317441, 281474975662081, 281474974482433, 281474972188673],
        rest: &[
            140737487306753,
            140737486716929,
            140737486520321,
            140737485864961,
            70368743587841,
            70368742408193,
        ],
        t: [1, 11],
        failure: 93,
        fix: None,
        core_svp: "core-SVP 223 classical, 203 quantum",
    },
];

/// No security: small enough for the schoolbook implementation and its vectors; with the MSB fix.
#[doc(hidden)]
pub static TOY: Set = Set {
    name: "rlwe-toy",
    bits: 8,
    sigma: 0,
    log_n: 7,
    plain: &[147457],
    rest: &[16770049, 16769537],
    t: [1, 10],
    failure: 0,
    fix: Some(SOFTSPOKEN),
    core_svp: "core-SVP 0 classical, 0 quantum",
};

/// A toy set without the fix.
#[doc(hidden)]
pub static TOY_LIFT: Set = Set {
    name: "rlwe-lift-toy",
    bits: 8,
    sigma: 0,
    log_n: 7,
    plain: &[125441, 120833],
    rest: &[16770049, 16769537],
    t: [1, 10],
    failure: 0,
    fix: None,
    core_svp: "core-SVP 0 classical, 0 quantum",
};

#[cfg(test)]
mod tests;
