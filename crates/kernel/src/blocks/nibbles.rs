//! The S-box of AES by lookups of four bits, which instructions for permuting bytes do within a register
//! ([Ham09], with a field of our own choice): tables, made at compile time.
//!
//! An element of GF(2⁸) is k + i·w for i and k of the subfield GF(2⁴), where w + w¹⁶ = w¹⁷ = a. With j = i + k and the norm
//! N = a·i² + a·i·k + k², two inversions of four bits give
//!
//! ```text
//! 1/(1/i + a/k) + j = N/(k + a·i)
//! 1/(1/j + a/k) + i = N/(k + a·j)
//! ```
//!
//! and of the inverses of these two the inverse of the element is a linear function. An infinite value has a bit beyond the
//! four, and a lookup with such an index gives 0.
//!
//! [Ham09]: https://shiftleft.org/papers/vector_aes/

/// The tables of one S-box. Codes of four bits stand for elements of the subfield.
pub(crate) struct Tables {
    /// The parts of the low and the high half of a byte in i·16 + k: their sum.
    pub(crate) input: [[u8; 16]; 2],
    /// The inverse.
    pub(crate) inverse: [u8; 16],
    /// a over the index.
    pub(crate) ratio: [u8; 16],
    /// The parts of both results in the S-box's output without its constant.
    pub(crate) output: [[u8; 16]; 2],
}

/// The constant of the S-box, which MixColumns leaves as it is.
pub(crate) const CONSTANT: u8 = 0x63;

/// The infinities of both tables: neither they nor their sum are an index.
const INFINITE: [u8; 2] = [0x80, 0x40];

pub(crate) const TABLES: Tables = tables();

const fn product(mut a: u8, mut b: u8) -> u8 {
    let mut product = 0;
    while b > 0 {
        product ^= a * (b & 1);
        a = (a << 1) ^ (0x1b * (a >> 7));
        b >>= 1;
    }
    product
}

const fn power(a: u8, mut exponent: u8) -> u8 {
    let (mut power, mut square) = (1, a);
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = product(power, square);
        }
        square = product(square, square);
        exponent >>= 1;
    }
    power
}

const fn inverse(a: u8) -> u8 {
    power(a, 254)
}

const fn tables() -> Tables {
    let mut g = 2;
    while power(g, 16) != g || power(g, 4) == g {
        g += 1;
    }
    // The elements of the subfield by their codes, and back.
    let (mut element, mut code) = ([0; 16], [0; 256]);
    let mut n = 0_u8;
    while n < 16 {
        let mut bit = 0;
        while bit < 4 {
            element[n as usize] ^= power(g, bit) * (n >> bit & 1);
            bit += 1;
        }
        code[element[n as usize] as usize] = n;
        n += 1;
    }
    let mut w = 2;
    while power(w, 16) ^ w != power(w, 17) || power(w, 16) == w {
        w += 1;
    }
    let a = power(w, 17);
    // Each byte as i·16 + k.
    let (mut split, mut both) = ([0; 256], 0_u8);
    loop {
        let of_w = product(element[both as usize >> 4], w);
        split[(element[both as usize & 15] ^ of_w) as usize] = both;
        if both == u8::MAX {
            break;
        }
        both += 1;
    }
    let of_second = product(w, inverse(product(a, a)));
    let of_first = 1 ^ product(w, inverse(a)) ^ of_second;
    let mut all =
        Tables { input: [[0; 16]; 2], inverse: [0; 16], ratio: [0; 16], output: [[0; 16]; 2] };
    let mut n = 0;
    while n < 16 {
        all.input[0][n] = split[n];
        all.input[1][n] = split[n << 4];
        let over = inverse(element[n]);
        all.inverse[n] = if n == 0 { INFINITE[0] } else { code[over as usize] };
        all.ratio[n] = if n == 0 { INFINITE[1] } else { code[product(a, over) as usize] };
        // Both results are 0 for the element 0 only, whose inverse is to be 0.
        all.output[0][n] = linear(product(over, of_first));
        all.output[1][n] = linear(product(over, of_second));
        n += 1;
    }
    all
}

/// The linear part of the S-box behind the inversion.
const fn linear(x: u8) -> u8 {
    x ^ x.rotate_left(1) ^ x.rotate_left(2) ^ x.rotate_left(3) ^ x.rotate_left(4)
}

const fn look_up(table: &[u8; 16], index: u8) -> u8 {
    if index < 16 { table[index as usize] } else { 0 }
}

/// The S-box of a byte without its constant, as vectors compute it.
const fn substitute(x: u8) -> u8 {
    let t = &TABLES;
    let split = look_up(&t.input[0], x & 15) ^ look_up(&t.input[1], x >> 4);
    let (i, k) = (split >> 4, split & 15);
    let (j, ratio) = (i ^ k, look_up(&t.ratio, k));
    let first = look_up(&t.inverse, look_up(&t.inverse, i) ^ ratio) ^ j;
    let second = look_up(&t.inverse, look_up(&t.inverse, j) ^ ratio) ^ i;
    look_up(&t.output[0], first) ^ look_up(&t.output[1], second)
}

/// FIPS 197, section 5.1.1, for all bytes.
const _: () = {
    let mut x = 0;
    while x < u8::MAX {
        assert!(substitute(x) == linear(inverse(x)));
        x += 1;
    }
    assert!(substitute(x) == linear(inverse(x)));
    assert!(substitute(0x53) ^ CONSTANT == 0xed);
};
