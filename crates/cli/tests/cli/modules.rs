//! The modules of the command, and which of them import which.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use super::support::root;

/// The source files in a folder and the folders in it, without those of tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let sources = entries.flat_map(|path| match path.is_dir() {
        true => sources(&path),
        false => vec![path],
    });
    sources.filter(|path| !path.ends_with("tests.rs")).collect()
}

/// The modules of the crate that a text names behind `crate::`, alone or in braces.
fn imports(text: &str) -> BTreeSet<String> {
    let name = |text: &str| -> String {
        let text = text.trim_start();
        text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let mut found = BTreeSet::new();
    for rest in text.split("crate::").skip(1) {
        let Some(list) = rest.strip_prefix('{') else {
            found.insert(name(rest));
            continue;
        };
        let (mut depth, mut start) = (1, 0);
        for (at, c) in list.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            if depth == 0 || (depth == 1 && c == ',') {
                found.insert(name(&list[start..at]));
                start = at + 1;
            }
            if depth == 0 {
                break;
            }
        }
    }
    found.remove("");
    found
}

#[test]
fn modules_form_no_circle() {
    let folder = root().join("crates/cli/src");
    let mut modules: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in sources(&folder) {
        let place = path.strip_prefix(&folder).unwrap().with_extension("");
        let module = place.iter().next().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&path).unwrap();
        let (text, _) = text.split_once("#[cfg(test)]\nmod tests {").unwrap_or((&text, ""));
        modules.entry(module).or_default().extend(imports(text));
    }
    modules.remove("lib");
    assert!(modules["failure"].is_empty(), "{:?}", modules["failure"]);
    assert!(modules["cmd"].contains("args") && modules.len() > 20);
    // A module that imports none of those that are left goes; a circle stays.
    let free = |modules: &BTreeMap<String, BTreeSet<String>>| {
        let others = |name: &str, it: &String| it != name && modules.contains_key(it);
        let free = modules.iter().find(|(name, all)| !all.iter().any(|it| others(name, it)));
        free.map(|(name, _)| name.clone())
    };
    while let Some(name) = free(&modules) {
        modules.remove(&name);
    }
    assert!(modules.is_empty(), "{modules:?}");
}
