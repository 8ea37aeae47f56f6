//! `foxtrot rot`: random OTs to files.

mod files;

use std::path::{Path, PathBuf};

use foxtrot::job::{Job, Role};
use foxtrot_ot::protocol::Purpose;
use serde_json::json;

use crate::{
    args::{Common, KeysOut, RotCommand, Transport},
    failure::Failure,
    files::{Draft, Existing, put_in_place},
    keys::Party,
    link::{Cost, Link, Terms},
    local::both,
    method::{self, choose},
    output::Output,
    reach::Way,
    record::Recorder,
    report::{Report, counted, object},
    workers::Workers,
};
use files::{Files, suffixed};

pub(crate) fn run(command: &RotCommand) -> Result<(), Failure> {
    match command {
        RotCommand::Local { out, common } => local(out, common),
        RotCommand::Send { out, transport, common } => {
            one_party(Role::Sender, out, transport, common)
        }
        RotCommand::Receive { out, transport, common } => {
            one_party(Role::Receiver, out, transport, common)
        }
    }
}

fn one_party(
    role: Role,
    out: &KeysOut,
    transport: &Transport,
    common: &Common,
) -> Result<(), Failure> {
    let (terms, workers) = (terms(out, common)?, Workers::new(common.threads)?);
    let way = Way::prepare(transport)?;
    let files = Files::begin(role, &out.output, terms.n, out.format)?;
    let output = Output::new(common);
    Recorder::of_one(transport, None).keep("rot", &role.to_string(), |entry| {
        let link = way.reach(common, terms.hello(role), output)?;
        agreed(&terms, output);
        entry.met(&link);
        let existing = Existing::with_force(out.force);
        let (names, cost) =
            make(link, &terms, &workers, files, output, |job, drafts| put(job, drafts, existing))?;
        let report = Report::of_run(&terms, workers.threads(), cost.of(role));
        entry.ran(&report, &cost);
        entry.set("results", terms.n);
        tell(names, common, &report)
    })
}

/// The files that the command makes.
pub(crate) fn outputs(command: &RotCommand) -> Result<Vec<PathBuf>, Failure> {
    let (RotCommand::Local { out, .. }
    | RotCommand::Send { out, .. }
    | RotCommand::Receive { out, .. }) = command;
    let prefix = &out.output;
    if prefix.as_os_str().as_encoded_bytes().ends_with(b"/") {
        let why = format!("{} is a directory", prefix.display());
        return Err(Failure::usage(why).hint("-o needs a file name prefix"));
    }
    let files = match command {
        RotCommand::Local { .. } => {
            let [sender, receiver] = of_both(prefix);
            [files::names(Role::Sender, &sender), files::names(Role::Receiver, &receiver)].concat()
        }
        RotCommand::Send { .. } => files::names(Role::Sender, prefix),
        RotCommand::Receive { .. } => files::names(Role::Receiver, prefix),
    };
    match files.iter().find(|path| !out.force && path.is_file()) {
        Some(path) => Err(Failure::usage(format!("{} exists", path.display()))
            .hint("pass --force to replace it, or another -o")),
        None => Ok(files),
    }
}

/// Makes the keys of a party, and ends the job when they are on the disk.
fn make<T>(
    link: Link,
    terms: &Terms,
    workers: &Workers,
    files: Files,
    output: Output,
    end: impl FnOnce(Job<'_>, Vec<Draft>) -> Result<T, Failure>,
) -> Result<(T, Cost), Failure> {
    link.run(workers, |job| {
        let party = Party { job: &job, method: terms.method, workers, output };
        let drafts = files.make(&party, terms.n)?;
        end(job, drafts)
    })
}

/// Ends the job, and puts the files where they are to be: the receiver first, so that a sender's are there only if the
/// receiver's are.
fn put(job: Job<'_>, drafts: Vec<Draft>, existing: Existing) -> Result<Vec<String>, Failure> {
    let (role, names, mut are_there) = (job.agreement().role, names(&drafts), false);
    let ended = job.finish_in_place(|| {
        put_in_place(existing, drafts)?;
        are_there = true;
        Ok::<_, Failure>(())
    });
    match ended {
        Ok(()) => Ok(names),
        Err(e) if are_there && role == Role::Receiver => Err(unknown(&names, e)),
        Err(e) => Err(e),
    }
}

/// The receiver's files are there, and the sender has not said that its own are.
fn unknown(names: &[String], failure: Failure) -> Failure {
    let names = names.join(", ");
    failure.hint(format!(
        "{names} are complete; the sender has the matching files if its run ended well, and none otherwise"
    ))
}

fn names(drafts: &[Draft]) -> Vec<String> {
    drafts.iter().map(|draft| draft.path().display().to_string()).collect()
}

/// The prefixes of sender and receiver.
fn of_both(prefix: &Path) -> [PathBuf; 2] {
    ["sender", "receiver"].map(|party| suffixed(prefix, party))
}

fn local(out: &KeysOut, common: &Common) -> Result<(), Failure> {
    let terms = terms(out, common)?;
    let [sender, receiver] = of_both(&out.output);
    let sent = Files::begin(Role::Sender, &sender, terms.n, out.format)?;
    let received = Files::begin(Role::Receiver, &receiver, terms.n, out.format)?;
    let workers = Workers::new(common.threads)?;
    let others = workers.for_another();
    let output = Output::new(common);
    agreed(&terms, output);
    // All files are put in place together.
    let end = |job: Job<'_>, drafts| {
        job.finish()?;
        Ok(drafts)
    };
    let ((mut drafts, sending), (received, receiving)) = both(
        common.timeout,
        |peer| {
            let link = Link::greet(peer, terms.hello(Role::Sender))?;
            make(link, &terms, &others, sent, Output::in_background(), end)
        },
        |peer| {
            let link = Link::greet(peer, terms.hello(Role::Receiver))?;
            make(link, &terms, &workers, received, output, end)
        },
    )?;
    let costs = [Some(&sending), Some(&receiving)];
    let report = Report::of_run(&terms, workers.threads(), costs);
    drafts.extend(received);
    let names = names(&drafts);
    put_in_place(Existing::with_force(out.force), drafts)?;
    tell(names, common, &report)
}

fn terms(out: &KeysOut, common: &Common) -> Result<Terms, Failure> {
    let too_many = |_| Failure::run(format!("not enough memory for {} transfers", out.n));
    let n = usize::try_from(out.n).map_err(too_many)?;
    let method = choose(common, Purpose::Random, n)?;
    Ok(Terms { job: "rot", method, n, choices: 2, hex: None })
}

fn agreed(terms: &Terms, output: Output) {
    let transfers = counted(terms.n, "transfer of random keys");
    output.note(&format!("agreed: {transfers}, {}", method::words(&terms.method)));
}

fn tell(names: Vec<String>, common: &Common, report: &Report) -> Result<(), Failure> {
    let output = Output::new(common);
    output.note(&format!("wrote {}: {}", names.join(", "), report.words()));
    report.print(common, object(json!({ "files": names })))
}
