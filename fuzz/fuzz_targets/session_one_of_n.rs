//! A session of a 1-of-N extension from its hello on, with messages behind it or without, whose every frame the fuzzer
//! changes: both parties end, errors are not of their own making, and if both have output after a check it fits. Messages
//! that open are the chosen ones, check or not.
#![no_main]

use foxtrot_fuzz::{
    base_ot,
    live::{Changes, session},
};
use foxtrot_net::{Lane, drive, hello::Agreement};
use foxtrot_ot::{
    Session,
    base::Adversary,
    convert::{self, Format},
    extension::one_of_n::{
        Extension,
        protocol::{OneOfNPlan, Receiver, Sender, Shape},
        registry,
    },
};
use libfuzzer_sys::fuzz_target;

/// Bytes of a message.
const LEN: usize = 20;

fuzz_target!(|input: (u8, u8, bool, bool, [Changes; 2])| {
    let (which, n, short, sealed, changes) = input;
    let extension = registry().nth(usize::from(which) % registry().count()).unwrap();
    // One has words of a single bit.
    let one_of = if extension.parameters().word(4).is_some() { 5 } else { 2 };
    let format = Format::OneOf(one_of);
    let shape = Shape { n: n.into(), choices: one_of };
    let choices: Vec<u64> = (0..n.into()).map(|i: u64| 3 * i % one_of as u64).collect();
    let messages: Vec<_> = (0..one_of * usize::from(n)).map(|i| vec![i as u8; i % LEN]).collect();
    let behind = |session: &Session, agreement: &Agreement| {
        session.sub("chosen-messages", 0, agreement.direction())
    };
    let ended = session(
        changes,
        |channel, agreement| {
            let session = Session::new(agreement.sid);
            let mut keys = Vec::new();
            let (mut cx, plan) = (drive::context(&session)?, plan(extension, short, agreement));
            let all = &mut keys;
            drive::play(channel, |io| async move {
                let sink = |some: &[_]| {
                    all.extend_from_slice(some);
                    Ok(())
                };
                Sender::set_up(&io, &mut cx, plan).await?.run(&io, shape, sink).await
            })?;
            if sealed && n > 0 {
                let session = behind(&session, agreement);
                let mut sender = convert::Sender::new(session, format, LEN).unwrap();
                channel.send(Lane::PROTOCOL, sender.seal(&keys, &messages).unwrap())?;
            }
            Ok(keys)
        },
        |channel, agreement| {
            let session = Session::new(agreement.sid);
            let word = |choice: &u64| extension.parameters().word(*choice).unwrap();
            let words: Vec<u8> = choices.iter().flat_map(word).collect();
            let mut keys = Vec::new();
            let (mut cx, plan) = (drive::context(&session)?, plan(extension, short, agreement));
            let (words, all) = (&words, &mut keys);
            drive::play(channel, |io| async move {
                let sink = |some: &[_]| {
                    all.extend_from_slice(some);
                    Ok(())
                };
                Receiver::set_up(&io, &mut cx, plan).await?.run(&io, shape, words, sink).await
            })?;
            let (chosen, of) =
                if sealed { (choices.clone(), keys.clone()) } else { Default::default() };
            let (session, chosen, of) = (behind(&session, agreement), chosen.into(), of.into());
            let mut receiver = convert::Receiver::new(session, format, LEN, chosen, of).unwrap();
            while let Some(len) = receiver.next_frame_len() {
                receiver.take(&channel.recv(Lane::PROTOCOL, len)?)?;
            }
            Ok((keys, receiver.finish()?))
        },
    );
    let checked = extension.info().adversary == Adversary::Malicious || !ended.tampered;
    let tampered = ended.tampered;
    if let Some((all, (keys, received))) = ended.both() {
        assert_eq!((all.len(), keys.len()), (one_of * usize::from(n), usize::from(n)));
        match received.open().collect::<Option<Vec<_>>>() {
            Some(opened) => {
                let chosen = messages.chunks(one_of).zip(&choices);
                let chosen = chosen.map(|(all, choice)| &all[*choice as usize]);
                assert!(!sealed || chosen.eq(opened.iter().map(|message| &**message)));
            }
            None => assert!(tampered, "nobody changed anything"),
        }
        let chosen = all.chunks(one_of).zip(&choices).map(|(keys, choice)| keys[*choice as usize]);
        assert!(!checked || chosen.eq(keys));
    }
});

fn plan(extension: Extension, short: bool, agreement: &Agreement) -> OneOfNPlan<'static> {
    OneOfNPlan { extension, base: base_ot(short), direction: agreement.direction(), counter: 0 }
}
