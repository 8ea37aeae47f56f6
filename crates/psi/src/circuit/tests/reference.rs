//! The steps against vectors of the schoolbook implementation (`tests/vectors/circuit.json`).

use foxtrot_ot::{Bits, base::Block, engine::Io};
use foxtrot_triples::bits::{Received, Sent, Triples};
use serde_json::Value;

use super::*;
use crate::circuit::{
    cuckoo,
    gates::{Gates, words_to_release},
    look_ups,
    products::{accept, offer},
    protocol::programmed,
};

fn vectors() -> Value {
    serde_json::from_str(include_str!("../../../tests/vectors/circuit.json")).unwrap()
}

fn bytes(value: &Value) -> Vec<u8> {
    let hex = value.as_str().unwrap();
    (0..hex.len()).step_by(2).map(|k| u8::from_str_radix(&hex[k..k + 2], 16).unwrap()).collect()
}

fn words(value: &Value) -> Vec<u64> {
    bytes(value).as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
}

fn digest(value: &Value) -> Digest {
    bytes(value).try_into().unwrap()
}

#[test]
fn bins_and_keys_match_the_test_vectors() {
    let session = Session::new(Sid::from_bytes(digest(&vectors()["sid"])));
    let session = session.sub("circuit-psi", 0, Default::default());
    for vector in vectors()["bins"].as_array().unwrap() {
        let n = usize::try_from(vector["receiver_items"].as_u64().unwrap()).unwrap();
        let item = digest(&vector["item"]);
        let segment = Parameters::new(Terms::default(), n, 1).unwrap().segment();
        let bins = cuckoo::bins(&session, &[item], segment)[0];
        let expected = vector["bins"].as_array().unwrap().iter().map(|bin| bin.as_u64().unwrap());
        assert!(bins.into_iter().map(u64::from).eq(expected));
        assert_eq!(cuckoo::key(&item, 2), digest(&vector["key"]));
    }
}

#[test]
fn values_of_the_store_match_the_test_vectors() {
    for vector in vectors()["bins"].as_array().unwrap() {
        // The number is v(x) − r_b modulo 2⁶⁴.
        let words = ["t", "number"].map(|name| vector[name].as_u64().unwrap());
        let (hidden, expected) = (digest(&vector["hidden"]), bytes(&vector["value"]));
        assert_eq!(programmed::<16>(words, &hidden)[..], expected);
        assert_eq!(programmed::<8>(words, &hidden)[..], expected[..8]);
    }
}

/// The triples of both parties for the bits of OTs.
fn triples(vector: &Value, n: usize) -> (Triples, Triples) {
    let (keys, choices) = (bytes(&vector["ot_keys"]), bytes(&vector["ot_choices"]));
    let ots = 8 * choices.len();
    let choices = Bits::from_bytes(&choices, ots);
    let block = |i: usize| {
        let mut block = [0xaa; 16];
        block[0] |= keys[i / 8] >> (i % 8) & 1;
        block
    };
    let pairs: Vec<[Block; 2]> = (0..ots).map(|i| [block(2 * i), block(2 * i + 1)]).collect();
    let chosen: Vec<Block> =
        (0..ots).map(|i| pairs[i][usize::from(choices.get(i).unwrap_u8())]).collect();
    let (mut sent, mut received) = (Sent::new(n), Received::new(n));
    // In two pieces, of which the second has more than there is room for.
    assert!(sent.add(&pairs[..512]).is_empty());
    assert!(sent.add(&pairs[512..]).is_empty());
    assert_eq!(received.add(&choices.slice(0..512), &chosen[..512]), 512);
    assert_eq!(received.add(&choices.slice(512..ots), &chosen[512..]), ots - 512);
    assert_eq!((sent.add(&pairs[..8]).len(), received.add(&choices, &chosen)), (8, 0));
    (sent.triples(), received.triples())
}

#[test]
fn look_ups_and_gates_match_the_test_vectors() {
    let vector = &vectors()["gates"];
    let tables = bytes(&vector["masks"]).as_chunks().0.to_vec();
    let (nibbles, bits) = (bytes(&vector["choices"]), bytes(&vector["bits"]));
    let choices: Vec<u8> = (0..tables.len())
        .map(|i| {
            let (nibble, bit) = (nibbles[i / 2] >> (i % 2 * 4) & 0xf, bits[i / 8] >> (i % 8) & 1);
            nibble | bit << 4
        })
        .collect();
    let n = 64 * words_to_release(2);
    let (ours, theirs) = triples(vector, n);
    let (strings, numbers) = (words(&vector["strings"]), words(&vector["numbers"]));
    let party = |first: bool, triples: Triples| {
        let of_party = |all: &[u64]| {
            let (ours, theirs) = all.split_at(all.len() / 2);
            if first { ours.to_vec() } else { theirs.to_vec() }
        };
        let (strings, numbers) = (of_party(&strings), of_party(&numbers));
        let (tables, choices) = (&tables, &choices);
        Engine::new(move |io: Io| async move {
            let equal = match first {
                true => look_ups::send(&io, &strings, tables, |_| ()).await?,
                false => look_ups::look_up(&io, &strings, choices, |_| ()).await?,
            };
            let count = &mut |_| ();
            let mut gates = Gates::new(&io, first, triples, count);
            Ok::<_, Error>((equal.to_vec(), gates.release(&numbers).await?.to_vec()))
        })
    };
    let mut sent = [Vec::new(), Vec::new()];
    let outcomes =
        Pair::new(party(true, ours), party(false, theirs)).run_over(|party, stream, message| {
            // Gates and shares come after the look-ups of three layers.
            let all = &mut sent[usize::from(party == Party::Receiver)];
            all.push(message.clone());
            vec![(stream, message)]
        });
    let ((equal, shares), (others, of_other)) = outcomes.unwrap();
    let [of_sender, of_receiver] = sent.map(|all| all[..3].concat());
    assert_eq!(of_sender, bytes(&vector["tables"]));
    assert_eq!(of_receiver, bytes(&vector["nibbles"]));
    assert_eq!([equal, others].concat(), words(&vector["equal"]));
    assert_eq!([shares, of_other].concat(), words(&vector["shares"]));
}

#[test]
fn products_match_the_test_vectors() {
    let vector = &vectors()["products"];
    let keys = bytes(&vector["ot_keys"]);
    let pairs = keys.as_chunks::<16>().0.as_chunks::<2>().0;
    let [choices, ours, theirs] =
        ["choices", "senders_bits", "receivers_bits"].map(|name| words(&vector[name]));
    let flips = [choices[0] ^ theirs[0]];
    let numbers = words(&vector["numbers"]);
    let (share, message) = offer(pairs, (&ours, &flips), |i| [numbers[2 * i], numbers[2 * i + 1]]);
    assert_eq!(message, bytes(&vector["message"]));
    let chosen: Vec<Block> = pairs
        .iter()
        .enumerate()
        .map(|(i, pair)| pair[usize::from(choices[0] >> i & 1 == 1)])
        .collect();
    let other: [u64; 2] = accept(&chosen, &theirs, &message);
    assert_eq!([share, other].concat(), words(&vector["shares"]));
}
