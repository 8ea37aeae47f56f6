//! Sheets of Excel's workbooks (`.xlsx`), which become CSV.

use std::{
    fmt,
    io::{self, Read, Seek, Write},
};

use calamine::{DataRef, ExcelDateTime, Reader, SheetType, SheetVisible, Xlsx, XlsxError};
use zip::ZipArchive;

use super::{Grammar, packed};

/// Excel's own bounds.
const MOST_ROWS: u32 = 1 << 20;
const MOST_COLUMNS: u32 = 1 << 14;

/// First bytes of a workbook, as of every ZIP archive.
pub const FIRST: &[u8] = b"PK\x03\x04";

/// The reason why a workbook gives no table.
#[derive(Debug)]
#[non_exhaustive]
pub enum SheetFault {
    /// The file cannot be read, or the result cannot be written.
    Io(io::Error),
    /// The archive is no workbook, or damaged; why, in words.
    Damaged(String),
    /// The archive unpacks to much more than its size.
    Bomb,
    /// There are several sheets with rows, and none was named; or there is none of the name. Their names.
    Which(Vec<String>),
}

/// Writes a sheet as CSV with commas, and returns the sheet's name: the named one, or the only one that is not hidden.
///
/// An empty row becomes an empty line. A number is written as the shortest decimal that reads as the same one, without an
/// exponent; a date as `1990-02-01`, a date with a time as `1990-02-01T12:30:00`, a time or a span as `12:30:00`; a truth value
/// as `TRUE` or `FALSE`. An error of a formula is empty. The archive is read twice; strings that rows share are in memory.
///
/// # Errors
/// [`SheetFault`].
pub fn write_sheet(
    mut from: impl Read + Seek,
    name: Option<&str>,
    to: &mut impl Write,
) -> Result<String, SheetFault> {
    check_size(&mut from)?;
    let mut book = Xlsx::new(from)?;
    let metadata = book.sheets_metadata().iter();
    let tables = metadata.filter(|sheet| sheet.typ == SheetType::WorkSheet);
    let shown = |sheet: &&calamine::Sheet| sheet.visible == SheetVisible::Visible;
    let all: Vec<_> = tables.clone().map(|sheet| sheet.name.clone()).collect();
    let visible: Vec<_> = tables.filter(shown).map(|sheet| sheet.name.clone()).collect();
    let name = match (name, visible.as_slice()) {
        (Some(name), _) if all.iter().any(|it| it == name) => name.to_owned(),
        (None, [only]) => only.clone(),
        (Some(_), _) => return Err(SheetFault::Which(all)),
        (None, _) => return Err(SheetFault::Which(visible)),
    };
    let mut cells = book.worksheet_cells_reader(&name)?;
    let mut lines = Lines { to, row: 0, fields: Vec::new(), width: 0 };
    while let Some(cell) = cells.next_cell()? {
        lines.put(cell.get_position(), text(cell.get_value()))?;
    }
    lines.end_row()?;
    Ok(name)
}

/// The lines of the CSV file.
struct Lines<'a, W> {
    to: &'a mut W,
    row: u32,
    fields: Vec<String>,
    /// The fields of the first row that is not empty.
    width: usize,
}

impl<W: Write> Lines<'_, W> {
    fn put(&mut self, (row, column): (u32, u32), text: String) -> Result<(), SheetFault> {
        if text.is_empty() {
            return Ok(());
        }
        if row < self.row || row >= MOST_ROWS || column >= MOST_COLUMNS {
            return Err(SheetFault::Damaged(format!(
                "a cell is out of place, in row {}",
                u64::from(row) + 1
            )));
        }
        while self.row < row {
            self.end_row()?;
        }
        let column = column as usize;
        if self.fields.len() <= column {
            self.fields.resize(column + 1, String::new());
        }
        self.fields[column] = text;
        Ok(())
    }

    fn end_row(&mut self) -> Result<(), SheetFault> {
        self.row += 1;
        if !self.fields.is_empty() {
            if self.width == 0 {
                self.width = self.fields.len();
            }
            self.fields.resize(self.fields.len().max(self.width), String::new());
            let line = Grammar::Csv { delimiter: b',' }.more(&self.fields);
            // The first delimiter stands in front of the first field.
            self.to.write_all(line.get(1..).unwrap_or_default().as_bytes())?;
            self.fields.clear();
        }
        Ok(self.to.write_all(b"\n")?)
    }
}

/// Refuses an archive that unpacks to much more than its size: the reader of workbooks keeps parts of it in memory.
fn check_size(from: &mut (impl Read + Seek)) -> Result<(), SheetFault> {
    let packed = from.seek(io::SeekFrom::End(0))?;
    let most = packed::most_of(packed);
    let damaged = |e: &dyn fmt::Display| SheetFault::Damaged(e.to_string());
    let mut archive = ZipArchive::new(&mut *from).map_err(|e| damaged(&e))?;
    let mut unpacked = 0;
    for part in 0..archive.len() {
        let part = archive.by_index(part).map_err(|e| damaged(&e))?;
        let rest = most.saturating_sub(unpacked).saturating_add(1);
        unpacked += io::copy(&mut part.take(rest), &mut io::sink()).map_err(|e| damaged(&e))?;
        if unpacked > most {
            return Err(SheetFault::Bomb);
        }
    }
    from.rewind()?;
    Ok(())
}

/// The text of a cell.
fn text(cell: &DataRef<'_>) -> String {
    match cell {
        DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => {
            text.clone()
        }
        DataRef::SharedString(text) => (*text).to_owned(),
        DataRef::Int(number) => number.to_string(),
        // No negative zero.
        DataRef::Float(number) => (number + 0.0).to_string(),
        DataRef::Bool(true) => "TRUE".into(),
        DataRef::Bool(false) => "FALSE".into(),
        DataRef::DateTime(time) => moment(*time),
        DataRef::Error(_) | DataRef::Empty => String::new(),
    }
}

fn moment(time: ExcelDateTime) -> String {
    let days = time.as_f64();
    if !(0.0..2_958_466.0).contains(&days) {
        return days.to_string();
    }
    let (year, month, day, hour, minute, second, milli) = time.to_ymd_hms_milli();
    let date = format!("{year:04}-{month:02}-{day:02}");
    let milli = if milli == 0 { String::new() } else { format!(".{milli:03}") };
    let clock = |hours: u64| format!("{hours:02}:{minute:02}:{second:02}{milli}");
    if time.is_duration() {
        // Days of a span are hours.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is below 2²²"
        )]
        return clock(24 * (days as u64) + u64::from(hour));
    }
    match (days < 1.0, (hour, minute, second, milli.is_empty())) {
        (true, _) => clock(hour.into()),
        (false, (0, 0, 0, true)) => date,
        (false, _) => format!("{date}T{}", clock(hour.into())),
    }
}

impl From<io::Error> for SheetFault {
    fn from(e: io::Error) -> Self {
        Self::Io(e)
    }
}

impl From<XlsxError> for SheetFault {
    fn from(e: XlsxError) -> Self {
        Self::Damaged(e.to_string())
    }
}

impl fmt::Display for SheetFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(e) => e.fmt(f),
            Self::Damaged(why) => {
                write!(f, "no workbook of Excel (.xlsx), or a damaged one: {why}")
            }
            Self::Bomb => f.write_str("an archive that unpacks to hundreds of times its size"),
            Self::Which(_) => f.write_str("a workbook of which one sheet has to be named"),
        }
    }
}

impl std::error::Error for SheetFault {}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use zip::{ZipWriter, write::SimpleFileOptions};

    use super::*;

    const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    const RELATIONS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

    /// A workbook with these sheets: names, `state="hidden"` or nothing, and rows in XML.
    fn book(sheets: &[(&str, &str, &str)]) -> Vec<u8> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        let mut put = |name: &str, text: &str| {
            zip.start_file(name, SimpleFileOptions::default()).unwrap();
            zip.write_all(text.as_bytes()).unwrap();
        };
        put(
            "[Content_Types].xml",
            "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"/>",
        );
        put(
            "_rels/.rels",
            &format!(
                "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">\
             <Relationship Id=\"b\" Type=\"{RELATIONS}/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
            ),
        );
        let (mut names, mut links) = (String::new(), String::new());
        for (i, (name, state, rows)) in sheets.iter().enumerate() {
            names += &format!("<sheet name=\"{name}\" sheetId=\"{i}\" {state} r:id=\"r{i}\"/>");
            links += &format!(
                "<Relationship Id=\"r{i}\" Type=\"{RELATIONS}/worksheet\" Target=\"worksheets/sheet{i}.xml\"/>"
            );
            let sheet =
                format!("<worksheet xmlns=\"{MAIN}\"><sheetData>{rows}</sheetData></worksheet>");
            put(&format!("xl/worksheets/sheet{i}.xml"), &sheet);
        }
        put(
            "xl/workbook.xml",
            &format!(
                "<workbook xmlns=\"{MAIN}\" xmlns:r=\"{RELATIONS}\"><sheets>{names}</sheets></workbook>"
            ),
        );
        put(
            "xl/_rels/workbook.xml.rels",
            &format!(
                "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">{links}</Relationships>"
            ),
        );
        put(
            "xl/styles.xml",
            &format!(
                "<styleSheet xmlns=\"{MAIN}\"><numFmts><numFmt numFmtId=\"170\" formatCode=\"[h]:mm:ss\"/></numFmts>\
             <cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/><xf numFmtId=\"22\"/><xf numFmtId=\"170\"/></cellXfs></styleSheet>"
            ),
        );
        zip.finish().unwrap().into_inner()
    }

    fn sheet(book: &[u8], name: Option<&str>) -> Result<(String, String), SheetFault> {
        let mut text = Vec::new();
        let name = write_sheet(Cursor::new(book), name, &mut text)?;
        Ok((name, String::from_utf8(text).unwrap()))
    }

    const ROWS: &str = "<row r=\"1\"><c r=\"A1\" t=\"inlineStr\"><is><t>id</t></is></c>\
        <c r=\"B1\" t=\"inlineStr\"><is><t>name, first</t></is></c><c r=\"C1\" t=\"inlineStr\"><is><t>x</t></is></c></row>\
        <row r=\"3\"><c r=\"A3\"><v>201</v></c><c r=\"B3\" s=\"1\"><v>32905</v></c><c r=\"C3\" t=\"b\"><v>1</v></c></row>\
        <row r=\"4\"><c r=\"A4\"><v>1.23E5</v></c><c r=\"B4\" s=\"2\"><v>32905.5</v></c></row>\
        <row r=\"5\"><c r=\"A5\"><v>0.1</v></c><c r=\"B5\" s=\"3\"><v>1.5</v></c><c r=\"C5\" t=\"e\"><v>#N/A</v></c></row>\
        <row r=\"6\"><c r=\"A6\"><v>4915112345678</v></c><c r=\"B6\" s=\"2\"><v>0.25</v></c><c r=\"C6\"><v>-0</v></c></row>";

    #[test]
    fn cells_become_text_that_one_can_predict() {
        let (name, text) = sheet(&book(&[("Kunden", "", ROWS)]), None).unwrap();
        assert_eq!(name, "Kunden");
        assert_eq!(
            text,
            "id,\"name, first\",x\n\n201,1990-02-01,TRUE\n123000,1990-02-01T12:00:00,\n0.1,36:00:00,\n4915112345678,06:00:00,0\n"
        );
    }

    #[test]
    fn one_of_several_sheets_is_named() {
        let row = |text| {
            format!("<row r=\"1\"><c r=\"A1\" t=\"inlineStr\"><is><t>{text}</t></is></c></row>")
        };
        let (one, two, three) = (row("a"), row("b"), row("c"));
        let all = book(&[("A", "", &one), ("B", "", &two), ("C", "state=\"hidden\"", &three)]);
        for (name, text) in [("A", "a\n"), ("B", "b\n"), ("C", "c\n")] {
            assert_eq!(sheet(&all, Some(name)).unwrap(), (name.to_owned(), text.to_owned()));
        }
        let names = |name| match sheet(&all, name) {
            Err(SheetFault::Which(names)) => names,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            (names(None), names(Some("D"))),
            (vec!["A".into(), "B".into()], vec!["A".into(), "B".into(), "C".into()])
        );
        let hidden = book(&[("A", "", &one), ("C", "state=\"hidden\"", &three)]);
        assert_eq!(sheet(&hidden, None).unwrap().0, "A");
    }

    #[test]
    fn a_damaged_workbook_and_a_bomb_are_refused() {
        let good = book(&[("A", "", ROWS)]);
        for bad in [&good[..good.len() / 2], b"PK\x03\x04", &book(&[])[..]] {
            assert!(sheet(bad, None).is_err());
        }
        for at in (0..good.len()).step_by(7) {
            let mut changed = good.clone();
            changed[at] ^= 0x55;
            let _ = sheet(&changed, None);
        }
        let zeros = " ".repeat(1 << 27);
        assert!(matches!(sheet(&book(&[("A", "", &zeros)]), None), Err(SheetFault::Bomb)));
        let far = "<row r=\"1\"><c r=\"ZZZZ1\"><v>1</v></c></row>";
        assert!(sheet(&book(&[("A", "", far)]), None).is_err());
        let far = "<row r=\"4294967295\"><c r=\"A4294967295\"><v>1</v></c></row>";
        assert!(matches!(sheet(&book(&[("A", "", far)]), None), Err(SheetFault::Damaged(_))));
    }
}
