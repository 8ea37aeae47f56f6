//! The lattice part, the same in both modes: φ, replies and the 256-bit strings sk.
//! Step numbers are those of `docs/protocols/roted.md`.

use alloc::{vec, vec::Vec};

use foxtrot_kernel::{
    Backend,
    ring::module768::{BITS, Factor, NttPoly, Poly, RANK, UNIFORM_BYTES},
};
use zeroize::{Zeroize, Zeroizing};

use crate::{
    Bits, Decode, Seed, Session,
    choices::select,
    erase::SecretBytes,
    oracle::{Oracle, Wide},
    popf::{Feistel2, GROUP, Group, S_LEN},
};

/// Bytes of one packed polynomial.
const POLY_LEN: usize = 256 * BITS / 8;
/// Bytes of T.
const T_LEN: usize = RANK * POLY_LEN;
/// Bytes of φ = (T, s).
pub(in crate::base) const PHI_LEN: usize = T_LEN + S_LEN;
/// Bits to which coefficients of U are rounded.
const U_BITS: usize = 11;
/// Bytes of one rounded polynomial.
const U_POLY_LEN: usize = 256 * U_BITS / 8;
/// Bytes of U.
const U_LEN: usize = RANK * U_POLY_LEN;
/// Bytes of the reply for one branch: U and 256 hints.
pub(in crate::base) const BRANCH_LEN: usize = U_LEN + 32;
/// Bytes of the reply for one instance.
pub(super) const REPLY_LEN: usize = 2 * BRANCH_LEN;
/// Bytes of coins for one noise polynomial.
const NOISE_LEN: usize = 128;
/// Bytes of coins for a noise vector.
const NOISE_VECTOR_LEN: usize = RANK * NOISE_LEN;
/// Bytes of the receiver's coins: s_R, e_R and r.
const RECEIVER_COINS_LEN: usize = 2 * NOISE_VECTOR_LEN + S_LEN;
/// Bytes of the sender's coins for one branch: s_S, e_S and e′.
pub(in crate::base) const SENDER_COINS_LEN: usize = 2 * NOISE_VECTOR_LEN + NOISE_LEN;

/// The string from which a key is hashed.
pub(in crate::base) type Sk = [u8; 32];

pub(in crate::base) type Vector = [NttPoly; RANK];

/// A vector that is multiplied by many.
type Secret = [Factor; RANK];

const ZERO: Vector = [NttPoly::ZERO; RANK];
const NO_SECRET: Secret = [Factor::ZERO; RANK];

/// R_q³ in NTT form.
#[derive(Debug)]
struct Module(Backend);

impl Group for Module {
    type Element = Vector;
    const ENCODED_LEN: usize = T_LEN;
    const ANSWER_LEN: usize = UNIFORM_BYTES;

    fn zero(&self) -> Vector {
        ZERO
    }

    fn hash(&self, answers: &[u8], elements: &mut [Vector]) {
        NttPoly::uniform_all::<BITS, RANK>(self.0, answers, elements);
    }

    fn add(&self, a: &mut Vector, b: &Vector) {
        a.iter_mut().zip(b).for_each(|(a, b)| a.add(self.0, b));
    }

    fn sub(&self, a: &mut Vector, b: &Vector) {
        a.iter_mut().zip(b).for_each(|(a, b)| a.sub(self.0, b));
    }

    fn encode(&self, a: &Vector, bytes: &mut [u8]) {
        for (poly, bytes) in a.iter().zip(bytes.chunks_exact_mut(POLY_LEN)) {
            poly.pack::<BITS>(self.0, bytes);
        }
    }
}

/// The oracle contexts of the protocol that the instances belong to.
#[derive(Debug)]
pub(in crate::base) struct Contexts {
    pub(in crate::base) a: &'static str,
    pub(in crate::base) h1: &'static str,
    pub(in crate::base) digest: &'static str,
    pub(in crate::base) h_prime: &'static str,
    pub(in crate::base) receiver_coins: &'static str,
}

/// Those of `roted`, in either mode.
pub(super) const ROTED: Contexts = Contexts {
    a: "foxtrot v1 roted A",
    h1: "foxtrot v1 roted H1",
    digest: "foxtrot v1 roted T",
    h_prime: "foxtrot v1 roted H'",
    receiver_coins: "foxtrot v1 roted receiver coins",
};

/// What all instances of a batch have in common.
pub(in crate::base) struct Batch {
    backend: Backend,
    popf: Feistel2<Module>,
    wide: Wide,
    /// A, by rows.
    a: [Vector; RANK],
}

/// Between the receiver's two steps: s_R of every instance, and the choices.
pub(in crate::base) struct Blinding {
    batch: Batch,
    choices: Bits,
    secrets: Vec<Secret>,
}

impl Batch {
    pub(in crate::base) fn new(session: &Session, contexts: &Contexts) -> Self {
        let backend = session.backend();
        let popf = Feistel2::new(
            Module(backend),
            backend,
            session.oracle(contexts.h1),
            session.oracle(contexts.digest),
            session.oracle(contexts.h_prime),
        );
        let oracle = session.oracle(contexts.a);
        let a = [0, 1, 2].map(|row| {
            let mut bytes = [0; UNIFORM_BYTES];
            oracle.query(row, 0).fill(&mut bytes);
            NttPoly::uniform::<BITS, RANK>(backend, &bytes)
        });
        Self { backend, popf, wide: Wide::new(backend), a }
    }

    /// A·x.
    fn times(&self, x: &Secret, product: &mut Vector) {
        for (row, product) in self.a.iter().zip(product) {
            product.set_product(self.backend, x.each_ref(), row.each_ref());
        }
    }

    /// An entry of Aᵀ·x.
    fn transpose_times(&self, x: &Secret, column: usize, product: &mut Poly) {
        let a = self.a.each_ref().map(|row| &row[column]);
        product.set_product(self.backend, x.each_ref(), a);
    }

    /// The coins of consecutive instances for one branch.
    fn coins(
        &mut self,
        oracle: &Oracle,
        (first, count): (usize, usize),
        j: u8,
        seed: &Seed,
        coins: &mut [u8],
    ) {
        let question = |k: usize| ((first + k) as u64, j, [seed.as_bytes().as_slice()]);
        self.wide.ask(oracle, count, question, coins);
    }

    /// Step 5 for the φ of instance i, whose T was checked when its message was decoded.
    pub(in crate::base) fn open(&mut self, i: usize, phi: &[u8]) -> [Vector; 2] {
        let digests = self.popf.open(i as u64, phi);
        [0, 1].map(|j| {
            let mut point = [ZERO];
            decode(self.backend, &phi[..T_LEN], &mut point[0]);
            self.popf.evaluate(&digests, phi, j, &mut point);
            let [point] = point;
            point
        })
    }

    /// Steps 6 and 7 for one branch: writes U and the hints, and the string sk. The coins are fresh
    /// for this branch: one s_S for both would leak to a malicious T.
    pub(in crate::base) fn answer(
        &self,
        p: &Vector,
        coins: &[u8],
        reply: &mut [u8],
        sk: &mut Sk,
        scratch: &mut Scratch,
    ) {
        let backend = self.backend;
        let Scratch { s_s, u, k } = scratch;
        // Step 6.
        let (s_bytes, rest) = coins.split_at(NOISE_VECTOR_LEN);
        let (e_s, e_prime) = rest.split_at(NOISE_VECTOR_LEN);
        set_noise(backend, s_bytes, s_s);
        let (u_bytes, hints) = reply.split_at_mut(U_LEN);
        let outputs = u_bytes.chunks_exact_mut(U_POLY_LEN);
        for (column, (e, bytes)) in e_s.chunks_exact(NOISE_LEN).zip(outputs).enumerate() {
            self.transpose_times(s_s, column, u);
            u.add_noise(backend, e);
            u.round_and_pack::<U_BITS>(backend, bytes);
        }

        // Step 7.
        k.set_product(backend, s_s.each_ref(), p.each_ref());
        k.add_noise(backend, e_prime);
        k.reconcile(backend, hints, sk);
    }
}

/// What the sender computes with for one branch, overwritten by the next and erased in the end.
pub(in crate::base) struct Scratch {
    s_s: Secret,
    u: Zeroizing<Poly>,
    k: Zeroizing<Poly>,
}

impl Scratch {
    pub(in crate::base) fn new() -> Self {
        Self { s_s: NO_SECRET, u: Zeroizing::new(Poly::ZERO), k: Zeroizing::new(Poly::ZERO) }
    }
}

/// Steps 1 to 3 for every choice; writes φ after φ.
pub(in crate::base) fn blind(
    session: &Session,
    contexts: &Contexts,
    choices: Bits,
    seed: &Seed,
    phis: &mut [u8],
) -> Blinding {
    let mut batch = Batch::new(session, contexts);
    let backend = batch.backend;
    let coins_of = session.oracle(contexts.receiver_coins);
    let mut secrets = Vec::with_capacity(choices.len());
    let mut points = [ZERO; GROUP];
    let mut group_coins = SecretBytes::zeroed(GROUP * RECEIVER_COINS_LEN);
    for (group, phis) in phis.chunks_mut(GROUP * PHI_LEN).enumerate() {
        let (first, count) = (group * GROUP, phis.len() / PHI_LEN);
        // Step 1.
        let all_coins = &mut group_coins[..count * RECEIVER_COINS_LEN];
        batch.coins(&coins_of, (first, count), 0, seed, all_coins);
        let coins = |k: usize| &all_coins[k * RECEIVER_COINS_LEN..][..RECEIVER_COINS_LEN];
        for (k, p) in points[..count].iter_mut().enumerate() {
            let (s_bytes, rest) = coins(k).split_at(NOISE_VECTOR_LEN);
            let mut s_r = NO_SECRET;
            set_noise(backend, s_bytes, &mut s_r);

            // Step 2.
            batch.times(&s_r, p);
            for (p, e) in p.iter_mut().zip(rest.chunks_exact(NOISE_LEN)) {
                p.add_noise(backend, e);
            }
            secrets.push(s_r);
        }

        // Step 3.
        let mut c = Zeroizing::new([0; GROUP]);
        for (k, c) in c[..count].iter_mut().enumerate() {
            *c = choices.get(first + k).unwrap_u8();
        }
        let r = |k| last_chunk(coins(k));
        batch.popf.program(first as u64, &c[..count], &mut points[..count], r, phis);
    }
    points.iter_mut().flatten().for_each(|poly| poly.zeroize());
    Blinding { batch, choices, secrets }
}

/// Steps 5 to 7 for every φ; writes the replies to both branches of an instance, and returns
/// both of its strings.
pub(super) fn reply(
    session: &Session,
    phis: &[u8],
    seed: &Seed,
    replies: &mut [u8],
) -> Zeroizing<Vec<[Sk; 2]>> {
    let mut batch = Batch::new(session, &ROTED);
    let backend = batch.backend;
    let coins_of = session.oracle("foxtrot v1 roted sender coins");
    let mut strings = Zeroizing::new(vec![[[0; 32]; 2]; phis.len() / PHI_LEN]);
    let mut group_coins = SecretBytes::zeroed(GROUP * SENDER_COINS_LEN);
    let (mut t, mut points) = ([ZERO; GROUP], [ZERO; GROUP]);
    let mut scratch = Scratch::new();
    let groups = phis.chunks(GROUP * PHI_LEN).zip(replies.chunks_mut(GROUP * REPLY_LEN));
    for ((group, (phis, replies)), strings) in groups.enumerate().zip(strings.chunks_mut(GROUP)) {
        let (first, count) = (group * GROUP, strings.len());
        for (t, phi) in t.iter_mut().zip(phis.chunks_exact(PHI_LEN)) {
            decode(backend, &phi[..T_LEN], t);
        }
        let digests = batch.popf.open(first as u64, phis);
        for j in 0..2 {
            // Step 5.
            points[..count].clone_from_slice(&t[..count]);
            batch.popf.evaluate(&digests, phis, j, &mut points[..count]);

            let coins = &mut group_coins[..count * SENDER_COINS_LEN];
            batch.coins(&coins_of, (first, count), j, seed, coins);
            let inputs = points.iter().zip(coins.chunks_exact(SENDER_COINS_LEN));
            let outputs = replies.chunks_exact_mut(REPLY_LEN).zip(&mut *strings);
            for ((p, coins), (reply, strings)) in inputs.zip(outputs) {
                let reply = &mut reply[usize::from(j) * BRANCH_LEN..][..BRANCH_LEN];
                batch.answer(p, coins, reply, &mut strings[usize::from(j)], &mut scratch);
            }
        }
    }
    strings
}

impl Blinding {
    pub(in crate::base) fn choices(&self) -> &Bits {
        &self.choices
    }

    pub(in crate::base) fn into_choices(self) -> Bits {
        self.choices
    }

    pub(in crate::base) fn batch(&self) -> &Batch {
        &self.batch
    }

    pub(in crate::base) fn batch_mut(&mut self) -> &mut Batch {
        &mut self.batch
    }

    /// Step 9 for every instance.
    pub(super) fn recover(&self, replies: &[u8]) -> Zeroizing<Vec<Sk>> {
        let mut strings = Zeroizing::new(vec![[0; 32]; self.choices.len()]);
        let mut recovery = Recovery::new();
        let instances = replies.chunks_exact(REPLY_LEN).zip(strings.iter_mut());
        for (i, (reply, sk)) in instances.enumerate() {
            let (zero, one) = reply.split_at(BRANCH_LEN);
            self.recover_one(i, [zero, one], sk, &mut recovery);
        }
        strings
    }

    /// Step 9 for instance i, from the replies to both branches.
    pub(in crate::base) fn recover_one(
        &self,
        i: usize,
        [zero, one]: [&[u8]; 2],
        sk: &mut Sk,
        recovery: &mut Recovery,
    ) {
        let backend = self.batch.backend;
        let Recovery { chosen, u, k } = recovery;
        select(self.choices.get(i), zero, one, chosen);
        let (u_bytes, hints) = chosen.split_at(U_LEN);
        for (u, bytes) in u.iter_mut().zip(u_bytes.chunks_exact(U_POLY_LEN)) {
            *u = Poly::unpack_rounded::<U_BITS>(backend, bytes).into_ntt(backend);
        }
        k.set_product(backend, self.secrets[i].each_ref(), u.each_ref());
        k.key_bits(backend, hints, sk);
    }
}

/// What the receiver computes with for one instance, overwritten by the next and erased in the end.
pub(in crate::base) struct Recovery {
    chosen: SecretBytes,
    u: Zeroizing<Vector>,
    k: Zeroizing<Poly>,
}

impl Recovery {
    pub(in crate::base) fn new() -> Self {
        Self {
            chosen: SecretBytes::zeroed(BRANCH_LEN),
            u: Zeroizing::new(ZERO),
            k: Zeroizing::new(Poly::ZERO),
        }
    }
}

/// Whether every coefficient of T in a list of φ is below q.
pub(in crate::base) fn check_phis(message: &'static str, phis: &[u8]) -> Result<(), Decode> {
    for (instance, phi) in phis.chunks_exact(PHI_LEN).enumerate() {
        for t in phi[..T_LEN].chunks_exact(POLY_LEN) {
            if NttPoly::unpack::<BITS>(Backend::best(), t).is_err() {
                return Err(Decode::Coefficient { message, instance });
            }
        }
    }
    Ok(())
}

/// A question for the key of branch j of instance i; the mode adds the other fields.
pub(super) fn key_question<'a, const F: usize>(
    i: usize,
    j: u8,
    sk: &'a Sk,
    common: &'a [&'a [u8]; F],
) -> (u64, u8, impl Iterator<Item = &'a [u8]>) {
    (i as u64, j, core::iter::once(sk.as_slice()).chain(common.iter().copied()))
}

/// Secrets from coins.
fn set_noise(backend: Backend, coins: &[u8], secret: &mut Secret) {
    for (poly, coins) in secret.iter_mut().zip(coins.chunks_exact(NOISE_LEN)) {
        poly.set_noise(backend, coins);
    }
}

/// T from bytes that were checked when the message was decoded.
fn decode(backend: Backend, bytes: &[u8], t: &mut Vector) {
    for (t, bytes) in t.iter_mut().zip(bytes.chunks_exact(POLY_LEN)) {
        *t = NttPoly::unpack::<BITS>(backend, bytes)
            .unwrap_or_else(|_| unreachable!("`Blinded::check` has checked it"));
    }
}

/// The r that ends the receiver's coins.
fn last_chunk(coins: &[u8]) -> &[u8; S_LEN] {
    coins.last_chunk().unwrap_or(&[0; S_LEN])
}

#[cfg(test)]
mod tests;
