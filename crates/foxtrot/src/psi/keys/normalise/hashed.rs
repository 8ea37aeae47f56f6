//! Hashes of keys, for partners whose column has them already.

use sha2::Digest;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hash {
    Sha256,
    Sha1,
    Md5,
}

impl Hash {
    /// Version 1: the hash in hexadecimal; nothing of nothing.
    pub(super) fn of(self, text: &str) -> String {
        if text.is_empty() { String::new() } else { self.hex(text) }
    }

    fn hex(self, text: &str) -> String {
        match self {
            Self::Sha256 => in_hex(&sha2::Sha256::digest(text)),
            Self::Sha1 => in_hex(&sha1::Sha1::digest(text)),
            Self::Md5 => in_hex(&md5::Md5::digest(text)),
        }
    }

    /// A hash that is in the file, in hexadecimal or Base64; nothing for what is none, and for the hash of an empty text.
    pub(super) fn read(self, text: &str) -> String {
        let len = match self {
            Self::Sha256 => 32,
            Self::Sha1 => 20,
            Self::Md5 => 16,
        };
        let text = text.trim();
        let hash = match text.len() == 2 * len && text.bytes().all(|byte| byte.is_ascii_hexdigit())
        {
            true => text.to_ascii_lowercase(),
            false => base64(text, len).map_or_else(String::new, |bytes| in_hex(&bytes)),
        };
        if hash == self.hex("") { String::new() } else { hash }
    }
}

fn in_hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}

/// Bytes of this number in Base64 (RFC 4648, section 4 or 5), with or without its padding.
fn base64(text: &str, len: usize) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    let padding = text.len() - digits.len();
    if digits.len() != (4 * len).div_ceil(3) || ![0, 2 - (len + 2) % 3].contains(&padding) {
        return None;
    }
    let (mut bytes, mut bits, mut held) = (Vec::with_capacity(len), 0u32, 0);
    for digit in digits.bytes() {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        (bits, held) = (bits << 6 | u32::from(value), held + 6);
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held).to_le_bytes()[0]);
            bits &= (1 << held) - 1;
        }
    }
    // Bits that are left are zeros: each hash has one form.
    (bits == 0).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_in_any_form_is_the_hash_of_the_text() {
        let hex = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Hash::Sha256.of("abc"), hex);
        for text in [
            hex,
            &hex.to_uppercase(),
            " ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=\n",
            "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0",
        ] {
            assert_eq!(Hash::Sha256.read(text), hex, "{text}");
        }
        let sha1 = "a9993e364706816aba3e25717850c26c9cd0d89d";
        assert_eq!(
            (Hash::Sha1.of("abc"), Hash::Sha1.read("qZk+NkcGgWq6PiVxeFDCbJzQ2J0=")),
            (sha1.into(), sha1.into())
        );
        let md5 = "900150983cd24fb0d6963f7d28e17f72";
        assert_eq!(
            (Hash::Md5.of("abc"), Hash::Md5.read("kAFQmDzST7DWlj99KOF/cg==")),
            (md5.into(), md5.into())
        );
    }

    #[test]
    fn no_hash_and_the_hash_of_nothing_are_no_key() {
        for text in [
            "",
            "abc",
            "a@b.example",
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
            "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa1",
            "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0==",
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015a",
            "a9993e364706816aba3e25717850c26c9cd0d89d",
        ] {
            assert_eq!(Hash::Sha256.read(text), "", "{text}");
        }
        for hash in [Hash::Sha256, Hash::Sha1, Hash::Md5] {
            assert_eq!((hash.of(""), hash.read(&hash.hex(""))), (String::new(), String::new()));
        }
    }
}
