//! The command and a program that uses the library, as each other's peers.

use std::{borrow::Cow, fs, path::Path};

use foxtrot::{
    Config, Identity, Peer, ot,
    psi::{
        self,
        fields::{Duplicates, Fields, Padding},
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
            |peer| triples::generate::<u64, _>(peer, n).unwrap(),
        );
        let theirs = fs::read(Path::new(&place).join("P1.triples")).unwrap();
        let ours: Vec<u8> = (0..n).flat_map(|i| ours.get(i)).flat_map(u64::to_le_bytes).collect();
        assert_eq!((ours.len(), theirs.len()), (24 * n, 24 * n));
        assert_eq!(wrong_records(64, &ours, &theirs).next(), None);
    }
}

#[test]
fn columns_counts_and_matches_for_both_go_between_library_and_command() {
    let folder = tempfile::tempdir().unwrap();
    let set = file(folder.path(), "set.csv", "mail,city,n\nann@x,Bonn,3\nbob@x,,4\n");
    let of_set = ["--key", "mail", "--normalize", "email"];
    let mut ours = Builder::new(vec!["email".parse().unwrap()], 3).unwrap();
    for mail in ["eve@x", "Ann@x", "ann@x"] {
        ours.push([Cow::Borrowed(mail)].into_iter());
    }
    let ours = ours.finish().unwrap();
    assert_eq!([0, 1, 2].map(|row| ours.key_of(row)), [Some(0), Some(1), Some(1)]);
    let (options, padding) =
        (psi::Options::new(), Padding { width: 64, duplicates: Duplicates::Refuse });
    let call = |job: &[&'static str]| [&["psi", job[0], &set], &of_set[..], &job[1..]].concat();

    let send = call(&["send", "--share", "n,city"]);
    let columns = ["city".to_owned(), "n".to_owned()];
    let ((matches, told), _) =
        against(&send, |peer| options.receive_keys_with(peer, &ours, &columns, padding).unwrap());
    assert_eq!(matches, [(1, vec!["Bonn".to_owned(), "3".to_owned()])]);
    assert_eq!((told.keys, told.columns.as_deref()), (2, Some("mail")));

    let mut fields = Fields::new(1, padding, ours.len()).unwrap().named(vec!["plan".into()]);
    fields.put(0, &["basic"]).unwrap();
    fields.put(1, &["gold"]).unwrap();
    let receive = call(&["receive", "--with", "plan"]);
    let (_, rows) = against(&receive, |peer| options.send_keys_with(peer, &ours, &fields).unwrap());
    assert_eq!(rows, "mail,city,n,plan\nann@x,Bonn,3,gold\n");

    let both = call(&["send", "--both"]);
    let ((common, _), rows) =
        against(&both, |peer| options.receive_keys_both(peer, &ours).unwrap());
    assert_eq!((common, rows.as_str()), (vec![1], "mail,city,n\nann@x,Bonn,3\n"));

    let sum = call(&["sum", "--value", "n", "--largest", "9"]);
    let count = psi::Count::new();
    let ((outcome, _), words) =
        against(&sum, |peer| count.receive_keys_sum(peer, &ours, 9).unwrap());
    assert_eq!(outcome, psi::Outcome::Released { count: 1, sum: Some(3) });
    assert_eq!(words, "1 3\n");
}
