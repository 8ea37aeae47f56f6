//! Several keys in one run: a pass for each, under one agreement.

use std::{fs, path::Path};

use super::support::{Key, Listening, connect, connect_with, foxtrot, stderr, stdout};

fn write(folder: &Path, name: &str, content: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

const OURS: &str = "id,name,born,note\r\n\
    1,Ann Lee,1990-02-01,by id\r\n\
    2,Bob Fox,1985-05-05,\"by name, and birthday\"\r\n\
    3,Cid Roe,1970-01-01,by neither\r\n\
    ,Dan Poe,1999-09-09,by name without id\r\n";

const THEIRS: &str = "number;who;birthday\n1;Another;2000-01-01\n9;bob fox ;05.05.1985\n;DAN POE;09.09.1999\n3x;Cid;01.01.1970\n";

#[test]
fn rows_match_by_any_of_several_keys_and_say_by_which() {
    let folder = tempfile::tempdir().unwrap();
    let [here, there] = ["a", "b"].map(|name| Key::generate(folder.path(), name));
    let (ours, theirs) =
        (write(folder.path(), "a.csv", OURS), write(folder.path(), "b.csv", THEIRS));
    let send = [
        "psi",
        "send",
        &theirs,
        "--delimiter",
        ";",
        "--key",
        "number",
        "--or-key",
        "who,birthday",
        "--or-normalize",
        "name;date:DD.MM.YYYY",
    ];
    let receive = [
        "psi",
        "receive",
        &ours,
        "--key",
        "id",
        "--or-key",
        "name,born",
        "--or-normalize",
        "name;date",
    ];
    let record = folder.path().join("record").to_str().unwrap().to_owned();
    for (serve, assumption) in [(false, "symmetric"), (true, "lpn")] {
        let serves = if serve { &["--serve"][..] } else { &[] };
        let more = ["--assumption", assumption];
        let sender = Listening::with(&[&send[..], serves, &more].concat(), &here.expecting(&there));
        let receiver = connect_with(
            &[&receive[..], &more, &["--record", &record]].concat(),
            &there.expecting(&here),
            &sender.address,
        );
        assert_eq!(receiver.status.code(), Some(0), "{}", stderr(&receiver));
        let expected = "id,name,born,note,matched_by\r\n\
            1,Ann Lee,1990-02-01,by id,id\r\n\
            2,Bob Fox,1985-05-05,\"by name, and birthday\",\"name,born\"\r\n\
            ,Dan Poe,1999-09-09,by name without id,\"name,born\"\r\n";
        assert_eq!(stdout(&receiver), expected);
        let said = stderr(&receiver);
        assert!(said.contains("found 3 keys in common (1 id, 2 name,born), 3 rows"), "{said}");
        assert!(said.contains("agreed: rows are compared also by other keys: keys normalised by name;date; 4 keys here (name, born), 3 at the peer (who, birthday)"), "{said}");
        assert!(said.contains("our number of keys (3 and 4)"), "{said}");
        if !serve {
            let (status, _, said) = sender.end();
            assert_eq!(status, 0, "{said}");
        }
        let record: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(&record).unwrap()).unwrap();
        assert_eq!((&record["keys_receiver"], &record["results"]), (&3.into(), &3.into()));
        let other = &record["or_keys"][0];
        assert_eq!((&other["keys_receiver"], &other["keys_sender"]), (&4.into(), &3.into()));
        assert_eq!(other["peer_key_columns"], "who, birthday");
        // A trial on one machine gives the same.
        let of_b = [
            "--key-b",
            "number",
            "--or-key-b",
            "who,birthday",
            "--or-normalize-b",
            "name;date:DD.MM.YYYY",
            "--delimiter-b",
            ";",
        ];
        let local = [&["psi", "local", &ours, &theirs], &receive[3..], &of_b, &more].concat();
        let local = foxtrot(&local).output().unwrap();
        assert_eq!(stdout(&local), expected, "{}", stderr(&local));
    }
    let sender = Listening::start(&send);
    let inverted = connect(&[&receive[..], &["--invert"]].concat(), &sender.address);
    assert_eq!(stdout(&inverted), "id,name,born,note\r\n3,Cid Roe,1970-01-01,by neither\r\n");
    let sender = Listening::start(&send);
    let counted = connect(&[&receive[..], &["--count", "--json"]].concat(), &sender.address);
    let report: serde_json::Value = serde_json::from_str(&stdout(&counted)).unwrap();
    assert_eq!((&report["keys_found"], &report["rows_found"]), (&3.into(), &3.into()));
    assert_eq!(report["found_by"][1], serde_json::json!({ "key": "name,born", "keys_found": 2 }));
}

#[test]
fn both_sides_compare_by_the_same_keys_and_accept_each_size() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, theirs) =
        (write(folder.path(), "a.csv", OURS), write(folder.path(), "b.csv", THEIRS));
    let send = ["psi", "send", &theirs, "--delimiter", ";", "--key", "number"];
    let receive = ["psi", "receive", &ours, "--key", "id"];
    let or_name = ["--or-key", "name", "--or-normalize", "name"];
    // One side has more keys to compare by.
    let sender = Listening::start(&send);
    let receiver = connect(&[&receive[..], &or_name].concat(), &sender.address);
    let (status, _, said) = sender.end();
    assert_eq!((status, receiver.status.code()), (1, Some(1)));
    for said in [said, stderr(&receiver)] {
        assert!(said.contains("or-normalize is "), "{said}");
        assert!(said.contains("hint: pass as many --or-key on both sides"), "{said}");
    }
    // Three keys by id, four by name: the bound is for each.
    let or_who = ["--or-key", "who", "--or-normalize", "name"];
    for (bound, words) in
        [(["--max-peer-keys", "3"], "more keys"), (["--min-peer-keys", "4"], "fewer keys")]
    {
        let sender = Listening::start(&[&send[..], &or_who, &bound].concat());
        let receiver = connect(&[&receive[..], &or_name].concat(), &sender.address);
        let (status, _, said) = sender.end();
        assert_eq!((status, receiver.status.code()), (1, Some(1)), "{}", stderr(&receiver));
        assert!(said.contains(words), "{said}");
    }
    let address = ["--connect", "127.0.0.1:9", "--insecure", "--wait", "1"];
    for (more, why) in [
        (vec!["--or-key", "nobody"], "column nobody not found"),
        (
            vec!["--or-key", "name", "--or-key", "born", "--or-normalize", "name"],
            "--or-normalize is given 1 times",
        ),
        (vec!["--or-normalize", "name"], "--or-key"),
    ] {
        let output = foxtrot(&[&receive[..], &more, &address].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
    }
}

#[test]
fn a_policy_allows_further_keys_by_their_columns_and_normalisers() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, theirs) =
        (write(folder.path(), "a.csv", OURS), write(folder.path(), "b.csv", THEIRS));
    let send = [
        "psi",
        "send",
        &theirs,
        "--delimiter",
        ";",
        "--key",
        "number",
        "--or-key",
        "who",
        "--or-normalize",
        "name",
    ];
    let receive =
        ["psi", "receive", &ours, "--key", "id", "--or-key", "name", "--or-normalize", "name"];
    let policy = |or: [&str; 3]| {
        let [all, receiver, sender] = or;
        format!(
            "policy = 1\nfunctions = ['intersection']\nnormalize = ['none/1']\n{all}\n\
             [receiver]\ncolumns = ['id']\n{receiver}\n[sender]\ncolumns = ['number']\n{sender}\n"
        )
    };
    let allows =
        policy(["or-normalize = ['name/1']", "or-columns = ['name']", "or-columns = ['who']"]);
    let file = write(folder.path(), "allows.toml", &allows);
    let sender = Listening::start(&[&send[..], &["--policy", &file]].concat());
    let receiver = connect(&[&receive[..], &["--policy", &file]].concat(), &sender.address);
    assert_eq!((sender.end().0, receiver.status.code()), (0, Some(0)), "{}", stderr(&receiver));
    let address = ["--connect", "127.0.0.1:9", "--insecure", "--wait", "1"];
    for (rules, rule) in [
        (["", "or-columns = ['name']", ""], "or-normalize"),
        (["or-normalize = ['name/1']", "", ""], "receiver.or-columns"),
        (["or-normalize = ['name/1']", "or-columns = ['note']", ""], "receiver.or-columns"),
    ] {
        let file = write(folder.path(), "forbids.toml", &policy(rules));
        let output =
            foxtrot(&[&receive[..], &["--policy", &file], &address].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains(&format!("rule {rule} allows")), "{}", stderr(&output));
    }
}
