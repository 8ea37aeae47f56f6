//! Triples from oblivious transfer, and `--method auto`, in one process and in two.

use std::{fs, path::Path, thread, time::Duration};

use foxtrot_net::{
    Channel, Lane,
    hello::{self, Hello, Role},
    tcp,
};
use foxtrot_ot::{
    base::{BaseOt, roted::Endemic},
    extension::ROWS,
};
use foxtrot_triples::gilboa::{self, protocol::bytes_of_run};

use super::{
    support::{Key, Listening, Running, connect, connect_with, foxtrot, stderr, stdout},
    triples::{generate, name, verified},
};

#[test]
fn two_processes_make_triples_of_every_length_over_tls() {
    let folder = tempfile::tempdir().unwrap();
    let [ours, peers] = ["a", "b"].map(|name| Key::generate(folder.path(), name));
    let runs = [
        ("8", "", "raw", 100_001),
        ("16", "-k2", "npy", 4096),
        ("32", "-k8", "npy", 1),
        ("64", "", "mp-spdz", 2049),
        ("8", "-k8", "raw", 9),
        ("64", "-k2", "raw", 20_000),
    ];
    for (i, (bits, suffix, format, count)) in runs.into_iter().enumerate() {
        let [zero, one] = [0, 1].map(|party| name(folder.path(), &format!("{i}.{party}")));
        let (count_text, method) = (count.to_string(), format!("gilboa{suffix}"));
        let kind = ["-n", &count_text, "--bits", bits, "--method", &method];
        let zero_does = generate("0", &zero, &[&kind[..], &["--format", format]].concat());
        let one_does = generate("1", &one, &[&kind[..], &["--threads", "2", "--json"]].concat());
        let (listens, connects) =
            if i % 2 == 0 { (&zero_does, &one_does) } else { (&one_does, &zero_does) };
        let listening = Listening::with(listens, &ours.expecting(&peers));
        let connected = connect_with(connects, &peers.expecting(&ours), &listening.address);
        let (status, heard, said) = listening.end();
        assert_eq!((status, connected.status.code()), (0, Some(0)), "{said}{}", stderr(&connected));
        let set = gilboa::find(&format!("gilboa-{bits}{suffix}")).unwrap();
        let triples = if count == 1 { "triple" } else { "triples" };
        let agreed = format!("agreed: {count} {triples} modulo 2^{bits}, {}; all", set.name());
        assert!(said.contains(&agreed) && said.contains("semi-honest"), "{said}");
        verified([&zero, &one], count, bits);

        let (json, party) = if i % 2 == 0 { (stdout(&connected), 0) } else { (heard, 1) };
        let report: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(report["name"], format!("triples/{}", set.name()));
        assert_eq!((&report["n"], &report["parties"]), (&count.into(), &"receiver".into()));
        assert_eq!((&report["set"], &report["sigma"]), (&set.name().into(), &().into()));
        // Who connects is the initiator.
        assert_eq!(report["bytes_receiver"], bytes_of_run(set, &Endemic, count)[party]);
    }
}

#[test]
fn two_processes_make_bit_triples_over_tls() {
    let folder = tempfile::tempdir().unwrap();
    let [ours, peers] = ["a", "b"].map(|name| Key::generate(folder.path(), name));
    // Two batches, and one word.
    let runs = [("gilboa", "bits", "mp-spdz", 1_048_640), ("silent", "bits-silent", "npy", 64)];
    for (i, (method, set, format, count)) in runs.into_iter().enumerate() {
        let [zero, one] = [0, 1].map(|party| name(folder.path(), &format!("{i}.{party}")));
        let count_text = count.to_string();
        // The first method is the default.
        let method = ["--method", method];
        let kind = ["-n", &count_text, "--bits", "1"];
        let kind = [&kind[..], if i == 0 { &[] } else { &method[..] }].concat();
        let zero_does = generate("0", &zero, &[&kind[..], &["--format", format]].concat());
        let one_does = generate("1", &one, &[&kind[..], &["--json"]].concat());
        let listening = Listening::with(&zero_does, &ours.expecting(&peers));
        let connected = connect_with(&one_does, &peers.expecting(&ours), &listening.address);
        let (status, _, said) = listening.end();
        assert_eq!((status, connected.status.code()), (0, Some(0)), "{said}{}", stderr(&connected));
        let agreed = format!("agreed: {count} triples modulo 2^1, {set}\n");
        assert!(said.contains(&agreed) && said.contains("semi-honest"), "{said}");
        verified([&zero, &one], count, "1");
        let report: serde_json::Value = serde_json::from_str(&stdout(&connected)).unwrap();
        assert_eq!((&report["set"], &report["n"]), (&set.into(), &count.into()));
    }
    let file = fs::read(folder.path().join("0.0/2-DB-64/Triples-DB-P0")).unwrap();
    assert!(file.starts_with(b"\x15\0\0\0\0\0\0\0binary secret\x08\0\0\0\0\0\0\0"));
    assert_eq!(file.len(), 29 + 1_048_640 / 64 * 24);
    let file = fs::read(folder.path().join("1.0/P0.npy")).unwrap();
    assert_eq!(file.len(), 128 + 24);
}

#[test]
fn bit_triples_are_whole_words_of_a_method_that_makes_them() {
    for (options, why) in [
        (["-n", "100", "--bits", "1"], "hint: use -n 128"),
        (
            ["-n", "64", "--bits=1", "--method=rlwe"],
            "hint: with --bits 1, use --method gilboa or silent",
        ),
        (["-n", "64", "--bits=8", "--method=silent"], "hint: use --bits 1"),
        (["-n", "64", "--bits=1", "--lift"], "--sigma and --lift do not work with --method gilboa"),
    ] {
        let output =
            foxtrot(&[&["triples", "local", "-o", "none"][..], &options].concat()).output();
        let output = output.unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
    }
}

fn local(dir: &str, more: &[&str]) -> Vec<String> {
    let all = [&["triples", "local", "-o", dir], more].concat();
    all.into_iter().map(str::to_owned).collect()
}

fn in_words(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

#[test]
fn an_interrupted_run_is_continued_from_whole_batches() {
    let folder = tempfile::tempdir().unwrap();
    let dir = name(folder.path(), "t");
    let kind = ["-n", "600001", "--bits", "64", "--method", "gilboa"];
    let mut run = Running::start(&in_words(&local(&dir, &kind)));
    assert!(run.line().starts_with("foxtrot: agreed: 600001 triples modulo 2^64, gilboa-64; all"));
    // What both have is kept.
    for party in ["P0", "P1"] {
        let file = folder.path().join(format!("t.partial/{party}.triples"));
        while fs::metadata(&file).map_or(0, |file| file.len()) < 2 * 1023 * 24 {
            thread::sleep(Duration::from_millis(2));
        }
    }
    run.interrupt();
    assert_eq!(run.end().0, 130);
    let resume = local(&dir, &[&kind[..], &["--resume", "--json"]].concat());
    // Not with another method.
    let other = local(&dir, &["-n", "600001", "--bits", "64", "--resume"]);
    let output = foxtrot(&in_words(&other)).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let why = "makes 600001 triples, --bits 64 --method gilboa --format raw, not 600001 triples, --bits 64 --sigma 40 ";
    assert!(stderr(&output).contains(why), "{}", stderr(&output));
    let output = foxtrot(&in_words(&resume)).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let before = report["batches_before"].as_u64().unwrap();
    assert!(before >= 1);
    assert_eq!(
        (&report["n"], &report["batches"]),
        (&(600_001 - before * 1023).into(), &587.into())
    );
    verified([&dir, &dir], 600_001, "64");
}

/// Each side has other whole batches, as after an interrupt that one noticed later.
#[test]
fn two_processes_continue_a_run_behind_the_fewer_batches() {
    let folder = tempfile::tempdir().unwrap();
    let [zero, one] = ["z", "o"].map(|it| name(folder.path(), it));
    let kind = ["-n", "5000", "--bits", "64", "--method", "gilboa"];
    let listening = Listening::start(&generate("0", &zero, &kind));
    let connected = connect(&generate("1", &one, &kind), &listening.address);
    assert_eq!((listening.end().0, connected.status.code()), (0, Some(0)));
    let mut kept = Vec::new();
    for (dir, party, batches) in [(&zero, "P0", 3), (&one, "P1", 2)] {
        let partial = format!("{dir}.partial");
        fs::rename(dir, &partial).unwrap();
        let file = format!("{partial}/{party}.triples");
        let mut bytes = fs::read(&file).unwrap();
        // Whole batches, and a part of one.
        bytes.truncate((batches * 1023 + 7) * 24);
        fs::write(&file, &bytes).unwrap();
        bytes.truncate(2 * 1023 * 24);
        kept.push(bytes);
    }
    let resume = [&kind[..], &["--resume"]].concat();
    let listening = Listening::start(&generate("1", &one, &resume));
    let connected = connect(&generate("0", &zero, &resume), &listening.address);
    let (status, _, said) = listening.end();
    assert_eq!((status, connected.status.code()), (0, Some(0)), "{said}{}", stderr(&connected));
    let continuing = "foxtrot: continuing after 2 of 5 batches\n";
    assert!(said.contains(continuing) && stderr(&connected).contains(continuing), "{said}");
    verified([&zero, &one], 5000, "64");
    for ((dir, party), kept) in [(&zero, "P0"), (&one, "P1")].into_iter().zip(&kept) {
        assert!(fs::read(format!("{dir}/{party}.triples")).unwrap().starts_with(kept));
    }
}

/// Each side goes by the rule, so `auto` meets a peer that names the method.
#[test]
fn auto_makes_few_triples_from_oblivious_transfer_and_many_from_ring_lwe() {
    for (bits, count, method, more, set) in [
        ("64", 2048, "gilboa", &["--sigma", "64"][..], "gilboa-64;"),
        ("64", 2049, "rlwe", &["--sigma", "64"], "rlwe-64-s64;"),
        ("8", 1, "gilboa", &["--lift"], "gilboa-8;"),
        ("16", 2049, "rlwe", &["--lift"], "rlwe-lift-16;"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let [zero, one] = ["z", "o"].map(|it| name(folder.path(), it));
        let count_text = count.to_string();
        let kind = ["-n", &count_text, "--bits", bits, "--method"];
        let listening =
            Listening::start(&generate("0", &zero, &[&kind[..], &["auto"], more].concat()));
        let named = if method == "rlwe" { more } else { &[] };
        let named = generate("1", &one, &[&kind[..], &[method], named].concat());
        let connected = connect(&named, &listening.address);
        let (status, _, said) = listening.end();
        let told = stderr(&connected);
        assert_eq!((status, connected.status.code()), (0, Some(0)), "{said}{told}");
        let agreed = format!("modulo 2^{bits}, {set}");
        assert!(said.contains(&agreed) && told.contains(&agreed), "{said}{told}");
        verified([&zero, &one], count, bits);
    }
}

#[test]
fn a_run_begun_with_auto_resumes_with_the_same_method() {
    let folder = tempfile::tempdir().unwrap();
    let dir = name(folder.path(), "t");
    let kind = ["-n", "30", "--bits", "32", "--method", "auto"];
    assert_eq!(foxtrot(&in_words(&local(&dir, &kind))).output().unwrap().status.code(), Some(0));
    fs::rename(&dir, format!("{dir}.partial")).unwrap();
    let resume = local(&dir, &[&kind[..], &["--resume", "--json"]].concat());
    let output = foxtrot(&in_words(&resume)).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["set"], "gilboa-32");
    verified([&dir, &dir], 30, "32");
}

#[test]
fn options_that_do_not_go_together_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let dir = name(folder.path(), "t");
    for (options, why) in [
        (
            &["--method", "gilboa", "--sigma", "64"][..],
            "--sigma and --lift do not work with --method gilboa",
        ),
        (
            &["--method", "gilboa-k8", "--lift"],
            "--sigma and --lift do not work with --method gilboa-k8",
        ),
        (
            &["--method", "gilboa-k8", "--bits", "64", "-n", "1099511627776"],
            "gilboa-64-k8 makes at most 274609470465 triples in a run",
        ),
    ] {
        let kind = if options.contains(&"-n") { &[][..] } else { &["-n", "5", "--bits", "8"] };
        let words = local(&dir, &[kind, options].concat());
        let output = foxtrot(&in_words(&words)).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
    }
    assert!(!Path::new(&dir).exists());
}

/// A peer, party 1, that opens the connection.
fn peer(address: &str) -> Channel {
    let channel = tcp::connect(address, Duration::from_secs(20)).unwrap().open().unwrap();
    let hello = Hello::new(Role::Receiver)
        .term("job", "triples")
        .term("method", "gilboa")
        .term("adversary", "semi-honest")
        .term("bits", 8)
        .term("sigma", 40)
        .term("count", 100_001)
        .term("run", "new")
        .offer("whole-batches", 0);
    hello::exchange(&channel, true, &hello).unwrap();
    channel.use_lanes(4);
    channel
}

/// Returns the messages of party 0 about a peer that sends these messages.
fn said_of(messages: &[(Lane, Vec<u8>)]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let dir = name(folder.path(), "t");
    let kind = ["-n", "100001", "--bits", "8", "--method", "gilboa"];
    let party = Listening::start(&generate("0", &dir, &kind));
    let channel = peer(&party.address);
    for (lane, message) in messages {
        // It may have gone already.
        let _ = channel.send(*lane, message.clone());
    }
    let (status, _, said) = party.end();
    assert_eq!(status, 3, "{said}");
    assert!(!Path::new(&dir).exists());
    said
}

#[test]
fn an_impossible_message_blames_the_peer_and_delivers_no_triples() {
    let first = Lane::PROTOCOL;
    let blinded = (Endemic.info().receiver_bytes)(ROWS);
    for (messages, why) in [
        (vec![(first, vec![0xff; blinded])], "Blinded"),
        (vec![(first, vec![0; 5])], "a message of 5 bytes instead of"),
        (vec![(Lane::new(4).unwrap(), vec![0; 5])], "lane 4"),
    ] {
        let said = said_of(&messages);
        assert!(said.contains(why), "{said}");
    }
}
