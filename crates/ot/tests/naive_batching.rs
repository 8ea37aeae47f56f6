//! The attack on OT extension over naively batched base OTs (McQuoid, Rosulek, Roy, "Batching Base
//! Oblivious Transfers", Lemmas 1 and 2): a sender of the extension that sends one message in all
//! base OTs makes their keys equal, and reads the receiver's choices off the corrections. Mounted on
//! OOS's rows for any code, over a base OT that does not bind keys to their index, and over all of
//! ours.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use curve25519_dalek::{RistrettoPoint, Scalar};
use foxtrot_ot::{
    Bits, Direction, Error, Seed, Session, Sid,
    base::{self, BaseOt, Block, Choice, Functionality, SenderKeys},
    extension::{AnyReceiver, registry},
    pair::{Pair, Party},
    popf::{Feistel2, Ristretto},
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

/// How many choices the attacker knows for certain.
fn read(keys: &SenderKeys, code: &Code) -> usize {
    let choices = some_choices(code, 200);
    let rows = corrections(keys, code, &choices);
    rows.iter().zip(&choices).filter(|(row, c)| candidates(code, **row) == [**c]).count()
}

/// Diffie–Hellman with a POPF, batched naively: no key knows its index, or its batch.
fn naive_keys(phis: &[u8], a: u8) -> SenderKeys {
    let session = session(0);
    let oracle = session.oracle("foxtrot test naive");
    let a = Scalar::from_bytes_mod_order([a; 32]);
    let keys = phis.chunks(Feistel2::<Ristretto>::ENCODED_LEN).map(|phi| {
        let popf = naive_popf();
        let digests = popf.open(0, phi);
        [0, 1].map(|j| {
            let mut shared = [0; 32];
            popf.evaluate(&mut popf.room(1), &digests, phi, j, |_, point| {
                shared = (point * a).compress().to_bytes();
            });
            oracle.query(0, 0).field(&shared).finish()
        })
    });
    SenderKeys::of_messages(keys.collect())
}

fn naive_popf() -> Feistel2<Ristretto> {
    let oracle = |context| session(0).keyed(context, &[]);
    let (h1, t, h_prime) = (oracle("test H1"), oracle("test T"), oracle("test H'"));
    Feistel2::new(Ristretto, h1, t, h_prime)
}

/// φ with b·G at each choice.
fn naive_phis(choices: &[u8]) -> Vec<u8> {
    let len = Feistel2::<Ristretto>::ENCODED_LEN;
    let mut phis = vec![0; choices.len() * len];
    let popf = naive_popf();
    for (k, (phi, choice)) in phis.chunks_mut(len).zip(choices).enumerate() {
        let b = Scalar::from(1000 + k as u64);
        let r = [u8::try_from(k).unwrap(); 48];
        let difference = |_, hash: &RistrettoPoint, t: &mut [u8]| {
            t.copy_from_slice((RistrettoPoint::mul_base(&b) - hash).compress().as_bytes());
        };
        popf.program(&mut popf.room(1), 0, &[*choice], &[r], difference, phi);
    }
    phis
}

#[test]
fn over_a_naive_base_ot_choices_of_a_code_are_read_off() {
    let honest = naive_phis(&[0, 1].repeat(M / 2));
    let one = &honest[..Feistel2::<Ristretto>::ENCODED_LEN];
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
fn with_the_repetition_code_it_takes_two_batches() {
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

/// How much of a receiver's message belongs to the whole batch, at its beginning; `None` if all
/// does.
fn common(message_len: usize, n: usize) -> Option<usize> {
    match message_len {
        32 => None,
        len => Some(len % n),
    }
}

/// The sender's keys of M instances, all messages of the receiver but those of the batch replayed
/// from its first instance.
fn replayed(base: &dyn BaseOt, counter: u64) -> Result<SenderKeys, Error> {
    let choice = match base.info().functionality {
        Functionality::Random => Choice::Random(M),
        _ => Choice::Given(Bits::from_bools([true; M])),
    };
    let sender = base.sender(session(counter), M, seed(1)).unwrap();
    // The messages are those of batch 0, whatever the sender believes.
    let receiver = base.receiver(session(0), choice, seed(2)).unwrap();
    let done = Pair::new(sender, receiver).run_through(|from, message| {
        match (from, common(message.len(), M)) {
            (Party::Receiver, Some(common)) => {
                let (head, instances) = message.split_at(common);
                [head, &instances[..instances.len() / M].repeat(M)].concat()
            }
            _ => message,
        }
    });
    done.map(|(sender, _)| sender).map_err(|(_, error)| error)
}

#[test]
fn over_every_base_ot_of_the_registry_the_attack_reads_nothing() {
    let mut attacked = Vec::new();
    for base in base::registry() {
        let name = base.info().name;
        let batches = [0, 1].map(|counter| replayed(*base, counter));
        // A check may end the run; where it does not, no two keys are equal.
        let keys: Vec<_> = batches.iter().flatten().collect();
        for keys in &keys {
            assert_eq!(read(keys, &SIMPLEX), 0, "{name}");
            let choices = some_choices(&SIMPLEX, 200);
            let rows = corrections(keys, &SIMPLEX, &choices);
            assert!(rows.iter().all(|row| candidates(&SIMPLEX, *row).is_empty()), "{name}");
        }
        let all: Vec<Block> =
            keys.iter().flat_map(|keys| keys.pairs().as_flattened().to_vec()).collect();
        let mut distinct = all.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), all.len(), "{name}: a key occurs twice");
        if !keys.is_empty() {
            attacked.push(name);
        }
    }
    // Those whose checks do not stand in the way.
    for name in ["roted-endemic", "mcquoid-rosulek-roy:feistel2:ristretto", "pvw"] {
        assert!(attacked.contains(&name), "{name} is not attacked: {attacked:?}");
    }
}

/// Should a base OT fail so, rows still differ: its keys are hashed with the row and the sub-sid
/// before they are used.
#[test]
fn our_extensions_hash_equal_base_keys_apart() {
    let one = naive_phis(&[0]);
    for extension in registry().filter(|it| ["kos", "iknp"].contains(&it.info().name)) {
        let rows = |counter| {
            let keys = naive_keys(&one.repeat(M), 9);
            let (mut receiver, _): (AnyReceiver, _) =
                extension.receiver(session(counter), keys, seed(3)).unwrap();
            let mut corrections = Vec::new();
            let choice = Choice::Given(Bits::from_bools([false; 512]));
            drop(receiver.extend(choice, &mut corrections).unwrap());
            // Behind the commitment, if there is one.
            let rows = &corrections[corrections.len() % M..];
            rows.chunks(rows.len() / M).map(|row| row[..64].to_vec()).collect::<Vec<_>>()
        };
        let mut all = [rows(0), rows(1)].concat();
        all.sort_unstable();
        assert!(all.windows(2).all(|two| two[0] != two[1]));
    }
}
