//! `foxtrot psi count` and `psi sum`: how many keys both sides have, and the sum of the sender's numbers beside them.

mod serve;

use std::{path::Path, slice, sync::Arc};

use foxtrot::{
    job::Table,
    policy::Policy,
    psi::{Function, fields::Duplicates},
};
use foxtrot_net::{hello::Role, jobs};
use foxtrot_psi::{
    circuit::{
        MAX_ITEMS, Outcome, PROTOCOL, Parameters, Terms as Wanted,
        protocol::{Plan, receive, send},
    },
    method::Assumption,
};
use serde_json::{Map, Value, json};
use zeroize::Zeroizing;

use super::{
    OF_B, OUR_NORMALIZE, agreement::Terms, limits, party::show, read, same_terms, shelf::Stock,
};
use crate::{
    args::{Column, Common, Counting, Counts, SetOptions, Summing, Trying},
    confirm::confirm,
    failure::Failure,
    link::{Cost, Link},
    local::both,
    method,
    output::{Output, print},
    policy::{self, Under},
    reach::Way,
    record::{Entry, Recorder},
    report::{Report, counted, object},
    table::Set,
    workers::Workers,
};

/// The way to a set, and the terms on which it is compared, but for its keys.
struct Reader {
    options: SetOptions,
    /// The column of our numbers, if this side has them.
    value: Option<Column>,
    duplicates: Duplicates,
    terms: Terms,
    output: Output,
}

/// The number of common keys and, with options for it, a sum. The side that connects is the receiver of a count, the side
/// without numbers that of a sum; both learn the same.
pub(super) fn run(options: &Counting, summing: Option<&Summing>) -> Result<(), Failure> {
    let Counting { set, options: set_options, most, agreeing, transport, common, .. } = options;
    let (function, receives) = match summing {
        Some(summing) => (Function::Sum, summing.value.is_none()),
        None => (Function::Count, transport.connect.is_some()),
    };
    let role = if receives { Role::Receiver } else { Role::Sender };
    let policy = policy::read(agreeing.policy.as_deref())?;
    let way = Way::prepare(transport, Under::of(&policy, role))?;
    let terms = Terms::new(role, method::circuit(common)?, [most.keys, most.least], policy);
    let (min_count, largest) = (options.min_count, summing.map(|it| it.largest));
    let reader = Reader {
        options: set_options.read_again(options.standing.reload),
        value: summing.and_then(|it| it.value.clone()),
        duplicates: summing.map_or(Duplicates::Refuse, |it| it.duplicates),
        terms: Terms { function, min_count, largest, ..terms },
        output: Output::new(common),
    };
    let normalize = set_options.normalisers_in_full();
    let way = limits::keep(way, &agreeing.per_day, &reader.terms, reader.output)?;
    if options.serve {
        return serve::answer_all(options, reader, way, normalize);
    }
    let stock = Arc::new(reader.read(set)?);
    let recorder = Recorder::of_one(transport, agreeing.audit.as_deref());
    recorder.keep("psi", role, |entry| {
        entry.set(OUR_NORMALIZE, normalize);
        let (output, workers) = (reader.output, Workers::new(common.threads)?);
        let (terms, hello) = (stock.terms.clone(), stock.terms.hello());
        let counted = move |details: &Table| Some(terms.peers_keys(details, 0).ok()? as u64);
        let link = stock.terms.meet(way.counting(Arc::new(counted)), hello, common, entry)?;
        let agreed = Agreed::with(stock, &link.agreed.peer_details);
        let agreed = agreed.map_err(|e| link.refuse(e))?;
        entry.agreed(agreed.json());
        agreed.words().iter().for_each(|line| output.note(line));
        confirm(agreeing.yes, output, common.timeout).map_err(|e| link.abandon(e))?;
        let ran = agreed.run(link, entry, &workers, output)?;
        agreed.deliver(ran, output, "")
    })
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
    let (method, min_count) = (method::circuit(common)?, trying.min_count);
    let read = |role, path, options, value| {
        let terms = Terms::new(role, method, [MAX_ITEMS, 0], None);
        let terms = Terms { function, min_count, largest, ..terms };
        let duplicates = trying.padding.duplicates;
        Reader { options, value, duplicates, terms, output }.read(path)
    };
    let ours = read(Role::Receiver, a, ours, None)?;
    let theirs = read(Role::Sender, b, theirs, trying.value.clone());
    let theirs = theirs.map_err(|e| e.rename_options(&OF_B))?;
    same_terms([a, b], [&ours.terms, &theirs.terms])?;
    let workers = Workers::new(common.threads)?;
    let senders = workers.for_another();
    let hellos = [theirs.terms.hello(), ours.terms.hello()];
    let [n, m] = [&ours, &theirs].map(|stock| stock.items[0].len());
    let receiver = Agreed::new(Arc::new(ours), m)?;
    let sender = Agreed::new(Arc::new(theirs), n)?;
    let ((_, sending), (outcome, receiving)) = both(
        common.timeout,
        hellos,
        |link| sender.play(link, &senders, Output::in_background()),
        |link| {
            receiver.words().iter().for_each(|line| output.note(line));
            receiver.play(link, &workers, output)
        },
    )?;
    let report = receiver.report(workers.threads(), [Some(&sending), Some(&receiving)]);
    receiver.deliver((outcome, report), output, "")
}

/// The number of each item from a column, and the name of the column.
fn numbers(
    set: &Set,
    column: &Column,
    largest: u64,
    duplicates: Duplicates,
) -> Result<(Zeroizing<Vec<u64>>, Option<String>), Failure> {
    let of_row: Vec<_> = set.items_of_rows().collect();
    let mut numbers = Zeroizing::new(vec![0; set.items.len()]);
    let mut seen = vec![false; set.items.len()];
    let names = set.fields(slice::from_ref(column), |row, fields| {
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
    Ok((numbers, names.into_iter().next()))
}

impl Reader {
    fn read(&self, path: &Path) -> Result<Stock, Failure> {
        let set = read(path, &self.options, self.output)?;
        let (keys, function) = (set.items.len(), self.terms.function);
        if keys > MAX_ITEMS {
            return Err(Failure::usage(format!(
                "there are {keys} keys; {function} takes {MAX_ITEMS}"
            )));
        }
        let (numbers, value) = match (&self.value, self.terms.largest) {
            (Some(value), Some(largest)) => numbers(&set, value, largest, self.duplicates)?,
            _ => Default::default(),
        };
        let terms = Terms { value, ..self.terms.of(slice::from_ref(&set)) };
        Ok(Stock { items: vec![set.items], fields: None, numbers, terms })
    }
}

struct Agreed {
    stock: Arc<Stock>,
    parameters: Parameters,
}

impl Agreed {
    fn with(stock: Arc<Stock>, details: &Table) -> Result<Self, Failure> {
        let theirs = stock.terms.peers_keys(details, 0)?;
        Self::new(stock, theirs)
    }

    fn new(stock: Arc<Stock>, theirs: usize) -> Result<Self, Failure> {
        let Terms { largest, min_count: at_least, .. } = stock.terms;
        let [receivers, senders] = stock.terms.by_role(stock.items[0].len(), theirs);
        let parameters =
            Parameters::new(Wanted { largest, at_least, both: true }, receivers, senders)?;
        Ok(Self { stock, parameters })
    }

    /// Runs the protocol to its end, and enters that into the record.
    fn run(
        &self,
        link: Link,
        entry: &mut Entry,
        workers: &Workers,
        output: Output,
    ) -> Result<(Outcome, Report), Failure> {
        let (outcome, cost) = self.play(link, workers, output)?;
        let report = self.report(workers.threads(), cost.of(self.stock.terms.role));
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
            let (items, numbers) = (stock.items[0].to_vec(), &stock.numbers);
            let outcome = job.play(|io| async move {
                match stock.terms.role {
                    Role::Sender => send(&io, &mut cx, plan, items, numbers, &mut progress).await,
                    Role::Receiver => {
                        receive(&io, &mut cx, plan, items, &mut progress).await.map(Some)
                    }
                }
            })?;
            bar.finish_and_clear();
            job.finish()?;
            Ok(outcome)
        })?;
        Ok((outcome.ok_or_else(|| Failure::run("there is no result"))?, cost))
    }

    fn report(&self, threads: usize, costs: [Option<&Cost>; 2]) -> Report {
        let (terms, n) = (&self.stock.terms, self.parameters.receiver_items());
        terms.report(terms.function.name(), &PROTOCOL, (n, threads), costs)
    }

    /// The numbers of our keys and of the peer's.
    fn sizes(&self) -> [usize; 2] {
        let it = &self.parameters;
        self.stock.terms.by_role(it.receiver_items(), it.sender_items())
    }

    fn words(&self) -> Vec<String> {
        let terms = &self.stock.terms;
        let [ours, theirs] = self.sizes();
        let normalised = terms.normalised().join(";");
        let sum = match (terms.function, terms.role) {
            (Function::Sum, Role::Sender) => ", and the sum of this side's numbers of these keys",
            (Function::Sum, Role::Receiver) => ", and the sum of the peer's numbers of these keys",
            _ => "",
        };
        let least = match terms.min_count {
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
        let terms = &self.stock.terms;
        object(json!({
            "function": terms.function.name(),
            "policy": terms.policy.as_deref().map(Policy::id),
            "assumption": Assumption::Lpn.name(),
            "adversary": "semi-honest",
            "normalize": terms.normalised().join(";"),
            "keys_receiver": self.parameters.receiver_items(),
            "keys_sender": self.parameters.sender_items(),
            "min_count": terms.min_count,
            "largest": terms.largest,
        }))
    }

    /// Prints the count, and the sum behind it; `withheld` if there are too few. What it says begins with the session, if there are
    /// several.
    fn deliver(
        &self,
        (outcome, report): (Outcome, Report),
        output: Output,
        session: &str,
    ) -> Result<(), Failure> {
        let (text, count, sum) = match outcome {
            Outcome::Withheld => ("withheld".to_owned(), None, None),
            Outcome::Released { count, sum: None } => (count.to_string(), Some(count), None),
            Outcome::Released { count, sum: Some(sum) } => {
                (format!("{count} {sum}"), Some(count), Some(sum))
            }
        };
        if output.json {
            let withheld = outcome == Outcome::Withheld;
            let mut more = self.json();
            more.extend(object(json!({ "withheld": withheld, "count": count, "sum": sum })));
            report.print(output, more)?;
        } else {
            print(text)?;
        }
        let figures = report.figures();
        output.note(&match count {
            Some(count) => {
                let count = usize::try_from(count).unwrap_or(usize::MAX);
                format!("{session}found {} ({figures})", counted(count, "key in common"))
            }
            None => {
                let least = self.stock.terms.min_count;
                format!("{session}fewer than {least} keys in common ({figures})")
            }
        });
        Ok(())
    }
}
