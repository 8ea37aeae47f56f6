//! The stores against the vectors of the schoolbook implementation (`vectors/okvs.json`), and
//! against itself: what one encodes the other decodes.

use foxtrot_ot::{Backend, Session, Sid};
use foxtrot_psi::{
    Digest, RowSeed,
    okvs::{Coins, Okvs},
};
use foxtrot_reference::okvs::{Shape, decode, encode, row_seed, test_strings};
use serde_json::Value;

fn vectors() -> Value {
    serde_json::from_str(include_str!("vectors/okvs.json")).unwrap()
}

fn number(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

fn bytes(value: &Value) -> Vec<u8> {
    let hex = value.as_str().unwrap();
    (0..hex.len()).step_by(2).map(|k| u8::from_str_radix(&hex[k..k + 2], 16).unwrap()).collect()
}

fn strings<const W: usize>(value: &Value) -> Vec<[u8; W]> {
    bytes(value).as_chunks().0.to_vec()
}

/// The shape for this number of keys, with `sparse` sparse slots.
fn okvs(keys: &Value, sparse: &Value) -> Okvs {
    let okvs = match number(sparse) {
        2 => Okvs::two,
        3 => Okvs::three,
        _ => Okvs::four,
    };
    okvs(number(keys)).unwrap()
}

/// The slots of a key's row, by decoding slots that are a bit each.
fn row(okvs: &Okvs, session: &Session, seed: &RowSeed, key: Digest) -> Vec<usize> {
    let plan = okvs.plan(session, seed, &[key]).unwrap();
    let bits = usize::BITS - okvs.slots().leading_zeros();
    // Which slots have bit b of their number set, and that for dense slots one by one.
    let value = |slots: &[[u8; 1]]| {
        let mut value = [[0]];
        plan.decode(&okvs.decoder(slots).unwrap(), &mut value).unwrap();
        value[0][0] == 1
    };
    let only = |test: &dyn Fn(usize) -> bool| -> bool {
        value(&(0..okvs.slots()).map(|slot| [u8::from(test(slot))]).collect::<Vec<_>>())
    };
    let dense = (0..okvs.dense()).filter(|&slot| only(&|other| other == slot));
    let mut ones: Vec<usize> = dense.collect();
    // Each segment has at most one of the others.
    for first in (okvs.dense()..okvs.slots()).step_by(okvs.segment()) {
        let here = |slot: usize| (first..first + okvs.segment()).contains(&slot);
        if only(&here) {
            ones.push(
                (0..bits).map(|b| usize::from(only(&|s| here(s) && s >> b & 1 == 1)) << b).sum(),
            );
        }
    }
    ones
}

fn check_shape(okvs: &Okvs, vector: &Value) {
    let ours =
        [okvs.keys(), okvs.sparse(), okvs.dense(), okvs.starts(), okvs.segment(), okvs.slots()];
    assert!(ours.into_iter().eq(vector.as_array().unwrap().iter().map(number)), "{vector}");
}

#[test]
fn shapes_match_the_test_vectors() {
    for vector in vectors()["shapes"].as_array().unwrap() {
        check_shape(&okvs(&vector[0], &vector[1]), vector);
    }
}

fn check_rows(okvs: &Okvs, vector: &Value) {
    let id = Sid::from_bytes(strings(&vector["id"])[0]);
    let seed = RowSeed::decode(&bytes(&vector["row_seed"])).unwrap();
    for backend in Backend::all() {
        let session = Session::new(id).with_backend(backend);
        let rows = vector["rows"].as_array().unwrap();
        for (key, expected) in strings(&vector["keys"]).into_iter().zip(rows) {
            let expected: Vec<usize> = expected.as_array().unwrap().iter().map(number).collect();
            assert_eq!(row(okvs, &session, &seed, key), expected);
        }
        if okvs.slots() > 1 << 18 {
            break;
        }
    }
}

fn check_store(okvs: &Okvs, vector: &Value) {
    check_rows(okvs, vector);
    let session = Session::new(Sid::from_bytes(strings(&vector["id"])[0]));
    let (keys, values) = (strings(&vector["keys"]), strings::<5>(&vector["values"]));
    let mut slots = strings(&vector["slots"]);
    let seed = RowSeed::decode(&bytes(&vector["row_seed"])).unwrap();
    let decoded = |slots: &[[u8; 5]]| {
        let mut decoded = vec![[0; 5]; keys.len()];
        let plan = okvs.plan(&session, &seed, &keys).unwrap();
        plan.decode(&okvs.decoder(slots).unwrap(), &mut decoded).unwrap();
        decoded
    };
    assert_eq!(decoded(&slots), values);

    let coins = Coins::from_bytes(strings(&vector["coins"])[0]);
    assert_eq!(okvs.encode(&session, coins, &keys, &values, &mut slots).unwrap(), seed);
    assert_eq!(decoded(&slots), values);
}

#[test]
fn rows_and_seeds_match_the_test_vectors() {
    for vector in vectors()["stores"].as_array().unwrap() {
        check_store(&okvs(&vector["n"], &vector["hashes"]), vector);
    }
}

/// Some keys at a time, not all at once: a row of a large store is read off with many look-ups.
#[test]
fn rows_of_large_stores_match_the_test_vectors() {
    for vector in vectors()["large"].as_array().unwrap() {
        check_sums(&okvs(&vector["n"], &vector["hashes"]), vector);
    }
}

/// The slots' values are random words, so that their sums name the rows.
fn check_sums(okvs: &Okvs, vector: &Value) {
    let mut state = 1_u64;
    let mut word = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (state ^ state >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    };
    let slots: Vec<[u8; 8]> = (0..okvs.slots()).map(|_| word().to_le_bytes()).collect();
    let session = Session::new(Sid::from_bytes(strings(&vector["id"])[0]));
    let seed = RowSeed::decode(&bytes(&vector["row_seed"])).unwrap();
    let keys = strings(&vector["keys"]);
    let mut decoded = vec![[0; 8]; keys.len()];
    let plan = okvs.plan(&session, &seed, &keys).unwrap();
    plan.decode(&okvs.decoder(&slots).unwrap(), &mut decoded).unwrap();
    for (value, row) in decoded.iter().zip(vector["rows"].as_array().unwrap()) {
        let slots = row.as_array().unwrap().iter().map(|slot| slots[number(slot)]);
        let sum = slots.fold(0, |sum, slot| sum ^ u64::from_le_bytes(slot));
        assert_eq!(u64::from_le_bytes(*value), sum);
    }
}

fn differ(okvs: &Okvs, trial: u8) {
    let (n, id) = (okvs.keys(), [trial; 32]);
    let session = Session::new(Sid::from_bytes(id));
    let shape = Shape::new(n, okvs.sparse());
    let chunk = |string: Vec<u8>| string.try_into().unwrap();
    let keys: Vec<Digest> = test_strings(&[1; 32], n, 32).into_iter().map(chunk).collect();
    let values = test_strings(&[2; 32], n, 4);
    let fixed: Vec<[u8; 4]> = values.iter().map(|value| chunk_of(value)).collect();
    let mut slots = vec![[0; 4]; okvs.slots()];
    let seed = okvs.encode(&session, Coins::from_bytes([trial; 32]), &keys, &fixed, &mut slots);
    let seed = seed.unwrap();
    assert_eq!(seed.as_bytes(), &row_seed(&id, &[trial; 32]));
    let rows: Vec<Vec<usize>> =
        keys.iter().map(|key| shape.row(&id, seed.as_bytes(), key)).collect();

    let ours: Vec<Vec<u8>> = slots.iter().map(|slot| slot.to_vec()).collect();
    assert!(rows.iter().zip(&values).all(|(row, value)| &decode(row, &ours) == value));

    let random = test_strings(&[3; 32], shape.slots(), 4);
    let theirs: Vec<[u8; 4]> =
        encode(&rows, &values, random).unwrap().iter().map(|slot| chunk_of(slot)).collect();
    let mut decoded = vec![[0; 4]; n];
    let plan = okvs.plan(&session, &seed, &keys).unwrap();
    plan.decode(&okvs.decoder(&theirs).unwrap(), &mut decoded).unwrap();
    assert_eq!(decoded, fixed);
}

fn chunk_of(bytes: &[u8]) -> [u8; 4] {
    bytes.try_into().unwrap()
}

#[test]
fn each_implementation_decodes_the_others_stores() {
    for trial in 0..4 {
        for n in [0, 1, 2, 3, 4, 5, 9, 17, 33, 100] {
            differ(&Okvs::two(n).unwrap(), trial);
            differ(&Okvs::three(n).unwrap(), trial);
        }
    }
}
