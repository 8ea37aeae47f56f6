//! The joint coin that divides items into buckets, tossed after both sizes are fixed: the receiver
//! commits, the sender answers, the receiver opens.

use foxtrot_ot::{Decode, Misbehaved, Seed, Session, engine::Io};
use zeroize::Zeroizing;

use super::Error;

/// The coin that divides items into buckets. Public.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Joint(pub(crate) [u8; 32]);

/// The receiver's half, committed to.
pub struct Committed<'a> {
    session: &'a Session,
    ours: Zeroizing<[u8; 32]>,
}

/// The sender, which has answered a commitment.
pub struct Challenged<'a> {
    session: &'a Session,
    commitment: [u8; 32],
    ours: [u8; 32],
}

/// R: commits to a half of the coin. The session is that of the whole protocol, the seed its own.
#[must_use]
pub fn commit<'a>(session: &'a Session, seed: &Seed) -> (Committed<'a>, [u8; 32]) {
    let mut ours = Zeroizing::new([0; 32]);
    seed.fill(&session.oracle("foxtrot v1 paxos receiver coin"), 0, ours.as_mut_slice());
    let commitment = commitment(session, &ours);
    (Committed { session, ours }, commitment)
}

impl Committed<'_> {
    /// R: opens it, in answer to the sender's half.
    ///
    /// # Errors
    /// [`Decode::Length`].
    pub fn open(self, coin: &[u8]) -> Result<(Joint, [u8; 32]), Error> {
        Ok((joint(self.session, &self.ours, &decode("Coin", coin)?), *self.ours))
    }
}

impl<'a> Challenged<'a> {
    /// S: answers a commitment with its half of the coin.
    ///
    /// # Errors
    /// [`Decode::Length`].
    pub fn new(
        session: &'a Session,
        commitment: &[u8],
        seed: &Seed,
    ) -> Result<(Self, [u8; 32]), Error> {
        let commitment = decode("Commitment", commitment)?;
        let mut ours = [0; 32];
        seed.fill(&session.oracle("foxtrot v1 paxos sender coin"), 0, &mut ours);
        Ok((Self { session, commitment, ours }, ours))
    }

    /// S: takes the receiver's half.
    ///
    /// # Errors
    /// [`Decode::Length`]; [`Misbehaved::CommitmentMismatch`].
    pub fn check(self, opening: &[u8]) -> Result<Joint, Error> {
        let theirs = decode("Opening", opening)?;
        if commitment(self.session, &theirs) != self.commitment {
            return Err(Misbehaved::CommitmentMismatch.into());
        }
        Ok(joint(self.session, &theirs, &self.ours))
    }
}

/// S: tosses the coin with the peer.
pub(crate) async fn senders_coin(io: &Io, session: &Session, seed: &Seed) -> Result<Joint, Error> {
    let (challenged, coin) = Challenged::new(session, &io.recv(32).await, seed)?;
    io.send(coin.to_vec()).await;
    challenged.check(&io.recv(32).await)
}

/// R: tosses the coin with the peer.
pub(crate) async fn receivers_coin(
    io: &Io,
    session: &Session,
    seed: &Seed,
) -> Result<Joint, Error> {
    let (committed, commitment) = commit(session, seed);
    io.send(commitment.to_vec()).await;
    let (joint, opening) = committed.open(&io.recv(32).await)?;
    io.send(opening.to_vec()).await;
    Ok(joint)
}

fn decode(message: &'static str, bytes: &[u8]) -> Result<[u8; 32], Decode> {
    let wrong = Decode::Length { message, expected: 32, got: bytes.len() };
    bytes.try_into().map_err(|_| wrong)
}

fn commitment(session: &Session, coin: &[u8; 32]) -> [u8; 32] {
    session.oracle("foxtrot v1 paxos commitment").query(0, 0).field(coin).finish()
}

fn joint(session: &Session, receivers: &[u8; 32], senders: &[u8; 32]) -> Joint {
    let oracle = session.oracle("foxtrot v1 paxos joint coin");
    Joint(oracle.query(0, 0).field(receivers).field(senders).finish())
}

foxtrot_kernel::redacted! {
    Committed<'_>;
    Challenged<'_>;
}
