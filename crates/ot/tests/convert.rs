//! Chosen messages over ideal keys.
#![allow(clippy::cast_possible_truncation, reason = "contents that wrap are as good as others")]

use foxtrot_ot::{
    Bits, Decode, Error, Seed, Session, Sid, Usage,
    base::{ReceiverKeys, SenderKeys},
    convert::{Format, MAX_MESSAGE, Receiver, Sealed, Sender, frame_len},
    ideal,
};
use zeroize::Zeroizing;

const LEN: usize = 20;

fn session(byte: u8) -> Session {
    Session::new(Sid::from_bytes([byte; 32]))
}

fn keys(n: usize) -> (SenderKeys, ReceiverKeys) {
    ideal::given(Bits::from_bools((0..n).map(|i| i % 3 == 0)), &Seed::from_bytes([5; 32]))
}

fn sender(session_byte: u8) -> Sender {
    Sender::new(session(session_byte), Format::Pairs, LEN).unwrap()
}

fn receiver(session_byte: u8, keys: &ReceiverKeys) -> Receiver {
    let chosen = (0..keys.choices().len()).map(|i| keys.choices().get(i).unwrap_u8().into());
    let (chosen, keys) = (chosen.collect::<Vec<_>>(), keys.keys().to_vec());
    let (chosen, keys) = (Zeroizing::new(chosen), Zeroizing::new(keys));
    Receiver::new(session(session_byte), Format::Pairs, LEN, chosen, keys).unwrap()
}

/// Every message, if every one is authentic.
fn open(sealed: Sealed) -> Option<Vec<Vec<u8>>> {
    sealed.open().map(|message| message.map(|message| message.to_vec())).collect()
}

/// Lengths from 0 to LEN, contents that tell transfers and branches apart.
fn messages(n: usize) -> Vec<Vec<u8>> {
    let pair = |i| [0, 1].map(|j| vec![(2 * i + j) as u8; (i + 7 * j) % (LEN + 1)]);
    (0..n).flat_map(pair).collect()
}

fn transfer(n: usize, tamper: impl Fn(&mut Vec<u8>)) -> Option<Vec<Vec<u8>>> {
    let (sender_keys, receiver_keys) = keys(n);
    let mut receiver = receiver(1, &receiver_keys);
    let mut frame = sender(1).seal(sender_keys.pairs().as_flattened(), &messages(n)).unwrap();
    tamper(&mut frame);
    receiver.take(&frame).unwrap();
    open(receiver.finish().unwrap())
}

#[test]
fn the_receiver_gets_exactly_the_chosen_messages() {
    for n in [0, 1, 50] {
        let all = messages(n);
        let expected: Vec<_> =
            (0..n).map(|i| all[2 * i + usize::from(i % 3 == 0)].clone()).collect();
        assert_eq!(transfer(n, |_| {}).unwrap(), expected);
    }
}

#[test]
fn frames_continue_where_the_last_one_ended() {
    let (sender_keys, receiver_keys) = keys(1030);
    let (keys, all) = (sender_keys.pairs().as_flattened(), messages(1030));
    let (mut sealer, mut receiver) = (sender(1), receiver(1, &receiver_keys));
    let mut frames = Vec::new();
    for range in [0..2048, 2048..2060] {
        let frame = sealer.seal(&keys[range.clone()], &all[range.clone()]).unwrap();
        assert_eq!(frame.len(), frame_len(range.len(), LEN));
        receiver.take(&frame).unwrap();
        frames.extend(frame);
    }
    let expected: Vec<_> =
        (0..1030).map(|i| all[2 * i + usize::from(i % 3 == 0)].clone()).collect();
    assert_eq!(open(receiver.finish().unwrap()), Some(expected));
    // The same bytes as of frames cut elsewhere: framing is not part of the encryption.
    let mut other = sender(1);
    let others = [0..20, 20..2060].map(|range| other.seal(&keys[range.clone()], &all[range]));
    assert_eq!(others.map(Result::unwrap).concat(), frames);
}

#[test]
fn a_changed_chosen_message_fails_the_run_and_an_unchosen_one_does_not() {
    let sealed = LEN + 20;
    for position in 0..2 * sealed {
        // Transfer 0 chooses branch 1.
        let result = transfer(3, |frame| frame[position] ^= 0x10);
        if position >= sealed {
            assert_eq!(result, None);
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
        assert_eq!(result, None);
    }
    let (sender_keys, receiver_keys) = keys(1);
    let frame = sender(1).seal(sender_keys.pairs().as_flattened(), &messages(1)).unwrap();
    let mut receiver = receiver(2, &receiver_keys);
    receiver.take(&frame).unwrap();
    assert_eq!(open(receiver.finish().unwrap()), None);
}

#[test]
fn lengths_are_hidden_and_wrong_ones_refused() {
    let (sender_keys, receiver_keys) = keys(1);
    let keys = sender_keys.pairs().as_flattened();
    let frame = |text: &[u8]| sender(1).seal(keys, &[text, text]).unwrap();
    assert_eq!(frame(b"").len(), frame(&[7; LEN]).len());
    let mut receiver = receiver(1, &receiver_keys);
    for wrong in [0, 1, 2 * (LEN + 20) - 1, 2 * (LEN + 20) + 1] {
        let error = receiver.take(&vec![0; wrong]);
        assert!(matches!(error, Err(Error::Decode(Decode::Length { .. }))));
    }
    let mut sender = sender(1);
    let long = sender.seal(keys, &[&[0u8; LEN + 1][..], &[]]);
    assert_eq!(long, Err(Usage::MessageTooLong { transfer: 0, len: LEN + 1, max: LEN }));
    assert!(matches!(sender.seal::<&[u8]>(keys, &[]), Err(Usage::CountMismatch { .. })));
    assert!(Sender::new(session(1), Format::Pairs, MAX_MESSAGE + 1).is_err());
}

#[test]
fn frames_stay_near_a_mebibyte() {
    for (len, transfers) in [(0, 1024), (492, 1024), (493, 1022), (MAX_MESSAGE, 1)] {
        assert_eq!(Format::Pairs.messages_per_frame(len), 2 * transfers, "{len}");
    }
}

#[test]
fn a_frame_refuses_more_transfers_than_its_limit() {
    let (sender_keys, receiver_keys) = keys(1025);
    let too_many = Usage::BatchTooLarge { n: 2050, max: 2048 };
    let sealed = sender(1).seal(sender_keys.pairs().as_flattened(), &messages(1025));
    assert_eq!(sealed, Err(too_many));
    let mut receiver = receiver(1, &receiver_keys);
    let (expected, got) = (frame_len(2048, LEN), frame_len(2050, LEN));
    let refused = Decode::Length { message: "Sealed", expected, got };
    assert_eq!(receiver.take(&vec![0; got]), Err(refused.into()));
}
