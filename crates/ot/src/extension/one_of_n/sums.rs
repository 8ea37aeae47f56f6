//! Sums of rows: for protocols that add rows up, where the code is linear.

use super::{Sender, sender::mask_rows};
use crate::{Usage, erase::SecretBytes, expect_count, extension::code::Code};

/// Codewords that are made at a time.
const TOGETHER: usize = 512;

impl Sender {
    /// Adds C(v)·Δ to sums of rows, one word v for each, both one after another. What was the sum of
    /// rows q is then the sum of the receiver's rows t, if the sum of its words is v.
    ///
    /// The sums are not hashed, as [`rows`](Self::rows) are not: one sum shifted by two known
    /// words, or shifted by one and beside the receiver's, gives bits of Δ to a party that has both.
    /// Whatever leaves must first be hashed under session, what the sum is of, and the whole sum.
    ///
    /// # Errors
    /// [`Usage::NotLinear`]; [`Usage::CountMismatch`] if there are not as many sums as words;
    /// [`Usage::SessionEnded`] after a failed check.
    pub fn shift_sums(&self, words: &[u8], sums: &mut [u8]) -> Result<(), Usage> {
        let parameters = self.extension.parameters();
        let (word_len, row_len) = (parameters.word_len(), parameters.row_len());
        if self.ended {
            return Err(Usage::SessionEnded);
        }
        let code = self.code.linear().ok_or(Usage::NotLinear)?;
        let n = words.len() / word_len;
        expect_count("bytes of words", n * word_len, words.len())?;
        expect_count("bytes of sums", n * row_len, sums.len())?;
        let mut codewords = SecretBytes::zeroed(n.min(TOGETHER) * row_len);
        let parts = words.chunks(TOGETHER * word_len).zip(sums.chunks_mut(TOGETHER * row_len));
        for (words, sums) in parts {
            let codewords = &mut codewords[..sums.len()];
            code.encode(self.session.backend(), words, codewords);
            mask_rows(codewords, self.delta.as_bytes());
            sums.iter_mut().zip(&*codewords).for_each(|(sum, codeword)| *sum ^= codeword);
        }
        Ok(())
    }
}
