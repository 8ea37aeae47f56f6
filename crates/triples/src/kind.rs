//! Triples by either method: a set of parameters, and the run of it.

use alloc::{boxed::Box, format, string::String};
use core::ops::Range;

use foxtrot_ot::{
    Context,
    base::{BaseOt, roted::Endemic},
    engine::{Abandoned, Io, Limits, Run},
    extension::{ROWS, protocol as of_two},
    silent::protocol as silent,
    transfers::Extension,
};

use crate::{
    Error, Shares, bits,
    formats::record_len,
    gilboa::{self, protocol as from_ot},
    params,
    rlwe::protocol as from_rlwe,
};

/// The base OT below `gilboa`.
pub const BASE: &dyn BaseOt = &Endemic;

/// The most triples that are made by `gilboa` unless the caller says otherwise; more are made by `rlwe`. Up to there `gilboa`
/// needs less computing and no more bytes for every ℓ: measurements in `docs/protocols/gilboa.md`, section 7.
pub const FEW: usize = 2048;

/// σ unless another is asked for: bits that a batch of `rlwe` hides statistically.
pub const DEFAULT_SIGMA: u32 = 40;

/// A run that hides fewer bits statistically is refused.
pub const LEAST_HIDDEN: u32 = 20;

/// A kind of triples: a value, since callers also ask which it is, for words, estimates and memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TripleKind {
    /// From ring-LWE.
    Rlwe(&'static params::Set),
    /// From oblivious transfer.
    Gilboa(&'static gilboa::Set),
    /// Bits, from random oblivious transfer.
    Bits(&'static bits::Set),
}

impl TripleKind {
    /// Finds the kind from ring-LWE with these ℓ and σ, with `lift` the one without OTs.
    #[must_use]
    pub fn rlwe(bits: u32, sigma: u32, lift: bool) -> Option<Self> {
        let fits = |set: &&params::Set| {
            set.bits() == bits && set.sigma() == sigma && set.fix().is_none() == lift
        };
        params::registry().find(fits).map(Self::Rlwe)
    }

    /// Finds the kind from oblivious transfer with these ℓ and k.
    #[must_use]
    pub fn gilboa(bits: u32, k: usize) -> Option<Self> {
        gilboa::of_bits(bits, k).map(Self::Gilboa)
    }

    /// Finds the kind of bits, from silent OTs or others.
    #[must_use]
    pub fn bit_triples(silent: bool) -> Option<Self> {
        bits::registry().find(|set| set.is_silent() == silent).map(Self::Bits)
    }

    /// Every kind.
    pub fn registry() -> impl Iterator<Item = Self> {
        let from_ot = gilboa::registry().map(Self::Gilboa).chain(bits::registry().map(Self::Bits));
        params::registry().map(Self::Rlwe).chain(from_ot)
    }

    /// Finds a kind by the name of its set.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::registry().find(|kind| kind.name() == name)
    }

    /// The name of its set.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Rlwe(set) => set.name(),
            Self::Gilboa(set) => set.name(),
            Self::Bits(set) => set.name(),
        }
    }

    /// The method's name in the hello.
    #[must_use]
    pub fn method(self) -> String {
        match self {
            Self::Rlwe(set) if set.fix().is_none() => "rlwe-lift".into(),
            Self::Rlwe(_) => "rlwe".into(),
            Self::Gilboa(set) => match set.k() {
                gilboa::DEFAULT_K => "gilboa".into(),
                k => format!("gilboa-k{k}"),
            },
            Self::Bits(set) if set.is_silent() => "silent".into(),
            Self::Bits(_) => "gilboa".into(),
        }
    }

    /// ℓ.
    #[must_use]
    pub fn bits(self) -> u32 {
        match self {
            Self::Rlwe(set) => set.bits(),
            Self::Gilboa(set) => set.bits(),
            Self::Bits(_) => 1,
        }
    }

    /// σ, if something is hidden statistically.
    #[must_use]
    pub fn sigma(self) -> Option<u32> {
        match self {
            Self::Rlwe(set) => Some(set.sigma()),
            Self::Gilboa(_) | Self::Bits(_) => None,
        }
    }

    /// Triples of a whole batch that are used.
    #[must_use]
    pub fn usable(self) -> usize {
        match self {
            Self::Rlwe(set) => set.usable(),
            Self::Gilboa(set) => set.usable(),
            Self::Bits(set) => set.usable(),
        }
    }

    /// Batches for so many triples.
    #[must_use]
    pub fn batches(self, triples: u64) -> u64 {
        triples.div_ceil(self.usable() as u64)
    }

    /// Returns the number of triples that are made for so many.
    #[must_use]
    pub fn made(self, triples: u64) -> u64 {
        match self {
            Self::Rlwe(set) => self.batches(triples) * set.n() as u64,
            Self::Gilboa(_) | Self::Bits(_) => triples,
        }
    }

    /// The most triples of a run: an extension has no OTs for more, or more would be hidden up to less than
    /// [`LEAST_HIDDEN`] bits.
    #[must_use]
    pub fn most(self) -> u64 {
        let batches = match self {
            Self::Rlwe(set) => 1 << set.sigma().saturating_sub(LEAST_HIDDEN).min(63),
            Self::Gilboa(set) => set.most_batches(),
            Self::Bits(set) => return set.most(),
        };
        batches.saturating_mul(self.usable() as u64)
    }

    /// Bytes of both parties before the first batch: base OTs, what sets the extensions up, and keys.
    #[must_use]
    pub fn set_up_bytes(self) -> u64 {
        match self {
            Self::Rlwe(set) => set.set_up_bytes(BASE.info()),
            Self::Gilboa(set) => from_ot::bytes_of_run(set, BASE, 0).iter().sum(),
            Self::Bits(set) => of_bits(set, 0).iter().sum(),
        }
    }

    /// Bytes in the direction that has more, with all that is once per session, for these batches of a run of so many
    /// triples. The direction that has fewer has a batch less at most.
    #[must_use]
    pub fn bytes_each_way(self, batches: &Range<u64>, count: u64) -> u64 {
        let Range { start, end } = *batches;
        match self {
            // A batch is made whole, and in half of the batches a party requests.
            Self::Rlwe(set) => {
                let each = set.batch_bytes().iter().sum::<usize>() as u64;
                let opened = (end - start).saturating_mul(record_len(set.bits()) as u64);
                (end - start).saturating_mul(each) / 2 + opened + self.set_up_bytes() / 2
            }
            Self::Gilboa(set) => {
                let triples = count.saturating_sub(start * set.usable() as u64);
                from_ot::bytes_of_run(set, BASE, triples).into_iter().max().unwrap_or(0)
            }
            Self::Bits(set) => {
                let triples = count.saturating_sub(start * set.usable() as u64);
                of_bits(set, triples).into_iter().max().unwrap_or(0)
            }
        }
    }

    /// The bounds of what is on its way to a party.
    #[must_use]
    pub fn limits(self) -> Limits {
        match self {
            Self::Rlwe(set) => from_rlwe::limits(set),
            Self::Gilboa(set) => from_ot::limits(set),
            Self::Bits(set) => match set.method(BASE).extension {
                Extension::Silent(silent) => silent::limits(&silent),
                Extension::OneOfTwo(extension) => of_two::limits(&extension),
                _ => Limits::default(),
            },
        }
    }

    /// Makes these batches of a run of `count` triples; `sink` takes them in order. A last batch of `rlwe` has more than
    /// are left of `count`.
    ///
    /// # Errors
    /// Errors of the protocols.
    pub fn generate<'a>(
        self,
        io: &'a Io,
        cx: &'a mut Context<'_>,
        we_are_initiator: bool,
        batches: Range<u64>,
        count: u64,
        sink: &'a mut (dyn FnMut(&Shares) -> Result<(), Abandoned> + Send),
    ) -> Run<'a, (), Error> {
        Box::pin(async move {
            match self {
                Self::Rlwe(set) => {
                    let plan = from_rlwe::RlwePlan { set, we_are_initiator, batches };
                    from_rlwe::RlweRun::set_up(io, cx, plan).await?.run(io, sink).await
                }
                Self::Gilboa(set) => {
                    let count = count.saturating_sub(batches.start * set.usable() as u64);
                    let plan = from_ot::GilboaPlan { set, base: BASE, we_are_initiator, count };
                    from_ot::GilboaRun::set_up(io, cx, plan).await?.run(io, sink).await
                }
                Self::Bits(set) => {
                    let count = count.saturating_sub(batches.start * set.usable() as u64);
                    let count = usize::try_from(count).unwrap_or(usize::MAX / 4);
                    Ok(set.generate(io, cx, BASE, we_are_initiator, count, sink).await?)
                }
            }
        })
    }
}

/// Payload bytes of the OTs' sender and receiver for bit triples, with base OTs.
fn of_bits(set: &bits::Set, triples: u64) -> [u64; 2] {
    let (info, [sent, received]) = (BASE.info(), set.bytes(triples));
    let base = [info.receiver_bytes, info.sender_bytes].map(|bytes| bytes(ROWS) as u64);
    [sent.saturating_add(base[0]), received.saturating_add(base[1])]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_found_by_its_name() {
        for kind in TripleKind::registry() {
            assert_eq!(TripleKind::find(kind.name()), Some(kind));
            let found = match kind {
                TripleKind::Rlwe(set) => {
                    TripleKind::rlwe(set.bits(), set.sigma(), set.fix().is_none())
                }
                TripleKind::Gilboa(set) => TripleKind::gilboa(set.bits(), set.k()),
                TripleKind::Bits(set) => TripleKind::bit_triples(set.is_silent()),
            };
            assert_eq!(found, Some(kind));
        }
        assert_eq!(TripleKind::find("rlwe-paper-8"), None);
    }

    #[test]
    fn the_most_triples_hide_enough_and_have_their_ots() {
        for set in params::registry() {
            let most = TripleKind::Rlwe(set).most();
            assert!(set.hidden(most) >= LEAST_HIDDEN, "{set:?}");
            assert!(most == u64::MAX || set.hidden(most + 1) < LEAST_HIDDEN, "{set:?}");
        }
        for set in gilboa::registry() {
            let most = TripleKind::Gilboa(set).most();
            assert_eq!(set.batches(most), set.most_batches());
            assert!(set.batches(most + 1) > set.most_batches());
        }
    }

    #[test]
    fn a_run_hides_less_than_its_batches() {
        // Of 1, 2, 3 and 128 batches a party answers 1, 1, 2 and 64 at most.
        let of = |sigma| params::registry().find(|set| set.sigma() == sigma).unwrap();
        let hidden = |set: &params::Set, batches| set.hidden(batches * set.usable() as u64);
        let bits = [1, 2, 3, 128, 2048, 2049].map(|batches| hidden(of(40), batches));
        assert_eq!(bits, [39, 39, 38, 33, 29, 28]);
        assert_eq!(hidden(of(64), 1 << 27), 37);
    }
}
