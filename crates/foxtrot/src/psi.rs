//! Private set intersection: the receiver learns which of its items the sender also has. The sender learns only how many
//! different items the receiver compared.
//!
//! ```
//! # #[cfg(feature = "net")] {
//! use foxtrot::{Peer, psi};
//!
//! let (mut ours, mut theirs) = Peer::pair();
//! let sender = std::thread::spawn(move || psi::send(&mut theirs, &["ann", "bob", "cid"]));
//! let common = psi::receive(&mut ours, &["bob", "eve", "cid"])?;
//! assert_eq!(common, [0, 2]);
//! sender.join().expect("no panic")?;
//! # }
//! # Ok::<(), foxtrot::Error>(())
//! ```
//!
//! The default is secure against malicious peers, from module-LWE and symmetric primitives only. With
//! [`Options::assumption`] a large intersection sends a fraction of the bytes, and also rests on dual LPN, a younger
//! assumption. What any PSI reveals, this one does as well: a receiver that chooses its items freely can
//! ask about anybody. A receiver that follows the protocol asks about as many items as it declares, and
//! [`Options::max_peer_keys`] limits that number. A receiver that cheats can ask about more:
//! [`Options::most_tested`] says about how many. The receiver also learns how many different items the sender has.
//!
//! Items are compared byte by byte. Bring them to one form first: `Ann@Example.com` and `ann@example.com` are two
//! items. An empty item is never in common. The command `foxtrot psi` with one key column and without normalisation
//! is a peer for this module, and the other way round.

use alloc::vec::Vec;
use core::mem;

use foxtrot_ot::{
    Context, Direction, Usage,
    base::{Adversary, BaseOt, roted::Endemic},
    engine::Io,
};
use foxtrot_psi::method::{
    Method,
    protocol::{IntersectionPlan, Receiver, Sender},
};
pub use foxtrot_psi::{
    Digest, Error as PsiError, MAX_ITEMS, Received, method::Assumption, plan::Progress as Steps,
};
use zeroize::Zeroizing;

use crate::options::{MAX_PEER_KEYS, MIN_PEER_KEYS};

#[cfg(feature = "net")]
pub mod agreement;
#[cfg(feature = "net")]
pub mod cells;
#[cfg(feature = "net")]
pub mod fields;
#[cfg(feature = "net")]
pub mod keys;
#[cfg(feature = "net")]
pub mod memory;
#[cfg(feature = "net")]
mod peer;
#[cfg(feature = "net")]
pub mod run;
#[cfg(feature = "net")]
pub mod shards;
#[cfg(feature = "net")]
pub use crate::psi_terms::Function;
/// Terms of `psi`, as hellos name them (`docs/wire/README.md`, section 3).
#[cfg(feature = "net")]
pub mod terms {
    pub use crate::psi_terms::*;
}
#[cfg(feature = "net")]
pub use {
    foxtrot_psi::circuit::Outcome,
    peer::{Count, receive, send},
};

/// The tag of the hash of an item: see `docs/psi-files.md`.
const CONTEXT: &str = "foxtrot v1 psi item";

/// The protocol and limits of an intersection. Both sides have the same options but for
/// [`max_peer_keys`](Self::max_peer_keys).
///
/// ```
/// # #[cfg(feature = "net")] {
/// use foxtrot::{Peer, psi};
///
/// // The peer may have two items at most.
/// let ours = psi::Options::new().max_peer_keys(2);
/// let (mut sender, mut receiver) = Peer::pair();
/// let asking = std::thread::spawn(move || psi::receive(&mut receiver, &["ann", "bob", "cid"]));
/// assert!(ours.send(&mut sender, &["bob"]).is_err());
/// assert!(asking.join().expect("no panic").is_err());
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Options {
    method: Method,
    #[cfg_attr(not(feature = "net"), expect(dead_code, reason = "negotiations use it"))]
    most: usize,
    least: usize,
    /// The shard of an intersection on many machines.
    #[cfg(feature = "net")]
    shard: Option<terms::Shard>,
}

impl Options {
    /// The default: secure against malicious peers, post-quantum, for peers with up to 10^8 items.
    #[must_use]
    pub const fn new() -> Self {
        let (assumption, adversary) = (Assumption::Symmetric, Adversary::Malicious);
        let method = Method { base: &Endemic, assumption, adversary };
        Self {
            method,
            most: MAX_PEER_KEYS.size(),
            least: MIN_PEER_KEYS.size(),
            #[cfg(feature = "net")]
            shard: None,
        }
    }

    /// The default limits with these protocols.
    #[must_use]
    pub const fn of(method: Method) -> Self {
        Self { method, ..Self::new() }
    }

    /// Accepts a protocol that gives no protection against a malicious peer, and is somewhat cheaper.
    #[must_use]
    pub fn semi_honest(self) -> Self {
        Self { method: Method { adversary: Adversary::SemiHonest, ..self.method }, ..self }
    }

    /// Takes another base OT.
    #[must_use]
    pub fn base(self, base: &'static dyn BaseOt) -> Self {
        Self { method: Method { base, ..self.method }, ..self }
    }

    /// Rests on this assumption, beside that of the base OT. Both sides have to mean the same.
    ///
    /// ```
    /// use foxtrot::psi::{Assumption, Options};
    ///
    /// let (symmetric, lpn) = (Options::new(), Options::new().assumption(Assumption::Lpn));
    /// let n = 1_000_000;
    /// assert!(lpn.bytes(n, n)? < 33 * n && symmetric.bytes(n, n)? > 100 * n);
    /// # Ok::<(), foxtrot::Usage>(())
    /// ```
    #[must_use]
    pub fn assumption(self, assumption: Assumption) -> Self {
        Self { method: Method { assumption, ..self.method }, ..self }
    }

    /// Payload bytes that both sides together send for sets of these sizes, base OTs included.
    ///
    /// # Errors
    /// [`Usage`] for more than [`MAX_ITEMS`], or options that do not go together.
    pub fn bytes(&self, receivers: usize, senders: usize) -> Result<usize, Usage> {
        Ok(self.method.parameters(receivers, senders)?.bytes(self.method.base))
    }

    /// The most items that the peer may have, up to [`MAX_ITEMS`]. Memory grows with that number, and so does what a receiver may
    /// ask about: [`most_tested`](Self::most_tested).
    #[must_use]
    pub const fn max_peer_keys(self, most: usize) -> Self {
        Self { most, ..self }
    }

    /// The fewest items that the peer may have; 0 by default. An intersection with very few items is a question about
    /// somebody.
    ///
    /// ```
    /// # #[cfg(feature = "net")] {
    /// use foxtrot::{Peer, psi};
    ///
    /// let ours = psi::Options::new().min_peer_keys(3);
    /// let (mut sender, mut receiver) = Peer::pair();
    /// let asking = std::thread::spawn(move || psi::receive(&mut receiver, &["ann", "bob"]));
    /// assert!(ours.send(&mut sender, &["bob"]).is_err());
    /// let error = asking.join().expect("no panic").expect_err("too few");
    /// assert!(error.to_string().contains("no fewer than 3"), "{error}");
    /// # }
    /// ```
    #[must_use]
    pub const fn min_peer_keys(self, least: usize) -> Self {
        Self { least, ..self }
    }

    /// The shard, of an intersection on many machines.
    #[cfg(feature = "net")]
    #[must_use]
    pub const fn shard_of(&self) -> Option<&terms::Shard> {
        self.shard.as_ref()
    }

    /// The fewest items that the peer may have.
    #[must_use]
    pub const fn least(&self) -> usize {
        self.least
    }

    /// Returns the number of items that a receiver can ask about that cheats and declares `declared`, unless it computes 2^80 hashes or is lucky
    /// with probability 2^-40. `None` with [`semi_honest`](Self::semi_honest): there is no bound then. For a shard
    /// ([`shard`](Self::shard)) earlier attempts count also.
    ///
    /// ```
    /// use foxtrot::psi::Options;
    ///
    /// assert_eq!(Options::new().most_tested(20), Some(215));
    /// assert_eq!(Options::new().most_tested(1_000_000).map(|most| most / 10_000), Some(154));
    /// assert_eq!(Options::new().semi_honest().most_tested(20), None);
    /// ```
    #[must_use]
    pub fn most_tested(&self, declared: usize) -> Option<u64> {
        let of_one = self.method.largest_set(declared)?;
        #[cfg(feature = "net")]
        let of_one = of_one.saturating_mul(1 + self.shard.map_or(0, |it| u64::from(it.attempt)));
        Some(of_one)
    }

    /// The sender, over any engine. The items are distinct; the receiver has `receivers`. `progress` is told how many
    /// [`Steps`] are done.
    ///
    /// ```
    /// use foxtrot::{Context, Direction, Seed, Session, Sid, engine::Engine, pair::Pair};
    /// use foxtrot::psi::{Options, PsiError, Steps, item};
    ///
    /// let (direction, options) = (Direction::InitiatorSends, Options::new());
    /// let items = |names: &[&str]| names.iter().filter_map(|name| item(name.as_bytes())).collect::<Vec<_>>();
    /// let (ours, theirs) = (items(&["bob", "eve", "cid"]), items(&["ann", "bob"]));
    /// // Both sides have agreed on the session and on the sizes; each has a secret seed, which it uses once.
    /// let session = Session::new(Sid::from_bytes([7; 32]));
    /// let context = |seed| Context::new(&session, Seed::from_bytes([seed; 32]));
    /// let sender = Engine::new(|io| async move {
    ///     let mut cx = context(8);
    ///     let tell = |Steps { done, of }| assert!(done <= of);
    ///     options.send_over(&io, &mut cx, direction, 3, theirs, tell).await
    /// });
    /// let receiver = Engine::new(|io| async move {
    ///     let mut cx = context(9);
    ///     options.receive_over(&io, &mut cx, direction, 2, ours, |_| ()).await
    /// });
    /// let ((), received) = Pair::new(sender, receiver).run().map_err(|(_party, e)| e)?;
    /// assert_eq!(received.intersect()?, [0]);
    /// # Ok::<(), PsiError>(())
    /// ```
    ///
    /// # Errors
    /// [`Usage`] for options that do not go together; errors of the protocol.
    pub async fn send_over(
        &self,
        io: &Io,
        cx: &mut Context<'_>,
        direction: Direction,
        receivers: usize,
        items: Vec<Digest>,
        mut progress: impl FnMut(Steps) + Send,
    ) -> Result<(), PsiError> {
        let mut items = Zeroizing::new(items);
        let plan = self.plan(direction, [receivers, items.len()], self.method.base)?;
        let sender = Sender::set_up(io, cx, plan).await?;
        sender.run(io, mem::take(&mut *items), &mut progress).await
    }

    /// The receiver of [`send_over`](Self::send_over). The items are distinct; the sender has `senders`.
    /// [`Received::intersect`] gives the indices; how long it takes depends on both sets, so end the session before.
    ///
    /// # Errors
    /// As [`send_over`](Self::send_over).
    pub async fn receive_over(
        &self,
        io: &Io,
        cx: &mut Context<'_>,
        direction: Direction,
        senders: usize,
        items: Vec<Digest>,
        mut progress: impl FnMut(Steps) + Send,
    ) -> Result<Received, PsiError> {
        let mut items = Zeroizing::new(items);
        let plan = self.plan(direction, [items.len(), senders], self.method.base)?;
        let receiver = Receiver::set_up(io, cx, plan).await?;
        receiver.run(io, mem::take(&mut *items), &mut progress).await
    }

    /// The protocols, for programs that negotiate by themselves.
    #[must_use]
    pub const fn method(&self) -> Method {
        self.method
    }

    fn plan<'a>(
        &self,
        direction: Direction,
        [receivers, senders]: [usize; 2],
        base: &'a dyn BaseOt,
    ) -> Result<IntersectionPlan<'a>, Usage> {
        let parameters = self.method.parameters(receivers, senders)?;
        Ok(IntersectionPlan { parameters, base, direction, counter: 0 })
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}

/// The item that is compared for these bytes: a hash of 32 bytes, the same as that of the command for a key of one
/// column. `None` for no bytes.
///
/// ```
/// use foxtrot::psi::item;
///
/// assert_ne!(item(b"ann@example.org"), item(b"Ann@example.org"));
/// assert_eq!(item(b""), None);
/// ```
#[must_use]
pub fn item(bytes: &[u8]) -> Option<Digest> {
    ItemHasher::new().item([bytes])
}

/// Makes items of keys of one or several parts, say columns, and computes what is the same for all of them once.
///
/// ```
/// use foxtrot::psi::{ItemHasher, item};
///
/// let mut hasher = ItemHasher::new();
/// let one = hasher.item([b"ann", b"lee"]);
/// assert_ne!(one, hasher.item(["an", "nlee"]));
/// assert_eq!(hasher.item(["annlee"]), item(b"annlee"));
/// // A key that lacks a part is never in common.
/// assert_eq!(hasher.item(["ann", ""]), None);
/// ```
pub struct ItemHasher {
    hasher: blake3::Hasher,
    joined: Zeroizing<Vec<u8>>,
}

impl ItemHasher {
    /// A hasher.
    #[must_use]
    pub fn new() -> Self {
        let hasher = blake3::Hasher::new_derive_key(CONTEXT);
        Self { hasher, joined: Zeroizing::default() }
    }

    /// The item of a key, by its parts; `None` if one of them is empty.
    pub fn item(&mut self, parts: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Option<Digest> {
        self.joined.clear();
        for part in parts {
            let part = part.as_ref();
            if part.is_empty() {
                return None;
            }
            self.joined.extend_from_slice(&(part.len() as u64).to_le_bytes());
            self.joined.extend_from_slice(part);
        }
        let item = self.hasher.update(&self.joined).finalize().into();
        // Copying a fresh one takes longer.
        self.hasher.reset();
        Some(item)
    }
}

impl Default for ItemHasher {
    fn default() -> Self {
        Self::new()
    }
}

foxtrot_ot::erase::redacted! { ItemHasher; }
