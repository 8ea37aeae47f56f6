//! Takes the page for browsers into the command: the files that `cargo xtask npm` has made.

use std::{env, error::Error, fs, path::PathBuf};

/// Files by the path at which they are served. The command has them as gzip makes them.
const FILES: [(&str, &str); 14] = [
    ("index.html", "text/html; charset=utf-8"),
    ("style.css", "text/css; charset=utf-8"),
    ("app.js", "text/javascript; charset=utf-8"),
    ("texts.js", "text/javascript; charset=utf-8"),
    ("worker.js", "text/javascript; charset=utf-8"),
    ("foxtrot.js", "text/javascript; charset=utf-8"),
    ("foxtrot_receive.js", "text/javascript; charset=utf-8"),
    ("foxtrot_receive_bg.wasm", "application/wasm"),
    ("foxtrot_receive_simd.js", "text/javascript; charset=utf-8"),
    ("foxtrot_receive_simd_bg.wasm", "application/wasm"),
    ("foxtrot_wasm.js", "text/javascript; charset=utf-8"),
    ("foxtrot_wasm_bg.wasm", "application/wasm"),
    ("foxtrot_wasm_simd.js", "text/javascript; charset=utf-8"),
    ("foxtrot_wasm_simd_bg.wasm", "application/wasm"),
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-env-changed=FOXTROT_PAGE");
    if env::var_os("CARGO_FEATURE_PAGE").is_none() {
        return Ok(());
    }
    let made = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../../target/npm/page");
    let folder = env::var_os("FOXTROT_PAGE").map_or(made, PathBuf::from);
    let mut all = String::from("&[");
    for (name, media) in FILES {
        let file = folder.join(format!("{name}.gz"));
        println!("cargo::rerun-if-changed={}", file.display());
        let Ok(path) = file.canonicalize() else {
            // Checks of all features have no page.
            println!("cargo::warning={} is missing: run `cargo xtask npm`", file.display());
            all = String::from("&[");
            break;
        };
        all += &format!("(\"/{name}\", \"{media}\", include_bytes!({path:?})),");
    }
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("page.rs"), all + "]")?;
    Ok(())
}
