//! Checks that compiled code is constant-time: SECURITY.md says what of it, `cargo xtask memcheck` runs it.
//!
//! ```text
//! foxtrot-ct memcheck [--part=K/N] [PART OF A NAME]...     secrets are undefined, valgrind watches; from check K on every N-th
//! foxtrot-ct timing [PART OF A NAME]...                    statistics of this processor's clock
//! ```
//!
//! The first needs the feature `memcheck`.

#[cfg(feature = "memcheck")]
mod memcheck;
mod timing;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next();
    let wanted: Vec<String> = arguments.collect();
    match command.as_deref() {
        #[cfg(feature = "memcheck")]
        Some("memcheck") => memcheck::run(&wanted),
        Some("timing") => timing::run(&wanted),
        _ => {
            eprintln!("foxtrot-ct: memcheck (with that feature, on valgrind), or timing");
            ExitCode::from(2)
        }
    }
}
