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
    assert!(stderr(&output).contains("Ran 9 tests"), "{}", stderr(&output));
}

#[test]
fn python_receives_a_set_from_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, lines: String| {
        let path = folder.path().join(name).to_str().unwrap().to_owned();
        fs::write(&path, lines).unwrap();
        path
    };
    let lines = |numbers: std::ops::Range<usize>| -> String {
        numbers.map(|i| format!("user{i:05}\n")).collect()
    };
    // Few keys take packed OTs, more take silent VOLE; a key repeats, and a line is empty.
    for (n, m) in [(5, 300), (500, 300)] {
        let theirs = write("theirs", lines(2..2 + m));
        let ours = write("ours", lines(0..n) + "\nuser00003\n");
        let send = ["psi", "send", &theirs, "--assumption", "lpn", "--timeout", "120"];
        let sender = Listening::start(&send);
        let receive = ["reference/python/psi_receive.py", "--connect", &sender.address, &ours];
        let Some(output) = python(&receive) else { return };
        assert_eq!(sender.end().0, 0, "{}", stderr(&output));
        assert_eq!(stdout(&output), lines(2..n.min(2 + m)) + "user00003\n");
    }
    let sender = Listening::start(&["psi", "send", "examples/messages.txt"]);
    let ours = write("ours", lines(0..3));
    let receive = ["reference/python/psi_receive.py", "--connect", &sender.address, &ours];
    let output = python(&receive).unwrap();
    assert_eq!((sender.end().0, output.status.code()), (1, Some(1)));
    assert!(stderr(&output).contains("assumption is lpn here and symmetric at the peer"));
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
