//! Makes JavaScript and type declarations for a WebAssembly module: `foxtrot-bindgen MODULE.wasm FOLDER NAME`.

use std::{env, error::Error};

use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args_os().skip(1);
    let [module, folder, name] = [(); 3].map(|()| arguments.next());
    let (Some(module), Some(folder), Some(name)) = (module, folder, name) else {
        return Err("usage: foxtrot-bindgen MODULE.wasm FOLDER NAME".into());
    };
    let name = name.to_string_lossy();
    let mut bindgen = Bindgen::new();
    bindgen.input_path(module).web(true)?.typescript(true).out_name(&name);
    // Names of functions, for a profile, are a twentieth of the size.
    bindgen.remove_name_section(env::var_os("KEEP_NAMES").is_none()).remove_producers_section(true);
    Ok(bindgen.generate(folder)?)
}
