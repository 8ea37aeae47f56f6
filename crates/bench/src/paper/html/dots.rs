//! Numbers as dots on a line, theirs and ours: made of boxes, so that text stays as large as elsewhere on any screen.

use super::{
    super::{
        figure::Figure,
        fill::{Cell, Filled, Head, Line, Ours},
        numbers::{count, number, ratio},
    },
    attribute,
    axis::{Axis, tick},
    escape,
};

/// More ticks than these run into each other on a telephone.
const TICKS: usize = 6;

/// A chart for each column that has numbers of both.
pub(super) fn charts(filled: &Filled) -> String {
    let all: String =
        (0..filled.columns.len()).filter_map(|column| chart(filled, column)).collect();
    if all.is_empty() { all } else { format!("<div class=\"charts\">{all}</div>") }
}

fn chart(filled: &Filled, column: usize) -> Option<String> {
    let Head { figure: kind, .. } = &filled.columns[column];
    let cells = || filled.lines.iter().map(|line| &line.cells[column]);
    // A rate is a time upside down; counts of different things have no common axis.
    let drawn = filled.table.speedup.is_some()
        || !matches!(kind, Figure::PerSecond | Figure::Counted)
            && cells().any(|cell| cell.ratio().is_some());
    if !drawn {
        return None;
    }
    let axis = Axis::over(cells().flat_map(|cell| {
        let span = match &cell.ours {
            Ours::Measured(stat) => [Some(stat.low), Some(stat.high)],
            other => [other.value(), None],
        };
        span.into_iter().flatten().chain(cell.paper).collect::<Vec<_>>()
    }))?;
    let (mut rows, mut group) = (String::new(), "");
    for line in &filled.lines {
        let cell = &line.cells[column];
        if cell.paper.is_none() && cell.ours.value().is_none() {
            continue;
        }
        if line.group != group {
            group = &line.group;
            rows += &format!("<p class=\"group\">{}</p>", escape(&filled.heading(group)));
        }
        rows += &row(line, cell, axis);
    }
    let better = if kind.more_is_better() { "more is better" } else { "less is better" };
    let caption = format!("{}: {better}", filled.columns[column].words());
    Some(format!(
        "<figure class=\"dots\" aria-label=\"{}\"><figcaption>{}</figcaption>{}{rows}</figure>",
        attribute(&caption),
        escape(&caption),
        scale(axis)
    ))
}

fn row(line: &Line, cell: &Cell, axis: Axis) -> String {
    let mut marks = grid(axis);
    if let (Some(paper), Some(ours)) = (cell.paper, cell.ours.value()) {
        let class = if cell.is_worse() { "link bad" } else { "link" };
        marks += &bar(class, axis, paper.min(ours), paper.max(ours));
    }
    if let Some(paper) = cell.paper {
        marks += &dot("paper", axis.place(paper));
    }
    match &cell.ours {
        Ours::Measured(stat) => {
            marks += &bar("whisker", axis, stat.low, stat.high);
            marks += &dot("ours", axis.place(stat.value));
        }
        Ours::Counted(value) => marks += &dot("ours", axis.place(*value)),
        Ours::Modelled(value) => marks += &dot("model", axis.place(*value)),
        Ours::Said(_) | Ours::None | Ours::Absent(_) => {}
    }
    let quotient = match (cell.ratio(), &cell.ours) {
        (Some(x), _) if cell.is_worse() => format!("<span class=\"worse\">{} ▼</span>", ratio(x)),
        (Some(x), _) => ratio(x),
        (None, Ours::Absent(why)) => format!("<small>{}</small>", escape(why)),
        _ => String::new(),
    };
    let made = line.n.map(|n| format!(" <small>n = {}</small>", count(n))).unwrap_or_default();
    format!(
        "<div class=\"row\"><span class=\"label\">{}{made} <small class=\"values\">{}</small></span>\
         <span class=\"track\">{marks}</span><span class=\"quotient\">{quotient}</span></div>",
        escape(&line.label),
        values(cell),
    )
}

/// The numbers of the marks, so that nobody needs a pointer to read them.
fn values(cell: &Cell) -> String {
    let ours = cell.ours.value().map(|value| match &cell.ours {
        Ours::Measured(stat) if stat.runs == 1 && !cell.figure.is_exact() => {
            format!("{} (one run)", number(value))
        }
        Ours::Measured(stat) if stat.low != stat.high => {
            format!("{} ({} to {})", number(value), number(stat.low), number(stat.high))
        }
        Ours::Modelled(_) => format!("{} (model)", number(value)),
        _ => number(value),
    });
    match (cell.paper.map(number), ours) {
        (Some(paper), Some(ours)) => format!("{paper} → {ours}"),
        (Some(paper), None) => format!("theirs {paper}"),
        (None, Some(ours)) => format!("ours {ours}"),
        (None, None) => String::new(),
    }
}

/// Ratios around one, with where they come from.
pub(super) fn ratios(all: &[(&str, String, String, f64)]) -> String {
    let values = all.iter().map(|(.., x)| *x).chain([1.0]);
    let Some(axis) = Axis::over(values) else { return String::new() };
    let rows: String = all
        .iter()
        .map(|(id, name, what, x)| {
            let class = if *x < 0.95 { "link bad" } else { "link" };
            let marks = format!(
                "{}<i class=\"one\" style=\"left:{}\"></i>{}{}",
                grid(axis),
                percent(axis.place(1.0)),
                bar(class, axis, x.min(1.0), x.max(1.0)),
                dot("ours", axis.place(*x))
            );
            let worse = if *x < 0.95 { " worse" } else { "" };
            format!(
                "<div class=\"row\"><span class=\"label\"><a href=\"#{id}\">{}</a> {}</span>\
                 <span class=\"track\">{marks}</span><span class=\"quotient{worse}\">{}</span></div>",
                escape(name),
                escape(what),
                ratio(*x)
            )
        })
        .collect();
    format!(
        "<figure class=\"dots\" aria-label=\"Ratios\"><figcaption>theirs ⁄ ours; right of the thick line we are \
         better</figcaption>{}{rows}</figure>",
        scale(axis)
    )
}

fn scale(axis: Axis) -> String {
    let ticks: String = axis
        .ticks(TICKS)
        .into_iter()
        .map(|x| format!("<span style=\"left:{}\">{}</span>", percent(axis.place(x)), tick(x)))
        .collect();
    format!(
        "<div class=\"row scale\" aria-hidden=\"true\"><span class=\"label\"></span><span class=\"track\">{ticks}</span><span class=\"quotient\"></span></div>"
    )
}

fn grid(axis: Axis) -> String {
    axis.ticks(TICKS)
        .into_iter()
        .map(|x| format!("<i style=\"left:{}\"></i>", percent(axis.place(x))))
        .collect()
}

fn bar(class: &str, axis: Axis, low: f64, high: f64) -> String {
    let (low, high) = (axis.place(low), axis.place(high));
    format!(
        "<b class=\"{class}\" style=\"left:{};width:{}\"></b>",
        percent(low),
        percent(high - low)
    )
}

fn dot(class: &str, place: f64) -> String {
    format!("<b class=\"mark {class}\" style=\"left:{}\"></b>", percent(place))
}

fn percent(x: f64) -> String {
    format!("{:.1}%", 100.0 * x)
}
