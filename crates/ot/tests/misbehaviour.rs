//! Attacks of a peer, or the network, on any base OT, and on `base::roted` in particular: every
//! test is an attack that fails.

use foxtrot_ot::{
    Bits, Decode, Direction, Error, Misbehaved, Seed, Session, Sid, Usage,
    base::{
        self, BaseOt, Choice, Functionality,
        roted::{Blinded, Endemic, Opening, Reply, Rot, endemic, rot},
    },
    pair::{Pair, PairParty},
};

fn batch(counter: u64) -> Session {
    Session::new(Sid::from_bytes([1; 32])).sub("test", counter, Direction::default())
}

fn seed(byte: u8) -> Seed {
    Seed::from_bytes([byte; 32])
}

fn choice(base: &dyn BaseOt, n: usize) -> Choice {
    match base.info().functionality {
        Functionality::Random => Choice::Random(n),
        _ => Choice::Given(Bits::from_bools((0..n).map(|i| i % 3 == 1))),
    }
}

/// Runs n instances; `tamper` may change the message with that number.
fn run_tampered(
    base: &dyn BaseOt,
    n: usize,
    number: usize,
    tamper: impl Fn(&mut Vec<u8>),
) -> Result<(base::SenderKeys, base::ReceiverKeys), (PairParty, Error)> {
    let sender = base.sender(batch(0), n, seed(1)).unwrap();
    let receiver = base.receiver(batch(0), choice(base, n), seed(2)).unwrap();
    let mut count = 0;
    Pair::new(sender, receiver).run_through(|_, mut message| {
        if count == number {
            tamper(&mut message);
        }
        count += 1;
        message
    })
}

/// The lengths of the messages of one run.
fn message_lengths(base: &dyn BaseOt, n: usize) -> Vec<usize> {
    let sender = base.sender(batch(0), n, seed(1)).unwrap();
    let receiver = base.receiver(batch(0), choice(base, n), seed(2)).unwrap();
    let mut lengths = Vec::new();
    Pair::new(sender, receiver)
        .run_through(|_, message| {
            lengths.push(message.len());
            message
        })
        .unwrap();
    lengths
}

/// Returns the names of the messages in the order in which they are sent.
fn message_names(base: &str) -> Vec<&'static str> {
    match base {
        "roted" | "roted-endemic" => vec!["Blinded", "Reply", "Opening"],
        "bdgm" => vec!["Blinded", "Challenge", "Response", "Ciphertexts"],
        "pvw" => vec!["PublicKeys", "Ciphertexts"],
        "masny-rindal-reuse" => vec!["KeyShare", "Blinded"],
        "masny-rindal" => vec!["Blinded", "Shares"],
        "chou-orlandi" => vec!["Share", "Points"],
        "chou-orlandi:chosen" => vec!["Share", "Points", "Ciphertexts"],
        "naor-pinkas" => vec!["Setup", "PublicKeys"],
        "csw" => vec!["Points", "Challenge", "Response"],
        name if name.starts_with("mcquoid-rosulek-roy:") => vec!["KeyShare", "Blinded"],
        _ => {
            let (figure2, ot) = base.split_once(':').unwrap();
            assert_eq!(figure2, "rot-from-ot");
            [&["Commitment"][..], &message_names(ot), &["Swap", "Opening"]].concat()
        }
    }
}

/// No key of the receiver is a key of the sender.
fn unusable(sender: &base::SenderKeys, receiver: &base::ReceiverKeys) -> bool {
    let all = sender.pairs().as_flattened();
    receiver.keys().iter().all(|key| !all.contains(key))
}

#[test]
fn a_flipped_byte_ends_the_run_or_spoils_every_key() {
    for base in [&Rot as &dyn BaseOt, &Endemic] {
        for (number, len) in message_lengths(base, 2).into_iter().enumerate() {
            for position in 0..len {
                for flip in [0x01, 0x80, 0xff] {
                    match run_tampered(base, 2, number, |m| m[position] ^= flip) {
                        Err((_, Error::Decode(_) | Error::Misbehaved(_))) => {}
                        Ok((sender, receiver)) => assert!(
                            unusable(&sender, &receiver),
                            "{}: byte {position} of message {number}",
                            base.info().name
                        ),
                        Err((_, error)) => panic!("{error}"),
                    }
                }
            }
        }
    }
}

/// Returns the instance, of two, to which a byte of a message belongs; `None` if it belongs to the
/// batch.
fn instance_of(message: &str, len: usize, position: usize, bit: usize) -> Option<usize> {
    match message {
        "Commitment" | "Opening" | "Response" => None,
        "Swap" => Some(bit),
        _ => Some(position / (len / 2)),
    }
}

/// A change of one instance affects that instance only, unless the message is bound to all others.
#[test]
fn a_flipped_bit_is_the_peers_fault_or_leaves_the_other_instance_alone() {
    for base in base::registry().iter().filter(|base| base.info().family != "roted") {
        let name = base.info().name;
        let lengths = message_lengths(*base, 2);
        for (number, (message, len)) in message_names(name).into_iter().zip(lengths).enumerate() {
            let flips = (0..len).flat_map(|position| {
                let bits = if message == "Swap" { 0..8 } else { position % 8..position % 8 + 1 };
                bits.map(move |bit| (position, bit))
            });
            for (position, bit) in flips {
                match run_tampered(*base, 2, number, |m| m[position] ^= 1 << bit) {
                    Err((_, Error::Decode(_) | Error::Misbehaved(_))) => {}
                    // It is hashed into every key.
                    Ok((sender, receiver)) if ["KeyShare", "Share", "Setup"].contains(&message) => {
                        assert!(unusable(&sender, &receiver), "{name}: byte {position} of A");
                    }
                    Ok((sender, receiver)) => {
                        let touched = instance_of(message, len, position, bit)
                            .unwrap_or_else(|| panic!("{name}: {message} is the batch's"));
                        let intact = |i: usize| {
                            let choice = usize::from(receiver.choices().get(i).unwrap_u8());
                            sender.pairs()[i][choice] == receiver.keys()[i]
                        };
                        assert!(intact(1 - touched), "{name}: byte {position} of {message}");
                        if message == "Swap" {
                            assert!(!intact(touched), "{name}: both report a wrong pair");
                        }
                    }
                    Err((_, error)) => panic!("{error}"),
                }
            }
        }
    }
}

#[test]
fn a_truncated_or_extended_message_is_an_error_that_names_it() {
    // docs/wire: R0-2.
    for base in base::registry() {
        for (number, len) in message_lengths(*base, 2).into_iter().enumerate() {
            let name = message_names(base.info().name)[number];
            for wrong in (0..len).step_by(97).chain([len - 1, len + 1, len + 4096]) {
                let error = run_tampered(*base, 2, number, |m| m.resize(wrong, 0)).unwrap_err().1;
                let expected = Decode::Length { message: name, expected: len, got: wrong };
                assert_eq!(error, Error::Decode(expected));
            }
        }
    }
}

#[test]
fn coefficients_out_of_range_are_refused_with_their_place() {
    // docs/wire: R0-2.
    let (_, blinded) =
        endemic::Receiver::start(batch(0), Bits::from_bools([true; 3]), seed(1)).unwrap();
    for (instance, offset) in [(0, 0), (1, 1296 + 416), (2, 2 * 1296 + 1248 - 2)] {
        let mut bytes = blinded.as_bytes().to_vec();
        bytes[offset..offset + 2].fill(0xff);
        let expected = Decode::Coefficient { message: "Blinded", instance }.into();
        assert_eq!(Blinded::<Endemic>::decode(&bytes, 3).unwrap_err(), expected);
    }
}

#[test]
fn spare_bits_after_the_senders_bits_are_refused() {
    // docs/wire: R0-1.
    let (_, blinded) = rot::Receiver::start(batch(0), 3, seed(1)).unwrap();
    let (_, reply) = rot::Sender::respond(batch(0), &blinded, seed(2));
    let mut bytes = reply.into_bytes();
    bytes[32] |= 0x08;
    assert_eq!(
        Reply::<Rot>::decode(&bytes, 3).unwrap_err(),
        Error::Decode(Decode::SpareBits { message: "Reply" })
    );
}

#[test]
fn a_commitment_that_does_not_open_gives_no_keys() {
    // docs/wire: R5-1.
    let (receiver, blinded) = rot::Receiver::start(batch(0), 4, seed(1)).unwrap();
    let (sender, reply) = rot::Sender::respond(batch(0), &blinded, seed(2));
    let _opening = receiver.finish(&reply).unwrap();
    let wrong = Opening::decode(&[0; 32], 4).unwrap();
    assert_eq!(sender.finish(&wrong).unwrap_err(), Misbehaved::CommitmentMismatch);
}

/// Naive batching lets a receiver that sends one message in every instance see the same keys
/// everywhere (McQuoid, Rosulek, Roy, section 3).
#[test]
fn a_first_message_replayed_in_every_instance_gives_unrelated_keys() {
    let n = 16;
    let (receiver, blinded) =
        endemic::Receiver::start(batch(0), Bits::from_bools([true]), seed(1)).unwrap();
    drop(receiver);
    let replayed = Blinded::<Endemic>::decode(&blinded.as_bytes().repeat(n), n).unwrap();
    let (keys, reply) = endemic::respond(batch(0), &replayed, seed(2));
    assert_all_distinct(keys.pairs().as_flattened());
    // Not only the hashes: the sender's secrets are fresh in every instance and branch.
    assert_all_distinct(&branches(&reply));

    let (receiver, blinded) = rot::Receiver::start(batch(0), 1, seed(1)).unwrap();
    let bytes = blinded.as_bytes();
    let replayed = [&bytes[..32], &bytes[32..].repeat(n)].concat();
    let replayed = Blinded::<Rot>::decode(&replayed, n).unwrap();
    let (sender, _) = rot::Sender::respond(batch(0), &replayed, seed(2));
    let (_, honest_reply) = rot::Sender::respond(batch(0), &blinded, seed(2));
    let (_, opening) = receiver.finish(&honest_reply).unwrap();
    assert_all_distinct(sender.finish(&opening).unwrap().pairs().as_flattened());
}

#[test]
fn a_first_message_replayed_in_another_batch_gives_unrelated_keys() {
    let n = 8;
    let choices = Bits::from_bools([true; 8]);
    let (_receiver, blinded) = endemic::Receiver::start(batch(0), choices, seed(1)).unwrap();
    // Even a sender that reused its seed would not repeat itself.
    let (first, first_reply) = endemic::respond(batch(0), &blinded, seed(2));
    let (second, second_reply) = endemic::respond(batch(1), &blinded, seed(2));
    assert_all_distinct(&[first.pairs().as_flattened(), second.pairs().as_flattened()].concat());
    assert_all_distinct(&[branches(&first_reply), branches(&second_reply)].concat());
    assert_eq!(first.pairs().len(), n);

    let (_receiver, blinded) = rot::Receiver::start(batch(0), n, seed(1)).unwrap();
    let (sender, _) = rot::Sender::respond(batch(1), &blinded, seed(2));
    // The commitment is also bound to the batch: the replayed opening does not open there.
    let (receiver, again) = rot::Receiver::start(batch(0), n, seed(1)).unwrap();
    assert_eq!(again, blinded);
    let (_, reply) = rot::Sender::respond(batch(0), &blinded, seed(2));
    let (_, opening) = receiver.finish(&reply).unwrap();
    assert_eq!(sender.finish(&opening).unwrap_err(), Misbehaved::CommitmentMismatch);
}

#[test]
fn a_reply_of_another_batch_size_is_refused() {
    let (receiver, _) = rot::Receiver::start(batch(0), 2, seed(1)).unwrap();
    let reply = Reply::<Rot>::decode(&vec![0; Reply::<Rot>::encoded_len(3)], 3).unwrap();
    assert!(matches!(receiver.finish(&reply), Err(Usage::CountMismatch { .. })));
}

#[test]
fn batches_and_choices_that_do_not_fit_are_usage_errors() {
    let too_large = Err(Usage::BatchTooLarge { n: 65537, max: 65536 });
    assert_eq!(Rot.sender(batch(0), 65537, seed(1)).map(drop), too_large);
    assert_eq!(Endemic.sender(batch(0), 65537, seed(1)).map(drop), too_large);
    assert_eq!(Rot.receiver(batch(0), Choice::Random(65537), seed(1)).map(drop), too_large);
    let many = Choice::Given(Bits::from_bools([true; 65537]));
    assert_eq!(Endemic.receiver(batch(0), many, seed(1)).map(drop), too_large);
    assert!(rot::Receiver::start(batch(0), 65537, seed(1)).is_err());
    assert!(endemic::Receiver::start(batch(0), Bits::from_bools([true; 65537]), seed(1)).is_err());
    for n in [65537, usize::MAX, usize::MAX / 8] {
        let too_large = Error::Usage(Usage::BatchTooLarge { n, max: 65536 });
        assert_eq!(Blinded::<Endemic>::decode(&[], n).unwrap_err(), too_large);
        assert_eq!(Reply::<Rot>::decode(&[], n).unwrap_err(), too_large);
    }
    let given = Choice::Given(Bits::from_bools([true]));
    assert!(matches!(Rot.receiver(batch(0), given, seed(1)), Err(Usage::Choice { .. })));
    let random = Choice::Random(1);
    assert!(matches!(Endemic.receiver(batch(0), random, seed(1)), Err(Usage::Choice { .. })));
}

/// A malicious sender chooses U and hints, each branch's by itself. The receiver answers all of them
/// alike, with some key and no error, so that nothing depends on its choice; and its b is c ⊕ a
/// whatever the keys are.
#[test]
fn a_malicious_reply_never_makes_the_receiver_abort_or_forces_its_choice() {
    for (zero, one) in [(0x00, 0x00), (0xff, 0x00), (0x00, 0xff), (0x55, 0xaa)] {
        let branches = [[zero; 1088], [one; 1088]].concat().repeat(64);
        for c in [false, true] {
            let choices = Bits::from_bools([c; 64]);
            let (receiver, _) = endemic::Receiver::start(batch(0), choices, seed(1)).unwrap();
            let reply = Reply::<Endemic>::decode(&branches, 64).unwrap();
            assert_eq!(receiver.finish(&reply).unwrap().keys().len(), 64);
        }
        // The same receiver, so the same c, against a = 0 and a = 1.
        let [b, flipped] = [0x00, 0xff].map(|a| {
            let (receiver, _) = rot::Receiver::start(batch(0), 64, seed(1)).unwrap();
            let bytes = [&[7; 32][..], &[a; 8], &branches].concat();
            let reply = Reply::<Rot>::decode(&bytes, 64).unwrap();
            receiver.finish(&reply).unwrap().0.choices().as_bytes().to_vec()
        });
        let ones: u32 = b.iter().map(|byte| byte.count_ones()).sum();
        assert!((12..52).contains(&ones), "{ones} of 64 choices are 1");
        assert!(b.iter().zip(&flipped).all(|(b, flipped)| b ^ flipped == 0xff));
    }
}

/// U of both branches of every instance.
fn branches(reply: &Reply<Endemic>) -> Vec<Vec<u8>> {
    reply.as_bytes().chunks(1088).map(|branch| branch[..1056].to_vec()).collect()
}

fn assert_all_distinct<T: PartialEq>(values: &[T]) {
    for (i, value) in values.iter().enumerate() {
        assert!(!values[..i].contains(value), "value {i} occurs before");
    }
}

/// The attack that the replay tests are for, on a variant in which naive batching makes it work:
/// instances that do not know their number. It fails on the real protocol.
#[test]
fn the_replay_test_sees_naive_batching() {
    let choices = || Bits::from_bools([true]);
    let (_receiver, blinded) = endemic::Receiver::start(batch(0), choices(), seed(1)).unwrap();
    // A naive batch of two is the same instance, with the same coins, run twice.
    let naive = [0, 1].map(|_| endemic::respond(batch(0), &blinded, seed(2)));
    assert_eq!(naive[0].0.pairs()[0], naive[1].0.pairs()[0]);
    let naive_branches: Vec<_> = naive.iter().flat_map(|(_, reply)| branches(reply)).collect();
    assert!(naive_branches[..2].contains(&naive_branches[2]));

    let twice = Blinded::<Endemic>::decode(&blinded.as_bytes().repeat(2), 2).unwrap();
    let (keys, reply) = endemic::respond(batch(0), &twice, seed(2));
    assert_all_distinct(keys.pairs().as_flattened());
    assert_all_distinct(&branches(&reply));
}
