//! The contents of `circuit.json`. What the entries are stands there, under `about`.

use super::{array, bytes, number_array, object, pattern, string};
use foxtrot_reference::circuit::{
    Gates, LookUps, accept, bins, column, compared_bits, drawn_words, equal, look_ups, oprf_value,
    packed, products, raise, release, segment, triples,
};
use foxtrot_reference::oracle::{Id, oracle, sub_session_id};
use foxtrot_reference::{bits_from_bytes, bytes_from_bits};

const PROVENANCE: &str = "schoolbook implementation, written from docs/wire/circuit-psi.md: \
    cargo run --release -p foxtrot-reference --bin vectors circuit \
    > crates/psi/tests/vectors/circuit.json";

const ABOUT: [&str; 6] = [
    "All byte strings are hexadecimal. Words are 8 bytes each, little endian; of two parties the sender's come first. The sub-session is \
     number 0 of the protocol circuit-psi under sid, direction 0.",
    "bins: of an item with this number of the receiver's items; compared_bits: l. columns: those of the item's value, packed, of the three words t, modulo 2^l, \
     and numbers less r, modulo 2^omega, under the OPRF's values hidden, 16 bytes each; columns_without: without a sum, omega being 0.",
    "oprf: id, of circuit-psi; value: of the item and its element.",
    "equality: for each number of compared bits, masks of one-of-sixteen OTs, the sender's 16 bits, u16 each, and the receiver's choices, two to a byte, the lower half \
     first, and bits, packed; the strings, words, of 64 lanes of both parties, of which the masks give the low bits of the \
     sender's; nibbles, tables: the messages, one layer after another; equal: both shares of which are equal.",
    "gates, release: ot_keys and ot_choices, bits of the keys of OTs, pair after pair, and choices, packed, which make the triples; numbers: shares of a count less \
     the threshold and of a sum, 8 bytes each; shares: what both send.",
    "products: keys of OTs, pair after pair; choices, and shares of bits, packed; words of every lane, two each; the message, with numbers of omega bits, packed, and both shares, \
     sums times 2^(64 - omega).",
];

pub(super) fn vectors() -> String {
    let file = object(&[
        ("provenance", string(PROVENANCE)),
        ("wire_version", "1".to_string()),
        ("about", array(ABOUT.map(string))),
        ("sid", bytes(&pattern(0))),
        ("bins", array([(0, 1), (1, 21), (300, 37), (1 << 20, 64)].map(bins_vector))),
        ("oprf", oprf_vector()),
        ("equality", array([61, 49, 57, 60].map(equality_vector))),
        ("gates", gates_vector()),
        ("products", products_vector()),
    ]);
    file + "\n"
}

fn random(purpose: usize, len: usize) -> Vec<u8> {
    oracle("foxtrot v1 test circuit", &pattern(0), purpose, 0, &[], len)
}

fn words(purpose: usize, number: usize) -> Vec<u64> {
    let bytes = random(purpose, 8 * number);
    bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
}

fn joined(words: &[u64]) -> String {
    bytes(&words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>())
}

fn id() -> Id {
    sub_session_id(&pattern(0), 0, 0, "circuit-psi")
}

fn bins_vector((n, omega): (usize, usize)) -> String {
    let (item, hidden) = (pattern(9), random(12, 48));
    let bins = bins(&id(), &item, segment(n));
    let compared = compared_bits(3 * segment(n));
    let [t, numbers]: [[u64; 3]; 2] =
        [13, 14].map(|purpose| words(purpose, 3).try_into().expect("three words"));
    let columns = |omega| {
        let hidden = hidden.as_chunks().0;
        let column = |i: usize| column(t[i], numbers[i], &hidden[i], compared, omega);
        packed(&[0, 1, 2].map(column), compared + omega)
    };
    object(&[
        ("receiver_items", n.to_string()),
        ("item", bytes(&item)),
        ("bins", array(bins.map(|bin| bin.to_string()))),
        ("compared_bits", compared.to_string()),
        ("t", number_array(t)),
        ("numbers", number_array(numbers)),
        ("hidden", bytes(&hidden)),
        ("omega", omega.to_string()),
        ("columns", bytes(&columns(omega))),
        ("columns_without", bytes(&columns(0))),
    ])
}

fn oprf_vector() -> String {
    let (item, element) = (pattern(9), random(15, 16));
    let f = u128::from_le_bytes(element.as_chunks().0[0]);
    object(&[
        ("id", bytes(&id())),
        ("item", bytes(&item)),
        ("element", bytes(&element)),
        ("value", bytes(&oprf_value(&id(), &item, f))),
    ])
}

/// Equality of 64 strings.
fn equality_vector(compared: usize) -> String {
    let number = 64 * look_ups(compared);
    let masks = random(100 + compared, 2 * number);
    let choices = random(200 + compared, number / 2);
    let mut ots = LookUps {
        masks: masks.as_chunks().0.iter().map(|it| u16::from_le_bytes(*it)).collect(),
        choices: choices.iter().flat_map(|it| [it & 15, it >> 4]).collect(),
        bits: vec![],
    };
    ots.bits = ots.masks.iter().zip(&ots.choices).map(|(mask, c)| mask >> c & 1 == 1).collect();
    let mut strings = [drawn_words(&ots.masks, compared, &words(2, 64)), words(3, 64)];
    for lane in [0, 5, 63] {
        strings[1][lane] = strings[0][lane];
    }
    strings[1][6] = strings[0][6] ^ 1 << (compared - 1);
    strings[1][7] = strings[0][7] ^ 1 << compared;
    let (messages, equal) = equal(&ots, compared, [&strings[0], &strings[1]]);
    assert_eq!(equal[0][0] ^ equal[1][0], 1 | 1 << 5 | 1 << 7 | 1 << 63);
    let messages = [0, 1].map(|it| messages.iter().flat_map(|both| both[it].clone()).collect());
    let [nibbles, tables]: [Vec<u8>; 2] = messages;
    object(&[
        ("compared_bits", compared.to_string()),
        ("masks", bytes(&masks)),
        ("choices", bytes(&choices)),
        ("bits", bytes(&bytes_from_bits(&ots.bits))),
        ("strings", joined(&strings.concat())),
        ("nibbles", bytes(&nibbles)),
        ("tables", bytes(&tables)),
        ("equal", joined(&equal.concat())),
    ])
}

/// The release of two numbers.
fn gates_vector() -> String {
    let n = 2 * 64 * 14 * 2;
    let (keys, ot_choices) = (random(0, 2 * n / 8), random(1, n / 8));
    let pairs: Vec<[bool; 2]> = bits_from_bytes(&keys, 2 * n).as_chunks().0.to_vec();
    let [sender, receiver] = triples(&pairs, &bits_from_bytes(&ot_choices, n));
    let mut parties =
        [Gates { triples: sender, first: true }, Gates { triples: receiver, first: false }];
    let [count, sum] = [3_u64, 1 << 40 | 77];
    let first = words(4, 2);
    let second = [count.wrapping_sub(first[0]), sum.wrapping_sub(first[1])];
    let shares = release(&mut parties, [&first, &second]);
    assert_eq!([0, 1, 2].map(|i| shares[0][i] ^ shares[1][i]), [u64::MAX, count, sum]);
    object(&[
        ("ot_keys", bytes(&keys)),
        ("ot_choices", bytes(&ot_choices)),
        ("numbers", joined(&[&first[..], &second].concat())),
        ("shares", joined(&shares.concat())),
    ])
}

fn products_vector() -> String {
    let (lanes, omega) = (64, [21, 37]);
    let keys = random(5, 32 * lanes);
    let pairs: Vec<[[u8; 16]; 2]> = keys.as_chunks().0.as_chunks().0.to_vec();
    let bits = |purpose| bits_from_bytes(&random(purpose, lanes / 8), lanes);
    let (choices, ours, theirs) = (bits(6), bits(7), bits(8));
    let flips: Vec<bool> = theirs.iter().zip(&choices).map(|(bit, choice)| bit ^ choice).collect();
    let numbers: Vec<Vec<u64>> = words(9, 2 * lanes).chunks(2).map(<[u64]>::to_vec).collect();
    let (message, share) = products(&pairs, &ours, &flips, &numbers, &omega);
    let chosen: Vec<[u8; 16]> =
        pairs.iter().zip(&choices).map(|(pair, choice)| pair[usize::from(*choice)]).collect();
    let other = accept(&chosen, &theirs, &message, &omega);
    let shares = [share, other].map(|share| [0, 1].map(|i| raise(share[i], omega[i])));
    for i in 0..2 {
        let counted = (0..lanes).filter(|&lane| ours[lane] != theirs[lane]);
        let sum = counted.map(|lane| numbers[lane][i]).fold(0, u64::wrapping_add);
        assert_eq!(shares[0][i].wrapping_add(shares[1][i]), raise(sum, omega[i]));
    }
    object(&[
        ("ot_keys", bytes(&keys)),
        ("choices", bytes(&bytes_from_bits(&choices))),
        ("senders_bits", bytes(&bytes_from_bits(&ours))),
        ("receivers_bits", bytes(&bytes_from_bits(&theirs))),
        ("numbers", joined(&numbers.concat())),
        ("omega", number_array(omega.map(|it| it as u64))),
        ("message", bytes(&message)),
        ("shares", joined(&shares.concat())),
    ])
}
