use core::array;

use super::*;

const VECTOR: &str = include_str!("../../../tests/vectors/x25519mlkem768.txt");

/// The bytes below that word.
fn vector(name: &str) -> Vec<u8> {
    let lines = VECTOR.lines().skip_while(|&line| line != name).skip(1);
    let digits: String = lines.take_while(|line| line.len() > 6).collect();
    let (bytes, []) = digits.as_bytes().as_chunks::<2>() else { panic!("half a byte") };
    bytes.iter().map(|b| u8::from_str_radix(str::from_utf8(b).unwrap(), 16).unwrap()).collect()
}

/// The client of the vector.
fn client() -> Box<Started> {
    let seed = array::from_fn(|k| u8::try_from(k).unwrap());
    let scalar = array::from_fn(|k| u8::try_from(64 + k).unwrap());
    Box::new(Started::new(Zeroizing::new(seed), Zeroizing::new(scalar)))
}

#[test]
fn a_client_agrees_with_another_implementation_byte_by_byte() {
    let client = client();
    assert_eq!(client.pub_key(), vector("client"));
    let secret = client.complete(&vector("server")).unwrap();
    assert_eq!(secret.secret_bytes(), vector("secret"));
}

#[test]
fn a_client_and_a_server_agree_on_a_new_secret_each_time() {
    let secrets = [(); 2].map(|()| {
        let client = X25519MlKem768.start().unwrap();
        assert_eq!(client.pub_key().len(), KEY + X25519);
        let server = X25519MlKem768.start_and_complete(client.pub_key()).unwrap();
        assert_eq!(server.pub_key.len(), CIPHERTEXT + X25519);
        let secret = client.complete(&server.pub_key).unwrap();
        assert_eq!(secret.secret_bytes(), server.secret.secret_bytes());
        secret.secret_bytes().to_vec()
    });
    // In each of its halves.
    assert_ne!(secrets[0][..32], secrets[1][..32]);
    assert_ne!(secrets[0][32..], secrets[1][32..]);
}

#[test]
fn shares_of_the_wrong_length_are_refused() {
    let (client_share, server_share) = (vector("client"), vector("server"));
    for len in [0, 32, 1088, 1119, 1121, 1184, 1215, 1217, 2000] {
        let mut share = client_share.clone();
        share.resize(len, 9);
        assert_eq!(X25519MlKem768.start_and_complete(&share).err(), Some(INVALID), "{len}");
        let mut share = server_share.clone();
        share.resize(len, 9);
        assert_eq!(client().complete(&share).err(), Some(INVALID), "{len}");
    }
}

#[test]
fn a_key_that_is_not_reduced_is_refused() {
    // The first coefficient of twelve bits is 3329, which is 0.
    let mut share = vector("client");
    (share[0], share[1]) = (0x01, share[1] & 0xf0 | 0x0d);
    assert_eq!(X25519MlKem768.start_and_complete(&share).err(), Some(INVALID));
    // Below it, it is any key.
    share[0] = 0x00;
    X25519MlKem768.start_and_complete(&share).unwrap();
}

#[test]
fn points_of_small_order_are_refused_on_both_sides() {
    // u = 0, 1, p − 1 and p.
    let p = |low| array::from_fn(|k| [low, 0xff, 0x7f][usize::from(k > 0) + usize::from(k > 30)]);
    let mut one = [0; 32];
    one[0] = 1;
    for point in [[0; 32], one, p(0xec), p(0xed)] {
        let mut share = vector("client");
        share[KEY..].copy_from_slice(&point);
        assert_eq!(X25519MlKem768.start_and_complete(&share).err(), Some(INVALID));
        let mut share = vector("server");
        share[CIPHERTEXT..].copy_from_slice(&point);
        assert_eq!(client().complete(&share).err(), Some(INVALID));
    }
}

#[test]
fn a_forged_ciphertext_gives_another_secret_not_an_error() {
    let mut share = vector("server");
    share[0] ^= 1;
    let secret = client().complete(&share).unwrap();
    let honest = vector("secret");
    assert_ne!(secret.secret_bytes()[..32], honest[..32]);
    assert_eq!(secret.secret_bytes()[32..], honest[32..]);
}
