//! The crate stands alone: who only carries messages compiles neither set intersection nor triples.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::process::Command;

#[test]
fn a_build_of_this_crate_alone_compiles_neither_psi_nor_triples() {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let mut tree = Command::new(cargo);
    tree.args(["tree", "--offline", "--locked", "--package", "foxtrot-net", "--edges", "normal"]);
    tree.args(["--all-features", "--prefix", "none"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = tree.output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("foxtrot-ot"), "{said}");
    for other in ["foxtrot-psi", "foxtrot-triples"] {
        assert!(!said.contains(other), "{said}");
    }
}
