//! The side with U and V.

use alloc::vec::Vec;

use foxtrot_kernel::{
    aes::{Aes128, tmmo},
    ggm,
    lpn::{Missing, Prefix},
};
use subtle::{ConditionallySelectable, ConstantTimeEq};
use zeroize::Zeroizing;

use super::{
    Challenge, Coins, Outputs, check_extension, check_hash,
    code::{CODES, Scratch},
    field::{Field, Gf2, pack_bits, pack_noise, pack_rows},
    parameters::{MASK, Silent, Size},
    permutation,
};
use crate::{
    Bits, Error, Misbehaved, Seed, Session, Sid, Usage,
    base::Block,
    choices::verdict,
    erase::Secret,
    extension::{self, protocol::Receiver as Ots},
};

/// The receiver of a silent protocol, which makes batch after batch from one extension.
pub struct Receiver<F: Field> {
    silent: Silent<F>,
    session: Session,
    seed: Seed,
    /// `None` when an error has ended the session.
    ots: Option<Ots>,
    /// Batches so far.
    batch: u64,
    scratch: Scratch<F::Strings>,
}

/// A batch whose trees have come. It has no output before the sender's `Answer` has come, where there is one.
#[must_use = "the batch has no output yet"]
pub struct Unverified<F: Field> {
    session: Sid,
    number: u64,
    size: Size,
    check: Option<Check>,
    /// U and V, and before the strings that they come from.
    values: Option<(F::Values, Secret<u128>)>,
    strings: Option<F::Strings>,
}

/// Values that an answer is checked against.
struct Check {
    challenge: Challenge,
    hash: [u8; 32],
    commitment: [u8; 32],
}

/// A batch whose output can be had, once.
#[must_use = "it holds the output"]
pub struct Received<F: Field> {
    session: Sid,
    number: u64,
    u: F::Values,
    v: Secret<u128>,
    coins: Option<Coins>,
    /// Flips that U contains.
    flips: Bits,
}

impl<F: Field> Receiver<F> {
    /// A receiver whose OTs come from that extension, set up.
    ///
    /// # Errors
    /// [`Usage::Incompatible`] if it is another one than [`Silent::extension`].
    pub fn new(
        session: Session,
        silent: Silent<F>,
        extension: extension::Receiver,
        seed: Seed,
    ) -> Result<Self, Usage> {
        check_extension(&silent, extension.extension())?;
        Ok(Self::of_ots(session, silent, Ots::of(extension), seed))
    }

    pub(super) fn of_ots(session: Session, silent: Silent<F>, ots: Ots, seed: Seed) -> Self {
        Self { silent, session, seed, ots: Some(ots), batch: 0, scratch: Scratch::default() }
    }

    /// Keeps the memory of a batch for the next one, or no longer.
    pub fn keep_memory(&mut self, keep: bool) {
        self.scratch.keeps = keep;
    }

    /// The extension, for the OTs of the next batch.
    ///
    /// # Errors
    /// [`Usage::SessionEnded`].
    pub fn extension(&mut self) -> Result<&mut extension::Receiver, Usage> {
        self.ots().map(Ots::state)
    }

    pub(super) fn ots(&mut self) -> Result<&mut Ots, Usage> {
        self.ots.as_mut().ok_or(Usage::SessionEnded)
    }

    /// Sections 20.2 to 20.4: begins a batch of m outputs with as many OTs as [`Silent::size`] says, whose challenges have been
    /// answered, and takes the sender's `Trees`. Also returns `Check`. Both messages are empty where there is none.
    ///
    /// # Errors
    /// Errors of [`Silent::size`]; [`Usage::CountMismatch`] if there are not as many OTs; [`Usage::ForeignBatch`];
    /// [`Decode`](crate::Decode) if `trees` has another length: this ends the session.
    pub fn grow(
        &mut self,
        m: usize,
        ots: Vec<extension::Received>,
        trees: &[u8],
    ) -> Result<(Unverified<F>, Vec<u8>), Error> {
        let n = ots.iter().map(extension::Received::n).sum();
        let (mut rows, mut choices) = (Secret::zeroed(n), Secret::<u8>::zeroed(n));
        let extension = self.extension()?;
        let (mut places, mut bits) = (rows.as_mut(), choices.as_mut());
        for ots in ots {
            let (of_batch, rest) = places.split_at_mut(ots.n());
            let (bits_of_batch, rest_of_bits) = bits.split_at_mut(ots.n());
            let chosen = extension.correlated(ots, of_batch)?;
            bits_of_batch
                .iter_mut()
                .enumerate()
                .for_each(|(i, bit)| *bit = chosen.get(i).unwrap_u8());
            (places, bits) = (rest, rest_of_bits);
        }
        let choices = Bits::from_bools(choices.iter().map(|&bit| bit == 1));
        self.grow_rows(m, &choices, &rows, trees)
    }

    pub(super) fn grow_rows(
        &mut self,
        m: usize,
        choices: &Bits,
        rows: &[Block],
        trees: &[u8],
    ) -> Result<(Unverified<F>, Vec<u8>), Error> {
        let size = self.silent.size(m)?;
        super::check_ots(&size, rows.len())?;
        self.ots()?;
        let (session, number) = (*self.session.id(), self.batch);
        self.batch += 1;
        super::check_len("Trees", size.trees_len, trees.len()).inspect_err(|_| self.ots = None)?;
        let backend = self.session.backend();
        if !self.silent.has_noise() {
            let u = Secret((0..m).map(|j| pack_bits(choices, j * MASK, MASK)).collect());
            let values = Some((F::values(u), pack_rows(backend, rows)));
            let batch = Unverified { session, number, size, check: None, values, strings: None };
            return Ok((batch, Vec::new()));
        }
        let (commitment, messages) = trees.split_at(if self.silent.has_coin() { 32 } else { 0 });
        let first_of_trees = rows.len() - size.trees * size.height;
        let (packed, of_trees) = rows.split_at(first_of_trees);
        let (noise_rows, mask_rows) = packed.split_at(F::NOISE_BITS * size.trees);
        let mask_bits = pack_bits(choices, noise_rows.len(), mask_rows.len());
        let mask = pack_rows(backend, mask_rows).first().copied().unwrap_or_default();
        let noise = pack_noise::<F>(backend, noise_rows, size.trees, 0);

        let pi = permutation(&self.session, "foxtrot v1 silent mask", number);
        let mut masks = Secret::zeroed(of_trees.len());
        tmmo(&pi, 0, of_trees, &mut masks);
        let challenge = self.silent.checked().then(|| {
            let challenge = self.session.oracle("foxtrot v1 silent challenge").query(number, 0);
            challenge.field(self.seed.as_bytes()).finish::<16>()
        });
        let weights = challenge.map(|chi| Aes128::new(backend, &chi));

        let code = CODES.get(backend, &size);
        let mut prefix = Prefix::new(backend, weights.as_ref());
        let mut strings = self.scratch.take(size.leaves());
        let mut leaves = Secret::zeroed(1 << size.height);
        let mut known = Secret::<Block>::zeroed(size.height);
        let messages = messages.as_chunks::<16>().0.chunks(2 * size.height + 1);
        let trees = super::tree_ciphers(&self.session, number, &size).zip(messages);
        let of_trees = trees.zip(noise.iter()).zip(masks.chunks(size.height)).enumerate();
        for (j, (((pi, message), v), masks)) in of_trees {
            let mut alpha = 0;
            for (level, (known, mask)) in known.iter_mut().zip(masks).enumerate() {
                let choice = choices.get(first_of_trees + j * size.height + level);
                alpha = alpha << 1 | u32::from((!choice).unwrap_u8());
                let sums = [message[2 * level], message[2 * level + 1]].map(u128::from_le_bytes);
                // The sum that the OT's key opens.
                let sum = u128::conditional_select(&sums[0], &sums[1], choice);
                *known = (sum ^ u128::from_le_bytes(*mask)).to_le_bytes();
            }
            let others = ggm::expand_punctured(&pi, alpha, &known, &mut leaves);
            let leaf =
                u128::from_le_bytes(others) ^ u128::from_le_bytes(message[2 * size.height]) ^ v;
            let noise = match F::NOISE_BITS {
                0 => 1,
                n => pack_bits(choices, j * n, n),
            };
            let [leaf, noise] = [leaf, noise].map(u128::to_le_bytes);
            let missing = Missing { alpha, leaf, noise };
            F::add(&mut strings, &mut prefix, &missing, &leaves, code.first_table());
        }
        let x = Zeroizing::new(mask_bits ^ prefix.noise());
        let sum = Zeroizing::new(mask ^ prefix.check());
        let mut message = Vec::with_capacity(self.silent.check_len());
        let check = challenge.map(|challenge| {
            message.extend_from_slice(&challenge);
            message.extend_from_slice(&x.to_le_bytes());
            let hash = check_hash(&self.session, number, &sum);
            let commitment = commitment.first_chunk().copied().unwrap_or_default();
            Check { challenge, hash, commitment }
        });
        let strings = Some(strings);
        Ok((Unverified { session, number, size, check, values: None, strings }, message))
    }

    /// Sections 20.4 and 20.5: takes the sender's `Answer`, which is empty where there is none, and returns the output.
    ///
    /// # Errors
    /// [`Misbehaved::ConsistencyCheck`] and [`Decode`](crate::Decode): both end the session, and the extension's also.
    /// [`Usage::ForeignBatch`]; [`Usage::SessionEnded`].
    pub fn verify(
        &mut self,
        mut unverified: Unverified<F>,
        answer: &[u8],
    ) -> Result<Received<F>, Error> {
        self.ots()?;
        if unverified.session != *self.session.id() {
            return Err(Usage::ForeignBatch.into());
        }
        let answered = self.check(unverified.number, unverified.check.take(), answer);
        let coins = answered.inspect_err(|_| self.ots = None)?;
        self.encode(&mut unverified);
        let Unverified { session, number, size, values, .. } = unverified;
        let (u, v) = values.ok_or(Usage::SessionEnded)?;
        let flips = super::flips(&self.session, number, coins.as_ref(), size.outputs);
        let u = F::flip(u, &flips);
        Ok(Received { session, number, u, v, coins, flips })
    }

    /// Section 20.5: encodes a batch before its answer has come, for which [`verify`](Self::verify) then has less to do.
    pub fn encode(&mut self, batch: &mut Unverified<F>) {
        let Some(mut strings) = batch.strings.take() else { return };
        let (backend, size) = (self.session.backend(), &batch.size);
        let code = CODES.get(backend, size);
        code.accumulate::<F, _>(backend, &mut strings, &mut self.scratch);
        batch.values = Some(F::encode(backend, &mut strings, code.last_table(), size.outputs));
        self.scratch.put(strings);
    }

    /// Returns the verdict on an answer, and goes on whatever it is.
    #[cfg(test)]
    pub(super) fn would_accept(&self, unverified: Unverified<F>, answer: &[u8]) -> bool {
        self.check(unverified.number, unverified.check, answer).is_ok()
    }

    #[cfg(test)]
    pub(super) fn set_session(&mut self, session: Session) {
        self.session = session;
    }

    fn check(
        &self,
        number: u64,
        check: Option<Check>,
        answer: &[u8],
    ) -> Result<Option<Coins>, Error> {
        super::check_len("Answer", self.silent.answer_len(), answer.len())?;
        let Some(Check { challenge, hash, commitment }) = check else { return Ok(None) };
        let (theirs, coin) = answer.split_at(32);
        let mut right = theirs.ct_eq(&hash);
        let coin = coin.first_chunk::<32>();
        if let Some(coin) = coin {
            right &= super::commitment(&self.session, number, coin).ct_eq(&commitment);
        }
        if !verdict(right) {
            return Err(Misbehaved::ConsistencyCheck.into());
        }
        Ok(coin.map(|coin| Coins { receiver: challenge, sender: *coin }))
    }
}

impl<F: Field> Received<F> {
    /// U and V: V is W ⊕ U·Δ.
    #[must_use]
    pub fn into_parts(self) -> (F::Values, Secret<u128>) {
        (self.u, self.v)
    }
}

impl Received<Gf2> {
    /// The number of OTs.
    #[must_use]
    pub fn n(&self) -> usize {
        self.v.len()
    }

    /// The choices.
    #[must_use]
    pub fn choices(&self) -> &Bits {
        &self.u
    }

    /// Section 20.6: makes the choices these; returns `Flips`.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if there are not as many choices as OTs.
    pub fn choose(&mut self, choices: Bits) -> Result<Vec<u8>, Usage> {
        if choices.len() != self.n() {
            let (expected, got) = (self.n(), choices.len());
            return Err(Usage::CountMismatch { what: "choices", expected, got });
        }
        let mut flips = choices.xor(&self.u);
        if !self.flips.is_empty() {
            flips = flips.xor(&self.flips);
        }
        flips.make_public();
        self.flips = Bits::from_bytes(flips.as_bytes(), flips.len());
        self.u = choices;
        Ok(flips.as_bytes().to_vec())
    }
}

impl Receiver<Gf2> {
    /// Section 20.6: the key of every OT; returns the choices.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if there are not as many places as OTs; [`Usage::ForeignBatch`].
    pub fn random(&self, received: Received<Gf2>, keys: &mut [Block]) -> Result<Bits, Usage> {
        super::check_places(received.n(), keys.len())?;
        self.keys(&received, 0, keys)?;
        Ok(received.u)
    }

    /// Keys of the OTs from `first` on.
    pub(super) fn keys(
        &self,
        received: &Received<Gf2>,
        first: usize,
        keys: &mut [Block],
    ) -> Result<(), Usage> {
        let Received { session, number, ref coins, ref v, .. } = *received;
        let outputs = Outputs::new(&self.session, &session, number, coins.as_ref())?;
        outputs.tiles(v, first, keys, tmmo);
        Ok(())
    }
}

foxtrot_kernel::redacted! {
    [F: Field] Receiver<F>, receiver => "{}, {} batches", receiver.silent.name(), receiver.batch;
    [F: Field] Unverified<F>, unverified => "batch {}, <redacted>", unverified.number;
    [F: Field] Received<F>, received => "batch {}, <redacted>", received.number;
}
