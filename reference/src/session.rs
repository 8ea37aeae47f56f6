//! The messages on a connection before and after a job's messages: hello, details and closing, as in
//! `docs/wire/README.md`, sections 2 and 3.

use crate::oracle::{Id, oracle, oracle32, session_id};

/// Strings by strings, in ascending order.
pub type Table<'a> = &'a [(&'a str, &'a str)];

/// Contents of a side's messages in a session without TLS.
#[derive(Debug)]
pub struct Side<'a> {
    /// 0: sender, 1: receiver.
    pub role: u8,
    /// Its nonce.
    pub nonce: [u8; 32],
    /// Terms, which both sides want.
    pub terms: Table<'a>,
    /// Offers, which the side sends at once.
    pub offers: Table<'a>,
    /// Details, which the side tells a peer that wants the same.
    pub details: Table<'a>,
}

/// Two sides that agree, the initiator first: their first frames, and the session's id.
#[derive(Debug)]
pub struct Agreed {
    /// Both hellos.
    pub hellos: [Vec<u8>; 2],
    /// Both details.
    pub details: [Vec<u8>; 2],
    /// The session's id.
    pub sid: Id,
}

/// Returns what the two sides say, the initiator being the first; neither asks for work.
#[must_use]
pub fn agree(sides: [&Side; 2]) -> Agreed {
    let hellos = sides.map(hello);
    let greeting = session_id(&hellos[0], &hellos[1], &[]);
    let of = |side: u8| {
        let confirmation = oracle("foxtrot v1 confirmation", &greeting, 0, side, &[], 32);
        let x = 0_u64.to_le_bytes();
        [confirmation, x.to_vec(), table(sides[usize::from(side)].details)].concat()
    };
    let details = [of(0), of(1)];
    let sid = oracle32("foxtrot v1 session id", &greeting, 0, 0, &[&details[0], &details[1]]);
    Agreed { hellos, details, sid }
}

fn hello(side: &Side) -> Vec<u8> {
    let version = 1_u16.to_le_bytes();
    let no_fingerprint = 0;
    let head = [&b"FOXTROT\0"[..], &version, &side.nonce, &[side.role, no_fingerprint]].concat();
    [head, table(side.terms), table(side.offers)].concat()
}

fn table(entries: Table) -> Vec<u8> {
    let short = |length: usize| u16::try_from(length).expect("short").to_le_bytes();
    let mut bytes = short(entries.len()).to_vec();
    for (key, value) in entries {
        bytes.push(u8::try_from(key.len()).expect("short"));
        bytes.extend(key.as_bytes());
        bytes.extend(short(value.len()));
        bytes.extend(value.as_bytes());
    }
    bytes
}

/// Returns the transcript of frames on lanes 1 to 7, those of the initiator and those of the responder.
#[must_use]
pub fn transcript(sid: &Id, frames: [&[(u8, Vec<u8>)]; 2]) -> [u8; 32] {
    let mut hashes = vec![];
    for lane in 1..8 {
        for side in [0, 1] {
            let of_lane = frames[usize::from(side)].iter().filter(|(it, _)| *it == lane);
            let payloads: Vec<&[u8]> = of_lane.map(|(_, payload)| &payload[..]).collect();
            hashes.extend(oracle("foxtrot v1 frames", sid, lane.into(), side, &payloads, 32));
        }
    }
    oracle32("foxtrot v1 transcript", sid, 0, 0, &[&hashes])
}

/// Returns the closing's first step.
#[must_use]
pub fn received(transcript: &[u8; 32]) -> Vec<u8> {
    [&[0], &transcript[..]].concat()
}
