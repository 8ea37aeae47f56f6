//! `silent-vole`, `silent` and their kin: VOLE and OTs from few OTs and LPN, as in `docs/wire/silent.md`,
//! section 20.
//!
//! S has Δ. A batch gives R strings U and V, S the string W = V ⊕ U·Δ:
//!
//! ```text
//!     receiver                                         sender
//!  1  choices b, rows r of C correlated OTs            rows q = r ⊕ b·Δ
//!  2  pack: u, v; places α                             pack: w = v ⊕ u·Δ
//!  3                          ←── Trees: [commitment], sums, D ──
//!  4  leaves c: all but those at α, and these from D   leaves b = c ⊕ e·Δ
//!  5                          ── [Challenge: χ; Check: x*] ──→
//!  6                          ←── [Answer: hash of V_S, coin] ──
//!  7  [is it the hash of V_R?]
//!  8  U = code of e, V = code of c                     W = code of b
//! ```
//!
//! e is 0 but for u_j at place α_j of each tree j. Steps in brackets are those of the checked protocols. With U in GF(2) trees are
//! correlated and have no D: the leaf at α is the sum of the others, with bit 0 set. The outputs are then OTs: choices U ⊕ a, rows V, and
//! rows W ⊕ a·Δ. With U in GF(16) they are one-of-sixteen OTs of a bit: choices U, rows V, and rows W ⊕ c·Δ for every choice c.

use crate::extension::{Block, Rejected, Seed, output_hash};
use crate::oracle::{Id, oracle};
use crate::{aes, bits_from_bytes, bytes_from_bits};
use tree::{children, correlated_children, punctured, sums_of_sides};

mod code;
mod sizes;
mod tree;

pub use code::{BLOCK_ROW, Code, permutation};
pub use sizes::{Protocol, Sizes, multiply};
pub use tree::{correlated_tree, tree};

/// One batch of a sub-sid.
#[derive(Clone, Copy, Debug)]
pub struct Batch {
    protocol: Protocol,
    id: Id,
    number: usize,
    m: usize,
    sizes: Sizes,
}

impl Batch {
    /// Returns batch `number` of sub-sid `id`, with `m` outputs.
    #[must_use]
    pub fn new(protocol: Protocol, id: &Id, number: usize, m: usize) -> Self {
        Batch { protocol, id: *id, number, m, sizes: protocol.sizes(m) }
    }

    fn ask(&self, context: &str, fields: &[&[u8]], length: usize) -> Vec<u8> {
        oracle(&format!("foxtrot v1 silent {context}"), &self.id, self.number, 0, fields, length)
    }

    fn tree_keys(&self) -> Vec<Block> {
        blocks(&self.ask("tree", &[], 16 * self.sizes.t))
    }

    /// Returns H(j·h + ℓ − 1, row) of the sides' masks for tree `j` and level ℓ = `level` + 1.
    fn mask(&self, j: usize, level: usize, row: Block) -> Block {
        let key = block(&self.ask("mask", &[], 16));
        output_hash(key, j * self.sizes.h as usize + level, row)
    }

    fn commitment(&self, coin: &[u8]) -> Vec<u8> {
        self.ask("commitment", &[coin], 32)
    }

    /// Returns true if a coin makes random choices and keys: U in GF(2), checked.
    fn has_coin(&self) -> bool {
        self.protocol.bits == 1 && self.protocol.checked
    }

    fn code(&self) -> Code {
        Code::new(self.protocol, self.sizes.n, self.sizes.accumulators)
    }

    /// Returns Σ χ_l·Y_l, Y from `input`.
    fn check_sum(&self, chi: &[u8], input: &[Block]) -> Block {
        let values = self.code().second(input);
        let products = (0..).zip(values).map(|(l, value)| multiply(coefficient(chi, l), value));
        products.fold(0, |sum, product| sum ^ product)
    }

    /// Returns Δ of the outputs, Δ*: it is 1 in the bits that are U in V.
    #[must_use]
    pub fn of_outputs(&self, delta: Block) -> Block {
        let bits = self.protocol.choice_bits();
        delta & !bits | 1 & bits
    }

    fn encode(&self, input: &[Block]) -> Vec<Block> {
        self.code().encode(input)[..self.m].to_vec()
    }

    /// Returns a where the receiver's choices are not given.
    fn flips(&self, coin: &[u8]) -> Vec<bool> {
        if !self.has_coin() {
            return vec![false; self.m];
        }
        bits_from_bytes(&self.ask("flips", &[coin], self.m.div_ceil(8)), self.m)
    }

    /// Returns the key of π for OT `i`; `coins` are χ and S's coin.
    fn output_key(&self, i: usize, coins: &[&[u8]]) -> Block {
        let coins = if self.has_coin() { coins } else { &[] };
        let number = 2048 * self.number + i / 1024;
        block(&oracle("foxtrot v1 silent output", &self.id, number, 0, coins, 16))
    }

    /// Returns P(x) = π(x) ⊕ x for OT `i`. `coins` are χ and S's coin.
    fn hash(&self, i: usize, x: Block, coins: &[&[u8]]) -> Block {
        aes::encrypt(self.output_key(i, coins), x) ^ x
    }

    /// Returns the blocks o that are added to rows, one for each OT.
    fn offsets(&self, coins: &[&[u8]]) -> Vec<Block> {
        let coins = if self.has_coin() { coins } else { &[] };
        let bytes = 16 * self.m.min(1024);
        let all =
            blocks(&oracle("foxtrot v1 silent offsets", &self.id, self.number, 0, coins, bytes));
        all.into_iter().cycle().take(self.m).collect()
    }

    /// Returns the bit of one-of-sixteen OT `i` from x, a row: bit 127 of P(x).
    fn bit(&self, i: usize, x: Block) -> bool {
        self.hash(i, x, &[]) >> 127 == 1
    }
}

/// Returns χ_l.
fn coefficient(chi: &[u8], l: usize) -> Block {
    let factors = [l as Block / 256, (1 << 64) + l as Block % 256];
    let [run, within] = factors.map(|it| aes::encrypt(block(chi), it));
    multiply(run, within)
}

/// S's batch between `Trees` and `Answer`.
#[derive(Debug)]
pub struct SenderBatch {
    batch: Batch,
    /// Δ of the outputs.
    delta: Block,
    coin: Vec<u8>,
    /// w*, if checked.
    mask: Block,
    /// b.
    pub leaves: Vec<Block>,
}

/// S's output of a batch.
#[derive(Clone, Debug)]
pub struct Sent {
    batch: Batch,
    delta: Block,
    /// χ and S's coin.
    coins: [Vec<u8>; 2],
    /// W, or the rows of OTs.
    pub rows: Vec<Block>,
}

/// R's batch between `Check` and `Answer`.
#[derive(Debug)]
pub struct ReceiverBatch {
    batch: Batch,
    chi: Vec<u8>,
    commitment: Vec<u8>,
    /// The hash that S must send.
    hash: Vec<u8>,
    /// u_j.
    pub noise: Vec<Block>,
    /// α_j.
    pub places: Vec<usize>,
    /// c.
    pub leaves: Vec<Block>,
}

/// R's output of a batch.
#[derive(Debug)]
pub struct Received {
    batch: Batch,
    /// χ and S's coin.
    coins: [Vec<u8>; 2],
    /// U.
    pub u: Vec<Block>,
    /// V.
    pub rows: Vec<Block>,
}

impl SenderBatch {
    /// Steps 1 to 3: takes q of the batch's OTs, returns the state and `Trees`.
    ///
    /// # Panics
    ///
    /// If the batch takes another number of OTs.
    #[must_use]
    pub fn begin(
        batch: Batch,
        delta: Block,
        rows: &[Block],
        seed: &Seed,
    ) -> (SenderBatch, Vec<u8>) {
        let Batch { protocol, sizes, .. } = batch;
        let Sizes { t, h, .. } = sizes;
        assert_eq!(rows.len(), sizes.ots, "OTs of the batch");
        let (packed, of_trees) = rows.split_at(sizes.ots - t * h as usize);
        let w: Vec<Block> =
            packed.chunks(protocol.packed_ots()).map(|rows| protocol.sum(rows)).collect();
        let mask = if protocol.checked { w[w.len() - 1] } else { 0 };

        let coin = batch.ask("sender coin", &[seed], 32);
        let mut message = vec![];
        if batch.has_coin() {
            message.extend(batch.commitment(&coin));
            message.push(u8::from(delta & 1 == 1));
        }
        let drawn = blocks(&batch.ask("roots", &[seed], 16 * t));
        let (choice_bits, mut leaves) = (protocol.choice_bits(), vec![]);
        for (j, key) in batch.tree_keys().into_iter().enumerate() {
            let mut levels = if protocol.correlated() {
                correlated_tree(key, drawn[j], delta, h)
            } else {
                tree(key, drawn[j], h)
            };
            levels[h as usize].iter_mut().for_each(|leaf| *leaf &= !choice_bits);
            for (level, nodes) in levels[1..].iter().enumerate() {
                let q = of_trees[j * h as usize + level];
                let [even, odd] = sums_of_sides(nodes);
                if protocol.correlated() {
                    message.extend((even ^ q).to_le_bytes());
                } else {
                    message.extend((even ^ batch.mask(j, level, q)).to_le_bytes());
                    message.extend((odd ^ batch.mask(j, level, q ^ delta)).to_le_bytes());
                }
            }
            let last = &levels[h as usize];
            if !protocol.correlated() {
                message.extend(((w[j] ^ xor_of(last)) & !choice_bits).to_le_bytes());
            }
            leaves.extend(last);
        }
        (SenderBatch { batch, delta: batch.of_outputs(delta), coin, mask, leaves }, message)
    }

    /// Steps 6 and 8: takes `Challenge` and `Check`, returns W and `Answer`; all messages are empty if nothing is checked.
    ///
    /// # Errors
    ///
    /// If one of the messages has another length than it should.
    pub fn answer(self, chi: &[u8], check: &[u8]) -> Result<(Sent, Vec<u8>), Rejected> {
        let SenderBatch { batch, delta, coin, mask, leaves } = self;
        let mut answer = vec![];
        let length = if batch.protocol.checked { 16 } else { 0 };
        if [chi, check].iter().any(|message| message.len() != length) {
            return Err(Rejected);
        }
        if batch.protocol.checked {
            let value = mask ^ multiply(block(check), delta) ^ batch.check_sum(chi, &leaves);
            answer.extend(batch.ask("check", &[&value.to_le_bytes()], 32));
        }
        if batch.has_coin() {
            answer.extend(&coin);
        }
        let rows = batch.encode(&leaves);
        Ok((Sent { batch, delta, coins: [chi.to_vec(), coin], rows }, answer))
    }
}

impl Sent {
    /// Adds the flips: those of `Flips` where choices are given, else those of the coin.
    #[must_use]
    pub fn flip(mut self, given: Option<&[u8]>) -> Sent {
        let flips = match given {
            Some(message) => bits_from_bytes(message, self.batch.m),
            None => self.batch.flips(&self.coins[1]),
        };
        for (row, flip) in self.rows.iter_mut().zip(flips) {
            *row ^= if flip { self.delta } else { 0 };
        }
        self
    }

    /// Returns both keys of each OT from its row.
    #[must_use]
    pub fn keys(&self) -> Vec<[Block; 2]> {
        let coins = self.coins.each_ref().map(|it| &it[..]);
        let offsets = self.batch.offsets(&coins);
        let keys =
            |(i, (&row, o))| [row ^ o, row ^ o ^ self.delta].map(|x| self.batch.hash(i, x, &coins));
        self.rows.iter().zip(offsets).enumerate().map(keys).collect()
    }

    /// Returns the 16 bits of each OT, with U in GF(16): bit c is that of choice c.
    #[must_use]
    pub fn masks(&self) -> Vec<u16> {
        let mask = |(i, &row): (usize, &Block)| {
            let bit = |c| self.batch.bit(i, row ^ self.batch.protocol.times(c, self.delta));
            (0..16).fold(0, |mask, c| mask | u16::from(bit(c)) << c)
        };
        self.rows.iter().enumerate().map(mask).collect()
    }
}

impl ReceiverBatch {
    /// Steps 1, 2, 4 and 5: takes b and r of the batch's OTs and `Trees`, returns the state and the messages `Challenge` and `Check`, which are
    /// empty if nothing is checked.
    ///
    /// # Errors
    ///
    /// If `trees` has another length than it should, or a bit is set that stands for nothing.
    pub fn check(
        batch: Batch,
        choices: &[bool],
        rows: &[Block],
        seed: &Seed,
        trees: &[u8],
    ) -> Result<(ReceiverBatch, [Vec<u8>; 2]), Rejected> {
        let Batch { protocol, sizes, .. } = batch;
        let (Sizes { t, ots, .. }, h) = (sizes, sizes.h as usize);
        let (packed, choice_bits) = (ots - t * h, protocol.choice_bits());
        let mut pairs = protocol.pack(&choices[..packed], &rows[..packed]);
        if protocol.correlated() {
            // u_j = 1, and no v_j.
            pairs.splice(0..0, vec![(1, 0); t]);
        }
        let (mask_u, mut mask_v) = pairs.get(t).copied().unwrap_or_default();

        let head_len = if batch.has_coin() { 33 } else { 0 };
        if trees.len() != head_len + 16 * t * sizes.blocks {
            return Err(Rejected);
        }
        let (head, trees) = trees.split_at(head_len);
        let (commitment, bit) = head.split_at(head_len.saturating_sub(1));
        match bit {
            [] | [1] => {}
            [0] => mask_v ^= mask_u,
            _ => return Err(Rejected),
        }
        let children = if protocol.correlated() { correlated_children } else { children };
        let (mut places, mut leaves) = (vec![], vec![]);
        for (j, (key, message)) in
            batch.tree_keys().into_iter().zip(blocks(trees).chunks(sizes.blocks)).enumerate()
        {
            let ots = packed + j * h..packed + (j + 1) * h;
            let bits = &choices[ots.clone()];
            let place = bits.iter().fold(0, |place, b| place << 1 | usize::from(!b));
            let sums: Vec<Block> = (0..h)
                .map(|level| {
                    let r = rows[ots.start + level];
                    if protocol.correlated() {
                        message[level] ^ r
                    } else {
                        message[2 * level + usize::from(bits[level])] ^ batch.mask(j, level, r)
                    }
                })
                .collect();
            let mut these = punctured(key, place, &sums, choice_bits, children);
            // D_j, which only a GGM tree has.
            let d = message.get(2 * h).copied().unwrap_or(0);
            if d & choice_bits != 0 {
                return Err(Rejected);
            }
            let (u, v) = pairs[j];
            let leaf = xor_of(&these) ^ d ^ v;
            these[place] = leaf & !choice_bits | u & choice_bits;
            places.push(place);
            leaves.extend(these);
        }

        let noise: Vec<Block> = pairs[..t].iter().map(|pair| pair.0).collect();
        let (commitment, chi) = (commitment.to_vec(), batch.ask("challenge", &[seed], 16));
        let mut this =
            ReceiverBatch { batch, chi, commitment, hash: vec![], noise, places, leaves };
        let mut messages = [vec![], vec![]];
        if protocol.checked {
            let x = mask_u ^ batch.check_sum(&this.chi, &this.error());
            messages = [this.chi.clone(), x.to_le_bytes().to_vec()];
            let value = mask_v ^ batch.check_sum(&this.chi, &this.leaves);
            this.hash = batch.ask("check", &[&value.to_le_bytes()], 32);
        }
        Ok((this, messages))
    }

    /// Returns e.
    #[must_use]
    pub fn error(&self) -> Vec<Block> {
        let mut error = vec![0; self.leaves.len()];
        for (j, (&u, place)) in self.noise.iter().zip(&self.places).enumerate() {
            error[(j << self.batch.sizes.h) + place] = u;
        }
        error
    }

    /// Steps 7 and 8: takes `Answer`, which is empty if nothing is checked; returns U and V.
    ///
    /// # Errors
    ///
    /// If `answer` is not that of an honest sender.
    pub fn finish(self, answer: &[u8]) -> Result<Received, Rejected> {
        let error = self.error();
        let ReceiverBatch { batch, chi, commitment, hash, leaves, .. } = self;
        let coin = answer.get(hash.len()..).ok_or(Rejected)?;
        let opened = !batch.has_coin() || coin.len() == 32 && batch.commitment(coin) == commitment;
        let coin_len = if batch.has_coin() { 32 } else { 0 };
        if answer[..hash.len()] != hash || coin.len() != coin_len || !opened {
            return Err(Rejected);
        }
        let (u, rows) = (batch.encode(&error), batch.encode(&leaves));
        Ok(Received { batch, coins: [chi, coin.to_vec()], u, rows })
    }
}

impl Received {
    /// Returns the choices of OTs that are not given.
    #[must_use]
    pub fn choices(&self) -> Vec<bool> {
        let flips = self.batch.flips(&self.coins[1]);
        self.u.iter().zip(flips).map(|(&u, flip)| (u == 1) ^ flip).collect()
    }

    /// Returns `Flips`, which turn U into the choices that are `given`.
    #[must_use]
    pub fn flips(&self, given: &[bool]) -> Vec<u8> {
        let flips: Vec<bool> = self.u.iter().zip(given).map(|(&u, &b)| (u == 1) ^ b).collect();
        bytes_from_bits(&flips)
    }

    /// Returns the key of each OT.
    #[must_use]
    pub fn keys(&self) -> Vec<Block> {
        let coins = self.coins.each_ref().map(|it| &it[..]);
        let rows = self.rows.iter().zip(self.batch.offsets(&coins)).enumerate();
        rows.map(|(i, (&row, o))| self.batch.hash(i, row ^ o, &coins)).collect()
    }

    /// Returns the choices of one-of-sixteen OTs.
    #[must_use]
    pub fn nibbles(&self) -> Vec<u8> {
        self.u.iter().map(|u| u.to_le_bytes()[0]).collect()
    }

    /// Returns the bit of each one-of-sixteen OT.
    #[must_use]
    pub fn bits(&self) -> Vec<bool> {
        self.rows.iter().enumerate().map(|(i, &row)| self.batch.bit(i, row)).collect()
    }
}

fn xor_of<'a>(values: impl IntoIterator<Item = &'a Block>) -> Block {
    values.into_iter().fold(0, |sum, value| sum ^ value)
}

/// Returns up to 16 bytes as a number.
fn block(bytes: &[u8]) -> Block {
    bytes.iter().rev().fold(0, |x, &byte| x << 8 | Block::from(byte))
}

fn blocks(bytes: &[u8]) -> Vec<Block> {
    bytes.chunks(16).map(block).collect()
}

#[cfg(test)]
mod tests;
