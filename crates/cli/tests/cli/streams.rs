//! Standard output, files that cannot be written, and generated texts.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    process::Stdio,
};

use super::support::{foxtrot, names, stderr, stdout};

#[test]
fn a_reader_that_has_enough_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let [messages, choices] =
        ["messages", "choices"].map(|name| folder.path().join(name).to_str().unwrap().to_owned());
    // Far more than a pipe holds.
    let line = "x".repeat(2000) + "\n";
    fs::write(&messages, line.repeat(2 * 200)).unwrap();
    fs::write(&choices, "1\n".repeat(200)).unwrap();
    let mut child = foxtrot(&["ot", "local", &messages, &choices, "--quiet"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert_eq!(first, line);
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!((child.wait().unwrap().code(), said.as_str()), (Some(0), ""));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let local = ["ot", "local", "examples/messages.txt", "examples/choices.txt", "--quiet"];
    let output = foxtrot(&[&local[..], &["-o", "/dev/full"]].concat()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(stderr(&output), "foxtrot: cannot write /dev/full: no space left on device\n");
    use std::os::unix::fs::FileTypeExt;
    assert!(fs::metadata("/dev/full").unwrap().file_type().is_char_device());

    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = foxtrot(&local).stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let words = "foxtrot: cannot write to standard output: no space left on device\n";
    assert_eq!(stderr(&output), words);
}

/// A process that is started without standard output gets the null device in its place, and would lose its rows in silence.
#[cfg(target_os = "linux")]
#[test]
fn a_closed_standard_output_is_an_error_before_anything_is_read() {
    let run = |arguments: &str, redirection: &str| {
        let script = format!("exec \"$0\" {arguments} {redirection}");
        let mut shell = std::process::Command::new("sh");
        shell
            .args(["-c", &script, env!("CARGO_BIN_EXE_foxtrot")])
            .current_dir(super::support::root());
        shell.output().unwrap()
    };
    let ot = "ot local examples/messages.txt examples/choices.txt --quiet";
    let missing = "--listen 127.0.0.1:0 --insecure";
    for arguments in [
        ot,
        &format!("{ot} --json"),
        "psi local missing missing",
        "psi inspect missing",
        &format!("psi receive missing {missing}"),
        &format!("psi send missing --both {missing}"),
        &format!("psi count missing {missing}"),
        "rot local -n 1 -o missing/a --json",
    ] {
        let closed = run(arguments, ">&-");
        assert_eq!(closed.status.code(), Some(1), "{arguments}");
        let said = stderr(&closed);
        assert!(said.starts_with("foxtrot: standard output is closed, or "), "{arguments}: {said}");
    }
    assert_eq!(run(ot, ">/dev/null").status.code(), Some(0));
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let to_file = run(&format!("{ot} -o {}", out.display()), ">&-");
    assert_eq!((to_file.status.code(), stderr(&to_file).as_str()), (Some(0), ""));
    assert!(fs::read(out).unwrap().len() > 9);
}

fn generated(arguments: &[&str]) -> String {
    let output = foxtrot(&[&["generate"], arguments].concat()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    stdout(&output)
}

#[test]
fn manual_pages_name_options_and_statuses() {
    let page = generated(&["man"]);
    assert!(page.contains(".TH foxtrot 1"));
    for word in ["foxtrot\\-ot(1)", "foxtrot\\-keygen(1)", "EXIT STATUS", "130"] {
        assert!(page.contains(word), "{word}: {page}");
    }
    let page = generated(&["man", "ot", "send"]);
    assert!(page.contains(".TH foxtrot-ot-send 1"), "{page}");
    for word in ["\\-\\-serve", "\\-\\-identity", "\\-\\-peer", "EXIT STATUS"] {
        assert!(page.contains(word), "{word}: {page}");
    }
    let page = generated(&["man", "psi", "receive"]).replace('\n', " ");
    assert!(page.contains("receiver\\*(Aqs program still learns the rows"), "{page}");
    let output = foxtrot(&["generate", "man", "ot", "sand"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn every_subcommand_has_a_manual_page_with_examples() {
    let folder = tempfile::tempdir().unwrap();
    let man = folder.path().join("new/man1");
    assert_eq!(generated(&["man", "--all", man.to_str().unwrap()]), "");
    let pages = names(&man);
    for page in ["foxtrot.1", "foxtrot-psi.1", "foxtrot-psi-send.1", "foxtrot-generate-man.1"] {
        assert!(pages.iter().any(|it| it == page), "{pages:?}");
    }
    assert!(pages.len() > 25 && !pages.iter().any(|it| it.contains("help")), "{pages:?}");
    for page in &pages {
        let text = fs::read_to_string(man.join(page)).unwrap();
        assert!(text.contains("\n.SH EXAMPLES\n.nf\nfoxtrot "), "{page}: {text}");
    }
}

#[test]
fn completions_name_commands_and_options() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = generated(&["completions", shell]);
        for word in ["foxtrot", "receive", "keygen", "insecure", "serve"] {
            assert!(script.contains(word), "{word} for {shell}");
        }
    }
}
