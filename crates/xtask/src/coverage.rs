//! Measures how many lines of the four library crates the tests of all four run, without the files of
//! tests.

use serde_json::Value;

use crate::tools::{self, Result};

const CRATES: [&str; 4] = ["ot", "psi", "triples", "net"];

/// Prints the share of each crate; 90 % or less fails.
pub(crate) fn run() -> Result {
    let there = tools::succeeds(&mut tools::cargo("llvm-cov --version"));
    tools::needs(
        there,
        "there is no cargo-llvm-cov here (`cargo install cargo-llvm-cov`, component llvm-tools)",
    )?;
    let report = tools::target().join("coverage.json");
    let mut measure = tools::cargo("llvm-cov --quiet --json --summary-only");
    measure.args(CRATES.map(|name| format!("--package=foxtrot-{name}")));
    tools::stdout(measure.arg("--output-path").arg(&report))?;
    let text = std::fs::read(&report)
        .or_else(|error| tools::failed(format_args!("the report: {error}")))?;
    let report: Value = serde_json::from_slice(&text)
        .or_else(|error| tools::failed(format_args!("the report: {error}")))?;
    let mut low = false;
    for name in CRATES {
        let Some((covered, count)) = lines(&report, name) else {
            return tools::failed(format_args!("the report has no lines of foxtrot-{name}"));
        };
        #[expect(clippy::cast_precision_loss, reason = "numbers of lines")]
        let share = 100.0 * covered as f64 / count as f64;
        low |= share <= 90.0;
        println!("foxtrot-{name:8} {share:5.1} %  ({covered} of {count} lines)");
    }
    if low { tools::failed("the tests of a crate run 90 % of its lines or less") } else { Ok(()) }
}

/// Returns the number of lines of a crate's sources that are run, and the number of all.
fn lines(report: &Value, name: &str) -> Option<(u64, u64)> {
    let folder = format!("/crates/{name}/src/");
    let mut sum = (0, 0);
    for file in report["data"][0]["files"].as_array()? {
        let path = file["filename"].as_str()?.replace('\\', "/");
        if path.contains(&folder) && !path.ends_with("/tests.rs") && !path.contains("/tests/") {
            let lines = &file["summary"]["lines"];
            sum = (sum.0 + lines["covered"].as_u64()?, sum.1 + lines["count"].as_u64()?);
        }
    }
    (sum.1 > 0).then_some(sum)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::lines;

    #[test]
    fn files_of_tests_and_of_other_crates_do_not_count() {
        let file = |name: &str| json!({"filename": name, "summary": {"lines": {"covered": 3, "count": 4}}});
        let names =
            ["/x/crates/ot/src/a.rs", "/x/crates/ot/src/a/tests.rs", "/x/crates/ot/src/tests/b.rs"];
        let files: Vec<_> =
            names.iter().chain(&["C:\\crates\\psi\\src\\c.rs"]).map(|it| file(it)).collect();
        let report = json!({"data": [{"files": files}]});
        assert_eq!(lines(&report, "ot"), Some((3, 4)));
        assert_eq!(lines(&report, "psi"), Some((3, 4)));
        assert_eq!(lines(&report, "net"), None);
    }
}
