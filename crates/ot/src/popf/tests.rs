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

fn elements<D: Domain>(label: u64, n: usize) -> D::Elements {
    let mut elements = D::zeros(n);
    D::hash(Backend::best(), &bytes(label, n * D::ANSWER_LEN), &mut elements);
    elements
}

fn encoded<D: Domain>(elements: &[D::Element]) -> Vec<[u8; 32]> {
    let mut bytes = vec![[0; 32]; elements.len()];
    D::encode(Backend::best(), elements, &mut bytes);
    bytes
}

/// Encoded values at both points.
fn values<P: Popf>(popf: &P, first: u64, phis: &[u8]) -> [Vec<[u8; 32]>; 2] {
    let n = phis.len() / P::PHI_LEN;
    let [mut zero, mut one] = [P::Domain::zeros(n), P::Domain::zeros(n)];
    popf.evaluate(first, phis, [&mut zero, &mut one]);
    [encoded::<P::Domain>(&zero), encoded::<P::Domain>(&one)]
}

fn programmed<P: Popf>(popf: &P, x: &[u8], points: &<P::Domain as Domain>::Elements) -> Vec<u8> {
    let n = x.len();
    let mut phis = vec![0; n * P::PHI_LEN];
    popf.program(5, x, points, &bytes(2, n * P::COINS_LEN), &mut phis);
    phis
}

/// All laws of one POPF; `bound` says whether its values depend on the instance.
fn laws<P: Popf>(bound: bool) {
    let name = P::NAME;
    let here = P::new(&session(0, Backend::best()));
    let mut phis_of_backends = Vec::new();
    for n in [0, 1, 5, 16, 17, 40] {
        let x: Vec<u8> = (0..n).map(|k| u8::from(k % 3 == 1)).collect();
        let points = elements::<P::Domain>(1, n);
        let phis = programmed(&here, &x, &points);
        assert!(P::check(Backend::best(), &phis).is_ok());
        let values_here = values(&here, 5, &phis);
        for (k, point) in encoded::<P::Domain>(&points).iter().enumerate() {
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
    laws::<Eke>(true);
    laws::<EvenMansour>(false);
    laws::<MasnyRindal<Strings>>(true);
    laws::<Feistel<Strings>>(true);
    laws::<Feistel2<Strings>>(true);
}

#[test]
fn elements_that_are_programmed_come_out_and_belong_to_session_and_instance() {
    laws::<MasnyRindal<Ristretto>>(true);
    laws::<Feistel<Ristretto>>(true);
    laws::<Feistel2<Ristretto>>(true);
}

/// The answer of a POPF's oracle to one query, of instance i and point x.
type Answer = fn(&Session, u64, u8) -> [u8; 32];

/// Each oracle by itself: at the same place of φ nothing but x tells apart which value it is for.
#[test]
fn every_oracle_is_bound_to_session_instance_and_point() {
    fn feistel<D: Domain>(session: &Session, i: u64, x: u8) -> [u8; 32] {
        encoded::<D>(&hashes::<D, _>(&Feistel::<D>::new(session).h, 1, |_| (i, x, [3; 32])))[0]
    }
    fn masny_rindal<D: Domain>(session: &Session, i: u64, x: u8) -> [u8; 32] {
        encoded::<D>(&hashes::<D, _>(&MasnyRindal::<D>::new(session).h, 1, |_| (i, x, [3; 32])))[0]
    }
    let oracles: [Answer; 5] = [
        feistel::<Strings>,
        feistel::<Ristretto>,
        masny_rindal::<Strings>,
        masny_rindal::<Ristretto>,
        |session, i, x| Eke::new(session).keys(i, 1, |_| x)[0],
    ];
    let here = session(0, Backend::best());
    for answer in oracles {
        let elsewhere = session(1, Backend::best());
        let mut answers = [
            answer(&here, 5, 0),
            answer(&here, 5, 1),
            answer(&here, 6, 0),
            answer(&elsewhere, 5, 0),
        ];
        answers.sort_unstable();
        assert!(answers.windows(2).all(|pair| pair[0] != pair[1]));
    }
}

/// The value at a point is t, or s_x, and the answer for that x: so programming and evaluating ask
/// for the x that they are at, and do not agree on another.
#[test]
fn values_are_made_of_the_answer_for_their_point() {
    fn at_both<P: Popf>(
        phi: &[u8],
        expected: impl Fn(&P, u8) -> (Vec<[u8; 32]>, <P::Domain as Domain>::Elements),
    ) {
        let popf = P::new(&session(0, Backend::best()));
        let values = values::<P>(&popf, 5, phi);
        for (x, value) in (0..).zip(values) {
            let (own, hashes) = expected(&popf, x);
            let (mut elements, mut sums) = (P::Domain::zeros(1), P::Domain::zeros(1));
            P::Domain::decode(Backend::best(), &own, &mut elements).unwrap();
            P::Domain::add(Backend::best(), &elements, &hashes, &mut sums);
            assert_eq!(value, encoded::<P::Domain>(&sums), "{} at {x}", P::NAME);
        }
    }
    fn over<D: Domain>() {
        // Both halves are the same element: x is all that differs, where it can be.
        let same = encoded::<D>(&elements::<D>(1, 1))[0];
        let phi = [same, same].concat();
        at_both::<MasnyRindal<D>>(&phi, |popf, x| {
            (vec![same], hashes::<D, _>(&popf.h, 1, |_| (5, x, same)))
        });
        // s ⊕ x·t, for s = t.
        at_both::<Feistel<D>>(&phi, |popf, x| {
            let coins = if x == 0 { same } else { [0; 32] };
            (vec![same], hashes::<D, _>(&popf.h, 1, |_| (5, x, coins)))
        });
    }
    over::<Strings>();
    over::<Ristretto>();
    let popf = Eke::new(&session(0, Backend::best()));
    let phi = bytes(3, 32);
    for (x, value) in (0..).zip(values::<Eke>(&popf, 5, &phi)) {
        let mut block = [value[0]];
        foxtrot_kernel::rijndael::encrypt(&popf.keys(5, 1, |_| x), &mut block);
        assert_eq!(block.as_flattened(), phi);
    }
}

/// Tests which places of φ must be elements, and which take any string.
fn decoding<P: Popf<Domain = Ristretto>>(elements_at: &[usize]) {
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
fn an_invalid_element_is_refused_with_its_instance() {
    decoding::<MasnyRindal<Ristretto>>(&[0, 32]);
    decoding::<Feistel<Ristretto>>(&[0]);
    decoding::<Feistel2<Ristretto>>(&[0]);
}

/// A string domain has no invalid φ.
#[test]
fn any_string_is_a_description_over_strings() {
    fn takes_all<P: Popf<Domain = Strings>>() {
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

/// Tests that descriptions of the same values and coins look alike under both choices: each bit is
/// set as often as not.
#[test]
fn descriptions_look_the_same_whatever_is_chosen() {
    fn balanced<P: Popf>() {
        let popf = P::new(&session(0, Backend::best()));
        let n = 2000;
        for x in [0, 1] {
            let points = elements::<P::Domain>(1, n);
            let phis = programmed(&popf, &vec![x; n], &points);
            for bit in 0..8 * P::PHI_LEN {
                let of = |phi: &&[u8]| phi[bit / 8] >> (bit % 8) & 1 == 1;
                let ones = phis.chunks(P::PHI_LEN).filter(of).count();
                // Six standard deviations.
                assert!(ones.abs_diff(n / 2) < 135, "{}: bit {bit}: {ones}", P::NAME);
            }
        }
    }
    balanced::<Eke>();
    balanced::<EvenMansour>();
    balanced::<MasnyRindal<Strings>>();
    balanced::<Feistel<Strings>>();
    balanced::<Feistel2<Strings>>();
}
