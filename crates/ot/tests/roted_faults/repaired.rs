//! The same of the repaired protocol: `docs/wire.md`, section 5.

use foxtrot_kernel::ring::module768::{BITS, NttPoly, Poly};
use foxtrot_ot::{
    Backend, Seed, Session, Sid,
    base::roted::{Blinded, Endemic, Reply, endemic},
};

pub(crate) const N: usize = 256;
pub(crate) const Q: i32 = 7681;

const BACKEND: Backend = Backend::PORTABLE;

pub(crate) type Vector = [NttPoly; 3];

pub(crate) fn session() -> Session {
    Session::new(Sid::from_bytes([7; 32]))
}

/// s_S (its first polynomial) and e′ of a sender in a branch of an instance.
pub(crate) fn secrets(seed: [u8; 32], i: usize, j: u8) -> [Poly; 2] {
    let mut coins = [0; 7 * 128];
    let oracle = session().oracle("foxtrot v1 roted sender coins");
    oracle.query(i as u64, j).field(&seed).fill(&mut coins);
    [0, 6].map(|k| Poly::centred_binomial(BACKEND, &coins[128 * k..][..128]))
}

pub(crate) fn h1(i: usize, j: u8, r: &[u8; 48]) -> Vector {
    let mut bytes = [0; 1560];
    session().oracle("foxtrot v1 roted H1").query(i as u64, j).field(r).fill(&mut bytes);
    NttPoly::uniform::<BITS, 3>(BACKEND, &bytes)
}

/// `Blinded` of a malicious receiver that programs branch 0 to a value of its choice, which it
/// picks when it knows h = H₁(i, 0, r).
pub(crate) fn malicious(n: usize, p_0: impl Fn(usize, &Vector) -> Vector) -> Blinded<Endemic> {
    let instance = |i: usize| {
        let r = [i as u8; 48];
        let h = h1(i, 0, &r);
        let mut t = p_0(i, &h);
        t.iter_mut().zip(&h).for_each(|(t, h)| t.sub(BACKEND, h));
        let mut phi = vec![0; 1248];
        for (poly, bytes) in t.iter().zip(phi.chunks_exact_mut(416)) {
            poly.pack::<BITS>(BACKEND, bytes);
        }
        let digest: [u8; 32] =
            session().oracle("foxtrot v1 roted T").query(i as u64, 0).field(&phi).finish();
        let mask: [u8; 48] =
            session().oracle("foxtrot v1 roted H'").query(i as u64, 0).field(&digest).finish();
        phi.extend(r.iter().zip(mask).map(|(r, mask)| r ^ mask));
        phi
    };
    Blinded::decode(&(0..n).flat_map(instance).collect::<Vec<_>>(), n).unwrap()
}

/// The hints of both branches of every instance of an honest sender's reply.
pub(crate) fn hints(blinded: &Blinded<Endemic>, seed: [u8; 32]) -> Vec<[Vec<u8>; 2]> {
    let (_, reply) = endemic::respond(session(), blinded, Seed::from_bytes(seed));
    let instances = reply.as_bytes().chunks(2176);
    instances.map(|bytes| [0, 1].map(|j| bytes[1088 * j + 1056..][..32].to_vec())).collect()
}

/// U of every branch of every instance.
pub(crate) fn points(reply: &Reply<Endemic>) -> Vec<&[u8]> {
    reply.as_bytes().chunks(1088).map(|branch| &branch[..1056]).collect()
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
