//! The receiver's two steps.

use foxtrot_kernel::memcheck;
use foxtrot_ot::{
    Bits, Coins, Seed, Session, Usage,
    base::{ReceiverKeys, check_batch},
    erase::SecretBytes,
    expect_count, select,
};
use subtle::{ConditionallySelectable, ConstantTimeEq};
use zeroize::Zeroizing;

use super::{
    Blinded, Opening, Reply,
    common::{
        ANSWERS_LEN, BITS_LEN, Common, GROUP, NOISE_LEN, Nonce, array, decode, split, split_mut,
    },
    ring::{BITS, Factor, NttPoly, Poly, parities},
};

/// Coins of an instance: s_R, e_R, e′_R, and those of [`SHORT`].
const COINS_LEN: usize = 3 * NOISE_LEN + SHORT_LEN;
/// t₀, t₁, r and a block with c.
const SHORT: [usize; 4] = [16; 4];
const SHORT_LEN: usize = 64;
/// Bytes of t₀ and t₁.
const T_LEN: usize = 32;

/// The receiver, waiting for the [`Reply`].
///
/// It answers one reply: `finish` consumes it.
///
/// ```
/// # use foxtrot_ot::{Seed, Session, Sid};
/// # use foxtrot_papers::roted_figure1::{Receiver, Reply};
/// # let session = || Session::new(Sid::from_bytes([0; 32]));
/// # let seed = Seed::from_bytes([0; 32]);
/// let (receiver, _blinded) = Receiver::start(session(), 1, seed)?;
/// let reply = Reply::decode(&[0; 1072], 1)?;
/// receiver.finish(&reply)?;
/// # Ok::<(), foxtrot_ot::Error>(())
/// ```
///
/// ```compile_fail,E0382
/// # use foxtrot_ot::{Seed, Session, Sid};
/// # use foxtrot_papers::roted_figure1::{Receiver, Reply};
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
    coins_of: Coins,
    /// c of every instance.
    branches: Bits,
    s_r: Vec<Factor>,
    /// t₀ and t₁ of every instance.
    t: SecretBytes,
}

impl Receiver {
    /// Steps 1 to 5: begins a batch of n, with choices of its own.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`].
    pub fn start(session: Session, n: usize, seed: Seed) -> Result<(Self, Blinded), Usage> {
        check_batch(n)?;
        let common = Common::new(&session);
        let backend = common.backend;
        let coins_of = Coins::new(&session, "foxtrot v1 roted-figure1 receiver coins", &seed);
        let mut coins = Zeroizing::new([0; 2 * NOISE_LEN]);
        let mut short = Zeroizing::new([0; SHORT_LEN]);
        let mut c_bytes = SecretBytes::zeroed(n.div_ceil(8));
        let mut t = SecretBytes::zeroed(n * T_LEN);
        let mut s_r: Vec<Factor> = (0..n).map(|_| Factor::ZERO).collect();
        let mut p = Zeroizing::new(NttPoly::ZERO);
        let (mut answers, mut h) = (vec![0; ANSWERS_LEN], vec![[NttPoly::ZERO]; GROUP]);
        let mut blinded = Blinded::blank(n);
        let groups =
            blinded.bytes_mut().chunks_mut(GROUP * Blinded::INSTANCE).zip(s_r.chunks_mut(GROUP));
        for (group, (blinded, s_r)) in groups.enumerate() {
            let first = group * GROUP;

            // Step 1 but for the noise, and step 3.
            let mut r_of = [[0; 16]; GROUP];
            for (i, blinded) in (first..).zip(blinded.chunks_exact_mut(Blinded::INSTANCE)) {
                coins_of.fill(((i + 1) * COINS_LEN - SHORT_LEN) / 16, short.as_mut_slice());
                let [_, _, r, c] = split(short.as_slice(), SHORT);
                t[i * T_LEN..][..T_LEN].copy_from_slice(&short[..T_LEN]);
                split_mut(blinded, Blinded::LAYOUT)[1].copy_from_slice(r);
                r_of[i - first] = array(r);
                c_bytes[i / 8] |= (c[0] & 1) << (i % 8);
            }
            // Step 5 sends them.
            memcheck::public(r_of.as_flattened_mut());
            common.h1(&mut answers, first, &r_of[..s_r.len()], &mut h);

            let instances = blinded.chunks_exact_mut(Blinded::INSTANCE).zip(s_r).zip(&h);
            for (i, ((blinded, s_r), [h])) in (first..).zip(instances) {
                // The noise of step 1, and step 2.
                coins_of.fill(i * COINS_LEN / 16, coins.as_mut_slice());
                let noise = split(coins.as_slice(), [NOISE_LEN; 2]);
                common.sample(s_r, &mut p, noise);

                // Step 4.
                p.sub_if(backend, c_bytes[i / 8] >> (i % 8) & 1, h);
                p.pack::<BITS>(backend, split_mut(blinded, Blinded::LAYOUT)[0]);
            }
        }

        // Step 5.
        let commitments = common.commit(t.as_chunks().0);
        let instances = blinded.bytes_mut().chunks_exact_mut(Blinded::INSTANCE);
        for (blinded, commitments) in instances.zip(commitments.chunks_exact(2)) {
            let [_, _, commitment_0, commitment_1] = split_mut(blinded, Blinded::LAYOUT);
            commitment_0.copy_from_slice(&commitments[0]);
            commitment_1.copy_from_slice(&commitments[1]);
        }
        Ok((Self { common, coins_of, branches: Bits::from_bytes(&c_bytes, n), s_r, t }, blinded))
    }

    /// Steps 11 to 13: the keys, and the opening.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if the reply was decoded for another number of instances.
    pub fn finish(self, reply: &Reply) -> Result<(ReceiverKeys, Opening), Usage> {
        let Self { common, coins_of, branches, s_r, t } = self;
        let (n, backend) = (branches.len(), common.backend);
        expect_count("instances in the reply", n, reply.instances())?;
        let reply = reply.as_bytes();

        // Step 11.
        let mut strings = SecretBytes::zeroed(n * BITS_LEN);
        let mut coins = Zeroizing::new([0; NOISE_LEN]);
        let (mut twice_e_prime, mut k_r) = (Zeroizing::new(Poly::ZERO), Zeroizing::new(Poly::ZERO));
        let (mut p_s, mut signals) = (NttPoly::ZERO, Zeroizing::new([0; BITS_LEN]));
        let instances =
            reply.chunks_exact(Reply::INSTANCE).zip(&s_r).zip(strings.chunks_exact_mut(BITS_LEN));
        for (i, ((reply, s_r), sk)) in instances.enumerate() {
            let [p_s_bytes, _, _, signals_0, signals_1, _] = split(reply, Reply::LAYOUT);
            coins_of.fill((i * COINS_LEN + 2 * NOISE_LEN) / 16, coins.as_mut_slice());
            common.twice_noise(&mut twice_e_prime, coins.as_slice());
            decode(backend, &mut p_s, p_s_bytes);
            common.product(&mut k_r, s_r, &p_s, &twice_e_prime);
            select(branches.get(i), signals_0, signals_1, signals.as_mut_slice());
            parities(backend, &k_r, signals.as_slice(), sk);
        }
        let (strings, _) = strings.as_chunks();
        let mut confirmations = SecretBytes::zeroed(16 * n);
        common.confirm(strings, 1, &mut confirmations);

        // Steps 12 and 13.
        let mut b_bytes = SecretBytes::zeroed(n.div_ceil(8));
        let mut chosen = SecretBytes::zeroed(16 * n);
        let instances = reply.chunks_exact(Reply::INSTANCE).zip(confirmations.chunks_exact(16));
        let instances = instances.zip(t.chunks_exact(T_LEN).zip(chosen.chunks_exact_mut(16)));
        for (i, ((reply, k_c), (t, t_c))) in instances.enumerate() {
            let [_, k_a, k_not_a, _, _, _] = split(reply, Reply::LAYOUT);
            // The conditions from the last to the first.
            let c = branches.get(i);
            let mut b = c.unwrap_u8();
            b.conditional_assign(&1, number(k_c).ct_eq(&number(k_not_a)));
            b.conditional_assign(&0, number(k_c).ct_eq(&number(k_a)));
            b_bytes[i / 8] |= b << (i % 8);
            let [t_0, t_1] = split(t, [16; 2]);
            select(c, t_0, t_1, t_c);
        }
        let parts = reply.chunks_exact(Reply::INSTANCE).map(|reply| split(reply, Reply::LAYOUT));
        let u: Vec<Nonce> = parts.map(|[_, _, _, _, _, u]| array(u)).collect();
        let (chosen, _) = chosen.as_chunks();
        let mut keys = vec![[0; 16]; n];
        common.output(|i| (i, strings[i], chosen[i], u[i]), &mut keys);

        let mut opening = Opening::blank(n);
        opening.bytes_mut().copy_from_slice(&t);
        Ok((ReceiverKeys::new(Bits::from_bytes(&b_bytes, n), keys), opening))
    }
}

/// A confirmation, to be compared in one piece.
fn number(confirmation: &[u8]) -> u128 {
    u128::from_le_bytes(array(confirmation))
}

foxtrot_kernel::redacted! {
    Receiver, receiver => "<{} instances>", receiver.branches.len();
}
