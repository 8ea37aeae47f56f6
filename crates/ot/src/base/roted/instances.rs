//! The lattice part, the same in both modes and in [`super::super::bdgm`]: φ, replies and the
//! 256-bit strings sk. Step numbers are those of `docs/protocols/roted.md`.

use alloc::{vec, vec::Vec};

use foxtrot_kernel::{
    Backend,
    ring::module768::{BITS, NttPoly, Poly, RANK, UNIFORM_BYTES},
};
use subtle::Choice;
use zeroize::Zeroizing;

use crate::{
    Bits, Decode, Seed, Session,
    choices::select,
    oracle::{Oracle, Query},
    popf::{Feistel2, Group, S_LEN},
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

/// Bytes of coins for the reply to one branch.
pub(in crate::base) const REPLY_COINS: usize = 2 * NOISE_VECTOR_LEN + NOISE_LEN;

/// The string from which a key is hashed.
pub(in crate::base) type Sk = [u8; 32];

pub(in crate::base) type Vector = [NttPoly; RANK];

/// R_q³ in NTT form.
#[derive(Debug)]
struct Module(Backend);

impl Group for Module {
    type Element = Vector;
    const ENCODED_LEN: usize = T_LEN;

    fn hash(&self, query: Query) -> Vector {
        let mut bytes = [0; UNIFORM_BYTES];
        query.fill(&mut bytes);
        NttPoly::uniform::<BITS, RANK>(self.0, &bytes)
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
    /// A, by rows.
    a: [Vector; RANK],
}

/// Between the receiver's two steps: s_R of every instance, and the choices.
pub(in crate::base) struct Blinding {
    batch: Batch,
    choices: Bits,
    secrets: Vec<Zeroizing<Vector>>,
}

impl Batch {
    pub(in crate::base) fn new(session: &Session, contexts: &Contexts) -> Self {
        let backend = session.backend();
        let popf = Feistel2::new(
            Module(backend),
            session.oracle(contexts.h1),
            session.oracle(contexts.digest),
            session.oracle(contexts.h_prime),
        );
        let oracle = session.oracle(contexts.a);
        let a = [0, 1, 2].map(|row| Module(backend).hash(oracle.query(row, 0)));
        Self { backend, popf, a }
    }

    /// A·x.
    fn times(&self, x: &Vector) -> Vector {
        [0, 1, 2]
            .map(|row| NttPoly::inner_product(self.backend, self.a[row].each_ref(), x.each_ref()))
    }

    /// Step 5 for the φ of instance i, whose T was checked when its message was decoded.
    pub(in crate::base) fn open(&self, i: usize, phi: &[u8]) -> [Vector; 2] {
        let opened = self.popf.open(i as u64, phi, decoded(self.backend, &phi[..T_LEN]));
        [0, 1].map(|j| opened.evaluate(j))
    }

    /// Steps 6 and 7 for one branch: writes U and the hints, and the string sk. The coins are fresh
    /// for this branch: one s_S for both would leak to a malicious T.
    pub(in crate::base) fn answer(
        &self,
        p: &Vector,
        coins: &[u8; REPLY_COINS],
        reply: &mut [u8],
        sk: &mut Sk,
    ) {
        let backend = self.backend;
        // Step 6.
        let (s_s, rest) = coins.split_at(NOISE_VECTOR_LEN);
        let (e_s, e_prime) = rest.split_at(NOISE_VECTOR_LEN);
        let s_s = Zeroizing::new(noise_vector(backend, s_s).map(|poly| poly.into_ntt(backend)));
        let e_s = Zeroizing::new(noise_vector(backend, e_s));
        let (u_bytes, hints) = reply.split_at_mut(U_LEN);
        let u = Zeroizing::new(self.transpose_times(&s_s));
        for ((u, e), bytes) in u.iter().zip(e_s.iter()).zip(u_bytes.chunks_exact_mut(U_POLY_LEN)) {
            let mut u = Zeroizing::new(u.clone().into_poly(backend));
            u.add(backend, e);
            u.round_and_pack::<U_BITS>(backend, bytes);
        }

        // Step 7.
        let e_prime = Zeroizing::new(Poly::centred_binomial(backend, e_prime));
        let k = NttPoly::inner_product(backend, s_s.each_ref(), p.each_ref());
        let mut k = Zeroizing::new(k.into_poly(backend));
        k.add(backend, &e_prime);
        k.reconcile(backend, hints, sk);
    }

    /// Aᵀ·x.
    fn transpose_times(&self, x: &Vector) -> Vector {
        [0, 1, 2].map(|column| {
            let a = self.a.each_ref().map(|row| &row[column]);
            NttPoly::inner_product(self.backend, a, x.each_ref())
        })
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
    let batch = Batch::new(session, contexts);
    let backend = batch.backend;
    let coins_of = session.oracle(contexts.receiver_coins);
    let mut coins = Zeroizing::new([0; 2 * NOISE_VECTOR_LEN + S_LEN]);
    let mut secrets = Vec::with_capacity(choices.len());
    for (i, phi) in phis.chunks_exact_mut(PHI_LEN).enumerate() {
        // Step 1.
        coins_of.query(i as u64, 0).field(seed.as_bytes()).fill(coins.as_mut_slice());
        let (noise, r) = coins.split_at(2 * NOISE_VECTOR_LEN);
        let (s_r, e_r) = noise.split_at(NOISE_VECTOR_LEN);
        let s_r = Zeroizing::new(noise_vector(backend, s_r).map(|poly| poly.into_ntt(backend)));
        let e_r = Zeroizing::new(noise_vector(backend, e_r).map(|poly| poly.into_ntt(backend)));
        let r = Zeroizing::new(array(r));

        // Step 2.
        let mut p = batch.times(&s_r);
        p.iter_mut().zip(e_r.iter()).for_each(|(p, e)| p.add(backend, e));

        // Step 3.
        batch.popf.program(i as u64, choices.get(i).unwrap_u8(), p, &r, phi);
        secrets.push(s_r);
    }
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
    let batch = Batch::new(session, &ROTED);
    let coins_of = session.oracle("foxtrot v1 roted sender coins");
    let mut coins = Zeroizing::new([0; REPLY_COINS]);
    let mut strings = Zeroizing::new(vec![[[0; 32]; 2]; phis.len() / PHI_LEN]);
    let instances = phis.chunks_exact(PHI_LEN).zip(replies.chunks_exact_mut(REPLY_LEN));
    for ((i, (phi, reply)), strings) in instances.enumerate().zip(strings.iter_mut()) {
        // Step 5.
        let points = batch.open(i, phi);
        let branches = reply.chunks_exact_mut(BRANCH_LEN).zip(strings);
        for ((j, p), (reply, sk)) in (0..).zip(&points).zip(branches) {
            coins_of.query(i as u64, j).field(seed.as_bytes()).fill(coins.as_mut_slice());
            batch.answer(p, &coins, reply, sk);
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

    /// Step 9 for every instance.
    pub(super) fn recover(&self, replies: &[u8]) -> Zeroizing<Vec<Sk>> {
        let mut strings = Zeroizing::new(vec![[0; 32]; self.choices.len()]);
        let instances = replies.chunks_exact(REPLY_LEN);
        for ((i, reply), sk) in instances.enumerate().zip(strings.iter_mut()) {
            let (zero, one) = reply.split_at(BRANCH_LEN);
            self.recover_one(i, [zero, one], sk);
        }
        strings
    }

    /// Step 9 for instance i, from the replies to both branches.
    pub(in crate::base) fn recover_one(&self, i: usize, [zero, one]: [&[u8]; 2], sk: &mut Sk) {
        let backend = self.batch.backend;
        let mut chosen = Zeroizing::new([0; BRANCH_LEN]);
        select(self.choices.get(i), zero, one, chosen.as_mut_slice());
        let (u, hints) = chosen.split_at(U_LEN);
        let mut u = u.chunks_exact(U_POLY_LEN);
        let u = Zeroizing::new([(); RANK].map(|()| {
            let bytes = u.next().unwrap_or_default();
            Poly::unpack_rounded::<U_BITS>(backend, bytes).into_ntt(backend)
        }));
        let k = NttPoly::inner_product(backend, self.secrets[i].each_ref(), u.each_ref());
        Zeroizing::new(k.into_poly(backend)).key_bits(backend, hints, sk);
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

/// H(i, j, sk, …): the output oracle with what is specific to one branch; the mode adds the rest.
pub(super) fn key_query(oracle: &Oracle, i: usize, j: Choice, sk: &Sk) -> Query {
    oracle.query(i as u64, j.unwrap_u8()).field(sk)
}

fn noise_vector(backend: Backend, coins: &[u8]) -> [Poly; RANK] {
    let mut coins = coins.chunks_exact(NOISE_LEN);
    [(); RANK].map(|()| Poly::centred_binomial(backend, coins.next().unwrap_or_default()))
}

/// T from bytes that were checked when the message was decoded.
fn decoded(backend: Backend, bytes: &[u8]) -> Vector {
    let mut polys = bytes.chunks_exact(POLY_LEN);
    [(); RANK].map(|()| {
        let poly = NttPoly::unpack::<BITS>(backend, polys.next().unwrap_or_default());
        poly.unwrap_or_else(|_| unreachable!("`Blinded::decode` has checked it"))
    })
}

fn array<const L: usize>(bytes: &[u8]) -> [u8; L] {
    core::array::from_fn(|k| bytes[k])
}

#[cfg(test)]
mod tests;
