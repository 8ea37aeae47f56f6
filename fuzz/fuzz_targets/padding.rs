//! A sender that seals any text under the right key gets it opened iff it is length ‖ message ‖
//! zeros with a length that fits.
#![no_main]

use chacha20poly1305::{AeadInOut, ChaCha20Poly1305, KeyInit, Nonce};
use foxtrot_ot::{
    Bits, Seed, Session, Sid,
    convert::{Format, Receiver, frame_len},
    ideal,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (bool, u32, Vec<u8>)| {
    let (choice, claimed, padded) = input;
    let session = Session::new(Sid::from_bytes([1; 32]));
    let bits = Bits::from_bools([choice]);
    let (_, keys) = ideal::given(bits, &Seed::from_bytes([2; 32]));
    let key = session.oracle("foxtrot v1 chosen message").query(0, choice.into());
    let cipher = ChaCha20Poly1305::new((&key.field(&keys.keys()[0]).finish::<32>()).into());
    let mut sealed = [&claimed.to_le_bytes(), padded.as_slice()].concat();
    let text = sealed.as_mut_slice().into();
    let tag = cipher.encrypt_inout_detached(&Nonce::default(), &[], text).unwrap();
    sealed.extend(tag);

    let (len, chosen) = (padded.len(), vec![u64::from(choice)].into());
    let of = keys.keys().to_vec().into();
    let mut receiver = Receiver::new(session, Format::Pairs, len, chosen, of).unwrap();
    let mut frame = vec![0; frame_len(2, len)];
    frame[usize::from(choice) * sealed.len()..][..sealed.len()].copy_from_slice(&sealed);
    receiver.take(&frame).unwrap();
    let parts = padded.split_at_checked(claimed.try_into().unwrap());
    let message = parts.filter(|(_, zeros)| zeros.iter().all(|&x| x == 0)).map(|(m, _)| m);
    let opened = receiver.finish().unwrap().open().next().unwrap();
    assert_eq!(opened.as_ref().map(|opened| opened.as_slice()), message);
});
