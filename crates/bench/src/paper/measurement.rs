//! The samples of one benchmark in one setting.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{ext::Sample, median, over::Over};

/// A benchmark with its settings.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Job {
    pub(super) bench: String,
    pub(super) n: usize,
    pub(super) over: Over,
    pub(super) threads: usize,
    /// The backend in use if there is none here.
    pub(super) backend: Option<String>,
    /// The base OT.
    pub(super) base: Option<String>,
}

/// A measurement of a job.
#[derive(Clone, Debug)]
pub(super) struct Measurement {
    pub(super) n: usize,
    pub(super) samples: Vec<Sample>,
    /// The processor's nominal clock.
    pub(super) mhz: Option<f64>,
    /// Fewer than these cost as much.
    pub(super) least: usize,
}

impl Measurement {
    pub(super) fn new(n: usize, samples: Vec<Sample>) -> Self {
        Self { n, samples, mhz: None, least: 1 }
    }

    /// Returns the median time of a run.
    pub(super) fn usual(&self) -> Duration {
        median(&self.samples, |sample| sample.wall)
    }
}

/// Columns of a file of samples, behind those of its job: times in seconds.
pub(super) const COLUMNS: [&str; 18] = [
    "wall",
    "cpu_sender",
    "cpu_receiver",
    "slower",
    "bytes_sender",
    "bytes_receiver",
    "flows",
    "ended_sender",
    "ended_receiver",
    "begun_sender",
    "begun_receiver",
    "set_up_sender",
    "set_up_receiver",
    "set_up_bytes_sender",
    "set_up_bytes_receiver",
    "peak_bytes_sender",
    "peak_bytes_receiver",
    "transport",
];

fn numbers(sample: &Sample) -> [f64; 17] {
    let Sample { wall, cpu, slower, bytes, flows, ended, begun, set_up, set_up_bytes, peaks } =
        sample;
    let [wall, slower] = [wall, slower].map(Duration::as_secs_f64);
    let seconds = |times: &[Duration; 2]| times.map(|time| time.as_secs_f64());
    let ([cs, cr], [es, er]) = (seconds(cpu), seconds(ended));
    let ([bs, br], [ss, sr]) = (seconds(begun), seconds(set_up));
    let [ours, theirs] = bytes.map(|bytes| bytes as f64);
    let [us, ur] = set_up_bytes.map(|bytes| bytes as f64);
    let [ps, pr] = peaks.map(|bytes| bytes as f64);
    [wall, cs, cr, slower, ours, theirs, *flows as f64, es, er, bs, br, ss, sr, us, ur, ps, pr]
}

/// A line of such a file.
pub(super) fn csv(sample: &Sample, over: Over) -> String {
    let numbers = numbers(sample).map(|x| x.to_string());
    format!("{},{}", numbers.join(","), over.name())
}

/// Writes samples for another process of this program.
pub(crate) fn to_json(samples: &[Sample]) -> Value {
    samples.iter().map(|sample| json!(numbers(sample))).collect()
}

/// `None` if these are no samples.
pub(super) fn from_json(samples: &Value) -> Option<Vec<Sample>> {
    samples.as_array()?.iter().map(from_numbers).collect()
}

fn from_numbers(numbers: &Value) -> Option<Sample> {
    let at = |i: usize| numbers.get(i)?.as_f64();
    let time = |i| Duration::try_from_secs_f64(at(i)?).ok();
    let times = |i| Some([time(i)?, time(i + 1)?]);
    #[expect(clippy::cast_possible_truncation, reason = "counts, which a float has exactly")]
    let count = |i| at(i).map(|count| count as u64);
    let counts = |i| Some([count(i)?, count(i + 1)?]);
    Some(Sample {
        wall: time(0)?,
        cpu: times(1)?,
        slower: time(3)?,
        bytes: counts(4)?,
        flows: count(6)?,
        ended: times(7)?,
        begun: times(9)?,
        set_up: times(11)?,
        set_up_bytes: counts(13)?,
        peaks: counts(15)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_survive_the_way_from_another_process() {
        let ms = Duration::from_millis;
        let sample = Sample {
            wall: ms(1),
            cpu: [ms(2), ms(3)],
            slower: ms(4),
            bytes: [5, u64::from(u32::MAX) + 6],
            flows: 7,
            ended: [ms(8), ms(9)],
            begun: [ms(10), ms(11)],
            set_up: [ms(12), ms(13)],
            set_up_bytes: [14, 15],
            peaks: [16, 17],
        };
        let all = vec![sample, Sample::default()];
        assert_eq!(from_json(&to_json(&all)), Some(all));
        assert_eq!(from_json(&json!([[1, 2, 3]])), None);
        assert_eq!(csv(&sample, Over::Tcp).split(',').count(), COLUMNS.len());
    }
}
