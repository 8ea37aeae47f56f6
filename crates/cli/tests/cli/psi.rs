//! Sets from pipes, and into files.

use std::{fs, io::Write, process::Stdio};

use super::support::{foxtrot, root, stdout};

/// The command with a file's content on a pipe.
fn piped(arguments: &[&str], content: &[u8]) -> String {
    let mut child = foxtrot(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(content).unwrap();
    stdout(&child.wait_with_output().unwrap())
}

#[test]
fn a_pipe_is_read_as_the_file_is() {
    let content = fs::read(root().join("examples/customers-b.csv")).unwrap();
    let rest = ["--key", "E-Mail", "--normalize", "email", "--format", "csv"];
    let run = |set: &str, more: &[&str]| {
        let arguments: Vec<&str> =
            ["psi", "inspect", set].iter().chain(&rest).chain(more).copied().collect();
        piped(&arguments, &content)
    };
    for more in [&[][..], &["--left-out"]] {
        let expected = run("examples/customers-b.csv", more);
        assert!(expected.lines().count() > 2, "{expected}");
        assert_eq!(run("-", more), expected);
        #[cfg(target_os = "linux")]
        assert_eq!(run("/dev/stdin", more), expected);
    }
}

#[test]
fn what_is_left_out_can_replace_the_file_it_comes_from() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("set.txt");
    fs::write(&path, "b\r\na\nb\n").unwrap();
    let name = path.to_str().unwrap();
    let run = foxtrot(&["psi", "inspect", name, "--left-out", "-o", name]).output().unwrap();
    assert!(run.status.success());
    assert_eq!(fs::read(&path).unwrap(), b"b\n");
}
