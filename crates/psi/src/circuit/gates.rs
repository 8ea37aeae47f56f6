//! Gates on shared bits, 64 to a word, with bit triples \[Bea91, GMW87\].

use alloc::{collections::VecDeque, vec::Vec};
use core::ops::Range;

use foxtrot_kernel::memcheck;
use foxtrot_ot::{engine::Io, erase::Secret, expect_len};
use foxtrot_triples::bits::Triples;

use crate::Error;

/// Words of a frame.
const WORDS: usize = 1 << 16;
/// Frames that a party sends before it reads the first of the peer's.
const AHEAD: usize = 4;
/// Levels of an adder of 64 bits.
const LEVELS: usize = 6;

/// Words of AND gates that add up and release so many numbers.
pub(super) const fn words_to_release(numbers: usize) -> usize {
    (1 + 2 * LEVELS + 1) * numbers
}

/// A party of a circuit.
pub(super) struct Gates<'a, C> {
    io: &'a Io,
    /// One of the parties is the first.
    first: bool,
    triples: Triples,
    /// Words of triples that have been used.
    used: usize,
    /// Is told the bytes that are opened.
    count: &'a mut C,
}

impl<'a, C: FnMut(usize)> Gates<'a, C> {
    pub(super) const fn new(io: &'a Io, first: bool, triples: Triples, count: &'a mut C) -> Self {
        Self { io, first, triples, used: 0, count }
    }

    /// The party's share of a constant.
    const fn constant(&self, value: u64) -> u64 {
        if self.first { value } else { 0 }
    }

    /// Returns shares of x ∧ y.
    async fn and(&mut self, x: &[u64], y: &[u64]) -> Result<Secret<u64>, Error> {
        let mut z = Secret::zeroed(x.len());
        let mut pending = VecDeque::with_capacity(AHEAD);
        for start in (0..x.len()).step_by(WORDS) {
            let range = start..x.len().min(start + WORDS);
            let opened = self.mask(&x[range.clone()], &y[range.clone()], start);
            self.io.send(opened.clone()).await;
            pending.push_back((range, opened));
            if pending.len() == AHEAD
                && let Some((range, opened)) = pending.pop_front()
            {
                self.open(range.clone(), &opened, &mut z[range]).await?;
            }
        }
        for (range, opened) in pending {
            self.open(range.clone(), &opened, &mut z[range]).await?;
        }
        self.used += x.len();
        (self.count)(16 * x.len());
        Ok(z)
    }

    /// x ⊕ a and y ⊕ b, which are sent.
    fn mask(&self, x: &[u64], y: &[u64], start: usize) -> Vec<u8> {
        let (a, b) = (&self.triples.a[self.used + start..], &self.triples.b[self.used + start..]);
        let mut opened = Vec::with_capacity(16 * x.len());
        for ((x, y), (a, b)) in x.iter().zip(y).zip(a.iter().zip(b)) {
            opened.extend_from_slice(&(x ^ a).to_le_bytes());
            opened.extend_from_slice(&(y ^ b).to_le_bytes());
        }
        memcheck::public(&mut opened);
        opened
    }

    async fn open(&mut self, range: Range<usize>, ours: &[u8], z: &mut [u64]) -> Result<(), Error> {
        let theirs = receive(self.io, "Gates", ours.len()).await?;
        let from = self.used + range.start;
        let triples = self.triples.a[from..].iter().zip(&self.triples.b[from..]);
        let triples = triples.zip(&self.triples.c[from..]);
        let opened = ours.as_chunks::<16>().0.iter().zip(theirs.as_chunks::<16>().0);
        for ((z, (ours, theirs)), ((a, b), c)) in z.iter_mut().zip(opened).zip(triples) {
            let both = u128::from_le_bytes(*ours) ^ u128::from_le_bytes(*theirs);
            #[expect(clippy::cast_possible_truncation, reason = "the low half, and the high one")]
            let (d, e) = (both as u64, (both >> 64) as u64);
            *z = c ^ d & b ^ e & a ^ self.constant(d & e);
        }
        Ok(())
    }

    /// Adds numbers modulo 2^64, each the sum of a number of this party and one of the peer: shares of the bits.
    async fn add(&mut self, numbers: &[u64]) -> Result<Secret<u64>, Error> {
        let zero = Secret::<u64>::zeroed(numbers.len());
        let (x, y) = if self.first { (numbers, &*zero) } else { (&*zero, numbers) };
        // Carries that arise and that are passed on, up to each bit [Kogge, Stone 1973].
        let mut arise = self.and(x, y).await?;
        let mut pass = Secret(numbers.to_vec());
        for level in 0..LEVELS {
            let x = Secret([&*pass, &*pass].concat());
            let mut y = Secret([&*arise, &*pass].concat());
            y.iter_mut().for_each(|word| *word <<= 1 << level);
            let next = self.and(&x, &y).await?;
            let (more, passed) = next.split_at(numbers.len());
            arise.iter_mut().zip(more).for_each(|(arise, more)| *arise ^= more);
            pass.copy_from_slice(passed);
        }
        let sums = numbers.iter().zip(&*arise).map(|(sum, carry)| sum ^ carry << 1);
        Ok(Secret(sums.collect()))
    }

    /// Returns shares of a mask, all ones unless the first number is negative, and of the numbers under that mask.
    pub(super) async fn release(&mut self, numbers: &[u64]) -> Result<Secret<u64>, Error> {
        let sums = self.add(numbers).await?;
        let mask = (sums[0] >> 63).wrapping_neg() ^ self.constant(u64::MAX);
        // Not by `vec!`, which looks whether the value is 0.
        let mut masks = Secret::zeroed(sums.len());
        masks.fill(mask);
        let masked = self.and(&masks, &sums).await?;
        let mut released = Secret::with_capacity(1 + masked.len());
        released.0.push(mask);
        released.0.extend_from_slice(&masked);
        Ok(released)
    }
}

/// Receives a message of a length.
pub(super) async fn receive(
    io: &Io,
    message: &'static str,
    expected: usize,
) -> Result<Vec<u8>, Error> {
    let bytes = io.recv(expected).await;
    expect_len(message, &bytes, expected)?;
    Ok(bytes)
}
