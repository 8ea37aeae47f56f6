//! `foxtrot rot`: random OTs to files.

mod files;

use std::path::{Path, PathBuf};

use foxtrot::job::{Job, Role};
use foxtrot_ot::protocol::Purpose;
use serde_json::{Map, json};

use crate::{
    args::{Common, KeysOut, RotCommand, RotParty},
    failure::Failure,
    files::{Draft, Existing, put_in_place},
    keys::Party,
    link::Link,
    local::both,
    method::{self, choose},
    reach::Way,
    record::Recorder,
    report::{Report, counted, object},
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
    let party = party(out, common)?;
    let way = Way::prepare(transport, None)?;
    let files = Files::begin(role, &out.output, party.n, out.format)?;
    Recorder::of_one(transport, None).keep("rot", role, |entry| {
        let begins = entry.begins(|_| Map::new());
        let link = way.reach(common, party.hello(role), party.output, &begins)?;
        tell_agreed(&party);
        entry.met(link.peer.who(), &link.agreed);
        let existing = Existing::with_force(out.force);
        let (names, cost) = link.run(&party.workers, |mut job| {
            let drafts = files.make(&party, &mut job)?;
            put(job, drafts, existing)
        })?;
        let report = party.report(cost.of(role));
        entry.ran(&report, &cost);
        entry.set("results", party.n);
        tell(names, &party, &report)
    })
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
        // The sender has not said that its own files are there.
        Err(e) if are_there && role == Role::Receiver => Err(e.hint(format!(
            "{} are complete; the sender has the matching files if its run ended well, and none otherwise",
            names.join(", ")
        ))),
        Err(e) => Err(e),
    }
}

fn names(drafts: &[Draft]) -> Vec<String> {
    drafts.iter().map(|draft| draft.path.display().to_string()).collect()
}

fn of_both(prefix: &Path) -> [PathBuf; 2] {
    ["sender", "receiver"].map(|party| suffixed(prefix, party))
}

fn local(out: &KeysOut, common: &Common) -> Result<(), Failure> {
    let party = party(out, common)?;
    let others = party.for_another();
    let [sender, receiver] = of_both(&out.output);
    let sent = Files::begin(Role::Sender, &sender, party.n, out.format)?;
    let received = Files::begin(Role::Receiver, &receiver, party.n, out.format)?;
    tell_agreed(&party);
    // All files are put in place together.
    let make = |link: Link, party: &Party, files: Files| {
        link.run(&party.workers, |mut job| {
            let drafts = files.make(party, &mut job)?;
            job.finish()?;
            Ok(drafts)
        })
    };
    let ((mut drafts, sending), (received, receiving)) = both(
        common.timeout,
        [Role::Sender, Role::Receiver].map(|role| party.hello(role)),
        |link| make(link, &others, sent),
        |link| make(link, &party, received),
    )?;
    let report = party.report([Some(&sending), Some(&receiving)]);
    drafts.extend(received);
    let names = names(&drafts);
    put_in_place(Existing::with_force(out.force), drafts)?;
    tell(names, &party, &report)
}

fn party(out: &KeysOut, common: &Common) -> Result<Party, Failure> {
    let too_many = |_| Failure::run(format!("not enough memory for {} transfers", out.n));
    let n = usize::try_from(out.n).map_err(too_many)?;
    Party::new(common, choose(common, Purpose::Random, n)?, n, None)
}

fn tell_agreed(party: &Party) {
    let transfers = counted(party.n, "transfer of random keys");
    party.output.note(&format!("agreed: {transfers}, {}", method::words(&party.method)));
}

fn tell(names: Vec<String>, party: &Party, report: &Report) -> Result<(), Failure> {
    party.output.note(&format!("wrote {}: {}", names.join(", "), report.words_of("OT")));
    report.print(party.output, object(json!({ "files": names })))
}
