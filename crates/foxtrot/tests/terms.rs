//! Jobs by their terms, as programs run them that read hellos and write files by themselves.

use std::{
    sync::{Arc, Mutex},
    thread,
};

use foxtrot::{
    Bits, Blame, Block, Config, Error, Peer, Progress, Side, TIMEOUT,
    job::{Job, Role},
    net::{ChannelError, Error as NetError, Reason},
    ot::{self, terms::OtTerms},
    psi,
    rot::{self, terms::RotTerms},
    triples::terms::{EarlierRun, TriplesAgreement, TriplesRun, TriplesTerms},
};
use foxtrot_triples::TripleKind;

fn begin<'p>(peer: &'p mut Peer, hello: foxtrot::job::Hello) -> Result<Job<'p>, Error> {
    let (agreed, ()) = peer.negotiate::<_, Error>(hello, |_| Ok(((), 0)))?;
    Ok(peer.job(agreed))
}

#[test]
fn keys_come_to_a_place_that_is_kept_when_all_are_there() {
    const N: usize = 20_000;
    let (mut ours, mut theirs) = Peer::pair();
    let told = Arc::new(Mutex::new(Vec::new()));
    let tell = Arc::clone(&told);
    ours.on_progress(move |Progress { done, .. }| tell.lock().unwrap().push(done));
    let terms = |role| RotTerms { role, method: rot::Options::new().method(N).unwrap(), n: N };
    let make = move |peer: &mut Peer, role| {
        let job = begin(peer, terms(role).hello())?;
        let take = |(bits, all): &mut (Vec<u8>, Vec<Block>), choices: &Bits, keys: &[Block]| {
            bits.extend_from_slice(choices.as_bytes());
            all.extend_from_slice(keys);
            Ok::<_, Error>(())
        };
        terms(role).run(job, Default::default(), take, Ok)
    };
    let sender = thread::spawn(move || make(&mut theirs, Role::Sender).unwrap());
    let (choices, keys) = make(&mut ours, Role::Receiver).unwrap();
    let (none, pairs) = sender.join().unwrap();
    assert_eq!((none.len(), pairs.len(), keys.len()), (0, 2 * N, N));
    let choices = Bits::from_bytes(&choices, N);
    for (i, key) in keys.iter().enumerate() {
        assert_eq!(*key, pairs[2 * i + usize::from(choices.get(i).unwrap_u8())]);
    }
    let told = told.lock().unwrap();
    assert_eq!((told.first(), told.last()), (Some(&0), Some(&N)), "first the base OTs are done");
}

#[test]
fn a_receiver_of_messages_agrees_on_the_length_that_the_sender_tells_up_to_its_own() {
    let method = ot::Options::new().method(2, 2).unwrap();
    let terms = |role, longest| OtTerms { role, method, n: 2, choices: 2, hex: true, longest };
    let told = |length: &str| [("message-length".to_owned(), length.to_owned())].into();
    let receiver = terms(Role::Receiver, 10);
    assert_eq!(receiver.agree(&told("10")).unwrap().message_len, 10);
    let (reason, error) = receiver.agree(&told("11")).unwrap_err();
    assert_eq!((reason, error.blame()), (Reason::OwnInput, Blame::Agreement));
    for details in [told("ten"), [].into()] {
        let (reason, error) = receiver.agree(&details).unwrap_err();
        assert_eq!((reason, error.blame()), (Reason::Undecodable, Blame::Peer));
    }
    assert_eq!(terms(Role::Sender, 7).agree(&[].into()).unwrap().message_len, 7);
    assert!(terms(Role::Sender, 1 << 30).hello().is_err(), "no frame has such a message");
}

/// A session of a run of two batches and a triple; returns what was agreed on, and the number of triples that came.
fn session(
    peer: &mut Peer,
    role: Role,
    earlier: Option<EarlierRun>,
) -> Result<(TriplesAgreement, usize), Error> {
    let kind = TripleKind::find("gilboa-64").expect("a kind");
    let count = 2 * kind.usable() as u64 + 1;
    let terms = TriplesTerms { role, kind, count, earlier };
    let (agreed, ()) = peer.negotiate::<_, Error>(terms.hello(), |_| Ok(((), 0)))?;
    let agreement = terms.agree(&agreed).map_err(|(reason, e)| {
        peer.refuse(reason);
        e
    })?;
    let mut made = 0;
    agreement.run(peer.job(agreed), |shares| {
        made += shares.len();
        Ok::<_, Error>(())
    })?;
    Ok((agreement, made))
}

type Ran = Result<(TriplesAgreement, usize), Error>;

fn sessions(earlier: [Option<EarlierRun>; 2]) -> [Ran; 2] {
    let ((mut ours, mut theirs), [first, second]) = (Peer::pair(), earlier);
    let other = thread::spawn(move || session(&mut theirs, Role::Receiver, second));
    let ran = session(&mut ours, Role::Sender, first);
    // What ends one side's session ends the other's.
    drop(ours);
    [ran, other.join().expect("no panic")]
}

#[test]
fn a_run_of_triples_goes_on_with_what_one_side_lacks() {
    let [ours, theirs] = sessions([None, None]).map(|it| it.unwrap().0);
    assert_eq!((&ours.run, &ours.batches), (&theirs.run, &(0..3)));
    assert_eq!(ours.made(), ours.terms.count);
    let usable = ours.terms.kind.usable();
    let earlier = |run: &TriplesRun, batches| Some(EarlierRun { run: run.clone(), batches });
    for (has, made) in [([3, 2], 1), ([1, 3], usable + 1), ([3, 3], 0)] {
        let all = sessions(has.map(|batches| earlier(&ours.run, batches)));
        for (agreed, came) in all.map(Result::unwrap) {
            assert_eq!((agreed.batches, came), (*has.iter().min().unwrap()..3, made));
            assert_eq!(agreed.run, ours.run);
        }
    }
}

#[test]
fn a_run_of_triples_under_other_terms_does_not_go_on_and_the_peer_hears_whose_input_it_is() {
    let [ours, _] = sessions([None, None]).map(|it| it.unwrap().0);
    let earlier = |session| {
        let run = TriplesRun { session, ..ours.run.clone() };
        Some(EarlierRun { run, batches: 1 })
    };
    for session in [None, Some([7; 32])] {
        let [here, there] = sessions([earlier(session), earlier(ours.run.session)]);
        let (here, there) = (here.unwrap_err(), there.unwrap_err());
        assert!(matches!(here, Error::OtherRun), "{here}");
        assert_eq!((here.cause().status, here.blame()), (2, Blame::Caller));
        assert!(here.cause().hint.unwrap().to_string().contains("start a new run on both sides"));
        let told = NetError::from(ChannelError::GivenUp(Reason::OwnInput));
        assert!(matches!(&there, Error::Session(e) if *e == told), "{there}");
    }
}

#[test]
fn a_peer_that_waits_for_a_hello_hears_that_the_other_side_cannot_use_its_own_input() {
    let (mut ours, mut theirs) = Peer::pair();
    // The peer has said its hello, and waits for ours.
    let other = thread::spawn(move || rot::send(&mut theirs, 10).map(drop).unwrap_err());
    ours.refuse(Reason::OwnInput);
    let told = other.join().unwrap();
    let own_input = NetError::from(ChannelError::GivenUp(Reason::OwnInput));
    assert!(matches!(&told, Error::Session(e) if *e == own_input), "{told}");
    let hint = told.cause().hint.unwrap().to_string();
    assert_eq!(hint, "ask the peer what its program says");
    // Nothing runs on this connection any more.
    assert!(rot::receive(&mut ours, 10).is_err());
}

#[test]
fn a_peer_that_waits_hears_that_settings_of_the_other_side_end_the_job() {
    let (near, far) = foxtrot_net::memory::pair(TIMEOUT);
    // Base OTs are kept for peers with keys only, and these have none.
    let folder = tempfile::tempdir().unwrap();
    let mut ours = Config::insecure().resume_base(folder.path()).peer(near, Side::Initiator);
    let mut theirs = Config::insecure().peer(far, Side::Responder);
    let other = thread::spawn(move || psi::receive(&mut theirs, &["bob"]).unwrap_err());
    assert!(matches!(psi::send(&mut ours, &["bob"]), Err(Error::Config(_))));
    let told = other.join().unwrap();
    let own_input = NetError::from(ChannelError::GivenUp(Reason::OwnInput));
    assert!(matches!(&told, Error::Session(e) if *e == own_input), "{told}");
    assert_eq!(told.blame(), Blame::Agreement);
    // Later jobs say the same.
    assert!(matches!(psi::send(&mut ours, &["bob"]), Err(Error::Config(_))));
}
