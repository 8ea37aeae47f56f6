//! The 1-of-N extensions' vectors that `reference/` generated, on every backend
//! (`vectors/one_of_n.json`).

use foxtrot_ot::{
    Backend, Bits, Seed, Session, Sid,
    base::{Adversary, Block},
    extension::{
        code::{Code, Family, Linear},
        one_of_n::{Places, Receiver, Sender, find, registry},
        oos,
    },
    ideal,
};
use serde_json::Value;

fn vectors() -> Value {
    serde_json::from_str(include_str!("vectors/one_of_n.json")).unwrap()
}

fn bytes(value: &Value) -> Vec<u8> {
    let hex = value.as_str().unwrap();
    (0..hex.len()).step_by(2).map(|k| u8::from_str_radix(&hex[k..k + 2], 16).unwrap()).collect()
}

fn array<const L: usize>(value: &Value) -> [u8; L] {
    bytes(value).try_into().unwrap()
}

fn assert_hash(value: &[u8], vector: &Value, name: &str) {
    assert_eq!(blake3::hash(value).as_bytes().as_slice(), bytes(&vector[name]), "{name}");
}

#[test]
fn codes_match_the_test_vectors_on_every_backend() {
    for vector in vectors()["codes"].as_array().unwrap() {
        let (word, codeword) = (bytes(&vector["word"]), bytes(&vector["codeword"]));
        for backend in Backend::all() {
            let session = Session::new(Sid::from_bytes(array(&vector["id"]))).with_backend(backend);
            // One by one, and among others.
            for n in [1, 20] {
                let mut codewords = vec![0; n * codeword.len()];
                let words = word.repeat(n);
                match vector["protocol"].as_str().unwrap() {
                    "oos" => Linear::Bch512.build().encode(backend, &words, &mut codewords),
                    "oos-802" => Linear::Bch802.build().encode(backend, &words, &mut codewords),
                    "oos-128" => {
                        Linear::Repetition128.build().encode(backend, &words, &mut codewords);
                    }
                    _ => {
                        let code = Family::Pseudorandom.of_session(&session);
                        code.encode(backend, &words, &mut codewords);
                    }
                }
                assert_eq!(codewords, codeword.repeat(n));
            }
        }
    }
}

struct Run<'a> {
    vector: &'a Value,
    backend: Backend,
}

impl Run<'_> {
    fn session(&self) -> Session {
        // A fresh session has the sid itself as its namespace.
        Session::new(Sid::from_bytes(array(&self.vector["id"]))).with_backend(self.backend)
    }

    fn base(
        &self,
        length: usize,
    ) -> (foxtrot_ot::base::SenderKeys, foxtrot_ot::base::ReceiverKeys) {
        let oracle = self.session().oracle("foxtrot v1 test base key");
        let delta = Bits::decode("delta", &bytes(&self.vector["delta"]), length).unwrap();
        ideal::of_keys(delta, |j, b| oracle.query(j as u64, b).finish())
    }

    fn seed(&self, name: &str) -> Seed {
        Seed::from_bytes(array(&self.vector[name]))
    }

    /// Number, n and words of the batches, and what is to come of them.
    fn batches(&self, word_len: usize) -> impl Iterator<Item = (usize, Vec<u8>, &Value)> {
        let batches = self.vector["batches"].as_array().unwrap().iter().enumerate();
        batches.map(move |(number, batch)| {
            let n = usize::try_from(batch["n"].as_u64().unwrap()).unwrap();
            let mut words = vec![0; n * word_len];
            let oracle = self.session().oracle("foxtrot v1 test words");
            oracle.query(number as u64, 0).fill(&mut words);
            (n, words, batch)
        })
    }

    /// Every message and the keys.
    fn keys(&self) {
        let name = self.vector["protocol"].as_str().unwrap();
        let [malicious, semi_honest] =
            [Adversary::Malicious, Adversary::SemiHonest].map(|adversary| find(name, adversary));
        let extension = malicious.or(semi_honest).unwrap();
        assert_eq!(extension.info().name, name);
        let parameters = extension.parameters();
        let (pairs, chosen) = self.base(parameters.length);
        let receiver = Receiver::new(self.session(), extension, pairs, self.seed("receiver_seed"));
        let sender = Sender::new(self.session(), extension, chosen, self.seed("sender_seed"));
        let (mut receiver, mut sender) = (receiver.unwrap(), sender.unwrap());
        for (n, words, batch) in self.batches(parameters.word_len()) {
            let mut corrections = Vec::new();
            let unanswered = receiver.extend(n, &words, &mut corrections).unwrap();
            assert_hash(&corrections, batch, "corrections_blake3");
            let (unverified, challenge) = sender.absorb(n, &corrections).unwrap();
            let challenge = challenge.map_or(Vec::new(), Vec::from);
            assert_eq!(challenge, bytes(&batch["challenge"]));
            let mut keys: Vec<Block> = vec![[0; 16]; n];
            let proof = receiver.finish(unanswered, &challenge, &mut keys).unwrap();
            assert_hash(&proof, batch, "proof_blake3");
            assert_hash(keys.as_flattened(), batch, "receiver_keys_blake3");
            let choices = if parameters.word_bits == 1 { 2 } else { 3 };
            let mut all = vec![[0; 16]; n * choices];
            sender.finish(unverified, &proof, Places::All(choices, &mut all)).unwrap();
            assert_hash(all.as_flattened(), batch, "sender_keys_blake3");
        }
    }

    /// The rows of a linear code without the check.
    fn rows(&self, linear: Linear) {
        let extension = oos::semi_honest(linear);
        let parameters = extension.parameters();
        let (pairs, chosen) = self.base(parameters.length);
        let mut receiver =
            Receiver::new(self.session(), extension, pairs, self.seed("receiver_seed")).unwrap();
        let mut sender =
            Sender::new(self.session(), extension, chosen, self.seed("sender_seed")).unwrap();
        for (n, words, batch) in self.batches(parameters.word_len()) {
            let mut corrections = Vec::new();
            let unanswered = receiver.extend(n, &words, &mut corrections).unwrap();
            let (unverified, _) = sender.absorb(n, &corrections).unwrap();
            let mut rows = vec![0; n * parameters.row_len()];
            receiver.finish_rows(unanswered, &[], &mut rows).unwrap();
            assert_hash(&rows, batch, "receiver_rows_blake3");
            sender.finish(unverified, &[], Places::Rows(&mut rows)).unwrap();
            assert_hash(&rows, batch, "sender_rows_blake3");
        }
    }
}

#[test]
fn runs_match_the_test_vectors_on_every_backend() {
    let file = vectors();
    let runs = file["runs"].as_array().unwrap();
    for extension in registry() {
        let name = extension.info().name;
        assert!(runs.iter().any(|run| run["protocol"] == name), "{name}");
    }
    for vector in runs {
        for backend in Backend::all() {
            let run = Run { vector, backend };
            run.keys();
            match vector["protocol"].as_str().unwrap() {
                "oos-semi-honest" => run.rows(Linear::Bch512),
                "oos-802-semi-honest" => run.rows(Linear::Bch802),
                "oos-128-semi-honest" => run.rows(Linear::Repetition128),
                _ => {}
            }
        }
    }
}
