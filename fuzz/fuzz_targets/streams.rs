//! Hello and batch over a byte stream of which the fuzzer changes anything: each role of each base
//! OT, and of the two-round extension, ends by itself, and after a session other than the honest one `roted`, which hashes its messages into
//! its keys, leaves no key in common.
#![no_main]

use std::sync::LazyLock;

use foxtrot_fuzz::{Change, changed, frame, greetings, payloads, receiver, scripted, sender, sid};
use foxtrot_net::{
    Error, Lane, drive,
    hello::{self, Hello, Role},
};
use foxtrot_ot::{
    Direction, Session,
    base::{self, BaseOt, Block, ReceiverKeys, SenderKeys},
    extension::two_round,
    pair::{Pair, PairParty},
};
use libfuzzer_sys::fuzz_target;

const N: usize = 2;

/// The honest peer's messages, and its keys.
struct Honest {
    script: Vec<u8>,
    keys: Vec<Block>,
}

static HONEST: LazyLock<Vec<[Honest; 2]>> = LazyLock::new(|| {
    let both =
        |base: &&'static dyn BaseOt| [Role::Sender, Role::Receiver].map(|us| honest(*base, us));
    bases().iter().map(both).collect()
});

fuzz_target!(|input: (u8, bool, Vec<Change>)| {
    let (which, us, changes) = input;
    let which = usize::from(which) % HONEST.len();
    let honest = &HONEST[which][usize::from(us)];
    let us = [Role::Sender, Role::Receiver][usize::from(us)];
    let script = changed(&honest.script, &changes);
    // What comes after the last message is nobody's.
    let same = script.starts_with(&honest.script);
    let keys = play(bases()[which], us, script);
    assert!(keys.is_ok() || !same, "{:?}", keys.err());
    let shared = keys.iter().flatten().filter(|key| honest.keys.contains(key)).count();
    if same || bases()[which].info().family == "roted" {
        assert_eq!(shared, if same { N } else { 0 });
    }
});

/// Every base OT that the command offers, and the extension of two messages.
fn bases() -> Vec<&'static dyn BaseOt> {
    base::registry().iter().chain(two_round::registry()).copied().collect()
}

/// Our side.
fn play(base: &dyn BaseOt, us: Role, script: Vec<u8>) -> Result<Vec<Block>, Error> {
    let channel = scripted(script);
    let agreement = hello::exchange(&channel, true, &hello(us))?;
    let session = Session::new(agreement.sid).sub(base.info().name, 0, agreement.direction());
    let keys = match us {
        Role::Sender => of_sender(&drive::run(&channel, sender(base, session, N))?),
        Role::Receiver => of_receiver(&drive::run(&channel, receiver(base, session, N))?),
    };
    Ok(keys)
}

/// The peer's side, when both are honest.
fn honest(base: &dyn BaseOt, us: Role) -> Honest {
    let (peer, party, direction) = match us {
        Role::Sender => (Role::Receiver, PairParty::Receiver, Direction::InitiatorSends),
        Role::Receiver => (Role::Sender, PairParty::Sender, Direction::ResponderSends),
    };
    let [here, there] = greetings(&hello(us), &hello(peer));
    let both = [payloads(&here), payloads(&there)];
    let sid = sid([[both[0][0], both[0][1]], [both[1][0], both[1][1]]], &[]);
    let session = || Session::new(sid).sub(base.info().name, 0, direction);
    let mut script = there;
    let pair = Pair::new(sender(base, session(), N), receiver(base, session(), N));
    let keys = pair.run_through(|from, message| {
        if from == party {
            script.extend(frame(Lane::PROTOCOL.index(), &message));
        }
        message
    });
    let (sender, receiver) = keys.expect("both are honest");
    let keys = if us == Role::Sender { of_receiver(&receiver) } else { of_sender(&sender) };
    Honest { script, keys }
}

fn hello(role: Role) -> Hello {
    let nonce = if role == Role::Sender { [1; 32] } else { [2; 32] };
    Hello::new(role).term("count", N).with_nonce(nonce)
}

fn of_sender(keys: &SenderKeys) -> Vec<Block> {
    keys.pairs().as_flattened().to_vec()
}

fn of_receiver(keys: &ReceiverKeys) -> Vec<Block> {
    keys.keys().to_vec()
}
