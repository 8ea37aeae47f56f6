//! What is to be known of all protocols of a kind.

use foxtrot_ot::{extension::two_round, protocol::Kind, transfers::TWO_ROUND_RUN};
use foxtrot_psi::paxos::Parameters;
use foxtrot_triples::{
    BASE, FEW,
    params::{self, Set},
};

use super::facts::N;

/// Sets whose modulus is larger than the limits for quantum attacks.
const QUANTUM: &str =
    "rlwe-8, rlwe-32, rlwe-64-s64, rlwe-lift-8, rlwe-lift-16, rlwe-lift-64 and rlwe-lift-32-s64";

pub(super) fn of(kind: Kind) -> String {
    match kind {
        Kind::BaseOt => "\
            `ot` takes an endemic base OT, `rot` a random one, also below an extension; --base NAME\n\
            finds the mode. Bytes of both parties, in batches of 128.\n"
            .into(),
        Kind::Extension => format!(
            "Flows per batch of about 65 thousand; bytes of both parties in a run of {N}, without\n\
             the 128 base OTs. The base OTs of {0} are in its two messages, one batch is {TWO_ROUND_RUN} OTs,\n\
             and its keys are random only if no peer cheats: it is for `ot`, not for `rot`. Keys of the others are random,\n\
             also against a peer that cheats, if the base OT is a random one.\n",
            two_round::FAMILY
        ),
        Kind::OneOfN => {
            format!("Flows per batch of about 16 thousand; bytes of both parties in a run of {N}, without the base OTs.\n")
        }
        Kind::Psi => of_psi(),
        Kind::Triples => of_triples(),
        _ => String::new(),
    }
}

fn of_psi() -> String {
    // A row has one sparse slot in each of three segments, so two equations depend on the others.
    let free = |it: Parameters| (it.buckets() * (it.slots() - 2)) as f64 / N as f64;
    let all = foxtrot_psi::protocols().filter_map(|it| Parameters::new(it.adversary, N, N).ok());
    let free = all.map(free).fold(0.0, f64::max);
    format!(
        "The receiver learns which of its n keys the sender also has; each learns the size of the other's set.\n\
         A receiver that cheats can test more keys than it has: {free:.2} n for certain, n' at most with 2^80\n\
         hashes, but for a chance of about 2^-40. Encoding fails with probability 2^-40 at most, in part measured for more than\n\
         8192 keys. Bytes and n'/n for a million keys each, flows for at most ten thousand, both without the base OTs,\n\
         which are those that carry the extension.\n"
    )
}

fn of_triples() -> String {
    let kib = |sets: fn(&Set) -> bool| {
        let sizes = params::registry()
            .filter(|set| sets(set))
            .map(|set| set.set_up_bytes(BASE.info()) >> 10);
        sizes.fold((u64::MAX, 0), |(least, most), size| (least.min(size), most.max(size)))
    };
    let (fixed, lifted) = (kib(|set| set.fix().is_some()), kib(|set| set.fix().is_none()));
    let base = BASE.info().name;
    format!(
        "Each party has a share of a, b and c = a·b; but for rlwe-lift (`triples --lift`) there is a random OT per triple.\n\
         What rlwe hides statistically is hidden up to 2^-(sigma - 1) for each batch of 4095 to 32767 triples, and up to 2^-sigma\n\
         if noise is as experiments find it. A triple is wrong with the probability given at most: with its whole batch, or, of\n\
         rlwe-lift and rlwe-64-s64, by itself.\n\
         The triple of each batch that is opened almost always finds a wrong batch, which ends the run on both sides. It does not find\n\
         a single wrong triple, and a party that learns of one learns something of the peer's secrets.\n\
         For core-SVP guidelines also count polynomial factors, by which all sets have 128 bits classically, and\n\
         {QUANTUM}\n\
         less than 128 against quantum attacks (eprint 2024/463).\n\
         Bytes of both parties, without what comes before the first batch: two keys and, but for rlwe-lift, two times 128 base\n\
         OTs (`{base}`), {} to {} KiB together; for rlwe-lift {} to {}; for gilboa 128 base OTs (`{base}`) and two set-ups,\n\
         about 450 KiB. A batch of gilboa may have any number. A larger k (4 without a suffix) sends less and computes more.\n\
         `triples --method auto` makes up to {FEW} triples by gilboa, more by rlwe.\n",
        fixed.0, fixed.1, lifted.0, lifted.1
    )
}
