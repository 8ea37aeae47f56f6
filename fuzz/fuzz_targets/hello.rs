//! A hello from the peer is accepted only if it is the one encoding of an honest peer's, with the
//! same terms, another nonce and whatever offers; and no error carries control characters.
#![no_main]

use std::sync::LazyLock;

use foxtrot_fuzz::{Change, changed, frame, said, scripted};
use foxtrot_net::{
    Error,
    hello::{self, Binding, Hello, Role},
};
use foxtrot_ot::Sid;
use libfuzzer_sys::fuzz_target;

/// Bytes of a frame before its payload.
const HEADER: usize = 5;

static HELLOS: LazyLock<[[Vec<u8>; 2]; 2]> = LazyLock::new(|| {
    let bytes = |hello| said(&hello)[HEADER..].to_vec();
    [false, true].map(|bound| [bytes(ours(bound)), bytes(peers(bound).offer("message-length", 9))])
});

fuzz_target!(|input: (bool, Vec<Change>)| {
    let (bound, changes) = input;
    let [here, there] = &HELLOS[usize::from(bound)];
    let there = changed(there, &changes);
    match hello::exchange(&scripted(frame(0, &there)), true, &ours(bound)) {
        Ok(agreement) => {
            let exporter: &[u8] = if bound { &[7; 32] } else { &[] };
            assert_eq!(agreement.sid, Sid::derive(here, &there, exporter));
            let honest = peers(bound).with_nonce(there[10..42].try_into().unwrap());
            let offers = agreement.peer_offers.iter();
            let honest = offers.fold(honest, |hello, (key, value)| hello.offer(key, value));
            assert_eq!(said(&honest)[HEADER..], there);
        }
        Err(Error::Hello(error)) => assert!(!error.to_string().contains(char::is_control)),
        Err(error) => panic!("{error}"),
    }
});

fn ours(bound: bool) -> Hello {
    hello(Role::Receiver, bound.then_some([[1; 32], [2; 32]]), [3; 32])
}

fn peers(bound: bool) -> Hello {
    hello(Role::Sender, bound.then_some([[2; 32], [1; 32]]), [4; 32])
}

fn hello(role: Role, keys: Option<[[u8; 32]; 2]>, nonce: [u8; 32]) -> Hello {
    let hello = Hello::new(role).term("job", "ot").term("count", 5).with_nonce(nonce);
    match keys {
        Some([ours, peer]) => hello.bound_to(Binding { ours, peer, exporter: [7; 32] }),
        None => hello,
    }
}
