//! `foxtrot rot`: random OTs to files.

mod files;

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

use foxtrot_net::hello::Role;
use foxtrot_ot::{base::Choice, extension::Shape, protocol::Purpose};

use crate::{
    args::{Common, KeysOut, RotCommand},
    failure::Failure,
    files::{Draft, Existing, put_in_place},
    keys::Party,
    link::{Cost, Link, Terms, Timer},
    local::both,
    method::{self, choose},
    output::Output,
    reach::Way,
    record::Recorder,
    report::{Report, counted},
    workers::Workers,
};
use files::{ReceiverFiles, SenderFiles, of_receiver, of_sender, suffixed};

pub(crate) fn run(command: &RotCommand) -> Result<(), Failure> {
    match command {
        RotCommand::Local { out, common } => local(out, common),
        RotCommand::Send { out, transport, common } => {
            let (terms, workers) = (terms(out, common)?, Workers::new(common.threads)?);
            let way = Way::prepare(transport)?;
            let files = SenderFiles::begin(&out.output, terms.n, out.format)?;
            Recorder::of_one(transport).keep("rot", "sender", |entry| {
                let link = open(&terms, way, common, Role::Sender)?;
                entry.met(&link);
                let done = send(link, &terms, &workers, files, Output::new(common))?;
                let (names, cost) =
                    done.put_in_place(Role::Sender, Existing::with_force(out.force))?;
                let report = Report::of_run(&terms, &workers, Some(&cost), None);
                entry.ran(&report, &cost);
                entry.set("results", terms.n);
                tell(names, common, &report)
            })
        }
        RotCommand::Receive { out, transport, common } => {
            let (terms, workers) = (terms(out, common)?, Workers::new(common.threads)?);
            let way = Way::prepare(transport)?;
            let files = ReceiverFiles::begin(&out.output, terms.n, out.format)?;
            Recorder::of_one(transport).keep("rot", "receiver", |entry| {
                let link = open(&terms, way, common, Role::Receiver)?;
                entry.met(&link);
                let done = receive(link, &terms, &workers, files, Output::new(common))?;
                let (names, cost) =
                    done.put_in_place(Role::Receiver, Existing::with_force(out.force))?;
                let report = Report::of_run(&terms, &workers, None, Some(&cost));
                entry.ran(&report, &cost);
                entry.set("results", terms.n);
                tell(names, common, &report)
            })
        }
    }
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
            [of_sender(&sender), of_receiver(&receiver)].concat()
        }
        RotCommand::Send { .. } => of_sender(prefix),
        RotCommand::Receive { .. } => of_receiver(prefix),
    };
    match files.iter().find(|path| !out.force && path.is_file()) {
        Some(path) => Err(Failure::usage(format!("{} exists", path.display()))
            .hint("pass --force to replace it, or another -o")),
        None => Ok(files),
    }
}

/// A party that has all its keys on the disk and knows that the peer has, but not yet where they are to be.
struct Done<'a> {
    link: Link,
    timer: Timer<'a>,
    drafts: Vec<Draft>,
}

impl<'a> Done<'a> {
    fn of(link: Link, timer: Timer<'a>, drafts: Vec<Draft>) -> Result<Self, Failure> {
        let synced = drafts.iter().try_for_each(Draft::sync);
        synced.map_err(|e| link.abandon(e))?;
        link.finish()?;
        Ok(Self { link, timer, drafts })
    }

    /// Puts the files where they are to be: the receiver first, so that a sender's are there only if the receiver's are.
    fn put_in_place(self, role: Role, existing: Existing) -> Result<(Vec<String>, Cost), Failure> {
        let Self { link, timer, drafts } = self;
        let names = names(&drafts);
        if role == Role::Sender {
            link.channel.await_in_place()?;
        }
        put_in_place(existing, drafts).map_err(|e| link.abandon(e))?;
        link.channel.tell_in_place()?;
        if role == Role::Receiver {
            link.channel.await_in_place().map_err(|e| unknown(&names, e.into()))?;
        }
        Ok((names, link.close(&timer)?))
    }

    fn close(self) -> Result<(Vec<Draft>, Cost), Failure> {
        Ok((self.drafts, self.link.close(&self.timer)?))
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
    let sent = SenderFiles::begin(&sender, terms.n, out.format)?;
    let received = ReceiverFiles::begin(&receiver, terms.n, out.format)?;
    let workers = Workers::new(common.threads)?;
    let others = workers.for_another();
    let output = Output::new(common);
    agreed(&terms, output);
    let ((mut drafts, sending), (received, receiving)) = both(
        common.timeout(),
        |opened| {
            let link = Link::greet(opened, true, &terms.hello(Role::Sender))?;
            send(link, &terms, &others, sent, Output::in_background())?.close()
        },
        |opened| {
            let link = Link::greet(opened, false, &terms.hello(Role::Receiver))?;
            receive(link, &terms, &workers, received, output)?.close()
        },
    )?;
    let report = Report::of_run(&terms, &workers, Some(&sending), Some(&receiving));
    drafts.extend(received);
    let names = names(&drafts);
    put_in_place(Existing::with_force(out.force), drafts)?;
    tell(names, common, &report)
}

fn open(terms: &Terms, way: Way<'_>, common: &Common, role: Role) -> Result<Link, Failure> {
    let link = way.reach(common, terms.hello(role), Output::new(common))?;
    agreed(terms, Output::new(common));
    Ok(link)
}

fn terms(out: &KeysOut, common: &Common) -> Result<Terms, Failure> {
    let too_many = |_| Failure::run(format!("not enough memory for {} transfers", out.n));
    let n = usize::try_from(out.n).map_err(too_many)?;
    let method = choose(common, Purpose::Random, n)?;
    Ok(Terms { job: "rot", method, n, one_of: None, hex: None })
}

fn agreed(terms: &Terms, output: Output) {
    let transfers = counted(terms.n, "transfer of random keys");
    output.note(&format!("agreed: {transfers}, {}", method::words(&terms.method)));
}

fn send<'w>(
    link: Link,
    terms: &Terms,
    workers: &'w Workers,
    mut files: SenderFiles,
    output: Output,
) -> Result<Done<'w>, Failure> {
    let (link, timer) = link.start(workers);
    let party = Party { link: &link, method: terms.method, workers, output };
    party.send(Shape::random(terms.n), |keys| files.append(keys))?;
    Done::of(link, timer, files.drafts())
}

fn receive<'w>(
    link: Link,
    terms: &Terms,
    workers: &'w Workers,
    mut files: ReceiverFiles,
    output: Output,
) -> Result<Done<'w>, Failure> {
    let (link, timer) = link.start(workers);
    let party = Party { link: &link, method: terms.method, workers, output };
    party.receive(&Choice::Random(terms.n), |choices, keys| files.append(choices, keys))?;
    Done::of(link, timer, files.drafts())
}

fn tell(names: Vec<String>, common: &Common, report: &Report) -> Result<(), Failure> {
    let output = Output::new(common);
    output.note(&format!("wrote {}: {}", names.join(", "), report.words()));
    if common.json {
        let mut object = report.json();
        object.insert("files".into(), names.into());
        writeln!(io::stdout().lock(), "{}", serde_json::Value::Object(object))
            .map_err(|e| Failure::stdout(&e))?;
    }
    Ok(())
}
