//! Records of protocols: facts to choose by at run time, and the rule of which base OT fits below which protocol.
//!
//! Base OTs, extensions, 1-of-N extensions, set intersections and kinds of triples fill the same record. Each of them
//! is in one registry next to its code; [`find`] and [`compatible`] serve all.

use core::fmt;

/// The output that a protocol gives its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProtocolKind {
    /// Base OTs: public-key cryptography for every transfer.
    BaseOt,
    /// Transfers of one of two, from base OTs.
    Extension,
    /// Transfers of one of many, from base OTs.
    OneOfN,
    /// Vector OLE.
    Vole,
    /// Private set intersection.
    Psi,
    /// Multiplication triples.
    Triples,
}

/// The ideal functionality that a protocol realises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Functionality {
    /// F_ROT with abort: keys and choices are uniform if either party is corrupt; a corrupt receiver may
    /// end the run after it has seen its outputs.
    Random,
    /// Endemic OT [[MR19](https://eprint.iacr.org/2019/706)]: the receiver gives its choices, and a
    /// corrupt party may fix its own keys.
    Endemic,
    /// Chosen-message OT: the sender gives its messages (here: keys drawn from its seed), the
    /// receiver its choices; neither is uniform if its owner is corrupt.
    ChosenMessage,
    /// Endemic OT in which a corrupt sender may guess some choices of the receiver: if it is right
    /// the run goes on, and if not it ends.
    SelectiveFailure,
    /// Random OT if both follow the protocol.
    SemiHonestRandom,
    /// Endemic OT of one of N messages.
    OneOfN,
    /// F of [`Self::OneOfN`], in which a party that finds the peer cheating ends the run.
    OneOfNWithAbort,
    /// F_PSI: the receiver learns which of its items the sender has. A corrupt receiver may have more items, n'.
    Psi,
    /// Subfield VOLE with abort: V = W ⊕ U·Δ in GF(2^128), for the receiver's uniform U in GF(2^bits). A corrupt party chooses its
    /// own outputs, a corrupt receiver may guess parts of Δ, and a corrupt sender parts of the noise: if the guess is wrong the run
    /// ends.
    Vole {
        /// Bits of an element of U.
        bits: usize,
    },
    /// The number of common items, and the sum of their numbers.
    PsiCount,
    /// Shares modulo 2^bits of a, b and a·b.
    Triples {
        /// Bits of a share.
        bits: u32,
    },
}

impl fmt::Display for Functionality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Random => "random OT with abort",
            Self::Endemic => "endemic OT",
            Self::ChosenMessage => "chosen-message OT",
            Self::SelectiveFailure => "OT with selective failure",
            Self::SemiHonestRandom => "random OT",
            Self::OneOfN => "endemic 1-of-N OT",
            Self::OneOfNWithAbort => "endemic 1-of-N OT with abort",
            Self::Psi => "F_PSI with sizes (n, n')",
            Self::PsiCount => "count and sum of X ∩ Y, sizes (n, n')",
            Self::Vole { bits } => return write!(f, "VOLE of GF(2^{bits})"),
            Self::Triples { bits } => return write!(f, "triples modulo 2^{bits}"),
        })
    }
}

/// The adversary against whom a protocol is secure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Adversary {
    /// The peer follows the protocol, and may draw conclusions.
    SemiHonest,
    /// The peer may send anything.
    Malicious,
}

impl fmt::Display for Adversary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SemiHonest => "semi-honest",
            Self::Malicious => "malicious",
        })
    }
}

impl Adversary {
    /// Returns true if security against this adversary is as much as is wanted: malicious peers include semi-honest ones.
    #[must_use]
    pub fn suffices(self, wanted: Self) -> bool {
        self == wanted || self == Self::Malicious
    }
}

/// The use of the keys of transfers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Random and correlated OTs: keys that are random if either party cheats.
    Random,
    /// Messages, for choices that the receiver gives: a party that cheats may fix its own keys.
    Messages,
}

/// Facts about a protocol before it runs. Where it stands on base OTs, they are not counted.
#[derive(Clone, Copy, Debug)]
pub struct Protocol {
    /// Name of the protocol and its mode; also its label in sub-sids and hellos.
    pub name: &'static str,
    /// Name of the protocol, whatever the mode.
    pub family: &'static str,
    /// True if the family's name means this mode; of several such modes the first in the registry is meant.
    pub is_default: bool,
    /// The kind of output.
    pub kind: ProtocolKind,
    /// The paper that defines the protocol.
    pub paper: &'static str,
    /// The functionality that the protocol realises.
    pub functionality: Functionality,
    /// The adversary against whom the protocol is secure.
    pub adversary: Adversary,
    /// The assumption under which the protocol is secure.
    pub assumption: &'static str,
    /// The parameter set.
    pub params: &'static str,
    /// Classical and quantum bits: core-SVP for lattices; empty if it is that of the base OTs.
    pub security: &'static str,
    /// A use to avoid, and the reason; empty if there is none.
    pub caveat: &'static str,
    /// The base OTs that the protocol has a variant for, if each has one of its own, which also plays the base OT; empty if the
    /// protocol takes any base OT, or none.
    pub carriers: &'static [&'static str],
    /// True if the protocol only reproduces a paper: no other protocol stands on it, and no registry of
    /// these crates has it.
    pub reproduction: bool,
    /// Messages of a batch one after another; two that cross are one flow.
    pub flows: usize,
    /// Payload bytes of the receiver for n outputs: OTs, items of either set, triples (here: of P₁).
    pub receiver_bytes: fn(n: usize) -> usize,
    /// Payload bytes of the sender for n outputs (of triples: of P₀).
    pub sender_bytes: fn(n: usize) -> usize,
}

impl Protocol {
    /// A base OT against malicious peers, with all that most of them have in common.
    pub const BASE_OT: Self = Self {
        name: "",
        family: "",
        is_default: true,
        kind: ProtocolKind::BaseOt,
        paper: "",
        functionality: Functionality::Endemic,
        adversary: Adversary::Malicious,
        assumption: "",
        params: "",
        security: "",
        caveat: "",
        carriers: &[],
        reproduction: false,
        flows: 0,
        receiver_bytes: |_| 0,
        sender_bytes: |_| 0,
    };

    /// Payload bytes of both parties for n outputs.
    #[must_use]
    pub fn bytes(&self, n: usize) -> usize {
        (self.sender_bytes)(n) + (self.receiver_bytes)(n)
    }

    /// Returns true if the name means this protocol: its own name, with or without the adversary in
    /// it.
    fn is_named(&self, name: &str) -> bool {
        self.name == name || self.name.strip_suffix("-semi-honest") == Some(name)
    }
}

/// The protocol of that name, or the default of the family of that name, among those that fit.
pub fn find<T>(
    registry: impl IntoIterator<Item = T>,
    record: impl Fn(&T) -> &'static Protocol,
    name: &str,
    fits: impl Fn(&Protocol) -> bool,
) -> Option<T> {
    registry.into_iter().find(|it| {
        let it = record(it);
        fits(it) && (it.is_named(name) || it.is_default && it.family == name)
    })
}

/// The reason why a base OT does not fit below a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Incompatible {
    /// The protocol is no base OT.
    Kind,
    /// The protocol reproduces a paper only.
    Reproduction,
    /// The base OT is secure against weaker adversaries than the extension.
    Adversary,
    /// Its choices or keys are not bound as an extension against malicious peers needs it.
    Functionality(Functionality),
    /// The base OT takes more than a message of the receiver and one of the sender.
    Flows,
    /// The combination is possible, but this crate has no variant of the extension over this base
    /// OT.
    NoVariant,
    /// The base OT, or the extension, is secure against semi-honest peers only, and the caller wants more.
    Weak,
    /// Its keys, or those of the extension over it, are not random if a peer cheats.
    NotUniform,
    /// Without an extension the transfers need a base OT that realises this.
    Alone(Functionality),
}

impl fmt::Display for Incompatible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kind => "it is no base OT",
            Self::Reproduction => "it only reproduces a paper",
            Self::Adversary => "it is secure against semi-honest peers only, the extension is not",
            Self::Flows => "it takes more than one message of either side",
            Self::NoVariant => "there is no variant over it",
            Self::Weak => "it is secure against semi-honest peers only",
            Self::NotUniform => "its keys are not random if a peer cheats, which `rot` promises",
            Self::Alone(it) => return write!(f, "without an extension this needs {it}"),
            Self::Functionality(it) => {
                return write!(f, "{it} is not enough under an extension against malicious peers");
            }
        })
    }
}

impl core::error::Error for Incompatible {}

/// Returns an error unless the base OT `below` may carry the protocol `above`.
///
/// Endemic OT is enough [[MR19](https://eprint.iacr.org/2019/706)]: a corrupt party that fixes
/// its own keys could as well have sent other corrections. A chosen-message OT is not used below
/// an extension against malicious peers but through `rot_from_ot`. OT with selective failure is enough
/// for `kos`, whose sender's Δ may leak bits to guesses anyway
/// [[CSW20](https://eprint.iacr.org/2020/110)]. The two-round extension runs on base OTs of one message of either
/// side, and on those that it has a variant for.
///
/// # Errors
/// [`Incompatible`], the reason why not.
pub fn compatible(below: &Protocol, above: &Protocol) -> Result<(), Incompatible> {
    if below.kind != ProtocolKind::BaseOt {
        return Err(Incompatible::Kind);
    }
    if below.reproduction {
        return Err(Incompatible::Reproduction);
    }
    match (above.adversary, below.adversary, below.functionality) {
        (Adversary::SemiHonest, ..) => {}
        (_, Adversary::SemiHonest, _) => return Err(Incompatible::Adversary),
        (_, _, Functionality::Random | Functionality::Endemic) => {}
        (_, _, Functionality::SelectiveFailure) if above.family == "kos" => {}
        (_, _, other) => return Err(Incompatible::Functionality(other)),
    }
    match below.flows {
        _ if above.carriers.is_empty() || above.carriers.contains(&below.name) => Ok(()),
        ..=2 => Err(Incompatible::NoVariant),
        _ => Err(Incompatible::Flows),
    }
}

/// Returns an error unless transfers for that purpose, secure against that adversary, may run on a base OT
/// with that extension or on the base OT alone.
///
/// Keys that are random if either party cheats need a base OT with a random Δ: a corrupt sender that chooses Δ can make both keys
/// of every transfer the same.
///
/// # Errors
/// [`Incompatible`], the reason why not.
pub fn suits(
    base: &Protocol,
    above: Option<&Protocol>,
    purpose: Purpose,
    wanted: Adversary,
) -> Result<(), Incompatible> {
    let Some(above) = above else {
        let needed = match purpose {
            Purpose::Random => Functionality::Random,
            Purpose::Messages => Functionality::Endemic,
        };
        return match base.functionality {
            // The two-round extension is played like a base OT.
            _ if base.kind != ProtocolKind::BaseOt && base.carriers.is_empty() => {
                Err(Incompatible::Kind)
            }
            _ if base.reproduction => Err(Incompatible::Reproduction),
            is if is != needed => Err(Incompatible::Alone(needed)),
            _ if !base.adversary.suffices(wanted) => Err(Incompatible::Weak),
            _ => Ok(()),
        };
    };
    if !above.adversary.suffices(wanted) {
        return Err(Incompatible::Weak);
    }
    compatible(base, above)?;
    let uniform =
        base.functionality == Functionality::Random || above.adversary == Adversary::SemiHonest;
    match purpose {
        Purpose::Random if !uniform => Err(Incompatible::NotUniform),
        _ => Ok(()),
    }
}

/// The records of these values, which have a const function `record`, and functions of their bytes for n outputs.
#[macro_export]
macro_rules! records {
    ($($value:expr),* $(,)?) => {
        [$($crate::protocol::Protocol {
            sender_bytes: |n| $value.sender_bytes(n),
            receiver_bytes: |n| $value.receiver_bytes(n),
            ..$value.record()
        }),*]
    };
}
