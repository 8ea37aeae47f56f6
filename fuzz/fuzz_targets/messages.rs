//! Checks that the encodings that `docs/wire` allows decode and encode to the same bytes, and that
//! all others are errors.
#![no_main]

use foxtrot_fuzz::{Change, changed};
use foxtrot_ot::{
    Seed, Session, Sid, agreement,
    base::{
        bdgm, chou_orlandi, csw, masny_rindal, mcquoid_rosulek_roy as mrr, naor_pinkas, pvw,
        rot_from_ot,
        roted::{Blinded, Endemic, Mode, Opening, Reply, Rot},
    },
    popf::{Eke, Feistel, Feistel2, Ristretto, Strings},
};
use foxtrot_papers::roted_figure1 as figure1;
use libfuzzer_sys::fuzz_target;

/// A message of which only the length may be wrong.
macro_rules! any {
    ($message:ty, $peers:ident, $n:expr, $len:expr) => {
        let bytes = $peers($len);
        let decoded = <$message>::decode(&bytes, $n).ok().map(<$message>::into_bytes);
        assert_eq!(decoded, (bytes.len() == $len).then_some(bytes));
    };
}

/// A message with points: which strings are some is for the curve to say.
macro_rules! points {
    ($message:ty, $peers:ident, $n:expr, $len:expr) => {
        let bytes = $peers($len);
        if let Ok(message) = <$message>::decode(&bytes, $n) {
            assert_eq!((message.instances(), bytes.len()), ($n, $len));
            assert_eq!(message.into_bytes(), bytes);
        }
    };
}

fuzz_target!(|input: (u8, Vec<Change>)| {
    let (n, changes) = (usize::from(input.0 % 5), input.1);
    let peers = |len| changed(&vec![0; len], &changes);
    blinded::<Rot>(n, &peers(Blinded::<Rot>::encoded_len(n)));
    blinded::<Endemic>(n, &peers(Blinded::<Endemic>::encoded_len(n)));
    reply::<Rot>(n, &peers(Reply::<Rot>::encoded_len(n)), |bytes| n == 0 || bytes[32] >> n == 0);
    reply::<Endemic>(n, &peers(Reply::<Endemic>::encoded_len(n)), |_| true);
    any!(Opening, peers, n, 32);

    let bytes = peers(976 * n);
    let decoded = figure1::Blinded::decode(&bytes, n).ok().map(figure1::Blinded::into_bytes);
    assert_eq!(decoded, in_range(&bytes, n, 976).then_some(bytes));
    let bytes = peers(1072 * n);
    let decoded = figure1::Reply::decode(&bytes, n).ok().map(figure1::Reply::into_bytes);
    assert_eq!(decoded, in_range(&bytes, n, 1072).then_some(bytes));
    let bytes = peers(32 * n);
    let decoded = figure1::Opening::decode(&bytes, n).ok().map(figure1::Opening::into_bytes);
    assert_eq!(decoded, (bytes.len() == 32 * n).then_some(bytes));

    let bytes = peers(1296 * n);
    let decoded = bdgm::Blinded::decode(&bytes, n).ok().map(bdgm::Blinded::into_bytes);
    let valid =
        bytes.len() == 1296 * n && bytes.chunks(1296).flat_map(coefficients).all(|x| x < 7681);
    assert_eq!(decoded, valid.then_some(bytes));
    any!(bdgm::Challenge, peers, n, 2240 * n);
    any!(bdgm::Response, peers, n, 32);
    any!(bdgm::Ciphertexts, peers, n, 2208 * n);
    any!(rot_from_ot::Commitment, peers, n, 32);
    any!(rot_from_ot::Opening, peers, n, 32);
    let bytes = peers(n.div_ceil(8));
    let decoded = rot_from_ot::Swap::decode(&bytes, n).ok().map(rot_from_ot::Swap::into_bytes);
    let valid = bytes.len() == n.div_ceil(8) && (n == 0 || bytes[0] >> n == 0);
    assert_eq!(decoded, valid.then_some(bytes));

    // Which x belong to points is for the curve to say; what decodes has the right tags.
    let bytes = peers(66 * n);
    if let Ok(keys) = pvw::PublicKeys::decode(&bytes, n) {
        assert!(bytes.len() == 66 * n && bytes.chunks(33).all(|point| point[0] & !1 == 2));
        assert_eq!(keys.into_bytes(), bytes);
    }
    let bytes = peers(98 * n);
    if let Ok(ciphertexts) = pvw::Ciphertexts::decode(&bytes, n) {
        assert!(bytes.len() == 98 * n && bytes.chunks(49).all(|branch| branch[0] & !1 == 2));
        assert_eq!(ciphertexts.into_bytes(), bytes);
    }

    // Strings are never refused.
    any!(mrr::Blinded<Feistel<Strings>>, peers, n, 64 * n);
    any!(mrr::Blinded<Eke>, peers, n, 32 * n);
    points!(mrr::Blinded<Feistel2<Ristretto>>, peers, n, 80 * n);
    points!(mrr::KeyShare<agreement::Moeller>, peers, n, 64);
    points!(mrr::KeyShare<agreement::Elligator>, peers, n, 32);
    points!(mrr::KeyShare<agreement::Ristretto>, peers, n, 32);
    points!(masny_rindal::Blinded, peers, n, 64 * n);
    points!(masny_rindal::Shares, peers, n, 64 * n);
    points!(csw::Points, peers, n, 32 + 32 * n);
    points!(csw::Challenge, peers, n, 64 + 16 * n);
    any!(csw::Response, peers, n, 32);
    points!(chou_orlandi::Share, peers, n, 32);
    points!(chou_orlandi::Points, peers, n, 32 * n);
    let session = || Session::new(Sid::from_bytes([0; 32]));
    let seed = || Seed::from_bytes([0; 32]);
    let (_, share) = chou_orlandi::Sender::start(session(), n, 2, seed()).unwrap();
    let choices = vec![1; n];
    let (chosen, _) = chou_orlandi::choose(session(), 2, &choices, &share, seed()).unwrap();
    // What nobody encrypted opens only where there is nothing.
    assert_eq!(chosen.decrypt(&peers(64 * n)).is_ok_and(|messages| messages.is_empty()), n == 0);
    points!(naor_pinkas::Setup, peers, n, 64);
    points!(naor_pinkas::PublicKeys, peers, n, 32 * n);
});

/// Returns true for n instances of this length, each with 512 coefficients of 14 bits in front.
fn in_range(bytes: &[u8], n: usize, instance: usize) -> bool {
    let in_range = |bytes: &[u8]| (0..512).all(|k| packed(bytes, 14, k) < 13313);
    bytes.len() == instance * n && bytes.chunks(instance).all(in_range)
}

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
    (0..768).map(|k| packed(phi, 13, k))
}

/// Number k of so many bits each; there are bytes behind the last.
fn packed(bytes: &[u8], bits: usize, k: usize) -> u32 {
    let (byte, bit) = (bits * k / 8, bits * k % 8);
    let word = u32::from_le_bytes([bytes[byte], bytes[byte + 1], bytes[byte + 2], 0]);
    word >> bit & ((1 << bits) - 1)
}
