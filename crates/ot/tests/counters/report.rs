//! The counts that the report of the papers' tables has.

use std::{fs, path::Path};

use foxtrot_ot::pair::PairParty;
use foxtrot_papers::base_ots;

use super::{Work, row, row_of_pair};

/// Evaluates a `counter` of a file in `bench/tables`: a protocol, or one less another (`a-b`), a party or both, and
/// the operation. A counter that ends in `-of-one` belongs to a batch of one, including the work done once. Other
/// byte counts are of 128 instances, so that a message sent once for a batch is a fraction, and falls away.
fn counted(counter: &str) -> Option<f64> {
    let [protocols, party, what] = counter.split(' ').collect::<Vec<_>>()[..] else { return None };
    let names: Vec<_> = base_ots().map(|base| base.info().name).collect();
    let less = names.iter().find_map(|name| {
        let other = protocols.strip_prefix(name)?.strip_prefix('-')?;
        names.contains(&other).then_some((*name, Some(other)))
    });
    let (protocol, other) = less.unwrap_or((protocols, None));
    if what == "flows" {
        let base = base_ots().find(|base| base.info().name == protocol)?;
        return Some(base.info().flows as f64);
    }
    let figure = |protocol: &str, party| {
        let pair = row_of_pair(names.iter().find(|name| **name == protocol)?, party);
        let row = pair.as_ref().unwrap_or_else(|| row(protocol, party));
        let Work { transforms, noise, oracle, points, .. } = row.per_instance;
        Some(match what {
            "transforms" => transforms,
            "noise" => noise,
            "oracle" => oracle,
            "points" => points,
            "points-of-one" => row.per_batch.points + points,
            "oracle-of-one" => row.per_batch.oracle + oracle,
            "bytes-of-one" => bytes_of_one(protocol, party)?,
            "messages" => row.messages,
            "bytes" => row.bytes_of_128 / 128,
            _ => return None,
        } as f64)
    };
    let of = |protocol: &str| match party {
        "sender" => figure(protocol, PairParty::Sender),
        "receiver" => figure(protocol, PairParty::Receiver),
        "both" => {
            Some(figure(protocol, PairParty::Sender)? + figure(protocol, PairParty::Receiver)?)
        }
        _ => None,
    };
    Some(of(protocol)? - other.map_or(Some(0.0), of)?)
}

/// Returns the bytes that a protocol announces for a party; a run of every protocol is compared
/// with them.
fn bytes_of_one(protocol: &str, party: PairParty) -> Option<usize> {
    let info = base_ots().map(|base| base.info()).find(|info| info.name == protocol)?;
    Some(match party {
        PairParty::Sender => (info.sender_bytes)(1),
        PairParty::Receiver => (info.receiver_bytes)(1),
    })
}

/// `foxtrot-bench paper` shows these numbers beside the papers'.
#[test]
fn the_tables_of_the_report_have_the_numbers_that_are_counted_here() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/tables");
    for (name, numbers) in [("roted-1", 48), ("batching-1", 35)] {
        let text = fs::read_to_string(folder.join(name).with_extension("toml")).unwrap();
        let table: toml::Table = toml::from_str(&text).unwrap();
        let mut checked = 0;
        for row in table["row"].as_array().unwrap() {
            let Some(ours) = row.get("counted") else { continue };
            let counter = row["counter"].as_str().unwrap();
            let ours = ours["count"].as_integer().unwrap();
            assert_eq!(counted(counter), Some(ours as f64), "{name}: {counter}");
            checked += 1;
        }
        assert_eq!(checked, numbers, "{name}");
    }
}
