//! The two-round extension over a network that changes both messages: nobody panics, and a sender
//! that has output has the keys of the receiver's choices.
#![no_main]

use foxtrot_fuzz::{Change, changed, receiver, sender};
use foxtrot_ot::{
    Error, Session, Sid,
    extension::two_round::find,
    pair::{Pair, assert_rot},
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, [Vec<Change>; 2])| {
    let (n, changes) = input;
    let n = usize::from(n);
    // The shorter messages: the fuzzer reaches all of them.
    let base = find("mcquoid-rosulek-roy").expect("a carrier");
    let session = || Session::new(Sid::from_bytes([1; 32]));
    let (mut number, mut tampered) = (0, false);
    let pair = Pair::new(sender(base, session(), n), receiver(base, session(), n));
    let result = pair.run_through(|_, honest| {
        let message = changed(&honest, &changes[number]);
        tampered |= message != honest;
        number += 1;
        message
    });
    match result {
        Ok((sender, receiver)) => {
            assert!(!tampered, "a change that no check sees");
            assert_rot(&sender, &receiver);
        }
        Err((_, Error::Decode(_) | Error::Misbehaved(_))) => assert!(tampered),
        Err((party, error)) => panic!("{party:?}: {error}"),
    }
});
