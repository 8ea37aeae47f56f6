//! The sender: steps 3, 6, 7 and 9 to 11.

use super::{
    Block, DELTA_BITS, Output, Protocol, Rejected, Row, Seed, add, array, check, column,
    commitment, flips, nonce, stream, tree,
};
use crate::oracle::{Id, oracle};
use crate::{bits_from_bytes, bytes_from_bits};

/// The sender between batches.
#[derive(Debug)]
pub struct Sender {
    protocol: Protocol,
    id: Id,
    seed: Seed,
    delta: [bool; DELTA_BITS],
    /// Lₓ of every tree, without the one where Δ points.
    trees: Vec<Vec<Option<Block>>>,
    next: usize,
}

/// The sender between `Challenge` and `Proof`.
#[derive(Debug)]
pub struct SenderBatch {
    protocol: Protocol,
    id: Id,
    batch: usize,
    n: usize,
    given: bool,
    delta: [bool; DELTA_BITS],
    /// Q₀ to Q₁₂₇.
    rows: Vec<Row>,
    commitment: Vec<u8>,
    u: Vec<u8>,
}

/// The sender's output of a batch, per OT.
#[derive(Debug)]
pub struct Sent {
    /// qᵢ, its side of the correlated OT.
    pub rows: Vec<Block>,
    /// Its two keys of the random OT.
    pub keys: Vec<[Block; 2]>,
}

impl Sender {
    /// Step 3: takes Δ, the key of every base OT at its bit of Δ, and `Setup`.
    ///
    /// # Errors
    ///
    /// If `setup` has another length than it should, or, in a checked protocol, gives other trees
    /// than the receiver has.
    pub fn setup(
        protocol: Protocol,
        id: &Id,
        delta: &[bool; DELTA_BITS],
        base_keys: &[Block; DELTA_BITS],
        seed: &Seed,
        setup: &[u8],
    ) -> Result<Sender, Rejected> {
        let trees = tree::regrow(protocol, id, delta, base_keys, setup)?;
        let next = 0;
        Ok(Sender { protocol, id: *id, seed: *seed, delta: *delta, trees, next })
    }

    /// Steps 6 and 7: takes `Corrections` of a batch of `n` OTs whose choices are `given` or not;
    /// returns the batch and `Challenge`, which is empty in an unchecked protocol.
    ///
    /// # Panics
    ///
    /// If a batch may not have `n`, or if `corrections` has another length than it should.
    #[must_use]
    pub fn challenge(
        &mut self,
        n: usize,
        given: bool,
        corrections: &[u8],
    ) -> (SenderBatch, Vec<u8>) {
        let Sender { protocol, id, seed, delta, .. } = *self;
        let m = protocol.columns(n);
        let batch = self.next;
        self.next += 1;
        let nonce = nonce(&id, batch);
        let f = protocol.uncorrected(given);
        let (commitment, d) = corrections.split_at(if protocol.checked { 32 } else { 0 });
        assert_eq!(d.len(), (self.trees.len() - f) * m / 8, "length of Corrections");
        let mut d: Vec<Row> = d.chunks(m / 8).map(|d| bits_from_bytes(d, m)).collect();
        d.splice(0..0, vec![vec![false; m]; f]);

        let mut rows = vec![];
        for ((leaves, tree_rows), d) in self.trees.iter().zip(protocol.trees()).zip(&d) {
            let missing = leaves.iter().position(Option::is_none).expect("one leaf");
            let mut w = vec![vec![false; m]; tree_rows.len()];
            for (x, &key) in leaves.iter().enumerate() {
                let Some(key) = key else { continue };
                let g = stream(key, nonce, m);
                for (j, row) in w.iter_mut().enumerate() {
                    if (x ^ missing) >> j & 1 == 1 {
                        add(row, &g);
                    }
                }
            }
            for (r, mut q) in tree_rows.zip(w) {
                if delta[r] {
                    add(&mut q, d);
                }
                rows.push(q);
            }
        }

        let u = if protocol.checked {
            oracle("foxtrot v1 extension sender coin", &id, batch, 0, &[&seed], 32)
        } else {
            vec![]
        };
        let commitment = commitment.to_vec();
        let challenge = u.clone();
        (SenderBatch { protocol, id, batch, n, given, delta, rows, commitment, u }, challenge)
    }
}

impl SenderBatch {
    /// Steps 9 to 11: takes `Proof`, which is empty in an unchecked protocol; returns the outputs.
    ///
    /// # Errors
    ///
    /// If that is no proof.
    pub fn finish(self, proof: &[u8]) -> Result<Sent, Rejected> {
        let SenderBatch { protocol, id, batch, n, given, delta, rows, commitment: com, u } = self;
        let proof_len = if protocol.checked { 32 + 8 + 8 * DELTA_BITS } else { 0 };
        if proof.len() != proof_len {
            return Err(Rejected);
        }
        let (t, hashes) = proof.split_at(proof_len.min(32));
        if protocol.checked {
            let chi = check::coefficients(&id, batch, given, &u, rows[0].len());
            let hashes = check::elements(hashes);
            let fits = |r: usize| {
                let of_choices = if delta[r] { hashes[0] } else { 0 };
                check::hash(&chi, &rows[r]) == hashes[1 + r] ^ of_choices
            };
            if com != commitment(&id, batch, t) || !(0..DELTA_BITS).all(fits) {
                return Err(Rejected);
            }
        }

        let delta = Block::from_le_bytes(array(&bytes_from_bits(&delta)));
        let flips = flips(protocol, &id, batch, n, given, &u);
        let row = |i: usize| column(&rows, i) ^ if flips[i] { delta } else { 0 };
        let rows: Vec<Block> = (0..n).map(row).collect();
        let output = Output { id, batch, coins: protocol.checked.then_some((t, &u)) };
        let pair = |(i, &q): (usize, &Block)| [output.key(i, q), output.key(i, q ^ delta)];
        let keys = rows.iter().enumerate().map(pair).collect();
        Ok(Sent { rows, keys })
    }
}
