//! The second implementation of the wire, in Python: `reference/python/`.

use std::{
    fmt::Write as _,
    fs,
    process::{Command, Output},
};

use super::support::{Listening, expected_messages, root, stderr, stdout};

/// Python with these arguments in the repository's root; or `None` where there is none, which is said.
fn python(arguments: &[&str]) -> Option<Output> {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("skipped: there is no python3");
        return None;
    }
    let output = Command::new("python3").arg("-B").args(arguments).current_dir(root()).output();
    Some(output.unwrap())
}

fn received(address: &str, choices: &str) -> Option<Output> {
    python(&["reference/python/ot_receive.py", "--connect", address, choices])
}

#[test]
fn python_agrees_with_the_test_vectors() {
    let Some(output) = python(&["-m", "unittest", "discover", "reference/python"]) else { return };
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("Ran 7 tests"), "{}", stderr(&output));
}

#[test]
fn python_receives_messages_from_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let sender = Listening::start(&["ot", "send", "examples/messages.txt"]);
    let Some(output) = received(&sender.address, "examples/choices.txt") else { return };
    assert_eq!(sender.end().0, 0, "{}", stderr(&output));
    assert_eq!(stdout(&output), expected_messages());

    // As many as there may be without an extension, some of them empty.
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (mut messages, mut choices, mut expected) = (String::new(), String::new(), String::new());
    for i in 0..128_usize {
        let pair = [format!("{i}: {}", "left ".repeat(i)), "right".repeat(i % 3)];
        let choice = i * i / 3 % 2;
        messages.extend(pair.iter().flat_map(|it| [it, "\n"]));
        writeln!(choices, "{choice}").unwrap();
        writeln!(expected, "{}", pair[choice]).unwrap();
    }
    fs::write(file("messages"), messages).unwrap();
    fs::write(file("choices"), choices).unwrap();
    let sender = Listening::start(&["ot", "send", &file("messages")]);
    let output = received(&sender.address, &file("choices")).unwrap();
    assert_eq!(sender.end().0, 0, "{}", stderr(&output));
    assert_eq!(stdout(&output), expected);

    // Neither side takes the other for somebody else.
    let sender = Listening::start(&["ot", "send", "examples/messages.hex", "--hex"]);
    let output = received(&sender.address, "examples/choices.txt").unwrap();
    assert_eq!((sender.end().0, output.status.code()), (1, Some(1)));
}
