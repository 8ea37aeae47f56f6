use std::fs;

use super::*;

fn at(path: &Path) -> Log {
    Log::new(path, |_| ())
}

fn run(role: &str) -> Run {
    let run = Run { id: "0011223344556677".into(), fields: Arc::default() };
    lock(&run.fields).insert("role".into(), role.into());
    run
}

/// Writes the two lines of a run.
fn keep(log: &Log, run: &Run) {
    let fields = lock(&run.fields).clone();
    log.begun(run, &fields).unwrap();
    run.end_with("done", 0);
    log.ended(run, false).unwrap();
}

fn events(path: &Path) -> Vec<(String, Value)> {
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.map(|line| (line["event"].as_str().unwrap().to_owned(), line)).collect()
}

fn stranger(source: &str) -> From<'_> {
    From { fingerprint: None, name: None, address: Some(source), source }
}

#[test]
fn a_run_has_two_lines_with_one_id_and_no_field_that_is_not_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let (log, run) = (at(&path), run("sender"));
    lock(&run.fields).insert("items".into(), "secret".into());
    keep(&log, &run);
    // The outcome is written once.
    log.ended(&run, false).unwrap();
    let all = events(&path);
    assert_eq!(all.len(), 2);
    for ((event, line), expected) in all.iter().zip(["begun", "ended"]) {
        assert_eq!((event.as_str(), &line["audit"]), (expected, &2.into()));
        assert_eq!((&line["run"], &line["role"]), (&(*run.id).into(), &"sender".into()));
        assert_eq!(line.as_object().unwrap().len(), FIELDS.len() + 4);
    }
    assert_eq!((&all[0].1["outcome"], &all[1].1["outcome"]), (&Value::Null, &"done".into()));
    assert!(!fs::read_to_string(&path).unwrap().contains("secret"));
}

#[test]
fn a_line_behind_one_that_was_cut_off_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let log = at(&path);
    keep(&log, &run("sender"));
    let first = fs::read_to_string(&path).unwrap();
    let cut = &first[..first.len() - 5];
    fs::write(&path, cut).unwrap();
    keep(&log, &run("sender"));
    let text = fs::read_to_string(&path).unwrap();
    let behind = text.strip_prefix(&format!("{cut}\n")).unwrap();
    assert_eq!(behind.lines().count(), 2);
    assert!(behind.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{text}");
    check(&path).unwrap();
}

#[test]
fn an_outcome_that_cannot_be_written_comes_before_the_next_run() {
    let folder = tempfile::tempdir().unwrap();
    let sub = folder.path().join("sub");
    fs::create_dir(&sub).unwrap();
    let path = sub.join("audit.jsonl");
    let (log, first, second) = (at(&path), run("sender"), run("receiver"));
    log.begun(&first, &lock(&first.fields).clone()).unwrap();
    let away = folder.path().join("away");
    fs::rename(&sub, &away).unwrap();
    first.end_with("done", 0);
    assert!(log.ended(&first, false).unwrap_err().is_unrecorded());
    assert!(log.ready().is_err());
    let refused = log.begun(&second, &lock(&second.fields).clone()).unwrap_err();
    assert!(refused.message().contains(path.to_str().unwrap()), "{}", refused.message());
    log.never_began(&second);
    fs::rename(&away, &sub).unwrap();
    log.ready().unwrap();
    keep(&log, &second);
    let all: Vec<_> = events(&path)
        .into_iter()
        .map(|(event, line)| (event, line["role"].as_str().unwrap().to_owned()))
        .collect();
    let pair = |event: &str, role: &str| (event.to_owned(), role.to_owned());
    assert_eq!(
        all,
        [
            pair("begun", "sender"),
            pair("ended", "sender"),
            pair("begun", "receiver"),
            pair("ended", "receiver")
        ]
    );
}

#[test]
fn refused_strangers_take_a_bounded_number_of_lines_and_hide_no_peer_with_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let (log, now, failure) = (at(&path), Instant::now(), Failure::run("x".repeat(10_000)));
    for i in 0..10_000 {
        let source = format!("192.0.{}.{}", i / 250, i % 250);
        log.refused(&stranger(&source), &failure, now).unwrap();
        log.refused(&stranger("198.51.100.7"), &failure, now).unwrap();
    }
    let friend = || From { fingerprint: Some("SHA256:friend".into()), ..stranger("198.51.100.7") };
    log.refused(&friend(), &failure, now).unwrap();
    let all = events(&path);
    assert_eq!(all.len(), 17);
    assert_eq!(all[16].1["peer"]["fingerprint"], "SHA256:friend");
    assert!(all.iter().all(|(event, line)| event == "refused" && line["count"] == 1));
    assert_eq!(all[0].1["outcome"].as_str().unwrap().len(), LONGEST);
    // A minute later.
    log.summarise(now).unwrap();
    assert_eq!(events(&path).len(), 17);
    log.summarise(log.due().unwrap()).unwrap();
    let all = events(&path);
    let counts: Vec<_> = all[17..].iter().map(|(_, line)| line["count"].clone()).collect();
    assert_eq!(counts, [9999, 10_000 - 15]);
    assert_eq!(all[17].1["peer"]["address"], "198.51.100.7");
    assert_eq!(all[18].1["outcome"], "other peers were refused");
}

#[test]
fn refused_peers_that_could_not_be_written_are_counted_later() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("missing/audit.jsonl");
    let (log, now, failure) = (at(&path), Instant::now(), Failure::run("why"));
    for source in ["192.0.2.1", "192.0.2.2"] {
        assert!(log.refused(&stranger(source), &failure, now).is_err());
    }
    assert!(log.ready().is_err());
    fs::create_dir(folder.path().join("missing")).unwrap();
    log.ready().unwrap();
    let all = events(&path);
    assert_eq!((all.len(), &all[0].1["count"]), (1, &2.into()));
}

#[test]
fn an_interrupt_ends_all_runs_that_are_open() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let (log, runs) = (at(&path), [run("sender"), run("sender")]);
    runs.iter().for_each(|run| log.begun(run, &lock(&run.fields).clone()).unwrap());
    log.interrupt().unwrap();
    let all = events(&path);
    assert_eq!(all.len(), 4);
    for (event, line) in &all[2..] {
        assert_eq!((event.as_str(), &line["outcome"]), ("ended", &"interrupted".into()));
    }
}

#[test]
fn a_file_of_others_or_with_other_content_is_refused_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.csv");
    fs::write(&path, "name\n").unwrap();
    let run = run("sender");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
        let refused = check(&path).unwrap_err();
        assert!(refused.message().contains("can be read or written by other users"));
        assert!(at(&path).begun(&run, &Map::new()).is_err());
        fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
    }
    assert!(check(&path).unwrap_err().message().ends_with("is not an audit log"));
    let refused = at(&path).begun(&run, &Map::new()).unwrap_err();
    assert!(refused.message().ends_with("it is not an audit log"), "{}", refused.message());
    assert_eq!(fs::read_to_string(&path).unwrap(), "name\n");
    assert!(check(folder.path()).is_err());
    check(&folder.path().join("new")).unwrap();
    // A log of an earlier version goes on.
    fs::write(&path, "{\"audit\":1,\"version\":\"0.2.0\"}\n").unwrap();
    check(&path).unwrap();
}
