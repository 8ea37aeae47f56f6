//! The files that a command reads and writes, so that no result takes the place of an input or of a
//! key.

use std::path::{Path, PathBuf};

use crate::{
    args::{
        Agreeing, Command, KeygenArgs, OtCommand, PsiCommand, RotCommand, Transport,
        TriplesCommand, file,
    },
    audit,
    cmd::rot,
    failure::Failure,
    files::{are_one, check_place, check_unread},
    identity, peers, record,
};

/// Options of a command that name files.
#[derive(Default)]
pub(crate) struct Places<'a> {
    /// Inputs, of which `-` is standard input.
    read: Vec<&'a PathBuf>,
    /// The result, unless the command looks for its place itself.
    output: Option<&'a Path>,
    transport: Option<&'a Transport>,
    agreeing: Option<&'a Agreeing>,
    pub(crate) serves: bool,
}

impl<'a> Places<'a> {
    pub(crate) fn of(command: &'a Command) -> Self {
        let none = Self::default();
        match command {
            Command::Psi(command) => Self::of_psi(command),
            Command::Ot(OtCommand::Local { messages, choices, out, .. }) => {
                Self { read: vec![messages, choices], output: file(&out.output), ..none }
            }
            Command::Ot(OtCommand::Send { messages, transport, serve, .. }) => {
                let transport = Some(transport);
                Self { read: vec![messages], transport, serves: *serve, ..none }
            }
            Command::Ot(OtCommand::Receive { choices, out, transport, .. }) => {
                let (output, transport) = (file(&out.output), Some(transport));
                Self { read: vec![choices], output, transport, ..none }
            }
            Command::Rot(RotCommand::Send(party) | RotCommand::Receive(party)) => {
                Self { transport: Some(&party.transport), ..none }
            }
            Command::Triples(TriplesCommand::Generate { transport, .. }) => {
                Self { transport: Some(transport), ..none }
            }
            // Its folder may not be there yet, if it is the usual one; and it may be there itself.
            Command::Keygen(KeygenArgs { output, show, .. }) => {
                Self { read: show.iter().flatten().collect(), output: file(output), ..none }
            }
            _ => none,
        }
    }

    fn of_psi(command: &'a PsiCommand) -> Self {
        let none = Self::default();
        match command {
            PsiCommand::Local { a, b, out, .. } => {
                Self { read: vec![a, b], output: file(&out.output), ..none }
            }
            PsiCommand::Receive { set, out, meeting, .. } => {
                let (transport, agreeing) = (Some(&meeting.transport), Some(&meeting.agreeing));
                Self { read: vec![set], output: file(&out.output), transport, agreeing, ..none }
            }
            PsiCommand::Send { set, named, sharing, serve, meeting, .. } => Self {
                read: set.iter().chain(named.iter().map(|it| &it.path)).collect(),
                output: file(&sharing.output),
                transport: Some(&meeting.transport),
                agreeing: Some(&meeting.agreeing),
                serves: *serve,
            },
            PsiCommand::Count(counting) | PsiCommand::Sum { counting, .. } => Self {
                read: vec![&counting.set],
                transport: Some(&counting.transport),
                agreeing: Some(&counting.agreeing),
                serves: counting.serve,
                ..none
            },
            PsiCommand::Inspect { set, output, .. } => {
                Self { read: vec![set], output: file(output), ..none }
            }
            PsiCommand::Gateway(_) => none,
        }
    }

    /// Fails, before anything is read or anybody met, if a result could not be written where the user
    /// wants it, or would replace a file that the command reads.
    pub(crate) fn check(&self, command: &Command) -> Result<(), Failure> {
        let written = match command {
            Command::Rot(command) => rot::outputs(command)?,
            _ => self.output.map(Path::to_owned).into_iter().collect(),
        };
        let read = self.read();
        let read: Vec<&Path> = read.iter().map(PathBuf::as_path).collect();
        written.iter().try_for_each(|path| check_place(path, &read))?;
        let record = self.transport.and_then(|it| it.record.as_ref());
        self.check_logs(written.iter().chain(record), &read)?;
        let Some(path) = record else { return Ok(()) };
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
        if self.serves {
            return record::check_log(path);
        }
        record::check_last(path)?;
        check_place(path, &[]).map_err(named)
    }

    /// Checks the audit log, and the place of limits per day: neither takes the place of another file.
    fn check_logs<'f>(
        &self,
        others: impl Iterator<Item = &'f PathBuf> + Clone,
        read: &[&Path],
    ) -> Result<(), Failure> {
        let log = self.agreeing.and_then(|it| it.audit.as_ref());
        let limits = self.agreeing.and_then(|it| it.per_day.limits.as_ref());
        for (path, option) in [(log, "--audit"), (limits, "--limits")] {
            let Some(path) = path else { continue };
            if others.clone().any(|other| are_one(other, path)) {
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

    fn read(&self) -> Vec<PathBuf> {
        // Whether there is a usual place for the key is asked when it is read.
        let has_key =
            |it: &&Transport| !it.insecure && it.serial.is_none() && it.websocket.is_none();
        let key = self.transport.filter(has_key);
        let key = key.and_then(|it| identity::path(it.identity.as_deref()).ok());
        let known = key.as_deref().map(peers::file_beside);
        let policy = self.agreeing.and_then(|it| it.policy.as_ref());
        let line = self.transport.and_then(|it| it.psk.as_ref());
        let named = self.read.iter().copied().chain(policy).chain(line);
        named.cloned().chain(known).chain(key).collect()
    }
}
