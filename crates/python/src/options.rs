//! Options of intersections.

use foxtrot::{
    job::Role,
    psi::{
        self, Assumption,
        shards::{self, Shard},
    },
};
use pyo3::prelude::*;

use crate::errors::{raised, usage};

/// The agreement of both sides on all shards.
#[pyclass(frozen, module = "foxtrot._core")]
pub(crate) struct Ticket(pub(crate) shards::Ticket);

/// The options of an intersection, in a dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct PsiOptions {
    semi_honest: bool,
    assumption: String,
    max_peer_keys: Option<usize>,
    min_peer_keys: usize,
    shard: Option<(Py<Ticket>, u32, u32)>,
}

impl PsiOptions {
    pub(crate) fn read(&self, role: Role) -> PyResult<psi::Options> {
        let assumption = match self.assumption.as_str() {
            "symmetric" => Assumption::Symmetric,
            "lpn" => Assumption::Lpn,
            name => {
                let why = format!("the assumption is \"symmetric\" or \"lpn\", and not {name:?}");
                return Err(usage(why));
            }
        };
        let options = psi::Options::new().assumption(assumption).min_peer_keys(self.min_peer_keys);
        let options = if self.semi_honest { options.semi_honest() } else { options };
        let options = self.max_peer_keys.map_or(options, |most| options.max_peer_keys(most));
        let Some((ticket, number, attempt)) = &self.shard else { return Ok(options) };
        let shard = Shard { number: *number, attempt: *attempt };
        options.shard(&ticket.get().0, role, shard).map_err(|e| raised(&e))
    }
}
