//! The ring of the triples, by residues.

use foxtrot_kernel::{
    Backend,
    rns::{
        Divider, MixedRadix, Modulus, Ntt, pack, residues, round_low,
        sample::{Streams, binomial, ternary, uniform_public},
        set_signed,
    },
};

use super::{Input, Results};

/// Primes from the smallest to the largest, with transforms of 4096 coefficients and more.
const PRIMES: [u64; 9] = [
    147_457,
    4_295_049_217,
    34_359_410_689,
    549_755_731_969,
    4_398_046_150_657,
    70_368_743_587_841,
    281_474_976_546_817,
    1_125_899_905_744_897,
    1_125_899_906_826_241,
];

/// Arithmetic on slices, packing, and the transform.
pub(super) fn slices(backend: Backend, input: &mut Input<'_>) -> Vec<u8> {
    let (p, n) = (&prime(input), 8 * input.up_to(6));
    let [a, b, c] = [(); 3].map(|()| canonical(input, p, n));
    let (any, small) = (input.words(n), input.string(n));
    let (w, below_50) =
        (canonical(input, p, 1)[0], any.iter().map(|x| x >> 14).collect::<Vec<_>>());
    let small: Vec<i8> = small.into_iter().map(u8::cast_signed).collect();
    let mut results = Results::default();
    let mut keep = |write: &dyn Fn(&mut [u64])| {
        let mut x = c.clone();
        write(&mut x);
        results.words(&x);
    };
    keep(&|x| residues::add(backend, p, x, &a));
    keep(&|x| residues::sub(backend, p, x, &a));
    keep(&|x| residues::neg(backend, p, x));
    keep(&|x| residues::mul(backend, p, x, &a));
    keep(&|x| residues::mul_add(backend, p, x, &a, &b));
    keep(&|x| residues::mul_scalar(backend, p, x, w));
    keep(&|x| residues::mul_scalar_add(backend, p, x, &below_50, w));
    keep(&|x| residues::sub_mul_scalar(backend, p, x, &a, w));
    keep(&|x| residues::set_small(backend, p, x, &small));
    keep(&|x| residues::add_small(backend, p, x, &small));
    if p.value() >> 32 > 0 {
        let signed: Vec<_> = any.iter().map(|x| x.to_le_bytes()).collect();
        keep(&|x| set_signed(backend, p, x, &signed));
    }
    let low_bits = input.up_to(50) as u32;
    let low: Vec<u64> = any.iter().map(|x| x & ((1 << low_bits) - 1)).collect();
    keep(&|x| round_low(backend, p, x, &low, low_bits));
    packing(backend, input, p, n, &mut results);

    let n = 128 << input.up_to(2);
    let mut x = canonical(input, p, n);
    let ntt = Ntt::new(backend, p, n, vec![0; 2 * n]).expect("roots of unity");
    ntt.forward(&mut x);
    results.words(&x);
    ntt.inverse(&mut x);
    results.words(&x);
    let mut x = canonical(input, p, n);
    ntt.inverse(&mut x);
    results.words(&x);
    results.0
}

fn packing(backend: Backend, input: &mut Input<'_>, p: &Modulus, n: usize, results: &mut Results) {
    let bits = input.up_to(63) as u32 + 1;
    let bytes = input.string(pack::packed_len(n, bits));
    let mut words = vec![0; n];
    pack::unpack(backend, bits, &bytes, &mut words);
    results.words(&words);
    results.keep(bytes.len(), |to| pack::pack(backend, bits, &words, to));
    let bytes = input.string(pack::packed_len(n, p.bits()));
    match pack::unpack_residues(backend, p, &bytes, &mut words) {
        Ok(()) => results.words(&words),
        Err(_) => results.0.push(0),
    }
}

/// Turns residues into integers, and divides these.
pub(super) fn integers(backend: Backend, input: &mut Input<'_>) -> Vec<u8> {
    let mut results = Results::default();
    let n = 8 * input.up_to(4);
    let mut order = PRIMES;
    order.rotate_left(input.up_to(PRIMES.len() - 1));
    let primes = order.map(|p| Modulus::new(p).expect("a prime"));
    // At most eight of the nine on either side.
    let kept = input.up_to(4) + 1;
    let (kept, rest) = primes.split_at(kept);
    let removed = &rest[..input.up_to(3) + 1];
    let residues = |input: &mut Input<'_>, primes: &[Modulus]| -> Vec<u64> {
        primes.iter().flat_map(|p| canonical(input, p, n)).collect()
    };

    let mut low = vec![0; n];
    let (mut x, mut y) = (residues(input, kept), residues(input, removed));
    let divider = Divider::new(kept, removed, input.up_to(63) as u32);
    divider.divide(backend, &mut x, &mut y, &mut low);
    [&x, &y, &low].into_iter().for_each(|words| results.words(words));

    let all = &primes[..input.up_to(7) + 1];
    let to = &prime(input);
    for radix in [MixedRadix::new(all), MixedRadix::centred(all)] {
        let mut x = residues(input, all);
        radix.digits(backend, &mut x);
        results.words(&x);
        let mut out = vec![0; n];
        radix.residues(backend, &x, to, &mut out);
        results.words(&out);
        radix.words(backend, &x, &mut out);
        results.words(&out);
        radix.exceeds_half(backend, &x, &mut out);
        results.words(&out);
    }
    results.0
}

/// Random coefficients.
pub(super) fn samples(backend: Backend, input: &mut Input<'_>) -> Vec<u8> {
    let mut results = Results::default();
    // More than is made at a time.
    let (p, n) = (&prime(input), 8 * input.up_to(130));
    let (streams, stream) = (Streams::new(backend, &input.array()), input.byte().into());
    results.keep(16 * (n / 8), |to| streams.bytes(stream, to));
    let mut words = vec![0; n];
    uniform_public(&streams, stream, p, &mut words);
    results.words(&words);
    let mut small = vec![0; n];
    ternary(&streams, stream, &mut small);
    results.0.extend(small.iter().map(|x| x.cast_unsigned()));
    binomial(&streams, stream, &mut small);
    results.0.extend(small.iter().map(|x| x.cast_unsigned()));
    results.0
}

fn prime(input: &mut Input<'_>) -> Modulus {
    Modulus::new(PRIMES[input.up_to(PRIMES.len() - 1)]).expect("a prime")
}

/// Residues, of which the fuzzer finds 0 and p − 1 with 0s and 1s alone.
fn canonical(input: &mut Input<'_>, p: &Modulus, n: usize) -> Vec<u64> {
    let words = input.words(n).into_iter();
    words.map(|x| if x == u64::MAX { p.value() - 1 } else { x % p.value() }).collect()
}
