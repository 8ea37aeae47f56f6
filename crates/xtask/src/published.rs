//! The published crates of the workspace, as cargo knows them.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::tools::{self, Result};

/// A crate of the workspace without `publish = false`.
#[derive(Debug)]
pub(crate) struct Published(Value);

/// The published crates, by name.
pub(crate) fn crates() -> Result<Vec<Published>> {
    let metadata = tools::stdout(&mut tools::cargo("metadata --format-version 1 --no-deps"))?;
    let metadata: Value = serde_json::from_slice(&metadata)
        .or_else(|error| tools::failed(format_args!("cargo metadata: {error}")))?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let mut found: Vec<_> =
        packages.filter(|it| it["publish"].is_null()).cloned().map(Published).collect();
    found.sort_by(|one, other| one.name().cmp(other.name()));
    if found.is_empty() { tools::failed("no crate is published") } else { Ok(found) }
}

/// Options of cargo that select these crates.
pub(crate) fn selection(crates: &[Published]) -> String {
    crates.iter().map(|it| format!("--package {} ", it.name())).collect()
}

impl Published {
    pub(crate) fn name(&self) -> &str {
        self.text("name")
    }

    /// A string of the manifest, or nothing.
    pub(crate) fn text(&self, key: &str) -> &str {
        self.0[key].as_str().unwrap_or_default()
    }

    /// A list of the manifest.
    pub(crate) fn list(&self, key: &str) -> Vec<&str> {
        self.0[key].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// The features, without `default` if it is another name of one of them.
    pub(crate) fn features(&self) -> Vec<&str> {
        let features = self.0["features"].as_object().into_iter().flatten();
        let alias = |list: &Value| list.as_array().is_some_and(|it| it.len() == 1);
        features
            .filter(|(name, list)| *name != "default" || !alias(list))
            .map(|(name, _)| name.as_str())
            .collect()
    }

    /// The crate's folder.
    pub(crate) fn folder(&self) -> PathBuf {
        Path::new(self.text("manifest_path")).parent().unwrap_or(Path::new("")).to_owned()
    }
}
