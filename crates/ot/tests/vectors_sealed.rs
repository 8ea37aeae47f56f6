//! `Sealed`, messages under the keys of OTs, as `reference/` made it (`vectors/sealed.json`).

use foxtrot_ot::{
    Session, Sid,
    base::Block,
    convert::{Format, Receiver, Sender},
};
use serde_json::Value;
use zeroize::Zeroizing;

fn vectors() -> Value {
    serde_json::from_str(include_str!("vectors/sealed.json")).unwrap()
}

fn bytes(value: &Value) -> Vec<u8> {
    let hex = value.as_str().unwrap();
    (0..hex.len()).step_by(2).map(|k| u8::from_str_radix(&hex[k..k + 2], 16).unwrap()).collect()
}

fn number(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

fn session(vectors: &Value) -> Session {
    let sid = Sid::from_bytes(bytes(&vectors["sid"]).try_into().unwrap());
    Session::new(sid).sub("chosen-messages", 0, Default::default())
}

/// The parts of a run that are sealed: L, and keys and messages of all transfers, one transfer
/// after another.
struct Run {
    length: usize,
    of: usize,
    keys: Vec<Block>,
    messages: Vec<Vec<u8>>,
}

impl Run {
    fn of(session: &Session, vector: &Value) -> Self {
        let [length, n, of] = ["length", "transfers", "one_of"].map(|name| number(&vector[name]));
        let at = |k: usize| ((k / of) as u64, (k % of) as u64);
        let key = |k| {
            let (i, j) = at(k);
            let oracle = session.oracle("foxtrot v1 test key");
            oracle.query(i, 0).field(&j.to_le_bytes()).finish()
        };
        let message = |k| {
            let (i, j) = at(k);
            let oracle = session.oracle("foxtrot v1 test message");
            let all: Vec<u8> = oracle.query(i, 0).field(&j.to_le_bytes()).finish::<MOST>().into();
            let len = (7 * i + 11 * j) % (length as u64 + 1);
            all[..usize::try_from(len).unwrap()].to_vec()
        };
        let (keys, messages) = (0..n * of).map(|k| (key(k), message(k))).unzip();
        Self { length, of, keys, messages }
    }

    /// Choices that are not those of every transfer alike.
    fn chosen(&self) -> Vec<usize> {
        (0..self.keys.len() / self.of).map(|i| (2 * i + 1) % self.of).collect()
    }

    fn expected(&self) -> Vec<&Vec<u8>> {
        let chosen = self.chosen().into_iter().enumerate();
        chosen.map(|(i, j)| &self.messages[i * self.of + j]).collect()
    }

    fn received_keys(&self) -> Vec<Block> {
        let chosen = self.chosen().into_iter().enumerate();
        chosen.map(|(i, j)| self.keys[i * self.of + j]).collect()
    }
}

/// No message of the vectors is longer.
const MOST: usize = 4096;

fn assert_frames(frames: &[Vec<u8>], vector: &Value) {
    let lengths: Vec<usize> = frames.iter().map(Vec::len).collect();
    let expected = vector["lengths"].as_array().unwrap();
    assert_eq!(lengths, expected.iter().map(number).collect::<Vec<_>>());
    for (frame, hash) in frames.iter().zip(vector["frames_blake3"].as_array().unwrap()) {
        assert_eq!(blake3::hash(frame).as_bytes().as_slice(), bytes(hash));
    }
    for (k, whole) in vector.get("frames").iter().flat_map(|it| it.as_array().unwrap()).enumerate()
    {
        assert_eq!(frames[k], bytes(whole));
    }
}

fn assert_sealed_and_opened(vectors: &Value, vector: &Value, format: impl Fn(&Run) -> Format) {
    let run = Run::of(&session(vectors), vector);
    let format = format(&run);
    let chosen = Zeroizing::new(run.chosen().into_iter().map(|j| j as u64).collect());
    let keys = Zeroizing::new(run.received_keys());
    let mut sender = Sender::new(session(vectors), format, run.length).unwrap();
    let mut receiver = Receiver::new(session(vectors), format, run.length, chosen, keys).unwrap();
    let per_frame = format.messages_per_frame(run.length);
    let parts = run.keys.chunks(per_frame).zip(run.messages.chunks(per_frame));
    let frames: Vec<_> =
        parts.map(|(keys, messages)| sender.seal(keys, messages).unwrap()).collect();
    assert_frames(&frames, vector);

    frames.iter().for_each(|frame| receiver.take(frame).unwrap());
    let opened = receiver.finish().unwrap().open();
    assert!(
        opened.map(|message| message.unwrap().to_vec()).eq(run.expected().into_iter().cloned())
    );
}

#[test]
fn pairs_are_sealed_and_opened_as_in_the_vectors() {
    let vectors = vectors();
    for vector in vectors["pairs"].as_array().unwrap() {
        assert_sealed_and_opened(&vectors, vector, |_| Format::Pairs);
    }
}

#[test]
fn one_of_n_is_sealed_and_opened_as_in_the_vectors() {
    let vectors = vectors();
    for vector in vectors["of_n"].as_array().unwrap() {
        assert_sealed_and_opened(&vectors, vector, |run| Format::OneOf(run.of));
    }
}
