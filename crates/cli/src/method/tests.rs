use foxtrot_ot::{
    Seed, Session,
    base::{Choice, ReceiverKeys, Run, SenderKeys, roted},
};

use super::*;
use Adversary::{Malicious, SemiHonest};

/// A base OT of any kind. What is chosen depends on its `Protocol` alone.
struct Double(&'static Protocol);

impl BaseOt for Double {
    fn info(&self) -> &'static Protocol {
        self.0
    }

    fn sender(&self, session: Session, n: usize, seed: Seed) -> Run<SenderKeys> {
        roted::Endemic.sender(session, n, seed)
    }

    fn receiver(&self, session: Session, choice: Choice, seed: Seed) -> Run<ReceiverKeys> {
        roted::Endemic.receiver(session, choice, seed)
    }
}

fn double(
    name: &'static str,
    functionality: Functionality,
    adversary: Adversary,
) -> &'static dyn BaseOt {
    let like = roted::Endemic.info();
    let info = Protocol { name, family: name, functionality, adversary, ..*like };
    Box::leak(Box::new(Double(Box::leak(Box::new(info)))))
}

/// The registry, and what it may hold one day.
fn bases() -> Vec<&'static dyn BaseOt> {
    let mut bases = registry().to_vec();
    bases.push(double("weak", Functionality::Endemic, SemiHonest));
    bases.push(double("chosen", Functionality::ChosenMessage, Malicious));
    bases
}

/// Returns the chosen base OT and extension, or the message and hint.
fn choose(
    base: &str,
    extension: &str,
    adversary: Adversary,
    job: Purpose,
) -> Result<[&'static str; 2], String> {
    match of(&bases(), base, extension, adversary, job) {
        Ok(method) => Ok([method.base.info().name, method.extension_name()]),
        Err(e) => {
            let message = e.message().to_owned();
            Err(format!("{message}; {}", e.hint.unwrap_or_default()))
        }
    }
}

#[test]
fn random_keys_come_from_random_base_ots_and_all_else_from_endemic_ones() {
    for (name, adversary, extension) in [
        ("softspoken", Malicious, "softspoken-4"),
        ("softspoken", SemiHonest, "softspoken-4-semi-honest"),
        ("softspoken-8", Malicious, "softspoken-8"),
        ("softspoken-1", SemiHonest, "softspoken-1-semi-honest"),
        ("kos", Malicious, "kos"),
        ("iknp", SemiHonest, "iknp"),
    ] {
        for (job, base) in [(Purpose::Random, "roted"), (Purpose::Messages, "roted-endemic")] {
            assert_eq!(choose("roted", name, adversary, job), Ok([base, extension]));
        }
    }
}

#[test]
fn without_an_extension_the_job_decides_on_the_mode() {
    assert_eq!(choose("roted", "none", Malicious, Purpose::Random), Ok(["roted", "none"]));
    assert_eq!(
        choose("roted", "none", Malicious, Purpose::Messages),
        Ok(["roted-endemic", "none"])
    );
    assert_eq!(choose("weak", "none", SemiHonest, Purpose::Messages), Ok(["weak", "none"]));
    for name in ["chosen", "weak"] {
        let why = choose(name, "none", Malicious, Purpose::Random).unwrap_err();
        assert!(why.contains("is not random OT with abort"), "{why}");
    }
}

#[test]
fn semi_honest_protocols_need_the_option() {
    for (base, extension, adversary, words) in [
        (
            "roted",
            "iknp",
            Malicious,
            "pass --semi-honest to accept that, or use kos, kos-two-round, ",
        ),
        ("roted", "softspoken-2-semi-honest", Malicious, "is secure against semi-honest peers"),
        ("weak", "none", Malicious, "weak is secure against semi-honest peers only"),
    ] {
        let why = choose(base, extension, adversary, Purpose::Messages).unwrap_err();
        assert!(why.contains(words), "{why}");
    }
}

#[test]
fn semi_honest_mode_accepts_malicious_protocols() {
    for (base, extension, job, chosen) in [
        ("roted", "none", Purpose::Messages, ["roted-endemic", "none"]),
        ("roted", "none", Purpose::Random, ["roted", "none"]),
        ("roted", "kos", Purpose::Messages, ["roted-endemic", "kos"]),
        (
            "roted",
            "kos-two-round",
            Purpose::Messages,
            ["kos-two-round:roted-endemic", "kos-two-round"],
        ),
    ] {
        assert_eq!(choose(base, extension, SemiHonest, job), Ok(chosen));
        assert_eq!(choose(base, extension, Malicious, job), Ok(chosen));
    }
    // What has a variant for semi-honest peers is taken in it.
    let chosen = choose("roted", "softspoken", SemiHonest, Purpose::Random).unwrap();
    assert_eq!(chosen[1], "softspoken-4-semi-honest");
}

#[test]
fn a_base_ot_that_cannot_carry_the_extension_is_refused_with_the_reason() {
    for (base, adversary, words) in [
        ("weak", Malicious, "weak cannot carry softspoken-4: it is secure against semi-honest"),
        ("chosen", Malicious, "chosen-message OT is not enough under an extension"),
        ("nothing", Malicious, "unknown base OT nothing"),
    ] {
        let why = choose(base, "softspoken", adversary, Purpose::Random).unwrap_err();
        assert!(why.contains(words), "{why}");
    }
    for base in ["weak", "chosen"] {
        let chosen = choose(base, "softspoken", SemiHonest, Purpose::Random).unwrap();
        assert_eq!(chosen, [base, "softspoken-4-semi-honest"]);
    }
}

#[test]
fn the_whole_is_as_secure_as_its_weaker_part() {
    let method = |base, extension, adversary| {
        of(&bases(), base, extension, adversary, Purpose::Messages).unwrap()
    };
    for (method, adversary) in [
        (method("roted", "none", Malicious), Malicious),
        (method("weak", "none", SemiHonest), SemiHonest),
        (method("roted", "kos", Malicious), Malicious),
        (method("roted", "softspoken", SemiHonest), SemiHonest),
        (method("weak", "iknp", SemiHonest), SemiHonest),
    ] {
        assert_eq!(method.adversary(), adversary);
        assert!(words(&method).ends_with(&format!("{adversary} security")));
    }
}

#[test]
fn two_rounds_are_for_transfers_over_a_base_ot_of_two_flows() {
    for (base, name) in [
        ("roted", "kos-two-round:roted-endemic"),
        ("mcquoid-rosulek-roy", "kos-two-round:mcquoid-rosulek-roy:feistel:moeller"),
        (
            "mcquoid-rosulek-roy:feistel2:ristretto",
            "kos-two-round:mcquoid-rosulek-roy:feistel2:ristretto",
        ),
    ] {
        let job = Purpose::Messages;
        assert_eq!(choose(base, "kos-two-round", Malicious, job), Ok([name, "kos-two-round"]));
    }
    let method = of(&bases(), "roted", "kos-two-round", Malicious, Purpose::Messages).unwrap();
    assert_eq!(words(&method), "kos-two-round:roted-endemic, malicious security");
    assert_eq!(method.batch(), 1 << 16);
    for (base, adversary, job, words) in [
        (
            "roted",
            Malicious,
            Purpose::Random,
            "not work with rot: its keys are not random if a peer cheats",
        ),
        ("pvw", Malicious, Purpose::Messages, "chosen-message OT is not enough"),
        (
            "rot-from-ot:pvw",
            Malicious,
            Purpose::Messages,
            "it takes more than one message of either",
        ),
        (
            "mcquoid-rosulek-roy:eke:moeller",
            Malicious,
            Purpose::Messages,
            "there is no variant over it",
        ),
        ("csw", Malicious, Purpose::Messages, "OT with selective failure is not enough"),
        ("chou-orlandi", Malicious, Purpose::Messages, "semi-honest peers only"),
        ("nothing", Malicious, Purpose::Messages, "unknown base OT nothing; kos-two-round can"),
    ] {
        let why = choose(base, "kos-two-round", adversary, job).unwrap_err();
        assert!(why.contains(words), "{why}");
    }
}

/// A corrupt sender of an endemic base OT's other side chooses Δ.
#[test]
fn random_keys_do_not_come_from_a_base_ot_that_is_only_endemic() {
    let of = |extension, adversary, job| choose("mcquoid-rosulek-roy", extension, adversary, job);
    let why = of("softspoken", Malicious, Purpose::Random).unwrap_err();
    assert!(why.contains("its keys are not random if a peer cheats"), "{why}");
    let base = "mcquoid-rosulek-roy:feistel:moeller";
    assert_eq!(of("softspoken", Malicious, Purpose::Messages), Ok([base, "softspoken-4"]));
    assert_eq!(of("iknp", SemiHonest, Purpose::Random), Ok([base, "iknp"]));
}

/// Tests the extensions over each base OT on Curve25519, and the hint for a user who wants another.
#[test]
fn base_ots_over_the_curve_carry_the_extensions_their_security_allows() {
    let job = Purpose::Messages;
    for base in ["mcquoid-rosulek-roy:eke:elligator", "masny-rindal", "masny-rindal-reuse"] {
        assert_eq!(choose(base, "none", Malicious, job), Ok([base, "none"]));
        assert_eq!(choose(base, "softspoken", Malicious, job), Ok([base, "softspoken-4"]));
        assert_eq!(choose(base, "kos", Malicious, job), Ok([base, "kos"]));
    }
    for base in ["chou-orlandi", "naor-pinkas"] {
        for extension in ["none", "kos", "softspoken"] {
            let why = choose(base, extension, Malicious, job).unwrap_err();
            assert!(why.contains("semi-honest peers only"), "{why}");
        }
        assert_eq!(choose(base, "none", SemiHonest, job), Ok([base, "none"]));
        assert_eq!(choose(base, "iknp", SemiHonest, job), Ok([base, "iknp"]));
    }
    // Selective failure is harmless below kos only.
    assert_eq!(choose("csw", "kos", Malicious, job), Ok(["csw", "kos"]));
    assert_eq!(choose("csw", "iknp", SemiHonest, job), Ok(["csw", "iknp"]));
    for (extension, job) in [("none", job), ("softspoken", job), ("softspoken", Purpose::Random)] {
        let why = choose("csw", extension, Malicious, job).unwrap_err();
        assert!(why.contains("selective failure") || why.contains(" is not "), "{why}");
    }
    assert!(choose("csw", "kos", Malicious, Purpose::Random).is_err());
    let why = choose("nothing", "softspoken", Malicious, job).unwrap_err();
    let all =
        "can use roted, roted-endemic, mcquoid-rosulek-roy, masny-rindal, masny-rindal-reuse, rot";
    assert!(why.contains(all), "{why}");
    let why = choose("nothing", "none", SemiHonest, job).unwrap_err();
    assert!(why.ends_with("masny-rindal or chou-orlandi or naor-pinkas or weak"), "{why}");
}
