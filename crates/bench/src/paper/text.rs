//! A table on a terminal.

use std::io::{self, Write};

use super::{
    fill::{Cell, Filled, Line, Ours},
    numbers::{count, number, ratio},
};

pub(super) fn print(filled: &Filled, out: &mut impl Write) -> io::Result<()> {
    let Filled { table, lines, columns, .. } = filled;
    writeln!(out, "\n{}, {}: {}", table.paper, table.name, table.title)?;
    writeln!(out, "  theirs: {}", table.theirs())?;
    writeln!(out, "  ours: on {}; {}", filled.processor, table.ours)?;
    let label = |line: &Line| match line.x {
        Some(x) => format!("{}, n = {}", line.label, count(x)),
        None => line.label.clone(),
    };
    let width = lines.iter().map(|line| label(line).chars().count()).max().unwrap_or(0).max(10);
    let (mut group, mut whys) = ("", Vec::new());
    write!(out, "  {:<width$}", "")?;
    for column in columns {
        write!(out, "  {:^36}", column.words())?;
    }
    write!(out, "\n  {:<width$}", "")?;
    for _ in columns {
        write!(out, "  {:>10} {:>16} {:>8}", "paper", "ours", "")?;
    }
    writeln!(out)?;
    for line in lines {
        if line.group != group {
            group = &line.group;
            writeln!(out, " {}", filled.heading(group))?;
        }
        write!(out, "  {:<width$}", label(line))?;
        for cell in &line.cells {
            let paper = cell.paper.map(number).or_else(|| cell.said.clone()).unwrap_or_default();
            let quotient = cell.ratio().map(ratio).unwrap_or_default();
            write!(out, "  {paper:>10} {:>16} {quotient:>8}", ours(cell))?;
        }
        if let Some(model) = line.model {
            write!(out, "  model, the later party {}", number(model))?;
        }
        if let Some(n) = line.n {
            write!(out, "  n = {}", count(n))?;
        }
        writeln!(out)?;
        if line.cells.iter().any(Cell::is_worse)
            && let Some(why) = &line.why
            && !whys.contains(&why)
        {
            whys.push(why);
        }
    }
    whys.iter().try_for_each(|why| writeln!(out, "  where we are worse: {why}"))
}

fn ours(cell: &Cell) -> String {
    match &cell.ours {
        Ours::Measured(stat) if stat.runs == 1 && !cell.figure.is_exact() => {
            format!("{}, one run", number(stat.value))
        }
        Ours::Measured(stat) => number(stat.value),
        Ours::Said(words) => words.clone(),
        Ours::Counted(value) => number(*value),
        Ours::Modelled(value) => format!("({})", number(*value)),
        Ours::None => String::new(),
        Ours::Absent(why) => why.chars().take(16).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::tables, *};

    #[test]
    fn a_table_names_the_machines_of_both_sides() {
        let mut named = 0;
        for table in tables::all().unwrap() {
            let theirs = table.machine.as_ref().map(|machine| format!("  theirs: on {machine}, "));
            let (lines, columns, elsewhere) = (Vec::new(), Vec::new(), Vec::new());
            let filled = Filled { table, lines, columns, elsewhere, processor: "ours".into() };
            let mut out = Vec::new();
            print(&filled, &mut out).unwrap();
            let text = String::from_utf8(out).unwrap();
            assert!(
                text.contains("\n  theirs: ") && text.contains("\n  ours: on ours; "),
                "{text}"
            );
            named += theirs.map_or(0, |theirs| usize::from(text.contains(&theirs)));
        }
        assert_eq!(named, 4);
    }
}
