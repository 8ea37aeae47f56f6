//! A corrupt receiver, a corrupt sender, or random coins that repeat, against every pair.

use super::*;
use crate::{Decode, Direction, Error, Sid, base::registry, pair::assert_rot, popf::Domain as _};

const N: usize = 40;

fn session(counter: u64) -> Session {
    Session::new(Sid::from_bytes([1; 32])).sub("test", counter, Direction::default())
}

fn seed(byte: u8) -> Seed {
    Seed::from_bytes([byte; 32])
}

fn choice(i: usize) -> bool {
    i % 3 == 1
}

/// A law, with what calls it for every pair.
macro_rules! for_every_pair {
    ($($name:ident => $law:ident;)*) => {$(
        #[test]
        fn $name() {
            $law::<FeistelMoeller>();
            $law::<MasnyRindalMoeller>();
            $law::<Feistel2Moeller>();
            $law::<EvenMansourMoeller>();
            $law::<EkeMoeller>();
            $law::<FeistelElligator>();
            $law::<MasnyRindalElligator>();
            $law::<Feistel2Elligator>();
            $law::<EvenMansourElligator>();
            $law::<EkeElligator>();
            $law::<FeistelRistretto>();
            $law::<MasnyRindalRistretto>();
            $law::<Feistel2Ristretto>();
            $law::<MasnyRindalReuse>();
        }
    )*};
}

for_every_pair! {
    the_receiver_gets_exactly_the_chosen_keys => chosen_keys;
    one_agreed_point_gives_different_keys_in_every_instance_branch_and_batch => one_point;
    a_sender_message_with_another_share_gives_no_common_key => another_share;
    messages_of_another_batch_size_are_refused => sizes;
    malformed_messages_are_refused => decoding;
}

fn chosen_keys<P: Pair>() {
    // With and without a table, a rest, and more than a group.
    for n in [0, 1, 7, 8, 9, 47, 48, 128, 300] {
        let choices = Bits::from_bools((0..n).map(choice));
        let (sender, share) = Sender::<P>::start(session(0), n, seed(1)).unwrap();
        let (receiver, blinded) = Receiver::<P>::start(session(0), choices, seed(2)).unwrap();
        // Over the wire.
        let share = KeyShare::decode(share.as_bytes(), n).unwrap();
        let blinded = Blinded::decode(blinded.as_bytes(), n).unwrap();
        let (sent, received) = (sender.finish(&blinded).unwrap(), receiver.finish(&share).unwrap());
        assert_rot(&sent, &received);
        assert_eq!(received.choices(), &Bits::from_bools((0..n).map(choice)));
    }
}

/// Lemma 1 of "Batching Base Oblivious Transfers": one point in all instances, for which the oracle of
/// the POPF is no obstacle, and a sender whose scalar is the same in two batches.
fn one_point<P: Pair>() {
    let (_, point) = P::Agreement::respond(&session(7), 1, &seed(3));
    let points = vec![point[0].clone(); N];
    let x: Vec<u8> = (0..N).map(|i| u8::from(choice(i))).collect();
    let mut known = Vec::new();
    for counter in [0, 1] {
        let popf = P::Popf::new(&session(counter));
        let mut blinded = Blinded::<P>::blank(N);
        let coins = vec![3; N * P::Popf::COINS_LEN];
        popf.program(0, &x, &points, &coins, blinded.phis_mut());
        // It is the value at all choices.
        let [mut zero, mut one] = [0, 1].map(|_| Elements::<Domain<P>>::zeros(N));
        popf.evaluate(0, blinded.as_bytes(), [&mut zero, &mut one]);
        let backend = crate::Backend::best();
        let [zero, one, point] = [&zero[..], &one[..], &point[..]].map(|elements| {
            let mut bytes = vec![[0; 32]; elements.len()];
            Domain::<P>::encode(backend, elements, &mut bytes);
            bytes
        });
        assert!((0..N).all(|i| [&zero, &one][usize::from(x[i])][i] == point[0]));
        // The secret is that of batch 0.
        let (secret, share) = P::Agreement::share(&session(0), &seed(1));
        let share = KeyShare::new(share, N);
        let sender = Sender::<P> { session: session(counter), n: N, secret, share };
        let keys = sender.finish(&blinded).unwrap();
        known.extend((0..N).map(|i| keys.pairs()[i][usize::from(x[i])]));
    }
    assert_eq!(known.len(), 2 * N);
    known.sort_unstable();
    known.dedup();
    assert_eq!(known.len(), 2 * N, "a key occurs twice: {}", P::INFO.name);
}

/// The share that the receiver sees is hashed.
fn another_share<P: Pair>() {
    let (sender, _) = Sender::<P>::start(session(0), N, seed(1)).unwrap();
    let (_, other) = Sender::<P>::start(session(0), N, seed(9)).unwrap();
    let choices = Bits::from_bools((0..N).map(choice));
    let (receiver, blinded) = Receiver::<P>::start(session(0), choices, seed(2)).unwrap();
    let (sent, received) = (sender.finish(&blinded).unwrap(), receiver.finish(&other).unwrap());
    assert!(received.keys().iter().all(|key| !sent.pairs().as_flattened().contains(key)));
}

fn sizes<P: Pair>() {
    let (sender, share) = Sender::<P>::start(session(0), 2, seed(1)).unwrap();
    let choices = Bits::from_bools([true; 3]);
    let (receiver, blinded) = Receiver::<P>::start(session(0), choices, seed(2)).unwrap();
    assert!(matches!(sender.finish(&blinded), Err(Usage::CountMismatch { .. })));
    assert!(matches!(receiver.finish(&share), Err(Usage::CountMismatch { .. })));
    let too_large = Usage::BatchTooLarge { n: 65537, max: 65536 };
    assert_eq!(Sender::<P>::start(session(0), 65537, seed(1)).unwrap_err(), too_large);
    assert_eq!(
        Blinded::<P>::decode(&[], usize::MAX).unwrap_err(),
        Error::Usage(Usage::BatchTooLarge { n: usize::MAX, max: 65536 },)
    );
}

fn decoding<P: Pair>() {
    let point = |message, instance| Error::Decode(Decode::Point { message, instance });
    let share_len = P::Agreement::SHARE_LEN;
    for share in [vec![0; share_len], vec![0xff; share_len]] {
        assert_eq!(KeyShare::<P>::decode(&share, 1).unwrap_err(), point("KeyShare", 0));
    }
    let ones = vec![0xff; Blinded::<P>::encoded_len(2)];
    match P::Agreement::NAME {
        "ristretto" => {
            assert_eq!(Blinded::<P>::decode(&ones, 2).unwrap_err(), point("Blinded", 0));
        }
        // Strings are never refused, and the sender has keys.
        _ => {
            let (sender, _) = Sender::<P>::start(session(0), 2, seed(1)).unwrap();
            let keys = sender.finish(&Blinded::decode(&ones, 2).unwrap()).unwrap();
            assert_eq!(keys.pairs().len(), 2);
        }
    }
}

#[test]
fn there_are_thirteen_pairs_and_the_first_is_the_default_of_the_family() {
    let names = registry().iter().map(|base| base.info()).filter(|info| info.family == NAME);
    let names: Vec<_> = names.map(|info| info.name).collect();
    assert_eq!(names.len(), 13);
    assert_eq!(names[0], "mcquoid-rosulek-roy:feistel:moeller");
    for name in names {
        let (popf, agreement) =
            name.strip_prefix("mcquoid-rosulek-roy:").unwrap().split_once(':').unwrap();
        let over_strings = ["eke", "even-mansour"].contains(&popf);
        assert!(["feistel", "feistel2", "masny-rindal"].contains(&popf) || over_strings);
        assert!(
            ["moeller", "elligator"].contains(&agreement)
                || agreement == "ristretto" && !over_strings
        );
    }
}

#[test]
fn names_of_pairs_combine_the_names_of_their_parts() {
    fn check<P: Pair>() {
        let parts = alloc::format!("{NAME}:{}:{}", P::Popf::NAME, P::Agreement::NAME);
        assert_eq!(P::INFO.name, parts);
    }
    check::<FeistelMoeller>();
    check::<MasnyRindalMoeller>();
    check::<Feistel2Moeller>();
    check::<EvenMansourMoeller>();
    check::<EkeMoeller>();
    check::<FeistelElligator>();
    check::<MasnyRindalElligator>();
    check::<Feistel2Elligator>();
    check::<EvenMansourElligator>();
    check::<EkeElligator>();
    check::<FeistelRistretto>();
    check::<MasnyRindalRistretto>();
    check::<Feistel2Ristretto>();
}
