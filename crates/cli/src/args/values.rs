//! Values of options that need more than their type to be right.

use std::{fmt::Display, net::SocketAddr, ops::RangeInclusive, str::FromStr, time::Duration};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use foxtrot::options::JobOption;
use foxtrot_net::{gateway::is_name, threads::MOST};

/// A host and a port. Whether there is such a host the network knows.
pub(super) fn address(text: &str) -> Result<String, String> {
    let host_and_port = text.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok());
    let is_one = text.parse::<SocketAddr>().is_ok()
        || host_and_port.is_some_and(|(host, _)| {
            // What looks like an IP address would have been one.
            let dotted = |c: char| c == '.' || c.is_ascii_digit();
            !host.is_empty() && !host.contains([':', '[', ']', ' ']) && !host.chars().all(dotted)
        });
    is_one.then(|| text.to_owned()).ok_or_else(|| {
        "must be a host and a port up to 65535, as in localhost:7000 or [::1]:7000".into()
    })
}

/// Parses an origin: scheme, host and perhaps a port, as a browser names it.
pub(super) fn origin(text: &str) -> Result<String, String> {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let host = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.:[]".contains(c);
    match rest {
        Some(rest) if !rest.is_empty() && rest.chars().all(host) => Ok(text.into()),
        _ => Err("must be https:// and a host in lower case, without a path".into()),
    }
}

/// Parses the name of a route, to which a shard adds its own.
pub(super) fn route(text: &str) -> Result<String, &'static str> {
    const MOST: usize = 64;
    let is_name = text.len() <= MOST && is_name(text);
    is_name.then(|| text.to_owned()).ok_or("must have 1 to 64 ASCII letters, digits or `._:-`")
}

/// A parser of numbers in a range. The error names the range in words, for it is shown to users.
pub(super) fn between<N: FromStr + PartialOrd + Display + Clone>(
    range: RangeInclusive<N>,
) -> impl Fn(&str) -> Result<N, String> + Clone {
    move |text| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| format!("must be a number from {} to {}", range.start(), range.end()))
    }
}

/// [`between`] for an option that every door has.
pub(super) fn between_of(option: &JobOption) -> impl Fn(&str) -> Result<usize, String> + Clone {
    let range = option.range();
    let [first, last] = [range.start(), range.end()].map(|it| usize::try_from(*it));
    between(first.unwrap_or(usize::MAX)..=last.unwrap_or(usize::MAX))
}

/// [`between`] for seconds.
pub(super) fn seconds(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<Duration, String> + Clone {
    let number = between(range);
    move |text| match number(text) {
        Ok(seconds) => Ok(Duration::from_secs(seconds)),
        Err(e) => Err(e.replace("a number", "a number of seconds")),
    }
}

/// A parser of values by their names.
pub(super) fn named<V: Copy + Send + Sync + 'static, const N: usize>(
    values: [(V, PossibleValue); N],
) -> impl TypedValueParser<Value = V> {
    let names = PossibleValuesParser::new(values.clone().map(|(_, name)| name));
    names.try_map(move |name| {
        let found = values.iter().find(|(_, it)| it.get_name() == name);
        found.map(|(value, _)| *value).ok_or("not a value")
    })
}

/// A parser of some numbers.
pub(super) fn among<N: FromStr + PartialEq + Clone, const LEN: usize>(
    numbers: [N; LEN],
    otherwise: &'static str,
) -> impl Fn(&str) -> Result<N, &'static str> + Clone {
    move |text| text.parse().ok().filter(|number| numbers.contains(number)).ok_or(otherwise)
}

/// Parses a number of threads.
///
/// # Errors
/// If it is not one, or of too many threads.
pub fn threads(text: &str) -> Result<usize, String> {
    between(1..=MOST)(text)
}

/// Parses a number of bytes.
pub(super) fn memory(text: &str) -> Result<u64, String> {
    let units = [("K", 10), ("M", 20), ("G", 30)];
    let with_unit = |(unit, shift): &(&str, _)| Some((text.strip_suffix(unit)?, *shift));
    let (digits, shift) = units.iter().find_map(with_unit).unwrap_or((text, 0));
    let number = digits.parse::<u64>().ok().and_then(|n| n.checked_mul(1 << shift));
    number.ok_or_else(|| "not a number of bytes such as 500M or 2G".into())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use foxtrot::options::{
        JOB_OPTIONS, MAX_PEER_KEYS, MAX_SESSIONS, MIN_PEER_KEYS, SERVER_OPTIONS, Value, WIDTH,
    };

    use super::*;

    #[test]
    fn memory_is_a_number_of_bytes() {
        let good = [("0", 0), ("17", 17), ("3K", 3 << 10), ("500M", 500 << 20), ("2G", 2 << 30)];
        for (text, bytes) in good {
            assert_eq!(memory(text), Ok(bytes));
        }
        for wrong in ["", "M", "-1", "1T", "1 G", "1.5G", "0x1", "17179869184G"] {
            assert!(memory(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_address_is_a_host_and_a_port() {
        for good in ["localhost:7000", "127.0.0.1:0", "[::1]:7000", "a-b.example:65535", "4th:1"] {
            assert_eq!(address(good).as_deref(), Ok(good));
        }
        for wrong in [
            "",
            "localhost",
            "localhost:",
            ":7000",
            "7000",
            "localhost:65536",
            "localhost:-1",
            "localhost:http",
            "300.1.1.1:80",
            "::1:7000",
            "[::1]",
            "[x]:1",
            "a b:1",
            "127.0.0.1",
        ] {
            assert!(address(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_origin_has_a_scheme_and_a_host_and_no_path() {
        for good in ["https://psi.example.org", "http://localhost:8080", "http://[::1]:80"] {
            assert_eq!(origin(good).as_deref(), Ok(good));
        }
        for wrong in ["", "*", "psi.example.org", "https://", "https://a/", "https://A", "ws://a"] {
            assert!(origin(wrong).is_err(), "{wrong}");
        }
    }

    /// Every command of the tree that is at most so deep.
    fn commands(command: &clap::Command) -> Vec<&clap::Command> {
        let below = command.get_subcommands().flat_map(commands);
        [command].into_iter().chain(below).collect()
    }

    #[test]
    fn options_that_every_door_has_are_flags_with_the_same_defaults() {
        let mut root = crate::args::Args::command();
        root.build();
        for option in JOB_OPTIONS.into_iter().chain(SERVER_OPTIONS) {
            let flag = option.flag();
            let args = commands(&root).into_iter().flat_map(clap::Command::get_arguments);
            let named: Vec<_> = args.filter(|arg| arg.get_long() == Some(&flag)).collect();
            assert!(!named.is_empty(), "--{flag}");
            for arg in named {
                let default = arg
                    .get_default_values()
                    .first()
                    .map_or("false".into(), |it| it.to_string_lossy().into_owned());
                assert_eq!(default, option.default_text(), "--{flag}");
            }
        }
        for option in [MAX_PEER_KEYS, MIN_PEER_KEYS, WIDTH, MAX_SESSIONS] {
            let Value::Number(_, (first, last)) = option.value else { unreachable!() };
            let parse = between_of(&option);
            assert!(parse(&first.to_string()).is_ok() && parse(&last.to_string()).is_ok());
            assert!(parse(&(last + 1).to_string()).is_err());
        }
    }
}
