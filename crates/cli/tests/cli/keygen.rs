//! `foxtrot keygen`.

use std::fs;

use super::support::{Key, foxtrot, stderr, stdout};

#[test]
fn a_key_is_never_replaced_unless_that_is_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let key = Key::generate(folder.path(), "key");
    let content = fs::read(&key.file).unwrap();
    let again = foxtrot(&["keygen", "-o", &key.file]).output().unwrap();
    assert_eq!((again.status.code(), stdout(&again).as_str()), (Some(2), ""));
    assert!(stderr(&again).contains(" exists\nhint: pass --force"), "{}", stderr(&again));
    assert_eq!(fs::read(&key.file).unwrap(), content);

    let forced = foxtrot(&["keygen", "--force", "-o", &key.file]).output().unwrap();
    assert_eq!(forced.status.code(), Some(0));
    assert_ne!(stdout(&forced).trim_end(), key.fingerprint);
    assert_ne!(fs::read(&key.file).unwrap(), content);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn the_fingerprint_stands_alone_on_standard_output() {
    let folder = tempfile::tempdir().unwrap();
    let key = Key::generate(folder.path(), "key");
    assert!(key.fingerprint.starts_with("SHA256:") && key.fingerprint.len() == 50);
    let shown = foxtrot(&["keygen", "--show", &key.file]).output().unwrap();
    assert_eq!(stdout(&shown), format!("{}\n", key.fingerprint));
    assert_eq!(stderr(&shown), "");
}

#[test]
fn files_without_an_identity_key_are_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(file("text"), "hello\n").unwrap();
    let wrong = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
    fs::write(file("wrong"), wrong).unwrap();
    for (name, words) in [
        ("text", "text: not a PEM file with one PRIVATE KEY\n"),
        ("wrong", "wrong: not an Ed25519 key in PKCS#8\n"),
        ("missing", "missing not found\nhint: create it with `foxtrot keygen`"),
        (".", "cannot read "),
    ] {
        let output = foxtrot(&["keygen", "--show", &file(name)]).output().unwrap();
        assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""));
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
    }
}

#[cfg(unix)]
#[test]
fn the_key_is_its_owners_only_in_the_configuration_directory() {
    use std::os::unix::fs::PermissionsExt;
    let home = tempfile::tempdir().unwrap();
    let mode = |path: &str| {
        let path = home.path().join(path);
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    };
    let run = |arguments: &[&str], name: &str, value: &str| {
        let mut command = foxtrot(arguments);
        command.env_remove("XDG_CONFIG_HOME").env("HOME", home.path()).env(name, value);
        command.output().unwrap()
    };
    let made = run(&["keygen"], "FOXTROT_TEST", "");
    assert_eq!(made.status.code(), Some(0), "{}", stderr(&made));
    assert_eq!(mode(".config/foxtrot"), 0o700);
    assert_eq!(mode(".config/foxtrot/identity.pem"), 0o600);

    // Bare, --show means that one.
    let shown = run(&["keygen", "--show"], "FOXTROT_TEST", "");
    assert_eq!((stdout(&shown), stderr(&shown)), (stdout(&made), String::new()));

    let elsewhere = home.path().join("elsewhere");
    let made = run(&["keygen"], "XDG_CONFIG_HOME", elsewhere.to_str().unwrap());
    assert_eq!(mode("elsewhere/foxtrot/identity.pem"), 0o600);
    // It is the identity unless another one is named.
    let send = ["ot", "send", "examples/messages.txt", "--connect", "127.0.0.1:1"];
    let asked = run(&send, "XDG_CONFIG_HOME", elsewhere.to_str().unwrap());
    assert!(stderr(&asked).contains(stdout(&made).trim_end()), "{}", stderr(&asked));
}

#[cfg(unix)]
#[test]
fn a_key_that_others_can_read_is_refused_with_the_remedy() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let [key, peer] = ["key", "peer"].map(|name| Key::generate(folder.path(), name));
    let send = ["ot", "send", "examples/messages.txt", "--connect", "127.0.0.1:1", "--wait", "1"];
    for (mode, refused) in [(0o600, false), (0o400, false), (0o640, true), (0o604, true)] {
        fs::set_permissions(&key.file, PermissionsExt::from_mode(mode)).unwrap();
        let shown = foxtrot(&["keygen", "--show", &key.file]).output().unwrap();
        let sent = foxtrot(&[&send[..], &key.expecting(&peer)].concat()).output().unwrap();
        assert_eq!(shown.status.code(), Some(if refused { 2 } else { 0 }), "{mode:o}");
        assert_eq!(sent.status.code(), Some(if refused { 2 } else { 1 }), "{mode:o}");
        let (file, said) = (&key.file, stderr(&sent));
        let words = format!(
            "foxtrot: other users can read or write the key {file}\nhint: run `chmod 600 {file}`;"
        );
        assert_eq!(
            (said.starts_with(&words), stderr(&shown).starts_with(&words)),
            (refused, refused)
        );
    }
}
