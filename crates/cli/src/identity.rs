//! The file with our key.

use std::{
    env,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use foxtrot_net::{identity::Identity, small};

use crate::{failure::Failure, output::say};

/// Returns the place of the key unless the user says otherwise.
pub(crate) fn default_path() -> Result<PathBuf, Failure> {
    let folder = if cfg!(windows) {
        env::var_os("APPDATA").map(PathBuf::from)
    } else {
        // The XDG Base Directory Specification has relative paths ignored.
        env::var_os("XDG_CONFIG_HOME")
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
            .or_else(|| env::home_dir().map(|home| home.join(".config")))
    };
    folder.map(|folder| folder.join("foxtrot").join("identity.pem")).ok_or_else(|| {
        Failure::usage("there is no configuration directory").hint("pass --identity FILE")
    })
}

pub(crate) fn path(named: Option<&Path>) -> Result<PathBuf, Failure> {
    named.map_or_else(default_path, |path| Ok(path.to_owned()))
}

pub(crate) fn load(path: &Path) -> Result<Identity, Failure> {
    let content = small::read(path).map_err(|e| match e.kind() {
        ErrorKind::NotFound => Failure::usage(format!("identity key {} not found", path.display()))
            .hint("create it with `foxtrot keygen`, or pass --identity FILE"),
        _ => Failure::reading(path, &e),
    })?;
    let identity = Identity::from_pem(&content)
        .map_err(|why| Failure::usage(format!("{}: {why}", path.display())))?;
    check_mode(path)?;
    Ok(identity)
}

/// Refuses a key of ours that others can read, as ssh does; one that another user gives us is that user's to keep.
pub(crate) fn check_mode(path: &Path) -> Result<(), Failure> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let found = std::fs::metadata(path).map_err(|e| Failure::reading(path, &e))?;
        if found.mode() & 0o077 != 0 {
            let why = format!("other users can read or write the key {}", path.display());
            if found.uid() == rustix::process::geteuid().as_raw() {
                let path = path.display();
                let hint =
                    format!("run `chmod 600 {path}`; if others have read it, make a new key");
                return Err(Failure::usage(why).hint(hint));
            }
            say(&why);
        }
    }
    let _ = path;
    Ok(())
}
