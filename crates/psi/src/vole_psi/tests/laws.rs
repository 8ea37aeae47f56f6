//! Laws of honest runs.

use super::*;
use crate::{Error, Next};

/// Sets of these sizes that share about a half of the smaller one.
fn sets(ours: usize, theirs: usize) -> [Vec<Digest>; 2] {
    let common = ours.min(theirs) / 2;
    let first = (ours - common) as u64;
    [digests(0..ours as u64), digests(first..first + theirs as u64)]
}

#[test]
fn the_receiver_gets_the_intersection_at_every_size_up_to_300_and_at_powers_of_two() {
    for n in (0..=300).chain([512, 1 << 10, 1 << 12, 1 << 14]) {
        for vole in ALL {
            let [ours, theirs] = sets(n, (n * 3 / 2).max(1));
            let parameters = Parameters::of(vole, ours.len(), theirs.len()).unwrap();
            let expected = if n == 0 { Vec::new() } else { naive(&ours, &theirs) };
            assert_eq!(run(&parameters, &ours, &theirs), expected, "{n} {vole:?}");
        }
    }
}

#[test]
fn stores_of_four_slots_serve_large_sets() {
    for vole in [Vole::Silent, Vole::Small] {
        let [ours, theirs] = sets(1 << 17, 1000);
        let parameters = Parameters::of(vole, ours.len(), theirs.len()).unwrap();
        assert_eq!(parameters.store.sparse(), 4);
        assert_eq!(run(&parameters, &ours, &theirs), naive(&ours, &theirs));
    }
}

#[test]
fn sets_are_divided_into_buckets_and_one_is_empty() {
    for vole in ALL {
        for (ours, theirs, buckets) in [(100, 150, 3), (2, 1, 5), (1, 40, 2), (0, 5, 2)] {
            let [ours, theirs] = sets(ours, theirs);
            let parameters =
                Parameters::with_buckets(vole, ours.len(), theirs.len(), buckets).unwrap();
            assert_eq!(run(&parameters, &ours, &theirs), naive(&ours, &theirs));
        }
    }
}

/// Tags depend on Δ and W, not on what the VOLE was made of.
#[test]
fn packed_and_silent_vole_give_the_same_tags() {
    let [ours, theirs] = sets(40, 60);
    let tags = |vole| {
        let parameters = Parameters::of(vole, ours.len(), theirs.len()).unwrap();
        let mut tags = Vec::new();
        let (mut none, mut neither) = (|_: &mut Vec<u8>| (), |_: &mut Vec<u8>| ());
        let mut take = |all: &mut Vec<u8>| tags.clone_from(all);
        let messages = Messages { row_seed: &mut none, sums: &mut neither, tags: &mut take };
        run_through(&parameters, [&ours, &theirs], |_| (), messages).unwrap();
        tags
    };
    assert_eq!(tags(Vole::Silent), tags(Vole::Packed));
    assert_ne!(tags(Vole::Silent), tags(Vole::Small));
}

#[test]
fn threads_change_nothing() {
    let [ours, theirs] = sets(3000, 2000);
    let parameters = Parameters::of(Vole::Silent, ours.len(), theirs.len()).unwrap();
    let tags = |session: Session| {
        let ideal = Ideal::new(&parameters, 1);
        let receiver = Receiver::new(
            session.sub("x", 0, Default::default()),
            parameters,
            ours.clone(),
            None,
            seed(1),
        );
        let encoded = receiver.unwrap().plan().unwrap().encode().unwrap();
        let (masked, row_seed, sums) = encoded.mask(ideal.mask(), Secret(ideal.v())).unwrap();
        let sender = Sender::new(
            session.sub("x", 0, Default::default()),
            parameters,
            theirs.clone(),
            None,
            seed(2),
        );
        let mut opened = sender.unwrap().open(row_seed.as_bytes()).unwrap();
        opened.take(&sums).unwrap();
        let Next::Done(sent) = opened.finish(&ideal.delta, Secret(ideal.w)).unwrap() else {
            panic!("one bucket")
        };
        let Next::Done(received) = masked.finish().unwrap() else { panic!("one bucket") };
        (sent.frames().collect::<Vec<_>>(), received.ours.tags.to_vec())
    };
    let one = tags(Session::new(Sid::from_bytes([1; 32])));
    let many = tags(Session::new(Sid::from_bytes([1; 32])).with_executor(Arc::new(Threads)));
    assert_eq!(one, many);
}

#[test]
fn steps_take_what_the_parameters_say_and_nothing_else() {
    let parameters = Parameters::of(Vole::Silent, 3, 4).unwrap();
    let m = parameters.slots();
    let items = Receiver::new(session(), parameters, digests(0..2), None, seed(1));
    let wrong = Usage::CountMismatch { what: "items", expected: 3, got: 2 };
    assert_eq!(items.err(), Some(wrong.into()));
    let encoded = || {
        let receiver = Receiver::new(session(), parameters, digests(0..3), None, seed(1));
        receiver.unwrap().plan().unwrap().encode().unwrap()
    };
    let small = Mask::Small(Secret(vec![0; m]));
    assert!(encoded().mask(small, Secret(vec![0; m])).is_err());
    assert!(encoded().mask(Mask::Large(Secret(vec![0; m - 1])), Secret(vec![0; m])).is_err());
    assert!(encoded().mask(Mask::Large(Secret(vec![0; m])), Secret(vec![0; m + 1])).is_err());
    assert!(encoded().mask(Mask::Large(Secret(vec![0; m])), Secret(vec![0; m])).is_ok());
    let opened =
        || Sender::new(session(), parameters, digests(0..4), None, seed(2)).unwrap().open(&[0; 32]);
    assert!(opened().unwrap().finish(&1, Secret(vec![0; m])).is_err(), "A is not there");
    let mut short = opened().unwrap();
    assert!(short.take(&vec![0; 16 * m - 1]).is_err());
    short.take(&vec![0; 16 * m]).unwrap();
    assert_eq!(short.take(&[]), Err(Usage::SessionEnded.into()));
    assert!(short.finish(&1, Secret(vec![0; m - 1])).is_err());
}

#[test]
fn items_that_repeat_are_refused() {
    let parameters = Parameters::of(Vole::Silent, 3, 3).unwrap();
    let twice: Vec<Digest> = digests([1, 2, 1]);
    let receiver = Receiver::new(session(), parameters, twice.clone(), None, seed(1)).unwrap();
    assert_eq!(receiver.plan().unwrap().encode().err(), Some(Error::Unlucky));
    let (mut none, mut neither, mut nothing) = (|_: &mut _| (), |_: &mut _| (), |_: &mut _| ());
    let messages = Messages { row_seed: &mut none, sums: &mut neither, tags: &mut nothing };
    let result = run_through(&parameters, [&digests(0..3), &twice], |_| (), messages);
    assert_eq!(result, Err(Usage::RepeatedItem.into()));
}
