//! The steps against vectors of the schoolbook implementation (`tests/vectors/circuit.json`).

use foxtrot_ot::{Bits, base::Block, engine::Io};
use foxtrot_triples::bits::{Received, Sent, Triples};
use serde_json::Value;

use super::*;
use crate::{
    Digest, Error,
    circuit::{
        cuckoo,
        gates::{Gates, words_to_release},
        look_ups,
        oprf::{Oprf, hash_all},
        products::{accept, offer},
        protocol::{opened, programmed},
    },
    okvs::Okvs,
    packed::{below, pack},
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

fn size(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

fn bits(value: &Value) -> u32 {
    u32::try_from(size(value)).unwrap()
}

fn digest(value: &Value) -> Digest {
    bytes(value).try_into().unwrap()
}

#[test]
fn bins_and_lengths_match_the_test_vectors() {
    let session = Session::new(Sid::from_bytes(digest(&vectors()["sid"])));
    let session = session.sub("circuit-psi", 0, Default::default());
    for vector in vectors()["bins"].as_array().unwrap() {
        let n = size(&vector["receiver_items"]);
        let item = digest(&vector["item"]);
        let parameters = Parameters::new(CircuitTerms::default(), n, 1).unwrap();
        let bins = cuckoo::bins(&session, &[item], parameters.segment())[0];
        let expected = vector["bins"].as_array().unwrap().iter().map(|bin| bin.as_u64().unwrap());
        assert!(bins.into_iter().map(u64::from).eq(expected));
        assert_eq!(parameters.bits(), bits(&vector["compared_bits"]));
    }
}

#[test]
fn values_of_the_store_match_the_test_vectors() {
    for vector in vectors()["bins"].as_array().unwrap() {
        let of = |name: &str, i: usize| vector[name][i].as_u64().unwrap();
        let (string, number) = (bits(&vector["compared_bits"]), bits(&vector["omega"]));
        let hidden = bytes(&vector["hidden"]);
        let columns = hidden.as_chunks().0.iter().enumerate().map(|(i, value)| {
            let words = [of("t", i), of("numbers", i)];
            programmed(string, words, u128::from_le_bytes(*value))
        });
        assert_eq!(pack(columns.clone(), string + number), bytes(&vector["columns"]));
        assert_eq!(pack(columns, string), bytes(&vector["columns_without"]));
    }
}

#[test]
fn a_column_opens_to_what_was_programmed() {
    let (words, value) = ([0x1234_5678_9abc_def0, 0xfedc_ba98_7654_3210], u128::MAX / 3);
    for string in 40..=64 {
        for number in 0..=64 {
            // What is sent of it.
            let column = programmed(string, words, value) & below(string + number);
            let opened = opened(string, column, value);
            for (k, bits) in [string, number].into_iter().enumerate() {
                assert_eq!(u128::from(opened[k] ^ words[k]) & below(bits), 0);
            }
        }
    }
}

#[test]
fn a_value_of_the_oprf_matches_the_test_vector() {
    let vector = &vectors()["oprf"];
    let session = Session::new(Sid::from_bytes(digest(&vectors()["sid"])));
    let session = session.sub("circuit-psi", 0, Default::default());
    let session = &session.sub("circuit oprf", 0, Default::default());
    let oprf = Oprf { session, store: Okvs::new(1).unwrap() };
    let mut value: [Block; 1] = [bytes(&vector["element"]).try_into().unwrap()];
    hash_all(&oprf.hash(), [digest(&vector["item"])].iter(), &mut value);
    assert_eq!(value[0][..], bytes(&vector["value"]));
}

#[test]
fn numbers_have_as_many_bits_as_the_document_says() {
    let of =
        |terms: CircuitTerms, n: usize| Parameters::new(terms, n, n + 5).unwrap().number_bits();
    // A count has a sign.
    for (n, bits) in [(1, 2), (127, 8), (128, 9), (32_767, 16), (32_768, 17), ((1 << 20) - 5, 21)] {
        assert_eq!(of(CircuitTerms::default(), n), [bits, 0], "{n}");
    }
    for (largest, bits) in [(0, 1), (25, 8), (26, 9), (6553, 16), (6554, 17), (u64::MAX / 10, 64)] {
        assert_eq!(of(sum(largest), 10), [5, bits], "{largest}");
    }
    let most = Parameters::new(sum(u64::MAX >> 20), 1 << 20, 1 << 20);
    assert_eq!(most.unwrap().number_bits(), [22, 64]);
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

/// Runs both parties, the sender first: their results, and all that each has sent.
fn run_both<T>(
    sender: Engine<'_, T, Error>,
    receiver: Engine<'_, T, Error>,
) -> ([T; 2], [Vec<u8>; 2]) {
    let mut sent = [Vec::new(), Vec::new()];
    let outcomes = Pair::new(sender, receiver).run_over(|party, stream, message| {
        sent[usize::from(party == PairParty::Receiver)].extend_from_slice(&message);
        vec![(stream, message)]
    });
    let (one, other) = outcomes.unwrap();
    ([one, other], sent)
}

#[test]
fn look_ups_match_the_test_vectors() {
    for vector in vectors()["equality"].as_array().unwrap() {
        let compared = bits(&vector["compared_bits"]);
        let tables = bytes(&vector["masks"]).as_chunks().0.to_vec();
        assert_eq!(tables.len(), 64 * look_ups::number(compared));
        let (nibbles, of_choices) = (bytes(&vector["choices"]), bytes(&vector["bits"]));
        let choices: Vec<u8> = (0..tables.len())
            .map(|i| {
                let bit = of_choices[i / 8] >> (i % 8) & 1;
                nibbles[i / 2] >> (i % 2 * 4) & 0xf | bit << 4
            })
            .collect();
        let strings = words(&vector["strings"]);
        let (ours, theirs) = strings.split_at(64);
        let mut drawn: Vec<u64> = ours.iter().map(|word| word ^ 0xffff).collect();
        look_ups::draw(compared, &tables, &mut drawn);
        assert_eq!(drawn, ours);
        let (tables, choices) = (&tables, &choices);
        let (equal, sent) = run_both(
            Engine::new(|io: Io| async move {
                look_ups::send(&io, (compared, ours), tables, |_| ()).await
            }),
            Engine::new(|io: Io| async move {
                look_ups::look_up(&io, (compared, theirs), choices, |_| ()).await
            }),
        );
        assert_eq!(sent, ["tables", "nibbles"].map(|name| bytes(&vector[name])));
        assert_eq!(equal.map(|it| it.to_vec()).concat(), words(&vector["equal"]));
    }
}

#[test]
fn gates_match_the_test_vectors() {
    let vector = &vectors()["gates"];
    let (ours, theirs) = triples(vector, 64 * words_to_release(2));
    let numbers = words(&vector["numbers"]);
    let (of_sender, of_receiver) = numbers.split_at(2);
    let party = |first: bool, triples: Triples, numbers: Vec<u64>| {
        Engine::new(move |io: Io| async move {
            Gates::new(&io, first, triples, &mut |_| ()).release(&numbers).await
        })
    };
    let (shares, _) =
        run_both(party(true, ours, of_sender.to_vec()), party(false, theirs, of_receiver.to_vec()));
    assert_eq!(shares.map(|it| it.to_vec()).concat(), words(&vector["shares"]));
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
    let lens = [0, 1].map(|i| bits(&vector["omega"][i]));
    let number = |i: usize| [numbers[2 * i], numbers[2 * i + 1]];
    let (share, message) = offer(pairs, (&ours, &flips), number, lens);
    assert_eq!(message, bytes(&vector["message"]));
    let chosen: Vec<Block> = pairs
        .iter()
        .enumerate()
        .map(|(i, pair)| pair[usize::from(choices[0] >> i & 1 == 1)])
        .collect();
    let other = accept(&chosen, &theirs, lens, message).unwrap();
    let raised = [share, other].map(|it| [0, 1].map(|i| it[i] << (64 - lens[i])));
    assert_eq!(raised.concat(), words(&vector["shares"]));
}
