//! A hello from the peer is accepted only if it is the one encoding of an honest peer's, with the
//! same terms, another nonce and whatever offers. What jobs read in the offers is a number that they can use or an
//! error. No error carries control characters.
#![no_main]

use std::{collections::BTreeMap, sync::LazyLock};

use foxtrot::{
    ot::terms::{message_length, messages, peers_length},
    psi::terms::{self, peers_keys},
    triples::terms::{peers_batches, triples as of_triples},
};
use foxtrot_fuzz::{Change, changed, details, frame, greetings, said, scripted, sid};
use foxtrot_net::{
    Channel, Error,
    hello::{self, Agreement, Binding, Hello, Role},
};
use foxtrot_ot::{
    base::{Adversary, roted::Endemic},
    transfers::{Extension, Method},
};
use foxtrot_psi::method::{Assumption, Method as PsiMethod};
use foxtrot_triples::TripleKind;
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

/// One side of a small job: its hello, and what it reads of the peer's before the protocol begins.
struct Side {
    hello: Hello,
    read: fn(&Agreement) -> Result<(), Error>,
}

/// Transfers, an intersection and triples; the sender, or P₀, is the first side. Nonces are fixed, so that its peer can be
/// recited.
static SIDES: LazyLock<[[Side; 2]; 3]> = LazyLock::new(|| {
    let sides = |hello: &dyn Fn(Role) -> Hello, read: [fn(&Agreement) -> Result<(), Error>; 2]| {
        let roles = [Role::Sender, Role::Receiver];
        [0, 1].map(|i: u8| Side {
            hello: hello(roles[usize::from(i)]).with_nonce([1 - i; 32]),
            read: read[usize::from(i)],
        })
    };
    let ot = |role| {
        let method = Method { base: &Endemic, extension: Extension::None };
        let hello = messages(role, &method, 1, 2, false);
        if role == Role::Sender { message_length(hello, 7) } else { hello }
    };
    let psi = |role| terms::psi(role, &PSI, "none/1", KEYS, MOST);
    let triples = |role| of_triples(role, kind(), COUNT, "new", 0);
    [
        sides(&ot, [|_| Ok(()), |it| Ok(peers_length(&it.peer_details).map(drop)?)]),
        sides(&psi, [read_keys, read_keys]),
        sides(&triples, [read_batches, read_batches]),
    ]
});

const PSI: PsiMethod = PsiMethod {
    base: &Endemic,
    assumption: Assumption::Symmetric,
    adversary: Adversary::Malicious,
};
/// Keys of each side, and the most that the peer may have.
const KEYS: usize = 3;
const MOST: usize = 1000;
/// The number of triples.
const COUNT: u64 = 1000;

fn kind() -> TripleKind {
    TripleKind::find("rlwe-8").expect("a kind")
}

fn read_keys(agreement: &Agreement) -> Result<(), Error> {
    let theirs = peers_keys(&agreement.peer_details, 0, 0..=MOST)?;
    let sizes = if agreement.role == Role::Sender { [theirs, KEYS] } else { [KEYS, theirs] };
    Ok(PSI.parameters(sizes[0], sizes[1]).map(drop).map_err(foxtrot_ot::Error::from)?)
}

fn read_batches(agreement: &Agreement) -> Result<(), Error> {
    Ok(peers_batches(&agreement.peer_offers, kind().batches(COUNT)).map(drop)?)
}

impl Side {
    /// Says hello, and goes on with the peer on the channel until the protocol would begin.
    fn agree(&self, channel: &Channel, initiator: bool) -> Result<(), Error> {
        hello::exchange(channel, initiator, &self.hello).and_then(|it| (self.read)(&it))
    }
}

/// First messages of each side, if the first one opened the connection, and if the second one did.
static FIRST: LazyLock<[[[Vec<u8>; 2]; 2]; 3]> = LazyLock::new(|| {
    SIDES.each_ref().map(|[first, second]| {
        let [b, a] = greetings(&second.hello, &first.hello);
        [greetings(&first.hello, &second.hello), [a, b]]
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
        match SIDES[job][us].agree(&scripted(heard.clone()), initiator) {
            Ok(()) => {}
            Err(error) => {
                let error = error.to_string();
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
