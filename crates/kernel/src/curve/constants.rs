//! Constants of the field and the curves; the tests compute them again.

use super::field::Limbs;

/// (A + 2)/4 − 1 = 121665 of v² = u³ + A·u² + u, A = 486662.
pub(super) const A24: u32 = 121_665;

/// A.
pub(super) const A: Limbs = [486_662, 0, 0, 0, 0];

/// The even square root of −1: 2^((p − 1)/4).
pub(super) const SQRT_MINUS_ONE: Limbs = [
    1_718_705_420_411_056,
    234_908_883_556_509,
    2_233_514_472_574_048,
    2_117_202_627_021_982,
    765_476_049_583_133,
];
