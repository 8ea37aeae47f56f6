//! The agreement of both sides, and its consequences.

use std::time::Duration;

use foxtrot_net::{
    hello::{Agreement, Hello, Role, Table},
    jobs::{self, KEY_COLUMNS},
    printable,
};
use foxtrot_ot::Backend;
use foxtrot_psi::paxos::Parameters;
use serde_json::{Map, Value, json};

use crate::{
    args::Common,
    failure::Failure,
    link::{Cost, Link},
    method::{self, Method},
    output::Output,
    record::Entry,
    report::{Report, bytes, counted, time},
    table::Set,
    workers::Workers,
};

/// Limits above which a run is announced before it begins: more bytes, or more time.
const MUCH: u64 = 100_000_000;
const LONG: Duration = Duration::from_secs(2);

/// Bits per second of the line that an estimate is for.
const LINE: f64 = 1e8;

/// Nanoseconds for each of the receiver's keys, and of the sender's, both parties together: fitted to
/// runs with a million and with a tenth of it on the machine of `bench/record`.
const AVX512: [u64; 2] = [1200, 700];
const AVX2: [u64; 2] = [1400, 800];
const PORTABLE: [u64; 2] = [2300, 1400];

/// The part of that which threads share: the CPU time of tasks, of all that both parties took for a
/// million keys each.
const SHARED: f64 = 0.5;

/// The terms of one side.
pub(super) struct Terms {
    method: Method,
    /// Normalisers of keys before they are compared.
    normalize: String,
    /// The most keys that the peer may have.
    most: usize,
    /// The names of our key columns, if they have names.
    columns: Option<Vec<String>>,
}

/// The terms that both sides want.
pub(super) struct Agreed {
    pub(super) method: Method,
    pub(super) parameters: Parameters,
    normalize: String,
    columns: Option<Vec<String>>,
    /// The peer's columns as the peer told them, made printable.
    peer_columns: Option<String>,
}

impl Terms {
    pub(super) fn new(common: &Common, set: &Set, most: usize) -> Result<Self, Failure> {
        let columns = set.key_columns();
        let columns = columns.map(|names| names.into_iter().map(str::to_owned).collect());
        Ok(Self { method: method::psi(common)?, normalize: set.terms(), most, columns })
    }

    pub(super) fn hello(&self, role: Role, keys: usize) -> Hello {
        let hello = jobs::psi(role, &self.method, &self.normalize, keys, self.most);
        jobs::key_columns(hello, self.columns.as_deref())
    }
}

impl Agreed {
    /// Agrees with the peer of this link.
    pub(super) fn on(terms: &Terms, link: &Link, ours: usize) -> Result<Self, Failure> {
        let Agreement { role, peer_details, .. } = &*link.agreed;
        Self::with(terms, *role, peer_details, ours).map_err(|e| link.refuse(e))
    }

    /// Agrees with a peer that told these details. Whether our set is too large for it was found out before it
    /// learnt the size.
    pub(super) fn with(
        terms: &Terms,
        role: Role,
        peer_details: &Table,
        ours: usize,
    ) -> Result<Self, Failure> {
        let theirs = jobs::peers_keys(peer_details, terms.most)?;
        let (receivers, senders) = match role {
            Role::Receiver => (ours, theirs),
            Role::Sender => (theirs, ours),
        };
        let parameters = Parameters::new(terms.method.adversary(), receivers, senders)?;
        let peer_columns = peer_details.get(KEY_COLUMNS);
        Ok(Self {
            method: terms.method,
            parameters,
            normalize: terms.normalize.clone(),
            columns: terms.columns.clone(),
            peer_columns: peer_columns.map(|columns| printable(columns)),
        })
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

    /// Terms, privacy and, for a long run, an estimate; a line each.
    pub(super) fn words(&self, role: Option<Role>, threads: usize) -> Vec<String> {
        let (receivers, senders) =
            (self.parameters.receiver_items(), self.parameters.sender_items());
        let [ours, peers] =
            self.named_columns().map(|it| it.map_or("".into(), |it| format!(" ({it})")));
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
        let adversary = self.method.adversary();
        let normalised = match normalisers_in_words(&self.normalize) {
            Some(names) => format!("keys normalised by {names}"),
            None => "keys not normalised".into(),
        };
        let learns = match role {
            None => format!("the sender learns only the receiver's number of keys ({receivers})"),
            Some(Role::Receiver) => format!(
                "the peer learns only our number of keys ({receivers}) and the names of our key columns"
            ),
            Some(Role::Sender) => format!(
                "this side learns only the peer's number of keys ({receivers}) and the names of its key columns"
            ),
        };
        let bound = match self.parameters.largest_set() {
            Some(most) => format!("a cheating receiver can test at most {most} keys"),
            None => "this holds only if both sides follow the protocol (--semi-honest)".into(),
        };
        let mut lines = vec![
            format!("agreed: {adversary} security, {normalised}; {sizes}"),
            format!("privacy: {learns}; {bound}"),
        ];
        let (size, takes) = (self.payload(), self.computing(threads));
        if size > MUCH || takes > LONG {
            let takes = time(takes);
            let way = time(Duration::from_secs_f64(size as f64 * 8.0 / LINE));
            let size = bytes(size);
            let each = match threads {
                1 => String::new(),
                _ => format!(" with {threads} threads each"),
            };
            lines.push(format!(
                "estimate: {size} of traffic ({way} at 100 Mbit/s), {takes} of computation on both sides together{each}"
            ));
        }
        lines
    }

    /// Protocols, versions of normalisers and the conditions of the bound, for `--verbose`.
    pub(super) fn details(&self) -> String {
        let (method, normalize) = (method::words(&self.method), &self.normalize);
        let bound = match self.parameters.largest_set() {
            Some(_) => {
                "; the bound on keys holds for up to 2^80 hashes, except with probability about 2^-40"
            }
            None => "",
        };
        format!("protocol: paxos over {method}; normalisers {normalize}{bound}")
    }

    /// The key columns of this side and of the peer, where they have names.
    fn named_columns(&self) -> [Option<String>; 2] {
        let ours = self.columns.as_ref().map(|columns| printable(&columns.join(", ")));
        [ours, self.peer_columns.clone()]
    }

    /// `key columns: email here, E-Mail at the peer`.
    pub(super) fn columns_in_words(&self) -> String {
        let [ours, peers] = self.named_columns();
        let (ours, peers) =
            (ours.unwrap_or("whole lines".into()), peers.unwrap_or("no name".into()));
        format!("key columns: {ours} here, {peers} at the peer")
    }

    /// Enters sizes, columns and normalisers into the record of the run.
    pub(super) fn enter(&self, entry: &mut Entry) {
        for (key, value) in self.json() {
            entry.set(&key, value);
        }
    }

    /// Bytes of both parties.
    fn payload(&self) -> u64 {
        let (base, rows) = (self.method.base.info(), self.parameters.base_ots());
        let base = (base.sender_bytes)(rows) + (base.receiver_bytes)(rows);
        (self.parameters.sender_bytes() + self.parameters.receiver_bytes() + base) as u64
    }

    /// About how long both parties compute, one after the other, with so many threads each.
    fn computing(&self, threads: usize) -> Duration {
        let of = |keys: usize, each: u64| Duration::from_nanos(each.saturating_mul(keys as u64));
        let [receivers, senders] = match Backend::best().name() {
            "avx512" => AVX512,
            "avx2" => AVX2,
            _ => PORTABLE,
        };
        let all = of(self.parameters.receiver_items(), receivers)
            + of(self.parameters.sender_items(), senders);
        all.mul_f64(1.0 - SHARED + SHARED / threads as f64)
    }

    /// The figures of a run in which the sender, the receiver or both were here. `n` is the number of
    /// the receiver's keys.
    pub(super) fn report(&self, threads: usize, costs: [Option<&Cost>; 2]) -> Report {
        let n = self.parameters.receiver_items();
        Report::of_parties("psi/paxos", &self.method, (n, threads), costs)
    }

    /// Returns the fields that the report does not have.
    pub(super) fn json(&self) -> Map<String, Value> {
        let object = json!({
            "normalize": self.normalize,
            "key_columns": self.columns,
            "peer_key_columns": self.peer_columns,
            "keys_receiver": self.parameters.receiver_items(),
            "keys_sender": self.parameters.sender_items(),
            "most_keys_of_a_cheating_receiver": self.parameters.largest_set(),
        });
        match object {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }
}

/// Normalisers without the version that all have, unless they change nothing.
fn normalisers_in_words(terms: &str) -> Option<String> {
    let names = terms.replace("/1", "");
    names.split(';').any(|it| it != "none").then_some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalisers_are_shown_without_their_first_version() {
        let words = |terms| normalisers_in_words(terms);
        assert_eq!(words("email/1;phone/1:+49").as_deref(), Some("email;phone:+49"));
        assert_eq!(words("trim/2,lower/1;none/1").as_deref(), Some("trim/2,lower;none"));
        assert_eq!(words("none/1;none/1"), None);
    }
}
