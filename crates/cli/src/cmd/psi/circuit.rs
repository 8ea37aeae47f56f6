//! `foxtrot psi count` and `psi sum`: how many keys both sides have, and the sum of the sender's numbers beside them.

use std::io::{self, Write};

use foxtrot::psi::{Function, fields::Duplicates};
use foxtrot_net::{
    hello::{Hello, Role},
    jobs::{self, LARGEST, MIN_COUNT, VALUE},
};
use foxtrot_psi::{
    circuit::{
        MAX_ITEMS, Outcome, PROTOCOL, Parameters, Terms as Wanted,
        protocol::{Plan, receive, send},
    },
    method::Assumption,
};
use serde_json::{Map, Value, json};
use zeroize::Zeroizing;

use super::{OUR_NORMALIZE, agreement::Terms, party::show, read, read_policy, under};
use crate::{
    args::{Column, Counting, Summing},
    confirm::confirm,
    failure::Failure,
    link::{Cost, Link},
    method,
    output::Output,
    policy,
    reach::Way,
    record::{Entry, Recorder},
    report::{Report, counted},
    table::{self, Set},
    workers::Workers,
};

/// One side of a run.
struct Side<'a> {
    function: Function,
    role: Role,
    options: &'a Counting,
    /// The largest number that there may be, for a sum.
    largest: Option<u64>,
}

/// The number of common keys. The side that connects is the receiver of the protocol; both learn the same.
pub(super) fn count(options: &Counting) -> Result<(), Failure> {
    let role = if options.transport.connect.is_some() { Role::Receiver } else { Role::Sender };
    let side = Side { function: Function::Count, role, options, largest: None };
    side.run(|_| Ok(Numbers::default()))
}

/// The sum also. The side with numbers is the sender.
pub(super) fn sum(options: &Counting, summing: &Summing) -> Result<(), Failure> {
    let role = if summing.value.is_some() { Role::Sender } else { Role::Receiver };
    let largest = Some(summing.largest);
    let side = Side { function: Function::Sum, role, options, largest };
    side.run(|set| match &summing.value {
        Some(value) => numbers(set, value, summing.largest, summing.duplicates.rule()),
        None => Ok(Numbers::default()),
    })
}

/// The numbers of our items, if this side has them.
#[derive(Default)]
struct Numbers {
    of_items: Zeroizing<Vec<u64>>,
    /// The name of their column.
    column: Option<String>,
}

/// The number of each item, from a column.
fn numbers(
    set: &Set,
    column: &Column,
    largest: u64,
    duplicates: Duplicates,
) -> Result<Numbers, Failure> {
    let of_row: Vec<_> = set.items_of_rows().collect();
    let mut numbers = Zeroizing::new(vec![0; set.items().len()]);
    let mut seen = vec![false; set.items().len()];
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

impl Side<'_> {
    fn run(&self, numbers: impl Fn(&Set) -> Result<Numbers, Failure>) -> Result<(), Failure> {
        let Counting { set, options, most, agreeing, transport, common, .. } = self.options;
        let policy = read_policy(agreeing)?;
        let way = Way::under(transport, under(policy.as_deref(), self.role))?;
        let set = read(set, options, Output::new(common))?;
        let keys = set.items().len();
        if keys > MAX_ITEMS {
            let why = format!("there are {keys} keys; {} takes {MAX_ITEMS}", self.function);
            return Err(Failure::usage(why));
        }
        let numbers = numbers(&set)?;
        let method = method::circuit(common)?;
        let terms = Terms::of(method, std::slice::from_ref(&set), most.keys);
        let terms = terms.at_least(most.least).under(policy).computing(self.function, None);
        let recorder = Recorder::of_one(transport).with_audit(agreeing.audit.as_deref());
        let role = self.role.to_string();
        recorder.keep("psi", &role, |entry| {
            entry.set(OUR_NORMALIZE, options.normalisers_in_full());
            self.meet(set, &numbers, &terms, way, entry)
        })
    }

    fn hello(&self, terms: &Terms, keys: usize, numbers: &Numbers) -> Hello {
        let hello = terms.hello(self.role, &[keys]).term(MIN_COUNT, self.options.min_count);
        let hello = numbers.column.iter().fold(hello, |hello, name| hello.detail(VALUE, name));
        match self.largest {
            Some(largest) => hello.term(LARGEST, largest),
            None => hello,
        }
    }

    fn meet(
        &self,
        set: Set,
        numbers: &Numbers,
        terms: &Terms,
        way: Way<'_>,
        entry: &mut Entry,
    ) -> Result<(), Failure> {
        let Counting { agreeing, common, .. } = self.options;
        let (output, workers) = (Output::new(common), Workers::new(common.threads)?);
        let (keys, items) = (set.items().len(), set.into_items());
        let hello = self.hello(terms, keys, numbers);
        terms.begin(entry);
        policy::check(terms.policy(), &hello)?;
        let link = way.reach(common, hello, output);
        let link = link.map_err(|e| e.explained_by(table::hint))?;
        entry.met(&link);
        let parameters = self.agree(terms, &link, keys).map_err(|e| link.refuse(e))?;
        for (key, value) in self.json(terms, &parameters) {
            entry.set(&key, value);
        }
        self.tell(terms, &parameters, output);
        confirm(agreeing.yes, output, common.timeout()).map_err(|e| link.abandon(e))?;
        let base = terms.base();
        let (outcome, cost) = link.run(&workers, |job| {
            let (mut cx, direction) = (job.context()?, job.direction());
            let plan = Plan { parameters, base, direction, counter: 0 };
            let bar = &output.progress_in_percent(parameters.steps());
            let progress = |progress| show(bar, progress);
            let (items, numbers) = (items.to_vec(), &numbers.of_items);
            let outcome = match self.role {
                Role::Sender => job.play(|io| async move {
                    send(&io, &mut cx, plan, items, numbers, progress).await
                })?,
                Role::Receiver => job
                    .play(|io| async move { receive(&io, &mut cx, plan, items, progress).await })
                    .map(Some)?,
            };
            bar.finish_and_clear();
            job.finish()?;
            Ok(outcome)
        })?;
        let costs = match self.role {
            Role::Sender => [Some(&cost), None],
            Role::Receiver => [None, Some(&cost)],
        };
        let report = self.report(terms, &parameters, workers.threads(), costs);
        entry.ran(&report, &cost);
        let outcome = outcome.ok_or_else(|| Failure::run("there is no result"))?;
        if let Outcome::Released { count, .. } = outcome {
            entry.set("results", count);
        }
        self.deliver(outcome, (terms, &parameters, &report), output)
    }

    fn agree(&self, terms: &Terms, link: &Link, ours: usize) -> Result<Parameters, Failure> {
        let theirs = terms.peers_keys(&link.agreed.peer_details)?;
        let (receivers, senders) = match self.role {
            Role::Receiver => (ours, theirs),
            Role::Sender => (theirs, ours),
        };
        let wanted = Wanted::default().at_least(self.options.min_count).both();
        let wanted = self.largest.map_or(wanted, |largest| wanted.sum(largest));
        Ok(Parameters::new(wanted, receivers, senders)?)
    }

    fn tell(&self, terms: &Terms, parameters: &Parameters, output: Output) {
        let [ours, theirs] = match self.role {
            Role::Receiver => [parameters.receiver_items(), parameters.sender_items()],
            Role::Sender => [parameters.sender_items(), parameters.receiver_items()],
        };
        let normalised = terms.normalised().join(";");
        output.note(&format!(
            "agreed: semi-honest security, assumption lpn, keys normalised by {normalised}; {} here, {theirs} at the peer",
            counted(ours, "key")
        ));
        let sum = match (self.function, self.role) {
            (Function::Sum, Role::Sender) => ", and the sum of this side's numbers of these keys",
            (Function::Sum, Role::Receiver) => ", and the sum of the peer's numbers of these keys",
            _ => "",
        };
        let least = match self.options.min_count {
            0 => String::new(),
            least => format!("; nothing if there are fewer than {least}"),
        };
        output.note(&format!(
            "privacy: both sides learn how many keys are common{sum}{least}; neither learns which; each also learns the other's \
             number of keys; this holds only if both sides follow the protocol (semi-honest)"
        ));
        if let Some(policy) = terms.policy() {
            output.note(&format!("policy of both sides: {}", policy.words()));
        }
    }

    fn report(
        &self,
        terms: &Terms,
        parameters: &Parameters,
        threads: usize,
        costs: [Option<&Cost>; 2],
    ) -> Report {
        let base = terms.base().info();
        let about = [
            format!("psi/{}", self.function),
            method::params_over(Some(&PROTOCOL), base),
            method::security_over(Some(&PROTOCOL), base, foxtrot_ot::base::Adversary::SemiHonest),
        ];
        Report::of_parties(about, (parameters.receiver_items(), threads), costs)
    }

    fn json(&self, terms: &Terms, parameters: &Parameters) -> Map<String, Value> {
        let object = json!({
            "function": self.function.name(),
            "policy": terms.policy().map(foxtrot::policy::Policy::id),
            "assumption": Assumption::Lpn.name(),
            "adversary": "semi-honest",
            "normalize": terms.normalised().join(";"),
            "keys_receiver": parameters.receiver_items(),
            "keys_sender": parameters.sender_items(),
            "min_count": self.options.min_count,
            "largest": self.largest,
        });
        match object {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }

    /// Prints the count, and the sum behind it; `withheld` if there are too few.
    fn deliver(
        &self,
        outcome: Outcome,
        (terms, parameters, report): (&Terms, &Parameters, &Report),
        output: Output,
    ) -> Result<(), Failure> {
        let mut stdout = io::stdout().lock();
        let (text, count, sum) = match outcome {
            Outcome::Withheld => ("withheld".to_owned(), None, None),
            Outcome::Released { count, sum: None } => (count.to_string(), Some(count), None),
            Outcome::Released { count, sum: Some(sum) } => {
                (format!("{count} {sum}"), Some(count), Some(sum))
            }
        };
        if self.options.common.json {
            let mut object = report.json();
            object.extend(self.json(terms, parameters));
            let withheld = outcome == Outcome::Withheld;
            for (key, value) in
                [("withheld", withheld.into()), ("count", count.into()), ("sum", sum.into())]
            {
                object.insert(key.into(), value);
            }
            writeln!(stdout, "{}", Value::Object(object)).map_err(|e| Failure::stdout(&e))?;
        } else {
            writeln!(stdout, "{text}").map_err(|e| Failure::stdout(&e))?;
        }
        let figures = report.figures();
        output.note(&match count {
            Some(count) => {
                let count = usize::try_from(count).unwrap_or(usize::MAX);
                format!("found {} ({figures})", counted(count, "key in common"))
            }
            None => format!("fewer than {} keys in common ({figures})", self.options.min_count),
        });
        Ok(())
    }
}
