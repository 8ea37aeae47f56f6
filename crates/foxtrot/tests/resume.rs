//! Base OTs that two sides keep for their next session: what it saves, and what ends it.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::Arc,
    thread,
};

use foxtrot::{
    Blame, Config, Error, Identity, Peer, Progress,
    psi::{self, Assumption},
};
use foxtrot_ot::base::masny_rindal;
use tempfile::TempDir;

/// Bytes of 128 base OTs `roted-endemic`.
const BASE: u64 = 128 * (1296 + 2176);

/// A side with a key, and a directory of tickets.
struct Party {
    identity: Identity,
    folder: TempDir,
}

impl Party {
    fn new() -> Self {
        Self { identity: Identity::generate().unwrap(), folder: tempfile::tempdir().unwrap() }
    }

    fn tickets(&self) -> PathBuf {
        self.folder.path().join("tickets")
    }

    fn config(&self, peer: &Self, resumes: bool) -> Config {
        let config = Config::tls(&self.identity, &[peer.identity.fingerprint()]).unwrap();
        if resumes { config.resume_base(&self.tickets()) } else { config }
    }

    fn files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.tickets()).into_iter().flatten();
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    /// The only ticket.
    fn ticket(&self) -> PathBuf {
        let files = self.files();
        assert_eq!(files.len(), 1, "{files:?}");
        files.into_iter().next().unwrap()
    }
}

/// A connection of these two.
fn connect([ours, theirs]: [&Config; 2]) -> [Peer; 2] {
    let listener = ours.bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().to_string();
    thread::scope(|scope| {
        let other = scope.spawn(|| theirs.connect(&address).unwrap());
        [listener.accept().unwrap(), other.join().unwrap()]
    })
}

fn options() -> psi::Options {
    psi::Options::new().assumption(Assumption::Lpn)
}

/// The end of a session: the bytes of both sides, and the errors of sender and receiver.
struct Outcome {
    bytes: u64,
    errors: [Option<Error>; 2],
}

/// Runs an intersection over a connection of its own, in which the first side sends.
fn outcome(configs: [&Config; 2], options: psi::Options) -> Outcome {
    let [mut sender, mut receiver] = connect(configs);
    let (sent, found) = thread::scope(|scope| {
        let sent = scope.spawn(move || {
            let sent = options.send(&mut sender, &["ann", "bob", "cid"]);
            // A call that is refused leaves the connection open.
            drop(sender);
            sent
        });
        let found = options.receive(&mut receiver, &["bob", "eve"]);
        (sent.join().unwrap(), found)
    });
    if let Ok(found) = &found {
        assert_eq!(found, &[0]);
    }
    let counters = receiver.counters();
    Outcome { bytes: counters.sent + counters.received, errors: [sent.err(), found.err()] }
}

/// The bytes of an intersection that has to succeed.
fn session(configs: [&Config; 2], options: psi::Options) -> u64 {
    let Outcome { bytes, errors } = outcome(configs, options);
    assert!(errors.iter().all(Option::is_none), "{errors:?}");
    bytes
}

/// Both sides keep base OTs, and have had a session.
fn two() -> ([Party; 2], [Config; 2], u64) {
    let parties = [Party::new(), Party::new()];
    let [ours, theirs] = &parties;
    let configs = [ours.config(theirs, true), theirs.config(ours, true)];
    let first = session([&configs[0], &configs[1]], options());
    (parties, configs, first)
}

#[test]
fn later_sessions_send_no_base_ots_and_renew_the_ticket() {
    let ([ours, theirs], [a, b], first) = two();
    let mut last = Vec::new();
    for _ in 0..3 {
        assert_eq!(session([&a, &b], options()), first - BASE);
        let mut now = Vec::new();
        for party in [&ours, &theirs] {
            let ticket = party.ticket();
            assert_eq!(fs::metadata(&ticket).unwrap().mode() & 0o777, 0o600);
            assert_eq!(fs::metadata(party.tickets()).unwrap().mode() & 0o777, 0o700);
            now.push(fs::read(ticket).unwrap());
        }
        assert_ne!(now, last);
        last = now;
    }
    // The other role has a ticket of its own.
    assert_eq!(session([&b, &a], options()), first);
    assert_eq!([ours.files().len(), theirs.files().len()], [2, 2]);
    assert_eq!(session([&a, &b], options()), first - BASE);
}

#[test]
fn an_intersection_of_which_both_learn_takes_up_and_keeps_them_also() {
    let (_parties, [a, b], first) = two();
    for _ in 0..2 {
        let [mut sender, mut receiver] = connect([&a, &b]);
        thread::scope(|scope| {
            let sent = scope.spawn(|| options().send_both(&mut sender, &["ann", "bob", "cid"]));
            assert_eq!(options().receive_both(&mut receiver, &["bob", "eve"]).unwrap(), [0]);
            assert_eq!(sent.join().unwrap().unwrap(), [1]);
        });
        let counters = receiver.counters();
        assert!(counters.sent + counters.received < BASE, "{counters:?} and {first}");
    }
    assert_eq!(session([&a, &b], options()), first - BASE);
}

#[test]
fn a_ticket_that_comes_back_gives_other_keys_or_is_not_taken_up() {
    let ([ours, theirs], [a, b], first) = two();
    let old = [&ours, &theirs].map(|party| (party.ticket(), fs::read(party.ticket()).unwrap()));
    assert_eq!(session([&a, &b], options()), first - BASE);
    // On both sides: the keys are those of another session.
    old.iter().for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
    assert_eq!(session([&a, &b], options()), first - BASE);
    // On one side, either.
    for (path, bytes) in &old {
        fs::write(path, bytes).unwrap();
        assert_eq!(session([&a, &b], options()), first);
        assert_eq!(session([&a, &b], options()), first - BASE);
    }
}

#[test]
fn a_side_that_lost_its_ticket_runs_base_ots_again() {
    let ([ours, theirs], [a, b], first) = two();
    for party in [&ours, &theirs] {
        fs::remove_file(party.ticket()).unwrap();
        assert_eq!(session([&a, &b], options()), first);
        assert_eq!(session([&a, &b], options()), first - BASE);
    }
}

#[test]
fn only_if_both_sides_want_to_is_anything_kept_or_taken_up() {
    let ([ours, theirs], [a, b], first) = two();
    let plain = theirs.config(&ours, false);
    let ticket = fs::read(ours.ticket()).unwrap();
    assert_eq!(session([&a, &plain], options()), first);
    assert_eq!(fs::read(ours.ticket()).unwrap(), ticket);
    assert_eq!(session([&a, &b], options()), first - BASE);
    let nobody = [Party::new(), Party::new()];
    let [c, d] = [nobody[0].config(&nobody[1], true), nobody[1].config(&nobody[0], false)];
    assert_eq!(session([&c, &d], options()), first);
    assert_eq!(nobody.map(|it| it.files().len()), [0, 0]);
}

#[test]
fn another_base_ot_or_number_of_them_takes_up_nothing() {
    let ([_ours, _theirs], [a, b], first) = two();
    let other = options().base(&masny_rindal::MasnyRindal);
    let bytes = session([&a, &b], other);
    assert!(bytes < first, "{bytes}");
    assert_eq!(session([&a, &b], options()), first);
    assert_eq!(session([&a, &b], options()), first - BASE);
}

#[test]
fn a_ticket_of_two_other_keys_is_refused_before_anything_is_sent() {
    let ([ours, theirs], [a, b], first) = two();
    let third = Party::new();
    let with_third = [ours.config(&third, true), third.config(&ours, true)];
    session([&with_third[0], &with_third[1]], options());
    let [one, other] = &ours.files()[..] else { panic!("two tickets") };
    let (kept, swapped) = (fs::read(one).unwrap(), fs::read(other).unwrap());
    fs::write(one, &swapped).unwrap();
    fs::write(other, &kept).unwrap();
    for configs in [[&a, &b], [&with_third[0], &with_third[1]]] {
        let [error, _] = outcome(configs, options()).errors;
        let error = error.unwrap();
        assert_eq!(error.blame(), Blame::Caller, "{error}");
        assert!(error.to_string().contains("is a ticket of two other keys"), "{error}");
    }
    fs::remove_file(one).unwrap();
    fs::remove_file(other).unwrap();
    assert_eq!(session([&a, &b], options()), first);
    drop(theirs);
}

#[test]
fn an_abort_ends_the_ticket_on_both_sides() {
    let ([ours, theirs], [a, b], first) = two();
    for sender_gives_up in [true, false] {
        let [mut sender, mut receiver] = connect([&a, &b]);
        let gives_up = if sender_gives_up { &mut sender } else { &mut receiver };
        let canceller = Arc::new(gives_up.canceller());
        gives_up.on_progress(move |_: Progress| canceller.cancel());
        thread::scope(|scope| {
            let sent = scope.spawn(|| options().send(&mut sender, &["ann", "bob"]));
            let found = options().receive(&mut receiver, &["bob"]);
            let sent = sent.join().unwrap();
            assert!(sent.is_err() || found.is_err());
        });
        let kept = [&ours, &theirs].map(|it| it.files().len());
        assert_eq!(kept[usize::from(!sender_gives_up)], 0, "{kept:?}");
        // Also where the other side had come to its end.
        assert_eq!(session([&a, &b], options()), first);
        assert_eq!(session([&a, &b], options()), first - BASE);
    }
}

#[test]
fn a_damaged_ticket_and_one_that_others_can_read_are_errors_that_name_the_file() {
    let ([ours, _theirs], [a, b], first) = two();
    let fails_with = |words: &str, path: &Path| {
        let [error, _] = outcome([&a, &b], options()).errors;
        let said = error.unwrap().to_string();
        assert!(said.contains(words) && said.contains(path.to_str().unwrap()), "{said}");
    };
    let path = ours.ticket();
    let bytes = fs::read(&path).unwrap();
    for (k, damaged) in [(0, bytes.len()), (9, bytes.len()), (150, bytes.len()), (0, 7), (0, 0)] {
        let mut other = bytes[..damaged].to_vec();
        if let Some(byte) = other.get_mut(k) {
            *byte ^= 1;
        }
        fs::write(&path, other).unwrap();
        fails_with("is damaged, or no ticket", &path);
    }
    fs::write(&path, &bytes).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    fails_with("can be read by other users", &path);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(session([&a, &b], options()), first - BASE);
}

#[test]
fn two_sessions_at_once_do_not_take_one_ticket() {
    let ([ours, theirs], [a, b], first) = two();
    let outcomes: Vec<_> = thread::scope(|scope| {
        let all: Vec<_> = (0..4).map(|_| scope.spawn(|| outcome([&a, &b], options()))).collect();
        all.into_iter().map(|it| it.join().unwrap()).collect()
    });
    for Outcome { errors, .. } in &outcomes {
        let said: Vec<_> = errors.iter().flatten().map(ToString::to_string).collect();
        let taken = said.iter().any(|it| it.contains("another session has taken the ticket"));
        assert!(taken || said.is_empty(), "{said:?}");
    }
    // Whatever they left, both sides find together again.
    session([&a, &b], options());
    assert_eq!(session([&a, &b], options()), first - BASE);
    assert_eq!([ours.files().len(), theirs.files().len()], [1, 1]);
}

#[test]
fn without_keys_nothing_can_be_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (mut ours, _theirs) = Config::insecure().resume_base(folder.path()).pair();
    let error = psi::send(&mut ours, &["a"]).unwrap_err();
    assert!(matches!(error, Error::Config(_)), "{error}");
    assert_eq!(error.blame(), Blame::Caller);
}
