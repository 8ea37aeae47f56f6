//! Random OTs from a double, for batches of any set.

use foxtrot_ot::{
    Seed,
    base::{ReceiverKeys, SenderKeys},
    ideal,
};
use foxtrot_triples::{params::Set, rlwe::Chosen};

/// The OTs of a batch; none for a set without the fix.
pub(crate) fn ots(set: &Set, batch: u8) -> (SenderKeys, ReceiverKeys) {
    ideal::random(set.ots(), &Seed::from_bytes([batch ^ 0x5a; 32]))
}

/// P₁'s part of them.
pub(crate) fn chosen<'a>(set: &Set, keys: &'a ReceiverKeys) -> Option<Chosen<'a>> {
    set.fix().map(|_| keys.into())
}
