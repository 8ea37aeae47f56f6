//! The report as one page: no script, nothing from elsewhere, in the colours that the reader's system prefers.

mod axis;
mod curves;
mod dots;

#[cfg(test)]
mod tests;

use super::{
    Report,
    figure::Figure,
    fill::{Cell, Filled, Line, Ours},
    numbers::{count, minutes, number, ratio},
    record,
};

const STYLE: &str = include_str!("html/style.css");

pub(super) fn page(report: &Report) -> String {
    let title = "Foxtrot beside the papers";
    let machine = &report.machine;
    let rows: String = machine
        .rows()
        .iter()
        .map(|(name, value)| format!("<dt>{name}</dt><dd>{}</dd>", escape(value)))
        .collect();
    let yardsticks: Vec<_> = report
        .yardsticks
        .iter()
        .map(|(name, value)| format!("{name} {}", number(*value)))
        .collect();
    let quick = if report.quick {
        "<p class=\"flag\">A quick run: fewer samples, and of triples fewer than the tables say.</p>"
    } else {
        ""
    };
    let warning = report
        .warning
        .as_ref()
        .map_or(String::new(), |warning| format!("<p class=\"flag\">{}</p>", escape(warning)));
    let links: String = report
        .tables
        .iter()
        .map(|it| {
            let (id, name) = (it.table.id, format!("{}, {}", it.table.paper, it.table.name));
            format!("<li><a href=\"#{id}\">{}</a></li>", escape(&name))
        })
        .collect();
    let (peers, papers): (Vec<_>, Vec<_>) =
        report.tables.iter().partition(|it| it.table.id.starts_with("peers-"));
    let sections =
        part("Beside other libraries", &peers) + &part("The papers’ tables and figures", &papers);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{title}</h1>\n\
         <p class=\"lead\">Every measured table and figure of the papers that Foxtrot implements, and what \
         other libraries come to, with our numbers beside them: on {}, {}, {}.</p>\n{quick}{warning}\
         <p><a class=\"save\" download=\"foxtrot-{}.csv\" href=\"data:text/csv;charset=utf-8,{}\">Save all numbers as CSV</a></p>\n\
         </header>\n<main>\n{}\n<nav aria-label=\"Tables\"><ul>{links}</ul></nav>\n{}\n{sections}\
         <section id=\"machine\"><h2>The machine</h2><dl>{rows}<dt>this run took</dt><dd>{}</dd><dt>yardsticks</dt><dd>{}</dd></dl></section>\n\
         </main>\n</body>\n</html>\n",
        escape(&machine.processor),
        machine.backend,
        machine.date,
        machine.date,
        in_url(&record::tables(&report.tables)),
        overview(report),
        READING,
        minutes(report.took),
        escape(&yardsticks.join(", ")),
    )
}

/// Sections under a heading of their own; nothing if there are none.
fn part(title: &str, tables: &[&Filled]) -> String {
    match tables {
        [] => String::new(),
        tables => {
            let sections: String = tables.iter().map(|it| section(it)).collect();
            format!("<h2 class=\"part\">{title}</h2>\n{sections}")
        }
    }
}

/// Text as a data URL has it: letters and digits stay, other bytes become their codes.
fn in_url(text: &str) -> String {
    let mut url = String::with_capacity(2 * text.len());
    for byte in text.bytes() {
        match byte {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'-' | b'.' | b'_' | b',' => {
                url.push(byte.into());
            }
            _ => url += &format!("%{byte:02X}"),
        }
    }
    url
}

/// The meaning of the marks.
const READING: &str = "<section id=\"reading\"><h2>How to read it</h2>\
    <p class=\"legend\"><span class=\"mark paper\"></span> the paper’s or the peer’s number \
    <span class=\"mark ours\"></span> ours, the median of all runs, with a bar from the least to the greatest; in numbers “theirs → ours (least to greatest)” \
    <span class=\"mark model\"></span> ours by the model, where measuring would take too long</p>\
    <p>Scales are logarithmic, so equal distances are equal factors. “× 3” is three times better than the \
    other number; below one we are <span class=\"worse\">worse ▼</span>, and the reason stands below the table. The other \
    numbers come from the papers’ machines and years: they say how far things have come, not which code is better. \
    Ratios within one table of ours are what to trust. \
    The sentence above a table says what was to be seen on the machine of our record, not on this one. Times of processors are CPU times; where a link is between the \
    parties they are those of the wall clock, and beside them stands what the model \
    max(CPU, bytes ⁄ rate) + rounds × round trip says, for the party that is done later.</p></section>";

fn overview(report: &Report) -> String {
    let headlines = report.tables.iter().flat_map(|it| {
        it.lines.iter().filter_map(move |line| {
            let what = line.headline.clone()?;
            let cell = line.cells.iter().find(|cell| cell.ratio().is_some())?;
            let name = format!("{}, {}", it.table.paper, it.table.name);
            Some((it.table.id, name, what, cell.ratio()?))
        })
    });
    let all: Vec<_> = headlines.collect();
    if all.is_empty() {
        return String::new();
    }
    format!(
        "<section id=\"overview\"><h2>How many times better than the paper or the peer</h2>{}</section>",
        dots::ratios(&all)
    )
}

/// A line by its group and label.
fn what(line: &Line) -> String {
    if line.group.is_empty() {
        line.label.clone()
    } else {
        format!("{}: {}", line.group, line.label)
    }
}

fn section(filled: &Filled) -> String {
    let table = &filled.table;
    let charts =
        if table.series.is_empty() { dots::charts(filled) } else { curves::charts(filled) };
    let worse: Vec<_> =
        filled.lines.iter().filter(|line| line.cells.iter().any(Cell::is_worse)).collect();
    let mut reasons: Vec<String> = Vec::new();
    for line in &worse {
        let reason = line.why.as_deref().unwrap_or("no reason is known");
        let reason = format!("<li><b>{}</b>: {}</li>", escape(&what(line)), escape(reason));
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    let reasons = if reasons.is_empty() {
        String::new()
    } else {
        format!(
            "<details class=\"why\"><summary>Where we are worse ({}), and why</summary><ul>{}</ul></details>",
            reasons.len(),
            reasons.concat()
        )
    };
    let machines = table.machine.as_ref().map_or(String::new(), |machine| {
        let (theirs, ours) = (escape(machine), escape(&filled.processor));
        format!("<p class=\"flag\">Two machines: theirs ran on {theirs}; ours on {ours}.</p>")
    });
    format!(
        "<section id=\"{}\"><h2><span class=\"paper-name\">{}, {}</span> {}</h2>\
         <p class=\"analysis\">{}</p>{machines}{charts}\
         <details class=\"numbers\"{}><summary>All numbers</summary>{}</details>{reasons}\
         <dl class=\"settings\"><dt>theirs</dt><dd>{}</dd><dt>ours</dt><dd>{}</dd></dl></section>\n",
        table.id,
        escape(&table.paper),
        escape(&table.name),
        escape(&table.title),
        escape(&table.analysis),
        if charts.is_empty() { " open" } else { "" },
        numbers(filled),
        escape(&table.theirs()),
        escape(&table.ours),
    )
}

/// Returns the columns of the page for a column: theirs, ours, and the ratio by which ours is
/// better.
fn parts(figure: Figure) -> &'static [&'static str] {
    match figure {
        Figure::Theirs => &["theirs"],
        _ if figure.has_ratio() => &["theirs", "ours", "ratio"],
        _ => &["theirs", "ours"],
    }
}

fn numbers(filled: &Filled) -> String {
    let with_model = filled.lines.iter().any(|line| line.model.is_some());
    let (mut head, mut kinds) = (String::new(), String::new());
    for column in &filled.columns {
        let parts = parts(column.figure);
        head += &format!(
            "<th colspan=\"{}\" scope=\"colgroup\">{}</th>",
            parts.len(),
            escape(&column.words())
        );
        kinds += &parts.iter().map(|it| format!("<th scope=\"col\">{it}</th>")).collect::<String>();
    }
    if with_model {
        head += "<th scope=\"colgroup\">the later party</th>";
        kinds += "<th scope=\"col\">model</th>";
    }
    let span = 1
        + filled.columns.iter().map(|column| parts(column.figure).len()).sum::<usize>()
        + usize::from(with_model);
    let (mut body, mut group) = (String::new(), "");
    for line in &filled.lines {
        if line.group != group {
            group = &line.group;
            body += &format!(
                "<tr class=\"group\"><th colspan=\"{span}\" scope=\"rowgroup\">{}</th></tr>",
                escape(&filled.heading(group))
            );
        }
        body += &row(filled, line, with_model);
    }
    format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Numbers of {}, {}\"><table><thead>\
         <tr><th rowspan=\"2\" scope=\"col\">{}</th>{head}</tr><tr>{kinds}</tr></thead><tbody>{body}</tbody></table></div>",
        attribute(&filled.table.paper),
        attribute(&filled.table.name),
        if filled.table.series.is_empty() { "row" } else { "curve" },
    )
}

fn row(filled: &Filled, line: &Line, with_model: bool) -> String {
    let mut label = escape(&line.label);
    if let Some(x) = line.x {
        label += &format!(", n = {}", count(x));
    }
    if let Some(n) = line.n {
        label += &format!(" <small>(n = {})</small>", count(n));
    }
    let columns = filled.columns.iter().zip(&line.cells);
    let cells: String = columns.map(|(head, it)| cell(it, parts(head.figure).len())).collect();
    let model = match line.model {
        Some(model) => format!("<td>{}</td>", number(model)),
        None if with_model => "<td></td>".into(),
        None => String::new(),
    };
    format!("<tr><th scope=\"row\">{label}</th>{cells}{model}</tr>")
}

fn cell(cell: &Cell, parts: usize) -> String {
    let said = cell.said.as_deref().map(escape);
    let paper = match (cell.paper.map(number), said) {
        (Some(number), Some(said)) => format!("{number} <small>{said}</small>"),
        (number, said) => number.or(said).unwrap_or_default(),
    };
    let quotient = match cell.ratio() {
        Some(x) if cell.is_worse() => format!("<span class=\"worse\">{} ▼</span>", ratio(x)),
        Some(x) => ratio(x),
        None => String::new(),
    };
    let words = if cell.figure.is_words() || matches!(cell.ours, Ours::Said(_)) {
        " class=\"words\""
    } else {
        ""
    };
    let all = [
        format!("<td{words}>{paper}</td>"),
        format!("<td{words}>{}</td>", ours(cell)),
        format!("<td class=\"ratio\">{quotient}</td>"),
    ];
    all[..parts].concat()
}

fn ours(cell: &Cell) -> String {
    match &cell.ours {
        Ours::Measured(stat) if stat.runs == 1 && !cell.figure.is_exact() => {
            format!("{} <small>one run</small>", number(stat.value))
        }
        Ours::Measured(stat) if stat.low == stat.high => number(stat.value),
        Ours::Measured(stat) => format!(
            "{} <small>{}–{}</small>",
            number(stat.value),
            number(stat.low),
            number(stat.high)
        ),
        Ours::Counted(value) => number(*value),
        Ours::Said(words) => escape(words),
        Ours::Modelled(value) => format!("<i>{}</i> <small>model</small>", number(*value)),
        Ours::None => String::new(),
        Ours::Absent(why) => format!("<small>{}</small>", escape(why)),
    }
}

/// Text that is no markup; what stands between backquotes is code.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut code = false;
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '`' => {
                escaped += if code { "</code>" } else { "<code>" };
                code = !code;
            }
            c => escaped.push(c),
        }
    }
    if code {
        escaped += "</code>";
    }
    escaped
}

/// Escapes text for an attribute.
fn attribute(text: &str) -> String {
    escape(&text.replace('`', ""))
}
