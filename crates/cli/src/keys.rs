//! Base OTs over a link, batch after batch (`docs/wire.md`, section 5).

use foxtrot_net::{Lane, drive};
use foxtrot_ot::{
    Bits, Seed,
    base::{BaseOt, Block, Choice, Functionality, Info, find, registry},
};
use indicatif::ProgressBar;
use zeroize::Zeroizing;

use crate::{failure::Failure, link::Link};

/// The sender's keys.
pub(crate) type Pairs = Zeroizing<Vec<[Block; 2]>>;

/// The receiver's keys, and its choices, packed.
pub(crate) struct Received {
    pub(crate) choices: Zeroizing<Vec<u8>>,
    pub(crate) keys: Zeroizing<Vec<Block>>,
}

/// Instances of a batch, the last of a run excepted.
const BATCH: usize = 1024;

/// The base OT that the user named, in the mode that the job needs.
pub(crate) fn base_of(
    name: &str,
    functionality: Functionality,
) -> Result<&'static dyn BaseOt, Failure> {
    find(name, functionality).ok_or_else(|| {
        let infos = registry().iter().map(|base| base.info());
        let fits = |info: &&Info| info.functionality == functionality && !info.reproduction;
        match infos.clone().find(|info| info.name == name || info.family == name) {
            Some(info) if info.reproduction => {
                Failure::usage(format!("{name} is here to reproduce a paper only: {}", info.caveat))
            }
            Some(_) => {
                Failure::usage(format!("{name} does not realise {functionality}, which this needs"))
            }
            None => Failure::usage(format!("there is no base OT named {name}")),
        }
        .hint({
            let mut names: Vec<_> = infos.filter(fits).map(|info| info.family).collect();
            names.dedup();
            format!("for this job there is {}", names.join(" or "))
        })
    })
}

/// The sender's n key pairs.
pub(crate) fn send(
    link: &Link,
    base: &dyn BaseOt,
    n: usize,
    progress: &ProgressBar,
) -> Result<Pairs, Failure> {
    let mut keys = Zeroizing::new(Vec::with_capacity(n));
    for (counter, len) in batches(n).enumerate() {
        let role = base.sender(link.sub(base.info().name, counter), len, fresh_seed()?)?;
        keys.extend_from_slice(drive::run(&link.channel, Lane::PROTOCOL, role)?.pairs());
        progress.inc(len as u64);
    }
    Ok(keys)
}

/// The receiver's keys for given choices.
pub(crate) fn receive_given(
    link: &Link,
    base: &dyn BaseOt,
    choices: &Bits,
    progress: &ProgressBar,
) -> Result<Zeroizing<Vec<Block>>, Failure> {
    let batch = |start: usize, len| Choice::Given(choices.slice(start..start + len));
    Ok(receive(link, base, choices.len(), batch, progress)?.keys)
}

/// The receiver's n random choices, packed, and their keys.
pub(crate) fn receive_random(
    link: &Link,
    base: &dyn BaseOt,
    n: usize,
    progress: &ProgressBar,
) -> Result<Received, Failure> {
    receive(link, base, n, |_, len| Choice::Random(len), progress)
}

fn receive(
    link: &Link,
    base: &dyn BaseOt,
    n: usize,
    choice: impl Fn(usize, usize) -> Choice,
    progress: &ProgressBar,
) -> Result<Received, Failure> {
    let mut choices = Zeroizing::new(Vec::with_capacity(n.div_ceil(8)));
    let mut keys = Zeroizing::new(Vec::with_capacity(n));
    for (counter, len) in batches(n).enumerate() {
        let session = link.sub(base.info().name, counter);
        let role = base.receiver(session, choice(counter * BATCH, len), fresh_seed()?)?;
        let batch = drive::run(&link.channel, Lane::PROTOCOL, role)?;
        // A whole number of bytes, but for the last batch.
        choices.extend_from_slice(batch.choices().as_bytes());
        keys.extend_from_slice(batch.keys());
        progress.inc(len as u64);
    }
    Ok(Received { choices, keys })
}

fn batches(n: usize) -> impl Iterator<Item = usize> {
    (0..n).step_by(BATCH).map(move |start| BATCH.min(n - start))
}

fn fresh_seed() -> Result<Seed, Failure> {
    let mut seed = Zeroizing::new([0; 32]);
    getrandom::fill(seed.as_mut_slice())
        .map_err(|e| Failure::run(format!("no randomness from the system: {e}")))?;
    Ok(Seed::from_bytes(*seed))
}
