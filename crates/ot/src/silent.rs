//! Silent VOLE and silent OT: long correlations from few OTs of an extension, by the LPN assumption
//! [[BCGIKRS19](https://eprint.iacr.org/2019/1159)].
//!
//! | protocol | receiver's U in | adversary | |
//! |---|---|---|---|
//! | [`vole`] | GF(2^128) | malicious | |
//! | [`vole_margin`] | GF(2^128) | malicious | more noise |
//! | [`vole_semi_honest`] | GF(2^64) | semi-honest | |
//! | [`vole_packed`] | GF(2^128) | malicious | without LPN, 240 bytes per output |
//! | [`ot`] | GF(2) | malicious | OTs, for thin links |
//! | [`ot_semi_honest`] | GF(2) | semi-honest | OTs, for thin links |
//! | [`ot_16_semi_honest`] | GF(16) | semi-honest | OTs of one of sixteen bits |
//!
//! The sender gets Δ and W, the receiver U and V = W ⊕ U·Δ:
//!
//! ```text
//! R: bits b, rows r                                     S: Δ, rows q = r ⊕ b·Δ, of `softspoken-8`
//!                  ◄── Trees ──                         trees, all of whose leaves are b
//! all leaves but one of each tree: c = b ⊕ e·Δ
//!                  ── [Challenge] ──►                   W = H·b
//! U = H·e, V = H·c
//!                  ── [Check] ──►
//!                  ◄── [Answer] ──
//! compares
//! ```
//!
//! Messages in brackets are for malicious peers only. The receiver has no output before the answer has passed, and an answer
//! that fails ends the session, and the extension's also. H is a public code. Bounds and what is not proved:
//! `docs/protocols/silent.md`; bytes: `docs/wire/silent.md`, section 20.
//!
//! Both parties in one program, over a [`Pair`](crate::pair::Pair); between two programs a driver takes its place:
//!
//! ```
//! use foxtrot_ot::silent::{self, protocol::{ExtensionPlan, Receiver, Sender}};
//! use foxtrot_ot::{Context, Direction, Seed, Session, Sid, base::roted::Endemic};
//! use foxtrot_ot::{engine::Engine, pair::Pair};
//!
//! let plan = ExtensionPlan {
//!     extension: silent::vole(),
//!     base: &Endemic,
//!     direction: Direction::InitiatorSends,
//!     counter: 0,
//! };
//! // The parties have agreed on the session; each has a secret seed, which it uses once.
//! let session = Session::new(Sid::from_bytes([7; 32]));
//! let context = |seed| Context::new(&session, Seed::from_bytes([seed; 32]));
//!
//! let sender = Engine::new(|io| async move {
//!     let mut sender = Sender::set_up(&io, &mut context(8), plan).await?;
//!     let w = sender.vole(&io, 1000).await?;
//!     Ok::<_, foxtrot_ot::Error>((sender.delta()?, w))
//! });
//! let receiver = Engine::new(|io| async move {
//!     let mut receiver = Receiver::set_up(&io, &mut context(9), plan).await?;
//!     receiver.vole(&io, 1000).await
//! });
//! let ((delta, w), (u, v)) = Pair::new(sender, receiver).run().map_err(|(_party, e)| e)?;
//!
//! // V = W ⊕ U·Δ.
//! let product = |u| foxtrot_kernel::gf::gf128::mul(foxtrot_kernel::Backend::best(), u, *delta);
//! assert!((0..1000).all(|i| v[i] == w[i] ^ product(u[i])));
//! # Ok::<(), foxtrot_ot::Error>(())
//! ```
//!
//! # Steps
//!
//! 1. S and R run 128 base OTs, in which S chose Δ, and `softspoken-8` over them. A batch takes C correlated OTs with random choices. S sends
//!    nothing of a batch before their check has passed.
//! 2. *Pack.* 128 OTs are one VOLE: u = Σ Xⁱ·(choice i), v = Σ Xⁱ·rᵢ, w = Σ Xⁱ·qᵢ, so v = w ⊕ u·Δ. t of them are noise, one is a mask (u*, v*,
//!    w*). In `silent` u_j = 1, and only the mask is packed; S says what bit 0 of Δ is, and if it is 0, R adds u* to v*.
//! 3. *GGM trees.* S grows t binary trees from random roots, and sends for every level the XOR of its even nodes and of its odd nodes, masked by H(q)
//!    and H(q ⊕ Δ). R can unmask one of the two, by its choice. It learns all leaves but one; the place of this leaf is α_j, the complement of its choices.
//! 4. S also sends D_j = w_j ⊕ (XOR of all leaves). R sets leaf α_j to D_j ⊕ v_j ⊕ (XOR of the others), which is S's leaf ⊕ u_j·Δ*.
//!    In `silent-16` nibble 0 of all leaves is 0 at S, so nibble 0 of R's leaves is e.
//!
//!    *Correlated trees*, in `silent`, take the place of steps 3 and 4 \[GYWZXZ23\]. The two nodes of level 1 are k and k ⊕ Δ, and a node s has the children H'(s) and H'(s) ⊕ s. So the nodes of every
//!    level add up to Δ, and the sums of even and of odd nodes are themselves a correlated pair: S sends (XOR of even nodes) ⊕ q for a level, and R adds r. All leaves but leaf α_j add up to S's leaf ⊕ Δ,
//!    so R sets leaf α_j to this sum, and no D_j is sent. Bit 0 of all leaves is 0 at S, and R sets bit 0 of leaf α_j to 1, so bit 0 of R's leaves is e. This halves both the bytes of a tree and its work.
//! 5. *Check.* Y(s) are the prefix sums of a string s, in the order in which they come to the second accumulator. R sends χ, and then x* = u* ⊕ Σ χ_l·Y(e)_l. S sends a hash of
//!    V_S = w* ⊕ x*·Δ* ⊕ Σ χ_l·Y(b)_l. R compares it with that of V_R = v* ⊕ Σ χ_l·Y(c)_l. A check of the leaves would do as well, but S would have to keep them, or expand its trees twice.
//! 6. *Code.* U = H·e, V = H·c, W = H·b. In `silent` U is bit 0 of V: random choices cost nothing more, and given ones take a second encoding of V.
//! 7. `silent`: S commits to a coin in step 3 and opens it in step 5. The coin flips choices and, with χ, keys the hash of the rows.
//!
//! # Letters
//!
//! | symbol | meaning |
//! |---|---|
//! | m, N | outputs of a batch; inputs of the code, N ≥ 2m |
//! | t, h | trees, noise positions; levels of a tree, t·2^h = N |
//! | α_j, u_j | place and value of noise in tree j |
//! | e; b, c | noise of N elements; leaves at S, at R: c = b ⊕ e·Δ* |
//! | H; a, d | the code; its accumulators, its public factors |
//! | q, r | rows of OTs at S, at R: r = q ⊕ (choice)·Δ |
//! | χ, x* | coefficients of the check; sum that R sends |
//! | π_j | AES-128 under a key of tree j |
//! | Δ* | Δ of the outputs: in `silent` Δ with bit 0 set, in `silent-16` Δ with nibble 0 set to 1, else Δ |
//!
//! In the code:
//!
//! | symbol | meaning | in code |
//! |---|---|---|
//! | U, V, W | outputs: V = W ⊕ U·Δ | `u`, `v`, `w` |
//! | m, N; a | outputs and inputs of the code; its accumulators | `outputs`, `leaves`; `accumulators` |
//! | t, h, α_j, u_j | trees, their levels; place and value of noise | `trees`, `height`; `alpha`, `noise` |
//! | k; σ, H'(s) | left node of level 1 of a correlated tree; the map of a node's halves, and its hash | `top`; `sigma`, `TreeKind::Correlated` |
//! | e; b, c | noise; leaves of S, of R | `strings` |
//! | u*, v*, w*; x* | mask of the check; masked sum of noise | `mask`; `x` |
//! | Y(s) | prefix sums of s, as they come to the second accumulator | `cells`, `marks` |
//! | C, p | OTs of a batch; OTs that are packed to one element | `ots`; `MASK`, `NOISE_BITS` |
//! | T_k, d^k, M | permutations, factors and block of the code | `tables`, `factors`, `encode` |
//!
//! # Rules, each with its reason
//!
//! * *Leaves of a correlated tree are used only where all noise is 1.* They add up to Δ. Where u_j is another value, D_j = Δ ⊕ w_j, and R, with v_j = w_j ⊕ u_j·Δ, computes Δ = (D_j ⊕ v_j)/(1 ⊕ u_j). The test
//!   `silent_attacks.rs` does so. So VOLE and `silent-16` have GGM trees. With u_j = 1 there is no D_j, and nothing to solve.
//! * *OTs come from a checked extension.* Unchecked OTs let R put different choices into different rows, and read Δ.
//! * *A VOLE is used once.* Two sums A₁ = U ⊕ P₁, A₂ = U ⊕ P₂ give P₁ ⊕ P₂.
//! * *An answer that fails ends the sub-sid*, and Δ with it. Each guess that is survived counts against 128 bits of Δ (`silent`: 127).
//! * *The mask is fresh for each check.* Two x* with one u* give a sum of noise.
//! * *The batch is in every key*: tree, mask, output, check.

pub mod protocol;

mod code;
mod field;
mod info;
mod parameters;
mod receiver;
mod rows;
mod sender;
#[cfg(test)]
mod splitting;
#[cfg(test)]
mod tests;
mod trees;

use alloc::vec;
use core::iter;

use foxtrot_kernel::aes::Aes128;

pub use code::{Cells, Scratch};
pub use field::{Field, Gf2, Gf16, Gf64, Gf128};
pub use info::{PROTOCOLS, find};
pub use parameters::{
    Silent, Size, ot, ot_16_semi_honest, ot_semi_honest, vole, vole_margin, vole_packed,
    vole_semi_honest,
};
pub use receiver::{Grown, Received, Receiver, Unverified};
pub use sender::{Encoded, Planted, Sender, Sent};

use rows::Rows;

use crate::{
    Bits, Seed, Session, Sid, Usage,
    base::Block,
    engine::batches::Runs,
    erase::Secret,
    expect_count, extension,
    oracle::{Oracle, Query},
    protocol::{Adversary, Incompatible},
    tasks::for_each,
};

/// A party of a silent protocol, which makes batch after batch from one extension.
pub struct SilentParty<F, Ots> {
    silent: Silent<F>,
    session: Session,
    seed: Seed,
    /// `None` when an error has ended the session.
    ots: Option<Ots>,
    /// Batches so far.
    batch: u64,
    scratch: Scratch,
    runs: Runs,
}

impl<F, Ots> SilentParty<F, Ots> {
    fn of_ots(session: Session, silent: Silent<F>, ots: Ots, seed: Seed) -> Self {
        let (scratch, runs) = (Scratch::default(), Runs::default());
        Self { silent, session, seed, ots: Some(ots), batch: 0, scratch, runs }
    }

    /// The extension, for the OTs of the next batch.
    ///
    /// # Errors
    /// [`Usage::SessionEnded`].
    pub fn ots(&mut self) -> Result<&mut Ots, Usage> {
        self.ots.as_mut().ok_or(Usage::SessionEnded)
    }

    /// The protocol's memory. Replace it to use another protocol's; take it to hand it to the next one. Only memory that
    /// began as [`Scratch::of`] is kept for that.
    pub fn scratch(&mut self) -> &mut Scratch {
        &mut self.scratch
    }

    #[cfg(test)]
    fn set_session(&mut self, session: Session) {
        self.session = session;
    }
}

/// The receiver's seed of the coefficients of the check.
type Challenge = Block;

/// OTs whose keys are hashed with one permutation.
const TILE: usize = 1024;

/// Both parties' coins of a checked batch of OTs.
#[derive(Clone, Copy)]
struct Coins {
    receiver: Challenge,
    sender: [u8; 32],
}

/// Checks that the OTs come from the extension that the protocol stands on.
fn check_extension<F>(silent: &Silent<F>, extension: extension::Extension) -> Result<(), Usage> {
    let (needed, is) = (silent.extension().info(), extension.info());
    match () {
        () if needed.name == is.name => Ok(()),
        () if needed.adversary == Adversary::Malicious && is.adversary != needed.adversary => {
            Err(Usage::Incompatible(Incompatible::Adversary))
        }
        () => Err(Usage::Incompatible(Incompatible::NoVariant)),
    }
}

/// Checks that a batch is of this session.
fn check_ours(session: &Session, of_batch: &Sid) -> Result<(), Usage> {
    if session.id() == of_batch { Ok(()) } else { Err(Usage::ForeignBatch) }
}

/// The permutation of that purpose in a batch.
fn permutation(session: &Session, purpose: &'static str, batch: u64) -> Aes128 {
    let key = session.oracle(purpose).query(batch, 0).finish();
    Aes128::new(session.backend(), &key)
}

/// The flips of OTs whose choices are not given; none without coins.
fn flips(session: &Session, batch: u64, coins: Option<&Coins>, m: usize) -> Bits {
    let Some(Coins { sender, .. }) = coins else { return Bits::from_bools([]) };
    let mut flips = vec![0; m.div_ceil(8)];
    session.oracle("foxtrot v1 silent flips").query(batch, 0).field(sender).fill(&mut flips);
    Bits::from_bytes(&flips, m)
}

/// Blocks that are added to the rows of a tile before they are hashed to keys of OTs: they make rows distinct, also those that a peer has made equal. None if U is
/// in another field than GF(2).
fn offsets<F: Field>(
    session: &Session,
    batch: u64,
    coins: Option<&Coins>,
    m: usize,
) -> Secret<Block> {
    if F::BITS != 1 {
        return Secret::default();
    }
    let oracle = session.oracle("foxtrot v1 silent offsets");
    let mut offsets = Secret::<Block>::zeroed(m.min(TILE));
    with_coins(oracle.query(batch, 0), coins).fill(offsets.as_flattened_mut());
    offsets
}

/// The query that says both coins, if there are some.
fn with_coins(query: Query, coins: Option<&Coins>) -> Query {
    match coins {
        Some(Coins { receiver, sender }) => query.field(receiver).field(sender),
        None => query,
    }
}

/// The commitment to the sender's coin.
fn commitment(session: &Session, batch: u64, coin: &[u8; 32]) -> [u8; 32] {
    session.oracle("foxtrot v1 silent commitment").query(batch, 0).field(coin).finish()
}

/// The hash of a party's sum of the check.
fn check_hash(session: &Session, batch: u64, sum: &u128) -> [u8; 32] {
    let oracle = session.oracle("foxtrot v1 silent check");
    oracle.query(batch, 0).field(&sum.to_le_bytes()).finish()
}

/// Keys of a batch of OTs.
struct Outputs<'a> {
    session: &'a Session,
    oracle: Oracle,
    batch: u64,
    coins: Option<&'a Coins>,
}

impl<'a> Outputs<'a> {
    fn new(
        session: &'a Session,
        of_batch: &Sid,
        batch: u64,
        coins: Option<&'a Coins>,
    ) -> Result<Self, Usage> {
        check_ours(session, of_batch)?;
        let oracle = session.oracle("foxtrot v1 silent output");
        Ok(Self { session, oracle, batch, coins })
    }

    /// Hands out the rows of TILE OTs at a time, with their number and the places for their keys, and for a bit of each if there are
    /// some; OT `first` begins a tile.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if there are fewer OTs from `first` on than places, or no tile begins there.
    fn tiles<T: Send>(
        &self,
        rows: &Rows,
        first: usize,
        out: &mut [T],
        bits: &mut [u8],
        work: impl Fn(&Aes128, usize, &mut [Block], &mut [T], &mut [u8]) + Sync,
    ) -> Result<(), Usage> {
        let (whole, rest) = (first / TILE * TILE, rows.n().checked_sub(first));
        expect_count("OTs before the first", whole, first)?;
        let rest =
            rest.ok_or(Usage::CountMismatch { what: "OTs", expected: rows.n(), got: first })?;
        expect_count("places for keys", rest.min(out.len()), out.len())?;
        let executor = self.session.executor();
        let at_once = out.len().div_ceil(TILE).div_ceil(executor.threads().max(1)).max(1) * TILE;
        let bits = bits.chunks_mut(at_once / 8).chain(iter::repeat_with(Default::default));
        for_each(executor, out.chunks_mut(at_once).zip(bits).enumerate(), |(part, (out, bits))| {
            let mut tile = Secret::zeroed(TILE);
            let starts = (first + part * at_once..).step_by(TILE);
            let bits = bits.chunks_mut(TILE / 8).chain(iter::repeat_with(Default::default));
            for (start, (out, bits)) in starts.zip(out.chunks_mut(TILE).zip(bits)) {
                let tile = &mut tile[..out.len()];
                rows.read(start, tile);
                work(&self.permutation(start / TILE), start, tile, out, bits);
            }
        });
        Ok(())
    }

    fn permutation(&self, tile: usize) -> Aes128 {
        let query = self.oracle.query(2048 * self.batch + tile as u64, 0);
        Aes128::new(self.session.backend(), &with_coins(query, self.coins).finish())
    }
}
