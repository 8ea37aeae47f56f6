//! `foxtrot peers`: names of peers' keys.

use crate::{
    args::PeersCommand,
    failure::Failure,
    output::{print, say},
    peers::Known,
};

pub(crate) fn run(command: &PeersCommand) -> Result<(), Failure> {
    match command {
        PeersCommand::Add { name, fingerprint, force, beside } => {
            Known::read(beside.identity.as_deref())?.add(name.clone(), *fingerprint, *force)?;
            say(&format!("{name} now names {fingerprint}"));
        }
        PeersCommand::List { beside } => {
            let known = Known::read(beside.identity.as_deref())?;
            known.peers().try_for_each(|(name, key)| print(format!("{name} {key}")))?;
        }
        PeersCommand::Remove { name, beside } => {
            Known::read(beside.identity.as_deref())?.remove(name)?;
            say(&format!("removed {name}"));
        }
    }
    Ok(())
}
