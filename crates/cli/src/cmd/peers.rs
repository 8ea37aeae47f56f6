//! `foxtrot peers`: names of peers' keys.

use std::io::{self, Write};

use crate::{args::PeersCommand, failure::Failure, output::say, peers::Known};

pub(crate) fn run(command: &PeersCommand) -> Result<(), Failure> {
    match command {
        PeersCommand::Add { name, fingerprint, force, beside } => {
            Known::read(beside.identity.as_deref())?.add(name.clone(), *fingerprint, *force)?;
            say(&format!("{name} now names {fingerprint}"));
        }
        PeersCommand::List { beside } => {
            let mut out = io::stdout().lock();
            for (name, key) in Known::read(beside.identity.as_deref())?.peers() {
                writeln!(out, "{name} {key}").map_err(|e| Failure::stdout(&e))?;
            }
        }
        PeersCommand::Remove { name, beside } => {
            Known::read(beside.identity.as_deref())?.remove(name)?;
            say(&format!("removed {name}"));
        }
    }
    Ok(())
}
