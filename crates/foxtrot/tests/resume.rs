//! Base OTs that two sides keep for their next session: what it saves, and what ends it.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::PathBuf,
    sync::Arc,
    thread,
};

use foxtrot::{
    Blame, Config, Context, Error, Identity, Peer, Progress as Told,
    engine::{Engine, Progress},
    job::{Hello, Role, Table},
    policy::Policy,
    psi::{self, Assumption, PsiError},
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

/// A number of keys with which the silent VOLE costs fewer bytes than the packed one, under LPN.
const MANY: usize = 2000;

fn names(n: usize) -> Vec<String> {
    (0..n).map(|i| format!("name {i}")).collect()
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
    for resumes in [false, true] {
        let [mut sender, mut receiver] = connect([&a, &b]);
        thread::scope(|scope| {
            let sent = scope.spawn(|| options().send_both(&mut sender, &["ann", "bob", "cid"]));
            assert_eq!(options().receive_both(&mut receiver, &["bob", "eve"]).unwrap(), [0]);
            assert_eq!(sent.join().unwrap().unwrap(), [1]);
        });
        let counters = receiver.counters();
        assert_eq!(counters.sent + counters.received < BASE, resumes, "{counters:?} and {first}");
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

/// A session under other terms than those of `two`, for each term of which a ticket could be bound to less.
#[test]
fn a_session_under_any_other_term_takes_up_nothing_and_leaves_the_ticket() {
    let ([ours, theirs], [a, b], first) = two();
    let files = || ours.files().len();
    let others: [(&str, psi::Options); 2] = [
        ("base OT", options().base(&masny_rindal::MasnyRindal)),
        ("assumption", options().assumption(Assumption::Symmetric)),
    ];
    for (number, (term, other)) in others.into_iter().enumerate() {
        let fresh = session([&a, &b], other);
        assert_eq!(files(), 2 + number, "{term}");
        assert!(session([&a, &b], other) < fresh, "{term}");
        assert_eq!(session([&a, &b], options()), first - BASE, "{term}");
    }
    let named = [&a, &b].map(|config| config.clone().application("another program"));
    assert!(session([&named[0], &named[1]], options()) > first - BASE);
    let policy = Policy::parse("policy = 1\nfunctions = [\"intersection\"]\n").unwrap();
    let under = [&a, &b].map(|config| config.clone().policy(&policy));
    assert!(session([&under[0], &under[1]], options()) > first - BASE);
    assert_eq!(session([&a, &b], options()), first - BASE);
    drop(theirs);
}

#[test]
fn another_protocol_under_the_same_terms_takes_up_nothing() {
    // Under LPN so many keys cost fewer bytes with the silent VOLE, whose base OTs are as many.
    let ([_ours, _theirs], [a, b], first) = two();
    let many = names(MANY);
    let large = || {
        let [mut sender, mut receiver] = connect([&a, &b]);
        thread::scope(|scope| {
            scope.spawn(|| options().send(&mut sender, &many).unwrap());
            assert_eq!(options().receive(&mut receiver, &many).unwrap().len(), many.len());
        });
        let counters = receiver.counters();
        counters.sent + counters.received
    };
    let fresh = large();
    assert_eq!(large(), fresh - BASE);
    // The small session's ticket is gone, and the large one's does not serve it.
    assert_eq!(session([&a, &b], options()), first);
    assert_eq!(session([&a, &b], options()), first - BASE);
}

#[test]
fn a_ticket_of_other_terms_or_keys_in_the_place_of_ours_is_erased() {
    let ([ours, _theirs], [a, b], first) = two();
    let place = ours.ticket();
    let kept = fs::read(&place).unwrap();
    // One of another assumption, as a forger would put it there.
    session([&a, &b], options().assumption(Assumption::Symmetric));
    let other = ours.files().into_iter().find(|it| *it != place).unwrap();
    fs::copy(&other, &place).unwrap();
    assert_eq!(session([&a, &b], options()), first);
    // One of another pair of keys.
    let third = Party::new();
    let with_third = [ours.config(&third, true), third.config(&ours, true)];
    session([&with_third[0], &with_third[1]], options());
    let of_third = |it: &PathBuf| *it != place && *it != other;
    let swapped = ours.files().into_iter().find(of_third).unwrap();
    fs::copy(&swapped, &place).unwrap();
    assert_eq!(session([&a, &b], options()), first);
    // Our own, where the third's belongs.
    fs::write(&swapped, &kept).unwrap();
    assert_eq!(session([&with_third[0], &with_third[1]], options()), first);
    assert_eq!(session([&a, &b], options()), first - BASE);
}

#[test]
fn an_unchecked_session_is_refused_where_it_would_keep_base_ots() {
    let ([ours, theirs], [a, b], first) = two();
    for unchecked in [options(), psi::Options::new()].map(psi::Options::semi_honest) {
        let Outcome { errors, .. } = outcome([&a, &b], unchecked);
        for error in errors {
            let error = error.unwrap();
            assert_eq!(error.blame(), Blame::Caller, "{error}");
            assert!(error.to_string().contains("secure against malicious peers"), "{error}");
        }
    }
    assert_eq!([ours.files().len(), theirs.files().len()], [1, 1]);
    assert_eq!(session([&a, &b], options()), first - BASE);
}

/// A cheating receiver learns bits of Δ in semi-honest sessions, of which no one finds out, and hopes to meet the same Δ in
/// a malicious session.
#[test]
fn no_later_session_has_the_delta_that_a_cheating_receiver_learnt_in_an_unchecked_one() {
    let parties = [Party::new(), Party::new()];
    let [honest, cheat] = &parties;
    let plain = [honest.config(cheat, false), cheat.config(honest, false)];
    // The honest sender keeps nothing of an unchecked session, whatever the receiver says that it keeps.
    let [mut sender, mut receiver] = connect([&plain[0], &plain[1]]);
    thread::scope(|scope| {
        let unchecked = || options().semi_honest();
        let sent = scope.spawn(move || unchecked().send(&mut sender, &names(MANY)));
        let parameters = unchecked().method().parameters(MANY, MANY).unwrap();
        assert_eq!(parameters.info().name, "vole-psi-semi-honest");
        assert_eq!(parameters.base_ots(), 128, "as many as malicious sessions need");
        assert_eq!(flip_a_column(&mut receiver, unchecked()), "no check has failed");
        sent.join().unwrap().unwrap();
    });
    assert_eq!(honest.files().len(), 0);
    // It says that it has a ticket of that session; the sender has none of that name.
    let keeping = honest.config(cheat, true);
    let [mut sender, mut receiver] = connect([&keeping, &plain[1]]);
    thread::scope(|scope| {
        let sent = scope.spawn(move || options().send(&mut sender, &["ann", "bob", "cid"]));
        let hello = hello(options(), 2).detail("base-ticket", "0".repeat(64));
        let negotiated = receiver.negotiate::<_, Error>(hello, |details| {
            assert_eq!(details["base-ticket"], "none");
            Ok(((), 0))
        });
        let (agreed, ()) = negotiated.unwrap();
        let mut job = receiver.job(agreed);
        let (direction, (session, seed)) = (job.direction(), job.start().unwrap());
        let items = ["bob", "eve"].map(|name| psi::item(name.as_bytes()).unwrap());
        let options = options();
        let found = job.play(|io| async move {
            let mut cx = Context::new(&session, seed);
            options.receive_over(&io, &mut cx, direction, 3, items.to_vec(), |_| ()).await
        });
        job.finish().unwrap();
        assert_eq!(found.unwrap().intersect().unwrap(), [0]);
        sent.join().unwrap().unwrap();
        let counters = receiver.counters();
        assert!(counters.sent + counters.received > BASE, "{counters:?}");
    });
}

/// The hello of a receiver of so many keys.
fn hello(options: psi::Options, keys: usize) -> Hello {
    let method = options.method();
    Hello::new(Role::Receiver)
        .term("job", "psi")
        .term("base", method.base.info().name)
        .term("assumption", method.assumption)
        .term("adversary", method.adversary)
        .term("normalize", "none/1")
        .keys(keys as u64, 1 << 24)
}

/// Plays the receiver, with a column of the corrections flipped: its choice of another row of the matrix for each item.
fn flip_a_column(peer: &mut Peer, options: psi::Options) -> &'static str {
    let hello = hello(options, MANY).detail("base-ticket", "none");
    let (agreed, ()) = peer.negotiate::<_, Error>(hello, |_| Ok(((), 0))).unwrap();
    let mut job = peer.job(agreed);
    let (direction, (session, seed)) = (job.direction(), job.start().unwrap());
    let items: Vec<_> = names(MANY).iter().map(|it| psi::item(it.as_bytes()).unwrap()).collect();
    let ran = job.play(|io| async move {
        let mut engine = Engine::new(|io| async move {
            let mut cx = Context::new(&session, seed);
            options.receive_over(&io, &mut cx, direction, MANY, items, |_| ()).await
        });
        let (mut of_base, mut flips) = (false, true);
        loop {
            let progress = engine.advance()?;
            while let Some((stream, mut message)) = engine.outgoing() {
                // The corrections are the first message behind the base OTs.
                let follows = of_base && flips;
                of_base |= message.len() == 128 * 2176;
                if follows {
                    flips = false;
                    message[0] ^= 1;
                }
                io.on(stream).send(message).await;
            }
            match progress {
                Progress::Sending => {}
                Progress::Done(found) => break Ok::<_, PsiError>(found),
                Progress::Waiting { stream, len } => {
                    let message = io.on(stream).recv(len).await;
                    engine.deliver(stream, message);
                }
            }
        }
    });
    match ran.and_then(|_| job.finish()) {
        Ok(()) => "no check has failed",
        Err(_) => "a check has failed",
    }
}

/// Plays a receiver that says what it likes of its ticket: it ends behind the negotiation, or when it has received everything,
/// and never says that it has. Returns the sender's details and error.
fn lie(configs: [&Config; 2], ticket: Option<&str>, plays: bool) -> (Table, Error) {
    let [mut sender, mut receiver] = connect(configs);
    thread::scope(|scope| {
        let sent = scope.spawn(move || {
            let sent = options().send(&mut sender, &["ann", "bob", "cid"]);
            drop(sender);
            sent.map(drop).unwrap_err()
        });
        let says = |hello: Hello, ticket: &str| hello.detail("base-ticket", ticket);
        let hello = ticket.into_iter().fold(hello(options(), 2), says);
        let mut told = Table::new();
        let negotiated = receiver.negotiate::<_, Error>(hello, |details| {
            told = details.clone();
            Ok(((), 0))
        });
        let agreed = negotiated.map(|(agreed, ())| agreed);
        if let (true, Ok(agreed)) = (plays, agreed) {
            let mut job = receiver.job(agreed);
            let (direction, (session, seed)) = (job.direction(), job.start().unwrap());
            let items = ["bob", "eve"].map(|name| psi::item(name.as_bytes()).unwrap());
            let options = options();
            let _ = job.play(|io| async move {
                let mut cx = Context::new(&session, seed);
                options.receive_over(&io, &mut cx, direction, 3, items.to_vec(), |_| ()).await
            });
        }
        drop(receiver);
        (told, sent.join().unwrap())
    })
}

#[test]
fn a_peer_that_lies_about_its_ticket_or_does_not_confirm_the_end_makes_no_ticket_stay() {
    let ([honest, cheat], [keeps, of_cheat], first) = two();
    let plain = cheat.config(&honest, false);
    let lies = |ticket: Option<&str>, plays| lie([&keeps, &plain], ticket, plays);
    let ours = honest.ticket();
    let before = fs::read(&ours).unwrap();
    // It hears the id, and is not heard: without its detail nothing is taken up.
    let (told, _) = lies(None, false);
    let id = told["base-ticket"].clone();
    for wrong in ["", "none ", "NONE", &id[1..], &id.to_uppercase(), &format!("{id}\n")] {
        let (_, error) = lies(Some(wrong), false);
        assert_eq!(error.blame(), Blame::Peer, "{wrong:?}: {error}");
    }
    assert_eq!(fs::read(&ours).unwrap(), before);
    // It names the ticket without having its states: base OTs end with the first message.
    let _ = lies(Some(&id), false);
    assert!(honest.files().is_empty());
    // It takes everything that an honest receiver gets, and does not say so.
    let (told, error) = lies(Some("none"), true);
    assert_eq!((told["base-ticket"].as_str(), error.blame()), ("none", Blame::Connection));
    assert!(honest.files().is_empty());
    assert_eq!(session([&keeps, &of_cheat], options()), first);
}

#[test]
fn an_abort_ends_the_ticket_on_both_sides() {
    let ([ours, theirs], [a, b], first) = two();
    for sender_gives_up in [true, false] {
        let [mut sender, mut receiver] = connect([&a, &b]);
        let gives_up = if sender_gives_up { &mut sender } else { &mut receiver };
        let canceller = Arc::new(gives_up.canceller());
        gives_up.on_progress(move |_: Told| canceller.cancel());
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
fn a_damaged_ticket_and_one_that_others_could_read_are_erased_and_base_ots_run() {
    let ([ours, _theirs], [a, b], first) = two();
    let path = ours.ticket();
    let len = fs::read(&path).unwrap().len();
    for (k, damaged) in [(0, len), (9, len), (150, len), (0, 7), (0, 0)] {
        let mut other = fs::read(&path).unwrap()[..damaged].to_vec();
        if let Some(byte) = other.get_mut(k) {
            *byte ^= 1;
        }
        fs::write(&path, other).unwrap();
        assert_eq!(session([&a, &b], options()), first);
        assert_eq!(session([&a, &b], options()), first - BASE);
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(session([&a, &b], options()), first);
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    assert_eq!(session([&a, &b], options()), first - BASE);
}

#[test]
fn a_directory_in_which_others_can_write_is_refused_before_anything_is_sent() {
    let ([ours, _theirs], [a, b], first) = two();
    for mode in [0o777, 0o770, 0o1777] {
        fs::set_permissions(ours.tickets(), fs::Permissions::from_mode(mode)).unwrap();
        let [error, _] = outcome([&a, &b], options()).errors;
        let error = error.unwrap();
        assert_eq!(error.blame(), Blame::Caller, "{error}");
        assert!(error.to_string().starts_with("other users can write to"), "{error}");
    }
    fs::set_permissions(ours.tickets(), fs::Permissions::from_mode(0o755)).unwrap();
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
