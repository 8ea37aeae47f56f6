//! Tables with our numbers in them.

mod quotients;

use std::rc::Rc;

use super::{
    figure::{Figure, Stat, break_even, line_through},
    measurement::{Job, Measurement},
    model,
    run::{Outcome, Runner},
    tables::{Column, Row, Series, Table, at_x},
};
use crate::{base_named, over::Over};
use quotients::{quotients, speedups};

/// The suffix of names of groups and columns whose machine is not ours.
pub(super) const ELSEWHERE: &str = "; ours on another processor";

/// A table, or a figure.
pub(super) struct Filled {
    pub(super) table: Table,
    pub(super) lines: Vec<Line>,
    pub(super) columns: Vec<Head>,
    /// Groups that are named after a processor that is not this one, while ours in them are of this.
    pub(super) elsewhere: Vec<String>,
    /// This machine's.
    pub(super) processor: String,
}

impl Filled {
    fn new(table: Table, lines: Vec<Line>, mut columns: Vec<Head>, processor: String) -> Self {
        let foreign = |name: &str| {
            let named = table.processors.iter().find(|it| name.contains(it.as_str()));
            named.is_some_and(|named| !processor.contains(named.as_str()))
        };
        for (i, head) in columns.iter_mut().enumerate() {
            let measured = |line: &Line| line.cells[i].ours.value().is_some();
            if foreign(&head.title) && lines.iter().any(measured) {
                head.title += ELSEWHERE;
            }
        }
        let measured = |line: &&Line| line.cells.iter().any(|cell| cell.ours.value().is_some());
        let groups = lines.iter().filter(measured).map(|line| line.group.clone());
        let elsewhere = groups.filter(|group| foreign(group)).collect();
        Self { table, lines, columns, elsewhere, processor }
    }

    /// The name of a group, and whose numbers ours in it are.
    pub(super) fn heading(&self, group: &str) -> String {
        if self.elsewhere.iter().any(|it| it == group) {
            format!("{group}{ELSEWHERE}, {}", self.processor)
        } else {
            group.into()
        }
    }
}

/// The head of a column.
#[derive(Clone)]
pub(super) struct Head {
    pub(super) title: String,
    pub(super) unit: String,
    pub(super) figure: Figure,
}

impl Head {
    fn of(column: &Column) -> Self {
        let Column { title, unit, figure, .. } = column;
        Self { title: title.clone(), unit: unit.clone(), figure: *figure }
    }

    /// Returns the title with the unit, if there is one.
    pub(super) fn words(&self) -> String {
        let Self { title, unit, .. } = self;
        if unit.is_empty() { title.clone() } else { format!("{title}, {unit}") }
    }
}

/// A row of it, or a point of a curve.
pub(super) struct Line {
    pub(super) group: String,
    pub(super) label: String,
    pub(super) x: Option<usize>,
    /// One for each column.
    pub(super) cells: Vec<Cell>,
    /// A few words for the row, if it stands for the table.
    pub(super) headline: Option<String>,
    /// The reason why we are worse, if we are.
    pub(super) why: Option<String>,
    /// The number that was made, if not as many as the table says.
    pub(super) n: Option<usize>,
    /// The whole of what was measured, or its last part, by the model.
    pub(super) model: Option<f64>,
    pub(super) job: Option<Job>,
}

/// The paper's number and ours.
#[derive(Clone)]
pub(super) struct Cell {
    pub(super) paper: Option<f64>,
    /// The paper's words.
    pub(super) said: Option<String>,
    pub(super) ours: Ours,
    pub(super) figure: Figure,
}

/// Our number.
#[derive(Clone)]
pub(super) enum Ours {
    Measured(Stat),
    Counted(f64),
    /// Words.
    Said(String),
    /// A value by the model, where measuring would take too long.
    Modelled(f64),
    /// No value is to be expected.
    None,
    /// No value, for the given reason.
    Absent(String),
}

impl Ours {
    pub(super) fn value(&self) -> Option<f64> {
        match self {
            Self::Measured(stat) => Some(stat.value),
            Self::Counted(value) | Self::Modelled(value) => Some(*value),
            Self::Said(_) | Self::None | Self::Absent(_) => None,
        }
    }
}

impl Cell {
    /// Returns the ratio by which ours is better; below one it is worse.
    pub(super) fn ratio(&self) -> Option<f64> {
        let (paper, ours) = (self.paper?, self.ours.value()?);
        if !self.figure.has_ratio() || paper <= 0.0 || ours <= 0.0 {
            return None;
        }
        Some(if self.figure.more_is_better() { ours / paper } else { paper / ours })
    }

    /// Beyond what two runs differ by: 5 %, but nothing where there is no noise.
    pub(super) fn is_worse(&self) -> bool {
        let least = if self.figure.is_exact() { 1.0 } else { 0.95 };
        self.ratio().is_some_and(|ratio| ratio < least)
    }
}

/// Measures all that the table needs. `earlier` are those that it may be computed from.
pub(super) fn fill(table: Table, earlier: &[Filled], runner: &mut Runner) -> Filled {
    let mut columns: Vec<_> = table.columns.iter().map(Head::of).collect();
    let mut lines = Vec::new();
    for row in &table.rows {
        lines.push(of_row(&table, row, runner));
    }
    quotients(&table, &mut lines);
    for series in &table.series {
        lines.extend(of_series(&table, series, runner));
    }
    if let Some(speedup) = &table.speedup {
        let (title, unit, figure) = ("speed-up".into(), "×".into(), Figure::SpeedUp);
        columns = vec![Head { title, unit, figure }];
        let of = earlier.iter().find(|it| it.table.id == speedup.of);
        lines = of.map(|of| speedups(&table, of)).unwrap_or_default();
    }
    Filled::new(table, lines, columns, runner.processor().to_owned())
}

fn of_row(table: &Table, row: &Row, runner: &mut Runner) -> Line {
    let mut line = Line {
        group: row.group.clone(),
        label: row.label.clone(),
        x: None,
        cells: Vec::new(),
        headline: row.headline.clone(),
        why: row.why.clone(),
        n: None,
        model: None,
        job: None,
    };
    let least = table.columns.iter().filter_map(|column| column.threads).min();
    for column in &table.columns {
        let paper = row.paper.get(&column.key).copied();
        let said = row.said.get(&column.key).cloned();
        let figure = row.figure.unwrap_or(column.figure);
        let ours = match (unmeasured(row, column, figure), job(row, column, least, runner)) {
            (Some(ours), _) => ours,
            (None, None) => Ours::None,
            (None, Some(Err(why))) => Ours::Absent(why),
            (None, Some(Ok(job))) => {
                let ours = of_job(&job, figure, row, &table.xs, runner);
                // A break-even is of points of many sizes.
                let is_less = row.n != Some(job.n) && row.against.is_none();
                line.n = is_less.then_some(job.n);
                // The first column stands for the row.
                if line.job.is_none() {
                    line.model = model_of(&job, figure, runner);
                    line.job = Some(job);
                }
                ours
            }
        };
        line.cells.push(Cell { paper, said, ours, figure });
    }
    line
}

/// Returns the entries that need no measurement.
fn unmeasured(row: &Row, column: &Column, figure: Figure) -> Option<Ours> {
    if let Some(words) = row.ours.get(&column.key) {
        return Some(Ours::Said(words.clone()));
    }
    if let Some(count) = row.counted.get(&column.key) {
        return Some(Ours::Counted(*count));
    }
    if figure.is_words() {
        let base = row.base_ot().and_then(|name| base_named(name).ok());
        let words = base.and_then(|base| figure.words(base.info()));
        return Some(words.map_or(Ours::None, Ours::Said));
    }
    (figure == Figure::Theirs || column.quotient.is_some()).then_some(Ours::None)
}

/// Returns the measurement for this column of the row; or a reason why there is none, if the machine is not enough
/// for it. `least` are the fewest threads that the paper has.
fn job(
    row: &Row,
    column: &Column,
    least: Option<usize>,
    runner: &Runner,
) -> Option<Result<Job, String>> {
    let bench = row.bench.clone()?;
    // Beside what a peer tells; where no number of theirs is in the row, all of ours are.
    let beside = row.paper.is_empty() || row.paper.contains_key(&column.key);
    if !beside && row.against.is_none() {
        return None;
    }
    let threads = match column.threads {
        Some(threads) => runner.threads(threads, column.threads == least),
        None => Some(1),
    };
    let n = runner.scaled(&bench, row.n.unwrap_or(1), row.over.0);
    let (backend, base) = (row.backend.clone(), row.base.clone());
    let job = |threads| Job { bench, n, over: row.over.0, threads, backend, base };
    Some(threads.map(job).ok_or_else(|| "needs more cores".into()))
}

/// `xs` are where points of a line are.
fn of_job(job: &Job, figure: Figure, row: &Row, xs: &[usize], runner: &mut Runner) -> Ours {
    let measurement = match runner.outcome(job) {
        Outcome::Absent(why) => return Ours::Absent(why),
        Outcome::Measured(measurement) => measurement,
    };
    let Some(against) = &row.against else {
        let stat = figure.of(&measurement);
        return stat.map_or(Ours::Absent("the machine does not tell".into()), Ours::Measured);
    };
    let lines = [&job.bench, against].map(|bench| {
        let points = points(&Job { bench: bench.clone(), ..job.clone() }, xs, runner);
        (points.first().map_or(1, |it| it.least), line_through(figure, &points))
    });
    match lines {
        [(least, Some(ours)), (other_least, Some(other))] => {
            Ours::Counted(break_even((ours, least), (other, other_least)))
        }
        [(_, None), _] => Ours::Absent(format!("{} has no two points", job.bench)),
        _ => Ours::Absent(format!("{against} has no two points")),
    }
}

/// Measurements of the job at as many sizes as it may have.
fn points(job: &Job, xs: &[usize], runner: &mut Runner) -> Vec<Rc<Measurement>> {
    let outcomes = runner
        .points(&job.bench, xs, job.over)
        .into_iter()
        .map(|n| runner.outcome(&Job { n, ..job.clone() }));
    outcomes.filter_map(Outcome::measured).collect()
}

fn model_of(job: &Job, figure: Figure, runner: &Runner) -> Option<f64> {
    let Over::Net(net) = job.over else { return None };
    let measurement = runner.known(job)?.measurement()?;
    model::of(figure, measurement, measurement.n, net.link(), &job.bench)
}

/// Points from the left to the right, as long as there is time; the others by the model from the last one.
fn of_series(table: &Table, series: &Series, runner: &mut Runner) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut last: Option<Measurement> = None;
    for &x in &table.xs {
        let mut line = Line {
            group: series.group.clone(),
            label: series.label.clone(),
            x: Some(x),
            cells: Vec::new(),
            headline: series.headline.clone().filter(|_| table.xs.last() == Some(&x)),
            why: series.why.clone(),
            n: None,
            model: None,
            job: None,
        };
        let mut ours = Ours::None;
        if let Some(bench) = &series.bench {
            let threads =
                if bench.starts_with("triples/") { runner.threads(2, true) } else { Some(1) };
            let (over, bench) = (series.over.0, bench.clone());
            let job =
                Job { bench, n: x, over, threads: threads.unwrap_or(1), backend: None, base: None };
            let expected = last.as_ref().map(|last| last.usual().mul_f64(x as f64 / last.n as f64));
            let in_time = expected.is_none_or(|expected| expected <= runner.budget())
                || !matches!(over, Over::Net(_));
            let outcome = match runner.known(&job) {
                Some(known) => Some(known.clone()),
                None if in_time => Some(runner.outcome(&job)),
                None => None,
            };
            ours = match (outcome, &last, over) {
                (Some(Outcome::Absent(why)), ..) => Ours::Absent(why),
                (Some(Outcome::Measured(measurement)), ..) => {
                    let stat = series.figure.of(&measurement);
                    last = Some((*measurement).clone());
                    stat.map_or(Ours::Absent("the machine does not tell".into()), Ours::Measured)
                }
                (None, Some(last), Over::Net(net)) => {
                    let value = model::of(series.figure, last, x, net.link(), &job.bench);
                    value.map_or(Ours::None, Ours::Modelled)
                }
                (None, ..) => Ours::None,
            };
            line.model = model_of(&job, series.figure, runner);
            line.job = Some(job);
        }
        let paper = at_x(&series.paper, x);
        line.cells.push(Cell { paper, said: None, ours, figure: series.figure });
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::tables;

    #[test]
    fn bytes_are_worse_by_any_difference_and_times_by_more_than_noise() {
        let cell = |figure, ours| Cell {
            paper: Some(100.0),
            said: None,
            ours: Ours::Counted(ours),
            figure,
        };
        assert!(cell(Figure::Bytes, 100.1).is_worse());
        assert!(cell(Figure::Counted, 101.0).is_worse());
        assert!(!cell(Figure::Bytes, 100.0).is_worse());
        assert!(!cell(Figure::CpuUs, 104.0).is_worse());
        assert!(cell(Figure::CpuUs, 106.0).is_worse());
        assert!(cell(Figure::PerSecond, 94.0).is_worse());
    }

    #[test]
    fn a_group_named_after_a_processor_is_marked_if_ours_ran_on_another() {
        let table = || tables::select(&["roted-3".into()]).unwrap().remove(0);
        let line = |group: &str, ours| Line {
            group: group.into(),
            label: String::new(),
            x: None,
            cells: vec![Cell { paper: Some(1.0), said: None, ours, figure: Figure::CpuUs }],
            headline: None,
            why: None,
            n: None,
            model: None,
            job: None,
        };
        let (intel, m1) = ("Intel i9-10980XE @ 3 GHz", "Apple M1 @ 3.2 GHz");
        let heads = |processor: &str| {
            let lines = vec![line(intel, Ours::Counted(1.0)), line(m1, Ours::None)];
            let filled = Filled::new(table(), lines, Vec::new(), processor.into());
            [intel, m1].map(|group| filled.heading(group))
        };
        let other = format!("{intel}; ours on another processor, AMD EPYC");
        assert_eq!(heads("AMD EPYC"), [other, m1.into()]);
        assert_eq!(heads("Intel(R) Core(TM) i9-10980XE CPU @ 3.00GHz"), [intel, m1]);
    }
}
