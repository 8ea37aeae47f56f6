//! P₀, which has the keys.

use foxtrot_kernel::rns::{residues, sample};
use foxtrot_ot::{Error, Seed, Session, Sid, Usage, erase::Secret, expect_len};
use foxtrot_triples::Shares;

use super::{
    coins::{self, ENCRYPTIONS, KEY, SHARES},
    params::PaperSet,
    tables::{Tables, word},
};

/// The party that encrypts, for batch after batch of one set of keys.
#[derive(Debug)]
pub struct P0 {
    tables: Tables,
    session: Session,
    seed: Seed,
    keys: Vec<Key>,
    batch: u64,
    scratch: Scratch,
}

/// The key of an instance; values modulo all primes of q.
#[derive(Debug)]
struct Key {
    secret: Secret<u64>,
    a: Vec<u64>,
    b: Vec<u64>,
}

#[derive(Debug)]
struct Scratch {
    scaled: Secret<[u8; 8]>,
    words: [Secret<u64>; 2],
    kept: Secret<u64>,
    slots: Secret<u64>,
    small: [Secret<i8>; 3],
    share: Secret<u8>,
}

/// A batch whose request is on its way.
#[must_use = "the batch has no output yet"]
pub struct Requested {
    session: Sid,
    number: u64,
}

impl P0 {
    /// Draws keys for the session; with the message to be sent first.
    #[must_use]
    pub fn new(session: Session, set: &'static PaperSet, seed: Seed) -> (Self, Vec<u8>) {
        let tables = Tables::new(set, session.backend());
        let (n, all) = (set.n(), set.primes().len());
        let mut public_key = vec![0; set.public_key_len()];
        let mut message = public_key.as_mut_slice();
        let (mut small, mut words) = (Secret::zeroed(n), Secret::zeroed(n));
        let mut keys = Vec::new();
        for instance in 0..set.plain().len() {
            let streams = coins::secret(&session, "foxtrot v1 rlwe-paper key", &seed, 0, instance);
            let public = coins::public_key(&session, instance);
            let mut secret = Secret::zeroed(all * n);
            let (mut a, mut b) = (vec![0; all * n], vec![0; all * n]);
            sample::ternary(&streams, KEY[0], &mut small);
            for (j, secret) in secret.chunks_exact_mut(n).enumerate() {
                tables.values(j, &small, secret);
            }
            sample::binomial(&streams, KEY[1], &mut small);
            let halves = a.chunks_exact_mut(n).zip(b.chunks_exact_mut(n));
            for (j, (a, b)) in halves.enumerate() {
                let r = tables.ntts[j].modulus();
                tables.uniform_half(j, &public, a);
                tables.values(j, &small, b);
                words.copy_from_slice(a);
                residues::mul(tables.backend, r, &mut words, &secret[j * n..][..n]);
                residues::sub(tables.backend, r, b, &words);
                message = tables.pack(j, b, message);
            }
            keys.push(Key { secret, a, b });
        }
        let kept = set.kept().len();
        let scratch = Scratch {
            scaled: Secret::zeroed(n),
            words: [words, Secret::zeroed(n)],
            kept: Secret::zeroed(kept * n),
            slots: Secret::zeroed(set.plain().len() * n),
            small: [small, Secret::zeroed(n), Secret::zeroed(n)],
            share: Secret::zeroed(n * set.width()),
        };
        (Self { tables, session, seed, keys, batch: 0, scratch }, public_key)
    }

    /// Begins a batch; `request` becomes its message, whatever was in it.
    pub fn request(&mut self, request: &mut Vec<u8>) -> Requested {
        let Self { tables, session, seed, keys, batch, scratch } = self;
        let (set, n, backend) = (tables.set, tables.n(), tables.backend);
        let Scratch { scaled, words: [x, words], small: [u, e0, e1], share, .. } = scratch;
        let number = *batch;
        *batch += 1;
        request.resize(set.request_len(), 0);
        let mut message = request.as_mut_slice();
        let of_shares = coins::secret(session, "foxtrot v1 rlwe-paper P0 shares", seed, number, 0);
        for (instance, key) in keys.iter().enumerate() {
            let streams =
                coins::secret(session, "foxtrot v1 rlwe-paper request", seed, number, instance);
            for (of_share, [of_u, of_e0, of_e1]) in SHARES.into_iter().zip(ENCRYPTIONS) {
                of_shares.bytes(of_share, share);
                tables.encode(instance, share, x);
                tables.scale(instance, x, scaled);
                sample::ternary(&streams, of_u, u);
                sample::binomial(&streams, of_e0, e0);
                sample::binomial(&streams, of_e1, e1);
                for (j, ntt) in tables.ntts.iter().enumerate() {
                    let (r, at) = (ntt.modulus(), j * n);
                    // c₁, and then c₀.
                    for half in [1, 0] {
                        let (key, error) = if half == 1 { (&key.a, &e1) } else { (&key.b, &e0) };
                        residues::set_small(backend, r, x, error);
                        if half == 0 {
                            tables.add_message(instance, j, x, scaled, words);
                        }
                        ntt.forward(x);
                        tables.values(j, u, words);
                        residues::mul_add(backend, r, x, words, &key[at..][..n]);
                        message = tables.pack(j, x, message);
                    }
                }
            }
        }
        Requested { session: *session.id(), number }
    }

    /// Ends a batch with P₁'s response, and writes the shares.
    ///
    /// # Errors
    /// [`Decode`](foxtrot_ot::Decode) if the message is malformed; there are then no shares.
    /// [`Usage::ForeignBatch`] if the batch is another state's, [`Usage::CountMismatch`] if the shares are
    /// for another set.
    pub fn receive(
        &mut self,
        requested: Requested,
        response: &[u8],
        shares: &mut Shares,
    ) -> Result<(), Error> {
        let Requested { session: id, number } = requested;
        if id != *self.session.id() {
            return Err(Usage::ForeignBatch.into());
        }
        check_shares(self.tables.set, shares)?;
        self.decrypt(number, response).inspect_err(|_| shares.clear())?;
        let Self { tables, session, seed, scratch, .. } = self;
        let streams = coins::secret(session, "foxtrot v1 rlwe-paper P0 shares", seed, number, 0);
        let [a, b, c] = shares.parts_mut();
        streams.bytes(SHARES[0], a);
        streams.bytes(SHARES[1], b);
        let (n, width) = (tables.n(), tables.set.width());
        let slots = |j: usize, i: usize| scratch.slots[i * n + j];
        let factors = a.chunks_exact(width).zip(b.chunks_exact(width));
        for (j, (c, (a, b))) in c.chunks_exact_mut(width).zip(factors).enumerate() {
            let d = match tables.plains.len() {
                2 => tables.combine([slots(j, 0), slots(j, 1)]),
                _ => tables.combine([0, 1, 2, 3].map(|i| slots(j, i))),
            };
            let sum = word(a).wrapping_mul(word(b)).wrapping_add(d);
            c.copy_from_slice(&sum.to_le_bytes()[..width]);
        }
        Ok(())
    }

    /// The slots of d modulo every prime of plaintexts.
    fn decrypt(&mut self, number: u64, response: &[u8]) -> Result<(), Error> {
        let Self { tables, keys, scratch, .. } = self;
        let (set, n, backend) = (tables.set, tables.n(), tables.backend);
        expect_len("Response", response, set.response_len())?;
        let (kept, about) = (set.kept(), ("Response", number));
        let (mut message, Scratch { words: [x, y], kept: phase, slots, .. }) = (response, scratch);
        // 1/Q modulo 2⁶⁴, Q the product of the kept primes.
        let inverse = kept.iter().fold(1u64, |inverse, r| inverse.wrapping_mul(word_inverse(*r)));
        for (instance, (key, slots)) in keys.iter().zip(slots.chunks_exact_mut(n)).enumerate() {
            let plain = &tables.plains[instance];
            for (j, phase) in phase.chunks_exact_mut(n).enumerate() {
                let ntt = &tables.ntts[j];
                message = tables.unpack(j, about, message, phase)?;
                message = tables.unpack(j, about, message, x)?;
                ntt.forward(x);
                residues::mul(backend, ntt.modulus(), x, &key.secret[j * n..][..n]);
                ntt.inverse(x);
                residues::add(backend, ntt.modulus(), phase, x);
            }
            // m = (p·X − Y)/Q with Y ≡ p·X mod Q centred, which is exact, and is below 2⁶⁴.
            slots.fill(0);
            let mut scaled = Secret::zeroed(phase.len());
            scaled.copy_from_slice(phase);
            for (j, scaled) in scaled.chunks_exact_mut(n).enumerate() {
                let r = tables.ntts[j].modulus();
                residues::mul_scalar(backend, r, scaled, r.reduce(plain.value()));
            }
            tables.whole.digits(backend, phase);
            tables.whole.words(backend, phase, x);
            tables.centred.digits(backend, &mut scaled);
            tables.centred.words(backend, &scaled, y);
            for ((slot, x), y) in slots.iter_mut().zip(x.iter()).zip(y.iter()) {
                let m = x.wrapping_mul(plain.value()).wrapping_sub(*y).wrapping_mul(inverse);
                // It can be p, which is 0.
                *slot = plain.reduce(m);
            }
            plain.forward(slots);
        }
        Ok(())
    }
}

/// Checks that shares are for batches of this set.
pub(super) fn check_shares(set: &PaperSet, shares: &Shares) -> Result<(), Usage> {
    let expected = set.n() * set.width();
    if shares.width() == set.width() && shares.a().len() == expected {
        return Ok(());
    }
    Err(Usage::CountMismatch { what: "bytes of shares", expected, got: shares.a().len() })
}

/// 1/r modulo 2⁶⁴, for odd r.
fn word_inverse(r: u64) -> u64 {
    // Right modulo 2³; each step doubles the exponent.
    (0..5).fold(r, |inverse, _| inverse.wrapping_mul(2u64.wrapping_sub(r.wrapping_mul(inverse))))
}

foxtrot_kernel::redacted! {
    Requested, requested => "batch {}", requested.number;
}
