//! Keys of rows: from Arrow's columns, or from lists of Python's values.

use std::{borrow::Cow, sync::Arc};

use arrow_array::{
    Array, RecordBatch,
    cast::AsArray,
    types::{
        Date32Type, Date64Type, Int8Type, Int16Type, Int32Type, Int64Type,
        TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
        TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
    },
};
use arrow_schema::{DataType, TimeUnit};
use foxtrot::psi::{
    fields::{self, Duplicates, Padding, Refused, decimal},
    keys::{Builder, Keyer, Keys as Read, Normaliser},
};
use pyo3::{
    prelude::*,
    types::{PyBool, PyBytes, PyDate, PyDateTime, PyFloat, PyInt, PyList, PyString},
};
use zeroize::Zeroizing;

use crate::{
    errors::{raised, usage},
    run::{Tell, run},
    table::Table,
};

/// Rows of a list between two looks at signals.
const LOOK: usize = 1 << 16;

/// The keys of a table's rows.
#[pyclass(module = "foxtrot._core")]
pub(crate) struct Keys {
    pub(crate) read: Arc<Read>,
    shown: Vec<[Vec<String>; 2]>,
}

/// The first keys, before and after normalisation: as many as the caller wants to see.
struct Shown {
    keyer: Keyer,
    most: usize,
    keys: Vec<[Vec<String>; 2]>,
}

impl Shown {
    fn new(normalisers: &[Normaliser], most: usize) -> Self {
        Self { keyer: Keyer::new(normalisers.to_vec()), most, keys: Vec::new() }
    }

    fn is_full(&self) -> bool {
        self.keys.len() >= self.most
    }

    fn take(&mut self, before: Vec<String>) {
        let after = self.keyer.normalised(&before);
        self.keys.push([before, after]);
    }
}

#[pymethods]
impl Keys {
    #[getter]
    fn rows(&self) -> usize {
        self.read.rows()
    }

    #[getter]
    fn terms(&self) -> &str {
        self.read.terms()
    }

    #[getter]
    fn duplicates(&self) -> Vec<usize> {
        self.read.duplicates().collect()
    }

    #[getter]
    fn without_key(&self) -> Vec<usize> {
        self.read.without_key().collect()
    }

    #[getter]
    fn shown(&self) -> Vec<(Vec<String>, Vec<String>)> {
        self.shown.iter().cloned().map(|[before, after]| (before, after)).collect()
    }

    /// Adds keys that nobody else has.
    fn fill_up_to(&mut self, py: Python<'_>, n: usize) -> PyResult<()> {
        let len = self.read.len();
        if len > n {
            let hint = "has the table changed since the ticket was made?";
            return Err(usage(format_args!("the shard has {len} keys, and room for {n}; {hint}")));
        }
        let Some(keys) = Arc::get_mut(&mut self.read) else {
            return Err(usage("a job uses these keys"));
        };
        py.detach(|| keys.fill_up_to(n)).map_err(|e| raised(&e))
    }

    fn __len__(&self) -> usize {
        self.read.len()
    }

    fn __repr__(&self) -> String {
        format!("<foxtrot keys: {} rows, {} keys>", self.read.rows(), self.read.len())
    }
}

pub(crate) fn normalisers(names: &[String]) -> PyResult<Vec<Normaliser>> {
    names.iter().map(|name| name.parse().map_err(|why: String| usage(why))).collect()
}

/// The item that is compared for the parts of a key; none if a part is empty.
#[pyfunction]
pub(crate) fn item(parts: Vec<String>, names: Vec<String>) -> PyResult<Option<Vec<u8>>> {
    Ok(Keyer::new(normalisers(&names)?).item(parts.into_iter().map(Cow::Owned)).map(Vec::from))
}

/// Columns of a table, or lists of Python's values, one for each part.
#[derive(FromPyObject)]
pub(crate) enum Rows<'py> {
    Table(Bound<'py, Table>),
    Lists(Vec<Bound<'py, PyList>>),
}

/// A column, and why a row's value in it is refused.
pub(crate) type Why = (usize, String);

/// Refuses what the command refuses.
pub(crate) fn no_nul(parts: &[Cow<'_, str>]) -> Result<(), Why> {
    let part = parts.iter().position(|part| part.contains('\0'));
    part.map_or(Ok(()), |part| Err((part, "a NUL byte in the key".to_owned())))
}

/// The keys of rows; `columns` are the names of their parts, which plain values lack.
#[pyfunction]
pub(crate) fn keys_of(
    py: Python<'_>,
    rows: Rows<'_>,
    columns: Option<Vec<String>>,
    names: Vec<String>,
    show: usize,
) -> PyResult<Keys> {
    let (normalisers, count) = (normalisers(&names)?, rows.count());
    let shown = Shown::new(&normalisers, show);
    let mut keys = Builder::new(normalisers, count).map_err(|e| raised(&e))?;
    if let Some(columns) = &columns {
        keys = keys.columns(columns.clone());
    }
    let take = |(keys, shown): &mut (Builder, Shown), _, parts: &[Cow<'_, str>]| {
        if !shown.is_full() {
            shown.take(parts.iter().map(ToString::to_string).collect());
        }
        no_nul(parts)?;
        keys.push(parts.iter().map(|part| Cow::Borrowed(&**part)));
        Ok(())
    };
    let (keys, shown) = rows.each(py, columns.as_deref(), (keys, shown), take)?;
    let read = py.detach(|| keys.finish()).map_err(|e| raised(&e))?;
    Ok(Keys { read: Arc::new(read), shown: shown.keys })
}

/// The keys of rows whose items were made before: a column of 32 bytes.
#[pyfunction]
pub(crate) fn keys_of_items(
    py: Python<'_>,
    items: &Table,
    columns: Vec<String>,
    names: Vec<String>,
) -> PyResult<Keys> {
    let keys = Builder::new(normalisers(&names)?, items.rows()).map_err(|e| raised(&e))?;
    let mut keys = keys.columns(columns);
    let read = py.detach(|| {
        for batch in &items.batches {
            let column = batch.columns().first().and_then(|it| it.as_fixed_size_binary_opt());
            let (items, rest) = column.map_or(&[][..], |it| it.value_data()).as_chunks();
            if column.is_none() || !rest.is_empty() || items.len() != batch.num_rows() {
                return Err(usage("an item has 32 bytes"));
            }
            items.iter().for_each(|item| keys.push_item(Some(*item)));
        }
        keys.finish().map_err(|e| raised(&e))
    })?;
    Ok(Keys { read: Arc::new(read), shown: Vec::new() })
}

/// Columns that go to the peer with its matches.
#[pyclass(frozen, module = "foxtrot._core")]
pub(crate) struct Fields(pub(crate) Arc<fields::Fields>);

/// Reads the columns that go to the peer with its matches.
#[pyfunction]
pub(crate) fn fields_of(
    py: Python<'_>,
    rows: Rows<'_>,
    columns: Vec<String>,
    keys: &Keys,
    padding: (usize, String),
) -> PyResult<Fields> {
    let (padding, read) = (padding_of(padding)?, rows.beside(keys)?);
    let fields = fields::Fields::new(columns.len(), padding, read.len()).map_err(|e| raised(&e))?;
    let take = move |fields: &mut fields::Fields, row, texts: &[Cow<'_, str>]| {
        let Some(key) = read.key_of(row) else { return Ok(()) };
        fields.put(key, texts).map_err(|why| match why {
            Refused::Repeated => (0, REPEATED.to_owned()),
            Refused::TooLong { field, len } => {
                let room = padding.width;
                let hint = "give a larger width= on both sides";
                (field, format!("{len} bytes, and there is room for {room}; {hint}"))
            }
        })
    };
    let fields = rows.each(py, Some(&columns), fields, take)?;
    Ok(Fields(Arc::new(fields.named(columns))))
}

const REPEATED: &str =
    "an earlier row has the same key; give duplicates=\"first\" or \"last\", or remove rows";

/// The form of fields, as Python has it: width, and the rule for duplicates.
pub(crate) fn padding_of((width, rule): (usize, String)) -> PyResult<Padding> {
    if !(1..=MOST_WIDTH).contains(&width) {
        return Err(usage(format_args!("width is from 1 to {MOST_WIDTH}, and not {width}")));
    }
    Ok(Padding { width, duplicates: duplicates_of(&rule)? })
}

/// The widest field of the command.
const MOST_WIDTH: usize = 4096;

fn duplicates_of(rule: &str) -> PyResult<Duplicates> {
    Duplicates::ALL.into_iter().find(|it| it.name() == rule).ok_or_else(|| {
        let names = "\"refuse\", \"first\" or \"last\"";
        usage(format_args!("duplicates is {names}, and not {rule:?}"))
    })
}

/// A number beside each key.
#[pyclass(frozen, module = "foxtrot._core")]
pub(crate) struct Numbers {
    pub(crate) of_keys: Arc<Zeroizing<Vec<u64>>>,
    /// The name of their column.
    pub(crate) column: Option<String>,
}

/// Reads the numbers that are added up.
#[pyfunction]
pub(crate) fn numbers_of(
    py: Python<'_>,
    rows: Rows<'_>,
    column: Option<String>,
    keys: &Keys,
    largest: u64,
    duplicates: &str,
) -> PyResult<Numbers> {
    let (rule, read) = (duplicates_of(duplicates)?, rows.beside(keys)?);
    let state = (Zeroizing::new(vec![0; read.len()]), vec![false; read.len()]);
    let take = move |state: &mut (Zeroizing<Vec<u64>>, Vec<bool>), row, texts: &[Cow<'_, str>]| {
        let (Some(key), (numbers, seen)) = (read.key_of(row), state) else { return Ok(()) };
        let text = texts.first().map_or("", |text| text.trim());
        let number = decimal(text.as_bytes()).filter(|it| *it <= largest);
        let number = number
            .ok_or_else(|| (0, format!("no whole number from 0 to {largest}, the largest")))?;
        if rule.takes(&mut seen[key]).map_err(|_| (0, REPEATED.to_owned()))? {
            numbers[key] = number;
        }
        Ok(())
    };
    let columns = column.as_ref().map(std::slice::from_ref);
    let (numbers, _) = rows.each(py, columns, state, take)?;
    Ok(Numbers { of_keys: Arc::new(numbers), column })
}

impl Rows<'_> {
    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Table(table) => table.get().rows(),
            Self::Lists(parts) => parts.first().map_or(0, |part| part.len()),
        }
    }

    /// The keys of the same rows.
    fn beside(&self, keys: &Keys) -> PyResult<Arc<Read>> {
        let (ours, rows) = (self.count(), keys.read.rows());
        if ours == rows {
            Ok(Arc::clone(&keys.read))
        } else {
            Err(usage(format_args!("there are {ours} values beside {rows} keys")))
        }
    }

    /// Gives every row's values in these columns as text to `take`. Tables are read without the GIL.
    pub(crate) fn each<S: Send + 'static>(
        &self,
        py: Python<'_>,
        columns: Option<&[String]>,
        state: S,
        take: impl Fn(&mut S, usize, &[Cow<'_, str>]) -> Result<(), Why> + Send + 'static,
    ) -> PyResult<S> {
        let place = |column: usize, row: Option<usize>| {
            let row = row.map(|row| format!("row {row}"));
            let column = columns.and_then(|it| it.get(column)).map(|it| format!("column {it:?}"));
            [column, row].into_iter().flatten().collect::<Vec<_>>().join(", ")
        };
        let refused =
            |(column, row, why): Wrong| usage(format_args!("{}: {why}", place(column, row)));
        match self {
            Self::Table(table) => {
                let table = table.get();
                let at = |name: &String| {
                    let index = table.schema.index_of(name);
                    index.map_err(|_| {
                        usage(format_args!("there is no column {name:?} in the table"))
                    })
                };
                let at =
                    columns.unwrap_or_default().iter().map(at).collect::<PyResult<Vec<_>>>()?;
                let batches = table.batches.clone();
                let read = move || each_of_arrow(&batches, &at, state, take);
                run(py, &Tell::NOTHING, || (), read)?.map_err(refused)
            }
            Self::Lists(parts) => each_of_lists(py, parts, self.count(), state, take, refused),
        }
    }
}

/// A column, a row, and why it is refused.
type Wrong = (usize, Option<usize>, String);

fn each_of_arrow<S>(
    batches: &[RecordBatch],
    at: &[usize],
    mut state: S,
    take: impl Fn(&mut S, usize, &[Cow<'_, str>]) -> Result<(), Why>,
) -> Result<S, Wrong> {
    let mut first = 0;
    for batch in batches {
        let columns = at.iter().enumerate().map(|(number, &index)| {
            Column::new(batch.column(index).as_ref()).map_err(|why| (number, None, why))
        });
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        let mut values = Vec::with_capacity(columns.len());
        for row in 0..batch.num_rows() {
            let here = Some(first + row);
            values.clear();
            for (number, column) in columns.iter().enumerate() {
                values.push(column.part(row).map_err(|why| (number, here, why))?);
            }
            take(&mut state, first + row, &values).map_err(|(number, why)| (number, here, why))?;
        }
        first += batch.num_rows();
    }
    Ok(state)
}

fn each_of_lists<S>(
    py: Python<'_>,
    parts: &[Bound<'_, PyList>],
    rows: usize,
    mut state: S,
    take: impl Fn(&mut S, usize, &[Cow<'_, str>]) -> Result<(), Why>,
    refused: impl Fn(Wrong) -> PyErr,
) -> PyResult<S> {
    for row in 0..rows {
        if row % LOOK == LOOK - 1 {
            py.check_signals()?;
            // Other threads may have the lock of the interpreter now.
            py.detach(std::thread::yield_now);
        }
        let mut values = Vec::with_capacity(parts.len());
        for (number, part) in parts.iter().enumerate() {
            let value = part_of(&part.get_item(row)?);
            values.push(Cow::Owned(value.map_err(|why| refused((number, Some(row), why)))?));
        }
        let taken = take(&mut state, row, &values);
        taken.map_err(|(number, why)| refused((number, Some(row), why)))?;
    }
    Ok(state)
}

/// A column of a batch.
struct Column<'a> {
    array: &'a dyn Array,
    /// The places of a dictionary's values, and the values.
    dictionary: Option<(Vec<usize>, Box<Column<'a>>)>,
}

impl<'a> Column<'a> {
    fn new(array: &'a dyn Array) -> Result<Self, String> {
        use DataType as Is;
        let hint = match array.data_type() {
            Is::Dictionary(_, _) => {
                let array = array.as_any_dictionary();
                let values = Box::new(Column::new(array.values().as_ref())?);
                let places =
                    if array.values().is_empty() { Vec::new() } else { array.normalized_keys() };
                return Ok(Self { array: array.keys(), dictionary: Some((places, values)) });
            }
            Is::Null | Is::Utf8 | Is::LargeUtf8 | Is::Utf8View => None,
            Is::Binary | Is::LargeBinary | Is::BinaryView => None,
            Is::Int8 | Is::Int16 | Is::Int32 | Is::Int64 => None,
            Is::UInt8 | Is::UInt16 | Is::UInt32 | Is::UInt64 => None,
            Is::Date32 | Is::Date64 | Is::Timestamp(_, None) => None,
            Is::Timestamp(_, Some(_)) => Some("dates"),
            kind if kind.is_numeric() => Some("whole numbers or text"),
            _ => Some("text"),
        };
        match hint {
            None => Ok(Self { array, dictionary: None }),
            Some(hint) => {
                let is = array.data_type();
                let what = format!("values are text, whole numbers or dates, and these are {is}");
                Err(format!("{what}; convert them to {hint} first"))
            }
        }
    }

    /// The value in a row as text; nothing for null.
    #[inline]
    fn part(&self, row: usize) -> Result<Cow<'a, str>, String> {
        use DataType as Is;
        let array = self.array;
        if array.is_null(row) {
            return Ok(Cow::Borrowed(""));
        }
        if let Some((places, values)) = &self.dictionary {
            return places.get(row).map_or(Ok(Cow::Borrowed("")), |&place| values.part(place));
        }
        macro_rules! number {
            ($type:ty) => {
                Ok(array.as_primitive::<$type>().value(row).to_string().into())
            };
        }
        macro_rules! date {
            ($type:ty) => {{
                let time = array.as_primitive::<$type>().value_as_datetime(row);
                iso(time.map(|it| it.to_string()))
            }};
        }
        match array.data_type() {
            Is::Utf8 => Ok(array.as_string::<i32>().value(row).into()),
            Is::LargeUtf8 => Ok(array.as_string::<i64>().value(row).into()),
            Is::Utf8View => Ok(array.as_string_view().value(row).into()),
            Is::Binary => text(array.as_binary::<i32>().value(row)),
            Is::LargeBinary => text(array.as_binary::<i64>().value(row)),
            Is::BinaryView => text(array.as_binary_view().value(row)),
            Is::Int8 => number!(Int8Type),
            Is::Int16 => number!(Int16Type),
            Is::Int32 => number!(Int32Type),
            Is::Int64 => number!(Int64Type),
            Is::UInt8 => number!(UInt8Type),
            Is::UInt16 => number!(UInt16Type),
            Is::UInt32 => number!(UInt32Type),
            Is::UInt64 => number!(UInt64Type),
            Is::Date32 => date!(Date32Type),
            Is::Date64 => date!(Date64Type),
            Is::Timestamp(TimeUnit::Second, None) => date!(TimestampSecondType),
            Is::Timestamp(TimeUnit::Millisecond, None) => date!(TimestampMillisecondType),
            Is::Timestamp(TimeUnit::Microsecond, None) => date!(TimestampMicrosecondType),
            Is::Timestamp(TimeUnit::Nanosecond, None) => date!(TimestampNanosecondType),
            _ => Ok(Cow::Borrowed("")),
        }
    }
}

fn text(bytes: &[u8]) -> Result<Cow<'_, str>, String> {
    std::str::from_utf8(bytes).map(Cow::from).map_err(|_| "bytes that are not UTF-8".into())
}

/// The date of a time of the form `1990-02-01 00:00:00`.
fn iso<'a>(time: Option<String>) -> Result<Cow<'a, str>, String> {
    let date = time.as_deref().and_then(|it| it.strip_suffix(" 00:00:00"));
    match date {
        Some(date) if date.len() == 10 => Ok(date.to_owned().into()),
        Some(_) | None
            if time.as_ref().is_some_and(|it| it.len() > 10 && !it.ends_with(" 00:00:00")) =>
        {
            Err("a time of day; convert times to dates first".into())
        }
        _ => Err("a date outside of the years 1 to 9999".into()),
    }
}

/// A value as text; nothing for none. The errors do not show the value.
fn part_of(value: &Bound<'_, PyAny>) -> Result<String, String> {
    if let Ok(text) = value.cast::<PyString>() {
        let text = text.to_str().map(str::to_owned);
        return text.map_err(|_| "text that is not Unicode".to_owned());
    }
    if value.is_none() || value.cast::<PyFloat>().is_ok_and(|it| it.value().is_nan()) {
        return Ok(String::new());
    }
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return text(bytes.as_bytes()).map(Cow::into_owned);
    }
    let is_number = value.cast::<PyInt>().is_ok() && value.cast::<PyBool>().is_err();
    let is_date = value.cast::<PyDate>().is_ok() && value.cast::<PyDateTime>().is_err();
    if is_number || is_date {
        let text = value.str().and_then(|it| it.to_str().map(str::to_owned));
        return text.map_err(|_| match is_number {
            true => "a whole number of so many digits that Python does not write it".to_owned(),
            false => "a date that Python does not write".to_owned(),
        });
    }
    if value.cast::<PyDateTime>().is_ok() {
        let time = value.call_method0("isoformat").and_then(|it| it.extract::<String>());
        let time = time.map_err(|_| "a time that Python does not write")?;
        return iso(Some(time.replace('T', " "))).map(Cow::into_owned);
    }
    let is = value.get_type().name().map_or_else(|_| "?".into(), |it| it.to_string());
    Err(format!("values are text, whole numbers or dates, and this is {is}"))
}
