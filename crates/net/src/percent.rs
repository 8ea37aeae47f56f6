//! Percent-encoding (RFC 3986): of names in files, a line each, and in the paths of WebSockets.

/// Encodes all bytes but ASCII letters, digits and `-._~:`, by upper-case digits.
pub(crate) fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b':' => {
                encoded.push(char::from(byte));
            }
            _ => encoded += &format!("%{byte:02X}"),
        }
    }
    encoded
}

/// Decodes a text; `None` for a `%` without two hexadecimal digits, and for bytes that are not UTF-8.
pub(crate) fn decode(text: &str) -> Option<String> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|it| u8::try_from(it).ok());
    let (mut bytes, mut decoded) = (text.bytes(), Vec::with_capacity(text.len()));
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => digit(bytes.next()?)? << 4 | digit(bytes.next()?)?,
            byte => byte,
        });
    }
    String::from_utf8(decoded).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_text_survives_as_one_word_of_ascii(text: String) {
            let word = encode(&text);
            prop_assert!(word.bytes().all(|byte| byte.is_ascii_graphic()), "{word:?}");
            prop_assert_eq!(decode(&word), Some(text));
        }
    }

    #[test]
    fn a_faulty_encoding_is_no_text() {
        for wrong in ["%", "a%4", "%4g", "%+4", "% 4", "%ff", "%C3", "%C3%28", "%ED%A0%80"] {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
        assert_eq!(decode("a%40b+%c3%BC").as_deref(), Some("a@b+ü"));
        assert_eq!(encode("token a@b +ü%\n"), "token%20a%40b%20%2B%C3%BC%25%0A");
    }
}
