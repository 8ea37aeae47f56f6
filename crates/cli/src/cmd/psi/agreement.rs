//! The terms of one side, the agreement of both, and what is said of it.

use std::{sync::Arc, time::Duration};

use foxtrot::{
    job::{Agreement, Hello, Role, Table},
    policy::Policy,
    psi::{
        Assumption, Function, Options,
        agreement::{KeyTerms, PsiAgreement, PsiTerms},
        keys::without_usual_versions,
    },
};
use foxtrot_net::printable;
use foxtrot_ot::protocol::Protocol;
use foxtrot_psi::{
    circuit,
    method::{Method, Parameters},
};
use serde_json::{Map, Value, json};

use crate::{
    args::Common,
    failure::Failure,
    link::{Cost, Counted, Link},
    method,
    output::Output,
    policy,
    reach::Way,
    record::Entry,
    report::{Report, bytes, counted, estimate, object, of_this_machine},
    table::Set,
    workers::Workers,
};

/// Nanoseconds for each of the receiver's keys, and of the sender's, both parties together, with AVX-512, AVX2 and portable
/// code: fitted to runs with a million and with a tenth of it on the machine of `bench/record`.
const EACH: [[u64; 2]; 3] = [[1200, 700], [1400, 800], [2300, 1400]];

/// Rough estimates for the method with LPN, not yet fitted to runs.
const EACH_WITH_LPN: [[u64; 2]; 3] = [[350, 250], [450, 300], [1200, 900]];

/// The part of that which threads share: the CPU time of tasks, of all that both parties took for a
/// million keys each.
const SHARED: f64 = 0.5;

/// The terms of one side, and the policy that both enforce.
#[derive(Clone)]
pub(super) struct SetTerms {
    pub(super) psi: PsiTerms,
    pub(super) policy: Option<Arc<Policy>>,
}

/// The agreement of both sides.
pub(super) struct Agreed {
    pub(super) psi: PsiAgreement,
    policy: Option<Arc<Policy>>,
    /// The set that the peer asks for, or that we ask for.
    asked: Option<String>,
}

impl SetTerms {
    /// The terms of an intersection of sets that are still to be read; the peer has so many keys at most and at least.
    pub(super) fn new(
        role: Role,
        method: Method,
        [most, least]: [usize; 2],
        policy: Option<Arc<Policy>>,
    ) -> Self {
        let options = Options::of(method).max_peer_keys(most).min_peer_keys(least);
        Self { psi: PsiTerms::new(role, options), policy }
    }

    /// Changes what is compared.
    pub(super) fn with(self, change: impl FnOnce(PsiTerms) -> PsiTerms) -> Self {
        Self { psi: change(self.psi), policy: self.policy }
    }

    /// Adds the keys of a file, which was read once for each key.
    pub(super) fn of(&self, sets: &[Set]) -> Self {
        let key = |set: &Set| KeyTerms {
            normalize: set.keys.terms().into(),
            columns: set.key_columns(),
            size: set.keys.len(),
        };
        let keys = sets.iter().map(key).collect();
        self.clone().with(|psi| PsiTerms { keys, ..psi })
    }

    /// The normalisers of each key, which both sides compare.
    pub(super) fn normalised(&self) -> Vec<&str> {
        self.psi.keys.iter().map(|key| key.normalize.as_str()).collect()
    }

    /// The hello, if the policy allows it.
    pub(super) fn hello(&self) -> Result<Hello, Failure> {
        let hello = self.psi.hello()?;
        policy::check(self.policy.as_deref(), &hello)?;
        Ok(hello)
    }

    /// Meets the peer with this hello.
    pub(super) fn meet(
        &self,
        way: Way<'_>,
        hello: Hello,
        common: &Common,
        entry: &mut Entry,
    ) -> Result<Link, Failure> {
        entry.set("function", self.psi.function.name());
        entry.set("policy", self.policy.as_deref().map(Policy::id));
        entry.set("set", self.psi.set.clone());
        let terms = self.psi.clone();
        let more = move |met: Option<&_>| beginning(&terms, met);
        way.reach(common, hello, Output::new(common), entry, more)
    }

    /// Counts what a peer can test in a run on these terms, if its details suit this side.
    pub(super) fn counted(&self) -> Counted {
        let terms = self.psi.clone();
        Arc::new(move |details| Ok(terms.agree_on_sizes(details)?.counted_keys()))
    }
}

/// Fields on record when a run begins, with what the peer has told by then.
fn beginning(terms: &PsiTerms, met: Option<&Agreement>) -> Map<String, Value> {
    let first = terms.keys.first();
    let peers = met.and_then(|it| terms.peers_keys(&it.peer_details, 0).ok());
    let [receivers, senders] = terms.by_role(first.map(|key| key.size), peers);
    let Method { assumption, adversary, .. } = terms.method();
    object(json!({
        "assumption": assumption.name(),
        "adversary": adversary.to_string(),
        "normalize": first.map(|key| &key.normalize),
        "keys_receiver": receivers,
        "keys_sender": senders,
    }))
}

impl Agreed {
    pub(super) fn on(terms: &SetTerms, link: &mut Link) -> Result<Self, Failure> {
        Self::with(terms, &link.agreed.peer_details).map_err(|e| link.refuse(e))
    }

    /// Agrees with a peer that told these details. Whether our set is too large for it was found out before it
    /// learnt the size.
    pub(super) fn with(terms: &SetTerms, details: &Table) -> Result<Self, Failure> {
        let psi = terms.psi.agree(details)?;
        let asked = terms.psi.set.as_deref().map(printable);
        Ok(Self { psi, policy: terms.policy.clone(), asked })
    }

    fn terms(&self) -> &PsiTerms {
        &self.psi.terms
    }

    /// Tells a user, whose role is this or, without one, both. `count` is whether only a number is printed.
    pub(super) fn tell(&self, output: Output, role: Option<Role>, workers: &Workers, count: bool) {
        let mut lines = self.words(role, workers.threads());
        if count && let Some(line) = lines.get_mut(1) {
            line.push_str("; with --count the receiver's program still learns the rows");
        }
        lines.iter().for_each(|line| output.note(line));
        if self.psi.circuit().is_none() {
            output.detail(&self.details());
        }
    }

    /// Our columns of a key, as results name it.
    pub(super) fn key_name(&self, number: usize) -> String {
        let columns = self.terms().keys[number].columns.as_ref();
        columns.map_or_else(|| format!("key {}", number + 1), |names| names.join(","))
    }

    /// The key columns of this side and of the peer, where they have names.
    fn named_columns(&self, number: usize) -> [Option<String>; 2] {
        let ours = self.terms().keys[number].columns.as_ref();
        let ours = ours.map(|columns| printable(&columns.join(", ")));
        [ours, self.psi.peer_columns(number).map(printable)]
    }

    /// The numbers of keys of one pass, and their normalisers.
    fn sizes(&self, number: usize, role: Option<Role>) -> String {
        let pass = &self.psi.passes()[number];
        let (receivers, senders) = (pass.receiver_items(), pass.sender_items());
        let named = |it: Option<String>| it.map_or("".into(), |it| format!(" ({it})"));
        let [ours, peers] = self.named_columns(number).map(named);
        let keys = |n| counted(n, "key");
        let sizes = match role {
            Some(Role::Receiver) => {
                format!("{} here{ours}, {senders} at the peer{peers}", keys(receivers))
            }
            Some(Role::Sender) => {
                format!("{} here{ours}, {receivers} at the peer{peers}", keys(senders))
            }
            None => format!("{} at the receiver, {senders} at the sender", keys(receivers)),
        };
        let normalised = match normalisers_in_words(&self.terms().keys[number].normalize) {
            Some(names) => format!("keys normalised by {names}"),
            None => "keys not normalised".into(),
        };
        format!("{normalised}; {sizes}")
    }

    /// Terms, privacy and, for a long run, an estimate; a line each.
    pub(super) fn words(&self, role: Option<Role>, threads: usize) -> Vec<String> {
        let policy = self.policy.iter().map(|it| format!("policy of both sides: {}", it.words()));
        if self.psi.circuit().is_some() {
            return self.words_of_circuit().into_iter().chain(policy).collect();
        }
        let Method { adversary, assumption, .. } = self.terms().method();
        let passes = self.psi.passes();
        let receivers: Vec<_> = passes.iter().map(|it| it.receiver_items().to_string()).collect();
        let receivers = receivers.join(" and ");
        let learns = self.learns(role, &receivers);
        let bound = match self.psi.largest_set() {
            Some(most) => {
                let attempts = match self.psi.attempts() {
                    1 => String::new(),
                    n => format!(" in {n} attempts"),
                };
                format!("a cheating receiver can test at most {most} keys{attempts}")
            }
            None => "this holds only if both sides follow the protocol (--semi-honest)".into(),
        };
        let mut sizes = (0..passes.len()).map(|number| self.sizes(number, role));
        let first = sizes.next().unwrap_or_default();
        let mut lines = vec![
            format!("agreed: {adversary} security, assumption {assumption}, {first}"),
            format!("privacy: {learns}; {bound}"),
        ];
        lines.extend(
            sizes.map(|other| format!("agreed: rows are compared also by other keys: {other}")),
        );
        lines.extend(policy);
        let computed = match threads {
            1 => "both sides together".into(),
            _ => format!("both sides together with {threads} threads each"),
        };
        let size = self.payload(assumption).unwrap_or_default();
        let takes = self.computing(threads);
        lines.extend(estimate((size, "of traffic"), (takes, &computed)));
        lines
    }

    fn words_of_circuit(&self) -> [String; 2] {
        let terms = self.terms();
        let [receivers, senders] = self.psi.sizes();
        let [ours, theirs] = terms.by_role(receivers, senders);
        let normalised = &terms.keys[0].normalize;
        let sum = match (terms.function, terms.role) {
            (Function::Sum, Role::Sender) => ", and the sum of this side's numbers of these keys",
            (Function::Sum, Role::Receiver) => ", and the sum of the peer's numbers of these keys",
            _ => "",
        };
        let least = match terms.min_count {
            0 => String::new(),
            least => format!("; nothing if there are fewer than {least}"),
        };
        [
            format!(
                "agreed: semi-honest security, assumption lpn, keys normalised by {normalised}; {} here, {theirs} at the peer",
                counted(ours, "key")
            ),
            format!(
                "privacy: both sides learn how many keys are common{sum}{least}; neither learns which; each also learns the other's \
                 number of keys; this holds only if both sides follow the protocol (semi-honest)"
            ),
        ]
    }

    fn learns(&self, role: Option<Role>, receivers: &str) -> String {
        let with = match &self.terms().columns {
            Some(columns) => format!(", with columns {}", printable(&columns.names.join(", "))),
            None => String::new(),
        };
        match (self.terms().function, role) {
            (Function::Both, Some(Role::Receiver)) => format!(
                "each side learns which of its keys the other has; the peer also learns our number of keys ({receivers}) \
                 and the names of our key columns"
            ),
            (Function::Both, Some(Role::Sender)) => format!(
                "each side learns which of its keys the other has; this side also learns the peer's number of keys \
                 ({receivers}) and the names of its key columns; a peer that cheats or ends early can keep \
                 matches back, and invents none"
            ),
            (_, None) => format!(
                "the receiver learns which of its keys the sender has{with}; the sender learns only the \
                 receiver's number of keys ({receivers})"
            ),
            (_, Some(Role::Receiver)) => format!(
                "this side learns which of its keys the peer has{with}; the peer learns only our number of \
                 keys ({receivers}) and the names of our key columns"
            ),
            (_, Some(Role::Sender)) => format!(
                "the peer learns which of its keys are here{with}; this side learns only the peer's number of \
                 keys ({receivers}) and the names of its key columns"
            ),
        }
    }

    /// Protocols, versions of normalisers and the conditions of the bound, for `--verbose`.
    pub(super) fn details(&self) -> String {
        let passes = self.psi.passes().iter();
        let all: Vec<_> =
            passes.map(|it| format!("{} over {}", it.info().name, it.over())).collect();
        let all = all.join(" and ");
        let Method { base, adversary, .. } = self.terms().method();
        let base = base.info().name;
        let normalize: Vec<_> = self.terms().keys.iter().map(|it| &*it.normalize).collect();
        let normalize = normalize.join(" | ");
        let bound = match self.psi.largest_set() {
            Some(_) => {
                "; the bound on keys holds for up to 2^80 hashes, except with probability about 2^-40"
            }
            None => "",
        };
        format!(
            "protocol: {all} from base OT {base}, {adversary} security; normalisers \
             {normalize}{bound}"
        )
    }

    /// Bytes of both parties under this assumption.
    fn payload(&self, assumption: Assumption) -> Option<u64> {
        let method = Method { assumption, ..self.terms().method() };
        let bytes = |it: &Parameters| {
            let parameters = method.parameters(it.receiver_items(), it.sender_items());
            Some(parameters.ok()?.bytes(method.base) as u64)
        };
        self.psi.passes().iter().map(bytes).sum()
    }

    /// The bytes with LPN, if they are a tenth less at least.
    pub(super) fn hint(&self) -> Option<String> {
        let is = self.payload(self.terms().method().assumption)?;
        let would = self.payload(Assumption::Lpn)?;
        (would <= is / 10 * 9).then(|| {
            let [is, would] = [is, would].map(bytes);
            format!("with --assumption lpn on both sides: {would} instead of {is}; LPN is a younger assumption")
        })
    }

    /// `key columns: email here, E-Mail at the peer`.
    pub(super) fn columns_in_words(&self) -> String {
        let words = |number| {
            let [ours, peers] = self.named_columns(number);
            let (ours, peers) =
                (ours.unwrap_or("whole lines".into()), peers.unwrap_or("no name".into()));
            format!("{ours} here, {peers} at the peer")
        };
        let all: Vec<_> = (0..self.terms().keys.len()).map(words).collect();
        format!("key columns: {}", all.join("; "))
    }

    /// About how long both parties compute, one after the other, with so many threads each.
    fn computing(&self, threads: usize) -> Duration {
        let of = |keys: usize, each: u64| Duration::from_nanos(each.saturating_mul(keys as u64));
        let each = match self.terms().method().assumption {
            Assumption::Lpn => EACH_WITH_LPN,
            Assumption::Symmetric => EACH,
        };
        let ([receivers, senders], each) = (self.psi.sizes(), of_this_machine(each));
        let all = of(receivers, each[0]) + of(senders, each[1]);
        all.mul_f64(1.0 - SHARED + SHARED / threads as f64)
    }

    /// The figures of a run in which the sender, the receiver or both were here. `n` is the number of
    /// the receiver's keys.
    pub(super) fn report(&self, threads: usize, costs: [Option<&Cost>; 2]) -> Report {
        let [n, _] = self.psi.sizes();
        let (name, protocol): (_, &Protocol) = match self.psi.passes() {
            [] => (self.terms().function.name(), &circuit::PROTOCOL),
            // Passes may differ in their protocols, by their sizes; the first stands for all.
            [first, ..] => (first.info().name, first.info()),
        };
        let Method { base, adversary, .. } = self.terms().method();
        let about = [
            format!("psi/{name}"),
            method::params_over(Some(protocol), base.info()),
            method::security_over(Some(protocol), base.info(), adversary),
        ];
        Report::of_parties(about, (n, threads), costs)
    }

    pub(super) fn json(&self) -> Map<String, Value> {
        let (terms, [receivers, senders]) = (self.terms(), self.psi.sizes());
        let Method { assumption, adversary, .. } = terms.method();
        let common = json!({
            "function": terms.function.name(),
            "policy": self.policy.as_ref().map(|policy| policy.id()),
            "assumption": assumption.name(),
            "adversary": adversary.to_string(),
        });
        let mut map = object(common);
        if self.psi.circuit().is_some() {
            map.extend(object(json!({
                "normalize": terms.keys[0].normalize,
                "keys_receiver": receivers,
                "keys_sender": senders,
                "min_count": terms.min_count,
                "largest": terms.largest,
            })));
            return map;
        }
        let [symmetric, lpn] = Assumption::ALL.map(|it| self.payload(it));
        let pass = |(number, it): (usize, &Parameters)| {
            object(json!({
                "normalize": terms.keys[number].normalize,
                "key_columns": terms.keys[number].columns,
                "peer_key_columns": self.psi.peer_columns(number).map(printable),
                "keys_receiver": it.receiver_items(),
                "keys_sender": it.sender_items(),
            }))
        };
        let mut passes = self.psi.passes().iter().enumerate().map(pass);
        map.extend(passes.next().unwrap_or_default());
        let others: Vec<_> = passes.collect();
        if !others.is_empty() {
            map.insert("or_keys".into(), others.into());
        }
        map.extend(object(json!({
            "columns": terms.columns.as_ref().map(|columns| &columns.names),
            "set": self.asked,
            "payload_bytes_symmetric": symmetric,
            "payload_bytes_lpn": lpn,
            "most_keys_of_a_cheating_receiver": self.psi.largest_set(),
        })));
        map
    }
}

/// Normalisers without the versions that their names stand for, unless they change nothing.
fn normalisers_in_words(terms: &str) -> Option<String> {
    let names = without_usual_versions(terms);
    names.split(';').any(|it| it != "none").then_some(names)
}

#[cfg(test)]
mod tests {
    use foxtrot::psi::{
        agreement::Columns,
        fields::{Duplicates, Padding},
        terms::{COLUMNS, KEY_COLUMNS, MIN_COUNT, SET},
    };
    use foxtrot_ot::base::{Adversary, roted::Endemic};
    use proptest::prelude::*;

    use super::*;

    fn terms(role: Role, function: Function) -> SetTerms {
        let (assumption, adversary) = (Assumption::Symmetric, Adversary::Malicious);
        let method = Method { base: &Endemic, assumption, adversary };
        let key = KeyTerms { normalize: "email/1".into(), columns: None, size: 3 };
        let padding = Padding { width: 8, duplicates: Duplicates::First };
        let columns = Columns { names: vec!["city".into()], padding };
        let keys = vec![key.clone(), key];
        let columns = (function == Function::Join).then_some(columns);
        let terms = SetTerms::new(role, method, [1000, 0], None);
        terms.with(|psi| PsiTerms { keys, function, columns, ..psi })
    }

    proptest! {
        #[test]
        fn whatever_a_peer_tells_is_used_or_refused_in_printable_words(
            told in prop::collection::btree_map(
                prop::sample::select(vec![
                    "keys", "keys-2", KEY_COLUMNS, "key-columns-2", COLUMNS, SET, MIN_COUNT,
                ]),
                prop_oneof![
                    "[0-9]{1,20}",
                    "(city|\\PC|\\n|\u{1b}|\u{202e}|\u{9b}){0,20}",
                    any::<String>(),
                ],
                0..7,
            ),
            honest: bool,
            function in prop::sample::select(vec![
                Function::Intersection, Function::Join, Function::Both,
            ]),
            role in prop::sample::select(vec![Role::Sender, Role::Receiver]),
        ) {
            let sizes = ["keys", "keys-2"].map(|key| (key.to_owned(), "3".to_owned()));
            let told = told.into_iter().map(|(key, value)| (key.to_owned(), value));
            let told: Table = told.chain(sizes.into_iter().filter(|_| honest)).collect();
            let said = match Agreed::with(&terms(role, function), &told) {
                Ok(agreed) => {
                    let words = agreed.words(Some(role), 1).concat();
                    let _ = agreed.psi.memory();
                    words + &agreed.details() + &agreed.columns_in_words()
                }
                Err(failure) => failure.message().into(),
            };
            prop_assert!(said.chars().all(foxtrot_net::is_shown), "{said:?}");
        }
    }

    #[test]
    fn normalisers_are_shown_without_their_usual_version() {
        let words = |terms| normalisers_in_words(terms);
        assert_eq!(words("email/2;phone/2").as_deref(), Some("email;phone"));
        assert_eq!(words("trim/2,lower/1;none/1").as_deref(), Some("trim/2,lower;none"));
        assert_eq!(words("none/1;none/1"), None);
    }
}
