//! Base OTs, and the extension in two rounds, which is one.

use foxtrot_downstream::{ALL_SIZES, choices, on_small_stacks, seed, session};
use foxtrot_ot::{
    base::{self, BaseOt, Choice, Functionality},
    extension::two_round,
    pair::{Pair, assert_rot},
};
use foxtrot_papers::base_ots;

/// From this number on receivers over curves prepare a table.
const FOR_TABLE: usize = 48;

fn run(base: &'static dyn BaseOt, n: usize) {
    let info = base.info();
    on_small_stacks(&format!("{}, n = {n}", info.name), move |backend| {
        let choice = match info.functionality {
            Functionality::Random => Choice::Random(n),
            _ => Choice::Given(choices(n)),
        };
        let sender = base.sender(session(backend), n, seed(1)).expect("a sender");
        let receiver = base.receiver(session(backend), choice, seed(2)).expect("a receiver");
        let (sent, received) = Pair::new(sender, receiver).run().expect("honest parties");
        assert_rot(&sent, &received);
    });
}

/// The base OTs of these names.
fn named<const N: usize>(names: [&str; N]) -> [&'static dyn BaseOt; N] {
    let of_name = |name| base_ots().find(|base| base.info().name == name);
    names.map(|name| of_name(name).expect("a base OT"))
}

#[test]
fn every_base_ot_runs_on_a_small_stack() {
    for base in base_ots() {
        for n in [1, 2] {
            run(base, n);
        }
    }
}

#[test]
fn batches_of_lattice_ots_run_on_a_small_stack() {
    for base in named(["roted", "roted-endemic", "roted-figure1", "bdgm"]) {
        run(base, 17);
    }
    for n in [128, 1024] {
        run(&base::roted::Endemic, n);
    }
}

#[test]
fn receivers_with_tables_run_on_a_small_stack() {
    let bases = named([
        "mcquoid-rosulek-roy:feistel:moeller",
        "mcquoid-rosulek-roy:feistel:elligator",
        "mcquoid-rosulek-roy:feistel2:ristretto",
        "chou-orlandi",
        "csw",
        "naor-pinkas",
    ]);
    bases.into_iter().for_each(|base| run(base, FOR_TABLE));
}

#[test]
fn an_extension_in_two_rounds_runs_on_a_small_stack() {
    for n in [1, 1024] {
        run(two_round::registry()[0], n);
    }
}

#[test]
#[ignore = "takes minutes"]
fn every_base_ot_runs_on_a_small_stack_at_every_size() {
    for base in base_ots().chain(two_round::registry().iter().copied()) {
        for n in ALL_SIZES {
            run(base, n);
        }
    }
}
