//! Tables by the Arrow C stream interface.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, RecordBatch, RecordBatchIterator, RecordBatchReader, StringArray,
    ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader},
};
use arrow_pyarrow::FromPyArrow;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use arrow_select::filter::filter_record_batch;
use pyo3::{prelude::*, types::PyCapsule};

use crate::{
    errors::usage,
    run::{Tell, run},
};

/// Rows with named columns, which every library with the Arrow C stream interface reads.
#[pyclass(frozen, module = "foxtrot._core")]
pub(crate) struct Table {
    pub(crate) schema: SchemaRef,
    pub(crate) batches: Vec<RecordBatch>,
}

impl Table {
    /// Reads all that an object with `__arrow_c_stream__` has.
    pub(crate) fn read(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let stream = RecordBatchStreamReader::from_pyarrow_bound(object)?;
        let schema = stream.schema();
        // The object's own library may wait for the GIL while it gives batches.
        let read = move || stream.collect::<Result<Vec<_>, _>>();
        let batches = run(object.py(), &Tell::NOTHING, || (), read)?;
        let batches = batches.map_err(|e| unreadable(&schema, &e))?;
        Ok(Self { schema, batches })
    }

    pub(crate) fn rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }
}

/// The error of a stream that does not come. Arrow does not say which column it cannot take; several libraries give those of nulls
/// in a form of their own.
fn unreadable(schema: &Schema, error: &ArrowError) -> PyErr {
    let null = schema.fields().iter().find(|field| *field.data_type() == DataType::Null);
    match null.map(|field| field.name()) {
        Some(name) => usage(format_args!(
            "column {name:?}: the table gives only nulls of type Null; convert them to text first"
        )),
        None => usage(format_args!("the table cannot be read: {error}")),
    }
}

fn failed(error: ArrowError) -> PyErr {
    usage(error)
}

#[pymethods]
impl Table {
    #[new]
    fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::read(object)
    }

    /// The rows for which a byte of `mask` is not zero.
    fn filter(&self, py: Python<'_>, mask: &[u8]) -> PyResult<Self> {
        if mask.len() != self.rows() {
            return Err(usage("the mask has another length than the table"));
        }
        py.detach(|| {
            let mut rest = mask;
            let mut batches = Vec::new();
            for batch in &self.batches {
                let (here, behind) = rest.split_at(batch.num_rows());
                rest = behind;
                let here: BooleanArray = here.iter().map(|&byte| Some(byte != 0)).collect();
                batches.push(filter_record_batch(batch, &here).map_err(failed)?);
            }
            Ok(Self { schema: self.schema.clone(), batches })
        })
    }

    /// Puts columns of text behind the others.
    fn with_columns(&self, py: Python<'_>, columns: Vec<(String, Vec<String>)>) -> PyResult<Self> {
        if columns.iter().any(|(_, texts)| texts.len() != self.rows()) {
            return Err(usage("a column has another length than the table"));
        }
        py.detach(|| {
            let field = |(name, _): &(String, _)| Arc::new(Field::new(name, DataType::Utf8, false));
            let fields = self.schema.fields().iter().cloned().chain(columns.iter().map(field));
            let schema = Schema::new_with_metadata(
                fields.collect::<Vec<_>>(),
                self.schema.metadata().clone(),
            );
            let (schema, mut first) = (Arc::new(schema), 0);
            let mut batches = Vec::new();
            for batch in &self.batches {
                let rows = first..first + batch.num_rows();
                let texts = |(_, texts): &(_, Vec<String>)| -> ArrayRef {
                    Arc::new(StringArray::from_iter_values(&texts[rows.clone()]))
                };
                let all =
                    batch.columns().iter().cloned().chain(columns.iter().map(texts)).collect();
                batches.push(RecordBatch::try_new(Arc::clone(&schema), all).map_err(failed)?);
                first = rows.end;
            }
            Ok(Self { schema, batches })
        })
    }

    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface lets a producer pass over a request.
        let _ = requested_schema;
        let batches = self.batches.clone().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(batches, self.schema.clone());
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __len__(&self) -> usize {
        self.rows()
    }

    fn __repr__(&self) -> String {
        format!("<foxtrot.Table of {} rows: {}>", self.rows(), self.column_names().join(", "))
    }
}
