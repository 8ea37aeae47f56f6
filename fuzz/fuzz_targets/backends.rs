//! On every backend of this machine each operation of the kernel gives what it gives on `portable`.
#![no_main]

use foxtrot_kernel::{
    Backend,
    ring::{NttPoly, Poly, module768, paper512},
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let first = *bytes.first().unwrap_or(&0);
    // Short inputs are repeated, so that the fuzzer need not find long ones.
    let bytes: Vec<u8> = bytes.iter().copied().chain([first]).cycle().take(4096).collect();
    let portable = everything(Backend::PORTABLE, &bytes);
    for backend in Backend::all() {
        assert_eq!(everything(backend, &bytes), portable, "{backend:?}");
    }
});

fn everything(backend: Backend, bytes: &[u8]) -> Vec<Vec<u8>> {
    let module = module768::NttPoly::uniform::<13, 3>(backend, &bytes[..1560]);
    let paper = paper512::NttPoly::uniform::<14, 1>(backend, &bytes[..1540]);
    let mut results = ring::<256, 7681, 13, 11, 3>(backend, bytes, module);
    results.extend(ring::<512, 13313, 14, 11, 1>(backend, bytes, paper));
    results
}

/// BITS is the length of Q; U coefficients are rounded to ROUNDED bits.
fn ring<const N: usize, const Q: u16, const BITS: usize, const ROUNDED: usize, const K: usize>(
    backend: Backend,
    bytes: &[u8],
    uniform: [NttPoly<N, Q>; K],
) -> Vec<Vec<u8>> {
    let mut results = Vec::new();
    let mut keep = |len: usize, write: &dyn Fn(&mut [u8])| {
        let mut result = vec![0; len];
        write(&mut result);
        results.push(result);
    };
    let noise = Poly::<N, Q>::centred_binomial(backend, &bytes[1600..1600 + N / 2]);
    let rounded = &bytes[2000..2000 + N * ROUNDED / 8];
    let rounded = Poly::<N, Q>::unpack_rounded::<ROUNDED>(backend, rounded);
    let unpacked = NttPoly::<N, Q>::unpack::<BITS>(backend, &bytes[3000..3000 + N * BITS / 8]);
    let unpacked = unpacked.unwrap_or(NttPoly::ZERO);
    let (noise_ntt, rounded_ntt) =
        (noise.clone().into_ntt(backend), rounded.clone().into_ntt(backend));
    let other = [&noise_ntt, &rounded_ntt, &unpacked];
    let mut p =
        NttPoly::inner_product(backend, uniform.each_ref(), std::array::from_fn(|k| other[k]));
    p.add(backend, &rounded_ntt);
    p.sub(backend, &unpacked);
    for ntt in uniform.iter().chain(other).chain([&p]) {
        keep(N * BITS / 8, &|result| ntt.pack::<BITS>(backend, result));
    }
    let mut sum = p.into_poly(backend);
    sum.add(backend, &noise);
    for poly in [&noise, &rounded, &sum] {
        let hints = &bytes[..N / 8];
        keep(N * ROUNDED / 8, &|result| poly.round_and_pack::<ROUNDED>(backend, result));
        keep(N / 8, &|result| poly.key_bits(backend, hints, result));
        keep(N / 4, &|result| {
            let (hints, key) = result.split_at_mut(N / 8);
            poly.reconcile(backend, hints, key);
        });
    }
    results
}
