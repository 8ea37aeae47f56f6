//! The two-round Feistel POPF [[MRR20](https://eprint.iacr.org/2020/1043)] over any group or domain.
//!
//! φ = (T, s); its value at x is T + H₁(x, s ⊕ H′(x, T)). To program value P at x: draw r, set
//! T = P − H₁(x, r) and s = r ⊕ H′(x, T). Both oracles are bound to the session and the instance;
//! H′ takes a digest of T, so that evaluating at both points hashes T once.

use alloc::{vec, vec::Vec};
use foxtrot_kernel::{Backend, curve::Invalid};
use zeroize::Zeroize;

use super::{Domain, Group, Popf, check, column, decoded, hashes};
use crate::{
    Session,
    erase::{SecretBytes, Secrets},
    oracle::{Keyed, Texts},
};

/// Length of s and r in bytes: 3κ bits, which the extraction argument needs.
pub const S_LEN: usize = 48;

/// The most instances that one call takes.
pub const GROUP: usize = 16;

/// The POPF with its three oracles, for consecutive instances side by side.
pub struct Feistel2<G> {
    group: G,
    h1: Keyed,
    digest: Keyed,
    h_prime: Keyed,
}

/// Room to compute in, erased when dropped.
pub struct Room<G: Group> {
    answers: SecretBytes,
    /// Two, as hashing takes them, or one if there is but one instance.
    hashes: Vec<G::Element>,
}

/// A hash to the group or a value that came of it, and the oracle's answer that it was made from. Who
/// is given both may write over them.
pub struct Hashed<'a, G: Group> {
    /// The element.
    pub element: &'a mut G::Element,
    /// Bytes of an answer, at least [`Group::USUAL_LEN`] of them.
    pub answer: &'a mut [u8],
}

/// The digests of T of consecutive instances: what both points of a description need.
#[derive(Debug)]
pub struct Digests {
    first: u64,
    pub(crate) digests: Vec<[u8; 32]>,
}

impl<G: Group> Feistel2<G> {
    /// Length of φ in bytes.
    pub const ENCODED_LEN: usize = G::ENCODED_LEN + S_LEN;

    /// Makes a POPF with H₁, the digest of T and H′.
    pub fn new(group: G, h1: Keyed, digest: Keyed, h_prime: Keyed) -> Self {
        Self { group, h1, digest, h_prime }
    }

    /// Makes room for `instances` instances at once.
    // Never inlined: an element would be in the caller's frame.
    #[inline(never)]
    pub fn room(&self, instances: usize) -> Room<G> {
        let answers = SecretBytes::zeroed(instances.min(GROUP) * G::ANSWER_LEN);
        Room { answers, hashes: vec![self.group.zero(); instances.min(2)] }
    }

    /// Writes the φ of the instances from `first` on, each with a value at its `x`, from uniform
    /// coins `r`. `difference` writes the encoding of the value of an instance minus the given
    /// element. `x` is secret.
    ///
    /// # Panics
    /// If there are more than [`GROUP`] instances or than there is room for, or not as many `r`, or
    /// `phis` has not [`Feistel2::ENCODED_LEN`] bytes for each.
    pub fn program(
        &self,
        room: &mut Room<G>,
        first: u64,
        x: &[u8],
        r: &[[u8; S_LEN]],
        mut difference: impl FnMut(usize, Hashed<'_, G>, &mut [u8]),
        phis: &mut [u8],
    ) -> Digests {
        assert!(phis.len() == x.len() * Self::ENCODED_LEN && r.len() == x.len());
        let answers = &mut room.answers[..x.len() * G::ANSWER_LEN];
        self.h1.ask(x.len(), |k| (first + k as u64, x[k], r[k]), answers);
        let answers = answers.chunks_mut(2 * G::ANSWER_LEN);
        let pairs = answers.zip(phis.chunks_mut(2 * Self::ENCODED_LEN));
        for (pair, (answers, phis)) in pairs.enumerate() {
            let hashes = &mut room.hashes[..answers.len() / G::ANSWER_LEN];
            self.group.hash(answers, hashes);
            let spent = hashes.iter_mut().zip(answers.chunks_exact_mut(G::ANSWER_LEN));
            for (k, ((element, answer), phi)) in
                spent.zip(phis.chunks_exact_mut(Self::ENCODED_LEN)).enumerate()
            {
                difference(2 * pair + k, Hashed { element, answer }, &mut phi[..G::ENCODED_LEN]);
            }
        }
        let digests = self.open(first, phis);
        let masks = self.masks(&digests, |k| x[k]);
        for ((phi, r), mask) in phis.chunks_exact_mut(Self::ENCODED_LEN).zip(r).zip(&*masks) {
            phi[G::ENCODED_LEN..].copy_from_slice(&xor(r, mask));
        }
        digests
    }

    /// Prepares the φ of the instances from `first` on for evaluation.
    ///
    /// # Panics
    /// If there are more than [`GROUP`].
    pub fn open(&self, first: u64, phis: &[u8]) -> Digests {
        self.digests(first, phis, G::ENCODED_LEN)
    }

    /// Gives the values at x of opened descriptions, whose T were checked, to `value`.
    ///
    /// # Panics
    /// If there are more descriptions than [`GROUP`] or than there is room for.
    pub fn evaluate(
        &self,
        room: &mut Room<G>,
        digests: &Digests,
        phis: &[u8],
        x: u8,
        mut value: impl FnMut(usize, Hashed<'_, G>),
    ) {
        let count = phis.len() / Self::ENCODED_LEN;
        let coins = self.unmasked(digests, phis, G::ENCODED_LEN, x);
        let question = |k: usize| (digests.first + k as u64, x, coins[k]);
        let (answers, element) = (&mut room.answers, &mut room.hashes[0]);
        self.h1.ask_by_need(
            count,
            question,
            [G::USUAL_LEN, G::ANSWER_LEN],
            answers,
            |k, answer| {
                // Of a description that the peer sees, both values are computed.
                let done = self.group.hash_public(answer, element) || answer.len() == G::ANSWER_LEN;
                if done {
                    let t = &phis[k * Self::ENCODED_LEN..][..G::ENCODED_LEN];
                    self.group.add_encoded(element, t);
                    value(k, Hashed { element, answer });
                }
                done
            },
        );
    }
}

/// The part that depends on the group only by the length of its encodings.
impl<G> Feistel2<G> {
    fn digests(&self, first: u64, phis: &[u8], t_len: usize) -> Digests {
        let stride = t_len + S_LEN;
        let mut digests = vec![[0; 32]; phis.len() / stride];
        assert!(digests.len() <= GROUP, "a group");
        self.digest.ask_long(first, Texts { bytes: phis, stride, len: t_len }, &mut digests);
        Digests { first, digests }
    }

    /// The r that programming at x would have used.
    pub(crate) fn unmasked(
        &self,
        digests: &Digests,
        phis: &[u8],
        t_len: usize,
        x: u8,
    ) -> Secrets<S_LEN> {
        let mut coins = self.masks(digests, |_| x);
        for (coins, phi) in coins.iter_mut().zip(phis.chunks_exact(t_len + S_LEN)) {
            *coins = xor(&phi[t_len..], coins);
        }
        coins
    }

    /// H′(i, x, T).
    fn masks(
        &self,
        Digests { first, digests }: &Digests,
        x: impl Fn(usize) -> u8,
    ) -> Secrets<S_LEN> {
        let mut masks = Secrets::zeroed(digests.len());
        let question = |k: usize| (first + k as u64, x(k), digests[k]);
        self.h_prime.ask(digests.len(), question, masks.as_flattened_mut());
        masks
    }
}

impl<D: Domain> Popf for Feistel2<D> {
    type Domain = D;
    const NAME: &'static str = "feistel2";
    const PAPER: &'static str = "MRR21, POPF of MRR20";
    const CAVEAT: &'static str = "a quantum computer reads choices and keys; a corrupt party may fix its own keys; \
        not proved in batches";
    const PHI_LEN: usize = super::ENCODED_LEN + S_LEN;
    const COINS_LEN: usize = S_LEN;

    fn new(session: &Session) -> Self {
        let [h1, digest, h_prime] = [
            "foxtrot v1 mcquoid-rosulek-roy H1",
            "foxtrot v1 mcquoid-rosulek-roy T",
            "foxtrot v1 mcquoid-rosulek-roy H'",
        ]
        .map(|context| session.keyed(context, &[]));
        Self { group: D::default(), h1, digest, h_prime }
    }

    fn check(backend: Backend, phis: &[u8]) -> Result<(), Invalid> {
        check::<D>(backend, &column(phis, Self::PHI_LEN, 0))
    }

    fn program(&self, first: u64, x: &[u8], values: &[D::Element], coins: &[u8], phis: &mut [u8]) {
        let (n, backend) = (x.len(), self.h1.backend);
        let (coins, _) = coins.as_chunks::<S_LEN>();
        let hashes = hashes::<D, _>(&self.h1, n, |k| (first + k as u64, x[k], coins[k]));
        let mut differences = D::zeros(n);
        D::sub(backend, values, &hashes, &mut differences);
        let mut t = Secrets::zeroed(n);
        D::encode(backend, &differences, &mut t);
        for (phi, t) in phis.chunks_exact_mut(Self::PHI_LEN).zip(&*t) {
            phi[..t.len()].copy_from_slice(t);
        }
        let groups =
            phis.chunks_mut(GROUP * Self::PHI_LEN).zip(x.chunks(GROUP)).zip(coins.chunks(GROUP));
        for (start, ((phis, x), coins)) in (first..).step_by(GROUP).zip(groups) {
            let digests = self.digests(start, phis, super::ENCODED_LEN);
            let masks = self.masks(&digests, |k| x[k]);
            for ((phi, r), mask) in phis.chunks_exact_mut(Self::PHI_LEN).zip(coins).zip(&*masks) {
                phi[super::ENCODED_LEN..].copy_from_slice(&xor(r, mask));
            }
        }
    }

    fn evaluate(&self, first: u64, phis: &[u8], [zero, one]: [&mut [D::Element]; 2]) {
        let (n, backend) = (zero.len(), self.h1.backend);
        let mut coins = [vec![[0; S_LEN]; n], vec![[0; S_LEN]; n]];
        for (start, phis) in (0..n).step_by(GROUP).zip(phis.chunks(GROUP * Self::PHI_LEN)) {
            let digests = self.digests(first + start as u64, phis, super::ENCODED_LEN);
            let end = n.min(start + GROUP);
            for (x, coins) in (0..).zip(&mut coins) {
                let unmasked = self.unmasked(&digests, phis, super::ENCODED_LEN, x);
                coins[start..end].copy_from_slice(&unmasked);
            }
        }
        let t = decoded::<D>(backend, &column(phis, Self::PHI_LEN, 0));
        for (x, (values, coins)) in (0..).zip([zero, one].into_iter().zip(&coins)) {
            let hashes = hashes::<D, _>(&self.h1, n, |k| (first + k as u64, x, coins[k]));
            D::add(backend, &t, &hashes, values);
        }
    }
}

impl<G: Group> Drop for Room<G> {
    fn drop(&mut self) {
        self.hashes.iter_mut().for_each(Zeroize::zeroize);
    }
}

foxtrot_kernel::redacted! {
    [G] Feistel2<G>;
    [G: Group] Hashed<'_, G>;
    [G: Group] Room<G>;
}

fn xor(a: &[u8], b: &[u8; S_LEN]) -> [u8; S_LEN] {
    core::array::from_fn(|k| a[k] ^ b[k])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Session, Sid};

    /// Bytes under addition mod 256, counting hashes of either kind and additions.
    #[derive(Debug, Default)]
    struct Bytes {
        calls: core::cell::Cell<[u32; 3]>,
    }

    impl Bytes {
        fn count(&self, operation: usize) {
            let mut calls = self.calls.get();
            calls[operation] += 1;
            self.calls.set(calls);
        }
    }

    impl Group for Bytes {
        type Element = [u8; 16];
        const ENCODED_LEN: usize = 16;
        const ANSWER_LEN: usize = 20;
        const USUAL_LEN: usize = 18;

        fn zero(&self) -> [u8; 16] {
            [0; 16]
        }

        fn hash(&self, answers: &[u8], elements: &mut [[u8; 16]]) {
            for (answer, element) in answers.chunks_exact(20).zip(elements) {
                self.count(0);
                element.copy_from_slice(&answer[..16]);
            }
        }

        /// Half the answers are too short at first.
        fn hash_public(&self, answer: &[u8], element: &mut [u8; 16]) -> bool {
            self.count(1);
            let enough = answer.len() == Self::ANSWER_LEN || answer[16] < 128;
            element.copy_from_slice(if enough { &answer[..16] } else { &[0; 16] });
            enough
        }

        fn add_encoded(&self, a: &mut [u8; 16], bytes: &[u8]) {
            self.count(2);
            a.iter_mut().zip(bytes).for_each(|(a, b)| *a = a.wrapping_add(*b));
        }
    }

    fn popf(sid: u8) -> Feistel2<Bytes> {
        let session = Session::new(Sid::from_bytes([sid; 32]));
        let [h1, t, h_prime] = ["h1", "t", "h'"].map(|context| session.keyed(context, &[]));
        Feistel2::new(Bytes::default(), h1, t, h_prime)
    }

    /// Values at both points.
    fn values(popf: &Feistel2<Bytes>, first: u64, phis: &[u8]) -> [Vec<[u8; 16]>; 2] {
        let digests = popf.open(first, phis);
        [0, 1].map(|x| {
            let mut values = Vec::new();
            let mut room = popf.room(phis.len() / 64);
            popf.evaluate(&mut room, &digests, phis, x, |_, hashed| values.push(*hashed.element));
            values
        })
    }

    fn programmed(popf: &Feistel2<Bytes>, first: u64, x: &[u8]) -> Vec<u8> {
        let mut phis = vec![0; 64 * x.len()];
        let coins: [[u8; S_LEN]; 16] = core::array::from_fn(|k| [u8::try_from(k).unwrap(); S_LEN]);
        let difference = |k: usize, hashed: Hashed<'_, Bytes>, bytes: &mut [u8]| {
            let value = 9 + u8::try_from(k).unwrap();
            bytes.copy_from_slice(&hashed.element.map(|hash| value.wrapping_sub(hash)));
        };
        let mut room = popf.room(x.len());
        popf.program(&mut room, first, x, &coins[..x.len()], difference, &mut phis);
        phis
    }

    #[test]
    fn the_programmed_values_come_out_where_they_were_programmed() {
        let popf = popf(1);
        for count in [1, 5, 16] {
            let x: Vec<u8> = (0..count).map(|k| u8::from(k % 3 == 1)).collect();
            let phis = programmed(&popf, 5, &x);
            let values = values(&popf, 5, &phis);
            for (k, &x) in x.iter().enumerate() {
                let point = [9 + u8::try_from(k).unwrap(); 16];
                assert_eq!(values[usize::from(x)][k], point);
                assert_ne!(values[usize::from(1 - x)][k], point);
            }
        }
    }

    #[test]
    fn a_description_has_other_values_in_another_instance_or_session() {
        let phi = programmed(&popf(1), 5, &[0]);
        let here = values(&popf(1), 5, &phi);
        for there in [values(&popf(1), 6, &phi), values(&popf(2), 5, &phi)] {
            assert!(there[0] != here[0] && there[1] != here[1]);
        }
    }

    #[test]
    fn programming_takes_the_same_work_at_both_points() {
        let work = |x| {
            let popf = popf(1);
            programmed(&popf, 5, &[x]);
            popf.group.calls.get()
        };
        assert_eq!((work(0), work(1)), ([1, 0, 0], [1, 0, 0]));
    }

    /// Each oracle by itself: together they would cover for each other.
    #[test]
    fn every_oracle_is_bound_to_session_instance_and_point() {
        let digests = |first| Digests { first, digests: vec![[5; 32]] };
        let answers = |sid: u8, i: u64, x: u8| {
            let (popf, mut answer) = (popf(sid), [0; 20]);
            popf.h1.ask(1, |_| (i, x, [3; S_LEN]), &mut answer);
            (answer, popf.masks(&digests(i), |_| x)[0])
        };
        let here = answers(1, 5, 0);
        for there in [answers(2, 5, 0), answers(1, 6, 0), answers(1, 5, 1)] {
            assert!(here.0 != there.0 && here.1 != there.1);
        }
        let digest = |sid, i, t| popf(sid).open(i, &[t; 64]).digests[0];
        assert_ne!(digest(1, 5, 1), digest(1, 6, 1));
        assert_ne!(digest(1, 5, 1), digest(2, 5, 1));
        assert_ne!(digest(1, 5, 1), digest(1, 5, 2));
    }
}
