//! The POPF in the OT of Masny and Rindal [[MR19](https://eprint.iacr.org/2019/706);
//! [MRR21](https://eprint.iacr.org/2021/682), Figure 6].
//!
//! φ = (s₀, s₁); its value at x is s_x + H_x(s_{1−x}). To program value P at x: draw s_{1−x}, and set
//! s_x = P − H_x(s_{1−x}).

use core::marker::PhantomData;

use foxtrot_kernel::{Backend, curve::Invalid};
use subtle::Choice;

use super::{Domain, ENCODED_LEN, Popf, check, column, decoded, hashes};
use crate::{Session, choices::select, erase::Secrets, oracle::Keyed};

/// The POPF with its oracle.
#[derive(Debug)]
pub struct MasnyRindal<D> {
    /// H_x(i, s).
    pub(super) h: Keyed,
    domain: PhantomData<D>,
}

impl<D: Domain> Popf for MasnyRindal<D> {
    type Domain = D;
    const NAME: &'static str = "masny-rindal";
    const PAPER: &'static str = "MRR21, POPF of MR19";
    const PHI_LEN: usize = 2 * ENCODED_LEN;
    const COINS_LEN: usize = D::ANSWER_LEN;

    fn new(session: &Session) -> Self {
        let h = session.keyed("foxtrot v1 mcquoid-rosulek-roy masny-rindal H", &[]);
        Self { h, domain: PhantomData }
    }

    fn check(backend: Backend, phis: &[u8]) -> Result<(), Invalid> {
        let both = check::<D>(backend, phis.as_chunks().0);
        both.map_err(|Invalid { index }| Invalid { index: index / 2 })
    }

    fn program(&self, first: u64, x: &[u8], values: &[D::Element], coins: &[u8], phis: &mut [u8]) {
        let (n, backend) = (x.len(), self.h.backend);
        let mut elements = D::zeros(n);
        let (mut own, mut other) = (Secrets::zeroed(n), Secrets::zeroed(n));
        D::hash(backend, coins, &mut elements);
        D::encode(backend, &elements, &mut other);
        let hashes = hashes::<D, _>(&self.h, n, |k| (first + k as u64, x[k], other[k]));
        D::sub(backend, values, &hashes, &mut elements);
        D::encode(backend, &elements, &mut own);
        for (k, phi) in phis.chunks_exact_mut(Self::PHI_LEN).enumerate() {
            let (zero, one) = phi.split_at_mut(ENCODED_LEN);
            select(Choice::from(x[k]), &own[k], &other[k], zero);
            select(Choice::from(x[k]), &other[k], &own[k], one);
        }
    }

    fn evaluate(&self, first: u64, phis: &[u8], values: [&mut [D::Element]; 2]) {
        let backend = self.h.backend;
        let s = [0, ENCODED_LEN].map(|at| column(phis, Self::PHI_LEN, at));
        for (x, values) in (0..).zip(values) {
            let [own, other] = [x, 1 - x].map(|x| &s[usize::from(x)]);
            let hashes = hashes::<D, _>(&self.h, values.len(), |k| (first + k as u64, x, other[k]));
            D::add(backend, &decoded::<D>(backend, own), &hashes, values);
        }
    }
}
