//! The protocol with several buckets, which only large sets have.

use foxtrot_ot::{
    Context, Direction, Misbehaved,
    base::{BaseOt, roted::Endemic},
    engine::Engine,
    pair::{Failed, Pair, PairParty},
};

use super::*;
use crate::{
    Error,
    method::protocol::{IntersectionPlan, Receiver, Sender},
};

/// Both parties over a channel that may change messages; the receiver's result.
fn play(
    parameters: Parameters,
    mut channel: impl FnMut(PairParty, Vec<u8>) -> Vec<u8>,
) -> Result<Vec<usize>, Failed<Error>> {
    let direction = Direction::InitiatorSends;
    let plan =
        IntersectionPlan { parameters: parameters.into(), base: &Endemic, direction, counter: 0 };
    let sender = Engine::new(|io| async move {
        let session = session();
        let party = Sender::set_up(&io, &mut Context::new(&session, seed(1)), plan).await?;
        party.run(&io, digests(1500..3500), &mut |_| ()).await
    });
    let receiver = Engine::new(|io| async move {
        let session = session();
        let party = Receiver::set_up(&io, &mut Context::new(&session, seed(2)), plan).await?;
        party.run(&io, digests(0..2000), &mut |_| ()).await?.intersect()
    });
    let channel = |party, stream, message| vec![(stream, channel(party, message))];
    Pair::new(sender, receiver).run_over(channel).map(|((), found)| found)
}

#[test]
fn the_intersection_of_all_buckets_takes_the_announced_bytes() {
    for adversary in [Adversary::Malicious, Adversary::SemiHonest] {
        for buckets in [2, 3] {
            let parameters = Parameters::with_buckets(adversary, 2000, 2000, buckets).unwrap();
            let mut sent = [0; 2];
            let found = play(parameters, |party, message| {
                sent[usize::from(party == PairParty::Receiver)] += message.len();
                message
            });
            assert!(found.unwrap().into_iter().eq(1500..2000), "{adversary:?}, {buckets}");
            let (info, base) = (Endemic.info(), parameters.base_ots());
            let sender = parameters.sender_bytes() + (info.receiver_bytes)(base);
            let receiver = parameters.receiver_bytes() + (info.sender_bytes)(base);
            assert_eq!(sent, [sender, receiver]);
        }
    }
}

#[test]
fn a_coin_that_differs_from_the_receivers_commitment_is_detected() {
    let parameters = Parameters::with_buckets(Adversary::Malicious, 2000, 2000, 2).unwrap();
    // Base OTs, commitment, opening.
    let mut from_receiver = 0;
    let ended = play(parameters, |party, mut message| {
        from_receiver += usize::from(party == PairParty::Receiver);
        if (party, from_receiver) == (PairParty::Receiver, 3) {
            message[0] ^= 1;
        }
        message
    });
    let error = Misbehaved::CommitmentMismatch.into();
    assert_eq!(ended, Err(Failed::Party(PairParty::Sender, error)));
}
