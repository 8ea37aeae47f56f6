//! `--method auto`: which kind is the fastest over this link, by a model that the side that opened the connection
//! computes (`docs/protocols/gilboa.md`, section 7; bytes: `docs/wire.md`, section 20).

use std::time::Duration;

use foxtrot_net::{
    Channel, Lane,
    hello::{Hello, Table},
    printable,
    probe::{self, Measured, Speed},
};

use super::{costs, kind::Kind};
use crate::{failure::Failure, lines::decimal, link::Link, output::Output, report::time};

/// The keys of the offers: picoseconds that a party computes per triple, for each kind; and bytes per second and
/// microseconds of a link that is given.
const COMPUTING: &str = "computing";
const LINK: &str = "link";

/// The most of either.
const MOST: u64 = 1 << 50;

/// Of the bytes of a run, what its measurement may take: one in so many.
const PROBED: u64 = 8;

/// Bytes per second of a link over which a run is too short to have it measured.
const ASSUMED: f64 = 12.5e6;

/// Bytes that TCP sends before it hears of the first.
const WINDOW: f64 = 14_600.0;

/// What is said while it goes on.
const MEASURING: &str = "measuring the link";

/// What there is to choose from.
pub(super) struct Choice {
    pub(super) kinds: Vec<Kind>,
    /// For each of them, with our threads.
    picoseconds: Vec<u64>,
    link: Option<Speed>,
}

/// What both sides know of the run.
struct Facts<'a> {
    kinds: &'a [Kind],
    /// For each of them, of the slower side.
    picoseconds: Vec<u64>,
    count: u64,
}

impl Choice {
    pub(super) fn new(kinds: Vec<Kind>, link: Option<Speed>, threads: usize) -> Self {
        let picoseconds = |kind: &Kind| 1000 * u64::from(costs::each(*kind)) / threads as u64;
        let picoseconds = kinds.iter().map(picoseconds).collect();
        Self { kinds, picoseconds, link }
    }

    pub(super) fn offer(&self, hello: Hello) -> Hello {
        let numbers: Vec<_> = self.picoseconds.iter().map(u64::to_string).collect();
        let hello = hello.offer(COMPUTING, numbers.join(","));
        match &self.link {
            Some(Speed { bytes_per_second, round_trip }) => {
                let micros = round_trip.as_micros();
                hello.offer(LINK, format!("{bytes_per_second:.0},{micros}"))
            }
            None => hello,
        }
    }

    /// The kind that the initiator chooses.
    pub(super) fn agree(&self, link: &Link, count: u64, output: Output) -> Result<Kind, Failure> {
        let theirs = Theirs::read(&link.agreement.peer_offers, self.kinds.len())?;
        let slower = self.picoseconds.iter().zip(&theirs.picoseconds).map(|(a, b)| *a.max(b));
        let facts = Facts { kinds: &self.kinds, picoseconds: slower.collect(), count };
        let (channel, given) = (&link.channel, self.link.or(theirs.link));
        let chosen = if link.agreement.we_are_initiator {
            let chosen = facts.choose(channel, given, output)?;
            channel.send(Lane::PROTOCOL, vec![chosen])?;
            chosen
        } else if given.is_some() {
            channel.recv(Lane::PROTOCOL, 1)?[0]
        } else {
            output.detail(MEASURING);
            probe::answer(channel)?
        };
        // What it took to choose is none of the run's bytes.
        channel.reset_counters();
        let kind = self.kinds.get(usize::from(chosen)).copied();
        kind.ok_or_else(|| {
            let kinds = self.kinds.len();
            Failure::peer(format!("the peer chose method {chosen} of 0 to {}", kinds - 1))
        })
    }
}

/// What the peer offers.
struct Theirs {
    picoseconds: Vec<u64>,
    link: Option<Speed>,
}

impl Theirs {
    fn read(offers: &Table, kinds: usize) -> Result<Self, Failure> {
        let refused = |key: &str, what: &str| {
            let offer = offers.get(key).map_or("nothing".into(), |offer| printable(offer));
            Failure::peer(format!("the peer offers {offer} as {what}"))
        };
        let numbers = |key: &str| -> Option<Vec<u64>> {
            let parts = offers.get(key)?.split(',');
            parts.map(|it| decimal(it.as_bytes()).filter(|it| *it <= MOST)).collect()
        };
        let picoseconds = numbers(COMPUTING).filter(|it| it.len() == kinds);
        let picoseconds = picoseconds.ok_or_else(|| refused(COMPUTING, "its time per triple"))?;
        let link = match (offers.contains_key(LINK), numbers(LINK).as_deref()) {
            (false, _) => None,
            (true, Some(&[rate, micros])) if rate > 0 => Some(Speed {
                bytes_per_second: rate as f64,
                round_trip: Duration::from_micros(micros),
            }),
            _ => return Err(refused(LINK, "rate and delay of the link")),
        };
        Ok(Self { picoseconds, link })
    }
}

impl Facts<'_> {
    /// The number of the fastest kind over a link that is given or is measured, if that can make a difference.
    fn choose(
        &self,
        channel: &Channel,
        given: Option<Speed>,
        output: Output,
    ) -> Result<u8, Failure> {
        if let (None, Some(best)) = (given, self.best_over_every_link()) {
            probe::skip(channel)?;
            let best_name = self.kinds[usize::from(best)].name();
            output.note(&format!("{best_name} is the fastest whatever the link is"));
            return Ok(best);
        }
        let (speed, assumed) = match given {
            Some(speed) => (speed, ""),
            None => {
                output.detail(MEASURING);
                let Measured { bytes_per_second, round_trip } =
                    probe::ask(channel, self.probe_bytes())?;
                let assumed = if bytes_per_second.is_some() { "" } else { "(assumed) " };
                let bytes_per_second = bytes_per_second.unwrap_or(ASSUMED);
                (Speed { bytes_per_second, round_trip }, assumed)
            }
        };
        let estimates = self.estimates(speed);
        say(self.kinds, &estimates, speed, assumed, output);
        Ok(least(&estimates))
    }

    /// The number of a kind that has not more of anything that an estimate grows with than any other, and so is the
    /// fastest by every one; the first if there are several.
    fn best_over_every_link(&self) -> Option<u8> {
        let all = || self.kinds.iter().zip(&self.picoseconds);
        let costs = |(kind, picoseconds): (&Kind, &u64)| {
            let waits = [kind.flows(), kind.openings()];
            (waits, self.bytes(*kind), self.computing(*kind, *picoseconds))
        };
        let no_worse = |one| {
            let ([flows, openings], bytes, computing) = costs(one);
            all().map(costs).all(|other| {
                let [other_flows, other_openings] = other.0;
                let waits = flows <= other_flows && openings <= other_openings;
                waits && bytes <= other.1 && computing <= other.2
            })
        };
        all().position(no_worse).and_then(|at| u8::try_from(at).ok())
    }

    /// Seconds that a party computes.
    fn computing(&self, kind: Kind, picoseconds: u64) -> f64 {
        costs::once(kind).as_secs_f64() + kind.made(self.count) as f64 * picoseconds as f64 * 1e-12
    }

    /// What the measurement may take in each direction.
    fn probe_bytes(&self) -> usize {
        let sizes = self.kinds.iter().map(|kind| self.bytes(*kind));
        usize::try_from(sizes.min().unwrap_or(0) / PROBED).unwrap_or(usize::MAX)
    }

    fn bytes(&self, kind: Kind) -> u64 {
        kind.bytes_each_way(&(0..kind.batches(self.count)), self.count)
    }

    /// How long each kind would take: messages that wait for each other, TCP's slow start, and the longer of computing and
    /// sending.
    fn estimates(&self, speed: Speed) -> Vec<f64> {
        let Speed { bytes_per_second: rate, round_trip } = speed;
        let trip = round_trip.as_secs_f64();
        let estimate = |(kind, picoseconds): (&Kind, &u64)| {
            let bytes = self.bytes(*kind) as f64;
            let computing = self.computing(*kind, *picoseconds);
            // The window doubles with every round trip, until it holds all that the link does.
            let window = bytes.min((rate * trip).max(WINDOW));
            let slow_start = f64::from(kind.openings()) * (1.0 + window / WINDOW).log2();
            let trips = f64::from(kind.flows()) / 2.0 + slow_start;
            trips * trip + computing.max(bytes / rate)
        };
        self.kinds.iter().zip(&self.picoseconds).map(estimate).collect()
    }
}

/// Which is the least, the first one if there are several.
fn least(estimates: &[f64]) -> u8 {
    let least = estimates.iter().enumerate().min_by(|(_, a), (_, b)| a.total_cmp(b));
    least.and_then(|(at, _)| u8::try_from(at).ok()).unwrap_or(0)
}

fn say(kinds: &[Kind], estimates: &[f64], speed: Speed, assumed: &str, output: Output) {
    let each: Vec<_> = kinds
        .iter()
        .zip(estimates)
        .map(|(kind, estimate)| {
            format!("{} {}", kind.name(), time(Duration::from_secs_f64(estimate.min(1e15))))
        })
        .collect();
    let trip = speed.round_trip.as_secs_f64() * 1e3;
    let rate = speed.bytes_per_second * 8e-6;
    let each = each.join(", ");
    output.note(&format!("at {rate:.0} Mbit/s {assumed}and {trip:.1} ms there and back: {each}"));
}

#[cfg(test)]
mod tests;
