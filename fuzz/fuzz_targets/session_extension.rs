//! A session of an extension from its hello on, whose every frame the fuzzer changes: both parties end, errors are not
//! of their own making, and if both have output after a check it fits.
#![no_main]

use foxtrot_fuzz::{
    base_ot,
    live::{Changes, session},
};
use foxtrot_net::{
    Error,
    extend::{Plan, Receiver, Sender},
    hello::Agreement,
};
use foxtrot_ot::{
    Bits, Session,
    base::{Adversary, Choice},
    extension::{Any, Kind, Shape, registry},
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u8, bool, bool, [Changes; 2])| {
    let (which, n, given, short, changes) = input;
    let extension = registry().nth(usize::from(which) % registry().count()).unwrap();
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
            Sender::set_up(channel, &plan(extension, short, &session, agreement))?.random(
                shape,
                |some| {
                    pairs.extend_from_slice(some);
                    Ok::<_, Error>(())
                },
            )?;
            Ok(pairs)
        },
        |channel, agreement| {
            let session = Session::new(agreement.sid);
            let (mut choices, mut keys) = (Vec::new(), Vec::new());
            Receiver::set_up(channel, &plan(extension, short, &session, agreement))?.run(
                &choice,
                Kind::Random,
                |bits, some| {
                    choices.extend((0..bits.len()).map(|i| bool::from(bits.get(i))));
                    keys.extend_from_slice(some);
                    Ok::<_, Error>(())
                },
            )?;
            Ok((choices, keys))
        },
    );
    let checked = extension.info().adversary == Adversary::Malicious || !ended.tampered;
    if let Some((pairs, (choices, keys))) = ended.both() {
        assert_eq!((pairs.len(), keys.len()), (usize::from(n), usize::from(n)));
        let chosen = pairs.iter().zip(choices).map(|(pair, choice)| pair[usize::from(choice)]);
        assert!(!checked || chosen.eq(keys));
    }
});

fn plan<'a>(extension: Any, short: bool, session: &'a Session, agreement: &Agreement) -> Plan<'a> {
    Plan { extension, base: base_ot(short), session, direction: agreement.direction(), counter: 0 }
}
