//! What the sender sees does not depend on the choice: the statistics of `Blinded` for c = 0 and
//! c = 1 side by side. (That the receiver's *work* does not depend on it follows from its shape:
//! fixed-length expansion, one evaluation per oracle; `popf` counts its calls.)
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use foxtrot_ot::{Bits, Seed, Session, Sid, base::roted::endemic::Receiver};

const N: usize = 2000;
const PHI: usize = 1296;

fn view(c: bool) -> Vec<u8> {
    let session = Session::new(Sid::from_bytes([c.into(); 32]));
    let choices = Bits::from_bools([c; N]);
    let (_receiver, blinded) =
        Receiver::start(session, choices, Seed::from_bytes([9; 32])).unwrap();
    blinded.into_bytes()
}

fn coefficients(view: &[u8]) -> impl Iterator<Item = usize> + '_ {
    view.chunks(PHI).flat_map(|phi| {
        (0..768).map(|k| {
            let bit = 13 * k;
            let bytes = [phi[bit / 8], phi[bit / 8 + 1], *phi.get(bit / 8 + 2).unwrap_or(&0)];
            let word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]);
            (word >> (bit % 8)) as usize & 0x1fff
        })
    })
}

/// Number of standard deviations by which χ² of the counts differs from its mean.
fn chi_square_score(counts: &[f64], expected: f64) -> f64 {
    let chi: f64 = counts.iter().map(|c| (c - expected).powi(2) / expected).sum();
    let freedom = counts.len() as f64 - 1.0;
    (chi - freedom) / (2.0 * freedom).sqrt()
}

#[test]
fn coefficients_are_uniform_whatever_the_choice() {
    for c in [false, true] {
        let mut counts = vec![0.0; 7681];
        coefficients(&view(c)).for_each(|x| counts[x] += 1.0);
        let score = chi_square_score(&counts, (N * 768) as f64 / 7681.0);
        assert!(score.abs() < 5.0, "c = {c}: {score} deviations");
    }
}

#[test]
fn every_bit_of_s_is_fair_whatever_the_choice() {
    for c in [false, true] {
        let view = view(c);
        for bit in 0..384 {
            let ones =
                view.chunks(PHI).filter(|phi| phi[1248 + bit / 8] >> (bit % 8) & 1 == 1).count();
            let score = (ones as f64 - N as f64 / 2.0) / (N as f64 / 4.0).sqrt();
            assert!(score.abs() < 5.0, "c = {c}, bit {bit}: {score} deviations");
        }
    }
}

#[test]
fn the_two_choices_have_the_same_byte_histogram() {
    let histogram = |c| {
        let mut counts = vec![0.0; 256];
        view(c).iter().for_each(|&b| counts[usize::from(b)] += 1.0);
        counts
    };
    let (zero, one): (Vec<f64>, Vec<f64>) = (histogram(false), histogram(true));
    let chi: f64 = zero.iter().zip(&one).map(|(a, b)| (a - b).powi(2) / (a + b)).sum();
    let score = (chi - 255.0) / (2.0f64 * 255.0).sqrt();
    assert!(score.abs() < 5.0, "{score} deviations");
}
