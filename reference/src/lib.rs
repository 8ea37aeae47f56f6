//! Foxtrot's protocols in schoolbook form: `docs/wire` turned into the shortest Rust that
//! produces the same bytes.
//!
//! Start with [`roted`] or [`extension`] ([`two_round`] is another of these), which read top-down in
//! the order of the messages
//! ([`roted_figure1`] is the protocol that the first repairs; [`bdgm`], [`pvw`] over [`p256`], and
//! [`rot_from_ot`] are the paper's other systems; [`mcquoid_rosulek_roy`], [`masny_rindal`],
//! [`naor_pinkas`] and [`csw`] over [`ristretto`], and [`chou_orlandi`], over [`curve25519`], are base OTs from
//! elliptic curves, some with the cipher [`rijndael`]; [`one_of_n`] extends to one of many; [`sealed`] carries
//! messages under keys, with [`chacha`]; [`session`] is what is said before and after; [`paxos`] and [`vole_psi`] are private set intersection, with
//! the stores of [`okvs`], [`join`] what may follow them, and [`circuit`] counts and sums; [`rlwe`] and [`gilboa`] make multiplication triples;
//! [`silent`] makes VOLE and OTs from few OTs); look up [`ring`] (polynomials and their
//! encodings), [`oracle`] (hashing, session ids), [`mod@blake3`] and [`aes`] when a name there raises
//! a query.
//!
//! The crate depends on nothing but the standard library and shares no line with the fast code, so
//! that two independent readings of the same page can be compared. It generates the test vectors
//! (`src/bin/vectors.rs`). It is not for use: it is slow, its running time depends on secrets, it
//! never erases them, and it answers bad input with a panic.

pub mod aegis;
pub mod aes;
pub mod bdgm;
pub mod blake3;
pub mod chacha;
pub mod chou_orlandi;
pub mod circuit;
pub mod csw;
pub mod curve25519;
pub mod extension;
pub mod gilboa;
pub mod join;
pub mod masny_rindal;
pub mod mcquoid_rosulek_roy;
pub mod naor_pinkas;
pub mod okvs;
pub mod one_of_n;
pub mod oracle;
pub mod p256;
pub mod paxos;
pub mod pvw;
pub mod rijndael;
pub mod ring;
pub mod ristretto;
pub mod rlwe;
pub mod rot_from_ot;
pub mod roted;
pub mod roted_figure1;
pub mod sealed;
pub mod session;
pub mod silent;
pub mod two_round;
pub mod vole_psi;

/// Returns the bytes of `bits`, the first bit being the least significant of the first byte.
#[must_use]
pub fn bytes_from_bits(bits: &[bool]) -> Vec<u8> {
    let byte = |eight: &[bool]| (0..).zip(eight).map(|(k, &bit)| u8::from(bit) << k).sum();
    bits.chunks(8).map(byte).collect()
}

/// Returns the first `count` bits of `bytes`, the inverse of [`bytes_from_bits`].
#[must_use]
pub fn bits_from_bytes(bytes: &[u8], count: usize) -> Vec<bool> {
    (0..count).map(|k| bytes[k / 8] >> (k % 8) & 1 == 1).collect()
}

/// Returns the bytes of `nibbles`, two to a byte, the first one in the lower half. The last byte may have one.
#[must_use]
pub fn bytes_from_nibbles(nibbles: &[u8]) -> Vec<u8> {
    nibbles.chunks(2).map(|two| two[0] | two.get(1).unwrap_or(&0) << 4).collect()
}

/// Returns `bytes` in lower-case hexadecimal digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the bytewise sum of two strings of one length.
fn xor(a: &[u8], b: &[u8]) -> Vec<u8> {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| a ^ b).collect()
}
