//! Multiples of the generators, from tables that are made once where a process can keep them.

use super::{CURVE_GENERATOR, Point, TWIST_GENERATOR};
#[cfg(feature = "std")]
use super::{Sixteen, Table, TwinTable};
use crate::Backend;

/// The x-coordinates, 0 for the point at infinity, of k·G_b: of [`CURVE_GENERATOR`] where the bit b,
/// packed least significant first, is 0, and of [`TWIST_GENERATOR`] where it is 1. Scalars are 255
/// bits, reduced modulo nothing; bit 255 must be 0.
///
/// The first call makes a table.
pub fn mul_generators(
    backend: Backend,
    scalars: &[[u8; 32]],
    on_twist: &[u8],
    out: &mut [[u8; 32]],
) {
    #[cfg(feature = "std")]
    {
        static TABLE: std::sync::OnceLock<TwinTable<'static>> = std::sync::OnceLock::new();
        let make = || {
            TwinTable::new(backend, &[CURVE_GENERATOR, TWIST_GENERATOR], memory(TwinTable::LEN))
                .unwrap_or_else(|| unreachable!("one is on the curve, one on the twist"))
        };
        TABLE.get_or_init(make).mul(backend, scalars, on_twist, out);
    }
    // Without a place to keep it a table costs more than it saves.
    #[cfg(not(feature = "std"))]
    {
        super::batch::check_each(scalars.len(), out.len());
        let generators = [CURVE_GENERATOR, TWIST_GENERATOR];
        super::ladder::mul_either(backend, scalars, &generators, on_twist, out);
    }
}

/// k·B for [`Point::BASE`] and scalars k. The first call makes a table.
pub fn mul_base(backend: Backend, scalars: &[[u8; 32]], out: &mut [Point]) {
    #[cfg(feature = "std")]
    {
        static TABLE: std::sync::OnceLock<Table<'static>> = std::sync::OnceLock::new();
        let make = || Table::new(backend, &Point::BASE, memory(Table::LEN));
        TABLE.get_or_init(make).mul(backend, scalars, out);
    }
    #[cfg(not(feature = "std"))]
    {
        super::batch::check_each(scalars.len(), out.len());
        super::mul(backend, scalars, &[Point::BASE], out);
    }
}

/// Memory that a process keeps.
#[cfg(feature = "std")]
fn memory(len: usize) -> &'static mut [Sixteen] {
    std::vec![Sixteen::ZERO; len].leak()
}
