//! The contents of `resumed.json`. What the entries are stands there, under `about`.

use super::{array, bytes, object, pattern, string};
use foxtrot_reference::oracle::{Id, oracle, oracle32, sub_session_id};

const PROVENANCE: &str = "schoolbook implementation, written from docs/wire.md and what it names: \
    cargo run --release -p foxtrot-reference --bin vectors resumed \
    > crates/ot/tests/vectors/resumed.json";

const ABOUT: [&str; 6] = [
    "All byte strings are hexadecimal. Sessions have the sub-sid base_id for the base OTs of both runs: the second takes up what \
     the first one has kept.",
    "choices: of the base OTs' receiver, bit i of the byte. keys: both of each base OT, of the first run as it made them, of the second \
     as they follow. secrets: what a run keeps, both of each base OT.",
    "digest: of the terms, a list of keys and values in the order of the hello, with the fingerprints of sender and receiver, empty without TLS.",
    "ticket: the id after a session with this sid whose terms have the digest, of the protocol over the extension over base, for n base OTs \
     that have served so many uses.",
    "division: the name of a ticket of shards by its parts. run: the name of a run of triples by the sid of its first session. Both are \
     bound to the digest.",
    "A party has of keys and secrets what its role in the base OTs gives.",
];

const N: usize = 5;

type Pairs = Vec<[Vec<u8>; 2]>;

pub(super) fn vectors() -> String {
    let ids = [0, 32].map(|first| sub_session_id(&pattern(first), 0, 1, "roted-endemic"));
    let key = |i: usize, b: u8| oracle("foxtrot v1 test key", &ids[0], i, b, &[], 16);
    let made: Pairs = (0..N).map(|i| [key(i, 0), key(i, 1)]).collect();
    let kept = hashed("foxtrot v1 kept base secret", &ids[0], &made);
    let taken_up = hashed("foxtrot v1 resumed base key", &ids[1], &kept);
    let kept_again = hashed("foxtrot v1 kept base secret", &ids[1], &kept);
    let run = |id: &Id, keys: &Pairs, secrets: &Pairs| {
        let [keys, secrets] = [keys, secrets]
            .map(|it| bytes(&it.iter().flatten().flatten().copied().collect::<Vec<_>>()));
        object(&[("base_id", bytes(id)), ("keys", keys), ("secrets", secrets)])
    };
    let file = object(&[
        ("provenance", string(PROVENANCE)),
        ("wire_version", "1".to_string()),
        ("about", array(ABOUT.map(string))),
        ("n", N.to_string()),
        ("choices", bytes(&[0b1_0110])),
        ("runs", array([run(&ids[0], &made, &kept), run(&ids[1], &taken_up, &kept_again)])),
        ("digests", array([true, false].map(digest_vector))),
        ("divisions", array([division_vector()])),
        ("triples", array([run_vector()])),
        (
            "tickets",
            array(
                [(1, 128, "vole-psi", "silent-vole"), (7, 802, "paxos", "oos-802")]
                    .map(ticket_vector),
            ),
        ),
    ]);
    file + "\n"
}

fn hashed(context: &str, base_id: &Id, pairs: &Pairs) -> Pairs {
    let id = sub_session_id(base_id, 0, 0, "kept-base");
    let hash = |i: usize, b: u8, secret: &[u8]| oracle(context, &id, i, b, &[secret], 16);
    pairs.iter().enumerate().map(|(i, [zero, one])| [hash(i, 0, zero), hash(i, 1, one)]).collect()
}

/// The digest of the terms: `docs/wire/README.md`, section 3.1.
fn digest_of(sender: &[u8], receiver: &[u8], terms: &[(&str, &str)]) -> Id {
    let mut fields = vec![sender, receiver];
    for (key, value) in terms {
        fields.extend([key.as_bytes(), value.as_bytes()]);
    }
    oracle32("foxtrot v1 terms", &[0; 32], 0, 0, &fields)
}

const TERMS: [(&str, &str); 5] = [
    ("adversary", "malicious"),
    ("assumption", "lpn"),
    ("base", "roted-endemic"),
    ("job", "psi"),
    ("normalize", "none/1"),
];

fn digest_vector(has_keys: bool) -> String {
    let keys = [96, 128].map(|first| if has_keys { pattern(first).to_vec() } else { Vec::new() });
    let terms = TERMS.map(|(key, value)| array([string(key), string(value)]));
    object(&[
        ("sender", bytes(&keys[0])),
        ("receiver", bytes(&keys[1])),
        ("terms", array(terms)),
        ("digest", bytes(&digest_of(&keys[0], &keys[1], &TERMS))),
    ])
}

fn ticket_vector((uses, n, protocol, extension): (usize, u64, &str, &str)) -> String {
    let [sid, sender, receiver] = [64, 96, 128].map(pattern);
    let (base, digest) = ("roted-endemic", digest_of(&sender, &receiver, &TERMS));
    let fields =
        [&digest[..], protocol.as_bytes(), extension.as_bytes(), base.as_bytes(), &n.to_le_bytes()];
    let id = oracle32("foxtrot v1 bound base ticket", &sid, uses, 0, &fields);
    object(&[
        ("sid", bytes(&sid)),
        ("digest", bytes(&digest)),
        ("protocol", string(protocol)),
        ("extension", string(extension)),
        ("base", string(base)),
        ("n", n.to_string()),
        ("uses", uses.to_string()),
        ("ticket", bytes(&id)),
    ])
}

fn division_vector() -> String {
    let [id, coin, sender, receiver] = [160, 192, 96, 128].map(pattern);
    let (shards, receivers, senders, digest) =
        (16_u64, 1000_u64, 70_u64, digest_of(&sender, &receiver, &TERMS));
    let fields = [
        &coin[..],
        &shards.to_le_bytes(),
        &receivers.to_le_bytes(),
        &senders.to_le_bytes(),
        &digest,
    ];
    object(&[
        ("id", bytes(&id)),
        ("coin", bytes(&coin)),
        ("shards", shards.to_string()),
        ("receivers", receivers.to_string()),
        ("senders", senders.to_string()),
        ("digest", bytes(&digest)),
        ("division", bytes(&oracle32("foxtrot v1 psi division", &id, 0, 0, &fields))),
    ])
}

fn run_vector() -> String {
    let [sid, sender, receiver] = [64, 96, 128].map(pattern);
    let digest = digest_of(&sender, &receiver, &TERMS);
    object(&[
        ("sid", bytes(&sid)),
        ("digest", bytes(&digest)),
        ("run", bytes(&oracle32("foxtrot v1 triples run", &sid, 0, 0, &[&digest]))),
    ])
}
