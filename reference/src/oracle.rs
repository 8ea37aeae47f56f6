//! Hashing as in `docs/wire/README.md`, sections 1 and 3: the oracle, session ids and sub-session ids.

use crate::{aes, blake3};

/// A session id or a sub-session id.
pub type Id = [u8; 32];

/// Returns the oracle's first `length` bytes for instance `i` and `branch` under `id`.
#[must_use]
pub fn oracle(
    context: &str,
    id: &Id,
    i: usize,
    branch: u8,
    fields: &[&[u8]],
    length: usize,
) -> Vec<u8> {
    let mut material = id.to_vec();
    material.extend((i as u64).to_le_bytes());
    material.push(branch);
    for field in fields {
        material.extend(length_prefixed(field));
    }
    blake3::derive_key(context, &material, length)
}

/// Answers as [`oracle`], for outputs of 32 bytes.
#[must_use]
pub fn oracle32(context: &str, id: &Id, i: usize, branch: u8, fields: &[&[u8]]) -> [u8; 32] {
    let mut output = [0; 32];
    output.copy_from_slice(&oracle(context, id, i, branch, fields, 32));
    output
}

/// Returns the session id that both hellos and the TLS exporter (or nothing) determine.
#[must_use]
pub fn session_id(initiator_hello: &[u8], responder_hello: &[u8], exporter: &[u8]) -> Id {
    let parts = [initiator_hello, responder_hello, exporter];
    let material = parts.map(length_prefixed).concat();
    let mut id = [0; 32];
    id.copy_from_slice(&blake3::derive_key("foxtrot v1 session", &material, 32));
    id
}

/// Returns the id of run number `counter` of `protocol` under `sid`; `direction` is 0 if the
/// initiator of the session is the protocol's sender, else 1.
#[must_use]
pub fn sub_session_id(sid: &Id, counter: usize, direction: u8, protocol: &str) -> Id {
    oracle32("foxtrot v1 sub-session", sid, counter, direction, &[protocol.as_bytes()])
}

/// Returns the key of the oracle for short queries of that context, apart for all `fields`.
#[must_use]
pub fn key_of(context: &str, id: &Id, fields: &[&[u8]]) -> [u8; 32] {
    oracle32(context, id, 0, 0, fields)
}

/// Returns the answer to the query `text` about instance `i` and `branch`, under a key of
/// [`key_of`].
#[must_use]
pub fn ask(key: &[u8; 32], text: &[u8], i: usize, branch: u8, length: usize) -> Vec<u8> {
    let position = [&(i as u64).to_le_bytes()[..], &[branch]].concat();
    blake3::keyed_hash(key, &[text, &position].concat(), length)
}

/// Returns piece `number`, of `length` bytes, of a party's coins: AES-128 in counter mode.
///
/// # Panics
///
/// If `length` is not a multiple of 16.
#[must_use]
pub fn coins(context: &str, id: &Id, seed: &[u8; 32], number: usize, length: usize) -> Vec<u8> {
    assert_eq!(length % 16, 0, "whole blocks");
    let bytes = oracle(context, id, 0, 0, &[seed], 24);
    let (key, nonce) = bytes.split_at(16);
    let key = u128::from_le_bytes(key.try_into().expect("16 bytes"));
    let nonce = u128::from(u64::from_le_bytes(nonce.try_into().expect("8 bytes")));
    let blocks = number * length / 16..(number + 1) * length / 16;
    blocks.flat_map(|b| aes::encrypt(key, nonce << 64 | b as u128).to_le_bytes()).collect()
}

fn length_prefixed(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u64).to_le_bytes(), bytes].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oracle_separates_every_argument() {
        let id = [0; 32];
        let outputs = [
            oracle32("a", &id, 0, 0, &[b"xy"]),
            oracle32("b", &id, 0, 0, &[b"xy"]),
            oracle32("a", &[1; 32], 0, 0, &[b"xy"]),
            oracle32("a", &id, 1, 0, &[b"xy"]),
            oracle32("a", &id, 0, 1, &[b"xy"]),
            oracle32("a", &id, 0, 0, &[b"x", b"y"]),
            oracle32("a", &id, 0, 0, &[b"xy", b""]),
        ];
        for (k, output) in outputs.iter().enumerate() {
            assert!(!outputs[..k].contains(output), "output {k}");
        }
    }
}
