//! The receiver: steps 1, 2, 4, 5, 8, 10 and 11.

use super::{
    Block, DELTA_BITS, Output, Protocol, Row, Seed, add, check, column, commitment, flips, nonce,
    stream, tree,
};
use crate::oracle::{Id, oracle, oracle32};
use crate::{bits_from_bytes, bytes_from_bits};

/// The receiver between batches.
#[derive(Debug)]
pub struct Receiver {
    protocol: Protocol,
    id: Id,
    seed: Seed,
    /// Lₓ of every tree.
    trees: Vec<Vec<Block>>,
    next: usize,
}

/// The receiver between `Corrections` and `Challenge`.
#[derive(Debug)]
pub struct ReceiverBatch {
    protocol: Protocol,
    id: Id,
    batch: usize,
    n: usize,
    given: bool,
    /// X.
    choices: Row,
    /// T₀ to T₁₂₇.
    rows: Vec<Row>,
    t: [u8; 32],
}

/// The receiver's output of a batch, per OT.
#[derive(Debug)]
pub struct Received {
    /// bᵢ.
    pub choices: Vec<bool>,
    /// tᵢ, its side of the correlated OT.
    pub rows: Vec<Block>,
    /// Its key of the random OT.
    pub keys: Vec<Block>,
}

impl Receiver {
    /// Steps 1 and 2: takes both keys of every base OT, returns the state and `Setup`.
    #[must_use]
    pub fn setup(
        protocol: Protocol,
        id: &Id,
        base_keys: &[[Block; 2]; DELTA_BITS],
        seed: &Seed,
    ) -> (Receiver, Vec<u8>) {
        let (trees, setup) = tree::grow(protocol, id, base_keys);
        (Receiver { protocol, id: *id, seed: *seed, trees, next: 0 }, setup)
    }

    /// Steps 4 and 5: begins a batch of `n` OTs, with `given` choices or random ones; returns the
    /// batch and `Corrections`.
    ///
    /// # Panics
    ///
    /// If a batch may not have `n`, or if there are not n given choices.
    #[must_use]
    pub fn correct(&mut self, n: usize, given: Option<&[bool]>) -> (ReceiverBatch, Vec<u8>) {
        let Receiver { protocol, id, seed, .. } = *self;
        let m = protocol.columns(n);
        let batch = self.next;
        self.next += 1;
        let nonce = nonce(&id, batch);

        let (mut sums, mut rows) = (vec![], vec![]);
        for (leaves, tree_rows) in self.trees.iter().zip(protocol.trees()) {
            let (mut z, mut t) = (vec![false; m], vec![vec![false; m]; tree_rows.len()]);
            for (x, &key) in leaves.iter().enumerate() {
                let g = stream(key, nonce, m);
                add(&mut z, &g);
                for (j, row) in t.iter_mut().enumerate() {
                    if x >> j & 1 == 1 {
                        add(row, &g);
                    }
                }
            }
            sums.push(z);
            rows.extend(t);
        }

        let f = protocol.uncorrected(given.is_some());
        let mut choices = if f == 1 {
            sums[0].clone()
        } else {
            let context = "foxtrot v1 extension choices";
            bits_from_bytes(&oracle(context, &id, batch, 0, &[&seed], m / 8), m)
        };
        if let Some(given) = given {
            assert_eq!(given.len(), n, "one choice per OT");
            choices[..n].copy_from_slice(given);
        }

        let t = oracle32("foxtrot v1 extension receiver coin", &id, batch, 0, &[&seed]);
        let mut corrections = vec![];
        if protocol.checked {
            corrections.extend(commitment(&id, batch, &t));
        }
        for mut d in sums.drain(f..) {
            add(&mut d, &choices);
            corrections.extend(bytes_from_bits(&d));
        }
        let given = given.is_some();
        (ReceiverBatch { protocol, id, batch, n, given, choices, rows, t }, corrections)
    }
}

impl ReceiverBatch {
    /// Steps 8, 10 and 11: takes `Challenge`, returns the outputs and `Proof`; both messages are
    /// empty in an unchecked protocol.
    ///
    /// # Panics
    ///
    /// If `challenge` has another length than it should.
    #[must_use]
    pub fn finish(self, challenge: &[u8]) -> (Received, Vec<u8>) {
        let ReceiverBatch { protocol, id, batch, n, given, choices, rows, t } = self;
        assert_eq!(challenge.len(), if protocol.checked { 32 } else { 0 }, "length of Challenge");
        let mut proof = vec![];
        if protocol.checked {
            let chi = check::coefficients(&id, batch, given, challenge, choices.len());
            proof.extend(t);
            for row in [&choices].into_iter().chain(&rows) {
                proof.extend(check::hash(&chi, row).to_le_bytes());
            }
        }

        let flips = flips(protocol, &id, batch, n, given, challenge);
        let choices = choices.iter().zip(&flips).map(|(x, a)| x ^ a).collect();
        let rows: Vec<Block> = (0..n).map(|i| column(&rows, i)).collect();
        let output = Output { id, batch, coins: protocol.checked.then_some((&t, challenge)) };
        let keys = rows.iter().enumerate().map(|(i, &t)| output.key(i, t)).collect();
        (Received { choices, rows, keys }, proof)
    }
}
