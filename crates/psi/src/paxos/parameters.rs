//! Parameters that both parties compute from the sizes alone.

use core::ops::Deref;

use foxtrot_ot::{
    Seed, Session, Usage,
    base::{Adversary, Functionality, ReceiverKeys, SenderKeys},
    extension::{
        code::{self, Family, Linear},
        one_of_n::{self, Extension},
        oos,
    },
    protocol::{Protocol, ProtocolKind},
};
use zeroize::Zeroizing;

use crate::{
    MAX_ITEMS,
    sets::{Sets, buckets},
};

/// The terms of the two parties: adversary and sizes, and the parameters that follow from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters(Sets);

impl Deref for Parameters {
    type Target = Sets;

    fn deref(&self) -> &Sets {
        &self.0
    }
}

impl Parameters {
    /// Computes the parameters of sets of these sizes, 0 included.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`] if one has more than [`MAX_ITEMS`].
    pub fn new(
        adversary: Adversary,
        receiver_items: usize,
        sender_items: usize,
    ) -> Result<Self, Usage> {
        let n = receiver_items.max(sender_items);
        if n > MAX_ITEMS {
            return Err(Usage::BatchTooLarge { n, max: MAX_ITEMS });
        }
        Self::with_buckets(adversary, receiver_items, sender_items, buckets(receiver_items))
    }

    /// Computes parameters with any number of buckets, which no peer would have: for tests.
    ///
    /// # Errors
    /// As of [`Parameters::new`].
    #[doc(hidden)]
    pub fn with_buckets(
        adversary: Adversary,
        receiver_items: usize,
        sender_items: usize,
        buckets: usize,
    ) -> Result<Self, Usage> {
        // A peer that is not said to be semi-honest is malicious.
        let checked = adversary != Adversary::SemiHonest;
        let word_bits = checked.then(|| Linear::Bch802.parameters().word_bits);
        Ok(Self(Sets::new(word_bits, [receiver_items, sender_items], buckets)?))
    }

    /// Returns the adversary against whom the intersection is secure.
    #[must_use]
    pub const fn adversary(&self) -> Adversary {
        if self.0.checked() { Adversary::Malicious } else { Adversary::SemiHonest }
    }

    /// The code: the dimension keeps a cheating receiver from fitting many more items.
    #[must_use]
    pub const fn code(&self) -> Linear {
        if self.0.checked() { Linear::Bch802 } else { Linear::Bch512 }
    }

    /// The extension that carries it.
    #[must_use]
    pub const fn extension(&self) -> Extension {
        if self.0.checked() { oos::malicious(self.code()) } else { oos::semi_honest(self.code()) }
    }

    pub(super) fn lengths(&self) -> code::Parameters {
        self.code().parameters()
    }

    /// Bytes of the rows of a bucket's slots.
    #[must_use]
    pub fn rows_len(&self) -> usize {
        self.slots() * self.lengths().row_len()
    }

    /// The sender of step 4 in all buckets, from the chosen keys of the base OTs, whose choices become Δ. Session and seed are
    /// those of the whole.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if there are not as many base OTs as the parameters say.
    pub fn ots_sender(
        &self,
        session: &Session,
        base: ReceiverKeys,
        seed: &Seed,
    ) -> Result<one_of_n::Sender, Usage> {
        let (of_ots, seed) = self.of_ots(session, "foxtrot v1 paxos sender seed", seed);
        one_of_n::Sender::new(of_ots, self.extension(), base, seed)
    }

    /// The receiver of step 4 in all buckets, from both keys of the base OTs. Session and seed are those of the whole.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if there are not as many base OTs as the parameters say.
    pub fn ots_receiver(
        &self,
        session: &Session,
        base: SenderKeys,
        seed: &Seed,
    ) -> Result<one_of_n::Receiver, Usage> {
        let (of_ots, seed) = self.of_ots(session, "foxtrot v1 paxos receiver seed", seed);
        one_of_n::Receiver::new(of_ots, self.extension(), base, seed)
    }

    /// The namespace of the extension, which all buckets share, and the seed of a party's part in it.
    fn of_ots(&self, session: &Session, context: &'static str, seed: &Seed) -> (Session, Seed) {
        let mut of_ots = Zeroizing::new([0; 32]);
        seed.fill(&session.oracle(context), 0, of_ots.as_mut_slice());
        let name = self.extension().name();
        (session.sub(name, 0, Default::default()), Seed::from_bytes(*of_ots))
    }

    /// Base OTs, in which the sender is the receiver.
    #[must_use]
    pub fn base_ots(&self) -> usize {
        self.lengths().length
    }

    /// Facts about the protocol with these sizes.
    #[must_use]
    pub fn info(&self) -> &'static Protocol {
        &PROTOCOLS[usize::from(!self.checked())]
    }

    /// The OTs of each batch of a bucket.
    pub fn batches(&self) -> impl Iterator<Item = usize> + use<> {
        self.extension().batches(self.slots())
    }

    /// Payload bytes of the receiver, without base OTs.
    #[must_use]
    pub fn receiver_bytes(&self) -> usize {
        let [coin, _] = self.coin_bytes();
        coin + self.buckets() * (32 + self.extension().receiver_bytes(self.slots()))
    }

    /// Payload bytes of the sender, without base OTs.
    #[must_use]
    pub fn sender_bytes(&self) -> usize {
        let [_, coin] = self.coin_bytes();
        coin + self.buckets() * self.extension().sender_bytes(self.slots()) + self.tags_len()
    }
}

/// The record against malicious peers. Flows are those of a run in one batch: seed and corrections, challenge, proof, tags.
const MALICIOUS: Protocol = Protocol {
    name: "paxos",
    family: "paxos",
    kind: ProtocolKind::Psi,
    paper: "PRTY20 over OOS17",
    functionality: Functionality::Psi,
    assumption: "AEGIS-128L and AES as PRGs, random oracle",
    params: Family::Linear(Linear::Bch802).words(),
    flows: 4,
    receiver_bytes: |n| bytes(Adversary::Malicious, n, Parameters::receiver_bytes),
    sender_bytes: |n| bytes(Adversary::Malicious, n, Parameters::sender_bytes),
    ..Protocol::BASE_OT
};

/// The records against malicious peers and against semi-honest ones, for whom there is neither challenge nor proof.
pub static PROTOCOLS: [Protocol; 2] = [
    MALICIOUS,
    Protocol {
        adversary: Adversary::SemiHonest,
        params: Family::Linear(Linear::Bch512).words(),
        flows: 2,
        receiver_bytes: |n| bytes(Adversary::SemiHonest, n, Parameters::receiver_bytes),
        sender_bytes: |n| bytes(Adversary::SemiHonest, n, Parameters::sender_bytes),
        ..MALICIOUS
    },
];

/// Bytes for sets of n items each.
fn bytes(adversary: Adversary, n: usize, of: fn(&Parameters) -> usize) -> usize {
    Parameters::new(adversary, n, n).map_or(usize::MAX, |it| of(&it))
}
