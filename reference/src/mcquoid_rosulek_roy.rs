//! `mcquoid-rosulek-roy` with all pairs of a POPF and a key agreement: a batch of n endemic oblivious
//! transfers, as in `docs/wire/mcquoid-rosulek-roy.md`, section 12.
//!
//! ```text
//!     receiver (choice c)                              sender
//!  1                                                   a ← scalars, A = a·G, once for all
//!                       ←── KeyShare: A ──
//!  2  b ← scalars, B = b·G
//!  3  φ with value B at c
//!                       ── Blinded: φ ──→
//!  4                                                   P^j = φ(j)
//!  5  key: hash of A, b·A                              keys: hash of A, a·P^j
//! ```
//!
//! The messages do not depend on each other.

use crate::curve25519::{Bytes, GENERATORS, elligator, elligator_inverse, ladder};
use crate::oracle::{Id, ask, oracle, oracle32};
use crate::rijndael;
use crate::ristretto::{Element, scalar};
use crate::roted::{Key, Seed};
use crate::xor;

/// A POPF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Popf {
    /// An ideal cipher.
    Eke,
    /// An ideal permutation.
    EvenMansour,
    /// The POPF of Masny and Rindal.
    MasnyRindal,
    /// The streamlined Feistel network.
    Feistel,
    /// The Feistel network of two rounds.
    Feistel2,
}

/// A key agreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// Möller's agreement on curve and twist.
    Moeller,
    /// The agreement on the curve, with points as strings.
    Elligator,
    /// The agreement in Ristretto255.
    Ristretto,
}

/// Both.
pub type Pair = (Popf, Agreement);

/// A value of a POPF: an element of its group.
#[derive(Clone, Copy, Debug)]
enum Value {
    String(Bytes),
    Element(Element),
}

/// The sender's state between its message and the receiver's.
#[derive(Debug)]
pub struct SenderState {
    pair: Pair,
    id: Id,
    a: Bytes,
    share: Vec<u8>,
}

/// The receiver's state between its message and the sender's.
#[derive(Debug)]
pub struct ReceiverState {
    pair: Pair,
    id: Id,
    choices: Vec<bool>,
    /// b, and whether it is on the twist.
    secrets: Vec<(Bytes, bool)>,
}

/// Returns all pairs, with their names.
#[must_use]
pub fn pairs() -> Vec<(String, Pair)> {
    let mut pairs = vec![];
    for (agreement_name, agreement) in [
        ("moeller", Agreement::Moeller),
        ("elligator", Agreement::Elligator),
        ("ristretto", Agreement::Ristretto),
    ] {
        for (popf_name, popf) in [
            ("feistel", Popf::Feistel),
            ("masny-rindal", Popf::MasnyRindal),
            ("feistel2", Popf::Feistel2),
            ("even-mansour", Popf::EvenMansour),
            ("eke", Popf::Eke),
        ] {
            let of_strings = matches!(popf, Popf::Eke | Popf::EvenMansour);
            if agreement != Agreement::Ristretto || !of_strings {
                let name = format!("mcquoid-rosulek-roy:{popf_name}:{agreement_name}");
                pairs.push((name, (popf, agreement)));
            }
        }
    }
    pairs
}

/// Step 1: returns the state and `KeyShare`.
#[must_use]
pub fn sender_share(pair: Pair, id: &Id, seed: &Seed) -> (SenderState, Vec<u8>) {
    let clamped = |what| {
        let mut a = bytes(&oracle(what, id, 0, 0, &[seed], 32));
        a[0] &= 248;
        a[31] = a[31] & 127 | 64;
        a
    };
    let (a, share) = match pair.1 {
        Agreement::Moeller => {
            let a = clamped("foxtrot v1 moeller sender coins");
            (a, GENERATORS.map(|g| ladder(&a, &g)).concat())
        }
        Agreement::Elligator => {
            let a = clamped("foxtrot v1 elligator sender coins");
            (a, ladder(&a, &GENERATORS[0]).to_vec())
        }
        Agreement::Ristretto => {
            let a = scalar(&hash("sender coins", id, 0, 0, &[seed], 64));
            (from_number(&a), Element::generator().times(&a).encode())
        }
    };
    (SenderState { pair, id: *id, a, share: share.clone() }, share)
}

/// Steps 2 and 3: returns the state and `Blinded`.
#[must_use]
pub fn receiver_blind(
    pair: Pair,
    id: &Id,
    choices: &[bool],
    seed: &Seed,
) -> (ReceiverState, Vec<u8>) {
    let (mut secrets, mut blinded) = (vec![], vec![]);
    for (i, &choice) in choices.iter().enumerate() {
        let (secret, value) = draw(pair.1, id, i, seed);
        secrets.push(secret);
        blinded.extend(program(pair, id, i, u8::from(choice), value, seed));
    }
    (ReceiverState { pair, id: *id, choices: choices.to_vec(), secrets }, blinded)
}

/// Steps 4 and 5: takes `Blinded`, returns both keys of every instance.
///
/// # Panics
///
/// If `blinded` is no encoding.
#[must_use]
pub fn sender_finish(state: &SenderState, blinded: &[u8]) -> Vec<[Key; 2]> {
    let SenderState { pair, id, a, share } = state;
    let keys = |(i, phi): (usize, &[u8])| {
        [0, 1].map(|j| {
            let shared = match (pair.1, evaluate(*pair, id, i, j, phi)) {
                (Agreement::Moeller, Value::String(string)) => ladder(a, &string).to_vec(),
                (_, Value::String(string)) => ladder(a, &elligator(&string)).to_vec(),
                (_, Value::Element(point)) => point.times(&to_number(a)).encode(),
            };
            key(pair.1, id, i, j, share, &shared)
        })
    };
    blinded.chunks(phi_len(pair.0)).enumerate().map(keys).collect()
}

/// Step 5: takes `KeyShare`, returns the chosen keys.
///
/// # Panics
///
/// If `share` is no encoding.
#[must_use]
pub fn receiver_finish(state: &ReceiverState, share: &[u8]) -> Vec<Key> {
    let agreement = state.pair.1;
    let key = |(i, (b, on_twist)): (usize, &(Bytes, bool))| {
        let shared = match agreement {
            Agreement::Moeller => {
                ladder(b, &bytes(&share[32 * usize::from(*on_twist)..][..32])).to_vec()
            }
            Agreement::Elligator => ladder(b, &bytes(share)).to_vec(),
            Agreement::Ristretto => {
                Element::decode(share).expect("an element").times(&to_number(b)).encode()
            }
        };
        key(agreement, &state.id, i, u8::from(state.choices[i]), share, &shared)
    };
    state.secrets.iter().enumerate().map(key).collect()
}

/// Step 2: returns b, whether it is on the twist, and the message.
fn draw(agreement: Agreement, id: &Id, i: usize, seed: &Seed) -> ((Bytes, bool), Value) {
    let split = |coins: &[u8]| {
        let mut b = bytes(&coins[..32]);
        b[31] &= 127;
        b
    };
    match agreement {
        Agreement::Moeller => {
            let coins = oracle("foxtrot v1 moeller receiver coins", id, i, 0, &[seed], 33);
            let (b, on_twist) = (split(&coins), coins[32] & 1 == 1);
            let mut message = ladder(&b, &GENERATORS[usize::from(on_twist)]);
            message[31] |= coins[31] & 128;
            ((b, on_twist), Value::String(message))
        }
        Agreement::Elligator => {
            let attempt = |k: u8| {
                let coins = oracle("foxtrot v1 elligator receiver coins", id, i, k, &[seed], 33);
                let b = split(&coins);
                let message = elligator_inverse(&ladder(&b, &GENERATORS[0]), coins[32])?;
                Some(((b, false), Value::String(message)))
            };
            (0..=255).find_map(attempt).expect("half of all points have strings")
        }
        Agreement::Ristretto => {
            let b = scalar(&hash("receiver coins", id, i, 0, &[seed], 64));
            ((from_number(&b), false), Value::Element(Element::generator().times(&b)))
        }
    }
}

fn phi_len(popf: Popf) -> usize {
    match popf {
        Popf::Eke | Popf::EvenMansour => 32,
        Popf::MasnyRindal | Popf::Feistel => 64,
        Popf::Feistel2 => 80,
    }
}

/// Step 3: returns φ.
fn program(pair: Pair, id: &Id, i: usize, x: u8, value: Value, seed: &Seed) -> Vec<u8> {
    let coins = |length| hash("receiver coins", id, i, 1, &[seed], length);
    let agreement = pair.1;
    match pair.0 {
        Popf::Eke => rijndael::encrypt(&cipher_key(id, i, x), &bytes(&value.encode())).to_vec(),
        Popf::EvenMansour => {
            let mut phi = rijndael::encrypt(&permutation_key(id), &bytes(&value.encode()));
            phi[0] ^= x;
            phi.to_vec()
        }
        Popf::MasnyRindal => {
            let other = Value::uniform(agreement, &coins(answer_len(agreement))).encode();
            let own = value.minus(&masny_rindal(agreement, id, i, x, &other)).encode();
            if x == 0 { [own, other].concat() } else { [other, own].concat() }
        }
        Popf::Feistel => {
            let s = coins(32);
            let t = value.minus(&feistel(agreement, id, i, x, &s)).encode();
            let s = if x == 0 { s } else { xor(&s, &t) };
            [t, s].concat()
        }
        Popf::Feistel2 => {
            let r = coins(48);
            let t = value.minus(&h_1(agreement, id, i, x, &r)).encode();
            let s = xor(&r, &h_prime(id, i, x, &t));
            [t, s].concat()
        }
    }
}

/// Step 4: returns the value of φ at j.
fn evaluate(pair: Pair, id: &Id, i: usize, j: u8, phi: &[u8]) -> Value {
    let agreement = pair.1;
    match pair.0 {
        Popf::Eke => Value::String(rijndael::decrypt(&cipher_key(id, i, j), &bytes(phi))),
        Popf::EvenMansour => {
            let mut phi = bytes(phi);
            phi[0] ^= j;
            Value::String(rijndael::decrypt(&permutation_key(id), &phi))
        }
        Popf::MasnyRindal => {
            let (zero, one) = phi.split_at(32);
            let (own, other) = if j == 0 { (zero, one) } else { (one, zero) };
            let own = Value::decode(agreement, own);
            own.plus(&masny_rindal(agreement, id, i, j, other))
        }
        Popf::Feistel => {
            let (t, s) = phi.split_at(32);
            let s = if j == 0 { s.to_vec() } else { xor(s, t) };
            Value::decode(agreement, t).plus(&feistel(agreement, id, i, j, &s))
        }
        Popf::Feistel2 => {
            let (t, s) = phi.split_at(32);
            let r = xor(s, &h_prime(id, i, j, t));
            Value::decode(agreement, t).plus(&h_1(agreement, id, i, j, &r))
        }
    }
}

impl Value {
    fn decode(agreement: Agreement, encoding: &[u8]) -> Self {
        match agreement {
            Agreement::Ristretto => Self::Element(Element::decode(encoding).expect("an element")),
            _ => Self::String(bytes(encoding)),
        }
    }

    fn uniform(agreement: Agreement, answer: &[u8]) -> Self {
        match agreement {
            Agreement::Ristretto => Self::Element(Element::from_uniform(answer)),
            _ => Self::String(bytes(answer)),
        }
    }

    fn encode(&self) -> Vec<u8> {
        match self {
            Self::String(string) => string.to_vec(),
            Self::Element(element) => element.encode(),
        }
    }

    fn plus(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::String(a), Self::String(b)) => Self::String(bytes(&xor(a, b))),
            (Self::Element(a), Self::Element(b)) => Self::Element(a.plus(b)),
            _ => panic!("of one group"),
        }
    }

    fn minus(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Element(a), Self::Element(b)) => Self::Element(a.minus(b)),
            _ => self.plus(other),
        }
    }
}

fn answer_len(agreement: Agreement) -> usize {
    if agreement == Agreement::Ristretto { 64 } else { 32 }
}

fn cipher_key(id: &Id, i: usize, x: u8) -> Bytes {
    bytes(&answer("eke", id, i, x, &[], 32))
}

fn permutation_key(id: &Id) -> Bytes {
    bytes(&hash("even-mansour", id, 0, 0, &[], 32))
}

fn masny_rindal(agreement: Agreement, id: &Id, i: usize, x: u8, s: &[u8]) -> Value {
    Value::uniform(agreement, &answer("masny-rindal H", id, i, x, s, answer_len(agreement)))
}

fn feistel(agreement: Agreement, id: &Id, i: usize, x: u8, s: &[u8]) -> Value {
    Value::uniform(agreement, &answer("feistel H", id, i, x, s, answer_len(agreement)))
}

fn h_1(agreement: Agreement, id: &Id, i: usize, j: u8, r: &[u8]) -> Value {
    Value::uniform(agreement, &answer("H1", id, i, j, r, answer_len(agreement)))
}

fn h_prime(id: &Id, i: usize, j: u8, t: &[u8]) -> Vec<u8> {
    let digest = answer("T", id, i, 0, t, 32);
    answer("H'", id, i, j, &digest, 48)
}

fn hash(what: &str, id: &Id, i: usize, j: u8, fields: &[&[u8]], length: usize) -> Vec<u8> {
    oracle(&format!("foxtrot v1 mcquoid-rosulek-roy {what}"), id, i, j, fields, length)
}

/// Returns an answer of a keyed oracle.
fn answer(what: &str, id: &Id, i: usize, j: u8, text: &[u8], length: usize) -> Vec<u8> {
    let key = oracle32(&format!("foxtrot v1 mcquoid-rosulek-roy {what}"), id, 0, 0, &[]);
    ask(&key, text, i, j, length)
}

fn key(agreement: Agreement, id: &Id, i: usize, j: u8, share: &[u8], shared: &[u8]) -> Key {
    let context = match agreement {
        Agreement::Moeller => "foxtrot v1 moeller output",
        Agreement::Elligator => "foxtrot v1 elligator output",
        Agreement::Ristretto => "foxtrot v1 mcquoid-rosulek-roy output",
    };
    oracle(context, id, i, j, &[share, shared], 16).try_into().expect("16 bytes")
}

fn bytes(slice: &[u8]) -> Bytes {
    slice.try_into().expect("32 bytes")
}

fn from_number(number: &[u64; 4]) -> Bytes {
    let all: Vec<u8> = number.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes(&all)
}

fn to_number(bytes: &Bytes) -> [u64; 4] {
    let word = |k: usize| u64::from_le_bytes(bytes[8 * k..8 * k + 8].try_into().expect("8 bytes"));
    [0, 1, 2, 3].map(word)
}
