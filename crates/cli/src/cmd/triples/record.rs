//! Descriptions of a party's file of triples: `P0.json` and `P1.json` beside them.

use std::path::{Path, PathBuf};

use foxtrot::triples::terms::TriplesRun;
use foxtrot_net::{
    hello::{hexadecimal, of_hexadecimal},
    small,
};
use foxtrot_triples::formats::{Format, record_len, triples_per_record};
use serde_json::{Value, json};

use super::kind::{TripleKind, options};
use crate::{
    failure::Failure,
    files::{Existing, write_secret},
};

/// The kind, number and form of a party's triples, and the run that they are from.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) party: u8,
    pub(super) kind: TripleKind,
    pub(super) count: u64,
    pub(super) format: Format,
    pub(super) run: TriplesRun,
}

impl Record {
    pub(super) fn read(folder: &Path, party: u8) -> Result<Self, Failure> {
        let path = json_path(folder, party);
        let text = small::read(&path).map_err(|e| Failure::reading(&path, &e))?;
        let object: Value = serde_json::from_slice(&text).unwrap_or_default();
        let text = |key: &str| object[key].as_str();
        let record = || {
            let format = Format::ALL.into_iter().find(|it| text("format") == Some(it.name()))?;
            let kind = TripleKind::find(text("set")?).filter(|kind| format.has(kind.bits()))?;
            let count = object["count"].as_u64().filter(|count| (1..=1 << 40).contains(count))?;
            let count = Some(count).filter(|it| it.is_multiple_of(in_record(kind)))?;
            // Version 1 of these files did not have the session.
            let session = match object["schema"].as_u64()? {
                1 => None,
                2 => Some(of_hexadecimal(text("session")?)?),
                _ => return None,
            };
            let name = text("run").filter(|run| of_hexadecimal(run).is_some())?.to_owned();
            let run = TriplesRun { session, name };
            let ours = object["party"] == party;
            ours.then_some(Self { party, kind, count, format, run })
        };
        record().ok_or_else(|| {
            let path = path.display();
            Failure::usage(format!("{path} is not what `triples` writes about party {party}"))
        })
    }

    pub(super) fn is_there(folder: &Path, party: u8) -> bool {
        json_path(folder, party).is_file()
    }

    pub(super) fn write(&self, folder: &Path) -> Result<(), Failure> {
        let object = json!({
            "schema": 2,
            "party": self.party,
            "set": self.kind.name(),
            "bits": self.kind.bits(),
            "sigma": self.kind.sigma(),
            "adversary": "semi-honest",
            "count": self.count,
            "format": self.format.name(),
            "file": self.format.path(self.kind.bits(), self.party),
            "session": self.run.session.as_ref().map(|it| hexadecimal(it)),
            "run": self.run.name,
        });
        let text = format!("{object:#}\n");
        write_secret(Existing::Replaced, &json_path(folder, self.party), text.as_bytes())
    }

    pub(super) fn path(&self, folder: &Path) -> PathBuf {
        folder.join(self.format.path(self.kind.bits(), self.party))
    }

    pub(super) fn header(&self) -> Vec<u8> {
        self.format.header(self.kind.bits(), self.count)
    }

    pub(super) fn batches(&self) -> u64 {
        self.kind.batches(self.count)
    }

    /// Bytes of so many batches with what stands before them.
    pub(super) fn len_of(&self, batches: u64) -> u64 {
        let triples = self.count.min(batches.saturating_mul(self.kind.usable() as u64));
        let records = triples / in_record(self.kind);
        self.header().len() as u64 + records * record_len(self.kind.bits()) as u64
    }

    /// Whole batches of so many bytes.
    pub(super) fn batches_of(&self, len: u64) -> u64 {
        match self.batches() {
            all if len >= self.len_of(all) => all,
            _ => len.saturating_sub(self.len_of(0)) / self.batch_len() as u64,
        }
    }

    pub(super) fn batch_len(&self) -> usize {
        let bits = self.kind.bits();
        self.kind.usable() / triples_per_record(bits) * record_len(bits)
    }

    pub(super) fn words(&self) -> String {
        let Self { kind, count, format, .. } = self;
        format!("{count} triples, {} --format {format}", options(*kind))
    }
}

fn in_record(kind: TripleKind) -> u64 {
    triples_per_record(kind.bits()) as u64
}

fn json_path(folder: &Path, party: u8) -> PathBuf {
    folder.join(format!("P{party}.json"))
}
