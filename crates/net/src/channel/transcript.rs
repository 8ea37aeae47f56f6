//! Hashes of what goes over a channel (`docs/wire/README.md`, section 2).

use foxtrot_ot::{
    Session, Sid,
    oracle::{Oracle, Query},
};

use super::{Lane, PerLane};

/// A hash of all that both sides have sent and received.
pub type Transcript = [u8; 32];

/// Hashes of what went one way in a session, lane by lane. A lane takes memory when its first frame goes.
pub(crate) struct Tally {
    frames: Oracle,
    /// The oracle of both ways together.
    both: Oracle,
    side: u8,
    lanes: PerLane<Option<Box<Query>>>,
}

impl Tally {
    /// Begins the tallies of what we send, and of what the peer sends.
    pub(crate) fn of_both(sid: Sid, initiator: bool) -> [Self; 2] {
        let session = Session::new(sid);
        [!initiator, initiator].map(|side| Self {
            frames: session.oracle("foxtrot v1 frames"),
            both: session.oracle("foxtrot v1 transcript"),
            side: u8::from(side),
            lanes: PerLane::default(),
        })
    }

    pub(crate) fn frame(&mut self, lane: Lane, payload: &[u8]) {
        if lane != Lane::HELLO {
            let before = self.lanes[lane.place()].take();
            let mut all = before.unwrap_or_else(|| Box::new(self.fresh(lane)));
            *all = all.field(payload);
            self.lanes[lane.place()] = Some(all);
        }
    }

    /// The transcript of what has gone so far this way, and the other way by its tally.
    pub(crate) fn transcript(&self, other: &Self) -> Transcript {
        let [initiators, responders] = if self.side == 0 { [self, other] } else { [other, self] };
        let hashes: Vec<_> = Lane::of_protocols()
            .flat_map(|lane| [initiators, responders].map(|tally| tally.hash(lane)))
            .collect();
        self.both.query(0, 0).field(hashes.as_flattened()).finish()
    }

    fn hash(&self, lane: Lane) -> [u8; 32] {
        let all = self.lanes[lane.place()].as_deref().cloned();
        all.unwrap_or_else(|| self.fresh(lane)).finish()
    }

    fn fresh(&self, lane: Lane) -> Query {
        self.frames.query(lane.index().into(), self.side)
    }
}

foxtrot_ot::erase::redacted! {
    Tally;
}
