//! Chosen messages, of two or of N, open, all of them, iff nothing of the chosen parts of a frame was changed.
#![no_main]

use foxtrot_fuzz::{Change, changed};
use foxtrot_ot::{
    Bits, Decode, Error, Misbehaved, Seed, Session, Sid,
    convert::{Receiver, Sender, one_of_n},
    ideal,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, Vec<u8>, u8, Vec<Change>)| {
    let (one_of, mut choices, len, changes) = input;
    // What a frame holds at any of these lengths, and a change reaches.
    choices.truncate(if one_of < 128 { 64 } else { 16 });
    match one_of {
        0..128 => of_two(choices.into_iter().map(|c| c % 2 == 1).collect(), len.into(), &changes),
        _ => of_n(usize::from(one_of % 8) + 1, &choices, len.into(), &changes),
    }
});

fn of_two(choices: Vec<bool>, len: usize, changes: &[Change]) {
    let session = || Session::new(Sid::from_bytes([1; 32]));
    let bits = Bits::from_bools(choices.iter().copied());
    let (sender_keys, receiver_keys) = ideal::given(bits, &Seed::from_bytes([2; 32]));
    let pair = |i| [0, 1].map(|j| vec![i as u8 ^ (0x55 * j); (i + usize::from(j)) % (len + 1)]);
    let messages: Vec<_> = (0..choices.len()).map(pair).collect();
    let honest = Sender::new(session(), len).unwrap().seal(sender_keys.pairs(), &messages).unwrap();
    let frame = changed(&honest, changes);

    let mut receiver = Receiver::new(session(), len).unwrap();
    let taken = receiver.take(receiver_keys.choices(), receiver_keys.keys(), &frame);
    if frame.len() != honest.len() {
        assert!(matches!(taken, Err(Error::Decode(Decode::Length { .. }))));
        return;
    }
    taken.unwrap();
    let chosen = |i: usize| 2 * i + usize::from(choices[i]);
    let same = same_parts(&frame, &honest, len, (0..choices.len()).map(chosen));
    match receiver.open() {
        Ok(opened) => {
            assert!(same && opened.len() == messages.len());
            let expected = messages.iter().zip(choices).map(|(pair, c)| &pair[usize::from(c)]);
            assert!(opened.iter().map(|message| &**message).eq(expected));
        }
        Err(error) => assert!(!same && error == Misbehaved::MessageAuthentication),
    }
}

fn of_n(n: usize, choices: &[u8], len: usize, changes: &[Change]) {
    let session = || Session::new(Sid::from_bytes([1; 32]));
    let chosen: Vec<u64> = choices.iter().map(|choice| u64::from(*choice) % n as u64).collect();
    let at = |i: usize| i * n + chosen[i] as usize;
    let all = 0..choices.len() * n;
    let keys: Vec<_> = all.clone().map(|k| [k as u8; 16]).collect();
    let messages: Vec<_> = all.map(|k| vec![k as u8; k % (len + 1)]).collect();
    let honest = one_of_n::Sender::new(session(), len, n).unwrap().seal(&keys, &messages).unwrap();
    let frame = changed(&honest, changes);

    let choices = chosen.clone().into();
    let mut receiver = one_of_n::Receiver::new(session(), len, n, choices).unwrap();
    let expected = receiver.next_frame_len();
    assert_eq!(expected.unwrap_or(0), honest.len());
    let taken = receiver.take(&frame);
    if frame.len() != honest.len() {
        assert!(matches!(taken, Err(Error::Decode(Decode::Length { .. }))));
        return;
    }
    taken.unwrap();
    let ours: Vec<_> = (0..chosen.len()).map(at).collect();
    let same = same_parts(&frame, &honest, len, ours.iter().copied());
    match receiver.open(&ours.iter().map(|k| keys[*k]).collect::<Vec<_>>()) {
        Ok(opened) => {
            assert!(same && opened.len() == ours.len());
            assert!(ours.iter().map(|k| &messages[*k]).eq(opened.iter().map(|message| &**message)));
        }
        Err(error) => assert!(!same && error == Misbehaved::MessageAuthentication.into()),
    }
}

/// Returns true if the sealed messages of these numbers are the same in both frames.
fn same_parts(a: &[u8], b: &[u8], len: usize, mut parts: impl Iterator<Item = usize>) -> bool {
    let part = |k: usize| one_of_n::frame_len(k, len)..one_of_n::frame_len(k + 1, len);
    parts.all(|k| a[part(k)] == b[part(k)])
}
