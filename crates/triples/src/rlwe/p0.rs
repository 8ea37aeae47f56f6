//! P₀, which has the key: it asks with encrypted shares and decrypts what comes back.

use alloc::{sync::Arc, vec, vec::Vec};

use foxtrot_kernel::rns::{
    pack, residues, round_low,
    sample::{self, Streams},
};
use foxtrot_ot::{Error, Seed, Session, Sid, Usage, base::Block};

use super::{
    coins::{self, asking},
    fix,
    ring::{Message, Ring, combine},
    side_by_side::side_by_side,
};
use crate::{Shares, erase::Secret, params::Set};

/// The party that encrypts, for batch after batch of one key.
pub struct P0 {
    pub(super) ring: Arc<Ring>,
    pub(super) session: Session,
    pub(super) seed: Seed,
    /// The values of −s modulo all primes.
    pub(super) negated: Secret<u64>,
    /// The values of s·2^−t₁ modulo the primes of p.
    pub(super) scaled: Secret<u64>,
    /// The next batch.
    batch: u64,
    scratches: Vec<Scratch>,
}

/// A batch whose request is on its way. P₀ keeps nothing else of it.
///
/// It takes one response.
///
/// ```
/// # use foxtrot_triples::{Shares, rlwe::{P0, Receiving, Requested}};
/// # fn once(p0: &mut P0, requested: Requested, response: &[u8], shares: &mut Shares, correction: &mut Vec<u8>) {
/// let _ = p0.receive(vec![Receiving { requested, response, ots: None, shares, correction }]);
/// # }
/// ```
///
/// ```compile_fail,E0382
/// # use foxtrot_triples::{Shares, rlwe::{P0, Receiving, Requested}};
/// # fn twice(p0: &mut P0, requested: Requested, response: &[u8], shares: &mut Shares, correction: &mut Vec<u8>) {
/// let _ = p0.receive(vec![Receiving { requested, response, ots: None, shares, correction }]);
/// let _ = p0.receive(vec![Receiving { requested, response, ots: None, shares, correction }]);
/// # }
/// ```
#[must_use = "the batch has no output yet"]
pub struct Requested {
    session: Sid,
    number: u64,
}

/// A batch whose response has come, and where its output goes.
pub struct Receiving<'a> {
    /// The batch.
    pub requested: Requested,
    /// P₁'s message.
    pub response: &'a [u8],
    /// Both keys of [`Set::ots`] random OTs, which serve for this batch only; of each key the first ℓ bits are used. `None`
    /// without the fix.
    pub ots: Option<&'a [[Block; 2]]>,
    /// P₀'s shares.
    pub shares: &'a mut Shares,
    /// Becomes the message `Correction`, whatever was in it; empty, and not sent, without the fix.
    pub correction: &'a mut Vec<u8>,
}

/// The memory in which a thread computes a batch.
pub(super) struct Scratch {
    words: Secret<u64>,
    small: Secret<i8>,
    /// The shares of a₀ or b₀.
    pub(super) share: Secret<u8>,
}

impl Scratch {
    pub(super) fn new(ring: &Ring) -> Self {
        let (k, _) = ring.counts();
        let n = ring.n();
        Self {
            words: Secret::zeroed((k + 3) * n),
            small: Secret::zeroed(n),
            share: Secret::zeroed(n * ring.set.width()),
        }
    }
}

impl P0 {
    /// Step 1: draws a key for the session; with the message `PublicKey`, to be sent first.
    ///
    /// The session is the sub-session of the set's name.
    #[must_use]
    pub fn new(session: Session, set: &'static Set, seed: Seed) -> (Self, Vec<u8>) {
        let ring = Arc::new(Ring::new(set, session.backend()));
        Self::with_ring(ring, session, seed, 0)
    }

    pub(super) fn with_ring(
        ring: Arc<Ring>,
        session: Session,
        seed: Seed,
        batch: u64,
    ) -> (Self, Vec<u8>) {
        let ((k, all), n) = (ring.counts(), ring.n());
        let mut negated = Secret::zeroed(all * n);
        let mut scaled = Secret::zeroed(k * n);
        let mut small = Secret::zeroed(n);
        let streams = coins::of_key(&session, &seed);
        sample::ternary(&streams, coins::key::SECRET, &mut small);
        for (i, negated) in negated.chunks_exact_mut(n).enumerate() {
            ring.values(i, &small, negated);
            residues::neg(ring.backend, ring.modulus(i), negated);
        }
        for (i, (scaled, negated)) in
            scaled.chunks_exact_mut(n).zip(negated.chunks_exact(n)).enumerate()
        {
            let p = ring.modulus(i);
            let scale = p.neg(p.inv(p.pow(2, ring.set.t[1].into())));
            scaled.copy_from_slice(negated);
            residues::mul_scalar(ring.backend, p, scaled, scale);
        }
        sample::binomial(&streams, coins::key::ERROR, &mut small);
        let public_key = public_key(&ring, &session, &negated, &small);
        let scratches = Vec::new();
        let p0 = Self { ring, session, seed, negated, scaled, batch, scratches };
        (p0, public_key)
    }

    /// The set.
    #[must_use]
    pub fn set(&self) -> &'static Set {
        self.ring.set
    }

    /// Step 2: begins the next batches, in their order, at once: one per thread. `requests` become their messages,
    /// whatever was in them.
    pub fn request(&mut self, requests: Vec<&mut Vec<u8>>) -> Vec<Requested> {
        let first = self.batch;
        self.batch += requests.len() as u64;
        let Self { ring, session, seed, negated, scratches, .. } = self;
        let (ring, session, seed, negated) = (&**ring, &*session, &*seed, &**negated);
        let items = (first..).zip(requests).collect();
        let new_scratch = || Scratch::new(ring);
        side_by_side(
            session.executor(),
            scratches,
            new_scratch,
            items,
            |scratch, (number, request)| {
                request.resize(ring.set.request_len(), 0);
                let streams = coins::of_request(session, seed, number);
                let mut message = request.as_mut_slice();
                for which in [0, 1] {
                    let half = coins::of_uniform_half(session, number, which);
                    streams.bytes(asking::SHARES[usize::from(which)], &mut scratch.share);
                    message = encrypt(ring, negated, &streams, &half, which, scratch, message);
                }
                Requested { session: *session.id(), number }
            },
        )
    }

    /// Step 5: ends batches with P₁'s `Response`s, at once: one per thread.
    ///
    /// # Errors
    /// [`Decode`](foxtrot_ot::Decode) if a message is malformed; there are then no shares and nothing to send.
    /// [`Usage::ForeignBatch`] if a batch is another state's, [`Usage::CountMismatch`] if shares are
    /// for another set or there are not [`Set::ots`] OTs. The first error, if there are several. The batches without an
    /// error have their output.
    pub fn receive(&mut self, batches: Vec<Receiving<'_>>) -> Result<(), Error> {
        let Self { ring, session, seed, negated, scaled, scratches, .. } = self;
        let (ring, session, seed) = (&**ring, &*session, &*seed);
        let keys = [&**negated, &**scaled];
        let (executor, new_scratch) = (session.executor(), || Scratch::new(ring));
        let results = side_by_side(executor, scratches, new_scratch, batches, |scratch, batch| {
            receive(ring, session, seed, keys, scratch, batch)
        });
        results.into_iter().collect()
    }
}

/// Step 5 of one batch.
fn receive(
    ring: &Ring,
    session: &Session,
    seed: &Seed,
    keys: [&[u64]; 2],
    scratch: &mut Scratch,
    batch: Receiving<'_>,
) -> Result<(), Error> {
    let Receiving { requested, response, ots, shares, correction } = batch;
    let Requested { session: id, number } = requested;
    correction.clear();
    if id != *session.id() {
        return Err(Usage::ForeignBatch.into());
    }
    check_shares(ring.set, shares)?;
    fix::check_ots(ring.set, ots.map_or(0, <[_]>::len))?;
    let half = coins::of_uniform_half(session, number, coins::ANSWER);
    let message = Message::new("Response", number, response, ring.set.response_len());
    let decrypted = message.and_then(|it| decrypt(ring, keys, &half, it, scratch));
    let Decrypted { d, fix } = decrypted.inspect_err(|_| shares.clear())?;
    let streams = coins::of_request(session, seed, number);
    let [a, b, c] = shares.parts_mut();
    streams.bytes(asking::SHARES[0], a);
    streams.bytes(asking::SHARES[1], b);
    if let (Some(fix), Some(ots)) = (fix, ots) {
        correction.resize(ring.set.correction_len(), 0);
        fix::correct(ring.set, ots, fix, d, correction);
    }
    combine(ring.set.width(), [a, b, c], d, false);
    Ok(())
}

/// Returns an error unless the shares are for batches of that set.
pub(super) fn check_shares(set: &Set, shares: &Shares) -> Result<(), Usage> {
    if shares.fits(set) {
        return Ok(());
    }
    let expected = set.n() * set.width();
    Err(Usage::CountMismatch { what: "bytes of shares", expected, got: shares.a().len() })
}

/// Step 1: B = p·⌊(−A·s + e)/p⌉, modulo the primes that are not in p.
fn public_key(ring: &Ring, session: &Session, negated: &[u64], error: &[i8]) -> Vec<u8> {
    let ((k, all), n) = (ring.counts(), ring.n());
    let backend = ring.backend;
    let streams = coins::of_public_key(session);
    let mut unrounded = Secret::zeroed(all * n);
    let mut words = Secret::zeroed(n);
    for (i, unrounded) in unrounded.chunks_exact_mut(n).enumerate() {
        ring.values(i, error, unrounded);
        ring.uniform_half(i, &streams, &mut words);
        residues::mul_add(backend, ring.modulus(i), unrounded, &words, &negated[i * n..][..n]);
    }
    // What it is more than a multiple of p.
    let (excess, unrounded) = unrounded.split_at_mut(k * n);
    for (i, excess) in excess.chunks_exact_mut(n).enumerate() {
        ring.ntt(i).inverse(excess);
    }
    ring.centred.digits(backend, excess);
    let mut bytes = vec![0; ring.set.public_key_len()];
    let mut message = bytes.as_mut_slice();
    for (i, values) in (k..).zip(unrounded.chunks_exact_mut(n)) {
        ring.centred.residues(backend, excess, ring.modulus(i), &mut words);
        ring.ntt(i).forward(&mut words);
        residues::sub(backend, ring.modulus(i), values, &words);
        message = ring.pack(i, values, message);
    }
    bytes
}

/// Step 2, one of the two ciphertexts, of the share in `scratch`: Δ·m − A·s + e, to the front of `message`; returns the
/// rest of it.
pub(super) fn encrypt<'m>(
    ring: &Ring,
    negated: &[u64],
    streams: &Streams,
    half: &Streams,
    which: u8,
    scratch: &mut Scratch,
    mut message: &'m mut [u8],
) -> &'m mut [u8] {
    let ((k, all), n, backend) = (ring.counts(), ring.n(), ring.backend);
    let Scratch { words, small, share } = scratch;
    sample::binomial(streams, asking::ERRORS[usize::from(which)], small);
    let (values, others) = words.split_at_mut(n);
    let words = &mut others[..n];
    for i in 0..all {
        let p = ring.modulus(i);
        ring.values(i, small, values);
        ring.uniform_half(i, half, words);
        residues::mul_add(backend, p, values, words, &negated[i * n..][..n]);
        if i < k {
            ring.slots(i, share, words);
            residues::mul_scalar_add(backend, p, values, words, ring.delta(i));
        }
        message = ring.pack(i, values, message);
    }
    message
}

/// The decryption of a batch.
pub(super) struct Decrypted<'s> {
    /// d modulo 2⁶⁴.
    pub(super) d: &'s mut [u64],
    /// Bits of the fix, with it: 1 where d is in the upper half of [0, p), and P₁'s bits x.
    pub(super) fix: Option<[&'s [u64]; 2]>,
}

/// Step 5, up to the shares. `half` has the residues of y₀.
pub(super) fn decrypt<'s>(
    ring: &Ring,
    [negated, scaled]: [&[u64]; 2],
    half: &Streams,
    message: Message<'_>,
    scratch: &'s mut Scratch,
) -> Result<Decrypted<'s>, Error> {
    let (n, backend) = (ring.n(), ring.backend);
    let [t0, t1] = ring.set.t;
    let (low, others) = scratch.words.split_at_mut(n);
    let (words, others) = others.split_at_mut(n);
    let (d, slots) = others.split_at_mut(n);
    low_bits(ring, negated, message, low, words);
    let mut place = pack::packed_len(n, t0);
    for (i, slots) in slots.chunks_exact_mut(n).enumerate() {
        let p = ring.modulus(i);
        ring.uniform_half(i, half, slots);
        ring.unpack(i, message, place, words)?;
        residues::mul_scalar(backend, p, slots, p.pow(2, (t1 - t0).into()));
        round_low(backend, p, slots, low, t1);
        ring.ntt(i).forward(slots);
        ring.ntt(i).forward(words);
        residues::mul_add(backend, p, slots, words, &scaled[i * n..][..n]);
        place += ring.packed_len(i);
    }
    ring.whole.digits(backend, slots);
    ring.whole.words(backend, slots, d);
    if ring.set.fix().is_none() {
        return Ok(Decrypted { d, fix: None });
    }
    ring.whole.exceeds_half(backend, slots, low);
    let bits = &message.bytes[message.bytes.len() - n / 8..];
    pack::unpack(backend, 1, bits, words);
    Ok(Decrypted { d, fix: Some([low, words]) })
}

/// The low t₁ bits of 2^(t₁−t₀)·y₀ + y₁·s, from a product over the integers: that of the low bits of y₁, which is
/// below n·2^t₁. What is nearer to 2^t₁ than to 0 is negative.
pub(super) fn low_bits(
    ring: &Ring,
    negated: &[u64],
    message: Message<'_>,
    low: &mut [u64],
    words: &mut [u64],
) {
    let ((k, _), n, backend) = (ring.counts(), ring.n(), ring.backend);
    let [t0, t1] = ring.set.t;
    let low_len = |bits| pack::packed_len(n, bits);
    let place = low_len(t0) + (0..k).map(|i| ring.packed_len(i)).sum::<usize>();
    pack::unpack(backend, t1, &message.bytes[place..][..low_len(t1)], words);
    let (ntt, r) = (ring.ntt(k), ring.modulus(k));
    ntt.forward(words);
    residues::mul(backend, r, words, &negated[k * n..][..n]);
    ntt.inverse(words);
    pack::unpack(backend, t0, &message.bytes[..low_len(t0)], low);
    let (half, mask) = (r.value() / 2, (1u64 << t1) - 1);
    for (low, product) in low.iter_mut().zip(words.iter()) {
        // All ones where the integer is negative.
        let negative = (half.wrapping_sub(*product) >> 63).wrapping_neg();
        let product = product.wrapping_sub(r.value() & negative);
        *low = (*low << (t1 - t0)).wrapping_sub(product) & mask;
    }
}

foxtrot_kernel::redacted! {
    P0, p0 => "{}, {} batches, <redacted>", p0.ring.set.name(), p0.batch;
    Receiving<'_>, receiving => "batch {}, <redacted>", receiving.requested.number;
    Requested, requested => "batch {}", requested.number;
}
