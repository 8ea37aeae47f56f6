//! `foxtrot psi count` and `psi sum`: how many keys both sides have, and the sum of the sender's numbers beside them.

use std::{path::Path, slice, sync::Arc};

use foxtrot::{
    job::Role,
    psi::{
        Function, Outcome,
        agreement::PsiTerms,
        fields::{Duplicates, decimal},
        run::Found,
    },
};
use foxtrot_psi::circuit::MAX_ITEMS;
use serde_json::json;
use zeroize::Zeroizing;

use super::{
    OF_B, OUR_NORMALIZE,
    agreement::{Agreed, SetTerms},
    limits,
    party::{self, Lent},
    read, same_terms,
    serve::{Served, Server},
    shelf::{Shelf, Stock},
};
use crate::{
    args::{Column, Common, Counting, Counts, SetOptions, Summing, Trying},
    confirm::confirm,
    failure::Failure,
    local::both,
    method,
    output::{Output, print},
    policy::{self, Under},
    reach::Way,
    record::Recorder,
    report::{counted, object},
    table::Set,
    workers::Workers,
};

/// The way to a set, and the terms on which it is compared, but for its keys.
struct Reader {
    options: SetOptions,
    /// The column of our numbers, if this side has them.
    value: Option<Column>,
    duplicates: Duplicates,
    terms: SetTerms,
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
    let terms = SetTerms::new(role, method::circuit(common)?, [most.keys, most.least], policy);
    let (min_count, largest) = (options.min_count, summing.map(|it| it.largest));
    let reader = Reader {
        options: set_options.read_again(options.standing.reload),
        value: summing.and_then(|it| it.value.clone()),
        duplicates: summing.map_or(Duplicates::Refuse, |it| it.duplicates),
        terms: terms.with(|psi| PsiTerms { function, min_count, largest, ..psi }),
        output: Output::new(common),
    };
    let (output, normalize) = (reader.output, set_options.normalisers_in_full());
    let way = limits::keep(way, &agreeing.per_day, &reader.terms, output)?;
    if options.serve {
        return answer_all(options, reader, way, normalize);
    }
    let stock = reader.read(set)?;
    let recorder = Recorder::of_one(transport, agreeing.audit.as_deref());
    recorder.keep("psi", role, |entry| {
        entry.set(OUR_NORMALIZE, normalize);
        let (terms, workers) = (stock.terms.clone(), Workers::new(common.threads)?);
        let mut link = terms.meet(way.counting(terms.counted()), terms.hello()?, common, entry)?;
        let agreed = Agreed::on(&terms, &mut link)?;
        entry.agreed(agreed.json());
        agreed.tell(output, Some(role), &workers, false);
        confirm(agreeing.yes, output, common.timeout).map_err(|e| link.refuse(e))?;
        let (found, cost) = party::run(&agreed, link, Lent(Arc::new(stock)), &workers, output)?;
        let report = agreed.report(workers.threads(), cost.of(role));
        entry.ran(&report, &cost);
        if let Some(Outcome::Released { count, .. }) = found.outcome {
            entry.set("results", count);
        }
        deliver(&Served { agreed, found, report }, output, "")
    })
}

/// One set for all peers that come.
fn answer_all(
    options: &Counting,
    reader: Reader,
    way: Way<'_>,
    normalize: Vec<String>,
) -> Result<(), Failure> {
    let Counting { set, standing, sessions, agreeing, transport, common, .. } = options;
    let output = reader.output;
    let stock = move |path: &_| {
        let stock = reader.read(path)?;
        stock.terms.hello()?;
        Ok(stock)
    };
    let shelf = Shelf::open(vec![(None, set.clone())], standing.reload, stock)?;
    let recorder = Recorder::of_many(transport, agreeing.audit.as_deref());
    let workers = Workers::new(common.threads)?;
    let server = Server { shelf, workers, output, recorder, normalize };
    let first = server.first()?;
    let (per_day, policy) = (&agreeing.per_day, &first.terms.policy);
    let is_limited = per_day.max_runs_per_day.is_some() || per_day.max_keys_per_day.is_some();
    if !is_limited && policy.as_ref().is_none_or(|it| it.most_per_day().is_none()) {
        output.note(
            "warning: no limit per day: a peer that asks again with one key more learns from the difference whether that key \
             is here; --max-runs-per-day N --limits FILE bounds how often it asks",
        );
    }
    server.answer_all(way, sessions, common, |number, peer, served| {
        let theirs = served.agreed.psi.peers_keys();
        deliver(&served, output, &format!("session {number} with {peer}, {theirs} keys: "))
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
        let terms = SetTerms::new(role, method, [MAX_ITEMS, 0], None);
        let terms = terms.with(|psi| PsiTerms { function, min_count, largest, ..psi });
        let duplicates = trying.padding.duplicates;
        Reader { options, value, duplicates, terms, output }.read(path)
    };
    let ours = read(Role::Receiver, a, ours, None)?;
    let theirs = read(Role::Sender, b, theirs, trying.value.clone());
    let theirs = theirs.map_err(|e| e.rename_options(&OF_B))?;
    same_terms([a, b], [&ours.terms, &theirs.terms])?;
    let workers = Workers::new(common.threads)?;
    let senders = workers.for_another();
    let (sending, (agreed, found, receiving)) = both(
        common.timeout,
        [theirs.terms.hello()?, ours.terms.hello()?],
        |mut link| {
            let agreed = Agreed::on(&theirs.terms, &mut link)?;
            let set = Lent(Arc::new(theirs));
            Ok(party::run(&agreed, link, set, &senders, Output::in_background())?.1)
        },
        |mut link| {
            let agreed = Agreed::on(&ours.terms, &mut link)?;
            agreed.tell(output, Some(Role::Receiver), &workers, false);
            let (found, cost) = party::run(&agreed, link, Lent(Arc::new(ours)), &workers, output)?;
            Ok((agreed, found, cost))
        },
    )?;
    let report = agreed.report(workers.threads(), [Some(&sending), Some(&receiving)]);
    deliver(&Served { agreed, found, report }, output, "")
}

/// The number of each item from a column, and the name of the column.
fn numbers(
    set: &Set,
    column: &Column,
    largest: u64,
    duplicates: Duplicates,
) -> Result<(Zeroizing<Vec<u64>>, Option<String>), Failure> {
    let mut numbers = Zeroizing::new(vec![0; set.keys.len()]);
    let mut seen = vec![false; set.keys.len()];
    let names = set.fields(slice::from_ref(column), |row, fields| {
        let Some(item) = set.keys.key_of(row) else { return Ok(()) };
        let number = decimal(fields[0].trim().as_bytes()).filter(|it| *it <= largest);
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
        let (keys, function) = (set.keys.len(), self.terms.psi.function);
        if keys > MAX_ITEMS {
            return Err(Failure::usage(format!(
                "there are {keys} keys; {function} takes {MAX_ITEMS}"
            )));
        }
        let (numbers, value) = match (&self.value, self.terms.psi.largest) {
            (Some(value), Some(largest)) => numbers(&set, value, largest, self.duplicates)?,
            _ => Default::default(),
        };
        let terms = self.terms.of(slice::from_ref(&set));
        let terms = terms.with(|psi| PsiTerms { value, ..psi });
        Ok(Stock { numbers, ..Stock::of(vec![set], None, terms) })
    }
}

/// Prints the count, and the sum behind it; `withheld` if there are too few. What it says begins with the session, if there are
/// several.
fn deliver(served: &Served, output: Output, session: &str) -> Result<(), Failure> {
    let Served { agreed, found: Found { outcome, .. }, report } = served;
    let outcome = outcome.ok_or_else(|| Failure::run("there is no result"))?;
    let (text, count, sum) = match outcome {
        Outcome::Withheld => ("withheld".to_owned(), None, None),
        Outcome::Released { count, sum: None } => (count.to_string(), Some(count), None),
        Outcome::Released { count, sum: Some(sum) } => {
            (format!("{count} {sum}"), Some(count), Some(sum))
        }
    };
    if output.json {
        let withheld = outcome == Outcome::Withheld;
        let mut more = agreed.json();
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
            let least = agreed.psi.terms.min_count;
            format!("{session}fewer than {least} keys in common ({figures})")
        }
    });
    Ok(())
}
