//! The POPFs over domains: what is programmed comes out, and nothing else does.

use alloc::{vec, vec::Vec};

use super::*;
use crate::{Direction, Sid};

fn session(counter: u64, backend: Backend) -> Session {
    let session = Session::new(Sid::from_bytes([1; 32])).with_backend(backend);
    session.sub("test", counter, Direction::default())
}

fn bytes(label: u64, n: usize) -> Vec<u8> {
    let mut bytes = vec![0; n];
    session(9, Backend::PORTABLE).oracle("foxtrot test bytes").query(label, 0).fill(&mut bytes);
    bytes
}

fn elements<D: Domain>(label: u64, n: usize) -> Elements<D> {
    let mut elements = Elements::zeros(n);
    D::hash(Backend::best(), &bytes(label, n * D::ANSWER_LEN), &mut elements);
    elements
}

fn encoded<D: Domain>(elements: &[D::Element]) -> Vec<[u8; 32]> {
    let mut bytes = vec![[0; 32]; elements.len()];
    D::encode(Backend::best(), elements, &mut bytes);
    bytes
}

/// Encoded values at both points.
fn values<D: Domain, P: Popf<D>>(popf: &P, first: u64, phis: &[u8]) -> [Vec<[u8; 32]>; 2] {
    let n = phis.len() / P::PHI_LEN;
    let [mut zero, mut one] = [Elements::<D>::zeros(n), Elements::<D>::zeros(n)];
    popf.evaluate(first, phis, [&mut zero, &mut one]);
    [encoded::<D>(&zero), encoded::<D>(&one)]
}

fn programmed<D: Domain, P: Popf<D>>(popf: &P, x: &[u8], points: &Elements<D>) -> Vec<u8> {
    let n = x.len();
    let mut phis = vec![0; n * P::PHI_LEN];
    popf.program(5, x, points, &bytes(2, n * P::COINS_LEN), &mut phis);
    phis
}

/// All laws of one POPF; `bound` says whether its values depend on the instance.
fn laws<D: Domain, P: Popf<D>>(bound: bool) {
    let name = P::NAME;
    let here = P::new(&session(0, Backend::best()));
    let mut phis_of_backends = Vec::new();
    for n in [0, 1, 5, 16, 17, 40] {
        let x: Vec<u8> = (0..n).map(|k| u8::from(k % 3 == 1)).collect();
        let points = elements::<D>(1, n);
        let phis = programmed(&here, &x, &points);
        assert!(P::check(Backend::best(), &phis).is_ok());
        let values_here = values(&here, 5, &phis);
        for (k, point) in encoded::<D>(&points).iter().enumerate() {
            let x = usize::from(x[k]);
            assert_eq!(&values_here[x][k], point, "{name}");
            assert_ne!(&values_here[1 - x][k], point, "{name}");
        }
        // Both values of all are different.
        let mut all = values_here.concat();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 2 * n, "{name}");
        // They mean something else elsewhere.
        let there = P::new(&session(1, Backend::best()));
        for (elsewhere, differs) in
            [(values(&there, 5, &phis), true), (values(&here, 6, &phis), bound)]
        {
            for (a, b) in elsewhere.concat().iter().zip(values_here.concat()) {
                assert_eq!(*a != b, differs, "{name}");
            }
        }
        phis_of_backends.push((x, points, phis));
    }
    for backend in Backend::all() {
        let popf = P::new(&session(0, backend));
        for (x, points, phis) in &phis_of_backends {
            assert_eq!(&programmed(&popf, x, points), phis, "{name}");
            assert_eq!(values(&popf, 5, phis), values(&here, 5, phis), "{name}");
        }
    }
}

#[test]
fn strings_that_are_programmed_come_out_and_belong_to_session_and_instance() {
    laws::<Strings, Eke>(true);
    laws::<Strings, EvenMansour>(false);
    laws::<Strings, MasnyRindal<Strings>>(true);
    laws::<Strings, Feistel<Strings>>(true);
    laws::<Strings, Feistel2<Strings>>(true);
}

#[test]
fn elements_that_are_programmed_come_out_and_belong_to_session_and_instance() {
    laws::<Ristretto, MasnyRindal<Ristretto>>(true);
    laws::<Ristretto, Feistel<Ristretto>>(true);
    laws::<Ristretto, Feistel2<Ristretto>>(true);
}

/// Which places of φ are elements, and which any string.
fn decoding<P: Popf<Ristretto>>(elements_at: &[usize]) {
    let popf = P::new(&session(0, Backend::best()));
    let phis = programmed(&popf, &[0, 1, 0], &elements::<Ristretto>(1, 3));
    for place in (0..P::PHI_LEN).step_by(32) {
        for instance in 0..3 {
            let mut wrong = phis.clone();
            let start = instance * P::PHI_LEN + place;
            let end = (start + 32).min((instance + 1) * P::PHI_LEN);
            wrong[start..end].fill(0xff);
            let expected = match elements_at.contains(&place) {
                true => Err(Invalid { index: instance }),
                false => Ok(()),
            };
            assert_eq!(P::check(Backend::best(), &wrong), expected, "{}", P::NAME);
        }
    }
}

#[test]
fn what_is_no_element_is_refused_with_its_instance() {
    decoding::<MasnyRindal<Ristretto>>(&[0, 32]);
    decoding::<Feistel<Ristretto>>(&[0]);
    decoding::<Feistel2<Ristretto>>(&[0]);
}

/// A string domain has no invalid φ.
#[test]
fn any_string_is_a_description_over_strings() {
    fn takes_all<P: Popf<Strings>>() {
        let popf = P::new(&session(0, Backend::best()));
        for byte in [0, 0x7f, 0xff] {
            let phis = vec![byte; 3 * P::PHI_LEN];
            assert!(P::check(Backend::best(), &phis).is_ok());
            let [zero, one] = values(&popf, 0, &phis);
            assert!(zero.iter().zip(&one).all(|(a, b)| a != b));
        }
    }
    takes_all::<Eke>();
    takes_all::<EvenMansour>();
    takes_all::<MasnyRindal<Strings>>();
    takes_all::<Feistel<Strings>>();
    takes_all::<Feistel2<Strings>>();
}

/// The same values and coins under both choices have descriptions that nothing tells apart but a key
/// of the oracle: each bit is set as often as not.
#[test]
fn descriptions_look_the_same_whatever_is_chosen() {
    fn balanced<D: Domain, P: Popf<D>>() {
        let popf = P::new(&session(0, Backend::best()));
        let n = 2000;
        for x in [0, 1] {
            let points = elements::<D>(1, n);
            let phis = programmed(&popf, &vec![x; n], &points);
            for bit in 0..8 * P::PHI_LEN {
                let of = |phi: &&[u8]| phi[bit / 8] >> (bit % 8) & 1 == 1;
                let ones = phis.chunks(P::PHI_LEN).filter(of).count();
                // Six standard deviations.
                assert!(ones.abs_diff(n / 2) < 135, "{}: bit {bit}: {ones}", P::NAME);
            }
        }
    }
    balanced::<Strings, Eke>();
    balanced::<Strings, EvenMansour>();
    balanced::<Strings, MasnyRindal<Strings>>();
    balanced::<Strings, Feistel<Strings>>();
    balanced::<Strings, Feistel2<Strings>>();
}
