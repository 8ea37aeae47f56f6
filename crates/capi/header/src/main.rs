//! Prints the header of `foxtrot-capi`, whose folder is the argument.

use std::{env, error::Error, path::PathBuf};

use cbindgen::{Builder, Config};

fn main() -> Result<(), Box<dyn Error>> {
    let folder =
        PathBuf::from(env::args_os().nth(1).ok_or("the folder of foxtrot-capi is missing")?);
    let sources =
        ["types", "exports", "peer", "stream"].map(|it| folder.join(format!("src/{it}.rs")));
    let builder = Builder::new().with_config(Config::from_file(folder.join("cbindgen.toml"))?);
    let bindings = sources.into_iter().fold(builder, Builder::with_src).generate()?;
    let mut header = Vec::new();
    bindings.write(&mut header);
    print!("{}", String::from_utf8(header)?.replace("FOXTROT_STATUS_", "FOXTROT_"));
    Ok(())
}
