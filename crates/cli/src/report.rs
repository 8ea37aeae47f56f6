//! The figures of a run: the JSON object of `--json` (schema 1), and a line in words.

use std::time::Duration;

use foxtrot_ot::Backend;
use serde_json::{Map, Value, json};

use crate::{
    failure::Failure,
    link::Cost,
    output::{self, Output, print},
};

/// Limits above which a run is announced before it begins: more bytes, or more time.
const MUCH: u64 = 100_000_000;
const LONG: Duration = Duration::from_secs(2);

/// Bits per second of the line that an estimate is for.
const LINE: f64 = 1e8;

/// The figures of one run or benchmark; what the other side alone knows is `None`.
#[derive(Debug)]
pub struct Report {
    /// The job or benchmark, as in `rot/softspoken-4`.
    pub name: String,
    /// The parameters of its protocols.
    pub params: String,
    /// The adversary and the assumptions.
    pub security: String,
    /// The parties of this process: `sender`, `receiver` or `both`.
    pub parties: &'static str,
    /// The medium between the parties.
    pub transport: &'static str,
    /// The number of transfers, or of other outputs.
    pub n: usize,
    /// Threads of each party.
    pub threads: usize,
    /// Time by the clock on the wall.
    pub wall: Duration,
    /// CPU time of the sender.
    pub cpu_sender: Option<Duration>,
    /// CPU time of the receiver.
    pub cpu_receiver: Option<Duration>,
    /// Bytes that the sender sent.
    pub bytes_sender: Option<u64>,
    /// Bytes that the receiver sent.
    pub bytes_receiver: Option<u64>,
    /// Flows, as long as one party sends.
    pub rounds: u64,
}

impl Report {
    /// Makes the report of a run with this name, these parameters, this security and n outputs, in which the sender, the
    /// receiver or both were here.
    pub(crate) fn of_parties(
        [name, params, security]: [String; 3],
        (n, threads): (usize, usize),
        [sender, receiver]: [Option<&Cost>; 2],
    ) -> Self {
        let either = receiver.or(sender);
        Self {
            name,
            params,
            security,
            parties: match (sender, receiver) {
                (Some(_), None) => "sender",
                (None, Some(_)) => "receiver",
                _ => "both",
            },
            transport: either.map_or("memory", |cost| cost.transport),
            n,
            threads,
            wall: either.map_or(Duration::ZERO, |cost| cost.wall),
            cpu_sender: sender.map(|cost| cost.cpu),
            cpu_receiver: receiver.map(|cost| cost.cpu),
            bytes_sender: sender.map(|cost| cost.counters.sent),
            bytes_receiver: receiver.map(|cost| cost.counters.sent),
            rounds: either.map_or(0, |cost| cost.counters.flows),
        }
    }

    /// The object of `--json`.
    #[must_use]
    pub fn json(&self) -> Map<String, Value> {
        let seconds = |time: Option<Duration>| time.map(|time| time.as_secs_f64());
        object(json!({
            "schema": 1,
            "name": self.name,
            "params": self.params,
            "security": self.security,
            "parties": self.parties,
            "transport": self.transport,
            "n": self.n,
            "threads": self.threads,
            "backend": Backend::best().name(),
            "seconds": self.wall.as_secs_f64(),
            "cpu_seconds_sender": seconds(self.cpu_sender),
            "cpu_seconds_receiver": seconds(self.cpu_receiver),
            "bytes_sender": self.bytes_sender,
            "bytes_receiver": self.bytes_receiver,
            "rounds": self.rounds,
        }))
    }

    /// Prints the report with more fields as one object, if `--json` asks for it.
    pub(crate) fn print(&self, output: Output, more: Map<String, Value>) -> Result<(), Failure> {
        if !output.json {
            return Ok(());
        }
        let mut object = self.json();
        object.extend(more);
        print(output::json(&Value::Object(object)))
    }

    /// Bytes and time in words, and the rate of outputs with this name.
    pub(crate) fn words_of(&self, what: &str) -> String {
        /// The rate of fewer says nothing.
        const MANY: usize = 1000;
        match self.n {
            MANY.. => {
                let rate = rate(self.n as f64 / self.wall.as_secs_f64());
                format!("{}, {rate} {what}/s", self.figures())
            }
            _ => self.figures(),
        }
    }

    pub(crate) fn figures(&self) -> String {
        let sent = match (self.bytes_sender, self.bytes_receiver) {
            (Some(sender), Some(receiver)) => bytes(sender + receiver),
            (Some(one), None) | (None, Some(one)) => bytes(one) + " sent",
            (None, None) => String::new(),
        };
        format!("{sent}, {}", time(self.wall))
    }
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// Announces a run of many bytes or much time; the words say whose bytes and whose time these are.
pub(crate) fn estimate(
    (size, sent): (u64, &str),
    (takes, computed): (Duration, &str),
) -> Option<String> {
    (size > MUCH || takes > LONG).then(|| {
        let way = time(Duration::from_secs_f64(size as f64 * 8.0 / LINE));
        let (size, takes) = (bytes(size), time(takes));
        format!(
            "estimate: {size} {sent} ({way} at 100 Mbit/s), {takes} of computation on {computed}"
        )
    })
}

/// Picks the figures of this machine from those for AVX-512, AVX2 and portable code.
pub(crate) fn of_this_machine<T>([avx512, avx2, portable]: [T; 3]) -> T {
    match Backend::best().name() {
        "avx512" => avx512,
        "avx2" => avx2,
        _ => portable,
    }
}

/// `1 transfer`, `8 transfers`; the first word gets the plural.
pub(crate) fn counted(n: usize, what: &str) -> String {
    match (n, what.split_once(' ')) {
        (1, _) => format!("1 {what}"),
        (_, None) => format!("{n} {what}s"),
        (_, Some((first, rest))) => format!("{n} {first}s {rest}"),
    }
}

/// `999 B`, `12.3 kB`, `4.0 MB`.
pub(crate) fn bytes(count: u64) -> String {
    let count = count as f64;
    match count {
        0.0..1e3 => format!("{count} B"),
        0.0..1e6 => format!("{:.1} kB", count / 1e3),
        0.0..1e9 => format!("{:.1} MB", count / 1e6),
        _ => format!("{:.1} GB", count / 1e9),
    }
}

/// `850`, `12.3 thousand`, `4.0 million`.
fn rate(rate: f64) -> String {
    match rate {
        0.0..1e3 => format!("{rate:.0}"),
        0.0..1e6 => format!("{:.1} thousand", rate / 1e3),
        _ => format!("{:.1} million", rate / 1e6),
    }
}

/// `850 µs`, `12.3 ms`, `4.0 s`.
pub(crate) fn time(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        0.0..1e-3 => format!("{:.0} µs", seconds * 1e6),
        0.0..1.0 => format!("{:.1} ms", seconds * 1e3),
        _ => format!("{seconds:.1} s"),
    }
}
