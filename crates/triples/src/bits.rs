//! Bit triples: XOR shares of bits a, b and c = a·b, from two random OTs each
//! [[ALSZ13](https://eprint.iacr.org/2013/552), section 5; GMW87]. Semi-honest.
//!
//! Let x₀, x₁ be bits of the sender's keys in a random OT, and r the receiver's choice. Then x₀ ⊕ x_r = (x₀ ⊕ x₁)·r: the parties share
//! a product of the sender's bit and the receiver's. Two of these are the mixed terms of (a₀ ⊕ a₁)·(b₀ ⊕ b₁). Nothing is sent but
//! what the OTs send, and both OTs have one direction.
//!
//! ```text
//! sender                                                receiver
//! bits x₀, x₁  ◄─ random OT ─►                          r, x_r
//! bits y₀, y₁  ◄─ random OT ─►                          s, y_s
//! a₀ = x₀ ⊕ x₁, b₀ = y₀ ⊕ y₁                            a₁ = s, b₁ = r
//! c₀ = a₀·b₀ ⊕ x₀ ⊕ y₀                                  c₁ = a₁·b₁ ⊕ x_r ⊕ y_s
//! ```
//!
//! A [`Set`] names the OTs of a long run, whose triples come batch after batch.
//!
//! ```
//! use foxtrot_ot::{Context, Seed, Session, Sid, base::roted::Endemic, engine::Engine, pair::Pair};
//! use foxtrot_triples::{Shares, bits};
//!
//! let set = bits::registry().next().expect("the default");
//! // The parties have agreed on the session; each has a secret seed, which it uses once.
//! let session = Session::new(Sid::from_bytes([7; 32]));
//! let context = |seed| Context::new(&session, Seed::from_bytes([seed; 32]));
//! let party = |we_are_initiator, seed| {
//!     Engine::new(move |io| async move {
//!         let mut cx = context(seed);
//!         // Eight triples to a byte. All are in one batch.
//!         let mut all = [const { Vec::new() }; 3];
//!         let sink = |it: &Shares| Ok(all = [it.a(), it.b(), it.c()].map(<[u8]>::to_vec));
//!         set.generate(&io, &mut cx, &Endemic, we_are_initiator, 1000, sink).await?;
//!         Ok::<_, foxtrot_ot::Error>(all)
//!     })
//! };
//! let (ours, theirs) = Pair::new(party(true, 1), party(false, 2)).run().map_err(|(_party, e)| e)?;
//! let open = |k: usize, i: usize| ours[k][i] ^ theirs[k][i];
//! assert_eq!(ours[0].len(), 1024 / 8);
//! assert!((0..1024 / 8).all(|i| open(2, i) == open(0, i) & open(1, i)));
//! # Ok::<(), foxtrot_ot::Error>(())
//! ```
#![doc = ""]
#![doc = include_str!("bits.md")]

use alloc::vec::Vec;
use core::{fmt, mem};

use foxtrot_ot::{
    Bits, Context, Direction, Error,
    base::{Adversary, BaseOt, Block, Choice, Functionality},
    engine::{Abandoned, Io},
    erase::{Secret, SecretBytes},
    extension::{self, Shape, softspoken},
    protocol::{Protocol, ProtocolKind},
    records, silent,
    transfers::{Extension, Method},
};

use crate::{CAVEAT, Shares};

/// Triples of a word.
pub const WORD: usize = 64;

/// The OTs that the triples of a run are made from. A whole batch has 2²⁰ triples.
#[derive(PartialEq, Eq)]
pub struct Set {
    name: &'static str,
    /// The k of SoftSpokenOT; without it the OTs are silent.
    k: Option<usize>,
}

/// A party's shares of bit triples, 64 to a word, the first in the lowest bit.
pub struct Triples {
    /// Shares of a.
    pub a: Secret<u64>,
    /// Shares of b.
    pub b: Secret<u64>,
    /// Shares of c.
    pub c: Secret<u64>,
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

static SETS: [Set; 2] =
    [Set { name: "bits", k: Some(softspoken::DEFAULT_K) }, Set { name: "bits-silent", k: None }];

/// The records of every set over the base OT `roted-endemic`.
pub static PROTOCOLS: [Protocol; 2] = records![SETS[0], SETS[1]];

/// Every set, the default first.
pub fn registry() -> impl Iterator<Item = &'static Set> {
    SETS.iter()
}

impl Set {
    /// Its name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns true if its OTs rest on LPN.
    #[must_use]
    pub const fn is_silent(&self) -> bool {
        self.k.is_none()
    }

    /// Triples of a whole batch.
    #[must_use]
    pub const fn usable(&self) -> usize {
        1 << 20
    }

    /// The most triples of a run.
    #[must_use]
    pub fn most(&self) -> u64 {
        match self.softspoken() {
            Some(it) => (it.max_batches() - 1).saturating_mul(it.max_batch() as u64 / 2) / 64 * 64,
            None => u64::MAX / 64 * 64,
        }
    }

    /// The way in which its OTs are made.
    #[must_use]
    pub fn method(&self, base: &'static dyn BaseOt) -> Method {
        let extension = match self.softspoken() {
            Some(it) => Extension::OneOfTwo(it),
            None => Extension::Silent(silent::ot_semi_honest()),
        };
        Method { base, extension }
    }

    const fn softspoken(&self) -> Option<extension::Extension> {
        match self.k {
            Some(k) => match softspoken::semi_honest(k) {
                Ok(extension) => Some(extension),
                Err(_) => panic!("1 to 8"),
            },
            None => None,
        }
    }

    /// Payload bytes of the OTs' sender and receiver for a run of so many triples, without base OTs.
    #[must_use]
    pub fn bytes(&self, triples: u64) -> [u64; 2] {
        let ots = usize::try_from(triples).map_or(usize::MAX, |n| n.saturating_mul(2));
        let bytes = match self.softspoken() {
            Some(it) => [it.sender_bytes(ots), it.receiver_bytes(ots)],
            None => {
                let it = silent::ot_semi_honest();
                [it.sender_bytes(ots), it.receiver_bytes(ots)]
            }
        };
        bytes.map(|bytes| bytes as u64)
    }

    fn sender_bytes(&self, n: usize) -> usize {
        usize::try_from(self.bytes(n as u64)[0]).unwrap_or(usize::MAX)
    }

    fn receiver_bytes(&self, n: usize) -> usize {
        usize::try_from(self.bytes(n as u64)[1]).unwrap_or(usize::MAX)
    }

    const fn record(&self) -> Protocol {
        Protocol {
            name: self.name,
            family: "bits",
            is_default: self.k.is_some(),
            kind: ProtocolKind::Triples,
            paper: "ALSZ13, GMW87; both OTs in one direction",
            functionality: Functionality::Triples { bits: 1 },
            adversary: Adversary::SemiHonest,
            assumption: match self.k {
                Some(_) => {
                    "AEGIS-128L as a PRG, AES as an ideal cipher, random oracle; Module-LWE, random oracle"
                }
                None => {
                    "dual LPN over a block–accumulate code, AEGIS-128L as a PRG, AES as an ideal cipher, random oracle; Module-LWE, random oracle"
                }
            },
            params: match self.k {
                Some(_) => "softspoken-4-semi-honest from roted-endemic",
                None => "silent-semi-honest from roted-endemic",
            },
            security: "core-SVP 164 classical, 148 quantum",
            caveat: CAVEAT,
            flows: if self.k.is_some() { 1 } else { 2 },
            ..Protocol::BASE_OT
        }
    }

    /// Makes so many triples, whole words; `sink` takes them batch after batch. The party that opened the connection sends the OTs.
    ///
    /// # Errors
    /// Errors of the OTs; [`Usage::Abandoned`](foxtrot_ot::Usage::Abandoned).
    pub async fn generate(
        &self,
        io: &Io,
        cx: &mut Context<'_>,
        base: &'static dyn BaseOt,
        we_are_initiator: bool,
        triples: usize,
        mut sink: impl FnMut(&Shares) -> Result<(), Abandoned> + Send,
    ) -> Result<(), Error> {
        let (method, direction) = (self.method(base), Direction::InitiatorSends);
        let n = ots(triples);
        if n == 0 {
            return Ok(());
        }
        let mut left = whole(triples);
        // Room for the next batch, and what is left to make behind it.
        let mut next = move || {
            let batch = left.min(self.usable());
            left -= batch;
            batch
        };
        if we_are_initiator {
            let mut sent = Sent::new(next());
            let mut of_ots = |mut pairs: &[[Block; 2]]| {
                loop {
                    pairs = sent.add(pairs);
                    if !sent.is_complete() {
                        return Ok(());
                    }
                    let whole = mem::replace(&mut sent, Sent::new(next()));
                    sink(&whole.triples().shares())?;
                }
            };
            method.send(io, cx, direction, Shape::random(n), &mut || (), &mut of_ots).await
        } else {
            let mut received = Received::new(next());
            let mut of_ots = |choices: &Bits, keys: &[Block]| {
                let mut done = 0;
                loop {
                    done += received.add(&choices.slice(done..keys.len()), &keys[done..]);
                    if !received.is_complete() {
                        return Ok(());
                    }
                    let whole = mem::replace(&mut received, Received::new(next()));
                    sink(&whole.triples().shares())?;
                }
            };
            method.receive(io, cx, direction, &Choice::Random(n), &mut || (), &mut of_ots).await
        }
    }
}

impl fmt::Debug for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
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

    /// Returns true if there are OTs, and none is missing.
    fn is_complete(&self) -> bool {
        self.done > 0 && self.done == 8 * self.keys[0].len()
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

    /// Returns true if there are OTs, and none is missing.
    fn is_complete(&self) -> bool {
        self.done > 0 && self.done == 8 * self.bits[0].len()
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

    /// The words of a, b and c as bytes, little endian: a share is a word.
    #[must_use]
    pub fn shares(&self) -> Shares {
        let mut shares = Shares::with(WORD / 8, self.a.len());
        for (to, words) in shares.parts_mut().into_iter().zip([&self.a, &self.b, &self.c]) {
            for (to, word) in to.as_chunks_mut().0.iter_mut().zip(words.iter()) {
                *to = word.to_le_bytes();
            }
        }
        shares
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
    Triples, triples => "{} <redacted>", 64 * triples.a.len();
    Sent, sent => "{} OTs", sent.done;
    Received, received => "{} OTs", received.done;
}
