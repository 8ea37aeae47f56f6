//! F_ROT with abort: three messages, uniform keys and choices.

use alloc::{vec, vec::Vec};
use core::fmt;

use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::{
    Blinded, Opening, Reply, Rot, check_batch,
    instances::{self, Blinding, Sk, key_question},
    messages::View,
};
use crate::{
    Bits, Misbehaved, Seed, Session, Usage,
    base::{ReceiverKeys, SenderKeys},
    oracle::{Query, Wide},
};

/// The receiver, waiting for the [`Reply`].
///
/// It answers one reply: `finish` consumes it. Two replies to one `Blinded` would share the choice
/// c, and with enough of them a sender learns s_R.
///
/// ```
/// # use foxtrot_ot::{Seed, Session, Sid, base::roted::{Reply, Rot, rot::Receiver}};
/// # let session = || Session::new(Sid::from_bytes([0; 32]));
/// # let seed = Seed::from_bytes([0; 32]);
/// let (receiver, _blinded) = Receiver::start(session(), 1, seed)?;
/// let reply = Reply::<Rot>::decode(&[0; 2209], 1)?;
/// receiver.finish(&reply)?;
/// # Ok::<(), foxtrot_ot::Error>(())
/// ```
///
/// ```compile_fail,E0382
/// # use foxtrot_ot::{Seed, Session, Sid, base::roted::{Reply, Rot, rot::Receiver}};
/// # let session = || Session::new(Sid::from_bytes([0; 32]));
/// # let seed = Seed::from_bytes([0; 32]);
/// let (receiver, _blinded) = Receiver::start(session(), 1, seed)?;
/// let reply = Reply::<Rot>::decode(&[0; 2209], 1)?;
/// receiver.finish(&reply)?;
/// receiver.finish(&reply)?;
/// # Ok::<(), foxtrot_ot::Error>(())
/// ```
#[must_use = "the protocol is not finished"]
pub struct Receiver {
    session: Session,
    blinding: Blinding,
    transcript: Query,
    t: Zeroizing<[u8; 32]>,
}

/// The sender, waiting for the [`Opening`]. It has no keys to give before that is checked.
///
/// ```
/// # use foxtrot_ot::{Seed, Session, Sid, base::roted::rot::{Receiver, Sender}};
/// # let session = || Session::new(Sid::from_bytes([0; 32]));
/// # let seed = || Seed::from_bytes([0; 32]);
/// # let (receiver, blinded) = Receiver::start(session(), 1, seed())?;
/// let (sender, reply) = Sender::respond(session(), &blinded, seed());
/// let (_, opening) = receiver.finish(&reply)?;
/// sender.finish(&opening)?.pairs();
/// # Ok::<(), foxtrot_ot::Error>(())
/// ```
///
/// ```compile_fail,E0599
/// # use foxtrot_ot::{Seed, Session, Sid, base::roted::rot::{Receiver, Sender}};
/// # let session = || Session::new(Sid::from_bytes([0; 32]));
/// # let seed = || Seed::from_bytes([0; 32]);
/// # let (receiver, blinded) = Receiver::start(session(), 1, seed())?;
/// let (sender, reply) = Sender::respond(session(), &blinded, seed());
/// let (_, opening) = receiver.finish(&reply)?;
/// sender.pairs();
/// # Ok::<(), foxtrot_ot::Error>(())
/// ```
#[must_use = "the protocol is not finished"]
pub struct Sender {
    session: Session,
    strings: Zeroizing<Vec<[Sk; 2]>>,
    commitment: [u8; 32],
    u: [u8; 32],
    a: Bits,
    transcript: [u8; 32],
}

impl Receiver {
    /// Steps 1 to 4: begins a batch of n with choices of its own.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`].
    pub fn start(session: Session, n: usize, seed: Seed) -> Result<(Self, Blinded<Rot>), Usage> {
        check_batch(n)?;
        let (t, choices) = batch_coins(&session, "foxtrot v1 roted receiver batch", &seed, n);

        let mut blinded = Blinded::blank(n);
        blinded.head_mut().copy_from_slice(&commit(&session, &t));
        let blinding =
            instances::blind(&session, &instances::ROTED, choices, &seed, blinded.phis_mut());
        let transcript = blinded.view().transcript(&session);
        Ok((Self { session, blinding, transcript, t: Zeroizing::new(t) }, blinded))
    }

    /// Steps 9, 10 and 12: the keys, and the opening without which the sender has none.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if the reply was decoded for another number of instances.
    pub fn finish(self, reply: &Reply<Rot>) -> Result<(ReceiverKeys, Opening), Usage> {
        self.finish_with(reply.view())
    }

    pub(super) fn finish_with(self, reply: View<'_>) -> Result<(ReceiverKeys, Opening), Usage> {
        let choices = self.blinding.choices();
        reply.expect_instances(choices.len())?;
        let strings = self.blinding.recover(reply.instances_bytes());
        let transcript: [u8; 32] = self.transcript.field(reply.as_bytes()).finish();
        let oracle = self.session.oracle("foxtrot v1 roted rot output");
        let common = [self.t.as_slice(), reply.u(), &transcript];
        let question = |i: usize| key_question(i, choices.get(i).unwrap_u8(), &strings[i], &common);
        let mut keys = vec![[0; 16]; strings.len()];
        let answers = keys.as_flattened_mut();
        Wide::new(self.session.backend()).ask(&oracle, strings.len(), question, answers);
        Ok((ReceiverKeys::new(choices.xor(&reply.a()), keys), Opening(*self.t)))
    }
}

impl Sender {
    /// Steps 5 to 8: answers the receiver's batch.
    pub fn respond(session: Session, blinded: &Blinded<Rot>, seed: Seed) -> (Self, Reply<Rot>) {
        Self::respond_to(session, blinded.view(), seed)
    }

    pub(super) fn respond_to(
        session: Session,
        blinded: View<'_>,
        seed: Seed,
    ) -> (Self, Reply<Rot>) {
        let n = blinded.instances();
        let (u, a) = batch_coins(&session, "foxtrot v1 roted sender batch", &seed, n);

        let mut reply = Reply::blank(n);
        reply.set_head(&u, &a);
        let strings = instances::reply(
            &session,
            blinded.instances_bytes(),
            &seed,
            reply.instances_bytes_mut(),
        );
        let commitment = core::array::from_fn(|k| blinded.head()[k]);
        let transcript = blinded.transcript(&session).field(reply.as_bytes()).finish();
        (Self { session, strings, commitment, u, a, transcript }, reply)
    }

    /// Steps 11 and 12: checks the opening and gives the keys.
    ///
    /// # Errors
    /// [`Misbehaved::CommitmentMismatch`]: the receiver opened something else than it committed to.
    pub fn finish(self, opening: &Opening) -> Result<SenderKeys, Misbehaved> {
        if !bool::from(commit(&self.session, &opening.0).ct_eq(&self.commitment)) {
            return Err(Misbehaved::CommitmentMismatch);
        }
        let oracle = self.session.oracle("foxtrot v1 roted rot output");
        let common = [&opening.0, &self.u, &self.transcript].map(<[u8; 32]>::as_slice);
        let question = |k: usize| {
            // The bit a is public: it was part of the reply.
            let (i, j) = (k / 2, self.a.get(k / 2).unwrap_u8() ^ u8::from(k % 2 == 1));
            key_question(i, j, &self.strings[i][usize::from(j)], &common)
        };
        let mut keys = vec![[[0; 16]; 2]; self.strings.len()];
        let answers = keys.as_flattened_mut().as_flattened_mut();
        Wide::new(self.session.backend()).ask(&oracle, 2 * self.strings.len(), question, answers);
        Ok(SenderKeys::new(keys))
    }
}

/// 32 bytes and n bits for the whole batch.
fn batch_coins(
    session: &Session,
    context: &'static str,
    seed: &Seed,
    n: usize,
) -> ([u8; 32], Bits) {
    let mut coins = Zeroizing::new(vec![0; 32 + n.div_ceil(8)]);
    session.oracle(context).query(0, 0).field(seed.as_bytes()).fill(&mut coins);
    let (string, bits) = coins.split_at(32);
    (core::array::from_fn(|k| string[k]), Bits::from_random(bits.to_vec(), n))
}

fn commit(session: &Session, t: &[u8; 32]) -> [u8; 32] {
    session.oracle("foxtrot v1 roted commitment").query(0, 0).field(t).finish()
}

impl fmt::Debug for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Receiver(<{} instances>)", self.blinding.choices().len())
    }
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sender(<{} instances>)", self.strings.len())
    }
}
