//! A session of an extension from its hello on, with messages behind it or without, whose every frame the fuzzer
//! changes: both parties end, errors are not of their own making, and if both have output after a check it fits. Messages
//! that open are the chosen ones, check or not.
#![no_main]

use foxtrot_fuzz::{
    base_ot,
    live::{Changes, session},
};
use foxtrot_net::{Lane, drive, hello::Agreement};
use foxtrot_ot::{
    Bits, Session,
    base::{Adversary, Choice},
    convert::{self, Format, frame_len},
    extension::{
        Extension, OtKind, Shape,
        protocol::{ExtensionPlan, Receiver, Sender},
        registry,
    },
};
use libfuzzer_sys::fuzz_target;

/// Bytes of a message.
const LEN: usize = 20;

fuzz_target!(|input: (u8, u8, bool, bool, bool, [Changes; 2])| {
    let (which, n, given, short, sealed, changes) = input;
    let extension = registry().nth(usize::from(which) % registry().count()).unwrap();
    let choice = match given {
        true => Choice::Given(Bits::from_bools((0..n).map(|i| i % 3 == 0))),
        false => Choice::Random(n.into()),
    };
    let shape = Shape::of(&choice);
    let messages: Vec<_> =
        (0..n).flat_map(|i| [0, 1].map(|j| vec![i; usize::from(j + i % 20)])).collect();
    let behind = |session: &Session, agreement: &Agreement| {
        session.sub("chosen-messages", 0, agreement.direction())
    };
    let ended = session(
        changes,
        |channel, agreement| {
            let session = Session::new(agreement.sid);
            let mut pairs = Vec::new();
            let (mut cx, plan) = (drive::context(&session)?, plan(extension, short, agreement));
            let all = &mut pairs;
            drive::play(channel, |io| async move {
                let sink = |some: &[_]| {
                    all.extend_from_slice(some);
                    Ok(())
                };
                Sender::set_up(&io, &mut cx, plan).await?.random(&io, shape, sink).await
            })?;
            if sealed {
                let session = behind(&session, agreement);
                let mut sender = convert::Sender::new(session, Format::Pairs, LEN).unwrap();
                let frame = sender.seal(pairs.as_flattened(), &messages).unwrap();
                channel.send(Lane::PROTOCOL, frame)?;
            }
            Ok(pairs)
        },
        |channel, agreement| {
            let session = Session::new(agreement.sid);
            let (mut choices, mut keys) = (Vec::<bool>::new(), Vec::new());
            let (mut cx, plan) = (drive::context(&session)?, plan(extension, short, agreement));
            let (choice, all) = (&choice, (&mut choices, &mut keys));
            drive::play(channel, |io| async move {
                let sink = |bits: &Bits, some: &[_]| {
                    all.0.extend((0..bits.len()).map(|i| bool::from(bits.get(i))));
                    all.1.extend_from_slice(some);
                    Ok(())
                };
                let mut receiver = Receiver::set_up(&io, &mut cx, plan).await?;
                receiver.run(&io, choice, OtKind::Random, sink).await
            })?;
            let (chosen, of) =
                if sealed { (choices.clone(), keys.clone()) } else { Default::default() };
            let chosen = chosen.into_iter().map(u64::from).collect::<Vec<_>>().into();
            let session = behind(&session, agreement);
            let mut receiver =
                convert::Receiver::new(session, Format::Pairs, LEN, chosen, of.into()).unwrap();
            if sealed {
                receiver.take(&channel.recv(Lane::PROTOCOL, frame_len(2 * keys.len(), LEN))?)?;
            }
            Ok((choices, keys, receiver.finish()?))
        },
    );
    let checked = extension.info().adversary == Adversary::Malicious || !ended.tampered;
    let tampered = ended.tampered;
    if let Some((pairs, (choices, keys, received))) = ended.both() {
        assert_eq!((pairs.len(), keys.len()), (usize::from(n), usize::from(n)));
        match received.open().collect::<Option<Vec<_>>>() {
            Some(opened) => {
                let pairs = messages.as_chunks::<2>().0.iter();
                let chosen = pairs.zip(&choices).map(|(pair, c)| &pair[usize::from(*c)]);
                assert!(!sealed || chosen.eq(opened.iter().map(|message| &**message)));
            }
            None => assert!(tampered, "nobody changed anything"),
        }
        let chosen = pairs.iter().zip(choices).map(|(pair, choice)| pair[usize::from(choice)]);
        assert!(!checked || chosen.eq(keys));
    }
});

fn plan(extension: Extension, short: bool, agreement: &Agreement) -> ExtensionPlan<'static> {
    ExtensionPlan { extension, base: base_ot(short), direction: agreement.direction(), counter: 0 }
}
