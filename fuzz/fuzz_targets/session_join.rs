//! A session of a private join from its hello on, whose every frame the fuzzer changes: both parties end, errors are not of
//! their own making, the payloads that the receiver gets are those of its matches, and the sender learns of no others.
#![no_main]

use foxtrot_fuzz::{
    base_ot,
    live::{Changes, session},
};
use foxtrot_net::{drive, hello::Agreement};
use foxtrot_ot::Session;
use foxtrot_psi::{
    Digest,
    join::JoinTerms,
    method::protocol::{IntersectionPlan, Receiver, Sender},
    vole_psi::{Parameters, Vole},
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u8, u8, u8, u8, bool, [Changes; 2])| {
    let (how, ours, first, theirs, len, short, changes) = input;
    let (both, buckets) = (how % 2 == 1, 1 + usize::from(how / 2 % 3));
    let digests = |first: u8, n: u8| -> Vec<Digest> {
        (u16::from(first)..)
            .take(n.into())
            .map(|k| [k.to_le_bytes(); 16].concat().try_into().unwrap())
            .collect()
    };
    let (ours, theirs) = (digests(0, ours), digests(first, theirs));
    let shared: Vec<usize> = (0..ours.len()).filter(|&k| theirs.contains(&ours[k])).collect();
    let of_sender: Vec<usize> = (0..theirs.len()).filter(|&k| ours.contains(&theirs[k])).collect();
    let parameters =
        Parameters::with_buckets(Vole::Packed, ours.len(), theirs.len(), buckets).unwrap();
    let terms = JoinTerms::NONE.payload(len.into()).unwrap();
    let terms = if both { terms.both() } else { terms };
    // A payload repeats the first byte of its item.
    let (items, of_receiver) = (theirs.clone(), ours.clone());
    let mut payload = move |k: usize, to: &mut [u8]| Ok(to.fill(items[k][0]));
    let ended = session(
        changes,
        |channel, agreement| {
            let session = Session::new(agreement.sid);
            let (mut cx, plan) = (drive::context(&session)?, plan(parameters, short, agreement));
            drive::play(channel, |io| async move {
                let sender = Sender::set_up(&io, &mut cx, plan).await?;
                sender.join(&io, theirs, terms, &mut payload, &mut |_| ()).await
            })
        },
        |channel, agreement| {
            let session = Session::new(agreement.sid);
            let (mut cx, plan) = (drive::context(&session)?, plan(parameters, short, agreement));
            drive::play(channel, |io| async move {
                let receiver = Receiver::set_up(&io, &mut cx, plan).await?;
                let mut store = Vec::new();
                let joined = receiver.join(&io, ours, terms, &mut store, &mut |_| ()).await?;
                let check = |k: usize, text: &[u8]| {
                    assert!(text.iter().all(|byte| *byte == of_receiver[k][0]));
                };
                joined.open(&mut store, check)
            })
        },
    );
    if let Ok(found) = &ended.receiver {
        assert!(found.iter().all(|k| shared.contains(k)));
    }
    if let Ok(found) = &ended.sender {
        assert!(found.iter().all(|k| both && of_sender.contains(k)));
    }
    let tampered = ended.tampered;
    if let Some((sent, found)) = ended.both() {
        assert!(tampered || found == shared && (!both || sent == of_sender));
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
