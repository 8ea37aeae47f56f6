//! Base OTs, and extensions that are one message each way.

use foxtrot_kernel::memcheck::public;
use foxtrot_ot::{
    Backend, Bits, Direction,
    base::{
        BaseOt, Block, Choice, Functionality, ReceiverKeys, SenderKeys, resumed::Kept,
        roted::Endemic,
    },
    extension::two_round,
    pair::Pair,
};
use foxtrot_papers::base_ots;

use super::{Check, secrets, seed, session};

/// More than vectors have lanes, and no multiple of it.
const N: usize = 17;

pub(crate) fn checks() -> impl Iterator<Item = Check> {
    let all = base_ots().chain(two_round::registry().iter().copied());
    let all = all.map(|base| Check {
        name: base.info().name.into(),
        run: Box::new(move |backend| {
            // A single instance may go a way of its own.
            for n in [1, N] {
                let (sent, received) = run(base, backend, n);
                compare(sent.pairs(), received.choices(), received.keys());
            }
        }),
    });
    all.chain([Check { name: "roted-endemic, resumed".into(), run: Box::new(resume) }])
}

/// A session that takes up the base OTs of another one.
fn resume(backend: Backend) {
    let fresh = [Kept::fresh(&Endemic), Kept::fresh(&Endemic)];
    run_by([&fresh[0], &fresh[1]], backend, N);
    let resumed =
        fresh.map(|it| Kept::resume(&Endemic, it.into_state().expect("a run that ended")));
    let (sent, received) = run_by([&resumed[0], &resumed[1]], backend, N);
    compare(sent.pairs(), received.choices(), received.keys());
}

/// Both parties' secret outputs.
pub(crate) fn run(base: &dyn BaseOt, backend: Backend, n: usize) -> (SenderKeys, ReceiverKeys) {
    run_by([base, base], backend, n)
}

fn run_by(
    [base, theirs]: [&dyn BaseOt; 2],
    backend: Backend,
    n: usize,
) -> (SenderKeys, ReceiverKeys) {
    let session = || session(backend, base.info().name, Direction::InitiatorSends);
    let choice = match base.info().functionality {
        Functionality::Random => Choice::Random(n),
        _ => Choice::Given(choices(n)),
    };
    let sender = base.sender(session(), n, seed(1)).expect("a small batch");
    let receiver = theirs.receiver(session(), choice, seed(2)).expect("choices that it takes");
    let keys = Pair::new(sender, receiver).run_through(|_, mut message| {
        public(&mut message);
        message
    });
    keys.unwrap_or_else(|(party, error)| panic!("{party:?}: {error}"))
}

/// Secret choices of both kinds.
pub(crate) fn choices(n: usize) -> Bits {
    Bits::from_bytes(&secrets([0x6a; 128])[..n.div_ceil(8)], n)
}

/// Checks that the receiver has the messages that it chose.
pub(crate) fn compare(pairs: &[[Block; 2]], choices: &Bits, keys: &[Block]) {
    let (mut pairs, mut keys) = (pairs.to_vec(), keys.to_vec());
    let mut bits = choices.as_bytes().to_vec();
    public(&mut pairs);
    public(&mut keys);
    public(&mut bits);
    for (i, (pair, key)) in pairs.iter().zip(&keys).enumerate() {
        assert_eq!(pair[usize::from(bits[i / 8] >> (i % 8) & 1)], *key, "OT {i}");
    }
}
