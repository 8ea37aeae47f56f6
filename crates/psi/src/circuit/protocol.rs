//! The protocol, with its base OTs (`docs/wire/circuit-psi.md`, section 24).

use alloc::{vec, vec::Vec};
use core::fmt;

use foxtrot_kernel::{aes::Aes128, memcheck};
use foxtrot_ot::{
    Bits, Context, Direction, Seed, Session, Usage,
    base::{BaseOt, Block, Choice},
    engine::{Io, Limits, batches::window_limits},
    erase::Secret,
    extension::Shape,
    protocol::compatible,
    silent::{self, Gf16, Gf64, protocol as vole},
    transfers::{Extension, Method},
};
use foxtrot_triples::bits;
use zeroize::Zeroizing;

use super::{
    Digest, Error, Outcome, PROTOCOL, Parameters, cuckoo,
    gates::{Gates, receive as receive_message},
    look_ups,
    parameters::HASHES,
    products::{accept, bytes, offer, words},
};
use crate::{
    okvs::{Coins, RowSeed},
    paxos::same,
    tags::{FRAME, Ours},
    vole_psi::{self, Mask, Next, Planned},
};

pub use crate::paxos::protocol::Progress;

/// Values of the OPRF.
type Values = Secret<[u8; 32]>;

/// Terms that both parties have agreed on.
#[derive(Clone, Copy)]
pub struct Plan {
    /// Terms and sizes.
    pub parameters: Parameters,
    /// The base OT that it starts from.
    pub base: &'static dyn BaseOt,
    /// The direction: the receiver learns the result.
    pub direction: Direction,
    /// The counter of the run within its session.
    pub counter: u64,
}

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
pub async fn send(
    io: &Io,
    cx: &mut Context<'_>,
    plan: Plan,
    items: Vec<Digest>,
    numbers: &[u64],
    progress: impl FnMut(Progress),
) -> Result<Option<Outcome>, Error> {
    let (parameters, items) = (plan.parameters, Secret(items));
    let (session, lanes) = (plan.begin(cx.session())?, 64 * parameters.words());
    same("items", parameters.sender_items(), items.len())?;
    let largest = parameters.terms().largest();
    same("numbers", largest.map_or(0, |_| items.len()), numbers.len())?;
    let most = largest.unwrap_or(0);
    let too_large = numbers.iter().fold(false, |any, number| any | (*number > most));
    if memcheck::decided(too_large) {
        return Err(Usage::NumberTooLarge { largest: most }.into());
    }
    if parameters.is_trivial() {
        return Ok(parameters.terms().sender_learns().then(|| plan.trivial()));
    }
    let count = &mut counter(&parameters, progress);
    // Steps 1 to 3: a secret of each bin, under the OPRF's values at all places of the items.
    let mut secrets = Secret::<u64>::zeroed(2 * lanes);
    fill(&cx.seed(), &session, "foxtrot v1 circuit secrets", &mut secrets);
    let (strings, masks) = secrets.split_at_mut(lanes);
    let numbers = (numbers, &*masks);
    match parameters.terms().largest() {
        None => program::<8>(io, cx, &plan, &session, &items, (strings, numbers), count).await?,
        Some(_) => {
            program::<16>(io, cx, &plan, &session, &items, (strings, numbers), count).await?;
        }
    }
    drop(items);
    // Step 4. What fills up the last word is not equal.
    strings[parameters.bins()..].fill(u64::MAX);
    let tables = plan.send_look_ups(io, &session, cx.seed(), count).await?;
    let triples = parameters.triples();
    let of_forward = session.sub("circuit forward", 0, Default::default());
    let (made, pairs) = plan
        .send_ots(io, &of_forward, cx.seed(), (plan.direction, [triples, lanes]), count)
        .await?;
    let of_backward = session.sub("circuit backward", 0, Default::default());
    let (_, choices, keys) =
        plan.receive_ots(io, &of_backward, cx.seed(), plan.backward(), count).await?;
    io.limit(limits());
    let bits = look_ups::send(io, strings, &tables, &mut *count).await?;
    drop(tables);
    // Step 5.
    let flips = words(&receive_message(io, "Flips", 8 * bits.len()).await?);
    let mut shares = Secret(vec![0; parameters.terms().numbers()]);
    if parameters.terms().largest().is_none() {
        shares.copy_from_slice(&send_products(io, &pairs, (&bits, &flips), |_| [1]).await);
    } else {
        let number = |i: usize| [1, masks[i]];
        shares.copy_from_slice(&send_products(io, &pairs, (&bits, &flips), number).await);
        send_flips(io, &bits, &choices).await;
        let [more] = receive_products(io, &keys, &bits).await?;
        shares[1] = shares[1].wrapping_add(more);
    }
    // Step 6.
    let ours = Gates::new(io, true, made.triples(), count).release(&shares).await?;
    io.send(public(&ours)).await;
    if !parameters.terms().sender_learns() {
        return Ok(None);
    }
    let theirs = receive_message(io, "Shares", 8 * ours.len()).await?;
    Ok(Some(plan.outcome(&ours, &theirs)))
}

/// Learns about the common items of these, which are distinct and as many as agreed.
///
/// # Errors
/// [`Usage::CountMismatch`] if there are not as many items; [`Usage::Incompatible`]; errors of the steps; [`Error::Unlucky`].
pub async fn receive(
    io: &Io,
    cx: &mut Context<'_>,
    plan: Plan,
    items: Vec<Digest>,
    progress: impl FnMut(Progress),
) -> Result<Outcome, Error> {
    let (parameters, items) = (plan.parameters, Secret(items));
    let (session, lanes) = (plan.begin(cx.session())?, 64 * parameters.words());
    same("items", parameters.receiver_items(), items.len())?;
    if parameters.is_trivial() {
        return Ok(plan.trivial());
    }
    let count = &mut counter(&parameters, progress);
    // Steps 1 to 3. Bins without an item have random strings.
    let mut random = Secret::<u64>::zeroed(2 * lanes);
    fill(&cx.seed(), &session, "foxtrot v1 circuit empty bins", &mut random);
    let (strings, numbers) = random.split_at_mut(lanes);
    match parameters.terms().largest() {
        None => look_up::<8>(io, cx, &plan, &session, &items, (strings, numbers), count).await?,
        Some(_) => {
            look_up::<16>(io, cx, &plan, &session, &items, (strings, numbers), count).await?;
        }
    }
    drop(items);
    // Step 4.
    strings[parameters.bins()..].fill(0);
    let looked_up = plan.receive_look_ups(io, &session, cx.seed(), count).await?;
    let of_forward = session.sub("circuit forward", 0, Default::default());
    let forward = [parameters.triples(), lanes];
    let (made, choices, keys) =
        plan.receive_ots(io, &of_forward, cx.seed(), (plan.direction, forward), count).await?;
    let of_backward = session.sub("circuit backward", 0, Default::default());
    let (_, pairs) = plan.send_ots(io, &of_backward, cx.seed(), plan.backward(), count).await?;
    io.limit(limits());
    let bits = look_ups::look_up(io, strings, &looked_up, &mut *count).await?;
    drop(looked_up);
    // Step 5.
    send_flips(io, &bits, &choices).await;
    let mut shares = Secret(vec![0; parameters.terms().numbers()]);
    if parameters.terms().largest().is_none() {
        shares.copy_from_slice(&receive_products::<1>(io, &keys, &bits).await?);
    } else {
        shares.copy_from_slice(&receive_products::<2>(io, &keys, &bits).await?);
        let flips = words(&receive_message(io, "Flips", 8 * bits.len()).await?);
        let [more] = send_products(io, &pairs, (&bits, &flips), |i| [numbers[i]]).await;
        shares[1] = shares[1].wrapping_add(more);
    }
    // Step 6. With the threshold taken off, a count below it is negative.
    shares[0] = shares[0].wrapping_sub(plan.threshold());
    let ours = Gates::new(io, false, made.triples(), count).release(&shares).await?;
    let theirs = receive_message(io, "Shares", 8 * ours.len()).await?;
    let mut sent = ours.to_vec();
    memcheck::public(&mut sent);
    if parameters.terms().sender_learns() {
        io.send(bytes(&sent)).await;
    }
    Ok(plan.outcome(&ours, &theirs))
}

/// S, steps 1 to 3: sends slots of W bytes that give each bin's string, and its number less the bin's mask, under the OPRF's values.
async fn program<const W: usize>(
    io: &Io,
    cx: &mut Context<'_>,
    plan: &Plan,
    session: &Session,
    items: &[Digest],
    (strings, (numbers, masks)): (&[u64], (&[u64], &[u64])),
    count: &mut impl FnMut(usize),
) -> Result<(), Error> {
    let parameters = &plan.parameters;
    let bins = cuckoo::bins(session, items, parameters.segment());
    let mut keys = Secret(Vec::with_capacity(HASHES * items.len()));
    for (which, _) in (0_u8..).zip(0..HASHES) {
        keys.0.extend(items.iter().map(|item| cuckoo::key(item, which)));
    }
    let values = evaluate_all(io, cx, plan, session, &keys).await?;
    let mut hidden = Secret::<[u8; W]>::zeroed(keys.len());
    for (k, (hidden, value)) in hidden.iter_mut().zip(&*values).enumerate() {
        let (which, item) = (k / items.len(), k % items.len());
        let bin = bins[item][which] as usize;
        let number = numbers.get(item).map_or(0, |number| number.wrapping_sub(masks[bin]));
        *hidden = programmed([strings[bin], number], value);
    }
    drop(values);
    let of_slots = session.sub("circuit slots", 0, Default::default());
    let mut coins = Zeroizing::new([0; 32]);
    cx.seed().fill(&session.oracle("foxtrot v1 circuit coins"), 0, coins.as_mut_slice());
    let (coins, store) = (Coins::from_bytes(*coins), parameters.store());
    let mut slots = Secret::<[u8; W]>::zeroed(store.slots());
    let hidden = |_: &RowSeed| Secret(hidden.as_flattened().to_vec());
    let (row_seed, _) = store.encode_with(&of_slots, coins, &keys, hidden, &mut slots)?;
    // They are sent.
    memcheck::public(&mut slots);
    io.limit(limits());
    io.send(row_seed.as_bytes().to_vec()).await;
    for frame in slots.as_flattened().chunks(FRAME) {
        io.send(frame.to_vec()).await;
        count(frame.len());
    }
    Ok(())
}

/// The value of the store at a key, of a bin's string and a number less the bin's mask, under the OPRF's value.
pub(super) fn programmed<const W: usize>(words: [u64; 2], value: &[u8; 32]) -> [u8; W] {
    let words = words.map(u64::to_le_bytes);
    core::array::from_fn(|i| words[i / 8][i % 8] ^ value[i])
}

/// R, steps 1 to 3: the strings, and numbers, of bins with an item.
async fn look_up<const W: usize>(
    io: &Io,
    cx: &mut Context<'_>,
    plan: &Plan,
    session: &Session,
    items: &[Digest],
    (strings, numbers): (&mut [u64], &mut [u64]),
    count: &mut impl FnMut(usize),
) -> Result<(), Error> {
    let parameters = &plan.parameters;
    let bins = cuckoo::bins(session, items, parameters.segment());
    let which = cuckoo::assign(&bins, parameters.bins())?;
    let mut keys = Secret(Vec::with_capacity(items.len()));
    let own = items.iter().zip(&*which).map(|(item, which)| cuckoo::key(item, *which));
    keys.0.extend(own);
    let values = evaluate(io, cx, plan, session, &keys).await?;
    io.limit(limits());
    let row_seed = RowSeed::decode(&io.recv(RowSeed::LEN).await)?;
    let store = parameters.store();
    let len = W * store.slots();
    let mut slots = Vec::with_capacity(len);
    for start in (0..len).step_by(FRAME) {
        slots.extend(receive_message(io, "Slots", FRAME.min(len - start)).await?);
        count(FRAME.min(len - start));
    }
    let of_slots = session.sub("circuit slots", 0, Default::default());
    let planned = store.plan(&of_slots, &row_seed, &keys)?;
    let decoder = store.decoder::<W>(slots.as_chunks().0)?;
    let mut decoded = Secret::<[u8; W]>::zeroed(keys.len());
    planned.decode_range(&decoder, 0..keys.len(), &mut decoded)?;
    for (&item, decoded) in planned.order().iter().zip(&*decoded) {
        let item = item as usize;
        let bin = bins[item][usize::from(which[item])] as usize;
        let word = |at: usize| {
            let byte = |k: usize| decoded[at + k] ^ values[item][at + k];
            u64::from_le_bytes(core::array::from_fn(byte))
        };
        strings[bin] = word(0);
        if W > 8 {
            numbers[bin] = word(8);
        }
    }
    Ok(())
}

/// R: the OPRF's values at its keys.
async fn evaluate(
    io: &Io,
    cx: &mut Context<'_>,
    plan: &Plan,
    session: &Session,
    keys: &[Digest],
) -> Result<Values, Error> {
    let oprf = *plan.parameters.oprf();
    let [of_vole, of_states] = plan.oprf_sessions(session);
    let mut of_vole = Context::new(&of_vole, cx.seed());
    let mut vole = vole::Receiver::<Gf64>::set_up(io, &mut of_vole, plan.vole()).await?;
    let state = vole_psi::Receiver::new(of_states, oprf, keys.to_vec(), None, cx.seed())?;
    let plan = || state.keep_keys().plan();
    let encode = |planned: Result<Planned, Error>| planned?.encode();
    let (u, v, encoded) = vole.vole_beside(io, oprf.slots(), plan, encode).await?;
    io.limit(limits());
    let (masked, row_seed, sums) = encoded?.mask(Mask::Small(u), v)?;
    io.send(row_seed.as_bytes().to_vec()).await;
    for frame in sums.chunks(FRAME) {
        io.send(frame.to_vec()).await;
    }
    match masked.finish()? {
        Next::Done(received) => in_order(received.ours),
        Next::Bucket(_) => Err(Usage::SessionEnded.into()),
    }
}

/// S: the OPRF's values at any keys.
async fn evaluate_all(
    io: &Io,
    cx: &mut Context<'_>,
    plan: &Plan,
    session: &Session,
    keys: &[Digest],
) -> Result<Values, Error> {
    let oprf = *plan.parameters.oprf();
    let [of_vole, of_states] = plan.oprf_sessions(session);
    let mut of_vole = Context::new(&of_vole, cx.seed());
    let mut vole = vole::Sender::<Gf64>::set_up(io, &mut of_vole, plan.vole()).await?;
    let w = vole.vole(io, oprf.slots()).await?;
    io.limit(limits());
    let state = vole_psi::Sender::new(of_states, oprf, keys.to_vec(), None, cx.seed())?;
    let mut opened = state.keep_keys().open(&io.recv(RowSeed::LEN).await)?;
    for len in oprf.sum_frames() {
        opened.take(&io.recv(len).await)?;
    }
    let delta = vole.delta()?;
    in_order(opened.evaluate(&delta, w)?)
}

/// The keys of items in their order: the values of the OPRF.
fn in_order(ours: Ours) -> Result<Values, Error> {
    let (owners, keys) = ours.into_keys().ok_or(Usage::SessionEnded)?;
    let mut values = Secret::zeroed(keys.len());
    for (&owner, key) in owners.iter().zip(&*keys) {
        values[owner as usize] = *key;
    }
    Ok(values)
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

/// Sums of products of shared bits with own numbers: the share of the party with the numbers.
async fn send_products<const M: usize>(
    io: &Io,
    pairs: &[[Block; 2]],
    (bits, flips): (&[u64], &[u64]),
    numbers: impl Fn(usize) -> [u64; M],
) -> [u64; M] {
    let mut shares = [0_u64; M];
    for (part, pairs) in pairs.chunks(lanes::<M>()).enumerate() {
        let (start, word) = (part * lanes::<M>(), part * lanes::<M>() / 64);
        let (share, message) =
            offer(pairs, (&bits[word..], &flips[word..]), |i| numbers(start + i));
        io.send(message).await;
        shares.iter_mut().zip(share).for_each(|(sum, share)| *sum = sum.wrapping_add(share));
    }
    shares
}

/// Sums of products of shared bits with the peer's numbers.
async fn receive_products<const M: usize>(
    io: &Io,
    keys: &[Block],
    bits: &[u64],
) -> Result<[u64; M], Error> {
    let mut shares = [0_u64; M];
    for (part, keys) in keys.chunks(lanes::<M>()).enumerate() {
        let message = receive_message(io, "Products", 8 * M * keys.len()).await?;
        let share: [u64; M] = accept(keys, &bits[part * lanes::<M>() / 64..], &message);
        shares.iter_mut().zip(share).for_each(|(sum, share)| *sum = sum.wrapping_add(share));
    }
    Ok(shares)
}

/// Tells how many more steps are done.
fn counter(parameters: &Parameters, mut progress: impl FnMut(Progress)) -> impl FnMut(usize) {
    let (mut done, of) = (0, parameters.steps());
    move |more| {
        done += more;
        progress(Progress { done, of });
    }
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

impl Plan {
    fn begin(&self, session: &Session) -> Result<Session, Usage> {
        compatible(self.base.info(), &PROTOCOL).map_err(Usage::Incompatible)?;
        Ok(session.sub(PROTOCOL.name, self.counter, self.direction))
    }

    fn vole(&self) -> vole::Plan<'static, silent::Silent<Gf64>> {
        let (base, direction) = (self.base, self.direction);
        vole::Plan { extension: silent::vole_semi_honest(), base, direction, counter: 0 }
    }

    /// The namespaces of the VOLE, and of the states that use it.
    fn oprf_sessions(&self, session: &Session) -> [Session; 2] {
        let of = |name| session.sub(name, 0, Default::default());
        [of("circuit vole"), of("circuit oprf")]
    }

    fn method(&self) -> Method {
        Method { base: self.base, extension: Extension::Silent(silent::ot_semi_honest()) }
    }

    /// Direction of the OTs in which the receiver sends, with the number of triples, none, and of others.
    fn backward(&self) -> (Direction, [usize; 2]) {
        (self.direction.reversed(), [0, self.parameters.backward_ots()])
    }

    /// The plan of the OTs for look-ups, and their session.
    fn of_look_ups(
        &self,
        session: &Session,
    ) -> (vole::Plan<'static, silent::Silent<Gf16>>, Session) {
        let (base, direction) = (self.base, self.direction);
        let extension = silent::ot_16_semi_honest();
        let plan = vole::Plan { extension, base, direction, counter: 0 };
        (plan, session.sub("circuit look-ups", 0, Default::default()))
    }

    /// Sends the random OTs of look-ups: their tables.
    async fn send_look_ups(
        &self,
        io: &Io,
        session: &Session,
        seed: Seed,
        count: &mut impl FnMut(usize),
    ) -> Result<Secret<[u8; 2]>, Error> {
        let ((plan, session), n) = (self.of_look_ups(session), self.parameters.look_ups());
        let mut tables = Secret::with_capacity(n);
        let sink = |some: &[[u8; 2]]| {
            tables.0.extend_from_slice(some);
            count(some.len());
            Ok(())
        };
        let mut cx = Context::new(&session, seed);
        vole::Sender::set_up(io, &mut cx, plan).await?.random(io, n, sink).await?;
        Ok(tables)
    }

    /// Receives the random OTs of look-ups: choices, and 16 more where the bit is 1.
    async fn receive_look_ups(
        &self,
        io: &Io,
        session: &Session,
        seed: Seed,
        count: &mut impl FnMut(usize),
    ) -> Result<Secret<u8>, Error> {
        let ((plan, session), n) = (self.of_look_ups(session), self.parameters.look_ups());
        let mut choices = Secret::with_capacity(n);
        let sink = |some: &[u8]| {
            choices.0.extend_from_slice(some);
            count(some.len());
            Ok(())
        };
        let mut cx = Context::new(&session, seed);
        vole::Receiver::set_up(io, &mut cx, plan).await?.random(io, n, sink).await?;
        Ok(choices)
    }

    /// Sends random OTs, for so many triples and so many others.
    async fn send_ots(
        &self,
        io: &Io,
        session: &Session,
        seed: Seed,
        (direction, [triples, others]): (Direction, [usize; 2]),
        count: &mut impl FnMut(usize),
    ) -> Result<(bits::Sent, Secret<[Block; 2]>), Error> {
        let (mut sent, mut pairs) = (bits::Sent::new(triples), Secret(Vec::with_capacity(others)));
        let n = bits::ots(triples) + others;
        if n > 0 {
            let sink = |some: &[[Block; 2]]| {
                pairs.0.extend_from_slice(sent.add(some));
                count(some.len());
                Ok(())
            };
            let mut cx = Context::new(session, seed);
            self.method().send(io, &mut cx, direction, Shape::random(n), || (), sink).await?;
        }
        Ok((sent, pairs))
    }

    /// Receives random OTs, for so many triples and so many others; of these the choices, packed, and the keys.
    async fn receive_ots(
        &self,
        io: &Io,
        session: &Session,
        seed: Seed,
        (direction, [triples, others]): (Direction, [usize; 2]),
        count: &mut impl FnMut(usize),
    ) -> Result<(bits::Received, Secret<u64>, Secret<Block>), Error> {
        let (mut received, mut keys) =
            (bits::Received::new(triples), Secret(Vec::with_capacity(others)));
        let mut choices = Secret(Vec::with_capacity(others / 8));
        let n = bits::ots(triples) + others;
        if n > 0 {
            let sink = |bits: &Bits, some: &[Block]| {
                let taken = received.add(bits, some);
                choices.0.extend_from_slice(&bits.as_bytes()[taken / 8..]);
                keys.0.extend_from_slice(&some[taken..]);
                count(some.len());
                Ok(())
            };
            let (mut cx, choice) = (Context::new(session, seed), Choice::Random(n));
            self.method().receive(io, &mut cx, direction, &choice, || (), sink).await?;
        }
        Ok((received, words(&choices), keys))
    }

    /// The threshold: one that no count can reach is as good as any higher one.
    fn threshold(&self) -> u64 {
        self.parameters.terms().threshold().min(1 << 32)
    }

    /// The outcome of sets of which one is empty.
    fn trivial(&self) -> Outcome {
        let terms = self.parameters.terms();
        match terms.threshold() {
            0 => Outcome::Released { count: 0, sum: terms.largest().map(|_| 0) },
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
                let count = count.wrapping_add(self.threshold());
                Outcome::Released { count, sum: sum.first().copied() }
            }
            _ => Outcome::Withheld,
        }
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let base = self.base.info().name;
        write!(f, "Plan({:?} from {base}, counter {})", self.parameters, self.counter)
    }
}
