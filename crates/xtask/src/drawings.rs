//! Drawings of who calls what: the modules of each crate, from the paths in its code, in Mermaid, on the crate's page.

use std::collections::{BTreeMap, BTreeSet};

use crate::tools::{self, Result};

const MARKERS: [&str; 2] = ["<!-- drawing -->\n", "<!-- end of drawing -->"];

type Names = BTreeSet<String>;

/// Writes the drawings into `crates/*/README.md`.
pub(crate) fn run() -> Result {
    for (file, text) in pages()? {
        std::fs::write(tools::root().join(&file), text)
            .or_else(|e| tools::failed(format_args!("{file}: {e}")))?;
    }
    Ok(())
}

/// The pages with markers, each as it should be.
fn pages() -> Result<Vec<(String, String)>> {
    let mut all = Vec::new();
    for file in tracked("crates/*/README.md")? {
        let text = tools::read(&file)?;
        let [begin, end] = MARKERS;
        let parts = text.split_once(begin).and_then(|(a, b)| Some((a, b.split_once(end)?.1)));
        if let (Some((before, after)), Some(folder)) = (parts, file.strip_suffix("/README.md")) {
            all.push((file.clone(), format!("{before}{begin}{}{end}{after}", drawn(folder)?)));
        }
    }
    Ok(all)
}

fn tracked(pattern: &str) -> Result<Vec<String>> {
    let list = tools::stdout(&mut tools::command("git", &format!("ls-files {pattern}")))?;
    Ok(String::from_utf8_lossy(&list).lines().map(str::to_owned).collect())
}

/// The neighbours of a crate, and its modules.
fn drawn(folder: &str) -> Result<String> {
    let (name, below) = manifest(folder)?;
    let mut above = Names::new();
    for other in tracked("crates/*/Cargo.toml")? {
        let (other, uses) = manifest(other.trim_end_matches("/Cargo.toml"))?;
        above.extend(uses.contains(&name).then_some(other));
    }
    let listed = |names: Names| match names.is_empty() {
        true => "none".to_owned(),
        false => names.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", "),
    };
    let arrows: String =
        reduced(&uses(folder)?).iter().map(|(from, to)| format!("  {from} --> {to}\n")).collect();
    Ok(format!(
        "Used by: {}. Uses: {}.\n\n```mermaid\nflowchart TD\n{arrows}```\n",
        listed(above),
        listed(below)
    ))
}

/// The name of a package, and our packages on which it depends.
fn manifest(folder: &str) -> Result<(String, Names)> {
    let text = tools::read(&format!("{folder}/Cargo.toml"))?;
    let part = text.split_once("\n[dependencies]\n").unwrap_or_default().1;
    let lines = part.split("\n[").next().unwrap_or_default().lines();
    let ours = lines.filter(|it| it.starts_with("foxtrot"));
    let names = ours.filter_map(|it| it.split(['.', ' ']).next()).map(str::to_owned).collect();
    Ok((text.split('"').nth(1).unwrap_or_default().to_owned(), names))
}

/// The uses between the modules of a crate's root, without tests.
fn uses(folder: &str) -> Result<BTreeMap<String, Names>> {
    let source = format!("{folder}/src/");
    let files = tracked(&format!("{source}*.rs"))?;
    let module = |file: &str| {
        let path = file.strip_prefix(&source)?.strip_suffix(".rs")?;
        let tests = path.split('/').any(|it| it.starts_with("test"));
        let name = path.split('/').next().filter(|it| !tests && *it != "lib" && *it != "main")?;
        Some(name.to_owned())
    };
    let names: Names = files.iter().filter_map(|it| module(it)).collect();
    let mut uses = BTreeMap::<String, Names>::new();
    for file in &files {
        let Some(from) = module(file) else { continue };
        let text = tools::read(file)?;
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let code: Vec<_> = code.lines().filter(|it| !it.trim_start().starts_with("//")).collect();
        let found = uses.entry(from.clone()).or_default();
        for path in code.join(" ").split("crate::").skip(1) {
            // One name, or several in braces.
            let several = path.strip_prefix('{').and_then(|it| it.split("};").next());
            let words = several.unwrap_or(path).split(|c: char| !c.is_alphanumeric() && c != '_');
            let words = words.take(if several.is_some() { usize::MAX } else { 1 });
            found.extend(words.filter(|it| names.contains(*it) && *it != from).map(str::to_owned));
        }
    }
    Ok(uses)
}

/// The uses that do not follow from others.
fn reduced(uses: &BTreeMap<String, Names>) -> Vec<(&str, &str)> {
    // Grows from a module's uses to all that it reaches.
    let mut reached = uses.clone();
    for _ in 0..uses.len() {
        for from in uses.keys() {
            let more: Names =
                reached[from].iter().filter_map(|it| reached.get(it)).flatten().cloned().collect();
            reached.entry(from.clone()).or_default().extend(more);
        }
    }
    let has = |from: &str, to: &str| reached.get(from).is_some_and(|it| it.contains(to));
    let follows = |from: &str, to: &str| {
        uses[from].iter().any(|it| it != to && has(it, to) && !has(it, from) && !has(to, it))
    };
    let all = uses.iter().flat_map(|(from, to)| to.iter().map(move |it| (&from[..], &it[..])));
    all.filter(|(from, to)| !follows(from, to)).collect()
}

#[test]
fn every_drawing_matches_the_code() {
    for (file, text) in pages().unwrap() {
        // `cargo xtask drawings` makes it so.
        assert!(tools::read(&file).unwrap() == text, "{file}");
    }
}
