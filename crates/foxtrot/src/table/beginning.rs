//! The beginning of a text file: nothing that it should not have, perhaps a byte order mark, perhaps Excel's
//! `sep=;`.

use super::What;

pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

pub(super) const ENCODING: &str =
    "save the file as UTF-8, for example with `iconv -f ENCODING -t UTF-8`";

/// Bytes that are enough to know what a file is: a byte order mark and `sep=;` with its line end.
pub(super) const LOOKED_AT: usize = 16;

/// The kind of a file that is no text in UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoText {
    /// A word for programs.
    pub code: &'static str,
    /// The kind in words.
    pub is: &'static str,
    /// Advice.
    pub hint: &'static str,
}

impl NoText {
    /// A Parquet file.
    pub const PARQUET: Self = Self::new(
        "parquet",
        "a Parquet file",
        "write it as CSV, or intersect it from Python; docs/psi-files.md has both ways",
    );
    const UTF_16: Self = Self::new("utf-16", "UTF-16", ENCODING);

    const fn new(code: &'static str, is: &'static str, hint: &'static str) -> Self {
        Self { code, is, hint }
    }

    const fn packed(is: &'static str, hint: &'static str) -> Self {
        Self::new("packed", is, hint)
    }

    const fn office(is: &'static str) -> Self {
        Self::new("excel", is, "save an Excel file as CSV UTF-8, or unpack the archive")
    }
}

/// First bytes of what is no text.
const OTHERS: [(&[u8], NoText); 10] = [
    (b"\x1f\x8b", NoText::packed("compressed with gzip", "unpack it with `gunzip`")),
    (b"\x28\xb5\x2f\xfd", NoText::packed("compressed with Zstandard", "unpack it with `unzstd`")),
    (b"BZh91AY&SY", NoText::packed("compressed with bzip2", "unpack it with `bunzip2`")),
    (b"\xfd7zXZ\0", NoText::packed("compressed with xz", "unpack it with `unxz`")),
    (b"7z\xbc\xaf\x27\x1c", NoText::packed("a 7z archive", "unpack the archive first")),
    (b"PK\x03\x04", NoText::office("an Excel file (.xlsx) or another ZIP archive")),
    (b"\xd0\xcf\x11\xe0", NoText::office("an Excel file (.xls) or another one of Office")),
    (b"PAR1\x15", NoText::PARQUET),
    (b"\xff\xfe", NoText::UTF_16),
    (b"\xfe\xff", NoText::UTF_16),
];

/// Fails if a file that begins so is no text in UTF-8, and says what it is.
pub(super) fn check(bytes: &[u8]) -> Result<(), What> {
    let other = OTHERS.iter().find(|(first, _)| bytes.starts_with(first)).map(|(_, it)| *it);
    // Without a byte order mark every other byte of what most files begin with is zero.
    let other = other.or(match bytes {
        [0, a, 0, b, ..] | [a, 0, b, 0, ..] if *a != 0 && *b != 0 => Some(NoText::UTF_16),
        _ => None,
    });
    other.map_or(Ok(()), |it| Err(What::NoText(it)))
}

/// The delimiter that the first line names for Excel, and the length of the line with its end.
pub(super) fn named_delimiter(bytes: &[u8]) -> Option<(u8, usize)> {
    let (word, rest) = bytes.split_at_checked(4)?;
    let (&delimiter, end) = rest.split_first()?;
    let len = match end {
        [b'\n', ..] => 6,
        [b'\r', b'\n', ..] => 7,
        _ => return None,
    };
    let is_one = delimiter.is_ascii() && !matches!(delimiter, b'"' | b'\n' | b'\r');
    (word.eq_ignore_ascii_case(b"sep=") && is_one).then_some((delimiter, len))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_no_text_is_named_by_its_first_bytes() {
        for (bytes, words) in [
            (&b"\x1f\x8b\x08\0"[..], "compressed with gzip; unpack it with `gunzip`"),
            (
                b"PK\x03\x04\x14",
                "an Excel file (.xlsx) or another ZIP archive; save an Excel file as CSV",
            ),
            (b"PAR1\x15", "a Parquet file; write it as CSV"),
            (b"i\0d\0,\0", "UTF-16; save the file as UTF-8"),
            (b"\0i\0d\0,", "UTF-16; save the file as UTF-8"),
            (b"\xff\xfei\0", "UTF-16; save the file as UTF-8"),
        ] {
            let Err(What::NoText(NoText { is, hint, .. })) = check(bytes) else { panic!() };
            let said = format!("{is}; {hint}");
            assert!(said.starts_with(words), "{said}");
        }
        for text in
            [&b""[..], b"P", b"PK", b"PAR1001", b"BZh", b"id,name\n", b"\xef\xbb\xbfid", b"\x1f"]
        {
            check(text).unwrap();
        }
    }

    #[test]
    fn the_first_line_may_name_the_delimiter() {
        assert_eq!(named_delimiter(b"sep=;\nid;name"), Some((b';', 6)));
        assert_eq!(named_delimiter(b"SEP=\t\r\n"), Some((b'\t', 7)));
        for text in [
            &b"sep=;"[..],
            b"sep=;\r",
            b"sep=\n\n",
            b"sep=;;\n",
            b"sep=\"\n",
            b"separator\n",
            b"sep",
        ] {
            assert_eq!(named_delimiter(text), None);
        }
    }
}
