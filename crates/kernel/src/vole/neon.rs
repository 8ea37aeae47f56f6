//! As the portable code, by streams with the instructions of ARMv8.

use super::{Sums, Tree, portable::add_streams};
use crate::aegis::neon::State;

pub(super) fn add_group(tree: &Tree<'_>, group: usize, len: usize, sums: &mut Sums<'_>) {
    add_streams::<State>(tree, group, len, sums);
}
