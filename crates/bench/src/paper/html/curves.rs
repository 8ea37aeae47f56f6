//! Numbers by n as curves: a small chart for each group.

use super::{
    super::{
        fill::{Filled, Head, Line, Ours},
        numbers::{count, number},
    },
    attribute,
    axis::{Axis, tick},
    escape,
};

/// The size of a chart and the room for its axes, in units of the drawing.
const SIZE: (f64, f64) = (360.0, 250.0);
const LEFT: f64 = 44.0;
const BOTTOM: f64 = 34.0;
const TOP: f64 = 8.0;
const RIGHT: f64 = 12.0;

/// Marks differ in shape as well as in colour, and so many there are.
const KINDS: usize = 4;

pub(super) fn charts(filled: &Filled) -> String {
    let mut groups: Vec<&str> = Vec::new();
    let mut labels: Vec<&str> = Vec::new();
    for line in &filled.lines {
        if !groups.contains(&line.group.as_str()) {
            groups.push(&line.group);
        }
        if !labels.contains(&line.label.as_str()) {
            labels.push(&line.label);
        }
    }
    let values = filled.lines.iter().flat_map(|line| &line.cells).flat_map(|cell| {
        let ours = match &cell.ours {
            Ours::Measured(stat) => [Some(stat.low), Some(stat.high)],
            other => [other.value(), None],
        };
        ours.into_iter().flatten().chain(cell.paper).collect::<Vec<_>>()
    });
    let xs = filled.table.xs.iter().map(|x| *x as f64);
    let (Some(x), Some(y)) = (Axis::over(xs), Axis::over(values)) else { return String::new() };
    let legend: String = labels
        .iter()
        .enumerate()
        .map(|(kind, label)| {
            let shape = shape(kind, 8.0, 8.0, "ours");
            format!(
                "<span class=\"key k{kind}\"><svg viewBox=\"0 0 16 16\" width=\"16\" height=\"16\" aria-hidden=\"true\">{shape}</svg> {}</span>",
                escape(label)
            )
        })
        .collect();
    let Head { title, unit, .. } = &filled.columns[0];
    let charts: String = groups
        .iter()
        .map(|group| {
            let of_group = |line: &&Line| line.group == **group;
            let lines: Vec<_> = filled.lines.iter().filter(of_group).collect();
            chart(filled, group, &labels, &lines, (x, y))
        })
        .collect();
    format!(
        "<p class=\"keys\">{legend}<span class=\"key\">◇ theirs</span><span class=\"key\">hollow: by the model</span></p>\
         <p class=\"axes\">{}, {} by {}; both scales are logarithmic</p><div class=\"curves\">{charts}</div>",
        escape(title),
        escape(unit),
        escape(filled.table.x_title.as_deref().unwrap_or("n"))
    )
}

fn chart(
    filled: &Filled,
    group: &str,
    labels: &[&str],
    lines: &[&Line],
    (x, y): (Axis, Axis),
) -> String {
    let (width, height) = SIZE;
    let across = |n: f64| LEFT + x.place(n) * (width - LEFT - RIGHT);
    let up = |value: f64| height - BOTTOM - y.place(value) * (height - BOTTOM - TOP);
    let mut drawing = String::new();
    for value in y.ticks(7) {
        let at = up(value);
        drawing += &format!(
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            width - RIGHT,
            LEFT - 5.0,
            at + 4.0,
            tick(value)
        );
    }
    let every = filled.table.xs.len().div_ceil(5);
    for n in filled.table.xs.iter().step_by(every.max(1)) {
        drawing += &format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            across(*n as f64),
            height - BOTTOM + 17.0,
            count(*n)
        );
    }
    for (kind, label) in labels.iter().enumerate() {
        let (mut path, mut marks) = (String::new(), String::new());
        for line in lines.iter().filter(|line| line.label == *label) {
            let (Some(n), Some(cell)) = (line.x, line.cells.first()) else { continue };
            let at = across(n as f64);
            if let Some(paper) = cell.paper {
                let (x, y) = (at, up(paper));
                marks += &format!(
                    "<path class=\"theirs\" d=\"M{x:.1} {:.1}l5 5l-5 5l-5 -5z\"><title>theirs {}, n = {}</title></path>",
                    y - 5.0,
                    number(paper),
                    count(n)
                );
            }
            let Some(value) = cell.ours.value() else { continue };
            let y = up(value);
            path += &format!("{}{at:.1} {y:.1}", if path.is_empty() { "M" } else { "L" });
            if let Ours::Measured(stat) = &cell.ours {
                let (high, low) = (up(stat.high), up(stat.low));
                marks += &format!(
                    "<line class=\"error\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{high:.1}\" y2=\"{low:.1}\"/>"
                );
            }
            let class = if matches!(cell.ours, Ours::Modelled(_)) { "model" } else { "ours" };
            marks += &format!(
                "<g>{}<title>{}: {}, n = {}</title></g>",
                shape(kind, at, y, class),
                escape(label),
                number(value),
                count(n)
            );
        }
        drawing += &format!(
            "<g class=\"k{}\"><path class=\"curve\" d=\"{path}\"/>{marks}</g>",
            kind % KINDS
        );
    }
    let Head { title, unit, .. } = &filled.columns[0];
    let said =
        format!("{group}: {title} in {unit} by {}", filled.table.x_title.as_deref().unwrap_or("n"));
    format!(
        "<figure><figcaption>{} <small>{} by {}</small></figcaption><svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\">{drawing}</svg></figure>",
        escape(group),
        escape(unit),
        escape(filled.table.x_title.as_deref().unwrap_or("n")),
        attribute(&said)
    )
}

fn shape(kind: usize, x: f64, y: f64, class: &str) -> String {
    match kind % KINDS {
        0 => format!("<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>"),
        1 => format!(
            "<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"7\" height=\"7\"/>",
            x - 3.5,
            y - 3.5
        ),
        2 => format!("<path class=\"{class}\" d=\"M{x:.1} {:.1}l4.6 8h-9.2z\"/>", y - 5.0),
        _ => format!("<path class=\"{class}\" d=\"M{x:.1} {:.1}l4.6 -8h-9.2z\"/>", y + 5.0),
    }
}
