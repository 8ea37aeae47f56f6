//! Uses the rounds of the `aes` crate: constant time everywhere, and it finds AES instructions by
//! itself. Its calls store the state each time; where ARMv8 has the instructions, the state stays in registers.

use aes::{
    cipher::Array,
    hazmat::{Block8, cipher_round_par},
};

#[cfg(target_arch = "aarch64")]
use super::vectors;
use super::{CONSTANTS, STEP, WARM_UP};
#[cfg(target_arch = "aarch64")]
use crate::blocks::neon::NeonAes;
use crate::{
    Block,
    blocks::{and, xor},
    erase,
};

/// S₀ to S₇, and the keys of a step's rounds; erased on drop.
pub(crate) struct State {
    blocks: Block8,
    keys: Block8,
}

impl State {
    pub(crate) fn begin(key: &Block, nonce: &Block) -> Self {
        let [c0, c1] = &CONSTANTS;
        let both = xor(key, nonce);
        let [of_c0, of_c1] = [xor(key, c0), xor(key, c1)];
        let blocks = Array([both, *c1, *c0, *c1, both, of_c0, of_c1, of_c0].map(Array));
        let mut state = Self { keys: blocks, blocks };
        for _ in 0..WARM_UP {
            state.update();
            // What is absorbed is part of these two rounds' keys, which come last.
            let s = state.blocks();
            s[0] = xor(&s[0], nonce);
            s[4] = xor(&s[4], key);
        }
        state
    }

    /// Writes the stream's next bytes.
    pub(crate) fn fill(&mut self, out: &mut [[u8; STEP]]) {
        #[cfg(target_arch = "aarch64")]
        if let Some(aes) = NeonAes::detect() {
            let state = self.blocks();
            return aes.run(
                #[inline(always)]
                || vectors::fill_from(aes, state, out),
            );
        }
        for out in out {
            let s = self.blocks();
            let [first, second] = [
                xor(&xor(&s[6], &s[1]), &and(&s[2], &s[3])),
                xor(&xor(&s[2], &s[5]), &and(&s[6], &s[7])),
            ];
            out[..16].copy_from_slice(&first);
            out[16..].copy_from_slice(&second);
            self.update();
        }
    }

    fn blocks(&mut self) -> &mut [Block] {
        Array::cast_slice_to_core_mut(&mut self.blocks)
    }

    fn update(&mut self) {
        self.keys = self.blocks;
        self.blocks.rotate_right(1);
        cipher_round_par(&mut self.blocks, &self.keys);
    }
}

impl Drop for State {
    fn drop(&mut self) {
        erase(&mut self.blocks, Array([0; 16]));
        erase(&mut self.keys, Array([0; 16]));
    }
}
