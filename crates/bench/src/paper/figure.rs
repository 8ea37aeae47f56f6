//! The figures of a measurement that stand in tables.

use std::{rc::Rc, time::Duration};

use foxtrot_ot::base::Protocol;
use serde::Deserialize;

use super::measurement::Measurement;
use crate::ext::{RECEIVER, SENDER, Sample};

/// A quantity, with its unit. Per n where it does not say otherwise; CPU time is that of both parties if it does not
/// name one.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Figure {
    CpuUs,
    CpuNs,
    SenderCpuUs,
    ReceiverCpuUs,
    SenderNs,
    ReceiverNs,
    /// Time of a party that has both roles equally often.
    MeanCpuUs,
    /// Number in a second of CPU.
    PerSecond,
    /// Times of the whole run.
    CpuMs,
    CpuS,
    WallMs,
    /// Time until this party had its result.
    SenderMs,
    ReceiverMs,
    /// Time by the wall clock, without the set-up.
    RunningUs,
    SetUpMs,
    SetUpKib,
    Bytes,
    RunningBytes,
    /// Bytes of the whole run.
    Kilobytes,
    /// Cycles of the processor's nominal clock for one operation of the kernel: too few if it runs faster.
    OperationCycles,
    /// The most memory that a process of that party had.
    SenderMemoryMib,
    ReceiverMemoryMib,
    /// The least N beyond which it is better than another benchmark, as a power of two.
    BreakEvenTime,
    BreakEvenBytes,
    /// A quotient of two rows.
    SpeedUp,
    /// A number that is not measured but counted.
    Counted,
    /// The paper's alone.
    Theirs,
    /// Words: which functionality, against whom.
    Security,
    /// Words: under which assumption, in which model.
    Assumption,
}

/// Factor from bytes to MiB.
const MIB: f64 = 1.0 / (1 << 20) as f64;

/// The median of samples (of an even number, the mean of the two in the middle), the least and the greatest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stat {
    pub(super) value: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) runs: usize,
}

impl Stat {
    pub(super) fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let (low, high) = (*values.first()?, *values.last()?);
        let middle = values.len() / 2;
        let value = match values.len() % 2 {
            0 => f64::midpoint(values[middle - 1], values[middle]),
            _ => values[middle],
        };
        Some(Self { value, low, high, runs: values.len() })
    }
}

impl Figure {
    /// Returns true if more is better.
    pub(super) fn more_is_better(self) -> bool {
        matches!(self, Self::PerSecond | Self::SpeedUp)
    }

    /// Returns true if two runs of a program give the same value, so that every difference is one.
    pub(super) fn is_exact(self) -> bool {
        matches!(
            self,
            Self::Bytes | Self::RunningBytes | Self::Kilobytes | Self::SetUpKib | Self::Counted
        )
    }

    /// Returns true if a quotient of two values means something.
    pub(super) fn has_ratio(self) -> bool {
        !self.is_words()
            && !matches!(
                self,
                Self::BreakEvenTime | Self::BreakEvenBytes | Self::SpeedUp | Self::Theirs
            )
    }

    pub(super) fn is_words(self) -> bool {
        matches!(self, Self::Security | Self::Assumption)
    }

    /// Returns the words for a base OT. `None` if this is a number.
    pub(super) fn words(self, info: &Protocol) -> Option<String> {
        match self {
            Self::Security => Some(format!("{}, {}", info.functionality, info.adversary)),
            Self::Assumption => Some(info.assumption.into()),
            _ => None,
        }
    }

    /// `None` if the measurement does not have it.
    pub(super) fn of(self, measurement: &Measurement) -> Option<Stat> {
        let Measurement { samples, n, mhz, .. } = measurement;
        let n = *n as f64;
        let scaled = |of: &dyn Fn(&Sample) -> f64, by: f64| {
            Stat::of(samples.iter().map(|sample| of(sample) * by).collect())
        };
        let both = |sample: &Sample| (sample.cpu[SENDER] + sample.cpu[RECEIVER]).as_secs_f64();
        let sender = |sample: &Sample| sample.cpu[SENDER].as_secs_f64();
        let receiver = |sample: &Sample| sample.cpu[RECEIVER].as_secs_f64();
        let bytes = |sample: &Sample| sample.bytes.iter().sum::<u64>() as f64;
        let set_up_bytes = |sample: &Sample| sample.set_up_bytes.iter().sum::<u64>() as f64;
        let later = |times: &[Duration; 2]| times[SENDER].max(times[RECEIVER]).as_secs_f64();
        match self {
            Self::CpuUs => scaled(&both, 1e6 / n),
            Self::CpuNs => scaled(&both, 1e9 / n),
            Self::SenderCpuUs => scaled(&sender, 1e6 / n),
            Self::ReceiverCpuUs => scaled(&receiver, 1e6 / n),
            Self::SenderNs => scaled(&sender, 1e9 / n),
            Self::ReceiverNs => scaled(&receiver, 1e9 / n),
            Self::MeanCpuUs => scaled(&both, 0.5e6 / n),
            Self::PerSecond => scaled(&|sample| n / both(sample), 1.0),
            Self::CpuMs => scaled(&both, 1e3),
            Self::CpuS => scaled(&both, 1.0),
            Self::WallMs => scaled(&|sample| sample.wall.as_secs_f64(), 1e3),
            Self::SenderMs => scaled(&|sample| sample.ended[SENDER].as_secs_f64(), 1e3),
            Self::ReceiverMs => scaled(&|sample| sample.ended[RECEIVER].as_secs_f64(), 1e3),
            Self::RunningUs => {
                scaled(&|sample| later(&sample.ended) - later(&sample.begun), 1e6 / n)
            }
            Self::SetUpMs => scaled(&|sample| later(&sample.set_up), 1e3),
            Self::SetUpKib => scaled(&set_up_bytes, 1.0 / 1024.0),
            Self::Bytes => scaled(&bytes, 1.0 / n),
            Self::RunningBytes => scaled(&|sample| bytes(sample) - set_up_bytes(sample), 1.0 / n),
            Self::Kilobytes => scaled(&bytes, 1e-3),
            Self::OperationCycles => {
                let cycles = (*mhz)? * 1e6;
                scaled(&|sample| sample.slower.as_secs_f64(), cycles / n)
            }
            Self::SenderMemoryMib => scaled(&|sample| sample.peaks[SENDER] as f64, MIB),
            Self::ReceiverMemoryMib => scaled(&|sample| sample.peaks[RECEIVER] as f64, MIB),
            Self::BreakEvenTime | Self::BreakEvenBytes | Self::SpeedUp | Self::Counted => None,
            Self::Theirs | Self::Security | Self::Assumption => None,
        }
    }

    /// Returns the whole cost of a measurement over a link, the set-up included: seconds or bytes.
    fn cost(self, measurement: &Measurement) -> Option<f64> {
        let n = measurement.n as f64;
        match self {
            Self::BreakEvenTime => {
                let ended = |sample: &Sample| sample.ended[SENDER].max(sample.ended[RECEIVER]);
                let times = measurement.samples.iter().map(|sample| ended(sample).as_secs_f64());
                Some(Stat::of(times.collect())?.value)
            }
            Self::BreakEvenBytes => Some(Self::Bytes.of(measurement)?.value * n),
            _ => None,
        }
    }
}

/// The cost of n outputs: `once + each · n`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost {
    once: f64,
    each: f64,
}

/// The line through measurements of different n whose relative errors have the least sum of squares, for what is measured
/// differs by a part of itself. `None` of fewer than two.
pub(super) fn line_through(figure: Figure, points: &[Rc<Measurement>]) -> Option<Cost> {
    let points: Option<Vec<_>> =
        points.iter().map(|it| Some((it.n as f64, figure.cost(it)?))).collect();
    let sum = |f: &dyn Fn(f64, f64) -> f64| -> Option<f64> {
        Some(points.as_ref()?.iter().map(|(n, y)| f(*n, *y) / (y * y)).sum())
    };
    let (all, n, nn) = (sum(&|_, _| 1.0)?, sum(&|n, _| n)?, sum(&|n, _| n * n)?);
    let (y, ny) = (sum(&|_, y| y)?, sum(&|n, y| n * y)?);
    let determinant = all * nn - n * n;
    // Of one size there is no line.
    let is_line = points?.windows(2).any(|pair| pair[0].0 != pair[1].0);
    let (once, each) = ((y * nn - n * ny) / determinant, (all * ny - n * y) / determinant);
    is_line.then_some(Cost { once: once.max(0.0), each: each.max(0.0) })
}

/// The least k such that `ours` costs less than `other` for 2^k and for all that is more; infinite if it never does. Of
/// either, fewer than so many cost as much as those.
pub(super) fn break_even(ours: (Cost, usize), other: (Cost, usize)) -> f64 {
    /// More than anybody makes.
    const MOST: i32 = 40;
    let at =
        |(Cost { once, each }, least): (Cost, usize), n: f64| once + each * n.max(least as f64);
    let wins = |k: &i32| {
        let n = 2f64.powi(*k);
        at(ours, n) < at(other, n)
    };
    (0..=MOST).rev().take_while(wins).last().map_or(f64::INFINITY, f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measurement(set_up_ms: u64, run_us: u64, least: usize) -> Measurement {
        let (set_up, n) = (Duration::from_millis(set_up_ms), 1000);
        let sample = Sample {
            set_up: [set_up, Duration::ZERO],
            begun: [set_up; 2],
            ended: [set_up, set_up + Duration::from_micros(run_us) * 1000],
            cpu: [Duration::from_millis(2), Duration::from_millis(4)],
            bytes: [3000, 5000],
            set_up_bytes: [1000, 0],
            ..Sample::default()
        };
        let slower = Sample { cpu: sample.cpu.map(|time| 2 * time), ..sample };
        Measurement {
            least,
            mhz: Some(2000.0),
            ..Measurement::new(n, vec![slower, sample, sample])
        }
    }

    fn stat(value: f64, low: f64, high: f64, runs: usize) -> Stat {
        Stat { value, low, high, runs }
    }

    #[test]
    fn a_figure_is_the_median_between_the_least_and_the_greatest() {
        let it = measurement(100, 7, 1);
        assert_eq!(Figure::CpuUs.of(&it), Some(stat(6.0, 6.0, 12.0, 3)));
        assert_eq!(Figure::MeanCpuUs.of(&it).unwrap().value, 3.0);
        assert_eq!(Figure::PerSecond.of(&it).unwrap().low, 1000.0 / 12e-3);
        assert!((Figure::RunningUs.of(&it).unwrap().value - 7.0).abs() < 1e-9);
        assert_eq!(Figure::SetUpMs.of(&it).unwrap().value, 100.0);
        assert_eq!(Figure::RunningBytes.of(&it).unwrap().value, 7.0);
        // 0.5 s, of which each of a thousand has 500 µs, at 2 GHz; no clock, no cycles.
        let sample = Sample {
            slower: Duration::from_millis(500),
            peaks: [3 << 20, 5 << 20],
            ..Sample::default()
        };
        let kernel = Measurement { samples: vec![sample], ..it.clone() };
        assert_eq!(Figure::OperationCycles.of(&kernel), Some(stat(1e6, 1e6, 1e6, 1)));
        let unknown = Measurement { mhz: None, ..kernel.clone() };
        assert_eq!(Figure::OperationCycles.of(&unknown), None);
        assert_eq!(Figure::ReceiverMemoryMib.of(&kernel).unwrap().value, 5.0);
        assert_eq!(Figure::CpuUs.of(&Measurement::new(1, Vec::new())), None);
    }

    #[test]
    fn the_median_of_an_even_number_is_between_the_two_in_the_middle() {
        let of = |values: &[f64]| Stat::of(values.to_vec());
        assert_eq!(of(&[8.0, 1.0]), Some(stat(4.5, 1.0, 8.0, 2)));
        assert_eq!(of(&[9.0, 4.0, 1.0, 2.0]), Some(stat(3.0, 1.0, 9.0, 4)));
        assert_eq!(of(&[9.0, 2.0, 1.0]), Some(stat(2.0, 1.0, 9.0, 3)));
        assert_eq!(of(&[5.0]), Some(stat(5.0, 5.0, 5.0, 1)));
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn line_fit_needs_two_points() {
        let figure = Figure::BreakEvenTime;
        let point = |n: usize, ms: u64| {
            let ended = [Duration::from_millis(ms), Duration::ZERO];
            let bytes = [7 * n as u64, 500];
            let sample = Sample { ended, bytes, ..Sample::default() };
            Rc::new(Measurement::new(n, vec![sample]))
        };
        let through = |points: &[(usize, u64)]| {
            let points: Vec<_> = points.iter().map(|(n, ms)| point(*n, *ms)).collect();
            (line_through(figure, &points), line_through(Figure::BreakEvenBytes, &points))
        };
        // 100 ms, and a millisecond for each, though a mean of the least point has 11 for each.
        let (time, bytes) = through(&[(10, 110), (100, 200), (1000, 1100)]);
        let (time, bytes) = (time.unwrap(), bytes.unwrap());
        assert!((time.once - 0.1).abs() < 1e-9 && (time.each - 1e-3).abs() < 1e-9, "{time:?}");
        assert!((bytes.once - 500.0).abs() < 1e-6 && (bytes.each - 7.0).abs() < 1e-9, "{bytes:?}");
        assert!(through(&[(10, 110)]).0.is_none() && through(&[]).0.is_none());
        assert!(through(&[(10, 110), (10, 112)]).0.is_none());
        // A tenth more at the greatest does not swallow what is done once, and nothing is less than free.
        let (time, _) = through(&[(10, 110), (100, 200), (1000, 1210)]);
        assert!((0.08..0.11).contains(&time.unwrap().once), "{time:?}");
        assert_eq!(through(&[(10, 10), (20, 30)]).0.unwrap().once, 0.0);
    }

    #[test]
    fn break_even_is_where_the_lines_cross_and_a_batch_is_full() {
        let line = |once_ms: f64, each_us: f64, least| {
            (Cost { once: once_ms * 1e-3, each: each_us * 1e-6 }, least)
        };
        // 100 ms more once, 1 µs less for each: 10⁵ of them, 2^17 as a power of two.
        assert_eq!(break_even(line(200.0, 1.0, 1), line(100.0, 2.0, 1)), 17.0);
        assert_eq!(break_even(line(100.0, 2.0, 1), line(200.0, 1.0, 1)), f64::INFINITY);
        assert_eq!(break_even(line(1.0, 1.0, 1), line(2.0, 2.0, 1)), 0.0);
        // A batch of 2^13 costs 8.2 ms, as much as 4096 of the others.
        assert_eq!(break_even(line(1.0, 1.0, 1 << 13), line(1.0, 2.0, 1)), 13.0);
    }
}
