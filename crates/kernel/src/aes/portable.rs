//! Uses the `aes` crate: constant time everywhere. The crate finds AES instructions by itself
//! (ARMv8 and x86), so that this is also the code for AArch64. It erases its keys on drop.

use crate::{Block, blocks::xor, erase};
use aes::cipher::{
    Array, BlockCipherEncBackend, BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser,
    KeyInit, ParBlocks, consts::U16,
};

pub(crate) type Cipher = aes::Aes128Enc;

/// Blocks that go through the cipher together; more than any of its implementations interleaves.
const BATCH: usize = 64;

pub(super) fn cipher(key: &Block) -> Cipher {
    Cipher::new(&Array(*key))
}

pub(super) fn ctr(pi: &Cipher, first: u128, out: &mut [Block]) {
    for (block, counter) in out.iter_mut().zip(first..) {
        *block = counter.to_le_bytes();
    }
    encrypt(pi, out);
}

pub(super) fn tmmo(pi: &Cipher, first: u64, rows: &[Block], keys: &mut [Block]) {
    hash(pi, first, rows, keys.as_chunks_mut().0, |row| [*row]);
}

pub(super) fn tmmo_pairs(
    pi: &Cipher,
    first: u64,
    delta: &Block,
    rows: &[Block],
    keys: &mut [[Block; 2]],
) {
    hash(pi, first, rows, keys, |row| [*row, xor(row, delta)]);
}

/// Hashes the inputs that each row has, all under its tweak.
fn hash<const N: usize>(
    pi: &Cipher,
    first: u64,
    rows: &[Block],
    keys: &mut [[Block; N]],
    inputs: impl Fn(&Block) -> [Block; N],
) {
    let mut masks = [[0; 16]; BATCH];
    let (masks, _) = masks.as_chunks_mut::<N>();
    let mut tweak = u128::from(first);
    for (rows, keys) in rows.chunks(BATCH / N).zip(keys.chunks_mut(BATCH / N)) {
        let masks = &mut masks[..rows.len()];
        for (mask, row) in masks.iter_mut().zip(rows) {
            *mask = inputs(row);
        }
        encrypt(pi, masks.as_flattened_mut());
        for (keys, mask) in keys.iter_mut().zip(&*masks) {
            *keys = mask.each_ref().map(|mask| xor(mask, &tweak.to_le_bytes()));
            tweak += 1;
        }
        encrypt(pi, keys.as_flattened_mut());
        for (key, mask) in keys.as_flattened_mut().iter_mut().zip(masks.as_flattened()) {
            *key = xor(key, mask);
        }
    }
    erase(masks.as_flattened_mut(), [0; 16]);
}

pub(super) fn mmo(pi: &Cipher, blocks: &mut [Block]) {
    let mut inputs = [[0; 16]; BATCH];
    for blocks in blocks.chunks_mut(BATCH) {
        let inputs = &mut inputs[..blocks.len()];
        inputs.copy_from_slice(blocks);
        encrypt(pi, blocks);
        for (block, input) in blocks.iter_mut().zip(&*inputs) {
            *block = xor(block, input);
        }
    }
    erase(&mut inputs, [0; 16]);
}

pub(super) fn mmo_pairs(pi: &Cipher, delta: &Block, rows: &[Block], keys: &mut [[Block; 2]]) {
    for (pair, row) in keys.iter_mut().zip(rows) {
        *pair = [*row, xor(row, delta)];
    }
    mmo(pi, keys.as_flattened_mut());
}

pub(super) fn mmo_tables(
    pi: &Cipher,
    multiples: &[Block; 16],
    rows: &[Block],
    tables: &mut [[u8; 2]],
) {
    let mut keys = [[[0_u8; 16]; 16]; BATCH / 16];
    for (rows, tables) in rows.chunks(BATCH / 16).zip(tables.chunks_mut(BATCH / 16)) {
        let keys = &mut keys[..rows.len()];
        for (keys, row) in keys.iter_mut().zip(rows) {
            *keys = multiples.each_ref().map(|multiple| xor(row, multiple));
        }
        mmo(pi, keys.as_flattened_mut());
        for (table, keys) in tables.iter_mut().zip(keys) {
            let bits = keys.iter().map(|key| u16::from(key[15] >> 7));
            *table = bits.rev().fold(0, |table, bit| table << 1 | bit).to_le_bytes();
        }
    }
    erase(&mut keys, [[0; 16]; 16]);
}

pub(crate) fn encrypt(pi: &Cipher, blocks: &mut [Block]) {
    let blocks = Array::cast_slice_from_core_mut(blocks);
    if crate::SMALL {
        pi.encrypt_with_backend(Together(blocks));
    } else {
        pi.encrypt_blocks(blocks);
    }
}

/// Blocks, of which none is encrypted alone: the crate has that as a second cipher, and flash is short.
struct Together<'a>(&'a mut [Array<u8, U16>]);

impl BlockSizeUser for Together<'_> {
    type BlockSize = U16;
}

impl BlockCipherEncClosure for Together<'_> {
    #[inline(always)]
    fn call<B: BlockCipherEncBackend<BlockSize = U16>>(self, backend: &B) {
        let mut group = ParBlocks::<B>::default();
        for blocks in self.0.chunks_mut(group.len()) {
            // Block by block, without calls.
            group.iter_mut().zip(&*blocks).for_each(|(to, from)| *to = *from);
            backend.encrypt_par_blocks_inplace(&mut group);
            blocks.iter_mut().zip(&group).for_each(|(to, from)| *to = *from);
        }
        erase(&mut group, Array([0; 16]));
    }
}
