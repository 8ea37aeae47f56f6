//! Private set intersection by whichever protocol costs the fewest bytes under an assumption.
//!
//! [`paxos`] and [`vole_psi`] let the receiver learn the same. Both sides agree on a [`Method`] before they know the
//! sizes. [`Method::parameters`] then is the rule of `docs/wire/vole-psi.md`, section 21.1: both compute it from agreed
//! numbers. [`protocol`] runs what it says.
//!
//! ```
//! use foxtrot_ot::base::{Adversary, roted::Endemic};
//! use foxtrot_psi::method::{Assumption, Method};
//!
//! let symmetric =
//!     Method { base: &Endemic, assumption: Assumption::Symmetric, adversary: Adversary::Malicious };
//! let lpn = Method { assumption: Assumption::Lpn, ..symmetric };
//! let name = |method: &Method, n| method.parameters(n, n).map(|it| it.info().name);
//! assert_eq!((name(&symmetric, 1000)?, name(&symmetric, 1 << 20)?), ("vole-psi-packed", "paxos"));
//! assert_eq!((name(&lpn, 1000)?, name(&lpn, 1 << 20)?), ("vole-psi", "vole-psi"));
//! assert!(lpn.parameters(1 << 20, 1 << 20)?.bytes(lpn.base) < 33 << 20);
//! # Ok::<(), foxtrot_ot::Usage>(())
//! ```

use core::{fmt, ops::Deref};

use foxtrot_ot::{
    Usage,
    base::{Adversary, BaseOt},
    protocol::{Protocol, Purpose, compatible, suits},
};

use crate::{
    paxos,
    sets::Sets,
    vole_psi::{self, Vole},
};

pub mod protocol;

/// The assumption of an intersection, besides that of its base OTs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Assumption {
    /// Hashes and ciphers only.
    #[default]
    Symmetric,
    /// Also dual LPN, a younger assumption: far fewer bytes for large sets.
    Lpn,
}

impl Assumption {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Symmetric, Self::Lpn];

    /// The name in hellos and options.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Symmetric => "symmetric",
            Self::Lpn => "lpn",
        }
    }
}

impl fmt::Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The terms on which both sides agree before they know the sizes.
#[derive(Clone, Copy)]
pub struct Method {
    /// The base OT.
    pub base: &'static dyn BaseOt,
    /// The assumption.
    pub assumption: Assumption,
    /// The adversary against whom the intersection has to be secure.
    pub adversary: Adversary,
}

impl Method {
    /// The protocol for large sets, which the base OT has to carry.
    #[must_use]
    pub fn of_large_sets(assumption: Assumption, adversary: Adversary) -> &'static Protocol {
        let semi_honest = adversary == Adversary::SemiHonest;
        match assumption {
            Assumption::Symmetric => &paxos::PROTOCOLS[usize::from(semi_honest)],
            Assumption::Lpn if semi_honest => Vole::Small.info(),
            Assumption::Lpn => Vole::Silent.info(),
        }
    }

    /// Returns an error unless the base OT suits.
    ///
    /// # Errors
    /// [`Usage::Incompatible`].
    pub fn check(&self) -> Result<(), Usage> {
        let above = Self::of_large_sets(self.assumption, self.adversary);
        suits(self.base.info(), Some(above), Purpose::Messages, self.adversary)
            .map_err(Usage::Incompatible)
    }

    /// The parameters of sets of these sizes, 0 included: of the protocol that costs the fewest bytes.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`] if a set has more than [`MAX_ITEMS`](crate::MAX_ITEMS), or more than a semi-honest base OT may carry;
    /// [`Usage::Incompatible`].
    pub fn parameters(&self, receivers: usize, senders: usize) -> Result<Parameters, Usage> {
        self.check()?;
        let (adversary, base) = (self.adversary, self.base.info());
        let carried = |it: &vole_psi::Parameters| compatible(base, it.info()).is_ok();
        let of = match self.assumption {
            Assumption::Symmetric => {
                let packed = vole_psi::Parameters::without_lpn(adversary, receivers, senders, base);
                match packed.filter(carried) {
                    Some(packed) => Of::Vole(packed),
                    None => Of::Paxos(paxos::Parameters::new(adversary, receivers, senders)?),
                }
            }
            Assumption::Lpn => {
                let fewest = vole_psi::Parameters::new(adversary, receivers, senders)?;
                Of::Vole(match carried(&fewest) {
                    true => fewest,
                    // A base OT against semi-honest peers carries nothing else.
                    false => vole_psi::Parameters::of(Vole::Small, receivers, senders)?,
                })
            }
        };
        Ok(Parameters { adversary, of })
    }

    /// The most items of a cheating receiver that declares so many, whatever the sender has: the largest
    /// [`Parameters::largest_set`] of the protocols that the rule may choose.
    #[must_use]
    pub fn largest_set(&self, receivers: usize) -> Option<u64> {
        if self.adversary == Adversary::SemiHonest {
            return None;
        }
        let vole = |vole| vole_psi::Parameters::of(vole, receivers, 1).ok()?.largest_set();
        match self.assumption {
            Assumption::Symmetric => {
                let paxos = paxos::Parameters::new(self.adversary, receivers, 1).ok()?;
                Some(paxos.largest_set()?.max(vole(Vole::Packed).unwrap_or(0)))
            }
            Assumption::Lpn => vole(Vole::Silent),
        }
    }
}

/// The parameters of one of the protocols, for two sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    adversary: Adversary,
    of: Of,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    Paxos(paxos::Parameters),
    Vole(vole_psi::Parameters),
}

impl From<paxos::Parameters> for Parameters {
    fn from(parameters: paxos::Parameters) -> Self {
        Self { adversary: parameters.adversary(), of: Of::Paxos(parameters) }
    }
}

impl From<vole_psi::Parameters> for Parameters {
    fn from(parameters: vole_psi::Parameters) -> Self {
        Self { adversary: parameters.info().adversary, of: Of::Vole(parameters) }
    }
}

impl Deref for Parameters {
    type Target = Sets;

    fn deref(&self) -> &Sets {
        match &self.of {
            Of::Paxos(it) => it,
            Of::Vole(it) => it,
        }
    }
}

macro_rules! of_either {
    ($($(#[$doc:meta])* $name:ident: $type:ty;)*) => {$(
        $(#[$doc])*
        #[must_use]
        pub fn $name(&self) -> $type {
            match &self.of {
                Of::Paxos(it) => it.$name(),
                Of::Vole(it) => it.$name(),
            }
        }
    )*};
}

impl Parameters {
    of_either! {
        /// The record of the protocol.
        info: &'static Protocol;
        /// Base OTs, in which the sender is the receiver.
        base_ots: usize;
        /// Payload bytes of the receiver, without base OTs.
        receiver_bytes: usize;
        /// Payload bytes of the sender, without base OTs.
        sender_bytes: usize;
    }

    /// The name of the 1-of-N extension or VOLE that carries it.
    #[must_use]
    pub fn over(&self) -> &'static str {
        match &self.of {
            Of::Paxos(it) => it.extension().name(),
            Of::Vole(it) => it.vole().name(),
        }
    }

    /// Payload bytes of both parties, those of the base OTs included.
    #[must_use]
    pub fn bytes(&self, base: &dyn BaseOt) -> usize {
        self.receiver_bytes() + self.sender_bytes() + base.info().bytes(self.base_ots())
    }

    /// Returns [`Sets::largest_set`]; `None` also if the terms assume semi-honest peers, whatever the protocol.
    #[must_use]
    pub fn largest_set(&self) -> Option<u64> {
        if self.adversary == Adversary::SemiHonest { None } else { Sets::largest_set(self) }
    }

    /// The parameters of [`vole_psi`], if that is the protocol.
    #[must_use]
    pub const fn vole(&self) -> Option<&vole_psi::Parameters> {
        match &self.of {
            Of::Vole(it) => Some(it),
            Of::Paxos(_) => None,
        }
    }
}

foxtrot_kernel::redacted! {
    Method, method => "{}, {}, over {}", method.assumption, method.adversary, method.base.info().name;
}

#[cfg(test)]
mod tests;
