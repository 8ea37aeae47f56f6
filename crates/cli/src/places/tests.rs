//! Every path that a command takes goes through the gate.

use std::any::TypeId;

use clap::{CommandFactory, FromArgMatches};

use super::*;
use crate::args::Args;

/// Each output of each command, in place of a key: `KEY`, a `PREFIX` whose names end with `.keys` and `.choices`, or its
/// directory `DIR`.
const CASES: [&str; 38] = [
    "ot local m c -o KEY",
    "ot send m --listen a:1 --record KEY",
    "ot receive c --listen a:1 -o KEY",
    "ot receive c --listen a:1 --insecure --record KEY",
    "rot local -n 1 --force -o PREFIX",
    "rot send -n 1 --listen a:1 --force -o PREFIX",
    "rot send -n 1 --listen a:1 -o p --record KEY",
    "rot receive -n 1 --listen a:1 --force -o PREFIX",
    "rot receive -n 1 --listen a:1 -o p --record KEY",
    "psi local a b -o KEY",
    "psi receive a --listen a:1 -o KEY",
    "psi receive a --listen a:1 --insecure -o KEY",
    "psi receive a --listen a:1 --record KEY",
    "psi receive a --listen a:1 --audit KEY",
    "psi receive a --listen a:1 --both --limits KEY",
    "psi receive a --listen a:1 --shards 2 --ticket KEY",
    "psi send a --listen a:1 --both -o KEY",
    "psi send a --listen a:1 --record KEY",
    "psi send a --listen a:1 --serve --record KEY",
    "psi send a --listen a:1 --audit KEY",
    "psi send a --listen a:1 --serve --limits KEY",
    "psi send a --listen a:1 --shards 2 --ticket KEY",
    "psi count a --listen a:1 --record KEY",
    "psi count a --listen a:1 --audit KEY",
    "psi count a --listen a:1 --serve --limits KEY",
    "psi sum a --listen a:1 --record KEY",
    "psi sum a --listen a:1 --audit KEY",
    "psi sum a --listen a:1 --serve --limits KEY",
    "psi inspect a --left-out -o KEY",
    "triples generate -n 1 --bits 8 --party 0 --listen a:1 -o t --record KEY",
    "generate man --all DIR",
    // A new directory takes the place of no file.
    "triples local -n 1 --bits 8 -o NEW",
    "triples generate -n 1 --bits 8 --party 0 --listen a:1 -o NEW",
    // A key may be replaced by a key, and asks for --force.
    "keygen -o NEW",
    // The list of peers is beside the key.
    "peers add a SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA --identity LISTED",
    "peers remove a --identity LISTED",
    "psi local a b -o LIMITS",
    "psi inspect a --left-out -o TICKET",
];

/// The subcommands that run something, each with its names.
fn leaves() -> Vec<(Vec<String>, clap::Command)> {
    let mut root = Args::command();
    root.build();
    let (mut leaves, mut waiting) = (Vec::new(), vec![(Vec::new(), root)]);
    while let Some((names, command)) = waiting.pop() {
        let inner = command.get_subcommands().filter(|it| it.get_name() != "help");
        let inner: Vec<_> = inner.cloned().collect();
        if inner.is_empty() {
            leaves.push((names, command));
            continue;
        }
        for command in inner {
            let names = names.iter().cloned().chain([command.get_name().to_owned()]).collect();
            waiting.push((names, command));
        }
    }
    leaves
}

/// Why the gate refuses a command line, if it does.
fn refusal(line: &[&str]) -> Option<Failure> {
    let ids = Args::command().try_get_matches_from([&["foxtrot"], line].concat());
    let ids = ids.unwrap_or_else(|e| panic!("{line:?}: {e}"));
    Places::of(&ids).check(&Args::from_arg_matches(&ids).unwrap().command).err()
}

#[test]
fn every_path_of_a_command_line_has_a_use_and_every_output_is_tried() {
    for (names, command) in leaves() {
        for argument in command.get_arguments() {
            let value = argument.get_value_parser().type_id();
            let is_path = value == TypeId::of::<PathBuf>() || value == TypeId::of::<NamedSet>();
            let id = argument.get_id().as_str();
            let it = use_of(&names[0], id);
            assert_eq!(is_path, it.is_some(), "{names:?} {id}");
            if !is_path
                || matches!(it, Some(Use::Read | Use::Device | Use::BaseTickets | Use::Identity))
            {
                continue;
            }
            let option = match argument.get_short() {
                Some(short) => format!(" -{short} "),
                None => format!(" --{} ", argument.get_long().unwrap()),
            };
            let command = names.join(" ") + " ";
            let is_tried = |case: &str| case.starts_with(&command) && case.contains(&option);
            assert!(CASES.iter().any(|case| is_tried(case)), "{command}{option}");
        }
    }
}

#[cfg(unix)]
#[test]
fn no_output_of_any_command_replaces_a_file_that_is_kept() {
    const CONTENT: &str = "-----BEGIN PRIVATE KEY-----\n";
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let key = at("key");
    fs::write(&key, CONTENT).unwrap();
    std::os::unix::fs::symlink("key", at("link")).unwrap();
    for name in ["hard", "p.keys", "p.sender.keys", "foxtrot-psi-send.1", "known_peers"] {
        fs::hard_link(&key, at(name)).unwrap();
    }
    fs::write(at("limits"), "foxtrot daily limits 1\nday 1\n").unwrap();
    fs::write(at("ticket"), "foxtrot shards 1\n").unwrap();
    for case in CASES {
        for name in [&key, &at("link"), &at("hard")] {
            let line = [
                ("KEY", name),
                ("PREFIX", &at("p")),
                ("DIR", &at("")),
                ("LISTED", &key),
                ("LIMITS", &at("limits")),
                ("TICKET", &at("ticket")),
                ("NEW", &at("new")),
            ];
            let line = line.iter().fold(case.to_owned(), |line, (word, path)| {
                line.replace(&format!(" {word}"), &format!(" {path}"))
            });
            let refused = refusal(&line.split(' ').collect::<Vec<_>>());
            if case.ends_with(" NEW") {
                assert_eq!(refused.as_ref().map(Failure::message), None, "{line}");
                continue;
            }
            let why = refused.expect(&line);
            let kept = ["identity key", "limits per day", "ticket of shards"];
            let said = why.message();
            assert!(why.status() == 2 && kept.iter().any(|it| said.contains(it)), "{line}: {said}");
        }
    }
    assert_eq!(fs::read_to_string(key).unwrap(), CONTENT);
}

/// Under another name.
#[cfg(unix)]
#[test]
fn tickets_and_inputs_of_the_run_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::create_dir(at("kept")).unwrap();
    for name in ["kept/1", "policy", "tokens", "psk", "set"] {
        fs::write(at(name), name).unwrap();
        fs::hard_link(at(name), at(&format!("{}-again", name.replace('/', "-")))).unwrap();
    }
    let [kept, policy, tokens, psk, set] = ["kept", "policy", "tokens", "psk", "set"].map(at);
    let named = format!("one={set}");
    for (line, name) in [
        (&["psi", "receive", "a", "--listen", "a:1", "--resume-base", &kept, "-o"][..], "kept-1"),
        (&["psi", "receive", "a", "--listen", "a:1", "--policy", &policy, "-o"], "policy"),
        (&["psi", "receive", "a", "--websocket", "a:1", "--tokens", &tokens, "-o"], "tokens"),
        (&["ot", "receive", "a", "--serial", "a", "--psk", &psk, "-o"], "psk"),
        (&["psi", "send", "--serve", "--listen", "a:1", "--set", &named, "--limits"], "set"),
        (&["psi", "receive", "--listen", "a:1", &set, "--audit"], "set"),
    ] {
        let again = at(&format!("{name}-again"));
        let why = refusal(&[line, &[&again]].concat()).expect(name);
        assert!(why.message().contains(" names "), "{}", why.message());
    }
}
