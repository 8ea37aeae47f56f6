//! The parameter sets against the table of `docs/wire/rlwe.md`, section 18, number by number.

use foxtrot_triples::params::registry;

/// A row of the table: name, ℓ, log₂ n, primes of p, other primes, t₀ and t₁.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    name: String,
    bits: u32,
    log_n: u32,
    plain: Vec<u64>,
    rest: Vec<u64>,
    t: Vec<u32>,
}

/// The number whose superscript digits these are.
fn superscript(text: &str) -> u32 {
    let digit = |c| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().position(|it| it == c).unwrap();
    text.chars().fold(0, |number, c| 10 * number + u32::try_from(digit(c)).unwrap())
}

fn numbers<T: core::str::FromStr<Err: core::fmt::Debug>>(text: &str) -> Vec<T> {
    text.split(", ").map(|number| number.parse().unwrap()).collect()
}

fn rows() -> Vec<Row> {
    let page = include_str!("../../../docs/wire/rlwe.md");
    let row = |line: &str| {
        let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [name, bits, n, plain, rest, t] = cells[..] else { panic!("{line}") };
        Row {
            name: name.trim_matches('`').into(),
            bits: bits.parse().unwrap(),
            log_n: superscript(n.strip_prefix('2').unwrap()),
            plain: numbers(plain),
            rest: numbers(rest),
            t: numbers(t),
        }
    };
    page.lines().filter(|line| line.starts_with("| `rlwe-")).map(row).collect()
}

#[test]
fn sets_match_the_wire_documents_table_in_order() {
    let of_set = |set: &foxtrot_triples::params::Set| Row {
        name: set.name().into(),
        bits: set.bits(),
        log_n: set.log_n,
        plain: set.plain.to_vec(),
        rest: set.rest.to_vec(),
        t: set.t.to_vec(),
    };
    let sets: Vec<Row> = registry().map(of_set).collect();
    assert_eq!(sets.len(), 16);
    assert_eq!(rows(), sets);
}

/// Checks the extension that each set takes for its OTs: the page gives it by name.
#[test]
fn sets_take_random_ots_unless_they_lift() {
    for set in registry() {
        let extension = set.fix().map(|extension| extension.name());
        let expected = (!set.name().contains("lift")).then_some("softspoken-6-semi-honest");
        assert_eq!(extension, expected, "{set:?}");
    }
}
