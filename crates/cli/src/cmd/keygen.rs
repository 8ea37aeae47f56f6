//! `foxtrot keygen`: the key by which peers know us.

use std::{
    fs::{self, DirBuilder},
    io::{self, Write},
    path::Path,
};

use foxtrot_net::identity::{Fingerprint, Identity};

use crate::{
    args::KeygenArgs,
    failure::Failure,
    files::{Existing, write_secret},
    identity,
    output::say,
};

pub(crate) fn run(args: &KeygenArgs) -> Result<(), Failure> {
    if let Some(file) = &args.show {
        return print(identity::load(file)?.fingerprint());
    }
    let path = match &args.output {
        Some(path) if path == Path::new("-") => {
            return Err(Failure::usage("a key goes to a file, not to standard output"));
        }
        Some(path) => path.clone(),
        None => {
            let path = identity::default_path()?;
            path.parent().map_or(Ok(()), make_folder)?;
            path
        }
    };
    let existing = if args.force { Existing::Replaced } else { Existing::Kept };
    if existing == Existing::Kept && fs::metadata(&path).is_ok_and(|found| found.is_file()) {
        return Err(Failure::usage(format!("{} exists already", path.display()))
            .hint("--force replaces it; peers then need the new fingerprint"));
    }
    let identity = Identity::generate().map_err(|e| Failure::run(e.to_string()))?;
    write_secret(existing, &path, identity.to_pem().as_bytes())?;
    say(&format!("wrote {}", path.display()));
    print(identity.fingerprint())
}

/// Creates the folder, if there is none, for its owner only.
fn make_folder(folder: &Path) -> Result<(), Failure> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|e| Failure::writing(folder, &e))
}

fn print(fingerprint: Fingerprint) -> Result<(), Failure> {
    writeln!(io::stdout().lock(), "{fingerprint}").map_err(|e| Failure::stdout(&e))
}
