//! What a party's run of a protocol takes besides its input.

use alloc::vec;

use zeroize::Zeroizing;

use crate::{
    Bits, Seed, Session,
    base::{Choice, Functionality, Info},
};

/// The session that a run belongs to, with its backend and threads, and the run's randomness.
///
/// All randomness comes from one seed: seed i of the run is the answer of the session's oracle about it and the number i.
pub struct Context<'a> {
    session: &'a Session,
    seed: Seed,
    /// Seeds so far.
    seeds: u64,
}

impl<'a> Context<'a> {
    /// Randomness from `seed`, which no other run takes.
    #[must_use]
    pub const fn new(session: &'a Session, seed: Seed) -> Self {
        Self { session, seed, seeds: 0 }
    }

    /// The session.
    #[must_use]
    pub const fn session(&self) -> &'a Session {
        self.session
    }

    /// A seed that is used once: uniform, and independent of all others.
    pub fn seed(&mut self) -> Seed {
        Seed::from_bytes(*self.random::<32>())
    }

    /// The choice of the receiver of n base OTs whose choices are secret and random: drawn by the protocol where it
    /// draws its choices itself, else drawn here.
    pub fn choice(&mut self, base: &Info, n: usize) -> Choice {
        match base.functionality {
            Functionality::Random => Choice::Random(n),
            _ => Choice::Given(self.bits(n)),
        }
    }

    /// So many random bits.
    pub fn bits(&mut self, n: usize) -> Bits {
        let mut bytes = Zeroizing::new(vec![0; n.div_ceil(8)]);
        self.fill(&mut bytes);
        Bits::from_bytes(&bytes, n)
    }

    fn random<const L: usize>(&mut self) -> Zeroizing<[u8; L]> {
        let mut bytes = Zeroizing::new([0; L]);
        self.fill(bytes.as_mut_slice());
        bytes
    }

    fn fill(&mut self, bytes: &mut [u8]) {
        let oracle = self.session.oracle("foxtrot v1 context");
        self.seed.fill(&oracle, self.seeds, bytes);
        self.seeds += 1;
    }
}

foxtrot_kernel::redacted! {
    Context<'_>, context => "{:?}, <redacted>", context.session.id();
}
