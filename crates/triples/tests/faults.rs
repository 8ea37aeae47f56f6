//! Triples with messages lost, late, early, cut or changed.

use crate::support::faults::{Case, Run};
use foxtrot_ot::{Context, Decode, Seed, Session, Sid, base::roted::Endemic, engine::Engine};
use foxtrot_triples::{
    Error, Shares,
    formats::{record_len, write_records, wrong_records},
    gilboa,
    params::{Set, TOY, TOY_LIFT},
    rlwe,
};

/// Batches of triples from ring-LWE, and triples from OTs.
const BATCHES: u64 = 4;
const TRIPLES: u64 = 70;

/// About so many messages of a run are lost, cut and changed.
const MOST: usize = 20;

fn session() -> Session {
    Session::new(Sid::from_bytes([6; 32]))
}

fn seed(we_are_initiator: bool) -> Seed {
    Seed::from_bytes([if we_are_initiator { 1 } else { 2 }; 32])
}

fn add(bits: u32, shares: &Shares, records: &mut Vec<u8>) {
    let start = records.len();
    records.resize(start + shares.len() * record_len(bits), 0);
    write_records(shares, &mut records[start..]);
}

/// Checks a protocol that makes so many triples; the function makes a party of it, the initiator or the other one.
fn check(
    name: &'static str,
    bits: u32,
    triples: usize,
    party: impl Fn(bool) -> Run<Error> + Copy + 'static,
) {
    let right = move |ours: &[u8], theirs: &[u8]| {
        let len = triples * record_len(bits);
        (ours.len(), theirs.len()) == (len, len)
            && wrong_records(bits, ours, theirs).next().is_none()
    };
    let case = Case {
        name,
        checked: false,
        parties: Box::new(move || (party(true), party(false))),
        right: Box::new(right),
        harmless: Box::new(right),
        is_length: |error| {
            matches!(error, Error::Protocol(foxtrot_ot::Error::Decode(Decode::Length { .. })))
        },
    };
    case.check(MOST);
}

fn check_rlwe(set: &'static Set) {
    use rlwe::protocol::{RlwePlan, RlweRun};

    let triples = set.usable() * usize::try_from(BATCHES).unwrap();
    check(set.name(), set.bits(), triples, move |we_are_initiator| {
        Engine::new(move |io| async move {
            let (session, mut records) = (session(), Vec::new());
            let mut context = Context::new(&session, seed(we_are_initiator));
            let plan = RlwePlan { set, we_are_initiator, batches: 0..BATCHES };
            let party = RlweRun::set_up(&io, &mut context, plan).await?;
            let sink = |shares: &Shares| {
                add(set.bits(), shares, &mut records);
                Ok(())
            };
            party.run(&io, sink).await?;
            Ok(records)
        })
    });
}

#[test]
fn lost_late_cut_or_changed_messages_harm_no_triples_of_ring_lwe_with_the_fix() {
    check_rlwe(&TOY);
}

#[test]
fn lost_late_cut_or_changed_messages_harm_no_lifted_triples_of_ring_lwe() {
    check_rlwe(&TOY_LIFT);
}

#[test]
fn lost_late_cut_or_changed_messages_harm_no_triples_of_ots() {
    use gilboa::protocol::{GilboaPlan, GilboaRun};

    let set = gilboa::of_bits(64, gilboa::DEFAULT_K).unwrap();
    let triples = usize::try_from(TRIPLES).unwrap();
    check("gilboa", set.bits(), triples, move |we_are_initiator| {
        Engine::new(move |io| async move {
            let (session, mut records) = (session(), Vec::new());
            let mut context = Context::new(&session, seed(we_are_initiator));
            let plan = GilboaPlan { set, base: &Endemic, we_are_initiator, count: TRIPLES };
            let party = GilboaRun::set_up(&io, &mut context, plan).await?;
            let sink = |shares: &Shares| {
                add(set.bits(), shares, &mut records);
                Ok(())
            };
            party.run(&io, sink).await?;
            Ok(records)
        })
    });
}
