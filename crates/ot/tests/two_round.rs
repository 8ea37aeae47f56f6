//! The two-round extension: what it yields, and what a peer or the network can do to it.

use foxtrot_ot::{
    Backend, Bits, Decode, Direction, Error, Misbehaved, Seed, Session, Sid, Usage,
    base::{BaseOt, Choice, Functionality, ReceiverKeys, SenderKeys, find as find_base},
    extension::two_round::{MAX_BATCH, PROTOCOL, TwoRound, VARIANTS, carriers, find, registry},
    pair::{Event, Pair, PairParty, assert_rot},
};

/// The variant over `mcquoid-rosulek-roy:feistel2:ristretto`.
fn over_ristretto() -> &'static TwoRound {
    &VARIANTS[2]
}

fn session(counter: u64) -> Session {
    Session::new(Sid::from_bytes([1; 32])).sub("test", counter, Direction::default())
}

fn seed(byte: u8) -> Seed {
    Seed::from_bytes([byte; 32])
}

fn choices(n: usize) -> Bits {
    Bits::from_bools((0..n).map(|i| i % 3 == 1))
}

fn pair(base: &dyn BaseOt, n: usize, backend: Backend) -> Pair<'static> {
    let session = || session(0).with_backend(backend);
    let sender = base.sender(session(), n, seed(1)).unwrap();
    Pair::new(sender, base.receiver(session(), Choice::Given(choices(n)), seed(2)).unwrap())
}

/// Both messages of an honest run, and the keys.
fn transcript(base: &dyn BaseOt, n: usize, backend: Backend) -> (Vec<Vec<u8>>, Keys) {
    let mut messages = Vec::new();
    let keys = pair(base, n, backend).run_through(|_, message| {
        messages.push(message.clone());
        message
    });
    (messages, keys.unwrap())
}

type Keys = (SenderKeys, ReceiverKeys);

/// The typed states over every base OT: the largest answer and the smallest, with what they cost.
fn variants(test: impl Fn(Over)) {
    for (protocol, carrier) in VARIANTS.iter().zip(carriers()) {
        test(Over { protocol, answer_len: (carrier.sender_bytes)(128) });
    }
}

/// The typed states over one base OT, whose answer has that length.
struct Over {
    protocol: &'static TwoRound,
    answer_len: usize,
}

impl Over {
    fn invitation(&self, session: Session, n: usize) -> Vec<u8> {
        self.protocol.start(session, n, seed(1)).unwrap().1
    }

    fn respond(&self, session: Session, invitation: &[u8], n: usize) -> Result<Vec<u8>, Error> {
        Ok(self.protocol.respond(session, invitation, choices(n), seed(2))?.1)
    }

    /// The sender of [`Over::invitation`] with that response.
    fn finish(&self, session: Session, n: usize, response: &[u8]) -> Result<SenderKeys, Error> {
        let (sender, _) = self.protocol.start(session, n, seed(1)).unwrap();
        sender.finish(response)
    }
}

#[test]
fn the_receiver_gets_the_keys_of_its_choices() {
    for base in registry() {
        for n in [0, 1, 7, 8, 9, 255, 256, 257, 1000, 5000] {
            let (_, (sender, receiver)) = transcript(*base, n, Backend::best());
            assert_rot(&sender, &receiver);
            assert_eq!(receiver.choices(), &choices(n));
        }
    }
}

#[test]
fn more_than_a_batch_of_the_other_extensions_is_one_run() {
    let base = find("mcquoid-rosulek-roy").unwrap();
    let (_, (sender, receiver)) = transcript(base, 100_000, Backend::best());
    assert_rot(&sender, &receiver);
}

#[test]
fn a_run_has_two_flows_and_the_announced_bytes() {
    for base in registry() {
        let info = base.info();
        for n in [0, 1, 256, 257, 3000] {
            let mut bytes = [0, 0];
            let mut pair = pair(*base, n, Backend::best());
            while let Some(Event { party, stream, message }) = pair.step().unwrap() {
                let Some(message) = message else { continue };
                bytes[usize::from(party == PairParty::Receiver)] += message.len();
                pair.deliver(party, stream, message);
            }
            assert_eq!(bytes, [(info.sender_bytes)(n), (info.receiver_bytes)(n)]);
            assert_eq!((pair.flows(), info.flows), (2, 2));
        }
        assert_eq!(info.functionality, Functionality::Endemic);
        // 16 bytes per OT, and what the check and whole columns take.
        let many = (info.receiver_bytes)(MAX_BATCH) - (info.receiver_bytes)(0);
        assert_eq!(many, 16 * MAX_BATCH);
    }
}

#[test]
fn every_backend_sends_the_same_bytes() {
    for base in registry() {
        let portable = transcript(*base, 300, Backend::PORTABLE);
        for backend in Backend::all() {
            assert_eq!(transcript(*base, 300, backend), portable, "{backend:?}");
        }
    }
}

#[test]
fn names_and_families_of_base_ots_are_found() {
    let name = |base| find(base).map(|it| it.info().name);
    assert_eq!(name("roted"), Some("kos-two-round:roted-endemic"));
    assert_eq!(name("roted-endemic"), name("roted"));
    let over_the_curve = Some("kos-two-round:mcquoid-rosulek-roy:feistel:moeller");
    assert_eq!(name("mcquoid-rosulek-roy"), over_the_curve);
    let in_prime_order = Some("kos-two-round:mcquoid-rosulek-roy:feistel2:ristretto");
    assert_eq!(name("mcquoid-rosulek-roy:feistel2:ristretto"), in_prime_order);
    assert_eq!(name("pvw"), None);
    let roted = find_base("roted-endemic", Functionality::Endemic).unwrap();
    assert_eq!(carriers().next().unwrap().name, roted.info().name);
    assert!(carriers().map(|it| it.name).eq(PROTOCOL.carriers.iter().copied()));
    assert_eq!(VARIANTS[0].info().name, registry()[0].info().name);
}

const REFUSED: Error = Error::Misbehaved(Misbehaved::ConsistencyCheck);

/// Everything that comes over the wire, a byte of every part of it.
#[test]
fn a_flipped_byte_anywhere_ends_the_run() {
    let n = 300;
    variants(|run| {
        let invitation = run.invitation(session(0), n);
        let honest = run.respond(session(0), &invitation, n).unwrap();
        assert!(run.finish(session(0), n, &honest).is_ok());
        for at in (0..invitation.len()).step_by(invitation.len() / 20).chain([invitation.len() - 1])
        {
            let mut changed = invitation.clone();
            changed[at] ^= 1;
            // What R saw is not what S sent.
            match run.respond(session(0), &changed, n) {
                Err(error) => assert!(matches!(error, Error::Decode(_)), "{error}"),
                Ok(response) => {
                    let refused = run.finish(session(0), n, &response);
                    assert_eq!(refused, Err(REFUSED), "byte {at} of the invitation");
                }
            }
        }
        let answer = run.answer_len;
        let proof = honest.len() - 4128;
        let in_answer = (0..answer).step_by((answer / 20).max(1));
        let in_corrections = (answer..proof).step_by(331).chain([proof - 1]);
        for at in in_answer.chain(in_corrections).chain((proof..honest.len()).step_by(29)) {
            let mut changed = honest.clone();
            changed[at] ^= 0x10;
            match run.finish(session(0), n, &changed) {
                // An element of the proof of a row counts in every row, h(X) where Δ is 1.
                Err(Error::Decode(_)) => assert!(at < answer),
                refused => assert_eq!(refused, Err(REFUSED), "byte {at} of the response"),
            }
        }
    });
}

#[test]
fn a_response_is_refused_in_another_session_role_or_run() {
    let n = 300;
    variants(|run| {
        let invitation = run.invitation(session(0), n);
        let other_role =
            || Session::new(Sid::from_bytes([1; 32])).sub("test", 0, Direction::ResponderSends);
        let other_session =
            || Session::new(Sid::from_bytes([2; 32])).sub("test", 0, Direction::default());
        for elsewhere in [&other_role as &dyn Fn() -> Session, &other_session, &|| session(1)] {
            let response = run.respond(elsewhere(), &invitation, n).unwrap();
            assert_eq!(run.finish(session(0), n, &response), Err(REFUSED));
            // The sender that reused its φ there gets other keys.
            let response = run.respond(session(0), &invitation, n).unwrap();
            assert_eq!(run.finish(elsewhere(), n, &response), Err(REFUSED));
        }
        // Another number of OTs, with as many columns.
        let response = run.respond(session(0), &invitation, n + 1).unwrap();
        assert_eq!(run.finish(session(0), n, &response), Err(REFUSED));
    });
}

#[test]
fn an_invitation_replayed_elsewhere_gives_the_receiver_unrelated_keys() {
    let n = 50;
    let (_, invitation) = over_ristretto().start(session(0), n, seed(1)).unwrap();
    // Even a receiver that reused its seed would not repeat itself.
    let mut keys: Vec<_> = (0..3)
        .flat_map(|counter| {
            let answered =
                over_ristretto().respond(session(counter), &invitation, choices(n), seed(2));
            let (received, _) = answered.unwrap();
            received.keys().to_vec()
        })
        .collect();
    keys.sort_unstable();
    assert!(keys.windows(2).all(|two| two[0] != two[1]));
}

#[test]
fn a_proof_of_zeros_or_of_another_run_is_refused() {
    // docs/wire: R11-1.
    let n = 300;
    variants(|run| {
        let invitation = run.invitation(session(0), n);
        let honest = run.respond(session(0), &invitation, n).unwrap();
        let elsewhere = run.invitation(session(1), n);
        let other = run.respond(session(1), &elsewhere, n).unwrap();
        let proof = honest.len() - 4128;
        for forged in [vec![0; 4128], vec![0xff; 4128], other[proof..].to_vec()] {
            let response = [&honest[..proof], &forged].concat();
            assert_eq!(run.finish(session(0), n, &response), Err(REFUSED));
        }
    });
}

#[test]
fn messages_of_the_wrong_length_are_refused() {
    let n = 9;
    variants(|run| {
        let invitation = run.invitation(session(0), n);
        let honest = run.respond(session(0), &invitation, n).unwrap();
        for wrong in [0, 1, invitation.len() - 1, invitation.len() + 1] {
            let expected = invitation.len();
            let decode = Decode::Length { message: "Blinded", expected, got: wrong };
            let refused = run.respond(session(0), &vec![0; wrong], n);
            assert_eq!(refused, Err(decode.into()));
        }
        for wrong in [0, 1, honest.len() - 1, honest.len() + 1, 2 * honest.len()] {
            let mut response = honest.clone();
            response.resize(wrong, 0);
            let decode = Decode::Length { message: "Response", expected: honest.len(), got: wrong };
            assert_eq!(run.finish(session(0), n, &response), Err(decode.into()));
        }
    });
}

#[test]
fn too_many_ots_and_random_choices_are_usage_errors() {
    for base in registry() {
        let n = MAX_BATCH + 1;
        let too_large = Err(Usage::BatchTooLarge { n, max: MAX_BATCH });
        assert_eq!(base.sender(session(0), n, seed(1)).map(drop), too_large);
        let many = Choice::Given(Bits::from_bytes(&vec![0; n.div_ceil(8)], n));
        assert_eq!(base.receiver(session(0), many, seed(1)).map(drop), too_large);
        let random = base.receiver(session(0), Choice::Random(3), seed(1)).map(drop);
        assert!(matches!(random, Err(Usage::Choice { .. })));
        // Announced for any number, without overflow.
        assert!((base.info().receiver_bytes)(usize::MAX) > n);
    }
}

#[test]
fn debugging_shows_no_secret() {
    let (sender, _) = over_ristretto().start(session(0), 3, seed(1)).unwrap();
    let name = "kos-two-round:mcquoid-rosulek-roy:feistel2:ristretto";
    assert_eq!(format!("{sender:?}"), format!("Sender({name}, <3 instances>)"));
}

/// `crates/ot/src/extension/two_round.md`: the pairs of rows whose difference one challenge may map to 0 by
/// chance, with both hashes, for every query to the oracle.
#[test]
fn a_challenge_found_offline_is_bad_with_less_than_2_to_the_minus_243() {
    let pairs = f64::from(128 * 127 / 2);
    let hashes = 2.0 * 128.0;
    assert!(pairs.log2() - hashes < -243.0);
    // What the design asks for, s ≥ 141, leaves 2⁻¹²⁸ to a single query; one hash does less.
    assert!(pairs.log2() - 141.0 < -128.0 && pairs.log2() - 128.0 > -141.0);
    // 2^100 queries, in 2^40 sessions.
    assert!(pairs.log2() - hashes + 100.0 + 40.0 < -100.0);
}
