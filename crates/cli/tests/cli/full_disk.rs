//! Disks that are full: the file is named, what was there stays as it was, nothing half-written is left, and
//! the other party gets to know unless the run is over for it.

use std::{fs, path::Path, process::Stdio};

use super::{
    support::{Listening, Running, foxtrot, names, on_full_disk, stderr, stdout},
    triples::{generate, name, verified},
};

const OLD: &str = "what was there before\n";
const A: [&str; 3] = ["examples/customers-a.csv", "--key", "email"];
const B: [&str; 3] = ["examples/customers-b.csv", "--key", "E-Mail"];

/// Whichever the peer notices first: that the other says so, or that it takes no more.
fn is_told(said: &str) -> bool {
    said.contains("foxtrot: the peer gave up: something failed on its side\n")
        || said.contains("foxtrot: the peer closed the connection")
}

/// Files of these names, with something in them.
fn old_files(folder: &Path, names: &[&str]) {
    names.iter().for_each(|name| fs::write(folder.join(name), OLD).unwrap());
}

/// Asserts that the folder has the old files, unchanged, and no others.
fn assert_old_files(folder: &Path, old: &[&str]) {
    assert_eq!(names(folder), old);
    old.iter().for_each(|name| assert_eq!(fs::read_to_string(folder.join(name)).unwrap(), OLD));
}

/// Asserts that the run ended because it could not write the file.
fn assert_cannot_write(file: &str, (status, result, said): &(i32, String, String)) {
    assert_eq!((*status, result.as_str()), (1, ""), "{said}");
    let why = format!("foxtrot: cannot write {file}: file too large\n");
    assert!(said.contains(&why), "{said}");
}

/// Two processes; the disk of the one that connects is full behind so many blocks.
fn two(listens: &[&str], connects: &[&str], blocks: u32) -> [(i32, String, String); 2] {
    let listening = Listening::start(listens);
    let transport = ["--insecure", "--connect", &listening.address];
    let connected = Running::of(on_full_disk(blocks, &[connects, &transport].concat()));
    let connected = connected.end();
    [listening.end(), connected]
}

#[test]
fn a_full_disk_leaves_old_files_of_a_local_run_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let out = name(folder.path(), "out");
    let psi = [&["psi", "local"][..], &[A[0], B[0]], &A[1..], &["--key-b", B[2]]].concat();
    for command in [
        &["ot", "local", "examples/messages.txt", "examples/choices.txt"][..],
        &psi,
        &["psi", "inspect", "examples/customers-a.csv", "--key", "email", "--left-out"],
        &["keygen", "--force"],
    ] {
        for there in [&["out"][..], &[]] {
            let _ = fs::remove_file(&out);
            old_files(folder.path(), there);
            let run = on_full_disk(0, &[command, &["-o", &out]].concat()).output().unwrap();
            let ended = (run.status.code().unwrap(), stdout(&run), stderr(&run));
            assert_cannot_write(&out, &ended);
            assert_old_files(folder.path(), there);
        }
    }
    // Far more than the disk takes, and far less than a write.
    for (n, blocks) in [("100000", 20), ("40", 0)] {
        for format in ["raw", "npy"] {
            let all = ["out.receiver.choices", "out.receiver.keys", "out.sender.keys"];
            old_files(folder.path(), &all);
            let rot = ["rot", "local", "-n", n, "--format", format, "-o", &out, "--force"];
            let run = on_full_disk(blocks, &rot).output().unwrap();
            let said = stderr(&run);
            assert_eq!((run.status.code(), stdout(&run).as_str()), (Some(1), ""), "{said}");
            assert!(said.contains(&format!("foxtrot: cannot write {out}.")), "{said}");
            assert!(said.contains(": file too large\n"), "{said}");
            assert_old_files(folder.path(), &all);
        }
    }
}

#[test]
fn a_full_disk_at_one_party_of_rot_fails_the_other() {
    for (ours, theirs, extension) in [
        ("send", "receive", "none"),
        ("receive", "send", "none"),
        ("send", "receive", "softspoken"),
        ("receive", "send", "softspoken"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let [here, there] = ["here", "there"].map(|it| name(folder.path(), it));
        let all = ["here.choices", "here.keys", "there.choices", "there.keys"];
        old_files(folder.path(), &all);
        let kind = ["-n", "2000000", "--extension", extension];
        let kind =
            if extension == "none" { ["-n", "4000", "--extension", extension] } else { kind };
        let listens = [&["rot", theirs, "--force", "-o", &there], &kind[..]].concat();
        let connects = [&["rot", ours, "--force", "-o", &here], &kind[..]].concat();
        let [listened, connected] = two(&listens, &connects, 40);
        assert_cannot_write(&format!("{here}.keys"), &connected);
        let (status, result, said) = listened;
        assert_eq!((status, result.as_str()), (1, ""), "{said}");
        assert!(is_told(&said), "{said}");
        assert_old_files(folder.path(), &all);
    }
}

/// Messages are opened, and sets compared, when the connection has ended: a receiver that then fails does not
/// fail the sender.
#[test]
fn a_receiver_that_cannot_write_fails_while_the_sender_succeeds() {
    let folder = tempfile::tempdir().unwrap();
    let out = name(folder.path(), "out");
    old_files(folder.path(), &["out"]);
    let psi = [&["psi", "send"][..], &B].concat();
    let psi_receive = [&["psi", "receive"][..], &A, &["-o", &out]].concat();
    for (listens, connects) in [
        (
            &["ot", "send", "examples/messages.txt"][..],
            &["ot", "receive", "examples/choices.txt", "-o", &out][..],
        ),
        (&psi, &psi_receive),
    ] {
        let [listened, connected] = two(listens, connects, 0);
        assert_cannot_write(&out, &connected);
        assert_eq!(listened.0, 0, "{}", listened.2);
        assert_old_files(folder.path(), &["out"]);
    }
}

const KINDS: [(&[&str], u64, &str); 3] = [
    (&["-n", "100000", "--bits", "8"], 100_000, "8"),
    (&["-n", "100000", "--bits", "8", "--lift"], 100_000, "8"),
    (&["-n", "20000", "--bits", "64", "--method", "gilboa"], 20_000, "64"),
];

#[test]
fn a_full_disk_at_one_party_of_triples_stops_both_and_both_resume() {
    for (kind, count, bits) in KINDS {
        let folder = tempfile::tempdir().unwrap();
        let [zero, one] = ["z", "o"].map(|it| name(folder.path(), it));
        let run = |more: &[&str], blocks| {
            let [listens, connects] = [("0", &zero), ("1", &one)]
                .map(|(p, dir)| generate(p, dir, &[kind, more].concat()));
            two(&listens, &connects, blocks)
        };
        // Some batches.
        let [listened, connected] = run(&[], 200);
        assert_cannot_write(&format!("{one}.partial/P1.triples"), &connected);
        assert!(
            connected.2.ends_with(
                "hint: finished batches are kept; continue with --resume on both sides\n"
            )
        );
        assert_eq!((listened.0, listened.1.as_str()), (1, ""), "{}", listened.2);
        assert!(is_told(&listened.2), "{}", listened.2);
        assert_eq!(names(folder.path()), ["o.partial", "z.partial"]);
        let [listened, connected] = run(&["--resume"], 1 << 20);
        assert_eq!((listened.0, connected.0), (0, 0), "{}{}", listened.2, connected.2);
        assert!(connected.2.contains("foxtrot: continuing after "), "{}", connected.2);
        verified([&zero, &one], count, bits);
    }
}

/// A record that does not fit on the disk leaves nothing to be continued, and the next run may begin
/// anew.
#[test]
fn a_party_of_triples_that_cannot_begin_leaves_no_file() {
    for (kind, _, _) in KINDS {
        for format in ["raw", "npy", "mp-spdz"] {
            if format == "mp-spdz" && !kind.contains(&"64") {
                continue;
            }
            let folder = tempfile::tempdir().unwrap();
            let [zero, one] = ["z", "o"].map(|it| name(folder.path(), it));
            let kind = [kind, &["--format", format]].concat();
            let [listens, connects] =
                [("0", &zero), ("1", &one)].map(|(party, dir)| generate(party, dir, &kind));
            let [listened, connected] = two(&listens, &connects, 0);
            let (status, result, said) = connected;
            assert_eq!((status, result.as_str()), (1, ""), "{said}");
            assert!(said.contains(&format!("foxtrot: cannot write {one}.partial/")), "{said}");
            assert_eq!(listened.0, 1, "{}", listened.2);
            assert!(is_told(&listened.2), "{}", listened.2);
            assert_eq!(names(folder.path()), ["z.partial"]);
            // Both in one process.
            let local = [&["triples", "local", "-o", &one][..], &kind].concat();
            let run = on_full_disk(0, &local).output().unwrap();
            assert_eq!(run.status.code(), Some(1), "{}", stderr(&run));
            assert_eq!(names(folder.path()), ["z.partial"], "{}", stderr(&run));
        }
    }
}

/// A device that is full is no file: nothing can be beside it.
#[cfg(target_os = "linux")]
#[test]
fn a_device_that_is_full_is_an_error_and_stays() {
    use std::os::unix::fs::{FileTypeExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let prefix = name(folder.path(), "out");
    let psi = [&["psi", "local"][..], &[A[0], B[0]], &A[1..], &["--key-b", B[2]]].concat();
    let full = [&psi[..], &["-o", "/dev/full"]].concat();
    let run = foxtrot(&full).output().unwrap();
    assert_eq!(run.status.code(), Some(1));
    let words = "foxtrot: cannot write /dev/full: no space left on device\n";
    assert!(stderr(&run).ends_with(words), "{}", stderr(&run));
    // To standard output.
    let file = || fs::File::options().write(true).open("/dev/full").unwrap();
    for command in [&psi[..], &["keygen", "-o", &prefix, "--force"]] {
        let run = foxtrot(command).stdout(file()).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(run.status.code(), Some(1));
        let words = "foxtrot: cannot write to standard output: no space left on device\n";
        assert!(stderr(&run).ends_with(words), "{}", stderr(&run));
    }
    fs::remove_file(&prefix).unwrap();
    // One of three files: none of the others is put in its place.
    for suffix in ["receiver.choices", "receiver.keys", "sender.keys"] {
        let link = format!("{prefix}.{suffix}");
        symlink("/dev/full", &link).unwrap();
        let run = foxtrot(&["rot", "local", "-n", "1000", "-o", &prefix]).output().unwrap();
        assert_eq!(run.status.code(), Some(1), "{}", stderr(&run));
        assert!(stderr(&run).ends_with(": no space left on device\n"), "{}", stderr(&run));
        assert_eq!(names(folder.path()), [format!("out.{suffix}")]);
        fs::remove_file(&link).unwrap();
    }
    assert!(fs::metadata("/dev/full").unwrap().file_type().is_char_device());
}
