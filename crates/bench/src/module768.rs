//! `kernel/module768/<operation>`: the steps of `roted`, for vectors of three polynomials, in one thread, of the
//! backend in use.

use std::hint::black_box;

use foxtrot_kernel::{
    Backend,
    blake3::{Blocks, keyed, lanes},
    ring::{
        module768::{BITS, Factor, NttPoly, RANK, UNIFORM_BYTES, USUAL_BYTES},
        vectors::{self, Room},
    },
};

use super::{
    Measured,
    kernel::{expand, measure},
};

/// Vectors, one after another.
pub(super) const SIZES: [usize; 1] = [128];

/// Bits to which U is rounded.
const U_BITS: usize = 11;
/// Bytes of packed polynomials, for each bit of a coefficient.
const EACH_BIT: usize = RANK * 256 / 8;
/// Bytes of noise for a vector.
const NOISE: usize = RANK * 128;
/// Queries that are put at once, as by `roted`.
const AT_ONCE: usize = 16;
/// Bytes of a query: s, and where it is asked.
const QUESTION: usize = 32 + 9;

type Vector = [NttPoly; RANK];

const ZERO: Vector = [NttPoly::ZERO; RANK];

/// An operation to be measured.
#[derive(Clone, Copy)]
pub(super) enum Operation {
    Noise,
    Blinded,
    Rounded,
    Reconcile,
    KeyBits,
    Uniform,
    UniformPublic,
    AddPacked,
    InRange,
    Answers,
}

impl Operation {
    pub(super) const ALL: [Self; 10] = [
        Self::Noise,
        Self::Blinded,
        Self::Rounded,
        Self::Reconcile,
        Self::KeyBits,
        Self::Uniform,
        Self::UniformPublic,
        Self::AddPacked,
        Self::InRange,
        Self::Answers,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Noise => "module768/noise",
            Self::Blinded => "module768/blinded",
            Self::Rounded => "module768/rounded",
            Self::Reconcile => "module768/reconcile",
            Self::KeyBits => "module768/key-bits",
            Self::Uniform => "module768/uniform",
            Self::UniformPublic => "module768/uniform-public",
            Self::AddPacked => "module768/add-packed",
            Self::InRange => "module768/in-range",
            Self::Answers => "module768/answers",
        }
    }

    /// n of them at a time, on inputs that are made before.
    fn prepare(self, n: usize) -> Box<dyn FnMut()> {
        let backend = Backend::best();
        let noise: Vec<[u8; NOISE]> = (0..n as u64).map(|i| expand(b"noise", i)).collect();
        let strings: Vec<[u8; UNIFORM_BYTES]> =
            (0..n as u64).map(|i| expand(b"uniform", i)).collect();
        let mut vectors = vec![ZERO; n];
        NttPoly::uniform_all::<BITS, RANK>(backend, strings.as_flattened(), &mut vectors);
        let a: [Vector; RANK] = std::array::from_fn(|row| vectors[row % n].clone());
        let mut secrets: Vec<_> = (0..n).map(|_| [Factor::ZERO; RANK]).collect();
        for (secret, noise) in secrets.iter_mut().zip(&noise) {
            vectors::set_noise(backend, noise, secret);
        }
        let mut room = Box::new(Room::<256, RANK>::empty());
        let mut blinded = vec![[0; EACH_BIT * BITS]; n];
        let mut rounded = vec![[0; EACH_BIT * U_BITS]; n];
        let (mut hints, mut keys) = (vec![[0; 32]; n], vec![[0; 32]; n]);
        match self {
            Self::Noise => Box::new(move || {
                for (secret, noise) in secrets.iter_mut().zip(&noise) {
                    vectors::set_noise(backend, noise, black_box(secret));
                }
            }),
            Self::Blinded => Box::new(move || {
                let inputs = secrets.iter().zip(&noise).zip(&vectors);
                for (((s, e), h), to) in inputs.zip(&mut blinded) {
                    vectors::pack_blinded::<_, _, BITS, RANK>(backend, &mut room, &a, s, e, h, to);
                }
                black_box(&mut blinded);
            }),
            Self::Rounded => Box::new(move || {
                for ((s, e), to) in secrets.iter().zip(&noise).zip(&mut rounded) {
                    vectors::round_transposed::<_, _, U_BITS, RANK>(
                        backend, &mut room, &a, s, e, to,
                    );
                }
                black_box(&mut rounded);
            }),
            Self::Reconcile => Box::new(move || {
                let inputs = secrets.iter().zip(&vectors).zip(&noise);
                for (((s, p), e), (hints, key)) in inputs.zip(hints.iter_mut().zip(&mut keys)) {
                    vectors::reconcile(backend, &mut room, s, p, &e[..128], hints, key);
                }
                black_box(&mut keys);
            }),
            Self::KeyBits => Box::new(move || {
                for (((s, u), hints), key) in
                    secrets.iter().zip(&rounded).zip(&hints).zip(&mut keys)
                {
                    vectors::key_bits::<_, _, U_BITS, RANK>(backend, &mut room, s, u, hints, key);
                }
                black_box(&mut keys);
            }),
            Self::Uniform => Box::new(move || {
                let strings = strings.as_flattened();
                NttPoly::uniform_all::<BITS, RANK>(backend, strings, black_box(&mut vectors));
            }),
            Self::UniformPublic => Box::new(move || {
                for (string, vector) in strings.iter().zip(&mut vectors) {
                    let string = &string[..USUAL_BYTES];
                    black_box(NttPoly::set_uniform_public::<BITS, RANK>(backend, string, vector));
                }
            }),
            Self::AddPacked => Box::new(move || {
                for (vector, bytes) in vectors.iter_mut().zip(&blinded) {
                    black_box(vectors::add_packed::<_, _, BITS, RANK>(backend, vector, bytes));
                }
            }),
            Self::InRange => Box::new(move || {
                for bytes in &blinded {
                    black_box(vectors::in_range::<256, 7681, BITS>(backend, bytes));
                }
            }),
            Self::Answers => {
                let questions: Vec<[u8; 64]> = (0..n as u64)
                    .map(|i| {
                        let mut question = expand(b"questions", i);
                        question[QUESTION..].fill(0);
                        question
                    })
                    .collect();
                let mut room = vec![0; AT_ONCE * USUAL_BYTES];
                Box::new(move || {
                    for questions in questions.chunks(AT_ONCE) {
                        let answers = &mut room[..questions.len() * USUAL_BYTES];
                        answer(backend, questions, black_box(answers));
                    }
                })
            }
        }
    }
}

/// Keyed hashes, side by side where the backend can.
fn answer(backend: Backend, questions: &[[u8; 64]], answers: &mut [u8]) {
    const KEY: [u8; 32] = [7; 32];
    if lanes(backend) > 1 {
        return keyed(backend, &KEY, Blocks::NONE, (questions, QUESTION), answers);
    }
    for (question, answer) in questions.iter().zip(answers.chunks_exact_mut(USUAL_BYTES)) {
        let mut hasher = blake3::Hasher::new_keyed(&KEY);
        hasher.update(&question[..QUESTION]).finalize_xof().fill(answer);
    }
}

pub(super) fn run(operation: Operation, n: usize) -> Measured {
    let (name, params) = (format!("kernel/{}", operation.name()), "N = 256, rank 3, q = 7681");
    measure(name, params.to_owned(), (n, 1), operation.prepare(n))
}
