//! Numbers of up to 128 bits, one after another in bytes, with the lowest bit first of each number and each byte.

use alloc::{vec, vec::Vec};

use foxtrot_ot::{Decode, expect_len};

/// Bytes that hold 128 bits from any bit of the first on.
pub(crate) const WINDOW: usize = 17;

/// Bytes of n numbers of so many bits.
pub(crate) const fn len(n: usize, bits: u32) -> usize {
    (n * bits as usize).div_ceil(8)
}

/// The low bits, so many, of numbers. Zeros fill the last byte.
pub(crate) fn pack(numbers: impl ExactSizeIterator<Item = u128>, bits: u32) -> Vec<u8> {
    let len = len(numbers.len(), bits);
    let mut bytes = vec![0; len + WINDOW];
    for (k, number) in numbers.enumerate() {
        put(&mut bytes, k * bits as usize, number & below(bits));
    }
    bytes.truncate(len);
    bytes
}

/// n numbers of so many bits from a message.
///
/// # Errors
/// [`Decode::Length`] if it has another length; [`Decode::SpareBits`] if bits behind the last number are not zero.
pub(crate) fn unpack(
    message: &'static str,
    mut bytes: Vec<u8>,
    n: usize,
    bits: u32,
) -> Result<impl Iterator<Item = u128>, Decode> {
    expect_len(message, &bytes, len(n, bits))?;
    expect_no_more(message, &bytes, n * bits as usize)?;
    bytes.resize(bytes.len() + WINDOW, 0);
    Ok((0..n).map(move |k| get(&bytes, k * bits as usize) & below(bits)))
}

/// Refuses ones behind the first `bits` bits in the last byte.
pub(crate) fn expect_no_more(
    message: &'static str,
    bytes: &[u8],
    bits: usize,
) -> Result<(), Decode> {
    match bytes.last() {
        Some(last) if !bits.is_multiple_of(8) && last >> (bits % 8) != 0 => {
            Err(Decode::SpareBits { message })
        }
        _ => Ok(()),
    }
}

/// Ones below this bit.
pub(crate) const fn below(bit: u32) -> u128 {
    match 1_u128.checked_shl(bit) {
        Some(power) => power - 1,
        None => u128::MAX,
    }
}

/// Adds the bits of a number to bits that are zero.
pub(crate) fn put(bytes: &mut [u8], bit: usize, number: u128) {
    let Some(bytes) = bytes.get_mut(bit / 8..).and_then(|bytes| bytes.first_chunk_mut::<WINDOW>())
    else {
        return;
    };
    let shift = bit % 8;
    let [low @ .., high] = bytes;
    let low: &mut [u8; 16] = low;
    *low = (u128::from_le_bytes(*low) | number << shift).to_le_bytes();
    *high |= (number >> 120 >> (8 - shift)) as u8;
}

/// The 128 bits from a bit on.
pub(crate) fn get(bytes: &[u8], bit: usize) -> u128 {
    let Some(bytes) = bytes.get(bit / 8..).and_then(|bytes| bytes.first_chunk::<WINDOW>()) else {
        return 0;
    };
    let shift = bit % 8;
    let low = u128::from_le_bytes(core::array::from_fn(|k| bytes[k]));
    // In two steps, as the shift may be by all 128 bits.
    low >> shift | u128::from(bytes[16]) << 120 << (8 - shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_and_bits_behind_the_last_are_refused() {
        for bits in 1..=128 {
            for n in [0, 1, 2, 7, 8, 9] {
                let number = |k: usize| {
                    (k as u128 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)
                };
                let bytes = pack((0..n).map(number), bits);
                assert_eq!(bytes.len(), len(n, bits));
                let back = unpack("x", bytes.clone(), n, bits).unwrap();
                assert!(back.eq((0..n).map(|k| number(k) & below(bits))), "{n} of {bits}");
                let longer = unpack("x", [&bytes[..], &[0]].concat(), n, bits).map(|_| ());
                let (expected, got) = (bytes.len(), bytes.len() + 1);
                assert_eq!(longer, Err(Decode::Length { message: "x", expected, got }));
                let spare = 8 * bytes.len() - n * bits as usize;
                for bit in 8 - spare..8 {
                    let mut wrong = bytes.clone();
                    wrong.iter_mut().last().into_iter().for_each(|last| *last |= 1 << bit);
                    let refused = unpack("x", wrong, n, bits).map(|_| ());
                    assert_eq!(refused, Err(Decode::SpareBits { message: "x" }));
                }
            }
        }
    }

    #[test]
    fn bit_after_bit_the_lowest_first() {
        assert_eq!(pack([0b101, 0b1_110, 0b011].into_iter(), 3), [0b1111_0101, 0b0]);
        assert_eq!(pack([1_u128 << 127 | 1, 2].into_iter(), 128)[..17], {
            let mut first = [0; 17];
            (first[0], first[15], first[16]) = (1, 0x80, 2);
            first
        });
    }
}
