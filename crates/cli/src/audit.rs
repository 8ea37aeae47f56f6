//! The audit log, `--audit FILE`: one JSON line for each run. It has no keys. `docs/audit.md` has its fields.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
};

use serde_json::{Map, Value};

use crate::{
    failure::{Failure, words},
    files::log_options,
    output::json,
};

/// The beginning of every line, before its version.
const BEGINNING: &str = "{\"audit\":";

const FIELDS: [&str; 18] = [
    "version",
    "started",
    "ended",
    "role",
    "function",
    "policy",
    "peer",
    "session",
    "set",
    "normalize",
    "assumption",
    "adversary",
    "keys_receiver",
    "keys_sender",
    "results",
    "transcript",
    "outcome",
    "status",
];

fn line(record: &Map<String, Value>) -> String {
    let fields = FIELDS.iter().map(|&field| {
        let value = json(&record.get(field).cloned().unwrap_or_default());
        format!(",\"{field}\":{value}")
    });
    format!("{BEGINNING}1{}}}\n", fields.collect::<String>())
}

/// Fails unless the file can be made, or is a log that only its owner can read and write.
pub(crate) fn check(path: &Path) -> Result<(), Failure> {
    let refused = |why: &str| Failure::usage(format!("{} {why}", path.display()));
    if path == Path::new("-") {
        return Err(Failure::usage("--audit needs a file; it cannot use standard output"));
    }
    if let Ok(found) = fs::metadata(path) {
        if !found.is_file() {
            return Err(refused("is not a regular file, which --audit needs"));
        }
        #[cfg(unix)]
        if std::os::unix::fs::MetadataExt::mode(&found) & 0o077 != 0 {
            let hint = format!("run `chmod 600 {}`", path.display());
            return Err(refused("can be read or written by other users").hint(hint));
        }
        if found.len() > 0 && !begins_like_a_log(path).map_err(|e| Failure::reading(path, &e))? {
            return Err(refused("is not an audit log").hint("--audit needs a new file, or its log"));
        }
    }
    log_options().read(true).open(path).map(drop).map_err(|e| Failure::writing(path, &e))
}

/// Also a log whose first line a crash has cut off is one.
fn begins_like_a_log(path: &Path) -> io::Result<bool> {
    let mut bytes = Vec::new();
    File::open(path)?.take(BEGINNING.len() as u64).read_to_end(&mut bytes)?;
    Ok(BEGINNING.as_bytes().starts_with(&bytes))
}

/// Appends the line of a run, whole or not at all.
pub(crate) fn append(path: &Path, record: &Map<String, Value>) -> Result<(), Failure> {
    let file = log_options().read(true).open(path);
    let appended = file.and_then(|mut file| append_to(&mut file, &line(record)));
    appended.map_err(|e| {
        Failure::run(format!("cannot write the audit log {}: {}", path.display(), words(&e)))
    })
}

fn append_to(file: &mut File, line: &str) -> io::Result<()> {
    // Sessions and processes that end at the same time write one after the other.
    let _ = file.lock();
    let len = file.metadata()?.len();
    let mut whole = String::new();
    if len > 0 {
        let mut last = [0];
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        // A line that a crash has cut off stays alone.
        if last != *b"\n" {
            whole.push('\n');
        }
    }
    whole += line;
    let written = file.write_all(whole.as_bytes()).and_then(|()| file.sync_data());
    if written.is_err() {
        let _ = file.set_len(len);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_behind_one_that_was_cut_off_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.jsonl");
        let mut record = Map::new();
        record.insert("role".into(), "sender".into());
        record.insert("items".into(), "secret".into());
        append(&path, &record).unwrap();
        let first = fs::read_to_string(&path).unwrap();
        assert!(first.ends_with("}\n") && !first.contains("secret"), "{first}");
        fs::write(&path, &first[..first.len() - 5]).unwrap();
        append(&path, &record).unwrap();
        append(&path, &record).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text, format!("{}\n{first}{first}", &first[..first.len() - 5]));
        check(&path).unwrap();
    }

    #[test]
    fn a_file_of_others_or_with_other_content_is_refused_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        fs::write(&path, "name\n").unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
            let refused = check(&path).unwrap_err();
            assert!(refused.message().contains("can be read or written by other users"));
            fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
        }
        assert!(check(&path).unwrap_err().message().ends_with("is not an audit log"));
        assert_eq!(fs::read_to_string(&path).unwrap(), "name\n");
        assert!(check(folder.path()).is_err());
        check(&folder.path().join("new")).unwrap();
    }
}
