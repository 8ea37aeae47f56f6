extern crate std;

use std::vec::Vec;

use foxtrot_ot::{
    base::{naor_pinkas::NaorPinkas, roted::Endemic},
    protocol::Incompatible,
};

use super::*;
use Adversary::{Malicious, SemiHonest};

fn method(assumption: Assumption, adversary: Adversary) -> Method {
    Method { base: &Endemic, assumption, adversary }
}

/// Sizes around which the rule changes its mind, and large ones.
fn sizes() -> impl Iterator<Item = (usize, usize)> {
    let all = [0, 1, 20, 300, 1000, 5000, 10_000, 13_000, 20_000, 60_000, 1 << 20, 3 << 20];
    all.into_iter().flat_map(move |n| all.map(|m| (n, m)))
}

#[test]
fn the_protocol_is_the_one_with_the_fewest_bytes_that_the_assumption_allows() {
    for adversary in [Malicious, SemiHonest] {
        for (n, m) in sizes() {
            let paxos = paxos::Parameters::new(adversary, n, m).unwrap();
            let of_paxos = paxos.receiver_bytes() + paxos.sender_bytes();
            let of_paxos = of_paxos + Endemic.info().bytes(paxos.base_ots());
            let of = |vole| {
                let it = vole_psi::Parameters::of(vole, n, m).ok();
                it.map(|it| it.receiver_bytes() + it.sender_bytes() + Endemic.info().bytes(128))
            };
            let silent = if adversary == Malicious { Vole::Silent } else { Vole::Small };
            let packed = of(Vole::Packed);
            let symmetric = packed.map_or(of_paxos, |packed| packed.min(of_paxos));
            let lpn = packed.map_or(of(silent), |packed| of(silent).map(|it| it.min(packed)));
            for (assumption, least) in
                [(Assumption::Symmetric, Some(symmetric)), (Assumption::Lpn, lpn)]
            {
                let chosen = method(assumption, adversary).parameters(n, m).unwrap();
                let name = chosen.info().name;
                assert_eq!(Some(chosen.bytes(&Endemic)), least, "{n} {m}: {name}, {assumption}");
                assert_eq!((chosen.receiver_items(), chosen.sender_items()), (n, m));
            }
        }
    }
}

#[test]
fn without_lpn_no_protocol_rests_on_it() {
    for adversary in [Malicious, SemiHonest] {
        for (n, m) in sizes() {
            let chosen = method(Assumption::Symmetric, adversary).parameters(n, m).unwrap();
            assert!(["paxos", "vole-psi-packed"].contains(&chosen.info().name), "{n} {m}");
            assert!(!chosen.info().assumption.contains("LPN"), "{n} {m}");
        }
    }
}

#[test]
fn small_sets_take_packed_ots_and_large_ones_do_not() {
    let names = |assumption, sizes: &[usize]| -> Vec<_> {
        let of = |&n| method(assumption, Malicious).parameters(n, n).unwrap().info().name;
        sizes.iter().map(of).collect()
    };
    let small = names(Assumption::Symmetric, &[0, 1, 20, 1000, 8000]);
    assert_eq!(small, ["vole-psi-packed"; 5]);
    assert_eq!(names(Assumption::Symmetric, &[1 << 15, 1 << 20]), ["paxos"; 2]);
    assert_eq!(names(Assumption::Lpn, &[0, 1, 20]), ["vole-psi-packed"; 3]);
    assert_eq!(names(Assumption::Lpn, &[1000, 1 << 20]), ["vole-psi"; 2]);
}

/// The numbers are those of `docs/protocols/vole-psi.md`, section 2.
#[test]
fn the_largest_stores_of_packed_ots_are_the_documented_ones() {
    let largest = |assumption, adversary, most| {
        let of = |n| method(assumption, adversary).parameters(n, n).unwrap();
        let packed = |n: &usize| of(*n).info().name == "vole-psi-packed";
        let n = (0..most).filter(packed).max().unwrap();
        (n, of(n).slots())
    };
    assert_eq!(largest(Assumption::Lpn, Malicious, 1000), (189, 341));
    assert_eq!(largest(Assumption::Lpn, SemiHonest, 1000), (103, 221));
    assert_eq!(largest(Assumption::Symmetric, Malicious, 1 << 14), (11786, 15023));
}

#[test]
fn a_base_ot_carries_only_what_it_is_strong_enough_for() {
    let weak = &NaorPinkas;
    for (assumption, name) in
        [(Assumption::Symmetric, "paxos"), (Assumption::Lpn, "vole-psi-semi-honest")]
    {
        let with_it = |adversary| Method { base: weak, assumption, adversary };
        // Packed OTs cost less here, and are secure against malicious peers only if the base OT is.
        let small = with_it(SemiHonest).parameters(20, 20).unwrap();
        assert_eq!(small.info().name, name);
        let refused = with_it(Malicious).parameters(20, 20);
        assert_eq!(refused, Err(Usage::Incompatible(Incompatible::Adversary)));
    }
    let many = Method { base: weak, ..method(Assumption::Lpn, SemiHonest) };
    let n = (1 << 24) + 1;
    assert_eq!(many.parameters(20, n), Err(Usage::BatchTooLarge { n, max: 1 << 24 }));
}

#[test]
fn the_bound_before_the_senders_size_is_known_is_never_below_that_of_the_run() {
    for assumption in Assumption::ALL {
        for (n, m) in sizes() {
            let method = method(assumption, Malicious);
            let of_run = method.parameters(n, m).unwrap().largest_set();
            assert!(method.largest_set(n) >= of_run && of_run.is_some(), "{assumption} {n} {m}");
        }
        let method = method(assumption, SemiHonest);
        assert_eq!(method.largest_set(20), None);
        // Also where the protocol itself is stronger than what is asked for.
        assert_eq!(method.parameters(20, 20).unwrap().largest_set(), None);
    }
}
