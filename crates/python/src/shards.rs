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

/// Items of rows with a key, and the numbers of these rows.
type Divided = (Keyer, Zeroizing<Vec<[u8; 32]>>, Vec<u32>);

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

    /// Divides rows: for each with a key its number and its shard, 32 bits each in the order of the machine, and its item.
    fn divide<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'_>,
        columns: Vec<String>,
        names: Vec<String>,
    ) -> PyResult<[Bound<'py, PyBytes>; 3]> {
        let most = rows.count();
        let items = Zeroizing::new(Vec::with_capacity(most));
        let state = (Keyer::new(normalisers(&names)?), items, Vec::with_capacity(most));
        let take = |(keyer, items, numbers): &mut Divided, row: usize, parts: &[Cow<'_, str>]| {
            no_nul(parts)?;
            if let Some(item) = keyer.item(parts.iter().map(|part| Cow::Borrowed(&**part))) {
                numbers.push(u32::try_from(row).map_err(|_| (0, "too many rows".to_owned()))?);
                items.push(item);
            }
            Ok(())
        };
        let (_, items, numbers) = rows.each(py, Some(&columns), state, take)?;
        let of = py.detach(|| self.0.division().shards_of(&items));
        let bytes =
            |words: &[u32]| words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<_>>();
        Ok([&*bytes(&numbers), &*bytes(&of), items.as_flattened()].map(|it| PyBytes::new(py, it)))
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
