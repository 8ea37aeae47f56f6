//! Limits of what a peer learns in a day: they count what can be learnt, and survive a restart.

use std::{fs, path::Path, process::Output};

use foxtrot::base::roted::Endemic;
use foxtrot_ot::base::Adversary;
use foxtrot_psi::method::{Assumption, Method};
use serde_json::Value;

use super::support::{
    Key, Listening, Running, connect, connect_with, foxtrot, root, stderr, stdout,
};

const TITLE: &str = "foxtrot daily limits 2";

fn write(folder: &Path, name: &str, content: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Asks about this set; prints an object.
fn ask(set: &str, more: &[&str], address: &str) -> Output {
    connect(&[&["psi", "receive", set, "--count", "--json"], more].concat(), address)
}

fn refused(output: &Output) {
    let said = stderr(output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let why = "its limits for today admit no more of us\nhint: try again tomorrow";
    assert!(said.contains(why), "{said}");
}

/// The counts of the peers in the file, behind its title and the day.
fn counts(limits: &str) -> Vec<String> {
    let text = fs::read_to_string(limits).unwrap();
    assert!(text.starts_with(TITLE), "{text}");
    text.lines().skip(2).map(str::to_owned).collect()
}

/// Waits for a line with these words.
fn line_with(running: &mut Running, words: &str) -> String {
    loop {
        let line = running.line();
        assert!(!line.is_empty(), "it has ended without {words:?}");
        if line.contains(words) {
            return line;
        }
    }
}

#[test]
fn a_run_counts_as_many_keys_as_both_sides_print_that_a_receiver_can_test() {
    let folder = tempfile::tempdir().unwrap();
    let ours = write(folder.path(), "ours.csv", "a,b\nann,1\nbob,2\ncid,3\n");
    let theirs = write(folder.path(), "theirs.csv", "a,b\nann,1\ndan,4\n");
    let by_a = ["--key", "a"];
    for (i, more) in [
        &by_a[..],
        &["--key", "a", "--assumption", "lpn"],
        &["--key", "a", "--or-key", "b"],
        &["--key", "a", "--both"],
        &["--key", "a", "--semi-honest"],
    ]
    .into_iter()
    .enumerate()
    {
        let limits = folder.path().join(format!("limits-{i}")).to_str().unwrap().to_owned();
        let send = [&["psi", "send", &theirs, "--limits", &limits], more].concat();
        // A sender of one session counts as a server does; only the latter has no `--both`.
        let both = more.contains(&"--both");
        let server = |most: &[&str]| {
            let serve = if both { &["-o", "/dev/null"][..] } else { &["--serve"] };
            Listening::start(&[&send[..], serve, most].concat())
        };
        let first = server(&[]);
        let output = ask(&ours, more, &first.address);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
        let declared = if more.contains(&"--or-key") { 6 } else { 3 };
        let bound = match &report["most_keys_of_a_cheating_receiver"] {
            Value::Null => declared,
            bound => {
                let printed = format!("a cheating receiver can test at most {bound} keys");
                assert!(stderr(&output).contains(&printed), "{}", stderr(&output));
                bound.as_u64().unwrap()
            }
        };
        assert_eq!(bound == declared, more.contains(&"--semi-honest"), "{more:?}: {bound}");
        drop(first);
        assert_eq!(counts(&limits), [format!("without%20identity 1 {bound}")], "{more:?}");
        if both {
            continue;
        }
        // Two runs were allowed, if the peer could test one key less.
        let most = (2 * bound - 1).to_string();
        let mut second = server(&["--max-keys-per-day", &most]);
        refused(&ask(&ours, more, &second.address));
        let said = line_with(&mut second.running, "refused a connection");
        let (left, of) = (bound - 1, 2 * bound - 1);
        let why = format!(
            "this peer can test {bound} keys in this run, and {left} of {of} are left today"
        );
        assert!(said.contains(&why), "{said}");
        drop(second);
        let third = server(&["--max-keys-per-day", &(2 * bound).to_string()]);
        assert_eq!(ask(&ours, more, &third.address).status.code(), Some(0));
        refused(&ask(&ours, more, &third.address));
    }
}

#[test]
fn counts_survive_a_restart_and_a_damaged_file_is_refused_by_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let one = write(folder.path(), "one", "ann\n");
    let limits = folder.path().join("limits").to_str().unwrap().to_owned();
    let serve = ["psi", "send", &one, "--serve", "--limits", &limits, "--max-runs-per-day", "1"];
    let server = Listening::start(&serve);
    assert_eq!(ask(&one, &[], &server.address).status.code(), Some(0));
    refused(&ask(&one, &[], &server.address));
    drop(server);
    let server = Listening::start(&serve);
    refused(&ask(&one, &[], &server.address));
    // Meanwhile another server cannot count in the same file, also by another name.
    let serve = [&serve[..], &["--insecure", "--listen", "127.0.0.1:0"]].concat();
    let second = foxtrot(&serve).output().unwrap();
    assert_eq!(second.status.code(), Some(1));
    assert!(stderr(&second).contains("another process uses this file"), "{}", stderr(&second));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&limits).unwrap().permissions().mode() & 0o777, 0o600);
        let link = folder.path().join("link").to_str().unwrap().to_owned();
        std::os::unix::fs::symlink(&limits, &link).unwrap();
        let by_link: Vec<_> =
            serve.iter().map(|&it| if it == limits { &link } else { it }).collect();
        let second = foxtrot(&by_link).output().unwrap();
        assert!(stderr(&second).contains("another process uses this file"), "{}", stderr(&second));
    }
    drop(server);
    fs::write(&limits, format!("{TITLE}\nday 20000\nsomething\n")).unwrap();
    let wrong = foxtrot(&serve).output().unwrap();
    let said = stderr(&wrong);
    assert_eq!(wrong.status.code(), Some(1), "{said}");
    assert!(said.contains("limits: line 3 is damaged: a line has a peer's name"), "{said}");
    assert!(
        said.contains("hint: repair this line by hand") && !said.contains("needs a new"),
        "{said}"
    );
}

#[test]
fn a_server_for_browsers_with_named_tokens_starts_again() {
    let folder = tempfile::tempdir().unwrap();
    let set = write(folder.path(), "set", "ann\n");
    let tokens = write(
        folder.path(),
        "tokens",
        "acme 0123456789abcdef0123\na@b.example 0123456789abcdef0124\n",
    );
    #[cfg(unix)]
    fs::set_permissions(&tokens, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let old = "foxtrot daily limits 1\nday 20000\ntoken a@b.example 1 3\ntoken acme 2 7\n";
    let limits = write(folder.path(), "limits", old);
    let new = ["token%20a%40b.example 1 3", "token%20acme 2 7"];
    // Both versions of the file are read.
    for _ in 0..2 {
        let mut server = Running::start(&[
            "psi",
            "send",
            &set,
            "--serve",
            "--websocket",
            "127.0.0.1:0",
            "--allow-origin",
            "https://psi.example.org",
            "--tokens",
            &tokens,
            "--limits",
            &limits,
            "--max-runs-per-day",
            "2",
        ]);
        line_with(&mut server, "browsers connect to ");
        assert_eq!(counts(&limits), new);
    }
}

#[test]
fn a_file_that_is_dated_in_the_future_is_told_by_its_day_and_the_clocks() {
    let folder = tempfile::tempdir().unwrap();
    let one = write(folder.path(), "one", "ann\n");
    let limits =
        write(folder.path(), "limits", &format!("{TITLE}\nday 2932896\nwithout%20identity 5 1\n"));
    let serve = ["psi", "send", &one, "--serve", "--limits", &limits, "--max-runs-per-day", "5"];
    let mut server =
        Running::start(&[&serve[..], &["--insecure", "--listen", "127.0.0.1:0"]].concat());
    let warning = line_with(&mut server, "warning: the limits per day");
    assert!(
        warning.contains("have counts of 9999-12-31, and this machine's clock shows 20"),
        "{warning}"
    );
    assert!(warning.contains("until the end of 9999-12-31; set the clock"), "{warning}");
    let address = line_with(&mut server, "listening on ").split_off("foxtrot: listening on ".len());
    refused(&ask(&one, &[], &address));
    let said = line_with(&mut server, "refused a connection");
    assert!(said.contains("has used up its limits of 9999-12-31"), "{said}");
    assert!(said.contains("check the clock"), "{said}");
}

#[test]
fn limits_that_would_count_nothing_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let one = write(folder.path(), "one", "ann\n");
    let [limits, ticket] =
        ["limits", "ticket"].map(|name| folder.path().join(name).to_str().unwrap().to_owned());
    let to = ["--insecure", "--connect", "127.0.0.1:9", "--wait", "1"];
    for (arguments, why) in [
        (&["psi", "receive", &one, "--limits", &limits][..], "a receiver without --both"),
        (&["psi", "send", &one, "--max-runs-per-day", "3"], "--limits"),
        (
            &["psi", "send", &one, "--limits", &limits, "--shards", "4", "--ticket", &ticket],
            "limits per day cannot count a run with --shards",
        ),
    ] {
        let output = foxtrot(&[arguments, &to].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
    }
    assert!(!Path::new(&limits).exists(), "nothing was counted");
}

#[test]
fn limits_of_a_policy_hold_at_each_side_whose_set_is_asked_and_need_a_file_there() {
    let folder = tempfile::tempdir().unwrap();
    let one = write(folder.path(), "one", "ann\n");
    let [here, there] = ["a", "b"].map(|name| Key::generate(folder.path(), name));
    let [ours, theirs] =
        ["ours", "theirs"].map(|name| folder.path().join(name).to_str().unwrap().to_owned());
    let policy = write(
        folder.path(),
        "policy.toml",
        "policy = 1\nfunctions = ['intersection', 'both', 'count']\nadversary = 'semi-honest'\n\
         max-runs-per-day = 2\nmax-keys-per-day = 1000\n",
    );
    let policy = ["--policy", &policy];
    let to = ["--insecure", "--connect", "127.0.0.1:9", "--wait", "1"];
    // Whose set nobody asks about keeps no counts.
    for (side, asked) in [
        (&["psi", "send", &one][..], true),
        (&["psi", "send", &one, "--both", "-o", "/dev/null"], true),
        (&["psi", "receive", &one, "--both"], true),
        (&["psi", "count", &one], true),
        (&["psi", "receive", &one], false),
    ] {
        let output = foxtrot(&[side, &policy, &to].concat()).output().unwrap();
        let said = stderr(&output);
        let needs = "the policy has limits per day, and no file keeps their counts\nhint: pass --limits FILE";
        assert_eq!(
            (output.status.code(), said.contains(needs)),
            (Some(if asked { 2 } else { 1 }), asked),
            "{said}"
        );
    }
    // Both sides of `--both` count, the sender what the receiver can test, the receiver what the sender declares.
    let sender = Listening::with(
        &[&["psi", "send", &one, "--both", "--limits", &theirs], &policy[..]].concat(),
        &there.expecting(&here),
    );
    let receive = [&["psi", "receive", &one, "--both", "--limits", &ours], &policy[..]].concat();
    let output = connect_with(&receive, &here.expecting(&there), &sender.address);
    assert_eq!((sender.end().0, output.status.code()), (0, Some(0)), "{}", stderr(&output));
    assert_eq!(counts(&ours), [format!("{} 1 1", there.fingerprint)]);
    let counted = counts(&theirs).remove(0);
    let keys = counted.strip_prefix(&format!("{} 1 ", here.fingerprint)).unwrap();
    assert!(keys.parse::<u64>().unwrap() > 1, "{counted}");
    // The policy allows a second run, and no third one; the options allow none beyond it.
    let send = [&["psi", "send", &one, "--limits", &theirs, "--serve"], &policy[..]].concat();
    let receive = [&["psi", "receive", &one, "--count"], &policy[..]].concat();
    for (most, admitted) in [("1", 0), ("9", 1)] {
        let most = ["--max-runs-per-day", most, "--listen", "127.0.0.1:0"];
        let mut server = Running::start(&[&send[..], &most, &there.expecting(&here)].concat());
        let address =
            line_with(&mut server, "listening on ").split_off("foxtrot: listening on ".len());
        let runs = (0..2).map(|_| connect_with(&receive, &here.expecting(&there), &address));
        let done = runs.filter(|run| run.status.success()).count();
        assert_eq!(done, admitted, "{most:?}");
    }
}

#[test]
fn a_count_that_is_no_server_counts_its_runs_at_both_sides() {
    let folder = tempfile::tempdir().unwrap();
    let two = write(folder.path(), "two", "ann\nbob\n");
    let one = write(folder.path(), "one", "ann\n");
    let [ours, theirs] =
        ["ours", "theirs"].map(|name| folder.path().join(name).to_str().unwrap().to_owned());
    let listener = Listening::start(&["psi", "count", &two, "--limits", &ours]);
    let output = connect(&["psi", "count", &one, "--limits", &theirs], &listener.address);
    assert_eq!((listener.end().0, output.status.code()), (0, Some(0)), "{}", stderr(&output));
    assert_eq!(counts(&ours), ["without%20identity 1 1"]);
    assert_eq!(counts(&theirs), ["without%20identity 1 2"]);
}

/// `docs/explanation/what-psi-reveals.md` has the bounds that runs print and count.
#[test]
fn the_table_of_what_a_cheating_receiver_can_test() {
    let mut table = "| keys of each side | a cheating receiver tests at most | with `--assumption lpn` |\n|---|---|---|\n".to_owned();
    for n in [1, 20, 100, 350, 1000, 2000, 10_000, 50_000, 100_000, 1_000_000, 1 << 20] {
        let [symmetric, lpn] = Assumption::ALL.map(|assumption| {
            let method = Method { base: &Endemic, assumption, adversary: Adversary::Malicious };
            let most = method.parameters(n, n).unwrap().largest_set().unwrap();
            format!("{most} ({:.2} times)", most as f64 / n as f64)
        });
        table += &format!("| {n} | {symmetric} | {lpn} |\n");
    }
    let page = fs::read_to_string(root().join("docs/explanation/what-psi-reveals.md")).unwrap();
    assert!(page.contains(&table), "the page needs this table:\n{table}");
}
