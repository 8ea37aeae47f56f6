//! JSON lines: an object in each line, whose values are fields by their names.

use std::borrow::Cow;

use super::{Fault, Field};

/// The deepest nesting of a value that is passed over.
const DEEPEST: usize = 64;

/// Finds the names and values of the object in a line, in their order. A name, a text or another value is told apart by
/// [`Field`]: only a text has escapes.
///
/// # Errors
/// [`Fault`] where the line is no object.
pub(in super::super) fn object(
    line: &[u8],
    mut take: impl FnMut(Field, Field),
) -> Result<(), Fault> {
    let line = line.trim_ascii_end();
    let mut at = Reader { line, at: 0 };
    at.blank();
    at.expect(b'{', "a line of JSON is an object, from { to }")?;
    at.blank();
    if !at.skip(b'}') {
        loop {
            at.blank();
            let name = at.text()?;
            at.blank();
            at.expect(b':', "a colon is missing behind a name")?;
            at.blank();
            take(name, at.value(0)?);
            at.blank();
            if at.skip(b'}') {
                break;
            }
            at.expect(b',', "a comma or } is missing behind a value")?;
        }
    }
    at.blank();
    if at.at == line.len() { Ok(()) } else { Err(at.fault("text behind the object of this line")) }
}

struct Reader<'a> {
    line: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn fault(&self, why: &'static str) -> Fault {
        Fault { at: self.at, why }
    }

    fn peek(&self) -> Option<u8> {
        self.line.get(self.at).copied()
    }

    fn blank(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn skip(&mut self, byte: u8) -> bool {
        let is = self.peek() == Some(byte);
        self.at += usize::from(is);
        is
    }

    fn expect(&mut self, byte: u8, why: &'static str) -> Result<(), Fault> {
        if self.skip(byte) { Ok(()) } else { Err(self.fault(why)) }
    }

    /// A text in quotes.
    fn text(&mut self) -> Result<Field, Fault> {
        self.expect(b'"', "a text in quotes is missing")?;
        let start = self.at;
        let mut escaped = false;
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Field::json(start, self.at - 1, escaped));
                }
                Some(b'\\') => {
                    let len = escape(&self.line[self.at..]).map(|(_, len)| len);
                    self.at += len.ok_or(self.fault("a wrong escape in a text"))?;
                    escaped = true;
                }
                Some(0..0x20) => return Err(self.fault("a control character in a text")),
                Some(_) => self.at += 1,
                None => return Err(self.fault("a text has no quote at its end")),
            }
        }
    }

    /// A value as it is written; null has nothing.
    fn value(&mut self, depth: usize) -> Result<Field, Fault> {
        let start = self.at;
        match self.peek() {
            Some(b'"') => return self.text(),
            Some(b'{' | b'[') if depth == DEEPEST => {
                return Err(self.fault("a value is nested too deeply"));
            }
            Some(b'{') => self.list(b'}', |at| {
                at.text()?;
                at.blank();
                at.expect(b':', "a colon is missing behind a name")?;
                at.blank();
                at.value(depth + 1)
            })?,
            Some(b'[') => self.list(b']', |at| at.value(depth + 1))?,
            _ => {
                let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
                while self.peek().is_some_and(is_part) {
                    self.at += 1;
                }
                let word = &self.line[start..self.at];
                if word == b"null" {
                    return Ok(Field::json(start, start, false));
                }
                if !matches!(word, b"true" | b"false") && !is_number(word) {
                    self.at = start;
                    return Err(self.fault("this is no value of JSON"));
                }
            }
        }
        Ok(Field::json(start, self.at, false))
    }

    /// Values between commas, up to the end.
    fn list(
        &mut self,
        end: u8,
        mut each: impl FnMut(&mut Self) -> Result<Field, Fault>,
    ) -> Result<(), Fault> {
        self.at += 1;
        self.blank();
        if self.skip(end) {
            return Ok(());
        }
        loop {
            self.blank();
            each(self)?;
            self.blank();
            if self.skip(end) {
                return Ok(());
            }
            self.expect(b',', "a comma is missing between values")?;
        }
    }
}

fn is_number(word: &[u8]) -> bool {
    let digits = |text: &mut &[u8]| {
        let len = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        *text = &text[len..];
        len
    };
    let mut rest = word.strip_prefix(b"-").unwrap_or(word);
    let leading_zero = rest.first() == Some(&b'0');
    let whole = digits(&mut rest);
    if whole == 0 || leading_zero && whole > 1 {
        return false;
    }
    if let Some(fraction) = rest.strip_prefix(b".") {
        rest = fraction;
        if digits(&mut rest) == 0 {
            return false;
        }
    }
    if let [b'e' | b'E', power @ ..] = rest {
        rest = match power {
            [b'+' | b'-', power @ ..] => power,
            power => power,
        };
        if digits(&mut rest) == 0 {
            return false;
        }
    }
    rest.is_empty()
}

/// The character of an escape, and the length of the escape.
fn escape(text: &[u8]) -> Option<(char, usize)> {
    let hex = |from: usize| {
        let digits = std::str::from_utf8(text.get(from..from + 4)?).ok()?;
        let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_hex { u16::from_str_radix(digits, 16).ok() } else { None }
    };
    let plain = |c| Some((c, 2));
    match *text.get(1)? {
        c @ (b'"' | b'\\' | b'/') => plain(char::from(c)),
        b'b' => plain('\u{8}'),
        b'f' => plain('\u{c}'),
        b'n' => plain('\n'),
        b'r' => plain('\r'),
        b't' => plain('\t'),
        b'u' => {
            let first = hex(2)?;
            if let Some(c) = char::from_u32(first.into()) {
                return Some((c, 6));
            }
            if text.get(6..8)? != b"\\u" {
                return None;
            }
            let c = char::decode_utf16([first, hex(8)?]).next()?.ok()?;
            Some((c, 12))
        }
        _ => None,
    }
}

/// A text without its escapes.
pub(in super::super) fn unescaped(text: &str) -> Cow<'_, str> {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(at) = rest.find('\\') {
        let Some((c, len)) = escape(&rest.as_bytes()[at..]) else { break };
        out.push_str(&rest[..at]);
        out.push(c);
        rest = &rest[at + len..];
    }
    if out.is_empty() { rest.into() } else { (out + rest).into() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(line: &str) -> Result<Vec<(String, String)>, Fault> {
        let mut all = Vec::new();
        object(line.as_bytes(), |name, value| all.push((name, value)))?;
        let of = |it: Field| it.of(line).into_owned();
        Ok(all.into_iter().map(|(name, value)| (of(name), of(value))).collect())
    }

    #[test]
    fn values_are_texts_as_they_are_written() {
        let line = r#" {"a":"x\"\u00e4\ud83d\ude00\n", "b\t":1.50e3,"c":null,"d":true,"e":{"f":[1, "]"]},"":""} "#;
        let pairs = read(line).unwrap();
        let pairs: Vec<_> = pairs.iter().map(|(name, value)| (&**name, &**value)).collect();
        let expected = [
            ("a", "x\"ä😀\n"),
            ("b\t", "1.50e3"),
            ("c", ""),
            ("d", "true"),
            ("e", r#"{"f":[1, "]"]}"#),
            ("", ""),
        ];
        assert_eq!(pairs, expected);
        assert_eq!(read("{}"), Ok(Vec::new()));
    }

    #[test]
    fn a_line_that_is_no_object_is_a_fault_at_its_place() {
        for (line, at) in [
            ("", 0),
            ("[1]", 0),
            ("{\"a\":1", 6),
            ("{\"a\" 1}", 5),
            ("{\"a\":01}", 5),
            ("{\"a\":1}x", 7),
            ("{\"a\":\"x}", 8),
            ("{\"a\":\"\\x\"}", 6),
            ("{\"a\":\"\\ud800\"}", 6),
            ("{a:1}", 1),
            ("{\"a\":1,}", 7),
            ("{\"a\":nul}", 5),
            ("{\"a\":\"\t\"}", 6),
            ("{\"a\":[1,]}", 8),
            ("{\"a\":+1}", 5),
            ("{\"a\":1.}", 5),
        ] {
            assert_eq!(read(line).map_err(|fault| fault.at), Err(at), "{line}");
        }
        let deep = |n| format!("{{\"a\":{}{}}}", "[".repeat(n), "]".repeat(n));
        assert!(read(&deep(DEEPEST)).is_ok());
        assert_eq!(read(&deep(100_000)).unwrap_err().why, "a value is nested too deeply");
    }

    proptest! {
        #[test]
        fn another_reader_of_json_agrees(line in r#"\{("[a\\"]{0,3}"|[:,\[\]{}]|"\\[nux0d8]{1,6}"|[-0-9.eE+]{1,3}|null|true| ){0,12}\}|\PC{0,12}"#) {
            let ours = read(&line);
            let theirs = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&line);
            // Numbers out of range are numbers here.
            if let Err(e) = &theirs { prop_assume!(!e.to_string().contains("out of range")); }
            prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "{:?} {:?}", ours, theirs);
        }
    }
}
