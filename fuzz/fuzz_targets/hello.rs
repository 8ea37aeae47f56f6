//! A hello from the peer is accepted only if it is the one encoding of an honest peer's, with the
//! same terms, another nonce and whatever offers. What jobs read in the offers is a number that they can use or an
//! error. No error carries control characters.
#![no_main]

use std::{collections::BTreeMap, sync::LazyLock};

use foxtrot_cli::fuzzing::{Job, Side};
use foxtrot_fuzz::{Change, changed, details, frame, greetings, said, scripted, sid};
use foxtrot_net::{
    Error,
    hello::{self, Binding, Hello, Role},
};
use libfuzzer_sys::{
    arbitrary::{self, Arbitrary},
    fuzz_target,
};

/// Bytes of a frame before its payload.
const HEADER: usize = 5;

#[derive(Arbitrary, Debug)]
enum Said {
    /// A hello, with keys to be bound to or without, and details that fit it.
    Hello(bool),
    /// Details behind an honest hello.
    Details(bool),
    /// All that is said to the first or second side of a job, which opened the connection or not.
    Job(u8, bool, bool),
}

static HELLOS: LazyLock<[[Vec<u8>; 2]; 2]> = LazyLock::new(|| {
    let bytes = |hello| said(&hello)[HEADER..].to_vec();
    [false, true].map(|bound| [bytes(ours(bound)), bytes(peers(bound).offer("whole-batches", 9))])
});

static SIDES: LazyLock<[[Side; 2]; 3]> = LazyLock::new(|| {
    [Job::Ot, Job::Psi, Job::Triples]
        .map(|job| [true, false].map(|first| Side::new(job, first).expect("small inputs")))
});

/// First messages of each side, if the first one opened the connection, and if the second one did.
static FIRST: LazyLock<[[[Vec<u8>; 2]; 2]; 3]> = LazyLock::new(|| {
    SIDES.each_ref().map(|[first, second]| {
        let [b, a] = greetings(second.hello(), first.hello());
        [greetings(first.hello(), second.hello()), [a, b]]
    })
});

fuzz_target!(|input: (Said, Vec<Change>)| match input {
    (Said::Hello(bound), changes) => {
        let [here, there] = &HELLOS[usize::from(bound)];
        let there = changed(there, &changes);
        let behind = details([here, &there], exporter(bound), false, &told());
        exchange(bound, &there, &behind);
    }
    (Said::Details(bound), changes) => {
        let [here, there] = &HELLOS[usize::from(bound)];
        let behind = details([here, there], exporter(bound), false, &told());
        exchange(bound, there, &changed(&behind, &changes));
    }
    (Said::Job(job, second, initiator), changes) => {
        let (job, us) = (usize::from(job) % SIDES.len(), usize::from(second));
        // The first side opened the connection if it is ours and did, or is the peer's and ours did not.
        let first_opened = (us == 0) == initiator;
        let script = &FIRST[job][usize::from(!first_opened)][1 - us];
        let heard = changed(script, &changes);
        match SIDES[job][us].agree(scripted(heard.clone()), initiator) {
            Ok(()) => {}
            Err(error) => {
                assert_ne!(&heard, script, "{error}");
                assert!(!error.contains(char::is_control), "{error:?}");
            }
        }
    }
});

fn exchange(bound: bool, there: &[u8], behind: &[u8]) {
    let [here, _] = &HELLOS[usize::from(bound)];
    let script = [frame(0, there), frame(0, behind)].concat();
    match hello::exchange(&scripted(script), true, &ours(bound)) {
        Ok(agreement) => {
            let exporter = exporter(bound);
            let ours_behind = details([here, there], exporter, true, &BTreeMap::new());
            let said_both = [[&here[..], &ours_behind], [there, behind]];
            assert_eq!(agreement.sid, sid(said_both, exporter));
            let honest = peers(bound).with_nonce(there[10..42].try_into().unwrap());
            let offers = agreement.peer_offers.iter();
            let honest = offers.fold(honest, |hello, (key, value)| hello.offer(key, value));
            assert_eq!(said(&honest)[HEADER..], *there);
            let of_peer = details([here, there], exporter, false, &agreement.peer_details);
            assert_eq!(of_peer, behind);
        }
        Err(error @ (Error::Hello(_) | Error::Frame(_) | Error::Channel(_))) => {
            assert!(!error.to_string().contains(char::is_control));
        }
        Err(error) => panic!("{error}"),
    }
}

fn told() -> BTreeMap<String, String> {
    [("message-length".to_owned(), "9".to_owned())].into()
}

fn exporter(bound: bool) -> &'static [u8] {
    if bound { &[7; 32] } else { &[] }
}

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
