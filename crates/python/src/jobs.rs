//! Jobs with a peer.

use std::{collections::HashMap, sync::Arc, thread};

use foxtrot::{
    Error, Side,
    extension::{silent, softspoken},
    job::Role,
    ot,
    psi::{self, Count, Outcome, keys::Told},
    rot,
    triples::{self, Method, Word},
};
use numpy::{Element, PyArray1, PyArray2, PyArray3, PyArrayMethods};
use pyo3::{
    prelude::*,
    types::{PyBytes, PyDict, PyList},
};
use zeroize::Zeroizing;

use crate::{
    connection::Peer,
    errors::{needs_numpy, panicked, raised, usage},
    keys::{Fields, Keys, Numbers, padding_of},
    options::PsiOptions,
    run::{Tell, run},
};

/// Bytes of a key.
const KEY: usize = 16;

fn facts<'py>(py: Python<'py>, told: &Told, counters: [u64; 2]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let hex: String = told.session.iter().map(|byte| format!("{byte:02x}")).collect();
    dict.set_item("session", hex)?;
    dict.set_item("peer_keys", told.keys)?;
    dict.set_item("peer_columns", told.columns.as_deref().map(foxtrot::net::printable))?;
    let [sent, received] = counters;
    dict.set_item("bytes_sent", sent)?;
    dict.set_item("bytes_received", received)?;
    Ok(dict)
}

fn counted(peer: &foxtrot::Peer) -> [u64; 2] {
    let counters = peer.counters();
    [counters.sent, counters.received]
}

#[pyfunction]
#[pyo3(signature = (peer, keys, options, *, share, progress))]
pub(crate) fn psi_send<'py>(
    py: Python<'py>,
    peer: &Peer,
    keys: &Keys,
    options: PsiOptions,
    share: Option<&Fields>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (keys, options) = (Arc::clone(&keys.read), options.read(Role::Sender)?);
    let share = share.map(|fields| Arc::clone(&fields.0));
    let (told, counters) = peer.job(py, progress, move |peer| {
        let told = match share {
            Some(fields) => options.send_keys_with(peer, &keys, &fields)?,
            None => options.send_keys(peer, &keys)?,
        };
        Ok((told, counted(peer)))
    })?;
    facts(py, &told, counters)
}

/// The sender's rows in common, which it also learns.
#[pyfunction]
#[pyo3(signature = (peer, keys, options, *, progress))]
pub(crate) fn psi_send_both<'py>(
    py: Python<'py>,
    peer: &Peer,
    keys: &Keys,
    options: PsiOptions,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Rows<'py>, Bound<'py, PyDict>)> {
    let (keys, options) = (Arc::clone(&keys.read), options.read(Role::Sender)?);
    let (common, told, counters) = peer.job(py, progress, move |peer| {
        let (common, told) = options.send_keys_both(peer, &keys)?;
        Ok((keys.rows_of(&common), told, counted(peer)))
    })?;
    Ok((rows(py, common), facts(py, &told, counters)?))
}

/// Rows as a byte for each, and as their numbers: 64 bits, in the order of the machine.
type Rows<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>);

fn rows<'py>(py: Python<'py>, of: Vec<bool>) -> Rows<'py> {
    let (mask, indices) = py.detach(|| {
        let numbers = (0_i64..).zip(&of).filter(|(_, is)| **is);
        let indices: Vec<u8> = numbers.flat_map(|(number, _)| number.to_ne_bytes()).collect();
        (of.iter().map(|&is| u8::from(is)).collect::<Vec<_>>(), indices)
    });
    (PyBytes::new(py, &mask), PyBytes::new(py, &indices))
}

#[pyfunction]
#[pyo3(signature = (peer, keys, options, *, both, progress))]
pub(crate) fn psi_receive<'py>(
    py: Python<'py>,
    peer: &Peer,
    keys: &Keys,
    options: PsiOptions,
    both: bool,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Rows<'py>, Bound<'py, PyDict>)> {
    let (keys, options) = (Arc::clone(&keys.read), options.read(Role::Receiver)?);
    let (common, told, counters) = peer.job(py, progress, move |peer| {
        let (common, told) = match both {
            true => options.receive_keys_both(peer, &keys)?,
            false => options.receive_keys(peer, &keys)?,
        };
        Ok((keys.rows_of(&common), told, counted(peer)))
    })?;
    Ok((rows(py, common), facts(py, &told, counters)?))
}

/// Rows in common, the fields of each column in these rows, and facts.
type Joined<'py> = (Rows<'py>, Vec<Vec<String>>, Bound<'py, PyDict>);

#[pyfunction]
#[pyo3(signature = (peer, keys, options, columns, padding, *, progress))]
pub(crate) fn psi_join<'py>(
    py: Python<'py>,
    peer: &Peer,
    keys: &Keys,
    options: PsiOptions,
    columns: Vec<String>,
    padding: (usize, String),
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Joined<'py>> {
    let (keys, options) = (Arc::clone(&keys.read), options.read(Role::Receiver)?);
    let padding = padding_of(padding)?;
    let (common, fields, told, counters) = peer.job(py, progress, move |peer| {
        let (found, told) = options.receive_keys_with(peer, &keys, &columns, padding)?;
        let of_key: HashMap<_, _> = found.into_iter().collect();
        let of_row = |row| of_key.get(&keys.key_of(row)?);
        let is_common = (0..keys.rows()).map(|row| of_row(row).is_some()).collect();
        let mut by_column = vec![Vec::new(); columns.len()];
        for fields in (0..keys.rows()).filter_map(of_row) {
            by_column.iter_mut().zip(fields).for_each(|(column, field)| column.push(field.clone()));
        }
        Ok((is_common, by_column, told, counted(peer)))
    })?;
    Ok((rows(py, common), fields, facts(py, &told, counters)?))
}

/// The limits of a count or a sum, in a dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct CountOptions {
    min_count: u64,
    max_peer_keys: usize,
    min_peer_keys: usize,
}

/// The count, and the sum; none if they are withheld.
type Counted<'py> = (Option<u64>, Option<u64>, Bound<'py, PyDict>);

/// A sum if there is a largest number. Its sender is the side with numbers; the receiver of a count is the side that
/// connected.
#[pyfunction]
#[pyo3(signature = (peer, keys, options, *, numbers, largest, progress))]
pub(crate) fn psi_count<'py>(
    py: Python<'py>,
    peer: &Peer,
    keys: &Keys,
    options: CountOptions,
    numbers: Option<&Numbers>,
    largest: Option<u64>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Counted<'py>> {
    let keys = Arc::clone(&keys.read);
    let numbers = numbers.map(|it| (it.column.clone(), Arc::clone(&it.of_keys)));
    let CountOptions { min_count, max_peer_keys, min_peer_keys } = options;
    let count = Count::new().min_count(min_count);
    let count = count.min_peer_keys(min_peer_keys).max_peer_keys(max_peer_keys);
    let (outcome, told, counters) = peer.job(py, progress, move |peer| {
        let (outcome, told) = match (largest, numbers) {
            (Some(largest), Some((column, numbers))) => {
                count.send_keys_sum(peer, &keys, (column.as_deref(), &numbers), largest)?
            }
            (Some(largest), None) => count.receive_keys_sum(peer, &keys, largest)?,
            (None, _) if peer.side() == Side::Initiator => count.receive_keys(peer, &keys)?,
            (None, _) => count.send_keys(peer, &keys)?,
        };
        Ok((outcome, told, counted(peer)))
    })?;
    let (count, sum) = match outcome {
        Outcome::Withheld => (None, None),
        Outcome::Released { count, sum } => (Some(count), sum),
    };
    Ok((count, sum, facts(py, &told, counters)?))
}

/// Both parties in this process: the rows of `ours`.
#[pyfunction]
#[pyo3(signature = (ours, theirs, options))]
pub(crate) fn psi_local<'py>(
    py: Python<'py>,
    ours: &Keys,
    theirs: &Keys,
    options: PsiOptions,
) -> PyResult<(Rows<'py>, Bound<'py, PyDict>)> {
    let (ours, theirs) = (Arc::clone(&ours.read), Arc::clone(&theirs.read));
    let options = options.read(Role::Receiver)?.max_peer_keys(psi::MAX_ITEMS);
    let (mut receiver, mut sender) = py.detach(foxtrot::Peer::pair);
    let canceller = receiver.canceller();
    let ran = run(
        py,
        &Tell::NOTHING,
        || canceller.cancel(),
        move || {
            thread::scope(|scope| {
                let sending = scope.spawn(|| options.send_keys(&mut sender, &theirs));
                let received = options.receive_keys(&mut receiver, &ours);
                let sent = sending.join();
                let (common, told) = received?;
                Ok(sent.map(|sent| sent.map(|_| (ours.rows_of(&common), told, counted(&receiver)))))
            })
        },
    )?;
    let ran = ran.map_err(|e: Error| raised(&e))?.map_err(|_| panicked())?;
    let (common, told, counters) = ran.map_err(|e| raised(&e))?;
    Ok((rows(py, common), facts(py, &told, counters)?))
}

/// The options of `rot` or `ot` with the protocols that a caller names as on the command.
macro_rules! options {
    ($job:ident, $semi_honest:expr, $extension:expr) => {{
        let options = $job::Options::new();
        let options = if $semi_honest { options.semi_honest() } else { options };
        match $extension {
            None => Ok(options),
            Some("none") => Ok(options.without_extension()),
            Some("silent") if $semi_honest => Ok(options.silent(silent::semi_honest())),
            Some("silent") => Ok(options.silent(silent::malicious())),
            Some("softspoken") => {
                let make =
                    if $semi_honest { softspoken::semi_honest } else { softspoken::malicious };
                make(softspoken::DEFAULT_K).map(|it| options.extension(it)).map_err(usage)
            }
            Some(name) => Err(usage(format_args!(
                "the extension is \"softspoken\", \"silent\" or \"none\", and not {name:?}"
            ))),
        }
    }};
}

/// Choice bits or an offset, and keys.
type WithKeys<'py, T> = (Bound<'py, PyArray1<T>>, Bound<'py, PyArray2<u8>>);

/// Keys of two dimensions, without a copy.
fn of_keys<'py>(py: Python<'py>, keys: Vec<[u8; KEY]>) -> PyResult<Bound<'py, PyArray2<u8>>> {
    let n = keys.len();
    PyArray1::from_vec(py, keys.into_flattened()).reshape([n, KEY])
}

#[pyfunction]
#[pyo3(signature = (peer, n, *, semi_honest, extension, progress))]
pub(crate) fn rot_send<'py>(
    py: Python<'py>,
    peer: &Peer,
    n: usize,
    semi_honest: bool,
    extension: Option<&str>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyArray3<u8>>> {
    needs_numpy(py)?;
    let options = options!(rot, semi_honest, extension)?;
    let mut pairs = peer.job(py, progress, move |peer| options.send(peer, n))?;
    let bytes = std::mem::take(&mut pairs.0).into_flattened().into_flattened();
    PyArray1::from_vec(py, bytes).reshape([n, 2, KEY])
}

#[pyfunction]
#[pyo3(signature = (peer, n, *, semi_honest, extension, progress))]
pub(crate) fn rot_receive<'py>(
    py: Python<'py>,
    peer: &Peer,
    n: usize,
    semi_honest: bool,
    extension: Option<&str>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<WithKeys<'py, bool>> {
    needs_numpy(py)?;
    let options = options!(rot, semi_honest, extension)?;
    let (choices, mut keys) = peer.job(py, progress, move |peer| options.receive(peer, n))?;
    let choices = (0..n).map(|i| choices.get(i).unwrap_u8() == 1).collect();
    Ok((PyArray1::from_vec(py, choices), of_keys(py, std::mem::take(&mut keys.0))?))
}

#[pyfunction]
#[pyo3(signature = (peer, n, *, semi_honest, progress))]
pub(crate) fn rot_send_correlated<'py>(
    py: Python<'py>,
    peer: &Peer,
    n: usize,
    semi_honest: bool,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<WithKeys<'py, u8>> {
    needs_numpy(py)?;
    let options = options!(rot, semi_honest, None::<&str>)?;
    let (delta, mut rows) = peer.job(py, progress, move |peer| options.send_correlated(peer, n))?;
    let rows = of_keys(py, std::mem::take(&mut rows.0))?;
    Ok((PyArray1::from_vec(py, delta.to_vec()), rows))
}

/// The bits of bytes that are 0 or 1.
fn bits(choices: &[u8]) -> Zeroizing<Vec<bool>> {
    Zeroizing::new(choices.iter().map(|&byte| byte != 0).collect())
}

#[pyfunction]
#[pyo3(signature = (peer, choices, *, semi_honest, progress))]
pub(crate) fn rot_receive_correlated<'py>(
    py: Python<'py>,
    peer: &Peer,
    choices: &[u8],
    semi_honest: bool,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyArray2<u8>>> {
    needs_numpy(py)?;
    let (options, choices) = (options!(rot, semi_honest, None::<&str>)?, bits(choices));
    let mut rows =
        peer.job(py, progress, move |peer| options.receive_correlated(peer, &choices))?;
    of_keys(py, std::mem::take(&mut rows.0))
}

fn ot_options(
    semi_honest: bool,
    extension: Option<&str>,
    longest: Option<usize>,
) -> PyResult<ot::Options> {
    let options: ot::Options = options!(ot, semi_honest, extension)?;
    Ok(longest.map_or(options, |longest| options.longest_message(longest)))
}

/// `messages` has those of the first transfer first, `of` for each.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the options of a job")]
#[pyo3(signature = (peer, messages, of, *, semi_honest, extension, longest, progress))]
pub(crate) fn ot_send(
    py: Python<'_>,
    peer: &Peer,
    messages: Vec<Vec<u8>>,
    of: usize,
    semi_honest: bool,
    extension: Option<&str>,
    longest: Option<usize>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let options = ot_options(semi_honest, extension, longest)?;
    let messages = Zeroizing::new(messages);
    peer.job(py, progress, move |peer| options.send_one_of(peer, of, &messages))
}

#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the options of a job")]
#[pyo3(signature = (peer, picks, of, *, semi_honest, extension, longest, progress))]
pub(crate) fn ot_receive<'py>(
    py: Python<'py>,
    peer: &Peer,
    picks: Vec<u64>,
    of: usize,
    semi_honest: bool,
    extension: Option<&str>,
    longest: Option<usize>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    let (options, picks) = (ot_options(semi_honest, extension, longest)?, Zeroizing::new(picks));
    let messages = peer.job(py, progress, move |peer| options.receive_one_of(peer, of, &picks))?;
    PyList::new(py, messages.iter().map(|message| message.map(|it| PyBytes::new(py, it))))
}

#[pyfunction]
#[pyo3(signature = (peer, n, bits, method, *, progress))]
pub(crate) fn triples_generate<'py>(
    py: Python<'py>,
    peer: &Peer,
    n: usize,
    bits: u32,
    method: &str,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<[Bound<'py, PyAny>; 3]> {
    needs_numpy(py)?;
    let options = triples::Options::new();
    let options = match method {
        "auto" => options,
        "rlwe" => options.method(Method::Rlwe),
        "gilboa" => options.method(Method::Gilboa),
        _ => return Err(usage("the method is \"auto\", \"rlwe\" or \"gilboa\"")),
    };
    match bits {
        8 => words::<u8>(py, peer, n, options, progress),
        16 => words::<u16>(py, peer, n, options, progress),
        32 => words::<u32>(py, peer, n, options, progress),
        64 => words::<u64>(py, peer, n, options, progress),
        _ => Err(usage(format_args!("triples have 8, 16, 32 or 64 bits, and not {bits}"))),
    }
}

fn words<'py, T: Word + Element>(
    py: Python<'py>,
    peer: &Peer,
    n: usize,
    options: triples::Options,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<[Bound<'py, PyAny>; 3]> {
    let triples = peer.job(py, progress, move |peer| options.generate::<T, _>(peer, n))?;
    Ok(triples
        .into_parts()
        .map(|mut part| PyArray1::from_vec(py, std::mem::take(&mut part.0)).into_any()))
}
