//! Hashing as in `docs/wire.md`, sections 1 and 3: the oracle, session ids and sub-session ids.

use crate::blake3;

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

/// As [`oracle`], for outputs of 32 bytes.
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
