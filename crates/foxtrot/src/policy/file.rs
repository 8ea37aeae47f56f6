//! Policies as TOML. A key that has no meaning, a value of another type and a rule without effect are faults: a reader
//! who signs a file takes all of it for enforced.

use std::{borrow::Cow, error, fmt};

use foxtrot_net::{daily::MostPerDay, day::Day};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
    value::Datetime,
};

use super::{Policy, Side};
use crate::{Fingerprint, psi_terms::Function};

/// Why a text is no policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyError {
    /// The line, from 1.
    pub line: usize,
    why: String,
}

/// A table whose entries are taken one by one.
struct Reader<'a, 'i> {
    text: &'a str,
    name: &'static str,
    table: &'a DeTable<'i>,
    at: usize,
    known: Vec<&'static str>,
}

type Value<'a, 'i> = &'a Spanned<DeValue<'i>>;

impl Policy {
    /// Reads a policy.
    ///
    /// # Errors
    /// [`PolicyError`] with the line.
    pub fn parse(text: &str) -> Result<Self, PolicyError> {
        let table = DeTable::parse(text).map_err(|e| {
            let at = e.span().map_or(0, |span| span.start);
            PolicyError::at(text, at, e.message().replace('\n', ", "))
        })?;
        let mut all = Reader::new(text, "", table.get_ref(), 0);
        match all.number("policy")? {
            Some(1) => {}
            Some(_) => return Err(all.wrong("policy", "this program knows version 1")),
            None => return Err(all.missing("policy = 1")),
        }
        let functions = all.strings("functions")?;
        let functions = functions.ok_or_else(|| all.missing("functions"))?;
        let named = |name: &String| Function::ALL.into_iter().find(|it| it.name() == name);
        let functions: Option<Vec<_>> = functions.iter().map(named).collect();
        let functions = functions.filter(|it| !it.is_empty()).ok_or_else(|| {
            let names = Function::ALL.map(Function::name).join(", ");
            all.wrong("functions", &format!("functions are {names}"))
        })?;
        let assumptions = all.strings("assumptions")?.unwrap_or_default();
        if assumptions.iter().any(|it| !["symmetric", "lpn"].contains(&it.as_str())) {
            return Err(all.wrong("assumptions", "assumptions are symmetric and lpn"));
        }
        let semi_honest = match all.string("adversary")?.as_deref() {
            None | Some("malicious") => false,
            Some("semi-honest") => true,
            Some(_) => return Err(all.wrong("adversary", "adversary is malicious or semi-honest")),
        };
        let normalize = all.strings("normalize")?;
        let or_normalize = all.strings("or-normalize")?.unwrap_or_default();
        let each = normalize.iter().flatten().chain(&or_normalize);
        if each.flat_map(|it| it.split(';')).any(|it| it.split(',').any(|step| !step.contains('/')))
        {
            return Err(all.wrong("normalize", "normalisers have versions here, as in email/1"));
        }
        let (title, min_count) = (all.string("title")?, all.number("min-count")?);
        let most_per_day = MostPerDay {
            runs: all.at_least_one("max-runs-per-day")?,
            keys: all.at_least_one("max-keys-per-day")?,
        };
        let expires = all.day("expires")?;
        let receiver = all.side("receiver", false)?;
        let sender = all.side("sender", true)?;
        all.end()?;
        let policy = Self {
            title,
            functions,
            assumptions,
            semi_honest,
            normalize,
            or_normalize,
            min_count,
            most_per_day,
            expires,
            receiver,
            sender,
        };
        let allows = |these: &[Function]| policy.functions.iter().any(|it| these.contains(it));
        let counts = [Function::Count, Function::Sum];
        match () {
            () if min_count.is_some() && !allows(&counts) => {
                Err(all.wrong("min-count", "min-count needs the function count or sum"))
            }
            () if allows(&[Function::Join]) == policy.sender.share.is_empty() => {
                let why = "the function join and the rule sender.share need each other";
                Err(all.wrong("functions", why))
            }
            () if allows(&[Function::Sum]) != policy.sender.value.is_some() => {
                let why = "the function sum and the rule sender.value need each other";
                Err(all.wrong("functions", why))
            }
            () => Ok(policy),
        }
    }
}

impl<'a, 'i> Reader<'a, 'i> {
    fn new(text: &'a str, name: &'static str, table: &'a DeTable<'i>, at: usize) -> Self {
        Self { text, name, table, at, known: Vec::new() }
    }

    fn get(&mut self, key: &'static str) -> Option<Value<'a, 'i>> {
        self.known.push(key);
        self.table.get(key)
    }

    fn string(&mut self, key: &'static str) -> Result<Option<String>, PolicyError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        text_of(value).map(Some).ok_or_else(|| self.at(value, &format!("{key} needs one text")))
    }

    fn strings(&mut self, key: &'static str) -> Result<Option<Vec<String>>, PolicyError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let all = value.get_ref().as_array().and_then(|all| all.iter().map(text_of).collect());
        let all: Option<Vec<String>> = all;
        let all = all.ok_or_else(|| self.at(value, &format!("{key} needs a list of texts")))?;
        match all.iter().enumerate().find(|(i, it)| all[..*i].contains(it)) {
            Some((_, twice)) => Err(self.at(value, &format!("{twice:?} is there twice"))),
            None => Ok(Some(all)),
        }
    }

    fn number(&mut self, key: &'static str) -> Result<Option<u64>, PolicyError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let number = value.get_ref().as_integer().filter(|it| it.radix() == 10);
        let number = number.and_then(|it| it.as_str().replace('_', "").parse().ok());
        let why = format!("{key} needs a whole number");
        number.map(Some).ok_or_else(|| self.at(value, &why))
    }

    fn at_least_one(&mut self, key: &'static str) -> Result<Option<u64>, PolicyError> {
        let number = self.number(key)?;
        match number {
            Some(0) => Err(self.wrong(key, &format!("{key} needs at least 1"))),
            _ => Ok(number),
        }
    }

    fn day(&mut self, key: &'static str) -> Result<Option<Day>, PolicyError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let day = match value.get_ref() {
            DeValue::Datetime(Datetime { date: Some(date), time: None, offset: None }) => {
                Day::of_date(date.year.into(), date.month.into(), date.day.into())
            }
            _ => None,
        };
        let why = format!("{key} needs a date without quotes, as in 2027-01-31");
        day.map(Some).ok_or_else(|| self.at(value, &why))
    }

    fn side(&mut self, name: &'static str, sends: bool) -> Result<Side, PolicyError> {
        let Some(value) = self.get(name) else { return Ok(Side::default()) };
        let table = value.get_ref().as_table();
        let table = table.ok_or_else(|| self.at(value, &format!("{name} needs a table")))?;
        let mut rules = Reader::new(self.text, name, table, value.span().start);
        let peers = rules.strings("peers")?.unwrap_or_default();
        let peers: Result<Vec<Fingerprint>, _> = peers.iter().map(|it| it.parse()).collect();
        let side = Side {
            peers: peers.map_err(|e| rules.wrong("peers", &format!("{e}")))?,
            columns: rules.strings("columns")?,
            or_columns: rules.strings("or-columns")?.unwrap_or_default(),
            min_size: rules.number("min-size")?,
            max_size: rules.number("max-size")?,
            share: if sends { rules.strings("share")?.unwrap_or_default() } else { Vec::new() },
            value: if sends { rules.string("value")? } else { None },
        };
        rules.end()?;
        match side.min_size > side.max_size.or(Some(u64::MAX)) {
            true => Err(rules.wrong("min-size", "min-size is larger than max-size")),
            false => Ok(side),
        }
    }

    /// Fails if there are keys that nobody asked for.
    fn end(&self) -> Result<(), PolicyError> {
        let unknown = self.table.keys().find(|key| !self.known.contains(&key.get_ref().as_ref()));
        unknown.map_or(Ok(()), |key| {
            let name = &**key.get_ref();
            let place = match self.name {
                "" => "a policy".into(),
                side => format!("[{side}]"),
            };
            let why = format!("unknown rule {name:?}; {place} has {}", self.known.join(", "));
            Err(PolicyError::at(self.text, key.span().start, why))
        })
    }

    fn wrong(&self, key: &str, why: &str) -> PolicyError {
        let at = self.table.get(key).map_or(self.at, |value| value.span().start);
        PolicyError::at(self.text, at, why.into())
    }

    fn missing(&self, what: &str) -> PolicyError {
        PolicyError::at(self.text, self.at, format!("the rule {what} is missing"))
    }

    fn at(&self, value: Value<'_, '_>, why: &str) -> PolicyError {
        PolicyError::at(self.text, value.span().start, why.into())
    }
}

fn text_of(value: &Spanned<DeValue<'_>>) -> Option<String> {
    match value.get_ref() {
        DeValue::String(text) => Some(Cow::clone(text).into_owned()),
        _ => None,
    }
}

impl PolicyError {
    fn at(text: &str, at: usize, why: String) -> Self {
        let before = text.get(..at).unwrap_or(text);
        Self { line: 1 + before.matches('\n').count(), why }
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

impl error::Error for PolicyError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_that_would_not_be_enforced_is_refused_by_its_line() {
        let good = "policy = 1\nfunctions = ['intersection']\n";
        assert!(Policy::parse(good).is_ok());
        for (text, line, why) in [
            ("", 1, "the rule policy = 1 is missing"),
            ("policy = 2\n", 1, "this program knows version 1"),
            ("policy = 1\n", 1, "the rule functions is missing"),
            ("policy = 1\nfunctions = []", 2, "functions are intersection, join"),
            ("policy = 1\nfunctions = ['psi']", 2, "functions are intersection, join"),
            ("policy = 1\nfunctions = 'count'", 2, "functions needs a list of texts"),
            ("policy = 1\nfunctions = ['count', 'count']", 2, "\"count\" is there twice"),
            ("policy = 1\npolicy = 1", 2, "duplicate key"),
            ("policy = ", 1, ""),
        ] {
            let error = Policy::parse(text).unwrap_err();
            assert_eq!(error.line, line, "{text}: {error}");
            assert!(error.to_string().contains(why), "{text}: {error}");
        }
        for (more, line, why) in [
            ("max-peer = 1", 3, "unknown rule \"max-peer\"; a policy has policy, functions"),
            (
                "[receiver]\nmin_size = 1",
                4,
                "unknown rule \"min_size\"; [receiver] has peers, columns",
            ),
            ("[receiver]\nshare = ['a']", 4, "unknown rule \"share\""),
            ("receiver = 1", 3, "receiver needs a table"),
            ("[receiver]\nmin-size = -1", 4, "min-size needs a whole number"),
            ("[receiver]\nmin-size = 1.5", 4, "min-size needs a whole number"),
            ("[receiver]\nmin-size = 5\nmax-size = 4", 4, "larger than max-size"),
            ("[sender]\npeers = ['SHA256:x']", 4, ""),
            ("[sender]\nshare = ['city']", 2, "join and the rule sender.share need each other"),
            ("[sender]\nvalue = 'city'", 2, "sum and the rule sender.value need each other"),
            ("min-count = 5", 3, "min-count needs the function count or sum"),
            ("adversary = 'both'", 3, "adversary is malicious or semi-honest"),
            ("assumptions = ['rsa']", 3, "assumptions are symmetric and lpn"),
            ("normalize = ['email']", 3, "normalisers have versions"),
            ("max-runs-per-day = 0", 3, "max-runs-per-day needs at least 1"),
            ("max-keys-per-day = '5'", 3, "max-keys-per-day needs a whole number"),
            ("expires = '2027-01-31'", 3, "expires needs a date without quotes, as in 2027-01-31"),
            ("expires = 2027-01-31T12:00:00Z", 3, "expires needs a date"),
            ("expires = 2027-01-31T12:00:00", 3, "expires needs a date"),
            ("expires = 12:00:00", 3, "expires needs a date"),
            ("expires = 2027-02-29", 3, ""),
            ("expires = 1969-12-31", 3, "expires needs a date"),
        ] {
            let error = Policy::parse(&format!("{good}{more}")).unwrap_err();
            assert_eq!(error.line, line, "{more}: {error}");
            assert!(error.to_string().contains(why), "{more}: {error}");
        }
    }
}
