//! One of N chosen messages over keys.
#![allow(clippy::cast_possible_truncation, reason = "contents that wrap are as good as others")]

use foxtrot_ot::{
    Context, Decode, Direction, Seed, Session, Sid, Usage,
    base::{Block, roted::Endemic},
    convert::{Format, MAX_MESSAGE, Receiver, Sender, frame_len},
    engine::{Abandoned, Engine},
    extension::{code::Linear, one_of_n::protocol::Shape, oos, softspoken},
    transfers::{Extension, Method},
};
use zeroize::Zeroizing;

const LEN: usize = 20;

fn session(byte: u8) -> Session {
    Session::new(Sid::from_bytes([byte; 32]))
}

fn key(k: usize) -> Block {
    session(9).oracle("foxtrot test keys").query(k as u64, 0).finish()
}

/// Lengths from 0 to LEN, contents that tell them all apart.
fn message(k: usize) -> Vec<u8> {
    let mut message = k.to_le_bytes()[..3].to_vec();
    message.resize(3 + k % (LEN - 2), k as u8);
    message
}

fn sender(choices: usize) -> Sender {
    Sender::new(session(1), Format::OneOf(choices), LEN).unwrap()
}

fn receiver(choices: usize, chosen: Vec<u64>, keys: Vec<Block>) -> Result<Receiver, Usage> {
    let (chosen, keys) = (Zeroizing::new(chosen), Zeroizing::new(keys));
    Receiver::new(session(1), Format::OneOf(choices), LEN, chosen, keys)
}

/// n transfers of one of `choices`, of which transfer i takes 5i.
fn transfer(
    n: usize,
    choices: usize,
    tamper: impl Fn(usize, &mut Vec<u8>),
) -> Option<Vec<Vec<u8>>> {
    let chosen: Vec<u64> = (0..n).map(|i| (5 * i % choices) as u64).collect();
    let received: Vec<Block> =
        chosen.iter().enumerate().map(|(i, &j)| key(i * choices + j as usize)).collect();
    let (mut sender, mut receiver) =
        (sender(choices), receiver(choices, chosen, received).unwrap());
    let all: Vec<usize> = (0..n * choices).collect();
    for (number, some) in all.chunks(Format::OneOf(choices).messages_per_frame(LEN)).enumerate() {
        let keys: Vec<Block> = some.iter().map(|&k| key(k)).collect();
        let messages: Vec<Vec<u8>> = some.iter().map(|&k| message(k)).collect();
        let mut frame = sender.seal(&keys, &messages).unwrap();
        tamper(number, &mut frame);
        assert_eq!(receiver.next_frame_len(), Some(frame_len(some.len(), LEN)));
        receiver.take(&frame).unwrap();
    }
    assert_eq!(receiver.next_frame_len(), None);
    let opened = receiver.finish().unwrap().open();
    opened.map(|message| message.map(|message| message.to_vec())).collect()
}

#[test]
fn the_receiver_gets_exactly_the_chosen_messages_also_across_frames() {
    // 26214 messages to a frame: of the last two a transfer is in two, and in three.
    for (n, choices) in [(0, 3), (1, 1), (50, 4), (7, 256), (6, 10_000), (2, 60_000)] {
        let expected: Vec<_> = (0..n).map(|i| message(i * choices + 5 * i % choices)).collect();
        assert_eq!(transfer(n, choices, |_, _| ()).unwrap(), expected);
    }
}

#[test]
fn a_changed_message_fails_only_a_receiver_that_chose_it() {
    let sealed = frame_len(1, LEN);
    for at in [0, sealed - 1, sealed, 3 * sealed, 5 * sealed, 6 * sealed - 1] {
        // Transfer 0 of 3 takes 0, and transfer 1 takes 2, message 5.
        let spoilt = transfer(2, 3, |_, frame| frame[at] ^= 1);
        let chosen = at / sealed == 0 || at / sealed == 5;
        assert_eq!(spoilt.is_none(), chosen, "byte {at}");
    }
}

#[test]
fn keys_and_messages_are_bound_to_transfer_choice_and_session() {
    let one = |session_byte: u8, skip: usize| {
        let mut sender = Sender::new(session(session_byte), Format::OneOf(3), LEN).unwrap();
        let before = vec![[7; 16]; skip];
        sender.seal(&before, &vec![Vec::new(); skip]).unwrap();
        sender.seal(&[[1; 16]], &[b"the same".to_vec()]).unwrap()
    };
    let frames = [one(1, 0), one(1, 1), one(1, 3), one(2, 0)];
    for (i, frame) in frames.iter().enumerate() {
        assert!(frames[..i].iter().all(|other| other != frame));
    }
    assert_eq!(one(1, 0), frames[0]);
}

#[test]
fn frames_of_the_wrong_length_are_refused() {
    let mut receiver = receiver(3, vec![0, 1], vec![[0; 16]; 2]).unwrap();
    let expected = frame_len(6, LEN);
    for got in [0, 1, expected - 1, expected + 1] {
        let refused = Decode::Length { message: "Sealed", expected, got };
        assert_eq!(receiver.take(&vec![0; got]), Err(refused.into()));
    }
    receiver.take(&vec![0; expected]).unwrap();
    let refused = Decode::Length { message: "Sealed", expected: 0, got: expected };
    assert_eq!(receiver.take(&vec![0; expected]), Err(refused.into()));
}

#[test]
fn wrong_calls_are_usage_errors() {
    let too_long = Usage::MessageLength { len: MAX_MESSAGE + 1, max: MAX_MESSAGE };
    let of_3 = Format::OneOf(3);
    assert_eq!(Sender::new(session(1), of_3, MAX_MESSAGE + 1).map(drop), Err(too_long));
    let of_none = Sender::new(session(1), Format::OneOf(0), 1).map(drop);
    assert_eq!(of_none, Err(Usage::Choices { choices: 0 }));
    let mut sender = sender(3);
    let count = Usage::CountMismatch { what: "messages", expected: 2, got: 1 };
    assert_eq!(sender.seal(&[[0; 16]; 2], &[b""]), Err(count));
    let too_long = Usage::MessageTooLong { transfer: 0, len: LEN + 1, max: LEN };
    assert_eq!(sender.seal(&[[0; 16]], &[vec![0; LEN + 1]]), Err(too_long));
    let most = of_3.messages_per_frame(MAX_MESSAGE);
    assert_eq!(most, 1);
    let mut sender = Sender::new(session(1), of_3, MAX_MESSAGE).unwrap();
    let refused = Usage::BatchTooLarge { n: 2, max: 1 };
    assert_eq!(sender.seal(&[[0; 16]; 2], &[b"", b""]), Err(refused));
    for chosen in [vec![3], vec![0, u64::MAX, 1], vec![2, 1, 3]] {
        let keys = vec![[0; 16]; chosen.len()];
        let refused = receiver(3, chosen, keys).map(drop);
        assert_eq!(refused, Err(Usage::NoSuchChoice { choices: 3 }));
    }
}

/// Nobody pays for OTs whose messages cannot be sealed.
#[test]
fn a_length_that_no_message_may_have_is_refused_before_anything_is_sent() {
    let (direction, message_len) = (Direction::InitiatorSends, MAX_MESSAGE + 1);
    let too_long = || Usage::MessageLength { len: message_len, max: MAX_MESSAGE }.into();
    for (extension, choices) in [
        (Extension::None, 2),
        (Extension::OneOfTwo(softspoken::malicious(4).unwrap()), 2),
        (Extension::OneOfN(oos::malicious(Linear::Repetition128)), 3),
    ] {
        let method = &Method { base: &Endemic, extension };
        let mut sender = Engine::new(|io| async move {
            let session = session(1);
            let mut cx = Context::new(&session, Seed::from_bytes([2; 32]));
            let (shape, message) = (Shape { n: 5, choices }, |_| Err::<[u8; 0], _>(Abandoned));
            let ignore = &mut |_| ();
            method.send_messages(&io, &mut cx, direction, shape, message_len, message, ignore).await
        });
        assert_eq!(sender.advance().map(drop), Err(too_long()));
        assert_eq!(sender.outgoing(), None);
        let mut receiver = Engine::new(|io| async move {
            let session = session(1);
            let mut cx = Context::new(&session, Seed::from_bytes([3; 32]));
            let picks = Zeroizing::new(vec![0; 5]);
            let ignore = &mut |_| ();
            method
                .receive_messages(&io, &mut cx, direction, choices, message_len, picks, ignore)
                .await
                .map(drop)
        });
        assert_eq!(receiver.advance().map(drop), Err(too_long()));
        assert_eq!(receiver.outgoing(), None);
    }
}

#[test]
fn a_frame_that_is_refused_has_not_been_sealed() {
    let frame = |refuse: bool| {
        let mut sender = sender(3);
        if refuse {
            let too_long = Usage::MessageTooLong { transfer: 0, len: LEN + 1, max: LEN };
            let refused = sender.seal(&[[0; 16]; 2], &[vec![1], vec![0; LEN + 1]]);
            assert_eq!(refused, Err(too_long));
        }
        sender.seal(&[[1; 16]; 2], &[b"one".to_vec(), b"two".to_vec()]).unwrap()
    };
    assert_eq!(frame(true), frame(false));
}

#[test]
fn messages_open_only_after_the_last_frame_and_with_all_keys() {
    // 26214 messages to a frame: of two transfers of 20000, in two frames.
    let receiver = |keys: usize| receiver(20_000, vec![0, 19_999], vec![[0; 16]; keys]);
    let after = |taken: usize| {
        let mut receiver = receiver(2).unwrap();
        for _ in 0..taken {
            let len = receiver.next_frame_len().unwrap();
            receiver.take(&vec![0; len]).unwrap();
        }
        receiver.finish()
    };
    let count = |what, got| Err(Usage::CountMismatch { what, expected: 2, got });
    for (taken, complete) in [(0, 0), (1, 1)] {
        assert_eq!(after(taken).map(drop), count("transfers", complete));
    }
    for keys in [1, 3] {
        assert_eq!(receiver(keys).map(drop), count("keys", keys));
    }
    assert!(after(2).unwrap().open().eq([None, None]));
}
