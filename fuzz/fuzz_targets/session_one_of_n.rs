//! A session of a 1-of-N extension from its hello on, whose every frame the fuzzer changes: both parties end, errors are
//! not of their own making, and if both have output after a check it fits.
#![no_main]

use foxtrot_fuzz::{
    base_ot,
    live::{Changes, session},
};
use foxtrot_net::{
    Error,
    extend::one_of_n::{Plan, Receiver, Sender, Shape},
    hello::Agreement,
};
use foxtrot_ot::{
    Session,
    base::Adversary,
    extension::one_of_n::{Any, registry},
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u8, bool, [Changes; 2])| {
    let (which, n, short, changes) = input;
    let extension = registry().nth(usize::from(which) % registry().count()).unwrap();
    // One has words of a single bit.
    let one_of = if extension.parameters().word(4).is_some() { 5 } else { 2 };
    let shape = Shape { n: n.into(), choices: one_of };
    let choices: Vec<u64> = (0..n.into()).map(|i: u64| 3 * i % one_of as u64).collect();
    let ended = session(
        changes,
        |channel, agreement| {
            let session = Session::new(agreement.sid);
            let mut keys = Vec::new();
            Sender::set_up(channel, &plan(extension, short, &session, agreement))?.run(
                shape,
                |some| {
                    keys.extend_from_slice(some);
                    Ok::<_, Error>(())
                },
            )?;
            Ok(keys)
        },
        |channel, agreement| {
            let session = Session::new(agreement.sid);
            let word = |choice: &u64| extension.parameters().word(*choice).unwrap();
            let words: Vec<u8> = choices.iter().flat_map(word).collect();
            let mut keys = Vec::new();
            Receiver::set_up(channel, &plan(extension, short, &session, agreement))?.run(
                shape,
                &words,
                |some| {
                    keys.extend_from_slice(some);
                    Ok::<_, Error>(())
                },
            )?;
            Ok(keys)
        },
    );
    let checked = extension.info().adversary == Adversary::Malicious || !ended.tampered;
    if let Some((all, keys)) = ended.both() {
        assert_eq!((all.len(), keys.len()), (one_of * usize::from(n), usize::from(n)));
        let chosen = all.chunks(one_of).zip(&choices).map(|(keys, choice)| keys[*choice as usize]);
        assert!(!checked || chosen.eq(keys));
    }
});

fn plan<'a>(extension: Any, short: bool, session: &'a Session, agreement: &Agreement) -> Plan<'a> {
    Plan { extension, base: base_ot(short), session, direction: agreement.direction(), counter: 0 }
}
