//! Chosen messages open, all of them, iff nothing of the chosen halves of a frame was changed.
#![no_main]

use foxtrot_fuzz::{Change, changed};
use foxtrot_ot::{
    Bits, Decode, Error, Misbehaved, Seed, Session, Sid,
    convert::{Receiver, Sender},
    ideal,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (Vec<bool>, u8, Vec<Change>)| {
    let (mut choices, len, changes) = input;
    let len = usize::from(len);
    // What a frame holds at any of these lengths, and a change reaches.
    choices.truncate(64);
    let session = || Session::new(Sid::from_bytes([1; 32]));
    let bits = Bits::from_bools(choices.iter().copied());
    let (sender_keys, receiver_keys) = ideal::given(bits, &Seed::from_bytes([2; 32]));
    let pair = |i| [0, 1].map(|j| vec![i as u8 ^ (0x55 * j); (i + usize::from(j)) % (len + 1)]);
    let messages: Vec<_> = (0..choices.len()).map(pair).collect();
    let honest = Sender::new(session(), len).unwrap().seal(sender_keys.pairs(), &messages).unwrap();
    let frame = changed(&honest, &changes);

    let mut receiver = Receiver::new(session(), len).unwrap();
    let taken = receiver.take(receiver_keys.choices(), receiver_keys.keys(), &frame);
    if frame.len() != honest.len() {
        assert!(matches!(taken, Err(Error::Decode(Decode::Length { .. }))));
        return;
    }
    taken.unwrap();
    let chosen = |i: usize| (2 * i + usize::from(choices[i])) * (len + 20)..;
    let same =
        (0..choices.len()).all(|i| frame[chosen(i)][..len + 20] == honest[chosen(i)][..len + 20]);
    match receiver.open() {
        Ok(opened) => {
            assert!(same && opened.len() == messages.len());
            let expected = messages.iter().zip(choices).map(|(pair, c)| &pair[usize::from(c)]);
            assert!(opened.iter().map(|message| &**message).eq(expected));
        }
        Err(error) => assert!(!same && error == Misbehaved::MessageAuthentication),
    }
});
