//! The file with our key.

use std::{
    env, fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use foxtrot_net::identity::Identity;
use zeroize::Zeroizing;

use crate::{failure::Failure, output::say};

/// Where it is unless the user says otherwise.
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
    folder
        .map(|folder| folder.join("foxtrot").join("identity.pem"))
        .ok_or_else(|| Failure::usage("there is no configuration directory").hint("name a file"))
}

/// Where it is: where the user says, or else at its usual place.
pub(crate) fn path(named: Option<&Path>) -> Result<PathBuf, Failure> {
    named.map_or_else(default_path, |path| Ok(path.to_owned()))
}

pub(crate) fn load(path: &Path) -> Result<Identity, Failure> {
    let content = fs::read(path).map(Zeroizing::new).map_err(|e| match e.kind() {
        ErrorKind::NotFound => Failure::usage(format!("there is no key {}", path.display()))
            .hint("`foxtrot keygen` makes one"),
        _ => Failure::reading(path, &e),
    })?;
    let identity = Identity::from_pem(&content)
        .map_err(|why| Failure::usage(format!("{}: {why}", path.display())))?;
    warn_if_shared(path);
    Ok(identity)
}

/// Says so if others can read the key.
fn warn_if_shared(path: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let shared = |found: &fs::Metadata| found.permissions().mode() & 0o077 != 0;
        if fs::metadata(path).is_ok_and(|found| shared(&found)) {
            say(&format!("others can read the key {}; chmod 600 it", path.display()));
        }
    }
}
