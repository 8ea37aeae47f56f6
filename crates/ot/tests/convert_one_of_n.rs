//! One of N chosen messages over keys.
#![allow(clippy::cast_possible_truncation, reason = "contents that wrap are as good as others")]

use foxtrot_ot::{
    Decode, Error, Misbehaved, Session, Sid, Usage,
    base::Block,
    convert::{
        MAX_MESSAGE,
        one_of_n::{Receiver, Sender, frame_len, messages_per_frame},
    },
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

/// n transfers of one of `choices`, of which transfer i takes 5i.
#[allow(clippy::panic_in_result_fn, reason = "a failed assertion is a failed test")]
fn transfer(
    n: usize,
    choices: usize,
    tamper: impl Fn(usize, &mut Vec<u8>),
) -> Result<Vec<Vec<u8>>, Error> {
    let chosen: Vec<u64> = (0..n).map(|i| (5 * i % choices) as u64).collect();
    let received: Vec<Block> =
        chosen.iter().enumerate().map(|(i, &j)| key(i * choices + j as usize)).collect();
    let mut sender = Sender::new(session(1), LEN, choices)?;
    let mut receiver = Receiver::new(session(1), LEN, choices, Zeroizing::new(chosen))?;
    let all: Vec<usize> = (0..n * choices).collect();
    for (number, some) in all.chunks(messages_per_frame(LEN)).enumerate() {
        let keys: Vec<Block> = some.iter().map(|&k| key(k)).collect();
        let messages: Vec<Vec<u8>> = some.iter().map(|&k| message(k)).collect();
        let mut frame = sender.seal(&keys, &messages)?;
        tamper(number, &mut frame);
        assert_eq!(receiver.next_frame_len(), Some(frame_len(some.len(), LEN)));
        receiver.take(&frame)?;
    }
    assert_eq!(receiver.next_frame_len(), None);
    Ok(receiver.open(&received)?.iter().map(|m| m.to_vec()).collect())
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
        assert_eq!(spoilt.is_err(), chosen, "byte {at}");
        if chosen {
            assert_eq!(spoilt.unwrap_err(), Misbehaved::MessageAuthentication.into());
        }
    }
}

#[test]
fn keys_and_messages_are_bound_to_transfer_choice_and_session() {
    let one = |session_byte: u8, skip: usize| {
        let mut sender = Sender::new(session(session_byte), LEN, 3).unwrap();
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
    let mut receiver = Receiver::new(session(1), LEN, 3, Zeroizing::new(vec![0, 1])).unwrap();
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
    assert_eq!(Sender::new(session(1), MAX_MESSAGE + 1, 3).map(drop), Err(too_long));
    assert_eq!(Sender::new(session(1), 1, 0).map(drop), Err(Usage::Choices { choices: 0 }));
    let mut sender = Sender::new(session(1), LEN, 3).unwrap();
    let count = Usage::CountMismatch { what: "messages", expected: 2, got: 1 };
    assert_eq!(sender.seal(&[[0; 16]; 2], &[b""]), Err(count));
    let too_long = Usage::MessageTooLong { transfer: 0, len: LEN + 1, max: LEN };
    assert_eq!(sender.seal(&[[0; 16]], &[vec![0; LEN + 1]]), Err(too_long));
    let most = messages_per_frame(MAX_MESSAGE);
    assert_eq!(most, 1);
    let mut sender = Sender::new(session(1), MAX_MESSAGE, 3).unwrap();
    let refused = Usage::BatchTooLarge { n: 2, max: 1 };
    assert_eq!(sender.seal(&[[0; 16]; 2], &[b"", b""]), Err(refused));
    for chosen in [vec![3], vec![0, u64::MAX, 1], vec![2, 1, 3]] {
        let refused = Receiver::new(session(1), LEN, 3, Zeroizing::new(chosen)).map(drop);
        assert_eq!(refused, Err(Usage::NoSuchChoice { choices: 3 }));
    }
}

#[test]
fn a_frame_that_is_refused_has_not_been_sealed() {
    let frame = |refuse: bool| {
        let mut sender = Sender::new(session(1), LEN, 3).unwrap();
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
    let receiver = |taken: usize| {
        // 26214 messages to a frame: of two transfers of 20000, in two frames.
        let chosen = Zeroizing::new(vec![0, 19_999]);
        let mut receiver = Receiver::new(session(1), LEN, 20_000, chosen).unwrap();
        for _ in 0..taken {
            let len = receiver.next_frame_len().unwrap();
            receiver.take(&vec![0; len]).unwrap();
        }
        receiver
    };
    let count = |what, got| Err(Usage::CountMismatch { what, expected: 2, got }.into());
    for (taken, complete) in [(0, 0), (1, 1)] {
        assert_eq!(receiver(taken).open(&[[0; 16]; 2]), count("transfers", complete));
    }
    for keys in [1, 3] {
        assert_eq!(receiver(2).open(&vec![[0; 16]; keys]), count("keys", keys));
    }
    let unsealed = Err(Misbehaved::MessageAuthentication.into());
    assert_eq!(receiver(2).open(&[[0; 16]; 2]), unsealed);
}
