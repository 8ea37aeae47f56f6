//! A party's triples as files: a header, and then triple after triple its shares of a, b and c, each ℓ/8 bytes,
//! little endian. Of bits, ℓ = 1, 64 triples stand together: a record is a word of 64 bits of each of a, b and c.

use alloc::{format, string::String, vec::Vec};
use core::fmt;

use crate::{
    Shares, bits,
    shares::{is_wrong, wrong_bits},
};

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// No header.
    Raw,
    /// A NumPy array of N × 3 unsigned numbers, format version 1.0; of bits, one of N/64 × 3 words.
    Npy,
    /// The format that MP-SPDZ reads as preprocessing of two parties: `semi2k` for ℓ = 64, `semi-bin` for bits.
    MpSpdz,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Raw, Self::Npy, Self::MpSpdz];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Npy => "npy",
            Self::MpSpdz => "mp-spdz",
        }
    }

    /// Returns true if the format can hold numbers of ℓ bits.
    #[must_use]
    pub const fn has(self, bits: u32) -> bool {
        match self {
            Self::Raw | Self::Npy => matches!(bits, 1 | 8 | 16 | 32 | 64),
            Self::MpSpdz => matches!(bits, 1 | 64),
        }
    }

    /// The path of that party's file, 0 or 1, below a folder of the user's choice, with `/` between its parts.
    #[must_use]
    pub fn path(self, bits: u32, party: u8) -> String {
        match self {
            Self::Raw => format!("P{party}.triples"),
            Self::Npy => format!("P{party}.npy"),
            Self::MpSpdz if bits == 1 => format!("2-DB-64/Triples-DB-P{party}"),
            Self::MpSpdz => format!("2-DR-64/Triples-DR-P{party}"),
        }
    }

    /// The header of a file of `count` triples of ℓ bits.
    #[must_use]
    pub fn header(self, bits: u32, count: u64) -> Vec<u8> {
        match self {
            Self::Raw => Vec::new(),
            Self::Npy if bits == 1 => numpy_header("<u8", &[count.div_ceil(64), 3]),
            Self::Npy if bits == 8 => numpy_header("|u1", &[count, 3]),
            Self::Npy => numpy_header(&format!("<u{}", bits / 8), &[count, 3]),
            Self::MpSpdz if bits == 1 => {
                // A share's type, and the bytes of a word.
                let (domain, word) = ("binary secret", 8_u64.to_le_bytes());
                let len = (domain.len() + word.len()) as u64;
                [&len.to_le_bytes(), domain.as_bytes(), &word].concat()
            }
            Self::MpSpdz => {
                let (domain, bits) = (format!("Z2^{bits}"), bits.to_le_bytes());
                let len = (domain.len() + bits.len()) as u64;
                [&len.to_le_bytes(), domain.as_bytes(), &bits].concat()
            }
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Bytes of a record.
#[must_use]
pub const fn record_len(bits: u32) -> usize {
    3 * bits as usize * triples_per_record(bits) / 8
}

/// Triples of a record.
#[must_use]
pub const fn triples_per_record(bits: u32) -> usize {
    if bits == 1 { bits::WORD } else { 1 }
}

/// Writes the first triples of a batch one after another, as many as there is room for.
///
/// # Panics
/// If the batch has fewer triples, or `out` has a part of one.
pub fn write_records(shares: &Shares, out: &mut [u8]) {
    fn each<const WIDTH: usize>(parts: [&[u8]; 3], out: &mut [u8]) {
        let [a, b, c] = parts.map(|part| part.as_chunks::<WIDTH>().0);
        let (shares, _) = out.as_chunks_mut::<WIDTH>();
        for (((record, a), b), c) in shares.as_chunks_mut::<3>().0.iter_mut().zip(a).zip(b).zip(c) {
            *record = [*a, *b, *c];
        }
    }
    let width = shares.width();
    assert!(out.len().is_multiple_of(3 * width), "triples are whole");
    assert!(out.len() / 3 / width <= shares.len(), "a batch has not so many");
    let parts = [shares.a(), shares.b(), shares.c()];
    match width {
        1 => each::<1>(parts, out),
        2 => each::<2>(parts, out),
        4 => each::<4>(parts, out),
        _ => each::<8>(parts, out),
    }
}

/// The indices of the wrong triples of two parties' records, in ascending order.
///
/// # Panics
/// If ℓ is not 1, 8, 16, 32 or 64, or the records are not whole and of one number.
pub fn wrong_records<'r>(
    bits: u32,
    ours: &'r [u8],
    theirs: &'r [u8],
) -> impl Iterator<Item = usize> + use<'r> {
    assert!(matches!(bits, 1 | 8 | 16 | 32 | 64), "shares of 1, 8, 16, 32 or 64 bits");
    let len = record_len(bits);
    assert!(ours.len() == theirs.len() && ours.len().is_multiple_of(len), "triples are whole");
    let pairs = ours.chunks_exact(len).zip(theirs.chunks_exact(len)).enumerate();
    pairs.flat_map(move |(i, (ours, theirs))| {
        let wrong = match bits {
            1 => wrong_bits(ours, theirs),
            _ => u64::from(is_wrong(bits, ours, theirs)),
        };
        let each = triples_per_record(bits);
        (0..each).filter(move |k| wrong >> k & 1 == 1).map(move |k| i * each + k)
    })
}

/// The header of a NumPy file, version 1.0, of numbers of that type and shape, the last index fastest: the
/// bytes that `numpy.save` writes.
#[must_use]
pub fn numpy_header(number: &str, shape: &[u64]) -> Vec<u8> {
    /// Number of digits of the first dimension for which there is room, that it may grow in place.
    const GROWTH: usize = 21;
    let sizes: Vec<_> = shape.iter().map(|n| format!("{n}")).collect();
    let growth = GROWTH.saturating_sub(sizes.first().map_or(GROWTH, String::len));
    let comma = if sizes.len() == 1 { "," } else { "" };
    let sizes = sizes.join(", ");
    let mut text =
        format!("{{'descr': '{number}', 'fortran_order': False, 'shape': ({sizes}{comma}), }}");
    // Ten bytes before the text; it ends with a newline on a multiple of 64.
    let padded = (10 + text.len() + growth + 1).next_multiple_of(64) - 10;
    text.extend(core::iter::repeat_n(' ', padded - 1 - text.len()));
    text.push('\n');
    let len = u16::try_from(padded).unwrap_or(u16::MAX).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &len[..], text.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::params;

    /// A batch whose share i of part k is this.
    fn numbered(bits: u32) -> Shares {
        let set = params::of_bits(bits).unwrap();
        let mut shares = Shares::new(set);
        let width = set.width();
        for (k, part) in shares.parts_mut().into_iter().enumerate() {
            for (i, share) in part.chunks_exact_mut(width).enumerate() {
                let number = 0x0102_0304_0506_0000usize.wrapping_mul(i).wrapping_add(k);
                share.copy_from_slice(&number.to_le_bytes()[..width]);
            }
        }
        shares
    }

    #[test]
    fn numpy_headers_match_numpy() {
        let text = "{'descr': '<u8', 'fortran_order': False, 'shape': (10, 3), }";
        let mut expected = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        expected.extend(text.as_bytes());
        expected.resize(127, b' ');
        expected.push(b'\n');
        assert_eq!(Format::Npy.header(64, 10), expected);

        let header = Format::Npy.header(8, 1 << 40);
        assert_eq!((header.len(), header[127]), (128, b'\n'));
        let text = "{'descr': '|u1', 'fortran_order': False, 'shape': (1099511627776, 3), }";
        assert!(header[10..].starts_with(text.as_bytes()));
        assert!(
            numpy_header("|u1", &[5])[10..]
                .starts_with(b"{'descr': '|u1', 'fortran_order': False, 'shape': (5,), }")
        );
    }

    #[test]
    fn mp_spdz_files_begin_with_the_domain() {
        assert_eq!(Format::MpSpdz.header(64, 10), b"\x09\0\0\0\0\0\0\0Z2^64\x40\0\0\0");
        assert_eq!(Format::MpSpdz.path(64, 1), "2-DR-64/Triples-DR-P1");
        let of_bits = b"\x15\0\0\0\0\0\0\0binary secret\x08\0\0\0\0\0\0\0";
        assert_eq!(Format::MpSpdz.header(1, 640), of_bits);
        assert_eq!(Format::MpSpdz.path(1, 0), "2-DB-64/Triples-DB-P0");
        for format in Format::ALL {
            assert_eq!(
                [8, 16, 32, 64].map(|bits| format.has(bits))[..3],
                [format != Format::MpSpdz; 3]
            );
            assert!(format.has(1) && format.has(64) && !format.has(24));
        }
    }

    #[test]
    fn records_are_a_b_c_little_endian() {
        let mut out = [0; 72];
        write_records(&numbered(64), &mut out);
        let expected: Vec<u8> = (0..3u64)
            .flat_map(|i| (0..3).map(move |k| 0x0102_0304_0506_0000 * i + k))
            .flat_map(u64::to_le_bytes)
            .collect();
        assert_eq!(out[..], expected);
        let mut out = [0; 12];
        write_records(&numbered(16), &mut out);
        assert_eq!(out, [0, 0, 1, 0, 2, 0, 0, 0, 1, 0, 2, 0]);
        let mut out = [0; 6];
        write_records(&numbered(8), &mut out);
        assert_eq!(out, [0, 1, 2, 0, 1, 2]);
        let mut out = [0; 24];
        write_records(&numbered(32), &mut out);
        assert_eq!(out[12..], [0, 0, 6, 5, 1, 0, 6, 5, 2, 0, 6, 5]);
    }

    #[test]
    fn wrong_bits_are_named_by_their_place_in_a_word() {
        // (5 ⊕ 6)·(6 ⊕ 8) = 3 & 14 = 2 = 7 ⊕ 5.
        let records = |parts: [u64; 3]| parts.map(u64::to_le_bytes).concat().repeat(3);
        let (ours, mut theirs) = (records([5, 6, 7]), records([6, 8, 5]));
        assert_eq!(wrong_records(1, &ours, &theirs).count(), 0);
        theirs[16] ^= 1;
        theirs[24 + 23] ^= 0x82;
        assert!(wrong_records(1, &ours, &theirs).eq([0, 64 + 57, 64 + 63]));
    }

    #[test]
    fn wrong_records_are_named() {
        for bits in [8, 16, 32, 64] {
            let width = record_len(bits) / 3;
            // (1 + 2)·(3 + 4) = 20 + 1.
            let records = |parts: [u8; 3]| -> Vec<u8> {
                let record = parts.into_iter().flat_map(|x| {
                    let mut share = vec![x];
                    share.resize(width, 0);
                    share
                });
                let record: Vec<_> = record.collect();
                record.repeat(5)
            };
            let (ours, mut theirs) = (records([1, 3, 20]), records([2, 4, 1]));
            assert_eq!(wrong_records(bits, &ours, &theirs).count(), 0);
            for at in [1, 4] {
                theirs[at * 3 * width + 3 * width - 1] ^= 0x80;
            }
            assert!(wrong_records(bits, &ours, &theirs).eq([1, 4]), "{bits}");
        }
    }
}
