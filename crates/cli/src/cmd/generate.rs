//! `foxtrot generate`: manual pages and completions.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::{Command, CommandFactory};
use clap_mangen::{
    Man,
    roff::{Inline, Roff, bold, roman},
};

use crate::{
    args::{Args, GenerateCommand},
    failure::{self, Failure},
    files::write_rows,
};

pub(crate) fn run(command: &GenerateCommand) -> Result<(), Failure> {
    let mut generated = Vec::new();
    match command {
        GenerateCommand::Man { all: Some(folder), .. } => return all_pages(folder),
        GenerateCommand::Man { subcommand, all: None } => {
            man(page(subcommand)?, &mut generated).map_err(|e| Failure::stdout(&e))?;
        }
        GenerateCommand::Completions { shell } => {
            clap_complete::generate(*shell, &mut root(), "foxtrot", &mut generated);
        }
    }
    io::stdout().lock().write_all(&generated).map_err(|e| Failure::stdout(&e))
}

/// Its version is that of the program, without what this machine can do.
fn root() -> Command {
    Args::command().version(env!("CARGO_PKG_VERSION"))
}

/// Writes the pages of the program and of every subcommand into a directory.
fn all_pages(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|e| Failure::writing(folder, &e))?;
    for (path, command) in pages_in(folder) {
        let mut text = Vec::new();
        man(command, &mut text).map_err(|e| Failure::writing(&path, &e))?;
        write_rows(Some((&path, text.len() as u64)), |out| out(&text))?;
    }
    Ok(())
}

/// The files of all pages in a directory, such as `foxtrot-ot-send.1`, each with its command.
pub(crate) fn pages_in(folder: &Path) -> Vec<(PathBuf, Command)> {
    let mut command = root();
    command.build();
    let (mut pages, mut waiting) = (Vec::new(), vec![&command]);
    while let Some(command) = waiting.pop() {
        let name = command.get_display_name().unwrap_or_else(|| command.get_name());
        pages.push((folder.join(format!("{name}.1")), command.clone()));
        waiting.extend(command.get_subcommands().filter(|it| it.get_name() != "help"));
    }
    pages
}

fn page(path: &[String]) -> Result<Command, Failure> {
    let mut command = root();
    command.build();
    let mut name = command.get_name().to_owned();
    for step in path {
        let next = command.find_subcommand(step).cloned().ok_or_else(|| {
            let there: Vec<_> = command.get_subcommands().map(Command::get_name).collect();
            let failure = Failure::usage(format!("`{name}` has no subcommand {step}"));
            if there.is_empty() { failure } else { failure.hint(there.join(", ")) }
        })?;
        name = format!("{name} {step}");
        command = next;
    }
    Ok(command)
}

fn man(command: Command, out: &mut impl Write) -> io::Result<()> {
    let (subcommands, version) = (command.has_subcommands(), command.get_version().is_some());
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let page = Man::new(command);
    page.render_title(out)?;
    page.render_name_section(out)?;
    page.render_synopsis_section(out)?;
    page.render_description_section(out)?;
    page.render_options_section(out)?;
    if subcommands {
        page.render_subcommands_section(out)?;
    }
    let mut statuses = Roff::new();
    statuses.control("SH", ["EXIT STATUS"]);
    for (status, meaning) in failure::STATUSES {
        statuses.control("TP", []);
        statuses.text([bold(status.to_string())]);
        statuses.text([roman(meaning)]);
    }
    statuses.to_writer(out)?;
    if let Some((_, examples)) = after.split_once("Examples:\n") {
        let mut section = Roff::new();
        section.control("SH", ["EXAMPLES"]);
        section.control("nf", []);
        for line in examples.lines() {
            section.text([Inline::from(line.trim_start())]);
        }
        section.control("fi", []);
        section.to_writer(out)?;
    }
    if version { page.render_version_section(out) } else { Ok(()) }
}
