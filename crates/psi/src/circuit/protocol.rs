//! The protocol, with its base OTs (`docs/wire/circuit-psi.md`, section 24).

use alloc::{boxed::Box, vec, vec::Vec};

use foxtrot_kernel::{aes::Aes128, memcheck, memory::prefetch};
use foxtrot_ot::{
    Context, Seed, Session, Usage,
    base::Block,
    engine::{self, Io, Limits, batches::window_limits},
    erase::Secret,
    expect_count,
    silent::{Cells, Scratch},
};
use zeroize::Zeroizing;

use super::{
    Outcome, PROTOCOL, Parameters, cuckoo,
    gates::{Gates, receive as receive_message},
    look_ups,
    oprf::Oprf,
    ots::{Ots, Run},
    parameters::{COUNT_ONLY, SLOTS, WITH_SUM},
    products::{accept, bytes, offer, words},
};
use crate::{
    Digest, Error, FRAME, RowSeed,
    circuit::cuckoo::HASHES,
    hashes::TOGETHER,
    okvs::Coins,
    packed::{self, below, pack, unpack},
    plan::{self, counter},
};

pub use crate::plan::{OnProgress, Progress};

/// Items whose bins are fetched ahead.
const AHEAD: usize = 16;

/// Terms that both parties have agreed on.
pub type CircuitPlan = plan::PsiPlan<'static, Parameters>;

/// The bounds of what is on its way to a party when the OTs are done.
#[must_use]
pub const fn limits() -> Limits {
    window_limits(FRAME)
}

/// Lets the peer learn about the common items, of these, which are distinct and as many as agreed. Each has a number if a sum
/// was agreed on, else there are no numbers. Returns the outcome if both learn.
///
/// # Errors
/// [`Usage::CountMismatch`] if there are not as many items or numbers; [`Usage::NumberTooLarge`] if one is larger than agreed;
/// [`Usage::Incompatible`]; errors of the steps; [`Error::Unlucky`].
pub fn send<'a>(
    io: &'a Io,
    cx: &'a mut Context<'_>,
    plan: CircuitPlan,
    items: Vec<Digest>,
    numbers: &'a [u64],
    progress: OnProgress<'a>,
) -> engine::Run<'a, Option<Outcome>, Error> {
    // Erased also if the run never begins.
    let items = Secret(items);
    Box::pin(async move {
        let parameters = plan.parameters;
        let (session, lanes) = (plan.begin(cx.session(), &PROTOCOL)?, 64 * parameters.words());
        expect_count("items", parameters.sender_items(), items.len())?;
        let largest = parameters.terms().largest;
        expect_count("numbers", largest.map_or(0, |_| items.len()), numbers.len())?;
        let most = largest.unwrap_or(0);
        let too_large = numbers.iter().fold(false, |any, number| any | (*number > most));
        if memcheck::decided(too_large) {
            return Err(Usage::NumberTooLarge { largest: most }.into());
        }
        if parameters.is_trivial() {
            return Ok(parameters.terms().both.then(|| plan.trivial()));
        }
        let count = &mut counter(parameters.steps(), progress);
        // Step 1.
        let mut ots = plan.ots(&session);
        let tables = ots.send_look_ups(io, cx, parameters.look_ups(), count).await?;
        // Steps 2 to 4: a secret of each bin, under the OPRF's values at all places of the items.
        let mut secrets = Secret::<u64>::zeroed(parameters.terms().numbers() * lanes);
        fill(&cx.seed(), &session, "foxtrot v1 circuit secrets", &mut secrets);
        let (strings, masks) = secrets.split_at_mut(lanes);
        look_ups::draw(parameters.bits(), &tables, strings);
        let secrets_of_bins = (&*strings, (numbers, &*masks));
        match parameters.terms().largest {
            None => {
                program::<COUNT_ONLY>(io, cx, &parameters, &mut ots, &items, secrets_of_bins, count)
                    .await
            }
            Some(_) => {
                program::<WITH_SUM>(io, cx, &parameters, &mut ots, &items, secrets_of_bins, count)
                    .await
            }
        }?;
        drop(items);
        // Step 5.
        let (made, pairs) = ots.send(io, cx, plan.forward(), count).await?;
        let (_, choices, keys) = ots.receive(io, cx, plan.backward(), count).await?;
        drop(ots);
        io.limit(limits());
        let bits = look_ups::send(io, (parameters.bits(), strings), &tables, &mut *count).await?;
        drop(tables);
        // Step 6.
        let flips = words(&receive_message(io, "Flips", 8 * bits.len()).await?);
        let mut shares = Secret(vec![0; parameters.terms().numbers()]);
        let (shared, lens) = ((&*bits, &*flips), parameters.number_bits());
        if parameters.terms().largest.is_none() {
            shares.copy_from_slice(&send_products(io, &pairs, shared, |_| [1], [lens[0]]).await);
        } else {
            let number = |i: usize| [1, masks[i]];
            shares.copy_from_slice(&send_products(io, &pairs, shared, number, lens).await);
            send_flips(io, &bits, &choices).await;
            let [more] = receive_products(io, &keys, &bits, [lens[1]]).await?;
            shares[1] = shares[1].wrapping_add(more);
        }
        // Step 7.
        plan.raise(&mut shares);
        let ours = Gates::new(io, true, made.triples(), count).release(&shares).await?;
        io.send(public(&ours)).await;
        if !parameters.terms().both {
            return Ok(None);
        }
        let theirs = receive_message(io, "Shares", 8 * ours.len()).await?;
        Ok(Some(plan.outcome(&ours, &theirs)))
    })
}

/// Learns about the common items of these, which are distinct and as many as agreed.
///
/// # Errors
/// [`Usage::CountMismatch`] if there are not as many items; [`Usage::Incompatible`]; errors of the steps; [`Error::Unlucky`].
pub fn receive<'a>(
    io: &'a Io,
    cx: &'a mut Context<'_>,
    plan: CircuitPlan,
    items: Vec<Digest>,
    progress: OnProgress<'a>,
) -> engine::Run<'a, Outcome, Error> {
    // Erased also if the run never begins.
    let items = Secret(items);
    Box::pin(async move {
        let parameters = plan.parameters;
        let (session, lanes) = (plan.begin(cx.session(), &PROTOCOL)?, 64 * parameters.words());
        expect_count("items", parameters.receiver_items(), items.len())?;
        if parameters.is_trivial() {
            return Ok(plan.trivial());
        }
        let count = &mut counter(parameters.steps(), progress);
        // Step 1.
        let mut ots = plan.ots(&session);
        let looked_up = ots.receive_look_ups(io, cx, parameters.look_ups(), count).await?;
        // Steps 2 to 4. Bins without an item have random strings, as has what fills up the last word.
        let mut random = Secret::<u64>::zeroed(parameters.terms().numbers() * lanes);
        fill(&cx.seed(), &session, "foxtrot v1 circuit empty bins", &mut random);
        let (strings, numbers) = random.split_at_mut(lanes);
        let of_bins = (&mut *strings, &mut *numbers);
        match parameters.terms().largest {
            None => {
                look_up::<COUNT_ONLY>(io, cx, &parameters, &mut ots, &items, of_bins, count).await
            }
            Some(_) => {
                look_up::<WITH_SUM>(io, cx, &parameters, &mut ots, &items, of_bins, count).await
            }
        }?;
        drop(items);
        // Step 5.
        let (made, choices, keys) = ots.receive(io, cx, plan.forward(), count).await?;
        let (_, pairs) = ots.send(io, cx, plan.backward(), count).await?;
        drop(ots);
        io.limit(limits());
        let strings = (parameters.bits(), &*strings);
        let bits = look_ups::look_up(io, strings, &looked_up, &mut *count).await?;
        drop(looked_up);
        // Step 6.
        send_flips(io, &bits, &choices).await;
        let mut shares = Secret(vec![0; parameters.terms().numbers()]);
        let lens = parameters.number_bits();
        if parameters.terms().largest.is_none() {
            shares.copy_from_slice(&receive_products(io, &keys, &bits, [lens[0]]).await?);
        } else {
            shares.copy_from_slice(&receive_products(io, &keys, &bits, lens).await?);
            let flips = words(&receive_message(io, "Flips", 8 * bits.len()).await?);
            let shared = (&*bits, &*flips);
            let [more] = send_products(io, &pairs, shared, |i| [numbers[i]], [lens[1]]).await;
            shares[1] = shares[1].wrapping_add(more);
        }
        // Step 7. With the threshold taken off, a count below it is negative.
        shares[0] = shares[0].wrapping_sub(parameters.threshold());
        plan.raise(&mut shares);
        let ours = Gates::new(io, false, made.triples(), count).release(&shares).await?;
        let theirs = receive_message(io, "Shares", 8 * ours.len()).await?;
        let mut sent = ours.to_vec();
        memcheck::public(&mut sent);
        if parameters.terms().both {
            io.send(bytes(&sent)).await;
        }
        Ok(plan.outcome(&ours, &theirs))
    })
}

/// S, steps 2 to 4: sends slots that give, for each hash function, the bin's string, and the number less the bin's mask, under a value
/// of the OPRF. They have W bytes, of which not all are sent.
async fn program<const W: usize>(
    io: &Io,
    cx: &mut Context<'_>,
    parameters: &Parameters,
    ots: &mut Ots<'_>,
    items: &[Digest],
    (strings, (numbers, masks)): (&[u64], (&[u64], &[u64])),
    count: &mut impl FnMut(usize),
) -> Result<(), Error> {
    let bins = cuckoo::bins(ots.session, items, parameters.segment());
    let oprf = Oprf { session: &ots.sub("circuit oprf"), store: parameters.oprf };
    let key = oprf.key(io, cx, ots).await?;
    let mut hidden_bytes = ots.scratch.lend(W * items.len());
    let hidden = words_of::<W>(&mut hidden_bytes, items.len());
    let bits = parameters.bits();
    let take = |order: &[u32], values: &[[Block; HASHES]]| {
        for (k, (&item, values)) in order.iter().zip(values).enumerate() {
            order.get(k + 2 * AHEAD).iter().for_each(|&&item| prefetch(&bins[item as usize]));
            if let Some(&item) = order.get(k + AHEAD) {
                prefetch(&hidden[item as usize]);
                numbers.get(item as usize).iter().for_each(|number| prefetch(*number));
                for &bin in &bins[item as usize] {
                    prefetch(&strings[bin as usize]);
                    masks.get(bin as usize).iter().for_each(|mask| prefetch(*mask));
                }
            }
            let item = item as usize;
            let columns = hidden[item].chunks_exact_mut(W / HASHES);
            for ((column, value), &bin) in columns.zip(values).zip(&bins[item]) {
                let bin = bin as usize;
                let number = numbers.get(item).map_or(0, |number| number.wrapping_sub(masks[bin]));
                let value = u128::from_le_bytes(*value);
                let programmed = programmed(bits, [strings[bin], number], value);
                column.copy_from_slice(&programmed.to_le_bytes()[..W / HASHES]);
            }
        }
    };
    oprf.values(key, items, take)?;
    let (of_slots, store) = (ots.sub("circuit slots"), parameters.store);
    let mut slot_bytes = ots.scratch.lend(W * store.slots());
    let slots = words_of::<W>(&mut slot_bytes, store.slots());
    let coins = Coins::of(&cx.seed(), ots.session, "foxtrot v1 circuit coins", 0);
    let values = hidden.as_flattened();
    let (row_seed, _) = store.encode_with(&of_slots, coins, items, |_| values, slots)?;
    ots.scratch.give_back(hidden_bytes);
    // They are sent.
    memcheck::public(slots);
    io.send(row_seed.as_bytes().to_vec()).await;
    for slots in slots.chunks(SLOTS) {
        let columns = slots.as_flattened().chunks_exact(W / HASHES).map(word);
        let frame = pack(columns, parameters.column_bits());
        count(frame.len());
        io.send(frame).await;
    }
    ots.scratch.give_back(slot_bytes);
    Ok(())
}

/// Words of W bytes, n of them, which may have any values.
fn words_of<const W: usize>(memory: &mut Cells, n: usize) -> &mut [[u8; W]] {
    &mut memory.bytes_mut().as_chunks_mut().0[..n]
}

/// A column of an item's value in the store, of which the low bits count: its bin's string, of so many bits, and its number less
/// the bin's mask, under a value of the OPRF.
pub(super) fn programmed(bits: u32, [string, number]: [u64; 2], value: u128) -> u128 {
    (u128::from(string) & below(bits) | u128::from(number) << bits) ^ value
}

/// The string of so many bits, and the number, of a column; bits beyond them are arbitrary.
#[expect(clippy::cast_possible_truncation, reason = "the low word, and the number's")]
pub(super) fn opened(bits: u32, column: u128, value: u128) -> [u64; 2] {
    let both = column ^ value;
    [both as u64, (both >> bits) as u64]
}

/// A column as a number.
fn word(column: &[u8]) -> u128 {
    let mut word = [0; 16];
    word[..column.len()].copy_from_slice(column);
    u128::from_le_bytes(word)
}

/// R, steps 2 to 4: the strings, and numbers, of bins with an item.
async fn look_up<const W: usize>(
    io: &Io,
    cx: &mut Context<'_>,
    parameters: &Parameters,
    ots: &mut Ots<'_>,
    items: &[Digest],
    (strings, numbers): (&mut [u64], &mut [u64]),
    count: &mut impl FnMut(usize),
) -> Result<(), Error> {
    let bins = cuckoo::bins(ots.session, items, parameters.segment());
    let which = cuckoo::assign(&bins, parameters.bins())?;
    let oprf = Oprf { session: &ots.sub("circuit oprf"), store: parameters.oprf };
    let coins = Coins::of(&cx.seed(), ots.session, "foxtrot v1 circuit coins", 0);
    let values = oprf.receive(io, cx, ots, coins, (items, &which)).await?;
    let row_seed = RowSeed::decode(&io.recv(RowSeed::LEN).await)?;
    let (store, bits) = (parameters.store, parameters.column_bits());
    let mut slot_bytes = ots.scratch.lend(W * store.slots());
    let slots = words_of::<W>(&mut slot_bytes, store.slots());
    for slots in slots.chunks_mut(SLOTS) {
        let columns = HASHES * slots.len();
        let len = packed::len(columns, bits);
        let frame = receive_message(io, "Slots", len).await?;
        let columns = unpack("Slots", frame, columns, bits)?;
        for (to, column) in slots.as_flattened_mut().chunks_exact_mut(W / HASHES).zip(columns) {
            to.copy_from_slice(&column.to_le_bytes()[..W / HASHES]);
        }
        count(len);
    }
    let of_slots = ots.sub("circuit slots");
    let planned = store.plan(&of_slots, &row_seed, items)?;
    let decoder = store.decoder(slots)?;
    let mut decoded = Secret::<[u8; W]>::zeroed(TOGETHER);
    for (order, start) in planned.order().chunks(TOGETHER).zip((0..).step_by(TOGETHER)) {
        let decoded = &mut decoded[..order.len()];
        // They are needed when the columns are there.
        order.iter().for_each(|&item| {
            prefetch(&bins[item as usize]);
            prefetch(&which[item as usize]);
            prefetch(&values[item as usize]);
        });
        planned.decode_range(&decoder, start..start + order.len(), decoded)?;
        for (&item, decoded) in order.iter().zip(decoded) {
            let item = item as usize;
            let which = usize::from(which[item]);
            let column = word(&decoded[which * (W / HASHES)..][..W / HASHES]);
            let value = u128::from_le_bytes(values[item]);
            let [string, number] = opened(parameters.bits(), column, value);
            let bin = bins[item][which] as usize;
            strings[bin] = string;
            numbers.get_mut(bin).into_iter().for_each(|it| *it = number);
        }
    }
    ots.scratch.give_back(slot_bytes);
    Ok(())
}

/// Sends the bits' shares, as sums with the choices of OTs.
async fn send_flips(io: &Io, bits: &[u64], choices: &[u64]) {
    let flips: Vec<u64> = bits.iter().zip(choices).map(|(bit, choice)| bit ^ choice).collect();
    io.send(public(&flips)).await;
}

/// Bytes of words that are sent.
fn public(words: &[u64]) -> Vec<u8> {
    let mut bytes = bytes(words);
    memcheck::public(&mut bytes);
    bytes
}

/// Lanes whose products are in a frame.
const fn lanes<const M: usize>() -> usize {
    FRAME / (8 * M)
}

/// Sums of products of shared bits with own numbers of so many bits: the share of the party with the numbers.
async fn send_products<const M: usize>(
    io: &Io,
    pairs: &[[Block; 2]],
    (bits, flips): (&[u64], &[u64]),
    numbers: impl Fn(usize) -> [u64; M],
    lens: [u32; M],
) -> [u64; M] {
    let mut shares = [0_u64; M];
    for (part, pairs) in pairs.chunks(lanes::<M>()).enumerate() {
        let (start, word) = (part * lanes::<M>(), part * lanes::<M>() / 64);
        let of_part = (&bits[word..], &flips[word..]);
        let (share, message) = offer(pairs, of_part, |i| numbers(start + i), lens);
        io.send(message).await;
        shares.iter_mut().zip(share).for_each(|(sum, share)| *sum = sum.wrapping_add(share));
    }
    shares
}

/// Sums of products of shared bits with the peer's numbers of so many bits.
async fn receive_products<const M: usize>(
    io: &Io,
    keys: &[Block],
    bits: &[u64],
    lens: [u32; M],
) -> Result<[u64; M], Error> {
    let mut shares = [0_u64; M];
    for (part, keys) in keys.chunks(lanes::<M>()).enumerate() {
        let len = packed::len(keys.len(), lens.iter().sum());
        let message = receive_message(io, "Products", len).await?;
        let share = accept(keys, &bits[part * lanes::<M>() / 64..], lens, message)?;
        shares.iter_mut().zip(share).for_each(|(sum, share)| *sum = sum.wrapping_add(share));
    }
    Ok(shares)
}

/// Bytes of words that are filled together.
const FILLED: usize = 1 << 12;

/// Fills words from a seed.
fn fill(seed: &Seed, session: &Session, context: &'static str, to: &mut [u64]) {
    let mut key = Zeroizing::new([0; 16]);
    seed.fill(&session.oracle(context), 0, key.as_mut_slice());
    let cipher = Aes128::new(session.backend(), &key);
    let mut random = Secret::<u8>::zeroed(FILLED);
    for (to, first) in to.chunks_mut(FILLED / 8).zip((0..).step_by(FILLED / 16)) {
        cipher.ctr(first, &mut random);
        for (word, bytes) in to.iter_mut().zip(random.as_chunks().0) {
            *word = u64::from_le_bytes(*bytes);
        }
    }
}

impl CircuitPlan {
    /// The silent protocols, in the run's namespace.
    fn ots<'a>(&self, session: &'a Session) -> Ots<'a> {
        let scratch = Scratch::of(self.parameters.elements());
        Ots { base: self.base, direction: self.direction, session, scratch }
    }

    /// The OTs in which the sender of the run sends: for triples, and one of each lane.
    fn forward(&self) -> Run {
        let others = 64 * self.parameters.words();
        let triples = self.parameters.triples();
        Run { name: "circuit forward", direction: self.direction, triples, others }
    }

    /// The OTs in which the receiver sends, if there are any.
    fn backward(&self) -> Run {
        let (direction, others) = (self.direction.reversed(), self.parameters.backward_ots());
        Run { name: "circuit backward", direction, triples: 0, others }
    }

    /// The bits that shares of the count and of the sum have less than words. Without a sum there is no second share.
    fn spare(&self) -> [u32; 2] {
        self.parameters.number_bits().map(|bits| u64::BITS - bits)
    }

    /// Moves shares to the high bits of words, where their sums lose what they carry, and the count less the threshold has its sign.
    fn raise(&self, shares: &mut [u64]) {
        shares.iter_mut().zip(self.spare()).for_each(|(share, spare)| *share <<= spare);
    }

    /// The outcome of sets of which one is empty.
    fn trivial(&self) -> Outcome {
        let terms = self.parameters.terms();
        match terms.at_least {
            0 => Outcome::Released { count: 0, sum: terms.largest.map(|_| 0) },
            _ => Outcome::Withheld,
        }
    }

    /// The outcome of both parties' shares.
    fn outcome(&self, ours: &[u64], theirs: &[u8]) -> Outcome {
        let mut opened: Vec<u64> =
            ours.iter().zip(&*words(theirs)).map(|(one, other)| one ^ other).collect();
        // This is what the party learns.
        memcheck::public(&mut opened);
        match opened[..] {
            [u64::MAX, count, ref sum @ ..] => {
                let [of_count, of_sum] = self.spare();
                let count = (count >> of_count).wrapping_add(self.parameters.threshold());
                Outcome::Released { count, sum: sum.first().map(|sum| sum >> of_sum) }
            }
            _ => Outcome::Withheld,
        }
    }
}
