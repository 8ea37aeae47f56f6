//! A standing server: sets by name, and sets that change.

use std::{fs, path::Path, process::Output};

use super::support::{Listening, connect, foxtrot, stderr, stdout};

fn write(folder: &Path, name: &str, content: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Asks the server about this set.
fn ask(set: &str, more: &[&str], address: &str) -> Output {
    connect(&[&["psi", "receive", set], more].concat(), address)
}

fn found(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
    stdout(output)
}

#[test]
fn a_receiver_asks_for_one_of_several_sets_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let ours = write(folder.path(), "ours", "ann\nbob\ncid\n");
    let [plain, a, b] = [("plain", "ann\n"), ("a", "bob\n"), ("b", "bob\ncid\ndan\n")]
        .map(|(name, keys)| write(folder.path(), name, keys));
    let [a, b] = [("a", a), ("b", b)].map(|(name, path)| format!("{name}={path}"));
    let record = folder.path().join("record").to_str().unwrap().to_owned();
    let server = Listening::start(&[
        "psi", "send", &plain, "--serve", "--set", &a, "--set", &b, "--record", &record,
    ]);
    for (name, rows) in [(None, "ann\n"), (Some("a"), "bob\n"), (Some("b"), "bob\ncid\n")] {
        let more = name.map_or(vec![], |name| vec!["--set", name]);
        let output = ask(&ours, &more, &server.address);
        assert_eq!(found(&output), rows);
    }
    // The bound of the receiver is for the set that it asks for.
    let small = ask(&ours, &["--set", "a", "--max-peer-keys", "1"], &server.address);
    assert_eq!(found(&small), "bob\n");
    let large = ask(&ours, &["--set", "b", "--max-peer-keys", "1"], &server.address);
    assert!(stderr(&large).contains("its set has more keys than we accept"), "{}", stderr(&large));
    let unknown = ask(&ours, &["--set", "c"], &server.address);
    assert_eq!(unknown.status.code(), Some(1));
    assert!(
        stderr(&unknown)
            .contains("it has no set of the name that we asked for\nhint: ask the peer"),
        "{}",
        stderr(&unknown)
    );
    drop(server);
    let lines: Vec<serde_json::Value> = fs::read_to_string(&record)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let names: Vec<_> = lines.iter().map(|line| line["set"].as_str()).collect();
    // Also the peer that heard that the set is large has learnt something of it. One that asks for a set that is missing has not.
    assert_eq!(names, [None, Some("a"), Some("b"), Some("a"), Some("b")]);

    // A sender of one set has none with a name.
    let sender = Listening::start(&["psi", "send", &plain]);
    let output = ask(&ours, &["--set", "a"], &sender.address);
    assert_eq!((sender.end().0, output.status.code()), (1, Some(1)), "{}", stderr(&output));
}

#[test]
fn sets_of_a_server_need_different_names_and_files() {
    let folder = tempfile::tempdir().unwrap();
    let set = write(folder.path(), "set", "ann\n");
    let (a, dash) = (format!("a={set}"), "a=-");
    let serve = ["psi", "send", "--serve", "--insecure", "--listen", "127.0.0.1:0"];
    for (more, why) in [
        (vec!["--set", &a, "--set", &a], "two sets have the name a"),
        (vec!["--set", "a"], "must be a name and a file"),
        (vec!["--set", dash, "--reload"], "--reload needs files"),
        (vec![&set, "--max-runs-per-day", "3"], "--limits"),
        (vec![], "required"),
    ] {
        let output = foxtrot(&[&serve[..], &more].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{more:?}");
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
    }
}

#[test]
fn a_changed_file_is_read_again_and_one_that_cannot_be_read_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let ours = write(folder.path(), "ours.csv", "name\nann\nbob\n");
    let theirs = write(folder.path(), "theirs.csv", "name\nann\n");
    let mut server = Listening::start(&["psi", "send", &theirs, "--serve", "--reload"]);
    assert_eq!(found(&ask(&ours, &[], &server.address)), "name\nann\n");
    let mut line_with = |what: &str| {
        loop {
            let line = server.running.line();
            assert!(!line.is_empty(), "the server has ended");
            if line.contains(what) {
                return line;
            }
        }
    };
    fs::write(folder.path().join("new"), "name\nbob\ncid\n").unwrap();
    fs::rename(folder.path().join("new"), &theirs).unwrap();
    assert!(line_with("reload").contains("reloaded"));
    assert_eq!(found(&ask(&ours, &[], &server.address)), "name\nbob\n");
    fs::write(&theirs, "name\n\"bob\n").unwrap();
    let mut line_with = |what: &str| {
        loop {
            let line = server.running.line();
            assert!(!line.is_empty(), "the server has ended");
            if line.contains(what) {
                return line;
            }
        }
    };
    let said = line_with("reload");
    assert!(said.contains("cannot reload") && said.contains("the old set stays"), "{said}");
    assert_eq!(found(&ask(&ours, &[], &server.address)), "name\nbob\n");
}

#[cfg(unix)]
#[test]
fn a_set_that_becomes_a_pipe_is_not_read_again_and_stops_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let [ours, theirs, other] = ["ours", "theirs", "other"].map(at);
    fs::write(&ours, "ann\nbob\n").unwrap();
    fs::write(&theirs, "ann\n").unwrap();
    fs::write(&other, "bob\n").unwrap();
    let named = format!("other={other}");
    let serve = ["psi", "send", &theirs, "--serve", "--reload", "--set", &named];
    let mut server = Listening::start(&serve);
    fs::remove_file(&theirs).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&theirs).status().unwrap().success());
    let said = server.line_with("cannot reload");
    assert!(said.contains("it is not a regular file; the old set stays"), "{said}");
    // The other set is still looked after.
    fs::write(&other, "bob\nann\n").unwrap();
    assert!(server.line_with("reloaded").contains(&other));
    let ask = ["psi", "receive", &ours];
    assert_eq!(stdout(&connect(&ask, &server.address)), "ann\n");
    let ask = [&ask[..], &["--set", "other"]].concat();
    assert_eq!(stdout(&connect(&ask, &server.address)), "ann\nbob\n");
    drop(server);
    // Nor does a server begin that could not read it again.
    let all = [&serve[..], &["--insecure", "--listen", "127.0.0.1:0"]].concat();
    let begun = foxtrot(&all).output().unwrap();
    assert_eq!(begun.status.code(), Some(2));
    assert!(stderr(&begun).contains("it is not a regular file"), "{}", stderr(&begun));
}
