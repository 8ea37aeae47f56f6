//! OT extension: from 128 base OTs to any number, with symmetric cryptography only.
//!
//! | protocol | adversary | bytes/OT | |
//! |---|---|---|---|
//! | [`softspoken`], k = 1 … 8 | malicious, semi-honest | 16/k (random choices: ⌈128/k⌉ − 1 bits) | the default, k = 4 |
//! | [`kos`] | malicious | 16 | |
//! | [`iknp`] | semi-honest | 16 | |
//!
//! Keys for one of N instead of one of two words: [`one_of_n`]. In two messages, base OTs included, but
//! with endemic keys: [`two_round`].
//!
//! One pair of states does them all, [`Sender`] and [`Receiver`]; an [`Extension`] says how. They
//! start from the keys of 128 base OTs that went the other way, and Δ is the base OTs' choices. The page of each extension
//! has its figure and an example, and [`protocol`] runs all steps.
//!
//! With k = 1 there is no `Setup`; against semi-honest peers challenge and proof are empty. The sender has no output before the proof has passed, and a proof that fails ends the session. The coins of challenge and proof
//! make keys, and choices that were not given, uniform if either party is corrupt; only a sender that can
//! choose Δ, which endemic base OTs allow, can make both keys of every OT the same. Bounds and what
//! is not proved: `docs/protocols/softspoken.md`; bytes: `docs/wire/softspoken.md`, section 7.
//!
//! Batches do not depend on each other. A step takes several of them, on the threads of the session's executor
//! ([`Session::with_executor`](crate::Session::with_executor)), each whole in one; bytes and outputs are those of
//! one batch after another.
//!
//! # Steps
//!
//! R is the receiver of the extension, S its sender. In the base OTs the roles are exchanged: S chose Δ,
//! 128 bits, and has one key each; R has both. Row r of a matrix belongs to base OT r and to Δᵣ. The
//! columns belong to the OTs of a batch.
//!
//! **Once per session**
//!
//! 1. *Trees.* The rows are cut into N = ⌈128/k⌉ groups of k (the last may be smaller). For each group R
//!    grows a binary tree of that depth, whose first level are two hashes of base keys, down to 2^k
//!    leaves. For every further level it sends the XOR of all left and of all right nodes, each masked
//!    by a hash of the base key of the *other* branch: S gets the XOR of the side that Δ does not take.
//!    So S has all nodes but those on the path Δ_τ.
//! 2. *Witnesses* (checked). A leaf is hashed to a key L and 32 bytes w. R sends the XOR of all w of a
//!    tree, and a hash of all w of all trees.
//! 3. R sends the above as `Setup` (nothing, if k = 1).
//! 4. S computes its leaves, the missing w from the XOR, and compares the hash.
//!
//! **Per batch** of n OTs, m columns
//!
//! 5. *Small-field VOLE* \[Roy22, Figure 7\]. With G_x the key stream of leaf x (AEGIS-128L), R has Z = ⊕ₓ G_x and, for every
//!    bit j, T_j = ⊕ₓ xⱼ·G_x. S has W_j = ⊕ₓ (x ⊕ Δ)ⱼ·G_x, in which the leaf x = Δ has no part. So
//!    W_j = T_j ⊕ Δⱼ·Z.
//! 6. *Corrections.* X, the choices, is Z of the first tree, or given, or drawn. R sends D_τ = Z_τ ⊕ X (and
//!    a commitment to a coin t, checked). S has Qᵣ = Wᵣ ⊕ Δᵣ·D_τ = Tᵣ ⊕ Δᵣ·X.
//! 7. *Challenge* (checked). S sends a coin u, and with it a hash h: GF(2⁶⁴)^M → GF(2⁶⁴) of a universal family.
//! 8. *Proof* (checked). R sends t, h(X) and h(Tᵣ) for every r.
//! 9. S compares the commitment, and h(Qᵣ) with h(Tᵣ) ⊕ Δᵣ·h(X), all at once.
//! 10. *Output.* Where choices were not given (checked), u flips them: b = X ⊕ a(u), qᵢ gets aᵢΔ.
//!     Transposed, the rows are correlated OTs: qᵢ = tᵢ ⊕ bᵢΔ. Hashed they are random OTs: H(tᵢ) and H(qᵢ),
//!     H(qᵢ ⊕ Δ).
//!
//! # Letters
//!
//! | symbol | meaning | in code |
//! |---|---|---|
//! | k, N, d | base OTs per tree; trees; depth of a tree | `k`; `trees`; `Tree::depth` |
//! | r, τ, ℓ | row, tree, level | `row`, `r`; `tree`; `level` |
//! | x; y = x ⊕ Δ_τ | index of a leaf; its place at the sender | place in `leaves` |
//! | Lₓ, wₓ | key and witness of a leaf | `leaves`, `Witness` |
//! | Pᵣᵇ | hash of a base key, first node or pad | `pad` |
//! | Gₓ, Z, X | key stream of a leaf; sum of a tree's; the choices of all columns | `sum` of `vole::expand`; `choices` |
//! | D_τ | correction | `correction` |
//! | T, Q, W | the receiver's rows, the sender's, the sender's before the corrections | `Matrix` |
//! | m, β | columns and number of a batch | `columns`; `batch`, `number` |
//! | χ, h | coefficients of the check, the hash that they define | `coefficients`, `hash_rows` |
//! | t, u | the receiver's and the sender's coin | `Coins` |
//! | a | flips of the choices | `flips` |
//! | qᵢ, tᵢ, bᵢ | correlated OT: qᵢ = tᵢ ⊕ bᵢΔ | `Places::Correlated`, `OtKind::Correlated` |
//! | H, π | hash of the rows \[GKWY20\] and its permutation | `tmmo`, `Output::permutation` |
//!
//! `kos-two-round` (`crates/ot/src/extension/two_round.md`) has the same letters; there φ and A are
//! the base OTs' messages (`invitation`, `answer`), D are all `corrections`, and h is the pair h¹, h² (`Hash`).

pub mod code;
pub mod iknp;
pub mod kos;
pub mod one_of_n;
pub mod protocol;
pub mod softspoken;
pub mod two_round;

mod check;
mod info;
mod matrix;
mod output;
mod receiver;
mod sender;
mod sending;
mod streams;
mod trees;

pub use crate::protocol::{Incompatible, compatible};
pub use check::{Challenge, PROOF_LEN};
pub(crate) use info::ASSUMPTION;
pub use info::{PROTOCOLS, find, registry};
pub use one_of_n::{kkrt, oos};
pub use output::{OtKind, Places};
pub use receiver::{Receiver, Unanswered};
pub use sender::{Sender, Unverified};

use alloc::vec::Vec;

use crate::{
    Session, Sid, Usage,
    base::{Adversary, Choice},
    engine::batches::sizes,
    expect_at_most,
};

/// Base OTs that an extension starts from; rows of its matrix.
pub const ROWS: usize = 128;

/// The most columns of a batch.
const MAX_COLUMNS: usize = 1 << 16;

/// The most batches of one set of base OTs: what is left to chance in their checks adds up.
const MAX_BATCHES: u64 = 1 << 21;

/// The most OTs of a batch without checks: bounds the data under a leaf's key, 2⁴¹ bytes.
const MAX_UNCHECKED: u64 = 1 << 28;

/// Columns by which a checked batch is longer: one element of the field of the check.
const MASK_COLUMNS: usize = 64;

/// An OT extension with the parameters on which two parties have to agree.
#[derive(Clone, Copy)]
pub struct Extension {
    name: &'static str,
    /// Levels of a tree.
    k: usize,
    /// True if corrections are sent for the first tree even where choices are not given.
    all_trees: bool,
    adversary: Adversary,
}

/// The number of OTs of a batch, and whether the receiver gives its choices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    n: usize,
    given: bool,
}

impl Shape {
    /// n OTs with choices that the receiver gives.
    #[must_use]
    pub const fn given(n: usize) -> Self {
        Self { n, given: true }
    }

    /// n OTs with random choices.
    #[must_use]
    pub const fn random(n: usize) -> Self {
        Self { n, given: false }
    }

    /// Returns the shape that the choice asks for.
    #[must_use]
    pub fn of(choice: &Choice) -> Self {
        Self { n: choice.n(), given: matches!(choice, Choice::Given(_)) }
    }

    /// Returns true if the receiver gives its choices.
    #[must_use]
    pub const fn is_given(self) -> bool {
        self.given
    }

    /// The number of OTs.
    #[must_use]
    pub const fn n(self) -> usize {
        self.n
    }

    /// Splits the OTs into batches of at most `max`.
    ///
    /// # Panics
    /// If that is none.
    pub fn batches(self, max: usize) -> impl Iterator<Item = Self> {
        sizes(self.n, max).map(move |n| Self { n, ..self })
    }
}

impl Extension {
    const fn new(name: &'static str, k: usize, all_trees: bool, adversary: Adversary) -> Self {
        assert!(1 <= k && k <= 8, "a field of 2 to 256 elements");
        Self { name, k, all_trees, adversary }
    }

    /// Returns true if the receiver has to prove that its corrections fit together.
    const fn checked(&self) -> bool {
        matches!(self.adversary, Adversary::Malicious)
    }

    /// Columns by which a batch is longer.
    const fn mask_columns(&self) -> usize {
        if self.checked() { MASK_COLUMNS } else { 0 }
    }

    /// The most batches of one set of base OTs: 2²¹, or 2²⁸ without check.
    #[must_use]
    pub const fn max_batches(&self) -> u64 {
        if self.checked() { MAX_BATCHES } else { MAX_UNCHECKED }
    }

    /// The most OTs of one batch: 65472, or 65536 without check.
    #[must_use]
    pub const fn max_batch(&self) -> usize {
        MAX_COLUMNS - self.mask_columns()
    }

    /// Its name in `docs/wire.md`, which is also the protocol of its sub-session.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Bytes of `Setup`; with none, it is not sent.
    #[must_use]
    pub fn setup_len(&self) -> usize {
        trees::setup_len(self.k, self.checked())
    }

    /// Bytes of the `Corrections` of a batch.
    #[must_use]
    pub fn corrections_len(&self, shape: Shape) -> usize {
        let trees = ROWS.div_ceil(self.k) - self.first_tree(shape);
        trees.saturating_mul(self.columns(shape.n) / 8).saturating_add(self.commitment_len())
    }

    const fn commitment_len(&self) -> usize {
        if self.checked() { 32 } else { 0 }
    }

    /// Bytes of the sender's `Challenge` to a batch; with none, it is not sent.
    #[must_use]
    pub const fn challenge_len(&self) -> usize {
        if self.checked() { size_of::<Challenge>() } else { 0 }
    }

    /// Bytes of the receiver's `Proof` of a batch; with none, it is not sent.
    #[must_use]
    pub const fn proof_len(&self) -> usize {
        if self.checked() { PROOF_LEN } else { 0 }
    }

    fn first_tree(&self, shape: Shape) -> usize {
        usize::from(!shape.given && !self.all_trees)
    }

    fn columns(&self, n: usize) -> usize {
        columns(n, self.mask_columns())
    }

    /// Checks that a batch of this number and size is allowed.
    fn check_batch(&self, number: u64, n: usize) -> Result<(), Usage> {
        check_number(number, self.max_batches())?;
        expect_at_most(self.max_batch(), n)
    }
}

foxtrot_kernel::redacted! {
    Extension, extension => "{}", extension.name;
}

/// χ of a batch. Parties that do not agree whether choices are given do not agree on these.
fn coefficients(
    session: &Session,
    batch: u64,
    shape: Shape,
    challenge: &Challenge,
    columns: usize,
) -> Vec<u64> {
    let query = session.oracle("foxtrot v1 extension check").query(batch, u8::from(shape.given));
    check::coefficients(query.field(challenge), columns)
}

/// Columns of a batch of n OTs, and of so many more: whole vectors of the widest backend.
fn columns(n: usize, more: usize) -> usize {
    const VECTOR: usize = 512;
    n.saturating_add(more).max(1).div_ceil(VECTOR).saturating_mul(VECTOR)
}

fn check_number(of_batch: u64, max: u64) -> Result<(), Usage> {
    if of_batch < max { Ok(()) } else { Err(Usage::TooManyBatches { max }) }
}

/// Checks that a batch belongs to this state, and that both have a check or neither.
fn check_owner(
    (ours, checked): (&Session, bool),
    (of_batch, batch_checked): (&Sid, bool),
) -> Result<(), Usage> {
    let belongs = ours.id() == of_batch && checked == batch_checked;
    if belongs { Ok(()) } else { Err(Usage::ForeignBatch) }
}
