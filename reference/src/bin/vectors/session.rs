//! The contents of `session.json`. What the entries are stands there, under `about`.

use super::{array, bytes, number_array, object, pattern, string};
use foxtrot_reference::oracle::sub_session_id;
use foxtrot_reference::roted::{
    Mode, receiver_blind, receiver_finish, sender_finish, sender_reply,
};
use foxtrot_reference::sealed::pairs;
use foxtrot_reference::session::{Side, agree, received, transcript};

const PROVENANCE: &str = "schoolbook implementation, written from docs/wire.md and what it names: \
    cargo run --release -p foxtrot-reference --bin vectors session \
    > crates/net/tests/vectors/session.json";

const ABOUT: [&str; 4] = [
    "All byte strings are hexadecimal. Whole sessions of the job ot without TLS, from the hello to the closing: two transfers, one with \
     the sender as the initiator and one with the receiver.",
    "nonces: of the initiator and the responder. sender_seed, receiver_seed: of the batch of roted-endemic. choices: of the receiver. \
     messages: of the sender, message j of transfer i at 2 i + j.",
    "initiator, responder: the frames that each side sends, in order; lanes: their lanes. A frame on the wire has its length (u32) and \
     lane (u8) before it.",
    "sid: the session's id. transcript: what both sides compare at the end.",
];

const MESSAGES: [&str; 4] = ["zero", "one", "", "four"];
const LENGTH: usize = 4;
const CHOICES: [bool; 2] = [true, false];

pub(super) fn vectors() -> String {
    let file = object(&[
        ("provenance", string(PROVENANCE)),
        ("wire_version", "1".to_string()),
        ("about", array(ABOUT.map(string))),
        ("sessions", array([true, false].map(session_vector))),
    ]);
    file + "\n"
}

fn session_vector(sender_opens: bool) -> String {
    let terms = [
        ("adversary", "malicious"),
        ("base", "roted-endemic"),
        ("count", "2"),
        ("extension", "none"),
        ("format", "text"),
        ("job", "ot"),
    ];
    let [nonce, other] = [pattern(0), pattern(32)];
    let sender =
        Side { role: 0, nonce, terms: &terms, offers: &[], details: &[("message-length", "4")] };
    let receiver = Side { role: 1, nonce: other, terms: &terms, offers: &[], details: &[] };
    let sides = if sender_opens { [&sender, &receiver] } else { [&receiver, &sender] };
    let agreed = agree(sides);

    let direction = u8::from(!sender_opens);
    let id = sub_session_id(&agreed.sid, 0, direction, "roted-endemic");
    let [receiver_seed, sender_seed] = [pattern(64), pattern(96)];
    let (state, blinded) = receiver_blind(Mode::Endemic, &id, 2, &CHOICES, &receiver_seed);
    let (sending, reply) = sender_reply(Mode::Endemic, &id, 2, &blinded, &sender_seed);
    let keys = receiver_finish(state, &reply).keys;
    let both_keys = sender_finish(sending, &[]);
    assert!((0..2).all(|i| keys[i] == both_keys[i][usize::from(CHOICES[i])]));
    let id = sub_session_id(&agreed.sid, 0, direction, "chosen-messages");
    let message = |k: usize| MESSAGES[k].as_bytes().to_vec();
    let messages = [[message(0), message(1)], [message(2), message(3)]];
    let mut senders = vec![(1, reply)];
    senders.extend(pairs(&id, LENGTH, &both_keys, &messages).into_iter().map(|frame| (1, frame)));
    let receivers = vec![(1, blinded)];
    let jobs = if sender_opens { [senders, receivers] } else { [receivers, senders] };

    let transcript = transcript(&agreed.sid, [&jobs[0], &jobs[1]]);
    let all = |side: usize| {
        let mut frames = vec![(0, agreed.hellos[side].clone()), (0, agreed.details[side].clone())];
        frames.extend(jobs[side].clone());
        frames.push((0, received(&transcript)));
        frames
    };
    let frames = |side: usize| array(all(side).iter().map(|(_, payload)| bytes(payload)));
    let lanes = |side: usize| number_array(all(side).iter().map(|(lane, _)| u64::from(*lane)));
    object(&[
        ("initiator_is", string(if sender_opens { "sender" } else { "receiver" })),
        ("nonces", array(sides.map(|side| bytes(&side.nonce)))),
        ("sender_seed", bytes(&sender_seed)),
        ("receiver_seed", bytes(&receiver_seed)),
        ("choices", number_array(CHOICES.map(u64::from))),
        ("messages", array(MESSAGES.map(string))),
        ("initiator", frames(0)),
        ("initiator_lanes", lanes(0)),
        ("responder", frames(1)),
        ("responder_lanes", lanes(1)),
        ("sid", bytes(&agreed.sid)),
        ("transcript", bytes(&transcript)),
    ])
}
