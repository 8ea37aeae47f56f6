//! `foxtrot keygen`: the key by which peers know us.

use std::{fs, path::Path};

use foxtrot_net::identity::Identity;

use crate::{
    args::KeygenArgs,
    failure::Failure,
    files::{Existing, make_folder, write_secret},
    identity,
    output::{print, say},
};

pub(crate) fn run(args: &KeygenArgs) -> Result<(), Failure> {
    if let Some(file) = &args.show {
        let path = identity::path(file.as_deref())?;
        return print(identity::load(&path)?.fingerprint());
    }
    let path = match &args.output {
        Some(path) if path == Path::new("-") => {
            return Err(Failure::usage("a key cannot be written to standard output"));
        }
        Some(path) => path.clone(),
        None => {
            let path = identity::default_path()?;
            path.parent().map_or(Ok(()), make_folder)?;
            path
        }
    };
    let existing = Existing::with_force(args.force);
    if existing == Existing::Kept && fs::metadata(&path).is_ok_and(|found| found.is_file()) {
        return Err(Failure::usage(format!("{} exists", path.display()))
            .hint("pass --force to replace the key; peers then need the new fingerprint"));
    }
    let identity = Identity::generate().map_err(|e| Failure::run(e.to_string()))?;
    write_secret(existing, &path, identity.to_pem().as_bytes())?;
    say(&format!("wrote {}", path.display()));
    print(identity.fingerprint())
}
