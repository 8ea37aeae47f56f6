extern crate std;

mod bins;
mod reference;

use alloc::{vec, vec::Vec};

use foxtrot_ot::{
    Context, Decode, Direction, Seed, Session, Sid, Usage,
    base::{BaseOt, roted::Endemic},
    engine::Engine,
    pair::{Failed, Pair, PairParty},
};

use super::{
    protocol::{CircuitPlan, Progress, receive, send},
    *,
};
use crate::{Digest, Error};

fn digests(range: core::ops::Range<usize>) -> Vec<Digest> {
    let digest = |k: usize| core::array::from_fn(|i| k.to_le_bytes().get(i).copied().unwrap_or(7));
    range.map(digest).collect()
}

/// The number of the sender's item k.
fn number(k: usize) -> u64 {
    (k as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20
}

const LARGEST: u64 = u64::MAX >> 20;

/// Terms of a sum that both learn.
fn sum(largest: u64) -> CircuitTerms {
    CircuitTerms { largest: Some(largest), at_least: 0, both: true }
}

fn plan(terms: CircuitTerms, ours: usize, theirs: usize) -> CircuitPlan {
    let parameters = Parameters::new(terms, ours, theirs).unwrap();
    CircuitPlan { parameters, base: &Endemic, direction: Direction::InitiatorSends, counter: 0 }
}

/// Outcomes of sender and receiver of these sets over a channel that may change messages.
#[expect(clippy::panic_in_result_fn, reason = "a failed assertion is a failed test")]
fn run_over(
    plan: CircuitPlan,
    [ours, theirs]: [Vec<Digest>; 2],
    numbers: Vec<u64>,
    mut channel: impl FnMut(PairParty, &mut Vec<u8>),
) -> Result<(Option<Outcome>, Outcome), Failed<Error>> {
    let session = || Session::new(Sid::from_bytes([8; 32]));
    let seed = |byte| Seed::from_bytes([byte; 32]);
    let mut steps = [0; 2];
    let [by_sender, by_receiver] = &mut steps;
    let sender = Engine::new(|io| async move {
        let session = session();
        let mut tell = |Progress { done, .. }| *by_sender = done;
        send(&io, &mut Context::new(&session, seed(1)), plan, theirs, &numbers, &mut tell).await
    });
    let receiver = Engine::new(|io| async move {
        let session = session();
        let mut tell = |Progress { done, .. }| *by_receiver = done;
        receive(&io, &mut Context::new(&session, seed(2)), plan, ours, &mut tell).await
    });
    let outcomes = Pair::new(sender, receiver).run_over(|party, stream, mut message| {
        channel(party, &mut message);
        vec![(stream, message)]
    })?;
    let all = if plan.parameters.is_trivial() { 0 } else { plan.parameters.steps() };
    assert_eq!(steps, [all; 2]);
    Ok(outcomes)
}

/// Runs on sets of these sizes with so many common items.
fn run(terms: CircuitTerms, [ours, theirs, common]: [usize; 3]) -> (Option<Outcome>, Outcome) {
    let first = ours - common;
    let sets = [digests(0..ours), digests(first..first + theirs)];
    let numbers = terms.largest.map_or(0..0, |_| 0..theirs).map(number).collect();
    let plan = plan(terms, ours, theirs);
    let mut sent = [0; 2];
    let outcomes = run_over(plan, sets, numbers, |party, message| {
        sent[usize::from(party == PairParty::Receiver)] += message.len();
    });
    let (parameters, info) = (plan.parameters, Endemic.info());
    if ours > 0 && theirs > 0 {
        // The base OTs of the VOLE, of the look-ups, and of the other OTs of either direction.
        let [there, back] = [(info.receiver_bytes)(128), (info.sender_bytes)(128)];
        let sum = usize::from(terms.largest.is_some());
        let sender = parameters.sender_bytes() + 3 * there + sum * back;
        let receiver = parameters.receiver_bytes() + 3 * back + sum * there;
        assert_eq!(sent, [sender, receiver], "{parameters:?}");
    } else {
        assert_eq!(sent, [0, 0]);
    }
    outcomes.unwrap()
}

/// The outcome by plain computation.
fn plain(terms: CircuitTerms, common: usize) -> Outcome {
    if (common as u64) < terms.at_least {
        return Outcome::Withheld;
    }
    let sum = terms.largest.map(|_| (0..common).map(number).sum());
    Outcome::Released { count: common as u64, sum }
}

#[test]
fn counts_and_sums_match_plain_computation_at_awkward_sizes() {
    let sizes = [
        [0, 0, 0],
        [0, 3, 0],
        [3, 0, 0],
        [1, 1, 0],
        [1, 1, 1],
        [2, 2, 1],
        [3, 3, 3],
        [3, 40, 2],
        [255, 255, 255],
        [256, 256, 0],
        [257, 257, 100],
        [1023, 17, 17],
        [1025, 4097, 500],
        // Slots take more memory than the silent protocols.
        [3, 40_000, 2],
    ];
    for terms in [CircuitTerms::default(), sum(LARGEST)] {
        for [ours, theirs, common] in sizes {
            let (sent, received) = run(terms, [ours, theirs, common]);
            let expected = plain(terms, common);
            assert_eq!(received, expected, "{ours} {theirs} {common}");
            assert_eq!(sent, terms.both.then_some(expected));
        }
    }
}

#[test]
fn a_result_is_withheld_below_the_threshold_and_given_at_it() {
    for common in [0, 1, 20, 60] {
        for threshold in [0, 1, common - usize::from(common > 0), common, common + 1, usize::MAX] {
            let terms = CircuitTerms { at_least: threshold as u64, ..sum(LARGEST) };
            let (sent, received) = run(terms, [60, 70, common]);
            assert_eq!(received, plain(terms, common), "{common} {threshold}");
            assert_eq!(sent, Some(received));
        }
    }
}

#[test]
fn sums_may_have_all_64_bits_or_none() {
    for largest in [0, 1, u64::MAX] {
        let plan = plan(CircuitTerms { at_least: 1, ..sum(largest) }, 1, 1);
        let sets = [digests(0..1), digests(0..1)];
        let (_, received) = run_over(plan, sets, vec![largest], |_, _| ()).unwrap();
        assert_eq!(received, Outcome::Released { count: 1, sum: Some(largest) });
    }
}

/// Below the threshold, the numbers that are opened are zero for whatever was counted.
#[test]
fn shares_of_a_withheld_result_open_to_nothing() {
    let opened = |common: usize| {
        let terms = CircuitTerms { at_least: 50, ..sum(LARGEST) };
        let sets = [digests(0..60), digests(60 - common..130 - common)];
        let numbers = (0..70).map(number).collect();
        let mut last = [Vec::new(), Vec::new()];
        run_over(plan(terms, 60, 70), sets, numbers, |party, message| {
            last[usize::from(party == PairParty::Receiver)].clone_from(message);
        })
        .unwrap();
        let [ours, theirs] = last;
        assert_eq!((ours.len(), theirs.len()), (24, 24));
        ours.iter().zip(&theirs).map(|(one, other)| one ^ other).collect::<Vec<_>>()
    };
    assert_eq!(opened(0), [0; 24]);
    assert_eq!(opened(49), [0; 24]);
    assert_ne!(opened(50), [0; 24]);
}

#[test]
fn sums_that_may_overflow_and_numbers_that_are_too_large_are_refused() {
    let largest = u64::MAX / 3;
    let terms = sum(largest);
    assert!(Parameters::new(terms, 3, 100).is_ok());
    let refused = Usage::SumTooLarge { largest, items: 4 };
    assert_eq!(Parameters::new(terms, 4, 100), Err(refused));
    assert!(Parameters::new(sum(u64::MAX), 1, 1).is_ok());
    let n = MAX_ITEMS + 1;
    let too_large = Usage::BatchTooLarge { n, max: MAX_ITEMS };
    assert_eq!(Parameters::new(CircuitTerms::default(), 1, n), Err(too_large));

    let plan = plan(sum(9), 2, 2);
    let refused = |numbers: Vec<u64>| {
        let session = Session::new(Sid::from_bytes([8; 32]));
        let mut sender = Engine::new(|io| async move {
            let mut cx = Context::new(&session, Seed::from_bytes([1; 32]));
            send(&io, &mut cx, plan, digests(0..2), &numbers, &mut |_| ()).await
        });
        let error = sender.advance().unwrap_err();
        assert_eq!(sender.outgoing(), None);
        error
    };
    assert_eq!(refused(vec![9, 10]), Usage::NumberTooLarge { largest: 9 }.into());
    let missing = Usage::CountMismatch { what: "numbers", expected: 2, got: 1 };
    assert_eq!(refused(vec![9]), missing.into());
}

#[test]
fn messages_of_another_length_are_refused() {
    let terms = sum(LARGEST);
    let sets = || [digests(0..30), digests(20..60)];
    let numbers = || (0..40).map(number).collect::<Vec<_>>();
    let mut lens = Vec::new();
    run_over(plan(terms, 30, 40), sets(), numbers(), |party, message| {
        lens.push((party, message.len()));
    })
    .unwrap();
    // All messages after the OTs of the second direction.
    for at in lens.len() - 30..lens.len() {
        for longer in [true, false] {
            let mut number = 0;
            let ended = run_over(plan(terms, 30, 40), sets(), numbers(), |_, message| {
                if number == at {
                    let len = if longer { message.len() + 1 } else { message.len() - 1 };
                    message.resize(len, 0);
                }
                number += 1;
            });
            let length = matches!(
                ended,
                Err(Failed::Party(
                    party,
                    Error::Protocol(foxtrot_ot::Error::Decode(Decode::Length { .. }))
                )) if party != lens[at].0
            );
            assert!(length, "{at} of {}: {ended:?}", lens.len());
        }
    }
}

#[test]
fn ones_behind_the_last_column_are_refused() {
    let plan = plan(CircuitTerms::default(), 30, 40);
    let len = plan.parameters.slots_len();
    let ended = run_over(plan, [digests(0..30), digests(20..60)], Vec::new(), |party, message| {
        if party == PairParty::Sender && message.len() == len {
            message[len - 1] |= 0x80;
        }
    });
    let refused = Decode::SpareBits { message: "Slots" }.into();
    let refused = Err(Failed::Party(PairParty::Receiver, Error::Protocol(refused)));
    assert_eq!(ended, refused);
}
