//! The hello's layout: `docs/wire/README.md`, section 3.

use super::{Hello, MAX_BYTES, Role, Table, VERSION};
use crate::HelloError;

const MAGIC: &[u8; 8] = b"FOXTROT\0";

/// The first message of a peer, as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heard {
    /// The peer's role.
    pub role: Role,
    /// Its terms. The strings are as they came: see [`printable`](crate::printable).
    pub terms: Table,
    /// Its offers.
    pub offers: Table,
    pub(super) nonce: [u8; 32],
    pub(super) fingerprint: Option<[u8; 32]>,
}

pub(super) fn encode(hello: &Hello, nonce: &[u8; 32]) -> Result<Vec<u8>, HelloError> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(nonce);
    bytes.push(match hello.role {
        Role::Sender => 0,
        Role::Receiver => 1,
    });
    match &hello.binding {
        None => bytes.push(0),
        Some(binding) => {
            bytes.push(32);
            bytes.extend(binding.ours);
        }
    }
    encode_table(&mut bytes, &hello.terms)?;
    encode_table(&mut bytes, &hello.offers)?;
    match bytes.len() {
        0..=MAX_BYTES => Ok(bytes),
        _ => Err(HelloError::TooLong { what: "hello", max: MAX_BYTES }),
    }
}

pub(super) fn encode_table(bytes: &mut Vec<u8>, table: &Table) -> Result<(), HelloError> {
    let length = |len: usize| {
        u16::try_from(len).map_err(|_| HelloError::TooLong { what: "hello", max: MAX_BYTES })
    };
    bytes.extend(length(table.len())?.to_le_bytes());
    for (key, value) in table {
        let key_length = u8::try_from(key.len())
            .map_err(|_| HelloError::TooLong { what: "key in the hello", max: 255 })?;
        bytes.push(key_length);
        bytes.extend(key.as_bytes());
        bytes.extend(length(value.len())?.to_le_bytes());
        bytes.extend(value.as_bytes());
    }
    Ok(())
}

impl Heard {
    /// Reads the first message of a peer.
    ///
    /// # Errors
    /// [`HelloError::NotAHello`], [`HelloError::Version`], [`HelloError::Malformed`].
    pub fn read(bytes: &[u8]) -> Result<Self, HelloError> {
        let mut rest = Rest(bytes);
        if rest.array() != Some(*MAGIC) {
            return Err(HelloError::NotAHello);
        }
        match rest.u16() {
            Some(VERSION) => rest.body().ok_or(HelloError::Malformed),
            Some(peer) => Err(HelloError::Version { peer, ours: VERSION }),
            None => Err(HelloError::NotAHello),
        }
    }
}

/// The bytes not decoded yet. Every method returns `None` on bytes that no encoder makes.
pub(super) struct Rest<'a>(pub(super) &'a [u8]);

impl Rest<'_> {
    fn body(mut self) -> Option<Heard> {
        let heard = Heard {
            nonce: self.array()?,
            role: match self.array()? {
                [0] => Role::Sender,
                [1] => Role::Receiver,
                _ => return None,
            },
            fingerprint: match self.array()? {
                [0] => None,
                [32] => Some(self.array()?),
                _ => return None,
            },
            terms: self.table()?,
            offers: self.table()?,
        };
        self.ended().then_some(heard)
    }

    pub(super) fn ended(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn table(&mut self) -> Option<Table> {
        let mut table = Table::new();
        for _ in 0..self.u16()? {
            let [key_length] = self.array()?;
            let key = self.string(key_length.into())?;
            let value_length = self.u16()?;
            let value = self.string(value_length.into())?;
            if table.last_key_value().is_some_and(|(last, _)| *last >= key) {
                return None;
            }
            table.insert(key, value);
        }
        Some(table)
    }

    fn string(&mut self, len: usize) -> Option<String> {
        let (head, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        core::str::from_utf8(head).ok().map(str::to_owned)
    }

    fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*head)
    }
}

/// A decimal number without sign or leading zeros.
#[must_use]
pub fn decimal(text: &[u8]) -> Option<u64> {
    match text {
        [b'0'] => Some(0),
        [b'1'..=b'9', rest @ ..] if rest.iter().all(u8::is_ascii_digit) => {
            str::from_utf8(text).ok()?.parse().ok()
        }
        _ => None,
    }
}

/// A number that the peer tells by this name, at most a given one. `what` it is, the error says.
///
/// # Errors
/// [`HelloError::Offer`].
pub fn number<T: TryFrom<u64> + PartialOrd>(
    table: &Table,
    key: &str,
    what: &'static str,
    most: T,
) -> Result<T, HelloError> {
    let value = table.get(key);
    let number = value.and_then(|it| decimal(it.as_bytes())).and_then(|it| T::try_from(it).ok());
    let number = number.filter(|it| *it <= most);
    number.ok_or_else(|| HelloError::Offer { key: what, value: value.cloned() })
}

/// Bytes in hexadecimal digits.
#[must_use]
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// 32 bytes of 64 lower-case hexadecimal digits.
#[must_use]
pub fn of_hexadecimal(text: &str) -> Option<[u8; 32]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let digits: Option<Vec<_>> = text.bytes().map(digit).collect();
    let digits: [u8; 64] = digits?.try_into().ok()?;
    let mut pairs = digits.as_chunks().0.iter().map(|[high, low]| high << 4 | low);
    Some([(); 32].map(|()| pairs.next().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_decimal_without_ornaments() {
        for (text, number) in [("0", 0), ("1", 1), ("10", 10), ("65535", 65535)] {
            assert_eq!(decimal(text.as_bytes()), Some(number));
        }
        for wrong in ["", "00", "01", "-1", "+1", " 1", "1 ", "x", "1x", "99999999999999999999"] {
            assert_eq!(decimal(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
