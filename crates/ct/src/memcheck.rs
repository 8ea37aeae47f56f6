//! Runs every protocol, and what else the kernel can do, with secrets declared undefined, for valgrind to watch.
//!
//! Messages to a peer are public, and so is what a protocol declares by
//! [`foxtrot_kernel::memcheck`]. Every other jump or address that depends on seeds, choices,
//! keys or shares is an error, and names the check in which it was seen.

mod base;
mod bits;
mod chosen;
mod circuit;
mod extension;
mod gilboa;
mod kernel;
mod one_of_n;
mod psi;
mod silent;
mod triples;
mod vole_psi;

use std::{hint::black_box, process::ExitCode};

use foxtrot_kernel::memcheck::{errors, is_watching, secret};
use foxtrot_ot::{Backend, Direction, Seed, Session, Sid};

/// A run, and its name.
struct Check {
    name: String,
    run: Box<dyn Fn(Backend)>,
}

pub(crate) fn run(arguments: &[String]) -> ExitCode {
    let Some((part, parts, wanted)) = part(arguments) else {
        eprintln!("foxtrot-ct: --part=K/N with K below N");
        return ExitCode::from(2);
    };
    if !is_watching() {
        eprintln!("foxtrot-ct: nobody is watching; run `cargo xtask memcheck`");
        return ExitCode::from(2);
    }
    eprintln!("One error comes first, a branch on a secret to see that such are seen:");
    if seen(leak) != 1 {
        eprintln!("foxtrot-ct: that error was not seen");
        return ExitCode::FAILURE;
    }
    let ots = base::checks().chain(extension::checks()).chain(one_of_n::checks());
    let ots = ots.chain(silent::checks());
    let checks = ots.chain(chosen::checks()).chain(triples::checks()).chain(gilboa::checks());
    let checks = checks.chain(bits::checks());
    let checks = checks.chain(psi::checks()).chain(vole_psi::checks());
    let checks = checks.chain(circuit::checks()).chain(kernel::checks());
    let checks = checks
        .filter(|check| wanted.is_empty() || wanted.iter().any(|part| check.name.contains(part)));
    let mut leaks = 0;
    for check in checks.skip(part).step_by(parts) {
        for backend in Backend::all() {
            let places = seen(|| (check.run)(backend));
            leaks += places;
            let what = if places == 0 { "ok".into() } else { format!("{places} LEAKS") };
            println!("{:<9} {:<48} {what}", backend.name(), check.name);
        }
    }
    if leaks == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Takes `--part=K/N` from the front of the arguments; without it all checks are one part.
fn part(arguments: &[String]) -> Option<(usize, usize, &[String])> {
    let Some((first, rest)) = arguments.split_first().filter(|(it, _)| it.starts_with("--")) else {
        return Some((0, 1, arguments));
    };
    let (part, parts) = first.strip_prefix("--part=")?.split_once('/')?;
    let (part, parts) = (part.parse().ok()?, parts.parse().ok()?);
    (part < parts).then_some((part, parts, rest))
}

/// Counts the places that memcheck reports.
fn seen(run: impl FnOnce()) -> usize {
    let before = errors();
    run();
    errors() - before
}

fn leak() {
    let [byte] = secrets([7]);
    if black_box(byte) & 1 == 1 {
        black_box(());
    }
}

/// Declares the bytes secret.
fn secrets<const N: usize>(mut bytes: [u8; N]) -> [u8; N] {
    secret(&mut bytes);
    bytes
}

/// A secret seed.
fn seed(byte: u8) -> Seed {
    Seed::from_bytes(secrets([byte; 32]))
}

fn session(backend: Backend, protocol: &str, direction: Direction) -> Session {
    Session::new(Sid::from_bytes([0; 32])).with_backend(backend).sub(protocol, 0, direction)
}
