//! Columns that are written behind those of a file.

use std::borrow::Cow;

use foxtrot::psi::keys::scan::Grammar;

/// Names of columns, and their fields in every row.
pub(crate) struct More<'a> {
    pub(crate) names: Vec<String>,
    /// The fields of a row, by its number among those that are written.
    pub(crate) fields: &'a dyn Fn(usize) -> Vec<Cow<'a, str>>,
}

/// Puts fields behind a record, in front of its line end.
pub(super) fn extend<'a>(
    record: &mut Vec<u8>,
    fields: impl IntoIterator<Item = Cow<'a, str>>,
    grammar: Grammar,
) {
    let Grammar::Csv { delimiter } = grammar else { return };
    let end = match record.as_slice() {
        [.., b'\r', b'\n'] => 2,
        [.., b'\n'] => 1,
        _ => 0,
    };
    let end = record.split_off(record.len() - end);
    for field in fields {
        record.push(delimiter);
        let special = |byte: u8| byte == delimiter || matches!(byte, b'"' | b'\r' | b'\n');
        match field.bytes().any(special) {
            false => record.extend_from_slice(field.as_bytes()),
            true => {
                record.push(b'"');
                record.extend_from_slice(field.replace('"', "\"\"").as_bytes());
                record.push(b'"');
            }
        }
    }
    record.extend_from_slice(&end);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_stand_in_front_of_the_line_end_and_in_quotes_where_they_need_them() {
        for (before, after) in [
            ("a,b\n", "a,b,x,\"1,5 \"\"\"\n"),
            ("a,\"b\"\r\n", "a,\"b\",x,\"1,5 \"\"\"\r\n"),
            ("a", "a,x,\"1,5 \"\"\""),
        ] {
            let mut record = before.as_bytes().to_vec();
            extend(&mut record, ["x".into(), "1,5 \"".into()], Grammar::Csv { delimiter: b',' });
            assert_eq!(String::from_utf8(record).unwrap(), after);
        }
        let mut record = b"a\tb\n".to_vec();
        extend(&mut record, ["1,5".into()], Grammar::Csv { delimiter: b'\t' });
        assert_eq!(record, b"a\tb\t1,5\n");
    }
}
