//! 1-of-N OT extension: the receiver gives a word for every OT, and gets the key of that word; the
//! sender can compute the key of any word.
//!
//! | protocol | adversary | words | bytes/OT |
//! |---|---|---|---|
//! | [`oos`] | malicious, semi-honest | 85 bits | 64 |
//! | [`oos-802`](super::oos) | malicious, semi-honest | 231 bits | 101 |
//! | [`kkrt`] | semi-honest | 128 bits | 64 |
//!
//! One pair of states does them all, [`Sender`] and [`Receiver`]; an [`Extension`] says how. They
//! start from the keys of as many base OTs as the code is long, which went the other way. The pages of
//! [`oos`] and [`kkrt`] have figures and examples, and [`protocol`] runs all steps. Against
//! semi-honest peers challenge and proof are empty. The sender has no output before the proof has passed, and a proof that fails ends the session. A batch gives either keys or the
//! rows t and q themselves, which are for protocols that add them up: a protocol that publishes a function
//! of rows must hash them as these keys are. Bounds and what is not proved:
//! `docs/protocols/oos.md`; bytes: `docs/wire/oos.md`, section 10.
//!
//! # Steps
//!
//! R is the receiver of the extension, S its sender. In the base OTs the roles are exchanged: S chose Δ,
//! N bits, and has one key each; R has both. Row j of a matrix belongs to base OT j and to Δⱼ; columns belong
//! to the OTs of a batch.
//!
//! **Once per session**
//!
//! 1. Every key of a base OT is hashed to a key of AEGIS-128L; G is its stream (`docs/protocols/softspoken.md` says why this one).
//!
//! **Per batch** of n OTs, m columns
//!
//! 2. *Words.* R has a word for each OT: the k rows of W. With a check, the last 64 columns are random words.
//! 3. *Corrections.* T_j = G(key_j⁰). R sends D_j = T_j ⊕ G(key_j¹) ⊕ C(W)_j. S has
//!    Q_j = G(key_j^Δⱼ) ⊕ Δⱼ·D_j = T_j ⊕ Δⱼ·C(W)_j. So for every OT qᵢ = tᵢ ⊕ C(wᵢ)·Δ, bit by bit.
//! 4. *Challenge* (checked). S sends a coin u, and with it a hash h: GF(2⁶⁴)^M → GF(2⁶⁴), M = m/64.
//! 5. *Proof* (checked). R sends h of the k rows of W and of the N rows of T.
//! 6. S compares h(Q_j) with h(T_j) ⊕ Δⱼ·C(h(W))_j, for all j at once.
//! 7. *Output.* R has H(i, tᵢ), S has H(i, qᵢ ⊕ C(v)·Δ) for any word v; H binds session, batch, OT and, where
//!    there is one, the challenge. Or both have the rows themselves.
//!
//! # Letters
//!
//! Letters that are not here are those of `docs/protocols/super`.
//!
//! | symbol | meaning | in code |
//! |---|---|---|
//! | C, N, k, d | a code, bits of a codeword, bits of a word, distance | `Code`; `Parameters::length`, `word_bits`; `Linear::distance` |
//! | w, W | a word; the words of a batch by columns | `words`; `turned` |
//! | j | row: base OT, bit of a codeword | `j`, `row` |
//! | D, T, Q | corrections, the receiver's rows, the sender's | `corrections`; `rows` |
//! | tᵢ, qᵢ | rows of an OT: qᵢ = tᵢ ⊕ C(wᵢ)·Δ | `rows` |
//! | v | any word of which the sender wants a key | `word` |
//! | N of 1-of-N | of how many words the sender takes the keys | `choices` |

pub mod kkrt;
pub mod oos;
pub mod protocol;

mod info;
mod output;
mod receiver;
mod sender;

use alloc::vec::Vec;

use zeroize::Zeroizing;

pub use info::{PROTOCOLS, find, registry};
pub use receiver::{Receiver, Unanswered};
pub use sender::{Opened, Places, Sender, Unverified};

use super::{
    Challenge, MASK_COLUMNS, check, check_number,
    code::{Family, Parameters},
    columns,
    streams::Nonces,
};
use crate::{
    Session, Usage,
    base::{Adversary, Block},
    expect_at_most, expect_count,
};

/// The most columns of a batch: what is worked on together stays in a cache.
const MAX_COLUMNS: usize = 1 << 14;

/// The most batches of one set of base OTs: what is left to chance in their checks adds up.
pub const MAX_BATCHES: u64 = 1 << 18;

/// Rows that are worked on together.
const GROUP: usize = 128;

/// A 1-of-N extension with the parameters on which two parties have to agree.
#[derive(Clone, Copy)]
pub struct Extension {
    name: &'static str,
    family: Family,
    adversary: Adversary,
}

impl Extension {
    pub(super) const fn new(name: &'static str, family: Family, adversary: Adversary) -> Self {
        Self { name, family, adversary }
    }

    /// Returns true if the receiver has to prove that its corrections are codewords.
    const fn checked(&self) -> bool {
        matches!(self.adversary, Adversary::Malicious)
    }

    /// Columns by which a batch is longer.
    const fn mask_columns(&self) -> usize {
        if self.checked() { MASK_COLUMNS } else { 0 }
    }

    /// The most OTs of one batch: 16320, or 16384 without check.
    #[must_use]
    pub const fn max_batch(&self) -> usize {
        MAX_COLUMNS - self.mask_columns()
    }

    /// Its name in `docs/wire.md`, which is also the protocol of its sub-session.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The family of its code.
    #[must_use]
    pub const fn family(&self) -> Family {
        self.family
    }

    /// The lengths of its code; as many base OTs are needed as codewords have bits.
    #[must_use]
    pub fn parameters(&self) -> Parameters {
        self.family.parameters()
    }

    /// Bytes of the `Corrections` of a batch of n OTs.
    #[must_use]
    pub fn corrections_len(&self, n: usize) -> usize {
        (self.columns(n) / 8).saturating_mul(self.parameters().length)
    }

    /// Bytes of the sender's `Challenge` to a batch; with none, it is not sent.
    #[must_use]
    pub const fn challenge_len(&self) -> usize {
        if self.checked() { size_of::<Challenge>() } else { 0 }
    }

    /// Bytes of the receiver's `Proof` of a batch; with none, it is not sent.
    #[must_use]
    pub fn proof_len(&self) -> usize {
        let Parameters { length, word_bits } = self.parameters();
        if self.checked() { 8 * (length + word_bits) } else { 0 }
    }

    fn columns(&self, n: usize) -> usize {
        columns(n, self.mask_columns())
    }

    /// Checks that a batch of this number and size is allowed.
    fn check_batch(&self, number: u64, n: usize) -> Result<(), Usage> {
        check_number(number, MAX_BATCHES)?;
        expect_at_most(self.max_batch(), n)
    }

    /// Checks the length of the words for n OTs.
    fn check_words(&self, n: usize, words: &[u8]) -> Result<(), Usage> {
        expect_count("bytes of words", n.saturating_mul(self.parameters().word_len()), words.len())
    }
}

foxtrot_kernel::redacted! {
    Extension, extension => "{}", extension.name;
}

/// χ of a batch of n OTs.
fn coefficients(
    session: &Session,
    batch: u64,
    n: usize,
    challenge: &Challenge,
    columns: usize,
) -> Vec<u64> {
    let query = session.oracle("foxtrot v1 one-of-n check").query(batch, 0);
    check::coefficients(query.field(&(n as u64).to_le_bytes()).field(challenge), columns)
}

/// The key of the stream of a row and a key of its base OT.
fn stream(session: &Session, row: usize, branch: u8, key: &Block) -> Zeroizing<Block> {
    let oracle = session.oracle("foxtrot v1 one-of-n base");
    Zeroizing::new(oracle.query(row as u64, branch).field(key).finish())
}

fn nonces(session: &Session) -> Nonces {
    Nonces::new(session, "foxtrot v1 one-of-n stream")
}
