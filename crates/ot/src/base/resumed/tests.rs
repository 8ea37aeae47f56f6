extern crate std;

use std::{borrow::ToOwned, format};

use serde_json::Value;

use super::*;
use crate::{Error, Sid, base::roted::Endemic, pair::Pair};

const N: usize = 12;

fn session(byte: u8) -> Session {
    Session::new(Sid::from_bytes([byte; 32]))
}

/// The keys of a session of two parties.
fn run(byte: u8, ours: &Kept, theirs: &Kept) -> Result<(SenderKeys, ReceiverKeys), Error> {
    let choice = Choice::Given(Bits::from_bools((0..N).map(|i| i % 3 == 0)));
    let sender = ours.sender(session(byte), N, Seed::from_bytes([8; 32]))?;
    let receiver = theirs.receiver(session(byte), choice, Seed::from_bytes([9; 32]))?;
    Pair::new(sender, receiver).run().map_err(|(_party, e)| e)
}

fn copy(state: &State) -> State {
    State::from_bytes(state.n(), &state.to_bytes()).unwrap()
}

/// The states of both parties after a first session.
fn kept() -> [State; 2] {
    let [ours, theirs] = [Kept::fresh(&Endemic), Kept::fresh(&Endemic)];
    run(1, &ours, &theirs).unwrap();
    [ours, theirs].map(|it| it.into_state().unwrap())
}

fn resume(state: &State) -> Kept {
    Kept::resume(&Endemic, copy(state))
}

fn fit((pairs, chosen): &(SenderKeys, ReceiverKeys)) -> usize {
    let key = |i: usize| pairs.pairs()[i][usize::from(chosen.choices().get(i).unwrap_u8())];
    (0..N).filter(|&i| key(i) == chosen.keys()[i]).count()
}

#[test]
fn a_resumed_session_has_other_keys_and_the_same_choices_without_a_message() {
    let [ours, theirs] = kept();
    let first = run(2, &resume(&ours), &resume(&theirs)).unwrap();
    let again = run(3, &resume(&ours), &resume(&theirs)).unwrap();
    assert_eq!([fit(&first), fit(&again)], [N; 2]);
    // A state that comes back gives no key twice.
    for (one, other) in first.0.pairs().iter().zip(again.0.pairs()) {
        assert!(one.iter().all(|key| !other.contains(key)));
    }
    assert!(first.1.choices() == again.1.choices());
    let mut engine = resume(&ours).sender(session(4), N, Seed::from_bytes([8; 32])).unwrap();
    assert!(matches!(engine.advance(), Ok(crate::engine::Progress::Done(_))));
    assert!(engine.outgoing().is_none());
}

#[test]
fn states_follow_one_another_and_those_out_of_order_do_not_fit() {
    let [ours, theirs] = kept();
    let (sender, receiver) = (resume(&ours), resume(&theirs));
    assert_eq!(fit(&run(2, &sender, &receiver).unwrap()), N);
    let [later, others] = [sender, receiver].map(|it| it.into_state().unwrap());
    assert_eq!(fit(&run(3, &resume(&later), &resume(&others)).unwrap()), N);
    assert_eq!(fit(&run(3, &resume(&later), &resume(&theirs)).unwrap()), 0);
    assert_eq!(fit(&run(3, &resume(&ours), &resume(&others)).unwrap()), 0);
    // Of the next state the one before does not follow: the stored secrets differ.
    assert!(*later.to_bytes() != *ours.to_bytes());
}

#[test]
fn a_state_serves_once_and_only_its_party() {
    let [ours, theirs] = kept();
    let seed = || Seed::from_bytes([8; 32]);
    let once = resume(&ours);
    drop(once.sender(session(2), N, seed()).unwrap());
    assert!(matches!(once.sender(session(2), N, seed()), Err(Usage::SessionEnded)));
    assert!(resume(&theirs).sender(session(2), N, seed()).is_err());
    let choice = Choice::Given(Bits::from_bools([true; N]));
    assert!(resume(&ours).receiver(session(2), choice, seed()).is_err());
    let fewer = resume(&ours).sender(session(2), N - 1, seed());
    assert!(matches!(fewer, Err(Usage::CountMismatch { expected: 11, got: 12, .. })));
    // Nothing is kept of a run that does not come to its end.
    let fresh = Kept::fresh(&Endemic);
    drop(fresh.sender(session(2), N, seed()).unwrap());
    assert!(fresh.into_state().is_none());
}

#[test]
fn states_are_decoded_strictly_and_shown_to_nobody() {
    for state in kept() {
        let bytes = state.to_bytes();
        assert!(*copy(&state).to_bytes() == *bytes);
        assert!(State::from_bytes(N, &bytes[..bytes.len() - 1]).is_err());
        assert!(State::from_bytes(N, &[&bytes[..], &[0]].concat()).is_err());
        assert!(State::from_bytes(N + 1, &bytes).is_err());
        assert!(State::from_bytes(0, &bytes).is_err() && State::from_bytes(N, &[]).is_err());
        // A file names this number.
        for n in [usize::MAX, usize::MAX / 2 + 1, usize::MAX / 16 + 1] {
            assert!(State::from_bytes(n, &bytes).is_err());
            assert!(State::from_bytes(n, &bytes[..1]).is_err());
        }
        let mut other_role = bytes.to_vec();
        other_role[0] = 2;
        assert!(State::from_bytes(N, &other_role).is_err());
        assert_eq!(format!("{state:?}"), "State(12 base OTs, <redacted>)");
    }
    let [_, theirs] = kept();
    let mut spare = theirs.to_bytes();
    spare[2] |= 0x80;
    assert!(State::from_bytes(N, &spare).is_err());
}

fn bytes(value: &Value) -> Vec<u8> {
    let hex = value.as_str().unwrap();
    (0..hex.len()).step_by(2).map(|k| u8::from_str_radix(&hex[k..k + 2], 16).unwrap()).collect()
}

fn array<const L: usize>(value: &Value) -> [u8; L] {
    bytes(value).try_into().unwrap()
}

/// The vectors that `reference/` generated (`tests/vectors/resumed.json`). docs/wire: R26-1.
#[test]
fn secrets_keys_and_tickets_match_the_test_vectors() {
    let file = include_str!("../../../tests/vectors/resumed.json");
    let file: Value = serde_json::from_str(file).unwrap();
    let n = usize::try_from(file["n"].as_u64().unwrap()).unwrap();
    let choices = Bits::from_bytes(&bytes(&file["choices"]), n);
    let runs = file["runs"].as_array().unwrap();
    let of = |run: &Value, what: &str| -> Vec<[Block; 2]> {
        let blocks = bytes(&run[what]);
        let pairs = blocks.chunks_exact(32);
        pairs.map(|it| [it[..16].try_into().unwrap(), it[16..].try_into().unwrap()]).collect()
    };
    let chosen = |pairs: &[[Block; 2]]| -> Vec<Block> {
        let bit = |i: usize| usize::from(choices.get(i).unwrap_u8());
        pairs.iter().enumerate().map(|(i, pair)| pair[bit(i)]).collect()
    };
    let hashes = hashes_of(&Session::new(Sid::from_bytes(array(&runs[0]["base_id"]))));
    let made = of(&runs[0], "keys");
    let state = State { choices: None, secrets: Secret(made.as_flattened().to_vec()) };
    let of_sender = state.next(&hashes);
    let first = of(&runs[0], "secrets");
    assert!(*of_sender.secrets == *first.as_flattened());
    let state = State { choices: Some(choices.slice(0..n)), secrets: Secret(chosen(&made)) };
    let of_receiver = state.next(&hashes);
    assert!(*of_receiver.secrets == *chosen(&first));

    let id = || Session::new(Sid::from_bytes(array(&runs[1]["base_id"])));
    let of_sender = Kept::resume(&Endemic, of_sender);
    let of_receiver = Kept::resume(&Endemic, of_receiver);
    let seed = || Seed::from_bytes([8; 32]);
    let choice = Choice::Random(n);
    let sender = of_sender.sender(id(), n, seed()).unwrap();
    let receiver = of_receiver.receiver(id(), choice, seed()).unwrap();
    let (pairs, received) = Pair::new(sender, receiver).run().unwrap();
    assert_eq!(pairs.pairs(), of(&runs[1], "keys"));
    assert_eq!(received.keys(), chosen(pairs.pairs()));
    let secrets = of_sender.into_state().unwrap().to_bytes();
    assert!(secrets[1..] == *of(&runs[1], "secrets").as_flattened().as_flattened());

    for ticket in file["tickets"].as_array().unwrap() {
        let sid = Sid::from_bytes(array(&ticket["sid"]));
        let name = |key: &str| ticket[key].as_str().unwrap().to_owned();
        let [uses, n] = ["uses", "n"].map(|it| ticket[it].as_u64().unwrap());
        let made = MadeUnder {
            terms: array(&ticket["digest"]),
            protocol: name("protocol"),
            extension: name("extension"),
            base: name("base"),
            n: usize::try_from(n).unwrap(),
        };
        let id = made.ticket_id(sid, uses);
        assert_eq!(id, array(&ticket["ticket"]));
    }
}
