//! The pseudorandom code of [[KKRT16](https://eprint.iacr.org/2016/799)]: four encryptions of the
//! word under public keys of the session.
//!
//! The codewords of two different words, chosen without regard to the keys, differ in fewer than
//! 128 bits with probability below 2⁻⁹⁸. Who can choose words by the keys may do better, and nothing
//! makes a receiver stick to codewords: semi-honest only.

use alloc::boxed::Box;
use core::ops::Range;

use foxtrot_kernel::{Backend, Block, aes::Aes128, bits::xor};
use zeroize::Zeroizing;

use super::{
    Code, Parameters,
    turn::{SIDE, to_columns},
};
use crate::Session;

/// Blocks of a codeword.
const BLOCKS: usize = 4;

const ROW_LEN: usize = 16 * BLOCKS;

/// A pseudorandom code of words of 128 bits, keyed by the session.
pub struct PseudorandomCode(Box<[Aes128; BLOCKS]>);

impl PseudorandomCode {
    pub(super) const PARAMETERS: Parameters = Parameters { length: 128 * BLOCKS, word_bits: 128 };

    /// The code of that session.
    #[must_use]
    pub fn of_session(session: &Session) -> Self {
        let oracle = session.oracle("foxtrot v1 one-of-n code");
        let key = |part: usize| oracle.query(part as u64, 0).finish();
        let cipher = |part| Aes128::new(session.backend(), &key(part));
        Self(Box::new(core::array::from_fn(cipher)))
    }

    /// Up to 128 codewords.
    fn encode_some(&self, words: &[u8], codewords: &mut [u8]) {
        let mut blocks: Zeroizing<[Block; SIDE]> = Zeroizing::new([[0; 16]; SIDE]);
        let words = words.as_chunks::<16>().0;
        let blocks = &mut blocks[..words.len()];
        for (part, cipher) in self.0.iter().enumerate() {
            blocks.copy_from_slice(words);
            cipher.encrypt(blocks);
            let codewords = codewords.as_chunks_mut::<ROW_LEN>().0;
            for (codeword, block) in codewords.iter_mut().zip(&*blocks) {
                codeword[16 * part..][..16].copy_from_slice(block);
            }
        }
    }
}

impl Code for PseudorandomCode {
    fn parameters(&self) -> Parameters {
        Self::PARAMETERS
    }

    fn encode(&self, _: Backend, words: &[u8], codewords: &mut [u8]) {
        assert!(words.len().is_multiple_of(16), "whole words");
        assert!(codewords.len() == BLOCKS * words.len(), "a place for every codeword");
        let parts = words.chunks(16 * SIDE).zip(codewords.chunks_mut(ROW_LEN * SIDE));
        parts.for_each(|(words, codewords)| self.encode_some(words, codewords));
    }

    fn turned(&self) -> usize {
        Self::PARAMETERS.length
    }

    fn turn(&self, backend: Backend, words: &[u8], rows: &mut [u8], stride: usize) {
        assert!(words.len().is_multiple_of(16), "whole words");
        let mut codewords = Zeroizing::new([[0; ROW_LEN]; SIDE]);
        for (group, words) in words.chunks(16 * SIDE).enumerate() {
            codewords.fill([0; ROW_LEN]);
            self.encode_some(words, codewords.as_flattened_mut());
            let rows = (&mut rows[16 * group..], stride);
            to_columns(backend, codewords.as_flattened(), ROW_LEN, Self::PARAMETERS.length, rows);
        }
    }

    fn add(
        &self,
        backend: Backend,
        bits: Range<usize>,
        (rows, stride): (&[u8], usize),
        (out, out_stride): (&mut [u8], usize),
        len: usize,
    ) {
        let rows = rows.chunks(stride).skip(bits.start).take(bits.len());
        for (out, row) in out.chunks_mut(out_stride).zip(rows) {
            xor(backend, &mut out[..len], &row[..len]);
        }
    }
}

foxtrot_kernel::redacted! {
    PseudorandomCode;
}
