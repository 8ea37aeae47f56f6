//! Gives the linker the memory of the target's board.

use std::{env, path::Path};

fn main() {
    println!("cargo::rerun-if-changed=memory");
    let target = env::var("TARGET").expect("cargo sets it");
    let script = match target.split('-').next() {
        Some("thumbv7em") => "mps2-an386.ld",
        Some("riscv32imac") => "virt.ld",
        // The host's tests.
        _ => return,
    };
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let script = Path::new(&root).join("memory").join(script);
    println!("cargo::rustc-link-arg-bins=-T{}", script.display());
    // Functions with the same code are one.
    println!("cargo::rustc-link-arg-bins=--icf=all");
}
