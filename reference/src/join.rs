//! Payloads and claims after the tags of an intersection, as in `docs/wire/join.md`, section 23: payloads, and claims.

use crate::blake3::derive_key_from;
use crate::oracle::{Id, oracle32, sub_session_id};
use crate::xor;

/// The key of an item.
pub type ItemKey = [u8; 32];

/// Returns κ(x) from the item and the value, or row, that its tag is of.
#[must_use]
pub fn item_key(bucket_id: &Id, row_seed: &[u8; 32], item: &[u8; 32], value: &[u8]) -> ItemKey {
    let key = oracle32("foxtrot v1 paxos tag key", bucket_id, 0, 0, &[row_seed]);
    let answer = derive_key_from(&key, &[item, value].concat(), 64);
    let mut item_key = [0; 32];
    item_key.copy_from_slice(&answer[32..]);
    item_key
}

/// Hashes a string in the namespace of what follows the intersection with this id.
fn hash(context: &str, id: &Id, input: &[u8], len: usize) -> Vec<u8> {
    let id = sub_session_id(id, 0, 0, "psi join");
    derive_key_from(&oracle32(context, &id, 0, 0, &[]), input, len)
}

/// Returns the record of a payload.
#[must_use]
pub fn record(id: &Id, key: &ItemKey, payload: &[u8]) -> Vec<u8> {
    let keyed = [&key[..], payload].concat();
    let check = hash("foxtrot v1 psi payload check key", id, &keyed, 8);
    let stream = hash("foxtrot v1 psi payload stream key", id, key, payload.len());
    [check, xor(payload, &stream)].concat()
}

/// Returns the payload of a record, unless it belongs to another key.
#[must_use]
pub fn payload(id: &Id, key: &ItemKey, bytes: &[u8]) -> Option<Vec<u8>> {
    let stream = hash("foxtrot v1 psi payload stream key", id, key, bytes.len() - 8);
    let payload = xor(&bytes[8..], &stream);
    (record(id, key, &payload) == bytes).then_some(payload)
}

/// Returns `Claims` for the keys of matches, all frames in one.
#[must_use]
pub fn claims(id: &Id, keys: &[ItemKey]) -> Vec<u8> {
    let mut values: Vec<_> = keys.iter().map(|key| claim(id, key)).collect();
    values.sort_unstable();
    [(keys.len() as u64).to_le_bytes().to_vec(), values.concat()].concat()
}

/// Returns the places of the sender's keys that are claimed.
#[must_use]
pub fn claimed(id: &Id, keys: &[ItemKey], claims: &[u8]) -> Vec<usize> {
    let values: Vec<_> = claims[8..].chunks(16).collect();
    (0..keys.len()).filter(|&k| values.contains(&&*claim(id, &keys[k]))).collect()
}

fn claim(id: &Id, key: &ItemKey) -> Vec<u8> {
    hash("foxtrot v1 psi claim key", id, key, 16)
}
