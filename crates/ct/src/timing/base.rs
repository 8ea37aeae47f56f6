//! Base OTs: the receiver by its choices, and either party by its seed.

use std::time::Instant;

use foxtrot_ot::{
    Bits,
    base::{BaseOt, Choice, Functionality},
    extension::two_round,
    pair::{Event, Pair, PairParty},
};
use foxtrot_papers::base_ots;

use super::{Step, nanoseconds, secret_seed, seed, session};

const N: usize = 16;

/// The secret that a step is measured by.
#[derive(Clone, Copy)]
enum Secret {
    Choices,
    Seed(PairParty),
}

/// Steps of every base OT.
pub(super) fn steps() -> impl Iterator<Item = Step> {
    let all = base_ots().chain(two_round::find("mcquoid-rosulek-roy"));
    all.flat_map(|base| {
        let secrets =
            [Secret::Choices, Secret::Seed(PairParty::Sender), Secret::Seed(PairParty::Receiver)];
        secrets
            .into_iter()
            .filter(|secret| is_timed(base, *secret))
            .map(|secret| step(base, secret))
    })
}

fn is_timed(base: &dyn BaseOt, secret: Secret) -> bool {
    let has = |part| base.info().name.contains(part);
    match secret {
        Secret::Choices => base.info().functionality != Functionality::Random,
        // Points are drawn until they have a string, from these coins.
        Secret::Seed(_) if has("elligator") => false,
        // The receiver hashes in variable time what it is about to send, and has it from these coins.
        Secret::Seed(PairParty::Receiver) => !has("figure1"),
        Secret::Seed(PairParty::Sender) => true,
    }
}

/// All steps of a party in a batch.
fn step(base: &'static dyn BaseOt, of: Secret) -> Step {
    let name = base.info().name;
    let (timed, what) = match of {
        Secret::Choices => (PairParty::Receiver, "choices"),
        Secret::Seed(PairParty::Sender) => (PairParty::Sender, "sender's seed"),
        Secret::Seed(PairParty::Receiver) => (PairParty::Receiver, "receiver's seed"),
    };
    let run = move |backend, run, secret: &[u8; 128]| {
        let choices = if matches!(of, Secret::Choices) { secret } else { &[0x35; 128] };
        let choice = match base.info().functionality {
            Functionality::Random => Choice::Random(N),
            _ => Choice::Given(Bits::from_bytes(&choices[..N / 8], N)),
        };
        let coins = |party: PairParty, byte| match of {
            Secret::Seed(secrets) if secrets == party => secret_seed(secret),
            _ => seed(byte, run),
        };
        let (first, second) = (coins(PairParty::Sender, 1), coins(PairParty::Receiver, 2));
        let sender = base.sender(session(backend, name), N, first).expect("a small batch");
        let receiver = base.receiver(session(backend, name), choice, second);
        let mut pair = Pair::new(sender, receiver.expect("choices that it takes"));
        let mut time = 0.0;
        loop {
            let start = Instant::now();
            let event = pair.step().unwrap_or_else(|(party, error)| panic!("{party:?}: {error}"));
            let Some(Event { party, stream, message }) = event else { break time };
            if party == timed {
                time += nanoseconds(start);
            }
            if let Some(message) = message {
                pair.deliver(party, stream, message);
            }
        }
    };
    Step { name: format!("{name}: {what}"), run: Box::new(run) }
}
