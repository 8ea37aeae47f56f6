//! A logarithmic axis.

use super::super::numbers::number;

/// An axis from the least to the greatest of all numbers, with some room.
#[derive(Clone, Copy)]
pub(super) struct Axis {
    low: f64,
    high: f64,
}

impl Axis {
    /// `None` if there is no number above zero.
    pub(super) fn over(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let all = values.into_iter().filter(|x| x.is_finite() && *x > 0.0);
        let (low, high) =
            all.fold((f64::INFINITY, 0f64), |(low, high), x| (low.min(x), high.max(x)));
        // Room on both sides, and at least a factor of three in all.
        let room = (high / low).powf(0.06).max((3.0 / (high / low)).max(1.0).sqrt()).max(1.05);
        (low <= high).then_some(Self { low: low / room, high: high * room })
    }

    /// Returns the place on the axis, between 0 and 1.
    pub(super) fn place(self, x: f64) -> f64 {
        ((x / self.low).ln() / (self.high / self.low).ln()).clamp(0.0, 1.0)
    }

    /// Returns about `most` numbers at most that are easily read.
    pub(super) fn ticks(self, most: usize) -> Vec<f64> {
        let at = |steps: &[f64], every: i32| -> Vec<f64> {
            // More than there are between anything that is measured.
            let decades = (-15..=18_i32).filter(|decade| decade.rem_euclid(every) == 0);
            let all = decades.flat_map(|decade| steps.iter().map(move |x| x * 10f64.powi(decade)));
            all.filter(|x| (self.low..=self.high).contains(x)).collect()
        };
        let kinds: [(&[f64], i32); 5] = [
            (&[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0], 1),
            (&[1.0, 2.0, 5.0], 1),
            (&[1.0, 3.0], 1),
            (&[1.0], 1),
            (&[1.0], 2),
        ];
        let all = kinds.map(|(steps, every)| at(steps, every));
        let fit = all.iter().find(|ticks| ticks.len() <= most);
        fit.unwrap_or(&all[4]).clone()
    }
}

/// A number on an axis.
pub(super) fn tick(x: f64) -> String {
    match x {
        1e9.. => format!("{} G", number(x / 1e9)),
        1e6.. => format!("{} M", number(x / 1e6)),
        1e4.. => format!("{} k", number(x / 1e3)),
        _ if x < 1e-3 => format!("{x:.0e}"),
        _ => number(x),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_holds_its_numbers_and_has_ticks_that_fit() {
        for all in [vec![1.0, 1000.0], vec![0.02, 0.021], vec![5.0], vec![3e-7, 4e11]] {
            let axis = Axis::over(all.clone()).unwrap();
            assert!(all.iter().all(|x| (0.0..=1.0).contains(&axis.place(*x))));
            let ticks = axis.ticks(6);
            assert!((1..=12).contains(&ticks.len()), "{all:?} {ticks:?}");
            assert!(ticks.is_sorted());
        }
        assert!(Axis::over([0.0, -1.0]).is_none() && Axis::over([]).is_none());
        let axis = Axis::over([1.0, 100.0]).unwrap();
        assert!((axis.place(10.0) - 0.5).abs() < 1e-9);
        assert_eq!(
            [0.5, 20.0, 30_000.0, 2e6, 1e-5].map(tick),
            ["0.5", "20", "30 k", "2 M", "1e-5"]
        );
    }
}
