//! Tells the crate whether it is compiled at opt-level 0 (see "Inlining" in `src/lib.rs`), for a small machine, and for one with
//! packed instructions.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(unoptimized)");
    println!("cargo::rustc-check-cfg=cfg(dsp)");
    println!("cargo::rustc-check-cfg=cfg(small)");
    let target = std::env::var("TARGET").unwrap_or_default();
    // What rustc does not tell on its stable channel. Cortex-M4 and M7, and ARMv7-A.
    let with_dsp = ["thumbv7em-", "armv7-", "armv7a-", "thumbv7neon-"];
    if with_dsp.iter().any(|it| target.starts_with(it)) {
        println!("cargo::rustc-cfg=dsp");
    }
    // Flash and registers are few.
    if ["arm", "thumb", "riscv32"].iter().any(|it| target.starts_with(it)) {
        println!("cargo::rustc-cfg=small");
    }
    if std::env::var("OPT_LEVEL").is_ok_and(|level| level == "0") {
        println!("cargo::rustc-cfg=unoptimized");
    }
}
