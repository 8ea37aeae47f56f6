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

/// The printed number of keys that a cheating receiver can test.
fn tested(said: &str) -> u64 {
    let rest = said.split("a cheating receiver can test at most ").nth(1).unwrap();
    rest.split(' ').next().unwrap().parse().unwrap()
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
    let run = |shard: &[&str], columns: [&[&str]; 2]| {
        let both = ["--key", "email", "--shards", "3", "--route", "march", "--yes"];
        let receive =
            [&["psi", "receive", &a, "--ticket", &ours, "--behind", &inside], columns[0]].concat();
        let mut receive = foxtrot(&[&receive[..], &both, shard, &here.expecting(&there)].concat());
        let receiver = thread::spawn(move || receive.output().unwrap());
        let send =
            [&["psi", "send", &b, "--ticket", &theirs, "--connect", &outside], columns[1]].concat();
        let sent =
            foxtrot(&[&send[..], &both, shard, &there.expecting(&here)].concat()).output().unwrap();
        let received = receiver.join().unwrap();
        assert!(
            sent.status.success() && received.status.success(),
            "{}{}",
            stderr(&sent),
            stderr(&received)
        );
        (stdout(&received), stderr(&sent))
    };
    run(&[], [&[]; 2]);
    assert_eq!(fs::read(&ours).unwrap(), fs::read(&theirs).unwrap());
    let (mut parts, mut with_city) = (Vec::new(), String::new());
    for shard in ["0", "1", "2"] {
        let (found, said) = run(&["--shard", shard], [&[]; 2]);
        assert!(said.contains(" keys\n"), "{said}");
        let first = tested(&said);
        parts.push(rows(&found));
        // Both operators want the shard once more, with columns: a cheating receiver can then test twice as many.
        let again = ["--shard", shard, "--attempt", "1", "--again"];
        let (found, said) = run(&again, [&["--with", "city"], &["--share", "city"]]);
        assert_eq!(tested(&said), 2 * first, "{said}");
        assert!(said.contains(" keys in 2 attempts\n"), "{said}");
        with_city += &found;
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
    fs::write(ticket("wrong"), "foxtrot shards 2\n").unwrap();
    fs::write(ticket("old"), "foxtrot shards 1\n").unwrap();
    let one = ticket("one.a");
    let text = fs::read_to_string(&one).unwrap();
    let at = text.find("coin ").unwrap() + 5;
    let digit = if text[at..].starts_with('0') { "1" } else { "0" };
    let changed = format!("{}{digit}{}", &text[..at], &text[at + 1..]);
    fs::write(ticket("changed"), changed).unwrap();
    for (arguments, why) in [
        (["--shards", "3", "--ticket", &one], "has the file changed"),
        (["--shards", "4", "--ticket", &one], "is of 3 shards"),
        (["--shards", "3", "--ticket", &ticket("wrong")], "not a ticket"),
        (["--shards", "3", "--ticket", &ticket("old")], "a ticket of an earlier version"),
        (["--shards", "3", "--ticket", &ticket("changed")], "a damaged ticket"),
    ] {
        let to = ["psi", "receive", &a, "--key", "email", "--shard", "0"];
        let output = connect(&[&to[..], &arguments].concat(), "127.0.0.1:1");
        assert_ne!(output.status.code(), Some(0));
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
    }
}

#[test]
fn a_finished_shard_and_a_used_attempt_are_refused_before_anybody_is_met() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let ([a, b], _) = files(folder);
    let [ours, theirs] = ["a.ticket", "b.ticket"].map(|name| path(folder, name));
    let both = ["--key", "email", "--shards", "2", "--yes", "--ticket"];
    let run = |more: &[&str]| {
        let receive = [&["psi", "receive", &a][..], &both, &[&ours], more].concat();
        let send = [&["psi", "send", &b][..], &both, &[&theirs], more].concat();
        let receiver = Listening::start(&receive);
        let sent = connect(&send, &receiver.address);
        let (status, _, said) = receiver.end();
        assert_eq!((status, sent.status.code()), (0, Some(0)), "{said}{}", stderr(&sent));
    };
    run(&[]);
    run(&["--shard", "0"]);
    let refused = |more: &[&str], why: &str| {
        let send = [&["psi", "send", &b][..], &both, &[&theirs], more].concat();
        let sent = connect(&send, "127.0.0.1:1");
        assert_eq!(sent.status.code(), Some(2), "{}", stderr(&sent));
        assert!(stderr(&sent).contains(why), "{}", stderr(&sent));
    };
    // The same shard with another file is the same shard.
    refused(&["--shard", "0"], "shard 0 is finished");
    refused(&["--shard", "0", "--attempt", "1"], "shard 0 is finished");
    refused(&["--shard", "0", "--again"], "attempt 0 at shard 0 has begun before");
    run(&["--shard", "0", "--attempt", "1", "--again"]);
    run(&["--shard", "1", "--attempt", "0"]);
    // Weaker terms than those of the agreement end before anything is compared.
    let weaker = ["--shard", "0", "--attempt", "2", "--again", "--semi-honest"];
    let receive = [&["psi", "receive", &a][..], &both, &[&ours], &weaker].concat();
    let receiver = Listening::start(&receive);
    let send = [&["psi", "send", &b][..], &both, &[&theirs], &weaker].concat();
    let sent = connect(&send, &receiver.address);
    let (status, _, said) = receiver.end();
    let both = said + &stderr(&sent);
    assert!(status != 0 && sent.status.code() != Some(0), "{both}");
    assert!(both.contains("the ticket of shards was made under other terms"), "{both}");
}
