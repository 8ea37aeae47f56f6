//! `foxtrot psi`: what two sets have in common.

mod agreement;
mod inspect;
mod party;
mod result;

use std::path::Path;

use foxtrot_net::{
    hello::{KEYS, Role, Table},
    jobs::memory_of_psi_sender,
};
use foxtrot_psi::paxos::MAX_ITEMS;
use zeroize::Zeroizing;

use crate::{
    args::{Common, MostSessions, OtherOptions, PsiCommand, RowsOut, SetOptions},
    failure::Failure,
    host::Service,
    link::Link,
    local::both,
    output::{self, Output},
    reach::Way,
    record::{Entry, Recorder},
    report::Report,
    table::{self, Item, Set},
    workers::Workers,
};
use agreement::{Agreed, Terms};
use party::Party;

/// The field of a record for our own normalisers, whose dates may have another format than the peer's.
const OUR_NORMALIZE: &str = "our_normalize";

/// Options for the second file, in place of those for one.
const OF_B: [(&str, &str); 4] = [
    ("--key ", "--key-b "),
    ("--format ", "--format-b "),
    ("--delimiter ", "--delimiter-b "),
    ("--normalize ", "--normalize-b "),
];

/// One side of a run, as far as the two sizes are agreed on.
#[cfg(feature = "fuzzing")]
pub(crate) struct Side {
    terms: Terms,
    keys: usize,
}

#[cfg(feature = "fuzzing")]
impl Side {
    /// Makes the terms with the keys of this set, which accepts so many at most.
    pub(crate) fn new(common: &Common, set: &Set, most: usize) -> Result<Self, Failure> {
        Ok(Self { terms: Terms::new(common, set, most)?, keys: set.items().len() })
    }

    pub(crate) fn hello(&self, role: Role) -> foxtrot_net::hello::Hello {
        self.terms.hello(role, self.keys)
    }

    pub(crate) fn agree(&self, link: &Link) -> Result<(), Failure> {
        Agreed::on(&self.terms, link, self.keys).map(drop)
    }
}

pub(crate) fn run(command: &PsiCommand) -> Result<(), Failure> {
    match command {
        PsiCommand::Local { a, b, options, others, out, common } => {
            local([a, b], options, others, out, common)
        }
        PsiCommand::Receive { set, options, out, most, transport, common } => {
            check_output(out, common)?;
            let way = Way::prepare(transport)?;
            let set = read(set, options, Output::new(common))?;
            let terms = Terms::new(common, &set, most.keys)?;
            Recorder::of_one(transport).keep("psi", "receiver", |entry| {
                entry.set(OUR_NORMALIZE, options.normalisers_in_full());
                receive(set, &terms, out, way, (common, entry))
            })
        }
        PsiCommand::Send { set, options, serve, sessions, most, transport, common } => {
            let way = Way::prepare(transport)?;
            let set = read(set, options, Output::new(common))?;
            let terms = Terms::new(common, &set, most.keys)?;
            if *serve {
                let recorder = Recorder::of_many(transport);
                let (workers, output) = (Workers::new(common.threads)?, Output::new(common));
                let normalize = options.normalisers_in_full();
                let items = set.into_items();
                let server = Server { items, terms, workers, output, recorder, normalize };
                answer_all(server, way, sessions, common)
            } else {
                Recorder::of_one(transport).keep("psi", "sender", |entry| {
                    entry.set(OUR_NORMALIZE, options.normalisers_in_full());
                    send(set, &terms, way, (common, entry))
                })
            }
        }
        PsiCommand::Inspect { set, options, show, left_out, output, json } => {
            if *left_out {
                inspect::write_left_out(set, options, output.as_deref())
            } else {
                inspect::print(set, &options.showing(*show), *json)
            }
        }
    }
}

/// Both parties; A's owner receives.
fn local(
    [a, b]: [&Path; 2],
    options: &SetOptions,
    others: &OtherOptions,
    out: &RowsOut,
    common: &Common,
) -> Result<(), Failure> {
    if [a, b] == [Path::new("-"); 2] {
        return Err(Failure::usage("only one set can be read from standard input"));
    }
    check_output(out, common)?;
    let output = Output::new(common);
    let ours = read(a, options, output)?;
    let theirs = read(b, &options.for_another(b, others), output);
    let theirs = theirs.map_err(|e| e.rename_options(&OF_B))?;
    let terms = Terms::new(common, &ours, MAX_ITEMS)?;
    let senders_terms = Terms::new(common, &theirs, MAX_ITEMS)?;
    let (at_a, at_b, a, b) = (ours.terms(), theirs.terms(), a.display(), b.display());
    if at_a != at_b {
        let why = format!("keys of {a} are normalised by {at_a}, keys of {b} by {at_b}");
        return Err(
            Failure::usage(why).hint("use the same number of key columns and the same normalisers")
        );
    }
    let workers = Workers::new(common.threads)?;
    let senders = workers.for_another();
    let items = theirs.into_items();
    let (sending, (indices, receiving, agreed)) = both(
        common.timeout(),
        |peer| {
            let hello = senders_terms.hello(Role::Sender, items.len());
            let link = Link::greet(peer, hello)?;
            let agreed = Agreed::on(&senders_terms, &link, items.len())?;
            let output = Output::in_background();
            Party { agreed: &agreed, workers: &senders, output }.send(link, || Ok(items))
        },
        |peer| {
            let n = ours.items().len();
            let link = Link::greet(peer, terms.hello(Role::Receiver, n))?;
            let agreed = Agreed::on(&terms, &link, n)?;
            agreed.tell(output, None, &workers, out.count);
            let party = Party { agreed: &agreed, workers: &workers, output };
            let (indices, cost) = party.receive(link, ours.items())?;
            Ok((indices, cost, agreed))
        },
    )?;
    let report = agreed.report(workers.threads(), [Some(&sending), Some(&receiving)]);
    result::deliver(ours, &indices, (&agreed, &report), out, common)
}

fn receive(
    set: Set,
    terms: &Terms,
    out: &RowsOut,
    way: Way<'_>,
    (common, entry): (&Common, &mut Entry),
) -> Result<(), Failure> {
    let (output, workers) = (Output::new(common), Workers::new(common.threads)?);
    let n = set.items().len();
    let link = way.reach(common, terms.hello(Role::Receiver, n), output);
    let link = link.map_err(|e| e.explained_by(table::hint))?;
    entry.met(&link);
    let agreed = Agreed::on(terms, &link, n)?;
    agreed.enter(entry);
    agreed.tell(output, Some(Role::Receiver), &workers, out.count);
    let party = Party { agreed: &agreed, workers: &workers, output };
    let (indices, cost) = party.receive(link, set.items())?;
    let report = agreed.report(workers.threads(), [None, Some(&cost)]);
    entry.ran(&report, &cost);
    entry.set("results", indices.len());
    result::deliver(set, &indices, (&agreed, &report), out, common)
}

fn send(
    set: Set,
    terms: &Terms,
    way: Way<'_>,
    (common, entry): (&Common, &mut Entry),
) -> Result<(), Failure> {
    let (output, workers) = (Output::new(common), Workers::new(common.threads)?);
    let items = set.into_items();
    let link = way.reach(common, terms.hello(Role::Sender, items.len()), output);
    let link = link.map_err(|e| e.explained_by(table::hint))?;
    entry.met(&link);
    let agreed = Agreed::on(terms, &link, items.len())?;
    agreed.enter(entry);
    agreed.tell(output, Some(Role::Sender), &workers, false);
    let cost = Party { agreed: &agreed, workers: &workers, output }.send(link, || Ok(items))?;
    let report = agreed.report(workers.threads(), [Some(&cost), None]);
    entry.ran(&report, &cost);
    let figures = report.figures();
    output.note(&format!("done: {figures}"));
    result::print_json(&agreed, &report, common)
}

/// A server of the same set for all peers that come.
struct Server {
    items: Zeroizing<Vec<Item>>,
    terms: Terms,
    workers: Workers,
    output: Output,
    recorder: Recorder,
    /// Our normalisers in full, for the record.
    normalize: Vec<String>,
}

impl Server {
    fn copy(&self) -> Result<Zeroizing<Vec<Item>>, Failure> {
        let mut copy = Zeroizing::new(Vec::new());
        copy.try_reserve_exact(self.items.len())
            .map_err(|_| Failure::run("not enough memory for a copy of the set"))?;
        copy.extend_from_slice(&self.items);
        Ok(copy)
    }
}

impl Service for Server {
    type Agreed = Agreed;
    type Done = (Agreed, Report);

    fn agree(&self, details: &Table) -> Result<Agreed, Failure> {
        Agreed::with(&self.terms, Role::Sender, details, self.items.len())
    }

    fn least_memory(&self) -> u64 {
        let details = Table::from([(KEYS.into(), "1".into())]);
        self.agree(&details).map_or(0, |agreed| self.memory(&agreed))
    }

    fn memory(&self, agreed: &Agreed) -> u64 {
        memory_of_psi_sender(&agreed.parameters)
    }

    fn answer(&self, link: Link, agreed: Agreed) -> Result<(Agreed, Report), Failure> {
        self.recorder.keep("psi", "sender", |entry| {
            entry.set(OUR_NORMALIZE, self.normalize.clone());
            entry.met(&link);
            agreed.enter(entry);
            let (workers, peer) = (self.workers.for_another(), link.peer.to_string());
            let output = Output::in_background();
            let party = Party { agreed: &agreed, workers: &workers, output };
            let cost = party.send(link, || {
                let lines = agreed.words(Some(Role::Sender), workers.threads());
                let mut lines = lines.iter().map(|line| format!("with {peer}: {line}"));
                lines.next().into_iter().for_each(|line| self.output.note(&line));
                lines.for_each(|line| self.output.detail(&line));
                self.output.detail(&format!("with {peer}: {}", agreed.details()));
                self.copy()
            })?;
            let report = agreed.report(workers.threads(), [Some(&cost), None]);
            entry.ran(&report, &cost);
            Ok((agreed, report))
        })
    }
}

fn answer_all(
    server: Server,
    way: Way<'_>,
    most: &MostSessions,
    common: &Common,
) -> Result<(), Failure> {
    let output = server.output;
    let hello = server.terms.hello(Role::Sender, server.items.len());
    output::stamp();
    way.all_peers(common, most, hello, server, |number, peer, (agreed, report)| {
        let keys = agreed.parameters.receiver_items();
        let figures = report.figures();
        output.note(&format!("session {number} with {peer}, {keys} keys: {figures}"));
        result::print_json(&agreed, &report, common)
    })
}

/// Finds out that the result has no place before anything is read, and anybody met.
fn check_output(out: &RowsOut, common: &Common) -> Result<(), Failure> {
    if common.json && out.file().is_none() && !out.count {
        let why = "--json and rows cannot share standard output";
        return Err(Failure::usage(why).hint("write the rows to a file with -o, or add --count"));
    }
    Ok(())
}

/// Reads a set, and says what was found.
fn read(path: &Path, options: &SetOptions, output: Output) -> Result<Set, Failure> {
    let set = Set::read(path, options)?;
    let keys = set.items().len();
    output.note(&format!("read {}: {}", path.display(), set.findings().words(keys)));
    set.warnings().iter().for_each(|warning| output.note(warning));
    if keys > MAX_ITEMS {
        let why = format!("{} has {keys} keys; the most is {MAX_ITEMS}", path.display());
        return Err(Failure::usage(why));
    }
    Ok(set)
}
