//! Peers by name: the file `known_peers` beside the one with our key. A line is `NAME SHA256:…`.

use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
};

use foxtrot_net::{
    identity::{Fingerprint, KeyError},
    small,
};
use zeroize::Zeroizing;

use crate::{
    args::{Name, Peer},
    failure::Failure,
    files::{Existing, make_folder, write_secret},
    identity,
};

/// Bytes of the largest list: of a hundred thousand peers and more.
const MOST: usize = 16 << 20;

pub(crate) struct Known {
    path: PathBuf,
    /// Lines of the file; one without a peer is empty or a comment.
    lines: Vec<(String, Option<(Name, Fingerprint)>)>,
}

pub(crate) fn file_beside(key: &Path) -> PathBuf {
    key.with_file_name("known_peers")
}

impl Known {
    /// Reads the file beside the one with our key, which may be named. Without the file nobody is known.
    pub(crate) fn read(key: Option<&Path>) -> Result<Self, Failure> {
        let path = file_beside(&identity::path(key)?);
        let text = match small::text_at_most(&path, MOST) {
            Ok(text) => text,
            Err(e) if e.kind() == ErrorKind::NotFound => Zeroizing::default(),
            Err(e) => return Err(Failure::reading(&path, &e)),
        };
        check_access(&path)?;
        let mut known = Self::none(key)?;
        for (number, text) in (1..).zip(text.lines()) {
            let peer = parse(text).and_then(|peer| match &peer {
                Some((name, _)) if known.key(name).is_some() => {
                    Err(format!("{name} has two lines"))
                }
                Some((_, key)) if known.name(key).is_some() => Err(format!("{key} has two lines")),
                _ => Ok(peer),
            });
            let peer = peer.map_err(|why| {
                Failure::at_line(&known.path, number, &why)
                    .hint("a line has a name, a space and a fingerprint")
            })?;
            known.lines.push((text.to_owned(), peer));
        }
        Ok(known)
    }

    /// Returns an empty list of peers, whatever the file has.
    pub(crate) fn none(key: Option<&Path>) -> Result<Self, Failure> {
        Ok(Self { path: file_beside(&identity::path(key)?), lines: Vec::new() })
    }

    pub(crate) fn peers(&self) -> impl Iterator<Item = &(Name, Fingerprint)> {
        self.lines.iter().filter_map(|(_, peer)| peer.as_ref())
    }

    pub(crate) fn key(&self, name: &Name) -> Option<Fingerprint> {
        self.peers().find(|(known, _)| known == name).map(|(_, key)| *key)
    }

    pub(crate) fn name(&self, key: &Fingerprint) -> Option<&Name> {
        self.peers().find(|(_, known)| known == key).map(|(name, _)| name)
    }

    pub(crate) fn resolve(&self, peer: &Peer) -> Result<Fingerprint, Failure> {
        match peer {
            Peer::Key(key) => Ok(*key),
            Peer::Named(name) => self.key(name).ok_or_else(|| self.unknown(name)),
        }
    }

    /// Gives a peer a name, in place of the one with this name if that is wanted.
    pub(crate) fn add(&mut self, name: Name, key: Fingerprint, force: bool) -> Result<(), Failure> {
        if let Some(other) = self.name(&key).filter(|other| **other != name) {
            let why = format!("this key already has the name {other}");
            return Err(
                Failure::usage(why).hint(format!("first run `foxtrot peers remove {other}`"))
            );
        }
        if let Some(other) = self.key(&name).filter(|other| *other != key && !force) {
            let why = format!("{name} already names another key, {other}");
            return Err(Failure::usage(why).hint("--force replaces it"));
        }
        self.lines.retain(|(_, peer)| peer.as_ref().is_none_or(|(other, _)| *other != name));
        self.lines.push((format!("{name} {key}"), Some((name, key))));
        self.write()
    }

    pub(crate) fn remove(&mut self, name: &Name) -> Result<(), Failure> {
        if self.key(name).is_none() {
            return Err(self.unknown(name));
        }
        self.lines.retain(|(_, peer)| peer.as_ref().is_none_or(|(other, _)| other != name));
        self.write()
    }

    fn write(&self) -> Result<(), Failure> {
        self.path.parent().map_or(Ok(()), make_folder)?;
        let lines: Vec<_> = self.lines.iter().map(|(text, _)| text.clone() + "\n").collect();
        write_secret(Existing::Replaced, &self.path, lines.concat().as_bytes())
    }

    fn unknown(&self, name: &Name) -> Failure {
        Failure::usage(format!("no peer is named {name} in {}", self.path.display())).hint(format!(
            "add the name with `foxtrot peers add {name} SHA256:…`; list names with `foxtrot peers list`"
        ))
    }
}

fn parse(line: &str) -> Result<Option<(Name, Fingerprint)>, String> {
    let words: Vec<_> = line.split_ascii_whitespace().collect();
    match words.as_slice() {
        [] => Ok(None),
        [first, ..] if first.starts_with('#') => Ok(None),
        [name, key] => Ok(Some((name.parse()?, key.parse().map_err(|e: KeyError| e.to_string())?))),
        _ => Err("not a name and a fingerprint".into()),
    }
}

/// Refuses a file that others can write or own: they would say whom we trust.
fn check_access(path: &Path) -> Result<(), Failure> {
    #[cfg(unix)]
    if let Ok(found) = std::fs::metadata(path) {
        use std::os::unix::fs::MetadataExt;
        if !is_trusted(found.uid(), rustix::process::geteuid().as_raw()) {
            let path = path.display();
            return Err(Failure::usage(format!("another user owns {path}"))
                .hint("check its content, then copy it to a file of your own"));
        }
        if found.mode() & 0o022 != 0 {
            let path = path.display();
            return Err(Failure::usage(format!("other users can write {path}"))
                .hint(format!("check its content, then run `chmod 600 {path}`")));
        }
    }
    let _ = path;
    Ok(())
}

/// Returns true if a file of this owner is ours, or the system's.
#[cfg(unix)]
fn is_trusted(owner: u32, us: u32) -> bool {
    owner == us || owner == 0
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_we_and_root_may_own_the_file_of_names() {
        assert!(is_trusted(1000, 1000) && is_trusted(0, 1000) && is_trusted(0, 0));
        assert!(!is_trusted(1001, 1000) && !is_trusted(1000, 0));
    }
}
