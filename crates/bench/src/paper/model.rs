//! A model of a link's cost: max(CPU, bytes / rate) + rounds × round trip.

use super::{figure::Figure, measurement::Measurement};
use crate::ext::{RECEIVER, SENDER, Sample};
use crate::link::Link;

/// The figure for n of them by the CPU time and bytes of a measurement; `None` if the model does not know it.
///
/// It is the time of the party that is done later. The parties of a base OT take turns, so that all their times add up,
/// and every flow takes the link's delay; in a single flow both send at once. Those of triples compute while the link carries other batches: then the slowest of both parties and both directions counts,
/// and one round trip.
pub(super) fn of(
    figure: Figure,
    measurement: &Measurement,
    n: usize,
    link: Link,
    bench: &str,
) -> Option<f64> {
    let sample = middle(measurement)?;
    let delay = link.delay().as_secs_f64();
    let cpu = sample.cpu.map(|time| time.as_secs_f64());
    let seconds = |bytes: u64| link.busy_for(bytes).as_secs_f64();
    match figure {
        Figure::RunningUs if bench.starts_with("triples/") => {
            let each = |x: f64| x / measurement.n as f64;
            let running = |party: usize| seconds(sample.bytes[party] - sample.set_up_bytes[party]);
            let link = running(SENDER).max(running(RECEIVER));
            let all = each(cpu[SENDER].max(cpu[RECEIVER]).max(link)) * n as f64;
            Some((all + 2.0 * delay) * 1e6 / n as f64)
        }
        Figure::SenderMs | Figure::ReceiverMs if bench.starts_with("base/") => {
            let [sent, received] = sample.bytes.map(seconds);
            let link = if sample.flows > 1 { sent + received } else { sent.max(received) };
            let all = cpu[SENDER] + cpu[RECEIVER] + link;
            Some((all + sample.flows as f64 * delay) * 1e3)
        }
        _ => None,
    }
}

/// The sample in the middle by CPU time.
fn middle(measurement: &Measurement) -> Option<Sample> {
    let mut samples = measurement.samples.clone();
    samples.sort_by_key(|sample| sample.cpu[SENDER] + sample.cpu[RECEIVER]);
    samples.get(samples.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_slowest_of_cpu_and_link_counts_and_the_round_trip_comes_on_top() {
        let ms = Duration::from_millis;
        let sample = Sample {
            cpu: [ms(20), ms(30)],
            bytes: [1_100_000, 500_000],
            set_up_bytes: [100_000, 0],
            flows: 3,
            ..Sample::default()
        };
        let it = Measurement::new(1000, vec![sample]);
        // A megabyte takes 80 ms.
        let slow = Link::new(100_000_000, ms(10));
        let fast = Link::new(u64::MAX, ms(10));
        let running = |link, n| of(Figure::RunningUs, &it, n, link, "triples/x").unwrap();
        assert!((running(slow, 1000) - 100.0).abs() < 1e-6);
        assert!((running(fast, 1000) - 50.0).abs() < 1e-3);
        assert!((running(slow, 10_000) - 82.0).abs() < 1e-6);
        let base = of(Figure::ReceiverMs, &it, 1000, slow, "base/x").unwrap();
        assert!((base - (50.0 + 88.0 + 40.0 + 30.0)).abs() < 1e-6);
        let at_once = Measurement::new(1000, vec![Sample { flows: 1, ..sample }]);
        let base = of(Figure::SenderMs, &at_once, 1000, slow, "base/x").unwrap();
        assert!((base - (50.0 + 88.0 + 10.0)).abs() < 1e-6);
        assert_eq!(of(Figure::CpuUs, &it, 1000, slow, "base/x"), None);
    }
}
