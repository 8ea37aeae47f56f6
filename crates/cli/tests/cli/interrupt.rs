//! Ctrl-C ends a run at any time and leaves nothing half-written.

use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use super::support::{Listening, Running, foxtrot, names};

#[test]
fn a_listener_is_interrupted() {
    let mut listening = Listening::start(&["ot", "send", "examples/messages.txt"]);
    assert!(listening.running.line().starts_with("foxtrot: waiting for the peer "));
    listening.running.interrupt();
    assert_eq!(listening.end(), (130, String::new(), "foxtrot: interrupted\n".into()));
}

#[test]
fn a_long_run_is_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let prefix = folder.path().join("keys");
    for extension in ["none", "softspoken"] {
        let run = ["rot", "local", "-n", "1000000000", "--extension", extension];
        let mut run = Running::start(&[&run[..], &["-o", prefix.to_str().unwrap()]].concat());
        assert!(run.line().starts_with("foxtrot: agreed: "));
        // Keys of several batches stand beside their places, for their owner only.
        wait_for(100_000, folder.path());
        run.interrupt();
        assert_eq!(run.end(), (130, String::new(), "foxtrot: interrupted\n".into()));
        assert!(names(folder.path()).is_empty());
    }
}

/// Waits until the folder has so many bytes, and checks that others cannot read them.
fn wait_for(bytes: u64, folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let found = || fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().metadata().unwrap());
    let start = Instant::now();
    while found().map(|file| file.len()).sum::<u64>() < bytes {
        assert!(start.elapsed() < Duration::from_secs(20), "nothing is written");
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(found().count(), 3);
    assert!(found().all(|file| file.permissions().mode() & 0o777 == 0o600));
}

/// Files of a killed run are left to the next run: no other process can remove them.
#[test]
fn files_of_a_killed_run_are_removed_by_the_next_and_files_of_a_living_run_stay() {
    let folder = tempfile::tempdir().unwrap();
    let prefix = folder.path().join("keys").to_str().unwrap().to_owned();
    let long = ["rot", "local", "-n", "1000000000", "-o", &prefix];
    let mut killed = Running::start(&long);
    killed.line();
    wait_for(100_000, folder.path());
    killed.signal("-KILL");
    assert_eq!(killed.end().0, -1);
    let left = names(folder.path());
    assert_eq!(left.len(), 3);
    for (name, file) in left.iter().zip(["receiver.choices", "receiver.keys", "sender.keys"]) {
        assert!(name.starts_with(&format!(".foxtrot-keys.{file}.")), "{left:?}");
    }
    let mut living = Running::start(&long);
    living.line();
    wait_for(100_000, folder.path());
    let livings = names(folder.path());
    assert!(left.iter().all(|name| !livings.contains(name)), "{livings:?}");
    let run = foxtrot(&["rot", "local", "-n", "40", "-o", &prefix]).output().unwrap();
    assert_eq!(run.status.code(), Some(0));
    let done = ["keys.receiver.choices", "keys.receiver.keys", "keys.sender.keys"];
    let expected = [&livings[..], &done.map(str::to_owned)].concat();
    assert_eq!(names(folder.path()), expected);
    living.interrupt();
    assert_eq!(living.end().0, 130);
    assert_eq!(names(folder.path()), done);
}

#[test]
fn an_interrupt_finds_all_files_or_none() {
    for delay in (0..200).step_by(10) {
        let folder = tempfile::tempdir().unwrap();
        let prefix = folder.path().join("keys");
        let mut run =
            Running::start(&["rot", "local", "-n", "1000000", "-o", prefix.to_str().unwrap()]);
        run.line();
        thread::sleep(Duration::from_millis(delay));
        // A terminal that closes and a system that shuts down count as well.
        run.signal(["-INT", "-TERM", "-HUP"][usize::try_from(delay).unwrap() / 10 % 3]);
        let (status, _, said) = run.end();
        assert!([0, 130].contains(&status), "{status}: {said}");
        match &names(folder.path())[..] {
            [] => assert_eq!(status, 130),
            all => {
                assert_eq!(
                    all,
                    ["keys.receiver.choices", "keys.receiver.keys", "keys.sender.keys"]
                );
            }
        }
    }
}

#[test]
fn the_peer_of_an_interrupted_run_ends_soon() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let mut sender = Listening::start(&["rot", "send", "-n", "1000000000", "-o", &file("s")]);
    let receiver = Running::start(
        &[
            &["rot", "receive", "-n", "1000000000", "-o", &file("r"), "--insecure"][..],
            &["--connect", &sender.address],
        ]
        .concat(),
    );
    assert!(sender.running.line().starts_with("foxtrot: waiting for the peer "));
    assert!(sender.running.line().starts_with("foxtrot: agreed: "));
    wait_for(100_000, folder.path());
    receiver.interrupt();
    let start = Instant::now();
    assert_eq!(receiver.end().0, 130);
    let (status, _, said) = sender.end();
    assert_eq!(status, 1, "{said}");
    assert!(said.starts_with("foxtrot: the peer closed the connection"), "{said}");
    assert!(start.elapsed() < Duration::from_secs(10));
    assert!(names(folder.path()).is_empty());
}
