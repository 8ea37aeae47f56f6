//! Computations on Figure 1 by an attacker, or by an observer with a party's seed:
//! `crates/papers/wire.md`, section 8, with the kernel's ring.

use foxtrot_ot::{Backend, Seed, Session, Sid, base::Block};
use foxtrot_papers::roted_figure1::{
    Blinded, Receiver, Reply,
    ring::{self, BITS, NttPoly, Poly},
};

pub(crate) const N: usize = 512;
pub(crate) const Q: i32 = 13313;

const BACKEND: Backend = Backend::PORTABLE;
const POLY: usize = 896;

/// An element of R₂, packed.
pub(crate) type Bits = [u8; 64];

pub(crate) fn session() -> Session {
    Session::new(Sid::from_bytes([7; 32]))
}

/// All randomness of a sender in an instance.
pub(crate) struct SenderCoins {
    pub(crate) s: Poly,
    pub(crate) e: Poly,
    pub(crate) e_prime: Poly,
    pub(crate) u: [u8; 16],
    /// Sig's coins.
    pub(crate) coins: [u8; 2],
    pub(crate) a: usize,
}

impl SenderCoins {
    pub(crate) fn new(seed: [u8; 32], i: usize) -> Self {
        let coins: [u8; 3104] = super::coins("foxtrot v1 roted-figure1 sender coins", seed, i);
        let noise = |k: usize| gaussian(&coins[1024 * k..][..1024]);
        let bits = coins[3088];
        Self {
            s: noise(0),
            e: noise(1),
            e_prime: noise(2),
            u: coins[3072..3088].try_into().unwrap(),
            coins: [bits & 1, bits >> 1 & 1],
            a: usize::from(bits >> 2 & 1),
        }
    }

    /// p_S.
    pub(crate) fn p(&self) -> NttPoly {
        let mut p = twice(&self.e).into_ntt(BACKEND);
        p.add(BACKEND, &times(&m(), &self.s));
        p
    }

    /// kʲ = s_S·pʲ + 2e′_S.
    pub(crate) fn k(&self, p: &NttPoly) -> Poly {
        let mut k = twice(&self.e_prime);
        k.add(BACKEND, &times(p, &self.s).into_poly(BACKEND));
        k
    }

    /// σⱼ and skʲ.
    pub(crate) fn string(&self, j: usize, p: &NttPoly) -> (Bits, Bits) {
        let (k, mut signals) = (self.k(p), [0; 64]);
        ring::signal(BACKEND, &k, self.coins[j], &mut signals);
        (signals, parities(&k, &signals))
    }
}

fn gaussian(coins: &[u8]) -> Poly {
    let mut noise = Poly::ZERO;
    noise.set_signed(BACKEND, ring::gaussian::<1>(coins));
    noise
}

fn twice(x: &Poly) -> Poly {
    let mut twice = x.clone();
    twice.add(BACKEND, x);
    twice
}

fn receiver_coins(seed: [u8; 32], i: usize) -> [u8; 3136] {
    super::coins("foxtrot v1 roted-figure1 receiver coins", seed, i)
}

/// The receiver's secret branch c, from its seed.
pub(crate) fn branch(seed: [u8; 32], i: usize) -> usize {
    let coins = receiver_coins(seed, i);
    usize::from(coins[3120] & 1)
}

/// H₂(sk_R) as an honest receiver computes it, from its seed.
pub(crate) fn receivers_confirmation(seed: [u8; 32], i: usize, reply: &Reply) -> Block {
    let coins = receiver_coins(seed, i);
    let view = ReplyView::of(reply, i);
    let mut k = twice(&gaussian(&coins[2048..3072]));
    let s_r = gaussian(&coins[..1024]);
    k.add(BACKEND, &times(&view.p_s, &s_r).into_poly(BACKEND));
    confirmation(i, &parities(&k, &view.signals[branch(seed, i)]))
}

/// The parts of an instance of a reply.
pub(crate) struct ReplyView {
    pub(crate) p_s: NttPoly,
    /// K_a and K_{1−a}.
    pub(crate) confirmations: [Block; 2],
    pub(crate) signals: [Bits; 2],
    pub(crate) u: [u8; 16],
}

impl ReplyView {
    pub(crate) fn of(reply: &Reply, i: usize) -> Self {
        let bytes = &reply.as_bytes()[1072 * i..][..1072];
        Self {
            p_s: unpack(&bytes[..POLY]),
            confirmations: [0, 1].map(|k| bytes[POLY + 16 * k..][..16].try_into().unwrap()),
            signals: [0, 1].map(|k| bytes[POLY + 32 + 64 * k..][..64].try_into().unwrap()),
            u: bytes[POLY + 160..].try_into().unwrap(),
        }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let [signals_0, signals_1] = &self.signals;
        let [k_a, k_not_a] = &self.confirmations;
        [&pack(&self.p_s)[..], k_a, k_not_a, signals_0, signals_1, &self.u].concat()
    }
}

/// `Reply` with other confirmations.
pub(crate) fn with_confirmations(
    reply: &Reply,
    confirmations: impl Fn(usize) -> [Block; 2],
) -> Reply {
    let n = reply.instances();
    let encode = |i| {
        let mut view = ReplyView::of(reply, i);
        view.confirmations = confirmations(i);
        view.encode()
    };
    Reply::decode(&(0..n).flat_map(encode).collect::<Vec<_>>(), n).unwrap()
}

/// p⁰ and p¹, as the sender computes them.
pub(crate) fn points(blinded: &Blinded, i: usize) -> [NttPoly; 2] {
    let bytes = &blinded.as_bytes()[976 * i..][..976];
    let p_0 = unpack(&bytes[..POLY]);
    let mut p_1 = p_0.clone();
    p_1.add(BACKEND, &h1(i, &bytes[POLY..POLY + 16]));
    [p_0, p_1]
}

/// t₀ and t₁ of every instance of a malicious receiver.
pub(crate) const T: [[u8; 16]; 2] = [[3; 16], [4; 16]];

/// `Blinded` of a malicious receiver that picks p⁰ when it knows h = H₁(r).
pub(crate) fn malicious(n: usize, p_0: impl Fn(usize, &NttPoly) -> NttPoly) -> Blinded {
    let instance = |i: usize| {
        let r = [i as u8; 16];
        let commit =
            |t: &[u8; 16]| -> [u8; 32] { ask("foxtrot v1 roted-figure1 commitment", i, *t) };
        let p_0 = pack(&p_0(i, &h1(i, &r)));
        [&p_0[..], &r, &commit(&T[0]), &commit(&T[1])].concat()
    };
    Blinded::decode(&(0..n).flat_map(instance).collect::<Vec<_>>(), n).unwrap()
}

/// `Blinded` of an honest receiver.
pub(crate) fn honest(n: usize, seed: [u8; 32]) -> (Receiver, Blinded) {
    Receiver::start(session(), n, Seed::from_bytes(seed)).unwrap()
}

pub(crate) fn m() -> NttPoly {
    let mut bytes = [0; 1540];
    session().oracle("foxtrot v1 roted-figure1 m").query(0, 0).fill(&mut bytes);
    uniform(&bytes)
}

pub(crate) fn h1(i: usize, r: &[u8]) -> NttPoly {
    let r: [u8; 16] = r.try_into().unwrap();
    uniform(&ask::<16, 1540>("foxtrot v1 roted-figure1 H1", i, r))
}

fn uniform(bytes: &[u8; 1540]) -> NttPoly {
    let mut poly = [NttPoly::ZERO];
    assert!(NttPoly::set_uniform_public::<BITS, 1>(BACKEND, bytes, &mut poly));
    let [poly] = poly;
    poly
}

/// H₂(sk).
pub(crate) fn confirmation(i: usize, sk: &Bits) -> Block {
    ask("foxtrot v1 roted-figure1 confirmation", i, *sk)
}

/// H₂(sk, t, u).
pub(crate) fn output(i: usize, sk: &Bits, t: &[u8; 16], u: &[u8; 16]) -> Block {
    let text: [u8; 96] = [&sk[..], t, u].concat().try_into().unwrap();
    ask("foxtrot v1 roted-figure1 output", i, text)
}

fn ask<const L: usize, const A: usize>(context: &'static str, i: usize, text: [u8; L]) -> [u8; A] {
    let (oracle, mut answer) = (session().keyed(context, &[]), [0; A]);
    oracle.ask(1, |_| (i as u64, 0, text), &mut answer);
    answer
}

/// p·s, s by coefficients.
pub(crate) fn times(p: &NttPoly, s: &Poly) -> NttPoly {
    NttPoly::inner_product(BACKEND, [p], [&s.clone().into_ntt(BACKEND)])
}

pub(crate) fn coefficients(p: &NttPoly) -> Poly {
    p.clone().into_poly(BACKEND)
}

/// A polynomial with these coefficients, of either sign, and zeros.
pub(crate) fn sparse(terms: &[(usize, i32)]) -> NttPoly {
    let mut coefficients = [0; N];
    for &(k, x) in terms {
        coefficients[k] = u16::try_from(x.rem_euclid(Q)).unwrap();
    }
    Poly::new(coefficients).unwrap().into_ntt(BACKEND)
}

/// a − b.
pub(crate) fn difference(a: &NttPoly, b: &NttPoly) -> Poly {
    let mut difference = a.clone();
    difference.sub(BACKEND, b);
    difference.into_poly(BACKEND)
}

pub(crate) fn parities(k: &Poly, signals: &Bits) -> Bits {
    let mut key = [0; 64];
    ring::parities(BACKEND, k, signals, &mut key);
    key
}

fn unpack(bytes: &[u8]) -> NttPoly {
    let mut p = NttPoly::ZERO;
    p.set_unpacked::<BITS>(BACKEND, bytes).unwrap();
    p
}

pub(crate) fn pack(p: &NttPoly) -> [u8; POLY] {
    let mut bytes = [0; POLY];
    p.pack::<BITS>(BACKEND, &mut bytes);
    bytes
}
