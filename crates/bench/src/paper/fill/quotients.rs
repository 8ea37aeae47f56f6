//! Numbers over other numbers of ours, or of theirs.

use super::{
    super::{
        figure::{Figure, Stat},
        tables::Table,
    },
    Cell, Filled, Line, Ours,
};

/// Computes the ratio by which a row is better than the row of its group that it names, by the same
/// column.
pub(super) fn quotients(table: &Table, lines: &mut [Line]) {
    let place = |key: &String| table.columns.iter().position(|column| column.key == *key);
    for (to, column) in table.columns.iter().enumerate() {
        let Some(of) = column.quotient.as_ref().and_then(place) else { continue };
        for (i, row) in table.rows.iter().enumerate() {
            let is_baseline = |line: &&Line| {
                line.group == row.group && Some(&line.label) == row.baseline.as_ref()
            };
            let Some(baseline) = lines.iter().find(is_baseline) else { continue };
            let baseline = baseline.cells[of].ours.value();
            lines[i].cells[to].ours = over(baseline, &lines[i].cells[of].ours);
        }
    }
}

/// A number of ours over another.
fn over(baseline: Option<f64>, ours: &Ours) -> Ours {
    match (ours, baseline) {
        (Ours::Measured(stat), Some(base)) => Ours::Measured(Stat {
            value: base / stat.value,
            low: base / stat.high,
            high: base / stat.low,
            ..*stat
        }),
        (Ours::Measured(_), None) => Ours::Absent("no baseline".into()),
        (other, _) => other.clone(),
    }
}

/// All rows of another table's groups, each divided into a row of it.
pub(super) fn speedups(table: &Table, of: &Filled) -> Vec<Line> {
    let Some(speedup) = &table.speedup else { return Vec::new() };
    let column =
        of.table.columns.iter().position(|column| column.key == speedup.column).unwrap_or(0);
    let is_baseline =
        |line: &&Line| line.group == speedup.baseline_group && line.label == speedup.baseline;
    let baseline = of.lines.iter().find(is_baseline).map(|line| line.cells[column].clone());
    let quotient = |base: Option<f64>, it: Option<f64>| Some(base? / it?);
    let line = |line: &Line| {
        let cell = &line.cells[column];
        let paper = quotient(baseline.as_ref().and_then(|it| it.paper), cell.paper);
        let ours = over(baseline.as_ref().and_then(|it| it.ours.value()), &cell.ours);
        Line {
            group: line.group.clone(),
            label: line.label.clone(),
            x: None,
            // A greater speed-up is better.
            cells: vec![Cell { paper, said: None, ours, figure: Figure::SpeedUp }],
            headline: None,
            why: None,
            n: None,
            model: None,
            job: None,
        }
    };
    let in_groups = |it: &&Line| speedup.groups.contains(&it.group);
    of.lines.iter().filter(in_groups).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::{super::Head, *};
    use crate::paper::tables;

    /// The table with a number of ours in the place of each number of the paper: so many times that.
    fn filled(id: &str, times: f64) -> Filled {
        let table =
            tables::select(&[id.into()]).unwrap().into_iter().find(|it| it.id == id).unwrap();
        let line = |row: &tables::Row| Line {
            group: row.group.clone(),
            label: row.label.clone(),
            x: None,
            cells: table
                .columns
                .iter()
                .map(|column| {
                    let paper = row.paper.get(&column.key).copied();
                    let value = paper.filter(|_| column.quotient.is_none()).map(|x| x * times);
                    let stat = |value| Stat { value, low: value / 2.0, high: value * 2.0, runs: 3 };
                    let ours = value.map_or(Ours::None, |value| Ours::Measured(stat(value)));
                    Cell { paper, said: None, ours, figure: column.figure }
                })
                .collect(),
            headline: None,
            why: None,
            n: None,
            model: None,
            job: None,
        };
        let lines: Vec<_> = table.rows.iter().map(line).collect();
        let columns = table.columns.iter().map(Head::of).collect();
        Filled::new(table, lines, columns, "AMD EPYC".into())
    }

    #[test]
    fn an_improvement_is_over_the_row_of_the_same_bits_and_link() {
        let Filled { table, mut lines, .. } = filled("triples-2", 10.0);
        quotients(&table, &mut lines);
        let wan_64 = lines.iter().find(|line| {
            line.group.starts_with("WAN") && line.label == "ℓ = 64, RLWE, the paper's protocol"
        });
        let cells = &wan_64.unwrap().cells;
        // As in the paper, whose numbers these are: 140.48 / 39.34.
        let Ours::Measured(stat) = cells[3].ours else { panic!("nothing is measured") };
        assert_eq!(cells[3].paper, Some(3.57));
        assert!(
            (stat.value - 3.57).abs() < 5e-3 && stat.low < stat.value && stat.high > stat.value
        );
        // The baseline has none over itself.
        assert!(lines.iter().all(|line| {
            line.label.ends_with(", OT") == matches!(line.cells[3].ours, Ours::None)
        }));
    }

    #[test]
    fn a_figure_of_speed_ups_has_the_rows_of_its_groups_over_the_baseline() {
        let of = filled("roted-4", 0.5);
        let figure = tables::select(&["roted-fig8".into()]).unwrap().remove(1);
        let lines = speedups(&figure, &of);
        assert_eq!(lines.len(), 7);
        // The paper says 6.6.
        let best = lines.iter().find(|line| line.label == "RLWE ROT (AVX2)").unwrap();
        let [paper, ours] = [best.cells[0].paper, best.cells[0].ours.value()].map(Option::unwrap);
        assert!((paper - 932.0 / 142.0).abs() < 1e-9 && (ours - paper).abs() < 1e-9);
    }
}
