//! Hello and details (`docs/wire/README.md`, section 3), as the responder of a line.

use alloc::vec::Vec;

use foxtrot_ot::{Session, Sid, oracle::Purpose};

use crate::Fault;

/// The wire version.
const VERSION: u16 = 1;
const MAGIC: &[u8; 8] = b"FOXTROT\0";
/// Bytes before the terms: magic, version, nonce, role, and no fingerprint.
const FIXED: usize = 8 + 2 + 32 + 1 + 1;

/// The most bytes of a hello or of details that a device takes. The wire allows 4096.
pub(crate) const MOST: usize = 1024;
/// The fewest bytes of a hello, and of details.
pub(crate) const LEAST: usize = FIXED + 4;
pub(crate) const LEAST_DETAILS: usize = 32 + 8 + 2;

/// Entries of a table, in ascending order of keys.
pub(crate) fn table(to: &mut Vec<u8>, entries: &[(&str, &str)]) {
    let short = |len: usize| u16::try_from(len).unwrap_or_default().to_le_bytes();
    to.extend(short(entries.len()));
    for (key, value) in entries {
        to.push(u8::try_from(key.len()).unwrap_or_default());
        to.extend(key.as_bytes());
        to.extend(short(value.len()));
        to.extend(value.as_bytes());
    }
}

/// A number as tables have it.
pub(crate) fn decimal(number: usize, digits: &mut [u8; 20]) -> &str {
    let (mut rest, mut at) = (number, digits.len());
    loop {
        at -= 1;
        digits[at] = b'0' + u8::try_from(rest % 10).unwrap_or_default();
        rest /= 10;
        if rest == 0 {
            break str::from_utf8(&digits[at..]).unwrap_or_default();
        }
    }
}

/// Our hello, without offers.
pub(crate) fn encode(nonce: &[u8; 32], is_receiver: bool, terms: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(FIXED + 160);
    bytes.extend(MAGIC);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(nonce);
    bytes.extend([u8::from(is_receiver), 0]);
    table(&mut bytes, terms);
    table(&mut bytes, &[]);
    bytes
}

/// Compares the host's hello with ours. Equal terms have equal bytes: keys are ascending.
pub(crate) fn compare(ours: &[u8], theirs: &[u8]) -> Result<(), Fault> {
    if theirs.len() < LEAST || theirs[..10] != ours[..10] || theirs[43] != 0 || theirs[42] > 1 {
        return Err(Fault::Hello);
    }
    // Behind our terms there is only the empty table of offers.
    let terms = &ours[FIXED..ours.len() - 2];
    let (nonces, roles) = (theirs[10..42] == ours[10..42], theirs[42] == ours[42]);
    if nonces || roles || !theirs[FIXED..].starts_with(terms) {
        return Err(Fault::Terms);
    }
    let offers = &theirs[FIXED + terms.len()..];
    // Only a responder asks for work. An offer of the other end would be a mistake of who is who.
    let wrong = |key: &[u8], value: &[u8]| {
        key == b"puzzle" && value != b"0" || key == b"side" && value == b"responder"
    };
    let mut is_wrong = false;
    entries(offers, |key, value| is_wrong |= wrong(key, value)).ok_or(Fault::Hello)?;
    if is_wrong { Err(Fault::Terms) } else { Ok(()) }
}

/// Gives the entries of a table that fills the bytes; `None` if they are no table.
pub(crate) fn entries(bytes: &[u8], mut entry: impl FnMut(&[u8], &[u8])) -> Option<()> {
    let (count, mut rest) = bytes.split_first_chunk::<2>()?;
    let mut last: Option<&[u8]> = None;
    for _ in 0..u16::from_le_bytes(*count) {
        let (&key_len, behind) = rest.split_first()?;
        let (key, behind) = behind.split_at_checked(key_len.into())?;
        let (len, behind) = behind.split_first_chunk::<2>()?;
        let (value, behind) = behind.split_at_checked(u16::from_le_bytes(*len).into())?;
        if last.is_some_and(|last| last >= key) {
            return None;
        }
        str::from_utf8(key).ok()?;
        str::from_utf8(value).ok()?;
        entry(key, value);
        (last, rest) = (Some(key), behind);
    }
    rest.is_empty().then_some(())
}

/// The namespace of both hellos.
// Never inlined, like the other hashes: what they take of the stack would be in the frame of the whole session.
#[inline(never)]
pub(crate) fn greeting(theirs: &[u8], ours: &[u8], exporter: &[u8; 32]) -> Session {
    Session::new(Sid::derive(theirs, ours, exporter))
}

#[inline(never)]
fn confirmation(greeting: &Session, side: u8) -> [u8; 32] {
    let mut confirmation = [0; 32];
    greeting.oracle(const { Purpose::new("foxtrot v1 confirmation") }).answer(
        0,
        side,
        &[],
        &mut confirmation,
    );
    confirmation
}

/// Our details.
pub(crate) fn details(greeting: &Session, entries: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(LEAST_DETAILS + 40);
    bytes.extend(confirmation(greeting, 1));
    bytes.extend([0; 8]);
    table(&mut bytes, entries);
    bytes
}

/// Checks the host's details; returns the length of messages, if it tells one.
pub(crate) fn check_details(greeting: &Session, bytes: &[u8]) -> Result<Option<usize>, Fault> {
    let (told, rest) = bytes.split_at_checked(32).ok_or(Fault::Hello)?;
    let (solution, rest) = rest.split_at_checked(8).ok_or(Fault::Hello)?;
    if told != confirmation(greeting, 0) || solution != [0; 8] {
        return Err(Fault::Hello);
    }
    let (mut len, mut digits) = (None, [0; 20]);
    entries(rest, |key, value| {
        if key == b"message-length" {
            let number = str::from_utf8(value).ok().and_then(|text| text.parse().ok());
            // Only one way to write a number.
            len = number.filter(|&it| decimal(it, &mut digits).as_bytes() == value);
        }
    })
    .ok_or(Fault::Hello)?;
    Ok(len)
}

/// The session.
#[inline(never)]
pub(crate) fn session(greeting: &Session, theirs: &[u8], ours: &[u8]) -> Session {
    let mut sid = [0; 32];
    greeting.oracle(const { Purpose::new("foxtrot v1 session id") }).answer(
        0,
        0,
        &[theirs, ours],
        &mut sid,
    );
    Session::new(Sid::from_bytes(sid))
}
