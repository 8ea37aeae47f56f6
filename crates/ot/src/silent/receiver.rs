//! The side with U and V.

use alloc::{vec, vec::Vec};

use foxtrot_kernel::{
    aes::{mmo, tmmo},
    ggm::{self, TreeKind},
    lpn::{Challenges, Check, Noise},
};
use subtle::{ConditionallySelectable, ConstantTimeEq};
use zeroize::Zeroizing;

use super::{
    Challenge, Coins, Outputs, SilentParty, check_extension, check_hash,
    code::{Cells, Machine, Scratch, Sums},
    field::{Field, Gf2, Gf16, pack_bits, pack_noise, pack_rows},
    parameters::{MASK, Silent, Size},
    permutation,
    rows::{Rows, add, pack_choices},
    trees::Trees,
};
use crate::{
    Bits, Decode, Error, Misbehaved, Seed, Session, Sid, Usage,
    base::Block,
    choices::verdict,
    erase::{Secret, SecretBytes},
    expect_count, expect_len, extension,
    tasks::{Executor, InPlace, both},
};

/// The receiver of a silent protocol.
pub type Receiver<F> = SilentParty<F, extension::Receiver>;

/// A batch whose trees have come.
#[must_use = "the batch has no output yet"]
pub struct Grown<F: Field> {
    session: Sid,
    number: u64,
    size: Size,
    challenge: Option<Challenge>,
    commitment: [u8; 32],
    /// u* and v*.
    mask: Zeroizing<[u128; 2]>,
    source: Source<F>,
}

/// The source of U and V.
enum Source<F: Field> {
    Trees(Strings),
    Packed(F::Values, Secret<u128>),
}

/// A batch's strings behind the first accumulator.
struct Strings {
    cells: Cells,
    /// The noise up to each leaf, which is one of `sums`; none if the cells tell it.
    marks: Secret<u16>,
    /// For every tree, the sum of the noise before it, and its own.
    sums: Secret<[Block; 2]>,
}

/// A batch that is encoded. It has no output before the sender's `Answer` has come, where there is one.
#[must_use = "the batch has no output yet"]
pub struct Unverified<F: Field> {
    session: Sid,
    number: u64,
    u: F::Values,
    v: Rows,
    expected: Option<Expected>,
}

/// The values that an answer is checked against.
struct Expected {
    challenge: Challenge,
    hash: [u8; 32],
    commitment: [u8; 32],
}

/// A batch whose output can be read, piece by piece. Choices are given before.
#[must_use = "it holds the output"]
pub struct Received<F: Field> {
    session: Sid,
    number: u64,
    /// U; of OTs the choices that were given, or none.
    u: F::Values,
    v: Rows,
    coins: Option<Coins>,
    /// Flips of choices that are not given.
    flips: Bits,
    offsets: Secret<Block>,
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
        check_extension(&silent, extension.extension)?;
        Ok(Self::of_ots(session, silent, extension, seed))
    }

    /// Sections 20.2 to 20.4: begins a batch of m outputs with choices and rows of as many correlated OTs of its
    /// [extension](SilentParty::ots) as [`Silent::size`] says, and takes the sender's `Trees`. Also returns `Challenge`. Both
    /// messages are empty where there is none. The OTs are of batches whose check has passed, and serve this batch only.
    ///
    /// # Errors
    /// Errors of [`Silent::size`]; [`Usage::CountMismatch`] if there are not as many OTs; [`Usage::SessionEnded`];
    /// [`Decode`] if `trees` has another length, or a bit that must be 0: this ends the session.
    pub fn grow(
        &mut self,
        m: usize,
        choices: Bits,
        rows: Secret<Block>,
        trees: &[u8],
    ) -> Result<(Grown<F>, Vec<u8>), Error> {
        let size = self.silent.size(m)?;
        expect_count("OTs of the extension", size.ots, rows.len())?;
        expect_count("choices of the extension", size.ots, choices.len())?;
        self.ots()?;
        let (session, number) = (*self.session.id(), self.batch);
        self.batch += 1;
        expect_len("Trees", trees, size.trees_len).inspect_err(|_| self.ots = None)?;
        let backend = self.session.backend();
        let challenge = (self.silent.check_len() > 0).then(|| {
            let challenge = self.session.oracle("foxtrot v1 silent challenge").query(number, 0);
            challenge.field(self.seed.as_bytes()).finish()
        });
        let grown = |commitment, mask, source| {
            let message =
                challenge.map_or_else(Vec::new, |challenge: Challenge| challenge.to_vec());
            (Grown { session, number, size, challenge, commitment, mask, source }, message)
        };
        if !self.silent.has_noise() {
            let u = Secret((0..m).map(|j| pack_bits(&choices, j * MASK, MASK)).collect());
            let source = Source::Packed(F::values(&u), pack_rows(backend, &rows));
            return Ok(grown([0; 32], Zeroizing::default(), source));
        }
        let (head, messages) = trees.split_at(self.silent.head_len());
        let messages = messages.as_chunks::<16>().0.chunks(F::blocks_of_tree(size.height));
        let of_leaves = messages.clone().filter_map(|it| it.get(F::SUMS * size.height));
        check_trees::<F>(head, of_leaves).inspect_err(|_| self.ots = None)?;
        let first_of_trees = rows.len() - size.trees * size.height;
        let (packed, of_trees) = rows.split_at(first_of_trees);
        let (noise_rows, mask_rows) = packed.split_at(F::NOISE_BITS * size.trees);
        let mut mask = Zeroizing::new([
            pack_bits(&choices, noise_rows.len(), mask_rows.len()),
            pack_rows(backend, mask_rows).first().copied().unwrap_or(0),
        ]);
        if head.last() == Some(&0) {
            // Of the Δ that has bit 0.
            mask[1] ^= mask[0];
        }
        let noise = pack_noise::<F>(backend, noise_rows, size.trees);

        let mut masks = match F::TREES {
            TreeKind::Ggm => {
                let pi = permutation(&self.session, "foxtrot v1 silent mask", number);
                let mut masks = Secret::zeroed(of_trees.len());
                tmmo(&pi, 0, of_trees, &mut masks);
                masks
            }
            TreeKind::Correlated => Secret(of_trees.to_vec()),
        };
        // The places of noise in the batch; where masks were, the sums that they open; the sums of all leaves of a tree.
        let height = size.height;
        let mut alphas = Secret::<u32>::zeroed(size.trees);
        let mut totals = Secret::<u128>::zeroed(size.trees);
        let mut sums = Secret::<[Block; 2]>::zeroed(size.trees);
        let mut before = 0;
        let of_trees = masks.chunks_mut(height).zip(messages).enumerate();
        for (j, (known, message)) in of_trees {
            let alpha = &mut alphas[j];
            *alpha = u32::try_from(j).unwrap_or_default();
            for (level, known) in known.iter_mut().enumerate() {
                let choice = choices.get(first_of_trees + j * height + level);
                *alpha = *alpha << 1 | u32::from((!choice).unwrap_u8());
                // The sum that the OT's key opens; a correlated tree has one for both.
                let sums = [message[F::SUMS * level], message[F::SUMS * (level + 1) - 1]];
                let [even, odd] = sums.map(u128::from_le_bytes);
                let sum = u128::conditional_select(&even, &odd, choice);
                *known = (sum ^ u128::from_le_bytes(*known)).to_le_bytes();
            }
            let value = F::noise(&choices, j);
            // The leaves of a correlated tree add up to nothing: the last one is Δ more than the sender's.
            let of_leaf = message.get(F::SUMS * height).copied().unwrap_or_default();
            let v = noise.get(j).copied().unwrap_or_default();
            let total = u128::from_le_bytes(of_leaf) ^ v;
            totals[j] = total & !F::CHOICE | value & F::CHOICE;
            sums[j] = [before, value].map(u128::to_le_bytes);
            before ^= value;
        }
        let code = size.code(backend);
        let trees = Trees::new(&self.session, number, &size);
        let mut cells = self.scratch.take(code.len());
        let kept = (!F::CHOICE).to_le_bytes();
        let expand = |tree: usize, leaves: &mut [Block], _: Option<&mut ()>| {
            let (pi, total) = (trees.permutation(tree), totals[tree].to_le_bytes());
            let known = &masks[tree * height..][..height];
            let alpha = alphas[tree] & ((1 << height) - 1);
            ggm::expand_punctured(&pi, F::TREES, alpha, known, &total, &kept, leaves);
        };
        let mut outputs = vec![(); size.trees];
        trees.accumulate(&code, Some(&totals), cells.get_mut(), &mut outputs, expand);
        let marks = if F::LATER { Secret::default() } else { trees.marks(&code, &alphas) };
        let commitment = head.first_chunk().copied().unwrap_or_default();
        Ok(grown(commitment, mask, Source::Trees(Strings { cells, marks, sums })))
    }

    /// Sections 20.4 and 20.5: encodes a batch; also returns `Check`, which is empty where there is none.
    ///
    /// # Errors
    /// [`Usage::ForeignBatch`]; [`Usage::SessionEnded`].
    pub fn encode(&mut self, grown: Grown<F>) -> Result<(Unverified<F>, Vec<u8>), Usage> {
        self.ots()?;
        super::check_ours(&self.session, &grown.session)?;
        let executor = self.session.executor();
        Ok(grown.encode(&self.session, executor, &mut self.scratch))
    }

    /// Encodes as [`encode`](Self::encode) does, on one thread, and runs `work` on another one meanwhile.
    pub(super) fn encode_beside<R: Send>(
        &mut self,
        grown: Grown<F>,
        work: impl FnOnce() -> R + Send,
    ) -> Result<(Unverified<F>, Vec<u8>, R), Usage> {
        self.ots()?;
        super::check_ours(&self.session, &grown.session)?;
        let (session, scratch) = (&self.session, &mut self.scratch);
        let mut encoded = None;
        let encode = || encoded = Some(grown.encode(session, &InPlace, scratch));
        let result = both(session.executor(), encode, work);
        let (unverified, check) = encoded.expect("both have run");
        Ok((unverified, check, result))
    }

    /// Section 20.4: takes the sender's `Answer`, which is empty where there is none, and returns the output.
    ///
    /// # Errors
    /// [`Misbehaved::ConsistencyCheck`] and [`Decode`]: both end the session, and the extension's also.
    /// [`Usage::ForeignBatch`]; [`Usage::SessionEnded`].
    pub fn verify(
        &mut self,
        unverified: Unverified<F>,
        answer: &[u8],
    ) -> Result<Received<F>, Error> {
        self.ots()?;
        super::check_ours(&self.session, &unverified.session)?;
        let Unverified { session, number, u, v, expected } = unverified;
        let answered = self.check(number, expected, answer);
        let coins = answered.inspect_err(|_| self.ots = None)?;
        let flips = super::flips(&self.session, number, coins.as_ref(), v.n());
        let offsets = super::offsets::<F>(&self.session, number, coins.as_ref(), v.n());
        Ok(Received { session, number, u, v, coins, flips, offsets })
    }

    /// Takes the memory of a batch that is over, for the next one.
    pub(super) fn put(&mut self, received: Received<F>) {
        received.v.into_cells().into_iter().for_each(|cells| self.scratch.put(cells));
    }

    /// Returns true if the session has more than one thread.
    pub(super) fn has_threads(&self) -> bool {
        self.session.executor().threads() > 1
    }

    /// Returns the verdict on an answer, and goes on whatever it is.
    #[cfg(test)]
    pub(super) fn would_accept(&self, unverified: Unverified<F>, answer: &[u8]) -> bool {
        self.check(unverified.number, unverified.expected, answer).is_ok()
    }

    fn check(
        &self,
        number: u64,
        expected: Option<Expected>,
        answer: &[u8],
    ) -> Result<Option<Coins>, Error> {
        expect_len("Answer", answer, self.silent.answer_len())?;
        let Some(Expected { challenge, hash, commitment }) = expected else { return Ok(None) };
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

impl<F: Field> Grown<F> {
    fn encode(
        self,
        of: &Session,
        executor: &dyn Executor,
        scratch: &mut Scratch,
    ) -> (Unverified<F>, Vec<u8>) {
        let Self { session, number, size, challenge, commitment, mut mask, source } = self;
        let machine = Machine { backend: of.backend(), executor };
        let challenges = challenge.map(|key| Challenges::new(machine.backend, &key));
        let (u, v, sums) = source.encode(machine, scratch, &size, challenges.as_ref());
        mask.iter_mut().zip(&*sums).for_each(|(mask, sum)| *mask ^= sum);
        let [x, sum] = &*mask;
        let mut check = Vec::new();
        let expected = challenge.map(|challenge| {
            check.extend_from_slice(&x.to_le_bytes());
            Expected { challenge, hash: check_hash(of, number, sum), commitment }
        });
        (Unverified { session, number, u, v, expected }, check)
    }
}

impl<F: Field> Source<F> {
    /// U and V, and what they add to x* and V_R.
    fn encode(
        self,
        machine: Machine<'_>,
        scratch: &mut Scratch,
        size: &Size,
        challenges: Option<&Challenges>,
    ) -> (F::Values, Rows, Sums) {
        let Strings { cells, marks, sums } = match self {
            Self::Trees(strings) => strings,
            Self::Packed(u, v) => return (u, Rows::List(v), Sums::default()),
        };
        let n = size.outputs;
        let (backend, code) = (machine.backend, size.code(machine.backend));
        let check = |bits| challenges.map(|challenges| Check { challenges, bits });
        let other = scratch.take(code.len());
        let ([mut cells, other], of_cells) =
            code.accumulate((machine, F::factors), cells, other, check(F::LATER));
        if F::LATER {
            scratch.put(other);
            let [sum, bits] = *of_cells;
            let v = Rows::Sums { code, backend, cells, n };
            return (F::Values::default(), v, Zeroizing::new([bits, sum]));
        }
        // Before there is memory for V.
        scratch.put_early(other);
        let v = code.encode(machine, &cells, n);
        let noise = Noise { marks: &marks, sums: &sums };
        let of_noise =
            code.accumulate_noise((machine, F::factors), noise, &mut cells, check(false));
        let u = F::encode(&code, machine, &cells, n);
        scratch.put(cells);
        (u, Rows::List(v), Zeroizing::new([of_noise[0], of_cells[0]]))
    }
}

/// Checks what is public of `Trees`.
fn check_trees<'a, F: Field>(
    head: &[u8],
    mut of_leaves: impl Iterator<Item = &'a Block>,
) -> Result<(), Decode> {
    let bit = head.last().is_none_or(|bit| *bit <= 1);
    let is_spared = |of_leaf: &Block| u128::from_le_bytes(*of_leaf) & F::CHOICE == 0;
    if bit && of_leaves.all(is_spared) {
        Ok(())
    } else {
        Err(Decode::SpareBits { message: "Trees" })
    }
}

impl<F: Field> Received<F> {
    /// The number of outputs.
    #[must_use]
    pub fn n(&self) -> usize {
        self.v.n()
    }

    /// U and V: V is W ⊕ U·Δ.
    #[must_use]
    pub fn into_parts(self) -> (F::Values, Secret<u128>) {
        let (rows, _) = self.v.into_list(&InPlace);
        (F::beside(self.u, &rows, &self.flips), rows)
    }
}

impl Received<Gf2> {
    /// Section 20.6: makes the choices these; returns `Flips`.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if there are not as many choices as OTs.
    pub fn choose(&mut self, choices: Bits) -> Result<Vec<u8>, Usage> {
        expect_count("choices", self.n(), choices.len())?;
        let mut flips = choices.xor(&self.v.bits());
        flips.make_public();
        self.flips = Bits::from_bytes(flips.as_bytes(), flips.len());
        self.u = choices;
        Ok(flips.as_bytes().to_vec())
    }
}

impl Receiver<Gf2> {
    /// Section 20.6: the keys of OTs from `first` on, a multiple of 1024; returns their choices.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if there are more places than OTs from there on; [`Usage::ForeignBatch`].
    pub fn keys(
        &self,
        received: &Received<Gf2>,
        first: usize,
        keys: &mut [Block],
    ) -> Result<Bits, Usage> {
        let Received { session, number, ref coins, ref u, ref v, ref flips, ref offsets } =
            *received;
        let outputs = Outputs::new(&self.session, &session, number, coins.as_ref())?;
        let n = keys.len();
        let mut bits = SecretBytes::zeroed(n.div_ceil(8));
        outputs.tiles(v, first, keys, &mut bits, |pi, _, rows, keys, bits| {
            pack_choices(rows, bits);
            add(rows, offsets);
            keys.copy_from_slice(rows);
            mmo(pi, keys);
        })?;
        if !u.is_empty() {
            return Ok(u.slice(first..first + n));
        }
        let of_rows = Bits::from_bytes(&bits, n);
        Ok(if flips.is_empty() { of_rows } else { of_rows.xor(&flips.slice(first..first + n)) })
    }
}

impl Receiver<Gf16> {
    /// Section 20.6: the choices of OTs from `first` on, a multiple of 1024, and 16 more where the bit is 1.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if there are more places than OTs from there on; [`Usage::ForeignBatch`].
    pub fn choices(
        &self,
        received: &Received<Gf16>,
        first: usize,
        choices: &mut [u8],
    ) -> Result<(), Usage> {
        let Received { session, number, ref coins, ref v, .. } = *received;
        let outputs = Outputs::new(&self.session, &session, number, coins.as_ref())?;
        outputs.tiles(v, first, choices, &mut [], |pi, _, rows, choices, _| {
            choices.iter_mut().zip(&*rows).for_each(|(choice, row)| *choice = row[0] & 0xf);
            mmo(pi, rows);
            choices.iter_mut().zip(&*rows).for_each(|(choice, key)| *choice |= key[15] >> 7 << 4);
        })
    }
}

foxtrot_kernel::redacted! {
    [F: Field] Receiver<F>, receiver => "{}, {} batches", receiver.silent.name(), receiver.batch;
    [F: Field] Grown<F>, grown => "batch {}, <redacted>", grown.number;
    [F: Field] Unverified<F>, unverified => "batch {}, <redacted>", unverified.number;
    [F: Field] Received<F>, received => "batch {}, <redacted>", received.number;
}
