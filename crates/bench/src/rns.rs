//! `kernel/rns/<operation>`: one polynomial of the RNS ring, in one thread, of the backend in use.

use std::{
    hint::black_box,
    io::{self, Write},
};

use foxtrot_cli::shared::{Failure, Report};
use foxtrot_kernel::{
    Backend,
    rns::{
        Divider, MixedRadix, Modulus, Ntt, pack, residues,
        sample::{self, Streams},
    },
};
use serde_json::Value;

use super::{
    Measured, Yardsticks,
    kernel::{json_of, measure, of_call},
};

/// Coefficients of a polynomial.
pub(super) const SIZES: [usize; 3] = [4096, 8192, 16384];

/// The most that there can be.
const MOST: usize = 32768;

/// Calls of which the median is taken: one is too short for the clock.
const CALLS: u32 = 16;

/// Bits of the prime of most operations, and of those that are kept and removed by the others, as for
/// triples of 64 bits.
const BITS: u32 = 50;
const KEPT: (u32, usize) = (42, 4);
const REMOVED: (u32, usize) = (46, 5);
const LOW_BITS: u32 = 10;

/// An operation to be measured.
#[derive(Clone, Copy)]
pub(super) enum Operation {
    Forward,
    Inverse,
    Tables,
    Mul,
    MulAdd,
    UniformPublic,
    Ternary,
    Binomial,
    Digits,
    Residues,
    Divide,
    Pack,
    Unpack,
}

impl Operation {
    pub(super) const ALL: [Self; 13] = [
        Self::Forward,
        Self::Inverse,
        Self::Tables,
        Self::Mul,
        Self::MulAdd,
        Self::UniformPublic,
        Self::Ternary,
        Self::Binomial,
        Self::Digits,
        Self::Residues,
        Self::Divide,
        Self::Pack,
        Self::Unpack,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Inverse => "inverse",
            Self::Tables => "tables",
            Self::Mul => "mul",
            Self::MulAdd => "mul-add",
            Self::UniformPublic => "uniform-public",
            Self::Ternary => "ternary",
            Self::Binomial => "binomial",
            Self::Digits => "digits-4",
            Self::Residues => "residues-4",
            Self::Divide => "divide-4-5",
            Self::Pack => "pack",
            Self::Unpack => "unpack",
        }
    }

    /// One of them at a time, on inputs that are made before.
    fn prepare(self, n: usize) -> Box<dyn FnMut()> {
        let backend = Backend::best();
        let [p] = primes(n, BITS);
        let streams = Streams::new(backend, &[7; 24]);
        let uniform = move |p: &Modulus, stream| {
            let mut words = vec![0; n];
            sample::uniform_public(&Streams::new(backend, &[7; 24]), stream, p, &mut words);
            words
        };
        let many = move |primes: &[Modulus]| -> Vec<u64> {
            primes.iter().zip(0..).flat_map(|(p, stream)| uniform(p, stream)).collect()
        };
        let (mut x, a, b) = (uniform(&p, 1), uniform(&p, 2), uniform(&p, 3));
        let mut small = vec![0; n];
        let mut packed = vec![0; pack::packed_len(n, BITS)];
        let kept: [Modulus; KEPT.1] = primes(n, KEPT.0);
        let removed: [Modulus; REMOVED.1] = primes(n, REMOVED.0);
        let tables = move || Ntt::new(backend, &p, n, vec![0; Ntt::<Vec<u64>>::WORDS * n]);
        match self {
            Self::Forward | Self::Inverse => {
                let ntt = tables();
                let forward = matches!(self, Self::Forward);
                Box::new(move || match &ntt {
                    Some(ntt) if forward => ntt.forward(black_box(&mut x)),
                    Some(ntt) => ntt.inverse(black_box(&mut x)),
                    None => {}
                })
            }
            Self::Tables => Box::new(move || drop(black_box(tables()))),
            Self::Mul => Box::new(move || residues::mul(backend, &p, black_box(&mut x), &a)),
            Self::MulAdd => {
                Box::new(move || residues::mul_add(backend, &p, black_box(&mut x), &a, &b))
            }
            Self::UniformPublic => {
                Box::new(move || sample::uniform_public(&streams, 4, &p, black_box(&mut x)))
            }
            Self::Ternary => Box::new(move || sample::ternary(&streams, 4, black_box(&mut small))),
            Self::Binomial => {
                Box::new(move || sample::binomial(&streams, 4, black_box(&mut small)))
            }
            Self::Digits => {
                let (radix, mut words) = (MixedRadix::centred(&kept), many(&kept));
                Box::new(move || radix.digits(backend, black_box(&mut words)))
            }
            Self::Residues => {
                let (radix, mut words) = (MixedRadix::centred(&kept), many(&kept));
                radix.digits(backend, &mut words);
                Box::new(move || radix.residues(backend, &words, &removed[0], black_box(&mut x)))
            }
            Self::Divide => {
                let divider = Divider::new(&kept, &removed, LOW_BITS);
                let (mut kept, mut removed) = (many(&kept), many(&removed));
                Box::new(move || {
                    divider.divide(backend, black_box(&mut kept), &mut removed, &mut x);
                })
            }
            Self::Pack => Box::new(move || pack::pack(backend, BITS, &a, black_box(&mut packed))),
            Self::Unpack => {
                pack::pack(backend, BITS, &a, &mut packed);
                Box::new(move || {
                    let _ = pack::unpack_residues(backend, &p, &packed, black_box(&mut x));
                })
            }
        }
    }
}

/// The greatest primes of `bits` bits for which n coefficients can be transformed.
fn primes<const K: usize>(n: usize, bits: u32) -> [Modulus; K] {
    let mut candidate = (1 << bits) + 1;
    std::array::from_fn(|_| {
        loop {
            candidate -= 2 * n as u64;
            if let Some(p) = Modulus::new(candidate) {
                break p;
            }
        }
    })
}

/// # Errors
/// If no transform has that length.
pub(super) fn run(operation: Operation, n: usize) -> Result<Measured, Failure> {
    if !n.is_power_of_two() || !(SIZES[0]..=MOST).contains(&n) {
        return Err(Failure::usage(format!("there is no transform of {n} coefficients"))
            .hint(format!("a power of two from {} to {MOST}", SIZES[0])));
    }
    let (name, params) = (format!("kernel/rns/{}", operation.name()), format!("{BITS}-bit prime"));
    Ok(measure(name, params, (n, CALLS), operation.prepare(n)))
}

/// Nanoseconds of CPU for a polynomial, and the ratio to the yardstick.
fn figures(measured: &Measured, yardsticks: &Yardsticks) -> (f64, f64) {
    of_call(measured, yardsticks, 1.0)
}

/// Returns the figures beside the usual ones.
pub(super) fn json(measured: &Measured, yardsticks: &Yardsticks) -> [(String, Value); 2] {
    json_of(figures(measured, yardsticks))
}

pub(super) fn print_head(out: &mut impl Write) -> io::Result<()> {
    let backend = Backend::best().name();
    writeln!(out, "CPU time per polynomial, medians, one thread, backend {backend}")?;
    let (name, n, ns, each, ratio) = ("name", "n", "ns", "ns per n", "/ x25519");
    writeln!(out, "{name:<30} {n:>5} {ns:>10} {each:>10} {ratio:>9}")
}

pub(super) fn print_row(
    out: &mut impl Write,
    measured: &Measured,
    yardsticks: &Yardsticks,
) -> io::Result<()> {
    let Report { name, n, .. } = &measured.report;
    let (ns, ratio) = figures(measured, yardsticks);
    let each = ns / *n as f64;
    writeln!(out, "{name:<30} {n:>5} {ns:>10.0} {each:>10.3} {ratio:>9.4}")
}
