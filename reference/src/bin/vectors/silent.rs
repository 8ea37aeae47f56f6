//! The contents of `silent.json`. What the entries are stands there, under `about`.

use super::{array, bytes, object, pattern, string};
use foxtrot_reference::blake3::hash;
use foxtrot_reference::extension::{self, Block, DELTA_BITS};
use foxtrot_reference::oracle::{Id, oracle, oracle32, sub_session_id};
use foxtrot_reference::silent::{
    Batch, Code, Protocol, ReceiverBatch, SenderBatch, correlated_tree, multiply, permutation, tree,
};
use foxtrot_reference::{bits_from_bytes, bytes_from_bits, bytes_from_nibbles};

const PROVENANCE: &str = "schoolbook implementation, written from docs/wire/silent.md and what it names: \
    cargo run --release -p foxtrot-reference --bin vectors silent \
    > crates/ot/tests/vectors/silent.json";

const ABOUT: [&str; 11] = [
    "All byte strings are hexadecimal; a name that ends in _blake3 is the plain BLAKE3 hash of \
     what its beginning names. Elements are 16 bytes each; U in GF(2) is packed bits, U in GF(16) nibbles, two to a byte, the \
     lower half first.",
    "sizes: m and then t, h, N, C, a and 8 B(h) of section 20.1.",
    "permutations: N and the tables of layers 1, 2, 3 as u32 each.",
    "codes: the input is N elements of Oracle('foxtrot v1 test silent input', 00 01 .. 1f, N, 0), no fields. bits: log2 of \
     the size of the field of U. factors are those of layers 2 to a, 16 bytes each, whatever the field. The output is all N/2 elements.",
    "trees: GGM trees. sums are E and O of every level from 1 on, without masks; nodes have 16 bytes.",
    "correlated_trees: first is k, node 0 of level 1. Bit 0 of leaves is not set to 0.",
    "products: in GF(2^128).",
    "runs: id is the sub-sid of section 20, direction 0; extension_id that of the extension. The base OTs' keys are \
     Oracle('foxtrot v1 test base key', extension_id, r, b), 16 bytes each, no fields; bit r of delta is the choice in base OT r.",
    "ot_choices, sender_ot_rows, receiver_ot_rows: the correlated OTs of a batch. noise: all u_j. places: all alpha_j, u32 each. sender_leaves, \
     receiver_leaves: b and c. trees, challenge, check, answer: the messages, empty where there is none.",
    "u, v, w: all outputs. Where U is in GF(2): choices (U with flips), sender_rows, sender_keys (key 0, key 1 per OT), receiver_keys. given_choices \
     is another end of the same batch, with the message flips and the rows and keys that it leads to.",
    "Where U is in GF(16): choices (U), sender_bits (u16 each, bit c for choice c), receiver_bits (packed).",
];

/// The names and the sizes of their batches; two batches where that shows another number of accumulators.
const RUNS: [(&str, &[usize]); 7] = [
    ("silent-vole", &[1100, 8100]),
    ("silent-vole-margin", &[70]),
    ("silent-vole-semi-honest", &[3200, 33]),
    ("silent", &[1100, 3501]),
    ("silent-semi-honest", &[1030]),
    ("silent-16-semi-honest", &[1030, 33]),
    ("vole-packed", &[3]),
];

/// Outputs of batches. The largest batch of each name is added.
const OUTPUTS: [usize; 13] =
    [1, 440, 2780, 3200, 4096, 5000, 8191, 10_532, 16_384, 81_608, 1_179_648, 2_097_152, 3_000_001];

pub(super) fn vectors() -> String {
    let names = RUNS.iter().map(|run| run.0).filter(|name| *name != "vole-packed");
    let sizes = names.map(|name| {
        let protocol = Protocol::named(name);
        let outputs = OUTPUTS.into_iter().filter(|&m| m < protocol.most()).chain([protocol.most()]);
        object(&[("protocol", string(name)), ("sizes", array(outputs.map(|m| size(protocol, m))))])
    });
    let codes = [("silent-vole", 128), ("silent-vole-semi-honest", 64), ("silent", 1)];
    let codes = codes.iter().flat_map(|&(name, bits)| {
        [(6144, 3), (7168, 2), (16_384, 3)].map(|(n, a)| code(Protocol::named(name), bits, n, a))
    });
    let file = object(&[
        ("provenance", string(PROVENANCE)),
        ("wire_version", "1".to_string()),
        ("about", array(ABOUT.map(string))),
        ("sizes", array(sizes)),
        ("permutations", array([128, 6144, 7168, 16_384, 73_728].map(permutation_vector))),
        ("codes", array(codes)),
        ("trees", array([1, 5, 10].map(|h| tree_vector(h, false)))),
        ("correlated_trees", array([1, 5, 10].map(|h| tree_vector(h, true)))),
        ("products", array((0..4).map(product))),
        ("runs", array(RUNS.iter().map(|(name, outputs)| run(name, outputs)))),
    ]);
    file + "\n"
}

fn size(protocol: Protocol, m: usize) -> String {
    let it = protocol.sizes(m);
    let numbers =
        [m, it.t, it.h as usize, it.n, it.ots, it.accumulators.into(), it.eight_times_bytes()];
    format!("[{}]", numbers.map(|number| number.to_string()).join(", "))
}

fn permutation_vector(n: usize) -> String {
    let layers = [1, 2, 3].map(|layer| {
        let table = permutation(n, layer);
        bytes(&hash(&numbers(&table)))
    });
    object(&[("n", n.to_string()), ("tables_blake3", array(layers))])
}

fn code(protocol: Protocol, bits: usize, n: usize, a: u8) -> String {
    let code = Code::new(protocol, n, a);
    let input = oracle("foxtrot v1 test silent input", &pattern(0), n, 0, &[], 16 * n);
    let input: Vec<Block> = input.chunks(16).map(le).collect();
    let output = code.encode(&input);
    object(&[
        ("bits", bits.to_string()),
        ("n", n.to_string()),
        ("accumulators", a.to_string()),
        ("factors_blake3", bytes(&hash(&blocks(&code.factors.concat())))),
        ("first_output", bytes(&blocks(&output[..1]))),
        ("output_blake3", bytes(&hash(&blocks(&output)))),
    ])
}

fn tree_vector(h: u32, correlated: bool) -> String {
    let drawn = |branch| {
        le(&oracle("foxtrot v1 test silent tree", &pattern(0), h as usize, branch, &[], 16))
    };
    let [key, first, delta] = [0, 1, 2].map(drawn);
    let levels =
        if correlated { correlated_tree(key, first, delta, h) } else { tree(key, first, h) };
    let side = |level: &[Block], side| {
        level.iter().skip(side).step_by(2).fold(0, |sum: Block, node| sum ^ node)
    };
    let sums: Vec<Block> =
        levels[1..].iter().flat_map(|level| [0, 1].map(|it| side(level, it))).collect();
    let mut fields = vec![("h", h.to_string()), ("key", bytes(&blocks(&[key])))];
    if correlated {
        fields.push(("first", bytes(&blocks(&[first]))));
        fields.push(("delta", bytes(&blocks(&[delta]))));
    } else {
        fields.push(("root", bytes(&blocks(&[first]))));
    }
    fields.push(("sums", bytes(&blocks(&sums))));
    fields.push(("leaves_blake3", bytes(&hash(&blocks(&levels[h as usize])))));
    object(&fields)
}

fn product(number: usize) -> String {
    let drawn = |branch| {
        le(&oracle("foxtrot v1 test silent product", &pattern(0), number, branch, &[], 16))
    };
    let (a, b) =
        [(drawn(0), drawn(1)), (1 << 127, 2), (u128::MAX, u128::MAX), (drawn(0), 1)][number];
    object(&[
        ("a", bytes(&blocks(&[a]))),
        ("b", bytes(&blocks(&[b]))),
        ("product", bytes(&blocks(&[multiply(a, b)]))),
    ])
}

/// Both parties of one sub-sid.
struct Parties {
    protocol: Protocol,
    id: Id,
    delta: Block,
    /// The largest batch of the extension.
    most: usize,
    ots: (extension::Receiver, extension::Sender),
    receiver_seed: [u8; 32],
    sender_seed: [u8; 32],
}

fn run(name: &str, outputs: &[usize]) -> String {
    let protocol = Protocol::named(name);
    let id = sub_session_id(&pattern(0), 0, 0, name);
    let extension_id = sub_session_id(&id, 0, 0, protocol.extension());
    let keys: [[Block; 2]; DELTA_BITS] = core::array::from_fn(|r| {
        [0, 1].map(|b| le(&oracle("foxtrot v1 test base key", &extension_id, r, b, &[], 16)))
    });
    let delta = oracle("foxtrot v1 test delta", &extension_id, 0, 0, &[], 16);
    let bits = bits_from_bytes(&delta, DELTA_BITS);
    let bits: [bool; DELTA_BITS] = core::array::from_fn(|r| bits[r]);
    let chosen = core::array::from_fn(|r| keys[r][usize::from(bits[r])]);
    let seeds = |id: &Id| [0, 1].map(|branch| oracle32("foxtrot v1 test seed", id, 0, branch, &[]));
    let ([receiver, sender], [receiver_seed, sender_seed]) = (seeds(&extension_id), seeds(&id));

    let extension = extension::Protocol::named(protocol.extension());
    let (of_receiver, setup) =
        extension::Receiver::setup(extension, &extension_id, &keys, &receiver);
    let of_sender =
        extension::Sender::setup(extension, &extension_id, &bits, &chosen, &sender, &setup)
            .expect("an honest run");
    let most = if protocol.extension() == "softspoken-8" { 65_472 } else { 65_536 };
    let ots = (of_receiver, of_sender);
    let mut parties =
        Parties { protocol, id, delta: le(&delta), most, ots, receiver_seed, sender_seed };
    let batches = (0..).zip(outputs).map(|(number, &m)| parties.batch(name, number, m));
    let batches: Vec<String> = batches.collect();
    object(&[
        ("protocol", string(name)),
        ("id", bytes(&id)),
        ("extension_id", bytes(&extension_id)),
        ("delta", bytes(&delta)),
        ("base_keys_blake3", bytes(&hash(&blocks(keys.as_flattened())))),
        ("extension_receiver_seed", bytes(&receiver)),
        ("extension_sender_seed", bytes(&sender)),
        ("setup_blake3", bytes(&hash(&setup))),
        ("receiver_seed", bytes(&receiver_seed)),
        ("sender_seed", bytes(&sender_seed)),
        ("batches", array(batches)),
    ])
}

impl Parties {
    /// Returns b, r and q of the next `n` OTs.
    fn extend(&mut self, n: usize) -> (Vec<bool>, Vec<Block>, Vec<Block>) {
        let (mut choices, mut of_receiver, mut of_sender) = (vec![], vec![], vec![]);
        for start in (0..n).step_by(self.most) {
            let n = self.most.min(n - start);
            let (receiver, corrections) = self.ots.0.correct(n, None);
            let (sender, challenge) = self.ots.1.challenge(n, false, &corrections);
            let (received, proof) = receiver.finish(&challenge);
            let sent = sender.finish(&proof).expect("an honest run");
            choices.extend_from_slice(&received.choices[..n]);
            of_receiver.extend(received.rows);
            of_sender.extend(sent.rows);
        }
        (choices, of_receiver, of_sender)
    }

    fn batch(&mut self, name: &str, number: usize, m: usize) -> String {
        let Parties { protocol, id, delta, receiver_seed, sender_seed, .. } = *self;
        let ots = protocol.sizes(m).ots;
        let (choices, r, q) = self.extend(ots);
        let mut fields = vec![
            ("m", m.to_string()),
            ("ots", ots.to_string()),
            ("ot_choices_blake3", bytes(&hash(&bytes_from_bits(&choices)))),
            ("sender_ot_rows_blake3", bytes(&hash(&blocks(&q)))),
            ("receiver_ot_rows_blake3", bytes(&hash(&blocks(&r)))),
        ];
        if name == "vole-packed" {
            let (u, v): (Vec<_>, Vec<_>) = protocol.pack(&choices, &r).into_iter().unzip();
            let w: Vec<_> = q.chunks(128).map(|rows| protocol.sum(rows)).collect();
            let values = [("u", u), ("v", v), ("w", w)];
            fields.extend(values.map(|(name, values)| (name, bytes(&blocks(&values)))));
            return object(&fields);
        }

        let batch = Batch::new(protocol, &id, number, m);
        let (sender, trees) = SenderBatch::begin(batch, delta, &q, &sender_seed);
        let (receiver, [challenge, check]) =
            ReceiverBatch::check(batch, &choices, &r, &receiver_seed, &trees)
                .expect("an honest run");
        fields.extend([
            ("trees_blake3", bytes(&hash(&trees))),
            ("noise_blake3", bytes(&hash(&blocks(&receiver.noise)))),
            ("places_blake3", bytes(&hash(&numbers(&receiver.places)))),
            ("sender_leaves_blake3", bytes(&hash(&blocks(&sender.leaves)))),
            ("receiver_leaves_blake3", bytes(&hash(&blocks(&receiver.leaves)))),
        ]);
        let (sent, answer) = sender.answer(&challenge, &check).expect("an honest run");
        let received = receiver.finish(&answer).expect("an honest run");
        for (i, &w) in sent.rows.iter().enumerate() {
            assert_eq!(
                received.rows[i],
                w ^ protocol.times(received.u[i], batch.of_outputs(delta))
            );
        }
        let u = match protocol.bits {
            1 => bytes_from_bits(&received.u.iter().map(|&u| u == 1).collect::<Vec<_>>()),
            4 => bytes_from_nibbles(&received.nibbles()),
            _ => blocks(&received.u),
        };
        fields.extend([
            ("challenge", bytes(&challenge)),
            ("check", bytes(&check)),
            ("answer", bytes(&answer)),
            ("u_blake3", bytes(&hash(&u))),
            ("v_blake3", bytes(&hash(&blocks(&received.rows)))),
            ("w_blake3", bytes(&hash(&blocks(&sent.rows)))),
        ]);
        if protocol.bits == 4 {
            let masks: Vec<u8> = sent.masks().iter().flat_map(|mask| mask.to_le_bytes()).collect();
            fields.extend([
                ("choices", bytes(&bytes_from_nibbles(&received.nibbles()))),
                ("sender_bits_blake3", bytes(&hash(&masks))),
                ("receiver_bits", bytes(&bytes_from_bits(&received.bits()))),
            ]);
        }
        if protocol.bits == 1 {
            let given = oracle("foxtrot v1 test choices", &id, number, 0, &[], m.div_ceil(8));
            let given = bits_from_bytes(&given, m);
            let flips = received.flips(&given);
            let flipped = sent.clone().flip(Some(&flips));
            let sent = sent.flip(None);
            fields.extend([
                ("choices", bytes(&bytes_from_bits(&received.choices()))),
                ("sender_rows_blake3", bytes(&hash(&blocks(&sent.rows)))),
                ("sender_keys_blake3", bytes(&hash(&blocks(sent.keys().as_flattened())))),
                ("receiver_keys_blake3", bytes(&hash(&blocks(&received.keys())))),
                ("given_choices", bytes(&bytes_from_bits(&given))),
                ("flips", bytes(&flips)),
                ("given_sender_rows_blake3", bytes(&hash(&blocks(&flipped.rows)))),
                ("given_sender_keys_blake3", bytes(&hash(&blocks(flipped.keys().as_flattened())))),
            ]);
        }
        object(&fields)
    }
}

fn le(bytes: &[u8]) -> Block {
    Block::from_le_bytes(bytes.try_into().expect("16 bytes"))
}

fn blocks(blocks: &[Block]) -> Vec<u8> {
    blocks.iter().flat_map(|block| block.to_le_bytes()).collect()
}

/// Returns numbers as u32 each.
fn numbers(numbers: &[usize]) -> Vec<u8> {
    numbers.iter().flat_map(|&it| u32::try_from(it).expect("32 bits").to_le_bytes()).collect()
}
