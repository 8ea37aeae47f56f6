//! One intersection on many machines: agreement, shards, and the gateway.

use std::{collections::BTreeSet, fmt::Write as _, fs, path::Path, thread};

use super::support::{Key, Listening, Running, connect, foxtrot, stderr, stdout};

/// Files of both sides, with duplicates and a row without a key; and the whole result.
fn files(folder: &Path) -> ([String; 2], BTreeSet<String>) {
    let (mut a, mut b) = ("id,email\n".to_owned(), "email,city\n".to_owned());
    for i in 0..300 {
        let _ = writeln!(a, "{i},u{}@example.org", i % 250);
    }
    a += "300,\n";
    for i in 100..400 {
        let _ = writeln!(b, "u{i}@example.org,city {i}");
    }
    let paths = [("a.csv", a), ("b.csv", b)].map(|(name, text)| {
        fs::write(folder.join(name), text).unwrap();
        folder.join(name).to_str().unwrap().to_owned()
    });
    let whole =
        foxtrot(&["psi", "local", &paths[0], &paths[1], "--key", "email"]).output().unwrap();
    (paths, rows(&stdout(&whole)))
}

fn rows(csv: &str) -> BTreeSet<String> {
    csv.lines().skip(1).map(str::to_owned).collect()
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().unwrap().to_owned()
}

#[cfg(unix)]
#[test]
fn shards_of_two_companies_meet_behind_a_gateway_and_give_the_whole_result() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let ([a, b], whole) = files(folder);
    let [here, there] = ["here", "there"].map(|name| Key::generate(folder, name));
    let mut gateway = Running::start(&[
        "psi",
        "gateway",
        "--listen",
        "127.0.0.1:0",
        "--inside",
        "127.0.0.1:0",
        "--quiet",
    ]);
    let mut address = |who: &str| {
        let line = gateway.line();
        let address =
            line.strip_prefix("foxtrot: listening on ").and_then(|it| it.strip_suffix(who));
        address.unwrap_or_else(|| panic!("{line}")).to_owned()
    };
    let (outside, inside) = (address(" for the peer"), address(" for our machines"));
    let [ours, theirs] = ["a.ticket", "b.ticket"].map(|name| path(folder, name));
    // Both sides of the agreement, or of a shard; the receiver's result.
    let run = |shard: Option<&str>, columns: [&[&str]; 2]| {
        let shard = shard.map_or(vec![], |shard| vec!["--shard", shard]);
        let both = ["--key", "email", "--shards", "3", "--route", "march", "--yes"];
        let receive =
            [&["psi", "receive", &a, "--ticket", &ours, "--behind", &inside], columns[0]].concat();
        let mut receive = foxtrot(&[&receive[..], &both, &shard, &here.expecting(&there)].concat());
        let receiver = thread::spawn(move || receive.output().unwrap());
        let send =
            [&["psi", "send", &b, "--ticket", &theirs, "--connect", &outside], columns[1]].concat();
        let sent = foxtrot(&[&send[..], &both, &shard, &there.expecting(&here)].concat())
            .output()
            .unwrap();
        let received = receiver.join().unwrap();
        assert!(
            sent.status.success() && received.status.success(),
            "{}{}",
            stderr(&sent),
            stderr(&received)
        );
        stdout(&received)
    };
    run(None, [&[]; 2]);
    assert_eq!(fs::read(&ours).unwrap(), fs::read(&theirs).unwrap());
    let (mut parts, mut with_city) = (Vec::new(), String::new());
    for shard in ["0", "1", "2"] {
        parts.push(rows(&run(Some(shard), [&[]; 2])));
        with_city += &run(Some(shard), [&["--with", "city"], &["--share", "city"]]);
    }
    assert_eq!(parts.iter().map(BTreeSet::len).sum::<usize>(), whole.len());
    assert!(parts.iter().all(|part| !part.is_empty()));
    assert_eq!(parts.into_iter().flatten().collect::<BTreeSet<_>>(), whole);
    assert!(with_city.contains("120,u120@example.org,city 120\n"), "{with_city}");
    gateway.interrupt();
    gateway.end();
}

#[test]
fn a_shard_of_another_ticket_number_or_attempt_is_refused_on_both_sides() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let ([a, b], _) = files(folder);
    let ticket = |name: &str| path(folder, name);
    let agree = |name: &str| {
        let both = ["--key", "email", "--shards", "3", "--ticket"];
        let ours = ticket(&format!("{name}.a"));
        let server = Listening::start(&[&["psi", "receive", &a][..], &both, &[&ours]].concat());
        let theirs = ticket(&format!("{name}.b"));
        let sent =
            connect(&[&["psi", "send", &b][..], &both, &[&theirs]].concat(), &server.address);
        assert!(sent.status.success(), "{}", stderr(&sent));
        assert_eq!(server.end().0, 0);
    };
    agree("one");
    agree("two");
    let both = ["--key", "email", "--shards", "3", "--yes", "--shard"];
    for (sender, differs) in [
        (["1", "--ticket", &ticket("one.b"), "--attempt", "0"], "shard"),
        (["0", "--ticket", &ticket("one.b"), "--attempt", "1"], "attempt"),
        (["0", "--ticket", &ticket("two.b"), "--attempt", "0"], "division"),
    ] {
        let ours = ticket("one.a");
        let receive = [&["psi", "receive", &a][..], &both, &["0", "--ticket", &ours]].concat();
        let receiver = Listening::start(&receive);
        let sent = connect(&[&["psi", "send", &b][..], &both, &sender].concat(), &receiver.address);
        let (status, _, said) = receiver.end();
        assert_eq!((status, sent.status.code()), (1, Some(1)), "{said}{}", stderr(&sent));
        assert!(said.contains(differs) && stderr(&sent).contains(differs), "{said}");
    }
    // A file that has grown since, another number of shards, a damaged ticket: nobody is met.
    let all: String = (0..3000).map(|i| format!("{i},v{i}\n")).collect();
    fs::write(folder.join("a.csv"), "id,email\n".to_owned() + &all).unwrap();
    fs::write(ticket("wrong"), "foxtrot shards 1\n").unwrap();
    let one = ticket("one.a");
    for (arguments, why) in [
        (["--shards", "3", "--ticket", &one], "has the file changed"),
        (["--shards", "4", "--ticket", &one], "is of 3 shards"),
        (["--shards", "3", "--ticket", &ticket("wrong")], "not a ticket"),
    ] {
        let to = ["psi", "receive", &a, "--key", "email", "--shard", "0"];
        let output = connect(&[&to[..], &arguments].concat(), "127.0.0.1:1");
        assert_ne!(output.status.code(), Some(0));
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
    }
}
