//! Session and randomness of a party's run.

use alloc::{boxed::Box, vec};

use zeroize::Zeroizing;

use crate::{
    Bits, Seed, Session,
    base::{Choice, Functionality, Protocol},
    oracle::Purpose,
};

/// The session that a run belongs to, with its backend and threads, and the run's randomness.
///
/// All randomness comes from one seed: seed i of the run is the answer of the session's oracle about it and the number i.
pub struct Context<'a> {
    session: &'a Session,
    /// Boxed, so that a context that is moved leaves no copy behind.
    seed: Box<Seed>,
    /// Seeds so far.
    seeds: u64,
}

impl<'a> Context<'a> {
    /// Randomness from `seed`, which no other run takes.
    #[must_use]
    pub fn new(session: &'a Session, seed: Seed) -> Self {
        Self { session, seed: Box::new(seed), seeds: 0 }
    }

    /// The session.
    #[must_use]
    pub const fn session(&self) -> &'a Session {
        self.session
    }

    /// A seed that is used once: uniform, and independent of all others.
    pub fn seed(&mut self) -> Seed {
        let mut bytes = Zeroizing::new([0; 32]);
        self.fill(bytes.as_mut_slice());
        Seed::from_bytes(*bytes)
    }

    /// The choice of the receiver of n base OTs whose choices are secret and random: drawn by the protocol where it
    /// draws its choices itself, else drawn here.
    pub fn choice(&mut self, base: &Protocol, n: usize) -> Choice {
        match base.functionality {
            Functionality::Random => Choice::Random(n),
            _ => Choice::Given(self.bits(n)),
        }
    }

    /// Draws n random bits.
    pub fn bits(&mut self, n: usize) -> Bits {
        let mut bytes = Zeroizing::new(vec![0; n.div_ceil(8)]);
        self.fill(&mut bytes);
        Bits::from_bytes(&bytes, n)
    }

    fn fill(&mut self, bytes: &mut [u8]) {
        let oracle = self.session.oracle(const { Purpose::new("foxtrot v1 context") });
        self.seed.fill(&oracle, self.seeds, bytes);
        self.seeds += 1;
    }
}

foxtrot_kernel::redacted! {
    Context<'_>, context => "{:?}, <redacted>", context.session.id();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Sid,
        base::{
            BaseOt,
            roted::{Endemic, Rot},
        },
    };

    fn session(byte: u8) -> Session {
        Session::new(Sid::from_bytes([byte; 32]))
    }

    #[test]
    fn seeds_are_answers_of_the_sessions_oracle_one_after_another() {
        let session = session(1);
        let mut cx = Context::new(&session, Seed::from_bytes([2; 32]));
        for i in 0..3 {
            let oracle = session.oracle("foxtrot v1 context");
            let expected: [u8; 32] = oracle.query(i, 0).field(&[2; 32]).finish();
            assert_eq!(cx.seed().as_bytes(), &expected);
        }
    }

    #[test]
    fn randomness_depends_on_seed_and_session() {
        let (one, other) = (session(1), session(2));
        let first =
            |session, byte| *Context::new(session, Seed::from_bytes([byte; 32])).seed().as_bytes();
        let all = [first(&one, 1), first(&one, 2), first(&other, 1)];
        assert!(all[0] != all[1] && all[0] != all[2] && all[1] != all[2]);
    }

    #[test]
    fn choices_are_given_unless_the_base_ot_draws_them() {
        let session = session(1);
        let mut cx = Context::new(&session, Seed::from_bytes([3; 32]));
        assert!(matches!(cx.choice(Rot.info(), 128), Choice::Random(128)));
        let mut given = || match cx.choice(Endemic.info(), 1001) {
            Choice::Given(bits) => bits,
            Choice::Random(_) => panic!("endemic OT takes choices"),
        };
        let (one, other) = (given(), given());
        assert_eq!((one.len(), other.len()), (1001, 1001));
        assert_ne!(one.as_bytes(), other.as_bytes());
    }
}
