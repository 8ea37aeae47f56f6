use std::thread;

use foxtrot_net::{hello::Role, memory};
use foxtrot_ot::{Session, Sid};
use foxtrot_triples::{gilboa, params};

use super::*;
use crate::secure::Opened;

const WAN: Speed = Speed { bytes_per_second: 12.5e6, round_trip: Duration::from_millis(100) };
const LAN1: Speed = Speed { bytes_per_second: 125e6, round_trip: Duration::from_micros(500) };
const LAN10: Speed = Speed { bytes_per_second: 1250e6, round_trip: Duration::from_micros(500) };

const TABLES: [(costs::Table, &str); 3] =
    [(costs::AVX512, "avx512"), (costs::AVX2, "avx2"), (costs::PORTABLE, "portable")];

/// As `Kind::all` has them.
fn kinds(rlwe: &str, bits: u32) -> Vec<Kind> {
    ["", "-k2", "-k8"]
        .iter()
        .map(|suffix| format!("gilboa-{bits}{suffix}"))
        .fold(vec![format!("{rlwe}-{bits}")], |mut names, name| {
            names.push(name);
            names
        })
        .iter()
        .map(|name| Kind::find(name).unwrap())
        .collect()
}

/// The name of the kind for parties that take these nanoseconds per triple.
fn chosen_at(kinds: &[Kind], nanoseconds: [u64; 4], count: u64, speed: Speed) -> &'static str {
    let picoseconds = nanoseconds.map(|it| 1000 * it).to_vec();
    let facts = Facts { kinds, picoseconds, count };
    kinds[usize::from(least(&facts.estimates(speed)))].name()
}

#[test]
fn many_triples_come_from_ring_lwe_over_every_link() {
    for (table, backend) in TABLES {
        for bits in [8, 16, 32, 64] {
            let kinds = kinds("rlwe", bits);
            let nanoseconds: Vec<_> = kinds.iter().map(|kind| table.each(*kind).into()).collect();
            let nanoseconds: [u64; 4] = nanoseconds.try_into().unwrap();
            for speed in [WAN, LAN1, LAN10] {
                let chosen = chosen_at(&kinds, nanoseconds, 1 << 20, speed);
                assert_eq!(chosen, format!("rlwe-{bits}"), "{backend}, {speed:?}");
            }
            // Then nothing has to be measured.
            let picoseconds = nanoseconds.map(|it| 1000 * it).to_vec();
            let facts = Facts { kinds: &kinds, picoseconds, count: 1 << 20 };
            assert_eq!(facts.best_over_every_link(), Some(0), "{backend}, {bits}");
        }
    }
}

#[test]
fn every_kind_has_a_cost_on_every_backend() {
    for (table, backend) in TABLES {
        for kind in params::registry().map(Kind::Rlwe).chain(gilboa::registry().map(Kind::Gilboa)) {
            assert!(table.each(kind) > 0, "{kind:?}, {backend}");
            assert!(costs::once(kind) > Duration::ZERO, "{kind:?}");
        }
    }
}

/// A kind that is the best of all is so whatever the link; and where none is, there are links that disagree.
#[test]
fn a_link_is_measured_only_if_that_can_change_the_choice() {
    let rates = [1e3, 1e5, 12.5e6, 125e6, 1250e6, 1e12];
    let trips = [0, 50, 500, 20_000, 100_000, 3_000_000].map(Duration::from_micros);
    let mut decided = 0;
    for (rlwe, bits) in [("rlwe", 8), ("rlwe", 64), ("rlwe-lift", 8), ("rlwe-lift", 64)] {
        let kinds = kinds(rlwe, bits);
        for count in [1, 1000, 1 << 14, 1 << 20, 1 << 30] {
            for table in TABLES.map(|(table, _)| table) {
                let picoseconds = kinds.iter().map(|kind| 1000 * u64::from(table.each(*kind)));
                let facts = Facts { kinds: &kinds, picoseconds: picoseconds.collect(), count };
                let Some(best) = facts.best_over_every_link() else { continue };
                decided += 1;
                for (bytes_per_second, round_trip) in
                    rates.into_iter().flat_map(|rate| trips.map(|trip| (rate, trip)))
                {
                    let estimates = facts.estimates(Speed { bytes_per_second, round_trip });
                    let chosen = estimates[usize::from(best)];
                    assert!(estimates.iter().all(|it| chosen <= *it), "{estimates:?}");
                }
            }
        }
    }
    assert!(decided > 0);
    let kinds = kinds("rlwe", 64);
    let facts = Facts { kinds: &kinds, picoseconds: vec![200_000; 4], count: 1 };
    assert_eq!(facts.best_over_every_link(), None);
}

#[test]
fn a_few_come_from_oblivious_transfer() {
    for bits in [8, 16, 32, 64] {
        let kinds = kinds("rlwe", bits);
        for count in [1, 100] {
            let chosen = chosen_at(&kinds, [100, 150, 100, 500], count, LAN1);
            assert!(chosen.starts_with("gilboa"), "{chosen}, {count}");
        }
    }
}

/// `rlwe-8`, `rlwe-lift-8`, `rlwe-64`, `rlwe-lift-64` and `gilboa-8` took 0.87, 0.69, 1.15, 0.98 and 1.15 s for one triple at 100 Mbit/s
/// and 100 ms there and back.
#[test]
fn one_triple_over_a_long_line_takes_what_it_took() {
    for (name, seconds) in [
        ("rlwe-8", 0.87),
        ("rlwe-lift-8", 0.69),
        ("rlwe-64", 1.15),
        ("rlwe-lift-64", 0.98),
        ("gilboa-8", 1.15),
        ("gilboa-64-k8", 1.15),
    ] {
        let kinds = [Kind::find(name).unwrap()];
        let facts = Facts { kinds: &kinds, picoseconds: vec![200_000], count: 1 };
        let ratio = facts.estimates(WAN)[0] / seconds;
        assert!((0.85..1.15).contains(&ratio), "{name}: {ratio}");
    }
}

#[test]
fn bytes_decide_on_a_slow_link_and_computing_on_a_fast_one() {
    let kinds = kinds("rlwe-lift", 8);
    let chosen = |speed| chosen_at(&kinds, [250, 140, 120, 500], 1 << 24, speed);
    assert_eq!(chosen(WAN), "gilboa-8-k8", "39 bytes, where the lift has 52");
    assert_eq!(chosen(Speed { bytes_per_second: 2e8, ..LAN1 }), "gilboa-8");
    assert_eq!(chosen(Speed { bytes_per_second: f64::INFINITY, ..LAN10 }), "gilboa-8-k2");
    assert_eq!(least(&[1.0, 0.5, 0.5]), 1);
    assert_eq!(least(&[f64::INFINITY; 4]), 0);
}

fn table(entries: &[(&str, &str)]) -> Table {
    entries.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn nonsense_of_the_peer_is_its_fault() {
    let good = (COMPUTING, "1,2,3,4");
    assert_eq!(Theirs::read(&table(&[good]), 4).ok().unwrap().picoseconds, [1, 2, 3, 4]);
    let theirs = Theirs::read(&table(&[good, (LINK, "12500000,100000")]), 4).ok().unwrap();
    assert_eq!(theirs.link, Some(WAN));
    for offers in [
        vec![],
        vec![(COMPUTING, "")],
        vec![(COMPUTING, "1,2,3")],
        vec![(COMPUTING, "1,2,3,4,5")],
        vec![(COMPUTING, "1,2,3,-4")],
        vec![(COMPUTING, "1,2,3,x")],
        vec![(COMPUTING, "1,2,3,1125899906842625")],
        vec![good, (LINK, "")],
        vec![good, (LINK, "1")],
        vec![good, (LINK, "0,1")],
        vec![good, (LINK, "1,1,1")],
        vec![good, (LINK, "1,inf")],
    ] {
        let said = Theirs::read(&table(&offers), 4).err().unwrap();
        assert!(said.message().starts_with("the peer offers "), "{}", said.message());
    }
}

/// What both sides come to, each with a link or without; the first is the one that connects.
fn agreed(links: [Option<Speed>; 2], count: u64) -> [Kind; 2] {
    let (here, there) = memory::pair(Duration::from_secs(60));
    let side = |channel, initiator: bool, given| {
        let choice = Choice::new(kinds("rlwe", 64), given, 1);
        let role = if initiator { Role::Sender } else { Role::Receiver };
        let hello = choice.offer(Hello::new(role));
        let link = Link::greet(Opened::in_memory(channel), initiator, &hello).unwrap();
        let kind = choice.agree(&link, count, Output::in_background()).unwrap();
        assert_eq!(link.channel.counters().sent, 0);
        kind
    };
    thread::scope(|scope| {
        let other = scope.spawn(|| side(there, false, links[1]));
        [side(here, true, links[0]), other.join().unwrap()]
    })
}

#[test]
fn both_sides_come_to_the_same_whoever_gives_the_link() {
    for links in [
        [None, None],
        [Some(WAN), None],
        [None, Some(WAN)],
        [Some(LAN10), Some(WAN)],
        [Some(WAN), Some(LAN10)],
    ] {
        let [ours, theirs] = agreed(links, 1);
        assert_eq!(ours, theirs);
        let few = if links[0].or(links[1]) == Some(WAN) { "rlwe-64" } else { "gilboa-64" };
        assert!(ours.name().starts_with(few), "{links:?}: {ours:?}");
        let [ours, theirs] = agreed(links, 1 << 24);
        assert_eq!((ours.name(), theirs.name()), ("rlwe-64", "rlwe-64"), "{links:?}");
    }
}

/// `docs/wire.md`, section 20, with its hello byte by byte (section 3).
#[test]
fn offers_and_the_choice_are_the_bytes_of_the_wire_document() {
    let (here, there) = memory::pair(Duration::from_secs(60));
    let peer = thread::spawn(move || {
        let hello = there.recv_at_most(Lane::HELLO, 4096).unwrap();
        let (head, role, no_terms) = (b"FOXTROT\0\x06\0", [1, 0], [0, 0]);
        let offers = b"\x01\0\x09computing\x07\x005,6,7,8";
        let theirs = [&head[..], &[7; 32], &role, &no_terms, offers].concat();
        there.send(Lane::HELLO, theirs.clone()).unwrap();
        // Its details, an answer to both hellos, without work and without a table's entries.
        let greeting = Session::new(Sid::derive(&hello, &theirs, &[]));
        let confirmation: [u8; 32] =
            greeting.oracle("foxtrot v1 confirmation").query(0, 1).finish();
        there.recv_at_most(Lane::HELLO, 4096).unwrap();
        there.send(Lane::HELLO, [&confirmation[..], &[0; 8], &[0, 0]].concat()).unwrap();
        there.use_lanes(2);
        (hello, there.recv(Lane::PROTOCOL, 1).unwrap())
    });
    let kinds = kinds("rlwe", 8);
    let choice =
        Choice { kinds: kinds.clone(), picoseconds: vec![1, 20, 300, 4000], link: Some(WAN) };
    let hello = choice.offer(Hello::new(Role::Sender));
    let link = Link::greet(Opened::in_memory(here), true, &hello).unwrap();
    let kind = choice.agree(&link, 100, Output::in_background()).unwrap();

    let (hello, chosen) = peer.join().unwrap();
    let offers = b"\x02\0\x09computing\x0d\x001,20,300,4000\x04link\x0f\x0012500000,100000";
    assert_eq!(hello[44..], [&[0, 0], &offers[..]].concat());
    assert_eq!(usize::from(chosen[0]), kinds.iter().position(|it| *it == kind).unwrap());
    // The numbers are those of this order.
    let names: Vec<_> = kinds.iter().map(|kind| kind.name()).collect();
    assert_eq!(names, ["rlwe-8", "gilboa-8", "gilboa-8-k2", "gilboa-8-k8"]);
}

#[test]
fn a_choice_that_there_is_not_is_the_peers_fault() {
    let (here, there) = memory::pair(Duration::from_secs(60));
    let choice = Choice::new(kinds("rlwe", 8), Some(WAN), 1);
    let hello = |role| choice.offer(Hello::new(role));
    let said = thread::scope(|scope| {
        let peer = scope.spawn(|| {
            let opened = Opened::in_memory(there);
            let link = Link::greet(opened, true, &hello(Role::Sender)).unwrap();
            link.channel.send(Lane::PROTOCOL, vec![4]).unwrap();
            link
        });
        let link = Link::greet(Opened::in_memory(here), false, &hello(Role::Receiver)).unwrap();
        let said = choice.agree(&link, 100, Output::in_background()).unwrap_err();
        drop(peer.join());
        said
    });
    assert_eq!(said.message(), "the peer chose method 4 of 0 to 3");
    assert!(!said.is_the_peers_end());
}
