//! Runs that do not come to their end, and what becomes of them.

use std::{
    fs::{self, OpenOptions},
    io::Write,
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use super::{
    support::{Listening, Running, connect, foxtrot, names, root, stderr},
    triples::{generate, name, verified},
};

/// Triples of a run that takes seconds, and of one of its batches; bytes of a triple.
const COUNT: &str = "3000001";
const BATCH: u64 = 4095;
const LEN: u64 = 3;
/// The last line of a run that can be continued.
const RESUME: &str = "hint: finished batches are kept; continue with --resume on both sides\n";
const KIND: [&str; 4] = ["-n", COUNT, "--bits", "8"];

/// Waits until the file has so many bytes.
fn wait_for(bytes: u64, file: &Path) {
    let start = Instant::now();
    while fs::metadata(file).map_or(0, |file| file.len()) < bytes {
        assert!(start.elapsed() < Duration::from_secs(30), "nothing is written");
        thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn an_interrupted_run_is_continued_from_whole_batches() {
    let folder = tempfile::tempdir().unwrap();
    let [zero, one] = ["z", "o"].map(|it| name(folder.path(), it));
    let files = [("z", "P0"), ("o", "P1")]
        .map(|(dir, party)| folder.path().join(format!("{dir}.partial/{party}.triples")));

    let listening = Listening::start(&generate("0", &zero, &KIND));
    let transport = ["--insecure", "--connect", &listening.address];
    let connected = Running::start(&[&generate("1", &one, &KIND)[..], &transport].concat());
    files.iter().for_each(|file| wait_for(3 * BATCH * LEN, file));
    connected.interrupt();
    let (status, _, told) = connected.end();
    assert_eq!((status, told.ends_with(RESUME)), (130, true), "{told}");
    assert!(told.contains("foxtrot: interrupted\nhint: "), "{told}");
    let (status, _, said) = listening.end();
    assert_eq!((status, said.ends_with(RESUME)), (1, true), "{said}");
    assert!(said.contains("foxtrot: the peer closed the connection "), "{said}");
    assert_eq!(names(folder.path()), ["o.partial", "z.partial"]);

    // One side has a batch less than it could, and a part of one that did not become whole.
    let mut kept = files.each_ref().map(|file| fs::read(file).unwrap());
    let whole = kept.each_ref().map(|bytes| bytes.len() as u64 / (BATCH * LEN));
    assert!(whole[1] >= 3 && whole[0] >= 1, "{whole:?}");
    let fewer = whole[0].min(whole[1]) - 1;
    let cut = OpenOptions::new().write(true).open(&files[0]).unwrap();
    cut.set_len((fewer * BATCH + 77) * LEN).unwrap();

    // Neither begins anew over that, nor does one alone.
    let resume = [&KIND[..], &["--resume"]].concat();
    let again = connect(&generate("0", &zero, &KIND), "127.0.0.1:1");
    assert_eq!(again.status.code(), Some(2));
    assert!(stderr(&again).contains("an interrupted run left "));
    let listening = Listening::start(&generate("1", &one, &resume));
    let alone = connect(&generate("0", &name(folder.path(), "x"), &KIND), &listening.address);
    assert_eq!((alone.status.code(), listening.end().0), (Some(1), 1));
    assert!(stderr(&alone).contains("run is new here and "), "{}", stderr(&alone));
    assert!(stderr(&alone).contains("hint: continue the same run with --resume on both sides"));
    // And not with something else than what was begun.
    let other =
        connect(&generate("0", &zero, &["-n", COUNT, "--bits", "16", "--resume"]), "127.0.0.1:1");
    assert_eq!(other.status.code(), Some(2));
    assert!(stderr(&other).contains("the interrupted run makes 3000001 triples, --bits 8 "));

    // Nor under another number than that of the first session, of which both files say that it was theirs.
    let records = [("z", "P0"), ("o", "P1")]
        .map(|(dir, party)| folder.path().join(format!("{dir}.partial/{party}.json")));
    let texts = records.each_ref().map(|path| fs::read_to_string(path).unwrap());
    for (path, text) in records.iter().zip(&texts) {
        fs::write(path, text.replace(COUNT, "3000002")).unwrap();
    }
    let more = ["-n", "3000002", "--bits", "8", "--resume"];
    let listening = Listening::start(&generate("1", &one, &more));
    let connected = connect(&generate("0", &zero, &more), &listening.address);
    let said = listening.end().2 + &stderr(&connected);
    assert!(said.contains("the interrupted run was made under other terms"), "{said}");
    records.iter().zip(&texts).for_each(|(path, text)| fs::write(path, text).unwrap());

    // The other side may listen now.
    let listening = Listening::start(&generate("1", &one, &resume));
    let connected = connect(&generate("0", &zero, &resume), &listening.address);
    let (status, _, said) = listening.end();
    assert_eq!((status, connected.status.code()), (0, Some(0)), "{said}{}", stderr(&connected));
    let continuing = format!("foxtrot: continuing after {fewer} of 733 batches\n");
    assert!(said.contains(&continuing) && stderr(&connected).contains(&continuing), "{said}");
    let earlier = format!("foxtrot: batches of earlier sessions: {fewer}; their opened triples");
    assert!(said.contains(&earlier) && stderr(&connected).contains(&earlier), "{said}");
    assert_eq!(names(folder.path()), ["o", "z"]);
    verified([&zero, &one], 3_000_001, "8");
    for (dir, (party, kept)) in ["z", "o"].iter().zip(["P0", "P1"].iter().zip(&mut kept)) {
        kept.truncate(usize::try_from(fewer * BATCH * LEN).unwrap());
        let done = fs::read(folder.path().join(format!("{dir}/{party}.triples"))).unwrap();
        assert!(done.starts_with(kept));
        assert_eq!(done.len() as u64, 3_000_001 * LEN);
    }

    // Who does not know that all is done finds out, and changes nothing.
    fs::rename(&one, format!("{one}.partial")).unwrap();
    let listening = Listening::start(&generate("1", &one, &resume));
    let connected = connect(&generate("0", &zero, &resume), &listening.address);
    assert_eq!((listening.end().0, connected.status.code()), (0, Some(0)));
    verified([&zero, &one], 3_000_001, "8");
}

/// Interrupts a run in one process that has two batches, of so many bytes, and continues it. Returns the number of batches before, and
/// of triples after.
fn resumed(kind: [&str; 4], begins: &str, batch: u64) -> [u64; 2] {
    let folder = tempfile::tempdir().unwrap();
    let dir = name(folder.path(), "t");
    let local = [&["triples", "local", "-o", &dir], &kind[..]].concat();
    let mut run = Running::start(&local);
    let line = run.line();
    assert!(line.starts_with(begins), "{line}");
    for party in ["P0", "P1"] {
        wait_for(2 * batch, &folder.path().join(format!("t.partial/{party}.triples")));
    }
    run.interrupt();
    let (status, _, said) = run.end();
    let words = format!("foxtrot: interrupted\n{RESUME}");
    assert_eq!((status, said.ends_with(&words)), (130, true), "{said}");
    assert_eq!(names(folder.path()), ["t.partial"]);
    let output = foxtrot(&[&local[..], &["--resume", "--json"]].concat()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    verified([&dir, &dir], kind[1].parse().unwrap(), kind[3]);
    ["batches_before", "n"].map(|key| report[key].as_u64().unwrap())
}

#[test]
fn a_run_in_one_process_resumes() {
    let agreed = "foxtrot: agreed: 3000001 triples modulo 2^8, rlwe-8";
    let [before, made] = resumed(KIND, agreed, BATCH * LEN);
    assert!(before >= 1);
    assert_eq!(made, 3_000_001 - before * BATCH);
}

#[test]
fn a_run_of_bit_triples_resumes() {
    // A batch has 2^20 triples, of three bits each.
    let kind = ["-n", "32000000", "--bits", "1"];
    let [before, made] = resumed(kind, "foxtrot: agreed: 32000000 triples ", 3 << 17);
    assert!((1..30).contains(&before), "{before}");
    assert_eq!(made, 32_000_000 - (before << 20));
}

#[test]
fn a_disk_that_is_full_ends_a_run_that_can_be_continued() {
    let folder = tempfile::tempdir().unwrap();
    let dir = name(folder.path(), "t");
    let command = format!(
        "trap '' XFSZ; ulimit -f 500; exec {} triples local -n 1000000 --bits 8 -o {dir}",
        env!("CARGO_BIN_EXE_foxtrot")
    );
    let output = Command::new("sh").args(["-c", &command]).current_dir(root()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert!(said.contains("foxtrot: cannot write ") && said.contains("file too large\n"), "{said}");
    assert!(said.ends_with(RESUME), "{said}");
    assert_eq!(names(folder.path()), ["t.partial"]);
    let resume = ["triples", "local", "-n", "1000000", "--bits", "8", "-o", &dir, "--resume"];
    let output = foxtrot(&resume).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    verified([&dir, &dir], 1_000_000, "8");
}

#[test]
fn existing_triples_are_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let dir = name(folder.path(), "t");
    let local = ["triples", "local", "-n", "5", "--bits", "8", "-o", &dir];
    let said = |more: &[&str]| {
        let output = foxtrot(&[&local[..], more].concat()).output().unwrap();
        (output.status.code().unwrap(), stderr(&output))
    };
    let (status, why) = said(&["--resume"]);
    assert!(status == 2 && why.contains("t.partial not found; there is no run to continue\n"));
    // An empty directory is as good as none.
    fs::create_dir(&dir).unwrap();
    assert_eq!(said(&[]).0, 0);
    let before = fs::read(folder.path().join("t/P0.triples")).unwrap();
    let (status, why) = said(&[]);
    assert!(status == 2 && why.contains("t exists\n"), "{why}");
    assert_eq!(fs::read(folder.path().join("t/P0.triples")).unwrap(), before);
    let mut file = fs::File::create(folder.path().join("file")).unwrap();
    file.write_all(b"x").unwrap();
    let output = foxtrot(&[
        "triples",
        "local",
        "-n",
        "5",
        "--bits",
        "8",
        "-o",
        &name(folder.path(), "file"),
    ]);
    let output = { output }.output().unwrap();
    assert!(stderr(&output).contains("file exists\n"));
}
