//! Hashes of items, many at a time, and of keys to rows of a store: BLAKE3 in derive-key mode with keys that the
//! oracle gives, one for each purpose and bucket.

use blake3::{Hasher, hazmat::HasherExt};
use foxtrot_kernel::{
    Backend,
    blake3::{MAX_INPUT, derive_keys, lanes},
};
use foxtrot_ot::{Decode, Session, erase::Secret};

/// An item of a set, and a key of a store: a collision-resistant digest of what is compared.
pub type Digest = [u8; 32];

/// The public seed of the rows' hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowSeed(pub(crate) [u8; 32]);

impl RowSeed {
    /// Its length in bytes.
    pub const LEN: usize = 32;

    /// Decodes a message of the party that encoded.
    ///
    /// # Errors
    /// [`Decode::Length`] unless there are 32 bytes; all of these are seeds.
    pub fn decode(bytes: &[u8]) -> Result<Self, Decode> {
        let wrong = Decode::Length { message: "RowSeed", expected: Self::LEN, got: bytes.len() };
        bytes.try_into().map(Self).map_err(|_| wrong)
    }

    /// The bytes of the message.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// A hash of strings of one length.
#[derive(Clone, Copy)]
pub(crate) struct Keyed {
    pub(crate) backend: Backend,
    pub(crate) key: [u8; 32],
}

/// Items that are hashed together.
pub(crate) const TOGETHER: usize = 512;

impl Keyed {
    /// The hash that maps items to words. From its queries a simulator reads the receiver's items.
    pub(crate) fn words(bucket: &Session, seed: &RowSeed) -> Self {
        Self::under(bucket, "foxtrot v1 paxos word key", seed.as_bytes())
    }

    /// The hash that maps an item and a row to a tag.
    pub(crate) fn tags(bucket: &Session, seed: &RowSeed) -> Self {
        Self::under(bucket, "foxtrot v1 paxos tag key", seed.as_bytes())
    }

    /// A hash of one purpose in a namespace.
    pub(crate) fn of(session: &Session, context: &'static str) -> Self {
        let key = session.oracle(context).query(0, 0).finish();
        Self { backend: session.backend(), key }
    }

    /// A hash of one purpose in a namespace, under a value that was drawn for it.
    pub(crate) fn under(session: &Session, context: &'static str, value: &[u8; 32]) -> Self {
        let key = session.oracle(context).query(0, 0).field(value).finish();
        Self { backend: session.backend(), key }
    }

    /// The first bytes of the hash of every input, one after another like the inputs.
    pub(crate) fn hash(&self, input_len: usize, inputs: &[u8], output_len: usize, out: &mut [u8]) {
        if inputs.is_empty() || out.is_empty() {
            return;
        }
        if lanes(self.backend) > 1 && input_len <= MAX_INPUT {
            return derive_keys(self.backend, &self.key, input_len, inputs, out);
        }
        for (input, out) in inputs.chunks_exact(input_len).zip(out.chunks_exact_mut(output_len)) {
            let mut hasher = Hasher::new_from_context_key(&self.key);
            hasher.update(input).finalize_xof().fill(out);
        }
    }

    /// Makes a value of the first bytes of the hash of each item.
    pub(crate) fn map<const N: usize, T>(
        &self,
        items: &[Digest],
        values: &mut [T],
        value: impl Fn(&[u8; N]) -> T,
    ) {
        let mut answers = Secret::<[u8; N]>::zeroed(TOGETHER.min(items.len()));
        for (items, values) in items.chunks(TOGETHER).zip(values.chunks_mut(TOGETHER)) {
            let answers = &mut answers[..items.len()];
            let to = answers.as_flattened_mut();
            self.hash(size_of::<Digest>(), items.as_flattened(), N, to);
            values.iter_mut().zip(&*answers).for_each(|(to, answer)| *to = value(answer));
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::{format, fs, vec::Vec};

    use super::*;

    /// `docs/wire/paxos.md`, section 13.
    #[test]
    fn hashes_match_the_wire_document() {
        // Read at run time: a package does not have the file.
        let document = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/wire/paxos.md");
        let document = fs::read_to_string(document).expect("the test runs in the repository");
        let input: Vec<u8> = (0..133).collect();
        let key = core::array::from_fn(|i| input[i]);
        for backend in Backend::all() {
            let keyed = Keyed { backend, key };
            for (len, row) in [(32, "| 00 01 … 1f |"), (133, "| 00 01 … 84, 133 bytes |")] {
                let mut out = [0; 32];
                keyed.hash(len, &input[..len], 32, &mut out);
                let hex: std::string::String =
                    out.iter().map(|byte| format!("{byte:02x}")).collect();
                assert!(document.contains(&format!("{row} `{hex}` |")), "{hex}");
            }
        }
    }
}
