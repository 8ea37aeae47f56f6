//! A session that counts or adds up over an intersection, whose every frame the fuzzer changes: both parties end, and errors are not
//! of their own making. The protocol is semi-honest: with changed frames the result may be any.
#![no_main]

use foxtrot_fuzz::{
    base_ot,
    live::{Changes, session},
};
use foxtrot_net::{drive, hello::Agreement};
use foxtrot_ot::Session;
use foxtrot_psi::{
    Digest,
    circuit::{
        CircuitTerms, Outcome, Parameters,
        protocol::{CircuitPlan, receive, send},
    },
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u8, u8, u8, u8, bool, [Changes; 2])| {
    let (how, ours, first, theirs, threshold, short, changes) = input;
    let digests = |first: u8, n: u8| -> Vec<Digest> {
        (u16::from(first)..)
            .take(n.into())
            .map(|k| [k.to_le_bytes(); 16].concat().try_into().unwrap())
            .collect()
    };
    let (ours, theirs) = (digests(0, ours), digests(first, theirs));
    let largest = (how % 2 == 1).then_some(255);
    let terms = CircuitTerms { largest, at_least: threshold.into(), both: how / 2 % 2 == 1 };
    let numbers: Vec<u64> = match terms.largest {
        Some(_) => theirs.iter().map(|item| item[0].into()).collect(),
        None => Vec::new(),
    };
    let common = || theirs.iter().filter(|item| ours.contains(item));
    let sum = terms.largest.map(|_| common().map(|item| u64::from(item[0])).sum());
    let expected = match common().count() as u64 {
        count if count < terms.at_least => Outcome::Withheld,
        count => Outcome::Released { count, sum },
    };
    let parameters = Parameters::new(terms, ours.len(), theirs.len()).unwrap();
    let ended = session(
        changes,
        |channel, agreement| {
            let session = Session::new(agreement.sid);
            let (mut cx, plan) = (drive::context(&session)?, plan(parameters, short, agreement));
            let (items, numbers) = (theirs.clone(), numbers.clone());
            drive::play(channel, |io| async move {
                send(&io, &mut cx, plan, items, &numbers, &mut |_| ()).await
            })
        },
        |channel, agreement| {
            let session = Session::new(agreement.sid);
            let (mut cx, plan) = (drive::context(&session)?, plan(parameters, short, agreement));
            let items = ours.clone();
            drive::play(channel, |io| async move {
                receive(&io, &mut cx, plan, items, &mut |_| ()).await
            })
        },
    );
    let tampered = ended.tampered;
    if let Some((sent, received)) = ended.both() {
        let of_sender = terms.both.then_some(expected);
        assert!(tampered || received == expected && sent == of_sender);
    }
});

fn plan(parameters: Parameters, short: bool, agreement: &Agreement) -> CircuitPlan {
    CircuitPlan { parameters, base: base_ot(short), direction: agreement.direction(), counter: 0 }
}
