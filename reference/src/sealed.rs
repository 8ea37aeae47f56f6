//! `Sealed`: messages of the sender's choice under the keys of OTs, as in `docs/wire/chosen-messages.md`, sections 6 and
//! 10.

use crate::chacha::seal;
use crate::oracle::{Id, oracle32};

/// A key of an OT.
pub type Key = [u8; 16];

/// Returns the frames of 1-of-2 transfers: both keys, both messages of each, in `length` bytes.
#[must_use]
pub fn pairs(id: &Id, length: usize, keys: &[[Key; 2]], messages: &[[Vec<u8>; 2]]) -> Vec<Vec<u8>> {
    let per_frame = ((1 << 20) / (2 * (length + 20))).clamp(1, 1024);
    let sealed = keys.iter().zip(messages).enumerate().map(|(i, (keys, messages))| {
        let one = |j: u8| {
            let at = usize::from(j);
            let key = oracle32("foxtrot v1 chosen message", id, i, j, &[&keys[at]]);
            seal(&key, &padded(&messages[at], length))
        };
        [one(0), one(1)].concat()
    });
    frames(sealed, per_frame)
}

/// Returns the frames of 1-of-N transfers: N keys, N messages of each.
#[must_use]
pub fn of_n(id: &Id, length: usize, keys: &[Vec<Key>], messages: &[Vec<Vec<u8>>]) -> Vec<Vec<u8>> {
    let per_frame = ((1 << 20) / (length + 20)).max(1);
    let sealed = keys.iter().zip(messages).enumerate().flat_map(|(i, (keys, messages))| {
        keys.iter().zip(messages).zip(0_u64..).map(move |((key, message), j)| {
            let fields = [&j.to_le_bytes()[..], key];
            let key = oracle32("foxtrot v1 chosen message of n", id, i, 0, &fields);
            seal(&key, &padded(message, length))
        })
    });
    frames(sealed, per_frame)
}

/// Returns length ‖ message ‖ zeros.
fn padded(message: &[u8], length: usize) -> Vec<u8> {
    let own = u32::try_from(message.len()).expect("not so long");
    let mut text = [&own.to_le_bytes(), message].concat();
    assert!(message.len() <= length, "as long as agreed");
    text.resize(4 + length, 0);
    text
}

fn frames(sealed: impl Iterator<Item = Vec<u8>>, per_frame: usize) -> Vec<Vec<u8>> {
    sealed.collect::<Vec<_>>().chunks(per_frame).map(<[Vec<u8>]>::concat).collect()
}
