//! The sender's two steps.

use foxtrot_ot::{
    Bits, Coins, Error, Misbehaved, Seed, Session,
    base::SenderKeys,
    erase::{SecretBytes, erase},
    expect_count, select,
};
use subtle::Choice;
use zeroize::Zeroizing;

use super::{
    Blinded, Opening, Reply,
    common::{
        ANSWERS_LEN, BITS_LEN, Commitment, Common, GROUP, NOISE_LEN, Nonce, array, decode, split,
        split_mut, total,
    },
    ring::{BITS, Factor, NttPoly, Poly, parities, signal},
};

/// Coins of an instance: s_S, e_S, e′_S, u, and a block of which the first bits are the coins of σ₀
/// and σ₁, and a.
const COINS: [usize; 5] = [NOISE_LEN, NOISE_LEN, NOISE_LEN, 16, 16];

/// The sender, waiting for the [`Opening`]. It has no keys to give before that is checked.
///
/// ```
/// # use foxtrot_ot::{Seed, Session, Sid};
/// # use foxtrot_papers::roted_figure1::{Receiver, Sender};
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
/// # use foxtrot_ot::{Seed, Session, Sid};
/// # use foxtrot_papers::roted_figure1::{Receiver, Sender};
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
    /// sk⁰ and sk¹ of every instance.
    strings: SecretBytes,
    /// Commitments to t₀ and t₁ of every instance.
    commitments: Vec<Commitment>,
    u: Vec<Nonce>,
}

impl Sender {
    /// Steps 6 to 10: answers the receiver's batch.
    pub fn respond(session: Session, blinded: &Blinded, seed: Seed) -> (Self, Reply) {
        let (n, blinded) = (blinded.instances(), blinded.as_bytes());
        let common = Common::new(&session);
        let backend = common.backend;
        let coins_of = Coins::new(&session, "foxtrot v1 roted-figure1 sender coins", &seed);
        let mut coins = Zeroizing::new([0; total(COINS)]);
        let mut a_bytes = SecretBytes::zeroed(n.div_ceil(8));
        let mut u_of = Vec::with_capacity(n);
        let mut strings = SecretBytes::zeroed(2 * BITS_LEN * n);
        let (mut twice_e_prime, mut k) = (Zeroizing::new(Poly::ZERO), Zeroizing::new(Poly::ZERO));
        let (mut s_s, mut p_s, mut p_0) = (Factor::ZERO, NttPoly::ZERO, NttPoly::ZERO);
        let (mut answers, mut h) = (vec![0; ANSWERS_LEN], vec![[NttPoly::ZERO]; GROUP]);
        let mut reply = Reply::blank(n);
        let groups = blinded.chunks(GROUP * Blinded::INSTANCE);
        let groups = groups.zip(reply.bytes_mut().chunks_mut(GROUP * Reply::INSTANCE));
        let groups = groups.zip(strings.chunks_mut(2 * BITS_LEN * GROUP));
        for (group, ((blinded, reply), strings)) in groups.enumerate() {
            let first = group * GROUP;
            let instances = blinded.chunks_exact(Blinded::INSTANCE);
            let parts = instances.map(|blinded| split(blinded, Blinded::LAYOUT));
            let mut r_of = [[0; 16]; GROUP];
            for (r_of, [_, r, _, _]) in r_of.iter_mut().zip(parts.clone()) {
                *r_of = array(r);
            }
            common.h1(&mut answers, first, &r_of[..parts.len()], &mut h);

            let replies = reply.chunks_exact_mut(Reply::INSTANCE);
            let replies = replies.zip(strings.chunks_exact_mut(2 * BITS_LEN));
            let instances = parts.zip(&mut h).zip(replies);
            for (i, (([p_0_bytes, ..], [p_1]), (reply, sk))) in (first..).zip(instances) {
                coins_of.fill(i * coins.len() / 16, coins.as_mut_slice());
                let [of_s, of_e, of_e_prime, u, bits] = split(coins.as_slice(), COINS);
                let [p_s_bytes, _, _, signals_0, signals_1, u_bytes] =
                    split_mut(reply, Reply::LAYOUT);

                // Step 6.
                common.sample(&mut s_s, &mut p_s, [of_s, of_e]);
                common.twice_noise(&mut twice_e_prime, of_e_prime);
                p_s.pack::<BITS>(backend, p_s_bytes);

                // Step 7.
                decode(backend, &mut p_0, p_0_bytes);
                p_1.add(backend, &p_0);

                // Step 8 but for K₀ and K₁, with one s_S and one e′_S as in the figure.
                let branches = [(&p_0, signals_0), (&*p_1, signals_1)].into_iter();
                let branches = branches.zip(sk.chunks_exact_mut(BITS_LEN));
                for (j, ((p, signals), sk)) in branches.enumerate() {
                    common.product(&mut k, &s_s, p, &twice_e_prime);
                    signal(backend, &k, bits[0] >> j & 1, signals);
                    parities(backend, &k, signals, sk);
                }

                // Step 9.
                a_bytes[i / 8] |= (bits[0] >> 2 & 1) << (i % 8);
                u_bytes.copy_from_slice(u);
                u_of.push(array(u));
            }
        }
        let a = Bits::from_bytes(&a_bytes, n);

        // K₀ and K₁, and step 10.
        let mut confirmations = SecretBytes::zeroed(2 * 16 * n);
        common.confirm(strings.as_chunks().0, 2, &mut confirmations);
        let replies = reply.bytes_mut().chunks_exact_mut(Reply::INSTANCE);
        for (i, (reply, both)) in replies.zip(confirmations.chunks_exact(32)).enumerate() {
            let [_, k_a, k_not_a, _, _, _] = split_mut(reply, Reply::LAYOUT);
            let [zero, one] = split(both, [16; 2]);
            swap(a.get(i), [zero, one], [k_a, k_not_a]);
        }
        let parts =
            blinded.chunks_exact(Blinded::INSTANCE).map(|blinded| split(blinded, Blinded::LAYOUT));
        let commitments = parts.flat_map(|[_, _, zero, one]| [array(zero), array(one)]).collect();
        (Self { common, a, strings, commitments, u: u_of }, reply)
    }

    /// Steps 14 and 15: checks the openings and gives the keys.
    ///
    /// # Errors
    /// [`Misbehaved::CommitmentMismatch`]: the receiver opened something else than it committed to,
    /// in some instance. [`Usage::CountMismatch`](foxtrot_ot::Usage::CountMismatch) if the opening was decoded for another number of
    /// instances.
    pub fn finish(self, opening: &Opening) -> Result<SenderKeys, Error> {
        let Self { common, a, strings, commitments, u } = self;
        let n = a.len();
        expect_count("instances in the opening", n, opening.instances())?;

        // Step 14, on what both parties have seen.
        let (t, _) = opening.as_bytes().as_chunks();
        if common.commit(t) != commitments {
            return Err(Misbehaved::CommitmentMismatch.into());
        }

        // Step 15.
        let mut by_branch = vec![[0; 16]; 2 * n];
        let (strings, _) = strings.as_chunks::<BITS_LEN>();
        common.output(|k| (k / 2, strings[k], t[k], u[k / 2]), &mut by_branch);
        let mut keys = vec![[[0; 16]; 2]; n];
        for (i, (keys, by_branch)) in keys.iter_mut().zip(by_branch.chunks_exact(2)).enumerate() {
            swap(a.get(i), [&by_branch[0], &by_branch[1]], keys.each_mut().map(|key| &mut key[..]));
        }
        erase(by_branch.as_flattened_mut());
        Ok(SenderKeys::new(keys))
    }
}

/// Writes the two in the order a, 1 − a, without telling a by time or addresses.
fn swap(a: Choice, [zero, one]: [&[u8]; 2], [first, second]: [&mut [u8]; 2]) {
    select(a, zero, one, first);
    select(a, one, zero, second);
}

foxtrot_kernel::redacted! {
    Sender, sender => "<{} instances>", sender.a.len();
}
