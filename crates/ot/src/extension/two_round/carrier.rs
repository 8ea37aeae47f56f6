//! The base OTs that a two-round extension can stand on: the receiver speaks first, and the sender
//! needs one message.

use alloc::vec::Vec;

use super::{FAMILY, response_len};
use crate::{
    Bits, Error, Seed, Session, Usage,
    base::{
        Adversary, BaseOt, Functionality, Protocol, ReceiverKeys, SenderKeys,
        mcquoid_rosulek_roy::{self, Feistel2Ristretto, FeistelMoeller, McQuoidRosulekRoy, Pair},
        roted::{self, endemic},
    },
    extension::ROWS,
    protocol::Kind,
};

/// An endemic base OT against malicious peers, of two flows, the receiver's first, or of one.
///
/// The trait is sealed: that the keys of a base OT bind index and sub-sid is a claim of this crate.
pub trait Carrier: sealed::Sealed + BaseOt + Copy + 'static {
    /// The base OT as a value.
    const VALUE: Self;

    /// Description of the extension over this base OT.
    const INFO: &'static Protocol;

    /// The base OT's receiver, waiting for the sender's message.
    type Receiver: Send + 'static;

    /// The receiver of a batch, and its message.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`].
    fn start(
        session: Session,
        choices: Bits,
        seed: Seed,
    ) -> Result<(Self::Receiver, Vec<u8>), Usage>;

    /// The sender's keys of [`ROWS`] instances, and its message.
    ///
    /// # Errors
    /// [`Error::Decode`].
    fn respond(
        session: Session,
        message: &[u8],
        seed: Seed,
    ) -> Result<(SenderKeys, Vec<u8>), Error>;

    /// The receiver's keys of [`ROWS`] instances.
    ///
    /// # Errors
    /// [`Error::Decode`].
    fn finish(receiver: Self::Receiver, message: &[u8]) -> Result<ReceiverKeys, Error>;

    /// Bytes of the receiver's message for [`ROWS`] instances.
    fn invitation_len() -> usize {
        (Self::VALUE.info().receiver_bytes)(ROWS)
    }

    /// Bytes of the sender's message for [`ROWS`] instances.
    fn answer_len() -> usize {
        (Self::VALUE.info().sender_bytes)(ROWS)
    }
}

pub(super) mod sealed {
    pub trait Sealed {}
    impl Sealed for crate::base::roted::Endemic {}
    impl<P> Sealed for crate::base::mcquoid_rosulek_roy::McQuoidRosulekRoy<P> {}
}

const PAPER: &str = "MRR21 section 7, check of KOS 2022";

impl Carrier for roted::Endemic {
    const VALUE: Self = Self;

    const INFO: &'static Protocol = &Protocol {
        name: "kos-two-round:roted-endemic",
        family: FAMILY,
        paper: PAPER,
        functionality: Functionality::Endemic,
        adversary: Adversary::Malicious,
        assumption: "Module-LWE, random oracle, AEGIS-128L as a PRG, AES as an ideal cipher",
        params: "Fiat-Shamir, s = 256; base OT roted-endemic: Module768",
        security: "base OT: core-SVP 164 classical, 148 quantum",
        caveat: "a corrupt party may fix its own keys; not proved against quantum access to the oracle",
        flows: 2,
        receiver_bytes: response_len::<Self>,
        sender_bytes: |_| Self::invitation_len(),
        kind: Kind::Extension,
        ..Protocol::BASE_OT
    };

    type Receiver = endemic::Receiver;

    fn start(
        session: Session,
        choices: Bits,
        seed: Seed,
    ) -> Result<(Self::Receiver, Vec<u8>), Usage> {
        let (receiver, blinded) = endemic::Receiver::start(session, choices, seed)?;
        Ok((receiver, blinded.into_bytes()))
    }

    fn respond(
        session: Session,
        message: &[u8],
        seed: Seed,
    ) -> Result<(SenderKeys, Vec<u8>), Error> {
        let blinded = roted::Blinded::decode(message, ROWS)?;
        let (keys, reply) = endemic::respond(session, &blinded, seed);
        Ok((keys, reply.into_bytes()))
    }

    fn finish(receiver: Self::Receiver, message: &[u8]) -> Result<ReceiverKeys, Error> {
        Ok(receiver.finish(&roted::Reply::decode(message, ROWS)?)?)
    }
}

/// A pair that this crate extends so, with what that is.
trait Extended: Pair {
    const INFO: &'static Protocol;
}

/// The extension over that pair.
const fn over(name: &'static str, assumption: &'static str, params: &'static str) -> Protocol {
    Protocol {
        name,
        family: FAMILY,
        paper: PAPER,
        functionality: Functionality::Endemic,
        adversary: Adversary::Malicious,
        assumption,
        params,
        security: "126 classical, 0 quantum",
        caveat: "a quantum computer reads choices and keys; a corrupt party may fix its own keys",
        flows: 2,
        kind: Kind::Extension,
        ..Protocol::BASE_OT
    }
}

impl Extended for FeistelMoeller {
    const INFO: &'static Protocol = &Protocol {
        receiver_bytes: response_len::<McQuoidRosulekRoy<Self>>,
        sender_bytes: |_| McQuoidRosulekRoy::<Self>::invitation_len(),
        ..over(
            "kos-two-round:mcquoid-rosulek-roy:feistel:moeller",
            "tagged oracle Diffie-Hellman jointly on curve and twist, random oracle, AEGIS-128L \
             as a PRG, AES as an ideal cipher",
            "Fiat-Shamir, s = 256; base OT mcquoid-rosulek-roy: Curve25519 and its twist",
        )
    };
}

impl Extended for Feistel2Ristretto {
    const INFO: &'static Protocol = &Protocol {
        receiver_bytes: response_len::<McQuoidRosulekRoy<Self>>,
        sender_bytes: |_| McQuoidRosulekRoy::<Self>::invitation_len(),
        ..over(
            "kos-two-round:mcquoid-rosulek-roy:feistel2:ristretto",
            "tagged oracle Diffie-Hellman, random oracle, AEGIS-128L as a PRG, AES as an ideal cipher",
            "Fiat-Shamir, s = 256; base OT mcquoid-rosulek-roy: Ristretto255",
        )
    };
}

impl<P: Extended> Carrier for McQuoidRosulekRoy<P> {
    const VALUE: Self = Self::NEW;

    const INFO: &'static Protocol = <P as Extended>::INFO;

    type Receiver = mcquoid_rosulek_roy::Receiver<P>;

    fn start(
        session: Session,
        choices: Bits,
        seed: Seed,
    ) -> Result<(Self::Receiver, Vec<u8>), Usage> {
        let (receiver, blinded) = mcquoid_rosulek_roy::Receiver::start(session, choices, seed)?;
        Ok((receiver, blinded.into_bytes()))
    }

    fn respond(
        session: Session,
        message: &[u8],
        seed: Seed,
    ) -> Result<(SenderKeys, Vec<u8>), Error> {
        let blinded = mcquoid_rosulek_roy::Blinded::decode(message, ROWS)?;
        let (sender, share) = mcquoid_rosulek_roy::Sender::<P>::start(session, ROWS, seed)?;
        Ok((sender.finish(&blinded)?, share.into_bytes()))
    }

    fn finish(receiver: Self::Receiver, message: &[u8]) -> Result<ReceiverKeys, Error> {
        Ok(receiver.finish(&mcquoid_rosulek_roy::KeyShare::decode(message, ROWS)?)?)
    }
}
