//! `foxtrot psi`: what two sets have in common.

mod agreement;
mod attempts;
mod cells;
mod circuit;
mod columns;
mod gateway;
mod inspect;
mod limits;
mod party;
mod result;
mod serve;
mod shards;
mod shelf;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use foxtrot::{
    job::Role,
    psi::{
        Assumption, Function, MAX_ITEMS,
        agreement::{Columns, PsiTerms},
        fields::Fields,
        shards::check,
    },
};

use crate::{
    args::{Common, Meeting, OrKeys, PsiCommand, RowsOut, SetOptions, Trying, file},
    confirm::confirm,
    failure::Failure,
    local::both,
    method,
    output::Output,
    policy::{self, Under},
    reach::Way,
    record::{Entry, Recorder},
    table::Set,
    workers::Workers,
};
use agreement::{Agreed, SetTerms};
use attempts::Attempts;
use party::Lent;
use serve::{Served, Server};
use shards::Worker;
use shelf::{Shelf, Stock};

/// The field of a record for our own normalisers, whose dates may have another format than the peer's.
const OUR_NORMALIZE: &str = "our_normalize";

/// Options for the second file, in place of those for one.
const OF_B: [(&str, &str); 8] = [
    ("--or-key ", "--or-key-b "),
    ("--or-normalize ", "--or-normalize-b "),
    ("--key ", "--key-b "),
    ("--format ", "--format-b "),
    ("--encoding ", "--encoding-b "),
    ("--sheet ", "--sheet-b "),
    ("--delimiter ", "--delimiter-b "),
    ("--normalize ", "--normalize-b "),
];

pub(crate) fn run(command: &PsiCommand) -> Result<(), Failure> {
    match command {
        PsiCommand::Local { a, b, options, others, or_keys, trying, out, rests, common } => {
            if [a, b] == [Path::new("-"); 2] {
                return Err(Failure::usage("only one set can be read from standard input"));
            }
            let theirs = options.for_another(b, others);
            if trying.function.is_some() {
                return circuit::local([a, b], [options.clone(), theirs], trying, common);
            }
            let theirs = theirs.with(&others.or_keys(or_keys)).map_err(|e| e.rename_options(&OF_B));
            let options = [options.with(or_keys)?, theirs?];
            local([a, b], &options, trying, out, (rests.assumption, common))
        }
        PsiCommand::Receive { set, options, or_keys, asked, joining, out, meeting } => {
            check_output(out, &meeting.common)?;
            let ours = Ours { role: Role::Receiver, set, options, or_keys, out, meeting };
            ours.run(|sets, terms| {
                result::check(sets, joining.with.is_some(), out)?;
                let padding = joining.padding.of_fields();
                let columns = joining.with.as_ref();
                let columns = columns.map(|it| Columns { names: it.0.clone(), padding });
                let function = function(columns.is_some(), joining.both);
                let set = asked.as_ref().map(ToString::to_string);
                Ok((terms.with(|psi| PsiTerms { set, function, columns, ..psi }), None))
            })
        }
        PsiCommand::Send {
            set,
            options,
            or_keys,
            sharing,
            serve,
            named,
            standing,
            sessions,
            meeting,
        } => {
            let share = sharing.share.as_ref().map(|it| it.0.clone());
            let padding = sharing.padding.of_fields();
            let function = function(share.is_some(), sharing.both);
            let sharing_fields = move |sets: &[Set], terms: SetTerms| {
                let fields = share.as_ref().map(|it| columns::fields(&sets[0], it, padding));
                let fields = fields.transpose()?;
                let columns = fields.as_ref().map(Columns::of);
                Ok((terms.with(|psi| PsiTerms { function, columns, ..psi }), fields))
            };
            if !*serve {
                let out = &RowsOut { output: sharing.output.clone(), ..RowsOut::default() };
                if sharing.both {
                    check_output(out, &meeting.common)?;
                }
                let set = set.as_deref().unwrap_or(Path::new("-"));
                let ours = Ours { role: Role::Sender, set, options, or_keys, out, meeting };
                return ours.run(sharing_fields);
            }
            let Meeting { most, agreeing, rests, resume_base, transport, common, .. } = meeting;
            let policy = policy::read(agreeing.policy.as_deref())?;
            let way = Way::prepare(transport, Under::of(&policy, Role::Sender))?;
            let (output, method) = (Output::new(common), method::psi(common, rests.assumption)?);
            let terms = SetTerms::new(Role::Sender, method, [most.keys, most.least], policy);
            let way = limits::keep(resuming(way, resume_base), &agreeing.per_day, &terms, output)?;
            let stock = {
                let options = options.read_again(standing.reload).with(or_keys)?;
                move |path: &Path| {
                    let sets = read_all(path, &options, output)?;
                    let (terms, fields) = sharing_fields(&sets, terms.of(&sets))?;
                    terms.hello()?;
                    Ok(Stock::of(sets, fields, terms))
                }
            };
            let files = serve::files(set.as_ref(), named);
            let shelf = Shelf::open(files, standing.reload, stock)?;
            let recorder = Recorder::of_many(transport, agreeing.audit.as_deref());
            let (workers, normalize) =
                (Workers::new(common.threads)?, options.normalisers_in_full());
            let server = Server { shelf, workers, output, recorder, normalize };
            server.answer_all(way, sessions, common, |number, peer, served| {
                let Served { agreed, report, .. } = served;
                let ([keys, _], figures) = (agreed.psi.sizes(), report.figures());
                output.note(&format!("session {number} with {peer}, {keys} keys: {figures}"));
                report.print(output, agreed.json())
            })
        }
        PsiCommand::Gateway(args) => gateway::run(args),
        PsiCommand::Count(counting) => circuit::run(counting, None),
        PsiCommand::Sum { counting, summing } => circuit::run(counting, Some(summing)),
        PsiCommand::Inspect { set, options, show, left_out, output, json } => {
            if *left_out {
                inspect::write_left_out(set, options, output)
            } else {
                inspect::print(set, &options.showing(*show), *json)
            }
        }
    }
}

/// Both parties; A's owner receives.
fn local(
    [a, b]: [&Path; 2],
    [ours, theirs]: &[Vec<SetOptions>; 2],
    trying: &Trying,
    out: &RowsOut,
    (assumption, common): (Assumption, &Common),
) -> Result<(), Failure> {
    check_output(out, common)?;
    let output = Output::new(common);
    let ours = read_all(a, ours, output)?;
    let theirs = read_all(b, theirs, output).map_err(|e| e.rename_options(&OF_B))?;
    let (with, padding) = (trying.with.as_ref(), trying.padding.of_fields());
    result::check(&ours, with.is_some(), out)?;
    let fields = with.map(|columns| columns::fields(&theirs[0], &columns.0, padding)).transpose();
    let fields = fields.map_err(|e| e.rename_options(&[("--share ", "--with ")]))?;
    let columns = fields.as_ref().map(Columns::of);
    let (function, method) = (function(columns.is_some(), false), method::psi(common, assumption)?);
    let terms = |role, sets| {
        let terms = SetTerms::new(role, method, [MAX_ITEMS, 0], None).of(sets);
        terms.with(|psi| PsiTerms { function, columns: columns.clone(), ..psi })
    };
    let (terms, senders_terms) = (terms(Role::Receiver, &ours), terms(Role::Sender, &theirs));
    same_terms([a, b], [&terms, &senders_terms])?;
    let workers = Workers::new(common.threads)?;
    let senders = workers.for_another();
    let hellos = [senders_terms.hello()?, terms.hello()?];
    let theirs = Stock::of(theirs, fields, senders_terms);
    let asked = Stock::copied(&ours, terms)?;
    let (sending, (found, receiving, agreed)) = both(
        common.timeout,
        hellos,
        |mut link| {
            let agreed = Agreed::on(&theirs.terms, &mut link)?;
            let set = Lent(Arc::new(theirs));
            Ok(party::run(&agreed, link, set, &senders, Output::in_background())?.1)
        },
        |mut link| {
            let agreed = Agreed::on(&asked.terms, &mut link)?;
            agreed.tell(output, None, &workers, out.count);
            let set = Lent(Arc::new(asked));
            let (found, cost) = party::run(&agreed, link, set, &workers, output)?;
            Ok((found, cost, agreed))
        },
    )?;
    let report = agreed.report(workers.threads(), [Some(&sending), Some(&receiving)]);
    result::deliver(ours, found, (&agreed, &report), out, output)
}

fn same_terms([a, b]: [&Path; 2], terms: [&SetTerms; 2]) -> Result<(), Failure> {
    let [at_a, at_b] = terms.map(|terms| terms.normalised().join(" | "));
    if at_a == at_b {
        return Ok(());
    }
    let (a, b) = (a.display(), b.display());
    let why = format!("keys of {a} are normalised by {at_a}, keys of {b} by {at_b}");
    Err(Failure::usage(why).hint("use the same number of key columns and the same normalisers"))
}

struct Ours<'a> {
    role: Role,
    set: &'a Path,
    options: &'a SetOptions,
    or_keys: &'a OrKeys,
    out: &'a RowsOut,
    meeting: &'a Meeting,
}

impl Ours<'_> {
    /// Reads the set and runs with the peer. `computing` adds to the terms what is computed, and gives the fields that
    /// this side shares.
    fn run(
        &self,
        computing: impl FnOnce(&[Set], SetTerms) -> Result<(SetTerms, Option<Fields>), Failure>,
    ) -> Result<(), Failure> {
        let Meeting { most, agreeing, rests, resume_base, sharding, transport, common } =
            self.meeting;
        let (role, policy) = (self.role, policy::read(agreeing.policy.as_deref())?);
        let mut way = resuming(Way::prepare(transport, Under::of(&policy, role))?, resume_base);
        let worker = Worker::of(sharding, role)?;
        let mut options = self.options.with(self.or_keys)?;
        if let Some(worker) = &worker {
            options = options.into_iter().map(|it| worker.reading(it)).collect();
        }
        let mut sets = read_all(self.set, &options, Output::new(common))?;
        if let Some(worker) = &worker {
            sets.iter_mut().try_for_each(|set| worker.fill(set))?;
        }
        let method = method::psi(common, rests.assumption)?;
        let terms = SetTerms::new(role, method, [most.keys, most.least], policy).of(&sets);
        let (mut terms, fields) = computing(&sets, terms)?;
        if let Some(worker) = &worker {
            terms = worker.terms(terms)?;
            if let Some(route) = &transport.route {
                let route = format!("{route}{}", worker.route()?);
                way = way.with(|config| config.route(&route));
            }
        }
        if sharding.shards.is_some() {
            limits::check_shards(&agreeing.per_day, &terms)?;
        }
        let way = limits::keep(way, &agreeing.per_day, &terms, Output::new(common))?;
        let recorder = Recorder::of_one(transport, agreeing.audit.as_deref());
        recorder.keep("psi", role, |entry| {
            entry.set(OUR_NORMALIZE, self.options.normalisers_in_full());
            match (sharding.shards, sharding.shard, &sharding.ticket) {
                (Some(shards), None, Some(ticket)) => {
                    shards::agree(&terms, way, (shards, ticket), (common, entry))
                }
                _ => {
                    let attempts = worker.as_ref().map(|it| &it.attempts);
                    self.meet(sets, fields, (&terms, attempts), way, entry)?;
                    attempts.map_or(Ok(()), Attempts::finish)
                }
            }
        })
    }

    fn meet(
        &self,
        sets: Vec<Set>,
        fields: Option<Fields>,
        (terms, attempts): (&SetTerms, Option<&Attempts>),
        way: Way<'_>,
        entry: &mut Entry,
    ) -> Result<(), Failure> {
        let (role, Meeting { agreeing, common, .. }) = (self.role, self.meeting);
        let (output, workers) = (Output::new(common), Workers::new(common.threads)?);
        let mut link = terms.meet(way.counting(terms.counted()), terms.hello()?, common, entry)?;
        let suits = check(&link.agreed, terms.psi.options.shard_of());
        suits.map_err(|e| link.refuse(e.into()))?;
        let agreed = Agreed::on(terms, &mut link)?;
        entry.agreed(agreed.json());
        agreed.tell(output, Some(role), &workers, self.out.count);
        confirm(agreeing.yes, output, common.timeout).map_err(|e| link.refuse(e))?;
        attempts.map_or(Ok(()), Attempts::begin).map_err(|e| link.refuse(e))?;
        // Rows that match are written when the run is over.
        let learns = role == Role::Receiver || terms.psi.function == Function::Both;
        let (stock, sets) = match learns {
            true => (Stock::copied(&sets, terms.clone()).map_err(|e| link.refuse(e))?, Some(sets)),
            false => (Stock::of(sets, fields, terms.clone()), None),
        };
        let (found, cost) = party::run(&agreed, link, Lent(Arc::new(stock)), &workers, output)?;
        let report = agreed.report(workers.threads(), cost.of(role));
        entry.ran(&report, &cost);
        if let Some(sets) = sets {
            entry.set("results", found.items.iter().map(Vec::len).sum::<usize>());
            return result::deliver(sets, found, (&agreed, &report), self.out, output);
        }
        output.note(&format!("done: {}", report.figures()));
        agreed.hint().iter().for_each(|hint| output.note(hint));
        report.print(output, agreed.json())
    }
}

fn function(has_columns: bool, both: bool) -> Function {
    match (has_columns, both) {
        (true, _) => Function::Join,
        (false, true) => Function::Both,
        (false, false) => Function::Intersection,
    }
}

/// Keeps base OTs for later sessions with the peer, if that is wanted.
fn resuming<'a>(way: Way<'a>, folder: &Option<PathBuf>) -> Way<'a> {
    way.with(|config| folder.iter().fold(config, |config, folder| config.resume_base(folder)))
}

/// Finds out that the result has no place before anything is read, and anybody met.
fn check_output(out: &RowsOut, common: &Common) -> Result<(), Failure> {
    if common.json && file(&out.output).is_none() && !out.count {
        let why = "--json and rows cannot share standard output";
        return Err(Failure::usage(why).hint("write the rows to a file with -o, or add --count"));
    }
    Ok(())
}

/// Reads a file once for each key.
fn read_all(path: &Path, options: &[SetOptions], output: Output) -> Result<Vec<Set>, Failure> {
    if options.len() > 1 && path == Path::new("-") {
        return Err(Failure::usage("--or-key needs a file; standard input is read once"));
    }
    let sets: Vec<_> = options.iter().map(|it| read(path, it, output)).collect::<Result<_, _>>()?;
    let mut rows = sets.iter().map(|set| set.keys.rows());
    let first = rows.next();
    match rows.all(|rows| Some(rows) == first) {
        true => Ok(sets),
        false => Err(Failure::run(format!("{} has changed while it was read", path.display()))),
    }
}

fn read(path: &Path, options: &SetOptions, output: Output) -> Result<Set, Failure> {
    let set = Set::read(path, &options.quiet(output.quiet))?;
    output.note(&format!("read {}: {}", path.display(), set.words()));
    set.warnings().iter().for_each(|warning| output.note(warning));
    Ok(set)
}
