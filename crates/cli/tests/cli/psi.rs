//! Sets from pipes, and into files.

use std::{fs, io::Write, process::Stdio};

use super::support::{foxtrot, root, stderr, stdout};

/// The command with a file's content on a pipe.
fn piped(arguments: &[&str], content: &[u8]) -> String {
    let mut child = foxtrot(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // One that reads a file may have ended.
    let _ = child.stdin.take().unwrap().write_all(content);
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
fn no_output_replaces_its_input() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["a.txt", "b.txt", "other"].map(|name| folder.path().join(name));
    let [a, b, other] = names.each_ref().map(|path| path.to_str().unwrap());
    let content = "b\r\na\nb\n";
    fs::write(a, content).unwrap();
    fs::write(b, content).unwrap();
    let mut others = vec![a.to_owned(), a.replace("/a.txt", "/./a.txt")];
    #[cfg(unix)]
    {
        fs::hard_link(a, other).unwrap();
        others.push(other.to_owned());
    }
    let connect = ["--insecure", "--connect", "127.0.0.1:1"];
    for out in &others {
        for command in [
            &["psi", "inspect", a, "--left-out"][..],
            &["psi", "local", a, b],
            &["psi", "local", b, a],
            &[&["psi", "receive", a], &connect[..]].concat(),
            &["ot", "local", a, b],
            &["ot", "local", b, a],
            &[&["ot", "receive", a], &connect[..]].concat(),
        ] {
            let run = foxtrot(&[command, &["-o", out]].concat()).output().unwrap();
            let said = stderr(&run);
            assert_eq!(run.status.code(), Some(2), "{said}");
            let words = format!("foxtrot: -o names the input file {a}");
            assert!(said.starts_with(&words), "{said}");
            assert_eq!(fs::read_to_string(a).unwrap(), content);
        }
    }
    #[cfg(unix)]
    {
        let mut command = foxtrot(&["psi", "inspect", "-", "--left-out", "-o", other]);
        let run = command.stdin(fs::File::open(a).unwrap()).output().unwrap();
        assert_eq!(run.status.code(), Some(2));
        assert!(stderr(&run).contains("-o names the input file standard input as "));
    }
}

#[test]
fn output_dash_writes_to_standard_output() {
    let folder = tempfile::tempdir().unwrap();
    let root = root();
    let file = |name: &str| root.join("examples").join(name).to_str().unwrap().to_owned();
    let [a, b, messages, choices] =
        ["customers-a.csv", "customers-b.csv", "messages.txt", "choices.txt"].map(file);
    for command in [
        &["psi", "local", &a, &b, "--key", "email", "--key-b", "E-Mail"][..],
        &["psi", "inspect", &a, "--key", "email", "--normalize", "email", "--left-out"],
        &["ot", "local", &messages, &choices],
    ] {
        let plain = foxtrot(command).output().unwrap();
        let run = foxtrot(&[command, &["-o", "-"]].concat()).current_dir(&folder).output().unwrap();
        assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
        assert!(stdout(&run).lines().count() > 1);
        assert_eq!(stdout(&run), stdout(&plain));
    }
    let json = foxtrot(&["psi", "local", &a, &b, "--key", "email", "--json", "-o", "-"]);
    let key = foxtrot(&["keygen", "-o", "-"]);
    for mut command in [json, key] {
        assert_eq!(command.current_dir(&folder).output().unwrap().status.code(), Some(2));
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

/// A family's name would stand for another of its base OTs elsewhere.
#[test]
fn the_help_names_the_base_ot_that_a_run_takes() {
    for party in ["local", "receive", "send"] {
        let help = stdout(&foxtrot(&["psi", party, "--help"]).output().unwrap());
        assert!(help.contains("[default: roted-endemic]"), "{help}");
    }
    let run = ["psi", "local", "examples/customers-a.csv", "examples/customers-b.csv"];
    let run = [&run[..], &["--key", "email", "--key-b", "E-Mail", "--count", "-v"]].concat();
    let [plain, named] =
        [&[][..], &["--base", "roted"]].map(|more| foxtrot(&[&run[..], more].concat()).output());
    for run in [plain, named] {
        assert!(stderr(&run.unwrap()).contains("over vole-packed from base OT roted-endemic, "));
    }
}
