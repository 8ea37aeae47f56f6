//! Protocols that do not go together, peers that lie about sizes, and messages that do not open.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use foxtrot::{
    Blame, Config, Error, Peer, Progress, Seed, Session, Usage, job::Full, ot, psi, rot, triples,
};
use foxtrot_net::{
    Channel, ChannelError, Error as NetError, HelloError, Lane, Reason, drive,
    hello::{Agreement, Hello, KEYS, Role, exchange},
    tcp,
};
use foxtrot_ot::{
    base::{
        self, Adversary, BaseOt, Block, Choice, Functionality, Protocol, ReceiverKeys, Run,
        SenderKeys,
    },
    convert::{self, Format},
    engine::Abandoned,
    extension::{self, Incompatible, Shape, code::Linear, kkrt, oos, softspoken, two_round},
    transfers::{Extension, Method},
};
use foxtrot_psi::method::{self as psi_method, Assumption};
use foxtrot_triples::TripleKind;

/// A base OT with any record.
struct Double(&'static Protocol);

impl BaseOt for Double {
    fn info(&self) -> &'static Protocol {
        self.0
    }

    fn sender(&self, session: Session, n: usize, seed: Seed) -> Run<SenderKeys> {
        base::roted::Rot.sender(session, n, seed)
    }

    fn receiver(&self, session: Session, choice: Choice, seed: Seed) -> Run<ReceiverKeys> {
        base::roted::Rot.receiver(session, choice, seed)
    }
}

fn double(functionality: Functionality, reproduction: bool) -> &'static dyn BaseOt {
    let like = base::roted::Rot.info();
    let info = Protocol { name: "double", functionality, reproduction, ..*like };
    Box::leak(Box::new(Double(Box::leak(Box::new(info)))))
}

#[test]
fn protocols_that_do_not_go_together_are_refused_before_anything_is_sent() {
    type Call = Box<dyn Fn(&mut Peer) -> Result<(), Error>>;
    let weak: &dyn BaseOt = &base::naor_pinkas::NaorPinkas;
    let (reproduction, chosen) =
        (double(Functionality::Random, true), double(Functionality::ChosenMessage, false));
    let pairs = |n| vec![["a", "b"]; n];
    let send = move |options: ot::Options, n| -> Call {
        Box::new(move |peer| options.send(peer, &pairs(n)))
    };
    let receive = |options: ot::Options, n| -> Call {
        Box::new(move |peer| options.receive(peer, &vec![true; n]).map(drop))
    };
    let one_of = |options: ot::Options, n| -> Call {
        Box::new(move |peer| options.receive_one_of(peer, n, &[0]).map(drop))
    };
    let (ot, rot, psi) = (ot::Options::new(), rot::Options::new(), psi::Options::new());
    let why = Usage::Incompatible;
    let alone = why(Incompatible::Alone(Functionality::Endemic));
    let cases: Vec<(Call, Usage)> = vec![
        // Few transfers are base OTs alone: these have to be secure against malicious peers, and endemic.
        (send(ot.base(weak), 1), why(Incompatible::Weak)),
        (receive(ot.base(weak), 128), why(Incompatible::Weak)),
        (receive(ot.base(&base::roted::Rot), 1), alone),
        (send(ot.base(chosen), 5), alone),
        (send(ot.base(reproduction), 5), why(Incompatible::Reproduction)),
        (receive(ot.without_extension().base(weak), 1000), why(Incompatible::Weak)),
        // Below an extension.
        (send(ot.base(weak), 129), why(Incompatible::Adversary)),
        (receive(ot.base(reproduction), 129), why(Incompatible::Reproduction)),
        (receive(ot.extension(extension::iknp::semi_honest()), 1), why(Incompatible::Weak)),
        (one_of(ot.base(weak), 3), why(Incompatible::Adversary)),
        (one_of(ot.extension_of_n(kkrt::semi_honest()), 3), why(Incompatible::Weak)),
        (
            one_of(ot.extension_of_n(oos::malicious(Linear::Repetition128)), 3),
            Usage::Choices { choices: 3 },
        ),
        (one_of(ot.extension(extension::kos::malicious()), 3), Usage::Choices { choices: 3 }),
        (one_of(ot, 1), Usage::Choices { choices: 1 }),
        (Box::new(move |peer| rot.base(reproduction).send(peer, 5).map(drop)), {
            why(Incompatible::Reproduction)
        }),
        (Box::new(move |peer| rot.base(&base::roted::Endemic).receive(peer, 5).map(drop)), {
            why(Incompatible::NotUniform)
        }),
        (
            Box::new(move |peer| rot.without_extension().send_correlated(peer, 5).map(drop)),
            why(Incompatible::NoVariant),
        ),
        (Box::new(move |peer| psi.base(weak).send(peer, &["a"])), why(Incompatible::Adversary)),
        (Box::new(move |peer| psi.base(chosen).receive(peer, &["a"]).map(drop)), {
            why(Incompatible::Functionality(Functionality::ChosenMessage))
        }),
        (
            Box::new(move |peer| ot.send(peer, &[[vec![0; 1 << 17], vec![]]])),
            Usage::MessageLength { len: 1 << 17, max: 1 << 16 },
        ),
    ];
    let (mut ours, mut theirs) = Peer::pair();
    for (number, (call, expected)) in cases.into_iter().enumerate() {
        let error = call(&mut ours).unwrap_err();
        assert!(matches!(&error, Error::Usage(it) if *it == expected), "case {number}: {error:?}");
    }
    // Nothing was sent: the connection is as it was.
    let peer = thread::spawn(move || rot::receive(&mut theirs, 5).unwrap());
    rot::send(&mut ours, 5).unwrap();
    peer.join().unwrap();
}

#[test]
fn a_refused_choice_runs_when_it_is_asked_for() {
    let weak: &dyn BaseOt = &base::naor_pinkas::NaorPinkas;
    let options = ot::Options::new();
    let two_rounds = two_round::registry()[0];
    for (options, n) in [
        (options.base(weak).semi_honest(), 3),
        (options.base(weak).semi_honest(), 200),
        (options.base(&base::roted::Rot), 200),
        (options.without_extension(), 1100),
        (options.base(two_rounds), 300),
        (options.extension_of_n(oos::malicious(Linear::Bch512)), 200),
    ] {
        let (mut ours, mut theirs) = Peer::pair();
        let pairs: Vec<_> = (0..n).map(|i| [format!("{i}/0"), format!("{i}/1")]).collect();
        let peer = thread::spawn(move || options.send(&mut theirs, &pairs).unwrap());
        let choices: Vec<_> = (0..n).map(|i| i % 3 == 0).collect();
        let received = options.receive(&mut ours, &choices).unwrap();
        peer.join().unwrap();
        for (i, message) in received.iter().enumerate() {
            assert_eq!(message.unwrap(), format!("{i}/{}", usize::from(i % 3 == 0)).as_bytes());
        }
    }
    let few = rot::Options::new().without_extension();
    let (mut ours, mut theirs) = Peer::pair();
    let peer = thread::spawn(move || few.send(&mut theirs, 1030).unwrap());
    let (choices, keys) = few.receive(&mut ours, 1030).unwrap();
    let pairs = peer.join().unwrap();
    for i in 0..1030 {
        assert_eq!(keys[i], pairs[i][usize::from(choices.get(i).unwrap_u8())]);
    }
}

/// Listens for a peer that does whatever `lie` does after its hello.
fn against<T: Send + 'static>(
    hello: Hello,
    lie: impl FnOnce(&Channel, Result<Agreement, NetError>) -> T + Send + 'static,
) -> (Peer, JoinHandle<T>) {
    against_with(&Config::insecure(), hello, lie)
}

fn against_with<T: Send + 'static>(
    config: &Config,
    hello: Hello,
    lie: impl FnOnce(&Channel, Result<Agreement, NetError>) -> T + Send + 'static,
) -> (Peer, JoinHandle<T>) {
    let listener = config.bind("localhost:0").unwrap();
    let address = listener.local_addr().to_string();
    let liar = thread::spawn(move || {
        let channel = tcp::connect(&address, Duration::from_secs(20)).unwrap().open().unwrap();
        let agreement = exchange(&channel, true, &hello);
        lie(&channel, agreement)
    });
    (listener.accept().unwrap(), liar)
}

/// Returns the answer to a peer whose details cannot be, before it is told any of ours.
fn heard(_: &Channel, agreement: Result<Agreement, NetError>) -> Reason {
    match agreement {
        Err(NetError::Channel(ChannelError::GivenUp(reason))) => reason,
        other => panic!("{other:?}"),
    }
}

/// Transfers of messages as the defaults have them.
fn alone() -> Method {
    Method { base: &base::roted::Endemic, extension: Extension::None }
}

/// An intersection as the defaults have it.
fn of_psi() -> psi_method::Method {
    let (assumption, adversary) = (Assumption::Symmetric, Adversary::Malicious);
    psi_method::Method { base: &base::roted::Endemic, assumption, adversary }
}

#[test]
fn a_peer_with_more_items_than_it_was_told_it_may_have_is_blamed() {
    // Its own hello would compare 5 with what it was told; its details say 6.
    let hello = psi::terms::psi(Role::Receiver, &of_psi(), "none/1", 5, 1000).detail(KEYS, 6);
    let (mut ours, liar) = against(hello, heard);
    let error = psi::Options::new().max_peer_keys(5).send(&mut ours, &["a"]).unwrap_err();
    let said = HelloError::TooManyPeerKeys { theirs: 6, most: 5 };
    assert!(matches!(&error, Error::Session(NetError::Hello(e)) if *e == said), "{error}");
    assert_eq!(error.blame(), Blame::Peer);
    assert_eq!(liar.join().unwrap(), Reason::Undecodable);
}

#[test]
fn a_peer_whose_sizes_take_too_much_memory_is_refused_and_told() {
    let hello = |assumption| {
        let method = psi_method::Method { assumption, ..of_psi() };
        psi::terms::psi(Role::Receiver, &method, "none/1", 1 << 24, 1000)
    };
    let of_ot = ot::terms::messages(Role::Sender, &alone(), 100, 2, true);
    let of_ot = ot::terms::message_length(of_ot, 1 << 24);
    let longest = ot::Options::new().longest_message(1 << 24);
    let config = Config::insecure().max_memory(32 << 20);
    let is_refused = |e: &Error| matches!(e, Error::Full(Full::Memory { .. }));
    for assumption in Assumption::ALL {
        let (mut ours, liar) = against_with(&config, hello(assumption), heard);
        let options = psi::Options::new().assumption(assumption);
        let error = options.send(&mut ours, &["a"]).unwrap_err();
        assert!(is_refused(&error), "{error}");
        assert_eq!(liar.join().unwrap(), Reason::TooLarge);
    }
    let (mut ours, liar) = against_with(&config, of_ot, heard);
    let error = longest.receive(&mut ours, &[true; 100]).unwrap_err();
    assert!(is_refused(&error), "{error}");
    assert_eq!(liar.join().unwrap(), Reason::TooLarge);
}

#[test]
fn a_sender_of_long_messages_is_refused_with_both_lengths() {
    let hello = ot::terms::messages(Role::Sender, &alone(), 2, 2, true);
    let hello = ot::terms::message_length(hello, 70_000);
    let (mut ours, liar) = against(hello, heard);
    let error = ot::receive(&mut ours, &[true, false]).unwrap_err();
    assert_eq!(error.blame(), Blame::Agreement);
    let said = error.to_string();
    assert!(said.contains("65536") && said.contains("70000"), "{said}");
    assert_eq!(liar.join().unwrap(), Reason::OwnInput);
}

/// The sender makes the first message of the second pair one that does not open. Whether the receiver chose it or not, the
/// sender sees the same: the session ends in order, and the next begins.
#[test]
fn a_sender_cannot_see_whether_a_message_opens() {
    for choice in [false, true] {
        let hello = ot::terms::messages(Role::Sender, &alone(), 2, 2, true);
        let (mut ours, liar) =
            against(ot::terms::message_length(hello, 5), |channel, agreement| {
                let agreement = agreement.unwrap();
                let (direction, session) = (agreement.direction(), Session::new(agreement.sid));
                let mut cx = drive::context(&session).unwrap();
                let mut keys: Vec<[Block; 2]> = Vec::new();
                let all = &mut keys;
                drive::play(channel, |io| async move {
                    let mut sink = |some: &[[Block; 2]]| {
                        all.extend_from_slice(some);
                        Ok::<_, Abandoned>(())
                    };
                    let shape = Shape::given(2);
                    alone().send(&io, &mut cx, direction, shape, &mut || (), &mut sink).await
                })
                .unwrap();
                let of_messages = session.sub("chosen-messages", 0, direction);
                let mut sender = convert::Sender::new(of_messages, Format::Pairs, 5).unwrap();
                let messages = ["one", "two", "three", "four"];
                let mut frame = sender.seal(keys.as_flattened(), &messages).unwrap();
                let (quarter, all) = (frame.len() / 4, frame.len());
                assert_eq!(quarter * 4, all);
                frame[2 * quarter] ^= 1;
                channel.send(Lane::PROTOCOL, frame).unwrap();
                channel.finish().unwrap();
                channel.begin_again();
                let method = Method { base: &base::roted::Rot, ..softspoken_4() };
                let next = rot::terms::RotTerms { role: Role::Receiver, method, n: 5 }.hello();
                exchange(channel, true, &next).map(drop)
            });
        let messages = ot::receive(&mut ours, &[false, choice]).unwrap();
        assert_eq!(messages.get(0), Some(&b"one"[..]));
        assert_eq!(messages.get(1), choice.then_some(&b"four"[..]));
        assert!(rot::send(&mut ours, 5).is_err(), "the peer ends after the hello");
        liar.join().unwrap().unwrap();
    }
}

fn softspoken_4() -> Method {
    Method { extension: Extension::OneOfTwo(softspoken::malicious(4).unwrap()), ..alone() }
}

#[test]
fn two_choices_are_an_ordinary_transfer() {
    let (mut ours, mut theirs) = Peer::pair();
    let peer = thread::spawn(move || ot::one_of_n::send(&mut theirs, 2, &["a", "b", "c", "d"]));
    let received = ot::receive(&mut ours, &[true, false]).unwrap();
    assert_eq!([received.get(0), received.get(1)], [Some(&b"b"[..]), Some(b"c")]);
    peer.join().unwrap().unwrap();
}

#[test]
fn messages_and_triples_report_progress_that_ends_at_all() {
    fn watched(peer: &mut Peer, unit: &'static str, all: usize) -> Arc<AtomicUsize> {
        let last = Arc::new(AtomicUsize::new(0));
        let done = Arc::clone(&last);
        peer.on_progress(move |it: Progress| {
            assert!(it.unit == unit && it.of == all && it.done <= all, "{it:?}");
            done.store(it.done, Ordering::Relaxed);
        });
        last
    }
    type Call = fn(&mut Peer);
    let pair = |at_sender: Call, at_receiver: Call, unit, all| {
        let (mut ours, mut theirs) = Peer::pair();
        let last = [watched(&mut theirs, unit, all), watched(&mut ours, unit, all)];
        let peer = thread::spawn(move || at_sender(&mut theirs));
        at_receiver(&mut ours);
        peer.join().unwrap();
        assert_eq!(last.map(|it| it.load(Ordering::Relaxed)), [all; 2]);
    };
    pair(
        |it| ot::send(it, &vec![["x", "y"]; 300]).unwrap(),
        |it| drop(ot::receive(it, &[false; 300]).unwrap()),
        "transfers",
        300,
    );
    pair(
        |it| ot::one_of_n::send(it, 3, &["x"; 30]).unwrap(),
        |it| drop(ot::one_of_n::receive(it, 3, &[2; 10]).unwrap()),
        "transfers",
        10,
    );
    // A batch of rlwe makes more than is asked for.
    let make: Call = |it| drop(triples::generate::<u8, _>(it, 2049).unwrap());
    pair(make, make, "triples", 2049);
}

#[test]
fn triples_that_would_hide_next_to_nothing_are_refused() {
    let (mut ours, _theirs) = Peer::pair();
    let most = usize::try_from(TripleKind::rlwe(8, 40, false).unwrap().most()).unwrap();
    let options = triples::Options::new();
    let error = options.generate_into(&mut ours, 8, most + 1, |_| Ok::<_, Error>(())).unwrap_err();
    let expected = Usage::BatchTooLarge { n: most + 1, max: most };
    assert!(matches!(&error, Error::Usage(it) if *it == expected), "{error}");
}

#[test]
fn an_error_of_a_source_of_messages_ends_the_session_and_is_the_callers() {
    let (mut ours, mut theirs) = Peer::pair();
    let peer = thread::spawn(move || ot::receive(&mut theirs, &[true; 3]).unwrap_err());
    let source = |i, branch| if (i, branch) == (2, 0) { Err("no more") } else { Ok("message") };
    let error = ot::Options::new().send_from(&mut ours, 3, 7, source).unwrap_err();
    assert!(matches!(&error, Error::Sink(e) if e.to_string() == "no more"), "{error}");
    assert_eq!(error.blame(), Blame::Caller);
    peer.join().unwrap();
    // The receiver's sink comes after the session, which it does not spoil.
    let (mut ours, mut theirs) = Peer::pair();
    let peer = thread::spawn(move || {
        ot::send(&mut theirs, &[["a", "b"]]).unwrap();
        rot::send(&mut theirs, 3).unwrap();
    });
    let full = ot::Options::new().receive_into(&mut ours, &[true], |_| Err("full")).unwrap_err();
    assert!(matches!(&full, Error::Sink(e) if e.to_string() == "full"), "{full}");
    rot::receive(&mut ours, 3).unwrap();
    peer.join().unwrap();
}

#[test]
fn long_messages_stream_through() {
    const LEN: usize = 3 << 20;
    let options = ot::Options::new().longest_message(LEN);
    let (mut ours, mut theirs) = Peer::pair();
    let peer = thread::spawn(move || {
        options.send_from(&mut theirs, 4, LEN, |i, branch| {
            Ok::<_, Error>(vec![b'0' + [0, 2, 4, 6][i] + [0, 1][branch]; LEN - i])
        })
    });
    let mut first = Vec::new();
    let sink = |message: Option<&[u8]>| {
        first.push(message.map(|it| (it[0], it.len())));
        Ok::<_, Error>(())
    };
    options.receive_into(&mut ours, &[true, false, false, true], sink).unwrap();
    peer.join().unwrap().unwrap();
    assert_eq!(
        first,
        [b'1', b'2', b'4', b'7']
            .iter()
            .enumerate()
            .map(|(i, byte)| Some((*byte, LEN - i)))
            .collect::<Vec<_>>()
    );
}
