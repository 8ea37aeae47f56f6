//! Chosen messages over ideal keys.
#![allow(clippy::cast_possible_truncation, reason = "contents that wrap are as good as others")]

use foxtrot_ot::{
    Bits, Decode, Error, Misbehaved, Seed, Session, Sid, Usage,
    base::{ReceiverKeys, SenderKeys},
    convert::{MAX_MESSAGE, Receiver, Sender, frame_len, transfers_per_frame},
    ideal,
};

const LEN: usize = 20;

fn session(byte: u8) -> Session {
    Session::new(Sid::from_bytes([byte; 32]))
}

fn keys(n: usize) -> (SenderKeys, ReceiverKeys) {
    ideal::given(Bits::from_bools((0..n).map(|i| i % 3 == 0)), &Seed::from_bytes([5; 32]))
}

/// Lengths from 0 to LEN, contents that tell transfers and branches apart.
fn messages(n: usize) -> Vec<[Vec<u8>; 2]> {
    (0..n).map(|i| [0, 1].map(|j| vec![(2 * i + j) as u8; (i + 7 * j) % (LEN + 1)])).collect()
}

fn transfer(n: usize, tamper: impl Fn(&mut Vec<u8>)) -> Result<Vec<Vec<u8>>, Error> {
    let (sender_keys, receiver_keys) = keys(n);
    let mut sender = Sender::new(session(1), LEN)?;
    let mut receiver = Receiver::new(session(1), LEN)?;
    let mut frame = sender.seal(sender_keys.pairs(), &messages(n))?;
    tamper(&mut frame);
    receiver.take(receiver_keys.choices(), receiver_keys.keys(), &frame)?;
    Ok(receiver.open()?.iter().map(|m| m.to_vec()).collect())
}

#[test]
fn the_receiver_gets_exactly_the_chosen_messages() {
    for n in [0, 1, 50] {
        let expected: Vec<Vec<u8>> = messages(n)
            .iter()
            .enumerate()
            .map(|(i, pair)| pair[usize::from(i % 3 == 0)].clone())
            .collect();
        assert_eq!(transfer(n, |_| {}).unwrap(), expected);
    }
}

#[test]
fn frames_continue_where_the_last_one_ended() {
    let (sender_keys, receiver_keys) = keys(10);
    let all = messages(10);
    let mut sender = Sender::new(session(1), LEN).unwrap();
    let mut receiver = Receiver::new(session(1), LEN).unwrap();
    let mut frames = Vec::new();
    for range in [0..3, 3..10] {
        let frame = sender.seal(&sender_keys.pairs()[range.clone()], &all[range.clone()]).unwrap();
        assert_eq!(frame.len(), frame_len(range.len(), LEN));
        let choices = receiver_keys.choices().slice(range.clone());
        receiver.take(&choices, &receiver_keys.keys()[range], &frame).unwrap();
        frames.extend(frame);
    }
    assert_eq!(receiver.open().unwrap().len(), 10);
    // The same bytes as one frame of ten: framing is not part of the encryption.
    let whole = Sender::new(session(1), LEN).unwrap().seal(sender_keys.pairs(), &all).unwrap();
    assert_eq!(whole, frames);
}

#[test]
fn a_changed_chosen_message_fails_the_run_and_an_unchosen_one_does_not() {
    let sealed = LEN + 20;
    for position in 0..2 * sealed {
        // Transfer 0 chooses branch 1.
        let result = transfer(3, |frame| frame[position] ^= 0x10);
        if position >= sealed {
            assert_eq!(result.unwrap_err(), Error::Misbehaved(Misbehaved::MessageAuthentication));
        } else {
            assert_eq!(result.unwrap().len(), 3);
        }
    }
}

#[test]
fn ciphertexts_cannot_be_moved_to_another_transfer_branch_or_session() {
    let sealed = LEN + 20;
    let swapped_branches = transfer(1, |frame| frame.rotate_left(sealed));
    let swapped_transfers = transfer(2, |frame| frame.rotate_left(2 * sealed));
    for result in [swapped_branches, swapped_transfers] {
        assert_eq!(result.unwrap_err(), Error::Misbehaved(Misbehaved::MessageAuthentication));
    }
    let (sender_keys, receiver_keys) = keys(1);
    let frame =
        Sender::new(session(1), LEN).unwrap().seal(sender_keys.pairs(), &messages(1)).unwrap();
    let mut receiver = Receiver::new(session(2), LEN).unwrap();
    receiver.take(receiver_keys.choices(), receiver_keys.keys(), &frame).unwrap();
    assert_eq!(receiver.open().unwrap_err(), Misbehaved::MessageAuthentication);
}

#[test]
fn lengths_are_hidden_and_wrong_ones_refused() {
    let (sender_keys, receiver_keys) = keys(1);
    let frame = |text: &[u8]| {
        let mut sender = Sender::new(session(1), LEN).unwrap();
        sender.seal(sender_keys.pairs(), &[[text, text]]).unwrap()
    };
    assert_eq!(frame(b"").len(), frame(&[7; LEN]).len());
    let mut receiver = Receiver::new(session(1), LEN).unwrap();
    for wrong in [0, 1, 2 * (LEN + 20) - 1, 2 * (LEN + 20) + 1] {
        let error = receiver.take(receiver_keys.choices(), receiver_keys.keys(), &vec![0; wrong]);
        assert!(matches!(error, Err(Error::Decode(Decode::Length { .. }))));
    }
    let mut sender = Sender::new(session(1), LEN).unwrap();
    let long = sender.seal(sender_keys.pairs(), &[[&[0u8; LEN + 1][..], &[]]]);
    assert_eq!(long, Err(Usage::MessageTooLong { transfer: 0, len: LEN + 1, max: LEN }));
    assert!(matches!(
        sender.seal::<&[u8]>(sender_keys.pairs(), &[]),
        Err(Usage::CountMismatch { .. })
    ));
    assert!(Sender::new(session(1), MAX_MESSAGE + 1).is_err());
}

#[test]
fn frames_stay_near_a_mebibyte() {
    assert_eq!(transfers_per_frame(0), 1024);
    assert_eq!(transfers_per_frame(492), 1024);
    assert_eq!(transfers_per_frame(493), 1022);
    assert_eq!(transfers_per_frame(MAX_MESSAGE), 1);
}

#[test]
fn a_frame_refuses_more_transfers_than_its_limit() {
    let (sender_keys, receiver_keys) = keys(1025);
    let too_many = Usage::BatchTooLarge { n: 1025, max: 1024 };
    let mut sender = Sender::new(session(1), LEN).unwrap();
    assert_eq!(sender.seal(sender_keys.pairs(), &messages(1025)), Err(too_many));
    let mut receiver = Receiver::new(session(1), LEN).unwrap();
    let taken = receiver.take(receiver_keys.choices(), receiver_keys.keys(), &[]);
    assert_eq!(taken, Err(Error::Usage(too_many)));
}
