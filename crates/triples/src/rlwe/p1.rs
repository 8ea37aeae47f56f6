//! P₁, which multiplies under P₀'s key and masks.

use alloc::{boxed::Box, sync::Arc, vec, vec::Vec};
use core::fmt;

use foxtrot_kernel::rns::{
    residues,
    sample::{self, Streams},
};
use foxtrot_ot::{
    Error, Seed, Session, Usage,
    tasks::{Executor, InPlace},
};

use super::{
    coins::{self, answering},
    p0::check_shares,
    ring::{Message, Ring, combine},
    side_by_side::side_by_side,
};
use crate::{Shares, erase::Secret, params::Set};

/// The party that answers requests, under one key of P₀.
pub struct P1 {
    ring: Arc<Ring>,
    pub(super) session: Session,
    pub(super) seed: Seed,
    /// A modulo all primes, then B modulo those that are not in p.
    pub(super) public_key: Vec<u64>,
    /// Batches so far.
    batch: u64,
    scratches: Vec<Scratch>,
    executor: Box<dyn Executor>,
}

/// What a thread computes a batch in.
pub(super) struct Scratch {
    /// C₀ and C₁ modulo all primes.
    pub(super) c: [Secret<u64>; 2],
    /// The values of the shares' polynomials modulo the primes of p.
    slots: [Secret<u64>; 2],
    /// The digits of their lifts, and then the slots of the mask.
    digits: [Secret<u64>; 2],
    words: [Secret<u64>; 3],
    small: Secret<i8>,
}

impl Scratch {
    pub(super) fn new(ring: &Ring) -> Self {
        let ((k, all), n) = (ring.counts(), ring.n());
        let words = |polynomials: usize| Secret::zeroed(polynomials * n);
        Self {
            c: [words(all), words(all)],
            slots: [words(k), words(k)],
            digits: [words(k), words(k)],
            words: [words(1), words(1), words(1)],
            small: Secret::zeroed(n),
        }
    }
}

impl P1 {
    /// Takes P₀'s `PublicKey`. The session is the sub-session of the set's name.
    ///
    /// # Errors
    /// [`Decode`](foxtrot_ot::Decode) if the message is malformed.
    pub fn new(
        session: Session,
        set: &'static Set,
        public_key: &[u8],
        seed: Seed,
    ) -> Result<Self, Error> {
        let ring = Arc::new(Ring::new(set, session.backend()));
        Self::with_ring(ring, session, public_key, seed)
    }

    pub(super) fn with_ring(
        ring: Arc<Ring>,
        session: Session,
        public_key: &[u8],
        seed: Seed,
    ) -> Result<Self, Error> {
        let ((k, all), n) = (ring.counts(), ring.n());
        let message = Message::new("PublicKey", 0, public_key, ring.set.public_key_len())?;
        let streams = coins::of_public_key(&session);
        let mut public_key = vec![0; (2 * all - k) * n];
        let (a, b) = public_key.split_at_mut(all * n);
        for (i, a) in a.chunks_exact_mut(n).enumerate() {
            ring.uniform_half(i, &streams, a);
        }
        let mut place = 0;
        for (i, b) in (k..).zip(b.chunks_exact_mut(n)) {
            ring.unpack(i, message, place, b)?;
            place += ring.packed_len(i);
        }
        let (scratches, executor) = (Vec::new(), Box::new(InPlace));
        Ok(Self { ring, session, seed, public_key, batch: 0, scratches, executor })
    }

    /// The same, on several threads.
    #[must_use]
    pub fn with_executor(self, executor: Box<dyn Executor>) -> Self {
        Self { executor, ..self }
    }

    /// The same, with a later number for the next batch; P₀ must agree.
    ///
    /// Only for a seed and a session that are new: a batch that was made before under the same two, in
    /// another state say, would be made again with the same coins, which gives both runs away.
    ///
    /// # Errors
    /// [`Usage::ForeignBatch`] if that number is behind.
    pub fn starting_at(self, batch: u64) -> Result<Self, Error> {
        if batch < self.batch {
            return Err(Usage::ForeignBatch.into());
        }
        Ok(Self { batch, ..self })
    }

    /// The set.
    #[must_use]
    pub fn set(&self) -> &'static Set {
        self.ring.set
    }

    /// Steps 3 and 4: answers the next `Request`; writes the shares, and `response` becomes the message, whatever was
    /// in it.
    ///
    /// A batch's number is used up, also by a request that is malformed.
    ///
    /// # Errors
    /// [`Decode`](foxtrot_ot::Decode) if the message is malformed; there are then no shares, and the response is empty.
    /// [`Usage::CountMismatch`](foxtrot_ot::Usage::CountMismatch) if the shares are for another set.
    pub fn respond(
        &mut self,
        request: &[u8],
        shares: &mut Shares,
        response: &mut Vec<u8>,
    ) -> Result<(), Error> {
        self.respond_all(vec![(request, shares, response)])
    }

    /// The same for the next batches, in their order, at once: one per thread.
    ///
    /// # Errors
    /// Those of [`P1::respond`]; the first one, if there are several. The batches without have their shares.
    pub fn respond_all(
        &mut self,
        batches: Vec<(&[u8], &mut Shares, &mut Vec<u8>)>,
    ) -> Result<(), Error> {
        let first = self.batch;
        self.batch += batches.len() as u64;
        let Self { ring, session, seed, public_key, scratches, executor, .. } = self;
        let (ring, session, seed, public_key) = (&**ring, &*session, &*seed, &**public_key);
        let items = (first..).zip(batches).collect();
        let results = side_by_side(
            &**executor,
            scratches,
            || Scratch::new(ring),
            items,
            |scratch, (number, (request, shares, response))| {
                response.clear();
                check_shares(ring.set, shares)?;
                let streams = coins::of_response(session, seed, number);
                let [a, b, _] = shares.parts_mut();
                streams.bytes(answering::SHARES[0], a);
                streams.bytes(answering::SHARES[1], b);
                let halves = [0, 1].map(|which| coins::of_uniform_half(session, number, which));
                Message::new("Request", number, request, ring.set.request_len())
                    .and_then(|it| {
                        multiply(ring, public_key, [a, b], &streams, &halves, it, scratch)
                    })
                    .inspect_err(|_| shares.clear())?;
                response.resize(ring.set.response_len(), 0);
                let mask = mask(ring, &streams, scratch, response);
                combine(ring.set.width(), shares.parts_mut(), mask, true);
                Ok(())
            },
        );
        results.into_iter().collect()
    }
}

/// Step 3: C₀ and C₁, coefficients.
pub(super) fn multiply(
    ring: &Ring,
    public_key: &[u64],
    shares: [&[u8]; 2],
    streams: &Streams,
    halves: &[Streams; 2],
    request: Message<'_>,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let ((k, all), n, backend) = (ring.counts(), ring.n(), ring.backend);
    let Scratch { c, slots, digits, words, small } = scratch;
    let (key_a, key_b) = public_key.split_at(all * n);

    // The lifts of both shares' polynomials.
    for ((share, slots), digits) in shares.into_iter().zip(&mut *slots).zip(&mut *digits) {
        let parts = slots.chunks_exact_mut(n).zip(digits.chunks_exact_mut(n));
        for (i, (slots, coefficients)) in parts.enumerate() {
            ring.slots(i, share, slots);
            coefficients.copy_from_slice(slots);
            ring.ntt(i).inverse(coefficients);
        }
        ring.centred.digits(backend, digits);
    }

    sample::ternary(streams, answering::RANDOMISER, small);
    let [u, lift_a, lift_b] = words;
    let half_len: usize = (0..all).map(|i| ring.packed_len(i)).sum();
    let [c0, c1] = c;
    let mut place = 0;
    for (i, (c0, c1)) in c0.chunks_exact_mut(n).zip(c1.chunks_exact_mut(n)).enumerate() {
        let p = ring.modulus(i);
        // α, of a₁, multiplies what belongs to b₀, and β the other.
        let [alpha, beta] = if i < k {
            slots.each_ref().map(|slots| &slots[i * n..][..n])
        } else {
            for (digits, lift) in digits.iter().zip([&mut *lift_a, &mut *lift_b]) {
                ring.centred.residues(backend, digits, p, lift);
                ring.ntt(i).forward(lift);
            }
            [&**lift_a, &**lift_b]
        };
        ring.values(i, small, u);

        // The message's parts and the uniform halves pass through the polynomial that is being written.
        ring.unpack(i, request, place, c0)?;
        residues::mul(backend, p, c0, beta);
        ring.unpack(i, request, half_len + place, c1)?;
        residues::mul_add(backend, p, c0, c1, alpha);
        if i >= k {
            residues::mul_add(backend, p, c0, u, &key_b[(i - k) * n..][..n]);
        }
        ring.ntt(i).inverse(c0);

        residues::mul(backend, p, u, &key_a[i * n..][..n]);
        ring.uniform_half(i, &halves[0], c1);
        residues::mul_add(backend, p, u, c1, beta);
        ring.uniform_half(i, &halves[1], c1);
        residues::mul(backend, p, c1, alpha);
        residues::add(backend, p, c1, u);
        ring.ntt(i).inverse(c1);
        place += ring.packed_len(i);
    }
    for (c, stream) in c.iter_mut().zip(answering::ERRORS) {
        sample::binomial(streams, stream, small);
        for (i, c) in c.chunks_exact_mut(n).enumerate() {
            residues::add_small(backend, ring.modulus(i), c, small);
        }
    }
    Ok(())
}

/// Step 4: y₀ and y₁ to `response`; returns the mask modulo 2⁶⁴.
fn mask<'s>(
    ring: &Ring,
    streams: &Streams,
    scratch: &'s mut Scratch,
    response: &mut [u8],
) -> &'s [u64] {
    let ((k, _), n, backend) = (ring.counts(), ring.n(), ring.backend);
    let Scratch { c, digits: [rho, _], words: [low, ..], .. } = scratch;
    let mut message = response;
    for (half, c) in c.iter_mut().enumerate() {
        let t = ring.set.t()[half];
        let (plain, rest) = c.split_at_mut(k * n);
        ring.dividers[half].divide(backend, plain, rest, low);
        for (i, y) in plain.chunks_exact_mut(n).enumerate() {
            if half == 0 {
                let (p, rho) = (ring.modulus(i), &mut rho[i * n..][..n]);
                sample::uniform(streams, answering::MASK + i as u64, p, rho);
                residues::mul_scalar_add(backend, p, y, rho, p.pow(2, t.into()));
                ring.ntt(i).forward(rho);
            }
            message = ring.pack(i, y, message);
        }
        message = ring.pack_bits(t, low, message);
    }
    ring.whole.digits(backend, rho);
    ring.whole.words(backend, rho, low);
    low
}

impl fmt::Debug for P1 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "P1({}, {} batches, <redacted>)", self.ring.set.name(), self.batch)
    }
}
