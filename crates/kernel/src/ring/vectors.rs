//! The steps of lattice protocols on vectors of K polynomials, each in as few passes as pay. Secret
//! intermediate vectors live in a [`Room`] of the caller, who erases it once for many steps. Functions
//! with a room of their own are never inlined: it must not become part of the caller's stack frame.
//! Nor are functions that only the portable code calls.
//!
//! Functions panic unless lengths fit: N/2 bytes of noise for each polynomial, N·BITS/8 for a packed one, N/8 for its
//! hints and for its key bits.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use super::vector;
use super::{Factor, NttPoly, encode, erase, ntt, sample};
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::simd::Simd;
use crate::{
    Backend,
    counters::{Operation, count},
};

/// Room to compute with P polynomials in, erased when dropped. No vector of it lies in two cache lines.
#[cfg_attr(not(small), repr(C, align(64)))]
#[cfg_attr(small, repr(C, align(4)))]
pub struct Room<const N: usize, const P: usize>([[u16; N]; P]);

impl<const N: usize, const P: usize> Room<N, P> {
    /// Makes a room with nothing in it.
    #[must_use]
    pub const fn empty() -> Self {
        Self([[0; N]; P])
    }
}

impl<const N: usize, const P: usize> Drop for Room<N, P> {
    fn drop(&mut self) {
        erase(self.0.as_flattened_mut(), 0);
    }
}

redacted! {
    [const N: usize, const P: usize] Room<N, P>;
}

/// Panics unless each length is the other one.
fn check<const L: usize>(lengths: [(usize, usize); L]) {
    assert!(lengths.iter().all(|(len, fits)| len == fits), "lengths fit together");
}

/// A vector of noise by its values, as factors: centred binomial with η = 2, from N/2 bytes for
/// each polynomial.
pub fn set_noise<const N: usize, const Q: u16, const K: usize>(
    backend: Backend,
    bytes: &[u8],
    factors: &mut [Factor<N, Q>; K],
) {
    count(Operation::Noise, K);
    count(Operation::Ntt, K);
    check([(bytes.len(), K * N / 2)]);
    dispatch!(
        neon backend,
        simd => {
            // A length that the compiler knows, within the kernel: checks are left out. So below.
            let bytes = &bytes[..K * N / 2];
            // A factor is a value times 2¹⁶. Noise is at most 2, and 2¹⁶ mod Q at most Q/2 in
            // absolute value, so the product needs no reduction.
            let one = simd.splat(const { vector::montgomery_one::<Q>() });
            vector::forward::<_, N, Q, K>(
                simd,
                factors.each_mut().map(inlined!(|factor| &mut factor.0)),
                inlined!(|p, _, i| {
                    simd.mul_low(vector::noise_at(simd, bytes, p * N + i), one)
                }),
                inlined!(|_, _, x| vector::canonical::<_, Q>(simd, x)),
            );
        },
        for (factor, bytes) in factors.iter_mut().zip(bytes.chunks_exact(N / 2)) {
            factor.set_noise_portable(backend, bytes);
        },
    );
}

/// Packs A·s + e − h to BITS bits, the length of Q; A by rows, the noise e from N/2 bytes for each
/// polynomial.
#[inline(never)]
pub fn pack_blinded<const N: usize, const Q: u16, const BITS: usize, const K: usize>(
    backend: Backend,
    Room(rooms): &mut Room<N, K>,
    a: &[[NttPoly<N, Q>; K]; K],
    s: &[Factor<N, Q>; K],
    noise: &[u8],
    h: &[NttPoly<N, Q>; K],
    bytes: &mut [u8],
) {
    const { assert!(Q >> (BITS - 1) == 1, "BITS is the length of Q") };
    // Values, products and h are below Q each, and a lane holds three times that.
    const { assert!(3 * (Q as u32) < 1 << 15) };
    count(Operation::Noise, K);
    count(Operation::Ntt, K);
    check([(noise.len(), K * N / 2), (bytes.len(), K * N / 8 * BITS)]);
    let s = s.each_ref().map(|x| &x.0);
    dispatch!(
            neon backend,
            simd => {
                let (noise, bytes) = (&noise[..K * N / 2], &mut bytes[..K * N / 8 * BITS]);
                vector::forward::<_, N, Q, K>(
                    simd,
                    rooms.each_mut(),
                    inlined!(|p, _, i| vector::noise_at(simd, noise, p * N + i)),
                    inlined!(|_, _, x| x),
                );
                for p in 0..K {
                    let (a, h) = (a[p].each_ref().map(inlined!(|x| &x.0)), &h[p].0);
                    for i in (0..N).step_by(vector::lanes(simd)) {
                        // Three values below Q, which one reduction makes canonical.
                        let product = vector::products::<_, N, Q, K>(simd, s, a, i);
                        let x = simd.add(simd.load(&rooms[p][i..]), product);
                        let x = vector::barrett::<_, Q>(simd, simd.sub(x, simd.load(&h[i..])));
                        simd.pack::<BITS>(vector::canonical::<_, Q>(simd, x), &mut bytes[(p * N + i) / 8 * BITS..]);
                    }
                }
            },
            {
                let rows = a.iter().zip(h).zip(noise.chunks_exact(N / 2));
                for (((a, h), noise), bytes) in rows.zip(bytes.chunks_exact_mut(N / 8 * BITS)) {
                    let (room, a) = (&mut rooms[0], a.each_ref().map(|x| &x.0));
                    let mut e = [0; N];
    sample::centred_binomial::<N, Q>(noise, &mut e);
                    ntt::forward::<N, Q>(backend, &mut e);
                    ntt::products::<N, Q, K>(backend, s, a, room);
                    super::add_to::<N, Q>(backend, room, &e);
                    super::sub_from::<N, Q>(backend, room, &h.0);
                    encode::pack::<BITS>(room, bytes);
                    erase(&mut e, 0);
                }
            },
        );
}

/// Adds a vector that is packed to BITS bits, the length of Q. Returns whether all values in `bytes`
/// are below Q; else the sum is useless.
#[must_use]
#[inline(never)]
pub fn add_packed<const N: usize, const Q: u16, const BITS: usize, const K: usize>(
    backend: Backend,
    polys: &mut [NttPoly<N, Q>; K],
    bytes: &[u8],
) -> bool {
    const { assert!(Q >> (BITS - 1) == 1, "BITS is the length of Q") };
    check([(bytes.len(), K * N / 8 * BITS)]);
    let both = polys.iter_mut().zip(bytes.chunks_exact(N / 8 * BITS));
    dispatch!(
        neon backend,
        simd => {
            // No `fold`: it may stay out of line, compiled for the baseline.
            let mut all_below = simd.splat(u16::MAX);
            for (NttPoly(f), bytes) in both {
                let lanes = f.chunks_exact_mut(vector::lanes(simd));
                for (f, bytes) in lanes.zip(bytes.chunks_exact(vector::lanes(simd) / 8 * BITS)) {
                    let y = simd.unpack::<BITS>(bytes);
                    all_below = simd.and(all_below, simd.sub(y, simd.splat(Q)));
                    simd.store(vector::add::<_, Q>(simd, simd.load(f), y), f);
                }
            }
            vector::all_negative(simd, all_below)
        },
        {
            let mut room = [0; N];
            let in_range = both.fold(
                true,
                inlined!(|in_range, (NttPoly(f), bytes)| {
                    encode::unpack::<BITS>(bytes, &mut room);
                    let below = room.iter().fold(true, |below, &x| below & (x < Q));
                    super::add_to::<N, Q>(backend, f, &room);
                    in_range & below
                }));
            erase(&mut room, 0);
            in_range
        },
    )
}

/// Returns true if all values that are packed in `bytes` to BITS bits, the length of Q, are below
/// Q.
#[must_use]
#[inline(never)]
pub fn in_range<const N: usize, const Q: u16, const BITS: usize>(
    backend: Backend,
    bytes: &[u8],
) -> bool {
    const { assert!(Q >> (BITS - 1) == 1, "BITS is the length of Q") };
    check([(bytes.len() % (N / 8 * BITS), 0)]);
    dispatch!(
        neon backend,
        simd => {
            let mut all_below = simd.splat(u16::MAX);
            for bytes in bytes.chunks_exact(vector::lanes(simd) / 8 * BITS) {
                let y = simd.unpack::<BITS>(bytes);
                all_below = simd.and(all_below, simd.sub(y, simd.splat(Q)));
            }
            vector::all_negative(simd, all_below)
        },
        {
            let mut room = [0; N];
            bytes.chunks_exact(N / 8 * BITS).fold(true, |in_range, bytes| {
                encode::unpack::<BITS>(bytes, &mut room);
                room.iter().fold(in_range, |in_range, &x| in_range & (x < Q))
            })
        },
    )
}

/// Rounds Aᵀ·s + e to BITS bits, at most 11, and packs it; A by rows, the noise e from N/2 bytes for
/// each polynomial.
#[inline(never)]
pub fn round_transposed<const N: usize, const Q: u16, const BITS: usize, const K: usize>(
    backend: Backend,
    Room(rooms): &mut Room<N, K>,
    a: &[[NttPoly<N, Q>; K]; K],
    s: &[Factor<N, Q>; K],
    noise: &[u8],
    bytes: &mut [u8],
) {
    count(Operation::Noise, K);
    count(Operation::InverseNtt, K);
    check([(noise.len(), K * N / 2), (bytes.len(), K * N / 8 * BITS)]);
    let s = s.each_ref().map(|x| &x.0);
    dispatch!(
        neon backend,
        simd => round_values::<_, N, Q, BITS, K>(
            simd,
            rooms.each_mut(),
            inlined!(|p, _, i| {
                let a = a.each_ref().map(#[cfg_attr(not(unoptimized), inline(always))] |row| &row[p].0);
                vector::products::<_, N, Q, K>(simd, s, a, i)
            }),
            noise,
            bytes,
        ),
        {
            let columns = noise.chunks_exact(N / 2).zip(bytes.chunks_exact_mut(N / 8 * BITS));
            for (column, (noise, bytes)) in columns.enumerate() {
                let a = a.each_ref().map(|row| &row[column].0);
                ntt::products::<N, Q, K>(backend, s, a, &mut rooms[0]);
                round_values_portable::<N, Q, BITS>(backend, &mut rooms[0], noise, bytes);
            }
        },
    );
}

/// Rounds f + e to BITS bits, at most 11, and packs it, the noise e from N/2 bytes; writes over f.
#[inline(never)]
pub fn round_noisy<const N: usize, const Q: u16, const BITS: usize>(
    backend: Backend,
    NttPoly(room): &mut NttPoly<N, Q>,
    noise: &[u8],
    bytes: &mut [u8],
) {
    count(Operation::Noise, 1);
    count(Operation::InverseNtt, 1);
    check([(noise.len(), N / 2), (bytes.len(), N / 8 * BITS)]);
    dispatch!(
        neon backend,
        simd => round_values::<_, N, Q, BITS, 1>(
            simd,
            [room],
            inlined!(|_, f, i| simd.load(&f[i..])),
            noise,
            bytes,
        ),
        round_values_portable::<N, Q, BITS>(backend, room, noise, bytes),
    );
}

/// Rounds and packs what has the values that `source` gives for each index, plus noise; it may take
/// them from the room.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[cfg_attr(not(unoptimized), inline(always))]
fn round_values<S: Simd, const N: usize, const Q: u16, const BITS: usize, const P: usize>(
    simd: S,
    rooms: [&mut [u16; N]; P],
    source: impl FnMut(usize, &[u16; N], usize) -> S::Lanes,
    noise: &[u8],
    bytes: &mut [u8],
) {
    let (noise, bytes) = (&noise[..P * N / 2], &mut bytes[..P * N / 8 * BITS]);
    vector::inverse::<_, N, Q, P>(
        simd,
        rooms,
        source,
        inlined!(|p, i, x| {
            // The last layer leaves Q/2 + 2¹⁵·(Q/2)/2¹⁶ = 3Q/4 at most: with noise it is below Q
            // still.
            let x = simd.add(x, vector::noise_at(simd, noise, p * N + i));
            let x = vector::canonical::<_, Q>(simd, x);
            let rounded = vector::round::<_, Q, BITS>(simd, x);
            simd.pack::<BITS>(rounded, &mut bytes[(p * N + i) / 8 * BITS..]);
            x
        }),
    );
}

/// Rounds the values in `f`.
// Never inlined: its stack frame would also burden the other backends.
#[inline(never)]
fn round_values_portable<const N: usize, const Q: u16, const BITS: usize>(
    backend: Backend,
    f: &mut [u16; N],
    noise: &[u8],
    bytes: &mut [u8],
) {
    ntt::inverse::<N, Q>(backend, f);
    let mut e = [0; N];
    sample::centred_binomial::<N, Q>(noise, &mut e);
    super::add_to::<N, Q>(backend, f, &e);
    for x in &mut *f {
        *x = encode::round::<Q, BITS>(*x);
    }
    encode::pack::<BITS>(f, bytes);
    erase(&mut e, 0);
}

/// Writes for every coefficient of ⟨s, p⟩ + e the hint that a holder of a close value needs, and
/// the key bit that both then have; the noise e from N/2 bytes.
#[inline(never)]
pub fn reconcile<const N: usize, const Q: u16, const K: usize, const P: usize>(
    backend: Backend,
    Room(rooms): &mut Room<N, P>,
    s: &[Factor<N, Q>; K],
    p: &[NttPoly<N, Q>; K],
    noise: &[u8],
    hints: &mut [u8],
    key: &mut [u8],
) {
    const { assert!(P > 0, "it computes with one polynomial") };
    count(Operation::Noise, 1);
    count(Operation::InverseNtt, 1);
    check([(noise.len(), N / 2), (hints.len(), N / 8), (key.len(), N / 8)]);
    let (s, p) = (s.each_ref().map(|x| &x.0), p.each_ref().map(|x| &x.0));
    let room = &mut rooms[0];
    dispatch!(
        neon backend,
        simd => {
            let (noise, hints, key) = (&noise[..N / 2], &mut hints[..N / 8], &mut key[..N / 8]);
            vector::inverse::<_, N, Q, 1>(
                simd,
                [room],
                inlined!(|_, _, i| vector::products::<_, N, Q, K>(simd, s, p, i)),
                inlined!(|_, i, x| {
                    let x = simd.add(x, vector::noise_at(simd, noise, i));
                    let x = vector::canonical::<_, Q>(simd, x);
                    vector::hint_and_bit::<_, Q>(simd, x, &mut hints[i / 8..], &mut key[i / 8..]);
                    x
                }),
            );
        },
        {
            ntt::products::<N, Q, K>(backend, s, p, room);
            reconcile_portable::<N, Q>(backend, room, noise, hints, key);
        },
    );
}

/// The hints and the key bits of what has the values in `f`, plus noise.
#[inline(never)]
fn reconcile_portable<const N: usize, const Q: u16>(
    backend: Backend,
    f: &mut [u16; N],
    noise: &[u8],
    hints: &mut [u8],
    key: &mut [u8],
) {
    ntt::inverse::<N, Q>(backend, f);
    let mut e = [0; N];
    sample::centred_binomial::<N, Q>(noise, &mut e);
    super::add_to::<N, Q>(backend, f, &e);
    erase(&mut e, 0);
    let hint = |k: usize| encode::hint::<Q>(f[k]);
    encode::pack_bits(hint, hints);
    encode::pack_bits(|k| encode::key_bit::<Q>(f[k], hint(k)), key);
}

/// The key bits of the coefficients of ⟨s, u⟩ under given hints, for a vector u of polynomials that
/// were rounded to BITS bits and packed. Every string of that length is valid.
///
/// # Panics
/// If `bytes` has not K·N·BITS/8 bytes, or `hints` or `key` not N/8.
#[inline(never)]
pub fn key_bits<const N: usize, const Q: u16, const BITS: usize, const K: usize>(
    backend: Backend,
    Room(u): &mut Room<N, K>,
    s: &[Factor<N, Q>; K],
    bytes: &[u8],
    hints: &[u8],
    key: &mut [u8],
) {
    count(Operation::Ntt, K);
    count(Operation::InverseNtt, 1);
    assert_eq!(bytes.len(), K * N / 8 * BITS);
    assert!(hints.len() == N / 8 && key.len() == N / 8, "one bit per coefficient");
    let s = s.each_ref().map(|x| &x.0);
    dispatch!(
        neon backend,
        simd => {
            let bytes = &bytes[..K * N / 8 * BITS];
            let (hints, key) = (&hints[..N / 8], &mut key[..N / 8]);
            vector::forward::<_, N, Q, K>(
                simd,
                u.each_mut(),
                inlined!(|p, _, i| {
                    let y = simd.unpack::<BITS>(&bytes[(p * N + i) / 8 * BITS..]);
                    vector::unround::<_, Q, BITS>(simd, y)
                }),
                inlined!(|_, _, x| x),
            );
            // k comes where the first polynomial of u is.
            let (k, others) = u.split_first_mut().expect("a polynomial");
            vector::inverse::<_, N, Q, 1>(
                simd,
                [k],
                inlined!(|_, first, i| {
                    let mut u = [first; K];
                    for (u, other) in u[1..].iter_mut().zip(&*others) {
                        *u = other;
                    }
                    vector::products::<_, N, Q, K>(simd, s, u, i)
                }),
                inlined!(|_, i, x| {
                    let x = vector::canonical::<_, Q>(simd, x);
                    let hint = simd.spread_bits(&hints[i / 8..]);
                    simd.sign_bits(vector::key_bit::<_, Q>(simd, x, hint), &mut key[i / 8..]);
                    x
                }),
            );
        },
        {
            for (u, bytes) in u.iter_mut().zip(bytes.chunks_exact(N / 8 * BITS)) {
                encode::unpack::<BITS>(bytes, u);
                for x in &mut *u {
                    *x = encode::unround::<Q, BITS>(*x);
                }
                ntt::forward::<N, Q>(backend, u);
            }
            ntt::products_in_first::<N, Q, K>(backend, s, u);
            let k = &mut u[0];
            ntt::inverse::<N, Q>(backend, k);
            let hint = |i: usize| u16::from(hints[i / 8] >> (i % 8) & 1);
            encode::pack_bits(|i| encode::key_bit::<Q>(k[i], hint(i)), key);
        },
    );
}
