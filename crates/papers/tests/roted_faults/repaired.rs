//! Computations on the repaired protocol by an attacker or observer: `docs/wire/roted.md`, section
//! 5.

use foxtrot_kernel::ring::{
    module768::{BITS, Factor, NttPoly, Poly},
    vectors::{self, Room},
};
use foxtrot_ot::{
    Backend, Seed, Session, Sid,
    base::roted::{Blinded, Endemic, endemic},
};

pub(crate) const N: usize = 256;
pub(crate) const Q: i32 = 7681;

const BACKEND: Backend = Backend::PORTABLE;
const T: usize = 1248;

pub(crate) type Vector = [NttPoly; 3];

pub(crate) fn session() -> Session {
    Session::new(Sid::from_bytes([7; 32]))
}

/// The choices c of a receiver in mode F_ROT, from its seed.
pub(crate) fn choices(seed: [u8; 32], n: usize) -> Vec<u8> {
    let mut coins = vec![0; 32 + n.div_ceil(8)];
    let oracle = session().oracle("foxtrot v1 roted receiver batch");
    oracle.query(0, 0).field(&seed).fill(&mut coins);
    coins.split_off(32)
}

/// All secrets of a sender in a branch of an instance.
#[derive(Clone)]
pub(crate) struct Secrets {
    pub(crate) s: [Poly; 3],
    pub(crate) e: [Poly; 3],
    pub(crate) e_prime: Poly,
}

impl Secrets {
    /// Returns the secrets of an honest sender with this seed.
    pub(crate) fn new(seed: [u8; 32], i: usize, j: u8) -> Self {
        let number = 2 * i + usize::from(j);
        let coins: [u8; 7 * 128] = super::coins("foxtrot v1 roted sender coins", seed, number);
        let noise = |k: usize| {
            let mut noise = NttPoly::ZERO;
            noise.add_noise(BACKEND, &coins[128 * k..][..128]);
            noise.into_poly(BACKEND)
        };
        Self { s: [0, 1, 2].map(noise), e: [3, 4, 5].map(noise), e_prime: noise(6) }
    }

    /// k = ⟨s, P⟩ + e′.
    pub(crate) fn k(&self, p: &Vector) -> Poly {
        let mut k = self.times(p);
        k.add(BACKEND, &self.e_prime);
        k
    }

    /// ⟨s, p⟩.
    pub(crate) fn times(&self, p: &Vector) -> Poly {
        let s = self.s.each_ref().map(|s| s.clone().into_ntt(BACKEND));
        NttPoly::inner_product(BACKEND, s.each_ref(), p.each_ref()).into_poly(BACKEND)
    }

    /// U = Aᵀ·s + e, rounded.
    fn u(&self) -> Vec<u8> {
        let mut bytes = vec![0; 1056];
        let a = [0, 1, 2].map(row);
        for (column, (e, bytes)) in self.e.iter().zip(bytes.chunks_exact_mut(352)).enumerate() {
            let mut u = self.times(&a.each_ref().map(|row| row[column].clone()));
            u.add(BACKEND, e);
            // All its noise is in it.
            let mut u = u.into_ntt(BACKEND);
            vectors::round_noisy::<_, _, 11>(BACKEND, &mut u, &[0; 128], bytes);
        }
        bytes
    }
}

/// A sender's answer in one branch, and all values from which it was made.
pub(crate) struct Branch {
    pub(crate) secrets: Secrets,
    pub(crate) p: Vector,
    pub(crate) u: Vec<u8>,
    pub(crate) hints: [u8; 32],
    pub(crate) sk: [u8; 32],
}

/// Returns the answers of a sender with these secrets.
pub(crate) fn answers(
    blinded: &Blinded<Endemic>,
    secrets: impl Fn(usize, u8) -> Secrets,
) -> Vec<[Branch; 2]> {
    let phis = blinded.as_bytes().chunks(T + 48).enumerate();
    phis.map(|(i, phi)| {
        [0, 1].map(|j| {
            let (secrets, p) = (secrets(i, j), point(i, j, phi));
            let (mut hints, mut sk) = ([0; 32], [0; 32]);
            let k = [secrets.k(&p).into_ntt(BACKEND)];
            let mut room = Room::<256, 1>::empty();
            let (one, none) = (one(), [0; 128]);
            vectors::reconcile(BACKEND, &mut room, &one, &k, &none, &mut hints, &mut sk);
            Branch { u: secrets.u(), secrets, p, hints, sk }
        })
    })
    .collect()
}

/// The answers of the protocol's sender with this seed. That its secrets are those of the
/// specification, and a branch's its own, is not taken for granted: its reply comes out of them, byte
/// for byte.
pub(crate) fn honest_answers(blinded: &Blinded<Endemic>, seed: [u8; 32]) -> Vec<[Branch; 2]> {
    let (_, reply) = endemic::respond(session(), blinded, Seed::from_bytes(seed));
    let answers = answers(blinded, |i, j| Secrets::new(seed, i, j));
    let mut sent = reply.as_bytes().chunks(1088);
    for (i, instance) in answers.iter().enumerate() {
        for (j, branch) in instance.iter().enumerate() {
            let computed = [&branch.u[..], &branch.hints].concat();
            assert_eq!(sent.next(), Some(&computed[..]), "instance {i}, branch {j}");
        }
    }
    assert!(sent.next().is_none());
    answers
}

/// The factor 1, which is also noise.
fn one() -> [Factor; 1] {
    let (mut one, mut bytes) = ([Factor::ZERO], [0; 128]);
    bytes[0] = 1;
    vectors::set_noise(BACKEND, &bytes, &mut one);
    one
}

/// Pʲ of an instance, as the sender computes it.
fn point(i: usize, j: u8, phi: &[u8]) -> Vector {
    let (t, s) = phi.split_at(T);
    let r: Vec<u8> = s.iter().zip(h_prime(i, j, t)).map(|(s, mask)| s ^ mask).collect();
    let mut p = h1(i, j, &r);
    assert!(vectors::add_packed::<_, _, BITS, 3>(BACKEND, &mut p, t));
    p
}

fn row(rho: u64) -> Vector {
    let mut bytes = [0; 1560];
    session().oracle("foxtrot v1 roted A").query(rho, 0).fill(&mut bytes);
    uniform(&bytes)
}

fn uniform(bytes: &[u8; 1560]) -> Vector {
    let mut vector = [const { NttPoly::ZERO }; 3];
    assert!(NttPoly::set_uniform_public::<BITS, 3>(BACKEND, bytes, &mut vector));
    vector
}

fn h1(i: usize, j: u8, r: &[u8]) -> Vector {
    let mut bytes = [0; 1560];
    ask("foxtrot v1 roted H1", r, i, j, &mut bytes);
    uniform(&bytes)
}

fn h_prime(i: usize, j: u8, t: &[u8]) -> [u8; 48] {
    let (mut digest, mut mask) = ([0; 32], [0; 48]);
    ask("foxtrot v1 roted T", t, i, 0, &mut digest);
    ask("foxtrot v1 roted H'", &digest, i, j, &mut mask);
    mask
}

fn ask(context: &'static str, text: &[u8], i: usize, j: u8, answer: &mut [u8]) {
    let key = session().oracle(context).query(0, 0).finish();
    let mut hasher = blake3::Hasher::new_keyed(&key);
    hasher.update(text).update(&(i as u64).to_le_bytes()).update(&[j]);
    hasher.finalize_xof().fill(answer);
}

/// `Blinded` of a malicious receiver that programs branch 0 to a value of its choice, which it
/// picks when it knows h = H₁(i, 0, r).
pub(crate) fn malicious(n: usize, p_0: impl Fn(usize, &Vector) -> Vector) -> Blinded<Endemic> {
    let instance = |i: usize| {
        let r = [i as u8; 48];
        let h = h1(i, 0, &r);
        let mut t = p_0(i, &h);
        t.iter_mut().zip(&h).for_each(|(t, h)| t.sub(BACKEND, h));
        let mut phi = vec![0; T];
        for (poly, bytes) in t.iter().zip(phi.chunks_exact_mut(T / 3)) {
            poly.pack::<BITS>(BACKEND, bytes);
        }
        let mask = h_prime(i, 0, &phi);
        phi.extend(r.iter().zip(mask).map(|(r, mask)| r ^ mask));
        phi
    };
    Blinded::decode(&(0..n).flat_map(instance).collect::<Vec<_>>(), n).unwrap()
}

/// (c, 0, 0).
pub(crate) fn constant(c: u16) -> Vector {
    let mut coefficients = [0; N];
    coefficients[0] = c;
    [coefficients, [0; N], [0; N]].map(|x| Poly::new(x).unwrap().into_ntt(BACKEND))
}

/// Half of a vector, mod q.
pub(crate) fn half(x: &Vector) -> Vector {
    let [half, ..] = constant(u16::try_from(Q.midpoint(1)).unwrap());
    x.each_ref().map(|x| NttPoly::inner_product(BACKEND, [&half], [x]))
}

/// a − b.
pub(crate) fn difference(a: &Vector, b: &Vector) -> Vector {
    let mut difference = a.clone();
    difference.iter_mut().zip(b).for_each(|(a, b)| a.sub(BACKEND, b));
    difference
}

/// Counts coefficients of a and b that are as near to each other as two noises are.
pub(crate) fn near(a: &Poly, b: &Poly) -> usize {
    let pairs = a.coefficients().iter().zip(b.coefficients());
    let distances = pairs.map(|(&a, &b)| (i32::from(a) - i32::from(b)).rem_euclid(Q));
    distances.filter(|&d| d.min(Q - d) <= 4).count()
}
