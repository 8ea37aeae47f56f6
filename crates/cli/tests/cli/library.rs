//! The command and a program that uses the library, as each other's peers.

use std::{borrow::Cow, fs, path::Path};

use foxtrot::{
    Config, Identity, Peer, ot,
    psi::{
        self,
        keys::{Builder, Normaliser},
    },
    rot, triples,
};
use foxtrot_triples::formats::wrong_records;

use super::support::{Key, Listening, Running};

fn file(folder: &Path, name: &str, content: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Runs the command, which listens, against a peer in this process.
fn against<T>(arguments: &[&str], job: impl FnOnce(&mut Peer) -> T) -> (T, String) {
    let command = Listening::start(arguments);
    let mut peer = Config::insecure().connect(&command.address).unwrap();
    let result = job(&mut peer);
    peer.close().unwrap();
    let (status, stdout, stderr) = command.end();
    assert_eq!(status, 0, "{stderr}");
    (result, stdout)
}

#[test]
fn sets_are_intersected_either_way() {
    let folder = tempfile::tempdir().unwrap();
    let set = file(folder.path(), "set.txt", "ann\nbob\ncid\n");
    let ours = ["eve", "cid", "ann", "cid"];
    let (common, _) = against(&["psi", "send", &set], |peer| psi::receive(peer, &ours).unwrap());
    assert_eq!(common, [1, 2, 3]);
    let ((), rows) = against(&["psi", "receive", &set], |peer| psi::send(peer, &ours).unwrap());
    assert_eq!(rows, "ann\ncid\n");
}

#[test]
fn keys_of_several_columns_are_intersected_either_way() {
    let folder = tempfile::tempdir().unwrap();
    let set =
        file(folder.path(), "set.csv", "mail,born\nann@x,1990-02-01\ncid@x,\nbob@x,1991-03-04\n");
    let of_set = ["--key", "mail", "--key", "born", "--normalize", "email", "--normalize", "date"];
    let normalisers = ["email", "date:D.M.YYYY"].map(|it| it.parse::<Normaliser>().unwrap());
    let mut ours = Builder::new(normalisers.into(), 4).unwrap();
    ours = ours.columns(vec!["E-Mail".into(), "day".into()]);
    for row in
        [["Bob@x ", "4.3.1991"], ["cid@x", ""], ["BOB@x", "04.03.1991"], ["ann@x", "1.2.1991"]]
    {
        ours.push(row.into_iter().map(Cow::Borrowed));
    }
    let ours = ours.finish().unwrap();
    let options = psi::Options::new();
    let send = [&["psi", "send", &set], &of_set[..]].concat();
    let ((common, told), _) = against(&send, |peer| options.receive_keys(peer, &ours).unwrap());
    assert_eq!(ours.rows_of(&common), [true, false, true, false]);
    assert_eq!((told.keys, told.columns.as_deref()), (2, Some("mail, born")));
    let receive = [&["psi", "receive", &set, "--json", "-o", "/dev/null"], &of_set[..]].concat();
    let (told, report) = against(&receive, |peer| options.send_keys(peer, &ours).unwrap());
    assert_eq!(told.keys, 2);
    assert!(report.contains("\"peer_key_columns\":\"E-Mail, day\""), "{report}");
}

#[test]
fn sets_are_intersected_over_tls_where_the_library_listens() {
    let folder = tempfile::tempdir().unwrap();
    let set = file(folder.path(), "set.txt", "ann\nbob\n");
    let (ours, theirs) = (Identity::generate().unwrap(), Key::generate(folder.path(), "key.pem"));
    let listener = Config::tls(&ours, &[theirs.fingerprint.parse().unwrap()]).unwrap();
    let listener = listener.bind("127.0.0.1:0").unwrap();
    let (address, key) = (listener.local_addr().to_string(), ours.fingerprint().to_string());
    let keys = ["--identity", &theirs.file, "--peer", &key, "--connect", &address];
    let command = Running::start(&[&["psi", "send", set.as_str()], &keys[..]].concat());
    let mut peer = listener.accept().unwrap();
    assert_eq!(psi::receive(&mut peer, &["bob"]).unwrap(), [0]);
    peer.close().unwrap();
    assert_eq!(command.end().0, 0);
}

#[test]
fn messages_are_transferred_either_way() {
    let folder = tempfile::tempdir().unwrap();
    // Few are base OTs, many an extension of them.
    for n in [2, 200] {
        let messages: String = (0..2 * n).map(|i| format!("{i:04x}\n")).collect();
        let messages = file(folder.path(), "messages.txt", &messages);
        let choices = file(folder.path(), "choices.txt", &"1\n".repeat(n));
        let send = ["ot", "send", &messages, "--hex"];
        let (received, _) = against(&send, |peer| ot::receive(peer, &vec![true; n]).unwrap());
        assert_eq!(received.get(1), Some(&[0, 3][..]));
        let receive = ["ot", "receive", &choices, "--hex"];
        let pairs = vec![[[1, 2], [3, 4]]; n];
        let ((), lines) = against(&receive, |peer| ot::send(peer, &pairs).unwrap());
        assert_eq!(lines, "0304\n".repeat(n));
    }
    let messages = file(folder.path(), "messages.txt", "01\n02\n03\n04\n05\n06\n");
    let send = ["ot", "send", &messages, "--hex", "--one-of", "3"];
    let (received, _) = against(&send, |peer| ot::one_of_n::receive(peer, 3, &[2, 0]).unwrap());
    assert_eq!([received.get(0), received.get(1)], [Some(&[3][..]), Some(&[4])]);
}

#[test]
fn random_ots_are_made_either_way() {
    let folder = tempfile::tempdir().unwrap();
    let prefix = folder.path().join("keys");
    let output = ["-n", "1000", "-o", prefix.to_str().unwrap()];
    let read = |suffix: &str| fs::read(format!("{}{suffix}", prefix.display())).unwrap();
    let receive = [&["rot", "receive"], &output[..]].concat();
    let (pairs, _) = against(&receive, |peer| rot::send(peer, 1000).unwrap());
    let (choices, keys) = (read(".choices"), read(".keys"));
    for (i, key) in keys.chunks(16).enumerate() {
        assert_eq!(key, pairs[i][usize::from(choices[i / 8] >> (i % 8) & 1)]);
    }
    let send = [&["rot", "send"], &output[..], &["--force"]].concat();
    let ((choices, keys), _) = against(&send, |peer| rot::receive(peer, 1000).unwrap());
    let pairs = read(".keys");
    for (i, key) in keys.iter().enumerate() {
        let start = 32 * i + 16 * usize::from(choices.get(i).unwrap_u8());
        assert_eq!(key[..], pairs[start..start + 16]);
    }
}

#[test]
fn triples_of_library_and_command_fit() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("triples");
    // Few are from oblivious transfer, many from ring-LWE. The program that connects is party 0.
    for n in [100, 3000] {
        let count = n.to_string();
        let place = format!("{}-{n}", output.display());
        let arguments = ["triples", "generate", "--party", "1", "-o", &place, "-n", &count];
        let (ours, _) = against(
            &[&arguments[..], &["--method", "auto", "--bits", "64", "--format", "raw"]].concat(),
            |peer| triples::generate::<u64>(peer, n).unwrap(),
        );
        let theirs = fs::read(Path::new(&place).join("P1.triples")).unwrap();
        let ours: Vec<u8> = (0..n).flat_map(|i| ours.get(i)).flat_map(u64::to_le_bytes).collect();
        assert_eq!((ours.len(), theirs.len()), (24 * n, 24 * n));
        assert_eq!(wrong_records(64, &ours, &theirs).next(), None);
    }
}
