//! Peers that cheat.

use foxtrot_ot::{Decode, Misbehaved};

use super::*;
use crate::Next;

const LEN: usize = 21;
const RECORD: usize = 8 + LEN;
/// Sizes of receiver and sender; 20 items are common.
const SIZES: [usize; 2] = [40, 30];

fn terms() -> JoinTerms {
    JoinTerms::NONE.payload(LEN).unwrap()
}

/// Runs with payloads changed on their way.
fn with_payloads(
    below: Below,
    terms: JoinTerms,
    change: impl Fn(&mut Vec<u8>),
) -> Result<Outputs, Failed<Error>> {
    let len = SIZES[1] * RECORD;
    run_over(below, terms, |party, message| {
        if party == PairParty::Sender && message.len() == len {
            change(message);
        }
    })
}

/// The places of the tags of matches, and of others.
fn places(below: Below) -> [Vec<usize>; 2] {
    let is_match = |place: &usize| {
        let change = |message: &mut Vec<u8>| message[place * RECORD] ^= 1;
        with_payloads(below, terms(), change).is_err()
    };
    (0..SIZES[1]).partition::<Vec<_>, _>(is_match).into()
}

fn blames_the_sender(ended: &Result<Outputs, Failed<Error>>) -> bool {
    *ended == Err(Failed::Party(PairParty::Receiver, Misbehaved::Payload.into()))
}

#[test]
fn changed_payloads_of_matches_are_found_out_and_others_are_never_read() {
    for below in Below::malicious(SIZES[0], SIZES[1]) {
        let [matches, others] = places(below);
        assert_eq!((matches.len(), others.len()), (20, 10));
        for at in (0..RECORD).step_by(5) {
            let change = |message: &mut Vec<u8>| message[matches[3] * RECORD + at] ^= 0x10;
            assert!(blames_the_sender(&with_payloads(below, terms(), change)), "{at}");
        }
        let change = |message: &mut Vec<u8>| {
            others.iter().for_each(|place| message[place * RECORD..][..RECORD].fill(0));
        };
        assert_eq!(with_payloads(below, terms(), change).unwrap(), expected(&below, terms()));
    }
}

#[test]
fn swapped_payloads_are_found_out() {
    for below in Below::malicious(SIZES[0], SIZES[1]) {
        let [matches, others] = places(below);
        for (one, another) in [(matches[0], matches[1]), (matches[2], others[0])] {
            let swap = |message: &mut Vec<u8>| {
                (0..RECORD).for_each(|k| message.swap(one * RECORD + k, another * RECORD + k));
            };
            assert!(blames_the_sender(&with_payloads(below, terms(), swap)));
        }
    }
}

#[test]
fn truncated_payloads_and_longer_ones_are_refused_when_they_come() {
    let cuts: [fn(&mut Vec<u8>); 4] = [
        |message| message.truncate(message.len() - 1),
        |message| message.truncate(message.len() - RECORD),
        |message| message.push(0),
        Vec::clear,
    ];
    for below in Below::malicious(SIZES[0], SIZES[1]) {
        for cut in cuts {
            let ended = with_payloads(below, terms(), cut);
            let length = matches!(
                ended,
                Err(Failed::Party(
                    PairParty::Receiver,
                    Error::Protocol(foxtrot_ot::Error::Decode(Decode::Length {
                        message: "Payloads",
                        ..
                    }))
                ))
            );
            assert!(length, "{ended:?}");
        }
    }
}

/// If the receiver told that a payload was damaged, a sender that damages the payload of one item would learn whether the
/// receiver has it.
#[test]
fn damage_shows_only_after_the_session_unless_the_sender_learns_anyway() {
    // docs/wire: R23-3.
    for below in Below::malicious(SIZES[0], SIZES[1]) {
        let [matches, _] = places(below);
        let spoil = |message: &mut Vec<u8>| message[matches[0] * RECORD] ^= 1;
        let (mut honest, mut damaged) = (Vec::new(), Vec::new());
        run_over(below, terms(), |party, message| honest.push((party, message.clone()))).unwrap();
        let ended = run_over(below, terms(), |party, message| {
            damaged.push((party, message.clone()));
            if party == PairParty::Sender && message.len() == SIZES[1] * RECORD {
                spoil(message);
            }
        });
        assert!(blames_the_sender(&ended));
        assert!(honest == damaged, "both sent the same");

        let mut from_receiver = Vec::new();
        let both = terms().both();
        let ended = run_over(below, both, |party, message| {
            if party == PairParty::Sender && message.len() == SIZES[1] * RECORD {
                spoil(message);
                from_receiver.clear();
            } else if party == PairParty::Receiver {
                from_receiver.push(message.len());
            }
        });
        assert!(blames_the_sender(&ended));
        assert!(from_receiver.is_empty(), "no claims");
    }
}

/// Keys of receiver and sender for all items of either.
fn keys_of_both(below: vole_psi::Parameters) -> [Vec<ItemKey>; 2] {
    use foxtrot_kernel::gf::gf128;
    let session = || Session::new(Sid::from_bytes([3; 32]));
    let [ours, theirs] = [below.receiver_items(), below.sender_items()];
    let random = |purpose| {
        let mut elements = vec![[0; 16]; below.slots()];
        session().oracle("foxtrot test vole").query(0, purpose).fill(elements.as_flattened_mut());
        elements.into_iter().map(u128::from_le_bytes).collect::<Vec<_>>()
    };
    let (u, w, delta) = (random(0), random(1), 0x1234_5678_9abc_def0_u128 << 50 | 77);
    let backend = foxtrot_ot::Backend::best();
    let v = u.iter().zip(&w).map(|(&u, w)| w ^ gf128::mul(backend, u, delta)).collect();
    let receiver = vole_psi::Receiver::new(session(), below, digests(0..ours), None, seed(1));
    let sender = vole_psi::Sender::new(
        session(),
        below,
        digests(ours / 2..ours / 2 + theirs),
        None,
        seed(2),
    );
    let encoded = receiver.unwrap().keep_keys().plan().unwrap().encode().unwrap();
    let (masked, row_seed, sums) =
        encoded.mask(vole_psi::Mask::Large(Secret(u)), Secret(v)).unwrap();
    let mut opened = sender.unwrap().keep_keys().open(row_seed.as_bytes()).unwrap();
    opened.take(&sums).unwrap();
    let Next::Done(sent) = opened.finish(&delta, Secret(w)).unwrap() else { panic!() };
    let Next::Done(mut received) = masked.finish().unwrap() else { panic!() };
    sent.frames().for_each(|frame| received.take(&frame).unwrap());
    let senders = sent.keys().unwrap();
    let matches = received.matches().unwrap();
    let by_place = matches.places.iter().map(|&place| senders.keys[place as usize]);
    assert!(by_place.eq(matches.keys.iter().copied()), "keys of matches are at their places");
    let owners = matches.places.iter().map(|&place| senders.owners[place as usize] as usize);
    assert!(owners.eq(matches.owners.iter().map(|&k| k as usize - ours / 2)), "of the same items");
    [matches.keys.to_vec(), senders.keys.to_vec()]
}

/// The receiver's only keys are of its own items, and other keys open nothing.
#[test]
fn a_payload_opens_under_the_key_of_its_item_and_no_other() {
    let below = vole_psi::Parameters::of(Vole::Packed, SIZES[0], SIZES[1]).unwrap();
    let [ours, all] = keys_of_both(below);
    assert_eq!((ours.len(), all.len()), (20, 30));
    let mut different = all.clone();
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), 30);
    let join = Join::new(&Session::new(Sid::from_bytes([1; 32])), terms());
    let owners = (0..30).collect();
    let keys = Keys { keys: Secret(all.clone()), owners: Secret(owners) };
    let fill = |k: usize, to: &mut [u8]| {
        to.copy_from_slice(&payload(k, LEN));
        Ok(())
    };
    let sealed = join.seal(&keys, 0..30, fill).unwrap();
    for (place, key) in all.iter().enumerate() {
        for other in 0..30_u32 {
            let matches = Matches {
                places: Secret(vec![other]),
                owners: Secret(vec![0]),
                keys: Secret(vec![*key]),
            };
            let mut read = Vec::new();
            let opened = join.open(&matches, &mut sealed.clone(), |_, it| read = it.to_vec());
            assert_eq!(opened.is_ok(), other as usize == place);
            assert_eq!(read == payload(other as usize, LEN), opened.is_ok());
        }
    }
    // Nor does the key of another session.
    let elsewhere = Join::new(&Session::new(Sid::from_bytes([2; 32])), terms());
    let matches =
        Matches { places: Secret(vec![0]), owners: Secret(vec![0]), keys: Secret(vec![all[0]]) };
    let opened = elsewhere.open(&matches, &mut sealed.clone(), |_, _| ());
    assert_eq!(opened, Err(Misbehaved::Payload.into()));
}

/// A change of claims: of their number, and of their values.
type Cheat = fn(&mut u64, &mut Vec<[u8; 16]>);

/// Runs with the receiver's claims changed on their way.
#[expect(clippy::panic_in_result_fn, reason = "both runs are the same up to there")]
fn with_claims(below: Below, change: Cheat) -> Result<Outputs, Failed<Error>> {
    // The number comes before the values: the first run tells these.
    let (mut messages, tagged) = (Vec::new(), core::cell::Cell::new(false));
    let is_count =
        |party, message: &[u8]| party == PairParty::Receiver && message.len() == 8 && tagged.get();
    let tags = below.bytes();
    let mut sent = 0;
    let mut watch = |party, message: &[u8]| {
        sent += if party == PairParty::Sender { message.len() } else { 0 };
        tagged.set(sent == tags[0]);
    };
    run_over(below, JoinTerms::NONE.both(), |party, message| {
        watch(party, message);
        if is_count(party, message) || !messages.is_empty() {
            messages.push(message.clone());
        }
    })
    .unwrap();
    let mut count = u64::from_le_bytes(messages[0].as_slice().try_into().unwrap());
    let mut values = messages[1].as_chunks::<16>().0.to_vec();
    assert_eq!((count, values.len()), (20, 20));
    change(&mut count, &mut values);
    let mut sent = 0;
    let mut number = 0;
    run_over(below, JoinTerms::NONE.both(), |party, message| {
        sent += if party == PairParty::Sender { message.len() } else { 0 };
        if party == PairParty::Receiver && sent == tags[0] {
            number += 1;
            match number {
                1 => *message = count.to_le_bytes().to_vec(),
                _ => *message = values.as_flattened().to_vec(),
            }
        }
    })
}

#[test]
fn claims_that_are_invented_doubled_unsorted_or_too_many_are_refused() {
    // docs/wire: R23-5.
    let cheats: [Cheat; 7] = [
        |_, values| values[7][15] ^= 1,
        |_, values| values[0] = [0; 16],
        |_, values| values[19] = [0xff; 16],
        |_, values| values[4] = values[3],
        |_, values| values.swap(8, 9),
        |count, values| {
            *count += 1;
            values.insert(0, [0; 16]);
        },
        |count, _| *count = 31,
    ];
    for below in Below::malicious(SIZES[0], SIZES[1]) {
        for (k, cheat) in cheats.into_iter().enumerate() {
            let refused = Err(Failed::Party(PairParty::Sender, Misbehaved::Claims.into()));
            assert_eq!(with_claims(below, cheat), refused, "{k}");
        }
    }
}

#[test]
fn claims_may_be_omitted_and_messages_have_one_length() {
    for below in Below::malicious(SIZES[0], SIZES[1]) {
        let omit = |count: &mut u64, values: &mut Vec<[u8; 16]>| {
            *count -= 3;
            values.drain(4..7);
        };
        let (sent, received, _) = with_claims(below, omit).unwrap();
        assert_eq!((sent.len(), received.len()), (17, 20));
        let cut = |_: &mut u64, values: &mut Vec<[u8; 16]>| values.truncate(19);
        let ended = with_claims(below, cut);
        let length = Decode::Length { message: "Claims", expected: 320, got: 304 };
        assert_eq!(ended, Err(Failed::Party(PairParty::Sender, length.into())));
    }
}

/// Values of another run are of no item in this one.
#[test]
fn claims_of_another_session_are_refused() {
    let keys = || Keys { keys: Secret(digests(0..5)), owners: Secret((0..5).collect()) };
    let matches = Matches {
        places: Secret(vec![0, 1]),
        owners: Secret(vec![0, 1]),
        keys: Secret(digests(2..4)),
    };
    let join = |byte| Join::new(&Session::new(Sid::from_bytes([byte; 32])), JoinTerms::NONE.both());
    for (byte, found) in [(1, Ok(vec![2, 3])), (2, Err(Misbehaved::Claims.into()))] {
        let mut messages = join(1).claim(&matches);
        let count = messages.next().unwrap();
        let claimed = (|| {
            let mut claimed = Claimed::new(&join(byte), &keys(), &count, 5)?;
            messages.try_for_each(|frame| claimed.take(&frame))?;
            claimed.finish()
        })();
        assert_eq!(claimed, found);
    }
    // Nothing may come after the last.
    let mut claimed = Claimed::new(&join(1), &keys(), &0_u64.to_le_bytes(), 5).unwrap();
    assert_eq!(claimed.take(&[]), Err(Usage::SessionEnded.into()));
    assert_eq!(Claimed::new(&join(1), &keys(), &[0; 7], 5).unwrap_err(), {
        Decode::Length { message: "Claims", expected: 8, got: 7 }.into()
    });
}
