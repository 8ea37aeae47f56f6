//! Notes on all protocols of a kind.

use foxtrot_ot::{extension::two_round, protocol::ProtocolKind, transfers::TWO_ROUND_RUN};
use foxtrot_psi::paxos::{PROTOCOLS, Parameters};
use foxtrot_triples::{
    BASE, FEW,
    params::{self, Set},
};

use super::facts::N;

/// Sets whose modulus is larger than the limits for quantum attacks.
const QUANTUM: &str =
    "rlwe-8, rlwe-32, rlwe-64-s64, rlwe-lift-8, rlwe-lift-16, rlwe-lift-64 and rlwe-lift-32-s64";

pub(super) fn of(kind: ProtocolKind) -> String {
    match kind {
        ProtocolKind::BaseOt => "\
            `ot` uses an endemic base OT, `rot` a random one, also below an extension. --base NAME selects\n\
            the mode. Bytes are of both parties, in batches of 128.\n"
            .into(),
        ProtocolKind::Extension => format!(
            "Flows are per batch of about 65 thousand OTs, of silent ones of 917 504. Bytes are of both parties in a run of {N} OTs,\n\
             without the 128 base OTs. {0} has its base OTs in its two messages and batches of {TWO_ROUND_RUN} OTs.\n\
             Its keys are random only if no peer cheats, so it works with `ot`, not with `rot`. Keys of the\n\
             other extensions are random, also against a cheating peer, if the base OT is a random one.\n",
            two_round::FAMILY
        ),
        ProtocolKind::OneOfN => {
            format!("Flows are per batch of about 16 thousand OTs. Bytes are of both parties in a run of {N} OTs, without\nthe base OTs.\n")
        }
        ProtocolKind::Vole => format!(
            "The sender gets D and W, the receiver random U and V = W + U·D in GF(2^128). Flows are per batch, bytes are of\n\
             both parties for a run of {N} outputs, without the 128 base OTs. silent-16 also makes OTs of one of sixteen\n\
             bits, with which circuit-psi compares strings. vole-packed rests on OTs alone, the others also\n\
             on dual LPN.\n"
        ),
        ProtocolKind::Psi => of_psi(),
        ProtocolKind::Triples => of_triples(),
        _ => String::new(),
    }
}

fn of_psi() -> String {
    // A row has one sparse slot in each of three segments or four, so two equations or more depend on the others.
    let free = |it: Parameters| (it.buckets() * (it.slots() - 2)) as f64 / N as f64;
    let all = PROTOCOLS.iter().filter_map(|it| Parameters::new(it.adversary, N, N).ok());
    let free = all.map(free).fold(0.0, f64::max);
    format!(
        "The receiver learns which of its n keys the sender also has. Each side learns the size of the\n\
         other's set. A cheating receiver can test more keys than it has: {free:.2} n for certain, and at most n'\n\
         with 2^80 classical hashes, except with probability about 2^-40. Encoding fails with at most 2^-40;\n\
         for more than 8192 keys this is in part measured. Bytes and n'/n are for a million keys on each side,\n\
         flows for at most ten thousand keys, both without the base OTs. vole-psi-packed is for small sets only.\n\
         `psi` takes paxos or vole-psi-packed, with --assumption lpn vole-psi or vole-psi-packed: the one with\n\
         fewer bytes for the two sizes. `psi count` and `psi sum` run circuit-psi, whose bytes are those of a count: the\n\
         parties learn it and not which keys are common. It sets base OTs up three times, for a sum four times.\n"
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
        "Each party has a share of a, b and c = a·b. rlwe uses a random OT per triple, rlwe-lift (`triples --lift`)\n\
         none. rlwe hides statistically up to 2^-(sigma - 1) for each batch of 4095 to 32767 triples, and up to\n\
         2^-sigma if noise is as experiments find it. A triple is wrong at most with the given probability: with\n\
         its whole batch or, in rlwe-lift and rlwe-64-s64, alone.\n\
         One triple of each batch is opened. It almost always detects a wrong batch, which ends the run on both\n\
         sides. It does not detect a single wrong triple. A party that learns of a wrong triple learns something\n\
         of the peer's secrets.\n\
         Guidelines for core-SVP also count polynomial factors. With them all sets have 128 bits classically, but\n\
         {QUANTUM}\n\
         have less than 128 against quantum attacks (eprint 2024/463).\n\
         Bytes are of both parties, without the start of a run: two keys and, except in rlwe-lift, two times 128\n\
         base OTs (`{base}`), {} to {} KiB together; in rlwe-lift {} to {} KiB; in gilboa 128 base OTs\n\
         (`{base}`) and two set-ups, about 450 KiB. A batch of gilboa has any size. A larger k (4 without a\n\
         suffix) sends less and computes more. `triples --method auto` makes up to {FEW} triples with gilboa, more\n\
         with rlwe.\n",
        fixed.0, fixed.1, lifted.0, lifted.1
    )
}
