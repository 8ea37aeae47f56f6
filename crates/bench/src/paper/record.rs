//! A folder with all samples, the machine, and the tables as they came out.

use std::{fs, path::Path};

use foxtrot_cli::shared::Failure;

use super::{
    Report,
    fill::{Filled, Line, Ours},
    measurement::{COLUMNS, Job, csv},
    numbers::minutes,
    run::Runner,
};

pub(super) const TABLES: &str = "tables.csv";
const SAMPLES: &str = "samples.csv";
const YARDSTICKS: &str = "yardsticks.csv";

/// The head of [`TABLES`].
const HEAD: &str =
    "table,title,group,label,n,column,unit,paper,ours,low,high,runs,kind,ratio,model,headline";

/// Makes the folder, with a first file in it, so that one can see that it may be written to.
pub(super) fn prepare(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|e| Failure::writing(folder, &e))?;
    let path = folder.join(SAMPLES);
    let file = fs::OpenOptions::new().append(true).create(true).open(&path);
    file.map(drop).map_err(|e| Failure::writing(&path, &e))
}

/// `folder` is there: [`prepare`].
pub(super) fn write(folder: &Path, report: &Report, runner: &Runner) -> Result<(), Failure> {
    let put = |name: &str, text: String| {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|e| Failure::writing(&path, &e))
    };
    put(SAMPLES, samples(runner))?;
    let yardsticks = report.yardsticks.iter().map(|(name, value)| format!("{name},{value}\n"));
    put(YARDSTICKS, format!("yardstick,value\n{}", yardsticks.collect::<String>()))?;
    put(TABLES, tables(&report.tables))?;
    put("README.md", readme(report))
}

fn samples(runner: &Runner) -> String {
    let mut text = format!("benchmark,n,threads,backend,base,sample,{}\n", COLUMNS.join(","));
    for (job, measurement) in runner.measured() {
        let Job { bench, n, over, threads, backend, base } = job;
        let or_empty = |name: &Option<String>| name.clone().unwrap_or_default();
        let (backend, base) = (or_empty(backend), or_empty(base));
        for (number, sample) in measurement.samples.iter().enumerate() {
            let head = format!("{bench},{n},{threads},{backend},{base},{number}");
            text += &format!("{head},{}\n", csv(sample, *over));
        }
    }
    text
}

/// The numbers of all tables, a line each.
pub(super) fn tables(all: &[Filled]) -> String {
    let lines = |filled: &Filled| -> String {
        filled.lines.iter().map(|line| cells(filled, line)).collect()
    };
    format!("{HEAD}\n{}", all.iter().map(lines).collect::<String>())
}

fn cells(filled: &Filled, line: &Line) -> String {
    let title = format!("{}, {}", filled.table.paper, filled.table.name);
    let or_empty = |x: Option<f64>| x.map(|x| x.to_string()).unwrap_or_default();
    let n = line.x.or(line.job.as_ref().map(|job| job.n));
    let mut text = String::new();
    for (cell, head) in line.cells.iter().zip(&filled.columns) {
        let stat = match &cell.ours {
            Ours::Measured(stat) => Some(stat),
            _ => None,
        };
        let kind = match &cell.ours {
            Ours::Measured(_) => "measured",
            Ours::Counted(_) => "counted",
            Ours::Said(_) => "words",
            Ours::Modelled(_) => "model",
            Ours::None => "none",
            Ours::Absent(why) => why.as_str(),
        };
        let fields = [
            filled.table.id.into(),
            title.clone(),
            filled.heading(&line.group),
            line.label.clone(),
            n.map(|n| n.to_string()).unwrap_or_default(),
            head.title.clone(),
            head.unit.clone(),
            cell.paper.map(|x| x.to_string()).or_else(|| cell.said.clone()).unwrap_or_default(),
            match &cell.ours {
                Ours::Said(words) => words.clone(),
                ours => or_empty(ours.value()),
            },
            or_empty(stat.map(|stat| stat.low)),
            or_empty(stat.map(|stat| stat.high)),
            stat.map(|stat| stat.runs.to_string()).unwrap_or_default(),
            kind.into(),
            or_empty(cell.ratio()),
            or_empty(line.model),
            line.headline.clone().unwrap_or_default(),
        ];
        text += &fields.map(|field: String| quoted(&field)).join(",");
        text.push('\n');
    }
    text
}

/// A field of a CSV file.
pub(crate) fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.into()
    }
}

/// The fields of a line that [`quoted`] ones make up.
pub(super) fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut quoted) = (vec![String::new()], false);
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                fields.last_mut().into_iter().for_each(|field| field.push('"'));
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            _ => fields.last_mut().into_iter().for_each(|field| field.push(c)),
        }
    }
    fields
}

fn readme(report: &Report) -> String {
    let machine: String = report
        .machine
        .rows()
        .iter()
        .map(|(name, value)| format!("| {name} | {value} |\n"))
        .collect();
    let quick =
        if report.quick { "\nFewer runs and smaller N than usual: `--quick`.\n" } else { "" };
    let warning = report.warning.as_ref().map_or(String::new(), |it| format!("\n{it}.\n"));
    format!(
        "# Record of {}: the tables of the papers\n\n| | |\n|---|---|\n{machine}| duration | {} |\n{quick}{warning}\n\
         `{SAMPLES}` has every run: times in seconds, bytes of each party; `set_up` is what is done once, `begun` when the \
         rest began, `ended` when the party had its result, all since the start and only over a link; of kernels `slower` is one call; of processes `cpu` is all of their time and `peak_bytes` the most memory. `{TABLES}` has \
         the report's numbers with the least and the greatest of so many runs, and the time of the later party by the model, `{YARDSTICKS}` what this machine can do. \
         docs/methodology.md says how all of it is measured.\n",
        report.machine.date,
        minutes(report.took),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_fields_survive_writing_and_reading() {
        let all = ["", "plain", "a, b", "say \"so\", then", "ℓ = 8"];
        let line = all.map(quoted).join(",");
        assert_eq!(fields(&line), all);
    }
}
