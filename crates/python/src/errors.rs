//! Errors as Python's exceptions, by blame.

use std::fmt::Display;

use foxtrot::{Blame, Error, Hint};
use pyo3::{PyTypeInfo, exceptions::PyRuntimeError, prelude::*};

/// The exception of this name in `foxtrot._errors`.
fn exception(name: &str, words: impl Display) -> PyErr {
    let words = words.to_string();
    Python::attach(|py| {
        let made =
            py.import("foxtrot._errors").and_then(|module| module.getattr(name)?.call1((&words,)));
        made.map_or_else(|error| error, |exception| PyErr::from_value(exception.into_any()))
    })
}

/// The exception of this name, with advice that tracebacks show as a note.
fn with_hint(name: &str, words: impl Display, hint: Option<&Hint>) -> PyErr {
    let raised = exception(name, words);
    if let Some(hint) = hint {
        let hint = hint.spelled(|option| format!("{option}="));
        Python::attach(|py| {
            let value = raised.value(py);
            // Python 3.10 has no notes.
            let _ = value.setattr("hint", &hint);
            let _ = value.call_method1("add_note", (format!("hint: {hint}"),));
        });
    }
    raised
}

/// The caller's mistake, with what to do about it.
pub(crate) fn usage(words: impl Display) -> PyErr {
    exception("UsageError", words)
}

/// The exception of an error of the library.
pub(crate) fn raised(error: &Error) -> PyErr {
    if let Error::Sink(inner) = error
        && let Some(raised) = inner.downcast_ref::<PyErr>()
    {
        return Python::attach(|py| raised.clone_ref(py));
    }
    let name = match (error, error.blame()) {
        (Error::Cancelled, _) => "Cancelled",
        (_, Blame::Caller) => "UsageError",
        (_, Blame::Peer) => "PeerError",
        (_, Blame::Agreement) => "AgreementError",
        (_, Blame::Connection) => "ConnectionError",
        (_, Blame::Nobody) => "RetryError",
    };
    with_hint(name, error, error.cause().hint.as_ref())
}

/// The exception of a thread that ended without a result.
pub(crate) fn panicked() -> PyErr {
    PyRuntimeError::new_err("the library panicked; please report it with the steps that led to it")
}

/// Fails with an explanation if NumPy cannot be imported.
pub(crate) fn needs_numpy(py: Python<'_>) -> PyResult<()> {
    py.import("numpy").map(drop).map_err(|error| {
        if error.is_instance_of::<pyo3::exceptions::PyImportError>(py) {
            let words = "this function gives NumPy arrays; install NumPy: pip install numpy";
            PyErr::from_type(pyo3::exceptions::PyImportError::type_object(py), words)
        } else {
            error
        }
    })
}
