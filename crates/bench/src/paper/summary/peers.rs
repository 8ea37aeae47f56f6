//! Other programs beside ours: from records of both on one machine, in turns.

use super::{Record, number, ratio};

/// Columns: table, what, unit, peer, theirs, ours, whether it stands for the record, and more of `beside`.
pub(crate) const FILE: &str = "side-by-side.csv";

/// The factor by which rounds of one program differ.
const NOISE: f64 = 1.25;

/// A line with what stands for the newest record of that kind; nothing if there is none.
pub(super) fn summary(records: &[Record]) -> String {
    let Some(record) = records.iter().find(|record| !record.peers.is_empty()) else {
        return String::new();
    };
    let entries: Vec<_> = record.peers.iter().filter_map(|line| entry(line)).collect();
    if entries.is_empty() {
        return String::new();
    }
    format!("| Side by side, in turns: {} | {} |\n", record.link(), entries.join("; "))
}

fn entry(line: &[String]) -> Option<String> {
    let [_, what, unit, peer, theirs, ours, headline, ..] = line else { return None };
    let [theirs, ours] = [theirs, ours].map(|number| number.parse::<f64>().ok());
    let (theirs, ours) = (theirs?, ours?);
    if headline != "yes" || !(theirs > 0.0 && ours > 0.0) {
        return None;
    }
    let quotient = theirs / ours;
    let noisy = !unit.starts_with("bytes") && (1.0 / NOISE..NOISE).contains(&quotient);
    let quotient = if noisy { "about equal".into() } else { ratio(quotient) };
    let (theirs, ours) = (number(theirs), number(ours));
    Some(format!("{what}, {peer}: {theirs} → {ours} {unit} ({quotient})"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::record::fields;

    fn record(name: &str, lines: &[&str]) -> Record {
        let peers = lines.iter().map(|line| fields(line)).collect();
        Record { name: name.into(), lines: Vec::new(), peers }
    }

    #[test]
    fn peers_of_one_machine_have_ratios_but_within_the_noise() {
        let lines = [
            "t,\"a, b\",ms,peer,30,10,yes",
            "t,c,ms,peer,1.2,1,yes",
            "t,d,bytes per item,peer,1,1.1,yes",
            "t,e,ms,peer,30,10,",
            "t,f,ms,peer,30,none,yes",
            "t,g,ms",
        ];
        let text = summary(&[record("3", &[]), record("2", &lines), record("1", &lines[..1])]);
        let entries = "a, b, peer: 30 → 10 ms (× 3); c, peer: 1.2 → 1 ms (about equal); \
                       d, peer: 1 → 1.1 bytes per item (× 0.91)";
        let head = "Side by side, in turns: [2](../bench/record/2)";
        assert_eq!(text, format!("| {head} | {entries} |\n"));
        assert_eq!(summary(&[record("3", &[])]), "");
        assert_eq!(summary(&[record("2", &lines[3..])]), "");
    }
}
