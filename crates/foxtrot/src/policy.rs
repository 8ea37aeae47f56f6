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

use std::{error, fmt, ops::RangeInclusive};

use foxtrot_net::hello::Role;

use crate::{Fingerprint, psi::Function};

pub use file::PolicyError;

/// The tag of the hash of a policy's rules.
const CONTEXT: &str = "foxtrot v1 psi policy";

/// What two parties have agreed on. What it does not allow is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    title: Option<String>,
    functions: Vec<Function>,
    /// Empty if any will do.
    assumptions: Vec<String>,
    semi_honest: bool,
    /// The normalisers of the parts of a key; `None` if any will do.
    normalize: Option<Vec<String>>,
    min_count: Option<u64>,
    receiver: Side,
    sender: Side,
}

/// The rules for one side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Side {
    peers: Vec<Fingerprint>,
    columns: Option<Vec<String>>,
    min_size: Option<u64>,
    max_size: Option<u64>,
    /// Columns that the sender may give away, and the one of which it may let sums be known.
    share: Vec<String>,
    value: Option<String>,
}

/// The terms of a run.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// What is computed.
    pub function: Function,
    /// What its security rests on: `symmetric` or `lpn`.
    pub assumption: &'a str,
    /// True if a peer that does not follow the protocol is not provided for.
    pub semi_honest: bool,
    /// How keys are normalised, as in `email/1;phone/1:+49`.
    pub normalize: &'a str,
    /// The least number of common keys that is told.
    pub min_count: Option<u64>,
}

/// What is known of a side of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts<'a> {
    /// The number of its different keys.
    pub keys: u64,
    /// The names of its key columns, joined by `, `, if they have names.
    pub columns: Option<&'a str>,
    /// Columns that it shares, if it is the sender.
    pub shared: &'a [String],
    /// The column whose values it lets be added, if it is the sender.
    pub value: Option<&'a str>,
}

/// Why a policy forbids a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forbidden {
    /// The rule, as it is called in the file: `receiver.max-size`.
    pub rule: String,
    /// What it allows.
    pub allows: String,
    /// What the run has.
    pub has: String,
}

impl Policy {
    /// What the parties call it.
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

    /// The hash of all rules on which both sides have to agree: all but the keys of peers. Comments, spaces and the order of
    /// rules do not matter.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
        for (rule, values) in self.rules() {
            hasher.update(&(rule.len() as u64).to_le_bytes()).update(rule.as_bytes());
            hasher.update(&(values.len() as u64).to_le_bytes());
            for value in values {
                hasher.update(&(value.len() as u64).to_le_bytes()).update(value.as_bytes());
            }
        }
        hasher.finalize().into()
    }

    /// The digest in hexadecimal, as hellos and records have it.
    #[must_use]
    pub fn id(&self) -> String {
        self.digest().iter().map(|byte| format!("{byte:02x}")).collect()
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
            ("min-count".into(), number(self.min_count)),
        ];
        for (name, side) in [("receiver", &self.receiver), ("sender", &self.sender)] {
            rules.extend([
                (format!("{name}.columns"), side.columns.clone()),
                (format!("{name}.min-size"), number(side.min_size)),
                (format!("{name}.max-size"), number(side.max_size)),
                (format!("{name}.share"), some(&side.share)),
                (format!("{name}.value"), side.value.clone().map(|value| vec![value])),
            ]);
        }
        rules.into_iter().filter_map(|(rule, values)| Some((rule, values?))).collect()
    }

    /// Fails unless the policy allows these terms.
    ///
    /// # Errors
    /// [`Forbidden`].
    pub fn check_terms(&self, terms: &Terms<'_>) -> Result<(), Forbidden> {
        if !self.functions.contains(&terms.function) {
            let all: Vec<_> = self.functions.iter().map(|it| it.name()).collect();
            return Err(Forbidden::new("functions", &all.join(", "), terms.function.name()));
        }
        if !self.assumptions.is_empty() && !self.assumptions.iter().any(|it| it == terms.assumption)
        {
            let all = self.assumptions.join(", ");
            return Err(Forbidden::new("assumptions", &all, terms.assumption));
        }
        if terms.semi_honest && !self.semi_honest {
            return Err(Forbidden::new("adversary", "malicious", "semi-honest"));
        }
        if let Some(each) = &self.normalize
            && each.join(";") != terms.normalize
        {
            return Err(Forbidden::new("normalize", &each.join(";"), terms.normalize));
        }
        let counts = matches!(terms.function, Function::Count | Function::Sum);
        match (self.min_count.filter(|_| counts), terms.min_count.unwrap_or(0)) {
            (Some(least), has) if has < least => {
                Err(Forbidden::new("min-count", &format!("{least} or more"), &has.to_string()))
            }
            _ => Ok(()),
        }
    }

    /// Fails unless the policy allows this side of a run.
    ///
    /// # Errors
    /// [`Forbidden`].
    pub fn check_side(&self, role: Role, facts: &Facts<'_>) -> Result<(), Forbidden> {
        let (side, name) = (self.side(role), role);
        let forbidden = |rule: &str, allows: &str, has: &str| {
            Err(Forbidden::new(&format!("{name}.{rule}"), allows, has))
        };
        if let Some(least) = side.min_size.filter(|&least| facts.keys < least) {
            return forbidden("min-size", &format!("{least} keys or more"), &keys(facts.keys));
        }
        if let Some(most) = side.max_size.filter(|&most| facts.keys > most) {
            return forbidden("max-size", &format!("at most {most} keys"), &keys(facts.keys));
        }
        if let Some(columns) = &side.columns
            && facts.columns != Some(foxtrot_net::jobs::joined(columns).as_str())
        {
            let has = facts.columns.map_or("no named columns".into(), foxtrot_net::printable);
            return forbidden("columns", &columns.join(", "), &has);
        }
        let allowed = if side.share.is_empty() { "no column".into() } else { side.share.join(", ") };
        if let Some(column) = facts.shared.iter().find(|&it| !side.share.contains(it)) {
            return forbidden("share", &allowed, &foxtrot_net::printable(column));
        }
        match facts.value.filter(|&value| side.value.as_deref() != Some(value)) {
            Some(value) => {
                let allows = side.value.as_deref().unwrap_or("no column");
                forbidden("value", allows, &foxtrot_net::printable(value))
            }
            None => Ok(()),
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
    use super::*;

    const ALL: &str = r#"
        # Signed on paper.
        policy = 1
        title = "Trial A"
        functions = ["intersection", "join", "sum"]
        assumptions = ["symmetric"]
        normalize = ["email/1", "date/1"]
        min-count = 10
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

    const TERMS: Terms<'static> = Terms {
        function: Function::Intersection,
        assumption: "symmetric",
        semi_honest: false,
        normalize: "email/1;date/1",
        min_count: None,
    };

    fn rule<T: fmt::Debug>(refused: Result<T, Forbidden>) -> String {
        refused.unwrap_err().rule
    }

    #[test]
    fn each_rule_forbids_what_it_does_not_allow_by_its_name() {
        let policy = Policy::parse(ALL).unwrap();
        policy.check_terms(&TERMS).unwrap();
        for (terms, name) in [
            (Terms { function: Function::Both, ..TERMS }, "functions"),
            (Terms { function: Function::Count, ..TERMS }, "functions"),
            (Terms { assumption: "lpn", ..TERMS }, "assumptions"),
            (Terms { semi_honest: true, ..TERMS }, "adversary"),
            (Terms { normalize: "email/1", ..TERMS }, "normalize"),
            (Terms { function: Function::Sum, ..TERMS }, "min-count"),
            (Terms { function: Function::Sum, min_count: Some(9), ..TERMS }, "min-count"),
        ] {
            assert_eq!(rule(policy.check_terms(&terms)), name, "{terms:?}");
        }
        policy
            .check_terms(&Terms { function: Function::Sum, min_count: Some(10), ..TERMS })
            .unwrap();
        let receiver = Facts { keys: 5, columns: Some("email, born"), ..Facts::default() };
        policy.check_side(Role::Receiver, &receiver).unwrap();
        for (facts, name) in [
            (Facts { keys: 1, ..receiver }, "receiver.min-size"),
            (Facts { keys: 10, ..receiver }, "receiver.max-size"),
            (Facts { columns: Some("email"), ..receiver }, "receiver.columns"),
            (Facts { columns: None, ..receiver }, "receiver.columns"),
            (Facts { value: Some("amount"), ..receiver }, "receiver.value"),
        ] {
            assert_eq!(rule(policy.check_side(Role::Receiver, &facts)), name, "{facts:?}");
        }
        let (city, other) = (["city".to_owned()], ["city".to_owned(), "street".to_owned()]);
        let sender = Facts { keys: 7, columns: Some("E-Mail, Birthday"), ..Facts::default() };
        let shares = Facts { shared: &city, value: Some("amount"), ..sender };
        policy.check_side(Role::Sender, &shares).unwrap();
        for (facts, name) in [
            (Facts { shared: &other, ..sender }, "sender.share"),
            (Facts { value: Some("age"), ..sender }, "sender.value"),
        ] {
            assert_eq!(rule(policy.check_side(Role::Sender, &facts)), name, "{facts:?}");
        }
        let key = "SHA256:uU0nuZNNPgilLlLX2n2r-sSE7-N6U4DukIj3rOLvzek".parse().unwrap();
        policy.check_key(Role::Receiver, Some(&key)).unwrap();
        policy.check_key(Role::Sender, None).unwrap();
        assert_eq!(rule(policy.check_key(Role::Receiver, None)), "receiver.peers");
    }

    #[test]
    fn the_digest_is_of_the_rules_and_not_of_their_form_or_the_peers() {
        let policy = Policy::parse(ALL).unwrap();
        let other = "functions = [\n'intersection', 'join', 'sum']\npolicy = 1\ntitle = 'Trial A'\n\
            min-count = 10\nnormalize = ['email/1', 'date/1']\nassumptions = ['symmetric']\n\
            adversary = 'malicious'\nsender = { value = 'amount', share = ['city'], columns = ['E-Mail', 'Birthday'] }\n\
            receiver = { max-size = 9, min-size = 2, columns = ['email', 'born'] }\n";
        assert_eq!(Policy::parse(other).unwrap().digest(), policy.digest());
        let changes = [
            ("Trial A", "Trial B"),
            ("\"join\", ", ""),
            ("min-size = 2", "min-size = 3"),
            ("share = [\"city\"]", "share = [\"city\", \"age\"]"),
            ("\"email\", \"born\"", "\"email, born\""),
            ("min-count = 10", "adversary = 'semi-honest'"),
        ];
        for (from, to) in changes {
            assert_ne!(Policy::parse(&ALL.replace(from, to)).unwrap().digest(), policy.digest());
        }
    }
}
