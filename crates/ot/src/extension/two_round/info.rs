//! The variants: the base OTs that the extension can stand on, and their records.

use super::{TwoRound, own_bytes};
use crate::{
    agreement::{self, Moeller},
    base::{
        Adversary, BaseOt, Functionality, Protocol, mcquoid_rosulek_roy::McQuoidRosulekRoy, roted,
    },
    extension::info::ASSUMPTION,
    popf::{self, Feistel, Feistel2, Strings},
    protocol::{self, ProtocolKind},
};

/// Prefix of the names of this protocol; the base OT follows.
pub const FAMILY: &str = "kos-two-round";

/// The names of the base OTs of [`VARIANTS`], in the same order.
const CARRIERS: [&str; 3] = [
    "roted-endemic",
    "mcquoid-rosulek-roy:feistel:moeller",
    "mcquoid-rosulek-roy:feistel2:ristretto",
];

/// Facts that all variants have in common.
const SHARED: Protocol = Protocol {
    family: FAMILY,
    kind: ProtocolKind::Extension,
    paper: "MRR21 section 7, check of KOS 2022",
    functionality: Functionality::Endemic,
    adversary: Adversary::Malicious,
    flows: 2,
    carriers: &CARRIERS,
    ..Protocol::BASE_OT
};

/// Facts that the variants over curves have in common.
const OVER_CURVES: Protocol = Protocol {
    security: "126 classical, 0 quantum",
    caveat: "a quantum computer reads choices and keys; a corrupt party may fix its own keys",
    ..SHARED
};

/// The protocol, whatever the base OT, without whose messages its bytes are.
pub static PROTOCOL: Protocol = Protocol {
    name: FAMILY,
    assumption: ASSUMPTION,
    params: "k = 1, Fiat-Shamir, s = 256",
    caveat: "a corrupt party may fix its own keys",
    // The extension's receiver is the sender of the base OTs.
    receiver_bytes: own_bytes,
    ..SHARED
};

/// Every variant, the default first. There are no others: that the keys of a base OT bind index and sub-sid is a claim of
/// this crate.
pub static VARIANTS: [TwoRound; 3] = [
    TwoRound {
        base: &roted::Endemic,
        info: &Protocol {
            name: "kos-two-round:roted-endemic",
            assumption: "Module-LWE, random oracle, AEGIS-128L as a PRG, AES as an ideal cipher",
            params: "Fiat-Shamir, s = 256; base OT roted-endemic: Module768",
            security: "base OT: core-SVP 164 classical, 148 quantum",
            caveat: "a corrupt party may fix its own keys; not proved against quantum access to the oracle",
            receiver_bytes: |n| VARIANTS[0].response_len(n),
            sender_bytes: |_| VARIANTS[0].invitation_len(),
            ..SHARED
        },
    },
    TwoRound {
        base: &McQuoidRosulekRoy::<Feistel<Strings>, Moeller>::NEW,
        info: &Protocol {
            name: "kos-two-round:mcquoid-rosulek-roy:feistel:moeller",
            assumption: "tagged oracle Diffie-Hellman jointly on curve and twist, random oracle, AEGIS-128L \
                as a PRG, AES as an ideal cipher",
            params: "Fiat-Shamir, s = 256; base OT mcquoid-rosulek-roy: Curve25519 and its twist",
            receiver_bytes: |n| VARIANTS[1].response_len(n),
            sender_bytes: |_| VARIANTS[1].invitation_len(),
            ..OVER_CURVES
        },
    },
    TwoRound {
        base: &McQuoidRosulekRoy::<Feistel2<popf::Ristretto>, agreement::Ristretto>::NEW,
        info: &Protocol {
            name: "kos-two-round:mcquoid-rosulek-roy:feistel2:ristretto",
            assumption: "tagged oracle Diffie-Hellman, random oracle, AEGIS-128L as a PRG, AES as an ideal cipher",
            params: "Fiat-Shamir, s = 256; base OT mcquoid-rosulek-roy: Ristretto255",
            receiver_bytes: |n| VARIANTS[2].response_len(n),
            sender_bytes: |_| VARIANTS[2].invitation_len(),
            ..OVER_CURVES
        },
    },
];

/// Every variant as a [`BaseOt`], the default first.
#[must_use]
pub fn registry() -> &'static [&'static dyn BaseOt] {
    &const { [&VARIANTS[0] as &dyn BaseOt, &VARIANTS[1], &VARIANTS[2]] }
}

/// The variant over the base OT of that name or family.
#[must_use]
pub fn find(base: &str) -> Option<&'static dyn BaseOt> {
    protocol::find(&VARIANTS, |it| it.base.info(), base, |_| true).map(|it| it as &dyn BaseOt)
}

/// The base OTs of [`registry`], in its order.
pub fn carriers() -> impl Iterator<Item = &'static Protocol> {
    VARIANTS.iter().map(|it| it.base.info())
}
