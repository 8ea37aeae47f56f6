//! The second hello: a proof that its sender has heard ours now, work if we asked for some, and what only a peer may know
//! that wants what we want (`docs/wire/README.md`, section 3).

use foxtrot_ot::{Session, Sid, oracle::Oracle};

use super::{Hello, LEAST_KEYS, MAX_BYTES, MOST_KEYS, MOST_PUZZLE_BITS, PUZZLE, Table, codec};
use crate::HelloError;

/// Our details: it takes about 2^puzzle hashes.
pub(super) fn make(
    greeting: &Session,
    by_initiator: bool,
    puzzle: u8,
    details: &Table,
) -> Result<Vec<u8>, HelloError> {
    let oracle = oracle_of_puzzle(greeting);
    let solution = (0..=u64::MAX).find(|&x| solves(&oracle, by_initiator, puzzle, x));
    encode(&confirmation(greeting, by_initiator), solution.unwrap_or_default(), details)
}

pub(super) fn encode(
    confirmation: &[u8; 32],
    solution: u64,
    details: &Table,
) -> Result<Vec<u8>, HelloError> {
    let mut bytes = [confirmation.as_slice(), &solution.to_le_bytes()].concat();
    codec::encode_table(&mut bytes, details)?;
    match bytes.len() {
        0..=MAX_BYTES => Ok(bytes),
        _ => Err(HelloError::TooLong { what: "second hello", max: MAX_BYTES }),
    }
}

/// The peer's details, if it has heard our hello and solved our puzzle.
pub(super) fn check(
    greeting: &Session,
    by_initiator: bool,
    puzzle: u8,
    bytes: &[u8],
) -> Result<Table, HelloError> {
    let (sent, solution, details) = decode(bytes).ok_or(HelloError::MalformedDetails)?;
    if sent != confirmation(greeting, by_initiator) {
        return Err(HelloError::Confirmation);
    }
    let solved = solves(&oracle_of_puzzle(greeting), by_initiator, puzzle, solution);
    if solved { Ok(details) } else { Err(HelloError::Unsolved) }
}

fn decode(bytes: &[u8]) -> Option<([u8; 32], u64, Table)> {
    let mut rest = codec::Rest(bytes);
    let decoded = (rest.array()?, rest.array().map(u64::from_le_bytes)?, rest.table()?);
    rest.ended().then_some(decoded)
}

/// The session's id, of both hellos and both details.
pub(super) fn sid(greeting: &Session, [initiators, responders]: [&[u8]; 2]) -> Sid {
    let query = greeting.oracle("foxtrot v1 session id").query(0, 0);
    Sid::from_bytes(query.field(initiators).field(responders).finish())
}

/// The puzzle that the responder sets us if we are the initiator. An initiator sets none: a stranger would choose how
/// long a server computes.
pub(super) fn puzzle_of(initiator: bool, offers: &Table) -> Result<u8, HelloError> {
    if !offers.contains_key(PUZZLE) {
        return Ok(0);
    }
    let bits = decimal(offers, PUZZLE).and_then(|bits| u8::try_from(bits).ok());
    let bits = bits.filter(|bits| initiator && *bits <= MOST_PUZZLE_BITS);
    bits.ok_or_else(|| offered(offers, PUZZLE))
}

impl Hello {
    /// Fails unless the peer's offers accept as many keys as this hello tells.
    ///
    /// # Errors
    /// [`HelloError::TooManyKeys`], [`HelloError::TooFewKeys`], [`HelloError::Offer`].
    pub fn check_offers(&self, offers: &Table) -> Result<(), HelloError> {
        if self.keys.is_empty() {
            return Ok(());
        }
        let most = decimal(offers, MOST_KEYS).ok_or_else(|| offered(offers, MOST_KEYS))?;
        let least = match offers.contains_key(LEAST_KEYS) {
            true => decimal(offers, LEAST_KEYS).ok_or_else(|| offered(offers, LEAST_KEYS))?,
            false => 0,
        };
        self.keys.iter().try_for_each(|&keys| match keys {
            _ if keys > most => Err(HelloError::TooManyKeys { ours: keys, most }),
            _ if keys < least => Err(HelloError::TooFewKeys { ours: keys, least }),
            _ => Ok(()),
        })
    }
}

fn offered(offers: &Table, key: &'static str) -> HelloError {
    HelloError::Offer { key, value: offers.get(key).cloned() }
}

fn decimal(table: &Table, key: &str) -> Option<u64> {
    codec::decimal(table.get(key)?.as_bytes())
}

fn confirmation(greeting: &Session, by_initiator: bool) -> [u8; 32] {
    greeting.oracle("foxtrot v1 confirmation").query(0, side(by_initiator)).finish()
}

fn oracle_of_puzzle(greeting: &Session) -> Oracle {
    greeting.oracle("foxtrot v1 puzzle")
}

/// Tells whether the first bits of the answer to x are zero; without a puzzle, whether x is.
fn solves(oracle: &Oracle, by_initiator: bool, puzzle: u8, x: u64) -> bool {
    if puzzle == 0 {
        return x == 0;
    }
    let answer: [u8; 4] = oracle.query(x, side(by_initiator)).finish();
    u32::from_le_bytes(answer).trailing_zeros() >= u32::from(puzzle)
}

fn side(initiator: bool) -> u8 {
    u8::from(!initiator)
}
