//! `--record`: what both sides write down of a run.

use std::{fs, path::Path, thread, time::Duration};

use serde_json::Value;

use super::support::{
    Key, Listening, connect, connect_with, expected_messages, foxtrot, is_time, names, stderr,
    stdout,
};

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().unwrap().to_owned()
}

fn read(path: &str) -> Value {
    let text = fs::read_to_string(path).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    serde_json::from_str(&text).unwrap()
}

#[cfg(unix)]
fn mode(path: &str) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// The commands of both sides, their roles and their results.
type Job<'a> = (&'a [&'a str], &'a [&'a str], [&'a str; 2], [Value; 2]);

#[test]
fn both_sides_keep_a_record_of_every_job() {
    let folder = tempfile::tempdir().unwrap();
    let [ours, peers] = ["a", "b"].map(|name| Key::generate(folder.path(), name));
    let [here, there] = ["here.json", "there.json"].map(|name| path(folder.path(), name));
    let [s, r, l, c] = ["s", "r", "l", "c"].map(|name| path(folder.path(), name));
    let psi = ["--normalize", "email"];
    let triples = ["triples", "generate", "-n", "100", "--bits", "8"];
    let jobs: [Job<'_>; 4] = [
        (
            &["ot", "send", "examples/messages.txt"],
            &["ot", "receive", "examples/choices.txt", "-o", &path(folder.path(), "m")],
            ["sender", "receiver"],
            [Value::Null, 8.into()],
        ),
        (
            &["rot", "send", "-n", "40", "-o", &s],
            &["rot", "receive", "-n", "40", "-o", &r],
            ["sender", "receiver"],
            [40.into(), 40.into()],
        ),
        (
            &[&["psi", "send", "examples/customers-b.csv", "--key", "E-Mail"][..], &psi].concat(),
            &[&["psi", "receive", "examples/customers-a.csv", "--key", "email"][..], &psi].concat(),
            ["sender", "receiver"],
            [Value::Null, 12.into()],
        ),
        (
            &[&triples[..], &["--party", "0", "-o", &l]].concat(),
            &[&triples[..], &["--party", "1", "-o", &c]].concat(),
            ["party 0", "party 1"],
            [100.into(), 100.into()],
        ),
    ];
    for (listens, connects, roles, results) in jobs {
        let listening =
            Listening::with(&[listens, &["--record", &here]].concat(), &ours.expecting(&peers));
        let connects = [connects, &["--record", &there]].concat();
        let connected = connect_with(&connects, &peers.expecting(&ours), &listening.address);
        let (status, _, said) = listening.end();
        assert_eq!((status, connected.status.code()), (0, Some(0)), "{said}{}", stderr(&connected));
        let [a, b] = [&here, &there].map(|path| read(path));
        for ((record, peer), (role, result)) in
            [(&a, &peers), (&b, &ours)].into_iter().zip(roles.iter().zip(&results))
        {
            assert_eq!((&record["schema"], &record["version"]), (&1.into(), &"0.2.0".into()));
            assert_eq!(record["job"], connects[0]);
            assert_eq!((&record["role"], &record["results"]), (&(*role).into(), result));
            assert_eq!((&record["outcome"], &record["status"]), (&"done".into(), &0.into()));
            assert_eq!(record["transport"], "tls");
            assert_eq!(record["peer"]["fingerprint"], *peer.fingerprint);
            assert_eq!(record["peer"]["name"], Value::Null);
            assert!(record["peer"]["address"].as_str().unwrap().starts_with("127.0.0.1:"));
            let times = ["started", "ended"].map(|it| record[it].as_str().unwrap());
            assert!(times.iter().all(|time| is_time(time)) && times[0] <= times[1], "{times:?}");
            assert!(record["seconds"].as_f64().unwrap() > 0.0);
            assert_eq!(record["terms"]["job"], connects[0]);
        }
        assert_eq!(a["session"].as_str().unwrap().len(), 64);
        assert_eq!(a["transcript"].as_str().unwrap().len(), 64);
        for key in ["session", "transcript", "terms", "protocol", "params", "security"] {
            assert_eq!(a[key], b[key], "{key}");
        }
        assert_eq!(a["bytes_sent"], b["bytes_received"]);
        assert_eq!(a["bytes_received"], b["bytes_sent"]);
        assert!(a["bytes_sent"].as_u64().unwrap() > 0 && b["bytes_sent"].as_u64().unwrap() > 0);
    }
    let [a, b] = [&here, &there].map(|path| read(path));
    assert_eq!(a["run"], b["run"]);
    #[cfg(unix)]
    assert_eq!((mode(&here), mode(&there)), (0o600, 0o600));
}

#[test]
fn a_record_of_psi_has_columns_normalisers_and_sizes_and_no_key() {
    let folder = tempfile::tempdir().unwrap();
    let [here, there] = ["here.json", "there.json"].map(|name| path(folder.path(), name));
    let common = ["--normalize", "lower", "--normalize", "phone:+49", "--insecure"];
    let b = ["psi", "send", "examples/customers-b.csv", "--key", "Customer", "--key", "Telephone"];
    let a = ["psi", "receive", "examples/customers-a.csv", "--key", "name", "--key", "phone"];
    let sender = Listening::with(&[&b[..], &["--record", &here]].concat(), &common);
    let receiver =
        connect_with(&[&a[..], &["--record", &there]].concat(), &common, &sender.address);
    assert_eq!((sender.end().0, receiver.status.code()), (0, Some(0)), "{}", stderr(&receiver));
    let [sent, received] = [&here, &there].map(|path| read(path));
    assert_eq!(received["key_columns"], serde_json::json!(["name", "phone"]));
    assert_eq!(received["peer_key_columns"], "Customer, Telephone");
    assert_eq!(sent["peer_key_columns"], "name, phone");
    for record in [&sent, &received] {
        assert_eq!(record["normalize"], "lower/1;phone/2");
        assert_eq!(record["our_normalize"], serde_json::json!(["lower/1", "phone/2:+49"]));
        assert_eq!(record["keys_receiver"], 23);
        assert_eq!(record["peer"]["fingerprint"], Value::Null);
    }
    for path in [&here, &there] {
        let text = fs::read_to_string(path).unwrap();
        assert!(!text.contains("901 23-45") && !text.contains("Schr"), "{text}");
    }
}

#[test]
fn a_run_that_fails_is_recorded_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let [here, there] = ["here.json", "there.json"].map(|name| path(folder.path(), name));
    let send = ["ot", "send", "examples/messages.txt", "--record", &here];
    // Nobody comes.
    let nobody = Listening::start(&[&send[..], &["--wait", "1"]].concat());
    assert_eq!(nobody.end().0, 1);
    let record = read(&here);
    let outcome = record["outcome"].as_str().unwrap();
    assert!(outcome.starts_with("no peer connected to 127.0.0.1:"), "{outcome}");
    assert_eq!((&record["status"], &record["peer"]), (&1.into(), &Value::Null));
    // Who comes wants something else.
    let sender = Listening::start(&send);
    let hex = ["ot", "receive", "examples/choices.txt", "--hex", "--record", &there];
    let receiver = connect(&hex, &sender.address);
    assert_eq!((sender.end().0, receiver.status.code()), (1, Some(1)));
    for path in [&here, &there] {
        let record = read(path);
        let outcome = record["outcome"].as_str().unwrap();
        assert!(outcome.starts_with("the two sides disagree: format is "), "{outcome}");
    }
}

#[test]
fn a_record_is_not_written_over_the_result_by_any_name() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("sub")).unwrap();
    let out = path(folder.path(), "out");
    let mut cases = vec![path(folder.path(), "./out"), path(folder.path(), "sub/../out")];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("out", folder.path().join("link")).unwrap();
        cases.push(path(folder.path(), "link"));
    }
    let triples = ["triples", "generate", "--party", "0", "-n", "10", "--bits", "8"];
    for record in &cases {
        for command in [&["ot", "receive", "missing.txt"][..], &triples] {
            let run =
                connect(&[command, &["-o", &out, "--record", record]].concat(), "127.0.0.1:1");
            let words = format!("foxtrot: --record and -o both name {record}\n");
            assert_eq!(run.status.code(), Some(2));
            assert!(stderr(&run).starts_with(&words), "{}", stderr(&run));
        }
    }
    // With a prefix, by the name that is made of it.
    let keys = path(folder.path(), "sub/../out.keys");
    let rot = ["rot", "send", "-n", "10", "-o", &out, "--record", &keys];
    let said = stderr(&connect(&rot, "127.0.0.1:1"));
    assert!(said.starts_with("foxtrot: --record and -o both name "), "{said}");
}

#[test]
fn a_record_replaces_no_file_but_a_record() {
    let folder = tempfile::tempdir().unwrap();
    let file = path(folder.path(), "file");
    let entry = "{\"schema\":1,\"job\":\"psi\",\"started\":\"2026-01-01T00:00:00Z\"}\n";
    let two = entry.repeat(2);
    let receive = ["ot", "receive", "missing.txt", "--connect", "127.0.0.1:1"];
    let serve = ["ot", "send", "missing.txt", "--serve", "--listen", "127.0.0.1:0"];
    let refused = format!("foxtrot: {file} is not a record");
    let more = format!("foxtrot: {file} is not the record of one run");
    let (refused, more) = (refused.as_str(), more.as_str());
    for (content, one_run, server) in [
        ("id,mail\n1,a@b.example\n", refused, refused),
        ("{\"schema\":1}\n", refused, refused),
        ("\n", refused, refused),
        (&two, more, "foxtrot: cannot read missing.txt"),
        (entry, "foxtrot: cannot read missing.txt", "foxtrot: cannot read missing.txt"),
        ("", "foxtrot: cannot read missing.txt", "foxtrot: cannot read missing.txt"),
    ] {
        fs::write(&file, content).unwrap();
        for (command, words) in [(&receive[..], one_run), (&serve, server)] {
            let all = [command, &["--insecure", "--record", &file]].concat();
            let run = foxtrot(&all).output().unwrap();
            assert_eq!(run.status.code(), Some(2));
            assert!(stderr(&run).starts_with(words), "{content:?}: {}", stderr(&run));
            assert_eq!(fs::read_to_string(&file).unwrap(), content);
        }
    }
}

/// A server needs no new file beside its record. For the superuser every folder takes new files.
#[cfg(unix)]
#[test]
fn a_server_appends_in_a_folder_that_is_only_for_reading() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let record = path(folder.path(), "sessions.jsonl");
    fs::write(&record, "").unwrap();
    fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o555)).unwrap();
    let send = ["ot", "send", "examples/messages.txt", "--serve", "--record", &record];
    let server = Listening::start(&send);
    let receiver = connect(&["ot", "receive", "examples/choices.txt"], &server.address);
    assert_eq!(stdout(&receiver), expected_messages(), "{}", stderr(&receiver));
    thread::sleep(Duration::from_millis(500));
    server.running.interrupt();
    assert_eq!(server.end().0, 130);
    fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
    assert_eq!(read(&record)["outcome"], "done");
}

#[cfg(unix)]
#[test]
fn a_server_appends_a_line_for_every_session() {
    let folder = tempfile::tempdir().unwrap();
    let record = path(folder.path(), "sessions.jsonl");
    let earlier = r#"{"schema":1,"job":"ot","started":"2026-01-01T00:00:00Z","earlier":true}"#;
    fs::write(&record, format!("{earlier}\n")).unwrap();
    let send = ["ot", "send", "examples/messages.txt", "--serve", "--record", &record];
    let server = Listening::start(&send);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let receiver = connect(&["ot", "receive", "examples/choices.txt"], &server.address);
                assert_eq!(stdout(&receiver), expected_messages(), "{}", stderr(&receiver));
            });
        }
    });
    // The last session's line may come after its peer has gone.
    thread::sleep(Duration::from_millis(500));
    server.running.interrupt();
    let (status, _, said) = server.end();
    assert_eq!(status, 130);
    let text = fs::read_to_string(&record).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((lines.len(), &lines[0]["earlier"]), (9, &true.into()));
    assert!(lines[1..].iter().all(|line| line["outcome"] == "done" && line["job"] == "ot"));
    let mut sessions: Vec<_> = lines[1..].iter().map(|line| line["session"].as_str()).collect();
    sessions.sort_unstable();
    sessions.dedup();
    assert_eq!(sessions.len(), 8);
    let log: Vec<_> = said.lines().filter(|line| line.contains(" session ")).collect();
    assert!(log.len() == 8 && log.iter().all(|line| is_time(line.split(' ').nth(1).unwrap())));
    assert_eq!(names(folder.path()), ["sessions.jsonl"]);
}
