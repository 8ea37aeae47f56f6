//! The tests of `foxtrot-kernel` and `foxtrot-ot` with the address sanitizer, on every backend that this processor has,
//! also AVX-512, which neither Miri nor valgrind can run.

use crate::tools::{self, Result};

/// The tests of each crate that are run.
const TESTS: [&str; 3] = [
    "foxtrot-kernel --lib",
    "foxtrot-ot --lib",
    "foxtrot-ot --test all -- roted:: extension:: extension_groups:: one_of_n:: two_round:: traces::",
];

/// Runs the tests with a nightly toolchain.
pub(crate) fn run() -> Result {
    let there = tools::succeeds(&mut tools::cargo("+nightly --version"));
    tools::needs(there, "it needs a nightly toolchain")?;
    let target = tools::nightly_host()?;
    for tests in TESTS {
        let mut test =
            tools::cargo(&format!("+nightly test --quiet --target {target} --package {tests}"));
        test.env("RUSTFLAGS", "-Zsanitizer=address");
        tools::run(test.env("CARGO_TARGET_DIR", tools::target().join("sanitize")))?;
    }
    Ok(())
}
