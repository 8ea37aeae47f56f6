//! Instances of the two rings that the protocols use, compiled in this crate. The kernels of `dispatch!` and `Backend::run` are
//! `inline(never)`: a crate that depends on this one takes such an instance from here and compiles none of its own.

use core::hint::black_box;

use super::{module768, paper512, vectors};

/// A root for what this crate compiles; nobody calls it.
#[expect(dead_code, reason = "it is there to be compiled")]
static INSTANCES: fn() = instances;

fn instances() {
    {
        use module768::{BITS, NttPoly, RANK};
        const N: usize = 256;
        const Q: u16 = 7681;
        const U_BITS: usize = 11;
        black_box([
            NttPoly::uniform_all::<BITS, RANK> as *const (),
            NttPoly::set_uniform_public::<BITS, RANK> as *const (),
            NttPoly::pack::<BITS> as *const (),
            NttPoly::set_product::<RANK> as *const (),
            NttPoly::add_noise as *const (),
            NttPoly::add_product as *const (),
            vectors::set_noise::<N, Q, RANK> as *const (),
            vectors::pack_blinded::<N, Q, BITS, RANK> as *const (),
            vectors::add_packed::<N, Q, BITS, RANK> as *const (),
            vectors::add_packed::<N, Q, BITS, 1> as *const (),
            vectors::in_range::<N, Q, BITS> as *const (),
            vectors::round_transposed::<N, Q, U_BITS, RANK> as *const (),
            vectors::round_noisy::<N, Q, U_BITS> as *const (),
            vectors::reconcile::<N, Q, RANK, RANK> as *const (),
            vectors::reconcile::<N, Q, RANK, 1> as *const (),
            vectors::key_bits::<N, Q, U_BITS, RANK> as *const (),
        ]);
    }
    {
        use paper512::{BITS, Factor, NttPoly, Poly};
        black_box([
            NttPoly::uniform::<BITS, 1> as *const (),
            NttPoly::set_uniform_public::<BITS, 1> as *const (),
            NttPoly::pack::<BITS> as *const (),
            NttPoly::set_unpacked::<BITS> as *const (),
            NttPoly::sub_if as *const (),
            NttPoly::set_noisy_product as *const (),
            Poly::set_twice_gaussian as *const (),
            Poly::set_product_plus as *const (),
            Poly::signal as *const (),
            Poly::parities as *const (),
            Factor::set_gaussian as *const (),
            vectors::in_range::<512, 13313, BITS> as *const (),
            vectors::add_packed::<512, 13313, BITS, 1> as *const (),
        ]);
    }
}
