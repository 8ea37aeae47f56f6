//! Inputs without end, devices, and the memory that files take before anything is known of them.

use std::{
    fs,
    io::Write,
    path::Path,
    process::{Command, Output, Stdio},
    thread,
};

use super::support::{Key, foxtrot, names, root, stderr, stdout};

fn write(folder: &Path, name: &str, content: &[u8]) -> String {
    let path = folder.join(name);
    fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Runs the command with standard input that goes on as long as it is read.
fn with_endless_input(arguments: &[&str]) -> Output {
    let mut child = foxtrot(arguments);
    let child = child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = child.spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    // The end of the command ends it.
    let writer = thread::spawn(move || while pipe.write_all(&[b'\n'; 1 << 16]).is_ok() {});
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

#[test]
fn standard_input_without_end_is_refused_at_its_bound() {
    let folder = tempfile::tempdir().unwrap();
    for set in ["-", "/dev/stdin"] {
        if cfg!(not(target_os = "linux")) && set != "-" {
            continue;
        }
        let run = with_endless_input(&["psi", "inspect", set, "--max-input", "1M"]);
        assert_eq!(run.status.code(), Some(2));
        let name = if set == "-" { "standard input" } else { set };
        let words = format!("foxtrot: {name} has more than 1.0 MB\nhint: pass --max-input, or ");
        assert!(stderr(&run).starts_with(&words), "{}", stderr(&run));
    }
    let lines = write(folder.path(), "lines", b"a\nb\n");
    let mut run = foxtrot(&["psi", "inspect", "-", "--max-input", "4"]);
    let run = run.stdin(fs::File::open(lines).unwrap()).output().unwrap();
    assert!(stdout(&run).contains("rows:        2\n"), "{}", stderr(&run));
}

#[cfg(unix)]
#[test]
fn devices_and_large_files_are_no_keys_policies_tokens_or_sets() {
    let folder = tempfile::tempdir().unwrap();
    let large = write(folder.path(), "large", &vec![b'#'; (1 << 20) + 1]);
    let listen = ["--listen", "127.0.0.1:0"];
    let receive = ["psi", "receive", "missing"];
    for (command, option) in [
        (&[&receive[..], &listen, &["--insecure"]].concat(), "--policy"),
        (&[&receive[..], &listen, &["--peer", "a"]].concat(), "--identity"),
        (
            &[&receive[..], &["--allow-origin", "https://a", "--websocket", "127.0.0.1:0"]]
                .concat(),
            "--tokens",
        ),
        (&["ot", "receive", "missing", "--serial", "missing"].to_vec(), "--psk"),
        (&["keygen"].to_vec(), "--show"),
    ] {
        for (file, why) in
            [("/dev/zero", "it is a device"), (&large, "it has more than 1048576 bytes")]
        {
            let run = foxtrot(&[&command[..], &[option, file]].concat()).output().unwrap();
            assert_eq!(run.status.code(), Some(2), "{option}");
            let words = format!("foxtrot: cannot read {file}: {why}");
            assert!(stderr(&run).starts_with(&words), "{option}: {}", stderr(&run));
        }
    }
    for command in
        [&["psi", "inspect", "/dev/zero"][..], &["ot", "local", "/dev/zero", "/dev/zero"]]
    {
        let run = foxtrot(command).output().unwrap();
        assert_eq!(run.status.code(), Some(2));
        let words = "foxtrot: cannot read /dev/zero: it is a device\n";
        assert!(stderr(&run).starts_with(words), "{}", stderr(&run));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_key_can_come_through_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let key = Key::generate(folder.path(), "key.pem");
    let script = format!("cat {} | \"$0\" keygen --show /dev/stdin", key.file);
    let mut shell = Command::new("sh");
    let run = shell.args(["-c", &script, env!("CARGO_BIN_EXE_foxtrot")]).output().unwrap();
    assert_eq!(stdout(&run).trim_end(), key.fingerprint, "{}", stderr(&run));
}

/// Runs the command in so many KiB of memory.
#[cfg(target_os = "linux")]
fn within(memory: u32, arguments: &[&str]) -> Output {
    let script = format!("ulimit -v {memory}; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_foxtrot")]).args(arguments);
    command.current_dir(root()).stdin(Stdio::null()).output().unwrap()
}

/// Room for rows was made at each line end: sixty bytes for one.
#[cfg(target_os = "linux")]
#[test]
fn line_ends_that_end_no_row_take_no_memory() {
    const ENDS: usize = 8 << 20;
    let folder = tempfile::tempdir().unwrap();
    let ends = vec![b'\n'; ENDS];
    let quoted = write(folder.path(), "quoted.csv", &[b"id,x\n1,\"", &ends[..], b"\"\n"].concat());
    let blank = write(folder.path(), "blank.csv", &[b"id,x\n1,2\n", &ends[..]].concat());
    let lines = write(folder.path(), "lines", &[b"1\n", &ends[..]].concat());
    for (set, blank) in [(&quoted, 0), (&blank, ENDS), (&lines, ENDS)] {
        let key = if set == &lines { &[][..] } else { &["--key", "id"] };
        let run = within(160_000, &[&["psi", "inspect", set, "--json"], key].concat());
        let found: serde_json::Value = serde_json::from_str(&stdout(&run)).unwrap_or_default();
        let (rows, empty) = (&found["rows"], &found["blank_lines"]);
        assert_eq!((rows, empty), (&1.into(), &blank.into()), "{set}: {}", stderr(&run));
    }
    assert_eq!(names(folder.path()).len(), 3);
}
