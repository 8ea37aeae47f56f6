//! One intersection on many machines.

use std::borrow::Cow;

use foxtrot::{
    job::Role,
    psi::{
        keys::Keyer,
        shards::{self, Shard},
    },
};
use pyo3::{prelude::*, types::PyBytes};
use zeroize::Zeroizing;

use crate::{
    connection::Peer,
    errors::{raised, usage},
    jobs::PsiOptions,
    keys::{Keys, Rows, no_nul, normalisers},
};

/// The agreement of both sides on all shards.
#[pyclass(frozen, module = "foxtrot._core")]
pub(crate) struct Ticket(pub(crate) shards::Ticket);

/// The number of rows without a key.
const NONE: i32 = -1;

fn role(is_sender: bool) -> Role {
    match is_sender {
        true => Role::Sender,
        false => Role::Receiver,
    }
}

#[pymethods]
impl Ticket {
    #[staticmethod]
    fn parse(text: &str) -> PyResult<Self> {
        text.parse().map(Self).map_err(usage)
    }

    fn text(&self) -> String {
        self.0.to_string()
    }

    #[getter]
    fn shards(&self) -> u32 {
        self.0.division().shards()
    }

    fn keys(&self, is_sender: bool) -> usize {
        self.0.keys(role(is_sender))
    }

    fn load(&self, is_sender: bool) -> usize {
        self.0.load(role(is_sender))
    }

    /// The shard of each row: 32 bits, in the order of the machine.
    fn shards_of<'py>(&self, py: Python<'py>, keys: &Keys) -> Bound<'py, PyBytes> {
        let bytes = py.detach(|| {
            let of = self.0.division().shards_of(keys.read.items());
            // There are at most 2^16 shards.
            let of_row = |row| keys.read.key_of(row).map_or(NONE, |key| of[key].cast_signed());
            (0..keys.read.rows()).flat_map(|row| of_row(row).to_ne_bytes()).collect::<Vec<_>>()
        });
        PyBytes::new(py, &bytes)
    }

    /// The shard of each row as of `shards_of`, without a look for duplicates.
    fn divide<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'_>,
        columns: Vec<String>,
        names: Vec<String>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (keyer, items) = (Keyer::new(normalisers(&names)?), Zeroizing::new(Vec::new()));
        type State = (Keyer, Zeroizing<Vec<[u8; 32]>>, Vec<bool>);
        let take = |(keyer, items, has_key): &mut State, _, parts: &[Cow<'_, str>]| {
            no_nul(parts)?;
            let item = keyer.item(parts.iter().map(|part| Cow::Borrowed(&**part)));
            has_key.push(item.is_some());
            items.extend(item);
            Ok(())
        };
        let (_, items, has_key) =
            rows.each(py, Some(&columns), (keyer, items, Vec::new()), take)?;
        let bytes = py.detach(|| {
            let mut of = self.0.division().shards_of(&items).into_iter();
            let mut of_row =
                |has_key: bool| has_key.then(|| of.next()).flatten().map_or(NONE, u32::cast_signed);
            has_key.iter().flat_map(|&has_key| of_row(has_key).to_ne_bytes()).collect::<Vec<_>>()
        });
        Ok(PyBytes::new(py, &bytes))
    }

    /// The end of the name of a shard's route, as the command has it.
    fn route(&self, number: u32, attempt: u32) -> PyResult<String> {
        let terms = self.0.terms(Shard { number, attempt }).map_err(|e| raised(&e))?;
        let hex: String = terms.division[..16].iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(format!(":{number}:{attempt}:{hex}"))
    }
}

#[pyfunction]
pub(crate) fn agree_on_shards(
    py: Python<'_>,
    peer: &Peer,
    is_sender: bool,
    keys: usize,
    terms: String,
    shards: u32,
    options: PsiOptions,
) -> PyResult<Ticket> {
    let role = role(is_sender);
    let options = options.read(role)?;
    peer.job(py, None, move |peer| options.agree_on_shards(peer, role, keys, &terms, shards))
        .map(Ticket)
}
