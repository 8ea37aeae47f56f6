//! Chosen messages, of two or of N, open, all of them, iff nothing of the chosen parts of a frame was changed.
#![no_main]

use foxtrot_fuzz::{Change, changed};
use foxtrot_ot::{
    Decode, Error, Session, Sid,
    convert::{Format, Receiver, Sender, frame_len},
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, Vec<u8>, u8, Vec<Change>)| {
    let (one_of, mut choices, len, changes) = input;
    // What a frame holds at any of these lengths, and a change reaches.
    choices.truncate(if one_of < 128 { 64 } else { 16 });
    let len = usize::from(len);
    let (n, format) = match usize::from(one_of % 8) + 1 {
        _ if one_of < 128 => (2, Format::Pairs),
        n => (n, Format::OneOf(n)),
    };
    let session = || Session::new(Sid::from_bytes([1; 32]));
    let chosen: Vec<u64> = choices.iter().map(|choice| u64::from(*choice) % n as u64).collect();
    let at = |i: usize| i * n + chosen[i] as usize;
    let all = 0..choices.len() * n;
    let keys: Vec<_> = all.clone().map(|k| [k as u8; 16]).collect();
    let messages: Vec<_> = all.map(|k| vec![k as u8; k % (len + 1)]).collect();
    let honest = Sender::new(session(), format, len).unwrap().seal(&keys, &messages).unwrap();
    let frame = changed(&honest, &changes);

    let ours: Vec<_> = (0..chosen.len()).map(at).collect();
    let received: Vec<_> = ours.iter().map(|k| keys[*k]).collect();
    let mut receiver =
        Receiver::new(session(), format, len, chosen.into(), received.into()).unwrap();
    let expected = receiver.next_frame_len();
    assert_eq!(expected.unwrap_or(0), honest.len());
    let taken = receiver.take(&frame);
    if frame.len() != honest.len() {
        assert!(matches!(taken, Err(Error::Decode(Decode::Length { .. }))));
        return;
    }
    taken.unwrap();
    let same = same_parts(&frame, &honest, len, ours.iter().copied());
    match receiver.finish().unwrap().open().collect::<Option<Vec<_>>>() {
        Some(opened) => {
            assert!(same && opened.len() == ours.len());
            assert!(ours.iter().map(|k| &messages[*k]).eq(opened.iter().map(|message| &**message)));
        }
        None => assert!(!same),
    }
});

/// Returns true if the sealed messages of these numbers are the same in both frames.
fn same_parts(a: &[u8], b: &[u8], len: usize, mut parts: impl Iterator<Item = usize>) -> bool {
    let part = |k: usize| frame_len(k, len)..frame_len(k + 1, len);
    parts.all(|k| a[part(k)] == b[part(k)])
}
