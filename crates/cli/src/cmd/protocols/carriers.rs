//! The base OTs that carry each protocol.

use std::collections::BTreeSet;

use foxtrot_ot::{
    base::{self, Adversary},
    extension::{self, two_round},
    protocol::{Protocol, ProtocolKind, compatible},
};
use serde_json::{Map, Value};

fn bases() -> impl Iterator<Item = &'static Protocol> {
    base::registry().iter().map(|base| base.info())
}

/// The base OTs that may carry a protocol, and why not the others. Triples have one of their own.
pub(super) fn in_json(above: &Protocol) -> Vec<(&'static str, Value)> {
    if let ProtocolKind::BaseOt | ProtocolKind::Triples = above.kind {
        return Vec::new();
    }
    let (mut carriers, mut refused) = (Vec::new(), Map::new());
    for base in bases() {
        match compatible(base, above) {
            Ok(()) => carriers.push(base.name),
            Err(why) => drop(refused.insert(base.name.into(), why.to_string().into())),
        }
    }
    vec![("base_ots", carriers.into()), ("base_ots_refused", refused.into())]
}

/// The base OTs that carry a protocol, or the extensions that a base OT carries, with a title.
pub(super) fn of(it: &Protocol) -> (&'static str, String) {
    match it.kind {
        ProtocolKind::BaseOt => ("carries", carries(it)),
        ProtocolKind::Triples => ("", String::new()),
        _ => {
            let names = bases().filter(|base| compatible(base, it).is_ok()).map(|base| base.name);
            ("base OTs", names.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Lists for each base OT the extensions that it carries, and why not the others.
pub(super) fn table() -> Vec<Vec<String>> {
    let rows = bases().map(|base| vec![base.name.into(), carries(base)]);
    [vec!["base OT".into(), "carries".into()]].into_iter().chain(rows).collect()
}

fn carries(base: &Protocol) -> String {
    let verdicts = |adversary| {
        let all = extension::PROTOCOLS.iter().filter(move |it| it.adversary == adversary);
        all.map(|extension| (extension.family, compatible(base, extension)))
    };
    let why = |adversary| verdicts(adversary).find_map(|(_, verdict)| verdict.err());
    let some = verdicts(Adversary::Malicious).filter(|(_, verdict)| verdict.is_ok());
    let some: BTreeSet<_> = some.map(|(family, _)| family).collect();
    match (why(Adversary::Malicious), why(Adversary::SemiHonest)) {
        (None, _) => match compatible(base, &two_round::PROTOCOL) {
            Ok(()) => "every extension".into(),
            Err(why) => format!("every extension but {}: {why}", two_round::FAMILY),
        },
        (Some(why), None) if some.is_empty() => format!("semi-honest extensions only: {why}"),
        (Some(why), None) => {
            let some = some.into_iter().collect::<Vec<_>>().join(", ");
            format!("{some} and semi-honest extensions only: {why}")
        }
        (_, Some(why)) => format!("no extension: {why}"),
    }
}

#[cfg(test)]
mod tests {
    use foxtrot_ot::base::{BaseOt, Functionality, roted};

    use super::*;

    #[test]
    fn a_base_ot_is_listed_with_the_reasons_against_it() {
        let like = roted::Endemic.info();
        assert_eq!(carries(like), "every extension");
        let weak = Protocol { adversary: Adversary::SemiHonest, ..*like };
        let why = "it is secure against semi-honest peers only, the extension is not";
        assert_eq!(carries(&weak), format!("semi-honest extensions only: {why}"));
        let chosen = Protocol { functionality: Functionality::ChosenMessage, ..*like };
        assert!(carries(&chosen).contains("only: chosen-message OT is not enough"));
        let guessed = Protocol { functionality: Functionality::SelectiveFailure, ..*like };
        let of_guessed = carries(&guessed);
        let expected =
            "kos and semi-honest extensions only: OT with selective failure is not enough";
        assert!(of_guessed.starts_with(expected), "{of_guessed}");
        let unnamed = Protocol { name: "another", ..*like };
        let expected = "every extension but kos-two-round: there is no variant over it";
        assert_eq!(carries(&unnamed), expected);
    }
}
