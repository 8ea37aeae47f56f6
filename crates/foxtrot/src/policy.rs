//! Policies: what two parties have agreed to compute, in a file that both sign and both programs enforce.
//!
//! ```
//! use foxtrot::{Config, Error, Peer, policy::Policy, psi};
//!
//! let policy = Policy::parse(
//!     r#"
//!     policy = 1
//!     title = "Trial A, contract 17"
//!     functions = ["intersection"]
//!     [receiver]
//!     min-size = 2
//!     max-size = 1000
//!     "#,
//! )?;
//! let (mut ours, mut theirs) = Config::insecure().policy(&policy).pair();
//! let sender = std::thread::spawn(move || psi::send(&mut theirs, &["bob", "cid"]));
//! // One item is a question about one person.
//! let error = psi::receive(&mut ours, &["bob"]).expect_err("the policy forbids it");
//! assert!(error.to_string().contains("receiver.min-size"), "{error}");
//! assert_eq!(psi::receive(&mut ours, &["bob", "eve"])?, [0]);
//! sender.join().expect("no panic")?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`Config`](crate::Config) with a policy has every hello of its peers carry the policy's [`digest`](Policy::digest): both
//! sides have the same rules, or no session. Jobs other than intersections are refused. `docs/policy.md` has all rules.

mod file;

use std::{error, fmt, ops::RangeInclusive, time::SystemTime};

use foxtrot_net::{
    daily::MostPerDay,
    day::Day,
    hello::{Hello, JOB, KEYS, Role, Rule, Table, hexadecimal, numbered},
};

use crate::{
    Fingerprint,
    psi_terms::{
        ASSUMPTION, COLUMNS, FUNCTION, Function, KEY_COLUMNS, MIN_COUNT, NORMALIZE, OR_NORMALIZE,
        VALUE, joined,
    },
};

pub use file::PolicyError;

/// The tag of the hash of a policy's rules.
const CONTEXT: &str = "foxtrot v1 psi policy";

/// Rules on which two parties have agreed. A run that they do not allow is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    title: Option<String>,
    functions: Vec<Function>,
    /// Empty if any will do.
    assumptions: Vec<String>,
    semi_honest: bool,
    /// The normalisers of the parts of a key; `None` if any will do.
    normalize: Option<Vec<String>>,
    /// The normalisers of each further key.
    or_normalize: Vec<String>,
    min_count: Option<u64>,
    most_per_day: MostPerDay,
    /// The last day on which it allows a run.
    expires: Option<Day>,
    receiver: Side,
    sender: Side,
}

/// The rules for one side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Side {
    peers: Vec<Fingerprint>,
    columns: Option<Vec<String>>,
    /// The columns of each further key.
    or_columns: Vec<String>,
    min_size: Option<u64>,
    max_size: Option<u64>,
    /// Columns that the sender may give away, and the one of which it may let sums be known.
    share: Vec<String>,
    value: Option<String>,
}

/// Why a policy forbids a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forbidden {
    /// The rule, as it is called in the file: `receiver.max-size`.
    pub rule: String,
    /// The values that it allows.
    pub allows: String,
    /// The value of the run.
    pub has: String,
}

impl Policy {
    /// The name that the parties give it.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// The keys of programs that may play this role; empty if the policy says nothing of it.
    #[must_use]
    pub fn peers(&self, role: Role) -> &[Fingerprint] {
        &self.side(role).peers
    }

    /// Sizes that the set of this side may have.
    #[must_use]
    pub fn sizes(&self, role: Role) -> RangeInclusive<u64> {
        let side = self.side(role);
        side.min_size.unwrap_or(0)..=side.max_size.unwrap_or(u64::MAX)
    }

    /// The least number of common keys that counts and sums tell.
    #[must_use]
    pub fn min_count(&self) -> Option<u64> {
        self.min_count
    }

    /// The most that the peer of a side whose set is asked may use in a day, if the policy has such limits. The side counts
    /// it: [`Config::per_day`](crate::Config::per_day).
    #[must_use]
    pub fn most_per_day(&self) -> Option<MostPerDay> {
        Some(self.most_per_day).filter(|most| *most != MostPerDay::default())
    }

    /// The hash of all rules on which both sides have to agree: all but the keys of peers. Comments, spaces and the order of
    /// rules do not matter.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
        self.rules().iter().for_each(|rule| enter(&mut hasher, rule));
        hasher.finalize().into()
    }

    /// The rules with a hash each, by which two sides find out in which rule their policies differ.
    pub(crate) fn rules_by_name(&self) -> Vec<Rule> {
        let rule = |rule: (String, Vec<String>)| {
            let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
            enter(&mut hasher, &rule);
            let hash = hexadecimal(&hasher.finalize().as_bytes()[..8]);
            Rule { hash, words: rule.1.join(", "), name: rule.0 }
        };
        self.rules().into_iter().map(rule).collect()
    }

    /// The digest in hexadecimal, as hellos and records have it.
    #[must_use]
    pub fn id(&self) -> String {
        hexadecimal(&self.digest())
    }

    /// The rules that are there, in one order, without the keys of peers.
    fn rules(&self) -> Vec<(String, Vec<String>)> {
        let number = |n: Option<u64>| n.map(|n| vec![n.to_string()]);
        let some = |values: &[String]| (!values.is_empty()).then(|| values.to_vec());
        let functions = self.functions.iter().map(|it| it.name().to_owned()).collect();
        let adversary = if self.semi_honest { "semi-honest" } else { "malicious" };
        let mut rules = vec![
            ("title".to_owned(), self.title.clone().map(|title| vec![title])),
            ("functions".into(), Some(functions)),
            ("assumptions".into(), some(&self.assumptions)),
            ("adversary".into(), Some(vec![adversary.into()])),
            ("normalize".into(), self.normalize.clone()),
            ("or-normalize".into(), some(&self.or_normalize)),
            ("min-count".into(), number(self.min_count)),
            ("max-runs-per-day".into(), number(self.most_per_day.runs)),
            ("max-keys-per-day".into(), number(self.most_per_day.keys)),
            ("expires".into(), self.expires.map(|day| vec![day.to_string()])),
        ];
        for (name, side) in [("receiver", &self.receiver), ("sender", &self.sender)] {
            rules.extend([
                (format!("{name}.columns"), side.columns.clone()),
                (format!("{name}.or-columns"), some(&side.or_columns)),
                (format!("{name}.min-size"), number(side.min_size)),
                (format!("{name}.max-size"), number(side.max_size)),
                (format!("{name}.share"), some(&side.share)),
                (format!("{name}.value"), side.value.clone().map(|value| vec![value])),
            ]);
        }
        rules.into_iter().filter_map(|(rule, values)| Some((rule, values?))).collect()
    }

    /// Fails unless the policy allows what the hello of this side says: its terms, and its details as far as it tells them.
    ///
    /// # Errors
    /// [`Forbidden`].
    pub fn check_hello(&self, hello: &Hello) -> Result<(), Forbidden> {
        let term = |key| hello.term_of(key);
        let functions = self.functions.iter().map(|it| it.name());
        match term(JOB).unwrap_or("nothing") {
            "psi" => one_of("functions", functions, term(FUNCTION).unwrap_or("intersection"))?,
            job => one_of("functions", functions, job)?,
        }
        if !self.assumptions.is_empty() {
            let all = self.assumptions.iter().map(String::as_str);
            one_of("assumptions", all, term(ASSUMPTION).unwrap_or("symmetric"))?;
        }
        if !self.semi_honest {
            one_of("adversary", ["malicious"], term("adversary").unwrap_or("none"))?;
        }
        if let Some(each) = &self.normalize {
            one_of("normalize", [each.join(";").as_str()], term(NORMALIZE).unwrap_or("nothing"))?;
        }
        if self.normalize.is_some() || !self.or_normalize.is_empty() {
            let has = term(OR_NORMALIZE).unwrap_or_default();
            one_of("or-normalize", [self.or_normalize.join(" | ").as_str()], has)?;
        }
        let counts = matches!(term(FUNCTION), Some("count" | "sum"));
        if let Some(least) = self.min_count.filter(|_| counts) {
            let has = term(MIN_COUNT).and_then(|it| it.parse::<u64>().ok()).unwrap_or(0);
            if has < least {
                let allows = format!("{least} or more");
                return Err(Forbidden::new("min-count", &allows, &has.to_string()));
            }
        }
        match hello.details().contains_key(KEYS) {
            true => self.check_details(term(FUNCTION), hello.role(), hello.details()),
            false => Ok(()),
        }
    }

    /// Fails unless the policy allows a side of this role with these details, where this function was agreed on.
    ///
    /// # Errors
    /// [`Forbidden`].
    pub fn check_details(
        &self,
        function: Option<&str>,
        role: Role,
        details: &Table,
    ) -> Result<(), Forbidden> {
        let side = self.side(role);
        let rule = |rule: &str| format!("{role}.{rule}");
        // Rows may be compared by several keys, a pass each.
        for number in 0.. {
            let count = details.get(&numbered(KEYS, number));
            if number > 0 && count.is_none() {
                break;
            }
            let count = count.and_then(|keys| keys.parse::<u64>().ok());
            let has = count.map_or("no number of keys".into(), keys);
            if let Some(least) = side.min_size.filter(|&least| count.is_none_or(|n| n < least)) {
                let allows = format!("{least} keys or more");
                return Err(Forbidden::new(&rule("min-size"), &allows, &has));
            }
            if let Some(most) = side.max_size.filter(|&most| count.is_none_or(|n| n > most)) {
                let allows = format!("at most {most} keys");
                return Err(Forbidden::new(&rule("max-size"), &allows, &has));
            }
            let has = details.get(&numbered(KEY_COLUMNS, number));
            let has = has.map_or("no named columns", String::as_str);
            match (number.checked_sub(1), &side.columns) {
                (None, Some(columns)) => {
                    one_of(&rule("columns"), [joined(columns).as_str()], has)?;
                }
                (Some(other), columns) if columns.is_some() || !side.or_columns.is_empty() => {
                    let allowed = side.or_columns.get(other).map(String::as_str);
                    one_of(&rule("or-columns"), allowed, has)?;
                }
                _ => {}
            }
        }
        // Columns without names could be any.
        let unnamed = "columns without names";
        match function {
            Some("join") if !details.contains_key(COLUMNS) => {
                one_of("sender.share", self.sender.share.iter().map(String::as_str), unnamed)?;
            }
            Some("sum") if role == Role::Sender && !details.contains_key(VALUE) => {
                one_of("sender.value", self.sender.value.as_deref(), unnamed)?;
            }
            _ => {}
        }
        let lines = |key| details.get(key).into_iter().flat_map(|it| it.split('\n'));
        for column in lines(COLUMNS) {
            // The receiver names what it asks for, the sender what it gives.
            one_of("sender.share", self.sender.share.iter().map(String::as_str), column)?;
        }
        lines(VALUE)
            .try_for_each(|column| one_of("sender.value", self.sender.value.as_deref(), column))
    }

    /// Fails on a day after the last one that the policy allows. Days are those of UTC.
    ///
    /// # Errors
    /// [`Forbidden`].
    pub fn check_day(&self, now: SystemTime) -> Result<(), Forbidden> {
        let today = Day::of(now);
        match self.expires.filter(|last| today > *last) {
            None => Ok(()),
            Some(last) => {
                let allows = format!("runs until the end of {last} (UTC)");
                Err(Forbidden::new("expires", &allows, &format!("the day {today}")))
            }
        }
    }

    /// Fails unless a program with this key may play this role.
    ///
    /// # Errors
    /// [`Forbidden`].
    pub fn check_key(&self, role: Role, key: Option<&Fingerprint>) -> Result<(), Forbidden> {
        let peers = self.peers(role);
        if peers.is_empty() || key.is_some_and(|key| peers.contains(key)) {
            return Ok(());
        }
        let allows: Vec<_> = peers.iter().map(ToString::to_string).collect();
        let has = key.map_or("no key".into(), ToString::to_string);
        Err(Forbidden::new(&format!("{role}.peers"), &allows.join(", "), &has))
    }

    /// The rules in a few words, for people.
    #[must_use]
    pub fn words(&self) -> String {
        let title = self.title.as_ref().map_or(String::new(), |title| format!("{title:?}, "));
        let rules = self.rules();
        let rules = rules.iter().filter(|(rule, _)| rule != "title");
        let rules: Vec<_> =
            rules.map(|(rule, values)| format!("{rule} {}", values.join(", "))).collect();
        format!("{title}{}: {}", &self.id()[..16], rules.join("; "))
    }

    fn side(&self, role: Role) -> &Side {
        match role {
            Role::Receiver => &self.receiver,
            Role::Sender => &self.sender,
        }
    }
}

/// Adds a rule to a hash.
fn enter(hasher: &mut blake3::Hasher, (rule, values): &(String, Vec<String>)) {
    hasher.update(&(rule.len() as u64).to_le_bytes()).update(rule.as_bytes());
    hasher.update(&(values.len() as u64).to_le_bytes());
    for value in values {
        hasher.update(&(value.len() as u64).to_le_bytes()).update(value.as_bytes());
    }
}

/// Fails unless the value is one of those that the rule allows.
fn one_of<'a>(
    rule: &str,
    allowed: impl IntoIterator<Item = &'a str>,
    has: &str,
) -> Result<(), Forbidden> {
    let allowed: Vec<_> = allowed.into_iter().collect();
    if allowed.contains(&has) {
        return Ok(());
    }
    let allows = if allowed.is_empty() { "none".into() } else { allowed.join(", ") };
    Err(Forbidden::new(rule, &allows, &foxtrot_net::printable(has)))
}

fn keys(n: u64) -> String {
    if n == 1 { "1 key".into() } else { format!("{n} keys") }
}

impl Forbidden {
    /// A rule, what it allows and what the run has.
    #[must_use]
    pub fn new(rule: &str, allows: &str, has: &str) -> Self {
        Self { rule: rule.into(), allows: allows.into(), has: has.into() }
    }
}

impl fmt::Display for Forbidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rule, allows, has } = self;
        write!(f, "the policy forbids this run: rule {rule} allows {allows}, the run has {has}")
    }
}

impl error::Error for Forbidden {}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const ALL: &str = r#"
        # Signed on paper.
        policy = 1
        title = "Trial A"
        functions = ["intersection", "join", "sum"]
        assumptions = ["symmetric"]
        normalize = ["email/1", "date/1"]
        min-count = 10
        max-runs-per-day = 3
        max-keys-per-day = 1000
        expires = 2027-01-31
        [receiver]
        peers = ["SHA256:uU0nuZNNPgilLlLX2n2r-sSE7-N6U4DukIj3rOLvzek"]
        columns = ["email", "born"]
        min-size = 2
        max-size = 9
        [sender]
        columns = ["E-Mail", "Birthday"]
        share = ["city"]
        value = "amount"
    "#;

    fn rule(refused: Result<(), Forbidden>) -> String {
        refused.map_or_else(|why| why.rule, |()| "none".into())
    }

    /// The hello of a receiver that the policy allows.
    fn hello() -> Hello {
        Hello::new(Role::Receiver)
            .term(JOB, "psi")
            .term("adversary", "malicious")
            .term(NORMALIZE, "email/1;date/1")
            .keys(5, 9)
            .detail(KEY_COLUMNS, "email, born")
    }

    #[test]
    fn each_rule_forbids_what_it_does_not_allow_by_its_name() {
        let policy = Policy::parse(ALL).unwrap();
        let sum = || hello().term(FUNCTION, "sum");
        for (hello, name) in [
            (hello(), "none"),
            (hello().term(JOB, "rot"), "functions"),
            (hello().term(FUNCTION, "both"), "functions"),
            (hello().term("assumption", "symmetric"), "none"),
            (hello().term("assumption", "lpn"), "assumptions"),
            (hello().term("adversary", "semi-honest"), "adversary"),
            (hello().term(NORMALIZE, "email/1"), "normalize"),
            (hello().term(FUNCTION, "join"), "sender.share"),
            (hello().term(FUNCTION, "join").detail(COLUMNS, "city"), "none"),
            (sum(), "min-count"),
            (sum().term(MIN_COUNT, 9), "min-count"),
            (sum().term(MIN_COUNT, 10), "none"),
            (hello().keys(1, 9), "receiver.min-size"),
            (hello().keys(10, 9), "receiver.max-size"),
            (hello().detail(KEY_COLUMNS, "email"), "receiver.columns"),
            (hello().term(OR_NORMALIZE, "name/1"), "or-normalize"),
            (hello().also_keys(5).detail("key-columns-2", "name"), "receiver.or-columns"),
            (hello().also_keys(1), "receiver.min-size"),
            (hello().detail(COLUMNS, "city"), "none"),
            (hello().detail(COLUMNS, "city\nstreet"), "sender.share"),
            (hello().detail(VALUE, "age"), "sender.value"),
            (hello().detail(VALUE, "amount"), "none"),
        ] {
            assert_eq!(rule(policy.check_hello(&hello)), name, "{hello:?}");
        }
        let table = |entries: &[(&str, &str)]| -> Table {
            entries.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect()
        };
        for (details, name) in [
            (table(&[(KEYS, "7"), (KEY_COLUMNS, "E-Mail, Birthday")]), "none"),
            (table(&[(KEYS, "7")]), "sender.columns"),
            (table(&[(KEYS, "7"), (KEY_COLUMNS, "email, born")]), "sender.columns"),
        ] {
            assert_eq!(
                rule(policy.check_details(None, Role::Sender, &details)),
                name,
                "{details:?}"
            );
        }
        // A peer that does not tell is not let off.
        let silent = rule(policy.check_details(None, Role::Receiver, &Table::new()));
        assert_eq!(silent, "receiver.min-size");
        let key = "SHA256:uU0nuZNNPgilLlLX2n2r-sSE7-N6U4DukIj3rOLvzek".parse().unwrap();
        policy.check_key(Role::Receiver, Some(&key)).unwrap();
        policy.check_key(Role::Sender, None).unwrap();
        assert_eq!(rule(policy.check_key(Role::Receiver, None)), "receiver.peers");
    }

    #[test]
    fn a_policy_allows_runs_until_the_end_of_its_last_day() {
        let policy = Policy::parse(ALL).unwrap();
        // The first second of 2027-02-01.
        let end = SystemTime::UNIX_EPOCH + Duration::from_secs(1_801_440_000);
        policy.check_day(end - Duration::from_secs(1)).unwrap();
        assert_eq!(
            policy.check_day(end).unwrap_err().to_string(),
            "the policy forbids this run: rule expires allows runs until the end of 2027-01-31 (UTC), the run has the day \
             2027-02-01"
        );
        let most = MostPerDay { runs: Some(3), keys: Some(1000) };
        assert_eq!(policy.most_per_day(), Some(most));
        let without = Policy::parse("policy = 1\nfunctions = ['both']").unwrap();
        without.check_day(end).unwrap();
        assert_eq!(without.most_per_day(), None);
    }

    #[test]
    fn each_rule_has_a_hash_of_its_own_name_and_values() {
        let rules = |text: &str| Policy::parse(text).unwrap().rules_by_name();
        let (one, other) = (rules(ALL), rules(&ALL.replace("min-size = 2", "min-size = 3")));
        let differ: Vec<_> = one.iter().zip(&other).filter(|(a, b)| a != b).collect();
        let [(a, b)] = differ[..] else { panic!("{differ:?}") };
        assert_eq!(
            (a.name.as_str(), a.words.as_str(), b.words.as_str()),
            ("receiver.min-size", "2", "3")
        );
        assert!(a.hash != b.hash && a.hash.len() == 16);
        // The hello has room for the hashes of all rules.
        assert!(one.iter().map(|rule| rule.name.len() + 18).sum::<usize>() < 1024);
        assert!(one.iter().all(|rule| !rule.name.contains(' ')));
    }

    #[test]
    fn the_digest_is_of_the_rules_and_not_of_their_form_or_the_peers() {
        let policy = Policy::parse(ALL).unwrap();
        let other = "expires = 2027-01-31\nfunctions = [\n'intersection', 'join', 'sum']\nmax-keys-per-day = 1_000\n\
            max-runs-per-day = 3\npolicy = 1\ntitle = 'Trial A'\n\
            min-count = 10\nnormalize = ['email/1', 'date/1']\nassumptions = ['symmetric']\n\
            adversary = 'malicious'\nsender = { value = 'amount', share = ['city'], columns = ['E-Mail', 'Birthday'] }\n\
            receiver = { max-size = 9, min-size = 2, columns = ['email', 'born'] }\n";
        assert_eq!(Policy::parse(other).unwrap().digest(), policy.digest());
        let changes = [
            ("Trial A", "Trial B"),
            ("\"sum\"]", "\"sum\", \"count\"]"),
            ("min-size = 2", "min-size = 3"),
            ("share = [\"city\"]", "share = [\"city\", \"age\"]"),
            ("\"email\", \"born\"", "\"email, born\""),
            ("min-count = 10", "adversary = 'semi-honest'"),
            ("runs-per-day = 3", "runs-per-day = 4"),
            ("keys-per-day = 1000", "keys-per-day = 999"),
            ("expires = 2027-01-31", "expires = 2027-02-01"),
        ];
        for (from, to) in changes {
            assert_ne!(Policy::parse(&ALL.replace(from, to)).unwrap().digest(), policy.digest());
        }
    }
}
