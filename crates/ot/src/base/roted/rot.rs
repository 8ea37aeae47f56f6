//! F_ROT with abort: three messages, uniform keys and choices.
//!
//! # The transcript in the keys
//!
//! The proofs do not need it. It makes every change of
//! U, hints or a on the way a change of all keys of the batch, where a change of one U^j would spoil a key
//! only if c = j, and so tell c to a network that sees whether the keys are used. Of T it takes the digest
//! that H′ takes. In mode `roted` it takes, of each instance in `Reply`, a universal hash only: NH with a
//! Toeplitz key (Black, Halevi, Krawczyk, Krovetz, Rogaway, *UMAC*, CRYPTO 1999), whose key κ is an oracle
//! answer at t. Whatever `Reply` reaches R was fixed before anybody but R knew t; if it differs from S's,
//! hashes differ but for 2⁻¹²⁸ per batch and q_H/2²⁵⁶ for guessing t. If S answers only after a forged `Reply`
//! has made R open, its u is fresh; if `Blinded` was changed, β is another. R must not open before it has
//! `Reply`. R could make collisions, of what R itself receives. S keeps `Reply` until it has t. In endemic mode
//! there is no t, and τ covers `Reply` whole.

use alloc::vec;

use foxtrot_kernel::nh;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::{
    Blinded, Mode, Opening, Reply, Rot, check_batch,
    instances::{self, Blinding, REPLY_LEN},
};
use crate::{
    Bits, Misbehaved, Seed, Session, Usage,
    base::{ReceiverKeys, SenderKeys},
    choices::verdict,
    erase::{SecretBytes, Secrets},
    expect_count,
    oracle::{Keyed, Purpose},
};

const RECEIVER_BATCH: Purpose = Purpose::new("foxtrot v1 roted receiver batch");
const SENDER_BATCH: Purpose = Purpose::new("foxtrot v1 roted sender batch");

/// The receiver, waiting for the [`Reply`].
///
/// It answers one reply: `finish` consumes it. Two replies to one `Blinded` would share the choice
/// c, and with enough of them a sender learns s_R.
///
/// ```
/// # use foxtrot_ot::{Seed, Session, Sid, base::roted::rot::{Receiver, Sender}};
/// # let session = || Session::new(Sid::from_bytes([0; 32]));
/// # let seed = || Seed::from_bytes([0; 32]);
/// let (receiver, blinded) = Receiver::start(session(), 1, seed())?;
/// let (sender, reply) = Sender::respond(session(), &blinded, seed());
/// let (keys, opening) = receiver.finish(&reply)?;
/// let pairs = sender.finish(&opening)?;
/// assert!(pairs.pairs()[0].contains(&keys.keys()[0]));
/// # Ok::<(), foxtrot_ot::Error>(())
/// ```
///
/// ```compile_fail,E0382
/// # use foxtrot_ot::base::roted::{Reply, Rot, rot::Receiver};
/// # fn twice(receiver: Receiver, reply: &Reply<Rot>) {
/// let _ = receiver.finish(reply);
/// let _ = receiver.finish(reply);
/// # }
/// ```
#[must_use = "the protocol is not finished"]
pub struct Receiver {
    session: Session,
    blinding: Blinding,
    digest: [u8; 32],
    t: Zeroizing<[u8; 32]>,
}

/// The sender, waiting for the [`Opening`]. It has no keys to give before that is checked.
///
/// ```compile_fail,E0599
/// # use foxtrot_ot::base::roted::rot::Sender;
/// # fn unchecked(sender: &Sender) {
/// sender.pairs();
/// # }
/// ```
#[must_use = "the protocol is not finished"]
pub struct Sender {
    session: Session,
    /// Two for each instance.
    strings: Secrets,
    commitment: [u8; 32],
    /// Digest of the `Blinded`.
    digest: [u8; 32],
    /// Kept until there is the t under which it is hashed.
    reply: Reply<Rot>,
}

impl Receiver {
    /// Steps 1 to 4: begins a batch of n with choices of its own.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`].
    pub fn start(session: Session, n: usize, seed: Seed) -> Result<(Self, Blinded<Rot>), Usage> {
        check_batch(n)?;
        let (t, choices) = batch_coins(&session, RECEIVER_BATCH, &seed, n);
        let mut blinded = Blinded::blank(n);
        let (head, phis) = blinded.bytes.split_at_mut(Rot::BLINDED_HEAD);
        head.copy_from_slice(&commit(&session, &t));
        let (blinding, condensed) =
            instances::blind(&session, &instances::ROTED, choices, &seed, phis);
        let digest = blinded.digest(&session, &condensed);
        Ok((Self { session, blinding, digest, t: Zeroizing::new(t) }, blinded))
    }

    /// Steps 9, 10 and 12: the keys, and the opening without which the sender has none.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if the reply was decoded for another number of instances.
    pub fn finish(self, reply: &Reply<Rot>) -> Result<(ReceiverKeys, Opening), Usage> {
        let Self { session, blinding, digest, t } = self;
        expect_count("instances in the reply", blinding.choices.len(), reply.instances())?;
        let strings = blinding.recover(&session, reply.parts().1);
        // Without the secrets there is more memory.
        let choices = blinding.into_choices();
        let transcript = transcript(&session, &t, &digest, reply);
        let oracle = output(&session, &t, &reply.bytes[..32], &transcript);
        let question = |i: usize| (i as u64, choices.get(i).unwrap_u8(), strings[i]);
        let mut keys = vec![[0; 16]; strings.len()];
        oracle.ask(strings.len(), question, keys.as_flattened_mut());
        Ok((
            ReceiverKeys::new(choices.xor(&reply.a()), keys),
            Opening { bytes: t.to_vec(), n: reply.n },
        ))
    }
}

impl Sender {
    /// Steps 5 to 8: answers the receiver's batch.
    pub fn respond(session: Session, blinded: &Blinded<Rot>, seed: Seed) -> (Self, Reply<Rot>) {
        let n = blinded.instances();
        let (u, mut a) = batch_coins(&session, SENDER_BATCH, &seed, n);
        // The sender will go by these bits.
        a.make_public();

        let mut reply = Reply::blank(n);
        let (head, replies) = reply.bytes.split_at_mut(Rot::reply_head(n));
        head[..32].copy_from_slice(&u);
        head[32..].copy_from_slice(a.as_bytes());
        let (strings, condensed) = instances::reply(&session, blinded.phis(), &seed, replies);
        let commitment = blinded.bytes.as_chunks().0[0];
        let digest = blinded.digest(&session, &condensed);
        (Self { session, strings, commitment, digest, reply: reply.clone() }, reply)
    }

    /// Steps 11 and 12: checks the opening and gives the keys.
    ///
    /// # Errors
    /// [`Misbehaved::CommitmentMismatch`]: the receiver opened something else than it committed to.
    pub fn finish(self, opening: &Opening) -> Result<SenderKeys, Misbehaved> {
        let (reply, t) = (&self.reply, &opening.bytes.as_chunks().0[0]);
        if !verdict(commit(&self.session, t).ct_eq(&self.commitment)) {
            return Err(Misbehaved::CommitmentMismatch);
        }
        let transcript = transcript(&self.session, t, &self.digest, reply);
        let (a, oracle) = (reply.a(), output(&self.session, t, &reply.bytes[..32], &transcript));
        let question = |k: usize| {
            // The bit a is public: it was part of the reply.
            let (i, j) = (k / 2, a.get(k / 2).unwrap_u8() ^ u8::from(k % 2 == 1));
            (i as u64, j, self.strings[2 * i + usize::from(j)])
        };
        let mut keys = vec![[[0; 16]; 2]; self.strings.len() / 2];
        let answers = keys.as_flattened_mut().as_flattened_mut();
        oracle.ask(self.strings.len(), question, answers);
        Ok(SenderKeys::new(keys))
    }
}

/// 32 bytes and n bits for the whole batch.
fn batch_coins(session: &Session, context: Purpose, seed: &Seed, n: usize) -> ([u8; 32], Bits) {
    let mut coins = Zeroizing::new(vec![0; 32 + n.div_ceil(8)]);
    session.oracle(context).answer(0, 0, &[seed.as_bytes()], &mut coins);
    let (string, bits) = coins.split_at(32);
    (core::array::from_fn(|k| string[k]), Bits::from_random(bits.to_vec(), n))
}

/// The key, from t, under which replies are hashed: see [`transcript`].
fn nh_key(session: &Session, t: &[u8; 32]) -> SecretBytes {
    let mut key = SecretBytes::zeroed(nh::key_len(REPLY_LEN));
    session.oracle(const { Purpose::new("foxtrot v1 roted NH key") }).answer(0, 0, &[t], &mut key);
    key
}

/// The hash of both messages, of the digest of the `Blinded` and a `Reply`; of the instances in the
/// latter by a universal hash under t. A `Reply` that reaches the receiver was fixed before anybody
/// else knew t, so a party that changed it on the way does not know its hash.
fn transcript(session: &Session, t: &[u8; 32], digest: &[u8; 32], reply: &Reply<Rot>) -> [u8; 32] {
    let mut hashes = vec![[0; nh::HASH_LEN]; reply.instances()];
    let (head, instances) = reply.parts();
    nh::hash(session.backend(), &nh_key(session, t), instances, &mut hashes);
    let (oracle, mut transcript) =
        (session.oracle(const { Purpose::new("foxtrot v1 roted rot transcript") }), [0; 32]);
    oracle.answer(0, 0, &[digest, head, hashes.as_flattened()], &mut transcript);
    transcript
}

/// The oracle for keys, apart for everything that both parties have added.
fn output(session: &Session, t: &[u8; 32], u: &[u8], transcript: &[u8; 32]) -> Keyed {
    session.keyed(const { Purpose::new("foxtrot v1 roted rot output") }, &[t, u, transcript])
}

fn commit(session: &Session, t: &[u8; 32]) -> [u8; 32] {
    let (oracle, mut commitment) =
        (session.oracle(const { Purpose::new("foxtrot v1 roted commitment") }), [0; 32]);
    oracle.answer(0, 0, &[t], &mut commitment);
    commitment
}

foxtrot_kernel::redacted! {
    Receiver, receiver => "<{} instances>", receiver.blinding.choices.len();
    Sender, sender => "<{} instances>", sender.strings.len() / 2;
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::Sid;

    #[test]
    fn the_key_hash_covers_instance_branch_string_and_all_that_both_parties_add() {
        let session = Session::new(Sid::from_bytes([4; 32]));
        let key = |i, j, sk: u8, [t, u, transcript]: [u8; 3]| {
            let (oracle, mut key) =
                (output(&session, &[t; 32], &[u; 32], &[transcript; 32]), [0; 16]);
            oracle.ask(1, |_| (i, j, [sk; 32]), &mut key);
            key
        };
        let here = key(3, 0, 1, [7, 8, 9]);
        let there = [
            key(4, 0, 1, [7, 8, 9]),
            key(3, 1, 1, [7, 8, 9]),
            key(3, 0, 2, [7, 8, 9]),
            key(3, 0, 1, [6, 8, 9]),
            key(3, 0, 1, [7, 9, 9]),
            key(3, 0, 1, [7, 8, 8]),
        ];
        for there in there {
            assert_ne!(here, there);
        }
    }

    #[test]
    fn the_key_of_the_universal_hash_is_bound_to_t_and_session() {
        let session = |sid| Session::new(Sid::from_bytes([sid; 32]));
        let here = nh_key(&session(4), &[1; 32]);
        assert!(*here != *nh_key(&session(4), &[2; 32]));
        assert!(*here != *nh_key(&session(5), &[1; 32]));
    }

    #[test]
    fn the_transcript_covers_t_both_messages_and_the_order_of_their_parts() {
        const N: usize = 17;
        let session = Session::new(Sid::from_bytes([4; 32]));
        let mut bytes: Vec<u8> =
            (0..Reply::<Rot>::encoded_len(N)).map(|k| u8::try_from(k * k % 251).unwrap()).collect();
        let head = Reply::<Rot>::encoded_len(N) - N * REPLY_LEN;
        bytes[head - 1] &= 1;
        let of = |t, digest, bytes: &[u8]| {
            let reply = Reply::<Rot>::decode(bytes, N).unwrap();
            transcript(&session, &[t; 32], &[digest; 32], &reply)
        };
        let here = of(1, 2, &bytes);
        assert!(here != of(2, 2, &bytes) && here != of(1, 1, &bytes));
        for at in (0..bytes.len()).step_by(101).chain([31, 32, 33, head, bytes.len() - 1]) {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            // Bits of a that there are not make no message.
            if at != head - 1 {
                assert_ne!(here, of(1, 2, &changed), "{at}");
            }
        }
        // Branches, and instances, in another place.
        for (from, to, len) in [(0, REPLY_LEN / 2, REPLY_LEN / 2), (0, 16 * REPLY_LEN, REPLY_LEN)] {
            let mut changed = bytes.clone();
            let (low, high) = changed[head..].split_at_mut(to);
            low[from..from + len].swap_with_slice(&mut high[..len]);
            assert_ne!(here, of(1, 2, &changed));
        }
    }
}
