//! The contents of `vole_psi.json`. What the entries are stands there, under `about`.

use super::{array, bytes, object, pattern, string};
use foxtrot_reference::oracle::{oracle, sub_session_id};
use foxtrot_reference::paxos::{Item, load};
use foxtrot_reference::vole_psi::{Element, Protocol};

const PROVENANCE: &str = "schoolbook implementation, written from docs/wire/vole-psi.md: \
    cargo run --release -p foxtrot-reference --bin vectors vole_psi \
    > crates/psi/tests/vectors/vole_psi.json";

const ABOUT: [&str; 5] = [
    "All byte strings are hexadecimal.",
    "sizes: items of receiver and sender, buckets, keys of a bucket, the sender's load, slots of a bucket, bits of a tag with small words.",
    "runs: in the sub-session 0 of the protocol vole-psi under sid, with words in GF(2^64) if small. Elements of u and w are 16 \
     bytes each, one bucket's after another's; v is w ⊕ u·delta.",
    "row_seeds and sums are what a receiver sent, with slots that the schoolbook chose; tags is what the sender answers.",
    "With several buckets, coin_seeds are those of receiver and sender; such small sets have one bucket in a session. common: places \
     of the receiver's items that the sender also has.",
];

const SIZES: [(usize, usize); 9] = [
    (0, 0),
    (1, 1),
    (2048, 2048),
    (131_071, 7),
    (131_072, 131_072),
    (1_048_576, 1_048_576),
    (1_048_577, 1_048_576),
    (10_000_000, 10_000_000),
    (1_000_000_000, 3),
];

pub(super) fn vectors() -> String {
    let file = object(&[
        ("provenance", string(PROVENANCE)),
        ("wire_version", "1".to_string()),
        ("about", array(ABOUT.map(string))),
        ("sizes", array(SIZES.map(size_vector))),
        ("runs", array([(false, 1), (true, 1), (false, 3), (true, 3)].map(run_vector))),
    ]);
    file + "\n"
}

fn protocol(small: bool, receiver_items: usize, sender_items: usize, buckets: usize) -> Protocol {
    let id = sub_session_id(&pattern(0), 0, 0, "vole-psi");
    Protocol { id, small, receiver_items, sender_items, buckets }
}

fn size_vector((n, m): (usize, usize)) -> String {
    let buckets = n.div_ceil(1 << 20).max(1);
    let protocol = protocol(true, n, m, buckets);
    let shape = protocol.shape();
    let numbers = [n, m, buckets, shape.n, load(m, buckets), shape.slots(), protocol.tag_bits()];
    format!("[{}]", numbers.map(|number| number.to_string()).join(", "))
}

fn items(range: core::ops::Range<u8>) -> Vec<Item> {
    range.map(pattern).collect()
}

fn elements(purpose: usize, number: usize) -> Vec<Element> {
    let bytes = oracle("foxtrot v1 test vole psi", &pattern(0), purpose, 0, &[], 16 * number);
    bytes.as_chunks().0.iter().copied().map(Element::from_le_bytes).collect()
}

fn joined(elements: &[Element]) -> String {
    bytes(&elements.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<_>>())
}

fn run_vector((small, buckets): (bool, usize)) -> String {
    let (ours, theirs) = (items(0..12), items(5..20));
    let protocol = protocol(small, ours.len(), theirs.len(), buckets);
    let m = protocol.shape().slots();
    let mask = if small { Element::from(u64::MAX) } else { Element::MAX };
    let u: Vec<Element> = elements(0, m * buckets).into_iter().map(|u| u & mask).collect();
    let (w, delta) = (elements(1, m * buckets), elements(2, 1)[0]);
    let v: Vec<Element> = u.iter().zip(&w).map(|(&u, w)| w ^ protocol.product(u, delta)).collect();
    let (coin_seeds, seed) = ([pattern(110), pattern(111)], pattern(100));
    let coin = protocol.joint_coin([&coin_seeds[0], &coin_seeds[1]]);
    let (mut row_seeds, mut all_sums, mut mine, mut tags) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for bucket in 0..buckets {
        let (part, at) = (bucket * m..(bucket + 1) * m, (&coin, bucket));
        let (row_seed, sums) = protocol.sums(at, &ours, &seed, &u[part.clone()]);
        mine.extend(protocol.receiver_tags(at, &ours, &row_seed, &v[part.clone()]));
        let correlation = (delta, &w[part]);
        tags.extend(protocol.sender_tags(at, &theirs, (&row_seed, &sums), correlation));
        row_seeds.extend(row_seed);
        all_sums.extend(sums);
    }
    let tags = protocol.tags(tags);
    let theirs_read = protocol.read_tags(theirs.len(), &tags);
    let mut common: Vec<usize> =
        mine.iter().filter(|(_, tag)| theirs_read.contains(tag)).map(|(place, _)| *place).collect();
    common.sort_unstable();
    assert_eq!(common, [5, 6, 7, 8, 9, 10, 11]);
    let common: Vec<_> = common.iter().map(ToString::to_string).collect();
    object(&[
        ("small", small.to_string()),
        ("buckets", buckets.to_string()),
        ("sid", bytes(&pattern(0))),
        ("receiver_items", bytes(ours.as_flattened())),
        ("sender_items", bytes(theirs.as_flattened())),
        ("coin_seeds", bytes(coin_seeds.as_flattened())),
        ("receiver_seed", bytes(&seed)),
        ("delta", joined(&[delta])),
        ("u", joined(&u)),
        ("w", joined(&w)),
        ("row_seeds", bytes(&row_seeds)),
        ("sums", bytes(&all_sums)),
        ("tags", bytes(&tags)),
        ("common", format!("[{}]", common.join(", "))),
    ])
}
