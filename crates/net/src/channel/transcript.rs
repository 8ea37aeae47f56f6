//! Hashes of what goes over a channel (`docs/wire.md`, section 2).

use foxtrot_ot::{
    Session, Sid,
    oracle::{Oracle, Query},
};

use super::{Lane, PerLane};

/// A hash of all that both sides have sent and received.
pub type Transcript = [u8; 32];

/// What went one way, lane by lane.
pub(super) struct Tally(PerLane<Option<Query>>);

/// The session whose transcript is kept.
pub(super) struct Scope {
    session: Session,
    initiator: bool,
}

impl Scope {
    pub(super) fn new(sid: Sid, initiator: bool) -> Self {
        Self { session: Session::new(sid), initiator }
    }

    /// What we send, and what the peer sends.
    pub(super) fn begin(&self) -> [Tally; 2] {
        let oracle = self.session.oracle("foxtrot v2 frames");
        [!self.initiator, self.initiator].map(|side| Tally::begin(&oracle, u8::from(side)))
    }

    /// Of what we have sent and received so far.
    pub(super) fn transcript(&self, told: &Tally, heard: &Tally) -> Transcript {
        let [initiators, responders] = if self.initiator { [told, heard] } else { [heard, told] };
        let hashes: Vec<_> = lanes()
            .flat_map(|lane| [initiators, responders].map(|tally| tally.hash(lane)))
            .flatten()
            .collect();
        let query = self.session.oracle("foxtrot v2 transcript").query(0, 0);
        query.field(hashes.as_flattened()).finish()
    }
}

impl Tally {
    fn begin(oracle: &Oracle, side: u8) -> Self {
        let mut tally = Self(PerLane::default());
        for lane in lanes() {
            tally.0[lane] = Some(oracle.query(lane.index().into(), side));
        }
        tally
    }

    /// The next frame of the lane.
    pub(super) fn frame(&mut self, lane: Lane, payload: &[u8]) {
        let all = &mut self.0[lane];
        *all = all.take().map(|before| before.field(payload));
    }

    fn hash(&self, lane: Lane) -> Option<[u8; 32]> {
        self.0[lane].clone().map(Query::finish)
    }
}

/// Those of protocols.
fn lanes() -> impl Iterator<Item = Lane> {
    (Lane::PROTOCOL.index()..Lane::COUNT).filter_map(Lane::new)
}
