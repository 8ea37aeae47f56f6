//! Every base OT below every extension: which pairs are allowed.

use foxtrot_ot::{
    base::{self, Adversary, Functionality, Protocol, registry},
    extension::{self, Incompatible, compatible, one_of_n, two_round},
    silent,
};
use foxtrot_papers::base_ots;

/// Refuses for that reason, or takes it.
type Verdict = Result<(), Incompatible>;

/// Returns the expected verdict on a base OT under extensions against malicious peers.
fn expected(base: &Protocol) -> Verdict {
    match base.name {
        "roted-figure1" => Err(Incompatible::Reproduction),
        "chou-orlandi" | "chou-orlandi:chosen" | "naor-pinkas" => Err(Incompatible::Adversary),
        "bdgm" | "pvw" => Err(Incompatible::Functionality(Functionality::ChosenMessage)),
        "csw" => Err(Incompatible::Functionality(Functionality::SelectiveFailure)),
        _ => Ok(()),
    }
}

#[test]
fn every_base_ot_carries_the_extensions_that_its_security_allows() {
    for base in base_ots().map(|base| base.info()) {
        let semi_honest = match base.reproduction {
            true => Err(Incompatible::Reproduction),
            false => Ok(()),
        };
        for extension in extension::registry().map(|extension| extension.info()) {
            let verdict = match extension.adversary {
                Adversary::SemiHonest => semi_honest,
                // The one that allows for guesses of Δ.
                _ if (base.name, extension.family) == ("csw", "kos") => Ok(()),
                _ => expected(base),
            };
            assert_eq!(compatible(base, extension), verdict, "{} {}", base.name, extension.name);
        }
        for silent in &silent::PROTOCOLS {
            let verdict = match silent.adversary {
                Adversary::SemiHonest => semi_honest,
                _ => expected(base),
            };
            assert_eq!(compatible(base, silent), verdict, "{} {}", base.name, silent.name);
        }
        // Private set intersection stands on these.
        for extension in one_of_n::registry() {
            let verdict = match extension.info().adversary {
                Adversary::SemiHonest => semi_honest,
                _ => expected(base),
            };
            let name = extension.info().name;
            assert_eq!(compatible(base, extension.info()), verdict, "{} {name}", base.name);
        }
    }
}

/// Tests that selective failure is the only weakness that `kos` excuses.
#[test]
fn selective_failure_excuses_neither_semi_honest_nor_reproductions() {
    let csw = base::find("csw", Functionality::SelectiveFailure).unwrap().info();
    let weak = Protocol { adversary: Adversary::SemiHonest, ..*csw };
    let literal = Protocol { reproduction: true, ..*csw };
    let kos = extension::find("kos", Adversary::Malicious).unwrap().info();
    assert_eq!(compatible(csw, kos), Ok(()));
    assert_eq!(compatible(&weak, kos), Err(Incompatible::Adversary));
    assert_eq!(compatible(&literal, kos), Err(Incompatible::Reproduction));
    for extension in extension::registry().map(|extension| extension.info()) {
        let verdict = match extension.adversary {
            Adversary::SemiHonest => Ok(()),
            _ => Err(Incompatible::Adversary),
        };
        assert_eq!(compatible(&weak, extension), verdict, "{}", extension.name);
        assert_eq!(compatible(&literal, extension), Err(Incompatible::Reproduction));
    }
}

#[test]
fn two_rounds_stand_on_endemic_ot_of_one_message_each() {
    for base in base_ots().map(|base| base.info()) {
        let verdict = match base.name {
            "roted-endemic"
            | "mcquoid-rosulek-roy:feistel:moeller"
            | "mcquoid-rosulek-roy:feistel2:ristretto" => Ok(()),
            "roted" | "rot-from-ot:bdgm" | "rot-from-ot:pvw" => Err(Incompatible::Flows),
            _ => expected(base).and(Err(Incompatible::NoVariant)),
        };
        assert_eq!(compatible(base, &two_round::PROTOCOL), verdict, "{}", base.name);
    }
}

/// `rot-from-ot` needs a proof of UC security, which it takes by a sealed trait: of the base OTs in the
/// registry only these have it.
#[test]
fn random_ot_is_made_of_chosen_message_ot_with_a_proof_only() {
    let composed = registry().iter().map(|base| base.info().name);
    let composed: Vec<_> = composed.filter_map(|name| name.strip_prefix("rot-from-ot:")).collect();
    assert_eq!(composed, ["bdgm", "pvw"]);
}
