//! A single instance in little memory: A is not kept, but made row by row where H₁'s hash has been,
//! once for every use.

use alloc::{vec, vec::Vec};

use foxtrot_kernel::{
    Backend,
    ring::{
        module768::{BITS, NttPoly, RANK, UNIFORM_BYTES, USUAL_BYTES},
        vectors,
    },
};
use zeroize::Zeroizing;

use super::{Module, NOISE_LEN, POLY_LEN, Secret, U_BITS, U_POLY_LEN, Vector};
use crate::{oracle::Oracle, popf::Hashed};

/// Makes a row of A, in a room of at least [`USUAL_BYTES`], which as good as always do.
pub(super) fn set_row(
    backend: Backend,
    oracle: &Oracle,
    row: usize,
    room: &mut [u8],
    a: &mut Vector,
) {
    let usual = &mut room[..USUAL_BYTES];
    oracle.answer(row as u64, 0, &[], usual);
    if !NttPoly::set_uniform_public::<BITS, RANK>(backend, usual, a) {
        let mut bytes = vec![0; UNIFORM_BYTES];
        oracle.answer(row as u64, 0, &[], &mut bytes);
        NttPoly::set_uniform_public::<BITS, RANK>(backend, &bytes, a);
    }
}

/// Steps 2 and 3: T = A·s_R + e_R − h, packed.
#[inline(never)]
pub(super) fn pack_blinded(
    backend: Backend,
    oracle: &Oracle,
    s_r: &Secret,
    e_r: &[u8],
    Hashed { element, answer }: Hashed<'_, Module>,
    t: &mut [u8],
) {
    // The hash waits where T will be.
    for (h, t) in element.iter().zip(t.chunks_exact_mut(POLY_LEN)) {
        h.pack::<BITS>(backend, t);
    }
    let mut sum = Zeroizing::new(NttPoly::ZERO);
    let mut h = Zeroizing::new([NttPoly::ZERO]);
    let rows = t.chunks_exact_mut(POLY_LEN).zip(e_r.chunks_exact(NOISE_LEN));
    for (row, (t, e)) in rows.enumerate() {
        set_row(backend, oracle, row, answer, element);
        sum.set_product(backend, s_r.each_ref(), element.each_ref());
        sum.add_noise(backend, e);
        h[0].clone_from(&NttPoly::ZERO);
        let _in_range = vectors::add_packed::<_, _, BITS, 1>(backend, &mut h, t);
        sum.sub(backend, &h[0]);
        sum.pack::<BITS>(backend, t);
    }
}

/// Steps 6 and 7 for one branch, in the other order: U as k and the hints no longer need P.
#[inline(never)]
pub(super) fn answer(
    backend: Backend,
    oracle: &Oracle,
    s_s: &Secret,
    Hashed { element, answer }: Hashed<'_, Module>,
    [e_s, e_prime]: [&[u8]; 2],
    [u, hints, sk]: [&mut [u8]; 3],
) {
    reconcile(backend, s_s, element, e_prime, hints, sk);

    // Aᵀ·s_S without noise would give s_S away.
    let mut sums = Zeroizing::new(Vec::with_capacity(RANK));
    sums.resize_with(RANK, || NttPoly::ZERO);
    for (row, s) in s_s.iter().enumerate() {
        set_row(backend, oracle, row, answer, element);
        for (sum, a) in sums.iter_mut().zip(&*element) {
            sum.add_product(backend, s, a);
        }
    }
    let columns = sums.iter().zip(e_s.chunks_exact(NOISE_LEN));
    for ((sum, e), u) in columns.zip(u.chunks_exact_mut(U_POLY_LEN)) {
        vectors::round_noisy::<_, _, U_BITS>(backend, sum, e, u);
    }
}

/// Step 7, in a room of its own.
// Never inlined: the room would be in the caller's frame.
#[inline(never)]
fn reconcile(
    backend: Backend,
    s_s: &Secret,
    p: &Vector,
    e_prime: &[u8],
    hints: &mut [u8],
    sk: &mut [u8],
) {
    let mut room = vectors::Room::<256, 1>::empty();
    vectors::reconcile(backend, &mut room, s_s, p, e_prime, hints, sk);
}
