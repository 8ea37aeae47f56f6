//! Runs of bit triples, both parties in one thread: shares, batches, bytes, and a sink that fails.

use foxtrot_ot::{
    Context, Seed, Session, Sid, Usage,
    engine::{Abandoned, Engine},
    pair::{Pair, PairParty},
};
use foxtrot_triples::{
    Error, Shares, TripleKind,
    bits::{WORD, registry},
    formats::{record_len, write_records, wrong_records},
};

type Run = Engine<'static, (Vec<u8>, usize), Error>;

/// A party's records, and the number of its batches, of which the sink takes `room`.
fn party(kind: TripleKind, count: u64, we_are_initiator: bool, mut room: usize) -> Run {
    Engine::new(move |io| async move {
        let session = Session::new(Sid::from_bytes([9; 32]));
        let seed = Seed::from_bytes([u8::from(we_are_initiator); 32]);
        let mut context = Context::new(&session, seed);
        let (mut records, mut batches) = (Vec::new(), 0);
        let mut sink = |shares: &Shares| {
            room = room.checked_sub(1).ok_or(Abandoned)?;
            let start = records.len();
            records.resize(start + shares.len() * record_len(1), 0);
            write_records(shares, &mut records[start..]);
            batches += 1;
            Ok(())
        };
        let all = 0..kind.batches(count);
        kind.generate(&io, &mut context, we_are_initiator, all, count, &mut sink).await?;
        Ok((records, batches))
    })
}

#[test]
fn bit_triples_of_whole_and_partial_batches_are_right() {
    for set in registry() {
        let kind = TripleKind::Bits(set);
        let (whole, word) = (set.usable() as u64, WORD as u64);
        for count in [word, 3 * word, whole, whole + word] {
            let mut sent = [0; 2];
            let parties = [true, false].map(|first| party(kind, count, first, usize::MAX));
            let [ours, theirs] = parties;
            let ended = Pair::new(ours, theirs).run_through(|from, message| {
                sent[usize::from(from == PairParty::Receiver)] += message.len() as u64;
                message
            });
            let ((ours, batches), (theirs, of_peer)) = ended.unwrap();
            assert_eq!(ours.len() as u64, count / word * record_len(1) as u64);
            assert_eq!(wrong_records(1, &ours, &theirs).next(), None, "{set:?}, {count}");
            assert_eq!([batches, of_peer], [usize::try_from(kind.batches(count)).unwrap(); 2]);
            let most = sent.into_iter().max().unwrap();
            assert_eq!(
                most,
                kind.bytes_each_way(&(0..kind.batches(count)), count),
                "{set:?}, {count}"
            );
        }
    }
}

#[test]
fn a_sink_that_fails_ends_a_run_of_bit_triples() {
    for set in registry() {
        for rooms in [[0, usize::MAX], [usize::MAX, 1]] {
            let count = set.usable() as u64 + 64;
            let [ours, theirs] = [(true, rooms[0]), (false, rooms[1])]
                .map(|(first, room)| party(TripleKind::Bits(set), count, first, room));
            let ended = Pair::new(ours, theirs).run();
            let (_, error) = ended.unwrap_err();
            assert_eq!(error, Error::from(Usage::Abandoned), "{set:?}");
        }
    }
}
