//! What `docs/wire.md` allows decodes and encodes to the same bytes; all else is an error.
#![no_main]

use foxtrot_fuzz::{Change, changed};
use foxtrot_ot::base::roted::{Blinded, Endemic, Mode, Opening, Reply, Rot};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, Vec<Change>)| {
    let (n, changes) = (usize::from(input.0 % 5), input.1);
    let peers = |len| changed(&vec![0; len], &changes);
    blinded::<Rot>(n, &peers(Blinded::<Rot>::encoded_len(n)));
    blinded::<Endemic>(n, &peers(Blinded::<Endemic>::encoded_len(n)));
    reply::<Rot>(n, &peers(Reply::<Rot>::encoded_len(n)), |bytes| n == 0 || bytes[32] >> n == 0);
    reply::<Endemic>(n, &peers(Reply::<Endemic>::encoded_len(n)), |_| true);
    let bytes = peers(Opening::ENCODED_LEN);
    let decoded = Opening::decode(&bytes).ok().map(Opening::into_bytes);
    assert_eq!(decoded, (bytes.len() == 32).then_some(bytes));
});

fn blinded<M: Mode>(n: usize, bytes: &[u8]) {
    let head = Blinded::<M>::encoded_len(0);
    let valid = bytes.len() == Blinded::<M>::encoded_len(n)
        && bytes[head..].chunks(1296).flat_map(coefficients).all(|x| x < 7681);
    let decoded = Blinded::<M>::decode(bytes, n).ok();
    assert!(decoded.as_ref().is_none_or(|message| message.instances() == n));
    assert_eq!(decoded.map(Blinded::into_bytes), valid.then(|| bytes.to_vec()));
}

fn reply<M: Mode>(n: usize, bytes: &[u8], spare_bits_are_zero: impl Fn(&[u8]) -> bool) {
    let valid = bytes.len() == Reply::<M>::encoded_len(n) && spare_bits_are_zero(bytes);
    let decoded = Reply::<M>::decode(bytes, n).ok();
    assert!(decoded.as_ref().is_none_or(|message| message.instances() == n));
    assert_eq!(decoded.map(Reply::into_bytes), valid.then(|| bytes.to_vec()));
}

/// The 768 coefficients of T, 13 bits each, before the 48 bytes of s.
fn coefficients(phi: &[u8]) -> impl Iterator<Item = u32> {
    (0..768).map(|k| {
        let (byte, bit) = (13 * k / 8, 13 * k % 8);
        let word = u32::from_le_bytes([phi[byte], phi[byte + 1], phi[byte + 2], 0]);
        word >> bit & 0x1fff
    })
}
