//! The agreement of both sides, and its consequences.

use std::{sync::Arc, time::Duration};

use foxtrot::{
    policy::Policy,
    psi::{
        Function,
        fields::{Fields, Padding},
    },
};
use foxtrot_net::{
    Reason,
    hello::{Agreement, Hello, Role, Table, numbered},
    jobs::{
        self, COLUMNS, DUPLICATES, FUNCTION, KEY_COLUMNS, LARGEST, MIN_COUNT, OR_NORMALIZE, SET,
        VALUE, WIDTH,
    },
    printable,
};
use foxtrot_ot::protocol::Protocol;
use foxtrot_psi::{
    join,
    method::{Assumption, Method, Parameters},
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

/// The terms of one side; in an agreement those of both.
#[derive(Clone)]
pub(super) struct Terms {
    pub(super) role: Role,
    pub(super) method: Method,
    /// The keys by which rows are compared, one pass each.
    pub(super) keys: Vec<Key>,
    /// The most keys that the peer may have.
    pub(super) most: usize,
    /// The fewest.
    pub(super) least: usize,
    pub(super) function: Function,
    /// Columns of the sender: those that it shares, those that the receiver asks for, or those that it gets.
    pub(super) columns: Option<Columns>,
    pub(super) policy: Option<Arc<Policy>>,
    /// The name of the sender's set, if it has several.
    pub(super) asked: Option<String>,
    /// The shard, of an intersection on many machines.
    pub(super) shard: Option<jobs::Shard>,
    /// The fewest common keys that a count or a sum tells.
    pub(super) min_count: u64,
    /// The largest number of a sum.
    pub(super) largest: Option<u64>,
    /// The name of the column that is added up, if it is ours.
    pub(super) value: Option<String>,
}

#[derive(Clone)]
pub(super) struct Columns {
    pub(super) names: Vec<String>,
    pub(super) padding: Padding,
}

#[derive(Clone)]
pub(super) struct Key {
    /// The normalisers of its parts.
    normalize: String,
    columns: Option<Vec<String>>,
    /// The number of our keys.
    pub(super) size: usize,
}

/// A pass over all rows by one key.
struct Pass {
    parameters: Parameters,
    key: Key,
    /// The peer's columns as the peer told them, made printable.
    peer_columns: Option<String>,
}

pub(super) struct Agreed {
    /// Our terms, with the columns and the set that both sides agreed on.
    pub(super) terms: Terms,
    passes: Vec<Pass>,
}

impl Terms {
    /// The terms of an intersection of sets that are still to be read; the peer has so many keys at most and at least.
    pub(super) fn new(
        role: Role,
        method: Method,
        [most, least]: [usize; 2],
        policy: Option<Arc<Policy>>,
    ) -> Self {
        Self {
            role,
            method,
            keys: Vec::new(),
            most,
            least,
            function: Function::Intersection,
            columns: None,
            policy,
            asked: None,
            shard: None,
            min_count: 0,
            largest: None,
            value: None,
        }
    }

    /// Adds the keys of a file, which was read once for each key.
    pub(super) fn of(&self, sets: &[Set]) -> Self {
        let key = |set: &Set| Key {
            normalize: set.terms(),
            columns: set.key_columns(),
            size: set.items.len(),
        };
        Self { keys: sets.iter().map(key).collect(), ..self.clone() }
    }

    /// The number of the peer's keys in a pass, if this side accepts it.
    pub(super) fn peers_keys(&self, details: &Table, pass: usize) -> Result<usize, Failure> {
        Ok(jobs::peers_keys(details, pass, self.least..=self.most)?)
    }

    /// Puts what is ours and the peer's in the order of receiver and sender, or back.
    pub(super) fn by_role<T>(&self, ours: T, peers: T) -> [T; 2] {
        match self.role {
            Role::Receiver => [ours, peers],
            Role::Sender => [peers, ours],
        }
    }

    /// The normalisers of each key, which both sides compare.
    pub(super) fn normalised(&self) -> Vec<&str> {
        self.keys.iter().map(|key| key.normalize.as_str()).collect()
    }

    /// Meets the peer with this hello, if the policy allows it.
    pub(super) fn meet(
        &self,
        way: Way<'_>,
        hello: Hello,
        common: &Common,
        entry: &mut Entry,
    ) -> Result<Link, Failure> {
        entry.set("function", self.function.name());
        entry.set("policy", self.policy.as_deref().map(Policy::id));
        entry.set("set", self.asked.clone());
        policy::check(self.policy.as_deref(), &hello)?;
        let terms = self.clone();
        let begins = entry.begins(move |met| terms.beginning(met));
        let link = way.reach(common, hello, Output::new(common), &begins)?;
        entry.met(&link.peer, &link.agreed);
        Ok(link)
    }

    /// Returns true if the peer learns something of our set.
    pub(super) fn peer_learns(&self) -> bool {
        jobs::peer_learns(&self.hello())
    }

    /// Counts what a peer can test in a run on these terms.
    pub(super) fn counted(&self) -> Counted {
        let terms = self.clone();
        Arc::new(move |details| {
            let agreed = Agreed::with(&terms, details).ok()?;
            terms.peer_learns().then(|| agreed.counted_keys())
        })
    }

    /// Fields on record when a run begins, with what the peer has told by then.
    fn beginning(&self, met: Option<&Agreement>) -> Map<String, Value> {
        let ours = self.keys.first().map(|key| key.size);
        let peers = met.and_then(|it| self.peers_keys(&it.peer_details, 0).ok());
        let [receivers, senders] = self.by_role(ours, peers);
        object(json!({
            "assumption": self.method.assumption.name(),
            "adversary": self.method.adversary.to_string(),
            "normalize": self.normalised().first(),
            "keys_receiver": receivers,
            "keys_sender": senders,
        }))
    }

    /// The figures of a run of this protocol.
    pub(super) fn report(
        &self,
        name: &str,
        protocol: &Protocol,
        n_and_threads: (usize, usize),
        costs: [Option<&Cost>; 2],
    ) -> Report {
        let Method { base, adversary, .. } = self.method;
        let about = [
            format!("psi/{name}"),
            method::params_over(Some(protocol), base.info()),
            method::security_over(Some(protocol), base.info(), adversary),
        ];
        Report::of_parties(about, n_and_threads, costs)
    }

    pub(super) fn hello(&self) -> Hello {
        let (normalised, sizes) = (self.normalised(), self.keys.iter().map(|key| key.size));
        let (first, others) = normalised.split_first().unwrap_or((&"", &[]));
        let size = sizes.clone().next().unwrap_or(0);
        let hello = jobs::psi(self.role, &self.method, first, size, self.most);
        let hello = sizes.skip(1).fold(hello, |hello, size| hello.also_keys(size as u64));
        let hello = hello.at_least(self.least as u64);
        let hello = self.shard.iter().fold(hello, jobs::of_shard);
        let hello = self.asked.iter().fold(hello, |hello, name| hello.detail(SET, name));
        let hello = match self.function {
            Function::Intersection => hello,
            function => hello.term(FUNCTION, function),
        };
        let hello = match self.function {
            Function::Count | Function::Sum => hello.term(MIN_COUNT, self.min_count),
            _ => hello,
        };
        let hello = self.largest.iter().fold(hello, |hello, it| hello.term(LARGEST, it));
        let hello = self.value.iter().fold(hello, |hello, name| hello.detail(VALUE, name));
        let hello = self.columns.iter().fold(hello, |hello, Columns { names, padding }| {
            hello
                .term(WIDTH, padding.width)
                .term(DUPLICATES, padding.duplicates.name())
                .detail(COLUMNS, names.join("\n"))
        });
        let hello = match others {
            [] => hello,
            _ => hello.term(OR_NORMALIZE, others.join(" | ")),
        };
        self.keys.iter().enumerate().fold(hello, |hello, (number, key)| {
            jobs::key_columns(hello, number, key.columns.as_deref())
        })
    }
}

impl Agreed {
    pub(super) fn on(terms: &Terms, link: &Link) -> Result<Self, Failure> {
        Self::with(terms, &link.agreed.peer_details).map_err(|e| link.refuse(e))
    }

    /// Agrees with a peer that told these details. Whether our set is too large for it was found out before it
    /// learnt the size.
    pub(super) fn with(terms: &Terms, peer_details: &Table) -> Result<Self, Failure> {
        let pass = |(number, key): (usize, &Key)| {
            let theirs = terms.peers_keys(peer_details, number)?;
            let [receivers, senders] = terms.by_role(key.size, theirs);
            let parameters = terms.method.parameters(receivers, senders)?;
            let peer_columns = peer_details.get(&numbered(KEY_COLUMNS, number));
            let peer_columns = peer_columns.map(|columns| printable(columns));
            Ok::<_, Failure>(Pass { parameters, key: key.clone(), peer_columns })
        };
        let passes = terms.keys.iter().enumerate().map(pass).collect::<Result<_, _>>()?;
        let columns = terms.columns.as_ref();
        let columns = columns.map(|it| it.agree(terms.role, peer_details)).transpose()?;
        let asked = match terms.role {
            Role::Receiver => terms.asked.clone(),
            Role::Sender => peer_details.get(SET).map(|name| printable(name)),
        };
        Ok(Self { terms: Terms { columns, asked, ..terms.clone() }, passes })
    }

    /// Tells a user, whose role is this or, without one, both. `count` is whether only a number is printed.
    pub(super) fn tell(&self, output: Output, role: Option<Role>, workers: &Workers, count: bool) {
        let mut lines = self.words(role, workers.threads());
        if count && let Some(line) = lines.get_mut(1) {
            line.push_str("; with --count the receiver's program still learns the rows");
        }
        lines.iter().for_each(|line| output.note(line));
        output.detail(&self.details());
    }

    pub(super) fn passes(&self) -> impl Iterator<Item = &Parameters> {
        self.passes.iter().map(|pass| &pass.parameters)
    }

    pub(super) fn memory_of_sender(&self) -> u64 {
        let terms = self.join().ok().flatten().unwrap_or(join::Terms::NONE);
        self.passes().map(|it| jobs::memory_of_psi_sender(it, terms)).max().unwrap_or(0)
    }

    pub(super) fn receivers_keys(&self) -> usize {
        self.passes().map(|it| it.receiver_items()).sum()
    }

    pub(super) fn senders_keys(&self) -> usize {
        self.passes().map(|it| it.sender_items()).sum()
    }

    /// Our columns of a key, as results name it.
    pub(super) fn key_name(&self, number: usize) -> String {
        let columns = self.passes[number].key.columns.as_ref();
        columns.map_or_else(|| format!("key {}", number + 1), |names| names.join(","))
    }

    /// The numbers of keys of one pass, and their normalisers.
    fn sizes(pass: &Pass, role: Option<Role>) -> String {
        let (receivers, senders) =
            (pass.parameters.receiver_items(), pass.parameters.sender_items());
        let [ours, peers] =
            pass.named_columns().map(|it| it.map_or("".into(), |it| format!(" ({it})")));
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
        let normalised = match normalisers_in_words(&pass.key.normalize) {
            Some(names) => format!("keys normalised by {names}"),
            None => "keys not normalised".into(),
        };
        format!("{normalised}; {sizes}")
    }

    /// Terms, privacy and, for a long run, an estimate; a line each.
    pub(super) fn words(&self, role: Option<Role>, threads: usize) -> Vec<String> {
        let Method { adversary, assumption, .. } = self.terms.method;
        let receivers: Vec<_> = self.passes().map(|it| it.receiver_items().to_string()).collect();
        let receivers = receivers.join(" and ");
        let learns = self.learns(role, &receivers);
        let bound = match self.largest_set() {
            Some(most) => {
                let attempts = match self.attempts() {
                    1 => String::new(),
                    n => format!(" in {n} attempts"),
                };
                format!("a cheating receiver can test at most {most} keys{attempts}")
            }
            None => "this holds only if both sides follow the protocol (--semi-honest)".into(),
        };
        let mut sizes = self.passes.iter().map(|pass| Self::sizes(pass, role));
        let first = sizes.next().unwrap_or_default();
        let mut lines = vec![
            format!("agreed: {adversary} security, assumption {assumption}, {first}"),
            format!("privacy: {learns}; {bound}"),
        ];
        lines.extend(
            sizes.map(|other| format!("agreed: rows are compared also by other keys: {other}")),
        );
        if let Some(policy) = &self.terms.policy {
            lines.push(format!("policy of both sides: {}", policy.words()));
        }
        let computed = match threads {
            1 => "both sides together".into(),
            _ => format!("both sides together with {threads} threads each"),
        };
        let size = self.payload(assumption).unwrap_or_default();
        let takes = self.computing(threads);
        lines.extend(estimate((size, "of traffic"), (takes, &computed)));
        lines
    }

    fn learns(&self, role: Option<Role>, receivers: &str) -> String {
        let with = match &self.terms.columns {
            Some(columns) => format!(", with columns {}", printable(&columns.names.join(", "))),
            None => String::new(),
        };
        match (self.terms.function, role) {
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

    /// The terms of what follows the tags, unless nothing does.
    pub(super) fn join(&self) -> Result<Option<join::Terms>, Failure> {
        let payload = self.terms.columns.as_ref().map(Columns::payload);
        match (self.terms.function, payload) {
            (Function::Both, _) => Ok(Some(join::Terms::NONE.both())),
            (_, Some(len)) => Ok(Some(join::Terms::NONE.payload(len)?)),
            _ => Ok(None),
        }
    }

    /// Protocols, versions of normalisers and the conditions of the bound, for `--verbose`.
    pub(super) fn details(&self) -> String {
        let all: Vec<_> =
            self.passes().map(|it| format!("{} over {}", it.info().name, it.over())).collect();
        let all = all.join(" and ");
        let Method { base, adversary, .. } = self.terms.method;
        let base = base.info().name;
        let normalize = self.terms.normalised().join(" | ");
        let bound = match self.largest_set() {
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
        let method = Method { assumption, ..self.terms.method };
        let bytes = |it: &Parameters| {
            let parameters = method.parameters(it.receiver_items(), it.sender_items());
            Some(parameters.ok()?.bytes(method.base) as u64)
        };
        self.passes().map(bytes).sum()
    }

    /// The most keys that a cheating receiver can test, in all passes of this attempt and of earlier ones.
    fn largest_set(&self) -> Option<u64> {
        let of_one: u64 = self.passes().map(Parameters::largest_set).sum::<Option<_>>()?;
        Some(of_one.saturating_mul(self.attempts()))
    }

    /// The number of attempts at a shard, this one included.
    fn attempts(&self) -> u64 {
        1 + self.terms.shard.map_or(0, |shard| u64::from(shard.attempt))
    }

    /// The keys that count against the peer's limits per day: as many as the privacy line says that it can test, or as it declares
    /// if it is trusted to follow the protocol.
    pub(super) fn counted_keys(&self) -> u64 {
        match self.terms.role {
            Role::Sender => self.largest_set().unwrap_or(self.receivers_keys() as u64),
            // A cheating sender has no more keys than it declares.
            Role::Receiver => self.senders_keys() as u64,
        }
    }

    /// The bytes with LPN, if they are a tenth less at least.
    pub(super) fn hint(&self) -> Option<String> {
        let is = self.payload(self.terms.method.assumption)?;
        let would = self.payload(Assumption::Lpn)?;
        (would <= is / 10 * 9).then(|| {
            let [is, would] = [is, would].map(bytes);
            format!("with --assumption lpn on both sides: {would} instead of {is}; LPN is a younger assumption")
        })
    }

    /// `key columns: email here, E-Mail at the peer`.
    pub(super) fn columns_in_words(&self) -> String {
        let words = |pass: &Pass| {
            let [ours, peers] = pass.named_columns();
            let (ours, peers) =
                (ours.unwrap_or("whole lines".into()), peers.unwrap_or("no name".into()));
            format!("{ours} here, {peers} at the peer")
        };
        let all: Vec<_> = self.passes.iter().map(words).collect();
        format!("key columns: {}", all.join("; "))
    }

    /// About how long both parties compute, one after the other, with so many threads each.
    fn computing(&self, threads: usize) -> Duration {
        let of = |keys: usize, each: u64| Duration::from_nanos(each.saturating_mul(keys as u64));
        let each = match self.terms.method.assumption {
            Assumption::Lpn => EACH_WITH_LPN,
            Assumption::Symmetric => EACH,
        };
        let [receivers, senders] = of_this_machine(each);
        let all = of(self.receivers_keys(), receivers) + of(self.senders_keys(), senders);
        all.mul_f64(1.0 - SHARED + SHARED / threads as f64)
    }

    /// The figures of a run in which the sender, the receiver or both were here. `n` is the number of
    /// the receiver's keys.
    pub(super) fn report(&self, threads: usize, costs: [Option<&Cost>; 2]) -> Report {
        let n = self.receivers_keys();
        // Passes may differ in their protocols, by their sizes; the first stands for all.
        let info = self.passes[0].parameters.info();
        self.terms.report(info.name, info, (n, threads), costs)
    }

    pub(super) fn json(&self) -> Map<String, Value> {
        let [symmetric, lpn] = Assumption::ALL.map(|it| self.payload(it));
        let more = json!({
            "function": self.terms.function.name(),
            "columns": self.terms.columns.as_ref().map(|columns| &columns.names),
            "policy": self.terms.policy.as_ref().map(|policy| policy.id()),
            "set": self.terms.asked,
            "assumption": self.terms.method.assumption.name(),
            "adversary": self.terms.method.adversary.to_string(),
            "payload_bytes_symmetric": symmetric,
            "payload_bytes_lpn": lpn,
            "most_keys_of_a_cheating_receiver": self.largest_set(),
        });
        let mut passes = self.passes.iter().map(Pass::json);
        let mut map = passes.next().unwrap_or_default();
        let others: Vec<_> = passes.collect();
        if !others.is_empty() {
            map.insert("or_keys".into(), others.into());
        }
        map.extend(object(more));
        map
    }
}

impl Columns {
    pub(super) fn of(fields: &Fields) -> Self {
        Self { names: fields.names().to_vec(), padding: fields.padding() }
    }

    fn payload(&self) -> usize {
        self.names.len() * self.padding.slot()
    }

    /// The columns that the receiver gets: those that it asks for, if the sender shares them.
    fn agree(&self, role: Role, peer_details: &Table) -> Result<Self, Failure> {
        let told = peer_details.get(COLUMNS);
        let told = told.ok_or_else(|| Failure::peer("the peer names no columns"))?;
        let peers: Vec<_> = told.split('\n').map(str::to_owned).collect();
        let (asked, shared) = match role {
            Role::Receiver => (&self.names, &peers),
            Role::Sender => (&peers, &self.names),
        };
        if let Some(column) = asked.iter().find(|&column| !shared.contains(column)) {
            let (column, all) = (printable(column), printable(&shared.join(", ")));
            let why = match role {
                Role::Receiver => {
                    format!("the peer does not share column {column}; it shares {all}")
                }
                Role::Sender => format!("the peer asks for column {column}; --share has {all}"),
            };
            return Err(Failure::run(why).told(Reason::Forbidden));
        }
        let agreed = Self { names: asked.clone(), padding: self.padding };
        match agreed.payload() > join::MAX_PAYLOAD {
            true => Err(Failure::run("the columns of a row are too long together")
                .hint("ask for fewer columns, or pass a smaller --width on both sides")),
            false => Ok(agreed),
        }
    }
}

impl Pass {
    /// The key columns of this side and of the peer, where they have names.
    fn named_columns(&self) -> [Option<String>; 2] {
        let ours = self.key.columns.as_ref().map(|columns| printable(&columns.join(", ")));
        [ours, self.peer_columns.clone()]
    }

    fn json(&self) -> Map<String, Value> {
        object(json!({
            "normalize": self.key.normalize,
            "key_columns": self.key.columns,
            "peer_key_columns": self.peer_columns,
            "keys_receiver": self.parameters.receiver_items(),
            "keys_sender": self.parameters.sender_items(),
        }))
    }
}

/// Normalisers without the version that all have, unless they change nothing.
fn normalisers_in_words(terms: &str) -> Option<String> {
    let names = terms.replace("/1", "");
    names.split(';').any(|it| it != "none").then_some(names)
}

#[cfg(test)]
mod tests {
    use foxtrot::psi::fields::Duplicates;
    use foxtrot_ot::base::{Adversary, roted::Endemic};
    use proptest::prelude::*;

    use super::*;

    fn terms(role: Role, function: Function) -> Terms {
        let (assumption, adversary) = (Assumption::Symmetric, Adversary::Malicious);
        let method = Method { base: &Endemic, assumption, adversary };
        let key = Key { normalize: "email/1".into(), columns: None, size: 3 };
        let padding = Padding { width: 8, duplicates: Duplicates::First };
        let columns = Columns { names: vec!["city".into()], padding };
        Terms {
            keys: vec![key.clone(), key],
            function,
            columns: (function == Function::Join).then_some(columns),
            ..Terms::new(role, method, [1000, 0], None)
        }
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
                    let _ = agreed.join();
                    words + &agreed.details() + &agreed.columns_in_words()
                }
                Err(failure) => failure.message().into(),
            };
            prop_assert!(said.chars().all(foxtrot_net::is_shown), "{said:?}");
        }
    }

    #[test]
    fn normalisers_are_shown_without_their_first_version() {
        let words = |terms| normalisers_in_words(terms);
        assert_eq!(words("email/1;phone/1:+49").as_deref(), Some("email;phone:+49"));
        assert_eq!(words("trim/2,lower/1;none/1").as_deref(), Some("trim/2,lower;none"));
        assert_eq!(words("none/1;none/1"), None);
    }
}
