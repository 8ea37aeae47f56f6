//! The OPRF by VOLE and a store \[RR22\], with a value per hash function of each item: the receiver has the one that it chose, the sender all
//! of them.

use alloc::vec;
use core::mem;

use foxtrot_kernel::{memcheck, memory::strings};
use foxtrot_ot::{
    Context, Session, Usage,
    base::Block,
    engine::{Io, batches::window_limits},
    erase::Secret,
    silent::vole_semi_honest,
    tasks::for_each,
};
use zeroize::Zeroizing;

use super::{gates::receive, ots::Ots};
use crate::{
    Digest, Error, FRAME, RowSeed,
    circuit::cuckoo::HASHES,
    hashes::{Keyed, TOGETHER},
    okvs::{Coins, Okvs, OkvsPlan},
    vole_psi::{Mask, add_products},
};

/// The VOLE's namespace.
const VOLE: &str = "circuit vole";
/// Bytes of a word.
const WORD: usize = size_of::<u64>();
/// Bytes of a hash's input: an item and an element.
const INPUT: usize = 32 + 16;
/// Items of which the sender has values at a time.
const PART: usize = 1 << 15;

/// Bytes of `Masked`, for the store of the receiver's items.
pub(super) const fn sums_len(store: &Okvs) -> usize {
    WORD * store.slots()
}

/// The OPRF of the receiver's set, in its namespace.
pub(super) struct Oprf<'a> {
    pub(super) session: &'a Session,
    /// The store of the receiver's items.
    pub(super) store: Okvs,
}

/// The sender's key of the OPRF: its store, and Δ.
pub(super) struct Key {
    row_seed: RowSeed,
    k: Secret<u128>,
    delta: Zeroizing<u128>,
}

impl Oprf<'_> {
    /// S: its key.
    pub(super) async fn key(
        &self,
        io: &Io,
        cx: &mut Context<'_>,
        ots: &mut Ots<'_>,
    ) -> Result<Key, Error> {
        let (backend, executor) = (self.session.backend(), self.session.executor());
        let direction = ots.direction;
        let mut vole = ots.sender(io, cx, (VOLE, direction), vole_semi_honest()).await?;
        let mut k = vole.vole(io, self.store.slots()).await?;
        let delta = vole.delta()?;
        ots.scratch = mem::take(vole.scratch());
        io.limit(window_limits(FRAME));
        let row_seed = RowSeed::decode(&io.recv(RowSeed::LEN).await)?;
        for k in k.chunks_mut(FRAME / WORD) {
            let sums = receive(io, "Masked", WORD * k.len()).await?;
            let parts = sums.as_chunks::<WORD>().0.chunks(TOGETHER).zip(k.chunks_mut(TOGETHER));
            for_each(executor, parts, |(sums, k)| add_products(backend, *delta, sums, k));
        }
        Ok(Key { row_seed, k, delta })
    }

    /// S: gives `take` the indices of items and their values, until all have been given.
    pub(super) fn values(
        &self,
        Key { row_seed, mut k, delta }: Key,
        items: &[Digest],
        mut take: impl FnMut(&[u32], &[[Block; HASHES]]),
    ) -> Result<(), Usage> {
        let (backend, executor) = (self.session.backend(), self.session.executor());
        let (plan, words) = self.store.plan_words::<WORD>(self.session, &row_seed, items)?;
        let decoder = self.store.decoder(strings(&mut k))?;
        let (hash, mut shifts) = (self.hash(), Secret::<u128>::zeroed(HASHES));
        let numbers: [[u8; WORD]; HASHES] = core::array::from_fn(|i| (i as u64).to_le_bytes());
        add_products(backend, *delta, &numbers, &mut shifts);
        let part = |first: usize, values: &mut [[Block; HASHES]]| -> Result<(), Usage> {
            let range = first..first + values.len();
            let mut elements = Secret::<u128>::zeroed(values.len());
            plan.decode_range(&decoder, range.clone(), strings(&mut elements))?;
            elements.iter_mut().for_each(|element| *element = u128::from_le(*element));
            add_products(backend, *delta, &words[range.clone()], &mut elements);
            for (values, element) in values.iter_mut().zip(&*elements) {
                *values = core::array::from_fn(|i| (element ^ shifts[i]).to_le_bytes());
            }
            let of_values = plan.order()[range].iter().flat_map(|&item| [item as usize; HASHES]);
            hash_all(&hash, of_values.map(|item| &items[item]), values.as_flattened_mut());
            Ok(())
        };
        let mut values = Secret::<[Block; HASHES]>::zeroed(PART.min(items.len()));
        for (order, first) in plan.order().chunks(PART).zip((0..).step_by(PART)) {
            let values = &mut values[..order.len()];
            let mut done = vec![Ok(()); values.len().div_ceil(TOGETHER)];
            let parts = values.chunks_mut(TOGETHER).zip(&mut done);
            for_each(
                executor,
                parts.zip((first..).step_by(TOGETHER)),
                |((values, done), first)| {
                    *done = part(first, values);
                },
            );
            done.into_iter().collect::<Result<(), _>>()?;
            take(order, values);
        }
        Ok(())
    }

    /// R: the value of each item, of the hash function with this number.
    pub(super) async fn receive(
        &self,
        io: &Io,
        cx: &mut Context<'_>,
        ots: &mut Ots<'_>,
        coins: Coins,
        (items, which): (&[Digest], &[u8]),
    ) -> Result<Secret<Block>, Error> {
        let (session, store) = (self.session, self.store);
        let direction = ots.direction;
        let mut vole = ots.receiver(io, cx, (VOLE, direction), vole_semi_honest()).await?;
        let plan = || {
            let mut slots = Secret::<u8>::zeroed(sums_len(&store));
            let (row_seed, plan, mut words) =
                store.begin_words::<WORD>(session, coins, items, &mut slots)?;
            for (word, &item) in words.chunks_exact_mut(WORD).zip(plan.order()) {
                word[0] ^= which[item as usize];
            }
            Ok((row_seed, plan, words, slots))
        };
        let encode = |planned: Result<(RowSeed, OkvsPlan, Secret<u8>, Secret<u8>), Usage>| {
            let (row_seed, plan, words, mut slots) = planned?;
            plan.encode_words::<WORD>(&words, &mut slots)?;
            Ok::<_, Error>((row_seed, plan, slots))
        };
        let (u, mut v, encoded) = vole.vole_beside(io, store.slots(), plan, encode).await?;
        ots.scratch = mem::take(vole.scratch());
        let (row_seed, plan, mut sums) = encoded?;
        Mask::Small(u).add_to(session.executor(), (WORD, &mut sums))?;
        // They are sent.
        memcheck::public(&mut sums);
        io.limit(window_limits(FRAME));
        io.send(row_seed.as_bytes().to_vec()).await;
        for frame in sums.chunks(FRAME) {
            io.send(frame.to_vec()).await;
        }
        let mut values = Secret::<Block>::zeroed(items.len());
        plan.decode(&store.decoder(strings(&mut v))?, &mut values)?;
        let (hash, parts) = (self.hash(), values.chunks_mut(TOGETHER).zip(items.chunks(TOGETHER)));
        for_each(session.executor(), parts, |(values, items)| {
            hash_all(&hash, items.iter(), values);
        });
        Ok(values)
    }

    /// The hash of an item and its element of the VOLE, which is a value.
    pub(super) fn hash(&self) -> Keyed {
        Keyed::of(self.session, "foxtrot v1 circuit oprf key")
    }
}

/// Makes values of elements, which belong to these items.
pub(super) fn hash_all<'a>(
    hash: &Keyed,
    items: impl Iterator<Item = &'a Digest>,
    values: &mut [Block],
) {
    let mut inputs = Secret::<[u8; INPUT]>::zeroed(values.len());
    for ((input, item), element) in inputs.iter_mut().zip(items).zip(&*values) {
        input[..32].copy_from_slice(item);
        input[32..].copy_from_slice(element);
    }
    hash.hash(INPUT, inputs.as_flattened(), size_of::<Block>(), values.as_flattened_mut());
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use foxtrot_ot::{
        Direction, Seed, Sid, base::roted::Endemic, engine::Engine, pair::Pair, silent::Scratch,
    };

    use super::*;

    /// Items from `first` on.
    fn digests(first: u64, n: u64) -> Vec<Digest> {
        let digest = |k: u64| core::array::from_fn(|i| *k.to_le_bytes().get(i).unwrap_or(&9));
        (first..first + n).map(digest).collect()
    }

    #[test]
    fn the_receiver_has_the_value_that_it_chose_and_no_other() {
        let (ours, theirs) = (digests(0, 600), digests(500, 40_000));
        let which: Vec<u8> = (0..3).cycle().take(ours.len()).collect();
        let session = || Session::new(Sid::from_bytes([3; 32]));
        let store = Okvs::new(ours.len()).unwrap();
        fn ots(session: &Session) -> Ots<'_> {
            let (direction, scratch) = (Direction::InitiatorSends, Scratch::of(0));
            Ots { base: &Endemic, direction, session, scratch }
        }
        let (receivers, choices) = (&ours, &which);
        let receiver = Engine::new(|io| async move {
            let (session, coins) = (session(), Coins::from_bytes([7; 32]));
            let cx = &mut Context::new(&session, Seed::from_bytes([1; 32]));
            let oprf = Oprf { session: &session, store };
            oprf.receive(&io, cx, &mut ots(&session), coins, (receivers, choices)).await
        });
        let senders = &theirs;
        let sender = Engine::new(|io| async move {
            let (session, mut all) = (session(), vec![[[0; 16]; HASHES]; senders.len()]);
            let cx = &mut Context::new(&session, Seed::from_bytes([2; 32]));
            let oprf = Oprf { session: &session, store };
            let take = |order: &[u32], values: &[[Block; HASHES]]| {
                order.iter().zip(values).for_each(|(&item, values)| all[item as usize] = *values);
            };
            let key = oprf.key(&io, cx, &mut ots(&session)).await?;
            oprf.values(key, senders, take)?;
            Ok::<_, Error>(all)
        });
        let (received, sent) = Pair::new(receiver, sender).run().unwrap();
        for (k, item) in theirs.iter().enumerate() {
            let common = ours.iter().position(|other| other == item);
            for (which_value, value) in (0..).zip(&sent[k]) {
                let chosen = common.is_some_and(|place| which[place] == which_value);
                let known = received.iter().position(|other| other == value);
                assert_eq!(known, common.filter(|_| chosen), "item {k}, value {which_value}");
            }
        }
    }
}
