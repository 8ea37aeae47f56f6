//! The contents of `okvs.json`. What the entries are stands there, under `about`.

use super::{array, bytes, object, pattern, string};
use foxtrot_reference::okvs::{Key, Shape, decode, encode, row_seed, test_strings};

const PROVENANCE: &str = "schoolbook implementation, written from docs/protocols/okvs.md and docs/wire.md: \
    cargo run --release -p foxtrot-reference --bin vectors okvs \
    > crates/psi/tests/vectors/okvs.json";

const ABOUT: [&str; 4] = [
    "All byte strings are hexadecimal.",
    "shapes: n keys, sparse slots per row, dense slots, starts, slots per segment, all slots.",
    "stores: row_seed is that of coins under the sub-sid id; rows has the slots of every key's row; \
     values and slots are strings of one length. Slots are not unique; these have the values.",
    "rows of large stores: as in stores, for some keys, under row_seed itself.",
];

/// Sizes at which a rule changes or rounds, and those of the documentation.
const SIZES: [usize; 22] = [
    0, 1, 2, 3, 4, 5, 7, 8, 40, 41, 99, 100, 2048, 65_535, 65_536, 524_288, 524_289, 600_000,
    1_048_575, 1_048_576, 4_194_303, 4_194_304,
];

/// Such sizes of the shape with four sparse slots.
const LARGE_SIZES: [usize; 10] =
    [0, 131_072, 131_073, 262_143, 262_144, 524_288, 1_048_576, 2_097_151, 2_097_152, 4_194_304];

pub(super) fn vectors() -> String {
    let both = |sizes: &[usize]| -> Vec<Shape> {
        sizes.iter().flat_map(|&n| [2, 3].map(|hashes| Shape::new(n, hashes))).collect()
    };
    let and_four = |mut shapes: Vec<Shape>, sizes: &[usize]| -> Vec<Shape> {
        shapes.extend(sizes.iter().map(|&n| Shape::new(n, 4)));
        shapes
    };
    let large = and_four(both(&[65_536, 524_289, 4_194_304]), &[131_072, 1_048_576, 4_194_304]);
    let file = object(&[
        ("provenance", string(PROVENANCE)),
        ("wire_version", "1".to_string()),
        ("about", array(ABOUT.map(string))),
        ("shapes", array(and_four(both(&SIZES), &LARGE_SIZES).iter().map(shape_vector))),
        ("stores", array(both(&[0, 1, 2, 3, 10, 30]).iter().map(store_vector))),
        ("large", array(large.iter().map(large_vector))),
    ]);
    file + "\n"
}

fn shape_vector(shape: &Shape) -> String {
    let Shape { n, hashes, dense, starts, segment } = shape;
    list([*n, *hashes, *dense, *starts, *segment, shape.slots()])
}

fn list(numbers: impl IntoIterator<Item = usize>) -> String {
    let numbers: Vec<String> = numbers.into_iter().map(|number| number.to_string()).collect();
    format!("[{}]", numbers.join(", "))
}

fn keys(number: usize) -> Vec<Key> {
    let string = |string: Vec<u8>| string.try_into().expect("32 bytes");
    test_strings(&pattern(1), number, 32).into_iter().map(string).collect()
}

fn store_vector(shape: &Shape) -> String {
    let (id, coins) = (pattern(32), pattern(64));
    let seed = row_seed(&id, &coins);
    let keys = keys(shape.n);
    let values = test_strings(&pattern(2), shape.n, 5);
    let rows: Vec<Vec<usize>> = keys.iter().map(|key| shape.row(&id, &seed, key)).collect();
    let random = test_strings(&pattern(3), shape.slots(), 5);
    let slots = encode(&rows, &values, random).expect("it succeeds nearly always");
    assert!(rows.iter().zip(&values).all(|(row, value)| &decode(row, &slots) == value));
    object(&[
        ("n", shape.n.to_string()),
        ("hashes", shape.hashes.to_string()),
        ("id", bytes(&id)),
        ("coins", bytes(&coins)),
        ("row_seed", bytes(&seed)),
        ("keys", bytes(keys.as_flattened())),
        ("rows", array(rows.into_iter().map(list))),
        ("values", bytes(&values.concat())),
        ("slots", bytes(&slots.concat())),
    ])
}

fn large_vector(shape: &Shape) -> String {
    let (id, seed) = (pattern(32), pattern(96));
    let keys = keys(5);
    object(&[
        ("n", shape.n.to_string()),
        ("hashes", shape.hashes.to_string()),
        ("id", bytes(&id)),
        ("row_seed", bytes(&seed)),
        ("keys", bytes(keys.as_flattened())),
        ("rows", array(keys.iter().map(|key| list(shape.row(&id, &seed, key))))),
    ])
}
