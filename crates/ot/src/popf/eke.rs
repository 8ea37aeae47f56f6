//! The ideal cipher as a POPF [[MRR21](https://eprint.iacr.org/2021/682), Figure 4], after the
//! encrypted key exchange of Bellovin and Merritt.
//!
//! φ = E(P) and P = E⁻¹(φ), where E is Rijndael on 256 bits under a key for this session, instance
//! and x.

use foxtrot_kernel::{Backend, curve::Invalid, rijndael};

use super::{ENCODED_LEN, Popf, Strings};
use crate::{Session, erase::Secrets, oracle::Keyed};

/// The POPF with the oracle of its cipher's keys.
#[derive(Debug)]
pub struct Eke {
    keys: Keyed,
}

impl Eke {
    /// The cipher's keys.
    pub(super) fn keys(&self, first: u64, n: usize, x: impl Fn(usize) -> u8) -> Secrets {
        let mut keys = Secrets::zeroed(n);
        self.keys.ask(n, |k| (first + k as u64, x(k), []), keys.as_flattened_mut());
        keys
    }
}

impl Popf for Eke {
    type Domain = Strings;
    const NAME: &'static str = "eke";
    const IDEAL_CIPHER: bool = true;
    const PHI_LEN: usize = ENCODED_LEN;
    const COINS_LEN: usize = 0;

    fn new(session: &Session) -> Self {
        Self { keys: session.keyed("foxtrot v1 mcquoid-rosulek-roy eke", &[]) }
    }

    fn check(_: Backend, _: &[u8]) -> Result<(), Invalid> {
        Ok(())
    }

    fn program(&self, first: u64, x: &[u8], values: &[[u8; 32]], _: &[u8], phis: &mut [u8]) {
        let (phis, _) = phis.as_chunks_mut();
        phis.copy_from_slice(values);
        rijndael::encrypt(&self.keys(first, x.len(), |k| x[k]), phis);
    }

    fn evaluate(&self, first: u64, phis: &[u8], values: [&mut [[u8; 32]]; 2]) {
        for (x, values) in (0..).zip(values) {
            values.copy_from_slice(phis.as_chunks().0);
            rijndael::decrypt(&self.keys(first, values.len(), |_| x), values);
        }
    }
}
