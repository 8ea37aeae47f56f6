//! A single instance in little memory: A is not kept, but made row by row where H₁'s hash has been,
//! once for every use.

use alloc::vec::Vec;

use foxtrot_kernel::{
    Backend, SMALL,
    ring::{
        module768::{BITS, Factor, NttPoly, RANK, UNIFORM_BYTES, USUAL_BYTES},
        vectors,
    },
};
use zeroize::Zeroizing;

use super::{
    Module, NOISE_LEN, NOISE_VECTOR_LEN, POLY_LEN, Secret, U_BITS, U_LEN, U_POLY_LEN, Vector,
};
use crate::{coins::Coins, oracle::Oracle, popf::Hashed};

/// Makes a row of A, in a room of [`UNIFORM_BYTES`]; as good as always [`USUAL_BYTES`] do.
pub(super) fn set_row(
    backend: Backend,
    oracle: &Oracle,
    row: usize,
    room: &mut [u8],
    a: &mut Vector,
) {
    for len in [USUAL_BYTES, UNIFORM_BYTES] {
        let string = &mut room[..len];
        oracle.answer(row as u64, 0, &[], string);
        if NttPoly::set_uniform_public::<BITS, RANK>(backend, string, a) {
            break;
        }
    }
}

/// Steps 1 to 3: T = A·s_R + e_R − h, packed, with coins from that block on.
#[inline(never)]
pub(super) fn pack_blinded(
    backend: Backend,
    oracle: &Oracle,
    (coins, block): (&Coins, usize),
    s_r: &mut Secret,
    Hashed { element, answer }: Hashed<'_, Module>,
    t: &mut [u8],
) {
    set_secret(backend, (coins, block), s_r);
    // The hash waits where T will be.
    for (h, t) in element.iter().zip(t.chunks_exact_mut(POLY_LEN)) {
        h.pack::<BITS>(backend, t);
    }
    let blocks = (block + NOISE_VECTOR_LEN / 16..).step_by(NOISE_LEN / 16);
    for (row, (t, block)) in t.chunks_exact_mut(POLY_LEN).zip(blocks).enumerate() {
        set_row(backend, oracle, row, answer, element);
        blind_row(backend, (coins, block), s_r, element, t);
    }
}

/// Step 1, or the beginning of step 6: a secret vector.
// Never inlined, as what follows: the frames of the functions that hash are to be small.
#[inline(never)]
fn set_secret(backend: Backend, (coins, block): (&Coins, usize), secret: &mut Secret) {
    let mut bytes = Zeroizing::new([0; NOISE_VECTOR_LEN]);
    coins.fill(block, bytes.as_mut_slice());
    vectors::set_noise(backend, bytes.as_slice(), secret);
}

/// One polynomial of T, where that of the hash is, from a row of A, which it writes over.
#[inline(never)]
fn blind_row(
    backend: Backend,
    (coins, block): (&Coins, usize),
    s_r: &Secret,
    row: &mut Vector,
    t: &mut [u8],
) {
    let mut sum = Zeroizing::new(NttPoly::ZERO);
    sum.set_product(backend, s_r.each_ref(), row.each_ref());
    add_noise(backend, (coins, block), &mut sum);
    let h = &mut row[0];
    let _in_range = h.set_unpacked::<BITS>(backend, t);
    sum.sub(backend, h);
    sum.pack::<BITS>(backend, t);
}

#[inline(never)]
fn add_noise(backend: Backend, (coins, block): (&Coins, usize), sum: &mut NttPoly) {
    let mut bytes = Zeroizing::new([0; NOISE_LEN]);
    coins.fill(block, bytes.as_mut_slice());
    sum.add_noise(backend, bytes.as_slice());
}

/// Steps 6 and 7 for one branch, in the other order: U as k and the hints no longer need P.
#[inline(never)]
pub(super) fn answer(
    backend: Backend,
    oracle: &Oracle,
    (coins, block): (&Coins, usize),
    Hashed { element, answer }: Hashed<'_, Module>,
    reply: &mut [u8],
    sk: &mut [u8],
) {
    let mut s_s = [const { Factor::ZERO }; RANK];
    set_secret(backend, (coins, block), &mut s_s);
    let block = block + NOISE_VECTOR_LEN / 16;
    let (u, hints) = reply.split_at_mut(U_LEN);
    reconcile(backend, (coins, block + NOISE_VECTOR_LEN / 16), &s_s, element, hints, sk);

    // Aᵀ·s_S without noise would give s_S away.
    let mut elsewhere = Zeroizing::new(Vec::new());
    let sums = if SMALL {
        element.fill(NttPoly::ZERO);
        for (row, s) in s_s.iter().enumerate() {
            // Polynomials, and the candidate behind them.
            let mut done = (0, 0);
            oracle.answer(row as u64, 0, &[], &mut answer[..USUAL_BYTES]);
            if !add_products(backend, s, &answer[..USUAL_BYTES], element, &mut done) {
                // The longer string begins as the other: it goes on where that ended.
                oracle.answer(row as u64, 0, &[], answer);
                add_products(backend, s, answer, element, &mut done);
            }
        }
        &mut element[..]
    } else {
        elsewhere.resize_with(RANK, || NttPoly::ZERO);
        for (row, s) in s_s.iter().enumerate() {
            set_row(backend, oracle, row, answer, element);
            for (sum, a) in elsewhere.iter_mut().zip(&*element) {
                sum.add_product(backend, s, a);
            }
        }
        &mut elsewhere[..]
    };
    round(backend, (coins, block), sums, u);
}

/// Adds the product of s and a row of A, of which it makes one polynomial at a time, those that are missing in `done`; false if
/// the string is too short.
#[inline(never)]
fn add_products(
    backend: Backend,
    s: &Factor,
    string: &[u8],
    sums: &mut Vector,
    done: &mut (usize, usize),
) -> bool {
    let mut a = NttPoly::ZERO;
    let (first, candidate) = done;
    for sum in &mut sums[*first..] {
        let Some(next) = a.set_uniform_public_from::<BITS>(string, *candidate) else {
            return false;
        };
        sum.add_product(backend, s, &a);
        (*first, *candidate) = (*first + 1, next);
    }
    true
}

/// The end of step 6: adds noise, rounds and packs.
#[inline(never)]
fn round(backend: Backend, (coins, block): (&Coins, usize), sums: &mut [NttPoly], u: &mut [u8]) {
    let mut noise = Zeroizing::new([0; NOISE_VECTOR_LEN]);
    coins.fill(block, noise.as_mut_slice());
    let rows = sums.iter_mut().zip(noise.chunks_exact(NOISE_LEN));
    for ((sum, noise), u) in rows.zip(u.chunks_exact_mut(U_POLY_LEN)) {
        vectors::round_noisy::<_, _, U_BITS>(backend, sum, noise, u);
    }
}

/// Step 7.
#[inline(never)]
fn reconcile(
    backend: Backend,
    (coins, block): (&Coins, usize),
    s_s: &Secret,
    p: &Vector,
    hints: &mut [u8],
    sk: &mut [u8],
) {
    let mut bytes = Zeroizing::new([0; NOISE_LEN]);
    coins.fill(block, bytes.as_mut_slice());
    reconcile_with(backend, s_s, p, bytes.as_slice(), hints, sk);
}

/// Step 7, in a room of its own.
#[inline(never)]
fn reconcile_with(
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
