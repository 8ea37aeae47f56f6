//! Policies, audit logs and the question before a run.

use std::{fs, path::Path, time::Duration};

use foxtrot_net::{
    Reason,
    hello::{self, Hello, Role},
    tcp,
};
use serde_json::Value;

use super::support::{
    Key, Listening, Running, connect, connect_with, foxtrot, is_time, on_a_terminal, root, stderr,
    stdout,
};

const A: [&str; 6] =
    ["receive", "examples/customers-a.csv", "--key", "email", "--normalize", "email"];
const B: [&str; 6] =
    ["send", "examples/customers-b.csv", "--key", "E-Mail", "--normalize", "email"];

/// The arguments of one side, with more of them.
fn side<'a>(of: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [&["psi"], of, more].concat()
}

fn write(folder: &Path, name: &str, content: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

/// A policy that allows the run on the example files, with these lines for all and for each side.
fn policy(lines: [&str; 3]) -> String {
    let [all, receiver, sender] = lines;
    format!(
        "policy = 1\ntitle = \"Trial A\"\nfunctions = [\"intersection\"]\nnormalize = [\"email/2\"]\n{all}\n\
         [receiver]\ncolumns = [\"email\"]\nmin-size = 5\nmax-size = 100\n{receiver}\n\
         [sender]\ncolumns = [\"E-Mail\"]\n{sender}\n"
    )
}

/// The outcomes in an audit log.
fn log(path: &str) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.ends_with('\n'), "{text}");
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line["event"] == "ended").collect()
}

#[test]
fn both_sides_tell_a_policy_that_both_have_and_their_logs_say_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let [ours, peers] = ["a", "b"].map(|name| Key::generate(folder.path(), name));
    let keys = [&ours, &peers].map(|key| format!("peers = [\"{}\"]", key.fingerprint));
    let policy = write(folder.path(), "policy.toml", &policy(["", &keys[0], &keys[1]]));
    let [here, there] = ["a.log", "b.log"].map(|name| folder.path().join(name));
    let [here, there] = [&here, &there].map(|path| path.to_str().unwrap());
    for run in 1..=2 {
        // The policy names the peers.
        let receiver = Listening::with(
            &side(&A, &["--policy", &policy, "--audit", here]),
            &["--identity", &ours.file],
        );
        let sender = connect_with(
            &side(&B, &["--policy", &policy, "--audit", there, "--json"]),
            &["--identity", &peers.file],
            &receiver.address,
        );
        let (status, rows, said) = receiver.end();
        assert_eq!((status, sender.status.code()), (0, Some(0)), "{said}{}", stderr(&sender));
        assert_eq!(rows.lines().count(), 16);
        let (a, b) = (log(here), log(there));
        assert_eq!((a.len(), b.len()), (run, run));
        let (a, b) = (&a[run - 1], &b[run - 1]);
        for key in ["policy", "session", "transcript", "function", "keys_receiver", "keys_sender"] {
            assert_eq!(a[key], b[key], "{key}");
            assert!(!a[key].is_null(), "{key}");
        }
        assert_eq!((&a["function"], &a["keys_receiver"]), (&"intersection".into(), &20.into()));
        assert_eq!((&a["role"], &b["role"]), (&"receiver".into(), &"sender".into()));
        assert_eq!((&a["results"], &b["results"]), (&12.into(), &Value::Null));
        assert_eq!(a["peer"]["fingerprint"], *peers.fingerprint);
        assert_eq!(b["peer"]["fingerprint"], *ours.fingerprint);
        assert_eq!((&a["outcome"], &a["status"]), (&"done".into(), &0.into()));
        assert!(is_time(a["started"].as_str().unwrap()) && is_time(a["ended"].as_str().unwrap()));
        let id = a["policy"].as_str().unwrap();
        assert_eq!(id.len(), 64);
        let told =
            format!("policy of both sides: \"Trial A\", {}: functions intersection", &id[..16]);
        for said in [&said, &stderr(&sender)] {
            assert!(said.contains(&told), "{said}");
            assert!(said.contains("receiver.min-size 5"), "{said}");
            assert!(said.contains("the peer is SHA256:"), "{said}");
        }
        let report: Value = serde_json::from_str(&stdout(&sender)).unwrap();
        assert_eq!((&report["policy"], &report["function"]), (&a["policy"], &a["function"]));
        let text = fs::read_to_string(here).unwrap();
        assert!(!text.contains('@'), "a key: {text}");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(here).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

/// The policies that the documents show.
#[test]
fn the_policies_of_the_documents_are_policies() {
    let mut found = 0;
    for page in ["docs/policy.md", "docs/how-to/two-it-departments.md"] {
        let text = fs::read_to_string(root().join(page)).unwrap();
        for block in text.split("```toml\n").skip(1) {
            let (block, _) = block.split_once("```").unwrap();
            let key = "SHA256:uU0nuZNNPgilLlLX2n2r-sSE7-N6U4DukIj3rOLvzek";
            let policy = foxtrot::policy::Policy::parse(&block.replace("SHA256:…", key));
            policy.unwrap_or_else(|e| panic!("{page}: {e}"));
            found += 1;
        }
    }
    assert_eq!(found, 2);
}

/// Runs one side alone, whose peer would never come.
fn refused(arguments: &[&str]) -> String {
    let address = ["--wait", "1", "--connect", "127.0.0.1:9"];
    let output = foxtrot(&[arguments, &address].concat()).output().unwrap();
    assert_eq!(
        (output.status.code(), stdout(&output).as_str()),
        (Some(2), ""),
        "{}",
        stderr(&output)
    );
    stderr(&output)
}

#[test]
fn a_policy_that_forbids_a_run_stops_each_side_before_it_meets_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let key = Key::generate(folder.path(), "key");
    let other = "peers = [\"SHA256:uU0nuZNNPgilLlLX2n2r-sSE7-N6U4DukIj3rOLvzek\"]";
    let count = policy(["", "", ""]).replace("\"intersection\"", "\"count\"");
    let insecure = ["--insecure"];
    let tls = ["--identity", &key.file, "--peer", &key.fingerprint];
    // The file, options of both sides, the rule, and which sides know alone.
    let cases: [(String, &[&str], &str, [bool; 2]); 9] = [
        (count, &insecure, "functions", [true, true]),
        (policy(["assumptions = ['lpn']", "", ""]), &insecure, "assumptions", [true, true]),
        (policy(["", "", ""]), &["--insecure", "--semi-honest"], "adversary", [true, true]),
        (policy(["", "", ""]).replace("email/2", "trim/1"), &insecure, "normalize", [true, true]),
        (
            policy(["", "", ""]).replace("= 5", "= 21"),
            &insecure,
            "receiver.min-size",
            [true, false],
        ),
        (
            policy(["", "", ""]).replace("= 100", "= 19"),
            &insecure,
            "receiver.max-size",
            [true, false],
        ),
        (policy(["", "", "max-size = 19"]), &insecure, "sender.max-size", [false, true]),
        (
            policy(["", "", ""]).replace("E-Mail", "Mail"),
            &insecure,
            "sender.columns",
            [false, true],
        ),
        (policy(["", other, other]), &tls, "peers", [true, true]),
    ];
    for (i, (content, options, rule, alone)) in cases.into_iter().enumerate() {
        let file = write(folder.path(), &format!("policy-{i}.toml"), &content);
        let options = [&["--policy", &file], options].concat();
        for (arguments, _) in [A, B].into_iter().zip(alone).filter(|(_, alone)| *alone) {
            let said = refused(&side(&arguments, &options));
            assert!(said.contains("the policy forbids this run: rule "), "{rule}: {said}");
            assert!(said.contains(rule), "{rule}: {said}");
        }
    }
    let file =
        write(folder.path(), "wrong.toml", "policy = 1\nfunctions = ['intersection']\nmax = 1\n");
    let said = refused(&side(&A, &["--insecure", "--policy", &file]));
    assert!(said.contains("wrong.toml, line 3: unknown rule \"max\""), "{said}");
}

#[test]
fn a_peer_that_the_policy_forbids_is_refused_and_told_so() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "policy.toml", &policy(["", "", ""]));
    let audit = folder.path().join("audit").to_str().unwrap().to_owned();
    let id = foxtrot::policy::Policy::parse(&policy(["", "", ""])).unwrap().id();
    let honest = |keys: u64| {
        Hello::new(Role::Receiver)
            .term("job", "psi")
            .term("base", "roted-endemic")
            .term("assumption", "symmetric")
            .term("adversary", "malicious")
            .term("normalize", "email/2")
            .term("policy", &id)
            .keys(keys, 1000)
    };
    let with = |hello: Hello| hello.detail("key-columns", "email");
    for (hello, rule) in [
        (with(honest(4)), "rule receiver.min-size allows 5 keys or more, the run has 4 keys"),
        (with(honest(101)), "rule receiver.max-size allows at most 100 keys, the run has 101 keys"),
        (honest(7), "rule receiver.columns allows email, the run has no named columns"),
        (honest(7).detail("key-columns", "name"), "rule receiver.columns allows email"),
    ] {
        let sender = Listening::start(&side(&B, &["--policy", &file, "--audit", &audit]));
        let channel =
            tcp::connect(&sender.address, Duration::from_secs(20)).unwrap().open().unwrap();
        let told = hello::exchange(&channel, true, &hello).unwrap_err();
        assert!(told.to_string().contains(&Reason::Forbidden.to_string()), "{told}");
        let (status, _, said) = sender.end();
        assert_eq!(status, 1, "{said}");
        assert!(said.contains(rule), "{said}");
        let line = log(&audit).pop().unwrap();
        assert_eq!((&line["policy"], &line["status"]), (&id.as_str().into(), &1.into()));
        assert!(line["outcome"].as_str().unwrap().contains(rule), "{line}");
    }
}

#[test]
fn a_policy_of_one_side_only_or_with_other_rules_stops_both_sides() {
    let folder = tempfile::tempdir().unwrap();
    let one = write(folder.path(), "one.toml", &policy(["", "", ""]));
    let other = write(folder.path(), "other.toml", &policy(["", "", "min-size = 1"]));
    for theirs in [None, Some(&other)] {
        let theirs = theirs.map_or(vec![], |file| vec!["--policy", file]);
        let receiver = Listening::start(&side(&A, &["--policy", &one]));
        let sender = connect(&side(&B, &theirs), &receiver.address);
        let (status, rows, said) = receiver.end();
        assert_eq!((status, sender.status.code(), rows.as_str()), (1, Some(1), ""));
        for said in [said, stderr(&sender)] {
            assert!(said.contains("the two sides disagree: policy is "), "{said}");
            assert!(said.contains("hint: pass a --policy with the same rules on both sides"));
        }
    }
}

#[test]
fn both_sides_name_the_rules_in_which_their_policies_differ_if_each_knows_the_others_key() {
    let folder = tempfile::tempdir().unwrap();
    let [here, there] = ["a", "b"].map(|name| Key::generate(folder.path(), name));
    let one = write(folder.path(), "one.toml", &policy(["", "", ""]));
    let other = policy(["expires = 2099-01-31", "", "min-size = 1"]).replace("= 100", "= 99");
    let other = write(folder.path(), "other.toml", &other);
    let receiver = Listening::with(&side(&A, &["--policy", &one]), &here.expecting(&there));
    let sender =
        connect_with(&side(&B, &["--policy", &other]), &there.expecting(&here), &receiver.address);
    let (status, rows, said) = receiver.end();
    assert_eq!((status, sender.status.code(), rows.as_str()), (1, Some(1), ""));
    let differ = [
        "policy rule expires is not given here and another value at the peer; \
         policy rule receiver.max-size is 100 here and another value at the peer; \
         policy rule sender.min-size is not given here and another value at the peer",
        "policy rule expires is 2099-01-31 here and not given at the peer; \
         policy rule receiver.max-size is 99 here and another value at the peer; \
         policy rule sender.min-size is 1 here and not given at the peer",
    ];
    for (said, differ) in [said, stderr(&sender)].iter().zip(differ) {
        assert!(said.contains(&format!("the two sides disagree: {differ}\n")), "{said}");
        assert!(said.contains("hint: agree on one value of the rule"), "{said}");
    }
}

#[test]
fn a_policy_that_has_expired_stops_each_side_before_it_meets_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let old = write(folder.path(), "old.toml", &policy(["expires = 2020-02-29", "", ""]));
    for arguments in [A, B] {
        let said = refused(&side(&arguments, &["--insecure", "--policy", &old]));
        let why =
            "rule expires allows runs until the end of 2020-02-29 (UTC), the run has the day 20";
        assert!(said.contains(why), "{said}");
    }
    let serve = ["--serve", "--insecure", "--listen", "127.0.0.1:0", "--policy", &old];
    let server = foxtrot(&side(&B, &serve)).output().unwrap();
    assert_eq!(server.status.code(), Some(2), "{}", stderr(&server));
    // A policy whose last day is to come allows runs.
    let new = write(folder.path(), "new.toml", &policy(["expires = 2099-01-31", "", ""]));
    let receiver = Listening::start(&side(&A, &["--policy", &new]));
    let sender = connect(&side(&B, &["--policy", &new]), &receiver.address);
    assert_eq!((receiver.end().0, sender.status.code()), (0, Some(0)), "{}", stderr(&sender));
}

#[test]
fn a_set_below_the_smallest_size_is_refused_on_both_sides() {
    for (a, b, listens, connects) in [
        (
            "21",
            "1",
            "the peer gave up: its set has fewer keys than we accept",
            "our set has 20 keys",
        ),
        (
            "1",
            "21",
            "our set has 20 keys, and the peer accepts no fewer than 21",
            "fewer keys than we accept",
        ),
    ] {
        let receiver = Listening::start(&side(&A, &["--min-peer-keys", a]));
        let sender = connect(&side(&B, &["--min-peer-keys", b]), &receiver.address);
        let (status, _, said) = receiver.end();
        assert_eq!((status, sender.status.code()), (1, Some(1)), "{said}");
        assert!(said.contains(listens) && said.contains("--min-peer-keys"), "{said}");
        assert!(stderr(&sender).contains(connects), "{}", stderr(&sender));
    }
    let receiver = Listening::start(&side(&A, &["--min-peer-keys", "20"]));
    let sender = connect(&side(&B, &["--min-peer-keys", "20"]), &receiver.address);
    assert_eq!((receiver.end().0, sender.status.code()), (0, Some(0)));
}

#[cfg(unix)]
#[test]
fn a_run_that_is_interrupted_has_a_line_in_the_audit_log() {
    let folder = tempfile::tempdir().unwrap();
    let audit = folder.path().join("audit").to_str().unwrap().to_owned();
    let listen = ["--audit", &audit, "--listen", "127.0.0.1:0", "--insecure"];
    let count = [&["count"], &A[1..]].concat();
    for of in [&count[..], &B] {
        let mut run = Running::start(&side(of, &listen));
        assert!((0..9).any(|_| run.line().contains("waiting for the peer")));
        run.interrupt();
        assert_eq!(run.end().0, 130);
    }
    let lines = log(&audit);
    assert_eq!(lines.len(), 2);
    for line in lines {
        assert_eq!((&line["outcome"], &line["status"]), (&"interrupted".into(), &130.into()));
        assert!(line["ended"].is_string() && line["results"].is_null(), "{line}");
    }
}

#[test]
fn an_audit_log_takes_the_place_of_no_other_file() {
    let folder = tempfile::tempdir().unwrap();
    let copy = write(folder.path(), "a.csv", &fs::read_to_string(root().join(A[1])).unwrap());
    let out = write(folder.path(), "out.csv", "");
    let receive = ["psi", "receive", &copy, "--key", "email", "--insecure", "-o", &out];
    for (more, why) in [
        (["--audit", &copy], "--audit names the input file"),
        (["--audit", &out], "--audit and -o both name"),
        (["--audit", "-"], "--audit needs a file"),
        (["--audit", folder.path().to_str().unwrap()], "is not a regular file"),
    ] {
        let said = refused(&[&receive[..], &more].concat());
        assert!(said.contains(why), "{said}");
    }
}

#[test]
#[cfg(unix)]
fn somebody_at_a_terminal_is_asked_before_the_run_and_can_say_no() {
    for (answer, more, is_asked, status) in [
        ("n", "", true, 1),
        ("y", "", true, 0),
        ("n", "--yes", false, 0),
        ("n", "--quiet", false, 0),
    ] {
        let receiver = Listening::start(&side(&A, &[]));
        let arguments =
            format!("{} --insecure --connect {} {more}", side(&B, &[]).join(" "), receiver.address);
        let Some(said) = on_a_terminal(&arguments, answer) else { return };
        assert_eq!(said.contains("go on? [y/N]"), is_asked, "{said}");
        let (ended, rows, said) = receiver.end();
        assert_eq!((ended, rows.is_empty()), (status, status != 0), "{said}");
    }
}
