//! Peers that cheat.

use foxtrot_ot::base::Adversary::{Malicious, SemiHonest};

use super::*;
use crate::{Digest, Error, RowSeed, hashes::Keyed};

const CAUGHT: Result<Vec<usize>, (PairParty, Error)> = Err((
    PairParty::Sender,
    Error::Protocol(foxtrot_ot::Error::Misbehaved(Misbehaved::ConsistencyCheck)),
));

fn small() -> Parameters {
    Parameters::new(Malicious, 100, 80).unwrap()
}

fn sets() -> (Vec<Digest>, Vec<Digest>) {
    (digests(0..100), digests(60..140))
}

fn with_corrections(
    spoil: &mut dyn FnMut(usize, &mut Vec<u8>),
) -> Result<Vec<usize>, (PairParty, Error)> {
    let (ours, theirs) = sets();
    let messages = Messages { corrections: spoil, ..Messages::honest() };
    run_through(&small(), &ours, &theirs, messages)
}

fn with_tags(
    parameters: &Parameters,
    spoil: &mut dyn FnMut(&mut Vec<Vec<u8>>),
) -> Result<Vec<usize>, (PairParty, Error)> {
    let ours = digests(0..parameters.receiver_items() as u64);
    let theirs = digests(60..60 + parameters.sender_items() as u64);
    run_through(parameters, &ours, &theirs, Messages { tags: spoil, ..Messages::honest() })
}

/// A column of the corrections that is that of another word is one of a codeword, but the proof is
/// about the word that the receiver's state has.
#[test]
fn corrections_of_another_codeword_in_one_column_are_detected() {
    let code = small().code().build();
    let mut word = vec_of(29, 0);
    word[3] = 0x10;
    let mut codeword = vec_of(101, 0);
    use foxtrot_ot::extension::code::Code;
    code.encode(foxtrot_ot::Backend::best(), &word, &mut codeword);
    let caught = with_corrections(&mut |_, corrections| {
        let stride = corrections.len() / 802;
        for (j, row) in corrections.chunks_mut(stride).enumerate() {
            row[5] ^= (codeword[j / 8] >> (j % 8) & 1) << 3;
        }
    });
    assert_eq!(caught, CAUGHT);
}

#[test]
fn a_column_that_is_no_codeword_is_caught() {
    // So many bits that to guess them all is hopeless; one bit is caught in every second run.
    let caught = with_corrections(&mut |_, corrections| {
        let stride = corrections.len() / 802;
        corrections.chunks_mut(stride).for_each(|row| row[0] ^= 1);
    });
    assert_eq!(caught, CAUGHT);
}

#[test]
fn a_wrong_proof_is_caught_and_says_no_more() {
    let (ours, theirs) = sets();
    for at in [0, 231 * 8, 1033 * 8 - 1] {
        let spoil = &mut |_: usize, proof: &mut Vec<u8>| proof[at] ^= 1;
        let messages = Messages { proof: spoil, ..Messages::honest() };
        assert_eq!(run_through(&small(), &ours, &theirs, messages), CAUGHT);
    }
}

fn assert_refused(messages: Messages<'_>, by: PairParty) {
    let (ours, theirs) = sets();
    let (party, error) = run_through(&small(), &ours, &theirs, messages).unwrap_err();
    let decode = matches!(error, Error::Protocol(foxtrot_ot::Error::Decode(_)));
    assert!(decode && party == by, "{party:?} {error:?}");
}

#[test]
fn messages_of_the_wrong_length_are_refused() {
    for change in
        [|m: &mut Vec<u8>| m.push(0), |m: &mut Vec<u8>| m.truncate(m.len() - 1), Vec::clear]
    {
        let row_seed = &mut |_: usize, m: &mut Vec<u8>| change(m);
        assert_refused(Messages { row_seed, ..Messages::honest() }, PairParty::Sender);
        let corrections = &mut |_: usize, m: &mut Vec<u8>| change(m);
        assert_refused(Messages { corrections, ..Messages::honest() }, PairParty::Sender);
        let proof = &mut |_: usize, m: &mut Vec<u8>| change(m);
        assert_refused(Messages { proof, ..Messages::honest() }, PairParty::Sender);
        let tags = &mut |frames: &mut Vec<Vec<u8>>| change(&mut frames[0]);
        assert_refused(Messages { tags, ..Messages::honest() }, PairParty::Receiver);
    }
}

/// The receiver encodes under one row seed and names another: its words are those of other items.
#[test]
fn a_second_row_seed_gives_the_receiver_no_item() {
    let (ours, theirs) = sets();
    let spoil = &mut |_: usize, seed: &mut Vec<u8>| seed[0] ^= 1;
    let messages = Messages { row_seed: spoil, ..Messages::honest() };
    assert_eq!(run_through(&small(), &ours, &theirs, messages), Ok(Vec::new()));
}

/// The number of slots follows from the size that was agreed, so a receiver that encodes more items
/// sends messages of another length; whatever it fits in as many slots is `largest_set` at most.
#[test]
fn more_items_than_declared_do_not_fit_the_messages() {
    let (declared, real) = (small(), Parameters::new(Malicious, 5000, 80).unwrap());
    let (base_sent, base_received) = base(&declared);
    let receiver = Receiving::new(&session, &real, base_sent, &digests(0..5000), None);
    let sender = Sending::new(&session, &declared, base_received, &digests(60..140), None).unwrap();
    let Receiving { party, mut ots } = receiver.unwrap();
    let (encoded, row_seed) = party.encode().unwrap();
    let opened = sender.party.open(row_seed.as_bytes()).unwrap();
    let (mut of_sender, mut corrections) = (sender.ots, Vec::new());
    let n = real.batches().next().unwrap();
    let words = &encoded.words()[..n * real.lengths().word_len()];
    let _unanswered = ots.extend(n, words, &mut corrections).unwrap();
    let n = declared.batches().next().unwrap();
    let refused = of_sender.absorb(n, &corrections).unwrap_err();
    assert!(matches!(refused, foxtrot_ot::Error::Decode(_)), "{refused:?}");
    // Nor are rows of more slots taken.
    let more = Secret(vec![0; declared.rows_len() + declared.lengths().row_len()]);
    assert!(opened.finish(&of_sender, more).is_err());
}

/// The dense and sparse slots solve for about as many items as there are slots; other items do not match.
#[test]
fn items_not_encoded_by_the_receiver_never_match() {
    let parameters = Parameters::new(Malicious, 100, 3000).unwrap();
    let found = run(&parameters, &digests(0..100), &digests(50..3050));
    assert_eq!(found, (50..100).collect::<Vec<_>>());
    assert!(parameters.largest_set().unwrap() < 500);
}

#[test]
fn there_are_no_tags_before_every_batch_has_passed() {
    let parameters = Parameters::new(Malicious, 20_000, 10).unwrap();
    let (sent, received) = base(&parameters);
    let receiver = Receiving::new(&session, &parameters, sent, &digests(0..20_000), None);
    let sender = Sending::new(&session, &parameters, received, &digests(0..10), None).unwrap();
    let Receiving { party, mut ots } = receiver.unwrap();
    let (encoded, row_seed) = party.encode().unwrap();
    let opened = sender.party.open(row_seed.as_bytes()).unwrap();
    assert!(parameters.batches().count() > 1);
    let n = parameters.batches().next().unwrap();
    let (mut of_sender, mut corrections) = (sender.ots, Vec::new());
    let words = &encoded.words()[..n * parameters.lengths().word_len()];
    let unanswered = ots.extend(n, words, &mut corrections).unwrap();
    let (unverified, challenge) = of_sender.absorb(n, &corrections).unwrap();
    let [mut receivers, mut senders] = [(); 2].map(|()| Secret::default());
    let places = room(&parameters, &mut receivers, n);
    let proof = ots.finish_rows(unanswered, &challenge.unwrap(), places).unwrap();
    let places = Places::Rows(room(&parameters, &mut senders, n));
    of_sender.finish(unverified, &proof, places).unwrap();
    let (expected, got) = (parameters.rows_len(), n * parameters.lengths().row_len());
    let missing = Usage::CountMismatch { what: "bytes of rows", expected, got };
    assert_eq!(opened.finish(&of_sender, senders).unwrap_err(), missing.into());
    assert_eq!(encoded.finish(receivers).unwrap_err(), missing.into());
}

#[test]
fn after_a_failed_check_the_sender_refuses_every_call() {
    let parameters = small();
    let (sent, received) = base(&parameters);
    let (ours, theirs) = sets();
    let receiver = Receiving::new(&session, &parameters, sent, &ours, None).unwrap();
    let sender = Sending::new(&session, &parameters, received, &theirs, None).unwrap();
    let (encoded, row_seed) = receiver.party.encode().unwrap();
    let opened = sender.party.open(row_seed.as_bytes()).unwrap();
    let (mut ots, mut of_sender) = (receiver.ots, sender.ots);
    let mut corrections = Vec::new();
    let (n, half) = (parameters.slots(), parameters.slots() / 2);
    let (first, second) = encoded.words().split_at(half * parameters.lengths().word_len());
    let unanswered = ots.extend(half, first, &mut corrections).unwrap();
    let (unverified, challenge) = of_sender.absorb(half, &corrections).unwrap();
    let mut rows = Secret::zeroed(half * parameters.lengths().row_len());
    let mut proof = ots.finish_rows(unanswered, &challenge.unwrap(), &mut rows).unwrap();
    proof[0] ^= 1;
    assert!(of_sender.finish(unverified, &proof, Places::Rows(&mut rows)).is_err());
    let again = ots.extend(n - half, second, &mut corrections).unwrap();
    let ended = of_sender.absorb(n - half, &corrections).unwrap_err();
    assert_eq!(ended, Usage::SessionEnded.into());
    drop(again);
    // Not even for rows that came from elsewhere.
    let rows = Secret(vec![0; parameters.rows_len()]);
    assert_eq!(opened.finish(&of_sender, rows).unwrap_err(), Usage::SessionEnded.into());
}

#[test]
fn arbitrary_tags_match_no_item() {
    let found = with_tags(&small(), &mut |frames| {
        recode(&small(), frames, |tags| {
            (0..).zip(tags).for_each(|(k, tag)| *tag = u128::from_le_bytes([k; 16]));
        });
    });
    assert_eq!(found, Ok(Vec::new()));
}

/// A sender with wrong rows: its extension runs on another Δ than the base OTs gave. Without a check
/// of its own it comes as far as tags of guessed items, and none of them is right.
#[test]
fn tags_under_another_delta_match_no_item() {
    let parameters = Parameters::new(SemiHonest, 100, 80).unwrap();
    let (sent, _) = base(&parameters);
    let (_, received) = ideal::random(parameters.base_ots(), &seed(4));
    let (ours, theirs) = sets();
    let receiver = Receiving::new(&session, &parameters, sent, &ours, None).unwrap();
    let sender = Sending::new(&session, &parameters, received, &theirs, None).unwrap();
    assert_eq!(play(&parameters, receiver, sender, Messages::honest()), Ok(Vec::new()));
}

#[test]
fn too_many_or_too_few_tags_are_refused() {
    let large = Parameters::new(Malicious, 10, 80_000).unwrap();
    assert_eq!(large.tag_frames().count(), 2);
    let lost = with_tags(&large, &mut |frames| drop(frames.pop())).unwrap_err();
    assert_eq!(lost.0, PairParty::Receiver);
    let more = with_tags(&large, &mut |frames| frames.push(vec_of(14, 0xff))).unwrap_err();
    assert_eq!(more, (PairParty::Receiver, Usage::SessionEnded.into()));
    let swapped = with_tags(&large, &mut |frames| frames.swap(0, 1)).unwrap_err();
    let decode = matches!(swapped.1, Error::Protocol(foxtrot_ot::Error::Decode(_)));
    assert!(decode, "{swapped:?}");
    let fewer = &mut |frames: &mut Vec<Vec<u8>>| {
        recode(&small(), frames, |tags| tags.truncate(79));
    };
    assert_eq!(with_tags(&small(), fewer), Err((PairParty::Receiver, Misbehaved::Tags.into())));
}

/// Repeated tags are refused whether or not they belong to a shared item: the sender must not learn
/// which it was.
#[test]
fn repeated_and_unordered_tags_are_refused_whether_they_match_or_not() {
    let refused = Err((PairParty::Receiver, Error::from(Misbehaved::Tags)));
    let mut swaps = 0;
    for at in 0..79 {
        let repeated = with_tags(&small(), &mut |frames| {
            recode(&small(), frames, |tags| tags[at + 1] = tags[at]);
        });
        assert_eq!(repeated, refused);
        // Only tags with the same first bits can be in another order.
        let mut same = false;
        let swapped = with_tags(&small(), &mut |frames| {
            recode(&small(), frames, |tags| {
                same = tags[at] >> 122 == tags[at + 1] >> 122;
                if same {
                    tags.swap(at, at + 1);
                }
            });
        });
        assert_eq!(swapped == refused, same);
        swaps += usize::from(same);
    }
    assert!(swaps > 10, "{swaps}");
}

/// Tags of the same sets from another session, or of the same items in another bucket.
#[test]
fn replayed_tags_match_no_item() {
    let mut tags = Vec::new();
    let keep = &mut |frames: &mut Vec<Vec<u8>>| tags = frames.clone();
    let found = with_tags(&small(), keep).unwrap();
    assert_eq!(found.len(), 40);

    let parameters = small();
    let session = || Session::new(Sid::from_bytes([7; 32])).sub("paxos", 1, Default::default());
    let (sent, received) = base(&parameters);
    let (ours, theirs) = sets();
    // The same seeds, base OTs and sets: nothing but the session differs.
    let receiver = Receiving::new(&session, &parameters, sent, &ours, None).unwrap();
    let sender = Sending::new(&session, &parameters, received, &theirs, None).unwrap();
    let replay = &mut |frames: &mut Vec<Vec<u8>>| *frames = tags.clone();
    let messages = Messages { tags: replay, ..Messages::honest() };
    assert_eq!(play(&parameters, receiver, sender, messages), Ok(Vec::new()));
}

#[test]
fn hashes_of_different_buckets_and_seeds_differ() {
    let seeds = [[1; 32], [2; 32]].map(|bytes| RowSeed::decode(&bytes).unwrap());
    let mut seen = BTreeSet::new();
    for bucket in 0..3 {
        let session = crate::items::bucket_session(&session(), bucket);
        for seed in &seeds {
            let (words, tags) = (Keyed::words(&session, seed), Keyed::tags(&session, seed));
            let mut word = [0; 16];
            words.hash(32, &digest(1), 16, &mut word);
            let mut tag = [0; 16];
            tags.hash(133, &[&digest(1)[..], &[7; 101]].concat(), 16, &mut tag);
            assert!(seen.insert(word) && seen.insert(tag));
        }
    }
}

#[test]
fn a_joint_coin_that_was_not_committed_to_is_refused() {
    let seeds = |receivers| [seed(receivers), seed(6)];
    // Commitment and opening are the receiver's messages.
    let changed = |party: PairParty, number: usize, change: &dyn Fn(&mut Vec<u8>)| {
        let mut of_party = 0;
        toss(&session(), seeds(5), |from, mut message| {
            of_party += usize::from(from == party);
            if (from, of_party) == (party, number) {
                change(&mut message);
            }
            message
        })
    };
    let other = changed(PairParty::Receiver, 2, &|opening| opening[31] ^= 1);
    assert_eq!(other, Err((PairParty::Sender, Misbehaved::CommitmentMismatch.into())));

    // Each half matters.
    let [joint, _] = toss(&session(), seeds(5), |_, message| message).unwrap();
    let [another, _] = toss(&session(), seeds(7), |_, message| message).unwrap();
    assert_ne!(another, joint);
    let [zero, _] = changed(PairParty::Sender, 1, &|half| half.fill(0)).unwrap();
    assert_ne!(zero, joint);
    for wrong in [0, 31, 33] {
        for (party, number) in
            [(PairParty::Receiver, 1), (PairParty::Sender, 1), (PairParty::Receiver, 2)]
        {
            let (by, error) = changed(party, number, &|it| it.resize(wrong, 0)).unwrap_err();
            let decode = matches!(error, Error::Protocol(foxtrot_ot::Error::Decode(_)));
            assert!(decode && by != party, "{error:?}");
        }
    }
}

/// Items that all fall into one bucket end the run; nobody can choose them before the coin is known.
#[test]
fn a_bucket_that_is_too_full_is_an_error() {
    let parameters = Parameters::with_buckets(Malicious, 2000, 2000, 4).unwrap();
    assert!(parameters.keys() < 2000);
    let joint = coin(&parameters);
    let many = digests(0..20_000);
    let of = crate::items::buckets_of(&session(), &joint.unwrap(), &many, 4);
    let chosen: Vec<_> = many
        .iter()
        .zip(&of.0)
        .filter(|(_, of)| **of == 2)
        .map(|(item, _)| *item)
        .take(2000)
        .collect();
    assert_eq!(chosen.len(), 2000);
    let failed = run_through(&parameters, &chosen, &digests(0..2000), Messages::honest());
    assert_eq!(failed, Err((PairParty::Receiver, Error::Unlucky)));
    let failed = run_through(&parameters, &digests(0..2000), &chosen, Messages::honest());
    assert_eq!(failed, Err((PairParty::Sender, Error::Unlucky)));
}
