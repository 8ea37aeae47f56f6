//! `kos-two-round`: n OTs from 128 base OTs in two messages, as in `docs/wire/two-round.md`, section 11.
//!
//! ```text
//!     sender                                           receiver
//!  1  Δ; it is receiver of the base OTs
//!  2                          ── Invitation ──→
//!  3                                                   both keys of every base OT, its answer
//!  4                                                   rows T, choices X, corrections D
//!  5                                                   χ from the oracle, h¹ and h² of X and T
//!  6                   ←── Response: answer, D, h(X), h(T) ──
//!  7  the same χ, rows Q = T ⊕ Δ·X
//!  8  [does h(Q) = h(T) ⊕ Δ·h(X), for both h?]
//!  9  keys H(q), H(q ⊕ Δ)                              keys H(t)
//! ```
//!
//! Rows, streams and keys are those of [`crate::extension`] with trees of two leaves.

use crate::extension::{
    Block, DELTA_BITS, Output, Rejected, Row, Seed, add, array, column, nonce, stream,
};
use crate::mcquoid_rosulek_roy::{self, Agreement, Pair, Popf};
use crate::oracle::{Id, oracle, sub_session_id};
use crate::roted::{self, Key, Mode};
use crate::{bits_from_bytes, bytes_from_bits};

/// The base OTs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// `roted-endemic`.
    RotedEndemic,
    /// `mcquoid-rosulek-roy:feistel:moeller`.
    Moeller,
    /// `mcquoid-rosulek-roy:feistel2:ristretto`.
    Ristretto,
}

impl Base {
    /// All.
    pub const ALL: [Base; 3] = [Base::RotedEndemic, Base::Moeller, Base::Ristretto];

    /// Returns the name of the base OT.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Base::RotedEndemic => "roted-endemic",
            Base::Moeller => "mcquoid-rosulek-roy:feistel:moeller",
            Base::Ristretto => "mcquoid-rosulek-roy:feistel2:ristretto",
        }
    }

    /// Returns the POPF and the key agreement.
    fn pair(self) -> Pair {
        match self {
            Base::Moeller => (Popf::Feistel, Agreement::Moeller),
            _ => (Popf::Feistel2, Agreement::Ristretto),
        }
    }

    /// Returns the name of the whole.
    #[must_use]
    pub fn extension_name(self) -> String {
        format!("kos-two-round:{}", self.name())
    }

    /// Length of the base sender's message.
    fn answer_len(self) -> usize {
        match self {
            Base::RotedEndemic => 2176 * DELTA_BITS,
            Base::Moeller => 64,
            Base::Ristretto => 32,
        }
    }

    /// Returns the state of the base OTs' receiver and its message.
    fn blind(self, id: &Id, delta: &[bool], seed: &Seed) -> (BaseReceiver, Vec<u8>) {
        match self {
            Base::RotedEndemic => {
                let (state, message) =
                    roted::receiver_blind(Mode::Endemic, id, DELTA_BITS, delta, seed);
                (BaseReceiver::RotedEndemic(state), message)
            }
            _ => {
                let pair = self.pair();
                let (state, message) = mcquoid_rosulek_roy::receiver_blind(pair, id, delta, seed);
                (BaseReceiver::McQuoidRosulekRoy(state), message)
            }
        }
    }

    /// Returns both keys of every base OT and the message of their sender.
    fn answer(self, id: &Id, blinded: &[u8], seed: &Seed) -> (Vec<[Key; 2]>, Vec<u8>) {
        match self {
            Base::RotedEndemic => {
                let (state, answer) =
                    roted::sender_reply(Mode::Endemic, id, DELTA_BITS, blinded, seed);
                (roted::sender_finish(state, &[]), answer)
            }
            _ => {
                let (state, answer) = mcquoid_rosulek_roy::sender_share(self.pair(), id, seed);
                (mcquoid_rosulek_roy::sender_finish(&state, blinded), answer)
            }
        }
    }
}

/// The base OTs' receiver between its two steps.
#[derive(Debug)]
enum BaseReceiver {
    RotedEndemic(roted::ReceiverState),
    McQuoidRosulekRoy(mcquoid_rosulek_roy::ReceiverState),
}

impl BaseReceiver {
    fn finish(self, answer: &[u8]) -> Vec<Key> {
        match self {
            BaseReceiver::RotedEndemic(state) => roted::receiver_finish(state, answer).keys,
            BaseReceiver::McQuoidRosulekRoy(state) => {
                mcquoid_rosulek_roy::receiver_finish(&state, answer)
            }
        }
    }
}

/// The sender between its two steps.
#[derive(Debug)]
pub struct Sender {
    id: Id,
    n: usize,
    base: Base,
    delta: Vec<bool>,
    state: BaseReceiver,
    invitation: Vec<u8>,
}

/// Returns m.
#[must_use]
pub fn columns(n: usize) -> usize {
    512 * (n + 256).div_ceil(512)
}

impl Sender {
    /// Steps 1 and 2: returns the state and `Invitation`.
    #[must_use]
    pub fn invite(base: Base, id: &Id, n: usize, seed: &Seed) -> (Sender, Vec<u8>) {
        let delta = oracle("foxtrot v1 two-round delta", id, 0, 0, &[seed], 16);
        let delta = bits_from_bytes(&delta, DELTA_BITS);
        let base_id = sub_session_id(id, 0, 0, base.name());
        let (state, invitation) = base.blind(&base_id, &delta, seed);
        (Sender { id: *id, n, base, delta, state, invitation: invitation.clone() }, invitation)
    }

    /// Steps 7 to 9: takes `Response`, returns both keys of every OT.
    ///
    /// # Errors
    ///
    /// If the check fails, or the message has another length than it should.
    pub fn finish(self, response: &[u8]) -> Result<Vec<[Block; 2]>, Rejected> {
        let Sender { id, n, base, delta: choices, state, invitation } = self;
        let m = columns(n);
        let proof_at = base.answer_len() + DELTA_BITS * m / 8;
        if response.len() != proof_at + 32 * (1 + DELTA_BITS) {
            return Err(Rejected);
        }
        let (answer, corrections) = response[..proof_at].split_at(base.answer_len());
        let chi = challenge(base, &id, n, &invitation, answer, corrections);

        let keys = state.finish(answer);
        let rows: Vec<Row> = (0..DELTA_BITS)
            .map(|r| {
                // The leaf that the sender has is x = 1 − Δ; it is in the sum of those with y = 1.
                let delta = choices[r];
                let mut q = stream(leaf(&id, r, !delta, &keys[r]), nonce(&id, 0), m);
                if delta {
                    add(&mut q, &bits_from_bytes(&corrections[r * m / 8..][..m / 8], m));
                }
                q
            })
            .collect();

        let (of_choices, of_rows) = response[proof_at..].split_at(32);
        let of_choices = hash_from(of_choices);
        for ((q, theirs), &delta) in rows.iter().zip(of_rows.chunks(32)).zip(&choices) {
            let mut expected = hash_from(theirs);
            if delta {
                expected = [0, 1].map(|k| expected[k] ^ of_choices[k]);
            }
            if hash(&chi, q) != expected {
                return Err(Rejected);
            }
        }

        let delta = Block::from_le_bytes(array(&bytes_from_bits(&choices)));
        let output = Output { id, batch: 0, coins: None };
        let keys = (0..n).map(|i| {
            let q = column(&rows, i);
            [output.key(i, q), output.key(i, q ^ delta)]
        });
        Ok(keys.collect())
    }
}

/// Steps 3 to 6 and 9: takes `Invitation`, returns the chosen keys and `Response`.
#[must_use]
pub fn respond(
    base: Base,
    id: &Id,
    invitation: &[u8],
    choices: &[bool],
    seed: &Seed,
) -> (Vec<Block>, Vec<u8>) {
    let n = choices.len();
    let m = columns(n);
    let base_id = sub_session_id(id, 0, 0, base.name());
    let (base_keys, answer) = base.answer(&base_id, invitation, seed);

    let drawn = oracle("foxtrot v1 two-round choices", id, 0, 0, &[seed], m / 8);
    let mut x = bits_from_bytes(&drawn, m);
    x[..n].copy_from_slice(choices);
    let (mut rows, mut corrections) = (vec![], vec![]);
    for (r, keys) in base_keys.iter().enumerate() {
        // Leaf x comes from the base key of the other branch.
        let [zero, one] = [(false, &keys[1]), (true, &keys[0])]
            .map(|(x, key)| stream(leaf(id, r, x, key), nonce(id, 0), m));
        let mut d = x.clone();
        add(&mut d, &zero);
        add(&mut d, &one);
        corrections.extend(bytes_from_bits(&d));
        rows.push(one);
    }

    let chi = challenge(base, id, n, invitation, &answer, &corrections);
    let mut response = [answer, corrections].concat();
    for row in [&x].into_iter().chain(&rows) {
        response.extend(hash(&chi, row).iter().flat_map(|h| h.to_le_bytes()));
    }
    let output = Output { id: *id, batch: 0, coins: None };
    ((0..n).map(|i| output.key(i, column(&rows, i))).collect(), response)
}

/// Returns Lₓ of row `r` from the base key that it comes from.
fn leaf(id: &Id, r: usize, x: bool, key: &[u8; 16]) -> Block {
    let node = oracle("foxtrot v1 extension base", id, r, u8::from(x), &[key], 16);
    let leaf = oracle("foxtrot v1 extension leaf", id, r, 0, &[&node], 16);
    Block::from_le_bytes(array(&leaf))
}

/// Returns χ¹ and χ².
fn challenge(
    base: Base,
    id: &Id,
    n: usize,
    invitation: &[u8],
    answer: &[u8],
    corrections: &[u8],
) -> [Vec<u128>; 2] {
    let len = 32 * (columns(n) / 128 - 2);
    let name = base.extension_name();
    let fields = [name.as_bytes(), invitation, answer, corrections];
    let bytes = oracle("foxtrot v1 two-round challenge", id, n, 0, &fields, len);
    let (first, second) = bytes.split_at(len / 2);
    [elements(first), elements(second)]
}

/// Returns h¹ and h² of a row.
fn hash(chi: &[Vec<u128>; 2], row: &Row) -> [u128; 2] {
    let row = elements(&bytes_from_bits(row));
    let (rest, masks) = row.split_at(row.len() - 2);
    [0, 1].map(|k| {
        assert_eq!(chi[k].len(), rest.len());
        chi[k].iter().zip(rest).fold(masks[k], |sum, (&x, &v)| sum ^ multiply(x, v))
    })
}

fn hash_from(bytes: &[u8]) -> [u128; 2] {
    elements(bytes).try_into().expect("two elements")
}

fn elements(bytes: &[u8]) -> Vec<u128> {
    bytes.chunks(16).map(|b| u128::from_le_bytes(array(b))).collect()
}

/// Returns the product in GF(2)\[z\]/(z¹²⁸ + z⁷ + z² + z + 1); bit e is the coefficient of zᵉ.
#[must_use]
pub fn multiply(a: u128, b: u128) -> u128 {
    let mut product = 0;
    for e in (0..128).rev() {
        let overflow = product >> 127 == 1;
        product <<= 1;
        if overflow {
            product ^= 0b1000_0111;
        }
        if b >> e & 1 == 1 {
            product ^= a;
        }
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: Id = [7; 32];

    /// The sender's keys, the receiver's, and its choices.
    type Run = (Vec<[Block; 2]>, Vec<Block>, Vec<bool>);

    fn run(base: Base, spoil: impl FnOnce(&mut Vec<u8>)) -> Option<Run> {
        let n = 300;
        let choices: Vec<bool> = (0..n).map(|i| i % 5 < 2).collect();
        let (sender, invitation) = Sender::invite(base, &ID, n, &[1; 32]);
        let (keys, mut response) = respond(base, &ID, &invitation, &choices, &[2; 32]);
        spoil(&mut response);
        Some((sender.finish(&response).ok()?, keys, choices))
    }

    #[test]
    fn the_receiver_has_the_keys_of_its_choices() {
        for base in Base::ALL {
            let (pairs, keys, choices) = run(base, |_| ()).expect("an honest run");
            for (i, key) in keys.iter().enumerate() {
                assert_eq!(pairs[i][usize::from(choices[i])], *key);
                assert_ne!(pairs[i][usize::from(!choices[i])], *key);
            }
        }
    }

    #[test]
    fn a_changed_response_is_rejected() {
        for base in Base::ALL {
            assert!(run(base, |response| response[base.answer_len() + 5] ^= 1).is_none());
            assert!(run(base, |response| *response.last_mut().expect("bytes") ^= 1).is_none());
            assert!(run(base, |response| response.push(0)).is_none());
        }
    }

    #[test]
    fn multiplication_obeys_the_field_laws() {
        let power = |x: u128, times: u32| (0..times).fold(x, |x, _| multiply(x, x));
        // Rabin's test: z^(2^128) = z, and z^(2^64) − z is invertible.
        assert_eq!(power(2, 128), 2);
        let difference = power(2, 64) ^ 2;
        let mut product = 1;
        for _ in 0..128 {
            product = multiply(multiply(product, product), difference);
        }
        assert_eq!(product, 1);
        assert_eq!(multiply(1 << 127, 2), 0b1000_0111);
    }
}
