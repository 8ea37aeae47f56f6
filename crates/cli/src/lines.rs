//! Messages and choices as lines: read strictly, written one after another.

use std::{
    fs,
    io::{self, Write},
    path::Path,
};

use foxtrot_net::{
    hello::{decimal, hexadecimal},
    small::is_device,
};
use foxtrot_ot::convert::MAX_MESSAGE;
use zeroize::Zeroizing;

use crate::failure::Failure;

/// Messages that were received.
pub(crate) type Received = Vec<Zeroizing<Vec<u8>>>;

/// Messages to send, those of a transfer one after another: as many bytes as they have, and 8 for each.
pub(crate) struct Messages {
    bytes: Zeroizing<Vec<u8>>,
    ends: Vec<usize>,
}

impl Messages {
    fn with_capacity(bytes: usize, messages: usize) -> Self {
        // Without growing, which would leave copies behind.
        let bytes = Zeroizing::new(Vec::with_capacity(bytes));
        Self { bytes, ends: Vec::with_capacity(messages) }
    }

    fn push(&mut self, message: &[u8]) {
        self.bytes.extend_from_slice(message);
        self.ends.push(self.bytes.len());
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn get(&self, i: usize) -> &[u8] {
        let start = i.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[i]]
    }

    /// The length of the longest message.
    pub(crate) fn longest(&self) -> usize {
        (0..self.len()).map(|i| self.get(i).len()).max().unwrap_or(0)
    }
}

/// Reads the messages of transfers of one of so many: lines, as many for each.
pub(crate) fn read_messages(path: &Path, one_of: usize, hex: bool) -> Result<Messages, Failure> {
    let content = read(path)?;
    let mut messages = Messages::with_capacity(content.len(), lines(&content).count());
    for (number, line) in lines(&content) {
        let decoded;
        let message = if hex {
            let bytes = decode_hex(line).map_err(|why| Failure::at_line(path, number, why))?;
            decoded = Zeroizing::new(bytes);
            &decoded
        } else if line.ends_with(b"\r") {
            return Err(Failure::at_line(path, number, "the message ends with a carriage return")
                .hint("--hex accepts any bytes"));
        } else {
            line
        };
        if message.len() > MAX_MESSAGE {
            let why = format!("{} bytes, more than the {MAX_MESSAGE} of a message", message.len());
            return Err(Failure::at_line(path, number, &why));
        }
        messages.push(message);
    }
    match messages.len() % one_of {
        0 => {}
        1 if one_of == 2 => {
            let why = "the number of messages is odd";
            return Err(Failure::at_line(path, messages.len() as u64, why)
                .hint("each transfer needs two lines"));
        }
        some => {
            let why = format!("the last transfer has {some} of its {one_of} messages");
            let hint = format!("each transfer takes {one_of} lines");
            return Err(Failure::at_line(path, messages.len() as u64, &why).hint(hint));
        }
    }
    not_empty(path, &messages.ends)?;
    Ok(messages)
}

/// Reads n lines, each a number below `one_of`.
pub(crate) fn read_choices(path: &Path, one_of: usize) -> Result<Zeroizing<Vec<u64>>, Failure> {
    let content = read(path)?;
    // Without growing, which would leave copies behind.
    let mut choices = Zeroizing::new(Vec::with_capacity(lines(&content).count()));
    for (number, line) in lines(&content) {
        let Some(choice) = decimal(line).filter(|&choice| choice < one_of as u64) else {
            let why = match one_of {
                2 => "a choice is 0 or 1".into(),
                _ => format!("a choice is a number from 0 to {}", one_of - 1),
            };
            return Err(Failure::at_line(path, number, &why)
                .hint("without spaces, blank lines or a byte order mark"));
        };
        choices.push(choice);
    }
    not_empty(path, &choices)?;
    Ok(choices)
}

pub(crate) fn write_lines(
    messages: &[Zeroizing<Vec<u8>>],
    hex: bool,
    to: &mut impl Write,
) -> io::Result<()> {
    for message in messages {
        if hex {
            to.write_all(hexadecimal(message).as_bytes())?;
        } else {
            to.write_all(message)?;
        }
        to.write_all(b"\n")?;
    }
    to.flush()
}

pub(crate) fn decode_hex(line: &[u8]) -> Result<Vec<u8>, &'static str> {
    if !line.len().is_multiple_of(2) {
        return Err("an odd number of hexadecimal digits");
    }
    let digit = |c: u8| char::from(c).to_digit(16).and_then(|d| u8::try_from(d).ok());
    line.chunks_exact(2)
        .map(|two| Some(digit(two[0])? << 4 | digit(two[1])?))
        .collect::<Option<_>>()
        .ok_or("not hexadecimal")
}

fn read(path: &Path) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let failed = |e: io::Error| Failure::reading(path, &e);
    if is_device(fs::metadata(path).map_err(failed)?.file_type()) {
        return Err(failed(io::Error::other("it is a device")));
    }
    fs::read(path).map(Zeroizing::new).map_err(failed)
}

/// The lines with their numbers, from 1, without LF or CRLF. A carriage return at the end of the file is no line end.
fn lines(content: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let lines = content.split_inclusive(|&byte| byte == b'\n').map(|line| {
        let ended = line.strip_suffix(b"\n");
        ended.map_or(line, |line| line.strip_suffix(b"\r").unwrap_or(line))
    });
    (1..).zip(lines)
}

fn not_empty<T>(path: &Path, entries: &[T]) -> Result<(), Failure> {
    if entries.is_empty() {
        return Err(Failure::usage(format!("{} is empty", path.display())));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collected(content: &str) -> Vec<(u64, String)> {
        lines(content.as_bytes())
            .map(|(i, l)| (i, String::from_utf8(l.to_vec()).unwrap()))
            .collect()
    }

    #[test]
    fn lines_end_with_lf_or_crlf_or_the_file() {
        for content in ["a\nb\n", "a\r\nb\r\n", "a\nb", "a\r\nb"] {
            assert_eq!(collected(content), [(1, "a".into()), (2, "b".into())]);
        }
        assert_eq!(collected(""), []);
        assert_eq!(collected("\n"), [(1, String::new())]);
        assert_eq!(collected("a\n\n"), [(1, "a".into()), (2, String::new())]);
        assert_eq!(collected("\n\r\n"), [(1, String::new()), (2, String::new())]);
    }

    #[test]
    fn a_carriage_return_at_the_end_of_the_file_is_not_dropped() {
        assert_eq!(collected("a\nb\r"), [(1, "a".into()), (2, "b\r".into())]);
        assert_eq!(collected("a\r\r\n"), [(1, "a\r".into())]);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        fs::write(&path, "0\n1\r").unwrap();
        let why = "line 2: the message ends with a carriage return";
        assert!(read_messages(&path, 2, false).map(drop).unwrap_err().message().ends_with(why));
        assert!(read_choices(&path, 2).unwrap_err().message().ends_with("a choice is 0 or 1"));
    }

    #[test]
    fn hexadecimal_is_decoded_strictly() {
        assert_eq!(decode_hex(b"00fFa1"), Ok(vec![0, 255, 161]));
        assert_eq!(decode_hex(b""), Ok(vec![]));
        for wrong in ["0", "0g", " 0", "+1", "é"] {
            assert!(decode_hex(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
