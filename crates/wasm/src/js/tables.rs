//! Keys and files for JavaScript.

use foxtrot::{
    psi::{
        cells,
        keys::{self, Builder, Keyer, Normaliser},
    },
    table::{self, Column, Fault, Form, Grammar, What},
};
use js_sys::Array;
use wasm_bindgen::prelude::*;

use super::{set, thrown};

/// The most rows: each takes about 100 bytes here while it is read, and the comparison as much again, of 4 GiB of addresses.
const MOST_ROWS: usize = 1 << 24;

/// The most columns: the page shows all of them.
const MOST_COLUMNS: usize = 10_000;

/// The delimiter that stands for JSON lines.
const JSON_LINES: &str = "{}";

/// The different keys of a list.
#[wasm_bindgen]
pub struct Keys(pub(super) keys::Keys);

#[wasm_bindgen]
impl Keys {
    /// Keys of strings, as they are; an empty one is no key.
    pub fn of(
        #[wasm_bindgen(unchecked_param_type = "string[]")] all: Array,
        normalize: Option<String>,
    ) -> Result<Keys, JsValue> {
        let too_many = |e: foxtrot::Error| thrown("too-many-rows", &e.to_string());
        let normalisers = vec![normaliser(&normalize.unwrap_or_default())?];
        let mut keys = Builder::new(normalisers, all.length() as usize).map_err(too_many)?;
        for key in all.iter() {
            keys.push([key.as_string().unwrap_or_default().into()].into_iter());
        }
        Ok(Self(keys.finish().map_err(too_many)?))
    }

    /// The number of different keys.
    #[wasm_bindgen(getter)]
    pub fn length(&self) -> usize {
        self.0.len()
    }

    /// The number of rows whose key an earlier row has.
    #[wasm_bindgen(getter)]
    pub fn duplicates(&self) -> usize {
        self.0.duplicates().count()
    }

    /// The number of rows without a key.
    #[wasm_bindgen(getter)]
    pub fn empty(&self) -> usize {
        self.0.without_key().count()
    }
}

/// A file that is read piece by piece, and its keys until they are taken.
#[wasm_bindgen]
pub struct Table(table::Table, Option<keys::Keys>);

#[wasm_bindgen]
impl Table {
    /// A file of which nothing has been read. Without a delimiter it has a key in each line, with `{}` an object of JSON.
    /// Without columns it has no keys.
    #[wasm_bindgen(constructor)]
    pub fn new(
        delimiter: String,
        header: bool,
        columns: Vec<usize>,
        normalisers: Vec<String>,
        sample: usize,
    ) -> Result<Table, JsValue> {
        let form = match delimiter.bytes().next() {
            _ if delimiter == JSON_LINES => Form::JSON_LINES,
            Some(delimiter) => Form { header, is_chosen: true, ..Form::csv(delimiter) },
            None => Form::LINES,
        };
        let all = normalisers.iter().map(|it| normaliser(it)).collect::<Result<_, _>>()?;
        let table = table::Table::new(form).normalise(all).showing(sample);
        let table = match columns.is_empty() {
            true => table.without_key(),
            false => table.key(columns.into_iter().map(Column::Number).collect()),
        };
        Ok(Self(table.at_most(MOST_ROWS, MOST_COLUMNS), None))
    }

    /// Guesses the delimiter from a file's name and first bytes; none for lines, `{}` for JSON lines.
    pub fn guess(name: &str, first: &[u8]) -> String {
        match Form::guess(name, first).grammar {
            Grammar::Csv { delimiter } => char::from(delimiter).into(),
            Grammar::Lines => String::new(),
            Grammar::JsonLines => JSON_LINES.into(),
        }
    }

    /// Reads the next bytes.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), JsValue> {
        self.0.push(bytes).map_err(|e| faulty(&e))
    }

    /// Reads what is left.
    pub fn end(&mut self) -> Result<(), JsValue> {
        self.1 = Some(self.0.end().map_err(|e| faulty(&e))?);
        Ok(())
    }

    /// The keys of all rows, once, when all has been read.
    #[wasm_bindgen(js_name = takeKeys)]
    pub fn take_keys(&mut self) -> Result<Keys, JsValue> {
        self.1
            .take()
            .map(Keys)
            .ok_or_else(|| thrown("busy", "the table has no keys, or they were taken"))
    }

    /// The columns' names.
    #[wasm_bindgen(getter)]
    pub fn names(&self) -> Vec<String> {
        self.0.names().to_vec()
    }

    /// True if the first row has the columns' names.
    #[wasm_bindgen(getter)]
    pub fn header(&self) -> bool {
        self.0.has_header()
    }

    /// The number of rows so far.
    #[wasm_bindgen(getter)]
    pub fn rows(&self) -> usize {
        self.0.rows()
    }

    /// The number of empty lines.
    #[wasm_bindgen(getter)]
    pub fn blank(&self) -> usize {
        self.0.findings().blank
    }

    /// The normalisation, as both sides compare it.
    #[wasm_bindgen(getter)]
    pub fn terms(&self) -> String {
        self.0.terms()
    }

    /// The bytes above the rows.
    #[wasm_bindgen(getter)]
    pub fn above(&self) -> Vec<u8> {
        self.0.above()
    }

    /// The first keys, before and after they are normalised, as they can be shown, their parts joined by a space.
    #[wasm_bindgen(unchecked_return_type = "[string, string][]")]
    pub fn sample(&self) -> Array {
        let shown = |parts: &Vec<String>| {
            let parts: Vec<_> = parts.iter().map(|it| foxtrot_net::printable(it)).collect();
            JsValue::from(parts.join(" "))
        };
        let both = |it: &table::Shown| Array::of2(&shown(&it.before), &shown(&it.after));
        self.0.shown().iter().map(both).collect()
    }

    /// Places and lengths of these rows in the file, one after the other.
    pub fn places(&self, rows: &[u32]) -> Vec<f64> {
        let place = |&row: &u32| self.0.place(row as usize).unwrap_or_default();
        rows.iter().map(place).flat_map(|(at, len)| [at as f64, f64::from(len)]).collect()
    }

    /// A row's bytes, or those above all rows, with these fields behind its own and a line end.
    pub fn extended(
        &self,
        row: &[u8],
        #[wasm_bindgen(unchecked_param_type = "string[]")] fields: Vec<String>,
    ) -> Vec<u8> {
        let mut row = row.to_vec();
        self.0.extend(&mut row, fields);
        row
    }

    /// The fields of a row's bytes.
    pub fn fields(&self, row: &[u8]) -> Vec<String> {
        let all: Vec<_> = (0..self.0.names().len()).collect();
        let fields = self.0.fields(row, &all).unwrap_or_default();
        fields.into_iter().map(|field| field.into_owned()).collect()
    }
}

/// Values that depend on the code of hashes, normalisers and protocols, for tests in another engine.
#[wasm_bindgen(js_name = itemOf)]
pub fn item_of(
    #[wasm_bindgen(unchecked_param_type = "string[]")] parts: Vec<String>,
    normalisers: Vec<String>,
) -> Result<Option<Vec<u8>>, JsValue> {
    let all = normalisers.iter().map(|it| normaliser(it)).collect::<Result<Vec<_>, _>>()?;
    let mut keyer = Keyer::new(all);
    Ok(keyer.item(parts.into_iter().map(Into::into)).map(|it| it.to_vec()))
}

/// A text of a file or of the peer that is safe to show as text: characters that steer or hide others are escaped.
#[wasm_bindgen]
#[must_use]
pub fn escaped(text: &str) -> String {
    foxtrot_net::escaped(text)
}

/// `escaped` without everything behind the first 64 characters.
#[wasm_bindgen]
#[must_use]
pub fn printable(text: &str) -> String {
    foxtrot_net::printable(text)
}

/// A field of the peer for a spreadsheet: behind an apostrophe if it looks like a formula.
#[wasm_bindgen]
#[must_use]
pub fn safe(field: &str) -> String {
    cells::safe(field).into_owned()
}

fn normaliser(text: &str) -> Result<Normaliser, JsValue> {
    let text = if text.is_empty() { "none" } else { text };
    text.parse().map_err(|why: String| thrown("normaliser", &why))
}

fn faulty(fault: &Fault) -> JsValue {
    let error = thrown(fault.code(), &fault.to_string());
    let detail = match &fault.what {
        What::Width { got, expected, .. } => format!("{got} ≠ {expected}"),
        What::OtherDelimiter(delimiter) => delimiter.to_string(),
        What::TooManyRows(number) | What::TooManyColumns(number) => number.to_string(),
        what => what.to_string(),
    };
    set(error.unchecked_ref(), "line", fault.line as f64);
    set(error.unchecked_ref(), "column", fault.column as f64);
    set(error.unchecked_ref(), "detail", detail);
    error
}

foxtrot_ot::erase::redacted! {
    Keys;
    Table;
}
