//! Checks that every published crate compiles with none of its features, with each alone, and with
//! all.

use crate::{
    published,
    tools::{self, Result},
};

/// Checks the libraries with one set of features after another.
pub(crate) fn run() -> Result {
    let mut wrong = Vec::new();
    for package in published::crates()? {
        let features = package.features();
        let alone =
            features.iter().map(|feature| format!("--no-default-features --features {feature}"));
        let none = Some("--no-default-features".to_owned());
        let all = (features.len() > 1).then(|| "--all-features".to_owned());
        for set in none.into_iter().chain(all).chain(alone) {
            let check = format!("check --quiet --locked --lib --package {} {set}", package.name());
            let passes = tools::run(&mut tools::cargo(&check)).is_ok();
            println!("{} {set}: {}", package.name(), if passes { "compiles" } else { "fails" });
            if !passes {
                wrong.push(format!("{} {set}", package.name()));
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { tools::failed(wrong.join(", ")) }
}
