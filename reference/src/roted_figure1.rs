//! `roted-figure1`: Figure 1 of the ROTed paper, as in `crates/papers/wire.md`, section 8. Broken, and here to
//! be compared with; [`crate::roted`] is the protocol to use.
//!
//! In instance i, all sums and products in R_q:
//!
//! ```text
//!     receiver                                         sender
//!  1  s_R, e_R, e′_R ← Gaussian,  c, t₀, t₁ ← bits
//!  2  p^c = m·s_R + 2e_R
//!  3  r ← bits,  h = H₁(r)
//!  4  p⁰ = p^c − c·h
//!  5               ── Blinded: p⁰, r, com(t₀), com(t₁) ──→
//!  6                                                   s_S, e_S, e′_S ← Gaussian
//!                                                      p_S = m·s_S + 2e_S
//!  7                                                   p¹ = p⁰ + H₁(r)
//!  8                                                   kʲ = s_S·pʲ + 2e′_S for j = 0, 1
//!                                                      σⱼ = Sig(kʲ),  skʲ = Mod₂(kʲ, σⱼ)
//!  9                                                   a, u ← bits
//! 10               ←── Reply: p_S, K_a, K_{1−a}, σ₀, σ₁, u ──     K_j = K(skʲ)
//! 11  sk = Mod₂(s_R·p_S + 2e′_R, σ_c)
//! 12  b = 0 if K(sk) = K_a, 1 if K_{1−a}, else c
//! 13               ── Opening: t₀, t₁ ──→
//! 14                                                   [do they open the commitments?]
//! 15  output: b, M(sk, t_c, u)                         output at j ⊕ a: M(skʲ, tⱼ, u)
//! ```
//!
//! Polynomials are held as coefficients; NTT order is only for the wire and for uniform expansion.

use crate::bytes_from_bits;
use crate::oracle::{Id, ask, coins, key_of, oracle};
use crate::ring::{Poly, Ring};
use crate::roted::{Key, Seed};

/// Thresholds of the discrete Gaussian.
const GAUSSIAN: [u64; 8] = [6537, 18073, 26002, 30246, 32015, 32590, 32735, 32764];

/// The receiver's state of each instance between `Blinded` and `Reply`.
#[derive(Debug)]
pub struct ReceiverState {
    id: Id,
    instances: Vec<ReceiverInstance>,
}

#[derive(Debug)]
struct ReceiverInstance {
    s_r: Poly,
    e_prime: Poly,
    t: [Vec<u8>; 2],
    c: bool,
}

/// The receiver's output.
#[derive(Debug)]
pub struct Received {
    /// Choice bit of every instance.
    pub choices: Vec<bool>,
    /// Key at the chosen position of every instance.
    pub keys: Vec<Key>,
    /// The message `Opening`.
    pub opening: Vec<u8>,
}

/// The sender's state of each instance between `Reply` and `Opening`.
#[derive(Debug)]
pub struct SenderState {
    id: Id,
    instances: Vec<SenderInstance>,
}

#[derive(Debug)]
struct SenderInstance {
    sk: [Vec<u8>; 2],
    commitments: [Vec<u8>; 2],
    u: Vec<u8>,
    a: bool,
}

/// Starts a batch of `n` instances under the sub-sid `id`; returns the state and `Blinded`.
#[must_use]
pub fn receiver_blind(id: &Id, n: usize, seed: &Seed) -> (ReceiverState, Vec<u8>) {
    let ring = Ring::paper512();
    let (mut instances, mut blinded) = (vec![], vec![]);
    for i in 0..n {
        // Step 1, and r of step 3.
        let context = "foxtrot v1 roted-figure1 receiver coins";
        let mut coins = coins(context, id, seed, i, 3 * 1024 + 64);
        let [s_r, e_r, e_prime] = [(); 3].map(|()| gaussian(&ring, &take(&mut coins, 1024)));
        let t = [(); 2].map(|()| take(&mut coins, 16));
        let r = take(&mut coins, 16);
        let c = coins[0] & 1 == 1;
        // Step 2.
        let mut p = ring.add(&ring.multiply(&m(&ring, id), &s_r), &twice(&ring, &e_r));
        // Steps 3 and 4.
        if c {
            p = ring.subtract(&p, &h1(&ring, id, i, &r));
        }
        // Step 5.
        blinded.extend(ring.pack(&[ring.to_ntt_order(&p)]));
        blinded.extend(r);
        blinded.extend(t.each_ref().map(|t| commitment(id, i, t)).concat());
        instances.push(ReceiverInstance { s_r, e_prime, t, c });
    }
    (ReceiverState { id: *id, instances }, blinded)
}

/// Answers `Blinded` of a batch of `n` instances; returns the state and `Reply`.
///
/// # Panics
///
/// If `blinded` has another length than it should.
#[must_use]
pub fn sender_reply(id: &Id, n: usize, blinded: &[u8], seed: &Seed) -> (SenderState, Vec<u8>) {
    let ring = Ring::paper512();
    let mut message = blinded.to_vec();
    let (mut instances, mut reply) = (vec![], vec![]);
    for i in 0..n {
        let p_0 = ring.from_ntt_order(&ring.unpack(&take(&mut message, 896))[0]);
        let r = take(&mut message, 16);
        let commitments = [(); 2].map(|()| take(&mut message, 32));
        // Steps 6 and 9.
        let context = "foxtrot v1 roted-figure1 sender coins";
        let mut coins = coins(context, id, seed, i, 3 * 1024 + 32);
        let [s_s, e_s, e_prime] = [(); 3].map(|()| gaussian(&ring, &take(&mut coins, 1024)));
        let u = take(&mut coins, 16);
        let a = coins[0] & 4 != 0;
        let p_s = ring.add(&ring.multiply(&m(&ring, id), &s_s), &twice(&ring, &e_s));
        // Step 7.
        let p_1 = ring.add(&p_0, &h1(&ring, id, i, &r));
        // Step 8.
        let [(signals_0, sk_0), (signals_1, sk_1)] = [(0, p_0), (1, p_1)].map(|(j, p)| {
            let k = ring.add(&ring.multiply(&s_s, &p), &twice(&ring, &e_prime));
            let signals = sig(&ring, &k, u64::from(coins[0] >> j & 1));
            let sk = bytes_from_bits(&mod_2(&ring, &k, &signals));
            (bytes_from_bits(&signals), sk)
        });
        // Step 10.
        let mut confirmations = [&sk_0, &sk_1].map(|sk| confirmation(id, i, sk));
        if a {
            confirmations.swap(0, 1);
        }
        reply.extend(ring.pack(&[ring.to_ntt_order(&p_s)]));
        reply.extend([confirmations.concat(), signals_0, signals_1, u.clone()].concat());
        instances.push(SenderInstance { sk: [sk_0, sk_1], commitments, u, a });
    }
    assert!(message.is_empty(), "trailing bytes");
    (SenderState { id: *id, instances }, reply)
}

/// Takes `Reply`; returns the receiver's outputs and `Opening`.
///
/// # Panics
///
/// If `reply` has another length than it should.
#[must_use]
pub fn receiver_finish(state: ReceiverState, reply: &[u8]) -> Received {
    let ring = Ring::paper512();
    let mut message = reply.to_vec();
    let (mut choices, mut keys, mut opening) = (vec![], vec![], vec![]);
    for (i, ReceiverInstance { s_r, e_prime, t, c }) in state.instances.into_iter().enumerate() {
        let p_s = ring.from_ntt_order(&ring.unpack(&take(&mut message, 896))[0]);
        let [k_a, k_not_a] = [(); 2].map(|()| take(&mut message, 16));
        let signals = [(); 2].map(|()| take(&mut message, 64));
        let u = take(&mut message, 16);
        // Step 11.
        let k = ring.add(&ring.multiply(&s_r, &p_s), &twice(&ring, &e_prime));
        let signals = crate::bits_from_bytes(&signals[usize::from(c)], 512);
        let sk = bytes_from_bits(&mod_2(&ring, &k, &signals));
        let k_c = confirmation(&state.id, i, &sk);
        // Step 12.
        choices.push(if k_c == k_a { false } else { k_c == k_not_a || c });
        // Steps 13 and 15.
        keys.push(output(&state.id, i, &sk, &t[usize::from(c)], &u));
        opening.extend(t.concat());
    }
    assert!(message.is_empty(), "trailing bytes");
    Received { choices, keys, opening }
}

/// Takes `Opening`; returns the sender's two keys of every instance.
///
/// # Panics
///
/// If `opening` is not what `Blinded` committed to.
#[must_use]
pub fn sender_finish(state: SenderState, opening: &[u8]) -> Vec<[Key; 2]> {
    let mut message = opening.to_vec();
    let mut keys = vec![];
    for (i, SenderInstance { sk, commitments, u, a }) in state.instances.into_iter().enumerate() {
        // Step 14.
        let t = [(); 2].map(|()| take(&mut message, 16));
        let opened = t.each_ref().map(|t| commitment(&state.id, i, t));
        assert_eq!(opened, commitments, "opening of another commitment");
        // Step 15.
        let mut pair = [0, 1].map(|j| output(&state.id, i, &sk[j], &t[j], &u));
        if a {
            pair.swap(0, 1);
        }
        keys.push(pair);
    }
    keys
}

/// Returns the Gaussian polynomial that 2N bytes hold.
#[must_use]
pub fn gaussian(ring: &Ring, bytes: &[u8]) -> Poly {
    let coefficient = |pair: &[u8]| {
        let w = u64::from(pair[0]) + 256 * u64::from(pair[1]);
        let magnitude = GAUSSIAN.iter().filter(|&&threshold| threshold <= w / 2).count() as u64;
        if w % 2 == 1 { (ring.q - magnitude) % ring.q } else { magnitude }
    };
    bytes.chunks(2).map(coefficient).collect()
}

/// Returns the signals of `k` under a coin of 0 or 1.
#[must_use]
pub fn sig(ring: &Ring, k: &Poly, coin: u64) -> Vec<bool> {
    k.iter().map(|&x| x.min(ring.q - x) > ring.q / 4 + coin).collect()
}

/// Returns the parities of `k` under `signals`.
#[must_use]
pub fn mod_2(ring: &Ring, k: &Poly, signals: &[bool]) -> Vec<bool> {
    let parity = |(&x, &signal): (&u64, &bool)| {
        let x = (x + u64::from(signal) * (ring.q - 1) / 2) % ring.q;
        // q is odd, so x − q has the other parity.
        (x % 2 == 1) == (x <= (ring.q - 1) / 2)
    };
    k.iter().zip(signals).map(parity).collect()
}

fn twice(ring: &Ring, e: &Poly) -> Poly {
    ring.add(e, e)
}

/// Returns the public polynomial m of a batch.
fn m(ring: &Ring, id: &Id) -> Poly {
    let bytes = oracle("foxtrot v1 roted-figure1 m", id, 0, 0, &[], 1540);
    ring.from_ntt_order(&ring.uniform(&bytes, 1)[0])
}

/// H₁, the difference of p¹ and p⁰.
fn h1(ring: &Ring, id: &Id, i: usize, r: &[u8]) -> Poly {
    let bytes = ask_as("foxtrot v1 roted-figure1 H1", id, r, i, 1540);
    ring.from_ntt_order(&ring.uniform(&bytes, 1)[0])
}

fn commitment(id: &Id, i: usize, t: &[u8]) -> Vec<u8> {
    ask_as("foxtrot v1 roted-figure1 commitment", id, t, i, 32)
}

fn confirmation(id: &Id, i: usize, sk: &[u8]) -> Vec<u8> {
    ask_as("foxtrot v1 roted-figure1 confirmation", id, sk, i, 16)
}

fn output(id: &Id, i: usize, sk: &[u8], t: &[u8], u: &[u8]) -> Key {
    let mut key = [0; 16];
    let context = "foxtrot v1 roted-figure1 output";
    key.copy_from_slice(&ask_as(context, id, &[sk, t, u].concat(), i, 16));
    key
}

/// The answer to a query under the key that `context` gives.
fn ask_as(context: &str, id: &Id, text: &[u8], i: usize, length: usize) -> Vec<u8> {
    ask(&key_of(context, id, &[]), text, i, 0, length)
}

/// Removes the first `length` bytes.
fn take(bytes: &mut Vec<u8>, length: usize) -> Vec<u8> {
    bytes.drain(..length).collect()
}
