//! The npm package and the page, of the WebAssembly.

use std::fs;

use crate::{
    packages::without_paths,
    tools::{self, Failure, Result},
};

/// The most bytes of the WebAssembly as gzip sends it.
const MOST_GZIPPED: usize = 600_000;

/// The target.
const TARGET: &str = "wasm32-unknown-unknown";

/// The modules, and the compiler's flags for each: browsers with vectors load the second one.
const MODULES: [(&str, &str); 2] =
    [("foxtrot_wasm", ""), ("foxtrot_wasm_simd", "-C target-feature=+simd128")];

/// Makes `target/npm/package`, the npm package, and `target/npm/page`, the page's files: for release as they are given
/// away, else soon, and the module with vectors stands for both.
pub(crate) fn run(release: bool) -> Result {
    let there = tools::succeeds(&mut tools::command("rustup", &format!("target add {TARGET}")));
    tools::needs(there, &format!("the target {TARGET} cannot be had here"))?;
    let (target, crate_folder) = (tools::target(), tools::root().join("crates/wasm"));
    let (profile, made_in) = if release { ("wasm", "wasm") } else { ("dev", "debug") };
    let folder = |name: &str| if release { target.join(name) } else { target.clone() };
    let modules = if release { &MODULES[..] } else { &MODULES[1..] };
    // Each takes one processor for long.
    let builds: Vec<_> = modules
        .iter()
        .map(|(name, flags)| {
            let build = format!("build --profile {profile} --target {TARGET}");
            let mut build = without_paths(tools::cargo(&build), flags)?;
            build.args(["--package", "foxtrot-wasm"]);
            build
                .envs([("CARGO_PROFILE_DEV_DEBUG", "false"), ("CARGO_PROFILE_DEV_OPT_LEVEL", "1")]);
            build.env("CARGO_TARGET_DIR", folder(name)).spawn().map_err(failed)
        })
        .collect();
    for build in builds {
        let status = build?.wait().map_err(failed)?;
        tools::passed(status.success(), "a module cannot be built")?;
    }
    let made = target.join("npm/bindings");
    for (name, _) in MODULES {
        let mut bindings = tools::cargo("run --quiet --locked --manifest-path");
        bindings.arg(crate_folder.join("bindgen/Cargo.toml")).arg("--");
        let module = folder(name).join(TARGET).join(made_in).join("foxtrot_wasm.wasm");
        bindings.arg(module).arg(&made).arg(name);
        tools::run(bindings.env("CARGO_TARGET_DIR", target.join("bindgen")))?;
    }
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
    for (name, _) in modules.iter().filter(|_| release) {
        let mut gzip = tools::command("gzip", "-9 -c");
        let wasm = package.join(format!("{name}_bg.wasm"));
        let gzipped = tools::stdout(gzip.arg(&wasm))?.len();
        println!("{}: {gzipped} bytes gzipped", wasm.display());
        tools::passed(gzipped <= MOST_GZIPPED, &format!("more than {MOST_GZIPPED}"))?;
    }
    Ok(())
}

fn failed(error: std::io::Error) -> Failure {
    Failure::Failed(error.to_string())
}
