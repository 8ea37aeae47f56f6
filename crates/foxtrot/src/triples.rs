//! Beaver multiplication triples: shares of random a, b and of c = a·b modulo 2^ℓ, for ℓ = 8, 16, 32 or 64. With them an MPC
//! engine multiplies.
//!
//! ```
//! # #[cfg(feature = "net")] {
//! use foxtrot::{Peer, triples};
//!
//! let (mut ours, mut theirs) = Peer::pair();
//! let peer = std::thread::spawn(move || triples::generate::<u64, _>(&mut theirs, 100));
//! let ours = triples::generate::<u64, _>(&mut ours, 100)?;
//! let theirs = peer.join().expect("no panic")?;
//! for i in 0..100 {
//!     let [a, b, c] = [0, 1, 2].map(|part| ours.get(i)[part].wrapping_add(theirs.get(i)[part]));
//!     assert_eq!(a.wrapping_mul(b), c);
//! }
//! # }
//! # Ok::<(), foxtrot::Error>(())
//! ```
//!
//! **Semi-honest:** triples are secure only against a peer that follows the protocol. Up to 2048 are made from oblivious
//! transfer (Gilboa), more from ring-LWE (`rlwe`); both are post-quantum. Gilboa hides nothing statistically. `rlwe` hides
//! shares up to 2^-39 in a batch of thousands (σ = 40), and less in a run of many batches; a run that would hide them up to
//! less than 2^-20, which takes more than 4·10^9 triples, is refused.

use foxtrot_ot::{
    Context, Usage,
    engine::{Abandoned, Io},
    erase::{Secret, Zero},
};
use foxtrot_triples::{DEFAULT_SIGMA, TripleKind, gilboa::DEFAULT_K};
pub use foxtrot_triples::{Error as TriplesError, FEW, Shares};

#[cfg(feature = "net")]
mod peer;
#[cfg(feature = "net")]
pub mod terms;
#[cfg(feature = "net")]
pub use peer::generate;

/// A word of ℓ bits: `u8`, `u16`, `u32` or `u64`.
pub trait Word: sealed::Word + Zero + Send + Sync + 'static {}

/// Triples of 1 bit in a word.
const OF_A_WORD: usize = 64;

mod sealed {
    pub trait Word {
        const BITS: u32;
        fn of(value: u64) -> Self;
    }
}

macro_rules! words {
    ($($word:ty),+) => {$(
        impl sealed::Word for $word {
            const BITS: u32 = <$word>::BITS;

            #[allow(clippy::cast_possible_truncation, reason = "the value is below 2^BITS")]
            fn of(value: u64) -> Self {
                value as $word
            }
        }

        impl Word for $word {}
    )+};
}

words!(u8, u16, u32, u64);

/// A party's shares of triples, erased on drop. With the peer's, (a + a′)·(b + b′) = c + c′ modulo 2^ℓ.
pub struct Triples<T: Word> {
    parts: [Secret<T>; 3],
}

/// The method by which triples are made. Both sides have the same options.
///
/// ```
/// # #[cfg(feature = "net")] {
/// use foxtrot::{Peer, triples::{Method, Options}};
///
/// let options = Options::new().method(Method::Gilboa);
/// let (mut ours, mut theirs) = Peer::pair();
/// let peer = std::thread::spawn(move || options.generate::<u16, _>(&mut theirs, 10));
/// assert_eq!(options.generate::<u16, _>(&mut ours, 10)?.len(), 10);
/// # peer.join().expect("no panic")?;
/// # }
/// # Ok::<(), foxtrot::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    method: Option<Method>,
}

/// A protocol of triples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// Triples from ring-LWE: for many.
    Rlwe,
    /// Triples from oblivious transfer: for few; makes no wrong triple.
    Gilboa,
    /// Triples over an extension with k = 2: less computing without wide vectors, and more bytes.
    GilboaK2,
    /// Triples over an extension with k = 8: fewer bytes, and more computing.
    GilboaK8,
}

impl<T: Word> Triples<T> {
    /// The number of triples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.parts[0].len()
    }

    /// Returns true if there are no triples.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The shares of a, b and c of triple `i`.
    ///
    /// # Panics
    /// If there are not so many.
    #[must_use]
    pub fn get(&self, i: usize) -> [T; 3] {
        [self.parts[0][i], self.parts[1][i], self.parts[2][i]]
    }

    /// The shares of all a, of all b and of all c.
    #[must_use]
    pub fn into_parts(self) -> [Secret<T>; 3] {
        self.parts
    }

    /// The shares of all a.
    #[must_use]
    pub fn a(&self) -> &[T] {
        &self.parts[0]
    }

    /// The shares of all b.
    #[must_use]
    pub fn b(&self) -> &[T] {
        &self.parts[1]
    }

    /// The shares of all c.
    #[must_use]
    pub fn c(&self) -> &[T] {
        &self.parts[2]
    }
}

impl Method {
    /// The method for n triples of words of so many bits, unless a caller takes another: the rule of every door.
    #[must_use]
    pub const fn choose(bits: u32, n: u64) -> Self {
        if n <= FEW as u64 || bits == 1 { Self::Gilboa } else { Self::Rlwe }
    }
}

impl Options {
    /// The default: the method that costs less for the number of triples.
    #[must_use]
    pub const fn new() -> Self {
        Self { method: None }
    }

    /// Takes this method for any number.
    #[must_use]
    pub const fn method(self, method: Method) -> Self {
        Self { method: Some(method) }
    }

    /// One of the two parties, over any engine: `n` triples of `bits` bits. `sink` takes them batch after batch, and may get
    /// more than `n` in the last. Of 1 bit, a share is a word of 64 triples, the first in its lowest bit, and `n` is a multiple
    /// of 64.
    ///
    /// ```
    /// use foxtrot::{Context, Seed, Session, Sid, engine::Engine, pair::Pair, triples::{Options, Shares, TriplesError}};
    ///
    /// // Both sides have agreed on the session; each has a secret seed, which it uses once.
    /// let party = |we_are_initiator: bool, seed| Engine::new(move |io| async move {
    ///     let (session, mut all) = (Session::new(Sid::from_bytes([7; 32])), Vec::new());
    ///     let mut cx = Context::new(&session, Seed::from_bytes([seed; 32]));
    ///     let sink = |some: &Shares| Ok(all.extend((0..some.len()).map(|i| some.triple(i))));
    ///     Options::new().generate_over(&io, &mut cx, we_are_initiator, 64, 10, sink).await?;
    ///     Ok::<_, TriplesError>(all)
    /// });
    /// let (ours, theirs) = Pair::new(party(true, 8), party(false, 9)).run().map_err(|(_party, e)| e)?;
    /// let [a, b, c] = [0, 1, 2].map(|part| ours[5][part].wrapping_add(theirs[5][part]));
    /// assert_eq!(a.wrapping_mul(b), c);
    /// # Ok::<(), TriplesError>(())
    /// ```
    ///
    /// # Errors
    /// [`Usage`] if there are no parameters for `bits`, or too many triples; errors of the protocol.
    pub async fn generate_over(
        &self,
        io: &Io,
        cx: &mut Context<'_>,
        we_are_initiator: bool,
        bits: u32,
        n: usize,
        mut sink: impl FnMut(&Shares) -> Result<(), Abandoned> + Send,
    ) -> Result<(), TriplesError> {
        let (kind, n) = (self.kind(bits, n)?, n as u64);
        kind.generate(io, cx, we_are_initiator, 0..kind.batches(n), n, &mut sink).await
    }

    fn kind(&self, bits: u32, n: usize) -> Result<TripleKind, Usage> {
        let method = self.method.unwrap_or_else(|| Method::choose(bits, n as u64));
        let kind = match method {
            Method::Gilboa if bits == 1 && n.is_multiple_of(OF_A_WORD) => {
                TripleKind::bit_triples(false)
            }
            Method::Rlwe => TripleKind::rlwe(bits, DEFAULT_SIGMA, false),
            Method::Gilboa => TripleKind::gilboa(bits, DEFAULT_K),
            Method::GilboaK2 => TripleKind::gilboa(bits, 2),
            Method::GilboaK8 => TripleKind::gilboa(bits, 8),
        };
        let takes = "words of 8, 16, 32 or 64 bits, or 64 bits at a time";
        let kind = kind.ok_or(Usage::Choice { protocol: "triples", takes })?;
        match usize::try_from(kind.most()) {
            Ok(max) if n > max => Err(Usage::BatchTooLarge { n, max }),
            _ => Ok(kind),
        }
    }
}

foxtrot_ot::erase::redacted! {
    [T: Word] Triples<T>, triples => "{} of {} bits, <redacted>", triples.len(), T::BITS;
}
