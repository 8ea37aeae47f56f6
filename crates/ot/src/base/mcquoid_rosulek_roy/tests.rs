//! A corrupt receiver, a corrupt sender, or random coins that repeat, against every pair.

use super::*;
use crate::{
    Direction, Error, Sid,
    agreement::{Elligator, Moeller, Ristretto},
    base::registry,
    pair::assert_rot,
    popf::{Eke, EvenMansour, Feistel, Feistel2, MasnyRindal, Strings},
};

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
            $law::<Feistel<Strings>, Moeller>();
            $law::<MasnyRindal<Strings>, Moeller>();
            $law::<Feistel2<Strings>, Moeller>();
            $law::<EvenMansour, Moeller>();
            $law::<Eke, Moeller>();
            $law::<Feistel<Strings>, Elligator>();
            $law::<MasnyRindal<Strings>, Elligator>();
            $law::<Feistel2<Strings>, Elligator>();
            $law::<EvenMansour, Elligator>();
            $law::<Eke, Elligator>();
            $law::<Feistel<popf::Ristretto>, Ristretto>();
            $law::<MasnyRindal<popf::Ristretto>, Ristretto>();
            $law::<Feistel2<popf::Ristretto>, Ristretto>();
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

fn chosen_keys<P: Popf, A: Agreement<Domain = P::Domain>>() {
    // With and without a table, a rest, and more than a group.
    for n in [0, 1, 7, 8, 9, 47, 48, 128, 300] {
        let choices = Bits::from_bools((0..n).map(choice));
        let (sender, share) = Sender::<P, A>::start(session(0), n, seed(1)).unwrap();
        let (receiver, blinded) = Receiver::<P, A>::start(session(0), choices, seed(2)).unwrap();
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
fn one_point<P: Popf, A: Agreement<Domain = P::Domain>>() {
    let (_, point) = A::respond(&session(7), 1, &seed(3));
    let points = vec![point[0].clone(); N];
    let x: Vec<u8> = (0..N).map(|i| u8::from(choice(i))).collect();
    let mut known = Vec::new();
    for counter in [0, 1] {
        let popf = P::new(&session(counter));
        let mut blinded = Blinded::<P>::blank(N);
        let coins = vec![3; N * P::COINS_LEN];
        popf.program(0, &x, &points, &coins, &mut blinded.bytes);
        // It is the value at all choices.
        let [mut zero, mut one] = [0, 1].map(|_| P::Domain::zeros(N));
        popf.evaluate(0, blinded.as_bytes(), [&mut zero, &mut one]);
        let backend = Backend::best();
        let [zero, one, point] = [&zero[..], &one[..], &point[..]].map(|elements| {
            let mut bytes = vec![[0; 32]; elements.len()];
            P::Domain::encode(backend, elements, &mut bytes);
            bytes
        });
        assert!((0..N).all(|i| [&zero, &one][usize::from(x[i])][i] == point[0]));
        // The secret is that of batch 0.
        let (secret, share) = A::share(&session(0), &seed(1));
        let share = KeyShare { bytes: share, n: N, of: PhantomData };
        let sender = Sender::<P, A> { session: session(counter), secret, share, pair: PhantomData };
        let keys = sender.finish(&blinded).unwrap();
        known.extend((0..N).map(|i| keys.pairs()[i][usize::from(x[i])]));
    }
    assert_eq!(known.len(), 2 * N);
    known.sort_unstable();
    known.dedup();
    assert_eq!(
        known.len(),
        2 * N,
        "a key occurs twice: {}",
        McQuoidRosulekRoy::<P, A>::NEW.info().name
    );
}

/// The share that the receiver sees is hashed.
fn another_share<P: Popf, A: Agreement<Domain = P::Domain>>() {
    let (sender, _) = Sender::<P, A>::start(session(0), N, seed(1)).unwrap();
    let (_, other) = Sender::<P, A>::start(session(0), N, seed(9)).unwrap();
    let choices = Bits::from_bools((0..N).map(choice));
    let (receiver, blinded) = Receiver::<P, A>::start(session(0), choices, seed(2)).unwrap();
    let (sent, received) = (sender.finish(&blinded).unwrap(), receiver.finish(&other).unwrap());
    assert!(received.keys().iter().all(|key| !sent.pairs().as_flattened().contains(key)));
}

fn sizes<P: Popf, A: Agreement<Domain = P::Domain>>() {
    let (sender, share) = Sender::<P, A>::start(session(0), 2, seed(1)).unwrap();
    let choices = Bits::from_bools([true; 3]);
    let (receiver, blinded) = Receiver::<P, A>::start(session(0), choices, seed(2)).unwrap();
    assert!(matches!(sender.finish(&blinded), Err(Usage::CountMismatch { .. })));
    assert!(matches!(receiver.finish(&share), Err(Usage::CountMismatch { .. })));
    let too_large = Usage::BatchTooLarge { n: 65537, max: 65536 };
    assert_eq!(Sender::<P, A>::start(session(0), 65537, seed(1)).unwrap_err(), too_large);
    assert_eq!(
        Blinded::<P>::decode(&[], usize::MAX).unwrap_err(),
        Error::Usage(Usage::BatchTooLarge { n: usize::MAX, max: 65536 },)
    );
}

fn decoding<P: Popf, A: Agreement<Domain = P::Domain>>() {
    let point = |message, instance| Error::Decode(Decode::Point { message, instance });
    let share_len = A::SHARE_LEN;
    for share in [vec![0; share_len], vec![0xff; share_len]] {
        assert_eq!(KeyShare::<A>::decode(&share, 1).unwrap_err(), point("KeyShare", 0));
    }
    let ones = vec![0xff; Blinded::<P>::encoded_len(2)];
    match A::NAME {
        "ristretto" => {
            assert_eq!(Blinded::<P>::decode(&ones, 2).unwrap_err(), point("Blinded", 0));
        }
        // Strings are never refused, and the sender has keys.
        _ => {
            let (sender, _) = Sender::<P, A>::start(session(0), 2, seed(1)).unwrap();
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
    fn check<P: Popf, A: Agreement<Domain = P::Domain>>() {
        let parts = alloc::format!("{NAME}:{}:{}", P::NAME, A::NAME);
        assert_eq!(McQuoidRosulekRoy::<P, A>::NEW.info().name, parts);
    }
    check::<Feistel<Strings>, Moeller>();
    check::<MasnyRindal<Strings>, Moeller>();
    check::<Feistel2<Strings>, Moeller>();
    check::<EvenMansour, Moeller>();
    check::<Eke, Moeller>();
    check::<Feistel<Strings>, Elligator>();
    check::<MasnyRindal<Strings>, Elligator>();
    check::<Feistel2<Strings>, Elligator>();
    check::<EvenMansour, Elligator>();
    check::<Eke, Elligator>();
    check::<Feistel<popf::Ristretto>, Ristretto>();
    check::<MasnyRindal<popf::Ristretto>, Ristretto>();
    check::<Feistel2<popf::Ristretto>, Ristretto>();
}
