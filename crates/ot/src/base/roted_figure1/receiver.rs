//! The receiver's two steps.

use alloc::{vec, vec::Vec};
use core::fmt;

use foxtrot_kernel::ring::paper512::{BITS, NttPoly, Poly};
use subtle::{ConditionallySelectable, ConstantTimeEq};
use zeroize::Zeroizing;

use super::{
    Blinded, Opening, Reply,
    common::{BITS_LEN, Common, NOISE_LEN, Nonce, POLY_LEN, array, decoded, join, split, total},
};
use crate::{
    Bits, Seed, Session, Usage,
    base::{ReceiverKeys, check_batch, expect_count},
    choices::select,
};

/// Coins of an instance: s_R, e_R, e′_R, t₀, t₁, r, c.
const COINS: [usize; 7] = [NOISE_LEN, NOISE_LEN, NOISE_LEN, 16, 16, 16, 1];

/// The receiver, waiting for the [`Reply`].
///
/// It answers one reply: `finish` consumes it.
///
/// ```
/// # use foxtrot_ot::{Seed, Session, Sid, base::roted_figure1::{Receiver, Reply}};
/// # let session = || Session::new(Sid::from_bytes([0; 32]));
/// # let seed = Seed::from_bytes([0; 32]);
/// let (receiver, _blinded) = Receiver::start(session(), 1, seed)?;
/// let reply = Reply::decode(&[0; 1072], 1)?;
/// receiver.finish(&reply)?;
/// # Ok::<(), foxtrot_ot::Error>(())
/// ```
///
/// ```compile_fail,E0382
/// # use foxtrot_ot::{Seed, Session, Sid, base::roted_figure1::{Receiver, Reply}};
/// # let session = || Session::new(Sid::from_bytes([0; 32]));
/// # let seed = Seed::from_bytes([0; 32]);
/// let (receiver, _blinded) = Receiver::start(session(), 1, seed)?;
/// let reply = Reply::decode(&[0; 1072], 1)?;
/// receiver.finish(&reply)?;
/// receiver.finish(&reply)?;
/// # Ok::<(), foxtrot_ot::Error>(())
/// ```
#[must_use = "the protocol is not finished"]
pub struct Receiver {
    common: Common,
    /// c of every instance.
    branches: Bits,
    instances: Vec<Instance>,
}

struct Instance {
    s_r: Zeroizing<NttPoly>,
    twice_e_prime: Zeroizing<Poly>,
    t: Zeroizing<[Nonce; 2]>,
}

impl Receiver {
    /// Steps 1 to 5: begins a batch of n, with choices of its own.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`].
    pub fn start(session: Session, n: usize, seed: Seed) -> Result<(Self, Blinded), Usage> {
        check_batch(n)?;
        let common = Common::new(&session);
        let coins_of = session.oracle("foxtrot v1 roted-figure1 receiver coins");
        let mut coins = Zeroizing::new([0; total(COINS)]);
        let (mut c_bytes, mut instances) = (vec![0; n.div_ceil(8)], Vec::with_capacity(n));
        let mut blinded = Blinded::blank(n);
        for (i, bytes) in blinded.each_mut().enumerate() {
            // Step 1.
            coins_of.query(i as u64, 0).field(seed.as_bytes()).fill(coins.as_mut_slice());
            let [s_r, e_r, e_prime, t_0, t_1, r, c] = split(coins.as_slice(), COINS);
            let c = c[0] & 1;
            c_bytes[i / 8] |= c << (i % 8);

            // Step 2.
            let (mut p, s_r) = common.sample(s_r, e_r);

            // Steps 3 and 4. Both candidates for p⁰ are computed: the time must not tell c.
            let mut candidates = Zeroizing::new([[0; POLY_LEN]; 2]);
            p.pack::<BITS>(common.backend, &mut candidates[0]);
            p.sub(common.backend, &common.h1(i, r));
            p.pack::<BITS>(common.backend, &mut candidates[1]);
            let mut p_0 = [0; POLY_LEN];
            select(c.into(), &candidates[0], &candidates[1], &mut p_0);

            // Step 5.
            join([&p_0, r, &common.commit(i, t_0), &common.commit(i, t_1)], bytes);
            instances.push(Instance {
                s_r,
                twice_e_prime: Zeroizing::new(common.twice_noise(e_prime)),
                t: Zeroizing::new([array(t_0), array(t_1)]),
            });
        }
        Ok((Self { common, branches: Bits::from_random(c_bytes, n), instances }, blinded))
    }

    /// Steps 11 to 13: the keys, and the opening.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if the reply was decoded for another number of instances.
    pub fn finish(self, reply: &Reply) -> Result<(ReceiverKeys, Opening), Usage> {
        let n = self.instances.len();
        expect_count("instances in the reply", n, reply.instances())?;
        let common = &self.common;
        let mut opening = Opening::blank(n);
        let (mut b_bytes, mut keys) = (vec![0; n.div_ceil(8)], Vec::with_capacity(n));
        let replies = reply.each().zip(opening.each_mut());
        for ((i, (reply, opening)), instance) in replies.enumerate().zip(&self.instances) {
            let [p_s, k_a, k_not_a, signals_0, signals_1, u] = split(reply, Reply::LAYOUT);
            let (c, [t_0, t_1]) = (self.branches.get(i), &*instance.t);

            // Step 11.
            let p_s = decoded(common.backend, p_s);
            let k_r = common.product(&instance.s_r, &p_s, &instance.twice_e_prime);
            let mut signals = Zeroizing::new([0; BITS_LEN]);
            select(c, signals_0, signals_1, signals.as_mut_slice());
            let mut sk = Zeroizing::new([0; BITS_LEN]);
            k_r.parities(common.backend, signals.as_slice(), sk.as_mut_slice());
            let k_c = Zeroizing::new(common.confirm(i, &sk));

            // Step 12, the conditions from the last to the first.
            let mut b = c.unwrap_u8();
            b.conditional_assign(&1, k_c.ct_eq(k_not_a));
            b.conditional_assign(&0, k_c.ct_eq(k_a));
            b_bytes[i / 8] |= b << (i % 8);

            // Step 13.
            let mut t_c = Zeroizing::new([0; 16]);
            select(c, t_0, t_1, t_c.as_mut_slice());
            keys.push(common.output(i, &sk, t_c.as_slice(), u));
            join([t_0, t_1], opening);
        }
        Ok((ReceiverKeys::new(Bits::from_random(b_bytes, n), keys), opening))
    }
}

impl fmt::Debug for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Receiver(<{} instances>)", self.instances.len())
    }
}
