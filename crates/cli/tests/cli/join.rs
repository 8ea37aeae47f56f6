//! Columns of the sender with each match, and matches that both sides learn.

use std::{fs, path::Path};

use serde_json::Value;

use super::support::{Key, Listening, connect, connect_with, foxtrot, stderr, stdout};

const A: [&str; 7] =
    ["psi", "receive", "examples/customers-a.csv", "--key", "email", "--normalize", "email"];
const B: [&str; 7] =
    ["psi", "send", "examples/customers-b.csv", "--key", "E-Mail", "--normalize", "email"];

fn write(folder: &Path, name: &str, content: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn the_receiver_gets_columns_of_its_matches_behind_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let [here, there] = ["a", "b"].map(|name| Key::generate(folder.path(), name));
    let record = folder.path().join("record").to_str().unwrap().to_owned();
    let first = ["--duplicates", "first"];
    for (assumption, semi_honest) in [("symmetric", false), ("lpn", false), ("lpn", true)] {
        let semi_honest = if semi_honest { &["--semi-honest"][..] } else { &[] };
        let both = [&first[..], &["--assumption", assumption], semi_honest].concat();
        let sender = Listening::with(
            &[&B[..], &both, &["--share", "Customer,Telephone,Tier"]].concat(),
            &here.expecting(&there),
        );
        let receiver = connect_with(
            &[&A[..], &both, &["--with", "Tier,Customer", "--record", &record]].concat(),
            &there.expecting(&here),
            &sender.address,
        );
        let (status, _, said) = sender.end();
        assert_eq!((status, receiver.status.code()), (0, Some(0)), "{said}{}", stderr(&receiver));
        let rows = stdout(&receiver);
        let lines: Vec<_> = rows.lines().collect();
        assert_eq!(lines[0], "id,name,email,phone,city,Tier,Customer");
        let weiss = "1002,Jürgen Weiß, J.Weiss@example.org,0049 (0)89 123 45 67,München,basic,\"Weiß, Jürgen\"";
        assert_eq!(lines[2], weiss);
        // Rows of one key have the same columns.
        assert!(rows.contains("max.huber@example.at,+43 1 5550112,Wien,gold,\"Huber, Max\"\n"));
        assert!(rows.contains("max.huber@example.at ,+43 (0)1 5550112,Wien,gold,\"Huber, Max\"\n"));
        assert!(rows.contains(
            "\nBuchhaltung\",buchhaltung@fischer.example,0221 555 01 02,Köln,silver,Buchhaltung\n"
        ));
        assert!(!rows.contains("Keller") && !rows.contains("Wolf"), "no match, no columns");
        assert!(
            said.contains(
                "the peer learns which of its keys are here, with columns Tier, Customer"
            ),
            "{said}"
        );
        assert!(stderr(&receiver).contains("with columns Tier, Customer"), "{}", stderr(&receiver));
        let record: Value = serde_json::from_str(&fs::read_to_string(&record).unwrap()).unwrap();
        assert_eq!(record["function"], "join");
        assert_eq!(record["columns"], serde_json::json!(["Tier", "Customer"]));
        assert!(!record.to_string().contains("gold"), "{record}");
        // A trial on one machine gives the same.
        let local = ["psi", "local", A[2], B[2], "--with", "Tier,Customer", "--key-b", "E-Mail"];
        let local = foxtrot(&[&local[..], &A[3..], &both].concat()).output().unwrap();
        assert_eq!(stdout(&local), rows, "{}", stderr(&local));
        assert!(stderr(&local).contains("with columns Tier, Customer"), "{}", stderr(&local));
    }
}

/// Two files whose second one has texts that steer a terminal, and formulas.
fn hostile(folder: &Path) -> [String; 2] {
    let theirs = "key,note\nann,\x1b]0;own\x07\u{202e}x\u{9b}31m\nbob,=cmd|' /C calc'!A0\ncid,-5\n";
    let ours = "key,own\nann,=1\nbob,=2\ncid,=3\n";
    [write(folder, "a.csv", ours), write(folder, "b.csv", theirs)]
}

#[test]
fn fields_of_the_sender_are_as_they_came_unless_safe_cells_are_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let [ours, theirs] = hostile(folder.path());
    let local = ["psi", "local", &ours, &theirs, "--key", "key", "--with", "note"];
    let rows = |formula: &str| {
        format!(
            "key,own,note\nann,=1,\x1b]0;own\x07\u{202e}x\u{9b}31m\nbob,=2,{formula}\ncid,=3,-5\n"
        )
    };
    let [usual, safe] = ["=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"].map(rows);
    assert_eq!(stdout(&foxtrot(&local).output().unwrap()), usual);
    let with = [&local[..], &["--safe-cells"]].concat();
    assert_eq!(stdout(&foxtrot(&with).output().unwrap()), safe);
    let out = folder.path().join("out.csv").to_str().unwrap().to_owned();
    let sender = Listening::start(&["psi", "send", &theirs, "--key", "key", "--share", "note"]);
    let receive = ["psi", "receive", &ours, "--key", "key", "--with", "note", "--safe-cells"];
    let receiver = connect(&[&receive[..], &["-o", &out]].concat(), &sender.address);
    assert_eq!(receiver.status.code(), Some(0), "{}", stderr(&receiver));
    assert_eq!(fs::read_to_string(out).unwrap(), safe);
    let alone = foxtrot(&["psi", "local", &ours, &theirs, "--key", "key", "--safe-cells"]);
    assert_eq!({ alone }.output().unwrap().status.code(), Some(2));
}

#[cfg(unix)]
#[test]
fn a_terminal_obeys_no_field_of_the_sender() {
    let folder = tempfile::tempdir().unwrap();
    let [ours, theirs] = hostile(folder.path());
    let local = format!("psi local {ours} {theirs} --key key --with note --quiet");
    let Some(shown) = super::support::on_a_terminal(&local, "") else { return };
    let row = r"ann,=1,\u{1b}]0;own\u{7}\u{202e}x\u{9b}31m";
    assert!(shown.contains(row) && shown.contains("bob,=2,=cmd|' /C calc'!A0"), "{shown}");
    assert!(!shown.contains(['\x1b', '\x07', '\u{202e}', '\u{9b}']), "{shown:?}");
}

#[test]
fn the_rule_for_duplicates_decides_which_row_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let theirs =
        write(folder.path(), "b.csv", "key,city\nann,\"Bonn, am Rhein\"\nbob,Ulm\nann,Jena\n");
    let ours = write(folder.path(), "a.csv", "key\nann\n");
    for (rule, city) in [("first", "\"Bonn, am Rhein\""), ("last", "Jena")] {
        let duplicates = ["--duplicates", rule, "--key", "key"];
        let send = ["psi", "send", &theirs, "--share", "city", "--serve"];
        let server = Listening::start(&[&send[..], &duplicates].concat());
        let receive = ["psi", "receive", &ours, "--with", "city"];
        let receiver = connect(&[&receive[..], &duplicates].concat(), &server.address);
        assert_eq!(stdout(&receiver), format!("key,city\nann,{city}\n"), "{}", stderr(&receiver));
        let other = connect(&[&receive[..], &["--key", "key"]].concat(), &server.address);
        assert!(
            stderr(&other).contains("duplicates is refuse here and")
                && stderr(&other).contains("hint: pass the same --duplicates on both sides"),
            "{}",
            stderr(&other)
        );
    }
    let refused = |more: &[&str], why: &str| {
        let send = ["psi", "send", &theirs, "--key", "key", "--share", "city"];
        let address = ["--insecure", "--listen", "127.0.0.1:0"];
        let output = foxtrot(&[&send[..], more, &address].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
    };
    refused(&[], "several rows have the same key\nhint: pass --duplicates first or last");
    refused(
        &["--duplicates", "first", "--width", "13"],
        "field 1 of --share in row 1 has 14 bytes; there is room for 13\nhint: pass a larger --width",
    );
    refused(&["--share", "plan"], "the argument '--share <COLS>' cannot be used multiple times");
}

#[test]
fn a_column_that_the_sender_has_not_named_is_not_sent() {
    let share = ["--duplicates", "first", "--share", "Tier"];
    let with = ["--duplicates", "first", "--with", "Tier,Telephone"];
    for receiver_listens in [true, false] {
        let (listens, connects) = match receiver_listens {
            true => ([&A[..], &with].concat(), [&B[..], &share].concat()),
            false => ([&B[..], &share].concat(), [&A[..], &with].concat()),
        };
        let listening = Listening::start(&listens);
        let connected = connect(&connects, &listening.address);
        let (status, rows, said) = listening.end();
        assert_eq!((status, connected.status.code()), (1, Some(1)), "{said}");
        assert_eq!((rows.as_str(), stdout(&connected).as_str()), ("", ""));
        let both = said + &stderr(&connected);
        let asks = "the peer asks for column Telephone; --share has Tier";
        let lacks = "the peer does not share column Telephone; it shares Tier";
        assert!(both.contains(asks) || both.contains(lacks), "{both}");
    }
    let sender = Listening::start(&[&B[..], &share].concat());
    let receiver = connect(&A, &sender.address);
    assert_eq!((sender.end().0, receiver.status.code()), (1, Some(1)));
    assert!(
        stderr(&receiver).contains("hint: choose the same on both sides: --with and --share"),
        "{}",
        stderr(&receiver)
    );
}

#[test]
fn both_sides_write_their_own_matches() {
    let folder = tempfile::tempdir().unwrap();
    let [here, there] = ["a", "b"].map(|name| Key::generate(folder.path(), name));
    let out = folder.path().join("out.csv").to_str().unwrap().to_owned();
    let audit = folder.path().join("audit").to_str().unwrap().to_owned();
    for assumption in ["symmetric", "lpn"] {
        let both = ["--both", "--assumption", assumption];
        let sender = Listening::with(
            &[&B[..], &both, &["-o", &out, "--json", "--audit", &audit]].concat(),
            &here.expecting(&there),
        );
        let receiver =
            connect_with(&[&A[..], &both].concat(), &there.expecting(&here), &sender.address);
        let (status, report, said) = sender.end();
        assert_eq!((status, receiver.status.code()), (0, Some(0)), "{said}{}", stderr(&receiver));
        let report: Value = serde_json::from_str(&report).unwrap();
        assert_eq!((&report["function"], &report["keys_found"]), (&"both".into(), &12.into()));
        let rows = fs::read_to_string(&out).unwrap();
        assert!(
            rows.starts_with("Customer,E-Mail,Telephone,Tier\r\n\"Schröder, Anna\","),
            "{rows}"
        );
        assert_eq!(rows.lines().count(), 13);
        assert_eq!(stdout(&receiver).lines().count(), 16);
        assert!(said.contains("a peer that cheats or ends early can keep matches back"), "{said}");
        let line = fs::read_to_string(&audit).unwrap().lines().last().unwrap().to_owned();
        let line: Value = serde_json::from_str(&line).unwrap();
        assert_eq!((&line["function"], &line["results"]), (&"both".into(), &12.into()));
    }
}

#[test]
fn a_policy_that_forbids_columns_or_that_both_learn_stops_each_side() {
    let folder = tempfile::tempdir().unwrap();
    let address = ["--connect", "127.0.0.1:9", "--insecure", "--wait", "1"];
    let join = "policy = 1\nfunctions = ['join']\n[sender]\nshare = ['Tier']\n";
    let plain = "policy = 1\nfunctions = ['intersection']\n";
    let (share, with) = (["--duplicates", "last", "--share"], ["--with"]);
    for (policy, here, there, rule) in [
        (
            plain,
            [&A[..], &with, &["Tier"]].concat(),
            [&B[..], &share, &["Tier"]].concat(),
            "functions",
        ),
        (plain, [&A[..], &["--both"]].concat(), [&B[..], &["--both"]].concat(), "functions"),
        (
            join,
            [&A[..], &with, &["Tier,Customer"]].concat(),
            [&B[..], &share, &["Customer"]].concat(),
            "sender.share",
        ),
    ] {
        let file = write(folder.path(), "policy.toml", policy);
        for side in [here, there] {
            let output = foxtrot(&[&side[..], &["--policy", &file], &address].concat()).output();
            let output = output.unwrap();
            assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
            assert!(
                stderr(&output).contains(&format!("rule {rule} allows")),
                "{}",
                stderr(&output)
            );
        }
    }
    let file = write(folder.path(), "join.toml", join);
    let duplicates = ["--duplicates", "last", "--policy", &file];
    let sender = Listening::start(&[&B[..], &duplicates, &["--share", "Tier"]].concat());
    let receiver = connect(&[&A[..], &duplicates, &["--with", "Tier"]].concat(), &sender.address);
    assert_eq!((sender.end().0, receiver.status.code()), (0, Some(0)), "{}", stderr(&receiver));
}
