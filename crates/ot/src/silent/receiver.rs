//! The side with U and V.

use alloc::{vec, vec::Vec};

use foxtrot_kernel::{
    aes::{Aes128, tmmo},
    gf::gf128,
};
use subtle::{ConditionallySelectable, ConstantTimeEq};
use zeroize::Zeroizing;

use super::{
    Challenge, Coins, Gf128, Outputs, check_extension, check_hash,
    code::CODES,
    field::{Field, Gf2, pack, pack_bits},
    parameters::{MASK, Silent, Size},
    permutation,
    trees::Tree,
};
use crate::{
    Bits, Error, Misbehaved, Seed, Session, Sid, Usage,
    base::Block,
    choices::verdict,
    erase::Secret,
    extension::{self, protocol::Receiver as Ots},
};

/// The receiver of a silent protocol, which makes batch after batch from one extension.
pub struct Receiver<F> {
    silent: Silent<F>,
    session: Session,
    seed: Seed,
    /// `None` when an error has ended the session.
    ots: Option<Ots>,
    /// Batches so far.
    batch: u64,
}

/// A batch whose trees have come. It has no output before the sender's `Answer` has come, where there is one.
#[must_use = "the batch has no output yet"]
pub struct Unverified<F: Field> {
    session: Sid,
    number: u64,
    size: Size,
    check: Option<Check>,
    noise: Secret<F::Element>,
    leaves: Secret<u128>,
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
        Self { silent, session, seed, ots: Some(ots), batch: 0 }
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
        if !self.silent.has_noise() {
            let noise = (0..m).map(|j| F::element(pack_bits(choices, j * MASK, MASK)));
            let noise = Secret(noise.collect());
            let leaves = Secret(rows.chunks(MASK).map(pack::<F>).collect());
            let batch = Unverified { session, number, size, check: None, noise, leaves };
            return Ok((batch, Vec::new()));
        }
        let (commitment, messages) = trees.split_at(if self.silent.has_coin() { 32 } else { 0 });
        let backend = self.session.backend();
        let first_of_trees = rows.len() - size.trees * size.height;
        let (packed, of_trees) = rows.split_at(first_of_trees);
        let (packed_noise, mask_rows) = packed.split_at(F::NOISE_BITS * size.trees);
        let mask_bits = pack_bits(choices, packed_noise.len(), mask_rows.len());
        let (mut x, mut sum) =
            (Zeroizing::new(mask_bits), Zeroizing::new(pack::<Gf128>(mask_rows)));

        let pi = permutation(&self.session, "foxtrot v1 silent mask", number);
        let mut masks = Secret::zeroed(of_trees.len());
        tmmo(&pi, 0, of_trees, &mut masks);
        let challenge = self.silent.checked().then(|| {
            let challenge = self.session.oracle("foxtrot v1 silent challenge").query(number, 0);
            challenge.field(self.seed.as_bytes()).finish::<16>()
        });
        let weights = challenge.map(|chi| Aes128::new(backend, &chi));
        let keys = super::tree_keys(&self.session, number, &size);

        let mut noise = Secret::zeroed(size.leaves());
        let mut leaves = Secret::zeroed(size.leaves());
        let mut coefficients = vec![0; 1 << size.height];
        let mut tree = Tree::new(size.height);
        let (of_tree, _) = messages.as_chunks::<16>();
        let of_tree = of_tree.chunks(2 * size.height + 1);
        let places = noise.chunks_mut(1 << size.height).zip(leaves.chunks_mut(1 << size.height));
        for (j, ((message, masks), (noise, leaves))) in
            of_tree.zip(masks.chunks(size.height)).zip(places).enumerate()
        {
            let pi = Aes128::new(backend, &keys[j]);
            tree.plant(&[0; 16]);
            let (mut missing, mut others) = (0, 0);
            for (level, mask) in masks.iter().enumerate() {
                let choice = choices.get(first_of_trees + j * size.height + level);
                // The sum that the OT's key opens.
                let sums = [message[2 * level], message[2 * level + 1]].map(u128::from_le_bytes);
                let opened = u128::conditional_select(&sums[0], &sums[1], choice);
                let opened = opened ^ u128::from_le_bytes(*mask);
                (missing, others) = tree.descend_but(&pi, missing, !choice, opened);
            }
            let (u, v) = match F::NOISE_BITS {
                0 => (1, 0),
                n => (pack_bits(choices, j * n, n), pack::<F>(&packed_noise[j * n..][..n])),
            };
            let of_leaf = others ^ u128::from_le_bytes(message[2 * size.height]) ^ v;
            let u = F::element(u);
            if let Some(weights) = &weights {
                super::coefficients(weights, j, &mut coefficients);
            }
            let mut coefficient = 0;
            let nodes = tree.nodes_mut();
            for (i, (node, noise)) in (0u32..).zip(nodes.iter_mut().zip(noise.iter_mut())) {
                let here = i.ct_eq(&missing);
                let leaf = u128::from_le_bytes(*node);
                *node = u128::conditional_select(&leaf, &of_leaf, here).to_le_bytes();
                *noise = F::select(u, here);
                let weight = coefficients[i as usize];
                coefficient ^= u128::conditional_select(&0, &weight, here);
            }
            *x ^= gf128::mul(backend, F::embed(u), coefficient);
            *sum ^= super::weigh(backend, nodes, &coefficients);
            leaves.iter_mut().zip(nodes).for_each(|(to, leaf)| *to = u128::from_le_bytes(*leaf));
        }
        let mut message = Vec::with_capacity(self.silent.check_len());
        let check = challenge.map(|challenge| {
            message.extend_from_slice(&challenge);
            message.extend_from_slice(&x.to_le_bytes());
            let hash = check_hash(&self.session, number, &sum);
            let commitment = commitment.first_chunk().copied().unwrap_or_default();
            Check { challenge, hash, commitment }
        });
        Ok((Unverified { session, number, size, check, noise, leaves }, message))
    }

    /// Sections 20.4 and 20.5: takes the sender's `Answer`, which is empty where there is none, and returns the output.
    ///
    /// # Errors
    /// [`Misbehaved::ConsistencyCheck`] and [`Decode`](crate::Decode): both end the session, and the extension's also.
    /// [`Usage::ForeignBatch`]; [`Usage::SessionEnded`].
    pub fn verify(
        &mut self,
        unverified: Unverified<F>,
        answer: &[u8],
    ) -> Result<Received<F>, Error> {
        self.ots()?;
        if unverified.session != *self.session.id() {
            return Err(Usage::ForeignBatch.into());
        }
        let Unverified { session, number, size, check, noise, leaves } = unverified;
        let coins = self.check(number, check, answer).inspect_err(|_| self.ots = None)?;
        if !self.silent.has_noise() {
            let flips = Bits::from_bools([]);
            let u = F::values(noise, &flips);
            return Ok(Received { session, number, u, v: leaves, coins, flips });
        }
        let backend = self.session.backend();
        let code = CODES.get(backend, &size);
        let flips = super::flips(&self.session, number, coins.as_ref(), size.outputs);
        let u = F::values(code.encode_elements::<F>(backend, noise, size.outputs), &flips);
        let v = code.encode_vectors::<F>(backend, leaves, size.outputs);
        Ok(Received { session, number, u, v, coins, flips })
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
        outputs.tiles(v, first, keys, |pi, first, rows, keys| tmmo(pi, first, rows, keys));
        Ok(())
    }
}

foxtrot_kernel::redacted! {
    [F] Receiver<F>, receiver => "{}, {} batches", receiver.silent.name(), receiver.batch;
    [F: Field] Unverified<F>, unverified => "batch {}, <redacted>", unverified.number;
    [F: Field] Received<F>, received => "batch {}, <redacted>", received.number;
}
