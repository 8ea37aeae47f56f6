//! Counts and sums over an intersection that neither side learns.

use std::{fs, path::Path, time::Duration};

use foxtrot_net::{
    hello::{self, Hello, Role},
    tcp,
};
use serde_json::Value;

use super::support::{Key, Listening, Running, connect, connect_with, foxtrot, stderr, stdout};

const A: [&str; 7] =
    ["psi", "count", "examples/customers-a.csv", "--key", "email", "--normalize", "email"];
const B: [&str; 7] =
    ["psi", "count", "examples/customers-b.csv", "--key", "E-Mail", "--normalize", "email"];

fn write(folder: &Path, name: &str, content: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn both_sides_learn_how_many_keys_are_common() {
    let folder = tempfile::tempdir().unwrap();
    let [here, there] = ["a", "b"].map(|name| Key::generate(folder.path(), name));
    let audit = folder.path().join("audit").to_str().unwrap().to_owned();
    for (least, told) in [("0", "12\n"), ("12", "12\n"), ("13", "withheld\n")] {
        let least = ["--min-count", least];
        let a = Listening::with(&[&A[..], &least].concat(), &here.expecting(&there));
        let b = [&B[..], &least, &["--audit", &audit]].concat();
        let b = connect_with(&b, &there.expecting(&here), &a.address);
        let (status, printed, said) = a.end();
        assert_eq!((status, b.status.code()), (0, Some(0)), "{said}{}", stderr(&b));
        assert_eq!((printed.as_str(), stdout(&b).as_str()), (told, told));
        for said in [said, stderr(&b)] {
            assert!(said.contains("both sides learn how many keys are common"), "{said}");
            assert!(said.contains("semi-honest"), "{said}");
        }
    }
    for (least, told) in [("0", "12\n"), ("13", "withheld\n")] {
        let local = ["psi", "local", A[2], B[2], "--key-b", "E-Mail", "--function", "count"];
        let least = ["--min-count", least];
        let local = foxtrot(&[&local[..], &least, &A[3..]].concat()).output().unwrap();
        assert_eq!(stdout(&local), told, "{}", stderr(&local));
        let said = stderr(&local);
        assert!(said.contains("both sides learn how many keys are common"), "{said}");
    }
    let lines = fs::read_to_string(&audit).unwrap();
    let mut lines: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines.retain(|line| line["event"] == "ended");
    let results: Vec<_> = lines.iter().map(|line| line["results"].as_u64()).collect();
    assert_eq!(results, [Some(12), Some(12), None]);
    assert!(lines.iter().all(|line| line["function"] == "count" && line["role"] == "receiver"));
}

#[test]
fn both_sides_learn_the_sum_of_the_numbers_of_one() {
    let folder = tempfile::tempdir().unwrap();
    let ours = write(folder.path(), "a.csv", "key\nann\nbob\ncid\n");
    let theirs =
        write(folder.path(), "b.csv", "who,amount\nbob,5\ndan,1000\ncid, 37 \neve,1\nbob,6\n");
    let a = ["psi", "sum", &ours, "--key", "key"];
    let b = ["psi", "sum", &theirs, "--key", "who", "--value", "amount", "--duplicates"];
    for (rule, sum) in [("first", 42), ("last", 43)] {
        for numbers_listen in [true, false] {
            let b = [&b[..], &[rule, "--json"]].concat();
            let (listens, connects) =
                if numbers_listen { (b, a.to_vec()) } else { (a.to_vec(), b) };
            let listening = Listening::start(&listens);
            let connected = connect(&connects, &listening.address);
            let (status, printed, said) = listening.end();
            assert_eq!(
                (status, connected.status.code()),
                (0, Some(0)),
                "{said}{}",
                stderr(&connected)
            );
            let connected = stdout(&connected);
            let (text, report) =
                if numbers_listen { (connected, printed) } else { (printed, connected) };
            assert_eq!(text, format!("2 {sum}\n"));
            let report: Value = serde_json::from_str(&report).unwrap();
            assert_eq!((&report["count"], &report["sum"]), (&2.into(), &sum.into()));
            assert_eq!((&report["withheld"], &report["function"]), (&false.into(), &"sum".into()));
        }
    }
    let address = ["--connect", "127.0.0.1:9", "--insecure", "--wait", "1"];
    for (more, why) in [
        (vec!["refuse"], "several rows have the same key"),
        (vec!["last", "--largest", "999"], "row 2 is no whole number from 0 to 999"),
    ] {
        let output = foxtrot(&[&b[..], &more, &address].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
    }
}

#[test]
fn a_sum_over_the_example_files_is_the_sum_of_matching_rows() {
    let folder = tempfile::tempdir().unwrap();
    let [here, there] = ["a", "b"].map(|name| Key::generate(folder.path(), name));
    let a = [&["psi", "sum"], &A[2..], &["--value", "id", "--duplicates", "first"]].concat();
    let a = Listening::with(&a, &here.expecting(&there));
    let b = [&["psi", "sum"], &B[2..]].concat();
    let b = connect_with(&b, &there.expecting(&here), &a.address);
    let (status, printed, said) = a.end();
    assert_eq!((status, b.status.code()), (0, Some(0)), "{said}{}", stderr(&b));
    let ids = [1001, 1002, 1004, 1005, 1007, 1008, 1010, 1013, 1017, 1018, 1020, 1046];
    let expected = format!("{} {}\n", ids.len(), ids.iter().sum::<u32>());
    assert_eq!((&printed, &stdout(&b)), (&expected, &expected));
    let local = ["psi", "local", B[2], A[2], "--key-b", "email", "--function", "sum"];
    let value = ["--value", "id", "--duplicates", "first"];
    let local = foxtrot(&[&local[..], &value, &B[3..]].concat()).output().unwrap();
    assert_eq!(stdout(&local), expected, "{}", stderr(&local));
    assert!(said.contains("the sum of this side's numbers"), "{said}");
    assert!(stderr(&b).contains("the sum of the peer's numbers"), "{}", stderr(&b));
}

#[test]
fn counts_have_the_same_terms_on_both_sides_and_only_those_of_the_policy() {
    let folder = tempfile::tempdir().unwrap();
    let sender = Listening::start(&[&A[..], &["--min-count", "3"]].concat());
    let receiver = connect(&B, &sender.address);
    let (status, _, said) = sender.end();
    assert_eq!((status, receiver.status.code()), (1, Some(1)));
    for said in [said, stderr(&receiver)] {
        assert!(
            said.contains("min-count is ") && said.contains("pass the same --min-count"),
            "{said}"
        );
    }
    // Another command of the same job.
    let sender = Listening::start(&A);
    let rows = ["psi", "receive", B[2], "--key", "E-Mail", "--normalize", "email", "--semi-honest"];
    let receiver = connect(&[&rows[..], &["--assumption", "lpn"]].concat(), &sender.address);
    assert_eq!((sender.end().0, receiver.status.code()), (1, Some(1)));
    assert!(stderr(&receiver).contains("function is "), "{}", stderr(&receiver));

    let policy = |functions: &str, rules: &str| {
        format!("policy = 1\nadversary = 'semi-honest'\nfunctions = [{functions}]\n{rules}\n")
    };
    let file = write(folder.path(), "count.toml", &policy("'count'", "min-count = 10"));
    let more = ["--policy", &file, "--min-count", "10"];
    let sender = Listening::start(&[&A[..], &more].concat());
    let receiver = connect(&[&B[..], &more].concat(), &sender.address);
    assert_eq!((sender.end().0, receiver.status.code()), (0, Some(0)), "{}", stderr(&receiver));
    let address = ["--connect", "127.0.0.1:9", "--insecure", "--wait", "1"];
    let plain = write(folder.path(), "plain.toml", &policy("'intersection'", ""));
    let honest = write(folder.path(), "honest.toml", "policy = 1\nfunctions = ['count']\n");
    for (file, rule) in [(&file, "min-count"), (&plain, "functions"), (&honest, "adversary")] {
        for side in [A, B] {
            let output = foxtrot(&[&side[..], &["--policy", file], &address].concat()).output();
            let output = output.unwrap();
            assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
            assert!(
                stderr(&output).contains(&format!("rule {rule} allows")),
                "{}",
                stderr(&output)
            );
        }
    }
}

#[test]
fn the_library_counts_with_the_command() {
    use foxtrot::psi::{Count, Outcome};

    let folder = tempfile::tempdir().unwrap();
    let keys = write(folder.path(), "keys", "ann\nbob\ncid\n");
    let command = Listening::start(&["psi", "count", &keys, "--min-count", "2"]);
    let mut peer = foxtrot::Config::insecure().connect(&command.address).unwrap();
    let count = Count::new().min_count(2);
    let learnt = count.receive(&mut peer, &["bob", "cid", "eve"]).unwrap();
    assert_eq!(learnt, Outcome::Released { count: 2, sum: None });
    peer.close().unwrap();
    let (status, printed, said) = command.end();
    assert_eq!((status, printed.as_str()), (0, "2\n"), "{said}");
}

#[cfg(unix)]
#[test]
fn a_server_counts_with_every_peer_up_to_its_limit_of_the_day() {
    let folder = tempfile::tempdir().unwrap();
    let [here, there] = ["a", "b"].map(|name| Key::generate(folder.path(), name));
    let [limits, audit] =
        ["limits", "audit"].map(|name| folder.path().join(name).to_str().unwrap().to_owned());
    let ours = ["--serve", "--max-runs-per-day", "2", "--limits", &limits, "--audit", &audit];
    let a = [&A[..], &ours, &["--json"]].concat();
    let server = Listening::with(&a, &here.expecting(&there));
    for _ in 0..2 {
        let b = connect_with(&B, &there.expecting(&here), &server.address);
        assert_eq!((b.status.code(), stdout(&b).as_str()), (Some(0), "12\n"), "{}", stderr(&b));
    }
    let refused = connect_with(&B, &there.expecting(&here), &server.address);
    assert_eq!((refused.status.code(), stdout(&refused).as_str()), (Some(1), ""));
    let why = "its limits for today admit no more of us";
    assert!(stderr(&refused).contains(why), "{}", stderr(&refused));
    server.running.interrupt();
    let (_, printed, said) = server.end();
    let results: Vec<Value> =
        printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(results.len(), 2, "{said}");
    assert!(results.iter().all(|it| it["count"] == 12 && it["withheld"] == false), "{printed}");
    assert!(said.contains("session 2 with ") && said.contains("found 12 keys"), "{said}");
    let lines = fs::read_to_string(&audit).unwrap();
    let mut lines: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines.retain(|line| line["event"] == "ended");
    assert_eq!(lines.len(), 2);
    assert!(lines.iter().all(|it| it["results"] == 12 && it["role"] == "sender"), "{lines:?}");
}

#[cfg(unix)]
#[test]
fn either_side_of_a_sum_may_be_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let keys = write(folder.path(), "keys.csv", "key\nann\nbob\ncid\n");
    let numbers = write(folder.path(), "numbers.csv", "key,amount\nbob,5\ncid,37\neve,1\n");
    let keys = ["psi", "sum", &keys, "--key", "key"].to_vec();
    let numbers = ["psi", "sum", &numbers, "--key", "key", "--value", "amount"].to_vec();
    for [serves, asks] in [[&keys, &numbers], [&numbers, &keys]] {
        let server = Listening::start(&[serves, &["--serve"][..]].concat());
        for _ in 0..2 {
            let peer = connect(asks, &server.address);
            assert_eq!(stdout(&peer), "2 42\n", "{}", stderr(&peer));
        }
        // The other side wants the same role as the server.
        let other = connect(serves, &server.address);
        assert_eq!(other.status.code(), Some(1), "{}", stderr(&other));
        server.running.interrupt();
        assert_eq!(server.end().1, "2 42\n2 42\n");
    }
}

#[test]
fn a_peer_that_leaves_in_the_middle_ends_only_its_own_session() {
    const LONG: Duration = Duration::from_secs(30);
    let folder = tempfile::tempdir().unwrap();
    let keys = write(folder.path(), "keys", "ann\nbob\n");
    let more = write(folder.path(), "more", "ann\nbob\ncid\n");
    let listen = ["--insecure", "--listen", "127.0.0.1:0"];
    let serve = ["psi", "count", &keys, "--serve", "--reload"];
    let mut server = Running::start(&[&serve[..], &listen].concat());
    let mut line_with = |what: &str| {
        loop {
            let line = server.line();
            assert!(!line.is_empty(), "the server has ended");
            if line.contains(what) {
                return line;
            }
        }
    };
    let warning = line_with("no limit per day");
    assert!(warning.contains("--max-runs-per-day N --limits FILE"), "{warning}");
    let address = line_with("listening on ").split_off("foxtrot: listening on ".len());
    let channel = tcp::connect(&address, LONG).unwrap().open().unwrap();
    let hello = Hello::new(Role::Receiver)
        .term("job", "psi")
        .term("base", "roted-endemic")
        .term("assumption", "lpn")
        .term("adversary", "semi-honest")
        .term("normalize", "none/1")
        .term("function", "count")
        .term("min-count", 0)
        .keys(3, 10);
    hello::exchange(&channel, true, &hello).unwrap();
    drop(channel);
    line_with("session 1 with ");
    let ask = ["psi", "count", &more];
    assert_eq!(stdout(&connect(&ask, &address)), "2\n");
    // A file that has changed is read again.
    fs::rename(&more, &keys).unwrap();
    line_with("reloaded");
    let ask = ["psi", "count", &keys];
    assert_eq!(stdout(&connect(&ask, &address)), "3\n");
}

#[test]
fn a_server_of_counts_needs_memory_for_one() {
    let serve = ["--serve", "--insecure", "--listen", "127.0.0.1:0", "--max-memory", "20M"];
    let output = foxtrot(&[&A[..], &serve].concat()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.contains("not enough for a session\nhint: use at least --max-memory "), "{said}");
}
