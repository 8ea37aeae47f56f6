//! `oos` and `kkrt`: 1-of-N OT from as many base OTs as a code has bits, as in `docs/wire/oos.md`, section
//! 10.
//!
//! The extension's sender chose Δ in the base OTs and has one key of each; the receiver has both.
//!
//! ```text
//!     receiver                                         sender
//!  1  streams G⁰, G¹                                   streams G^Δ
//!     for every batch:
//!  2  rows T = G⁰, words → C(W)
//!  3                          ── Corrections: G⁰ ⊕ G¹ ⊕ C(W) ──→
//!  4                                                   rows Q = T ⊕ Δ·C(W)
//!  5                          ←── [Challenge: u] ──
//!  6                          ── [Proof: h(W), h(T)] ──→
//!  7                                                   [does h(Q) = h(T) ⊕ Δ·C(h(W))?]
//!  8  key H(t)                                         key of v: H(q ⊕ C(v)·Δ)
//! ```
//!
//! Steps in brackets are those of the checked protocols. Rows of a batch are bits, one per column.

use crate::extension::Rejected;
use crate::extension::check::{elements, multiply};
use crate::oracle::{Id, oracle, oracle32};
use crate::{aegis, bits_from_bytes, bytes_from_bits};

pub mod code;

use code::Code;

/// One bit per column of a batch, per bit of a word, or per bit of a codeword.
pub type Bits = Vec<bool>;

/// A party's only randomness.
pub type Seed = [u8; 32];

/// Public values that both parties know.
#[derive(Clone, Debug)]
pub struct Protocol {
    id: Id,
    code: Code,
    checked: bool,
    /// β of the next batch.
    batch: usize,
}

impl Protocol {
    /// Returns the protocol called `name` in the session `id`.
    #[must_use]
    pub fn named(name: &str, id: &Id) -> Self {
        let semi_honest = name.strip_suffix("-semi-honest");
        let checked = semi_honest.is_none() && name != "kkrt";
        let code = Code::of(semi_honest.unwrap_or(name), id);
        Protocol { id: *id, code, checked, batch: 0 }
    }

    /// Returns the code.
    #[must_use]
    pub fn code(&self) -> &Code {
        &self.code
    }

    /// Returns β and m of the next batch, of `n` OTs.
    fn next(&mut self, n: usize) -> (usize, usize) {
        let m = 512 * (n + if self.checked { 64 } else { 0 }).div_ceil(512).max(1);
        assert!(m <= 16384, "OTs of a batch");
        self.batch += 1;
        (self.batch - 1, m)
    }

    /// Returns G: `m` bits, of batch `beta`.
    fn stream(&self, row: usize, branch: u8, key: &[u8], beta: usize, m: usize) -> Bits {
        let number = |bytes: Vec<u8>| u128::from_le_bytes(bytes.try_into().expect("16 bytes"));
        let key = oracle("foxtrot v1 one-of-n base", &self.id, row, branch, &[key], 16);
        let nu = oracle("foxtrot v1 one-of-n stream", &self.id, 0, 0, &[], 8);
        let nonce = [(beta as u64).to_le_bytes().to_vec(), nu].concat();
        bits_from_bytes(&aegis::keystream(number(key), number(nonce), m / 8), m)
    }

    /// Returns h of every row.
    fn hashes(&self, beta: usize, n: usize, u: &[u8], rows: &[Bits]) -> Vec<u64> {
        let m = rows[0].len();
        let fields = [&(n as u64).to_le_bytes(), u];
        let chi = oracle("foxtrot v1 one-of-n check", &self.id, beta, 0, &fields, m / 8 - 8);
        let chi = elements(&chi);
        let hash = |row: &Bits| {
            let row = elements(&bytes_from_bits(row));
            let (mask, rest) = row.split_last().expect("at least 512 bits");
            chi.iter().zip(rest).fold(*mask, |sum, (&x, &v)| sum ^ multiply(x, v))
        };
        rows.iter().map(hash).collect()
    }

    /// Returns the key of row `row` of OT `i`.
    fn key(&self, beta: usize, i: usize, u: &[u8], row: &[bool]) -> Vec<u8> {
        let fields: &[&[u8]] = if self.checked { &[u] } else { &[] };
        let batch = oracle32("foxtrot v1 one-of-n output", &self.id, beta, 0, fields);
        oracle("foxtrot v1 one-of-n key", &batch, i, 0, &[&bytes_from_bits(row)], 16)
    }
}

/// The receiver between batches.
#[derive(Debug)]
pub struct Receiver {
    protocol: Protocol,
    seed: Seed,
    base_keys: Vec<[[u8; 16]; 2]>,
}

/// The receiver in a batch.
#[derive(Debug)]
pub struct ReceiverBatch {
    protocol: Protocol,
    beta: usize,
    n: usize,
    /// W, of all columns.
    words: Vec<Bits>,
    /// T.
    rows: Vec<Bits>,
}

impl Receiver {
    /// Takes both keys of every base OT.
    ///
    /// # Panics
    ///
    /// If there are not as many keys as a codeword has bits.
    #[must_use]
    pub fn new(protocol: Protocol, base_keys: Vec<[[u8; 16]; 2]>, seed: Seed) -> Self {
        assert_eq!(base_keys.len(), protocol.code.length());
        Receiver { protocol, seed, base_keys }
    }

    /// Steps 2 and 3: returns the state and `Corrections`.
    pub fn begin(&mut self, words: &[Bits]) -> (ReceiverBatch, Vec<u8>) {
        let (beta, m) = self.protocol.next(words.len());
        let Protocol { id, code, checked, .. } = &self.protocol;
        let mut of_columns = vec![vec![false; code.word_bits()]; m];
        let mut codewords = vec![vec![false; code.length()]; m];
        of_columns[..words.len()].clone_from_slice(words);
        if *checked {
            let context = "foxtrot v1 one-of-n words";
            let masks = oracle(context, id, beta, 0, &[&self.seed], 8 * code.word_bits());
            for (e, word) in of_columns[m - 64..].iter_mut().enumerate() {
                *word = masks.chunks(8).map(|mask| mask[e / 8] >> (e % 8) & 1 == 1).collect();
            }
        }
        let used = (0..words.len()).chain(if *checked { m - 64..m } else { 0..0 });
        used.for_each(|c| codewords[c] = code.encode(&of_columns[c]));
        let (mut rows, mut corrections) = (Vec::new(), Vec::new());
        for (j, keys) in self.base_keys.iter().enumerate() {
            let [zero, one] =
                [0, 1].map(|b: u8| self.protocol.stream(j, b, &keys[usize::from(b)], beta, m));
            let correction: Bits = (0..m).map(|c| zero[c] ^ one[c] ^ codewords[c][j]).collect();
            corrections.extend(bytes_from_bits(&correction));
            rows.push(zero);
        }
        let bit = |i| of_columns.iter().map(|word| word[i]).collect();
        let of_bits = (0..code.word_bits()).map(bit).collect();
        let (protocol, n) = (self.protocol.clone(), words.len());
        (ReceiverBatch { protocol, beta, n, words: of_bits, rows }, corrections)
    }
}

impl ReceiverBatch {
    /// Step 6: returns `Proof`.
    #[must_use]
    pub fn proof(&self, u: &[u8]) -> Vec<u8> {
        let of = |rows| self.protocol.hashes(self.beta, self.n, u, rows);
        let hashes = [of(&self.words), of(&self.rows)].concat();
        hashes.into_iter().flat_map(u64::to_le_bytes).collect()
    }

    /// Step 8: returns t and the key of every OT; `u` is empty where there is no challenge.
    #[must_use]
    pub fn finish(&self, u: &[u8]) -> Vec<(Bits, Vec<u8>)> {
        let row = |i: usize| self.rows.iter().map(|row| row[i]).collect::<Bits>();
        let key = |i, row: &Bits| self.protocol.key(self.beta, i, u, row);
        (0..self.n).map(|i| (row(i), key(i, &row(i)))).collect()
    }
}

/// The sender between batches.
#[derive(Debug)]
pub struct Sender {
    protocol: Protocol,
    seed: Seed,
    delta: Bits,
    base_keys: Vec<[u8; 16]>,
}

/// The sender in a batch.
#[derive(Debug)]
pub struct SenderBatch {
    protocol: Protocol,
    beta: usize,
    n: usize,
    delta: Bits,
    u: Vec<u8>,
    /// Q.
    rows: Vec<Bits>,
}

impl Sender {
    /// Takes Δ and the key of Δⱼ of every base OT.
    ///
    /// # Panics
    ///
    /// If Δ or the keys are not as many as a codeword has bits.
    #[must_use]
    pub fn new(protocol: Protocol, delta: Bits, base_keys: Vec<[u8; 16]>, seed: Seed) -> Self {
        assert_eq!([base_keys.len(), delta.len()], [protocol.code.length(); 2]);
        Sender { protocol, seed, delta, base_keys }
    }

    /// Steps 4 and 5: takes `Corrections` of `n` OTs; returns the state and `Challenge`, which is
    /// empty where there is none.
    ///
    /// # Panics
    ///
    /// If the corrections are not of the length that n OTs have.
    pub fn begin(&mut self, n: usize, corrections: &[u8]) -> (SenderBatch, Vec<u8>) {
        let (beta, m) = self.protocol.next(n);
        assert_eq!(corrections.len(), self.delta.len() * m / 8);
        let mut rows = Vec::new();
        for (j, correction) in corrections.chunks(m / 8).enumerate() {
            let (correction, delta) = (bits_from_bytes(correction, m), self.delta[j]);
            let stream = self.protocol.stream(j, delta.into(), &self.base_keys[j], beta, m);
            rows.push((0..m).map(|c| stream[c] ^ (delta & correction[c])).collect());
        }
        let u = match self.protocol.checked {
            true => {
                let context = "foxtrot v1 one-of-n sender coin";
                oracle(context, &self.protocol.id, beta, 0, &[&self.seed], 32)
            }
            false => Vec::new(),
        };
        let (protocol, delta) = (self.protocol.clone(), self.delta.clone());
        (SenderBatch { protocol, beta, n, delta, u: u.clone(), rows }, u)
    }
}

impl SenderBatch {
    /// Step 7: takes `Proof`, which is empty where there is none.
    ///
    /// # Errors
    ///
    /// [`Rejected`] if the proof does not fit.
    pub fn check(&self, proof: &[u8]) -> Result<(), Rejected> {
        let code = &self.protocol.code;
        if !self.protocol.checked {
            return if proof.is_empty() { Ok(()) } else { Err(Rejected) };
        }
        if proof.len() != 8 * (code.word_bits() + code.length()) {
            return Err(Rejected);
        }
        let (words, rows) = proof.split_at(8 * code.word_bits());
        let (words, rows) = (elements(words), elements(rows));
        let ours = self.protocol.hashes(self.beta, self.n, &self.u, &self.rows);
        // C(h(w)), an element to a bit: the sum of what single bits of the word contribute.
        let mut codeword = vec![0; code.length()];
        for (i, element) in words.iter().enumerate() {
            let unit: Bits = (0..code.word_bits()).map(|k| k == i).collect();
            for (sum, bit) in codeword.iter_mut().zip(code.encode(&unit)) {
                *sum ^= if bit { *element } else { 0 };
            }
        }
        let fits = (0..code.length())
            .all(|j| ours[j] == rows[j] ^ if self.delta[j] { codeword[j] } else { 0 });
        if fits { Ok(()) } else { Err(Rejected) }
    }

    /// Step 8: returns q of every OT.
    #[must_use]
    pub fn rows(&self) -> Vec<Bits> {
        (0..self.n).map(|i| self.rows.iter().map(|row| row[i]).collect()).collect()
    }

    /// Step 8: returns the key of the word `v` in OT `i`.
    #[must_use]
    pub fn key(&self, i: usize, v: &[bool]) -> Vec<u8> {
        let codeword = self.protocol.code.encode(v);
        let bits = self.rows.iter().zip(codeword).zip(&self.delta);
        let row: Bits = bits.map(|((row, c), delta)| row[i] ^ (c & delta)).collect();
        self.protocol.key(self.beta, i, &self.u, &row)
    }
}
