//! Limits of what a peer may learn in a day.

use std::{ffi::CString, path::PathBuf, sync::Arc, time::SystemTime};

use foxtrot::{Daily, MostPerDay, net::Turn};
use pyo3::{exceptions::PyRuntimeWarning, prelude::*};

use crate::errors::usage;

/// Counts of each peer and day, in a file.
#[pyclass(frozen, module = "foxtrot._core")]
pub(crate) struct Limits(Arc<Daily>);

impl Limits {
    pub(crate) fn daily(&self) -> Arc<Daily> {
        Arc::clone(&self.0)
    }
}

#[pymethods]
impl Limits {
    #[new]
    #[pyo3(signature = (path, *, max_runs_per_day, max_keys_per_day))]
    fn new(
        path: PathBuf,
        max_runs_per_day: Option<u64>,
        max_keys_per_day: Option<u64>,
    ) -> PyResult<Self> {
        let most = MostPerDay { runs: max_runs_per_day, keys: max_keys_per_day };
        let daily = Daily::open(most, &path).map_err(usage)?;
        Ok(Self(Arc::new(daily.on_turn(SystemTime::now(), warn))))
    }
}

/// Warns of a clock behind the counts: peers are refused until it has caught up.
fn warn(turn: Turn) {
    if turn.counts <= turn.clock {
        return;
    }
    let text =
        format!("{turn}; set the clock or, if it is right, the day in the second line of the file");
    Python::attach(|py| {
        let warned = CString::new(text)
            .map_err(PyErr::from)
            .and_then(|text| PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &text, 1));
        // Where warnings are errors, a run that another thread has begun still goes on.
        warned.unwrap_or_else(|e| e.write_unraisable(py, None));
    });
}
