//! Hashes of what goes over a channel (`docs/wire/README.md`, section 2).

use foxtrot_ot::{
    Session, Sid,
    oracle::{Oracle, Query},
};

use super::{Lane, PerLane};

/// A hash of all that both sides have sent and received.
pub type Transcript = [u8; 32];

/// Hashes of what went one way, lane by lane. A lane takes memory when its first frame goes.
pub(crate) struct Tally {
    oracle: Oracle,
    side: u8,
    lanes: PerLane<Option<Box<Query>>>,
}

/// The session whose transcript is kept.
pub(crate) struct Scope {
    session: Session,
    initiator: bool,
}

impl Scope {
    pub(crate) fn new(sid: Sid, initiator: bool) -> Self {
        Self { session: Session::new(sid), initiator }
    }

    /// Begins the tallies of what we send, and of what the peer sends.
    pub(crate) fn begin(&self) -> [Tally; 2] {
        let oracle = self.session.oracle("foxtrot v1 frames");
        [!self.initiator, self.initiator].map(|side| Tally::begin(&oracle, u8::from(side)))
    }

    /// The transcript of what we have sent and received so far.
    pub(crate) fn transcript(&self, told: &Tally, heard: &Tally) -> Transcript {
        let [initiators, responders] = if self.initiator { [told, heard] } else { [heard, told] };
        let hashes: Vec<_> = Lane::of_protocols()
            .flat_map(|lane| [initiators, responders].map(|tally| tally.hash(lane)))
            .collect();
        let query = self.session.oracle("foxtrot v1 transcript").query(0, 0);
        query.field(hashes.as_flattened()).finish()
    }
}

impl Tally {
    fn begin(oracle: &Oracle, side: u8) -> Self {
        Self { oracle: oracle.clone(), side, lanes: PerLane::default() }
    }

    /// The next frame of the lane.
    pub(crate) fn frame(&mut self, lane: Lane, payload: &[u8]) {
        if lane != Lane::HELLO {
            let before = self.lanes[lane].take();
            let mut all = before.unwrap_or_else(|| Box::new(self.fresh(lane)));
            *all = all.field(payload);
            self.lanes[lane] = Some(all);
        }
    }

    fn hash(&self, lane: Lane) -> [u8; 32] {
        let all = self.lanes[lane].as_deref().cloned();
        all.unwrap_or_else(|| self.fresh(lane)).finish()
    }

    fn fresh(&self, lane: Lane) -> Query {
        self.oracle.query(lane.index().into(), self.side)
    }
}

foxtrot_ot::erase::redacted! {
    Tally;
    Scope;
}
