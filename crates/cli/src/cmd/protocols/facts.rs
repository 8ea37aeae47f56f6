//! Facts that protocols of one kind have and others have not.

use foxtrot_ot::{
    extension::{self, one_of_n},
    protocol::{Protocol, ProtocolKind},
    silent,
    transfers::TWO_ROUND_RUN,
};
use foxtrot_psi::{
    circuit, paxos,
    vole_psi::{self, Vole},
};
use serde_json::{Value, json};

use crate::cmd::triples::{bounds::wrong_log2, kind};

/// The number of OTs, keys of each side, or triples that facts are about.
pub(super) const N: usize = 1 << 20;

/// A fact with its key in JSON, and the head of its column if the tables have one.
pub(super) struct Fact {
    pub(super) key: &'static str,
    pub(super) value: Value,
    pub(super) column: Option<&'static str>,
    pub(super) text: String,
}

fn fact(key: &'static str, column: &'static str, value: Value) -> Fact {
    let text = match &value {
        Value::Null => "-".into(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    Fact { key, value, column: (!column.is_empty()).then_some(column), text }
}

pub(super) fn facts(protocol: &Protocol) -> Vec<Fact> {
    let &Protocol { name, adversary, .. } = protocol;
    match protocol.kind {
        ProtocolKind::Extension => {
            let of_extension = extension::find(name, adversary).map(|it| it.max_batch());
            let of_silent = || silent::find(name, adversary).map(|it| it.max_batch());
            let batch = of_extension.or_else(of_silent).unwrap_or(TWO_ROUND_RUN);
            vec![fact("batch", "", batch.into())]
        }
        ProtocolKind::OneOfN => one_of_n::find(name, adversary).map_or(Vec::new(), |it| {
            vec![
                fact("word_bits", "word bits", it.parameters().word_bits.into()),
                fact("base_ots_needed", "base OTs", it.parameters().length.into()),
                fact("batch", "", it.max_batch().into()),
            ]
        }),
        ProtocolKind::Psi => {
            let (over, base_ots, most) = if let Some(vole) = Vole::find(name, adversary) {
                let most =
                    vole_psi::Parameters::of(vole, N, N).ok().and_then(|it| it.largest_set());
                (vole.name(), 128, most)
            } else if name == circuit::PROTOCOL.name {
                (silent::ot_16_semi_honest().name(), 128, None)
            } else if let Ok(it) = paxos::Parameters::new(adversary, N, N) {
                (it.extension().name(), it.base_ots(), it.largest_set())
            } else {
                return Vec::new();
            };
            let ratio = most.map_or("-".into(), |most| format!("{:.2}", most as f64 / N as f64));
            let most = fact("most_keys_of_a_cheating_receiver_1048576", "n'/n", json!(most));
            vec![
                fact("extension", "over", over.into()),
                fact("base_ots_needed", "base OTs", base_ots.into()),
                Fact { text: ratio, ..most },
            ]
        }
        ProtocolKind::Triples => kind::TripleKind::find(name).map_or(Vec::new(), |it| {
            let (wrong, keys) = match it {
                kind::TripleKind::Rlwe(set) => {
                    (Some(wrong_log2(set, 1).ceil()), set.public_key_len())
                }
                kind::TripleKind::Gilboa(_) | kind::TripleKind::Bits(_) => (None, 0),
            };
            let text = wrong.map_or("none".into(), |wrong| format!("2^{wrong:.0}"));
            vec![
                fact("bits", "", it.bits().into()),
                fact("sigma", "sigma", json!(it.sigma())),
                Fact { text, ..fact("wrong_log2", "wrong", json!(wrong)) },
                fact("key_bytes", "", keys.into()),
                fact("set_up_bytes", "", it.set_up_bytes().into()),
            ]
        }),
        _ => Vec::new(),
    }
}
