//! The negotiation of each job (`docs/wire/README.md`, section 3), and how much memory a job may take.

mod memory;

use core::ops::RangeInclusive;

use foxtrot_ot::{Session, Sid, convert::MAX_MESSAGE, transfers::Method};
use foxtrot_psi::{method, paxos::MAX_ITEMS};
use foxtrot_triples::{DEFAULT_SIGMA, Kind};

pub use self::memory::*;
use crate::{
    HelloError,
    hello::{Hello, JOB, KEYS, Role, Table, numbered},
};

/// The term of what `psi` computes, unless it is an intersection.
pub const FUNCTION: &str = "function";
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
/// The term of the policy that both sides enforce.
pub const POLICY: &str = "policy";
/// The offer of the hash of each rule of the policy, a line each: a name, a space, 16 hexadecimal digits.
pub const POLICY_RULES: &str = "policy-rules";
/// The first words of a [`Difference`](crate::Difference) in one rule of the policies.
pub const POLICY_RULE: &str = "policy rule";
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
/// The term of the number of shards of `psi` on many machines.
pub const SHARDS: &str = "shards";
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
/// The term of which run of `triples` goes on.
pub const RUN: &str = "run";
/// The term for the method of `triples`.
pub const METHOD: &str = "method";
/// The detail that tells to which length the sender of `ot` pads.
const MESSAGE_LENGTH: &str = "message-length";
/// The offer that tells how many batches of a run of `triples` are there.
const BATCHES: &str = "whole-batches";

/// The hello of `n` transfers: of `rot`, of `cot`, or what those of [`messages`] begin with.
#[must_use]
pub fn transfers(job: &str, role: Role, method: &Method, n: usize) -> Hello {
    Hello::new(role)
        .term(JOB, job)
        .term("base", method.base.info().name)
        .term("extension", method.extension_name())
        .term("adversary", method.adversary())
        .term("count", n)
}

/// The hello of `ot`: `n` transfers of one in `choices` messages, in hexadecimal or as text. A sender adds its
/// [`message_length`].
#[must_use]
pub fn messages(role: Role, method: &Method, n: usize, choices: usize, hex: bool) -> Hello {
    let hello = transfers("ot", role, method, n).term("format", if hex { "hex" } else { "text" });
    if choices == 2 { hello } else { hello.term("one-of", choices) }
}

/// Adds to which length the sender pads.
#[must_use]
pub fn message_length(hello: Hello, len: usize) -> Hello {
    hello.detail(MESSAGE_LENGTH, len)
}

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

/// The name of a run of triples, after the first session of the run. The run goes on only under the same terms between the
/// same keys: `digest` is the [`Agreement::terms_digest`](crate::hello::Agreement::terms_digest) without [`RUN`].
#[must_use]
pub fn run_of(first: Sid, digest: &[u8; 32]) -> String {
    hexadecimal(
        &Session::new(first)
            .oracle("foxtrot v1 triples run")
            .query(0, 0)
            .field(digest)
            .finish::<32>(),
    )
}

/// The hello of `count` triples, of a run with this name of which so many batches are there. The roles only tell the
/// parties apart.
#[must_use]
pub fn triples(role: Role, kind: Kind, count: u64, run: &str, batches: u64) -> Hello {
    Hello::new(role)
        .term(JOB, "triples")
        .term(METHOD, kind.method())
        .term("adversary", "semi-honest")
        .term("bits", kind.bits())
        .term("sigma", kind.sigma().unwrap_or(DEFAULT_SIGMA))
        .term("count", count)
        .term(RUN, run)
        .offer(BATCHES, batches)
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

/// Bytes in hexadecimal digits.
#[must_use]
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// 32 bytes of 64 lower-case hexadecimal digits.
#[must_use]
pub fn of_hexadecimal(text: &str) -> Option<[u8; 32]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let digits: Option<Vec<_>> = text.bytes().map(digit).collect();
    let digits: [u8; 64] = digits?.try_into().ok()?;
    let mut pairs = digits.as_chunks().0.iter().map(|[high, low]| high << 4 | low);
    Some([(); 32].map(|()| pairs.next().unwrap_or_default()))
}

/// The length to which the sender says it pads.
///
/// # Errors
/// [`HelloError::Offer`].
pub fn peers_length(details: &Table) -> Result<usize, HelloError> {
    told(details, MESSAGE_LENGTH, "the length of messages", MAX_MESSAGE)
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
    let keys = told(details, &name, "the number of its keys", MAX_ITEMS)?;
    let (theirs, [least, most]) =
        (keys as u64, [*allowed.start(), *allowed.end()].map(|n| n as u64));
    match keys {
        _ if theirs > most => Err(HelloError::TooManyPeerKeys { theirs, most }),
        _ if theirs < least => Err(HelloError::TooFewPeerKeys { theirs, least }),
        _ => Ok(keys),
    }
}

/// Returns the number of whole batches that the peer says it has, at most a given one.
///
/// # Errors
/// [`HelloError::Offer`].
pub fn peers_batches(offers: &Table, most: u64) -> Result<u64, HelloError> {
    told(offers, BATCHES, "its number of whole batches", most)
}

/// A number that the peer tells, which is at most this.
fn told<T: TryFrom<u64> + PartialOrd>(
    table: &Table,
    key: &str,
    what: &'static str,
    most: T,
) -> Result<T, HelloError> {
    let value = table.get(key);
    let number = value.and_then(|it| decimal(it.as_bytes())).and_then(|it| T::try_from(it).ok());
    let number = number.filter(|it| *it <= most);
    number.ok_or_else(|| HelloError::Offer { key: what, value: value.cloned() })
}

/// A decimal number without sign or leading zeros.
#[must_use]
pub fn decimal(text: &[u8]) -> Option<u64> {
    match text {
        [b'0'] => Some(0),
        [b'1'..=b'9', rest @ ..] if rest.iter().all(u8::is_ascii_digit) => {
            str::from_utf8(text).ok()?.parse().ok()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_decimal_without_ornaments() {
        for (text, number) in [("0", 0), ("1", 1), ("10", 10), ("65535", 65535)] {
            assert_eq!(decimal(text.as_bytes()), Some(number));
        }
        for wrong in ["", "00", "01", "-1", "+1", " 1", "1 ", "x", "1x", "99999999999999999999"] {
            assert_eq!(decimal(wrong.as_bytes()), None, "{wrong}");
        }
    }

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
