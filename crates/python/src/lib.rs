//! The Python package `foxtrot`: what its modules in Python call. Names, defaults and documentation are there.
#![forbid(unsafe_code)]

mod connection;
mod errors;
mod jobs;
mod keys;
mod limits;
mod options;
mod run;
mod shards;
mod table;

use foxtrot::options::{JOB_OPTIONS, SERVER_OPTIONS};
use pyo3::prelude::*;

/// Private set intersection, oblivious transfer and multiplication triples: the compiled part of `foxtrot`.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("MOST_THREADS", foxtrot::Threads::MOST)?;
    module.add_class::<connection::Attempt>()?;
    module.add_class::<connection::Config>()?;
    module.add_class::<connection::Gateway>()?;
    module.add_class::<connection::Identity>()?;
    module.add_class::<connection::Listener>()?;
    let defaults = JOB_OPTIONS.map(|option| (option.name, option.default_text()));
    module.add("JOB_OPTIONS", std::collections::BTreeMap::from(defaults))?;
    let defaults = SERVER_OPTIONS.map(|option| (option.name, option.default_text()));
    module.add("SERVER_OPTIONS", std::collections::BTreeMap::from(defaults))?;
    module.add_class::<connection::Peer>()?;
    module.add_class::<connection::Server>()?;
    module.add_class::<limits::Limits>()?;
    module.add_class::<keys::Fields>()?;
    module.add_class::<keys::Keys>()?;
    module.add_class::<keys::Numbers>()?;
    module.add_class::<options::Ticket>()?;
    module.add_class::<table::Table>()?;
    module.add_function(wrap_pyfunction!(connection::connect, module)?)?;
    module.add_function(wrap_pyfunction!(connection::pair, module)?)?;
    module.add_function(wrap_pyfunction!(keys::fields_of, module)?)?;
    module.add_function(wrap_pyfunction!(keys::keys_of, module)?)?;
    module.add_function(wrap_pyfunction!(keys::keys_of_items, module)?)?;
    module.add_function(wrap_pyfunction!(keys::numbers_of, module)?)?;
    module.add_function(wrap_pyfunction!(keys::item, module)?)?;
    module.add_function(wrap_pyfunction!(shards::agree_on_shards, module)?)?;
    module.add_function(wrap_pyfunction!(jobs::psi_send, module)?)?;
    module.add_function(wrap_pyfunction!(jobs::psi_send_both, module)?)?;
    module.add_function(wrap_pyfunction!(jobs::psi_receive, module)?)?;
    module.add_function(wrap_pyfunction!(jobs::psi_join, module)?)?;
    module.add_function(wrap_pyfunction!(jobs::psi_count, module)?)?;
    module.add_function(wrap_pyfunction!(jobs::psi_local, module)?)?;
    module.add_function(wrap_pyfunction!(jobs::rot_send, module)?)?;
    module.add_function(wrap_pyfunction!(jobs::rot_receive, module)?)?;
    module.add_function(wrap_pyfunction!(jobs::rot_send_correlated, module)?)?;
    module.add_function(wrap_pyfunction!(jobs::rot_receive_correlated, module)?)?;
    module.add_function(wrap_pyfunction!(jobs::ot_send, module)?)?;
    module.add_function(wrap_pyfunction!(jobs::ot_receive, module)?)?;
    module.add_function(wrap_pyfunction!(jobs::triples_generate, module)?)?;
    Ok(())
}
