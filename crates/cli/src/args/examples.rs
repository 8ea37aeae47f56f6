//! Examples at the end of every help. A test parses each line.

use clap::{Arg, Command};

const EXIT_STATUS: &str = "\
Exit status:
  0 done, 1 the run failed, 2 wrong usage or local input, 3 the peer misbehaved, 130 interrupted

";

/// Examples of commands that have commands below them.
const GROUPS: &str = r"foxtrot:
  foxtrot psi local a.csv b.csv --key email --normalize email
  foxtrot help psi receive

foxtrot psi:
  foxtrot psi inspect a.csv --key email --normalize email
  foxtrot psi local a.csv b.csv --key email --normalize email -o common.csv

foxtrot ot:
  foxtrot ot local messages.txt choices.txt
  foxtrot ot receive choices.txt --connect acme.example:7000 --peer acme

foxtrot rot:
  foxtrot rot local -n 1000000 -o keys
  foxtrot rot send -n 1000000 -o keys --listen 0.0.0.0:7000 --peer acme

foxtrot triples:
  foxtrot triples local -n 100000 --bits 64 -o triples
  foxtrot triples verify triples

foxtrot peers:
  foxtrot peers add acme SHA256:uU0nuZNNPgilLlLX2n2r-sSE7-N6U4DukIj3rOLvzek
  foxtrot peers list

foxtrot generate:
  foxtrot generate man --all man1
  foxtrot generate completions bash";

/// Examples of the other commands, each of the command that it calls.
const EXAMPLES: &str = r"
  foxtrot psi local a.csv b.csv --key email --normalize email
  foxtrot psi local a.csv b.csv --key email --key-b E-Mail --count
  foxtrot psi local a.csv b.csv --key email --function sum --value amount
  foxtrot psi receive a.csv --key email -o common.csv \
    --listen 0.0.0.0:7000 --peer acme
  foxtrot psi receive a.csv --key email --connect 127.0.0.1:7000 --insecure
  foxtrot psi receive a.csv --key email --shards 16 --shard 3 \
    --ticket a.ticket -o 3.csv --behind 10.0.0.5:7001 --route march --peer acme
  foxtrot psi send b.csv --key email --connect acme.example:7000 --peer acme
  foxtrot psi send b.csv --key email --serve --max-peer-keys 10000 \
    --listen 0.0.0.0:7000 --peer acme
  foxtrot psi count a.csv --key email --listen 0.0.0.0:7000 --peer acme
  foxtrot psi count b.csv --key email --min-count 100 \
    --connect acme.example:7000 --peer acme
  foxtrot psi count a.csv --key email --serve --max-runs-per-day 1 \
    --limits limits --listen 0.0.0.0:7000 --peer acme
  foxtrot psi sum a.csv --key email --value amount --duplicates last \
    --listen 0.0.0.0:7000 --peer acme
  foxtrot psi sum b.csv --key email --connect acme.example:7000 --peer acme
  foxtrot psi gateway --listen 0.0.0.0:7000 --inside 10.0.0.5:7001
  foxtrot psi inspect a.csv --key phone --normalize phone:+49 --show 5
  foxtrot psi inspect a.csv --key email --left-out -o skipped.csv
  foxtrot ot local messages.txt choices.txt
  foxtrot ot local messages.txt choices.txt --one-of 4
  foxtrot ot send messages.txt --listen 0.0.0.0:7000 --peer acme
  foxtrot ot send messages.txt --serve --max-sessions 8 \
    --listen 0.0.0.0:7000 --peer acme
  foxtrot ot receive choices.txt -o received.txt \
    --connect acme.example:7000 --peer acme
  foxtrot rot local -n 1000000 -o keys
  foxtrot rot local -n 1000000 -o keys --format npy --threads 4
  foxtrot rot send -n 1000000 -o keys --listen 0.0.0.0:7000 --peer acme
  foxtrot rot receive -n 1000000 -o keys \
    --connect acme.example:7000 --peer acme
  foxtrot triples local -n 100000 --bits 64 -o triples
  foxtrot triples local -n 1000 --bits 32 --method auto --format npy -o triples
  foxtrot triples generate --party 0 -n 100000 --bits 64 -o p0 \
    --listen 0.0.0.0:7000 --peer acme
  foxtrot triples generate --party 1 -n 100000 --bits 64 -o p1 \
    --connect acme.example:7000 --peer acme
  foxtrot triples verify triples
  foxtrot triples verify p0 p1
  foxtrot protocols
  foxtrot protocols roted
  foxtrot protocols --all
  foxtrot keygen
  foxtrot keygen --show
  foxtrot peers add acme SHA256:uU0nuZNNPgilLlLX2n2r-sSE7-N6U4DukIj3rOLvzek
  foxtrot peers list
  foxtrot peers remove acme
  foxtrot generate man ot send
  foxtrot generate man --all man1
  foxtrot generate completions bash";

/// The examples of the program itself, below what its exit status means.
pub(super) fn of_program() -> String {
    EXIT_STATUS.to_owned() + &of("foxtrot")
}

/// Adds examples to a subcommand of the program, and to those below it.
pub(super) fn add(command: Command) -> Command {
    add_below("foxtrot", command)
}

fn add_below(above: &str, command: Command) -> Command {
    let path = format!("{above} {}", command.get_name());
    let is_of = |it: &&(&str, _)| path.starts_with(it.0);
    let hidden = NOT_OF.iter().filter(is_of).flat_map(|(_, options)| options.iter().copied());
    let hidden: Vec<&str> = hidden.collect();
    let offered = |arg: Arg| match hidden.iter().any(|it| arg.get_id() == *it) {
        true => arg.hide(true),
        false => arg,
    };
    let command = command.mut_args(offered);
    let command = match command.has_subcommands() {
        true => command,
        false => {
            let usage = command.clone().bin_name(&path).render_usage().to_string();
            command.override_usage(wrapped(&without(usage, &hidden)))
        }
    };
    command.after_help(of(&path)).mut_subcommands(|next| add_below(&path, next))
}

/// The usage without ways to the peer that are not offered.
fn without(usage: String, hidden: &[&str]) -> String {
    let ways = [("serial", "|--serial <DEVICE|SOCKET>"), ("websocket", "|--websocket <ADDR>")];
    let all = ways.iter().filter(|(option, _)| hidden.contains(option));
    all.fold(usage, |usage, (_, way)| usage.replace(way, ""))
}

/// The usage in lines that a terminal of usual width shows whole.
fn wrapped(usage: &str) -> String {
    const WIDTH: usize = 80;
    /// Columns of `Usage: `, and of the lines below it.
    const FIRST: usize = 7;
    let usage = usage.trim_start_matches("Usage: ").replace('|', "\0|");
    let mut lines = vec![String::new()];
    for word in usage.split_inclusive([' ', '\0']) {
        let word = word.trim_end_matches('\0');
        let line = lines.last().map_or(0, String::len);
        match FIRST + line + word.trim_end().len() > WIDTH && line > 0 {
            true => lines.push(word.to_owned()),
            false => lines.last_mut().into_iter().for_each(|it| it.push_str(word)),
        }
    }
    let lines: Vec<_> = lines.iter().map(|it| it.trim_end()).collect();
    lines.join(&format!("\n{}", " ".repeat(FIRST)))
}

/// Options that commands have in common with others, and cannot use: their help does not offer them.
const NOT_OF: [(&str, &[&str]); 4] = [
    ("foxtrot psi ", &["serial", "baud", "psk"]),
    ("foxtrot ot ", &["page"]),
    ("foxtrot rot ", &["page"]),
    ("foxtrot triples ", &["websocket", "page", "allow_origin", "tokens", "serial", "baud", "psk"]),
];

fn of(path: &str) -> String {
    let of_group = |text: &'static str| text.strip_prefix(path)?.strip_prefix(":\n");
    let lines = GROUPS.split("\n\n").find_map(of_group).map(str::to_owned);
    let lines = lines.unwrap_or_else(|| {
        let command = path.trim_start_matches("foxtrot").trim_start();
        let is_of = |it: &&str| {
            it.strip_prefix(command).is_some_and(|it| it.is_empty() || it.starts_with(' '))
        };
        let ours = EXAMPLES.split("\n  foxtrot ").filter(is_of);
        ours.map(|it| format!("  foxtrot {it}")).collect::<Vec<_>>().join("\n")
    });
    format!("Examples:\n{lines}")
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory, Parser};

    use crate::args::Args;

    /// The lines of a command's examples.
    fn examples(command: &Command) -> Vec<String> {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let (_, lines) = help.split_once("Examples:\n").unwrap_or_default();
        assert!(lines.lines().all(|line| line.len() <= 80), "wider than a terminal: {help}");
        lines.replace("\\\n", "").lines().map(|line| line.trim_start().to_owned()).collect()
    }

    fn check(command: &Command, path: &str) {
        let lines = examples(command);
        assert!((1..=3).contains(&lines.len()), "{path} has {} examples", lines.len());
        for line in &lines {
            assert!(line.starts_with(path), "an example of {path}: {line}");
            if let Err(e) = Args::try_parse_from(line.split_whitespace()) {
                assert_eq!(e.kind(), clap::error::ErrorKind::DisplayHelp, "{line}: {e}");
            }
        }
        for next in command.get_subcommands().filter(|it| it.get_name() != "help") {
            check(next, &format!("{path} {}", next.get_name()));
        }
    }

    #[test]
    fn every_command_has_one_to_three_examples_that_parse() {
        check(&Args::command(), "foxtrot");
    }

    /// Commands whose help is longer than a terminal is high are read by their headings.
    #[test]
    fn every_option_of_a_run_stands_under_a_heading() {
        fn check(command: &Command) {
            let options: Vec<_> = command.get_opts().collect();
            for option in options.iter().filter(|_| options.len() > 8) {
                assert!(option.get_help_heading().is_some(), "{} {option}", command.get_name());
            }
            command.get_subcommands().for_each(check);
        }
        check(&Args::command());
    }
}
