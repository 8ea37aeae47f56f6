//! The order of modules: in every folder of every crate, the modules that one imports do not lead back to it.
//!
//! A module stands for its file and for the folder of its name. What a parent imports of its own modules, and they of the
//! parent, does not count: a folder is read as a whole.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path as Place, PathBuf},
};

use crate::tools;

/// The names of a path, from the crate on.
type Path = Vec<String>;

/// The sources of a crate by their modules, without comments and tests.
struct Sources(BTreeMap<Path, String>);

/// The modules of a folder, each with the others that it imports.
type Folder = BTreeMap<String, BTreeSet<String>>;

/// The source files in a folder and the folders in it.
fn files(folder: &Place) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] });
    files.collect()
}

/// A file's text up to its tests, without comments.
fn code(text: &str) -> String {
    let (text, _) = text.split_once("#[cfg(test)]\nmod tests {").unwrap_or((text, ""));
    text.lines().flat_map(|line| [line.split("//").next().unwrap_or_default(), "\n"]).collect()
}

/// The paths at the front of a text, of which one with braces is several.
fn paths(text: &mut &str) -> Vec<Path> {
    *text = text.trim_start();
    if let Some(rest) = text.strip_prefix('{') {
        *text = rest;
        let mut all = Vec::new();
        while !text.is_empty() && !text.starts_with('}') {
            all.extend(paths(text));
            // A comma, or a name behind `as`.
            *text = text.trim_start_matches(|c| c != '}' && c != ',').trim_start_matches(',');
            *text = text.trim_start();
        }
        *text = text.strip_prefix('}').unwrap_or_default();
        return all;
    }
    let end = text.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    *text = rest;
    let others = match rest.strip_prefix("::") {
        Some(others) if !others.starts_with('<') => {
            *text = others;
            paths(text)
        }
        _ => vec![Path::new()],
    };
    others.into_iter().map(|others| [vec![name.to_owned()], others].concat()).collect()
}

/// All paths of a text that begin at the crate or at a module.
fn imports(text: &str) -> BTreeSet<Path> {
    let is_name = |c: char| c == '_' || c.is_alphanumeric();
    let mut found = BTreeSet::new();
    for beginning in ["crate::", "super::", "self::"] {
        for (at, _) in text.match_indices(beginning) {
            let before = &text[..at];
            if !before.ends_with("::") && !before.ends_with(is_name) {
                found.extend(paths(&mut &text[at..]));
            }
        }
    }
    found
}

impl Sources {
    fn of(source: &Place) -> Self {
        let mut all = BTreeMap::new();
        for file in files(source) {
            let place = file.strip_prefix(source).unwrap().with_extension("");
            let mut module: Path = place.iter().map(|it| it.to_str().unwrap().to_owned()).collect();
            let is_test = module.iter().any(|it| it == "tests" || it == "bin");
            if is_test || file.extension().is_none_or(|it| it != "rs") {
                continue;
            }
            if module == ["lib"] || module == ["main"] {
                module.clear();
            }
            all.insert(module, code(&fs::read_to_string(&file).unwrap()));
        }
        Self(all)
    }

    /// The module that a path leads to from another one, and the names that are left of the path.
    fn lead(&self, from: &[String], path: &[String]) -> (Path, Path) {
        let (mut module, mut path) = (from.to_vec(), path.to_vec());
        while path.first().is_some_and(|it| ["crate", "self", "super"].contains(&it.as_str())) {
            match path.remove(0).as_str() {
                "crate" => module.clear(),
                "super" => drop(module.pop()),
                _ => {}
            }
        }
        while let Some(name) = path.first() {
            let child = [&module[..], std::slice::from_ref(name)].concat();
            if !self.0.contains_key(&child) {
                break;
            }
            (module, _) = (child, path.remove(0));
        }
        (module, path)
    }

    /// The module that has what a path names: where another module only hands it on, the one behind that.
    fn owner(&self, from: &[String], path: &[String]) -> Path {
        let (module, rest) = self.lead(from, path);
        let Some(name) = rest.first() else { return module };
        let text = &self.0[&module];
        let is_public =
            |before: &str| before.split_whitespace().last()?.starts_with("pub").then_some(());
        let handed = text
            .match_indices("use ")
            .filter_map(|(at, word)| is_public(&text[..at]).map(|()| &text[at + word.len()..]));
        let handed = handed.flat_map(|mut text| paths(&mut text));
        let handed = handed.filter(|path| path.last() == Some(name));
        let owners = handed.map(|path| self.lead(&module, &path).0);
        owners.into_iter().next().unwrap_or(module)
    }

    /// The folders of the crate, by their paths.
    fn folders(&self) -> BTreeMap<Path, Folder> {
        let mut folders = BTreeMap::<Path, Folder>::new();
        for (module, text) in &self.0 {
            for path in imports(text) {
                let owner = self.owner(module, &path);
                let common = module.iter().zip(&owner).take_while(|(a, b)| a == b).count();
                if let (Some(one), Some(other)) = (module.get(common), owner.get(common)) {
                    let folder = folders.entry(module[..common].to_vec()).or_default();
                    folder.entry(one.clone()).or_default().insert(other.clone());
                    folder.entry(other.clone()).or_default();
                }
            }
        }
        folders
    }

    /// The modules of all folders that lead back to themselves.
    fn circles(&self) -> Vec<String> {
        let all = self.folders().into_iter().flat_map(|(folder, modules)| {
            let circle = circle(modules);
            circle.into_iter().map(move |(name, others)| {
                let folder: String = folder.iter().flat_map(|it| [it, "::"]).collect();
                format!("{folder}{name} imports {}", Path::from_iter(others).join(", "))
            })
        });
        all.collect()
    }
}

/// The modules of a folder that lead back to themselves, and modules between such ones.
fn circle(mut modules: Folder) -> Folder {
    loop {
        let imported: BTreeSet<String> = modules.values().flatten().cloned().collect();
        let names: BTreeSet<String> = modules.keys().cloned().collect();
        modules.retain(|name, others| {
            others.retain(|it| names.contains(it));
            !others.is_empty() && imported.contains(name)
        });
        if modules.len() == names.len() {
            return modules;
        }
    }
}

/// Sources of these modules.
fn sources(all: &[(&str, &str)]) -> Sources {
    let module = |path: &str| -> Path {
        path.split("::").filter(|it| !it.is_empty()).map(str::to_owned).collect()
    };
    Sources(all.iter().map(|(path, text)| (module(path), code(text))).collect())
}

#[test]
fn modules_of_every_crate_form_no_circle() {
    let crates = tools::root().join("crates");
    let mut modules = 0;
    for entry in fs::read_dir(&crates).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let sources = Sources::of(&crates.join(&name).join("src"));
        modules += sources.0.len();
        let circles = sources.circles();
        assert!(circles.is_empty(), "{name}:\n{}", circles.join("\n"));
    }
    assert!(modules > 400, "{modules} modules");
}

#[test]
fn failures_of_the_command_import_no_module() {
    let folders = Sources::of(&tools::root().join("crates/cli/src")).folders();
    let modules = &folders[&Path::new()];
    assert!(modules["cmd"].contains("args") && modules["failure"].is_empty());
}

#[test]
fn a_circle_is_found_in_every_way_to_import() {
    for (one, other) in [
        ("use crate::b;", "use crate::a;"),
        ("use crate::{c::D, b::{self, E}};", "use super::a::F;"),
        ("use super::{b as it, c};", "fn f() { crate::a::f() }"),
        ("use crate::FromB;", "use crate::a::*;"),
        ("use crate::b::c::G;", "use self::super::a;"),
    ] {
        let root = "pub(crate) use b::FromB; pub use c::{D, E}; mod a; mod b; mod c;";
        let sources = sources(&[("", root), ("a", one), ("b", other), ("b::c", ""), ("c", "")]);
        assert_eq!(sources.circles(), ["a imports b", "b imports a"], "{one} {other}");
    }
    let inner = [("a", ""), ("a::b", "use super::c;"), ("a::c", "use crate::a::b::D;")];
    assert_eq!(sources(&inner).circles(), ["a::b imports c", "a::c imports b"]);
}

#[test]
fn modules_in_an_order_form_no_circle() {
    let above = "use crate::{b::{D}, c}; // crate::a";
    let tests = "struct D;\n#[cfg(test)]\nmod tests {\n    use crate::a;\n}";
    let modules = [("", "pub use a::f;"), ("a", above), ("b", tests), ("b::e", "use super::D;")];
    assert_eq!(sources(&modules).circles(), [""; 0]);
    let of_parent = [("a", "use self::b::c;"), ("a::b", "use super::D;"), ("b", "use crate::a;")];
    assert_eq!(sources(&of_parent).circles(), [""; 0]);
}
