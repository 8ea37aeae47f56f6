//! Endemic OT: two messages, choices given.

use alloc::vec;
use core::fmt;

use super::{
    Blinded, Endemic, Reply, check_batch,
    instances::{self, Blinding, key_question},
    messages::View,
};
use crate::{
    Bits, Seed, Session, Usage,
    base::{ReceiverKeys, SenderKeys},
    oracle::{Query, Wide},
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
/// # use foxtrot_ot::{Bits, Seed, Session, Sid, base::roted::{Endemic, Reply, endemic::Receiver}};
/// # let session = Session::new(Sid::from_bytes([0; 32]));
/// # let (choices, seed) = (Bits::from_bools([true]), Seed::from_bytes([0; 32]));
/// let (receiver, _blinded) = Receiver::start(session, choices, seed)?;
/// let reply = Reply::<Endemic>::decode(&[0; 2176], 1)?;
/// receiver.finish(&reply)?;
/// receiver.finish(&reply)?;
/// # Ok::<(), foxtrot_ot::Error>(())
/// ```
///
/// Nor does a message of the other mode fit:
///
/// ```compile_fail,E0308
/// # use foxtrot_ot::{Bits, Seed, Session, Sid, base::roted::{Reply, Rot, endemic::Receiver}};
/// # let session = Session::new(Sid::from_bytes([0; 32]));
/// # let (choices, seed) = (Bits::from_bools([true]), Seed::from_bytes([0; 32]));
/// let (receiver, _blinded) = Receiver::start(session, choices, seed)?;
/// let reply = Reply::<Rot>::decode(&[0; 2209], 1)?;
/// receiver.finish(&reply)?;
/// # Ok::<(), foxtrot_ot::Error>(())
/// ```
#[must_use = "the protocol is not finished"]
pub struct Receiver {
    session: Session,
    blinding: Blinding,
    transcript: Query,
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
        let blinding =
            instances::blind(&session, &instances::ROTED, choices, &seed, blinded.phis_mut());
        let transcript = blinded.view().transcript(&session);
        Ok((Self { session, blinding, transcript }, blinded))
    }

    /// Steps 9 and 12: the chosen keys.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if the reply was decoded for another number of instances.
    pub fn finish(self, reply: &Reply<Endemic>) -> Result<ReceiverKeys, Usage> {
        self.finish_with(reply.view())
    }

    pub(super) fn finish_with(self, reply: View<'_>) -> Result<ReceiverKeys, Usage> {
        let choices = self.blinding.choices();
        reply.expect_instances(choices.len())?;
        let strings = self.blinding.recover(reply.instances_bytes());
        let transcript: [u8; 32] = self.transcript.field(reply.as_bytes()).finish();
        let oracle = self.session.oracle("foxtrot v1 roted endemic output");
        let common = [transcript.as_slice()];
        let question = |i: usize| key_question(i, choices.get(i).unwrap_u8(), &strings[i], &common);
        let mut keys = vec![[0; 16]; strings.len()];
        let answers = keys.as_flattened_mut();
        Wide::new(self.session.backend()).ask(&oracle, strings.len(), question, answers);
        Ok(ReceiverKeys::new(self.blinding.into_choices(), keys))
    }
}

/// Steps 5 to 8 and 12: answers the receiver's batch; the sender is then finished.
pub fn respond(
    session: Session,
    blinded: &Blinded<Endemic>,
    seed: Seed,
) -> (SenderKeys, Reply<Endemic>) {
    respond_to(session, blinded.view(), seed)
}

pub(super) fn respond_to(
    session: Session,
    blinded: View<'_>,
    seed: Seed,
) -> (SenderKeys, Reply<Endemic>) {
    let mut reply = Reply::blank(blinded.instances());
    let strings =
        instances::reply(&session, blinded.instances_bytes(), &seed, reply.instances_bytes_mut());
    let transcript: [u8; 32] = blinded.transcript(&session).field(reply.as_bytes()).finish();
    let oracle = session.oracle("foxtrot v1 roted endemic output");
    let common = [transcript.as_slice()];
    let question = |k: usize| {
        let (i, j) = (k / 2, u8::from(k % 2 == 1));
        key_question(i, j, &strings[i][usize::from(j)], &common)
    };
    let mut keys = vec![[[0; 16]; 2]; strings.len()];
    let answers = keys.as_flattened_mut().as_flattened_mut();
    Wide::new(session.backend()).ask(&oracle, 2 * strings.len(), question, answers);
    (SenderKeys::new(keys), reply)
}

impl fmt::Debug for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Receiver(<{} instances>)", self.blinding.choices().len())
    }
}
