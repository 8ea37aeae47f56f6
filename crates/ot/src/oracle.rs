//! The random oracle: BLAKE3 in derive-key mode (`docs/wire.md`, section 1).

use core::fmt;

use blake3::Hasher;
use foxtrot_kernel::counters::{Operation, count};

/// The oracle of one purpose in one session.
#[derive(Clone)]
pub struct Oracle(Hasher);

/// A question to the oracle, to which fields are added one by one.
#[derive(Clone)]
#[must_use]
pub struct Query(Hasher);

impl Oracle {
    pub(crate) fn new(context: &str, id: &[u8; 32]) -> Self {
        let mut hasher = Hasher::new_derive_key(context);
        hasher.update(id);
        Self(hasher)
    }

    /// A question about instance `i` and one of its two branches.
    #[inline]
    pub fn query(&self, i: u64, branch: u8) -> Query {
        let mut position = [0; 9];
        position[..8].copy_from_slice(&i.to_le_bytes());
        position[8] = branch;
        let mut hasher = self.0.clone();
        hasher.update(&position);
        Query(hasher)
    }
}

impl Query {
    /// Appends a field, with its length before it.
    #[inline]
    pub fn field(mut self, bytes: &[u8]) -> Self {
        length_prefixed(&mut self.0, bytes);
        self
    }

    /// The first L bytes of the answer.
    #[inline]
    #[must_use]
    pub fn finish<const L: usize>(self) -> [u8; L] {
        let mut answer = [0; L];
        self.fill(&mut answer);
        answer
    }

    /// As many bytes of the answer as there is room for.
    #[inline]
    pub fn fill(self, answer: &mut [u8]) {
        count(Operation::Oracle, 1);
        if answer.len() <= blake3::OUT_LEN {
            answer.copy_from_slice(&self.0.finalize().as_bytes()[..answer.len()]);
        } else {
            self.0.finalize_xof().fill(answer);
        }
    }
}

pub(crate) fn length_prefixed(hasher: &mut Hasher, bytes: &[u8]) {
    hasher.update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
}

impl fmt::Debug for Oracle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Oracle")
    }
}

impl fmt::Debug for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Query(<redacted>)")
    }
}
