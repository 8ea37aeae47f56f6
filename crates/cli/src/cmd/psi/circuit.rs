//! `foxtrot psi count` and `psi sum`: how many keys both sides have, and the sum of the sender's numbers beside them.

mod serve;

use std::{
    io::{self, Write},
    path::Path,
    sync::Arc,
};

use foxtrot::{
    job::Table,
    policy::Policy,
    psi::{Function, fields::Duplicates},
};
use foxtrot_net::{
    hello::{Hello, Role},
    jobs::{self, LARGEST, MIN_COUNT, VALUE},
};
use foxtrot_psi::{
    circuit::{
        MAX_ITEMS, Outcome, PROTOCOL, Parameters, Terms as Wanted,
        protocol::{Plan, receive, send},
    },
    method::{Assumption, Method},
};
use serde_json::{Map, Value, json};
use zeroize::Zeroizing;

use super::{
    OF_B, OUR_NORMALIZE, agreement::Terms, party::show, read, read_policy, same_terms,
    serve::limit, shelf::Stock,
};
use crate::{
    args::{Column, Common, Counting, Counts, SetOptions, Summing, Trying},
    confirm::confirm,
    failure::Failure,
    link::{Cost, Link},
    local::both,
    method,
    output::Output,
    policy::Under,
    reach::Way,
    record::{Entry, Recorder},
    report::{Report, counted, object},
    table::Set,
    workers::Workers,
};

#[derive(Clone, Copy)]
struct Side {
    function: Function,
    role: Role,
    min_count: u64,
    largest: Option<u64>,
}

struct Reader {
    side: Side,
    options: SetOptions,
    /// The column of our numbers, if this side has them.
    value: Option<Column>,
    duplicates: Duplicates,
    method: Method,
    bounds: [usize; 2],
    policy: Option<Arc<Policy>>,
    output: Output,
}

/// The number of common keys. The side that connects is the receiver of the protocol; both learn the same.
pub(super) fn count(options: &Counting) -> Result<(), Failure> {
    let role = if options.transport.connect.is_some() { Role::Receiver } else { Role::Sender };
    let min_count = options.min_count;
    let side = Side { function: Function::Count, role, min_count, largest: None };
    side.run(options, None, Duplicates::Refuse)
}

/// The sum also. The side with numbers is the sender.
pub(super) fn sum(options: &Counting, summing: &Summing) -> Result<(), Failure> {
    let role = if summing.value.is_some() { Role::Sender } else { Role::Receiver };
    let (min_count, largest) = (options.min_count, Some(summing.largest));
    let side = Side { function: Function::Sum, role, min_count, largest };
    side.run(options, summing.value.as_ref(), summing.duplicates)
}

/// Both parties in this process: A's owner is the receiver, and B has the numbers.
pub(super) fn local(
    [a, b]: [&Path; 2],
    [ours, theirs]: [SetOptions; 2],
    trying: &Trying,
    common: &Common,
) -> Result<(), Failure> {
    let output = Output::new(common);
    let (function, largest) = match trying.function {
        Some(Counts::Sum) => (Function::Sum, Some(trying.largest)),
        _ => (Function::Count, None),
    };
    let method = method::circuit(common)?;
    let read = |role, path, options, value| {
        let side = Side { function, role, min_count: trying.min_count, largest };
        let duplicates = trying.padding.duplicates;
        let (bounds, policy) = ([MAX_ITEMS, 0], None);
        let reader = Reader { side, options, value, duplicates, method, bounds, policy, output };
        Ok::<_, Failure>((side, reader.read(path)?))
    };
    let (receiver, ours) = read(Role::Receiver, a, ours, None)?;
    let theirs = read(Role::Sender, b, theirs, trying.value.clone());
    let (sender, theirs) = theirs.map_err(|e| e.rename_options(&OF_B))?;
    same_terms([a, b], [&ours.terms, &theirs.terms])?;
    let workers = Workers::new(common.threads)?;
    let senders = workers.for_another();
    let [n, m] = [&ours, &theirs].map(|stock| stock.items[0].len());
    let receiver = receiver.with(Arc::new(ours), m)?;
    let sender = sender.with(Arc::new(theirs), n)?;
    let ((_, sending), (outcome, receiving)) = both(
        common.timeout,
        [sender.side.hello(&sender.stock), receiver.side.hello(&receiver.stock)],
        |link| sender.play(link, &senders, Output::in_background()),
        |link| {
            receiver.words().iter().for_each(|line| output.note(line));
            receiver.play(link, &workers, output)
        },
    )?;
    let report = receiver.report(workers.threads(), [Some(&sending), Some(&receiving)]);
    receiver.deliver((outcome, report), common, "")
}

/// The numbers of our items, if this side has them.
#[derive(Default)]
pub(super) struct Numbers {
    of_items: Zeroizing<Vec<u64>>,
    column: Option<String>,
}

fn numbers(
    set: &Set,
    column: &Column,
    largest: u64,
    duplicates: Duplicates,
) -> Result<Numbers, Failure> {
    let of_row: Vec<_> = set.items_of_rows().collect();
    let mut numbers = Zeroizing::new(vec![0; set.items.len()]);
    let mut seen = vec![false; set.items.len()];
    let names = set.fields(std::slice::from_ref(column), |row, fields| {
        let Some(item) = of_row[row] else { return Ok(()) };
        let number = jobs::decimal(fields[0].trim().as_bytes()).filter(|it| *it <= largest);
        let number = number.ok_or_else(|| {
            Failure::usage(format!(
                "the field of --value in row {} is no whole number from 0 to {largest}",
                row + 1
            ))
            .hint("correct the file, or pass a larger --largest on both sides")
        })?;
        let taken = duplicates.takes(&mut seen[item]).map_err(|_| {
            Failure::usage("several rows have the same key")
                .hint("pass --duplicates first or last, or remove the rows")
        })?;
        if taken {
            numbers[item] = number;
        }
        Ok(())
    })?;
    Ok(Numbers { of_items: numbers, column: names.into_iter().next() })
}

impl Reader {
    fn read(&self, path: &Path) -> Result<Stock, Failure> {
        let set = read(path, &self.options, self.output)?;
        let keys = set.items.len();
        if keys > MAX_ITEMS {
            let why = format!("there are {keys} keys; {} takes {MAX_ITEMS}", self.side.function);
            return Err(Failure::usage(why));
        }
        let numbers = match (&self.value, self.side.largest) {
            (Some(value), Some(largest)) => numbers(&set, value, largest, self.duplicates)?,
            _ => Numbers::default(),
        };
        let sets = std::slice::from_ref(&set);
        let terms = Terms::new(self.method, sets, self.bounds, self.policy.clone());
        let terms = Terms { function: self.side.function, ..terms };
        Ok(Stock { items: vec![set.items], fields: None, numbers, terms })
    }
}

impl Side {
    fn run(
        self,
        options: &Counting,
        value: Option<&Column>,
        duplicates: Duplicates,
    ) -> Result<(), Failure> {
        let Counting { set, options: set_options, most, agreeing, transport, common, .. } = options;
        let policy = read_policy(agreeing)?;
        let way = Way::prepare(transport, Under::of(&policy, self.role))?;
        let reader = Reader {
            side: self,
            options: set_options.clone(),
            value: value.cloned(),
            duplicates,
            method: method::circuit(common)?,
            bounds: [most.keys, most.least],
            policy,
            output: Output::new(common),
        };
        let normalize = set_options.normalisers_in_full();
        if options.serve {
            return serve::answer_all(options, reader, limit(way, &options.standing)?, normalize);
        }
        let stock = Arc::new(reader.read(set)?);
        let recorder = Recorder::of_one(transport, agreeing.audit.as_deref());
        recorder.keep("psi", &self.role.to_string(), |entry| {
            entry.set(OUR_NORMALIZE, normalize);
            self.meet(stock, way, (options, entry))
        })
    }

    fn hello(self, stock: &Stock) -> Hello {
        let hello = stock.terms.hello(self.role, &stock.sizes()).term(MIN_COUNT, self.min_count);
        let column = stock.numbers.column.iter();
        let hello = column.fold(hello, |hello, name| hello.detail(VALUE, name));
        match self.largest {
            Some(largest) => hello.term(LARGEST, largest),
            None => hello,
        }
    }

    fn meet(
        self,
        stock: Arc<Stock>,
        way: Way<'_>,
        (options, entry): (&Counting, &mut Entry),
    ) -> Result<(), Failure> {
        let Counting { agreeing, common, .. } = options;
        let (output, workers) = (Output::new(common), Workers::new(common.threads)?);
        let link = stock.terms.meet(way, self.hello(&stock), common, entry)?;
        let agreed = self.agree(stock, &link.agreed.peer_details).map_err(|e| link.refuse(e))?;
        entry.agreed(agreed.json());
        agreed.words().iter().for_each(|line| output.note(line));
        confirm(agreeing.yes, output, common.timeout).map_err(|e| link.abandon(e))?;
        let ran = agreed.run(link, entry, &workers, output)?;
        agreed.deliver(ran, common, "")
    }

    fn agree(self, stock: Arc<Stock>, details: &Table) -> Result<Agreed, Failure> {
        let theirs = stock.terms.peers_keys(details)?;
        self.with(stock, theirs)
    }

    fn with(self, stock: Arc<Stock>, theirs: usize) -> Result<Agreed, Failure> {
        let ours = stock.items[0].len();
        let (receivers, senders) = match self.role {
            Role::Receiver => (ours, theirs),
            Role::Sender => (theirs, ours),
        };
        let wanted = Wanted { largest: self.largest, at_least: self.min_count, both: true };
        let parameters = Parameters::new(wanted, receivers, senders)?;
        Ok(Agreed { side: self, stock, parameters })
    }
}

struct Agreed {
    side: Side,
    stock: Arc<Stock>,
    parameters: Parameters,
}

impl Agreed {
    /// Runs the protocol to its end, and enters that into the record.
    fn run(
        &self,
        link: Link,
        entry: &mut Entry,
        workers: &Workers,
        output: Output,
    ) -> Result<(Outcome, Report), Failure> {
        let (outcome, cost) = self.play(link, workers, output)?;
        let report = self.report(workers.threads(), cost.of(self.side.role));
        entry.ran(&report, &cost);
        if let Outcome::Released { count, .. } = outcome {
            entry.set("results", count);
        }
        Ok((outcome, report))
    }

    fn play(
        &self,
        link: Link,
        workers: &Workers,
        output: Output,
    ) -> Result<(Outcome, Cost), Failure> {
        let (stock, parameters) = (&self.stock, self.parameters);
        let (outcome, cost) = link.run(workers, |job| {
            let (mut cx, direction) = (job.context()?, job.direction());
            let plan = Plan { parameters, base: stock.terms.method.base, direction, counter: 0 };
            let bar = &output.progress_in_percent(parameters.steps());
            let mut progress = |progress| show(bar, progress);
            let (items, numbers) = (stock.items[0].to_vec(), &stock.numbers.of_items);
            let outcome = match self.side.role {
                Role::Sender => job.play(|io| async move {
                    send(&io, &mut cx, plan, items, numbers, &mut progress).await
                })?,
                Role::Receiver => job
                    .play(
                        |io| async move { receive(&io, &mut cx, plan, items, &mut progress).await },
                    )
                    .map(Some)?,
            };
            bar.finish_and_clear();
            job.finish()?;
            Ok(outcome)
        })?;
        Ok((outcome.ok_or_else(|| Failure::run("there is no result"))?, cost))
    }

    fn report(&self, threads: usize, costs: [Option<&Cost>; 2]) -> Report {
        let base = self.stock.terms.method.base.info();
        let about = [
            format!("psi/{}", self.side.function),
            method::params_over(Some(&PROTOCOL), base),
            method::security_over(Some(&PROTOCOL), base, foxtrot_ot::base::Adversary::SemiHonest),
        ];
        Report::of_parties(about, (self.parameters.receiver_items(), threads), costs)
    }

    /// The numbers of our keys and of the peer's.
    fn sizes(&self) -> [usize; 2] {
        let (receivers, senders) =
            (self.parameters.receiver_items(), self.parameters.sender_items());
        match self.side.role {
            Role::Receiver => [receivers, senders],
            Role::Sender => [senders, receivers],
        }
    }

    fn words(&self) -> Vec<String> {
        let (Side { function, role, min_count, .. }, terms) = (self.side, &self.stock.terms);
        let [ours, theirs] = self.sizes();
        let normalised = terms.normalised().join(";");
        let sum = match (function, role) {
            (Function::Sum, Role::Sender) => ", and the sum of this side's numbers of these keys",
            (Function::Sum, Role::Receiver) => ", and the sum of the peer's numbers of these keys",
            _ => "",
        };
        let least = match min_count {
            0 => String::new(),
            least => format!("; nothing if there are fewer than {least}"),
        };
        let mut lines = vec![
            format!(
                "agreed: semi-honest security, assumption lpn, keys normalised by {normalised}; {} here, {theirs} at the peer",
                counted(ours, "key")
            ),
            format!(
                "privacy: both sides learn how many keys are common{sum}{least}; neither learns which; each also learns the other's \
                 number of keys; this holds only if both sides follow the protocol (semi-honest)"
            ),
        ];
        lines.extend(terms.policy.iter().map(|it| format!("policy of both sides: {}", it.words())));
        lines
    }

    fn json(&self) -> Map<String, Value> {
        let (side, terms) = (self.side, &self.stock.terms);
        object(json!({
            "function": side.function.name(),
            "policy": terms.policy.as_deref().map(Policy::id),
            "assumption": Assumption::Lpn.name(),
            "adversary": "semi-honest",
            "normalize": terms.normalised().join(";"),
            "keys_receiver": self.parameters.receiver_items(),
            "keys_sender": self.parameters.sender_items(),
            "min_count": side.min_count,
            "largest": side.largest,
        }))
    }

    /// Prints the count, and the sum behind it; `withheld` if there are too few. What it says begins with the session, if there are
    /// several.
    fn deliver(
        &self,
        (outcome, report): (Outcome, Report),
        common: &Common,
        session: &str,
    ) -> Result<(), Failure> {
        let (text, count, sum) = match outcome {
            Outcome::Withheld => ("withheld".to_owned(), None, None),
            Outcome::Released { count, sum: None } => (count.to_string(), Some(count), None),
            Outcome::Released { count, sum: Some(sum) } => {
                (format!("{count} {sum}"), Some(count), Some(sum))
            }
        };
        if common.json {
            let withheld = outcome == Outcome::Withheld;
            let mut more = self.json();
            more.extend(object(json!({ "withheld": withheld, "count": count, "sum": sum })));
            report.print(common, more)?;
        } else {
            writeln!(io::stdout().lock(), "{text}").map_err(|e| Failure::stdout(&e))?;
        }
        let figures = report.figures();
        Output::new(common).note(&match count {
            Some(count) => {
                let count = usize::try_from(count).unwrap_or(usize::MAX);
                format!("{session}found {} ({figures})", counted(count, "key in common"))
            }
            None => {
                format!("{session}fewer than {} keys in common ({figures})", self.side.min_count)
            }
        });
        Ok(())
    }
}
