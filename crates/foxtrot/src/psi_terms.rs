//! Terms of `psi`, as hellos name them (`docs/wire/README.md`, section 3).

mod function;

use core::ops::RangeInclusive;

pub use foxtrot_net::hello::{FUNCTION, SHARDS};
use foxtrot_net::{
    HelloError,
    hello::{self, Hello, JOB, KEYS, Role, Table, hexadecimal, numbered},
};
use foxtrot_psi::{MAX_ITEMS, method};

pub use function::Function;

/// The term of the least number of common keys that a count or a sum tells.
pub const MIN_COUNT: &str = "min-count";
/// The term of the largest number that a sum may have.
pub const LARGEST: &str = "largest";
/// The detail that names columns of the sender, a line each: those that the receiver asks for, or that the sender gives.
pub const COLUMNS: &str = "columns";
/// The detail that names the sender's column whose values are added.
pub const VALUE: &str = "value";
/// The term of the bytes to which fields of the sender's columns are padded.
pub const WIDTH: &str = "width";
/// The term of which of several rows of the sender with one key is taken: `refuse`, `first` or `last`.
pub const DUPLICATES: &str = "duplicates";
/// The term of the bytes of a payload that is no columns.
pub const PAYLOAD: &str = "payload";
/// The detail that asks for one of several sets, by its name.
pub const SET: &str = "set";
/// The term of what `psi` may rest on.
pub const ASSUMPTION: &str = "assumption";
/// The term of how keys of `psi` are normalised.
pub const NORMALIZE: &str = "normalize";
/// The term of how further keys of `psi` are normalised, ` | ` between them.
pub const OR_NORMALIZE: &str = "or-normalize";
/// The detail that tells which columns each side's keys are from: for people, who compare them.
pub const KEY_COLUMNS: &str = "key-columns";
/// The most bytes of the names of key columns.
const MAX_COLUMNS: usize = 255;
/// Terms that are not among those to which a ticket of shards is bound: the terms of a single shard, and what the receiver
/// learns of a match.
pub const NOT_OF_A_DIVISION: [&str; 8] =
    [SHARDS, DIVISION, SHARD, ATTEMPT, FUNCTION, WIDTH, DUPLICATES, PAYLOAD];
/// The term of the agreement on shards.
const DIVISION: &str = "division";
/// The term of a shard's number.
const SHARD: &str = "shard";
/// The term of the number of earlier attempts at a shard.
const ATTEMPT: &str = "attempt";

/// The hello of `psi`, with how many keys there are here and how many the peer may have.
#[must_use]
pub fn psi(
    role: Role,
    method: &method::Method,
    normalize: &str,
    keys: usize,
    most: usize,
) -> Hello {
    Hello::new(role)
        .term(JOB, "psi")
        .term("base", method.base.info().name)
        .term(ASSUMPTION, method.assumption)
        .term("adversary", method.adversary)
        .term(NORMALIZE, normalize)
        .keys(keys as u64, most as u64)
}

/// Adds the names of the columns of one of several keys, from 0, if they have names. What is longer than 255 bytes is cut.
#[must_use]
pub fn key_columns(hello: Hello, number: usize, names: Option<&[String]>) -> Hello {
    match names {
        Some(names) => hello.detail(&numbered(KEY_COLUMNS, number), joined(names)),
        None => hello,
    }
}

/// Names of columns as the peer gets them.
#[must_use]
pub fn joined(names: &[String]) -> String {
    let mut all = names.join(", ");
    let end = (0..=MAX_COLUMNS.min(all.len())).rev().find(|&end| all.is_char_boundary(end));
    all.truncate(end.unwrap_or_default());
    all
}

/// Returns true if the peer of the side with this hello learns something of its set: as a receiver of `psi`, or where both
/// sides learn the result.
#[must_use]
pub fn peer_learns(hello: &Hello) -> bool {
    let both = matches!(hello.term_of(FUNCTION), Some("both" | "count" | "sum"));
    hello.term_of(JOB) == Some("psi") && (both || hello.role() == Role::Sender)
}

/// A shard of `psi` on many machines, as the terms of its session name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The digest of everything on which both sides agreed for all shards.
    pub division: [u8; 32],
    /// The number of shards.
    pub of: u32,
    /// The number of this one, from 0.
    pub number: u32,
    /// The number of earlier attempts.
    pub attempt: u32,
    /// The digest of the terms under which both sides agreed, without [`NOT_OF_A_DIVISION`]. The hello does not name it: it is
    /// part of `division`.
    pub terms: [u8; 32],
}

/// The hello of the session of a shard.
#[must_use]
pub fn of_shard(hello: Hello, shard: &Shard) -> Hello {
    let Shard { division, of, number, attempt, .. } = shard;
    let hello = hello.term(SHARDS, of).term(DIVISION, hexadecimal(division));
    hello.term(SHARD, number).term(ATTEMPT, attempt)
}

/// Returns the number of keys that the peer says it has, for the key with this number, from 0: rows may be compared by several.
///
/// # Errors
/// [`HelloError::Offer`]; [`HelloError::TooManyPeerKeys`] and [`HelloError::TooFewPeerKeys`] if the peer has more or fewer
/// than it was told that it may have.
pub fn peers_keys(
    details: &Table,
    number: usize,
    allowed: RangeInclusive<usize>,
) -> Result<usize, HelloError> {
    let name = numbered(KEYS, number);
    let keys = hello::number(details, &name, "the number of its keys", MAX_ITEMS)?;
    let (theirs, [least, most]) =
        (keys as u64, [*allowed.start(), *allowed.end()].map(|n| n as u64));
    match keys {
        _ if theirs > most => Err(HelloError::TooManyPeerKeys { theirs, most }),
        _ if theirs < least => Err(HelloError::TooFewPeerKeys { theirs, least }),
        _ => Ok(keys),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_that_breaks_the_bound_it_was_told_is_found_out() {
        let details = |keys: &str| Table::from([(KEYS.to_owned(), keys.to_owned())]);
        assert_eq!(peers_keys(&details("5"), 0, 0..=5), Ok(5));
        let error = peers_keys(&details("6"), 0, 0..=5).unwrap_err();
        assert_eq!(error, HelloError::TooManyPeerKeys { theirs: 6, most: 5 });
        assert!(matches!(
            peers_keys(&details("2000000000"), 0, 0..=5),
            Err(HelloError::Offer { .. })
        ));
        assert!(matches!(peers_keys(&details("05"), 0, 0..=5), Err(HelloError::Offer { .. })));
    }

    #[test]
    fn names_of_columns_are_told_up_to_a_length() {
        assert_eq!(joined(&["first name".into(), "E-Mail".into()]), "first name, E-Mail");
        let long = joined(&["x".into(), "ü".repeat(300)]);
        assert_eq!((long.len(), long.chars().next_back()), (MAX_COLUMNS, Some('ü')));
    }
}
