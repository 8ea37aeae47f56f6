//! Peers that cheat.

use foxtrot_ot::{Decode, Misbehaved, tasks::InPlace};

use super::*;
use crate::{
    Error,
    okvs::{Coins, Okvs},
};

fn with(
    parameters: &Parameters,
    sets: [&[Digest]; 2],
    change: impl Fn(&mut Ideal),
    row_seed: &mut dyn FnMut(&mut Vec<u8>),
    sums: &mut dyn FnMut(&mut Vec<u8>),
    tags: &mut dyn FnMut(&mut Vec<u8>),
) -> Result<Vec<usize>, Error> {
    run_through(parameters, sets, change, Messages { row_seed, sums, tags })
}

#[test]
fn random_sums_give_the_receiver_nothing() {
    for vole in ALL {
        let items = digests(0..50);
        let parameters = Parameters::of(vole, 50, 50).unwrap();
        let mut random = |sums: &mut Vec<u8>| {
            session().oracle("foxtrot test sums").query(0, 0).fill(sums);
        };
        let found =
            with(&parameters, [&items, &items], |_| (), &mut |_| (), &mut random, &mut |_| ());
        assert_eq!(found, Ok(Vec::new()));
    }
}

#[test]
fn another_row_seed_gives_the_receiver_nothing() {
    let items = digests(0..50);
    let parameters = Parameters::of(Vole::Silent, 50, 50).unwrap();
    let mut second = |seed: &mut Vec<u8>| seed[0] ^= 1;
    let found = with(&parameters, [&items, &items], |_| (), &mut second, &mut |_| (), &mut |_| ());
    assert_eq!(found, Ok(Vec::new()));
}

/// A receiver that fits one more item into its store learns about it, as n′ counts, and a store of other items says nothing.
#[test]
fn a_receiver_with_one_item_too_many_learns_about_that_one_and_no_other() {
    let n = 20;
    let parameters = Parameters::of(Vole::Silent, n, 30).unwrap();
    let okvs = Okvs::three(n).unwrap();
    let session = crate::items::bucket_session(&session(), 0);
    // The keys of the declared number decide the rows; one key more is solved for by hand: the values of n keys, one of which
    // is replaced until the other fits would take 2^128 tries, so the cheat uses the room of the dense slots instead.
    let keys = digests(0..n as u64 + 1);
    let (seed, slots) = (0..)
        .find_map(|attempt: u8| {
            let mut slots = vec![[0; 16]; okvs.slots()];
            let coins = Coins::from_bytes([attempt; 32]);
            let bytes = slots.as_flattened_mut();
            let (seed, plan, words) =
                okvs.begin_words::<16>(&session, coins, &keys[..n], bytes).unwrap();
            let encoded = plan.encode_words::<16>(&words, bytes);
            encoded.ok().map(|()| (seed, slots))
        })
        .unwrap();
    // Gauss over single slots: find a change of slots that keeps the first n values and repairs the last.
    let unit = |slot: usize| {
        let mut slots = vec![[0; 16]; okvs.slots()];
        slots[slot] = [0xff; 16];
        slots
    };
    let (plan, words) = okvs.plan_words::<16>(&session, &seed, &keys).unwrap();
    let decode = |slots: &[[u8; 16]]| {
        let mut values = vec![[0; 16]; n + 1];
        plan.decode(&okvs.decoder(slots).unwrap(), &mut values).unwrap();
        values
    };
    let columns: Vec<u32> = (0..okvs.slots())
        .map(|slot| {
            let bits = decode(&unit(slot)).into_iter().map(|value| value[0] & 1);
            bits.enumerate().map(|(k, bit)| u32::from(bit) << k).sum()
        })
        .collect();
    // A set of slots whose columns add up to the last row alone.
    let mut basis: Vec<(u32, u128)> = Vec::new();
    let reduce = |basis: &[(u32, u128)], mut column: (u32, u128)| {
        for (pivot, set) in basis {
            if column.0 & (1 << pivot.ilog2()) != 0 {
                column = (column.0 ^ pivot, column.1 ^ set);
            }
        }
        column
    };
    for (slot, &column) in columns.iter().enumerate() {
        let reduced = reduce(&basis, (column, 1 << slot));
        if reduced.0 != 0 {
            basis.push(reduced);
            basis.sort_unstable_by_key(|(pivot, _)| core::cmp::Reverse(pivot.ilog2()));
        }
    }
    let (rest, set) = reduce(&basis, (1 << n, 0));
    assert_eq!(rest, 0, "the dense slots have room");
    let order = plan.order().iter().position(|&index| index as usize == n).unwrap();
    let lacks: Vec<u8> = decode(&slots)[n].iter().zip(words[order]).map(|(a, b)| a ^ b).collect();
    let mut cheated = slots;
    for (slot, value) in cheated.iter_mut().enumerate().filter(|(slot, _)| set >> slot & 1 == 1) {
        let _ = slot;
        value.iter_mut().zip(&lacks).for_each(|(to, lack)| *to ^= lack);
    }
    // With it the receiver's values at all n + 1 items are the sender's, and at an item outside they are not.
    let ideal = Ideal::new(&parameters, 3);
    let v: Vec<[u8; 16]> = ideal.v().into_iter().map(u128::to_le_bytes).collect();
    let k: Vec<[u8; 16]> = (0..okvs.slots())
        .map(|slot| {
            let sum = ideal.u[slot] ^ u128::from_le_bytes(cheated[slot]);
            (ideal.w[slot] ^ gf128::mul(Backend::best(), sum, ideal.delta)).to_le_bytes()
        })
        .collect();
    let all = digests(0..n as u64 + 2);
    let (plan, words) = okvs.plan_words::<16>(&session, &seed, &all).unwrap();
    let (mut receivers, mut senders) = (vec![[0; 16]; n + 2], vec![[0; 16]; n + 2]);
    plan.decode(&okvs.decoder(&v).unwrap(), &mut receivers).unwrap();
    plan.decode(&okvs.decoder(&k).unwrap(), &mut senders).unwrap();
    for (place, &index) in plan.order().iter().enumerate() {
        let product = gf128::mul(Backend::best(), u128::from_le_bytes(words[place]), ideal.delta);
        let sender = u128::from_le_bytes(senders[index as usize]) ^ product;
        let receiver = u128::from_le_bytes(receivers[index as usize]);
        assert_eq!(sender == receiver, index as usize <= n, "{index}");
    }
    assert!(parameters.largest_set().unwrap() > n as u64);
}

#[test]
fn tags_that_repeat_or_descend_or_are_too_few_are_refused() {
    let items = digests(0..300);
    let parameters = Parameters::of(Vole::Silent, 300, 300).unwrap();
    let coding = parameters.coding();
    let refused = |change: &dyn Fn(&mut Vec<u128>)| {
        let mut forge = |bytes: &mut Vec<u8>| {
            let mut list = crate::elias_fano::Tags::new(coding);
            list.take(&InPlace, bytes).unwrap();
            let mut tags = list.all().unwrap().to_vec();
            change(&mut tags);
            *bytes = coding.frames(&tags, 1 << 30).collect::<Vec<_>>().concat();
        };
        let sets: [&[Digest]; 2] = [&items, &items];
        with(&parameters, sets, |_| (), &mut |_| (), &mut |_| (), &mut forge).unwrap_err()
    };
    let tags: Error = Misbehaved::Tags.into();
    assert_eq!(refused(&|tags| tags[7] = tags[6]), tags);
    assert_eq!(refused(&|tags| tags[299] = tags[298]), tags);
    let same = |tags: &[u128]| {
        (1..300).find(|&k| tags[k] >> 120 == tags[k - 1] >> 120).expect("of 300 in 256")
    };
    assert_eq!(
        refused(&|tags| {
            let k = same(tags);
            tags.swap(k, k - 1);
        }),
        tags
    );
    assert_eq!(refused(&|tags| tags.truncate(299)), tags);

    let sets: [&[Digest]; 2] = [&items, &items];
    let mut short = |bytes: &mut Vec<u8>| bytes.truncate(bytes.len() - 1);
    let error = with(&parameters, sets, |_| (), &mut |_| (), &mut |_| (), &mut short).unwrap_err();
    let expected = coding.len();
    assert_eq!(error, Decode::Length { message: "Tags", expected, got: expected - 1 }.into());
}

/// With Δ = 0 no word is in any tag; the receiver's output is the intersection all the same.
#[test]
fn a_sender_with_delta_zero_learns_nothing_and_gives_the_intersection() {
    let (ours, theirs) = (digests(0..100), digests(60..200));
    let parameters = Parameters::of(Vole::Silent, 100, 140).unwrap();
    let mut sums = Vec::new();
    let zero = |ideal: &mut Ideal| ideal.delta = 0;
    let mut see = |bytes: &mut Vec<u8>| sums.clone_from(bytes);
    let sets: [&[Digest]; 2] = [&ours, &theirs];
    let found = with(&parameters, sets, zero, &mut |_| (), &mut see, &mut |_| ()).unwrap();
    assert_eq!(found, naive(&ours, &theirs));
    // What it sees is masked by U as ever.
    let ideal = Ideal::new(&parameters, 3);
    let okvs = Okvs::three(100).unwrap();
    let session = crate::items::bucket_session(&session(), 0);
    let unmasked: Vec<[u8; 16]> = sums
        .as_chunks::<16>()
        .0
        .iter()
        .zip(&ideal.u)
        .map(|(sum, u)| (u128::from_le_bytes(*sum) ^ u).to_le_bytes())
        .collect();
    let receiver =
        Receiver::new(super::session(), parameters, ours.clone(), None, seed(1)).unwrap();
    let encoded = receiver.plan().unwrap().encode().unwrap();
    let (plan, words) = okvs.plan_words::<16>(&session, &encoded.row_seed, &ours).unwrap();
    let (mut with_u, mut without) = (vec![[0; 16]; 100], vec![[0; 16]; 100]);
    plan.decode(&okvs.decoder(&unmasked).unwrap(), &mut without).unwrap();
    plan.decode(&okvs.decoder(sums.as_chunks::<16>().0).unwrap(), &mut with_u).unwrap();
    for (word, &index) in words.iter().zip(plan.order()) {
        assert_eq!(*word, without[index as usize]);
        assert_ne!(*word, with_u[index as usize]);
    }
}

/// Messages of one run, played again in another with the same sets, match nothing there.
#[test]
fn tags_of_another_run_match_nothing() {
    let items = digests(0..100);
    let parameters = Parameters::of(Vole::Silent, 100, 100).unwrap();
    let sets: [&[Digest]; 2] = [&items, &items];
    let mut old = Vec::new();
    let mut see = |bytes: &mut Vec<u8>| old.clone_from(bytes);
    with(&parameters, sets, |_| (), &mut |_| (), &mut |_| (), &mut see).unwrap();
    let mut replay = |bytes: &mut Vec<u8>| bytes.clone_from(&old);
    let other = |ideal: &mut Ideal| *ideal = Ideal::new(&parameters, 77);
    let found = with(&parameters, sets, other, &mut |_| (), &mut |_| (), &mut replay);
    assert_eq!(found, Ok(Vec::new()));
}
