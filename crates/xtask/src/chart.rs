//! The README's chart, from the newest record that has other programs beside ours.

use std::{fmt::Write as _, fs};

use crate::tools::{self, Result};

const FILE: &str = "docs/images/performance.svg";
/// The widest ratio of the chart, either way.
const WIDEST: f64 = 16.0;

/// A row of the chart.
struct Row {
    what: String,
    peer: String,
    /// Their time by ours.
    ratio: f64,
}

/// Draws `docs/images/performance.svg`.
pub(crate) fn run() -> Result {
    let path = tools::root().join(FILE);
    fs::write(&path, drawn()?).or_else(|error| tools::failed(format_args!("{FILE}: {error}")))
}

fn drawn() -> Result<String> {
    let records =
        tools::stdout(&mut tools::command("git", "ls-files bench/record/*/side-by-side.csv"))?;
    let records = String::from_utf8_lossy(&records);
    let Some(newest) = records.lines().max() else { return tools::failed("no record has peers") };
    let rows: Vec<_> = tools::read(newest)?.lines().skip(1).filter_map(row).collect();
    Ok(svg(newest.split('/').nth(2).unwrap_or_default(), &rows))
}

/// The row of a line that is a headline with times.
fn row(line: &str) -> Option<Row> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            _ => fields.last_mut()?.push(c),
        }
    }
    let [_, what, unit, peer, theirs, ours, headline, ..] = fields.as_slice() else { return None };
    let ratio = theirs.parse::<f64>().ok()? / ours.parse::<f64>().ok()?;
    let is_time = !unit.starts_with("bytes") && headline == "yes";
    let what = what.replace('`', "").replace("intersection of ", "PSI, ");
    is_time.then(|| Row { what, peer: peer.clone(), ratio })
}

fn svg(record: &str, rows: &[Row]) -> String {
    let (left, middle, height) = (370.0, 500.0, 58 + 26 * rows.len());
    let mut svg = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 820 {height}" width="820" height="{height}" role="img" aria-label="CPU time of other libraries divided by Foxtrot's" font-family="system-ui, sans-serif" font-size="12">
  <style>
    .panel {{ fill: #f6f8fa; stroke: #d0d7de }} .text {{ fill: #24292f }} .faster {{ fill: #2da44e }} .slower {{ fill: #bc4c00 }} .line {{ stroke: #57606a }}
    @media (prefers-color-scheme: dark) {{ .panel {{ fill: #0d1117; stroke: #30363d }} .text {{ fill: #e6edf3 }} .faster {{ fill: #3fb950 }} .slower {{ fill: #db6d28 }} .line {{ stroke: #8b949e }} }}
  </style>
  <rect class="panel" x="1" y="1" width="818" height="{}" rx="10"/>
  <text class="text" x="16" y="24" font-weight="600">CPU time of the other library divided by Foxtrot's (right: Foxtrot is faster)</text>
"#,
        height - 2
    );
    for (i, Row { what, peer, ratio }) in rows.iter().enumerate() {
        let y = 38 + 26 * i;
        let to = middle + (middle - left) * (ratio.log2() / WIDEST.log2()).clamp(-1.0, 1.0);
        let (x, width) = (to.min(middle), (to - middle).abs());
        let class = if *ratio >= 1.0 { "faster" } else { "slower" };
        let _ = writeln!(svg, r#"  <text class="text" x="16" y="{}">{what}</text>"#, y + 13);
        let _ = writeln!(
            svg,
            r#"  <rect class="{class}" x="{x:.0}" y="{y}" width="{width:.0}" height="18"/>"#
        );
        let at = to.max(middle) + 6.0;
        let _ = writeln!(
            svg,
            r#"  <text class="text" x="{at:.0}" y="{}">{ratio:.2} {peer}</text>"#,
            y + 13
        );
    }
    let _ = writeln!(svg, r#"  <path class="line" d="M{middle} 34V{}"/>"#, height - 22);
    let _ = writeln!(
        svg,
        r#"  <text class="text" x="16" y="{}" font-size="11">bench/record/{record}; logarithmic; `cargo xtask chart`</text>"#,
        height - 8
    );
    svg.push_str("</svg>\n");
    svg
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_chart_shows_the_newest_record() {
        assert_eq!(crate::tools::read(super::FILE).unwrap(), super::drawn().unwrap());
    }
}
