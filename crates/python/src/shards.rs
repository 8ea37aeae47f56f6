//! One intersection on many machines.

use std::borrow::Cow;

use foxtrot::{
    job::Role,
    psi::{
        Assumption, Options,
        keys::{Item, Keyer},
        shards::{Division, Shard},
    },
};
use numpy::PyArray1;
use pyo3::{prelude::*, types::PyBytes};
use zeroize::Zeroizing;

use crate::{
    connection::Peer,
    errors::{raised, usage},
    keys::{Keys, Rows, no_nul, normalisers},
    options::{PsiOptions, Ticket},
};

/// Rows that are divided at once.
const AT_ONCE: usize = 1 << 14;

/// The number of rows without a key.
const NONE: i32 = -1;

fn role(is_sender: bool) -> Role {
    match is_sender {
        true => Role::Sender,
        false => Role::Receiver,
    }
}

/// Rows that are being divided.
struct Divider {
    keyer: Keyer,
    division: Division,
    /// Rows with a key whose shard is not known yet, and their items. Few at once: fresh memory costs more than the work on it.
    waiting: (Vec<i32>, Zeroizing<Vec<Item>>),
    /// Rows of each shard, and their items.
    shards: Vec<(Vec<i32>, Vec<Item>)>,
}

impl Divider {
    fn divide(&mut self) {
        let (rows, items) = &mut self.waiting;
        let of = self.division.shards_of(items);
        for ((shard, row), item) in of.into_iter().zip(rows.drain(..)).zip(items.drain(..)) {
            let (rows, items) = &mut self.shards[shard as usize];
            rows.push(row);
            items.push(item);
        }
    }
}

/// For each shard the numbers of its rows, and their items.
type Divided<'py> = Vec<(Bound<'py, PyArray1<i32>>, Bound<'py, PyArray1<u8>>)>;

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

    /// The most keys that a cheating receiver can test in an attempt at a shard.
    fn most_tested(&self, lpn: bool, semi_honest: bool) -> Option<u64> {
        let assumption = if lpn { Assumption::Lpn } else { Assumption::Symmetric };
        let options = Options::new().assumption(assumption);
        let options = if semi_honest { options.semi_honest() } else { options };
        options.most_tested(self.0.load(Role::Receiver))
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

    /// Divides rows with a key: for each shard the numbers of its rows, and their items of 32 bytes.
    fn divide<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'_>,
        columns: Vec<String>,
        names: Vec<String>,
    ) -> PyResult<Divided<'py>> {
        let division = self.0.division().clone();
        let most = division.load(rows.count());
        let mut divider = Divider {
            keyer: Keyer::new(normalisers(&names)?),
            waiting: (Vec::with_capacity(AT_ONCE), Zeroizing::new(Vec::with_capacity(AT_ONCE))),
            shards: (0..division.shards())
                .map(|_| (Vec::with_capacity(most), Vec::with_capacity(most)))
                .collect(),
            division,
        };
        let take = |divider: &mut Divider, row: usize, parts: &[Cow<'_, str>]| {
            no_nul(parts)?;
            if let Some(item) = divider.keyer.item(parts.iter().map(|part| Cow::Borrowed(&**part)))
            {
                let (rows, items) = &mut divider.waiting;
                rows.push(i32::try_from(row).map_err(|_| (0, "too many rows".to_owned()))?);
                items.push(item);
                if items.len() == AT_ONCE {
                    divider.divide();
                }
            }
            Ok(())
        };
        divider = rows.each(py, Some(&columns), divider, take)?;
        divider.divide();
        let of_shard = |(rows, items): (_, Vec<Item>)| {
            (PyArray1::from_vec(py, rows), PyArray1::from_vec(py, items.into_flattened()))
        };
        Ok(divider.shards.into_iter().map(of_shard).collect())
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
