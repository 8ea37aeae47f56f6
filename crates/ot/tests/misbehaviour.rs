//! What a peer, or the network, can do to `base::roted`: every test is an attack that fails.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use foxtrot_ot::{
    Bits, Decode, Direction, Error, Misbehaved, Seed, Session, Sid, Usage,
    base::{
        self, BaseOt, Choice, Functionality,
        roted::{Blinded, Endemic, Opening, Reply, Rot, endemic, rot},
    },
    pair::{Pair, Party},
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
) -> Result<(base::SenderKeys, base::ReceiverKeys), (Party, Error)> {
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

/// No key of the receiver is a key of the sender.
fn unusable(sender: &base::SenderKeys, receiver: &base::ReceiverKeys) -> bool {
    let all = sender.pairs().as_flattened();
    receiver.keys().iter().all(|key| !all.contains(key))
}

#[test]
fn a_flipped_byte_ends_the_run_or_spoils_every_key() {
    for base in base::registry() {
        for (number, len) in message_lengths(*base, 2).into_iter().enumerate() {
            for position in 0..len {
                for flip in [0x01, 0x80, 0xff] {
                    match run_tampered(*base, 2, number, |m| m[position] ^= flip) {
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

#[test]
fn a_truncated_or_extended_message_is_an_error_that_names_it() {
    for base in base::registry() {
        for (number, len) in message_lengths(*base, 2).into_iter().enumerate() {
            let name = ["Blinded", "Reply", "Opening"][number];
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
    let (_, blinded) =
        endemic::Receiver::start(batch(0), Bits::from_bools([true; 3]), seed(1)).unwrap();
    for (instance, offset) in [(0, 0), (1, 1296 + 416), (2, 2 * 1296 + 1248 - 2)] {
        let mut bytes = blinded.as_bytes().to_vec();
        bytes[offset..offset + 2].fill(0xff);
        let expected = Decode::Coefficient { message: "Blinded", instance };
        assert_eq!(Blinded::<Endemic>::decode(&bytes, 3).unwrap_err(), expected);
    }
}

#[test]
fn spare_bits_after_the_senders_bits_are_refused() {
    let (_, blinded) = rot::Receiver::start(batch(0), 3, seed(1)).unwrap();
    let (_, reply) = rot::Sender::respond(batch(0), &blinded, seed(2));
    let mut bytes = reply.into_bytes();
    bytes[32] |= 0x08;
    assert_eq!(
        Reply::<Rot>::decode(&bytes, 3).unwrap_err(),
        Decode::SpareBits { message: "Reply" }
    );
}

#[test]
fn a_commitment_that_does_not_open_gives_no_keys() {
    let (receiver, blinded) = rot::Receiver::start(batch(0), 4, seed(1)).unwrap();
    let (sender, reply) = rot::Sender::respond(batch(0), &blinded, seed(2));
    let _opening = receiver.finish(&reply).unwrap();
    let wrong = Opening::decode(&[0; 32]).unwrap();
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
    let (keys, _) = endemic::respond(batch(0), &replayed, seed(2));
    assert_all_distinct(keys.pairs().as_flattened());

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
    let chunks = |reply: &Reply<Endemic>| -> Vec<Vec<u8>> {
        reply.as_bytes().chunks(1088).map(<[u8]>::to_vec).collect()
    };
    for (a, b) in chunks(&first_reply).iter().zip(chunks(&second_reply)) {
        assert_ne!(a, &b);
    }
    assert_eq!(first.pairs().len(), n);

    let (_receiver, blinded) = rot::Receiver::start(batch(0), n, seed(1)).unwrap();
    let (sender, _) = rot::Sender::respond(batch(1), &blinded, seed(2));
    // The commitment is bound to the batch too: the replayed opening does not open there.
    let (receiver, again) = rot::Receiver::start(batch(0), n, seed(1)).unwrap();
    assert_eq!(again, blinded);
    let (_, reply) = rot::Sender::respond(batch(0), &blinded, seed(2));
    let (_, opening) = receiver.finish(&reply).unwrap();
    assert_eq!(sender.finish(&opening).unwrap_err(), Misbehaved::CommitmentMismatch);
}

#[test]
fn a_reply_of_another_batch_size_does_not_fit() {
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
    let given = Choice::Given(Bits::from_bools([true]));
    assert!(matches!(Rot.receiver(batch(0), given, seed(1)), Err(Usage::Choice { .. })));
    let random = Choice::Random(1);
    assert!(matches!(Endemic.receiver(batch(0), random, seed(1)), Err(Usage::Choice { .. })));
}

/// A malicious sender chooses U: zero, all ones, the same for both branches. The receiver answers
/// all of them alike, with some key and no error, so that nothing depends on its choice.
#[test]
fn a_malicious_reply_never_makes_the_receiver_abort() {
    for fill in [0x00, 0xff, 0x55] {
        for c in [false, true] {
            let choices = Bits::from_bools([c; 4]);
            let (receiver, _) = endemic::Receiver::start(batch(0), choices, seed(1)).unwrap();
            let bytes = vec![fill; Reply::<Endemic>::encoded_len(4)];
            let reply = Reply::<Endemic>::decode(&bytes, 4).unwrap();
            assert_eq!(receiver.finish(&reply).unwrap().keys().len(), 4);
        }
    }
}

fn assert_all_distinct(keys: &[base::Block]) {
    for (i, key) in keys.iter().enumerate() {
        assert!(!keys[..i].contains(key), "key {i} occurs before");
    }
}
