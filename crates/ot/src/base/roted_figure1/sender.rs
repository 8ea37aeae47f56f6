//! The sender's two steps.

use alloc::{vec, vec::Vec};
use core::fmt;

use foxtrot_kernel::ring::paper512::BITS;
use subtle::{Choice, ConstantTimeEq};
use zeroize::Zeroizing;

use super::{
    Blinded, Opening, Reply,
    common::{
        BITS_LEN, Commitment, Common, NOISE_LEN, Nonce, POLY_LEN, Sk, array, decoded, join, split,
        total,
    },
};
use crate::{
    Bits, Error, Misbehaved, Seed, Session,
    base::{Block, SenderKeys, expect_count},
    choices::{select, verdict},
};

/// Coins of an instance: s_S, e_S, e′_S, u, and a byte of bits: the coins of σ₀ and σ₁, and a.
const COINS: [usize; 5] = [NOISE_LEN, NOISE_LEN, NOISE_LEN, 16, 1];

/// The sender, waiting for the [`Opening`]. It has no keys to give before that is checked.
///
/// ```
/// # use foxtrot_ot::{Seed, Session, Sid, base::roted_figure1::{Receiver, Sender}};
/// # let session = || Session::new(Sid::from_bytes([0; 32]));
/// # let seed = || Seed::from_bytes([0; 32]);
/// # let (receiver, blinded) = Receiver::start(session(), 1, seed())?;
/// let (sender, reply) = Sender::respond(session(), &blinded, seed());
/// let (_, opening) = receiver.finish(&reply)?;
/// sender.finish(&opening)?.pairs();
/// # Ok::<(), foxtrot_ot::Error>(())
/// ```
///
/// ```compile_fail,E0599
/// # use foxtrot_ot::{Seed, Session, Sid, base::roted_figure1::{Receiver, Sender}};
/// # let session = || Session::new(Sid::from_bytes([0; 32]));
/// # let seed = || Seed::from_bytes([0; 32]);
/// # let (receiver, blinded) = Receiver::start(session(), 1, seed())?;
/// let (sender, reply) = Sender::respond(session(), &blinded, seed());
/// let (_, opening) = receiver.finish(&reply)?;
/// sender.pairs();
/// # Ok::<(), foxtrot_ot::Error>(())
/// ```
#[must_use = "the protocol is not finished"]
pub struct Sender {
    common: Common,
    /// a of every instance.
    a: Bits,
    instances: Vec<Instance>,
}

struct Instance {
    sk: Zeroizing<[Sk; 2]>,
    commitments: [Commitment; 2],
    u: Nonce,
}

impl Sender {
    /// Steps 6 to 10: answers the receiver's batch.
    pub fn respond(session: Session, blinded: &Blinded, seed: Seed) -> (Self, Reply) {
        let n = blinded.instances();
        let common = Common::new(&session);
        let backend = common.backend;
        let coins_of = session.oracle("foxtrot v1 roted-figure1 sender coins");
        let mut coins = Zeroizing::new([0; total(COINS)]);
        let (mut a_bytes, mut instances) = (vec![0; n.div_ceil(8)], Vec::with_capacity(n));
        let mut reply = Reply::blank(n);
        for (i, (blinded, bytes)) in blinded.each().zip(reply.each_mut()).enumerate() {
            let [p_0, r, commitment_0, commitment_1] = split(blinded, Blinded::LAYOUT);
            coins_of.query(i as u64, 0).field(seed.as_bytes()).fill(coins.as_mut_slice());
            let [s_s, e_s, e_prime, u, bits] = split(coins.as_slice(), COINS);

            // Step 6.
            let (p_s, s_s) = common.sample(s_s, e_s);
            let twice_e_prime = Zeroizing::new(common.twice_noise(e_prime));
            let mut p_s_bytes = [0; POLY_LEN];
            p_s.pack::<BITS>(backend, &mut p_s_bytes);

            // Step 7.
            let mut p = [decoded(backend, p_0), common.h1(i, r)];
            let [p_0, p_1] = &mut p;
            p_1.add(backend, p_0);

            // Step 8, with one s_S and one e′_S as in the figure.
            let (mut signals, mut sk) = ([[0; BITS_LEN]; 2], Zeroizing::new([[0; BITS_LEN]; 2]));
            for (j, p) in p.iter().enumerate() {
                let k = common.product(&s_s, p, &twice_e_prime);
                k.signal(backend, bits[0] >> j & 1, &mut signals[j]);
                k.parities(backend, &signals[j], &mut sk[j]);
            }
            let confirmations = sk.each_ref().map(|sk| common.confirm(i, sk));

            // Steps 9 and 10.
            let a = bits[0] >> 2 & 1;
            a_bytes[i / 8] |= a << (i % 8);
            let [k_a, k_not_a] = swapped(a.into(), confirmations);
            join([&p_s_bytes, &k_a, &k_not_a, &signals[0], &signals[1], u], bytes);
            let commitments = [array(commitment_0), array(commitment_1)];
            instances.push(Instance { sk, commitments, u: array(u) });
        }
        (Self { common, a: Bits::from_random(a_bytes, n), instances }, reply)
    }

    /// Steps 14 and 15: checks the openings and gives the keys.
    ///
    /// # Errors
    /// [`Misbehaved::CommitmentMismatch`]: the receiver opened something else than it committed to,
    /// in some instance. [`Usage::CountMismatch`](crate::Usage::CountMismatch) if the opening was decoded for another number of
    /// instances.
    pub fn finish(self, opening: &Opening) -> Result<SenderKeys, Error> {
        let n = self.instances.len();
        expect_count("instances in the opening", n, opening.instances())?;
        let common = &self.common;
        let mut keys = Vec::with_capacity(n);
        for ((i, instance), opening) in self.instances.iter().enumerate().zip(opening.each()) {
            let t = split(opening, Opening::LAYOUT);
            let opened = t.map(|t| common.commit(i, t));
            if !verdict(opened.as_flattened().ct_eq(instance.commitments.as_flattened())) {
                return Err(Misbehaved::CommitmentMismatch.into());
            }
            let key = |j: usize| common.output(i, &instance.sk[j], t[j], &instance.u);
            keys.push(swapped(self.a.get(i), [key(0), key(1)]));
        }
        Ok(SenderKeys::new(keys))
    }
}

/// The two in the order a, 1 − a, without telling a by time or addresses.
fn swapped(a: Choice, [zero, one]: [Block; 2]) -> [Block; 2] {
    let mut both = [[0; 16]; 2];
    select(a, &zero, &one, &mut both[0]);
    select(a, &one, &zero, &mut both[1]);
    both
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sender(<{} instances>)", self.instances.len())
    }
}
