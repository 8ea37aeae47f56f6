//! Which files a command reads and which it writes, so that no result takes the place of what it
//! comes from, or of a key.

use std::path::{Path, PathBuf};

use crate::{
    args::{
        Command, KeygenArgs, OtCommand, PsiCommand, RotCommand, Transport, TriplesCommand, file,
    },
    cmd::rot,
    failure::Failure,
    files::check_place,
    identity,
};

/// Fails, before anything is read or anybody met, if a result could not be written where the user
/// wants it, or would replace a file that the command reads.
pub(crate) fn check(command: &Command) -> Result<(), Failure> {
    let written = written(command)?;
    let read = read(command);
    let read: Vec<&Path> = read.iter().map(PathBuf::as_path).collect();
    written.iter().try_for_each(|path| check_place(path, &read))
}

/// All files that the command reads, where `-` is standard input.
fn read(command: &Command) -> Vec<PathBuf> {
    let (files, transport): (Vec<&PathBuf>, Option<&Transport>) = match command {
        Command::Psi(command) => match command {
            PsiCommand::Local { a, b, .. } => (vec![a, b], None),
            PsiCommand::Receive { set, transport, .. }
            | PsiCommand::Send { set, transport, .. } => (vec![set], Some(transport)),
            PsiCommand::Inspect { set, .. } => (vec![set], None),
        },
        Command::Ot(command) => match command {
            OtCommand::Local { messages, choices, .. } => (vec![messages, choices], None),
            OtCommand::Send { messages, transport, .. } => (vec![messages], Some(transport)),
            OtCommand::Receive { choices, transport, .. } => (vec![choices], Some(transport)),
        },
        Command::Rot(command) => match command {
            RotCommand::Local { .. } => (vec![], None),
            RotCommand::Send { transport, .. } | RotCommand::Receive { transport, .. } => {
                (vec![], Some(transport))
            }
        },
        Command::Triples(command) => match command {
            TriplesCommand::Generate { transport, .. } => (vec![], Some(transport)),
            TriplesCommand::Local { .. } | TriplesCommand::Verify { .. } => (vec![], None),
        },
        Command::Keygen(args) => (args.show.iter().collect(), None),
        Command::Protocols(_) | Command::Bench(_) | Command::Generate(_) => (vec![], None),
    };
    // Whether there is a usual place for the key is asked when it is read.
    let key = transport
        .filter(|transport| !transport.insecure)
        .and_then(|transport| identity::path(transport.identity.as_deref()).ok());
    files.into_iter().cloned().chain(key).collect()
}

/// All files that the user has it write.
fn written(command: &Command) -> Result<Vec<PathBuf>, Failure> {
    let output = match command {
        Command::Psi(command) => match command {
            PsiCommand::Local { out, .. } | PsiCommand::Receive { out, .. } => out.file(),
            PsiCommand::Send { .. } => None,
            PsiCommand::Inspect { output, .. } => file(output.as_deref()),
        },
        Command::Ot(command) => match command {
            OtCommand::Local { out, .. } | OtCommand::Receive { out, .. } => out.file(),
            OtCommand::Send { .. } => None,
        },
        Command::Rot(command) => return rot::outputs(command),
        // Its folder may not be there yet, if it is the usual one; and it may be there itself.
        Command::Keygen(KeygenArgs { output, .. }) => file(output.as_deref()),
        // A folder of its own, which the command looks for itself.
        Command::Triples(_) => None,
        Command::Protocols(_) | Command::Bench(_) | Command::Generate(_) => None,
    };
    Ok(output.map(Path::to_owned).into_iter().collect())
}
