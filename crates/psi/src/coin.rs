//! The joint coin that divides items into buckets, tossed after both sizes are fixed: the receiver
//! commits, the sender answers, the receiver opens.

use foxtrot_ot::{Decode, Misbehaved, Seed, Session, engine::Io};
use zeroize::Zeroizing;

use super::Error;

/// The coin that divides items into buckets. Public.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Joint(pub(crate) [u8; 32]);

/// S: tosses the coin with the peer. The session is that of the whole protocol, the seed its own.
///
/// # Errors
/// [`Decode::Length`]; [`Misbehaved::CommitmentMismatch`].
pub async fn senders_coin(io: &Io, session: &Session, seed: &Seed) -> Result<Joint, Error> {
    let committed = decode("Commitment", &io.recv(32).await)?;
    let mut ours = [0; 32];
    seed.fill(&session.oracle("foxtrot v1 paxos sender coin"), 0, &mut ours);
    io.send(ours.to_vec()).await;
    let theirs = decode("Opening", &io.recv(32).await)?;
    if commitment(session, &theirs) != committed {
        return Err(Misbehaved::CommitmentMismatch.into());
    }
    Ok(joint(session, &theirs, &ours))
}

/// R: tosses the coin with the peer. The session is that of the whole protocol, the seed its own.
///
/// # Errors
/// [`Decode::Length`].
pub async fn receivers_coin(io: &Io, session: &Session, seed: &Seed) -> Result<Joint, Error> {
    let mut ours = Zeroizing::new([0; 32]);
    seed.fill(&session.oracle("foxtrot v1 paxos receiver coin"), 0, ours.as_mut_slice());
    io.send(commitment(session, &ours).to_vec()).await;
    let theirs = decode("Coin", &io.recv(32).await)?;
    io.send(ours.to_vec()).await;
    Ok(joint(session, &ours, &theirs))
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
