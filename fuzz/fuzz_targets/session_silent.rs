//! A session of silent OTs from its hello on, whose every frame the fuzzer changes: both parties end, errors are not of
//! their own making, and if both have output after a check it fits.
#![no_main]

use foxtrot_fuzz::{
    base_ot,
    live::{Changes, session},
};
use foxtrot_net::{drive, hello::Agreement};
use foxtrot_ot::{
    Bits, Session,
    base::{Adversary, Choice},
    extension::Shape,
    silent::{
        Gf2, Silent, ot, ot_semi_honest,
        protocol::{ExtensionPlan, Receiver, Sender},
    },
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (bool, u8, bool, bool, [Changes; 2])| {
    let (checked, n, given, short, changes) = input;
    let silent = if checked { ot() } else { ot_semi_honest() };
    let choice = match given {
        true => Choice::Given(Bits::from_bools((0..n).map(|i| i % 3 == 0))),
        false => Choice::Random(n.into()),
    };
    let shape = Shape::of(&choice);
    let ended = session(
        changes,
        |channel, agreement| {
            let session = Session::new(agreement.sid);
            let mut pairs = Vec::new();
            let (mut cx, plan) = (drive::context(&session)?, plan(silent, short, agreement));
            let all = &mut pairs;
            drive::play(channel, |io| async move {
                let sink = |some: &[_]| {
                    all.extend_from_slice(some);
                    Ok(())
                };
                Sender::set_up(&io, &mut cx, plan).await?.random(&io, shape, sink).await
            })?;
            Ok(pairs)
        },
        |channel, agreement| {
            let session = Session::new(agreement.sid);
            let (mut choices, mut keys) = (Vec::<bool>::new(), Vec::new());
            let (mut cx, plan) = (drive::context(&session)?, plan(silent, short, agreement));
            let (choice, all) = (&choice, (&mut choices, &mut keys));
            drive::play(channel, |io| async move {
                let sink = |bits: &Bits, some: &[_]| {
                    all.0.extend((0..bits.len()).map(|i| bool::from(bits.get(i))));
                    all.1.extend_from_slice(some);
                    Ok(())
                };
                Receiver::set_up(&io, &mut cx, plan).await?.random(&io, choice, sink).await
            })?;
            Ok((choices, keys))
        },
    );
    let checked = silent.adversary() == Adversary::Malicious || !ended.tampered;
    // Given choices are sent last, under no check: a change of them makes other keys.
    let checked = checked && (!given || !ended.tampered);
    if let Some((pairs, (choices, keys))) = ended.both() {
        assert_eq!((pairs.len(), keys.len()), (usize::from(n), usize::from(n)));
        let chosen = pairs.iter().zip(choices).map(|(pair, choice)| pair[usize::from(choice)]);
        assert!(!checked || chosen.eq(keys));
    }
});

fn plan(
    extension: Silent<Gf2>,
    short: bool,
    agreement: &Agreement,
) -> ExtensionPlan<'static, Silent<Gf2>> {
    ExtensionPlan { extension, base: base_ot(short), direction: agreement.direction(), counter: 0 }
}
