//! P₁, which multiplies under P₀'s key and masks.

use alloc::{sync::Arc, vec, vec::Vec};

use foxtrot_kernel::rns::{
    pack, residues,
    sample::{self, Streams},
};
use foxtrot_ot::{Error, Seed, Session, Sid, Usage};

use super::{
    coins::{self, answering},
    fix::{self, Chosen},
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
    /// The next batch.
    batch: u64,
    scratches: Vec<Scratch>,
}

/// A batch that is answered. Its shares are not those of triples before P₀'s `Correction` has come.
///
/// ```compile_fail,E0382
/// # use foxtrot_triples::{Shares, rlwe::{P1, Responded}};
/// # fn twice(p1: &mut P1, responded: Responded, correction: &[u8], shares: &mut Shares) {
/// let _ = p1.finish(vec![(responded, correction, shares)]);
/// let _ = p1.finish(vec![(responded, correction, shares)]);
/// # }
/// ```
///
/// ```
/// # use foxtrot_ot::Error;
/// # use foxtrot_triples::{Shares, rlwe::{P1, Responded}};
/// # fn once(p1: &mut P1, responded: Responded, correction: &[u8], shares: &mut Shares) -> Result<(), Error> {
/// p1.finish(vec![(responded, correction, shares)])
/// # }
/// ```
#[must_use = "the shares are not yet those of triples"]
pub struct Responded {
    session: Sid,
    number: u64,
    /// m₁, packed; without the fix there is none.
    upper: Secret<u8>,
}

/// A request that has come, and where what becomes of it goes.
#[derive(Debug)]
pub struct Answering<'a> {
    /// P₀'s message.
    pub request: &'a [u8],
    /// P₁'s part of [`Set::ots`] random OTs; `None` without the fix.
    pub ots: Option<Chosen<'a>>,
    /// P₁'s shares, which [`P1::finish`] makes those of triples.
    pub shares: &'a mut Shares,
    /// Becomes the message `Response`, whatever was in it.
    pub response: &'a mut Vec<u8>,
}

/// The memory in which a thread computes a batch.
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
        Self::with_ring(ring, session, public_key, seed, 0)
    }

    pub(super) fn with_ring(
        ring: Arc<Ring>,
        session: Session,
        public_key: &[u8],
        seed: Seed,
        batch: u64,
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
        let scratches = Vec::new();
        Ok(Self { ring, session, seed, public_key, batch, scratches })
    }

    /// The set.
    #[must_use]
    pub fn set(&self) -> &'static Set {
        self.ring.set
    }

    /// Steps 3 and 4: answers the next `Request`s, in their order, at once: one per thread.
    ///
    /// A batch's number is used up, also by a request that is malformed.
    ///
    /// # Errors
    /// [`Decode`](foxtrot_ot::Decode) if a message is malformed, [`Usage::CountMismatch`] if shares are for another set or
    /// there are not [`Set::ots`] OTs; the first error, if there are several. No batch can then be finished: there are no
    /// shares, and all responses are empty.
    pub fn respond(&mut self, batches: Vec<Answering<'_>>) -> Result<Vec<Responded>, Error> {
        let first = self.batch;
        self.batch += batches.len() as u64;
        let Self { ring, session, seed, public_key, scratches, .. } = self;
        let (ring, session, seed, public_key) = (&**ring, &*session, &*seed, &**public_key);
        let (new_scratch, items) = (|| Scratch::new(ring), (first..).zip(batches).collect());
        let answer = |scratch: &mut _, (number, mut batch)| {
            (respond(ring, session, seed, public_key, scratch, number, &mut batch), batch)
        };
        let results = side_by_side(session.executor(), scratches, new_scratch, items, answer);
        let (responded, batches): (Vec<_>, Vec<_>) = results.into_iter().unzip();
        let responded = responded.into_iter().collect::<Result<_, _>>();
        if responded.is_err() {
            for batch in batches {
                batch.shares.clear();
                batch.response.clear();
            }
        }
        responded
    }

    /// Step 6: ends batches, at once: one per thread, with P₀'s `Correction`s, which are empty without the fix. The shares
    /// are those that [`P1::respond`] wrote for a batch, and become those of its triples.
    ///
    /// # Errors
    /// [`Decode`](foxtrot_ot::Decode) if a message is malformed; there are then no shares. [`Usage::ForeignBatch`] if a batch
    /// is another state's, [`Usage::CountMismatch`] if shares are for another set. The first error, if there are several.
    /// The batches without an error have their shares.
    pub fn finish(&mut self, batches: Vec<(Responded, &[u8], &mut Shares)>) -> Result<(), Error> {
        let Self { ring, session, scratches, .. } = self;
        let (ring, session) = (&**ring, &*session);
        let (executor, new_scratch) = (session.executor(), || Scratch::new(ring));
        let results = side_by_side(executor, scratches, new_scratch, batches, |scratch, batch| {
            let (Responded { session: id, number, upper }, correction, shares) = batch;
            if id != *session.id() {
                return Err(Usage::ForeignBatch.into());
            }
            check_shares(ring.set, shares)?;
            Message::new("Correction", number, correction, ring.set.correction_len())
                .inspect_err(|_| shares.clear())?;
            if ring.set.fix().is_some() {
                let [words, ..] = &mut scratch.words;
                pack::unpack(ring.backend, 1, &upper, words);
                let [_, _, c] = shares.parts_mut();
                fix::add_where(ring.set.width(), words, correction, c);
            }
            Ok(())
        });
        results.into_iter().collect()
    }
}

/// Steps 3 and 4 of one batch.
fn respond(
    ring: &Ring,
    session: &Session,
    seed: &Seed,
    public_key: &[u64],
    scratch: &mut Scratch,
    number: u64,
    batch: &mut Answering<'_>,
) -> Result<Responded, Error> {
    let Answering { request, ots, shares, response } = batch;
    check_shares(ring.set, shares)?;
    Chosen::check(ots.as_ref(), ring.set)?;
    let streams = coins::of_response(session, seed, number);
    let [a, b, _] = shares.parts_mut();
    streams.bytes(answering::SHARES[0], a);
    streams.bytes(answering::SHARES[1], b);
    let halves = [0, 1].map(|which| coins::of_uniform_half(session, number, which));
    let request = Message::new("Request", number, request, ring.set.request_len())?;
    multiply(ring, public_key, [a, b], &streams, &halves, request, scratch)?;
    response.resize(ring.set.response_len(), 0);
    let half = coins::of_uniform_half(session, number, coins::ANSWER);
    let Masked { r, upper, message } = mask(ring, &half, scratch, response);
    let mut bits = Secret::zeroed(ring.set.ots() / 8);
    if let Some(Chosen { choices, keys }) = ots {
        pack::pack(ring.backend, 1, upper, &mut bits);
        for ((flips, upper), choices) in message.iter_mut().zip(&*bits).zip(choices.as_bytes()) {
            *flips = upper ^ choices;
        }
        fix::take_keys(r, keys);
    }
    combine(ring.set.width(), shares.parts_mut(), r, true);
    Ok(Responded { session: *session.id(), number, upper: bits })
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

/// The mask of a batch.
pub(super) struct Masked<'s, 'm> {
    /// r modulo 2⁶⁴.
    pub(super) r: &'s mut [u64],
    /// m₁: 1 where r is in the upper half of [0, p). Only with the fix.
    pub(super) upper: &'s [u64],
    /// The rest of the message, not written yet.
    message: &'m mut [u8],
}

/// Step 4: y₀ and y₁ to `response`. Modulo p y₀ is what `half` gives, and that makes the mask.
pub(super) fn mask<'s, 'm>(
    ring: &Ring,
    half: &Streams,
    scratch: &'s mut Scratch,
    response: &'m mut [u8],
) -> Masked<'s, 'm> {
    let ((k, _), n, backend) = (ring.counts(), ring.n(), ring.backend);
    let Scratch { c: [c0, c1], digits: [rho, _], words: [low, upper, _], .. } = scratch;
    let [t0, t1] = ring.set.t;
    let (plain, rest) = c0.split_at_mut(k * n);
    ring.dividers[0].divide(backend, plain, rest, low);
    let mut message = ring.pack_bits(t0, low, response);
    for (i, (rho, rounded)) in rho.chunks_exact_mut(n).zip(plain.chunks_exact(n)).enumerate() {
        let p = ring.modulus(i);
        ring.uniform_half(i, half, rho);
        residues::sub_mul_scalar(backend, p, rho, rounded, p.inv(p.pow(2, t0.into())));
        // The polynomial o has o in every slot.
        rho[0] = p.sub(rho[0], ring.offset(i));
        ring.ntt(i).forward(rho);
    }
    let (plain, rest) = c1.split_at_mut(k * n);
    ring.dividers[1].divide(backend, plain, rest, low);
    for (i, y) in plain.chunks_exact(n).enumerate() {
        message = ring.pack(i, y, message);
    }
    message = ring.pack_bits(t1, low, message);
    ring.whole.digits(backend, rho);
    ring.whole.words(backend, rho, low);
    if ring.set.fix().is_some() {
        ring.whole.exceeds_half(backend, rho, upper);
    }
    Masked { r: low, upper, message }
}

foxtrot_kernel::redacted! {
    P1, p1 => "{}, {} batches, <redacted>", p1.ring.set.name(), p1.batch;
    Responded, responded => "batch {}, <redacted>", responded.number;
}
