//! Endemic OT: two messages, choices given.
//!
//! # Another theorem
//!
//! **Why not Theorem 9 of *Batching Base Oblivious Transfers*.** There the sender speaks first: it sends
//! one key agreement message M_S for all instances, the POPF carries the receiver's *response*, and
//! tag-non-malleability protects the reused M_S. A Module-LWE key agreement has a response that depends
//! on the first message through A and hints that depend on both, so the POPF here carries the *first*
//! message P and the sender responds per branch. No M_S exists and nothing is reused, so
//! tag-non-malleability is not needed. What takes its place: P is pseudo-uniform (Lemma 1, in place of
//! "strongly random responses" and Honest Simulation), and for a uniform P the triple (U, hints, key) of
//! a fresh response is pseudorandom (Lemma 2, in place of Uncontrollable Outputs for a 1-weak random
//! oracle; hints are not uniform, so that definition does not fit word for word). Both lemmas are proved
//! in `docs/protocols/roted.md` for the two-round Feistel POPF, whose proof that paper omits, and with the digest in H′.

use alloc::vec;

use super::{
    Blinded, Endemic, Reply, check_batch,
    instances::{self, Blinding},
};
use crate::{
    Bits, Seed, Session, Usage,
    base::{ReceiverKeys, SenderKeys},
    expect_count,
    oracle::{Keyed, Purpose},
};

/// The receiver, waiting for the [`Reply`].
///
/// It answers one reply: `finish` consumes it. Two replies to one `Blinded` would share the choice,
/// and with enough of them a sender learns s_R.
///
/// ```
/// # use foxtrot_ot::{Bits, Seed, Session, Sid, base::roted::{Endemic, Reply, endemic::Receiver}};
/// # let session = Session::new(Sid::from_bytes([0; 32]));
/// # let (choices, seed) = (Bits::from_bools([true]), Seed::from_bytes([0; 32]));
/// let (receiver, _blinded) = Receiver::start(session, choices, seed)?;
/// let reply = Reply::<Endemic>::decode(&[0; 2176], 1)?;
/// receiver.finish(&reply)?;
/// # Ok::<(), foxtrot_ot::Error>(())
/// ```
///
/// ```compile_fail,E0382
/// # use foxtrot_ot::base::roted::{Endemic, Reply, endemic::Receiver};
/// # fn twice(receiver: Receiver, reply: &Reply<Endemic>) {
/// let _ = receiver.finish(reply);
/// let _ = receiver.finish(reply);
/// # }
/// ```
///
/// Nor does a message of the other mode fit:
///
/// ```compile_fail,E0308
/// # use foxtrot_ot::base::roted::{Reply, Rot, endemic::Receiver};
/// # fn of_other_mode(receiver: Receiver, reply: &Reply<Rot>) {
/// let _ = receiver.finish(reply);
/// # }
/// ```
#[must_use = "the protocol is not finished"]
pub struct Receiver {
    session: Session,
    blinding: Blinding,
    digest: [u8; 32],
}

impl Receiver {
    /// Steps 1 to 4: begins a batch with these choices.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`].
    pub fn start(
        session: Session,
        choices: Bits,
        seed: Seed,
    ) -> Result<(Self, Blinded<Endemic>), Usage> {
        check_batch(choices.len())?;
        let mut blinded = Blinded::blank(choices.len());
        let (blinding, condensed) =
            instances::blind(&session, &instances::ROTED, choices, &seed, &mut blinded.bytes);
        let digest = blinded.digest(&session, &condensed);
        Ok((Self { session, blinding, digest }, blinded))
    }

    /// Steps 9 and 12: the chosen keys.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if the reply was decoded for another number of instances.
    pub fn finish(self, reply: &Reply<Endemic>) -> Result<ReceiverKeys, Usage> {
        let Self { session, blinding, digest } = self;
        expect_count("instances in the reply", blinding.choices.len(), reply.instances())?;
        let strings = blinding.recover(&session, reply.as_bytes());
        // Without the secrets there is more memory.
        let choices = blinding.into_choices();
        let oracle = output(&session, &transcript(&session, &digest, reply));
        let question = |i: usize| (i as u64, choices.get(i).unwrap_u8(), strings[i]);
        let mut keys = vec![[0; 16]; strings.len()];
        oracle.ask(strings.len(), question, keys.as_flattened_mut());
        Ok(ReceiverKeys::new(choices, keys))
    }
}

/// Steps 5 to 8 and 12: answers the receiver's batch; the sender is then finished.
pub fn respond(
    session: Session,
    blinded: &Blinded<Endemic>,
    seed: Seed,
) -> (SenderKeys, Reply<Endemic>) {
    let mut reply = Reply::blank(blinded.instances());
    let (strings, condensed) = instances::reply(&session, blinded.phis(), &seed, &mut reply.bytes);
    let digest = blinded.digest(&session, &condensed);
    let oracle = output(&session, &transcript(&session, &digest, &reply));
    let question = |k: usize| {
        let (i, j) = (k / 2, u8::from(k % 2 == 1));
        (i as u64, j, strings[2 * i + usize::from(j)])
    };
    let mut keys = vec![[[0; 16]; 2]; strings.len() / 2];
    oracle.ask(strings.len(), question, keys.as_flattened_mut().as_flattened_mut());
    (SenderKeys::new(keys), reply)
}

/// The hash of both messages, of the digest of the `Blinded` and a `Reply`.
fn transcript(session: &Session, digest: &[u8; 32], reply: &Reply<Endemic>) -> [u8; 32] {
    let (oracle, mut transcript) =
        (session.oracle(const { Purpose::new("foxtrot v1 roted transcript") }), [0; 32]);
    oracle.answer(0, 0, &[digest, reply.as_bytes()], &mut transcript);
    transcript
}

/// The oracle for keys, apart for both messages.
fn output(session: &Session, transcript: &[u8; 32]) -> Keyed {
    session.keyed(const { Purpose::new("foxtrot v1 roted endemic output") }, &[transcript])
}

foxtrot_kernel::redacted! {
    Receiver, receiver => "<{} instances>", receiver.blinding.choices.len();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sid;

    #[test]
    fn the_key_hash_covers_instance_branch_string_and_transcript() {
        let session = Session::new(Sid::from_bytes([4; 32]));
        let key = |i, j, sk: u8, transcript: u8| {
            let (oracle, mut key) = (output(&session, &[transcript; 32]), [0; 16]);
            oracle.ask(1, |_| (i, j, [sk; 32]), &mut key);
            key
        };
        let here = key(3, 0, 1, 7);
        for there in [key(4, 0, 1, 7), key(3, 1, 1, 7), key(3, 0, 2, 7), key(3, 0, 1, 8)] {
            assert_ne!(here, there);
        }
    }
}
