//! A party's coins of all instances of a batch: one keystream, cut into pieces.

use foxtrot_kernel::aes::Aes128;
use zeroize::Zeroizing;

use crate::{Seed, Session, oracle::Purpose};

/// The keystream of AES-128 in counter mode under a key and a nonce that the party's seed gives.
pub struct Coins {
    cipher: Aes128,
    nonce: u128,
}

impl Coins {
    /// The stream of the purpose that the context names.
    #[must_use]
    pub fn new(session: &Session, context: impl Into<Purpose>, seed: &Seed) -> Self {
        let mut bytes = Zeroizing::new([0; 24]);
        session.oracle(context).answer(0, 0, &[seed.as_bytes()], bytes.as_mut_slice());
        let (key, nonce) = bytes.split_at(16);
        let key = Zeroizing::new(core::array::from_fn(|k| key[k]));
        let nonce = u64::from_le_bytes(core::array::from_fn(|k| nonce[k]));
        let cipher = Aes128::new(session.backend(), &key);
        Self { cipher, nonce: u128::from(nonce) << 64 }
    }

    /// Fills whole blocks of 16 bytes, from that block of the stream on.
    pub fn fill(&self, first_block: usize, coins: &mut [u8]) {
        self.cipher.ctr(self.nonce | first_block as u128, coins);
    }
}

foxtrot_kernel::redacted! {
    Coins;
}
