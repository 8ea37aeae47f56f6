//! The side with Δ and W.

use alloc::{vec, vec::Vec};
use core::marker::PhantomData;

use foxtrot_kernel::{
    aes::{mmo_pairs, mmo_tables, tmmo_pairs},
    gf::gf128,
    ggm::{self, TreeKind},
    lpn::{Challenges, Check},
};
use zeroize::Zeroizing;

use super::{
    Challenge, Coins, Outputs, SilentParty, check_extension, check_hash,
    code::{Cells, Machine, Sums},
    field::{Field, Gf2, Gf16, multiples, pack_noise, pack_rows},
    parameters::{Silent, Size},
    permutation,
    rows::{Rows, add, exchange},
    trees::Trees,
};
use crate::{
    Bits, Decode, Error, Seed, Session, Sid, Usage, base::Block, erase::Secret, expect_count,
    expect_len, extension, tasks::InPlace,
};

/// The sender of a silent protocol.
pub type Sender<F> = SilentParty<F, extension::Sender>;

/// A batch whose trees are on their way. It has no output before the receiver's `Check` has come, where there is one. OTs of
/// the extension serve one batch.
///
/// ```
/// # use foxtrot_ot::{base::Block, erase::Secret, silent::{Field, Sender}};
/// # fn once<F: Field>(mut sender: Sender<F>, rows: Secret<Block>) {
/// let _ = sender.plant(2048, rows);
/// # }
/// ```
///
/// ```compile_fail,E0382
/// # use foxtrot_ot::{base::Block, erase::Secret, silent::{Field, Sender}};
/// # fn twice<F: Field>(mut sender: Sender<F>, rows: Secret<Block>) {
/// let _ = sender.plant(2048, rows);
/// let _ = sender.plant(2048, rows);
/// # }
/// ```
#[must_use = "the batch has no output yet"]
pub struct Planted {
    session: Sid,
    number: u64,
    size: Size,
    /// Δ of the outputs.
    delta: Zeroizing<u128>,
    mask: Zeroizing<u128>,
    /// The sums of the first accumulator, or W, where it does not come from trees.
    source: Source,
}

/// The source of W.
enum Source {
    Trees(Cells),
    Packed(Secret<u128>),
}

/// A batch that is encoded, and waits for the receiver's `Check`, where there is one.
#[must_use = "the batch has no output yet"]
pub struct Encoded<F> {
    session: Sid,
    number: u64,
    delta: Zeroizing<u128>,
    mask: Zeroizing<u128>,
    w: Rows,
    challenge: Option<Challenge>,
    sums: Sums,
    field: PhantomData<F>,
}

/// A batch whose output can be read, piece by piece.
#[must_use = "it holds the output"]
pub struct Sent<F> {
    session: Sid,
    number: u64,
    delta: Zeroizing<u128>,
    w: Rows,
    coins: Option<Coins>,
    /// Flips that W lacks.
    flips: Bits,
    offsets: Secret<Block>,
    field: PhantomData<F>,
}

impl<F: Field> Sender<F> {
    /// A sender whose OTs come from that extension, set up.
    ///
    /// # Errors
    /// [`Usage::Incompatible`] if it is another one than [`Silent::extension`]; [`Usage::SessionEnded`].
    pub fn new(
        session: Session,
        silent: Silent<F>,
        extension: extension::Sender,
        seed: Seed,
    ) -> Result<Self, Usage> {
        check_extension(&silent, extension.extension)?;
        extension.delta()?;
        Ok(Self::of_ots(session, silent, extension, seed))
    }

    /// Δ of every batch. For OTs bit 0 is 1, for one-of-sixteen OTs nibble 0.
    ///
    /// # Errors
    /// [`Usage::SessionEnded`].
    pub fn delta(&self) -> Result<Zeroizing<u128>, Usage> {
        let delta = self.ots.as_ref().ok_or(Usage::SessionEnded)?.delta()?;
        Ok(Zeroizing::new(F::of_outputs(u128::from_le_bytes(*delta))))
    }

    /// Sections 20.2 and 20.3: begins a batch of m outputs with the rows of as many correlated OTs of its
    /// [extension](SilentParty::ots) as [`Silent::size`] says; also returns `Trees`, which is empty where there are none. The OTs are of
    /// batches whose check has passed, and serve this batch only.
    ///
    /// # Errors
    /// Errors of [`Silent::size`]; [`Usage::CountMismatch`] if there are not as many OTs; [`Usage::SessionEnded`].
    pub fn plant(&mut self, m: usize, rows: Secret<Block>) -> Result<(Planted, Vec<u8>), Usage> {
        let size = self.silent.size(m)?;
        expect_count("OTs of the extension", size.ots, rows.len())?;
        let (delta, number) = (self.delta()?, self.batch);
        self.batch += 1;
        let session = *self.session.id();
        let planted =
            |mask, source| Planted { session, number, size, delta: delta.clone(), mask, source };
        if !self.silent.has_noise() {
            let w = pack_rows(self.session.backend(), &rows);
            return Ok((planted(Zeroizing::default(), Source::Packed(w)), Vec::new()));
        }
        let mut roots = Secret::<Block>::zeroed(size.trees);
        let of_roots = self.session.oracle("foxtrot v1 silent roots").query(number, 0);
        of_roots.field(self.seed.as_bytes()).fill(roots.as_flattened_mut());
        let backend = self.session.backend();
        let (noise, rest) = rows.split_at(F::NOISE_BITS * size.trees);
        let (mask, of_trees) = rest.split_at(rest.len() - size.trees * size.height);
        let mask = Zeroizing::new(pack_rows(backend, mask).first().copied().unwrap_or_default());
        let noise = pack_noise::<F>(backend, noise, size.trees);
        let of_ots = self.ots()?.delta()?;
        // A mask for every sum that is sent.
        let masks = match F::TREES {
            TreeKind::Ggm => {
                let pi = permutation(&self.session, "foxtrot v1 silent mask", number);
                let mut masks = Secret::zeroed(2 * of_trees.len());
                tmmo_pairs(&pi, 0, &of_ots, of_trees, masks.as_chunks_mut().0);
                masks
            }
            TreeKind::Correlated => Secret(of_trees.to_vec()),
        };

        let mut message = vec![0; size.trees_len];
        let (head, of_trees) = message.split_at_mut(self.silent.head_len());
        if let Some((bit, commitment)) = head.split_last_mut() {
            let coin = self.coin(number);
            commitment.copy_from_slice(&super::commitment(&self.session, number, &coin));
            *bit = of_ots[0] & 1;
        }
        let (trees, height) = (Trees::new(&self.session, number, &size), size.height);
        let mut of_trees: Vec<_> =
            of_trees.as_chunks_mut::<16>().0.chunks_mut(F::blocks_of_tree(height)).collect();
        let code = size.code(backend);
        let mut cells = self.scratch.take(code.len());
        let kept = (!F::CHOICE).to_le_bytes();
        trees.accumulate(&code, None, cells.get_mut(), &mut of_trees, |tree, leaves, message| {
            let mut sums = Secret::<[Block; 2]>::zeroed(height);
            let mut top = Secret::<Block>::zeroed(2);
            top[0] = roots[tree];
            top[1] = xor(&top[0], &of_ots);
            let pi = trees.permutation(tree);
            ggm::expand(&pi, F::TREES, &top[..F::TREES.top()], &kept, leaves, &mut sums);
            let Some(message) = message else { return };
            let masks = masks.chunks(F::SUMS * height).nth(tree).unwrap_or_default();
            let (of_levels, of_leaves) = message.split_at_mut(masks.len());
            // A correlated tree sends only the sums of even nodes.
            let sent = sums.as_flattened().iter().step_by(2 / F::SUMS);
            for (message, (sum, mask)) in of_levels.iter_mut().zip(sent.zip(masks)) {
                *message = xor(sum, mask);
            }
            if let Some(of_leaf) = of_leaves.first_mut() {
                let [even, odd] = sums[height - 1].map(u128::from_le_bytes);
                *of_leaf = ((noise[tree] ^ even ^ odd) & !F::CHOICE).to_le_bytes();
            }
        });
        Ok((planted(mask, Source::Trees(cells)), message))
    }

    /// Sections 20.4 and 20.5: takes the receiver's `Challenge`, which is empty where there is none, and encodes the batch.
    ///
    /// # Errors
    /// [`Decode`] if it has another length: this ends the session. [`Usage::ForeignBatch`]; [`Usage::SessionEnded`].
    pub fn encode(&mut self, planted: Planted, challenge: &[u8]) -> Result<Encoded<F>, Error> {
        self.ots()?;
        super::check_ours(&self.session, &planted.session)?;
        self.check_len("Challenge", challenge)?;
        let Planted { session, number, size, delta, mask, source } = planted;
        let backend = self.session.backend();
        let challenge = challenge.first_chunk().copied();
        let (w, sums) = match source {
            Source::Packed(w) => (Rows::List(w), Sums::default()),
            Source::Trees(cells) => {
                let code = size.code(backend);
                let challenges = challenge.map(|key| Challenges::new(backend, &key));
                let check = challenges.as_ref().map(|it| Check { challenges: it, bits: false });
                let other = self.scratch.take(code.len());
                let machine = Machine { backend, executor: self.session.executor() };
                let ([cells, other], sums) =
                    code.accumulate((machine, F::factors), cells, other, check);
                let mut w = Rows::Sums { code, backend, cells, n: size.outputs };
                if F::LATER {
                    self.scratch.put(other);
                } else {
                    // Before there is memory for W.
                    self.scratch.put_early(other);
                    let (list, cells) = w.into_list(self.session.executor());
                    cells.into_iter().for_each(|cells| self.scratch.put(cells));
                    w = Rows::List(list);
                }
                (w, sums)
            }
        };
        Ok(Encoded { session, number, delta, mask, w, challenge, sums, field: PhantomData })
    }

    /// Section 20.4: takes the receiver's `Check`, which is empty where there is none, and returns the output and `Answer`, empty then
    /// also. The output does not wait for the receiver's verdict.
    ///
    /// # Errors
    /// [`Decode`] if `check` has another length: this ends the session. [`Usage::ForeignBatch`]; [`Usage::SessionEnded`].
    pub fn answer(
        &mut self,
        encoded: Encoded<F>,
        check: &[u8],
    ) -> Result<(Sent<F>, Vec<u8>), Error> {
        self.ots()?;
        super::check_ours(&self.session, &encoded.session)?;
        self.check_len("Check", check)?;
        let Encoded { session, number, delta, mask, w, challenge, sums, .. } = encoded;
        let mut answer = Vec::new();
        let x = check.first_chunk().copied().map(u128::from_le_bytes);
        let coins = challenge.zip(x).and_then(|(chi, x)| {
            let product = Zeroizing::new(gf128::mul(self.session.backend(), x, *delta));
            let sum = Zeroizing::new(*mask ^ sums[0] ^ *product);
            answer.extend_from_slice(&check_hash(&self.session, number, &sum));
            let coin = self.silent.has_coin().then(|| self.coin(number))?;
            answer.extend_from_slice(&*coin);
            Some(Coins { receiver: chi, sender: *coin })
        });
        let flips = super::flips(&self.session, number, coins.as_ref(), w.n());
        let offsets = super::offsets::<F>(&self.session, number, coins.as_ref(), w.n());
        Ok((Sent { session, number, delta, w, coins, flips, offsets, field: PhantomData }, answer))
    }

    /// Takes the memory of a batch that is over, for the next one.
    pub(super) fn put(&mut self, sent: Sent<F>) {
        sent.w.into_cells().into_iter().for_each(|cells| self.scratch.put(cells));
    }

    /// Checks the length of a message of the check.
    fn check_len(&mut self, message: &'static str, bytes: &[u8]) -> Result<(), Decode> {
        let checked = expect_len(message, bytes, self.silent.check_len());
        checked.inspect_err(|_| self.ots = None)
    }

    fn coin(&self, number: u64) -> Zeroizing<[u8; 32]> {
        let coin = self.session.oracle("foxtrot v1 silent sender coin").query(number, 0);
        Zeroizing::new(coin.field(self.seed.as_bytes()).finish())
    }
}

#[cfg(test)]
impl<F> Encoded<F> {
    /// Answers with another sum.
    pub(super) fn change(&mut self, by: u128) {
        self.sums[0] ^= by;
    }
}

impl<F> Sent<F> {
    /// The number of outputs.
    #[must_use]
    pub fn n(&self) -> usize {
        self.w.n()
    }

    /// W: the receiver's V is W ⊕ U·Δ.
    #[must_use]
    pub fn into_rows(self) -> Secret<u128> {
        let (mut w, _) = self.w.into_list(&InPlace);
        for (rows, flips) in w.chunks_mut(8).zip(self.flips.as_bytes()) {
            for (k, row) in rows.iter_mut().enumerate() {
                *row ^= u128::from(flips >> k & 1).wrapping_neg() & *self.delta;
            }
        }
        w
    }
}

impl Sent<Gf2> {
    /// Section 20.6: takes the receiver's `Flips`, which make its choices those that it was given.
    ///
    /// # Errors
    /// [`Decode`] if they have another length, or spare bits are set.
    pub fn flip(&mut self, flips: &[u8]) -> Result<(), Decode> {
        self.flips = Bits::decode("Flips", flips, self.n())?;
        Ok(())
    }
}

impl Sender<Gf2> {
    /// Section 20.6: both keys of OTs from `first` on, a multiple of 1024.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if there are more places than OTs from there on; [`Usage::ForeignBatch`].
    pub fn pairs(
        &self,
        sent: &Sent<Gf2>,
        first: usize,
        keys: &mut [[Block; 2]],
    ) -> Result<(), Usage> {
        let outputs = Outputs::new(&self.session, &sent.session, sent.number, sent.coins.as_ref())?;
        let delta = sent.delta.to_le_bytes();
        outputs.tiles(&sent.w, first, keys, &mut [], |pi, first, rows, keys, _| {
            let flips = sent.flips.as_bytes().get(first / 8..).unwrap_or_default();
            exchange(rows, flips, *sent.delta);
            add(rows, &sent.offsets);
            mmo_pairs(pi, &delta, rows, keys);
        })
    }
}

impl Sender<Gf16> {
    /// Section 20.6: the sixteen bits of OTs from `first` on, a multiple of 1024, each in a table of two bytes, the least first:
    /// bit c is that of choice c.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if there are more places than OTs from there on; [`Usage::ForeignBatch`].
    pub fn tables(
        &self,
        sent: &Sent<Gf16>,
        first: usize,
        tables: &mut [[u8; 2]],
    ) -> Result<(), Usage> {
        let outputs = Outputs::new(&self.session, &sent.session, sent.number, sent.coins.as_ref())?;
        let mut all = Zeroizing::new([[0; 16]; 16]);
        multiples(&sent.delta, &mut all);
        outputs.tiles(&sent.w, first, tables, &mut [], |pi, _, rows, tables, _| {
            mmo_tables(pi, &all, rows, tables);
        })
    }
}

fn xor(a: &Block, b: &Block) -> Block {
    (u128::from_le_bytes(*a) ^ u128::from_le_bytes(*b)).to_le_bytes()
}

foxtrot_kernel::redacted! {
    [F] Sender<F>, sender => "{}, {} batches", sender.silent.name(), sender.batch;
    Planted, planted => "batch {}, <redacted>", planted.number;
    [F] Encoded<F>, encoded => "batch {}, <redacted>", encoded.number;
    [F] Sent<F>, sent => "batch {}, <redacted>", sent.number;
}
