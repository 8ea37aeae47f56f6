//! A corrupt receiver, or random coins that repeat: keys know their instance, branch and sub-sid.

use super::*;
use crate::{Direction, Sid};

const N: usize = 40;

fn session(counter: u64) -> Session {
    Session::new(Sid::from_bytes([1; 32])).sub("test", counter, Direction::default())
}

fn choice(i: usize) -> u8 {
    u8::from(i % 3 == 1)
}

/// φ of every instance, with one point B = b·G at its choice.
fn one_point(session: &Session, b: &Scalar) -> Blinded {
    let popf = popf(session);
    let (mut room, mut blinded) = (popf.room(N), Blinded::blank(N));
    let groups = blinded.phis_mut().chunks_mut(GROUP * PHI_LEN);
    for (first, phis) in (0..N).step_by(GROUP).zip(groups) {
        let x: Vec<_> = (first..N.min(first + GROUP)).map(choice).collect();
        let r = vec![[3; S_LEN]; x.len()];
        let difference = |_: usize, hash: &RistrettoPoint, t: &mut [u8]| {
            t.copy_from_slice((RistrettoPoint::mul_base(b) - hash).compress().as_bytes());
        };
        popf.program(&mut room, first as u64, &x, &r, difference, phis);
    }
    blinded
}

/// The sender of that batch, its scalar forced.
fn sender(session: Session, a: Scalar) -> Sender {
    let share = KeyShare::new(&times_generator(&a), N);
    Sender { session, n: N, a: Zeroizing::new(a), share }
}

/// The agreed points are all a·B, here and in every batch of this a.
fn shared_points(session: &Session, blinded: &Blinded, a: &Scalar) -> Vec<[u8; 32]> {
    let popf = popf(session);
    let mut room = popf.room(N);
    let mut points = vec![[0; 32]; N];
    let groups = blinded.as_bytes().chunks(GROUP * PHI_LEN);
    for (first, phis) in (0..N).step_by(GROUP).zip(groups) {
        let digests = popf.open(first as u64, phis);
        for j in [0, 1] {
            popf.evaluate(&mut room, &digests, phis, j, |k, point| {
                if choice(first + k) == j {
                    points[first + k] = times(point, a).compress().to_bytes();
                }
            });
        }
    }
    points
}

/// Lemma 1 of "Batching Base Oblivious Transfers", against us: one point in all instances, for which
/// the oracle of the POPF is no obstacle, and a sender whose scalar is the same in two batches.
#[test]
fn one_agreed_point_gives_another_key_in_every_instance_branch_and_batch() {
    let (a, b) = (Scalar::from(1_000_003_u64), Scalar::from(77_u64));
    let mut known = Vec::new();
    for counter in [0, 1] {
        let blinded = one_point(&session(counter), &b);
        let expected = (RistrettoPoint::mul_base(&b) * a).compress().to_bytes();
        assert_eq!(shared_points(&session(counter), &blinded, &a), vec![expected; N]);
        let keys = sender(session(counter), a).finish(&blinded).unwrap();
        known.extend((0..N).map(|i| keys.pairs()[i][usize::from(choice(i))]));
    }
    assert_eq!(known.len(), 2 * N);
    known.sort_unstable();
    known.dedup();
    assert_eq!(known.len(), 2 * N, "a key occurs twice");
}

/// What the key is bound to besides the point, each alone.
#[test]
fn a_key_knows_its_session_instance_branch_and_share() {
    let shared = || Secret(RistrettoPoint::mul_base(&Scalar::from(5_u64)));
    let share = |a: u64| KeyShare::new(&RistrettoPoint::mul_base(&Scalar::from(a)), N);
    let here = |i, j, a| key(&output(&session(0)), i, j, &share(a), &shared());
    let mut keys = vec![
        here(0, 0, 7),
        here(1, 0, 7),
        here(0, 1, 7),
        here(0, 0, 8),
        key(&output(&session(1)), 0, 0, &share(7), &shared()),
    ];
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 5);
}
