//! The beginning of a text file: nothing that it should not have, perhaps a byte order mark, perhaps Excel's
//! `sep=;`.

use std::path::Path;

use crate::failure::Failure;

pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

pub(super) const ENCODING: &str =
    "save the file as UTF-8, for example with `iconv -f ENCODING -t UTF-8`";

/// Bytes that are enough to know what a file is: a byte order mark and `sep=;` with its line end.
pub(super) const LOOKED_AT: usize = 16;

const UNPACK: &str = "unpack the archive first";
const SAVE_AS_CSV: &str = "save an Excel file as CSV UTF-8, or unpack the archive";

pub(super) const PARQUET: &str =
    "write it as CSV, or intersect it from Python; docs/psi-files.md has both ways";

/// First bytes of what is no text, what it is, and what to do.
const OTHERS: [(&[u8], &str, &str); 10] = [
    (b"\x1f\x8b", "compressed with gzip", "unpack it with `gunzip`"),
    (b"\x28\xb5\x2f\xfd", "compressed with Zstandard", "unpack it with `unzstd`"),
    (b"BZh91AY&SY", "compressed with bzip2", "unpack it with `bunzip2`"),
    (b"\xfd7zXZ\0", "compressed with xz", "unpack it with `unxz`"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", UNPACK),
    (b"PK\x03\x04", "an Excel file (.xlsx) or another ZIP archive", SAVE_AS_CSV),
    (b"\xd0\xcf\x11\xe0", "an Excel file (.xls) or another one of Office", SAVE_AS_CSV),
    (b"PAR1\x15", "a Parquet file", PARQUET),
    (b"\xff\xfe", "UTF-16", ENCODING),
    (b"\xfe\xff", "UTF-16", ENCODING),
];

/// Fails if a file that begins so is no text in UTF-8, and says what it is.
pub(super) fn check(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let other = OTHERS.iter().find(|(first, ..)| bytes.starts_with(first));
    // Without a byte order mark every other byte of what most files begin with is zero.
    let other = other.map(|(_, what, hint)| (*what, *hint)).or(match bytes {
        [0, a, 0, b, ..] | [a, 0, b, 0, ..] if *a != 0 && *b != 0 => Some(("UTF-16", ENCODING)),
        _ => None,
    });
    match other {
        Some((what, hint)) => {
            Err(Failure::usage(format!("{} is {what}", path.display())).hint(hint))
        }
        None => Ok(()),
    }
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
            (&b"\x1f\x8b\x08\0"[..], "a.csv is compressed with gzip; unpack it with `gunzip`"),
            (
                b"PK\x03\x04\x14",
                "a.csv is an Excel file (.xlsx) or another ZIP archive; save an Excel file as CSV",
            ),
            (b"PAR1\x15", "a.csv is a Parquet file; write it as CSV"),
            (b"i\0d\0,\0", "a.csv is UTF-16; save the file as UTF-8"),
            (b"\0i\0d\0,", "a.csv is UTF-16; save the file as UTF-8"),
            (b"\xff\xfei\0", "a.csv is UTF-16; save the file as UTF-8"),
        ] {
            let failure = check(Path::new("a.csv"), bytes).unwrap_err();
            let said = format!("{}; ", failure.message()) + &failure.hint.unwrap();
            assert!(said.starts_with(words), "{said}");
        }
        for text in
            [&b""[..], b"P", b"PK", b"PAR1001", b"BZh", b"id,name\n", b"\xef\xbb\xbfid", b"\x1f"]
        {
            check(Path::new("a.csv"), text).unwrap();
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
