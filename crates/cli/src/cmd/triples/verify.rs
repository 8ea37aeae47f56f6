//! `foxtrot triples verify`: whether the files of both parties fit together.

use std::{
    fs::File,
    io::{BufReader, Read},
    path::{Path, PathBuf},
};

use foxtrot_triples::formats::{record_len, triples_per_record, wrong_records};
use serde_json::json;
use zeroize::Zeroizing;

use super::record::Record;
use crate::{failure::Failure, output::print};

/// Triples that are compared at a time.
const CHUNK: usize = 1 << 14;

/// A party's file, open behind its header.
struct Input {
    path: PathBuf,
    file: BufReader<File>,
    header: u64,
}

pub(super) fn run(first: &Path, second: &Path, json: bool) -> Result<(), Failure> {
    let Record { kind, count, .. } = check(first, second)?;
    let (set, bits) = (kind.name(), kind.bits());
    match json {
        true => print(json!({ "schema": 1, "set": set, "bits": bits, "count": count, "wrong": 0 })),
        false => print(format!("right: {count} of {count} triples modulo 2^{bits}")),
    }
}

/// The record of the triples, all of which are right.
pub(super) fn check(first: &Path, second: &Path) -> Result<Record, Failure> {
    let [first, second] =
        if Record::is_there(first, 0) { [first, second] } else { [second, first] };
    let (zero, one) = (Record::read(first, 0)?, Record::read(second, 1)?);
    if zero.kind != one.kind || zero.count != one.count {
        let (zero, one) = (zero.words(), one.words());
        return Err(Failure::usage(format!(
            "the two directories are of different runs: party 0 has {zero}, party 1 has {one}"
        )));
    }
    if zero.run != one.run {
        return Err(Failure::usage("the two directories are of different runs"));
    }
    let mut inputs = [Input::open(first, &zero)?, Input::open(second, &one)?];
    let (count, bits) = (zero.count, zero.kind.bits());
    let (len, each) = (record_len(bits), triples_per_record(bits));
    let mut buffers = [(); 2].map(|()| Zeroizing::new(vec![0; CHUNK * len]));
    let (mut wrong, mut first_wrong, mut done) = (0u64, None, 0);
    while done < count {
        let n = (count - done).min(CHUNK as u64);
        let part = usize::try_from(n).unwrap_or(CHUNK) / each * len;
        for (input, buffer) in inputs.iter_mut().zip(&mut buffers) {
            let read = input.file.read_exact(&mut buffer[..part]);
            read.map_err(|e| Failure::reading(&input.path, &e))?;
        }
        for i in wrong_records(bits, &buffers[0][..part], &buffers[1][..part]) {
            wrong += 1;
            first_wrong.get_or_insert(done + i as u64);
        }
        done += n;
    }
    if let Some(at) = first_wrong {
        let behind = at / each as u64 * len as u64;
        let place =
            |input: &Input| format!("byte {} of {}", input.header + behind, input.path.display());
        let (zero, one) = (place(&inputs[0]), place(&inputs[1]));
        let why =
            format!("wrong triples: {wrong} of {count}; the first is {at}, at {zero} and {one}");
        return Err(Failure::usage(why).hint("triples and bytes are counted from 0"));
    }
    Ok(zero)
}

impl Input {
    /// A file with as many bytes and such a header as it should have.
    fn open(folder: &Path, record: &Record) -> Result<Self, Failure> {
        let path = record.path(folder);
        let failed = |e| Failure::reading(&path, &e);
        let mut file = BufReader::with_capacity(1 << 16, File::open(&path).map_err(failed)?);
        let (len, whole) =
            (file.get_ref().metadata().map_err(failed)?.len(), record.len_of(record.batches()));
        if len != whole {
            let path = path.display();
            return Err(Failure::usage(format!("{path} has {len} bytes instead of {whole}")));
        }
        let expected = record.header();
        let mut header = vec![0; expected.len()];
        file.read_exact(&mut header).map_err(failed)?;
        if header != expected {
            let (path, format) = (path.display(), record.format);
            let why = format!("{path} does not begin as {format} of {} triples", record.count);
            return Err(Failure::usage(why));
        }
        Ok(Self { path, file, header: expected.len() as u64 })
    }
}
