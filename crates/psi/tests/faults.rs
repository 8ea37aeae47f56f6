//! Set intersections with messages lost, late, early, cut or changed.

use foxtrot_ot::{
    Context, Decode, Direction, Seed, Session, Sid,
    base::{Adversary, roted::Endemic},
    engine::Engine,
};
use foxtrot_psi::{
    Digest, Error,
    join::JoinTerms,
    method::protocol::{IntersectionPlan, Receiver, Sender},
    paxos::Parameters,
    vole_psi::{self, Vole},
};

use crate::support::faults::{Case, Run};

/// Sizes of the sets of the receiver, which has multiples of 3, and of the sender, which has multiples of 5.
const OURS: usize = 40;
const THEIRS: usize = 30;

fn digest(k: usize) -> Digest {
    let mut digest = [0x33; 32];
    digest[..8].copy_from_slice(&(k as u64).to_le_bytes());
    digest
}

fn session() -> Session {
    Session::new(Sid::from_bytes([6; 32]))
}

fn seed(byte: u8) -> Seed {
    Seed::from_bytes([byte; 32])
}

fn in_both() -> Vec<u8> {
    let both = (0..OURS).filter(|k| 3 * k % 5 == 0 && 3 * k / 5 < THEIRS);
    both.map(|k| u8::try_from(k).unwrap()).collect()
}

fn parties(plan: IntersectionPlan<'static>) -> (Run<Error>, Run<Error>) {
    let sender = Engine::new(move |io| async move {
        let session = session();
        let party = Sender::set_up(&io, &mut Context::new(&session, seed(1)), plan).await?;
        party.run(&io, (0..THEIRS).map(|k| digest(5 * k)).collect(), &mut |_| ()).await?;
        Ok(Vec::new())
    });
    let receiver = Engine::new(move |io| async move {
        let session = session();
        let party = Receiver::set_up(&io, &mut Context::new(&session, seed(2)), plan).await?;
        let received =
            party.run(&io, (0..OURS).map(|k| digest(3 * k)).collect(), &mut |_| ()).await?;
        Ok(received.intersect()?.iter().map(|&k| u8::try_from(k).unwrap()).collect())
    });
    (sender, receiver)
}

#[test]
fn a_receiver_gets_no_index_of_an_item_outside_the_intersection() {
    for (name, adversary) in
        [("malicious", Adversary::Malicious), ("semi-honest", Adversary::SemiHonest)]
    {
        let parameters = Parameters::new(adversary, OURS, THEIRS).unwrap();
        let direction = Direction::InitiatorSends;
        let plan = IntersectionPlan {
            parameters: parameters.into(),
            base: &Endemic,
            direction,
            counter: 0,
        };
        let case = Case {
            name,
            checked: adversary == Adversary::Malicious,
            parties: Box::new(move || parties(plan)),
            right: Box::new(|_, receiver| receiver == in_both()),
            // The sender may change its tags: it takes items out of its set.
            harmless: Box::new(|_, receiver| receiver.iter().all(|k| in_both().contains(k))),
            is_length: |error| {
                matches!(error, Error::Protocol(foxtrot_ot::Error::Decode(Decode::Length { .. })))
            },
        };
        case.check(usize::MAX);
    }
}

#[test]
fn a_receiver_with_vole_gets_no_index_of_an_item_outside_the_intersection() {
    for (name, vole) in
        [("silent", Vole::Silent), ("semi-honest", Vole::Small), ("packed", Vole::Packed)]
    {
        let parameters = vole_psi::Parameters::of(vole, OURS, THEIRS).unwrap();
        let (base, direction) = (&Endemic, Direction::InitiatorSends);
        let plan = IntersectionPlan { parameters: parameters.into(), base, direction, counter: 0 };
        let case = Case {
            name,
            checked: vole != Vole::Small,
            parties: Box::new(move || parties(plan)),
            right: Box::new(|_, receiver| receiver == in_both()),
            // Changed sums or tags take items out of a set.
            harmless: Box::new(|_, receiver| receiver.iter().all(|k| in_both().contains(k))),
            is_length: |error| {
                matches!(error, Error::Protocol(foxtrot_ot::Error::Decode(Decode::Length { .. })))
            },
        };
        case.check(usize::MAX);
    }
}

/// The payload of the sender's item k.
fn payload(k: usize) -> [u8; 9] {
    core::array::from_fn(|i| u8::try_from(9 * k % 200 + i).unwrap())
}

/// Outputs are the sender's matches; the receiver's, each before its payload.
fn parties_of_a_join(plan: IntersectionPlan<'static>) -> (Run<Error>, Run<Error>) {
    let terms = JoinTerms::NONE.payload(9).unwrap().both();
    let sender = Engine::new(move |io| async move {
        let session = session();
        let mut cx = Context::new(&session, seed(1));
        let party = Sender::set_up(&io, &mut cx, plan).await?;
        let items = (0..THEIRS).map(|k| digest(5 * k)).collect();
        let mut fill = |k: usize, to: &mut [u8]| {
            to.copy_from_slice(&payload(k));
            Ok(())
        };
        let found = party.join(&io, items, terms, &mut fill, &mut |_| ()).await?;
        Ok(found.iter().map(|&k| u8::try_from(k).unwrap()).collect())
    });
    let receiver = Engine::new(move |io| async move {
        let session = session();
        let mut cx = Context::new(&session, seed(2));
        let party = Receiver::set_up(&io, &mut cx, plan).await?;
        let (items, mut store) = ((0..OURS).map(|k| digest(3 * k)).collect(), Vec::new());
        let joined = party.join(&io, items, terms, &mut store, &mut |_| ()).await?;
        let mut payloads = Vec::new();
        joined.open(&mut store, |k, payload| payloads.push((k, payload.to_vec())))?;
        payloads.sort_unstable();
        let record = |(k, payload): (usize, Vec<u8>)| [vec![u8::try_from(k).unwrap()], payload];
        Ok(payloads.into_iter().flat_map(record).flatten().collect())
    });
    (sender, receiver)
}

#[test]
fn a_join_gives_payloads_of_matches_and_no_others() {
    let parameters = vole_psi::Parameters::of(Vole::Packed, OURS, THEIRS).unwrap();
    let (base, direction) = (&Endemic, Direction::InitiatorSends);
    let plan = IntersectionPlan { parameters: parameters.into(), base, direction, counter: 0 };
    let own = |record: &[u8]| {
        let k = usize::from(record[0]);
        in_both().contains(&record[0]) && record[1..] == payload(3 * k / 5)
    };
    let of_sender =
        |k: &u8| (5 * usize::from(*k)).is_multiple_of(3) && 5 * usize::from(*k) / 3 < OURS;
    let case = Case {
        name: "join",
        checked: true,
        parties: Box::new(move || parties_of_a_join(plan)),
        right: Box::new(move |sender, receiver| {
            receiver.len() == 10 * in_both().len()
                && receiver.chunks(10).all(own)
                && sender.len() == in_both().len()
                && sender.iter().all(of_sender)
        }),
        // Changed sums or tags take items out of a set.
        harmless: Box::new(move |sender, receiver| {
            receiver.chunks(10).all(own) && sender.iter().all(of_sender)
        }),
        is_length: |error| {
            matches!(error, Error::Protocol(foxtrot_ot::Error::Decode(Decode::Length { .. })))
        },
    };
    case.check(usize::MAX);
}
