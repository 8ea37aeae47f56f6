//! Whole sessions, byte for byte as the schoolbook implementation has them.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use core::time::Duration;
use std::{
    io::{self, Write},
    sync::{Arc, Mutex},
    thread,
};

use foxtrot_net::{
    Channel, Lane, drive,
    hello::{self, Agreement, Binding, Hello, Role},
    tcp::{self, Listener},
};
use foxtrot_ot::{
    Bits, Seed, Session,
    base::{BaseOt, Choice, roted::Endemic},
    convert::{self, Format, frame_len},
};
use serde_json::Value;

const LONG: Duration = Duration::from_secs(30);

/// A writer's copy of what it has written.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

struct Logged(Box<dyn Write + Send>, Log);

impl Write for Logged {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.0.write(bytes)?;
        self.1.0.lock().unwrap().extend(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn bytes(value: &Value) -> Vec<u8> {
    let text = value.as_str().unwrap();
    (0..text.len()).step_by(2).map(|k| u8::from_str_radix(&text[k..k + 2], 16).unwrap()).collect()
}

fn array(value: &Value) -> [u8; 32] {
    bytes(value).try_into().unwrap()
}

/// The bytes that a side writes: frames with their headers.
fn stream(frames: &Value, lanes: &Value) -> Vec<u8> {
    let frames = frames.as_array().unwrap().iter().map(bytes);
    let lanes = lanes.as_array().unwrap().iter().map(|lane| lane.as_u64().unwrap());
    let frame = |(payload, lane): (Vec<u8>, u64)| {
        let len = u32::try_from(payload.len()).unwrap().to_le_bytes();
        [&len[..], &[u8::try_from(lane).unwrap()], &payload].concat()
    };
    frames.zip(lanes).flat_map(frame).collect()
}

fn hello(role: Role, nonce: &Value) -> Hello {
    let hello = Hello::new(role)
        .term("job", "ot")
        .term("base", "roted-endemic")
        .term("extension", "none")
        .term("adversary", "malicious")
        .term("count", 2)
        .term("format", "text")
        .with_nonce(array(nonce));
    if role == Role::Sender { hello.detail("message-length", 4) } else { hello }
}

fn sub(agreement: &Agreement, protocol: &str) -> Session {
    Session::new(agreement.sid).sub(protocol, 0, agreement.direction())
}

fn send(vector: &Value, channel: &Channel, agreement: &Agreement) {
    let seed = Seed::from_bytes(array(&vector["sender_seed"]));
    let role = Endemic.sender(sub(agreement, "roted-endemic"), 2, seed).unwrap();
    let keys = drive::run(channel, role).unwrap();
    let messages = vector["messages"].as_array().unwrap();
    let message = |k: usize| messages[k].as_str().unwrap();
    let mut sender =
        convert::Sender::new(sub(agreement, "chosen-messages"), Format::Pairs, 4).unwrap();
    let messages = [message(0), message(1), message(2), message(3)];
    channel
        .send(Lane::PROTOCOL, sender.seal(keys.pairs().as_flattened(), &messages).unwrap())
        .unwrap();
}

fn receive(vector: &Value, channel: &Channel, agreement: &Agreement) {
    let choices: Vec<_> =
        vector["choices"].as_array().unwrap().iter().map(|bit| bit.as_u64() == Some(1)).collect();
    let seed = Seed::from_bytes(array(&vector["receiver_seed"]));
    let choice = Choice::Given(Bits::from_bools(choices.clone()));
    let role = Endemic.receiver(sub(agreement, "roted-endemic"), choice, seed).unwrap();
    let keys = drive::run(channel, role).unwrap();
    let session = sub(agreement, "chosen-messages");
    let chosen = choices.iter().map(|&bit| bit.into()).collect::<Vec<_>>().into();
    let keys = keys.keys().to_vec().into();
    let mut receiver = convert::Receiver::new(session, Format::Pairs, 4, chosen, keys).unwrap();
    let frame = channel.recv(Lane::PROTOCOL, frame_len(4, 4)).unwrap();
    receiver.take(&frame).unwrap();
    for (i, message) in receiver.finish().unwrap().open().enumerate() {
        let expected = vector["messages"][2 * i + usize::from(choices[i])].as_str().unwrap();
        assert_eq!(message.unwrap().as_slice(), expected.as_bytes());
    }
}

#[test]
fn sessions_match_the_schoolbook_implementation() {
    let vectors: Value = serde_json::from_str(include_str!("vectors/session.json")).unwrap();
    assert_eq!(vectors["wire_version"], hello::VERSION);
    for vector in vectors["sessions"].as_array().unwrap() {
        let sender_opens = vector["initiator_is"] == "sender";
        let listener = Listener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().to_string();
        let sockets = [tcp::connect(&address, LONG).unwrap(), listener.accept(LONG).unwrap()];
        let logs = [Log::default(), Log::default()];
        let sides = sockets.into_iter().zip(&logs).zip([true, false]);
        thread::scope(|scope| {
            for ((socket, log), initiator) in sides {
                let through = |out| Box::new(Logged(out, log.clone())) as Box<dyn Write + Send>;
                let channel = socket.open_through(through).unwrap();
                scope.spawn(move || {
                    let sends = initiator == sender_opens;
                    let role = if sends { Role::Sender } else { Role::Receiver };
                    let hello = hello(role, &vector["nonces"][usize::from(!initiator)]);
                    let agreement = hello::exchange(&channel, initiator, &hello).unwrap();
                    assert_eq!(agreement.sid.as_bytes(), &array(&vector["sid"]));
                    let job = if sends { send } else { receive };
                    job(vector, &channel, &agreement);
                    assert_eq!(channel.finish().unwrap(), array(&vector["transcript"]));
                    channel.close().unwrap();
                });
            }
        });
        for (side, log) in ["initiator", "responder"].iter().zip(&logs) {
            let expected = stream(&vector[*side], &vector[format!("{side}_lanes")]);
            assert!(*log.0.lock().unwrap() == expected, "{side}");
        }
    }
}

#[test]
fn digests_of_terms_and_names_of_runs_match_the_schoolbook_implementation() {
    // Of another package, which has it in the repository only.
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../ot/tests/vectors/resumed.json");
    let vectors: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    for vector in vectors["digests"].as_array().unwrap() {
        let has_keys = vector["sender"] != "";
        let keys = ["sender", "receiver"].map(|it| has_keys.then(|| array(&vector[it])));
        for role in [Role::Sender, Role::Receiver] {
            let mut hello = Hello::new(role).term("run", "new").offer("most-keys", 5);
            for entry in vector["terms"].as_array().unwrap().iter().rev() {
                hello = hello.term(entry[0].as_str().unwrap(), entry[1].as_str().unwrap());
            }
            if let [Some(sender), Some(receiver)] = keys {
                let (ours, peer) =
                    if role == Role::Sender { (sender, receiver) } else { (receiver, sender) };
                hello = hello.bound_to(Binding { ours, peer, exporter: [7; 32] });
            }
            assert_eq!(hello.terms_digest(&["run"]), array(&vector["digest"]));
            assert_ne!(hello.terms_digest(&[]), array(&vector["digest"]));
        }
    }
}
