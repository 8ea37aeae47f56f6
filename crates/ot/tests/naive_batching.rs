//! The attack on OT extension over naively batched base OTs (McQuoid, Rosulek, Roy, "Batching Base
//! Oblivious Transfers", Lemmas 1 and 2): a sender of the extension that sends one message in all
//! base OTs makes their keys equal, and reads the receiver's choices off the corrections. Mounted on
//! OOS's rows for any code, over a base OT that does not bind keys to their index, and over all of
//! ours.

use foxtrot_kernel::{
    Backend,
    curve::{self, Point, ristretto},
};
use foxtrot_ot::{
    Bits, Direction, Error, Misbehaved, Seed, Session, Sid,
    base::{self, BaseOt, Block, Choice, Functionality, SenderKeys, bdgm, pvw},
    extension::{Extension, Receiver, one_of_n, registry},
    pair::{Pair, PairParty},
    popf::{Feistel2, Popf, Ristretto},
};

/// Base OTs, and so the length of the codes.
const M: usize = 128;

fn session(counter: u64) -> Session {
    Session::new(Sid::from_bytes([1; 32])).sub("test", counter, Direction::default())
}

fn seed(byte: u8) -> Seed {
    Seed::from_bytes([byte; 32])
}

/// A binary code of length M for choices of that many bits.
struct Code {
    bits: u32,
    encode: fn(usize) -> u128,
}

/// One bit, M times: 1-of-2 OT, as in IKNP and KOS.
const REPETITION: Code = Code { bits: 1, encode: |c| if c == 1 { u128::MAX } else { 0 } };

/// The simplex code, with a bit that is always 0: [128, 7, 64]. No codeword is another's complement.
const SIMPLEX: Code = Code {
    bits: 7,
    encode: |c| (0..M).fold(0, |word, y| word | u128::from((c & y).count_ones() % 2) << y),
};

/// The receiver of an extension, honest: rows U = K ⊕ R of OOS for these choices, where column j of
/// K is PRG(k_j0) ⊕ PRG(k_j1) and row i of R the codeword of choice i.
fn corrections(keys: &SenderKeys, code: &Code, choices: &[usize]) -> Vec<u128> {
    let stream = |key: &Block| {
        let mut stream = vec![0; choices.len().div_ceil(8)];
        session(0).oracle("foxtrot test PRG").query(0, 0).field(key).fill(&mut stream);
        stream
    };
    let mut rows: Vec<u128> = choices.iter().map(|&c| (code.encode)(c)).collect();
    for (j, pair) in keys.pairs().iter().enumerate() {
        let [zero, one] = pair.each_ref().map(stream);
        for (i, row) in rows.iter_mut().enumerate() {
            *row ^= u128::from((zero[i / 8] ^ one[i / 8]) >> (i % 8) & 1) << j;
        }
    }
    rows
}

/// The choices that a row may stand for, if all columns of K are equal: row i of K is then 0 or all
/// ones, and what was sent is a codeword or its complement.
fn candidates(code: &Code, row: u128) -> Vec<usize> {
    let fits = |c: &usize| [row, !row].contains(&(code.encode)(*c));
    (0..1 << code.bits).filter(fits).collect()
}

fn some_choices(code: &Code, n: usize) -> Vec<usize> {
    (0..n).map(|i| (i * 37 + i / 5) % (1 << code.bits)).collect()
}

/// Counts the choices that the attacker knows for certain.
fn read(keys: &SenderKeys, code: &Code) -> usize {
    let choices = some_choices(code, 200);
    let rows = corrections(keys, code, &choices);
    rows.iter().zip(&choices).filter(|(row, c)| candidates(code, **row) == [**c]).count()
}

/// Bytes of φ.
const PHI_LEN: usize = Feistel2::<Ristretto>::PHI_LEN;

/// Diffie–Hellman with a POPF, batched naively: no key knows its index, or its batch.
fn naive_keys(phis: &[u8], a: u8) -> SenderKeys {
    let session = session(0);
    let oracle = session.oracle("foxtrot test naive");
    let backend = Backend::best();
    let keys = phis.chunks(PHI_LEN).map(|phi| {
        let [mut zero, mut one] = [[Point::IDENTITY], [Point::IDENTITY]];
        naive_popf().evaluate(0, phi, [&mut zero, &mut one]);
        [zero, one].map(|point| {
            let (mut product, mut shared) = ([Point::IDENTITY], [[0; 32]]);
            curve::mul(backend, &[[a; 32]], &point, &mut product);
            ristretto::encode(backend, &product, &mut shared);
            oracle.query(0, 0).field(&shared[0]).finish()
        })
    });
    SenderKeys::new(keys.collect())
}

fn naive_popf() -> Feistel2<Ristretto> {
    Popf::new(&session(0))
}

/// φ with b·G at each choice.
fn naive_phis(choices: &[u8]) -> Vec<u8> {
    let mut phis = vec![0; choices.len() * PHI_LEN];
    for (k, (phi, choice)) in phis.chunks_mut(PHI_LEN).zip(choices).enumerate() {
        let byte = u8::try_from(k).unwrap();
        let mut point = [Point::IDENTITY];
        curve::mul_base(Backend::best(), &[[100 + byte; 32]], &mut point);
        naive_popf().program(0, &[*choice], &point, &[byte; 48], phi);
    }
    phis
}

#[test]
fn over_a_naive_base_ot_choices_of_a_code_are_read_off() {
    let honest = naive_phis(&[0, 1].repeat(M / 2));
    let one = &honest[..PHI_LEN];
    let replayed = naive_keys(&one.repeat(M), 9);
    // Lemma 1.
    assert!(replayed.pairs().iter().all(|pair| pair == &replayed.pairs()[0]));
    // Lemma 2: all of 200 choices out of 128 each.
    assert_eq!(read(&replayed, &SIMPLEX), 200);
    // A receiver that follows the protocol reads none.
    assert_eq!(read(&naive_keys(&honest, 9), &SIMPLEX), 0);
}

/// Codewords of the repetition code are complements of each other: what comes is the choice, masked
/// by a bit of a key stream that the attacker lacks. A second batch with the same messages has the
/// same stream, and then the sum of two choices shows.
#[test]
fn the_attack_on_the_repetition_code_takes_two_batches() {
    let one = naive_phis(&[1]);
    let keys = naive_keys(&one.repeat(M), 9);
    assert_eq!(read(&keys, &REPETITION), 0);
    let choices = [0, 3].map(|skip| some_choices(&REPETITION, 210)[skip..skip + 200].to_vec());
    let batches = choices.each_ref().map(|choices| corrections(&keys, &REPETITION, choices));
    for i in 0..200 {
        let sum = batches[0][i] ^ batches[1][i];
        assert_eq!(sum, (REPETITION.encode)(choices[0][i] ^ choices[1][i]));
    }
    assert_ne!(choices[0], choices[1]);
}

/// Returns the length of the head of a receiver's message that belongs to the whole batch; `None`
/// if all of it does.
fn common(message_len: usize, n: usize) -> Option<usize> {
    match message_len {
        32 => None,
        len => Some(len % n),
    }
}

/// The sender's keys of M instances, all messages of the receiver but those of the batch replayed
/// from its first instance; or who ended the run.
fn replayed(base: &dyn BaseOt, counter: u64) -> Result<SenderKeys, (PairParty, Error)> {
    let choice = match base.info().functionality {
        Functionality::Random => Choice::Random(M),
        _ => Choice::Given(Bits::from_bools([true; M])),
    };
    let sender = base.sender(session(counter), M, seed(1)).unwrap();
    // The messages are those of batch 0, whatever the sender believes.
    let receiver = base.receiver(session(0), choice, seed(2)).unwrap();
    let done = Pair::new(sender, receiver).run_through(|from, message| match from {
        PairParty::Receiver => repeated(&message),
        PairParty::Sender => message,
    });
    done.map(|(sender, _)| sender)
}

/// The message with its first instance in the place of all.
fn repeated(message: &[u8]) -> Vec<u8> {
    let Some(common) = common(message.len(), M) else { return message.to_vec() };
    let (head, instances) = message.split_at(common);
    [head, &instances[..instances.len() / M].repeat(M)].concat()
}

/// No choice can be read off the corrections of a receiver with these keys, and no key occurs twice.
fn assert_reads_nothing(batches: &[SenderKeys], name: &str) {
    for keys in batches {
        assert_eq!(read(keys, &SIMPLEX), 0, "{name}");
        let rows = corrections(keys, &SIMPLEX, &some_choices(&SIMPLEX, 200));
        assert!(rows.iter().all(|row| candidates(&SIMPLEX, *row).is_empty()), "{name}");
    }
    let mut all: Vec<Block> =
        batches.iter().flat_map(|keys| keys.pairs().as_flattened().to_vec()).collect();
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count, "{name}: a key occurs twice");
}

/// Base OTs whose sender draws its messages. Lemma 2 does not apply: the base keys are these
/// messages, and nothing that the receiver sends has a say in them. What could be equal is what
/// masks them: [`masks_of_repeated_instances_differ`].
const DRAWN: [&str; 4] = ["bdgm", "pvw", "rot-from-ot:bdgm", "rot-from-ot:pvw"];

/// Base OTs in which the receiver of [`replayed`], which is honest, gives up: the challenge is not
/// for what it sent, or the messages do not decrypt.
const CHALLENGED: [&str; 4] = ["bdgm", "rot-from-ot:bdgm", "csw", "chou-orlandi:chosen"];

/// Base OTs in which the receiver opens what it committed to under the sub-sid: messages of another
/// batch end the run.
const COMMITTED: [&str; 2] = ["roted", "rot-from-ot:pvw"];

#[test]
fn the_attack_reads_no_choice_over_any_base_ot_of_the_registry() {
    let mut keys_from_messages = Vec::new();
    for base in base::registry() {
        let name = base.info().name;
        let batches = [0, 1].map(|counter| replayed(*base, counter));
        if CHALLENGED.contains(&name) {
            for batch in batches {
                let (party, error) = batch.map(drop).unwrap_err();
                assert_eq!(party, PairParty::Receiver, "{name}");
                assert!(matches!(error, Error::Misbehaved(_)), "{name}: {error}");
            }
            continue;
        }
        let mismatch = Err((PairParty::Sender, Error::Misbehaved(Misbehaved::CommitmentMismatch)));
        let [here, elsewhere] = batches;
        let mut batches = vec![here.unwrap()];
        if COMMITTED.contains(&name) {
            assert_eq!(elsewhere.map(drop), mismatch, "{name}");
        } else {
            batches.push(elsewhere.unwrap());
        }
        assert_reads_nothing(&batches, name);
        if !DRAWN.contains(&name) {
            keys_from_messages.push(name);
        }
    }
    // Those of Lemma 2.
    let of_lattices = ["roted", "roted-endemic"];
    assert_eq!(keys_from_messages[..2], of_lattices);
    let (pairs, others) = keys_from_messages[2..].split_at(13);
    assert!(pairs.iter().all(|name| name.starts_with("mcquoid-rosulek-roy:")));
    assert_eq!(others, ["masny-rindal", "masny-rindal-reuse", "chou-orlandi", "naor-pinkas"]);
}

/// The masks of a batch: the last bytes of every branch of the ciphertexts, without the messages.
fn masks(ciphertexts: &[u8], messages: &SenderKeys) -> SenderKeys {
    let branches = ciphertexts.chunks(ciphertexts.len() / (2 * M));
    let masks = branches.zip(messages.pairs().as_flattened()).map(|(branch, message)| {
        let masked = branch.last_chunk::<16>().unwrap();
        core::array::from_fn(|k| masked[k] ^ message[k])
    });
    let masks: Vec<Block> = masks.collect();
    SenderKeys::new(masks.as_chunks().0.to_vec())
}

/// A corrupt receiver of `bdgm` that repeats one instance, and answers the challenge as if it knew all
/// of it.
fn masks_of_bdgm(counter: u64) -> SenderKeys {
    let choices = Bits::from_bools([true; M]);
    let (_, blinded) = bdgm::Receiver::start(session(0), choices, seed(2)).unwrap();
    let blinded = bdgm::Blinded::decode(&repeated(blinded.as_bytes()), M).unwrap();
    let messages = || SenderKeys::new(vec![[[7; 16]; 2]; M]);
    let (sender, _) =
        bdgm::Sender::challenge(session(counter), &blinded, messages(), seed(1)).unwrap();
    let mut answers = vec![0; 32 * M];
    for (i, w) in (0..).zip(answers.chunks_mut(32)) {
        let oracle = session(counter).oracle("foxtrot v1 bdgm challenge seed");
        oracle.query(i, 0).field(&[1; 32]).fill(w);
    }
    let oracle = session(counter).oracle("foxtrot v1 bdgm response");
    let answer: [u8; 32] = oracle.query(0, 0).field(&answers).finish();
    let answer = bdgm::Response::decode(&answer, M).unwrap();
    let (ciphertexts, _) = sender.finish(&answer).unwrap();
    masks(ciphertexts.as_bytes(), &messages())
}

/// A corrupt receiver of `pvw` that sends one public key for all instances.
fn masks_of_pvw(counter: u64) -> SenderKeys {
    let choices = Bits::from_bools([true; M]);
    let (_, keys) = pvw::Receiver::start(session(0), choices, seed(2)).unwrap();
    let keys = pvw::PublicKeys::decode(&repeated(keys.as_bytes()), M).unwrap();
    let messages = || SenderKeys::new(vec![[[7; 16]; 2]; M]);
    let (ciphertexts, _) = pvw::send(session(counter), &keys, messages(), seed(1)).unwrap();
    masks(ciphertexts.as_bytes(), &messages())
}

/// Neither in a batch nor in two with the same messages: the sum of two ciphertexts would be that of
/// two base keys, from both of which a receiver of the extension makes its corrections. `rot-from-ot`
/// adds to the messages of these what is hashed with the index.
#[test]
fn masks_of_repeated_instances_differ() {
    assert_reads_nothing(&[0, 1].map(masks_of_bdgm), "bdgm");
    assert_reads_nothing(&[0, 1].map(masks_of_pvw), "pvw");
}

/// Returns the message of a receiver of 1-of-2 OTs for 512 zeros, over equal base keys.
fn rows_of(extension: Extension, counter: u64) -> Vec<u8> {
    let keys = naive_keys(&naive_phis(&[0]).repeat(M), 9);
    let (mut receiver, _) = Receiver::new(session(counter), extension, keys, seed(3)).unwrap();
    let mut corrections = Vec::new();
    let choice = Choice::Given(Bits::from_bools([false; 512]));
    drop(receiver.extend(vec![(choice, &mut corrections)]).unwrap());
    corrections
}

/// Returns the message of a receiver of 1-of-N OTs over equal base keys, for the word 0, whose
/// codeword is 0.
fn rows_of_words(extension: one_of_n::Extension, counter: u64) -> Vec<u8> {
    let parameters = extension.parameters();
    let keys = naive_keys(&naive_phis(&[0]).repeat(parameters.length), 9);
    let mut receiver = one_of_n::Receiver::new(session(counter), extension, keys, seed(3)).unwrap();
    let mut corrections = Vec::new();
    let words = vec![0; 512 * parameters.word_len()];
    drop(receiver.extend(512, &words, &mut corrections).unwrap());
    corrections
}

/// Should a base OT fail so, rows still differ: its keys are hashed with the row and the sub-sid
/// before they are used.
#[test]
fn our_extensions_hash_equal_base_keys_apart() {
    let mut all = Vec::new();
    for extension in registry() {
        // Trees of four leaves have two base OTs each.
        let rows = match extension.info().name {
            "kos" | "iknp" => M,
            "softspoken-2" => M / 2,
            _ => continue,
        };
        let batches = [0, 1].map(|counter| rows_of(extension, counter));
        all.push((extension.info().name, rows, batches));
    }
    for extension in one_of_n::registry() {
        if ["oos", "oos-802"].contains(&extension.info().name) {
            let rows = extension.parameters().length;
            let batches = [0, 1].map(|counter| rows_of_words(extension, counter));
            all.push((extension.info().name, rows, batches));
        }
    }
    all.sort_unstable();
    let names: Vec<_> = all.iter().map(|(name, ..)| *name).collect();
    assert_eq!(names, ["iknp", "kos", "oos", "oos-802", "softspoken-2"]);
    for (name, rows, batches) in all {
        let mut first_bytes = Vec::new();
        for corrections in &batches {
            let row = corrections.len() / rows;
            // Behind the commitment, if there is one.
            let corrections = &corrections[corrections.len() - row * rows..];
            first_bytes.extend(corrections.chunks(row).map(|row| row[..64].to_vec()));
        }
        assert_eq!(first_bytes.len(), 2 * rows);
        first_bytes.sort_unstable();
        assert!(first_bytes.windows(2).all(|two| two[0] != two[1]), "{name}");
    }
}
