//! The curve P-256 of [SP 800-186]: y² = x³ − 3x + b modulo p = 2²⁵⁶ − 2²²⁴ + 2¹⁹² + 2⁹⁶ − 1, of prime order.
//!
//! Sums are by complete formulas ([RCB15], algorithms 4 to 6), which have no exception. Scalars are public in length only:
//! multiples are found by reading the whole table.
//!
//! [RCB15]: https://eprint.iacr.org/2015/1060
//! [SP 800-186]: https://doi.org/10.6028/NIST.SP.800-186

mod field;
mod point;
mod scalar;

pub use point::{Point, Table, decode, encode};
pub use scalar::Scalar;

/// Bytes of an encoded point: SEC 1, compressed.
pub const POINT_LEN: usize = 33;

#[cfg(test)]
mod tests;
