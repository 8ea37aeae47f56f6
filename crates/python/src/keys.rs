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
use foxtrot::{
    Error,
    psi::keys::{Builder, Keyer, Keys as Read, Normaliser},
};
use pyo3::{
    exceptions::PyTypeError,
    prelude::*,
    types::{PyBool, PyBytes, PyDate, PyDateTime, PyFloat, PyInt, PyList, PyString},
};

use crate::{
    errors::{raised, usage},
    run::{Tell, run},
    table::Table,
};

/// Rows of a list between two looks at signals.
const LOOK: usize = 1 << 16;

/// The keys of a table's rows.
#[pyclass(frozen, module = "foxtrot._core")]
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
        self.read.duplicates().to_vec()
    }

    #[getter]
    fn without_key(&self) -> Vec<usize> {
        self.read.without_key().to_vec()
    }

    #[getter]
    fn shown(&self) -> Vec<(Vec<String>, Vec<String>)> {
        self.shown.iter().cloned().map(|[before, after]| (before, after)).collect()
    }

    fn __len__(&self) -> usize {
        self.read.len()
    }

    fn __repr__(&self) -> String {
        format!("<foxtrot keys: {} rows, {} keys>", self.read.rows(), self.read.len())
    }
}

fn normalisers(names: &[String]) -> PyResult<Vec<Normaliser>> {
    names.iter().map(|name| name.parse().map_err(|why: String| usage(why))).collect()
}

/// The item that is compared for the parts of a key; none if a part is empty.
#[pyfunction]
pub(crate) fn item(parts: Vec<String>, names: Vec<String>) -> PyResult<Option<Vec<u8>>> {
    Ok(Keyer::new(normalisers(&names)?).item(parts.into_iter().map(Cow::Owned)).map(Vec::from))
}

/// The keys of an Arrow table, in these columns.
#[pyfunction]
pub(crate) fn keys_of_arrow(
    py: Python<'_>,
    table: &Bound<'_, Table>,
    columns: Vec<String>,
    names: Vec<String>,
    show: usize,
) -> PyResult<Keys> {
    let (normalisers, table) = (normalisers(&names)?, table.get());
    let (batches, rows) = (table.batches.clone(), table.rows());
    let at = |name: &String| {
        let index = table.schema.index_of(name);
        index.map_err(|_| usage(format_args!("there is no column {name:?} in the table")))
    };
    let indices = columns.iter().map(at).collect::<PyResult<Vec<_>>>()?;
    let read = run(
        py,
        &Tell::NOTHING,
        || (),
        move || {
            let mut shown = Shown::new(&normalisers, show);
            let mut keys = Builder::new(normalisers, rows)?.columns(columns.clone());
            let mut row = 0;
            for batch in &batches {
                if let Err((column, number, why)) = push(&mut keys, &mut shown, batch, &indices) {
                    let place = number.map(|it| format!(", row {}", row + it)).unwrap_or_default();
                    return Ok(Err(format!("column {:?}{place}: {why}", columns[column])));
                }
                row += batch.num_rows();
            }
            Ok(Ok((keys.finish()?, shown.keys)))
        },
    )?;
    let (read, shown) = read.map_err(|e: Error| raised(&e))?.map_err(usage)?;
    Ok(Keys { read: Arc::new(read), shown })
}

/// A column, a row in the batch, and why it has no key.
type Wrong = (usize, Option<usize>, String);

fn push(
    keys: &mut Builder,
    shown: &mut Shown,
    batch: &RecordBatch,
    indices: &[usize],
) -> Result<(), Wrong> {
    let columns = indices.iter().enumerate().map(|(number, &index)| {
        Column::new(batch.column(index).as_ref()).map_err(|why| (number, None, why))
    });
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    let mut wrong = None;
    for row in 0..batch.num_rows() {
        if !shown.is_full() {
            let parts = columns.iter().map(|it| it.part(row).map(Cow::into_owned));
            shown.take(parts.collect::<Result<_, _>>().unwrap_or_default());
        }
        let parts = columns.iter().enumerate().map(|(number, column)| {
            column.part(row).and_then(checked).unwrap_or_else(|why| {
                wrong.get_or_insert((number, Some(row), why));
                Cow::Borrowed("")
            })
        });
        keys.push(parts);
        if let Some(wrong) = wrong.take() {
            return Err(wrong);
        }
    }
    Ok(())
}

/// Refuses what the command refuses.
fn checked(part: Cow<'_, str>) -> Result<Cow<'_, str>, String> {
    if part.contains('\0') { Err("a NUL byte in the key".into()) } else { Ok(part) }
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
            Is::Float16 | Is::Float32 | Is::Float64 => {
                Some("; convert them to whole numbers or text first")
            }
            Is::Timestamp(_, Some(_)) => Some("; convert them to dates first"),
            Is::Boolean => Some("; convert them to text first"),
            _ => Some(""),
        };
        match hint {
            None => Ok(Self { array, dictionary: None }),
            Some(hint) => {
                let is = array.data_type();
                Err(format!("keys are text, whole numbers or dates, and these are {is}{hint}"))
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

/// The keys of lists of Python's values, one list for each part of a key.
#[pyfunction]
pub(crate) fn keys_of_lists(
    py: Python<'_>,
    parts: Vec<Bound<'_, PyList>>,
    columns: Option<Vec<String>>,
    names: Vec<String>,
    show: usize,
) -> PyResult<Keys> {
    let rows = parts.first().map_or(0, |it| it.len());
    let normalisers = normalisers(&names)?;
    let mut shown = Shown::new(&normalisers, show);
    let mut keys = Builder::new(normalisers, rows).map_err(|e| raised(&e))?;
    if let Some(columns) = &columns {
        keys = keys.columns(columns.clone());
    }
    for row in 0..rows {
        if row % LOOK == LOOK - 1 {
            py.check_signals()?;
            // Other threads may have the lock of the interpreter now.
            py.detach(std::thread::yield_now);
        }
        let mut values = Vec::with_capacity(parts.len());
        for (number, part) in parts.iter().enumerate() {
            let value = part.get_item(row)?;
            let place = || match &columns {
                Some(columns) => format!("column {:?}, row {row}", columns[number]),
                None => format!("row {row}"),
            };
            let part = part_of(&value).and_then(|it| checked(it.into()));
            values.push(part.map_err(|why| usage(format_args!("{}: {why}", place())))?);
        }
        if !shown.is_full() {
            shown.take(values.iter().map(|it: &Cow<'_, str>| it.to_string()).collect());
        }
        keys.push(values.into_iter());
    }
    let read = py.detach(|| keys.finish()).map_err(|e| raised(&e))?;
    Ok(Keys { read: Arc::new(read), shown: shown.keys })
}

/// A value as text; nothing for none. The errors do not show the value.
fn part_of(value: &Bound<'_, PyAny>) -> Result<String, String> {
    let wrong = |e: PyErr| {
        let is = e.is_instance_of::<PyTypeError>(value.py());
        if is {
            "a value that is no text".to_owned()
        } else {
            "text that is not Unicode".to_owned()
        }
    };
    if let Ok(text) = value.cast::<PyString>() {
        return text.to_str().map(str::to_owned).map_err(wrong);
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
        return text.map_err(wrong);
    }
    if value.cast::<PyDateTime>().is_ok() {
        let time = value.call_method0("isoformat").and_then(|it| it.extract::<String>());
        return iso(Some(time.map_err(wrong)?.replace('T', " "))).map(Cow::into_owned);
    }
    let is = value.get_type().name().map_or_else(|_| "?".into(), |it| it.to_string());
    Err(format!("keys are text, whole numbers or dates, and this is {is}"))
}
