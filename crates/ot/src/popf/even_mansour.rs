//! The Even–Mansour POPF [[MRR21](https://eprint.iacr.org/2021/682), Figure 5]: Figure 1 of that paper
//! is an OT by it.
//!
//! φ = Π(P) ⊕ x and P = Π⁻¹(φ ⊕ x), where Π is Rijndael on 256 bits under a key of the session, and x
//! is the lowest bit of the string.

use foxtrot_kernel::{Backend, curve::Invalid, rijndael};

use super::{ENCODED_LEN, Popf, Strings};
use crate::Session;

/// The POPF with the key of its permutation, which is public.
#[derive(Debug)]
pub struct EvenMansour {
    key: [u8; 32],
}

impl Popf for EvenMansour {
    type Domain = Strings;
    const NAME: &'static str = "even-mansour";
    const IDEAL_CIPHER: bool = true;
    const PHI_LEN: usize = ENCODED_LEN;
    const COINS_LEN: usize = 0;

    fn new(session: &Session) -> Self {
        let oracle = session.oracle("foxtrot v1 mcquoid-rosulek-roy even-mansour");
        Self { key: oracle.query(0, 0).finish() }
    }

    fn check(_: Backend, _: &[u8]) -> Result<(), Invalid> {
        Ok(())
    }

    fn program(&self, _: u64, x: &[u8], values: &[[u8; 32]], _: &[u8], phis: &mut [u8]) {
        let (phis, _) = phis.as_chunks_mut();
        phis.copy_from_slice(values);
        rijndael::encrypt(&[self.key], phis);
        phis.iter_mut().zip(x).for_each(|(phi, x)| phi[0] ^= x);
    }

    fn evaluate(&self, _: u64, phis: &[u8], values: [&mut [[u8; 32]]; 2]) {
        for (x, values) in (0..).zip(values) {
            values.copy_from_slice(phis.as_chunks().0);
            values.iter_mut().for_each(|value| value[0] ^= x);
            rijndael::decrypt(&[self.key], values);
        }
    }
}
