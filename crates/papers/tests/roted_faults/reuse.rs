//! Fault 5: a sender with one p_S for a batch, and the receiver that reads its secret.
//!
//! With p⁰ᵢ = c, a constant, the signals are functions of c·sₖ + 2e′, and |2e′| ≤ 16. The constants are
//! such that c·v is at least 18 from the thresholds for all v = 0, …, 16, so noise never changes a
//! signal. Four of them tell the magnitudes 0, …, 8 apart. With p⁰ᵢ = c·(1 + X^d) the signals are
//! functions of c·(sₖ ± sₖ₋d): three constants tell |sₖ| + |sₖ₋d| from ||sₖ| − |sₖ₋d|| for all
//! magnitudes, that is, equal signs from opposite ones. Four shifts d tie all coefficients together, up
//! to one sign, which p_S decides.

use foxtrot_ot::{Backend, base::Block};
use foxtrot_papers::roted_figure1::{
    Blinded, Reply,
    ring::{NttPoly, Poly},
};

use super::{
    bit,
    figure1::{
        N, Q, ReplyView, SenderCoins, T, confirmation, difference, m, malicious, output, parities,
        points, sparse, times,
    },
};

const INSTANCES: usize = 16;
/// Tell magnitudes apart.
const MAGNITUDES: [i32; 4] = [10364, 4349, 1356, 6251];
/// Tell sums of two magnitudes from differences.
const SUMS: [i32; 3] = [1871, 2681, 8087];
const SHIFTS: [usize; 4] = [1, 2, 5, 11];

/// The receiver's malicious first message.
pub(crate) fn blinded() -> Blinded {
    malicious(INSTANCES, |i, _| match i.checked_sub(MAGNITUDES.len()) {
        None => sparse(&[(0, MAGNITUDES[i])]),
        Some(rest) => {
            let (shift, c) = (SHIFTS[rest / SUMS.len()], SUMS[rest % SUMS.len()]);
            sparse(&[(0, c), (shift, c)])
        }
    })
}

/// A sender as in Figure 1, but with the s_S and e_S of the first instance in all. Returns its keys by
/// branches.
pub(crate) fn respond_with_one_secret(
    blinded: &Blinded,
    seed: [u8; 32],
) -> (Reply, Vec<[Block; 2]>) {
    let (mut bytes, mut keys) = (Vec::new(), Vec::new());
    for i in 0..blinded.instances() {
        let shared = SenderCoins::new(seed, 0);
        let coins = SenderCoins { s: shared.s, e: shared.e, ..SenderCoins::new(seed, i) };
        let points = points(blinded, i);
        let both = [0, 1].map(|j| coins.string(j, &points[j]));
        let (signals, strings) = (both.map(|x| x.0), both.map(|x| x.1));
        let by_branch = strings.each_ref().map(|sk| confirmation(i, sk));
        let confirmations = [by_branch[coins.a], by_branch[1 - coins.a]];
        bytes.extend(ReplyView { p_s: coins.p(), confirmations, signals, u: coins.u }.encode());
        keys.push([0, 1].map(|j| output(i, &strings[j], &T[j], &coins.u)));
    }
    (Reply::decode(&bytes, blinded.instances()).unwrap(), keys)
}

/// s_S, from nothing but the reply; `None` if it does not fit p_S.
pub(crate) fn recover_secret(reply: &Reply) -> Option<Poly> {
    let views: Vec<_> = (0..INSTANCES).map(|i| ReplyView::of(reply, i)).collect();
    let signal = |i: usize, k: usize| bit(&views[i].signals[0], k);

    let magnitudes: Vec<i32> = (0..N)
        .map(|k| (0..=8).find(|v| (0..4).all(|i| signal(i, k) == crosses(MAGNITUDES[i] * v))))
        .collect::<Option<_>>()?;

    // Breadth first from some coefficient that is not 0, with the sign +.
    let mut signs = vec![0; N];
    let start = magnitudes.iter().position(|&v| v != 0)?;
    signs[start] = 1;
    let mut queue = std::collections::VecDeque::from([start]);
    while let Some(here) = queue.pop_front() {
        for (s, shift) in SHIFTS.into_iter().enumerate() {
            for there in [(here + shift) % N, (here + N - shift) % N] {
                if signs[there] != 0 || magnitudes[there] == 0 {
                    continue;
                }
                // Coefficient k of (1 + X^d)·s is sₖ + sₖ₋d, or sₖ − sₖ₋d₊N if k < d.
                let k = if there == (here + shift) % N { there } else { here };
                let wrapped = if k < shift { -1 } else { 1 };
                let (a, b) = (magnitudes[here], magnitudes[there]);
                let fits =
                    |v: i32| (0..3).all(|c| signal(4 + 3 * s + c, k) == crosses(SUMS[c] * v));
                let relation = if fits(a + b) { 1 } else { -1 };
                signs[there] = signs[here] * relation * wrapped;
                queue.push_back(there);
            }
        }
    }

    [1, -1].into_iter().find_map(|sign| {
        let terms: Vec<_> = (0..N).map(|k| (k, sign * signs[k] * magnitudes[k])).collect();
        let s = sparse(&terms).into_poly(Backend::PORTABLE);
        let noise = difference(&views[0].p_s, &times(&m(), &s));
        let small = |&x: &u16| i32::from(x).min(Q - i32::from(x)) <= 16;
        noise.coefficients().iter().all(small).then_some(s)
    })
}

/// Returns true if Sig is 1 at x, far from its thresholds.
fn crosses(x: i32) -> bool {
    let x = x.rem_euclid(Q);
    x.min(Q - x) > Q / 4
}

/// Both keys of every instance, by branches, from s_S and what the receiver has: without e′_S, of
/// which the signals make up for the lack.
pub(crate) fn both_keys(blinded: &Blinded, reply: &Reply, s: &Poly) -> Vec<[Block; 2]> {
    let key = |i: usize, j: usize, p: &NttPoly| {
        let view = ReplyView::of(reply, i);
        let k = times(p, s).into_poly(Backend::PORTABLE);
        let sk = parities(&k, &view.signals[j]);
        assert!(view.confirmations.contains(&confirmation(i, &sk)), "instance {i}");
        output(i, &sk, &T[j], &view.u)
    };
    let instances = (0..blinded.instances()).map(|i| points(blinded, i)).enumerate();
    instances.map(|(i, [p_0, p_1])| [key(i, 0, &p_0), key(i, 1, &p_1)]).collect()
}
