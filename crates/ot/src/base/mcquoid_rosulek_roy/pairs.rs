//! The pairs of a POPF and a key agreement that fit: the receiver's messages of the agreement are
//! uniform in the domain of the POPF.

use core::fmt;

use super::{Blinded, KeyShare, NAME};
use crate::{
    agreement::{self, Agreement, Elligator, Moeller},
    base::{Adversary, Functionality, Protocol},
    popf::{self, Eke, EvenMansour, Feistel, Feistel2, MasnyRindal, Popf, Strings},
};

/// A POPF with a key agreement. The trait is sealed: that they fit is a claim of this crate.
pub trait Pair: sealed::Sealed + Copy + Eq + fmt::Debug + Send + Sync + 'static {
    /// The key agreement.
    type Agreement: Agreement;
    /// The POPF over its messages.
    type Popf: Popf<<Self::Agreement as Agreement>::Domain>;
    /// The protocol with this pair.
    const INFO: &'static Protocol;
}

mod sealed {
    pub trait Sealed {}
}

/// Assumptions on the curves.
const MOELLER: &str = "tagged oracle Diffie-Hellman jointly on curve and twist, random oracle";
const MOELLER_CIPHER: &str =
    "tagged oracle Diffie-Hellman jointly on curve and twist, ideal cipher, random oracle";
const ONE_CURVE: &str = "tagged oracle Diffie-Hellman, random oracle";
const ONE_CURVE_CIPHER: &str = "tagged oracle Diffie-Hellman, ideal cipher, random oracle";

macro_rules! pairs {
    ($(
        $(#[$meta:meta])*
        $pair:ident = ($popf:ty, $agreement:ty),
        $name:expr, $family:expr, $paper:expr, $assumption:expr, $params:expr, $caveat:expr;
    )*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $pair;

        impl sealed::Sealed for $pair {}

        impl Pair for $pair {
            type Agreement = $agreement;
            type Popf = $popf;
            const INFO: &'static Protocol = &Protocol {
                name: $name,
                family: $family,
                paper: $paper,
                functionality: Functionality::Endemic,
                adversary: Adversary::Malicious,
                assumption: $assumption,
                params: $params,
                security: "126 classical, 0 quantum",
                caveat: $caveat,
                flows: 1,
                receiver_bytes: Blinded::<Self>::encoded_len,
                sender_bytes: KeyShare::<Self>::encoded_len,
                ..Protocol::BASE_OT
            };
        }
    )*};
}

const ENDEMIC: &str =
    "a quantum computer reads choices and keys; a corrupt party may fix its own keys";
const IN_BATCHES: &str = "a quantum computer reads choices and keys; a corrupt party may fix its own keys; \
    not proved in batches";
const RIJNDAEL: &str = "a quantum computer reads choices and keys; a corrupt party may fix its own keys; \
    Rijndael on 256 bits is taken for an ideal cipher, and little studied";

const BOTH: &str = "Curve25519 and its twist";
const CURVE: &str = "Curve25519";
const RISTRETTO: &str = "Ristretto255";
const OF_MRR20: &str = "MRR21, POPF of MRR20";
const OF_MR19: &str = "MRR21, POPF of MR19";

pairs! {
    /// The streamlined Feistel POPF with Möller's agreement: the fastest with 64 bytes.
    FeistelMoeller = (Feistel<Strings>, Moeller),
        "mcquoid-rosulek-roy:feistel:moeller", NAME, "MRR21", MOELLER, BOTH, ENDEMIC;
    /// The POPF of Masny and Rindal with Möller's agreement.
    MasnyRindalMoeller = (MasnyRindal<Strings>, Moeller),
        "mcquoid-rosulek-roy:masny-rindal:moeller", NAME, OF_MR19, MOELLER, BOTH, ENDEMIC;
    /// The two-round Feistel POPF with Möller's agreement.
    Feistel2Moeller = (Feistel2<Strings>, Moeller),
        "mcquoid-rosulek-roy:feistel2:moeller", NAME, OF_MRR20, MOELLER, BOTH, IN_BATCHES;
    /// The Even–Mansour POPF with Möller's agreement: Figure 1 of MRR21.
    EvenMansourMoeller = (EvenMansour, Moeller),
        "mcquoid-rosulek-roy:even-mansour:moeller", NAME, "MRR21", MOELLER_CIPHER, BOTH, RIJNDAEL;
    /// The ideal cipher with Möller's agreement.
    EkeMoeller = (Eke, Moeller),
        "mcquoid-rosulek-roy:eke:moeller", NAME, "MRR21", MOELLER_CIPHER, BOTH, RIJNDAEL;
    /// The streamlined Feistel POPF with Elligator.
    FeistelElligator = (Feistel<Strings>, Elligator),
        "mcquoid-rosulek-roy:feistel:elligator", NAME, "MRR21", ONE_CURVE, CURVE, ENDEMIC;
    /// The POPF of Masny and Rindal with Elligator.
    MasnyRindalElligator = (MasnyRindal<Strings>, Elligator),
        "mcquoid-rosulek-roy:masny-rindal:elligator", NAME, OF_MR19, ONE_CURVE, CURVE, ENDEMIC;
    /// The two-round Feistel POPF with Elligator.
    Feistel2Elligator = (Feistel2<Strings>, Elligator),
        "mcquoid-rosulek-roy:feistel2:elligator", NAME, OF_MRR20, ONE_CURVE, CURVE, IN_BATCHES;
    /// The Even–Mansour POPF with Elligator.
    EvenMansourElligator = (EvenMansour, Elligator),
        "mcquoid-rosulek-roy:even-mansour:elligator", NAME, "MRR21", ONE_CURVE_CIPHER, CURVE, RIJNDAEL;
    /// The ideal cipher with Elligator.
    EkeElligator = (Eke, Elligator),
        "mcquoid-rosulek-roy:eke:elligator", NAME, "MRR21", ONE_CURVE_CIPHER, CURVE, RIJNDAEL;
    /// The streamlined Feistel POPF over Ristretto.
    FeistelRistretto = (Feistel<popf::Ristretto>, agreement::Ristretto),
        "mcquoid-rosulek-roy:feistel:ristretto", NAME, "MRR21", ONE_CURVE, RISTRETTO, ENDEMIC;
    /// The POPF of Masny and Rindal over Ristretto.
    MasnyRindalRistretto = (MasnyRindal<popf::Ristretto>, agreement::Ristretto),
        "mcquoid-rosulek-roy:masny-rindal:ristretto", NAME, OF_MR19, ONE_CURVE, RISTRETTO, ENDEMIC;
    /// The two-round Feistel POPF over Ristretto: all of MRR20's, and a group of prime order.
    Feistel2Ristretto = (Feistel2<popf::Ristretto>, agreement::Ristretto),
        "mcquoid-rosulek-roy:feistel2:ristretto", NAME, OF_MRR20, ONE_CURVE, RISTRETTO, IN_BATCHES;
    /// The OT of Masny and Rindal with one message of the sender for all instances, which is
    /// [`MasnyRindalRistretto`] under the name by which it is known.
    MasnyRindalReuse = (MasnyRindal<popf::Ristretto>, agreement::Ristretto),
        "masny-rindal-reuse", "masny-rindal", "MR19, batched as MRR21", ONE_CURVE, RISTRETTO, ENDEMIC;
}
