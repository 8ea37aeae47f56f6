//! Sets in common and triples of two processes that are cut, stalled or interrupted at every frame: both
//! end soon and say why, and leave nothing but what a run of triples can be continued from.

use std::{
    fs,
    net::TcpListener,
    path::Path,
    process::Stdio,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use super::{
    relay::{Act, Place, Relay, Within},
    support::{Key, Listening, Running, foxtrot, stderr, stdout},
    triples::{name, verified},
};

/// Commands of two processes, the one that listens and the one that connects; `OUT` is a name of its
/// own.
type Job = [&'static [&'static str]; 2];

const JOBS: [Job; 5] = [
    [
        &["psi", "send", "examples/customers-b.csv", "--key", "E-Mail"],
        &["psi", "receive", "examples/customers-a.csv", "--key", "email", "-o", "OUT"],
    ],
    [
        &["psi", "receive", "examples/customers-a.csv", "--key", "email", "-o", "OUT"],
        &["psi", "send", "examples/customers-b.csv", "--key", "E-Mail"],
    ],
    [
        &["triples", "generate", "--party", "0", "-n", "20000", "--bits", "8", "-o", "OUT"],
        &["triples", "generate", "--party", "1", "-n", "20000", "--bits", "8", "-o", "OUT"],
    ],
    [
        &[
            "triples", "generate", "--party", "1", "-n", "20000", "--bits", "8", "--lift", "-o",
            "OUT",
        ],
        &[
            "triples", "generate", "--party", "0", "-n", "20000", "--bits", "8", "--lift", "-o",
            "OUT",
        ],
    ],
    [
        &[
            "triples", "generate", "--party", "0", "-n", "1500", "--bits", "64", "--method",
            "gilboa", "-o", "OUT",
        ],
        &[
            "triples", "generate", "--party", "1", "-n", "1500", "--bits", "64", "--method",
            "gilboa", "-o", "OUT",
        ],
    ],
];

/// Two processes with a relay between them.
struct Two {
    folder: tempfile::TempDir,
    relay: Relay,
    /// The one that listens, and the one that connects.
    running: [Running; 2],
}

impl Two {
    fn start(job: Job, place: Place, act: Act, more: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let outs = ["l", "c"].map(|it| name(folder.path(), it));
        let [listens, connects] = [0, 1].map(|k| {
            let words = job[k].iter().map(|word| if *word == "OUT" { &outs[k] } else { *word });
            words.chain(more.iter().copied()).collect::<Vec<_>>()
        });
        let listening = Listening::start(&listens);
        let relay = Relay::start(&listening.address, place, act);
        let transport = ["--insecure", "--connect", &relay.address];
        let connected = Running::start(&[&connects[..], &transport].concat());
        Self { folder, relay, running: [listening.running, connected] }
    }
}

/// Runs every frame of every job from that one on, some at a time, until there are no more; `check` says whether
/// there was such a frame.
fn at_every_frame(first: usize, check: impl Fn(Job, Place) -> bool + Sync) {
    let cases: Vec<_> =
        JOBS.into_iter().flat_map(|job| [false, true].map(|it| (job, it))).collect();
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(&(job, of_listener)) =
                    cases.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    let within = [Within::Nothing, Within::Header, Within::HalfThePayload];
                    let place =
                        |frame: usize| Place { of_listener, frame, within: within[frame % 3] };
                    let frames = (first..).take_while(|&frame| check(job, place(frame))).count();
                    assert!(frames >= 3, "{job:?}: {frames}");
                }
            });
        }
    });
}

/// Neither a result nor anything beside its place, but that of a process which has come to its end.
fn assert_nothing_left(folder: &Path, ended: [bool; 2], what: &str) {
    for entry in fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        // Shares are where a run is continued from, and nowhere else.
        let known = [("l", ended[0]), ("c", ended[1]), ("l.partial", true), ("c.partial", true)];
        assert!(known.contains(&(&*name, true)), "{name} is left: {what}");
        // Rows are a file.
        for entry in fs::read_dir(folder.join(&name)).into_iter().flatten() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let known = ["P0.json", "P1.json", "P0.triples", "P1.triples"];
            assert!(known.contains(&&*name), "{name} is left: {what}");
        }
    }
}

/// Returns true if a line begins with these words.
fn says(said: &str, words: &str) -> bool {
    said.lines().any(|line| line.starts_with(words))
}

#[test]
fn a_connection_that_is_cut_at_any_frame_ends_both_with_status_1_and_without_a_result() {
    // Behind hello and details: before, the listening side waits for another peer.
    at_every_frame(2, |job, place| {
        let two = Two::start(job, place, Act::Cut, &[]);
        let is_there = two.relay.acts();
        let start = Instant::now();
        let ended = two.running.map(Running::end);
        let what = format!("{job:?}, {place:?}: {ended:?}");
        let done = ended.each_ref().map(|(status, ..)| *status == 0);
        if !is_there {
            assert_eq!(done, [true; 2], "{what}");
            return false;
        }
        assert!(start.elapsed() < Duration::from_secs(10), "{what}");
        for ((status, result, said), writes) in
            ended.iter().zip([place.of_listener, !place.of_listener])
        {
            assert_eq!(result, "", "{what}");
            let cut = *status == 1 && says(said, "foxtrot: the peer closed the connection");
            // Who has written its last word need not know.
            assert!(cut || writes && *status == 0, "{what}");
        }
        assert_nothing_left(two.folder.path(), done, &what);
        true
    });
}

/// Status 3 where somebody sees it; never a panic, a wrong row or half a result, and never do both sides succeed.
#[test]
fn a_frame_that_is_changed_on_the_way_ends_both_and_gives_no_wrong_row() {
    // docs/wire: R2-15.
    let local = ["examples/customers-a.csv", "examples/customers-b.csv", "--key", "email"];
    let local = [&["psi", "local"][..], &local, &["--key-b", "E-Mail"]].concat();
    let right = stdout(&foxtrot(&local).output().unwrap());
    assert!(right.lines().count() > 2);
    let seen = AtomicUsize::new(0);
    at_every_frame(2, |job, place| {
        let two = Two::start(job, place, Act::Flip, &["--timeout", "5"]);
        let is_there = two.relay.acts();
        let ended = two.running.map(Running::end);
        let what = format!("{job:?}, {place:?}: {ended:?}");
        assert!(ended.iter().all(|(status, ..)| [0, 1, 3].contains(status)), "{what}");
        assert!(!is_there || ended.iter().all(|(_, result, _)| result.is_empty()), "{what}");
        for (status, _, said) in &ended {
            let words = [
                "hint: the peer is faulty or cheats; no output was written\n",
                "without --insecure TLS protects the data\n",
                "--resume on both sides repeats the failed batch\n",
            ];
            let resume = "; finished batches are kept; continue with --resume on both sides\n";
            let plain = said.strip_suffix(resume).map(|rest| format!("{rest}\n"));
            assert!(plain.is_none() || what.contains("\"triples\""), "{what}");
            let said = plain.as_ref().unwrap_or(said);
            assert_eq!(*status == 3, words.iter().any(|it| said.ends_with(it)), "{what}");
            seen.fetch_add(usize::from(*status == 3), Ordering::Relaxed);
        }
        // Either side may have heard the other's last word before its own was changed, but not both.
        assert!(!is_there || ended.iter().any(|(status, ..)| *status == 3), "{what}");
        let psi = job[0][0] == "psi";
        for (out, (status, ..)) in ["l", "c"].iter().zip(&ended) {
            let out = two.folder.path().join(out);
            assert!(*status == 0 || !out.exists(), "{what}");
            if psi && out.exists() {
                let rows = fs::read_to_string(out).unwrap();
                assert!(rows.lines().all(|row| right.lines().any(|it| it == row)), "{what}");
            }
        }
        is_there
    });
    // Of a set: blinded elements, replies, corrections, challenges and proofs, in either order.
    assert!(seen.into_inner() >= 8);
}

/// An interrupt ends a process that waits for a frame in vain, and a process that has sent it and may have
/// nothing more to wait for.
#[test]
fn an_interrupt_at_any_frame_ends_its_process_at_once_and_the_peer_soon() {
    // Behind hello and details, as above.
    at_every_frame(2, |job, place| {
        let mut two = Two::start(job, place, Act::Hold, &[]);
        if !two.relay.acts() {
            return false;
        }
        // What has been forwarded is read, and the other's way is free.
        thread::sleep(Duration::from_millis(30));
        if place.of_listener {
            two.running.reverse();
        }
        let [reader, writer] = two.running;
        let signal = ["-INT", "-TERM", "-HUP"][place.frame % 3];
        let writer_is_interrupted = place.frame % 2 == 1;
        let (interrupted, lives) =
            if writer_is_interrupted { (writer, reader) } else { (reader, writer) };
        let start = Instant::now();
        interrupted.signal(signal);
        let (status, result, said) = interrupted.end();
        let what = format!("{job:?}, {place:?}, {signal}: {said}");
        assert!(start.elapsed() < Duration::from_secs(5), "{what}");
        assert_eq!(result, "", "{what}");
        let finished = writer_is_interrupted && status == 0;
        // Its peer may have heard its last word, and be done.
        let gone = status == 1 && says(&said, "foxtrot: the peer closed the connection");
        let interrupted = status == 130 && says(&said, "foxtrot: interrupted");
        assert!(finished || interrupted || gone, "{what}");
        let (status, result, said) = lives.end();
        assert!(!gone || status == 0, "{what}");
        let what = format!("{job:?}, {place:?}, {signal}: {said}");
        assert!(start.elapsed() < Duration::from_secs(10), "{what}");
        let finished = !writer_is_interrupted && status == 0;
        assert_eq!(result, "", "{what}");
        assert!(
            finished || status == 1 && says(&said, "foxtrot: the peer closed the connection"),
            "{what}"
        );
        // As they are in the folder: the one that listens first.
        // The signal may come between a writer's result, which appears at once, and its end.
        let writers = writer_is_interrupted || status == 0;
        let ended = if place.of_listener { [writers, false] } else { [false, writers] };
        assert_nothing_left(two.folder.path(), ended, &what);
        true
    });
}

#[test]
fn a_connection_that_stalls_ends_both_at_the_timeout() {
    thread::scope(|scope| {
        for (k, job) in JOBS.into_iter().enumerate() {
            for frame in [0, 1, 3] {
                scope.spawn(move || {
                    let of_listener = (k + frame) % 2 == 0;
                    let place = Place { of_listener, frame, within: Within::HalfThePayload };
                    // Before the hellos are heard, the listening side waits for another peer.
                    let patience = ["--timeout", "3", "--wait", "4"];
                    let two = Two::start(job, place, Act::Hold, &patience);
                    assert!(two.relay.acts(), "{job:?}, {place:?}");
                    let [listens, connects] = two.running.map(Running::end);
                    let what = format!("{job:?}, {place:?}: {listens:?}, {connects:?}");
                    let said = [&listens, &connects].map(|(_, _, said)| said);
                    let in_vain = "foxtrot: no message from the peer within 3 s";
                    let told = [
                        in_vain,
                        "foxtrot: the peer gave up: it waited",
                        "foxtrot: the peer closed",
                        "foxtrot: no peer connected",
                        "foxtrot: one stranger connected",
                    ];
                    assert_eq!([listens.0, connects.0], [1, 1], "{what}");
                    assert!(said.iter().all(|said| told.iter().any(|it| says(said, it))), "{what}");
                    assert_nothing_left(two.folder.path(), [false; 2], &what);
                });
            }
        }
    });
}

/// Files that a cut leaves behind can be continued on both sides, or on neither.
#[test]
fn triples_that_were_cut_midway_are_continued() {
    for (job, count, bits) in
        [(JOBS[2], 20_000, "8"), (JOBS[3], 20_000, "8"), (JOBS[4], 1500, "64")]
    {
        let place = Place { of_listener: true, frame: 4, within: Within::HalfThePayload };
        let two = Two::start(job, place, Act::Cut, &[]);
        assert!(two.relay.acts());
        let _ = two.running.map(Running::end);
        let outs = ["l", "c"].map(|it| name(two.folder.path(), it));
        let resumed = |k: usize| {
            let words = job[k].iter().map(|word| if *word == "OUT" { &outs[k] } else { *word });
            words.chain(["--resume"]).collect::<Vec<_>>()
        };
        let listening = Listening::start(&resumed(0));
        let transport = ["--insecure", "--connect", &listening.address];
        let connected = foxtrot(&[&resumed(1)[..], &transport].concat()).output().unwrap();
        let (status, _, said) = listening.end();
        assert_eq!((status, connected.status.code()), (0, Some(0)), "{said}{}", stderr(&connected));
        verified([&outs[0], &outs[1]], count, bits);
    }
}

#[test]
fn an_interrupt_before_there_is_a_session_ends_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let [ours, peers] = ["a", "b"].map(|name| Key::generate(folder.path(), name));
    // It takes connections and says nothing: TLS begins and does not go on.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = silent.local_addr().unwrap().to_string();
    let secure = ours.expecting(&peers);
    let out = name(folder.path(), "out");
    let signals = ["-INT", "-TERM", "-HUP"];
    for (k, job) in JOBS.into_iter().enumerate() {
        let words = |side: usize| {
            let words = job[side].iter().map(|word| if *word == "OUT" { &out } else { *word });
            words.collect::<Vec<_>>()
        };
        for transport in [&["--insecure"][..], &secure] {
            let listening = Listening::with(&words(0), transport);
            listening.running.signal(signals[k % 3]);
            let (status, result, said) = listening.end();
            assert_eq!((status, result.as_str()), (130, ""), "{said}");
            assert!(said.ends_with("foxtrot: interrupted\n"), "{said}");
            // Nobody is there, or who is there is silent.
            for address in ["127.0.0.1:1", &silent] {
                let connect = [transport, &["-v", "--connect", address]].concat();
                let mut connecting = Running::start(&[&words(1)[..], &connect].concat());
                while !connecting.line().starts_with("foxtrot: connecting to ") {}
                thread::sleep(Duration::from_millis(30));
                connecting.signal(signals[(k + 1) % 3]);
                let (status, result, said) = connecting.end();
                assert_eq!((status, result.as_str()), (130, ""), "{said}");
                assert!(said.ends_with("foxtrot: interrupted\n"), "{said}");
            }
        }
    }
    // Only the keys.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

/// A set from a pipe that does not end; a result into a pipe that nobody reads.
#[test]
fn an_interrupt_ends_a_process_that_reads_or_writes_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = name(folder.path(), "pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let local = ["examples/customers-a.csv", "examples/customers-b.csv", "--key", "email"];
    let local = [&["psi", "local"][..], &local, &["--key-b", "E-Mail", "-o", &pipe]].concat();
    let read = ["psi", "inspect", "-", "--key", "mail", "--format", "csv"];
    for arguments in [&local[..], &read] {
        let mut command = foxtrot(arguments);
        let child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = child.spawn().unwrap();
        let _held = child.stdin.take();
        thread::sleep(Duration::from_millis(500));
        assert!(child.try_wait().unwrap().is_none(), "{arguments:?}");
        let id = child.id().to_string();
        let killed = std::process::Command::new("kill").args(["-INT", &id]).status().unwrap();
        assert!(killed.success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}
