//! Instances of the ring that protocols use, compiled in this crate. The kernels of `dispatch!` and `Backend::run` are
//! `inline(never)`: a crate that depends on this one takes such an instance from here and compiles none of its own.

use core::hint::black_box;

use super::{
    module768::{BITS, NttPoly, RANK},
    vectors,
};

/// A root for what this crate compiles; nobody calls it.
#[expect(dead_code, reason = "it is there to be compiled")]
static INSTANCES: fn() = instances;

fn instances() {
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
