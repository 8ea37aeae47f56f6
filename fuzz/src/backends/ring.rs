//! The rings of the lattice protocols.

use foxtrot_kernel::{
    Backend,
    ring::{Factor, NttPoly, Poly, module768, vectors},
};
use foxtrot_papers::roted_figure1::ring as paper512;

use super::{Input, Results};

type Module = NttPoly<256, 7681>;
type ModuleFactor = Factor<256, 7681>;

/// Operations on single polynomials, of both rings.
pub(super) fn polynomials(backend: Backend, input: &mut Input<'_>) -> Vec<u8> {
    let mut results = Results::default();
    let strings = input.string(3 * module768::UNIFORM_BYTES);
    let mut all = [const { [Module::ZERO; 3] }; 3];
    Module::uniform_all::<{ module768::BITS }, 3>(backend, &strings, &mut all);
    let mut public = all.clone();
    for (string, polys) in strings.chunks(module768::UNIFORM_BYTES).zip(&mut public) {
        let set = Module::set_uniform_public::<{ module768::BITS }, 3>;
        let enough = set(backend, string, polys);
        // What is tried first does the same, if it does.
        let mut usual = [const { Module::ZERO }; 3];
        let does = set(backend, &string[..module768::USUAL_BYTES], &mut usual);
        assert!(if does {
            usual == *polys
        } else {
            usual.iter().all(|poly| *poly == Module::ZERO)
        });
        results.0.extend([enough, does].map(u8::from));
    }
    for poly in all.as_flattened().iter().chain(public.as_flattened()) {
        results.keep(256 * 13 / 8, |to| poly.pack::<13>(backend, to));
    }
    ring::<256, 7681, 13, 11, 3>(backend, input, all[2].clone(), &mut results);
    let bytes = input.string(paper512::UNIFORM_BYTES);
    let mut uniform = [[paper512::NttPoly::ZERO]];
    NttPoly::uniform_all::<{ paper512::BITS }, 1>(backend, &bytes, &mut uniform);
    let [uniform] = uniform;
    let mut usual = [const { NttPoly::ZERO }];
    let public = NttPoly::set_uniform_public::<{ paper512::BITS }, 1>;
    let does = public(backend, &bytes[..paper512::USUAL_BYTES], &mut usual);
    assert!(!does || usual == uniform);
    results.0.push(u8::from(does));
    let mut k = Poly::ZERO;
    k.set_signed(backend, paper512::gaussian::<2>(&bytes[..1024]));
    results.0.extend(k.coefficients().iter().flat_map(|x| x.to_le_bytes()));
    let hints = input.string(64);
    results.keep(64, |to| paper512::signal(backend, &k, bytes[0], to));
    results.keep(64, |to| paper512::parities(backend, &k, &hints, to));
    ring::<512, 13313, 14, 11, 1>(backend, input, uniform, &mut results);
    results.0
}

/// BITS is the length of Q; coefficients are rounded to ROUNDED bits.
fn ring<const N: usize, const Q: u16, const BITS: usize, const ROUNDED: usize, const K: usize>(
    backend: Backend,
    input: &mut Input<'_>,
    uniform: [NttPoly<N, Q>; K],
    results: &mut Results,
) {
    let coefficients = input.string(N);
    let coefficient = |i: usize| i16::from(coefficients[i].cast_signed());
    let mut signed = Poly::<N, Q>::ZERO;
    signed.set_signed(backend, coefficient);
    let mut unpacked = NttPoly::<N, Q>::ZERO;
    if unpacked.set_unpacked::<BITS>(backend, &input.string(N * BITS / 8)).is_err() {
        unpacked = NttPoly::ZERO;
    }
    let signed_ntt = signed.clone().into_ntt(backend);
    let other = [&signed_ntt, &unpacked, &signed_ntt];
    let mut p =
        NttPoly::inner_product(backend, uniform.each_ref(), std::array::from_fn(|k| other[k]));
    p.add(backend, &signed_ntt);
    p.sub(backend, &unpacked);
    p.sub_if(backend, coefficients[0], &unpacked);
    let noise = input.string(N / 2);
    p.add_noise(backend, &noise);
    let mut factors = [const { Factor::<N, Q>::ZERO }; K];
    vectors::set_noise(backend, &input.string(K * N / 2), &mut factors);
    let mut product = NttPoly::ZERO;
    product.set_product(backend, factors.each_ref(), uniform.each_ref());
    for ntt in uniform.iter().chain(other).chain([&p, &product]) {
        results.keep(N * BITS / 8, |to| ntt.pack::<BITS>(backend, to));
    }
    let mut sum = p.clone().into_poly(backend);
    sum.add(backend, &signed);
    let (mut of_signed, mut plus) = (Factor::ZERO, Poly::ZERO);
    of_signed.set_signed(backend, |i| coefficient(i) % 3);
    plus.set_product_plus(backend, &of_signed, &p, &signed);
    for poly in [&signed, &sum, &plus, &product.clone().into_poly(backend)] {
        results.0.extend(poly.coefficients().iter().flat_map(|x| x.to_le_bytes()));
    }
    let mut room = vectors::Room::<N, 1>::empty();
    let factor = factors.first_chunk().expect("K is not 0");
    let hints = input.string(N / 8);
    for ntt in [signed_ntt, p, product] {
        let mut ntt = [ntt];
        results.keep(N / 4, |to| {
            let (hints, key) = to.split_at_mut(N / 8);
            vectors::reconcile(backend, &mut room, factor, &ntt, &noise, hints, key);
        });
        let mut rounded = vec![0; N * ROUNDED / 8];
        vectors::round_noisy::<_, _, ROUNDED>(backend, &mut ntt[0], &noise, &mut rounded);
        results.keep(N / 8, |to| {
            vectors::key_bits::<_, _, ROUNDED, 1>(backend, &mut room, factor, &rounded, &hints, to);
        });
        results.0.extend(rounded);
    }
}

/// Runs the operations on vectors of polynomials, of the ring that has them.
pub(super) fn vectors(backend: Backend, input: &mut Input<'_>) -> Vec<u8> {
    const PACKED: usize = 3 * 256 * 13 / 8;
    const ROUNDED: usize = 3 * 256 * 11 / 8;
    let mut results = Results::default();
    let strings = input.string(3 * module768::UNIFORM_BYTES);
    let mut a = [const { [Module::ZERO; 3] }; 3];
    Module::uniform_all::<13, 3>(backend, &strings, &mut a);
    let noise = input.string(3 * 256 / 2);
    let mut s = [const { ModuleFactor::ZERO }; 3];
    vectors::set_noise(backend, &noise, &mut s);

    let mut h = a[1].clone();
    let packed = input.string(PACKED);
    let below = vectors::add_packed::<_, _, 13, 3>(backend, &mut h, &packed);
    results.0.extend([below, vectors::in_range::<256, 7681, 13>(backend, &packed)].map(u8::from));
    // A sum with what is out of range means nothing.
    let h = if below { h } else { a[2].clone() };
    for poly in &h {
        results.keep(PACKED / 3, |to| poly.pack::<13>(backend, to));
    }
    let noise = input.string(3 * 256 / 2);
    let mut room = vectors::Room::empty();
    results.keep(PACKED, |to| {
        vectors::pack_blinded::<_, _, 13, 3>(backend, &mut room, &a, &s, &noise, &h, to);
        assert!(vectors::in_range::<256, 7681, 13>(backend, to));
    });
    results.keep(ROUNDED, |to| {
        vectors::round_transposed::<_, _, 11, 3>(backend, &mut room, &a, &s, &noise, to);
    });
    results.keep(2 * 256 / 8, |to| {
        let (hints, key) = to.split_at_mut(256 / 8);
        vectors::reconcile(backend, &mut room, &s, &h, &noise[..128], hints, key);
    });
    let (rounded, hints) = (input.string(ROUNDED), input.string(256 / 8));
    results.keep(256 / 8, |to| {
        vectors::key_bits::<_, _, 11, 3>(backend, &mut room, &s, &rounded, &hints, to);
    });
    results.0
}
