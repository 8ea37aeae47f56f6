//! Macros that stamp laws onto every backend of this machine, and inputs for these laws.

extern crate std;
use std::vec::Vec;

use crate::Block;

/// Tests of functions of a backend, on every backend of this machine.
macro_rules! on_every_backend {
    ($($name:ident => $law:expr;)*) => {$(
        #[test]
        fn $name() {
            for backend in $crate::Backend::all() {
                $law(backend);
            }
        }
    )*};
}
pub(crate) use on_every_backend;

/// SplitMix64: reproducible bytes that look random.
pub(crate) struct Stream(pub(crate) u64);

impl Stream {
    pub(crate) fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub(crate) fn wide(&mut self) -> u128 {
        u128::from(self.word()) << 64 | u128::from(self.word())
    }

    pub(crate) fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| self.word().to_le_bytes()[0]).collect()
    }

    pub(crate) fn blocks(&mut self, n: usize) -> Vec<Block> {
        (0..n).map(|_| self.wide().to_le_bytes()).collect()
    }
}
