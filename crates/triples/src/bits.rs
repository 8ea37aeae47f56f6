//! Bit triples: XOR shares of bits a, b and c = a·b, from two random OTs each
//! [[ALSZ13](https://eprint.iacr.org/2013/552), section 5; GMW87]. Semi-honest.
//!
//! Let x₀, x₁ be bits of the sender's keys in a random OT, and r the receiver's choice. Then x₀ ⊕ x_r = (x₀ ⊕ x₁)·r: the parties share
//! a product of the sender's bit and the receiver's. Two of these are the mixed terms of (a₀ ⊕ a₁)·(b₀ ⊕ b₁). Nothing is sent but
//! what the OTs send, and both OTs have one direction.
//!
//! ```
//! use foxtrot_ot::{
//!     Context, Direction, Seed, Session, Sid,
//!     base::roted::Endemic,
//!     engine::Engine,
//!     pair::Pair,
//!     silent,
//!     transfers::{Extension, Method},
//! };
//! use foxtrot_triples::bits;
//!
//! let method = Method { base: &Endemic, extension: Extension::Silent(silent::ot_semi_honest()) };
//! let direction = Direction::InitiatorSends;
//! // The parties have agreed on the session; each has a secret seed, which it uses once.
//! let session = || Session::new(Sid::from_bytes([7; 32]));
//! let sender = Engine::new(|io| async move {
//!     let session = session();
//!     bits::send(&io, &mut Context::new(&session, Seed::from_bytes([8; 32])), &method, direction, 1000).await
//! });
//! let receiver = Engine::new(|io| async move {
//!     let session = session();
//!     bits::receive(&io, &mut Context::new(&session, Seed::from_bytes([9; 32])), &method, direction, 1000).await
//! });
//! let (ours, theirs) = Pair::new(sender, receiver).run().map_err(|(_party, e)| e)?;
//! assert_eq!(ours.len(), 1024);
//! let open = |one: &[u64], other: &[u64]| -> Vec<u64> { one.iter().zip(other).map(|(a, b)| a ^ b).collect() };
//! let (a, b) = (open(ours.a(), theirs.a()), open(ours.b(), theirs.b()));
//! let products: Vec<u64> = a.iter().zip(&b).map(|(a, b)| a & b).collect();
//! assert_eq!(open(ours.c(), theirs.c()), products);
//! # Ok::<(), foxtrot_ot::Error>(())
//! ```

use alloc::vec::Vec;

use foxtrot_ot::{
    Bits, Context, Direction, Error,
    base::{Block, Choice},
    engine::Io,
    erase::{Secret, SecretBytes},
    extension::Shape,
    transfers::Method,
};

/// A party's shares of bit triples, 64 to a word.
pub struct Triples {
    a: Secret<u64>,
    b: Secret<u64>,
    c: Secret<u64>,
}

/// The sender's bits of random OTs, as they come: two OTs for a triple, first one of each and then the other.
pub struct Sent {
    /// x₀ and x₁ of every OT, packed.
    keys: [SecretBytes; 2],
    done: usize,
}

/// The receiver's bits of random OTs, as they come.
pub struct Received {
    /// The choice and x_r of every OT, packed.
    bits: [SecretBytes; 2],
    done: usize,
}

/// The number of triples that are made for n: whole words.
#[must_use]
pub const fn whole(n: usize) -> usize {
    n.next_multiple_of(64)
}

/// The number of random OTs for n triples.
#[must_use]
pub const fn ots(n: usize) -> usize {
    2 * whole(n)
}

/// Makes triples, as the sender of the OTs; at least n.
///
/// # Errors
/// Errors of the OTs.
pub async fn send(
    io: &Io,
    cx: &mut Context<'_>,
    method: &Method,
    direction: Direction,
    n: usize,
) -> Result<Triples, Error> {
    let mut sent = Sent::new(n);
    let sink = |pairs: &[[Block; 2]]| {
        sent.add(pairs);
        Ok(())
    };
    method.send(io, cx, direction, Shape::random(ots(n)), || (), sink).await?;
    Ok(sent.triples())
}

/// Makes triples, as the receiver of the OTs; at least n.
///
/// # Errors
/// Errors of the OTs.
pub async fn receive(
    io: &Io,
    cx: &mut Context<'_>,
    method: &Method,
    direction: Direction,
    n: usize,
) -> Result<Triples, Error> {
    let mut received = Received::new(n);
    let sink = |choices: &Bits, keys: &[Block]| {
        received.add(choices, keys);
        Ok(())
    };
    method.receive(io, cx, direction, &Choice::Random(ots(n)), || (), sink).await?;
    Ok(received.triples())
}

impl Sent {
    /// Room for the OTs of n triples.
    #[must_use]
    pub fn new(n: usize) -> Self {
        Self { keys: [(); 2].map(|()| Secret::zeroed(ots(n) / 8)), done: 0 }
    }

    /// Takes as many OTs as there is room for, a multiple of 8 unless they are the last; returns those that are left.
    pub fn add<'a>(&mut self, pairs: &'a [[Block; 2]]) -> &'a [[Block; 2]] {
        let (pairs, rest) = pairs.split_at(pairs.len().min(8 * self.keys[0].len() - self.done));
        for (bits, which) in self.keys.iter_mut().zip(0..) {
            pack(&mut bits[self.done / 8..], pairs.iter().map(|pair| &pair[which]));
        }
        self.done += pairs.len();
        rest
    }

    /// The triples of all OTs.
    #[must_use]
    pub fn triples(self) -> Triples {
        let [zero, one] = self.keys.map(words);
        let half = zero.len() / 2;
        let bits = zero.iter().zip(&*one).map(|(x, y)| x ^ y);
        let (a, b) = (bits.clone().take(half), bits.skip(half));
        Triples::new(a, b, |i| zero[i] ^ zero[half + i])
    }
}

impl Received {
    /// Room for the OTs of n triples.
    #[must_use]
    pub fn new(n: usize) -> Self {
        Self { bits: [(); 2].map(|()| Secret::zeroed(ots(n) / 8)), done: 0 }
    }

    /// Takes as many OTs as there is room for, a multiple of 8 unless they are the last; returns how many these were.
    pub fn add(&mut self, choices: &Bits, keys: &[Block]) -> usize {
        let n = keys.len().min(8 * self.bits[0].len() - self.done);
        let at = self.done / 8;
        let bytes = n.div_ceil(8);
        self.bits[0][at..at + bytes].copy_from_slice(&choices.as_bytes()[..bytes]);
        pack(&mut self.bits[1][at..], keys[..n].iter());
        self.done += n;
        n
    }

    /// The triples of all OTs.
    #[must_use]
    pub fn triples(self) -> Triples {
        let [choices, keys] = self.bits.map(words);
        let half = choices.len() / 2;
        // The first OTs have the sender's share of a and the receiver's of b.
        let (a, b) = (choices[half..].iter().copied(), choices[..half].iter().copied());
        Triples::new(a, b, |i| keys[i] ^ keys[half + i])
    }
}

impl Triples {
    /// Adds the party's own product to its share of the mixed ones.
    fn new(
        a: impl Iterator<Item = u64>,
        b: impl Iterator<Item = u64>,
        mixed: impl Fn(usize) -> u64,
    ) -> Self {
        let (a, b): (Vec<u64>, Vec<u64>) = (a.collect(), b.collect());
        let c = a.iter().zip(&b).enumerate().map(|(i, (a, b))| a & b ^ mixed(i)).collect();
        Self { a: Secret(a), b: Secret(b), c: Secret(c) }
    }

    /// The number of triples.
    #[must_use]
    pub fn len(&self) -> usize {
        64 * self.a.len()
    }

    /// Returns true if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.a.is_empty()
    }

    /// Shares of a, 64 to a word, the first in the lowest bit.
    #[must_use]
    pub fn a(&self) -> &[u64] {
        &self.a
    }

    /// Shares of b.
    #[must_use]
    pub fn b(&self) -> &[u64] {
        &self.b
    }

    /// Shares of c.
    #[must_use]
    pub fn c(&self) -> &[u64] {
        &self.c
    }
}

/// Packs the lowest bit of each key.
fn pack<'a>(bytes: &mut [u8], keys: impl Iterator<Item = &'a Block>) {
    let mut keys = keys.map(|key| key[0] & 1);
    for byte in bytes {
        let Some(first) = keys.next() else { return };
        *byte = keys.by_ref().take(7).zip(1..).fold(first, |byte, (bit, k)| byte | bit << k);
    }
}

fn words(bytes: SecretBytes) -> Secret<u64> {
    Secret(bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect())
}

foxtrot_ot::erase::redacted! {
    Triples, triples => "{} <redacted>", triples.len();
    Sent, sent => "{} OTs", sent.done;
    Received, received => "{} OTs", received.done;
}
