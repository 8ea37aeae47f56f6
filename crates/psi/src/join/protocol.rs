//! The messages after the tags, in the order of both protocols (`docs/wire/join.md`, section 23).

use alloc::vec::Vec;

use foxtrot_ot::{
    Usage,
    engine::{Abandoned, Io, batches::window_limits},
    expect_len,
};

use super::{Claimed, Join, JoinTerms, Keys, Matches, Store, claims::COUNT};
use crate::{Error, Received};

/// The receiver of a join, to which everything has come.
#[derive(Debug)]
pub struct Joined {
    join: Join,
    state: State,
}

/// Tags are compared after the session, unless the sender learns how many match.
#[derive(Debug)]
enum State {
    Apart(Received),
    Compared(Matches),
}

/// The sender's part after its tags. It learns which of its items match, if that was agreed on.
pub(crate) async fn send(
    io: &Io,
    join: &Join,
    keys: &Keys,
    [receiver_items, tags]: [usize; 2],
    mut payload: impl FnMut(usize, &mut [u8]) -> Result<(), Abandoned>,
    mut count: impl FnMut(usize),
) -> Result<Vec<usize>, Error> {
    let most = receiver_items.min(tags);
    io.limit(window_limits(join.terms.longest(tags, most)));
    for frame in join.payload_frames(tags) {
        let items = frame.len();
        io.send(join.seal(keys, frame, &mut payload)?).await;
        count(items);
    }
    if !join.terms.both || tags == 0 {
        return Ok(Vec::new());
    }
    let mut claimed = Claimed::new(join, keys, &io.recv(COUNT).await, most)?;
    for len in claimed.frames() {
        claimed.take(&io.recv(len).await)?;
    }
    claimed.finish()
}

/// The receiver's part after the tags.
pub(crate) async fn receive(
    io: &Io,
    join: Join,
    tags: usize,
    received: Received,
    store: &mut (impl Store + ?Sized),
    mut count: impl FnMut(usize),
) -> Result<Joined, Error> {
    io.limit(window_limits(join.terms.longest(tags, 0)));
    for frame in join.payload_frames(tags) {
        let expected = join.terms.sender_bytes(frame.len());
        let bytes = io.recv(expected).await;
        expect_len("Payloads", &bytes, expected)?;
        store.keep(bytes).map_err(|_| Usage::Abandoned)?;
        count(frame.len());
    }
    if !join.terms.both || tags == 0 {
        return Ok(Joined { join, state: State::Apart(received) });
    }
    let matches = received.matches()?;
    // A sender with damaged payloads learns nothing.
    if join.terms.payload.is_some() {
        join.open(&matches, store, |_, _| ())?;
    }
    for message in join.claim(&matches) {
        io.send(message).await;
    }
    Ok(Joined { join, state: State::Compared(matches) })
}

impl Joined {
    /// The indices, ascending, of the items that the sender also has; `take` gets the payload of each, if there are payloads, in the
    /// order of tags. After the session: its time depends on the sets. If there is an error, nothing that `take` got is
    /// to be used.
    ///
    /// # Errors
    /// [`Misbehaved::Payload`](foxtrot_ot::Misbehaved::Payload) if a payload does not belong to its item; [`Usage::Abandoned`] if the
    /// store does not give back what it kept.
    pub fn open(
        self,
        store: &mut (impl Store + ?Sized),
        take: impl FnMut(usize, &[u8]),
    ) -> Result<Vec<usize>, Error> {
        let matches = match self.state {
            State::Apart(received) if self.join.terms == JoinTerms::NONE => {
                return received.intersect();
            }
            State::Apart(received) => received.matches()?,
            State::Compared(matches) => matches,
        };
        if self.join.terms.payload.is_some() {
            self.join.open(&matches, store, take)?;
        }
        Ok(matches.indices())
    }
}
