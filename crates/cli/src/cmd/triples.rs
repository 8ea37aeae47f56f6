//! `foxtrot triples`: multiplication triples to files.

mod agreement;
pub(crate) mod bounds;
mod costs;
mod folder;
pub(crate) mod kind;
mod record;
mod verify;

use std::slice;

use foxtrot::{Error, Progress, net::FrameError, triples::Shares};
use serde_json::Map;

use self::record::Record;
use crate::{
    args::{Common, Transport, TriplesCommand, TriplesOut},
    failure::Failure,
    interrupt,
    link::{Cost, Link, Unmet},
    local::both,
    output::Output,
    reach::Way,
    record::Recorder,
    report::Report,
    workers::Workers,
};
use agreement::{Agreed, PartyTerms};
use folder::Folder;
use kind::TripleKind;

/// The roles of the hello, in the words of this command.
const ROLES: [(&str, &str); 3] = [
    ("one side runs `send`, the other `receive`", "one side passes --party 0, the other --party 1"),
    ("both sides want to be the sender", "both sides pass --party 0"),
    ("both sides want to be the receiver", "both sides pass --party 1"),
];

/// The hint after a run that has not come to its end.
const RESUME: &str = "finished batches are kept; continue with --resume on both sides";

/// The hint after a session whose two sides have not received what the other sent.
const FORGOTTEN: &str = "the batches of this session were removed, earlier batches are kept; continue with --resume on \
                         both sides; without --insecure TLS protects the data";

/// The hint where these batches are still there.
const UNFORGOTTEN: &str =
    "remove the shares of this run on both sides, then start again without --resume";

pub(crate) fn run(command: &TriplesCommand) -> Result<(), Failure> {
    match command {
        TriplesCommand::Local { out, common } => local(out, common),
        TriplesCommand::Generate { party, out, transport, common } => {
            generate(*party, out, transport, common)
        }
        TriplesCommand::Verify { first, second, json } => {
            verify::run(first, second.as_deref().unwrap_or(first), *json)
        }
    }
}

/// Reads the files of both parties as `triples verify` does, and how many batches an interrupted run has left of each, in that
/// folder and in the one of the same name with `.partial`.
#[cfg(feature = "fuzzing")]
pub(crate) fn read(place: &std::path::Path) -> (Result<(), Failure>, [Result<u64, Failure>; 2]) {
    let batches = |party| {
        let earlier = Folder::find(place, true)?.earlier(party)?;
        Ok(earlier.map_or(0, |(_, batches)| batches))
    };
    (verify::check(place, place).map(drop), [0, 1].map(batches))
}

fn generate(
    party: u8,
    out: &TriplesOut,
    transport: &Transport,
    common: &Common,
) -> Result<(), Failure> {
    let folder = Folder::find(&out.output, out.resume)?;
    let workers = Workers::new(common.threads)?;
    let terms = PartyTerms::new(party, out, common, folder.earlier(party)?)?;
    let output = Output::new(common);
    let way = Way::prepare(transport, None)?;
    Recorder::of_one(transport, None).keep("triples", format!("party {party}"), |entry| {
        let link = way.reach(common, terms.triples.hello(), output, entry, |_| Map::new());
        let mut link = link.map_err(|e| e.rename_options(&ROLES))?;
        let agreed = Agreed::on(&terms, &mut link)?;
        entry.set("run", agreed.record.run.name.as_str());
        agreed.words(workers.threads()).iter().for_each(|line| output.note(line));
        let cost = make(link, &agreed, &folder, &workers, output)?;
        let report = agreed.report(workers.threads(), cost.of(terms.triples.role));
        entry.ran(&report, &cost);
        entry.set("results", agreed.record.count);
        deliver(folder, &agreed, slice::from_ref(&agreed.record), output, &report)?;
        if agreed.triples.batches.start > 0 {
            output.note(&agreed.of_earlier());
        }
        Ok(())
    })
}

/// Both parties; party 0 opens the connection.
fn local(out: &TriplesOut, common: &Common) -> Result<(), Failure> {
    let folder = Folder::find(&out.output, out.resume)?;
    let workers = Workers::new(common.threads)?;
    let terms = |party| PartyTerms::new(party, out, common, folder.earlier(party)?);
    let (zero, one) = (terms(0)?, terms(1)?);
    let others = workers.for_another();
    let output = Output::new(common);
    let ((first, at_zero), (agreed, at_one)) = both(
        common.timeout,
        [zero.triples.hello(), one.triples.hello()],
        |mut link| {
            let agreed = Agreed::on(&zero, &mut link)?;
            let cost = make(link, &agreed, &folder, &others, Output::in_background())?;
            Ok((agreed.record, cost))
        },
        |mut link| {
            let agreed = Agreed::on(&one, &mut link)?;
            agreed.words(workers.threads()).iter().for_each(|line| output.note(line));
            let cost = make(link, &agreed, &folder, &workers, output)?;
            Ok((agreed, cost))
        },
    )?;
    let report = agreed.report(workers.threads(), [Some(&at_zero), Some(&at_one)]);
    deliver(folder, &agreed, &[first, agreed.record.clone()], output, &report)
}

/// A party's part: its file is complete, and so is the peer's. Once there is a file, an interrupted user is told
/// how to continue it.
fn make(
    mut link: Link,
    agreed: &Agreed,
    folder: &Folder,
    workers: &Workers,
    output: Output,
) -> Result<Cost, Failure> {
    let (first, kind) = (agreed.triples.batches.start, agreed.record.kind);
    let file = folder.open(agreed.record.clone(), first);
    let mut file = file.map_err(|e| link.refuse(e))?;
    interrupt::hint(RESUME);
    if !agreed.triples.batches.is_empty() {
        output.detail(match kind {
            TripleKind::Rlwe(_) => "exchanging keys",
            TripleKind::Gilboa(_) | TripleKind::Bits(_) => "running base OTs",
        });
    }
    let made = usize::try_from(agreed.triples.made()).unwrap_or(usize::MAX);
    let bar = output.progress(made, "triples");
    link.peer.on_progress(move |Progress { done, of, .. }| {
        bar.set_position(done as u64);
        if done == of {
            bar.finish_and_clear();
        }
    });
    let ran = link.run(workers, |job| {
        // Without a file there are no batches.
        let append = |shares: &Shares| match &mut file {
            Some(file) => file.append(shares).map_err(Unmet::Here),
            None => Ok(()),
        };
        agreed.triples.run(job, append).map_err(|e| match (e, &mut file) {
            (Unmet::Here(e), _) => e,
            (Unmet::Apart(Error::Session(e)), Some(file)) if e == FrameError::Transcript.into() => {
                let hint = match file.forget(first) {
                    Ok(()) => FORGOTTEN.into(),
                    Err(e) => format!("{}; {UNFORGOTTEN}", e.message()),
                };
                Failure::from(e).hint(hint)
            }
            (Unmet::Apart(e), _) => e.into(),
        })
    });
    ran.map(|((), cost)| cost).map_err(|e| e.continued_by(RESUME))
}

fn deliver(
    folder: Folder,
    agreed: &Agreed,
    records: &[Record],
    output: Output,
    report: &Report,
) -> Result<(), Failure> {
    let files = folder.finish(records)?;
    output.note(&format!("wrote {}: {}", files.join(", "), report.words_of("triples")));
    report.print(output, agreed.json(&files))
}
