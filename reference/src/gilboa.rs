//! `gilboa-ℓ`: multiplication triples modulo 2^ℓ from oblivious transfer, as in `docs/wire/gilboa.md`, section 19.
//!
//! ```text
//!    initiator                                        responder
//!  1                  ←── Opening: setup, corrections of 128 OTs ──
//!  2                  ── Setup ──→
//!     for every batch of n triples:
//!  3  b, Σ 2ⁱ·k       ── Corrections ──→   ←── Corrections ──       b, Σ 2ⁱ·k
//!  4  a, −Σ 2ⁱ·m₀     ── Products: m₀ − m₁ + a ──→   ←── Products ──   a, −Σ 2ⁱ·m₀
//!  5  c                                                             c
//! ```
//!
//! Why it is right, for one OT with choice bit bᵢ: the receiver has m₀ if bᵢ = 0, and m₁ + (m₀ − m₁ + a) = m₀ + a if
//! bᵢ = 1; so the two sides' parts sum up to a·bᵢ, of which the lowest ℓ − i bits count.

use crate::aes;
use crate::extension::{self, Block, DELTA_BITS, Protocol, Seed};
use crate::oracle::{Id, oracle, sub_session_id};
use crate::{bits_from_bytes, bytes_from_bits};

/// A set of parameters on which both sides have agreed.
#[derive(Clone, Copy, Debug)]
pub struct Set {
    name: &'static str,
    bits: usize,
    extension: &'static str,
}

/// A party's a, b and c of every triple.
pub type Shares = [Vec<u128>; 3];

/// A party with both extensions.
#[derive(Debug)]
pub struct Party {
    set: Set,
    /// The id of the stream in which it is the sender.
    id: Id,
    seed: Seed,
    sender: extension::Sender,
    receiver: extension::Receiver,
    batches: usize,
}

/// A party after `Corrections`.
#[derive(Debug)]
pub struct Batch {
    shares: Shares,
}

/// Returns the set for ℓ = `bits` over `softspoken-k-semi-honest`.
///
/// # Panics
///
/// If there is none.
#[must_use]
pub fn set(bits: usize, k: usize) -> Set {
    let (names, extension) = match k {
        2 => (
            ["gilboa-8-k2", "gilboa-16-k2", "gilboa-32-k2", "gilboa-64-k2"],
            "softspoken-2-semi-honest",
        ),
        4 => (["gilboa-8", "gilboa-16", "gilboa-32", "gilboa-64"], "softspoken-4-semi-honest"),
        8 => (
            ["gilboa-8-k8", "gilboa-16-k8", "gilboa-32-k8", "gilboa-64-k8"],
            "softspoken-8-semi-honest",
        ),
        _ => panic!("k is 2, 4 or 8"),
    };
    let place = [8, 16, 32, 64].iter().position(|of| *of == bits);
    let name = names[place.expect("8, 16, 32 or 64 bits")];
    Set { name, bits, extension }
}

/// Returns the ids of the streams whose sender is the initiator, and the responder.
fn streams(set: Set, sid: &Id) -> [Id; 2] {
    [0, 1].map(|direction| sub_session_id(sid, 0, direction, set.name))
}

/// Returns the id of the extension of that stream.
fn of_extension(set: Set, stream: &Id, direction: u8) -> Id {
    sub_session_id(stream, 0, direction, set.extension)
}

/// A responder after `Opening`.
#[derive(Debug)]
pub struct Joining {
    set: Set,
    id: Id,
    seed: Seed,
    receiver: extension::Receiver,
    delta: [bool; DELTA_BITS],
    keys: [Block; DELTA_BITS],
}

impl Party {
    /// Returns the responder, with both keys of the base OTs, and `Opening`.
    ///
    /// # Panics
    ///
    /// Never.
    #[must_use]
    pub fn responder(
        set: Set,
        sid: &Id,
        base_keys: &[[Block; 2]; DELTA_BITS],
        seed: Seed,
    ) -> (Joining, Vec<u8>) {
        let protocol = Protocol::named(set.extension);
        let [theirs, ours] = streams(set, sid);
        let id = of_extension(set, &theirs, 0);
        let (mut receiver, setup) = extension::Receiver::setup(protocol, &id, base_keys, &[0; 32]);
        let (batch, corrections) = receiver.correct(DELTA_BITS, None);
        let (received, _) = batch.finish(&[]);
        let delta = received.choices.try_into().expect("128 choices");
        let keys = received.keys.try_into().expect("128 keys");
        let joining = Joining { set, id: ours, seed, receiver, delta, keys };
        (joining, [setup, corrections].concat())
    }

    /// Returns the initiator, which chose Δ in the base OTs, and `Setup`.
    ///
    /// # Panics
    ///
    /// If `opening` is not one.
    #[must_use]
    pub fn initiator(
        set: Set,
        sid: &Id,
        delta: &[bool; DELTA_BITS],
        base_keys: &[Block; DELTA_BITS],
        seed: Seed,
        opening: &[u8],
    ) -> (Party, Vec<u8>) {
        let protocol = Protocol::named(set.extension);
        let [ours, theirs] = streams(set, sid);
        let (setup, corrections) = opening.split_at(protocol.setup_len());
        let id = of_extension(set, &ours, 0);
        let sender = extension::Sender::setup(protocol, &id, delta, base_keys, &[0; 32], setup);
        let mut sender = sender.expect("a set-up");
        let (batch, _) = sender.challenge(DELTA_BITS, false, corrections);
        let keys = batch.finish(&[]).expect("nothing to check").keys;
        let keys = keys.try_into().expect("128 pairs");
        let id = of_extension(set, &theirs, 1);
        let (receiver, setup) = extension::Receiver::setup(protocol, &id, &keys, &[0; 32]);
        (Party { set, id: ours, seed, sender, receiver, batches: 0 }, setup)
    }

    /// Step 3: begins a batch of `n` triples; returns it and `Corrections`.
    #[must_use]
    pub fn correct(&mut self, n: usize) -> (Batch, Vec<u8>) {
        let Set { bits, .. } = self.set;
        let (batch, corrections) = self.receiver.correct(n * bits, None);
        let (received, _) = batch.finish(&[]);
        let b = received.choices.chunks(bits).map(number).collect();
        let c = received.keys.chunks(bits).map(|keys| self.set.sum(keys)).collect();
        let shares = [self.draw(n), b, c];
        self.batches += 1;
        (Batch { shares }, corrections)
    }

    /// Returns the shares of a of the next batch.
    fn draw(&self, n: usize) -> Vec<u128> {
        let Set { bits, .. } = self.set;
        let context = "foxtrot v1 gilboa shares";
        let coins = oracle(context, &self.id, self.batches, 0, &[&self.seed], 24);
        let coins = bits_from_bytes(&coins, 192);
        let (key, nonce) = (number(&coins[..128]), number(&coins[128..]));
        let block = |j: usize| aes::encrypt(key, nonce << 64 | j as u128).to_le_bytes();
        let blocks = (n * bits).div_ceil(128);
        let stream = bits_from_bytes(&(0..blocks).flat_map(block).collect::<Vec<u8>>(), n * bits);
        stream.chunks(bits).map(number).collect()
    }

    /// Step 4: takes `Corrections` of the next batch; adds to it and returns `Products`.
    ///
    /// # Panics
    ///
    /// If the message has another length than it should.
    pub fn multiply(&mut self, batch: &mut Batch, corrections: &[u8]) -> Vec<u8> {
        let Set { bits, .. } = self.set;
        let [a, b, c] = &mut batch.shares;
        let (transfers, _) = self.sender.challenge(a.len() * bits, false, corrections);
        let keys = transfers.finish(&[]).expect("nothing to check").keys;
        let (mut products, mut middles) = (vec![], vec![]);
        for (t, keys) in keys.chunks(bits).enumerate() {
            let zeros: Vec<Block> = keys.iter().map(|[zero, _]| *zero).collect();
            let kept = self.set.sum(&zeros);
            c[t] = self.set.modulo((c[t] + a[t] * b[t]).wrapping_sub(kept));
            // The lowest ℓ − i bits.
            let product = |i: usize| {
                let [zero, one] = keys[i];
                let product = zero.wrapping_sub(one).wrapping_add(a[t]);
                bits_from_bytes(&product.to_le_bytes(), bits - i)
            };
            products.extend(product(0));
            for i in 1..bits / 2 {
                products.extend(product(i));
                products.extend(product(bits - i));
            }
            middles.extend(product(bits / 2));
        }
        bytes_from_bits(&[products, middles].concat())
    }

    /// Step 5: takes `Products`; returns the shares.
    ///
    /// # Panics
    ///
    /// If the message is not one.
    #[must_use]
    pub fn add(&self, batch: Batch, products: &[u8]) -> Shares {
        let Set { bits, .. } = self.set;
        let [a, b, mut c] = batch.shares;
        let n = a.len();
        let count = n * bits * (bits + 1) / 2;
        assert_eq!(products.len(), count.div_ceil(8), "length of Products");
        let all = bits_from_bytes(products, 8 * products.len());
        assert!(!all[count..].contains(&true), "spare bits");
        let (words, middles) = all[..count].split_at(n * bits * bits / 2);
        for t in 0..n {
            let mut add = |i: usize, product: &[bool]| {
                if b[t] >> i & 1 == 1 {
                    c[t] = self.set.modulo(c[t] + (number(product) << i));
                }
            };
            let words: Vec<&[bool]> = words.chunks(bits).skip(t * bits / 2).collect();
            add(0, words[0]);
            for (i, word) in (1..bits / 2).zip(&words[1..]) {
                let (low, high) = word.split_at(bits - i);
                add(i, low);
                add(bits - i, high);
            }
            let half = bits / 2;
            add(half, &middles[t * half..(t + 1) * half]);
        }
        [a, b, c]
    }
}

impl Set {
    /// Returns Σ 2ⁱ·kᵢ.
    fn sum(self, keys: &[Block]) -> u128 {
        let terms = (0..).zip(keys).map(|(i, key)| key << i);
        self.modulo(terms.fold(0, u128::wrapping_add))
    }

    /// Returns what x is modulo 2^ℓ.
    fn modulo(self, x: u128) -> u128 {
        x % (1 << self.bits)
    }
}

impl Joining {
    /// Step 2: takes `Setup`.
    ///
    /// # Panics
    ///
    /// If the message is not one.
    #[must_use]
    pub fn finish(self, setup: &[u8]) -> Party {
        let Joining { set, id, seed, receiver, delta, keys } = self;
        let protocol = Protocol::named(set.extension);
        let below = of_extension(set, &id, 1);
        let sender = extension::Sender::setup(protocol, &below, &delta, &keys, &[0; 32], setup);
        Party { set, id, seed, sender: sender.expect("a set-up"), receiver, batches: 0 }
    }
}

/// Returns the number of these bits, the first one being the least significant.
fn number(bits: &[bool]) -> u128 {
    (0..).zip(bits).map(|(i, &bit)| u128::from(bit) << i).sum()
}
