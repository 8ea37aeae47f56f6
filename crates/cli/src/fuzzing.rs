//! Entry points of the fuzz targets: the readers of the user's files, which write rows as they were read and blame
//! the file for everything else.

use std::path::Path;

use zeroize::Zeroizing;

use crate::{args::SetOptions, cmd::triples, failure::Failure, lines, table::Set};

/// Reads a set as `psi` does, by the name of its file, with the number of the key column from 0, the normalisation as after
/// `--normalize`, the encoding as after `--encoding` and whether there is no header. Returns the items that are compared, and all rows as they are written.
///
/// # Errors
/// The words that the user would read.
pub fn read_set(
    path: &Path,
    key: Option<u8>,
    normalize: &str,
    encoding: &str,
    no_header: bool,
) -> Result<(Vec<[u8; 32]>, Vec<u8>), String> {
    let options = SetOptions::reading(key, normalize, encoding, no_header)?;
    let mut set = Set::read(path, &options).map_err(told)?;
    let (rows, mut bytes) = ((0..set.keys.rows()).collect::<Vec<_>>(), Vec::new());
    let written = set.write(&rows, None, |piece| {
        bytes.extend_from_slice(piece);
        Ok(())
    });
    written.map_err(told)?;
    Ok((set.keys.items().to_vec(), bytes))
}

/// Reads messages as `ot send` does, and writes them as `ot receive`.
///
/// # Errors
/// The words that the user would read.
pub fn read_messages(path: &Path, one_of: usize, hex: bool) -> Result<Vec<u8>, String> {
    let messages = lines::read_messages(path, one_of, hex).map_err(told)?;
    let mut bytes = Vec::new();
    let all: Vec<_> =
        (0..messages.len()).map(|i| Zeroizing::new(messages.get(i).to_vec())).collect();
    lines::write_lines(&all, hex, &mut bytes).map_err(|e| e.to_string())?;
    Ok(bytes)
}

/// Reads choices as `ot receive` does.
///
/// # Errors
/// The words that the user would read.
pub fn read_choices(path: &Path, one_of: usize) -> Result<Vec<u64>, String> {
    lines::read_choices(path, one_of).map(|choices| choices.to_vec()).map_err(told)
}

/// Compares the files of both parties as `triples verify` does, and counts the whole batches of each as `triples --resume`.
///
/// # Errors
/// What the user would be told, of each.
pub fn read_triples(place: &Path) -> (Result<(), String>, [Result<u64, String>; 2]) {
    let (right, batches) = triples::read(place);
    (right.map_err(told), batches.map(|batches| batches.map_err(told)))
}

fn told(failure: Failure) -> String {
    failure.message().to_owned()
}
