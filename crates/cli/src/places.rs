//! The files that a command reads and writes, so that no result takes the place of an input or of a
//! key.

use std::path::{Path, PathBuf};

use crate::{
    args::{
        Agreeing, Command, Counting, KeygenArgs, Meeting, OtCommand, PsiCommand, RotCommand,
        Transport, TriplesCommand, file,
    },
    audit,
    cmd::rot,
    failure::Failure,
    files::{are_one, check_place, check_unread},
    identity, peers, record,
};

/// Fails, before anything is read or anybody met, if a result could not be written where the user
/// wants it, or would replace a file that the command reads.
pub(crate) fn check(command: &Command) -> Result<(), Failure> {
    let written = written(command)?;
    let read = read(command);
    let read: Vec<&Path> = read.iter().map(PathBuf::as_path).collect();
    written.iter().try_for_each(|path| check_place(path, &read))?;
    check_logs(command, &written, &read)?;
    let Some(path) = record(command) else { return Ok(()) };
    if path == Path::new("-") {
        return Err(Failure::usage("--record needs a file; it cannot use standard output"));
    }
    let folder = match command {
        Command::Triples(TriplesCommand::Generate { out, .. }) => Some(&out.output),
        _ => None,
    };
    if written.iter().chain(folder).any(|result| are_one(result, path)) {
        let why = format!("--record and -o both name {}", path.display());
        return Err(Failure::usage(why).hint("--record needs another file"));
    }
    let named = |e: Failure| e.rename_options(&[("-o ", "--record ")]);
    check_unread(path, &read).map_err(named)?;
    if command.serves() {
        return record::check_log(path);
    }
    record::check_last(path)?;
    check_place(path, &[]).map_err(named)
}

/// Checks the audit log, and the place of limits per day: neither takes the place of another file.
fn check_logs(command: &Command, written: &[PathBuf], read: &[&Path]) -> Result<(), Failure> {
    let limits = match command {
        Command::Psi(PsiCommand::Send { standing, .. }) => &standing.limits,
        Command::Psi(PsiCommand::Count { counting } | PsiCommand::Sum { counting, .. }) => {
            &counting.standing.limits
        }
        _ => &None,
    };
    let Some(Agreeing { audit: log, .. }) = agreeing(command) else { return Ok(()) };
    let record = record(command).map(Path::to_owned);
    for (path, option) in [(log, "--audit"), (limits, "--limits")] {
        let Some(path) = path else { continue };
        if written.iter().chain(&record).any(|other| are_one(other, path)) {
            let why = format!("{option} and another option both name {}", path.display());
            return Err(Failure::usage(why).hint(format!("{option} needs another file")));
        }
        let named = |e: Failure| e.rename_options(&[("-o ", &format!("{option} "))]);
        check_unread(path, read).map_err(named)?;
    }
    match (log, limits) {
        (Some(log), Some(limits)) if are_one(log, limits) => {
            Err(Failure::usage("--audit and --limits need different files"))
        }
        (Some(log), _) => audit::check(log),
        _ => Ok(()),
    }
}

/// Returns the options about what both sides agree on.
fn agreeing(command: &Command) -> Option<&Agreeing> {
    match command {
        Command::Psi(PsiCommand::Receive { meeting, .. } | PsiCommand::Send { meeting, .. }) => {
            Some(&meeting.agreeing)
        }
        Command::Psi(PsiCommand::Count { counting } | PsiCommand::Sum { counting, .. }) => {
            Some(&counting.agreeing)
        }
        _ => None,
    }
}

/// Returns the place of the run's record.
fn record(command: &Command) -> Option<&Path> {
    transport(command)?.record.as_deref()
}

/// Returns the options by which the command reaches a peer.
fn transport(command: &Command) -> Option<&Transport> {
    match command {
        Command::Psi(
            PsiCommand::Receive { meeting: Meeting { transport, .. }, .. }
            | PsiCommand::Send { meeting: Meeting { transport, .. }, .. },
        )
        | Command::Psi(
            PsiCommand::Count { counting: Counting { transport, .. } }
            | PsiCommand::Sum { counting: Counting { transport, .. }, .. },
        )
        | Command::Ot(OtCommand::Send { transport, .. } | OtCommand::Receive { transport, .. })
        | Command::Rot(
            RotCommand::Send { transport, .. } | RotCommand::Receive { transport, .. },
        )
        | Command::Triples(TriplesCommand::Generate { transport, .. }) => Some(transport),
        _ => None,
    }
}

/// All files that the command reads, where `-` is standard input.
fn read(command: &Command) -> Vec<PathBuf> {
    let files: Vec<&PathBuf> = match command {
        Command::Psi(command) => match command {
            PsiCommand::Local { a, b, .. } => vec![a, b],
            PsiCommand::Send { set, named, .. } => {
                set.iter().chain(named.iter().map(|it| &it.path)).collect()
            }
            PsiCommand::Count { counting } | PsiCommand::Sum { counting, .. } => {
                vec![&counting.set]
            }
            PsiCommand::Receive { set, .. } | PsiCommand::Inspect { set, .. } => vec![set],
            PsiCommand::Gateway(_) => vec![],
        },
        Command::Ot(command) => match command {
            OtCommand::Local { messages, choices, .. } => vec![messages, choices],
            OtCommand::Send { messages, .. } => vec![messages],
            OtCommand::Receive { choices, .. } => vec![choices],
        },
        Command::Keygen(args) => args.show.iter().flatten().collect(),
        _ => vec![],
    };
    // Whether there is a usual place for the key is asked when it is read.
    let key = transport(command)
        .filter(|transport| {
            !transport.insecure && transport.serial.is_none() && transport.websocket.is_none()
        })
        .and_then(|transport| identity::path(transport.identity.as_deref()).ok());
    let known = key.as_deref().map(peers::file_beside);
    let policy = agreeing(command).and_then(|it| it.policy.clone());
    let line = transport(command).and_then(|transport| transport.psk.clone());
    files.into_iter().cloned().chain(policy).chain(line).chain(known).chain(key).collect()
}

/// All files that the user has it write.
fn written(command: &Command) -> Result<Vec<PathBuf>, Failure> {
    let output = match command {
        Command::Psi(command) => match command {
            PsiCommand::Local { out, .. } | PsiCommand::Receive { out, .. } => out.file(),
            PsiCommand::Send { sharing, .. } => file(sharing.output.as_deref()),
            PsiCommand::Count { .. } | PsiCommand::Sum { .. } | PsiCommand::Gateway(_) => None,
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
        Command::Protocols(_) | Command::Peers(_) | Command::Generate(_) => None,
    };
    Ok(output.map(Path::to_owned).into_iter().collect())
}
