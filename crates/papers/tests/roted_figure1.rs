//! Tests of the properties that `roted_figure1` still has: its checks, and separate batches and
//! instances. Attacks on the others are in `roted_faults`.

use foxtrot_ot::{
    Bits, Decode, Direction, Error, Misbehaved, Seed, Session, Sid, Usage,
    base::{self, BaseOt, Choice, Functionality},
};
use foxtrot_papers::{
    base_ots,
    roted_figure1::{Blinded, Figure1, Opening, Receiver, Reply, Sender},
};

fn batch(counter: u64) -> Session {
    Session::new(Sid::from_bytes([1; 32])).sub("test", counter, Direction::default())
}

fn seed(byte: u8) -> Seed {
    Seed::from_bytes([byte; 32])
}

/// The messages of an honest run.
fn messages(n: usize) -> (Blinded, Reply, Opening) {
    let (receiver, blinded) = Receiver::start(batch(0), n, seed(1)).unwrap();
    let (_, reply) = Sender::respond(batch(0), &blinded, seed(2));
    let (_, opening) = receiver.finish(&reply).unwrap();
    (blinded, reply, opening)
}

#[test]
fn figure_1_is_not_in_the_registry_of_base_ots() {
    for name in ["roted-figure1", "figure1", "roted"] {
        for functionality in [Functionality::Random, Functionality::Endemic] {
            let found = base::find(name, functionality).map(|base| base.info().name);
            assert!(found != Some("roted-figure1"));
        }
    }
    assert!(base::registry().iter().all(|base| !base.info().reproduction));
    let ours: Vec<_> = base_ots().map(|base| base.info()).filter(|it| it.reproduction).collect();
    assert_eq!(ours.iter().map(|info| info.name).collect::<Vec<_>>(), ["roted-figure1"]);
    assert!(!Figure1.info().caveat.is_empty());
}

#[test]
fn choices_are_not_constant() {
    let (receiver, blinded) = Receiver::start(batch(0), 400, seed(1)).unwrap();
    let (_, reply) = Sender::respond(batch(0), &blinded, seed(2));
    let (keys, _) = receiver.finish(&reply).unwrap();
    let ones: u32 = keys.choices().as_bytes().iter().map(|byte| byte.count_ones()).sum();
    assert!((150..250).contains(&ones), "{ones} of 400 choices are 1");
}

#[test]
fn coefficients_out_of_range_are_refused_with_their_place() {
    let (blinded, reply, _) = messages(3);
    for (instance, offset) in [(0, 0), (1, 17), (2, 894)] {
        let mut bytes = blinded.as_bytes().to_vec();
        bytes[instance * 976 + offset..][..2].fill(0xff);
        let expected = Error::Decode(Decode::Coefficient { message: "Blinded", instance });
        assert_eq!(Blinded::decode(&bytes, 3).unwrap_err(), expected);

        let mut bytes = reply.as_bytes().to_vec();
        bytes[instance * 1072 + offset..][..2].fill(0xff);
        let expected = Error::Decode(Decode::Coefficient { message: "Reply", instance });
        assert_eq!(Reply::decode(&bytes, 3).unwrap_err(), expected);
    }
    // Everything behind the polynomial may be any bytes.
    let mut bytes = reply.into_bytes();
    bytes[896..1072].fill(0xff);
    assert!(Reply::decode(&bytes, 3).is_ok());
}

#[test]
fn every_truncation_and_extension_is_an_error() {
    let (blinded, reply, opening) = messages(2);
    let (blinded, reply, opening) =
        (blinded.into_bytes(), reply.into_bytes(), opening.into_bytes());
    type Try = fn(&[u8]) -> Result<(), Error>;
    let cases: [(&[u8], &str, Try); 3] = [
        (&blinded, "Blinded", |bytes| Blinded::decode(bytes, 2).map(drop)),
        (&reply, "Reply", |bytes| Reply::decode(bytes, 2).map(drop)),
        (&opening, "Opening", |bytes| Opening::decode(bytes, 2).map(drop)),
    ];
    for (bytes, message, decode) in cases {
        assert_eq!(decode(bytes), Ok(()));
        let longer = [bytes, &[0]].concat();
        for wrong in (0..bytes.len()).map(|len| &bytes[..len]).chain([longer.as_slice()]) {
            let expected = Decode::Length { message, expected: bytes.len(), got: wrong.len() };
            assert_eq!(decode(wrong), Err(expected.into()));
        }
    }
}

#[test]
fn an_opening_with_one_wrong_bit_anywhere_gives_no_keys() {
    let (blinded, _, opening) = messages(2);
    let finish = |opening: &[u8]| {
        let (sender, _) = Sender::respond(batch(0), &blinded, seed(2));
        sender.finish(&Opening::decode(opening, 2).unwrap()).map(drop)
    };
    assert_eq!(finish(opening.as_bytes()), Ok(()));
    for bit in 0..8 * opening.as_bytes().len() {
        let mut wrong = opening.as_bytes().to_vec();
        wrong[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(finish(&wrong), Err(Misbehaved::CommitmentMismatch.into()), "bit {bit}");
    }
}

#[test]
fn both_commitments_are_compared_whole() {
    let (blinded, _, opening) = messages(1);
    for bit in 0..8 * 64 {
        let mut wrong = blinded.as_bytes().to_vec();
        wrong[896 + 16 + bit / 8] ^= 1 << (bit % 8);
        let wrong = Blinded::decode(&wrong, 1).unwrap();
        let (sender, _) = Sender::respond(batch(0), &wrong, seed(2));
        let finished = sender.finish(&opening).map(drop);
        assert_eq!(finished, Err(Misbehaved::CommitmentMismatch.into()), "bit {bit}");
    }
}

#[test]
fn messages_of_another_batch_size_are_refused() {
    let (blinded, _, _) = messages(2);
    let (_, reply, opening) = messages(3);
    let (receiver, _) = Receiver::start(batch(0), 2, seed(1)).unwrap();
    assert!(matches!(receiver.finish(&reply), Err(Usage::CountMismatch { .. })));
    let (sender, _) = Sender::respond(batch(0), &blinded, seed(2));
    let finished = sender.finish(&opening);
    assert!(matches!(finished, Err(Error::Usage(Usage::CountMismatch { .. }))));
}

/// Naive batching lets a receiver that sends one message in every instance see the same keys
/// everywhere (McQuoid, Rosulek, Roy, section 3). The figure has no index; this batch has one.
#[test]
fn a_first_message_replayed_in_every_instance_or_another_batch_gives_unrelated_keys() {
    let n = 16;
    let (_, blinded) = Receiver::start(batch(0), 1, seed(1)).unwrap();
    let replayed = Blinded::decode(&blinded.as_bytes().repeat(n), n).unwrap();
    let mut values = Vec::new();
    for counter in [0, 1] {
        // Even a sender that reused its seed would not repeat itself.
        let (_, reply) = Sender::respond(batch(counter), &replayed, seed(2));
        for instance in reply.as_bytes().chunks(1072) {
            // p_S and both confirmations, which are hashes of the strings.
            values.extend([0..896, 896..912, 912..928].map(|part| instance[part].to_vec()));
        }
    }
    for (k, value) in values.iter().enumerate() {
        assert!(!values[..k].contains(value), "value {k} occurs before");
    }
    // A commitment names its instance and its batch: the replayed opening opens only the first.
    let (receiver, _) = Receiver::start(batch(0), 1, seed(1)).unwrap();
    let (_, reply) = Sender::respond(batch(0), &blinded, seed(2));
    let (_, opening) = receiver.finish(&reply).unwrap();
    let opening = opening.into_bytes();
    let (sender, _) = Sender::respond(batch(0), &replayed, seed(2));
    let finished = sender.finish(&Opening::decode(&opening.repeat(n), n).unwrap());
    assert_eq!(finished.unwrap_err(), Misbehaved::CommitmentMismatch.into());
    let (sender, _) = Sender::respond(batch(1), &blinded, seed(2));
    let finished = sender.finish(&Opening::decode(&opening, 1).unwrap());
    assert_eq!(finished.unwrap_err(), Misbehaved::CommitmentMismatch.into());
}

#[test]
fn batches_and_choices_that_do_not_fit_are_usage_errors() {
    let too_large = Err(Usage::BatchTooLarge { n: 65537, max: 65536 });
    assert_eq!(Figure1.sender(batch(0), 65537, seed(1)).map(drop), too_large);
    assert_eq!(Figure1.receiver(batch(0), Choice::Random(65537), seed(1)).map(drop), too_large);
    assert_eq!(Receiver::start(batch(0), 65537, seed(1)).map(drop), too_large);
    for n in [65537, usize::MAX, usize::MAX / 8] {
        let too_large = Error::Usage(Usage::BatchTooLarge { n, max: 65536 });
        assert_eq!(Blinded::decode(&[], n).unwrap_err(), too_large);
        assert_eq!(Reply::decode(&[], n).unwrap_err(), too_large);
        assert_eq!(Opening::decode(&[], n).unwrap_err(), too_large);
    }
    let given = Choice::Given(Bits::from_bools([true]));
    assert!(matches!(Figure1.receiver(batch(0), given, seed(1)), Err(Usage::Choice { .. })));
}
