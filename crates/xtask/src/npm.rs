//! The npm package and the page, of the WebAssembly.

use std::{fs, path::Path};

use crate::{
    packages::without_paths,
    tools::{self, Failure, Result},
};

/// The most bytes that a browser loads before a person can compare, as gzip sends them.
const MOST_GZIPPED: u64 = 600_000;

/// The target.
const TARGET: &str = "wasm32-unknown-unknown";

/// The module that the page loads at first, and the one with all jobs, with cargo's options for each.
const PARTS: [(&str, &str); 2] =
    [("foxtrot_receive", "--no-default-features"), ("foxtrot_wasm", "")];

/// Endings of the modules' names, and the compiler's flags for each: browsers with vectors load the second one.
const VECTORS: [(&str, &str); 2] = [("", ""), ("_simd", "-C target-feature=+simd128")];

/// The page's own files.
const PAGE: [&str; 5] = ["index.html", "style.css", "app.js", "texts.js", "worker.js"];

/// Makes `target/npm/package`, the npm package, and `target/npm/page`, the page's files, each also as gzip
/// sends it: as they are given away.
pub(crate) fn run() -> Result {
    let there = tools::succeeds(&mut tools::command("rustup", &format!("target add {TARGET}")));
    tools::needs(there, &format!("the target {TARGET} cannot be had here"))?;
    let (target, crate_folder) = (tools::target(), tools::root().join("crates/wasm"));
    let made = target.join("npm/bindings");
    if made.exists() {
        fs::remove_dir_all(&made).map_err(failed)?;
    }
    for (part, options) in PARTS {
        let folder = |ending: &str| target.join(format!("foxtrot_wasm{ending}"));
        // Each takes one processor for long.
        let builds = VECTORS.map(|(ending, flags)| {
            let build = format!("build --profile wasm --target {TARGET}");
            let mut build = without_paths(tools::cargo(&build), flags)?;
            build.args(["--package", "foxtrot-wasm"]).args(options.split_whitespace());
            build.env("CARGO_TARGET_DIR", folder(ending)).spawn().map_err(failed)
        });
        for build in builds {
            let status = build?.wait().map_err(failed)?;
            tools::passed(status.success(), "a module cannot be built")?;
        }
        for (ending, _) in VECTORS {
            let mut bindings = tools::cargo("run --quiet --locked --manifest-path");
            bindings.arg(crate_folder.join("bindgen/Cargo.toml")).arg("--");
            let module = folder(ending).join(TARGET).join("wasm/foxtrot_wasm.wasm");
            bindings.arg(module).arg(&made).arg(format!("{part}{ending}"));
            tools::run(bindings.env("CARGO_TARGET_DIR", target.join("bindgen")))?;
        }
    }
    let [package, page] = ["package", "page"].map(|name| target.join("npm").join(name));
    for folder in [&package, &page] {
        if folder.exists() {
            fs::remove_dir_all(folder).map_err(failed)?;
        }
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
    for name in PAGE {
        fs::copy(crate_folder.join("page").join(name), page.join(name)).map_err(failed)?;
    }
    let text = tools::read("crates/wasm/npm/package.json")?;
    let text = text.replace("VERSION", env!("CARGO_PKG_VERSION"));
    fs::write(package.join("package.json"), text).map_err(failed)?;
    let mut gzip = tools::command("gzip", "-9 --no-name --keep --recursive");
    tools::run(gzip.arg(&page))?;
    for (ending, _) in VECTORS {
        let module = |part: &str| [format!("{part}{ending}.js"), format!("{part}{ending}_bg.wasm")];
        let [first, all] = PARTS.map(|(part, _)| module(part));
        let names = PAGE.into_iter().chain(["foxtrot.js"]).map(str::to_owned);
        let sent = sent(&page, names.chain(first.clone()))?;
        println!("{}: a browser loads {sent} bytes before it can compare,", first[1]);
        println!("and {} more for counts and sums", self::sent(&page, all)?);
        tools::passed(sent <= MOST_GZIPPED, &format!("more than {MOST_GZIPPED}"))?;
    }
    Ok(())
}

/// The bytes of these files as they are sent.
fn sent(page: &Path, names: impl IntoIterator<Item = String>) -> Result<u64> {
    names.into_iter().try_fold(0, |sum, name| {
        Ok(sum + fs::metadata(page.join(name + ".gz")).map_err(failed)?.len())
    })
}

fn failed(error: std::io::Error) -> Failure {
    Failure::Failed(error.to_string())
}
