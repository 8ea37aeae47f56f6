//! Attacks of the receiver of a 1-of-N extension: every message is changed, and the effect is what
//! the functionality allows, a guess of bits of Δ.

use crate::support::one_of_n::{Runs, answer, base, bytes, seed, session, verify};
use foxtrot_ot::{
    Backend, Decode, Error, Misbehaved, Seed, Session, Sid, Usage,
    extension::{
        code::Linear,
        one_of_n::{Extension, Places, Receiver, Sender, registry},
        oos,
    },
};

const CHECK: Error = Error::Misbehaved(Misbehaved::ConsistencyCheck);

/// Bytes of a row of corrections of a batch of at most 448.
const COLUMNS: usize = 512 / 8;

type States = (Receiver, Sender);

fn states_in(session: impl Fn() -> Session, extension: Extension) -> States {
    let (pairs, chosen) = base(extension.parameters().length);
    let receiver = Receiver::new(session(), extension, pairs, seed(5)).unwrap();
    (receiver, Sender::new(session(), extension, chosen, seed(6)).unwrap())
}

fn states(extension: Extension) -> States {
    states_in(session, extension)
}

/// Bit j of Δ of [`base`] of 512.
fn delta(j: usize) -> bool {
    base(512).1.choices().get(j).into()
}

fn oos() -> Extension {
    oos::malicious(Linear::Bch512)
}

/// A batch of 40 OTs, its corrections spoilt, then its proof.
fn spoilt_batch(
    extension: Extension,
    corrections: impl FnOnce(&mut Vec<u8>),
    proof: impl FnOnce(&mut Vec<u8>),
) -> Result<(), Error> {
    let (mut receiver, mut sender) = states(extension);
    let words = bytes(1, 40 * extension.parameters().word_len());
    let mut message = Vec::new();
    let unanswered = receiver.extend(40, &words, &mut message).unwrap();
    corrections(&mut message);
    let (unverified, challenge) = sender.absorb(40, &message)?;
    let challenge = challenge.as_slice().as_flattened();
    let mut answer = answer(&mut receiver, 40, unanswered, challenge).unwrap();
    proof(&mut answer);
    verify(&mut sender, 40, unverified, &answer)
}

#[test]
fn every_message_of_the_wrong_length_is_refused() {
    // docs/wire: R0-2.
    let length = |message, expected, got| Error::from(Decode::Length { message, expected, got });
    for extension in registry() {
        let name = extension.info().name;
        let mut runs = Runs::new(extension, Backend::best());
        let words = vec![0; 9 * extension.parameters().word_len()];
        let mut message = Vec::new();
        let batch = runs.receiver.extend(9, &words, &mut message).unwrap();
        for wrong in [0, 1, message.len() - 1, message.len() + 1] {
            let refused = runs.sender.absorb(9, &vec![0; wrong]);
            let expected = length("Corrections", message.len(), wrong);
            assert_eq!(refused.map(drop).unwrap_err(), expected, "{name}");
        }
        let expected = length("Challenge", extension.challenge_len(), 31);
        assert_eq!(
            answer(&mut runs.receiver, 9, batch, &[0; 31]).map(drop),
            Err(expected),
            "{name}"
        );
        let (unverified, _) = runs.sender.absorb(9, &message).unwrap();
        let expected = length("Proof", extension.proof_len(), 1);
        assert_eq!(verify(&mut runs.sender, 9, unverified, &[0]), Err(expected), "{name}");
        assert_eq!(runs.sender.delta().map(drop), Err(Usage::SessionEnded), "{name}");
    }
    let expected = 8 * (512 + 85);
    for wrong in [0, 8, expected - 8, expected - 1, expected + 1] {
        let refused = spoilt_batch(oos(), |_| (), |proof| proof.resize(wrong, 0));
        assert_eq!(refused.unwrap_err(), length("Proof", expected, wrong));
    }
}

/// Δ decides whether a change of one column is seen: for a random Δ that is every second time.
#[test]
fn one_wrong_column_is_caught_exactly_if_delta_has_it() {
    let mut caught = 0;
    for j in 0..512 {
        let spoil = |message: &mut Vec<u8>| message[j * COLUMNS + 2] ^= 4;
        let result = spoilt_batch(oos(), spoil, |_| ());
        assert_eq!(result, if delta(j) { Err(CHECK) } else { Ok(()) }, "column {j}");
        caught += u32::from(result.is_err());
    }
    // Six standard deviations of √128.
    assert!((256 - 68..=256 + 68).contains(&caught), "{caught} of 512");
}

/// One row that is no codeword at all, far from every codeword.
#[test]
fn a_row_that_is_no_codeword_is_caught() {
    for (linear, seed) in [(Linear::Repetition128, 1), (Linear::Bch512, 2), (Linear::Bch802, 3)] {
        let length = oos::malicious(linear).parameters().length;
        let noise = bytes(seed, length);
        for row in [0, 17, 39] {
            let spoil = |message: &mut Vec<u8>| {
                for (j, column) in message.chunks_mut(COLUMNS).enumerate() {
                    column[row / 8] ^= (noise[j] & 1) << (row % 8);
                }
            };
            assert_eq!(spoilt_batch(oos::malicious(linear), spoil, |_| ()), Err(CHECK));
        }
    }
}

/// Shows the leakage that the functionality allows: a receiver that knows Δ in the columns where it
/// deviates passes.
#[test]
fn a_receiver_that_has_guessed_the_bits_passes_and_one_that_has_not_is_caught() {
    let guess_and_deviate = |guess: bool, j: usize| {
        spoilt_batch(
            oos(),
            // In the last element, which h takes as it is.
            |message| message[j * COLUMNS + COLUMNS - 1] ^= 0x80,
            |proof| proof[8 * (85 + j) + 7] ^= if guess { 0x80 } else { 0 },
        )
    };
    for j in [0, 1, 2, 85, 300, 511] {
        assert_eq!(guess_and_deviate(delta(j), j), Ok(()), "column {j}, the right guess");
        assert_eq!(guess_and_deviate(!delta(j), j), Err(CHECK), "column {j}, the wrong guess");
    }
}

/// Shows why there is a check: with the unit vectors for rows, every key tells a bit of Δ. Without
/// the check the receiver reads all of it; with the check it is caught.
#[test]
fn the_check_stops_a_receiver_that_could_read_delta_without_it() {
    let n = 512;
    let spoil = |message: &mut [u8]| {
        let columns = message.len() / 512;
        for (j, column) in message.chunks_mut(columns).enumerate() {
            column[j / 8] ^= 1 << (j % 8);
        }
    };
    let extension = oos::semi_honest(Linear::Bch512);
    let (pairs, chosen) = base(512);
    let mut receiver = Receiver::new(session(), extension, pairs, seed(5)).unwrap();
    let mut sender = Sender::new(session(), extension, chosen, seed(6)).unwrap();
    let (mut message, words) = (Vec::new(), vec![0; n * 11]);
    let unanswered = receiver.extend(n, &words, &mut message).unwrap();
    spoil(&mut message);
    let (unverified, _) = sender.absorb(n, &message).unwrap();
    let (mut of_sender, mut of_receiver) = (vec![[0; 16]; n], vec![[0; 16]; n]);
    sender.finish(unverified, &[], Places::Words(&words, &mut of_sender)).unwrap();
    receiver.finish(unanswered, &[], &mut of_receiver).unwrap();
    // q_i = t_i ⊕ (bit i of Δ at place i): the key of the word 0 is the receiver's iff Δ_i = 0.
    let read: Vec<bool> = of_sender.iter().zip(&of_receiver).map(|(a, b)| a != b).collect();
    assert_eq!(read, (0..n).map(delta).collect::<Vec<_>>(), "Δ, bit by bit");

    let (mut receiver, mut sender) = states(oos());
    let unanswered = receiver.extend(n, &words, &mut message).unwrap();
    spoil(&mut message);
    let (unverified, challenge) = sender.absorb(n, &message).unwrap();
    let challenge = challenge.as_slice().as_flattened();
    let proof = answer(&mut receiver, n, unanswered, challenge).unwrap();
    assert_eq!(verify(&mut sender, n, unverified, &proof), Err(CHECK));
}

/// Corrections that encode other words than the receiver goes on with are as good as any: then those
/// are its words, if it says so.
#[test]
fn a_receiver_is_bound_to_the_words_of_its_corrections() {
    let (mut receiver, mut sender) = states(oos());
    let mut message = Vec::new();
    let unanswered = receiver.extend(1, &[1; 11], &mut message).unwrap();
    // Another codeword added: the word is now 1…1 ⊕ 2…2.
    let mut codeword = [0; 64];
    let code = oos().family().of_session(&session());
    code.encode(Backend::best(), &[2; 11], &mut codeword);
    for (j, column) in message.chunks_mut(COLUMNS).enumerate() {
        column[0] ^= codeword[j / 8] >> (j % 8) & 1;
    }
    let (_, challenge) = sender.absorb(1, &message).unwrap();
    let challenge = challenge.unwrap();
    let mut key = [[0; 16]];
    let mut proof = receiver.finish(unanswered, &challenge, &mut key).unwrap();
    // Its proof must say so: χ₀ times the bit, in every bit of the word 2…2.
    let unchanged = proof.clone();
    let mut chi = [0; 8];
    session()
        .oracle("foxtrot v1 one-of-n check")
        .query(0, 0)
        .field(&1_u64.to_le_bytes())
        .field(&challenge)
        .fill(&mut chi);
    for i in (0..85).filter(|i| [2_u8; 11][i / 8] >> (i % 8) & 1 == 1) {
        proof[8 * i..][..8].iter_mut().zip(chi).for_each(|(byte, chi)| *byte ^= chi);
    }
    assert_ne!(proof, unchanged);
    for (word, is_it) in [([3; 11], true), ([1; 11], false)] {
        let (_, mut sender) = states(oos());
        let (unverified, _) = sender.absorb(1, &message).unwrap();
        let mut of_word = [[0; 16]];
        sender.finish(unverified, &proof, Places::Words(&word, &mut of_word)).unwrap();
        assert_eq!(of_word == key, is_it);
    }
}

#[test]
fn every_part_of_a_proof_is_checked() {
    // docs/wire: R10-1.
    for at in 0..85 + 512 {
        let caught = spoilt_batch(oos(), |_| (), |proof| proof[8 * at + at % 8] ^= 1);
        assert_eq!(caught, Err(CHECK), "element {at}");
    }
}

#[test]
fn proofs_from_other_batches_sessions_or_challenges_are_rejected() {
    let (mut receiver, mut sender) = states(oos());
    let words = bytes(2, 40 * 11);
    let mut batch = || {
        let mut message = Vec::new();
        let unanswered = receiver.extend(40, &words, &mut message).unwrap();
        let (unverified, challenge) = sender.absorb(40, &message).unwrap();
        (unanswered, unverified, challenge)
    };
    let (first, second) = (batch(), batch());
    let challenge = first.2.as_slice().as_flattened();
    let proof = answer(&mut receiver, 40, first.0, challenge).unwrap();
    assert_eq!(verify(&mut sender, 40, second.1, &proof), Err(CHECK));

    let elsewhere = || Session::new(Sid::from_bytes([9; 32]));
    let (mut other, _) = states_in(elsewhere, oos());
    let (_, mut sender) = states(oos());
    let mut message = Vec::new();
    let unanswered = other.extend(40, &words, &mut message).unwrap();
    let (unverified, challenge) = sender.absorb(40, &message).unwrap();
    let challenge = challenge.as_slice().as_flattened();
    let proof = answer(&mut other, 40, unanswered, challenge).unwrap();
    assert_eq!(verify(&mut sender, 40, unverified, &proof), Err(CHECK));

    let (mut receiver, mut sender) = states(oos());
    let unanswered = receiver.extend(40, &words, &mut message).unwrap();
    let (unverified, challenge) = sender.absorb(40, &message).unwrap();
    let mut challenge = challenge.unwrap();
    challenge[31] ^= 0x80;
    let proof = answer(&mut receiver, 40, unanswered, &challenge).unwrap();
    assert_eq!(verify(&mut sender, 40, unverified, &proof), Err(CHECK));

    // Not even the number of OTs may differ, where the messages are of one length.
    let (mut receiver, mut sender) = states(oos());
    let unanswered = receiver.extend(40, &words, &mut message).unwrap();
    let (unverified, challenge) = sender.absorb(41, &message).unwrap();
    let challenge = challenge.as_slice().as_flattened();
    let proof = answer(&mut receiver, 40, unanswered, challenge).unwrap();
    assert_eq!(verify(&mut sender, 41, unverified, &proof), Err(CHECK));
}

#[test]
fn corrections_of_an_earlier_batch_give_other_keys_and_are_caught() {
    for extension in registry().filter(|extension| extension.challenge_len() == 0) {
        let mut runs = Runs::new(extension, Backend::best());
        let words = bytes(3, 40 * extension.parameters().word_len());
        let mut message = Vec::new();
        let _ = runs.receiver.extend(40, &words, &mut message).unwrap();
        let mut keys = vec![[0; 16]; 80];
        for keys in keys.chunks_mut(40) {
            let (batch, _) = runs.sender.absorb(40, &message).unwrap();
            runs.sender.finish(batch, &[], Places::Words(&words, keys)).unwrap();
        }
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), 80);
    }
    let (mut receiver, mut sender) = states(oos());
    let words = bytes(3, 40 * 11);
    let (mut first, mut second) = (Vec::new(), Vec::new());
    let _ = receiver.extend(40, &words, &mut first).unwrap();
    let unanswered = receiver.extend(40, &words, &mut second).unwrap();
    assert!(first.chunks(COLUMNS).zip(second.chunks(COLUMNS)).all(|(one, two)| one != two));
    let _ = sender.absorb(40, &first).unwrap();
    let (replayed, challenge) = sender.absorb(40, &first).unwrap();
    let challenge = challenge.as_slice().as_flattened();
    let proof = answer(&mut receiver, 40, unanswered, challenge).unwrap();
    assert_eq!(verify(&mut sender, 40, replayed, &proof), Err(CHECK));
}

/// The leak that naive batching has: instances, batches and sessions with the same word have
/// different keys, for every word.
#[test]
fn no_key_occurs_twice() {
    for extension in registry() {
        let word_len = extension.parameters().word_len();
        let mut all = Vec::new();
        for _ in 0..2 {
            let mut runs = Runs::new(extension, Backend::best());
            let words = vec![0; 300 * word_len];
            for _ in 0..2 {
                let mut keys = vec![[0; 16]; 600];
                runs.batch(&words, Places::All(2, &mut keys));
                all.push(keys);
            }
        }
        // The same session again has the same keys, another batch has others.
        assert_eq!(all[0], all[2]);
        let mut keys: Vec<_> = all.into_iter().take(2).flatten().collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), 1200, "{}", extension.info().name);
    }
}

#[test]
fn a_failed_check_ends_the_session_for_every_batch() {
    // docs/wire: R10-1.
    let (mut receiver, mut sender) = states(oos());
    let words = bytes(4, 30 * 11);
    let mut extend = || {
        let mut message = Vec::new();
        let unanswered = receiver.extend(30, &words, &mut message).unwrap();
        let (unverified, challenge) = sender.absorb(30, &message).unwrap();
        let challenge = challenge.as_slice().as_flattened();
        (answer(&mut receiver, 30, unanswered, challenge).unwrap(), unverified)
    };
    let ((good, verified), (_, spoilt), (later, pending)) = (extend(), extend(), extend());
    verify(&mut sender, 30, verified, &good).unwrap();
    assert_eq!(verify(&mut sender, 30, spoilt, &vec![0; good.len()]), Err(CHECK));
    let ended = Error::Usage(Usage::SessionEnded);
    assert_eq!(verify(&mut sender, 30, pending, &later), Err(ended));
    let refused = sender.absorb(30, &vec![0; oos().corrections_len(30)]);
    assert_eq!(refused.map(drop), Err(ended));
    assert_eq!(sender.delta().map(drop), Err(Usage::SessionEnded));
}

#[test]
fn batches_of_another_session_are_refused_without_blaming_the_peer() {
    let elsewhere = || Session::new(Sid::from_bytes([9; 32]));
    let (mut receiver, mut sender) = states(oos());
    let (mut other_receiver, mut other_sender) = states_in(elsewhere, oos());
    let mut message = Vec::new();
    let unanswered = other_receiver.extend(1, &[0; 11], &mut message).unwrap();
    let (unverified, challenge) = other_sender.absorb(1, &message).unwrap();
    let foreign = Error::Usage(Usage::ForeignBatch);
    let challenge = challenge.as_slice().as_flattened();
    assert_eq!(answer(&mut receiver, 1, unanswered, challenge), Err(foreign));
    assert_eq!(verify(&mut sender, 1, unverified, &[]), Err(foreign));
    assert!(sender.delta().is_ok(), "nothing has ended by that");
}

#[test]
fn states_of_one_kind_refuse_batches_of_the_other() {
    let mut all = registry();
    let (mut checked, mut unchecked) = (
        Runs::new(all.next().unwrap(), Backend::best()),
        Runs::new(all.nth(2).unwrap(), Backend::best()),
    );
    assert_eq!(unchecked.extension.info().name, "oos-semi-honest");
    let foreign = Error::Usage(Usage::ForeignBatch);
    let mut message = Vec::new();
    let of_receiver = unchecked.receiver.extend(1, &[0; 11], &mut message).unwrap();
    assert_eq!(answer(&mut checked.receiver, 1, of_receiver, &[0; 32]), Err(foreign));
    let (of_sender, none) = unchecked.sender.absorb(1, &message).unwrap();
    assert_eq!(none, None);
    let proof = vec![0; checked.extension.proof_len()];
    assert_eq!(verify(&mut checked.sender, 1, of_sender, &proof), Err(foreign));
}

#[test]
fn secrets_are_not_printed() {
    let (mut receiver, mut sender) = states(oos());
    let mut message = Vec::new();
    let unanswered = receiver.extend(1, &[0xab; 11], &mut message).unwrap();
    let (unverified, _) = sender.absorb(1, &message).unwrap();
    assert_eq!(format!("{unanswered:?}"), "Unanswered(batch 0, <redacted>)");
    assert_eq!(format!("{unverified:?}"), "Unverified(batch 0, <redacted>)");
    assert_eq!(
        format!("{receiver:?} {sender:?}"),
        "Receiver(oos, 1 batches) Sender(oos, 1 batches)"
    );
    assert_eq!(format!("{:?}", Places::Rows(&mut [7; 64])), "Rows(<64 redacted>)");
    assert_eq!(format!("{:?}", Seed::from_bytes([1; 32])), "Seed(<redacted>)");
}
