//! The number of times that something is measured.

use std::time::{Duration, Instant};

use foxtrot_cli::shared::Failure;

use super::sample::Sample;

/// The time that the figures of one benchmark are worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// The time for figures that are published.
    Usual,
    /// A look.
    Quick,
    /// A number of runs and none to warm up, for long benchmarks.
    Exactly(usize),
}

/// More of them say no more.
const MOST: usize = 400;

/// The samples of runs until the usual time is over and the usual number is there, or less of both. The first
/// run is left out: it pays for page faults and cold caches.
pub(super) fn repeat(
    effort: Effort,
    (time, at_least): (Duration, usize),
    mut sample: impl FnMut() -> Result<Sample, Failure>,
) -> Result<Vec<Sample>, Failure> {
    let (time, at_least) = match effort {
        Effort::Usual => (time, at_least),
        Effort::Quick => (time / 4, at_least.div_ceil(3)),
        Effort::Exactly(runs) => (Duration::ZERO, runs),
    };
    if matches!(effort, Effort::Usual | Effort::Quick) {
        sample()?;
    }
    let started = Instant::now();
    let mut samples = Vec::new();
    while (started.elapsed() < time && samples.len() < MOST) || samples.len() < at_least {
        samples.push(sample()?);
    }
    Ok(samples)
}
