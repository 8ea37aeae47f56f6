//! Tests the promise of a 1-of-N extension: the key of the receiver's word and no other, for every
//! code and size; and that one set of base OTs serves batch after batch.

use std::{collections::BTreeSet, sync::Arc};

use crate::support::one_of_n as support;
use crate::support::threads::Threads;
use foxtrot_ot::{
    Backend, Usage,
    base::Adversary,
    extension::{
        Incompatible,
        code::{Family, Linear},
        compatible, kkrt,
        one_of_n::{Extension, Places, Receiver, Sender, find, registry},
        oos,
    },
};
use support::{Runs, answer, base, bytes, seed, session, verify};

const SIZES: [usize; 14] = [0, 1, 7, 8, 127, 128, 129, 447, 448, 449, 511, 512, 513, 1500];

#[test]
fn every_extension_gives_the_key_of_the_word_for_every_size() {
    for extension in registry() {
        let word_len = extension.parameters().word_len();
        let mut runs = Runs::new(extension, Backend::best());
        for n in SIZES {
            let words = bytes(n as u64, n * word_len);
            let mut keys = vec![[0; 16]; n];
            let received = runs.batch(&words, Places::Words(&words, &mut keys));
            assert_eq!(keys, received, "{}, n = {n}", extension.info().name);
            // Other words have other keys.
            let others: Vec<u8> = words.iter().map(|byte| byte ^ 1).collect();
            let received = runs.batch(&words, Places::Words(&others, &mut keys));
            assert!(keys.iter().zip(&received).all(|(a, b)| a != b));
        }
    }
}

#[test]
fn every_key_of_up_to_1000_words_is_given_and_distinct() {
    for extension in registry() {
        for choices in [1, 2, 3, 256, 1000] {
            if choices > 2 && extension.parameters().word_bits == 1 {
                continue;
            }
            let mut runs = Runs::new(extension, Backend::best());
            let n = 40;
            let chosen: Vec<u64> = (0..n as u64).map(|i| i * 7919 % choices as u64).collect();
            let words = chosen.iter().map(|&choice| extension.parameters().word(choice).unwrap());
            let words: Vec<u8> = words.flatten().collect();
            let mut keys = vec![[0; 16]; n * choices];
            let received = runs.batch(&words, Places::All(choices, &mut keys));
            for (i, key) in received.iter().enumerate() {
                let of_instance = &keys[i * choices..][..choices];
                assert_eq!(of_instance[usize::try_from(chosen[i]).unwrap()], *key);
            }
            assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), n * choices);
        }
    }
}

/// Tiles of OTs, groups of queries and the parts of threads end anywhere in an OT.
#[test]
fn all_keys_match_keys_of_single_words_for_every_split() {
    let extension = kkrt::semi_honest();
    for (n, choices) in [(0, 5), (1, 1), (1, 700), (130, 3), (513, 1), (520, 4), (1030, 2)] {
        let batch = |threads: usize| {
            let mut receiver = Receiver::new(session(), extension, base(512).0, seed(5)).unwrap();
            let session = session().with_executor(Arc::new(Threads(threads)));
            let mut sender = Sender::new(session, extension, base(512).1, seed(6)).unwrap();
            let mut corrections = Vec::new();
            let words = bytes(3, n * 16);
            let _received = receiver.extend(n, &words, &mut corrections).unwrap();
            let (unverified, _) = sender.absorb(n, &corrections).unwrap();
            (sender, unverified)
        };
        let mut expected = vec![[0; 16]; n * choices];
        for choice in 0..choices {
            let word = extension.parameters().word(choice as u64).unwrap();
            let (mut sender, unverified) = batch(1);
            let mut keys = vec![[0; 16]; n];
            sender.finish(unverified, &[], Places::Words(&word.repeat(n), &mut keys)).unwrap();
            expected
                .iter_mut()
                .skip(choice)
                .step_by(choices)
                .zip(keys)
                .for_each(|(to, key)| *to = key);
        }
        for threads in [1, 2, 3] {
            let (mut sender, unverified) = batch(threads);
            let mut keys = vec![[0; 16]; n * choices];
            sender.finish(unverified, &[], Places::All(choices, &mut keys)).unwrap();
            assert_eq!(keys, expected, "{n} times {choices}, {threads} threads");
        }
    }
}

/// The rows of both parties for these words, and Δ.
fn rows_of(extension: Extension, words: &[u8]) -> [Vec<u8>; 3] {
    let parameters = extension.parameters();
    let n = words.len() / parameters.word_len();
    let (pairs, chosen) = base(parameters.length);
    let mut receiver = Receiver::new(session(), extension, pairs, seed(5)).unwrap();
    let mut sender = Sender::new(session(), extension, chosen, seed(6)).unwrap();
    let mut corrections = Vec::new();
    let unanswered = receiver.extend(n, words, &mut corrections).unwrap();
    let (unverified, _) = sender.absorb(n, &corrections).unwrap();
    let mut rows = [(); 2].map(|()| vec![0xa5; n * parameters.row_len()]);
    receiver.finish_rows(unanswered, &[], &mut rows[0]).unwrap();
    sender.finish(unverified, &[], Places::Rows(&mut rows[1])).unwrap();
    let mut codewords = vec![0; n * parameters.row_len()];
    let code = extension.family().of_session(&session());
    code.encode(Backend::best(), words, &mut codewords);
    let delta = sender.delta().unwrap();
    for (k, byte) in codewords.iter_mut().enumerate() {
        *byte &= delta[k % delta.len()];
    }
    let [t, q] = rows;
    [t, q, codewords]
}

#[test]
fn rows_differ_by_the_codeword_under_delta() {
    for n in [1, 9, 128, 700] {
        let check = |[t, q, expected]: [Vec<u8>; 3]| {
            let sum: Vec<u8> = t.iter().zip(&q).map(|(a, b)| a ^ b).collect();
            assert_eq!(sum, expected);
        };
        for linear in [Linear::Repetition128, Linear::Bch512, Linear::Bch802] {
            let extension = oos::semi_honest(linear);
            check(rows_of(extension, &bytes(1, n * extension.parameters().word_len())));
        }
        check(rows_of(kkrt::semi_honest(), &bytes(2, n * 16)));
    }
}

#[test]
fn checked_batches_also_give_rows_and_keys_of_words() {
    let extension = oos::malicious(Linear::Bch802);
    let (pairs, chosen) = base(802);
    let mut receiver = Receiver::new(session(), extension, pairs, seed(5)).unwrap();
    let mut sender = Sender::new(session(), extension, chosen, seed(6)).unwrap();
    let words = bytes(1, 20 * 29);
    let delta = sender.delta().unwrap();
    for (as_rows, with_words) in [(true, true), (false, true), (false, false), (true, true)] {
        let mut corrections = Vec::new();
        let unanswered = receiver.extend(20, &words, &mut corrections).unwrap();
        let (unverified, challenge) = sender.absorb(20, &corrections).unwrap();
        let challenge = challenge.as_slice().as_flattened();
        if as_rows {
            let mut rows = [vec![0; 20 * 101], vec![0; 20 * 101], vec![0; 20 * 101]];
            let proof = receiver.finish_rows(unanswered, challenge, &mut rows[0]).unwrap();
            sender.finish(unverified, &proof, Places::Rows(&mut rows[1])).unwrap();
            let code = extension.family().of_session(&session());
            code.encode(Backend::best(), &words, &mut rows[2]);
            for k in 0..20 * 101 {
                assert_eq!(rows[0][k] ^ rows[1][k], rows[2][k] & delta[k % 101], "byte {k}");
            }
        } else {
            let mut keys = [[[0; 16]; 20]; 2];
            let proof = receiver.finish(unanswered, challenge, &mut keys[0]).unwrap();
            if with_words {
                sender.finish(unverified, &proof, Places::Words(&words, &mut keys[1])).unwrap();
            } else {
                let opened = sender.open(unverified, &proof).unwrap();
                let word = |i: usize| &words[i % 20 * 29..][..29];
                keys[1] = core::array::from_fn(|i| opened.key(i, word(i)));
                // A word has another key in another OT, and an OT has another key for another word.
                for i in 0..20 {
                    assert_ne!(opened.key(i, word(i + 1)), keys[1][i]);
                    assert_ne!(opened.key(i, word(i + 1)), keys[1][(i + 1) % 20]);
                }
            }
            assert_eq!(keys[0], keys[1]);
        }
    }
}

/// The bytes of all rows in which a bit of `which` is set, added up.
fn sum(rows: &[u8], len: usize, which: u32) -> Vec<u8> {
    let mut sum = vec![0; len];
    for (k, row) in rows.chunks_exact(len).enumerate() {
        if which >> k & 1 == 1 {
            sum.iter_mut().zip(row).for_each(|(sum, byte)| *sum ^= byte);
        }
    }
    sum
}

#[test]
fn shifted_sums_of_both_parties_rows_agree_for_the_sum_of_words() {
    for code in [Linear::Repetition128, Linear::Bch512, Linear::Bch802] {
        let extension = oos::semi_honest(code);
        let (word_len, row_len) =
            (extension.parameters().word_len(), extension.parameters().row_len());
        let (pairs, chosen) = base(extension.parameters().length);
        let mut receiver = Receiver::new(session(), extension, pairs, seed(5)).unwrap();
        let mut sender = Sender::new(session(), extension, chosen, seed(6)).unwrap();
        let mut words = bytes(1, 20 * word_len);
        // What is above a word's bits is not part of it.
        let unused = 8 * word_len - extension.parameters().word_bits;
        words.chunks_exact_mut(word_len).for_each(|word| word[word_len - 1] &= 0xff >> unused);
        let mut corrections = Vec::new();
        let unanswered = receiver.extend(20, &words, &mut corrections).unwrap();
        let (unverified, _) = sender.absorb(20, &corrections).unwrap();
        let mut rows = [(); 2].map(|()| vec![0; 20 * row_len]);
        receiver.finish_rows(unanswered, &[], &mut rows[0]).unwrap();
        sender.finish(unverified, &[], Places::Rows(&mut rows[1])).unwrap();

        // More than are made at a time; the first is the sum of nothing.
        let sets: Vec<u32> = (0..1100).map(|k| k * 0x2545 % (1 << 20)).collect();
        let sums =
            |of: &[u8], len| sets.iter().flat_map(|&set| sum(of, len, set)).collect::<Vec<u8>>();
        let (expected, mut shifted) = (sums(&rows[0], row_len), sums(&rows[1], row_len));
        let of_words = sums(&words, word_len);
        sender.shift_sums(&of_words, &mut shifted).unwrap();
        assert!(shifted == expected, "{code:?}");
        // Twice is not at all, and another word gives other bits of Δ.
        sender.shift_sums(&of_words, &mut shifted).unwrap();
        assert!(shifted == sums(&rows[1], row_len));
        let mut another = of_words.clone();
        another.chunks_exact_mut(word_len).for_each(|word| word[0] ^= 1);
        sender.shift_sums(&another, &mut shifted).unwrap();
        assert!(shifted.chunks(row_len).zip(expected.chunks(row_len)).all(|(a, b)| a != b));
    }
}

#[test]
fn shifted_sums_need_one_word_each_and_a_passed_check() {
    let extension = oos::malicious(Linear::Bch802);
    let (pairs, chosen) = base(802);
    let mut receiver = Receiver::new(session(), extension, pairs, seed(5)).unwrap();
    let mut sender = Sender::new(session(), extension, chosen, seed(6)).unwrap();
    for (words, sums) in [(29, 0), (29, 100), (29, 202), (28, 0), (30, 101), (0, 101)] {
        let refused = sender.shift_sums(&vec![0; words], &mut vec![0; sums]).unwrap_err();
        assert!(matches!(refused, Usage::CountMismatch { .. }), "{words} {sums}: {refused}");
    }
    assert_eq!(sender.shift_sums(&[], &mut []), Ok(()));
    let mut corrections = Vec::new();
    let unanswered = receiver.extend(1, &[0; 29], &mut corrections).unwrap();
    let (unverified, challenge) = sender.absorb(1, &corrections).unwrap();
    let challenge = challenge.as_slice().as_flattened();
    let mut proof = answer(&mut receiver, 1, unanswered, challenge).unwrap();
    proof[0] ^= 1;
    assert!(verify(&mut sender, 1, unverified, &proof).is_err());
    let mut sums = [0x5a; 101];
    assert_eq!(sender.shift_sums(&[1; 29], &mut sums), Err(Usage::SessionEnded));
    assert_eq!(sums, [0x5a; 101]);
}

#[test]
fn sums_are_not_shifted_where_rows_are_not_linear() {
    let sender = Sender::new(session(), kkrt::semi_honest(), base(512).1, seed(6)).unwrap();
    let mut sums = [0x5a; 64];
    assert_eq!(sender.shift_sums(&[1; 16], &mut sums), Err(Usage::NotLinear));
    assert_eq!(sums, [0x5a; 64]);
}

#[test]
fn outputs_do_not_depend_on_the_backend_or_the_number_of_threads() {
    for extension in registry() {
        let run = |backend, threads: Option<usize>| {
            let mut runs = Runs::of(extension, || {
                let session = session().with_backend(backend);
                match threads {
                    Some(threads) => session.with_executor(Arc::new(Threads(threads))),
                    None => session,
                }
            });
            let words = bytes(9, 1100 * extension.parameters().word_len());
            let mut keys = vec![[0; 16]; 1100];
            let received = runs.batch(&words, Places::Words(&words, &mut keys));
            let mut all = vec![[0; 16]; 2 * 1100];
            (received, runs.batch(&words, Places::All(2, &mut all)), keys, all)
        };
        let portable = run(Backend::PORTABLE, None);
        for backend in Backend::all() {
            assert_eq!(run(backend, None), portable, "{} on {backend:?}", extension.info().name);
        }
        for threads in [2, 3, 40] {
            assert_eq!(run(Backend::best(), Some(threads)), portable);
        }
    }
}

#[test]
fn the_largest_batch_works_and_a_larger_one_is_refused() {
    for extension in [find("oos", Adversary::Malicious), find("kkrt", Adversary::SemiHonest)] {
        let extension = extension.unwrap();
        let (max, word_len) = (extension.max_batch(), extension.parameters().word_len());
        let mut runs = Runs::new(extension, Backend::best());
        let words = bytes(4, max * word_len);
        let mut keys = vec![[0; 16]; max];
        assert_eq!(runs.batch(&words, Places::Words(&words, &mut keys)), keys);
        let too_many = vec![0; (max + 1) * word_len];
        let refused = Usage::BatchTooLarge { n: max + 1, max };
        let error = runs.receiver.extend(max + 1, &too_many, &mut Vec::new());
        assert_eq!(error.map(drop), Err(refused));
        assert_eq!(runs.sender.absorb(max + 1, &[]).map(drop), Err(refused.into()));
    }
}

#[test]
fn wrong_numbers_of_anything_are_the_callers_fault() {
    let count = |what, expected, got| Usage::CountMismatch { what, expected, got };
    let extension = oos::semi_honest(Linear::Bch512);
    let refused = Receiver::new(session(), extension, base(128).0, seed(5)).map(drop);
    assert_eq!(refused, Err(count("base OTs", 512, 128)));
    let refused = Sender::new(session(), extension, base(802).1, seed(5)).map(drop);
    assert_eq!(refused, Err(count("base OTs", 512, 802)));

    let mut receiver = Receiver::new(session(), extension, base(512).0, seed(5)).unwrap();
    let mut sender = Sender::new(session(), extension, base(512).1, seed(6)).unwrap();
    let refused = receiver.extend(3, &[0; 32], &mut Vec::new()).map(drop);
    assert_eq!(refused, Err(count("bytes of words", 33, 32)));
    let mut batch = || {
        let mut corrections = Vec::new();
        let unanswered = receiver.extend(3, &[1; 33], &mut corrections).unwrap();
        (unanswered, sender.absorb(3, &corrections).unwrap().0)
    };
    let batches = [batch(), batch(), batch(), batch(), batch()];
    let mut batches = batches.into_iter();
    let mut next = || batches.next().unwrap();
    let (unanswered, unverified) = next();
    let refused = receiver.finish(unanswered, &[], &mut [[0; 16]; 2]);
    assert_eq!(refused, Err(count("places for keys", 3, 2).into()));
    let refused = sender.finish(unverified, &[], Places::Words(&[0; 22], &mut [[0; 16]; 3]));
    assert_eq!(refused, Err(count("bytes of words", 33, 22).into()));
    let (unanswered, unverified) = next();
    let refused = receiver.finish_rows(unanswered, &[], &mut [0; 191]);
    assert_eq!(refused, Err(count("bytes for rows", 192, 191).into()));
    let refused = sender.finish(unverified, &[], Places::Rows(&mut [0; 193]));
    assert_eq!(refused, Err(count("bytes for rows", 192, 193).into()));
    let refused = sender.finish(next().1, &[], Places::All(0, &mut []));
    assert_eq!(refused, Err(Usage::Choices { choices: 0 }.into()));
    let refused = sender.finish(next().1, &[], Places::All(2, &mut [[0; 16]; 5]));
    assert_eq!(refused, Err(count("places for keys", 6, 5).into()));

    let one = oos::semi_honest(Linear::Repetition128);
    let mut receiver = Receiver::new(session(), one, base(128).0, seed(5)).unwrap();
    let mut sender = Sender::new(session(), one, base(128).1, seed(6)).unwrap();
    let mut corrections = Vec::new();
    let _received = receiver.extend(1, &[1], &mut corrections).unwrap();
    let (unverified, _) = sender.absorb(1, &corrections).unwrap();
    let refused = sender.finish(unverified, &[], Places::All(3, &mut [[0; 16]; 3]));
    assert_eq!(refused, Err(Usage::Choices { choices: 3 }.into()));
    for choices in [0, 3, usize::MAX] {
        let (none, _) = sender.absorb(0, &vec![0; one.corrections_len(0)]).unwrap();
        let refused = sender.finish(none, &[], Places::All(choices, &mut []));
        assert_eq!(refused, Err(Usage::Choices { choices }.into()));
    }
    let oos = oos::semi_honest(Linear::Bch512);
    let mut sender = Sender::new(session(), oos, base(512).1, seed(6)).unwrap();
    let (none, _) = sender.absorb(0, &vec![0; oos.corrections_len(0)]).unwrap();
    assert_eq!(sender.finish(none, &[], Places::All(usize::MAX, &mut [])), Ok(()));
}

#[test]
fn a_batch_belongs_to_the_state_that_began_it() {
    let extension = kkrt::semi_honest();
    let other = || session().sub("another", 0, Default::default());
    let mut receiver = Receiver::new(session(), extension, base(512).0, seed(5)).unwrap();
    let mut stranger = Receiver::new(other(), extension, base(512).0, seed(5)).unwrap();
    let unanswered = receiver.extend(1, &[0; 16], &mut Vec::new()).unwrap();
    let foreign = Err(Usage::ForeignBatch.into());
    assert_eq!(answer(&mut stranger, 1, unanswered, &[]).map(drop), foreign);
    let mut sender = Sender::new(session(), extension, base(512).1, seed(5)).unwrap();
    let mut stranger = Sender::new(other(), extension, base(512).1, seed(5)).unwrap();
    let (unverified, _) = sender.absorb(1, &vec![0; extension.corrections_len(1)]).unwrap();
    assert_eq!(verify(&mut stranger, 1, unverified, &[]), foreign);
}

#[test]
fn sent_bytes_match_the_announcement() {
    let oos = find("oos", Adversary::Malicious).unwrap();
    // One batch of 16320, one of 80.
    assert_eq!(oos.receiver_bytes(16400), 512 * (2048 + 64) + 2 * 8 * (512 + 85));
    assert_eq!(oos.sender_bytes(16400), 2 * 32);
    let kkrt = find("kkrt", Adversary::SemiHonest).unwrap();
    assert_eq!(kkrt.receiver_bytes(1 << 20), 64 << 20);
    assert_eq!(kkrt.sender_bytes(1 << 20), 0);
}

#[test]
fn base_ots_that_are_not_enough_are_refused() {
    let of =
        |name: &str| foxtrot_papers::base_ots().find(|it| it.info().name == name).unwrap().info();
    let oos = find("oos-802", Adversary::Malicious).unwrap();
    let kkrt = find("kkrt", Adversary::SemiHonest).unwrap();
    for name in ["roted", "roted-endemic", "rot-from-ot:pvw"] {
        assert_eq!(compatible(of(name), oos.info()), Ok(()));
        assert_eq!(compatible(of(name), kkrt.info()), Ok(()));
    }
    assert!(matches!(compatible(of("pvw"), oos.info()), Err(Incompatible::Functionality(_))));
    assert_eq!(compatible(of("pvw"), kkrt.info()), Ok(()));
    assert_eq!(compatible(of("roted-figure1"), oos.info()), Err(Incompatible::Reproduction));
}

#[test]
fn pseudorandom_codes_differ_from_session_to_session() {
    let encode = |session| {
        let mut codeword = [0; 64];
        Family::Pseudorandom.of_session(&session).encode(Backend::best(), &[1; 16], &mut codeword);
        codeword
    };
    assert_eq!(encode(session()), encode(session()));
    assert_ne!(encode(session()), encode(session().sub("another", 0, Default::default())));
}

#[test]
fn names_are_found_with_and_without_the_adversary_in_them() {
    use Adversary::{Malicious, SemiHonest};
    let name = |name, adversary| find(name, adversary).map(|it| it.info().name);
    assert_eq!(name("oos", Malicious), Some("oos"));
    assert_eq!(name("oos", SemiHonest), Some("oos-semi-honest"));
    assert_eq!(name("oos-802-semi-honest", SemiHonest), Some("oos-802-semi-honest"));
    assert_eq!(name("oos-802-semi-honest", Malicious), None);
    assert_eq!(name("kkrt", SemiHonest), Some("kkrt"));
    assert_eq!(name("kkrt", Malicious), None);
}
