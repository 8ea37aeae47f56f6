//! A session of a set intersection from its hello on, whose every frame the fuzzer changes: both parties end, errors are
//! not of their own making, and what the receiver gets is part of the intersection; in one to three buckets.
#![no_main]

use foxtrot_fuzz::{
    base_ot,
    live::{Changes, session},
};
use foxtrot_net::{drive, hello::Agreement};
use foxtrot_ot::{Session, base::Adversary};
use foxtrot_psi::{
    Digest,
    method::protocol::{IntersectionPlan, Receiver, Sender},
    paxos::Parameters,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u8, u8, u8, bool, [Changes; 2])| {
    let (how, ours, first, theirs, short, changes) = input;
    let (checked, buckets) = (how % 2 == 1, 1 + usize::from(how / 2 % 3));
    let adversary = if checked { Adversary::Malicious } else { Adversary::SemiHonest };
    let digests = |first: u8, n: u8| -> Vec<Digest> {
        (u16::from(first)..)
            .take(n.into())
            .map(|k| [k.to_le_bytes(); 16].concat().try_into().unwrap())
            .collect()
    };
    let (ours, theirs) = (digests(0, ours), digests(first, theirs));
    let shared: Vec<usize> = (0..ours.len()).filter(|&k| theirs.contains(&ours[k])).collect();
    let parameters =
        Parameters::with_buckets(adversary, ours.len(), theirs.len(), buckets).unwrap();
    let ended = session(
        changes,
        |channel, agreement| {
            let session = Session::new(agreement.sid);
            let (mut cx, plan) = (drive::context(&session)?, plan(parameters, short, agreement));
            drive::play(channel, |io| async move {
                Sender::set_up(&io, &mut cx, plan).await?.run(&io, theirs, &mut |_| ()).await
            })
        },
        |channel, agreement| {
            let session = Session::new(agreement.sid);
            let (mut cx, plan) = (drive::context(&session)?, plan(parameters, short, agreement));
            drive::play(channel, |io| async move {
                let receiver = Receiver::set_up(&io, &mut cx, plan).await?;
                receiver.run(&io, ours, &mut |_| ()).await?.intersect()
            })
        },
    );
    if let Ok(found) = &ended.receiver {
        assert!(found.iter().all(|k| shared.contains(k)));
    }
    let tampered = ended.tampered;
    if let Some(((), found)) = ended.both() {
        assert!(tampered || found == shared);
    }
});

fn plan(parameters: Parameters, short: bool, agreement: &Agreement) -> IntersectionPlan<'static> {
    IntersectionPlan {
        parameters: parameters.into(),
        base: base_ot(short),
        direction: agreement.direction(),
        counter: 0,
    }
}
