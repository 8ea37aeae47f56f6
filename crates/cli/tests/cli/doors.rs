//! Every door, the same: the command plays the receiver of the cases that the library's tests also play.

use std::{fs, path::Path};

use super::support::{connect, stderr, stdout};

#[path = "../../../foxtrot/tests/doors_peer.rs"]
mod doors_peer;

use doors_peer::{cases, check_sender, columns, serve};

#[test]
fn the_command_is_told_what_the_table_says() {
    let folder = tempfile::tempdir().unwrap();
    let set = folder.path().join("set.csv");
    fs::write(&set, "email\nann@example.org\nbob@example.org\n").unwrap();
    for case in cases() {
        play(&case, &set);
    }
}

fn play(case: &serde_json::Value, set: &Path) {
    let (name, of) = (case["name"].as_str().unwrap(), &case["receiver"]);
    let (folder, out) = (set.parent().unwrap(), set.with_file_name("rows.csv"));
    let (input, output) = (set.to_str().unwrap(), out.to_str().unwrap());
    let mut arguments: Vec<String> =
        ["psi", "receive", input, "--key", "email", "--yes", "-o", output].map(Into::into).into();
    let normalize = of["normalize"].as_str().unwrap_or("email");
    arguments.extend(["--normalize".into(), normalize.into()]);
    for (key, value) in of.as_object().into_iter().flatten().filter(|(key, _)| *key != "normalize")
    {
        arguments.push(format!("--{}", key.replace('_', "-")));
        match value {
            serde_json::Value::Bool(_) => {}
            serde_json::Value::Array(_) => arguments.push(columns(value).unwrap().join(",")),
            serde_json::Value::String(word) => arguments.push(word.clone()),
            other => arguments.push(other.to_string()),
        }
    }
    let (address, sender) = serve(case);
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let output = connect(&arguments, &address.to_string());
    check_sender(case, sender.join().unwrap());
    let said = stderr(&output);
    if let Some(finds) = columns(&case["finds"]) {
        assert_eq!(stdout(&output), "", "{name}");
        let rows = fs::read_to_string(&out).unwrap();
        fs::remove_file(&out).unwrap();
        let rows: Vec<_> = rows.lines().skip(1).map(|row| row.split(',').next().unwrap()).collect();
        assert_eq!(rows, finds, "{name}: {said}");
        return;
    }
    // A run that fails leaves nothing behind.
    let left = fs::read_dir(folder).unwrap().map(|it| it.unwrap().file_name());
    assert_eq!(left.collect::<Vec<_>>(), ["set.csv"], "{name}");
    let status = output.status.code().map(i64::from);
    assert_eq!(status, case["status"].as_i64(), "{name}: {said}");
    assert!(said.contains(case["says"].as_str().unwrap()), "{name}: {said}");
    if let Some(hint) = case["hint"].as_str() {
        let parts = hint.split(['{', '}']).enumerate();
        let spelled = parts.map(|(i, part)| match i % 2 {
            0 => part.to_owned(),
            _ => format!("--{}", part.replace('_', "-")),
        });
        let spelled = spelled.collect::<String>();
        assert!(said.contains(&format!("hint: {spelled}")), "{name}: {said}");
    }
}
