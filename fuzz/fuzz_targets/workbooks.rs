//! A workbook of which the fuzzer writes the XML of the sheet, or the bytes of the archive: its sheet becomes CSV or it is refused.
#![no_main]

use std::io::{Cursor, Write};

use foxtrot::table::write_sheet;
use libfuzzer_sys::fuzz_target;
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

const BOOK: &str = "<workbook xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\" \
    xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\"><sheets>\
    <sheet name=\"A\" sheetId=\"1\" r:id=\"r1\"/></sheets></workbook>";

const TOP: &str = "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">\
    <Relationship Id=\"b\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument\" \
    Target=\"xl/workbook.xml\"/></Relationships>";

const LINKS: &str = "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">\
    <Relationship Id=\"r1\" Type=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet\" \
    Target=\"worksheets/sheet1.xml\"/></Relationships>";

fuzz_target!(|input: (Vec<u8>, Vec<u8>, Option<(u16, u8)>)| {
    let (rows, strings, change) = input;
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let parts: [(&str, &[u8]); 5] = [
        ("_rels/.rels", TOP.as_bytes()),
        ("xl/workbook.xml", BOOK.as_bytes()),
        ("xl/_rels/workbook.xml.rels", LINKS.as_bytes()),
        ("xl/sharedStrings.xml", &strings),
        ("xl/worksheets/sheet1.xml", &rows),
    ];
    for (name, bytes) in parts {
        zip.start_file(
            name,
            SimpleFileOptions::default().compression_method(CompressionMethod::Stored),
        )
        .unwrap();
        zip.write_all(bytes).unwrap();
    }
    let mut book = zip.finish().unwrap().into_inner();
    if let Some((at, other)) = change {
        let at = usize::from(at) % book.len();
        book[at] ^= other;
    }
    let mut text = Vec::new();
    if write_sheet(Cursor::new(&book), None, &mut text).is_ok() {
        std::str::from_utf8(&text).expect("CSV is UTF-8");
    }
});
