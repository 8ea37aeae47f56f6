//! `roted`: a batch of n random oblivious transfers from Module-LWE, as in `docs/wire/roted.md`,
//! section 5.
//!
//! The sender ends with two keys per instance, the receiver with a choice bit and the key at that
//! position. What happens in instance i, all sums and products in R_q (A is 3×3; e′ and k are one
//! polynomial, the other ring elements three; c is the receiver's branch, j runs over both):
//!
//! ```text
//!     receiver                                         sender
//!  1  s_R, e_R ← noise,  r ← bits
//!  2  P^c = A·s_R + e_R
//!  3  T = P^c − H₁(c, r),  s = r ⊕ H′(c, T)
//!  4                          ── Blinded: T, s ──→
//!  5                                                   P^j = T + H₁(j, s ⊕ H′(j, T))
//!  6                                                   s_S, e_S, e′ ← noise, afresh for each j
//!                                                      U^j = Aᵀ·s_S + e_S
//!  7                                                   k = ⟨s_S, P^j⟩ + e′
//!                                                      hints^j = hint(k),  sk^j = bit(k, hints^j)
//!  8                     ←── Reply: U^j rounded, hints^j ──
//!  9  sk^c = bit(⟨s_R, U^c⟩, hints^c)
//! 10                          ── [Opening: t] ──→
//! 11                                                   [does t open the commitment?]
//! 12  output: hash of sk^c, bit c ⊕ a                  output at j ⊕ a: hash of sk^j
//! ```
//!
//! Both k are ⟨s_S, A·s_R⟩ up to noise, so steps 7 and 9 agree on branch c. On the other branch P^j
//! is a hash value of which nobody knows a secret s_R.
//!
//! In [`Mode::Rot`] neither side may influence choice or keys: `Blinded` also commits to a random
//! t, `Reply` brings random bits a and a random u, and the third message `Opening` is t; t and u are
//! hashed into the keys. In [`Mode::Endemic`] there are two messages, the receiver names its
//! choices, and a = 0. Polynomials are held as coefficients; NTT order is only for the wire and for
//! uniform expansion.

use crate::oracle::{Id, ask, coins, key_of, oracle, oracle32};
use crate::ring::{Poly, Ring, Vector, pack, unpack};
use crate::{bits_from_bytes, bytes_from_bits, xor};

/// An output key.
pub type Key = [u8; 16];

/// A party's only randomness for one batch.
pub type Seed = [u8; 32];

/// The ideal functionality that the batch realises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// F_ROT: uniform choices and keys; three messages.
    Rot,
    /// Endemic OT: the receiver's choice is an input; two messages.
    Endemic,
}

/// The receiver's state between `Blinded` and `Reply`.
#[derive(Debug)]
pub struct ReceiverState {
    mode: Mode,
    id: Id,
    branches: Vec<bool>,
    secrets: Vec<Vector>,
    t: [u8; 32],
    blinded: Vec<u8>,
}

/// The receiver's output.
#[derive(Debug)]
pub struct Received {
    /// Choice bit of every instance.
    pub choices: Vec<bool>,
    /// Key at the chosen position of every instance.
    pub keys: Vec<Key>,
    /// The message `Opening`, empty in endemic mode.
    pub opening: Vec<u8>,
}

/// The sender's state between `Reply` and `Opening`.
#[derive(Debug)]
pub struct SenderState {
    mode: Mode,
    id: Id,
    /// sk⁰ and sk¹ of every instance.
    secrets: Vec<[Vec<u8>; 2]>,
    commitment: Vec<u8>,
    u: Vec<u8>,
    a: Vec<bool>,
    blinded: Vec<u8>,
    reply: Vec<u8>,
}

/// Starts a batch of `n` instances under the sub-sid `id`; returns the state and `Blinded`.
///
/// `choices` are the n choice bits in endemic mode and ignored in mode F_ROT.
///
/// # Panics
///
/// If there are not n choices in endemic mode.
#[must_use]
pub fn receiver_blind(
    mode: Mode,
    id: &Id,
    n: usize,
    choices: &[bool],
    seed: &Seed,
) -> (ReceiverState, Vec<u8>) {
    let a_matrix = matrix("roted", id);
    let (mut t, mut blinded) = ([0; 32], vec![]);
    let branches = match mode {
        Mode::Rot => {
            let context = "foxtrot v1 roted receiver batch";
            let mut coins = Bytes(oracle(context, id, 0, 0, &[seed], 32 + n.div_ceil(8)));
            t.copy_from_slice(&coins.take(32));
            blinded.extend(commitment(id, &t));
            bits_from_bytes(&coins.take(n.div_ceil(8)), n)
        }
        Mode::Endemic => choices.to_vec(),
    };
    assert_eq!(branches.len(), n, "one choice per instance");

    let mut secrets = vec![];
    for (i, &branch) in branches.iter().enumerate() {
        let (s_r, phi) = blind("roted", &a_matrix, id, i, u8::from(branch), seed);
        blinded.extend(phi);
        secrets.push(s_r);
    }
    let state = ReceiverState { mode, id: *id, branches, secrets, t, blinded: blinded.clone() };
    (state, blinded)
}

/// Answers `Blinded` of a batch of `n` instances; returns the state and `Reply`.
///
/// # Panics
///
/// If `blinded` has another length than it should.
#[must_use]
pub fn sender_reply(
    mode: Mode,
    id: &Id,
    n: usize,
    blinded: &[u8],
    seed: &Seed,
) -> (SenderState, Vec<u8>) {
    let a_matrix = matrix("roted", id);
    let mut message = Bytes(blinded.to_vec());
    let (mut commitment, mut u, mut a, mut reply) = (vec![], vec![], vec![false; n], vec![]);
    if mode == Mode::Rot {
        commitment = message.take(32);
        let context = "foxtrot v1 roted sender batch";
        let mut coins = Bytes(oracle(context, id, 0, 0, &[seed], 32 + n.div_ceil(8)));
        u = coins.take(32);
        a = bits_from_bytes(&coins.take(n.div_ceil(8)), n);
        reply = [&u[..], &bytes_from_bits(&a)].concat();
    }

    let mut secrets = vec![];
    for i in 0..n {
        let points = points("roted", id, i, &message.take(1296));
        let mut answer_branch = |j: u8| {
            let number = 2 * i + usize::from(j);
            let coins = coins("foxtrot v1 roted sender coins", id, seed, number, 7 * 128);
            let (answered, sk) = answer(&a_matrix, &points[usize::from(j)], coins);
            reply.extend(answered);
            sk
        };
        secrets.push([answer_branch(0), answer_branch(1)]);
    }
    assert!(message.0.is_empty(), "trailing bytes");
    let (blinded, kept) = (blinded.to_vec(), reply.clone());
    (SenderState { mode, id: *id, secrets, commitment, u, a, blinded, reply: kept }, reply)
}

/// Takes `Reply`; returns the receiver's outputs and `Opening`.
///
/// # Panics
///
/// If `reply` has another length than it should.
#[must_use]
pub fn receiver_finish(state: ReceiverState, reply: &[u8]) -> Received {
    let ReceiverState { mode, id, branches, secrets, t, blinded } = state;
    let n = branches.len();
    let transcript = transcript(mode, &id, n, &blinded, reply, &t);
    let mut message = Bytes(reply.to_vec());
    let (mut u, mut a, mut opening) = (vec![], vec![false; n], vec![]);
    if mode == Mode::Rot {
        u = message.take(32);
        a = bits_from_bytes(&message.take(n.div_ceil(8)), n);
        opening = t.to_vec();
    }

    let mut keys = vec![];
    for (i, (&branch, s_r)) in branches.iter().zip(&secrets).enumerate() {
        // U^0 and U^1 are both there, the one of the receiver's branch is used.
        let answers = [message.take(1088), message.take(1088)];
        let sk = recover(s_r, &answers[usize::from(branch)]);
        // Step 12.
        keys.push(key(mode, &id, i, u8::from(branch), &sk, &t, &u, &transcript));
    }
    assert!(message.0.is_empty(), "trailing bytes");
    let choices = branches.iter().zip(&a).map(|(c, a)| c ^ a).collect();
    Received { choices, keys, opening }
}

/// Takes `Opening` (empty in endemic mode); returns the sender's two keys of every instance.
///
/// # Panics
///
/// If `opening` is not what `Blinded` committed to.
#[must_use]
pub fn sender_finish(state: SenderState, opening: &[u8]) -> Vec<[Key; 2]> {
    let SenderState { mode, id, secrets, commitment: committed, u, a, blinded, reply } = state;
    if mode == Mode::Rot {
        // Step 11.
        assert_eq!(committed, commitment(&id, opening), "opening of another commitment");
    }
    let transcript = transcript(mode, &id, secrets.len(), &blinded, &reply, opening);
    let mut keys = vec![];
    for (i, [sk_0, sk_1]) in secrets.iter().enumerate() {
        // Step 12.
        let mut pair = [
            key(mode, &id, i, 0, sk_0, opening, &u, &transcript),
            key(mode, &id, i, 1, sk_1, opening, &u, &transcript),
        ];
        if a[i] {
            pair.swap(0, 1);
        }
        keys.push(pair);
    }
    keys
}

/// Steps 1 to 3 of a protocol of that name: returns s_R and φ, the T and s of instance `i`.
pub(crate) fn blind(
    name: &str,
    a_matrix: &[Vector; 3],
    id: &Id,
    i: usize,
    c: u8,
    seed: &Seed,
) -> (Vector, Vec<u8>) {
    let ring = Ring::module768();
    // Step 1.
    let context = format!("foxtrot v1 {name} receiver coins");
    let mut coins = Bytes(coins(&context, id, seed, i, 6 * 128 + 48));
    let s_r = coins.noise_vector(&ring);
    let e_r = coins.noise_vector(&ring);
    let r = coins.take(48);
    // Step 2.
    let p = [0, 1, 2].map(|row| {
        let product = ring.inner_product(a_matrix[row].each_ref(), &s_r);
        ring.add(&product, &e_r[row])
    });
    // Step 3.
    let h = h1(&ring, name, id, i, c, &r);
    let t_vector = [0, 1, 2].map(|k| ring.subtract(&p[k], &h[k]));
    let t_bytes = ring.pack(&t_vector.map(|poly| ring.to_ntt_order(&poly)));
    let s = xor(&r, &h_prime(name, id, i, c, &t_bytes));
    (s_r, [t_bytes, s].concat())
}

/// Step 5: returns both values of `phi`.
pub(crate) fn points(name: &str, id: &Id, i: usize, phi: &[u8]) -> [Vector; 2] {
    let ring = Ring::module768();
    let (t_bytes, s) = phi.split_at(1248);
    let t_vector = coefficients(&ring, &ring.unpack(t_bytes));
    [0, 1].map(|j| {
        let h = h1(&ring, name, id, i, j, &xor(s, &h_prime(name, id, i, j, t_bytes)));
        [0, 1, 2].map(|k| ring.add(&t_vector[k], &h[k]))
    })
}

/// Steps 6 and 7 for one branch: returns U and hints as in `Reply`, and sk.
pub(crate) fn answer(a_matrix: &[Vector; 3], p: &Vector, coins: Vec<u8>) -> (Vec<u8>, Vec<u8>) {
    let ring = Ring::module768();
    // Step 6.
    let mut coins = Bytes(coins);
    let s_s = coins.noise_vector(&ring);
    let e_s = coins.noise_vector(&ring);
    let e_prime = coins.noise(&ring);
    let u_vector = [0, 1, 2].map(|column| {
        let a_column = a_matrix.each_ref().map(|row| &row[column]);
        ring.add(&ring.inner_product(a_column, &s_s), &e_s[column])
    });
    let rounded = u_vector.concat().into_iter().map(|x| ring.round(x, 11));
    // Step 7.
    let k = ring.add(&ring.inner_product(p.each_ref(), &s_s), &e_prime);
    let hints: Vec<bool> = k.iter().map(|&x| ring.hint(x)).collect();
    let u_bytes = pack(&rounded.collect::<Vec<_>>(), 11);
    ([u_bytes, bytes_from_bits(&hints)].concat(), key_bits(&ring, &k, &hints))
}

/// Step 9: returns sk from U and hints of the receiver's branch.
pub(crate) fn recover(s_r: &Vector, answer: &[u8]) -> Vec<u8> {
    let ring = Ring::module768();
    let (u_bytes, hint_bytes) = answer.split_at(1056);
    let rounded = unpack(u_bytes, 11, 3 * ring.n);
    let u_vector = [0, 1, 2].map(|column| {
        let coefficients = rounded[column * ring.n..].iter().take(ring.n);
        coefficients.map(|&y| ring.unround(y, 11)).collect()
    });
    let k = ring.inner_product(s_r.each_ref(), &u_vector);
    key_bits(&ring, &k, &bits_from_bytes(hint_bytes, ring.n))
}

/// Returns the public matrix A of a batch by rows.
pub(crate) fn matrix(name: &str, id: &Id) -> [Vector; 3] {
    let ring = Ring::module768();
    [0, 1, 2].map(|row| {
        let bytes = oracle(&format!("foxtrot v1 {name} A"), id, row, 0, &[], 1560);
        coefficients(&ring, &ring.uniform(&bytes, 3))
    })
}

/// H₁, which hides P^c in T.
fn h1(ring: &Ring, name: &str, id: &Id, i: usize, j: u8, r: &[u8]) -> Vector {
    let bytes = ask(&key_of(&format!("foxtrot v1 {name} H1"), id, &[]), r, i, j, 1560);
    coefficients(ring, &ring.uniform(&bytes, 3))
}

/// H′, which ties r to T: after T is fixed nobody can choose H₁ of both branches.
fn h_prime(name: &str, id: &Id, i: usize, j: u8, t_bytes: &[u8]) -> Vec<u8> {
    let key = key_of(&format!("foxtrot v1 {name} H'"), id, &[]);
    ask(&key, &digest(name, id, i, t_bytes), i, j, 48)
}

/// The digest of T, which H′ and the transcript take.
fn digest(name: &str, id: &Id, i: usize, t_bytes: &[u8]) -> Vec<u8> {
    ask(&key_of(&format!("foxtrot v1 {name} T"), id, &[]), t_bytes, i, 0, 32)
}

fn commitment(id: &Id, t: &[u8]) -> Vec<u8> {
    oracle("foxtrot v1 roted commitment", id, 0, 0, &[t], 32)
}

/// Returns the hash of both messages, of `n` instances, which every key depends on; t has no part in
/// it in endemic mode.
fn transcript(mode: Mode, id: &Id, n: usize, blinded: &[u8], reply: &[u8], t: &[u8]) -> [u8; 32] {
    let (head, phis) = blinded.split_at(blinded.len() - 1296 * n);
    let condense = |(i, phi): (usize, &[u8])| {
        let (t_bytes, s) = phi.split_at(1248);
        [&digest("roted", id, i, t_bytes), s].concat()
    };
    let condensed: Vec<u8> = phis.chunks(1296).enumerate().flat_map(condense).collect();
    let digest = oracle32("foxtrot v1 roted Blinded", id, 0, 0, &[head, &condensed]);
    if mode == Mode::Endemic {
        return oracle32("foxtrot v1 roted transcript", id, 0, 0, &[&digest, reply]);
    }
    let key = oracle("foxtrot v1 roted NH key", id, 0, 0, &[t], 2176 + 24);
    let (head, replies) = reply.split_at(reply.len() - 2176 * n);
    let hashes: Vec<u8> = replies.chunks(2176).flat_map(|text| nh(&key, text)).collect();
    oracle32("foxtrot v1 roted rot transcript", id, 0, 0, &[&digest, head, &hashes])
}

/// Returns the NH hash of a text, four sums, the key of each two words further on.
fn nh(key: &[u8], text: &[u8]) -> Vec<u8> {
    let word = |bytes: &[u8], k: usize| {
        u32::from_le_bytes([bytes[4 * k], bytes[4 * k + 1], bytes[4 * k + 2], bytes[4 * k + 3]])
    };
    let mut hash = vec![];
    for l in 0..4 {
        let mut sum = 0u64;
        for k in (0..text.len() / 4).step_by(2) {
            let a = word(text, k).wrapping_add(word(key, k + 2 * l));
            let b = word(text, k + 1).wrapping_add(word(key, k + 1 + 2 * l));
            sum = sum.wrapping_add(u64::from(a) * u64::from(b));
        }
        hash.extend(sum.to_le_bytes());
    }
    hash
}

/// Returns the bits of `k` under `hints` as the 32 bytes sk.
fn key_bits(ring: &Ring, k: &Poly, hints: &[bool]) -> Vec<u8> {
    let bits = k.iter().zip(hints).map(|(&x, &hint)| ring.key_bit(x, hint));
    bytes_from_bits(&bits.collect::<Vec<_>>())
}

/// Returns the output key of branch `j`; t and u have no part in it in endemic mode.
#[expect(clippy::too_many_arguments, reason = "they are the inputs of the hash")]
fn key(
    mode: Mode,
    id: &Id,
    i: usize,
    j: u8,
    sk: &[u8],
    t: &[u8],
    u: &[u8],
    transcript: &[u8],
) -> Key {
    let oracle_key = match mode {
        Mode::Rot => key_of("foxtrot v1 roted rot output", id, &[t, u, transcript]),
        Mode::Endemic => key_of("foxtrot v1 roted endemic output", id, &[transcript]),
    };
    let mut key = [0; 16];
    key.copy_from_slice(&ask(&oracle_key, sk, i, j, 16));
    key
}

/// Returns the coefficients of three polynomials given in NTT order.
fn coefficients(ring: &Ring, polys: &[Poly]) -> Vector {
    [0, 1, 2].map(|k| ring.from_ntt_order(&polys[k]))
}

/// Bytes that are consumed from the front: oracle output or a message.
struct Bytes(Vec<u8>);

impl Bytes {
    fn take(&mut self, length: usize) -> Vec<u8> {
        self.0.drain(..length).collect()
    }

    fn noise(&mut self, ring: &Ring) -> Poly {
        ring.centred_binomial(&self.take(128))
    }

    fn noise_vector(&mut self, ring: &Ring) -> Vector {
        [self.noise(ring), self.noise(ring), self.noise(ring)]
    }
}
