//! `foxtrot rot`: random OTs to files.

mod files;

use std::path::{Path, PathBuf};

use foxtrot::{job::Role, rot::terms::RotTerms};
use foxtrot_ot::protocol::Purpose;
use serde_json::{Map, json};

use crate::{
    args::{Common, KeysOut, RotCommand, RotParty},
    failure::Failure,
    files::{Existing, put_in_place},
    link::{Cost, Link},
    local::both,
    method::{self, choose},
    reach::Way,
    record::Recorder,
    report::{Report, counted, object},
    transfers::Transfers,
};
use files::{Files, suffixed};

pub(crate) fn run(command: &RotCommand) -> Result<(), Failure> {
    match command {
        RotCommand::Local { out, common } => local(out, common),
        RotCommand::Send(options) => one_party(Role::Sender, options),
        RotCommand::Receive(options) => one_party(Role::Receiver, options),
    }
}

fn one_party(role: Role, options: &RotParty) -> Result<(), Failure> {
    let RotParty { out, transport, common } = options;
    let transfers = transfers(out, common)?;
    let way = Way::prepare(transport, None)?;
    let files = Files::begin(role, &out.output, transfers.n, out.format)?;
    Recorder::of_one(transport, None).keep("rot", role, |entry| {
        let hello = terms(&transfers, role).hello();
        let link = way.reach(common, hello, transfers.output, entry, |_| Map::new())?;
        tell_agreed(&transfers);
        let names = in_words(&files::names(role, &out.output));
        let mut are_there = false;
        let ran = make(link, &transfers, role, files, |files| {
            put_in_place(Existing::with_force(out.force), files.into_drafts())?;
            are_there = true;
            Ok(())
        });
        let ((), cost) = ran.map_err(|e| match are_there && role == Role::Receiver {
            // The sender has not said that its own files are there.
            true => e.hint(format!(
                "{} are complete; the sender has the matching files if its run ended well, and none otherwise",
                names.join(", ")
            )),
            false => e,
        })?;
        let report = transfers.report(cost.of(role));
        entry.ran(&report, &cost);
        entry.set("results", transfers.n);
        tell(&names, &transfers, &report)
    })
}

fn terms(transfers: &Transfers, role: Role) -> RotTerms {
    RotTerms { role, method: transfers.method, n: transfers.n }
}

/// Makes the keys of a party. `keep` puts the files where they are to be: a sender's are there only if the receiver's are.
fn make<T>(
    mut link: Link,
    transfers: &Transfers,
    role: Role,
    files: Files,
    keep: impl FnOnce(Files) -> Result<T, Failure>,
) -> Result<(T, Cost), Failure> {
    transfers.watch(&mut link, "");
    let terms = terms(transfers, role);
    link.run(&transfers.workers, |job| terms.run(job, files, Files::append, keep))
}

pub(crate) fn outputs(command: &RotCommand) -> Result<Vec<PathBuf>, Failure> {
    let (RotCommand::Local { out, .. }
    | RotCommand::Send(RotParty { out, .. })
    | RotCommand::Receive(RotParty { out, .. })) = command;
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
        RotCommand::Send(_) => files::names(Role::Sender, prefix),
        RotCommand::Receive(_) => files::names(Role::Receiver, prefix),
    };
    match files.iter().find(|path| !out.force && path.is_file()) {
        Some(path) => Err(Failure::usage(format!("{} exists", path.display()))
            .hint("pass --force to replace it, or another -o")),
        None => Ok(files),
    }
}

fn in_words(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| path.display().to_string()).collect()
}

fn of_both(prefix: &Path) -> [PathBuf; 2] {
    ["sender", "receiver"].map(|party| suffixed(prefix, party))
}

fn local(out: &KeysOut, common: &Common) -> Result<(), Failure> {
    let ours = transfers(out, common)?;
    let others = ours.for_another();
    let [sender, receiver] = of_both(&out.output);
    let sent = Files::begin(Role::Sender, &sender, ours.n, out.format)?;
    let received = Files::begin(Role::Receiver, &receiver, ours.n, out.format)?;
    tell_agreed(&ours);
    // All files are put in place together.
    let ((mut drafts, sending), (received, receiving)) = both(
        common.timeout,
        [Role::Sender, Role::Receiver].map(|role| terms(&ours, role).hello()),
        |link| make(link, &others, Role::Sender, sent, |files| Ok(files.into_drafts())),
        |link| make(link, &ours, Role::Receiver, received, |files| Ok(files.into_drafts())),
    )?;
    let report = ours.report([Some(&sending), Some(&receiving)]);
    drafts.extend(received);
    let paths: Vec<_> = drafts.iter().map(|draft| draft.path.clone()).collect();
    put_in_place(Existing::with_force(out.force), drafts)?;
    tell(&in_words(&paths), &ours, &report)
}

fn transfers(out: &KeysOut, common: &Common) -> Result<Transfers, Failure> {
    let too_many = |_| Failure::run(format!("not enough memory for {} transfers", out.n));
    let n = usize::try_from(out.n).map_err(too_many)?;
    Transfers::new(common, "rot", choose(common, Purpose::Random, n)?, n)
}

fn tell_agreed(transfers: &Transfers) {
    let (n, method) = (counted(transfers.n, "transfer of random keys"), &transfers.method);
    transfers.output.note(&format!("agreed: {n}, {}", method::words(method)));
}

fn tell(names: &[String], transfers: &Transfers, report: &Report) -> Result<(), Failure> {
    transfers.output.note(&format!("wrote {}: {}", names.join(", "), report.words_of("OT")));
    report.print(transfers.output, object(json!({ "files": names })))
}
