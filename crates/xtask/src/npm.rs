//! The npm package and the page, of the WebAssembly.

use std::fs;

use crate::tools::{self, Failure, Result};

/// The most bytes of the WebAssembly as gzip sends it.
const MOST_GZIPPED: usize = 600_000;

/// The target.
const TARGET: &str = "wasm32-unknown-unknown";

/// Makes `target/npm/package`, the npm package, and `target/npm/page`, the page's files.
pub(crate) fn run() -> Result {
    let there = tools::succeeds(&mut tools::command("rustup", &format!("target add {TARGET}")));
    tools::needs(there, &format!("the target {TARGET} cannot be had here"))?;
    let build = format!("build --profile wasm --target {TARGET} --package foxtrot-wasm");
    tools::run(&mut tools::cargo(&build))?;
    let (target, crate_folder) = (tools::target(), tools::root().join("crates/wasm"));
    let bindgen = crate_folder.join("bindgen/Cargo.toml");
    let mut bindings = tools::cargo("run --quiet --locked --manifest-path");
    bindings.arg(bindgen).arg("--").arg(target.join(TARGET).join("wasm/foxtrot_wasm.wasm"));
    let made = target.join("npm/bindings");
    tools::run(bindings.arg(&made).env("CARGO_TARGET_DIR", target.join("bindgen")))?;
    let [package, page] = ["package", "page"].map(|name| target.join("npm").join(name));
    for folder in [&package, &page] {
        fs::create_dir_all(folder).map_err(failed)?;
        for entry in fs::read_dir(&made).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            fs::copy(entry.path(), folder.join(entry.file_name())).map_err(failed)?;
        }
        let shim = crate_folder.join("npm/foxtrot.js");
        fs::copy(shim, folder.join("foxtrot.js")).map_err(failed)?;
    }
    for name in ["foxtrot.d.ts", "README.md"] {
        fs::copy(crate_folder.join("npm").join(name), package.join(name)).map_err(failed)?;
    }
    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        fs::copy(tools::root().join(name), package.join(name)).map_err(failed)?;
    }
    for name in ["index.html", "style.css", "app.js", "texts.js", "worker.js"] {
        fs::copy(crate_folder.join("page").join(name), page.join(name)).map_err(failed)?;
    }
    let text = tools::read("crates/wasm/npm/package.json")?;
    let text = text.replace("VERSION", env!("CARGO_PKG_VERSION"));
    fs::write(package.join("package.json"), text).map_err(failed)?;
    let wasm = package.join("foxtrot_wasm_bg.wasm");
    let mut gzip = tools::command("gzip", "-9 -c");
    let gzipped = tools::stdout(gzip.arg(&wasm))?.len();
    println!("{}: {gzipped} bytes gzipped", wasm.display());
    match gzipped <= MOST_GZIPPED {
        true => Ok(()),
        false => tools::failed(format_args!("more than {MOST_GZIPPED}")),
    }
}

fn failed(error: std::io::Error) -> Failure {
    Failure::Failed(error.to_string())
}
