//! Beaver multiplication triples: shares of random a, b and of c = a·b modulo 2^ℓ, for ℓ = 8, 16, 32 or 64. With them an MPC
//! engine multiplies.
//!
//! ```
//! # #[cfg(feature = "net")] {
//! use foxtrot::{Peer, triples};
//!
//! let (mut ours, mut theirs) = Peer::pair();
//! let peer = std::thread::spawn(move || triples::generate::<u64>(&mut theirs, 100));
//! let ours = triples::generate::<u64>(&mut ours, 100)?;
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
//! transfer (Gilboa), more from ring-LWE (`rlwe`); both are post-quantum.

use core::fmt;

use foxtrot_ot::{
    Context, Usage,
    base::roted,
    engine::{Abandoned, Io},
    erase::{Secret, Zero},
};
pub use foxtrot_triples::{Error as ProtocolError, Shares};
use foxtrot_triples::{
    gilboa::{self, protocol as from_ot},
    params,
    rlwe::protocol as from_rlwe,
};

#[cfg(feature = "net")]
mod peer;
#[cfg(feature = "net")]
pub use peer::generate;

/// The most triples that are made from oblivious transfer unless the caller says otherwise: up to there that needs less
/// computing, and no more bytes (`docs/protocols/gilboa.md`, section 7).
pub const FEW: usize = 2048;

/// Bits that `rlwe` hides statistically.
const SIGMA: u32 = 40;

/// A word of ℓ bits: `u8`, `u16`, `u32` or `u64`.
pub trait Word: sealed::Word + Zero + Send + Sync + 'static {}

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

/// How triples are made. Both sides have the same options.
///
/// ```
/// # #[cfg(feature = "net")] {
/// use foxtrot::{Peer, triples::{Method, Options}};
///
/// let options = Options::new().method(Method::Gilboa);
/// let (mut ours, mut theirs) = Peer::pair();
/// let peer = std::thread::spawn(move || options.generate::<u16>(&mut theirs, 10));
/// assert_eq!(options.generate::<u16>(&mut ours, 10)?.len(), 10);
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
    /// From ring-LWE: for many.
    Rlwe,
    /// From oblivious transfer: for few; makes no wrong triple.
    Gilboa,
}

/// Method and parameters.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Rlwe(&'static params::Set),
    Gilboa(&'static gilboa::Set),
}

impl<T: Word> Triples<T> {
    /// The number of triples.
    #[must_use]
    pub fn len(&self) -> usize {
        self.parts[0].len()
    }

    /// Whether there are none.
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
    /// more than `n` in the last.
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
        sink: impl FnMut(&Shares) -> Result<(), Abandoned>,
    ) -> Result<(), ProtocolError> {
        match self.kind(bits, n)? {
            Kind::Rlwe(set) => {
                let batches = 0..set.batches(n as u64);
                let plan = from_rlwe::Plan { set, we_are_initiator, batches };
                from_rlwe::Party::set_up(io, cx, plan).await?.run(io, sink).await
            }
            Kind::Gilboa(set) => {
                let (base, count) = (&roted::Endemic, n as u64);
                let plan = from_ot::Plan { set, base, we_are_initiator, count };
                from_ot::Party::set_up(io, cx, plan).await?.run(io, sink).await
            }
        }
    }

    fn kind(&self, bits: u32, n: usize) -> Result<Kind, Usage> {
        let method = self.method.unwrap_or(if n <= FEW { Method::Gilboa } else { Method::Rlwe });
        let none = Usage::Choices { choices: 0 };
        match method {
            Method::Rlwe => {
                let fits = |set: &&params::Set| {
                    set.bits() == bits && set.sigma() == SIGMA && set.fix().is_some()
                };
                params::registry().find(fits).map(Kind::Rlwe).ok_or(none)
            }
            Method::Gilboa => {
                let set = gilboa::of_bits(bits, gilboa::DEFAULT_K).ok_or(none)?;
                if set.batches(n as u64) > set.most_batches() {
                    let most = set.most_batches().saturating_mul(set.usable() as u64);
                    let max = usize::try_from(most).unwrap_or(usize::MAX);
                    return Err(Usage::BatchTooLarge { n, max });
                }
                Ok(Kind::Gilboa(set))
            }
        }
    }
}

impl<T: Word> fmt::Debug for Triples<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Triples({} of {} bits, <redacted>)", self.len(), T::BITS)
    }
}
