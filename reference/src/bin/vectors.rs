//! Prints test vectors as JSON: those of `roted`, or of the file named by the only argument;
//! redirect into `crates/ot/tests/vectors/<name>.json` (`circuit`, `join`, `okvs`, `paxos`, `vole_psi`: `crates/psi/…`; `rlwe`,
//! `gilboa`: `crates/triples/…`; `session`: `crates/net/…`; `roted_figure1`: `crates/papers/…`). What follows is about `roted`.
//!
//! All byte strings are hexadecimal. What is too long to print stands there as its plain BLAKE3
//! hash, under a name that ends in `_blake3`. The entries, where their names do not say it:
//!
//! * `rings`: `uniform` is the expansion of the oracle's output on `uniform_input`, packed in full
//!   width, as all polynomials here; `ntt_of_first` and `square_of_first` take the values of its
//!   first polynomial as coefficients and give NTT order and coefficients. `bits`, `hints` and
//!   `key_bits_own_hint` (the key bit at x under the hint at x) are tables over all x in `0..q`, one
//!   bit each. `noise` is the centred binomial polynomial of `noise_input`. `uniform_too_few` is the
//!   expansion of 1560 bytes 0xff.
//! * `rounding`: `samples` are triples x, x rounded, and that back; `rounded` is the packed table
//!   over all x (d bits each), `unrounded` the one over all d-bit values (13 bits each).
//! * `roted`: bit i of `choices` is the receiver's choice (input in mode `endemic`, output in mode
//!   `rot`); `receiver_keys` is n × 16 bytes, `sender_keys` n × (key 0 ‖ key 1); `opening` is empty
//!   in mode `endemic`; `blinded` and `reply` are there in full for n ≤ 2.

#[path = "vectors/chosen.rs"]
mod chosen;
#[path = "vectors/circuit.rs"]
mod circuit;
#[path = "vectors/extension.rs"]
mod extension;
#[path = "vectors/gilboa.rs"]
mod gilboa;
#[path = "vectors/join.rs"]
mod join;
#[path = "vectors/okvs.rs"]
mod okvs;
#[path = "vectors/one_of_n.rs"]
mod one_of_n;
#[path = "vectors/paxos.rs"]
mod paxos;
#[path = "vectors/resumed.rs"]
mod resumed;
#[path = "vectors/rlwe.rs"]
mod rlwe;
#[path = "vectors/roted_figure1.rs"]
mod roted_figure1;
#[path = "vectors/sealed.rs"]
mod sealed;
#[path = "vectors/session.rs"]
mod session;
#[path = "vectors/silent.rs"]
mod silent;
#[path = "vectors/two_round.rs"]
mod two_round;
#[path = "vectors/vole_psi.rs"]
mod vole_psi;

use foxtrot_reference::blake3::hash;
use foxtrot_reference::oracle::{Id, oracle, session_id, sub_session_id};
use foxtrot_reference::ring::{Ring, pack};
use foxtrot_reference::roted::{
    Mode, receiver_blind, receiver_finish, sender_finish, sender_reply,
};
use foxtrot_reference::{bytes_from_bits, hex};

const PROVENANCE: &str = "schoolbook implementation, written from docs/wire.md and what it names: \
    cargo run --release -p foxtrot-reference --bin vectors > crates/ot/tests/vectors/roted.json";

/// Makes a file's contents.
type Contents = fn() -> String;

/// The files by their names.
const FILES: [(&str, Contents); 17] = [
    ("roted", vectors),
    ("extension", extension::vectors),
    ("gilboa", gilboa::vectors),
    ("circuit", circuit::vectors),
    ("join", join::vectors),
    ("okvs", okvs::vectors),
    ("one_of_n", one_of_n::vectors),
    ("paxos", paxos::vectors),
    ("resumed", resumed::vectors),
    ("rlwe", rlwe::vectors),
    ("roted_figure1", roted_figure1::vectors),
    ("chosen", chosen::vectors),
    ("sealed", sealed::vectors),
    ("session", session::vectors),
    ("silent", silent::vectors),
    ("two_round", two_round::vectors),
    ("vole_psi", vole_psi::vectors),
];

fn main() {
    let name = std::env::args().nth(1);
    let name = name.as_deref().unwrap_or("roted");
    let file = FILES.iter().find(|(file, _)| *file == name);
    let (_, vectors) = file.unwrap_or_else(|| panic!("no vectors called {name}"));
    print!("{}", vectors());
}

/// Returns id, receiver's seed and sender's seed, of their own for every n, or short batches would be
/// beginnings of longer ones.
fn seeds(n: usize) -> [[u8; 32]; 3] {
    let n = u8::try_from(n).expect("short batches");
    [0, 32, 64].map(|first: u8| pattern(first + n))
}

fn vectors() -> String {
    let batches = [Mode::Endemic, Mode::Rot].into_iter();
    let batches = batches.flat_map(|mode| [1, 2, 9].map(|n| batch_vector(mode, n)));
    let file = object(&[
        ("provenance", string(PROVENANCE)),
        ("wire_version", "1".to_string()),
        ("oracle", array(oracle_vectors())),
        ("sid", array([sid_vector(b"initiator", b"responder", b""), sid_vector(b"", b"a", b"b")])),
        ("sub_sid", array(sub_sid_vectors())),
        ("rings", array([module768_vector(), paper512_vector()])),
        ("roted", array(batches)),
    ]);
    file + "\n"
}

/// Returns `first`, `first` + 1, … as 32 bytes.
fn pattern(first: u8) -> [u8; 32] {
    let mut next = first;
    [(); 32].map(|()| {
        next = next.wrapping_add(1);
        next.wrapping_sub(1)
    })
}

fn oracle_vectors() -> Vec<String> {
    let id = pattern(0);
    vec![
        oracle_vector("foxtrot v1 roted commitment", &id, 0, 0, &[&pattern(32)], 32),
        oracle_vector("foxtrot v1 roted H'", &id, 0, 0, &[], 32),
        oracle_vector("foxtrot v1 test", &id, 0x0102_0304, 1, &[], 64),
        oracle_vector("foxtrot v1 test", &id, 0, 0, &[b""], 65),
        oracle_vector("foxtrot v1 test", &id, 0, 0, &[b"a", b"", b"bc"], 131),
        oracle_vector("foxtrot v1 test", &id, 0, 0, &[&[5; 1], &[6; 1000]], 32),
    ]
}

fn oracle_vector(
    context: &str,
    id: &Id,
    i: usize,
    branch: u8,
    fields: &[&[u8]],
    length: usize,
) -> String {
    object(&[
        ("context", string(context)),
        ("id", bytes(id)),
        ("i", i.to_string()),
        ("branch", branch.to_string()),
        ("fields", array(fields.iter().map(|field| bytes(field)))),
        ("output", bytes(&oracle(context, id, i, branch, fields, length))),
    ])
}

fn sid_vector(initiator_hello: &[u8], responder_hello: &[u8], exporter: &[u8]) -> String {
    object(&[
        ("initiator_hello", bytes(initiator_hello)),
        ("responder_hello", bytes(responder_hello)),
        ("exporter", bytes(exporter)),
        ("sid", bytes(&session_id(initiator_hello, responder_hello, exporter))),
    ])
}

fn sub_sid_vectors() -> Vec<String> {
    let sid = pattern(0);
    let vector = |(counter, direction, protocol): (usize, u8, &str)| {
        object(&[
            ("sid", bytes(&sid)),
            ("counter", counter.to_string()),
            ("direction", direction.to_string()),
            ("protocol", string(protocol)),
            ("sub_sid", bytes(&sub_session_id(&sid, counter, direction, protocol))),
        ])
    };
    let calls = [(0, 0, "chosen-messages"), (0, 1, "roted-endemic"), (258, 0, "roted-rot")];
    calls.map(vector).to_vec()
}

fn module768_vector() -> String {
    let ring = Ring::module768();
    let noise = oracle("foxtrot v1 test", &pattern(0), 3, 0, &[], 128);
    let too_few = [0xff; 1560];
    let mut fields = ring_vector("Module768", &ring, 3, 1560);
    fields.extend([
        ("uniform_too_few_blake3", bytes(&hash(&ring.pack(&ring.uniform(&too_few, 3))))),
        ("noise_input", bytes(&noise)),
        ("noise", bytes(&ring.pack(&[ring.centred_binomial(&noise)]))),
        ("rounding", rounding_vector(&ring, 11)),
    ]);
    object(&fields)
}

fn paper512_vector() -> String {
    object(&ring_vector("Paper512", &Ring::paper512(), 1, 1540))
}

/// Returns what both rings have: parameters, uniform expansion, NTT, product, hints and bits.
fn ring_vector(
    name: &str,
    ring: &Ring,
    polys: usize,
    length: usize,
) -> Vec<(&'static str, String)> {
    let (context, id) = ("foxtrot v1 roted A", pattern(0));
    let uniform = ring.uniform(&oracle(context, &id, 2, 0, &[], length), polys);
    let call = object(&[
        ("context", string(context)),
        ("id", bytes(&id)),
        ("i", "2".to_string()),
        ("branch", "0".to_string()),
        ("fields", array([])),
        ("length", length.to_string()),
    ]);
    // The expansion's values, read as coefficients: a polynomial without pattern.
    let f = &uniform[0];
    let table = |predicate: &dyn Fn(u64) -> bool| {
        let bits: Vec<bool> = (0..ring.q).map(predicate).collect();
        bytes(&hash(&bytes_from_bits(&bits)))
    };
    vec![
        ("name", string(name)),
        ("n", ring.n.to_string()),
        ("q", ring.q.to_string()),
        ("uniform_input", call),
        ("uniform", bytes(&ring.pack(&uniform))),
        ("ntt_of_first", bytes(&ring.pack(&[ring.to_ntt_order(f)]))),
        ("square_of_first_blake3", bytes(&hash(&ring.pack(&[ring.multiply(f, f)])))),
        ("bits_blake3", table(&|x| ring.bit(x))),
        ("hints_blake3", table(&|x| ring.hint(x))),
        ("key_bits_own_hint_blake3", table(&|x| ring.key_bit(x, ring.hint(x)))),
    ]
}

/// Returns a few roundings to d bits and back in full, all of them as hashes of packed tables.
fn rounding_vector(ring: &Ring, d: usize) -> String {
    let there: Vec<u64> = (0..ring.q).map(|x| ring.round(x, d)).collect();
    let back: Vec<u64> = (0..1 << d).map(|y| ring.unround(y, d)).collect();
    let samples = [0, 1, 2, 5, 6, 3839, 3840, 3841, 7677, 7678, 7679, 7680];
    let sample =
        |x: u64| format!("[{x}, {}, {}]", ring.round(x, d), ring.unround(ring.round(x, d), d));
    object(&[
        ("d", d.to_string()),
        ("samples", array(samples.map(sample))),
        ("rounded_blake3", bytes(&hash(&pack(&there, d)))),
        ("unrounded_blake3", bytes(&hash(&pack(&back, ring.bits)))),
    ])
}

/// Returns one honest run, with whole messages if it is short.
fn batch_vector(mode: Mode, n: usize) -> String {
    let [id, receiver_seed, sender_seed] = seeds(n);
    let endemic = mode == Mode::Endemic;
    let inputs: Vec<bool> = (0..n).map(|i| endemic && i % 3 != 1).collect();
    let (receiver, blinded) = receiver_blind(mode, &id, n, &inputs, &receiver_seed);
    let (sender, reply) = sender_reply(mode, &id, n, &blinded, &sender_seed);
    let received = receiver_finish(receiver, &reply);
    let pairs = sender_finish(sender, &received.opening);

    let mut fields = vec![
        ("mode", string(if endemic { "endemic" } else { "rot" })),
        ("n", n.to_string()),
        ("id", bytes(&id)),
        ("receiver_seed", bytes(&receiver_seed)),
        ("sender_seed", bytes(&sender_seed)),
        ("blinded_blake3", bytes(&hash(&blinded))),
        ("reply_blake3", bytes(&hash(&reply))),
        ("opening", bytes(&received.opening)),
        ("choices", bytes(&bytes_from_bits(&received.choices))),
        ("receiver_keys", bytes(received.keys.as_flattened())),
        ("sender_keys", bytes(pairs.as_flattened().as_flattened())),
    ];
    if n <= 2 {
        fields.extend([("blinded", bytes(&blinded)), ("reply", bytes(&reply))]);
    }
    object(&fields)
}

fn string(text: &str) -> String {
    assert!(!text.contains(['"', '\\', '\n']), "would need escapes");
    format!("\"{text}\"")
}

fn bytes(bytes: &[u8]) -> String {
    string(&hex(bytes))
}

fn object(fields: &[(&str, String)]) -> String {
    let is_new =
        |(i, (name, _)): (usize, &(&str, String))| !fields[..i].iter().any(|it| it.0 == *name);
    // Readers take the last entry of a name in silence.
    assert!(fields.iter().enumerate().all(is_new), "a name stands twice");
    let field = |(name, value): &(&str, String)| format!("{}: {value}", string(name));
    lines('{', fields.iter().map(field).collect(), '}')
}

fn array(values: impl IntoIterator<Item = String>) -> String {
    lines('[', values.into_iter().collect(), ']')
}

fn number_array(values: impl IntoIterator<Item = u64>) -> String {
    let values: Vec<_> = values.into_iter().map(|value| value.to_string()).collect();
    format!("[{}]", values.join(", "))
}

fn lines(open: char, values: Vec<String>, close: char) -> String {
    if values.is_empty() {
        return format!("{open}{close}");
    }
    let inner = values.join(",\n").replace('\n', "\n  ");
    format!("{open}\n  {inner}\n{close}")
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_checked_in_vectors_match_this_programs_output() {
        // Side by side: schoolbook arithmetic takes its time.
        std::thread::scope(|scope| {
            for (name, vectors) in super::FILES {
                scope.spawn(move || is_what_is_printed(name, vectors));
            }
        });
    }

    fn is_what_is_printed(name: &str, vectors: super::Contents) {
        let crates = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates");
        let directory = match name {
            "circuit" | "join" | "okvs" | "paxos" | "vole_psi" => "psi",
            "gilboa" | "rlwe" => "triples",
            "roted_figure1" => "papers",
            "session" => "net",
            _ => "ot",
        };
        let path = format!("{crates}/{directory}/tests/vectors/{name}.json");
        let file = std::fs::read_to_string(&path).expect("the vector file is checked in");
        assert!(file == vectors(), "stale: generate {path} anew");
    }
}
