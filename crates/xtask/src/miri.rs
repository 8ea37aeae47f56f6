//! Tests of the portable code in Miri, which finds undefined behaviour.

use crate::tools::{self, Result};

/// Tests that end soon in Miri, which is about a thousand times slower: crates and parts of tests' names.
const TESTS: [(&str, &[&str]); 4] = [
    (
        "foxtrot-kernel",
        &[
            "backend::",
            "aes::tests::a_",
            "aes::tests::debug",
            "aes::tests::the_portable",
            "aes::tests::keystreams_of_the",
            "bits::tests::columns",
            "gf::tests::of_gf64::mi",
            "gf::tests::of_gf64::the_modulus",
            "gf::tests::of_gf64::short",
            "vole::tests::a_",
            "vole::tests::m",
            "aegis::tests::",
            "memory::tests::strings",
            "ring::tests::sums_of",
            "ring::tests::every_backend",
        ],
    ),
    ("foxtrot-ot", &["choices::", "ideal::"]),
    ("foxtrot-psi", &["sizes::tests::known", "sizes::tests::logarithms"]),
    ("foxtrot-triples", &["formats::", "shares::"]),
];

/// Runs the tests, crate by crate. Miri detects no instruction set, so every backend is `portable`.
pub(crate) fn run() -> Result {
    let there = tools::succeeds(&mut tools::cargo("+nightly miri --version"));
    tools::needs(there, "it needs a nightly toolchain with miri")?;
    for (package, filters) in TESTS {
        for filter in filters {
            let mut test = tools::cargo("+nightly miri test --quiet --lib --package");
            test.args([package, "--", filter]);
            test.env("MIRIFLAGS", "-Zmiri-disable-isolation").env("PROPTEST_CASES", "2");
            let said = tools::stdout(test.env("CARGO_TARGET_DIR", tools::target().join("miri")))?;
            let said = String::from_utf8_lossy(&said);
            print!("{said}");
            // A name that no test has any more would pass.
            let passed = said.lines().filter_map(|it| it.strip_prefix("test result: ok. "));
            if !passed.clone().any(|it| it.starts_with(|digit: char| ('1'..='9').contains(&digit)))
            {
                return tools::failed(format_args!("{package}: no test is named {filter}…"));
            }
        }
    }
    Ok(())
}
