//! Encodings of text files. A row keeps the bytes of its file; only its fields become UTF-8.

#[cfg(feature = "encodings")]
use std::str::FromStr;
use std::{borrow::Cow, fmt};

/// The encoding of a text file: UTF-8 unless said otherwise. Others than UTF-8 and UTF-16 need the feature `encodings`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Encoding(Kind);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Utf8,
    Utf16 {
        big: bool,
    },
    #[cfg(feature = "encodings")]
    Other(&'static encoding_rs::Encoding),
}

impl Encoding {
    /// UTF-8.
    pub const UTF_8: Self = Self(Kind::Utf8);
    /// UTF-16 with the lower byte first, as Windows writes it.
    pub const UTF_16LE: Self = Self(Kind::Utf16 { big: false });
    /// UTF-16 with the higher byte first.
    pub const UTF_16BE: Self = Self(Kind::Utf16 { big: true });

    /// The encoding of a file that begins with the byte order mark of UTF-16.
    pub(super) fn of_mark(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0xff, 0xfe, ..] => Some(Self::UTF_16LE),
            [0xfe, 0xff, ..] => Some(Self::UTF_16BE),
            _ => None,
        }
    }

    /// Returns true for UTF-16, in which no byte by itself is a character.
    pub(super) fn is_wide(self) -> bool {
        matches!(self.0, Kind::Utf16 { .. })
    }

    /// Returns true if a byte of ASCII may be the second one of a character.
    pub(super) fn has_ascii_inside(self, byte: u8) -> bool {
        let _ = byte;
        match self.0 {
            #[cfg(feature = "encodings")]
            Kind::Other(it) => !it.is_single_byte() && (byte.is_ascii_digit() || byte > b';'),
            _ => false,
        }
    }

    /// The text of a whole record; none if the bytes are no such text.
    pub(super) fn text(self, bytes: &[u8]) -> Option<Cow<'_, str>> {
        match self.0 {
            Kind::Utf8 => std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
            Kind::Utf16 { big } => {
                let mut units = Units { big, ..Units::default() };
                let mut text = Vec::new();
                units.push(bytes, &mut text).ok()?;
                let is_whole = units.is_done();
                String::from_utf8(text).ok().filter(|_| is_whole).map(Cow::Owned)
            }
            #[cfg(feature = "encodings")]
            Kind::Other(it) => it.decode_without_bom_handling_and_without_replacement(bytes),
        }
    }

    /// A text in this encoding. A character that it does not have is written as `\u{1f600}`.
    pub(super) fn bytes(self, text: &str) -> Cow<'_, [u8]> {
        match self.0 {
            Kind::Utf8 => text.as_bytes().into(),
            Kind::Utf16 { big } => {
                let bytes = |unit: u16| if big { unit.to_be_bytes() } else { unit.to_le_bytes() };
                text.encode_utf16().flat_map(bytes).collect()
            }
            #[cfg(feature = "encodings")]
            Kind::Other(it) => match it.encode(text) {
                (bytes, _, false) => bytes,
                _ => {
                    let each = text.chars().flat_map(|c| {
                        let mut place = [0; 4];
                        match it.encode(c.encode_utf8(&mut place)) {
                            (bytes, _, false) => bytes.into_owned(),
                            _ => c.escape_unicode().to_string().into_bytes(),
                        }
                    });
                    each.collect()
                }
            },
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Kind::Utf8 => "UTF-8",
            Kind::Utf16 { big: false } => "UTF-16LE",
            Kind::Utf16 { big: true } => "UTF-16BE",
            #[cfg(feature = "encodings")]
            Kind::Other(it) => it.name(),
        })
    }
}

/// Takes names of the WHATWG Encoding Standard, such as `windows-1252`, `iso-8859-2`, `utf-16`, `shift_jis`.
#[cfg(feature = "encodings")]
impl FromStr for Encoding {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        use encoding_rs::{
            Encoding as Other, ISO_2022_JP, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE, X_USER_DEFINED,
        };
        match Other::for_label(text.as_bytes()) {
            Some(it) if it == UTF_8 => Ok(Self::UTF_8),
            Some(it) if it == UTF_16LE => Ok(Self::UTF_16LE),
            Some(it) if it == UTF_16BE => Ok(Self::UTF_16BE),
            Some(it) if ![ISO_2022_JP, REPLACEMENT, X_USER_DEFINED].contains(&it) => {
                Ok(Self(Kind::Other(it)))
            }
            Some(_) => Err(format!(
                "{text} cannot be read; convert the file with `iconv -f {text} -t UTF-8`"
            )),
            None => Err(format!(
                "unknown encoding {text}; there are utf-8, utf-16, windows-1250 to -1258, iso-8859-1 to -16, koi8-r, \
                 macintosh, shift_jis, euc-jp, euc-kr, big5, gbk, gb18030 and others of the WHATWG"
            )),
        }
    }
}

/// The most likely encoding of bytes that are not UTF-8, by its name.
pub(super) fn likely(bytes: &[u8]) -> &'static str {
    // Whole characters: a cut one at the end says nothing.
    let bytes = &bytes[..bytes.iter().rposition(u8::is_ascii).map_or(bytes.len(), |at| at + 1)];
    #[cfg(feature = "encodings")]
    for (it, name, signs) in [
        (encoding_rs::SHIFT_JIS, "shift_jis", '\u{3041}'..='\u{30ff}'),
        (encoding_rs::EUC_JP, "euc-jp", '\u{3041}'..='\u{30ff}'),
        (encoding_rs::EUC_KR, "euc-kr", '\u{ac00}'..='\u{d7a3}'),
        (encoding_rs::GBK, "gbk", '\u{4e00}'..='\u{9fa5}'),
    ] {
        let text = it.decode_without_bom_handling_and_without_replacement(bytes);
        let others = text.as_deref().unwrap_or_default().chars().filter(|c| !c.is_ascii());
        let (all, found) = others
            .fold((0, 0), |(all, found), c| (all + 1, found + usize::from(signs.contains(&c))));
        // Letters of the West are alone among ASCII; here a sign follows another one.
        let runs = bytes.windows(3).filter(|it| it.iter().all(|byte| !byte.is_ascii())).count();
        if all > 0 && 4 * found >= 3 * all && runs > 0 {
            return name;
        }
    }
    let others: Vec<_> = bytes.iter().filter(|byte| !byte.is_ascii()).collect();
    let in_runs = bytes.windows(2).filter(|it| !it[0].is_ascii() && !it[1].is_ascii()).count();
    match others.iter().filter(|byte| ***byte >= 0xc0).count() {
        letters if 10 * letters >= 9 * others.len() && 2 * in_runs > others.len() => "windows-1251",
        _ => "windows-1252",
    }
}

/// Units of UTF-16 that come in pieces.
#[derive(Default)]
pub(super) struct Units {
    big: bool,
    byte: Option<u8>,
    high: Option<u16>,
}

impl Units {
    pub(super) fn of(encoding: Encoding) -> Self {
        Self { big: encoding == Encoding::UTF_16BE, ..Self::default() }
    }

    /// Adds what the next bytes say to a text in UTF-8.
    ///
    /// # Errors
    /// If half of a pair stands alone. Everything before it has been added.
    pub(super) fn push(&mut self, bytes: &[u8], to: &mut Vec<u8>) -> Result<(), ()> {
        for &byte in bytes {
            let Some(first) = self.byte.take() else {
                self.byte = Some(byte);
                continue;
            };
            let both = [first, byte];
            let unit = if self.big { u16::from_be_bytes(both) } else { u16::from_le_bytes(both) };
            let pair = [self.high.unwrap_or(unit), unit];
            let pair = if self.high.take().is_some() { &pair[..] } else { &pair[1..] };
            match char::decode_utf16(pair.iter().copied()).next() {
                Some(Ok(c)) => to.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
                Some(Err(_)) if pair.len() == 1 && (0xd800..0xdc00).contains(&unit) => {
                    self.high = Some(unit);
                }
                _ => return Err(()),
            }
        }
        Ok(())
    }

    /// Returns true if no character is cut.
    pub(super) fn is_done(&self) -> bool {
        self.byte.is_none() && self.high.is_none()
    }
}
