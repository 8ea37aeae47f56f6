//! `psi --assumption`: the same rows under either, what both sides say, what is sent, and sides that differ.

use std::{fs, ops::Range, path::Path, thread, time::Duration};

use foxtrot::{
    Config, Identity, Peer,
    psi::{self, Assumption},
};
use serde_json::Value;

use super::support::{Key, Listening, Running, connect, connect_with, foxtrot, stderr, stdout};

const A: [&str; 5] = ["examples/customers-a.csv", "--key", "email", "--normalize", "email"];
const B: [&str; 5] = ["examples/customers-b.csv", "--key", "E-Mail", "--normalize", "email"];

fn party<'a>(role: &'a str, set: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [&["psi", role], set, more].concat()
}

fn lines(folder: &Path, name: &str, numbers: Range<usize>) -> String {
    let path = folder.join(name);
    fs::write(&path, numbers.map(|i| format!("user{i:09}\n")).collect::<String>()).unwrap();
    path.to_str().unwrap().to_owned()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

#[test]
fn over_tls_either_assumption_and_adversary_finds_the_same_rows() {
    let folder = tempfile::tempdir().unwrap();
    let [ours, peers] = ["a", "b"].map(|name| Key::generate(folder.path(), name));
    let mut rows = Vec::new();
    for (options, assumption, adversary) in [
        (&[][..], "symmetric", "malicious"),
        (&["--semi-honest"], "symmetric", "semi-honest"),
        (&["--assumption", "lpn"], "lpn", "malicious"),
        (&["--assumption", "lpn", "--semi-honest"], "lpn", "semi-honest"),
    ] {
        let receiver = Listening::with(&party("receive", &A, options), &ours.expecting(&peers));
        let send = party("send", &B, &[options, &["--json", "--threads", "2"]].concat());
        let sender = connect_with(&send, &peers.expecting(&ours), &receiver.address);
        let (status, found, said) = receiver.end();
        assert_eq!((status, sender.status.code()), (0, Some(0)), "{said}{}", stderr(&sender));
        let agreed = format!("agreed: {adversary} security, assumption {assumption}, ");
        let learns = "this side learns which of its keys the peer has; the peer learns only our number \
                      of keys (20)";
        assert!(said.contains(&agreed) && said.contains(learns), "{said}");
        let learns = "the peer learns which of its keys are here; this side learns only the peer's number \
                      of keys (20)";
        let said = stderr(&sender);
        assert!(said.contains(&agreed) && said.contains(learns), "{said}");
        let report = json(&stdout(&sender));
        assert_eq!(
            (&report["assumption"], &report["adversary"]),
            (&assumption.into(), &adversary.into())
        );
        rows.push(found);
    }
    assert_eq!(rows[0].lines().count(), 16, "{}", rows[0]);
    assert!(rows.iter().all(|it| *it == rows[0]), "{rows:?}");
}

#[test]
fn both_sides_send_as_many_bytes_as_the_formulas_of_either_assumption_say() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = [("a", 0..30_000), ("b", 10_000..50_000)]
        .map(|(name, numbers)| lines(folder.path(), name, numbers));
    let hint = "foxtrot: with --assumption lpn on both sides: ";
    for adversary in [&[][..], &["--semi-honest"]] {
        for (assumption, protocol) in [("symmetric", "psi/paxos"), ("lpn", "psi/vole-psi")] {
            let options = [&["--json", "--assumption", assumption], adversary].concat();
            let sender = Listening::start(&party("send", &[&b], &options));
            let out = folder.path().join("out");
            let out = ["-o", out.to_str().unwrap()];
            let receive = party("receive", &[&a], &[&options, &out[..]].concat());
            let receiver = connect(&receive, &sender.address);
            let (status, sent, said) = sender.end();
            assert_eq!((status, receiver.status.code()), (0, Some(0)), "{said}");
            assert_eq!(fs::read_to_string(out[1]).unwrap().lines().count(), 20_000);
            let [sent, received] = [json(&sent), json(&stdout(&receiver))];
            assert!(sent["name"].as_str().unwrap().starts_with(protocol), "{sent}");
            let bytes = [&sent["bytes_sender"], &received["bytes_receiver"]];
            let bytes = bytes.map(|it| it.as_u64().unwrap());
            let field = format!("payload_bytes_{assumption}");
            for report in [&sent, &received] {
                assert_eq!(report[&field], bytes[0] + bytes[1], "{report}");
                let [symmetric, lpn] = ["payload_bytes_symmetric", "payload_bytes_lpn"]
                    .map(|it| report[it].as_u64().unwrap());
                assert!(lpn < symmetric / 2, "{report}");
            }
            // Both sides are told once what would save most of it.
            for said in [said, stderr(&receiver)] {
                assert_eq!(
                    said.matches(hint).count(),
                    usize::from(assumption == "symmetric"),
                    "{said}"
                );
            }
        }
    }
}

#[test]
fn sides_with_different_assumptions_are_told_which_side_changes_what() {
    let listening = Listening::start(&party("send", &B, &["--assumption", "lpn"]));
    let connected = connect(&party("receive", &A, &[]), &listening.address);
    let (status, rows, said) = listening.end();
    assert_eq!((status, connected.status.code()), (1, Some(1)), "{said}");
    assert_eq!((rows.as_str(), stdout(&connected).as_str()), ("", ""));
    let told = "assumption is lpn here and symmetric at the peer\n\
                hint: pass --assumption symmetric here, or --assumption lpn at the peer\n";
    assert!(said.contains(told), "{said}");
    let told = "assumption is symmetric here and lpn at the peer\n\
                hint: pass --assumption lpn here, or --assumption symmetric at the peer\n";
    assert!(stderr(&connected).contains(told), "{}", stderr(&connected));
}

#[test]
fn a_server_answers_peers_that_assume_what_it_assumes() {
    let folder = tempfile::tempdir().unwrap();
    let set = lines(folder.path(), "set", 0..3000);
    let asked = lines(folder.path(), "asked", 2990..3010);
    let lpn = ["--assumption", "lpn"];
    let serve = [&lpn[..], &["--serve", "--json", "-v"]].concat();
    let mut server = Listening::start(&party("send", &[&set], &serve));
    let receive = party("receive", &[&asked], &lpn);
    let expected: String = (2990..3000).map(|i| format!("user{i:09}\n")).collect();
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let run = connect(&receive, &server.address);
                assert_eq!(stdout(&run), expected, "{}", stderr(&run));
            });
        }
        let refused = connect(&party("receive", &[&asked], &[]), &server.address);
        assert_eq!(refused.status.code(), Some(1), "{}", stderr(&refused));
    });
    // The library speaks the same.
    let mut peer = Config::insecure().connect(&server.address).unwrap();
    let options = psi::Options::new().assumption(Assumption::Lpn);
    assert_eq!(options.receive(&mut peer, &["user000000007", "nobody"]).unwrap(), [0]);
    peer.close().unwrap();
    let mut said = String::new();
    while !said.contains("session 4 with ") {
        said += &(server.running.line() + "\n");
    }
    server.running.interrupt();
    let (status, printed, rest) = server.end();
    assert_eq!(status, 130, "{said}{rest}");
    assert!(said.contains("assumption is lpn here and symmetric at the peer"), "{said}");
    let sessions: Vec<_> = printed.lines().map(json).collect();
    assert_eq!(sessions.len(), 4, "{printed}");
    assert!(sessions.iter().all(|it| it["assumption"] == "lpn"), "{printed}");
}

#[test]
fn a_killed_peer_ends_a_run_with_lpn_and_no_file_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let set = lines(folder.path(), "set", 0..300_000);
    let out = folder.path().join("out");
    let options = ["--assumption", "lpn", "--timeout", "20", "-v"];
    for sender_dies in [false, true] {
        let mut sender = Listening::start(&party("send", &[&set], &options));
        let to = ["--insecure", "--connect", &sender.address, "-o", out.to_str().unwrap()];
        let receive = party("receive", &[&set], &[&options[..], &to].concat());
        let mut receiver = Running::start(&receive);
        for running in [&mut sender.running, &mut receiver] {
            while !running.line().contains("base OTs done") {}
        }
        thread::sleep(Duration::from_millis(50));
        let (dies, lives) = match sender_dies {
            true => (sender.running, receiver),
            false => (receiver, sender.running),
        };
        dies.signal("-KILL");
        assert_eq!(dies.end().0, -1);
        let (status, rows, said) = lives.end();
        assert_eq!((status, rows.as_str()), (1, ""), "{said}");
        assert!(!out.exists());
    }
}

#[test]
fn the_library_over_tls_is_a_peer_under_lpn() {
    let folder = tempfile::tempdir().unwrap();
    let set = lines(folder.path(), "set", 0..2000);
    let (ours, theirs) = (Identity::generate().unwrap(), Key::generate(folder.path(), "key"));
    let server = Listening::with(
        &party("send", &[&set], &["--assumption", "lpn"]),
        &["--identity", &theirs.file, "--peer", &ours.fingerprint().to_string()],
    );
    let key = theirs.fingerprint.parse().unwrap();
    let mut peer = Peer::connect(&server.address, &ours, &[key]).unwrap();
    let items: Vec<_> = (1500..2500).map(|i| format!("user{i:09}")).collect();
    let options = psi::Options::new().assumption(Assumption::Lpn);
    assert!(options.receive(&mut peer, &items).unwrap().into_iter().eq(0..500));
    peer.close().unwrap();
    assert_eq!(server.end().0, 0);
}

#[test]
fn base_ots_are_taken_up_by_the_next_run_with_the_same_peer() {
    let folder = tempfile::tempdir().unwrap();
    let [ours, peers] = ["a", "b"].map(|name| Key::generate(folder.path(), name));
    let [of_ours, of_peers] = ["ours", "peers"].map(|name| folder.path().join(name));
    let mut sent = Vec::new();
    for options in [&[][..], &[], &["--serve"], &["--assumption", "lpn"], &["--assumption", "lpn"]]
    {
        let lpn = if options.contains(&"--serve") { &[] } else { options };
        let resume = ["--resume-base", of_ours.to_str().unwrap(), "-v"];
        let send = party("send", &B, &[options, &resume].concat());
        let mut sender = Listening::with(&send, &ours.expecting(&peers));
        let resume = ["--resume-base", of_peers.to_str().unwrap(), "--count", "--json"];
        let receive = party("receive", &A, &[lpn, &resume].concat());
        let receiver = connect_with(&receive, &peers.expecting(&ours), &sender.address);
        assert_eq!(receiver.status.code(), Some(0), "{}", stderr(&receiver));
        let report = json(&stdout(&receiver));
        assert_eq!(report["keys_found"], 12);
        sent.push(report["bytes_receiver"].as_u64().unwrap());
        if options.contains(&"--serve") {
            while !sender.running.line().contains("session 1 with ") {}
            sender.running.interrupt();
        }
        let (status, _, said) = sender.end();
        assert_eq!(status, if options.contains(&"--serve") { 130 } else { 0 }, "{said}");
        let taken_up = said.contains("taking up 128 base OTs roted-endemic of an earlier session");
        let resumes = [2, 5].contains(&sent.len());
        assert!(taken_up == resumes || options.contains(&"--serve"), "{said}");
    }
    // Blinded and Reply are not there any more, but only under the terms of the first session.
    let saved = sent.iter().map(|it| sent[0] - it).collect::<Vec<_>>();
    assert_eq!(saved, [0, 128 * 2176, 128 * 2176, 0, 128 * 2176]);
    for refused in
        [&["--insecure"][..], &["--semi-honest"], &["--semi-honest", "--assumption", "lpn"]]
    {
        let send = ["--resume-base", "x", "--listen", "127.0.0.1:0"];
        let output = foxtrot(&party("send", &B, &[refused, &send].concat())).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains("cannot be used with"), "{}", stderr(&output));
    }
}

#[test]
fn a_ticket_of_an_earlier_version_is_named_erased_and_not_taken_up() {
    let folder = tempfile::tempdir().unwrap();
    let [ours, peers] = ["a", "b"].map(|name| Key::generate(folder.path(), name));
    let tickets = folder.path().join("tickets");
    fs::create_dir(&tickets).unwrap();
    let old = tickets.join(format!("{}-{}-send.ticket", "0".repeat(32), "1".repeat(32)));
    fs::write(&old, "FOXTKT1").unwrap();
    let send = party("send", &B, &["--resume-base", tickets.to_str().unwrap()]);
    let sender = Listening::with(&send, &ours.expecting(&peers));
    let receive = party("receive", &A, &["--resume-base", tickets.to_str().unwrap(), "--count"]);
    let receiver = connect_with(&receive, &peers.expecting(&ours), &sender.address);
    assert_eq!(receiver.status.code(), Some(0), "{}", stderr(&receiver));
    let (status, _, said) = sender.end();
    let both = said + &stderr(&receiver);
    assert_eq!(status, 0, "{both}");
    let named =
        format!("foxtrot: erased {}: it is a ticket of an earlier version\n", old.display());
    assert!(both.contains(&named) && !old.exists(), "{both}");
}

#[test]
fn one_process_takes_the_assumption() {
    let local =
        ["psi", "local", A[0], B[0], "--key", "email", "--key-b", "E-Mail", "--count", "-v"];
    let lpn = foxtrot(&[&local[..], &["--assumption", "lpn"]].concat()).output().unwrap();
    assert_eq!(stdout(&lpn), stdout(&foxtrot(&local).output().unwrap()));
    assert!(stderr(&lpn).contains("assumption lpn"), "{}", stderr(&lpn));
    let unknown = foxtrot(&[&local[..], &["--assumption", "none"]].concat()).output().unwrap();
    assert_eq!(unknown.status.code(), Some(2));
    assert!(stderr(&unknown).contains("[possible values: symmetric, lpn]"), "{}", stderr(&unknown));
}
