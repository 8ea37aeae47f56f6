//! Tests of the targets of `-o`: open files, pipes, keys, and places that cannot be.

use std::{fs, path::Path, process::Command};

use super::support::{Key, foxtrot, root, stderr, stdout};

const PSI: [&str; 8] = [
    "psi",
    "local",
    "examples/customers-a.csv",
    "examples/customers-b.csv",
    "--key",
    "email",
    "--key-b",
    "E-Mail",
];

fn rows() -> String {
    let rows = stdout(&foxtrot(&PSI).output().unwrap());
    assert!(rows.lines().count() > 2, "{rows}");
    rows
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().unwrap().to_owned()
}

/// Runs this script, in which `$foxtrot` is the command and `$1` a folder.
#[cfg(unix)]
fn script(text: &str, folder: &Path) {
    let mut shell = Command::new("sh");
    shell.args(["-ec", text, "sh"]).arg(folder).current_dir(root());
    let run = shell.env("foxtrot", env!("CARGO_BIN_EXE_foxtrot")).output().unwrap();
    assert!(run.status.success(), "{text}: {}", stderr(&run));
}

#[cfg(target_os = "linux")]
#[test]
fn an_open_file_is_written_in_place_under_any_name() {
    use std::os::unix::fs::symlink;
    for (target, number) in [
        ("/proc/self/fd/1", 1),
        ("/proc/thread-self/fd/1", 1),
        ("/dev/fd/1", 1),
        ("/proc/self/fd/9", 9),
    ] {
        let folder = tempfile::tempdir().unwrap();
        symlink(target, folder.path().join("first")).unwrap();
        symlink("first", folder.path().join("link")).unwrap();
        let text = format!(
            "{{ echo before >&{number}; \"$foxtrot\" {} -q -o \"$1\"/link; \
             echo after >&{number}; }} {number}>\"$1\"/all",
            PSI.join(" ")
        );
        script(&text, folder.path());
        let all = fs::read_to_string(folder.path().join("all")).unwrap();
        assert_eq!(all, format!("before\n{}after\n", rows()), "{target}");
        assert!(fs::symlink_metadata(folder.path().join("link")).unwrap().is_symlink());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 3);
    }
}

/// Open files that nobody gave us, that are only for reading, or that another process has open are
/// refused.
#[cfg(target_os = "linux")]
#[test]
fn an_open_file_that_we_may_not_write_is_refused() {
    use std::os::{fd::AsRawFd, unix::fs::symlink};
    let folder = tempfile::tempdir().unwrap();
    let file = fs::File::create(folder.path().join("file")).unwrap();
    let another = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
    // The first numbers after the usual ones are those of files that the command opens itself.
    let own: Vec<_> = (3..8).map(|number| format!("/proc/self/fd/{number}")).collect();
    for target in own.iter().map(String::as_str).chain(["/proc/self/fd/0", &another]) {
        let link = path(folder.path(), "link");
        symlink(target, &link).unwrap();
        let run = foxtrot(&[&PSI[..], &["-o", &link]].concat()).output().unwrap();
        assert_eq!(run.status.code(), Some(1), "{target}: {}", stderr(&run));
        let words = format!("foxtrot: cannot write {link}: ");
        // Before anything was read.
        assert!(stderr(&run).starts_with(&words), "{}", stderr(&run));
        fs::remove_file(link).unwrap();
    }
    assert_eq!(fs::read(folder.path().join("file")).unwrap(), b"");
}

#[cfg(unix)]
#[test]
fn a_pipe_with_a_name_is_written_to_and_stays() {
    use std::os::unix::fs::FileTypeExt;
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "mkfifo \"$1\"/pipe; cat \"$1\"/pipe >\"$1\"/read & \
         \"$foxtrot\" {} -q -o \"$1\"/pipe; wait",
        PSI.join(" ")
    );
    script(&text, folder.path());
    assert_eq!(fs::read_to_string(folder.path().join("read")).unwrap(), rows());
    assert!(fs::metadata(folder.path().join("pipe")).unwrap().file_type().is_fifo());
}

#[test]
fn no_result_replaces_our_key() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("foxtrot")).unwrap();
    let key = Key::generate(&home.path().join("foxtrot"), "identity.pem");
    let transport = ["--connect", "127.0.0.1:1", "--peer", &key.fingerprint];
    let named = [&transport[..], &["--identity", &key.file]].concat();
    let keys = Key::generate(home.path(), "prefix.keys");
    let prefix = path(home.path(), "prefix");
    let named_keys = [&transport[..], &["--identity", &keys.file]].concat();
    let receive = ["psi", "receive", "examples/customers-a.csv", "--key", "email"];
    let onto = ["-o", &key.file];
    for (command, transport, onto, replaced) in [
        (&receive[..], &named, &onto, &key),
        // At its usual place.
        (&receive, &transport.to_vec(), &onto, &key),
        (&["ot", "receive", "examples/choices.txt"], &named, &onto, &key),
        (&["rot", "send", "-n", "4", "--force"], &named_keys, &["-o", &prefix], &keys),
        (&["rot", "receive", "-n", "4", "--force"], &named_keys, &["-o", &prefix], &keys),
        // Commands that use no key, with the usual one.
        (&PSI, &Vec::new(), &onto, &key),
        (&["psi", "inspect", PSI[2], "--key", "email", "--left-out"], &Vec::new(), &onto, &key),
        (
            &["ot", "local", "examples/messages.txt", "examples/choices.txt"],
            &Vec::new(),
            &onto,
            &key,
        ),
    ] {
        let before = fs::read(&replaced.file).unwrap();
        let mut command = foxtrot(&[command, transport, onto].concat());
        let run = command.env("XDG_CONFIG_HOME", home.path()).output().unwrap();
        assert_eq!(run.status.code(), Some(2), "{}", stderr(&run));
        let file = &replaced.file;
        let words = format!("foxtrot: -o names the identity key {file}\n");
        assert!(stderr(&run).starts_with(&words), "{}", stderr(&run));
        assert_eq!(fs::read(file).unwrap(), before);
    }
}

#[test]
fn a_place_that_cannot_be_is_refused_before_the_run() {
    let folder = tempfile::tempdir().unwrap();
    // The first reader says that it is missing.
    let missing = path(folder.path(), "missing");
    for last in ["new/", "new/.", "new/.."] {
        let out = format!("{}/{last}", folder.path().display());
        for command in [
            &["psi", "local", &missing, &missing][..],
            &["psi", "receive", &missing, "--insecure", "--connect", "127.0.0.1:1"],
            &["psi", "inspect", &missing, "--left-out"],
            &["ot", "local", &missing, &missing],
            &["keygen"],
            &["keygen", "--force"],
        ] {
            let run = foxtrot(&[command, &["-o", &out]].concat()).output().unwrap();
            assert_eq!((run.status.code(), stdout(&run).as_str()), (Some(2), ""));
            let words = format!("foxtrot: {out} is a directory\nhint: -o needs a file name\n");
            assert_eq!(stderr(&run), words);
        }
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn random_keys_are_replaced_only_if_that_is_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let prefix = path(folder.path(), "k");
    let local = ["rot", "local", "-n", "40", "-o", &prefix];
    let run = |more: &[&str]| foxtrot(&[&local[..], more].concat()).output().unwrap();
    let files = ["k.receiver.choices", "k.receiver.keys", "k.sender.keys"];
    let read = || files.map(|name| fs::read(folder.path().join(name)).unwrap());
    assert_eq!(run(&[]).status.code(), Some(0));
    let before = read();
    let again = run(&[]);
    assert_eq!(again.status.code(), Some(2));
    let words = format!(
        "foxtrot: {prefix}.sender.keys exists\nhint: pass --force to replace it, or another -o\n"
    );
    assert_eq!(stderr(&again), words);
    // One of them is enough.
    fs::remove_file(folder.path().join(files[2])).unwrap();
    assert_eq!(run(&[]).status.code(), Some(2));
    assert_eq!(run(&["--force"]).status.code(), Some(0));
    assert!(read().iter().zip(&before).all(|(now, before)| now != before));
}
