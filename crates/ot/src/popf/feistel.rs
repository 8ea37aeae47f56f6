//! The streamlined Feistel POPF [[MRR21](https://eprint.iacr.org/2021/682), Figure 7].
//!
//! φ = (t, s); its value at x is t + H(x, s ⊕ x·t). To program value P at x: draw s′, set
//! t = P − H(x, s′) and s = s′ ⊕ x·t. The paper multiplies in a field of which x and the encoding of t
//! are elements; ours is GF(2^256), and with x = 0 or 1 that is a choice.

use core::marker::PhantomData;

use foxtrot_kernel::{Backend, curve::Invalid};

use super::{Domain, ENCODED_LEN, Popf, check, column, decoded, hashes};
use crate::{Session, erase::Secrets, oracle::Keyed};

/// The POPF with its oracle.
#[derive(Debug)]
pub struct Feistel<D> {
    /// H(i, x, s′).
    pub(super) h: Keyed,
    domain: PhantomData<D>,
}

/// s ⊕ x·t.
fn turned(s: &[u8], x: u8, t: &[u8]) -> [u8; ENCODED_LEN] {
    let mask = x.wrapping_neg();
    core::array::from_fn(|k| s[k] ^ t[k] & mask)
}

impl<D: Domain> Popf for Feistel<D> {
    type Domain = D;
    const NAME: &'static str = "feistel";
    const PHI_LEN: usize = 2 * ENCODED_LEN;
    const COINS_LEN: usize = ENCODED_LEN;

    fn new(session: &Session) -> Self {
        let h = session.keyed("foxtrot v1 mcquoid-rosulek-roy feistel H", &[]);
        Self { h, domain: PhantomData }
    }

    fn check(backend: Backend, phis: &[u8]) -> Result<(), Invalid> {
        check::<D>(backend, &column(phis, Self::PHI_LEN, 0))
    }

    fn program(&self, first: u64, x: &[u8], values: &[D::Element], coins: &[u8], phis: &mut [u8]) {
        let (n, backend) = (x.len(), self.h.backend);
        let (coins, _) = coins.as_chunks::<ENCODED_LEN>();
        let hashes = hashes::<D, _>(&self.h, n, |k| (first + k as u64, x[k], coins[k]));
        let mut differences = D::zeros(n);
        D::sub(backend, values, &hashes, &mut differences);
        let mut encodings = Secrets::zeroed(n);
        D::encode(backend, &differences, &mut encodings);
        for (k, phi) in phis.chunks_exact_mut(Self::PHI_LEN).enumerate() {
            let (t, s) = phi.split_at_mut(ENCODED_LEN);
            t.copy_from_slice(&encodings[k]);
            s.copy_from_slice(&turned(&coins[k], x[k], t));
        }
    }

    fn evaluate(&self, first: u64, phis: &[u8], values: [&mut [D::Element]; 2]) {
        let backend = self.h.backend;
        let t = decoded::<D>(backend, &column(phis, Self::PHI_LEN, 0));
        for (x, values) in (0..).zip(values) {
            let coins = |k: usize| {
                let (t, s) = phis[k * Self::PHI_LEN..][..Self::PHI_LEN].split_at(ENCODED_LEN);
                turned(s, x, t)
            };
            let hashes = hashes::<D, _>(&self.h, values.len(), |k| (first + k as u64, x, coins(k)));
            D::add(backend, &t, &hashes, values);
        }
    }
}
