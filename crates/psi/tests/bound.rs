//! The bounds of `docs/protocols/okvs.md`, recomputed, and compared with what happens.

use foxtrot_ot::{Session, Sid, base::Adversary};
use foxtrot_psi::{
    Digest, MAX_ITEMS, RowSeed,
    okvs::{MAX_KEYS, Okvs},
    paxos::Parameters,
};

use crate::support::moment;

/// Every size up to 1500, then larger and larger steps.
fn sizes(largest: usize) -> impl Iterator<Item = usize> {
    let step = |&n: &usize| Some(if n < 50_000 { n + n / 20 } else { n + n / 2 });
    let steps = std::iter::successors(Some(1501), step);
    (2..=1500).chain(steps.take_while(move |&n| n < largest)).chain([largest])
}

#[test]
fn encoding_fails_with_probability_at_most_2_to_the_minus_40() {
    for n in sizes(1 << 19) {
        let bound = moment::log2_failure(&Okvs::three(n).unwrap());
        assert!(bound <= -44.0, "{n} keys: 2^{bound}");
    }
    for n in [(1 << 19) + 1, 600_000, 1 << 20, 3 << 20, MAX_KEYS] {
        let bound = moment::log2_failure(&Okvs::three(n).unwrap());
        assert!(bound <= -44.0, "{n} keys: 2^{bound}");
    }
    for n in sizes(MAX_KEYS).filter(|n| n % 16 == 0 || *n < 200) {
        let bound = moment::log2_failure(&Okvs::two(n).unwrap());
        assert!(bound <= -60.0, "{n} keys: 2^{bound}");
    }
}

/// The fewest and the most keys of every layout. In between one summand of the bound grows and another falls, so a bit
/// more than the larger of both is enough.
#[test]
fn encoding_with_four_slots_fails_with_probability_at_most_2_to_the_minus_40() {
    let mut keys = 1 << 17;
    let mut windows: Option<(usize, moment::Windows)> = None;
    let (mut shapes, mut worst) = (0, f64::MIN);
    while keys <= MAX_KEYS {
        let okvs = Okvs::four(keys).unwrap();
        // The most keys with as many starts.
        let segment = okvs.segment();
        let same = |n: usize| {
            n <= MAX_KEYS
                && Okvs::four(n).unwrap().starts() == okvs.starts()
                && Okvs::four(n).unwrap().segment() == segment
        };
        let (mut most, mut too_many) = (keys, keys + 2 * segment);
        while too_many - most > 1 {
            let middle = usize::midpoint(most, too_many);
            if same(middle) { most = middle } else { too_many = middle }
        }
        if windows.as_ref().is_none_or(|(of, _)| *of != segment) {
            windows = Some((segment, moment::Windows::of(&okvs)));
        }
        let windows = &windows.as_ref().unwrap().1;
        for n in [keys, most] {
            let bound = windows.log2_failure(n as f64, okvs.starts() as f64, okvs.dense() as f64);
            assert!(bound <= -46.0, "{n} keys: 2^{bound}");
            worst = worst.max(bound);
        }
        shapes += 1;
        keys = most + 1;
    }
    assert!(shapes > 500 && worst > -48.0, "{shapes} {worst}");
}

/// The stores of all buckets of a set together (`docs/protocols/paxos.md`, section 6).
#[test]
fn stores_of_all_buckets_fail_with_probability_at_most_2_to_the_minus_38() {
    let mut windows: Vec<(usize, moment::Windows)> = Vec::new();
    for n in [(1 << 20) + 1, 1 << 21, 10_000_000, 100_000_000, 1_000_000_000, MAX_ITEMS] {
        let set = Parameters::new(Adversary::Malicious, n, n).unwrap();
        let okvs = Okvs::four(set.keys()).unwrap();
        let of = windows.iter().position(|(segment, _)| *segment == okvs.segment());
        let of = of.unwrap_or_else(|| {
            windows.push((okvs.segment(), moment::Windows::of(&okvs)));
            windows.len() - 1
        });
        let (keys, starts, dense) = (okvs.keys() as f64, okvs.starts() as f64, okvs.dense() as f64);
        let failure =
            (set.buckets() as f64).log2() + windows[of].1.log2_failure(keys, starts, dense);
        // Besides, a bucket of either party is too full with probability 2⁻⁴¹.
        let all = (failure.exp2() + 2.0 * 2_f64.powi(-41)).log2();
        assert!(all < if n <= 100_000_000 { -39.0 } else { -38.0 }, "{n} keys: 2^{all}");
    }
}

/// A single key has no dependency; more keys than slots have many.
#[test]
fn a_store_that_is_too_small_has_no_failure_bound() {
    let okvs = Okvs::three(100).unwrap();
    let sets = |n| moment::sets(3, n, okvs.segment() as f64, 1.0);
    assert!(sets(1.0) < f64::MIN_POSITIVE);
    assert!(sets(100.0) < 0.1);
    assert!(sets(230.0).log2() > 4.0);
}

#[test]
fn probabilities_of_even_bins_are_right() {
    for bins in [1, 2, 3, 10, 1000] {
        let l = f64::from(bins);
        let known = [(2.0, 1.0 / l), (4.0, 3.0 / l.powi(2) - 2.0 / l.powi(3))];
        for (u, probability) in known {
            assert!((moment::ln_even(u, l).exp() / probability - 1.0).abs() < 1e-6, "{u} {l}");
        }
        for u in [2.0, 10.0, 34.0, 100.0, 1000.0] {
            let excess = moment::ln_even_saddle(u, l) - moment::ln_even_exact(u, l);
            assert!((0.0..5.0).contains(&(excess + 1e-9)), "{u} balls, {l} bins: {excess}");
        }
    }
    let factorial: f64 = (1..=30).map(|k| f64::from(k).ln()).sum();
    assert!((moment::ln_factorial(30.0) - factorial).abs() < 1e-9);
}

/// The mean of 2^deficit − 1 over many seeds; it is within `tolerance` of what the proof says.
fn mean_is_the_moment(okvs: &Okvs, trials: u32, tolerance: f64) {
    let keys: Vec<Digest> = (0..okvs.keys()).map(|k| [u8::try_from(k).unwrap(); 32]).collect();
    let mut sum = 0.0;
    for trial in 0..trials {
        let session = Session::new(Sid::from_bytes([4; 32]));
        let seed: [u8; 32] = core::array::from_fn(|k| trial.to_le_bytes()[k % 4]);
        let plan = okvs.plan(&session, &RowSeed::decode(&seed).unwrap(), &keys).unwrap();
        let deficit = plan.structure().deficit.expect("a small core");
        sum += (deficit as f64).exp2() - 1.0;
    }
    let (mean, moment) = (sum / f64::from(trials), moment::plain(okvs));
    assert!((mean / moment - 1.0).abs() < tolerance, "{mean} instead of {moment}");
}

#[test]
fn deficits_are_as_often_as_the_first_moment_says() {
    mean_is_the_moment(&Okvs::three(8).unwrap(), 20_000, 0.1);
    mean_is_the_moment(&Okvs::three(100).unwrap(), 20_000, 0.2);
    mean_is_the_moment(&Okvs::two(8).unwrap(), 10_000, 0.1);
    mean_is_the_moment(&Okvs::two(200).unwrap(), 10_000, 0.1);
}
