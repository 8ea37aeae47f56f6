//! Tags: hashes of items and rows.

use foxtrot_ot::{Usage, erase::Secret};

use super::Parameters;
use crate::{Digest, okvs::OkvsPlan, party::TagHash, tags::Answers};

/// Computes the tags of a plan's items, in the order of the plan, from the rows of all slots. `shift` gets items and the sender's rows of
/// these, and turns the rows into those that the receiver would have.
pub(super) fn tags(
    parameters: &Parameters,
    hash: &TagHash,
    (plan, items): (&OkvsPlan, &[Digest]),
    rows: &[u8],
    shift: impl Fn(&[Digest], &mut [u8]) -> Result<(), Usage> + Sync,
) -> Result<Answers, Usage> {
    match parameters.checked() {
        true => tags_of::<101, 133>(parameters, hash, (plan, items), rows, shift),
        false => tags_of::<64, 96>(parameters, hash, (plan, items), rows, shift),
    }
}

/// Computes tags from rows of N bytes; an input has L = 32 + N bytes.
fn tags_of<const N: usize, const L: usize>(
    parameters: &Parameters,
    hash: &TagHash,
    (plan, items): (&OkvsPlan, &[Digest]),
    rows: &[u8],
    shift: impl Fn(&[Digest], &mut [u8]) -> Result<(), Usage> + Sync,
) -> Result<Answers, Usage> {
    const { assert!(L == size_of::<Digest>() + N, "an item and a row") };
    let decoder = parameters.store.decoder::<N>(rows.as_chunks().0)?;
    hash.tags::<L>(plan, items, |range, inputs| {
        let mut rows = Secret::<[u8; N]>::zeroed(range.len());
        plan.decode_range(&decoder, range.clone(), &mut rows)?;
        let mut ordered = Secret::with_capacity(range.len());
        ordered.0.extend(plan.order()[range].iter().map(|&index| items[index as usize]));
        shift(&ordered, rows.as_flattened_mut())?;
        for (input, row) in inputs.iter_mut().zip(&*rows) {
            input[size_of::<Digest>()..].copy_from_slice(row);
        }
        Ok(())
    })
}
