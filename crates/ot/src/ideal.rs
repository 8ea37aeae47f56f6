//! Ideal functionalities as doubles: their outputs without a protocol, to test what is built on
//! them. Never for real use: a party that knows the seed knows everything.

use alloc::{vec, vec::Vec};

use crate::{
    Bits, Seed,
    base::{Block, ReceiverKeys, SenderKeys, chosen::Sent},
    choices::select,
    oracle::Oracle,
};

/// F_ROT: n instances, everything random.
#[must_use]
pub fn random(n: usize, seed: &Seed) -> (SenderKeys, ReceiverKeys) {
    let mut choices = vec![0; n.div_ceil(8)];
    Oracle::new("foxtrot ideal choices", seed.as_bytes()).query(0, 0).fill(&mut choices);
    given(Bits::from_random(choices, n), seed)
}

/// Endemic OT between honest parties: the choices are given, the keys random.
#[must_use]
pub fn given(choices: Bits, seed: &Seed) -> (SenderKeys, ReceiverKeys) {
    let oracle = Oracle::new("foxtrot ideal keys", seed.as_bytes());
    of_keys(choices, |i, j| oracle.query(i as u64, j).finish())
}

/// Given choices, and for instance i and branch j this key.
#[must_use]
pub fn of_keys(choices: Bits, key: impl Fn(usize, u8) -> Block) -> (SenderKeys, ReceiverKeys) {
    let pairs: Vec<[Block; 2]> = (0..choices.len()).map(|i| [0, 1].map(|j| key(i, j))).collect();
    let chosen = pairs.iter().enumerate().map(|(i, [zero, one])| {
        let mut key = [0; 16];
        select(choices.get(i), zero, one, &mut key);
        key
    });
    let chosen = chosen.collect();
    (SenderKeys::new(pairs), ReceiverKeys::new(choices, chosen))
}

/// The messages of a chosen-message OT that is over.
#[must_use]
pub fn sent(messages: SenderKeys) -> Sent {
    Sent::new(messages)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pair::assert_rot;

    #[test]
    fn ideal_ots_obey_the_law_of_the_protocols_they_replace() {
        for n in [0, 1, 7, 128] {
            let (sender, receiver) = random(n, &Seed::from_bytes([9; 32]));
            assert_rot(&sender, &receiver);
        }
        let choices = Bits::from_bools([true, false, true]);
        let (sender, receiver) = given(choices, &Seed::from_bytes([1; 32]));
        assert_rot(&sender, &receiver);
        assert_eq!(receiver.choices(), &Bits::from_bools([true, false, true]));
    }
}
