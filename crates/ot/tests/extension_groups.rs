//! Batches that are computed at once: what one after another gives, and no output where one of them
//! is spoilt.

use std::sync::Arc;

use crate::support::extension as support;
use crate::support::threads::Threads;
use foxtrot_ot::{
    Bits, Decode, Error, Misbehaved, Usage,
    base::{Adversary, Block, Choice},
    extension::{
        Challenge, Extension, OtKind, Places, Receiver, Sender, Shape, Unanswered, find, softspoken,
    },
};
use support::{absorb, answer, base, bit, bits, seed, session, states, verify};

/// More than there are threads, in all ways uneven.
fn choices() -> Vec<Choice> {
    let random = [3000, 0, 1, 5000].map(Choice::Random);
    let given = [1, 2000, 513].map(|n| Choice::Given(bits(n, 3)));
    random.into_iter().chain(given).collect()
}

/// All that is sent and put out: messages, and for each batch the choices and what both have.
#[derive(Debug, PartialEq)]
struct Transcript {
    corrections: Vec<Vec<u8>>,
    challenges: Vec<Option<[u8; 32]>>,
    proofs: Vec<Vec<u8>>,
    choices: Vec<Bits>,
    received: Vec<Vec<Block>>,
    sent: Vec<Vec<[Block; 2]>>,
}

/// Groups of that many batches, on so many threads.
fn run(extension: Extension, kind: OtKind, group: usize, threads: usize) -> Transcript {
    let (pairs, chosen) = base();
    let session = || session().with_executor(Arc::new(Threads(threads)));
    let (mut receiver, setup) = Receiver::new(session(), extension, pairs, seed(5)).unwrap();
    let mut sender = Sender::new(session(), extension, chosen, &setup, seed(6)).unwrap();
    let mut all = Transcript {
        corrections: Vec::new(),
        challenges: Vec::new(),
        proofs: Vec::new(),
        choices: Vec::new(),
        received: Vec::new(),
        sent: Vec::new(),
    };
    let mut rest = choices();
    while !rest.is_empty() {
        let choices: Vec<_> = rest.drain(..group.min(rest.len())).collect();
        let shapes: Vec<_> = choices.iter().map(Shape::of).collect();
        // Something that must not show in the message.
        let mut corrections = vec![vec![0xa5; 100]; shapes.len()];
        let begun = choices.into_iter().zip(&mut corrections).collect();
        let unanswered = receiver.extend(begun).unwrap();
        let messages: Vec<_> =
            shapes.iter().copied().zip(corrections.iter().map(Vec::as_slice)).collect();
        let absorbed = sender.absorb(&messages).unwrap();
        let (unverified, challenges): (Vec<_>, Vec<_>) = absorbed.into_iter().unzip();

        let mut keys: Vec<_> = shapes.iter().map(|shape| vec![[0; 16]; shape.n()]).collect();
        let batches = unanswered.into_iter().zip(&challenges).zip(&mut keys);
        let batches = batches.map(|((batch, challenge), keys)| {
            (batch, challenge.as_slice().as_flattened(), keys.as_mut_slice())
        });
        let answered = receiver.finish(kind, batches.collect()).unwrap();
        let (chosen, proofs): (Vec<_>, Vec<_>) = answered.into_iter().unzip();

        let mut pairs: Vec<_> = shapes.iter().map(|shape| vec![[[0; 16]; 2]; shape.n()]).collect();
        let mut rows = keys.clone();
        let places = pairs.iter_mut().zip(&mut rows).map(|(pairs, rows)| match kind {
            OtKind::Random => Places::Random(pairs),
            OtKind::Correlated => Places::Correlated(rows),
        });
        let batches = unverified.into_iter().zip(&proofs).zip(places);
        let batches = batches.map(|((batch, proof), places)| (batch, proof.as_slice(), places));
        sender.finish(batches.collect()).unwrap();
        if kind == OtKind::Correlated {
            pairs =
                rows.into_iter().map(|rows| rows.into_iter().map(|q| [q; 2]).collect()).collect();
        }
        all.corrections.extend(corrections);
        all.challenges.extend(challenges);
        all.proofs.extend(proofs);
        all.choices.extend(chosen);
        all.received.extend(keys);
        all.sent.extend(pairs);
    }
    all
}

#[test]
fn parallel_batches_match_sequential_batches() {
    for (name, adversary) in [
        ("softspoken-3", Adversary::Malicious),
        ("softspoken-8", Adversary::Malicious),
        ("kos", Adversary::Malicious),
        ("softspoken-2", Adversary::SemiHonest),
        ("iknp", Adversary::SemiHonest),
    ] {
        let extension = find(name, adversary).unwrap();
        for kind in [OtKind::Random, OtKind::Correlated] {
            let alone = run(extension, kind, 1, 1);
            assert_eq!(alone.sent.len(), choices().len());
            let batches = alone.choices.iter().zip(alone.received.iter().zip(&alone.sent));
            for (choices, (keys, pairs)) in batches.filter(|_| kind == OtKind::Random) {
                let mut ots = keys.iter().zip(pairs).enumerate();
                assert!(ots.all(|(i, (key, pair))| pair[usize::from(bit(choices, i))] == *key));
            }
            for threads in [1, 2, 3] {
                for group in [1, 2, 5, 100] {
                    let at_once = run(extension, kind, group, threads);
                    assert!(at_once == alone, "{name}, {kind:?}, {group} on {threads} threads");
                }
            }
        }
    }
}

fn on_threads(threads: usize) -> (Receiver, Sender) {
    let session = || session().with_executor(Arc::new(Threads(threads)));
    states(softspoken::malicious(4).unwrap(), session)
}

/// The corrections of so many batches of 700.
fn begin(receiver: &mut Receiver, batches: usize) -> (Vec<Unanswered>, Vec<Vec<u8>>) {
    let mut corrections = vec![Vec::new(); batches];
    let choices = corrections.iter_mut().map(|message| (Choice::Random(700), message));
    (receiver.extend(choices.collect()).unwrap(), corrections)
}

/// The proofs of batches of 700.
fn answer_all(
    receiver: &mut Receiver,
    unanswered: Vec<Unanswered>,
    challenges: &[Option<Challenge>],
) -> Vec<Vec<u8>> {
    let mut keys = vec![vec![[0; 16]; 700]; unanswered.len()];
    let batches = unanswered.into_iter().zip(challenges).zip(&mut keys);
    let batches = batches.map(|((batch, challenge), keys)| {
        (batch, challenge.as_slice().as_flattened(), keys.as_mut_slice())
    });
    let answered = receiver.finish(OtKind::Random, batches.collect()).unwrap();
    answered.into_iter().map(|(_, proof)| proof).collect()
}

fn of_shape(corrections: &[Vec<u8>]) -> Vec<(Shape, &[u8])> {
    corrections.iter().map(|message| (Shape::random(700), message.as_slice())).collect()
}

#[test]
fn one_proof_that_fails_leaves_all_batches_without_output_and_the_sender_without_delta() {
    let spoil: [fn(&mut Vec<u8>); 2] = [|proof| proof[40] ^= 1, |proof| proof.truncate(9)];
    let got = 9;
    let length = Decode::Length { message: "Proof", expected: 1064, got };
    let errors = [Error::from(Misbehaved::ConsistencyCheck), Error::from(length)];
    let ended = Error::from(Usage::SessionEnded);
    for threads in [1, 2, 3] {
        for (spoil, error) in spoil.into_iter().zip(errors) {
            let (mut receiver, mut sender) = on_threads(threads);
            let (unanswered, corrections) = begin(&mut receiver, 7);
            let absorbed = sender.absorb(&of_shape(&corrections)).unwrap();
            let (unverified, challenges): (Vec<_>, Vec<_>) = absorbed.into_iter().unzip();
            let mut proofs = answer_all(&mut receiver, unanswered, &challenges);
            spoil(&mut proofs[3]);

            let mut keys = vec![vec![[[0; 16]; 2]; 700]; 7];
            let batches = unverified.into_iter().zip(&proofs).zip(&mut keys);
            let batches =
                batches.map(|((batch, proof), keys)| (batch, &proof[..], Places::Random(keys)));
            let mut batches: Vec<_> = batches.collect();
            let last = batches.pop().unwrap();
            assert_eq!(sender.finish(batches), Err(error));

            assert_eq!(sender.delta().map(drop), Err(Usage::SessionEnded));
            assert_eq!(sender.finish(vec![last]), Err(ended));
            assert!(keys.iter().flatten().flatten().all(|key| *key == [0; 16]));
            let (_, corrections) = begin(&mut receiver, 1);
            assert_eq!(sender.absorb(&of_shape(&corrections)).map(drop), Err(ended));
        }
    }
}

#[test]
fn the_error_of_the_first_failing_batch_is_returned() {
    let (mut receiver, mut sender) = on_threads(2);
    let (_, corrections) = begin(&mut receiver, 4);
    let absorbed = sender.absorb(&of_shape(&corrections)).unwrap();
    let proofs = [vec![0; 1064], vec![0; 3], vec![0; 1064], vec![0; 2]];
    let mut keys = vec![vec![[[0; 16]; 2]; 700]; 4];
    let batches = absorbed.into_iter().zip(&proofs).zip(&mut keys);
    let batches =
        batches.map(|(((batch, _), proof), keys)| (batch, &proof[..], Places::Random(keys)));
    let first = Error::from(Misbehaved::ConsistencyCheck);
    assert_eq!(sender.finish(batches.collect()), Err(first));
}

#[test]
fn a_message_of_the_wrong_length_refuses_the_whole_group() {
    let (mut receiver, mut sender) = on_threads(2);
    let (_, mut corrections) = begin(&mut receiver, 3);
    let last = corrections[2].pop().unwrap();
    let (expected, got) = (corrections[0].len(), corrections[2].len());
    let length = Decode::Length { message: "Corrections", expected, got };
    assert_eq!(sender.absorb(&of_shape(&corrections)).map(drop), Err(length.into()));
    // None has been taken: the same group, whole, has the numbers that it would have had.
    corrections[2].push(last);
    let absorbed = sender.absorb(&of_shape(&corrections)).unwrap();
    let (_, mut other) = on_threads(1);
    let expected =
        corrections.iter().map(|it| absorb(&mut other, Shape::random(700), it).unwrap().1);
    assert!(absorbed.into_iter().map(|(_, challenge)| challenge).eq(expected));
}

#[test]
fn choices_for_too_large_a_batch_refuse_the_whole_group() {
    let (mut receiver, _) = on_threads(2);
    let (mut one, mut other) = (Vec::new(), Vec::new());
    let batches = vec![(Choice::Random(700), &mut one), (Choice::Random(65473), &mut other)];
    let refused = receiver.extend(batches).map(drop);
    assert_eq!(refused, Err(Usage::BatchTooLarge { n: 65473, max: 65472 }));
    assert!(one.is_empty() && other.is_empty());
    let (_, corrections) = begin(&mut receiver, 1);
    assert_eq!(corrections, begin(&mut on_threads(1).0, 1).1);
}

#[test]
fn a_foreign_batch_or_a_wrong_number_of_places_keeps_all_output_back() {
    let extension = softspoken::malicious(4).unwrap();
    let foreign = || {
        let (mut receiver, setup) = Receiver::new(
            session().sub("other", 1, Default::default()),
            extension,
            base().0,
            seed(5),
        )
        .unwrap();
        let other = session().sub("other", 1, Default::default());
        let mut sender = Sender::new(other, extension, base().1, &setup, seed(6)).unwrap();
        let (mut unanswered, corrections) = begin(&mut receiver, 1);
        let mut absorbed = sender.absorb(&of_shape(&corrections)).unwrap();
        (unanswered.pop().unwrap(), absorbed.pop().unwrap().0)
    };
    let (mut receiver, mut sender) = on_threads(2);
    let (mut unanswered, corrections) = begin(&mut receiver, 2);
    let (mut batches, challenges): (Vec<_>, Vec<_>) =
        sender.absorb(&of_shape(&corrections)).unwrap().into_iter().unzip();

    let (own, mut keys) = (begin(&mut receiver, 1).0.pop().unwrap(), [[[0; 16]; 700]; 2]);
    let with_another = [own, foreign().0].into_iter().zip(&mut keys);
    let with_another = with_another.map(|(batch, keys)| (batch, &[0; 32][..], &mut keys[..]));
    let refused = receiver.finish(OtKind::Random, with_another.collect()).map(drop);
    assert_eq!(refused, Err(Usage::ForeignBatch.into()));
    assert!(keys.as_flattened().iter().all(|key| *key == [0; 16]));
    let refused = verify(&mut sender, 700, foreign().1, &[0; 1064]);
    assert_eq!(refused, Err(Usage::ForeignBatch.into()));

    // Neither has harmed the others.
    let last = (unanswered.pop().unwrap(), batches.pop().unwrap());
    let proofs = answer_all(&mut receiver, unanswered, &challenges[..1]);
    verify(&mut sender, 700, batches.pop().unwrap(), &proofs[0]).unwrap();
    let wrong = Usage::CountMismatch { what: "places for keys", expected: 700, got: 699 };
    let challenge = challenges[1].as_slice().as_flattened();
    assert_eq!(answer(&mut receiver, 699, last.0, challenge), Err(wrong.into()));
    assert_eq!(verify(&mut sender, 699, last.1, &[0; 1064]), Err(wrong.into()));

    let (unanswered, corrections) = begin(&mut receiver, 2);
    let (batches, challenges): (Vec<_>, Vec<_>) =
        sender.absorb(&of_shape(&corrections)).unwrap().into_iter().unzip();
    let (mut right, mut short) = (vec![[0; 16]; 700], vec![[0; 16]; 699]);
    let places = [&mut right, &mut short].map(Vec::as_mut_slice);
    let challenges = challenges.iter().map(|it| it.as_slice().as_flattened());
    let all = unanswered.into_iter().zip(challenges).zip(places);
    let all = all.map(|((batch, challenge), places)| (batch, challenge, places)).collect();
    assert_eq!(receiver.finish(OtKind::Random, all), Err(wrong.into()));
    assert!(right.iter().all(|key| *key == [0; 16]));
    let (mut right, mut short) = (vec![[[0; 16]; 2]; 700], vec![[[0; 16]; 2]; 699]);
    let places = [&mut right, &mut short].map(|keys| Places::Random(keys));
    let all =
        batches.into_iter().zip(places).map(|(batch, places)| (batch, &[0; 1064][..], places));
    assert_eq!(sender.finish(all.collect()), Err(wrong.into()));
    assert!(right.iter().flatten().all(|key| *key == [0; 16]));
}
