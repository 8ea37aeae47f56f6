//! A session that makes triples, by either method, whose every frame the fuzzer changes from the hello on: both parties
//! end, errors are not of their own making, and the triples are right if both sides finish.
#![no_main]

use foxtrot_fuzz::{
    base_ot,
    live::{Changes, session},
};
use foxtrot_net::{Channel, Error, FrameError, drive, hello::Agreement};
use foxtrot_ot::Session;
use foxtrot_triples::{
    Shares,
    formats::{record_len, write_records, wrong_records},
    gilboa::{Set, protocol as gilboa, registry},
    params::{self, TOY, TOY_LIFT},
    rlwe::protocol as rlwe,
};
use libfuzzer_sys::fuzz_target;

/// The kind of triples, and the number of batches or triples.
#[derive(Clone, Copy, Debug)]
enum Which {
    Rlwe(&'static params::Set, u64),
    Gilboa(&'static Set, u64, bool),
}

fuzz_target!(|input: (u8, u8, bool, [Changes; 2])| {
    let (which, n, short, changes) = input;
    let which = match which {
        // A set that is used: it is slow.
        63 => Which::Rlwe(params::find("rlwe-8").expect("it is listed"), u64::from(n)),
        0..64 => Which::Rlwe(&TOY, u64::from(n % 20)),
        64..128 => Which::Rlwe(&TOY_LIFT, u64::from(n)),
        _ => {
            let set = registry().nth(usize::from(which) % registry().count()).unwrap();
            Which::Gilboa(set, n.into(), short)
        }
    };
    let bits = match which {
        Which::Rlwe(set, _) => set.bits(),
        Which::Gilboa(set, ..) => set.bits(),
    };
    let play = |channel: &Channel, agreement: &Agreement| make(channel, agreement, which, bits);
    let ended = session(changes, play, play);
    // Without the fix each triple of that set is wrong with probability 2⁻²¹, and it may be one that is opened.
    let without_fix = matches!(which, Which::Rlwe(set, _) if set.name() == TOY_LIFT.name());
    let by_chance =
        |e: &Error| without_fix && matches!(e, Error::Frame(FrameError::WrongTriples { .. }));
    if [&ended.sender, &ended.receiver].iter().any(|it| it.as_ref().is_err_and(by_chance)) {
        return;
    }
    if let Some((ours, theirs)) = ended.both() {
        assert_eq!(ours.len(), theirs.len());
        let wrong = wrong_records(bits, &ours, &theirs).count();
        assert!(wrong <= usize::from(without_fix), "{wrong} wrong of {which:?}");
    }
});

/// A party's records.
fn make(
    channel: &Channel,
    agreement: &Agreement,
    which: Which,
    bits: u32,
) -> Result<Vec<u8>, Error> {
    let (session, we_are_initiator) = (&Session::new(agreement.sid), agreement.we_are_initiator);
    let mut records = Vec::new();
    let sink = |shares: &Shares| {
        let start = records.len();
        records.resize(start + shares.len() * record_len(bits), 0);
        write_records(shares, &mut records[start..]);
        Ok(())
    };
    let mut cx = drive::context(session)?;
    match which {
        Which::Rlwe(set, n) => {
            let plan = rlwe::RlwePlan { set, we_are_initiator, batches: 0..n };
            drive::play(channel, |io| async move {
                rlwe::RlweRun::set_up(&io, &mut cx, plan).await?.run(&io, sink).await
            })?;
        }
        Which::Gilboa(set, count, short) => {
            let base = base_ot(short);
            let plan = gilboa::GilboaPlan { set, base, we_are_initiator, count };
            drive::play(channel, |io| async move {
                gilboa::GilboaRun::set_up(&io, &mut cx, plan).await?.run(&io, sink).await
            })?;
        }
    }
    channel.finish()?;
    Ok(records)
}
