//! `foxtrot peers`, and names in place of fingerprints.

use std::{fs, path::Path};

use super::support::{Key, Listening, connect_with, expected_messages, foxtrot, stderr, stdout};

const SEND: [&str; 3] = ["ot", "send", "examples/messages.txt"];
const RECEIVE: [&str; 3] = ["ot", "receive", "examples/choices.txt"];

/// Runs `peers` beside this key.
fn peers(key: &Key, arguments: &[&str]) -> (i32, String, String) {
    let all = [&["peers"], arguments, &["--identity", &key.file]].concat();
    let run = foxtrot(&all).output().unwrap();
    (run.status.code().unwrap(), stdout(&run), stderr(&run))
}

/// A key in a folder of its own.
fn key(folder: &Path, name: &str) -> Key {
    fs::create_dir(folder.join(name)).unwrap();
    Key::generate(&folder.join(name), "identity.pem")
}

#[test]
fn a_peers_name_stands_for_its_fingerprint_and_is_shown_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let [ours, acme] = ["ours", "acme"].map(|name| key(folder.path(), name));
    assert_eq!(peers(&ours, &["add", "acme", &acme.fingerprint]).0, 0);
    let record = folder.path().join("record.json").to_str().unwrap().to_owned();
    let named = ["--identity", &ours.file, "--peer", "acme"];
    let sender = Listening::with(&[&SEND[..], &["-v", "--record", &record]].concat(), &named);
    let receiver = connect_with(&RECEIVE, &acme.expecting(&ours), &sender.address);
    assert_eq!(stdout(&receiver), expected_messages(), "{}", stderr(&receiver));
    let (status, _, said) = sender.end();
    assert_eq!(status, 0, "{said}");
    let fingerprint = &acme.fingerprint;
    assert!(said.contains(&format!("the peer is acme ({fingerprint}) at 127.0.0.1:")), "{said}");
    let record: serde_json::Value = serde_json::from_slice(&fs::read(record).unwrap()).unwrap();
    assert_eq!(record["peer"]["name"], "acme");
    assert_eq!(record["peer"]["fingerprint"], *fingerprint.as_str());

    let unknown = ["--identity", &ours.file, "--peer", "acne"];
    let run = connect_with(&SEND, &unknown, "127.0.0.1:1");
    assert_eq!(run.status.code(), Some(2));
    let said = stderr(&run);
    assert!(said.starts_with("foxtrot: no peer is named acne in "), "{said}");
    assert!(said.contains("hint: add the name with `foxtrot peers add acne SHA256:…`"), "{said}");
}

/// Neither a result nor a record takes the place of the names.
#[test]
fn the_names_are_not_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let [ours, acme] = ["ours", "acme"].map(|name| key(folder.path(), name));
    assert_eq!(peers(&ours, &["add", "acme", &acme.fingerprint]).0, 0);
    let file = folder.path().join("ours/known_peers").to_str().unwrap().to_owned();
    let before = fs::read(&file).unwrap();
    let named = ["--identity", &ours.file, "--peer", "acme"];
    for option in ["-o", "--record"] {
        let receive = [&RECEIVE[..], &[option, &file]].concat();
        let run = connect_with(&receive, &named, "127.0.0.1:1");
        assert_eq!(run.status.code(), Some(2));
        let words = format!("foxtrot: {option} names the list of peers {file}\n");
        assert!(stderr(&run).starts_with(&words), "{}", stderr(&run));
        assert_eq!(fs::read(&file).unwrap(), before);
    }
}

#[test]
fn names_are_added_listed_replaced_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let [ours, a, b] = ["ours", "a", "b"].map(|name| key(folder.path(), name));
    let (a, b) = (&a.fingerprint, &b.fingerprint);
    let list = || peers(&ours, &["list"]).1;
    assert_eq!(list(), "");
    assert_eq!(peers(&ours, &["add", "acme", a]).2, format!("foxtrot: acme now names {a}\n"));
    // The same once more changes nothing.
    assert_eq!(peers(&ours, &["add", "acme", a]).0, 0);
    assert_eq!(list(), format!("acme {a}\n"));
    let (status, _, said) = peers(&ours, &["add", "acme", b]);
    assert_eq!(status, 2);
    let words =
        format!("foxtrot: acme already names another key, {a}\nhint: --force replaces it\n");
    assert_eq!(said, words);
    let (status, _, said) = peers(&ours, &["add", "other", a]);
    assert_eq!(status, 2);
    assert!(said.starts_with("foxtrot: this key already has the name acme\n"), "{said}");
    assert_eq!(peers(&ours, &["add", "acme", b, "--force"]).0, 0);
    assert_eq!(peers(&ours, &["add", "first@a.example", a]).0, 0);
    assert_eq!(list(), format!("acme {b}\nfirst@a.example {a}\n"));
    assert_eq!(peers(&ours, &["remove", "acme"]).2, "foxtrot: removed acme\n");
    assert_eq!(peers(&ours, &["remove", "acme"]).0, 2);
    assert_eq!(list(), format!("first@a.example {a}\n"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let file = folder.path().join("ours/known_peers");
        assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn the_file_is_read_strictly_and_comments_stay() {
    let folder = tempfile::tempdir().unwrap();
    let [ours, a, b] = ["ours", "a", "b"].map(|name| key(folder.path(), name));
    let (a, b) = (&a.fingerprint, &b.fingerprint);
    let file = folder.path().join("ours/known_peers");
    let write = |text: &str| {
        fs::write(&file, text).unwrap();
        #[cfg(unix)]
        fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    };
    write(&format!("# told by telephone\n\nacme\t{a}\n"));
    assert_eq!(peers(&ours, &["add", "b", b]).0, 0);
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(text, format!("# told by telephone\n\nacme\t{a}\nb {b}\n"));
    for (text, words) in [
        (format!("acme {a}\nacme {b}\n"), "line 2: acme has two lines\n"),
        (format!("acme {a}\n#\nb {a}\n"), "line 3: SHA256:"),
        (format!("acme {a} {b}\n"), "line 1: not a name and a fingerprint\n"),
        ("acme\n".into(), "line 1: not a name and a fingerprint\n"),
        ("acme SHA256:x\n".into(), "line 1: a fingerprint is `SHA256:` and 43 characters"),
        (format!("ac/me {a}\n"), "line 1: a name has 1 to 64 characters"),
    ] {
        write(&text);
        let (status, listed, said) = peers(&ours, &["list"]);
        assert_eq!((status, listed.as_str()), (2, ""));
        assert!(said.contains(&format!("known_peers, {words}")), "{said}");
        assert!(said.ends_with("hint: a line has a name, a space and a fingerprint\n"), "{said}");
    }
    #[cfg(unix)]
    {
        write("");
        fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o620)).unwrap();
        let (status, _, said) = peers(&ours, &["list"]);
        assert_eq!(status, 2);
        assert!(
            said.starts_with("foxtrot: other users can write ") && said.contains("`chmod 600 ")
        );
    }
}

#[test]
fn a_run_by_fingerprints_needs_no_names() {
    let folder = tempfile::tempdir().unwrap();
    let [ours, theirs] = ["ours", "theirs"].map(|name| key(folder.path(), name));
    fs::write(folder.path().join("theirs/known_peers"), "acme\n").unwrap();
    let sender = Listening::with(&SEND, &ours.expecting(&theirs));
    let receiver = connect_with(&RECEIVE, &theirs.expecting(&ours), &sender.address);
    let said = stderr(&receiver);
    assert_eq!((stdout(&receiver), sender.end().0), (expected_messages(), 0), "{said}");
    assert!(
        said.contains("known_peers, line 1: not a name and a fingerprint; names of "),
        "{said}"
    );

    let named = ["--identity", &theirs.file, "--peer", "acme"];
    let run = connect_with(&SEND, &named, "127.0.0.1:1");
    assert_eq!(run.status.code(), Some(2));
    assert!(stderr(&run).contains("known_peers, line 1: "), "{}", stderr(&run));
}
