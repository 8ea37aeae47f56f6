#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::time::Duration;

use super::{
    super::{
        figure::{Figure, Stat},
        fill::Head,
        machine::Machine,
        tables,
    },
    *,
};

/// A report in which every table has numbers of all kinds.
fn report() -> Report {
    let line = |group: &str, label: &str, x: Option<usize>, cells: Vec<Cell>| Line {
        group: group.into(),
        label: label.into(),
        x,
        cells,
        headline: Some("one".into()),
        why: Some("because <this> & that".into()),
        n: None,
        model: Some(1.5),
        job: None,
    };
    let kinds = [
        Ours::Measured(Stat { value: 2.0, low: 1.0, high: 9.0, runs: 5 }),
        Ours::Modelled(3.0),
        Ours::Absent("not in this build".into()),
        Ours::None,
        Ours::Measured(Stat { value: 200.0, low: 200.0, high: 200.0, runs: 1 }),
    ];
    let tables = tables::all().unwrap().into_iter().map(|table| {
        let has_ratio = |figure: &Figure| figure.has_ratio();
        let mut figures = table.columns.iter().map(|column| column.figure);
        let figure = figures.find(has_ratio).unwrap_or(Figure::SpeedUp);
        let width = table.columns.len().max(1);
        let head = Head { title: "time".into(), unit: "ms".into(), figure };
        let columns = vec![head; width];
        let lines = kinds.iter().enumerate().map(|(i, ours)| {
            let cell = Cell { paper: Some(20.0), said: None, ours: ours.clone(), figure };
            let x = table.xs.get(i).copied();
            line(["", "a \"group\"", "b"][i % 3], "a `label` <b>", x, vec![cell; width])
        });
        Filled {
            lines: lines.collect(),
            columns,
            table,
            elsewhere: vec!["b".into()],
            processor: "a <processor>".into(),
        }
    });
    let yardsticks = vec![("x25519_us", 21.7)];
    let mut machine = Machine::of_a_test();
    machine.processor = "a <processor>".into();
    let took = Duration::from_secs(754);
    let warning = Some("x25519_us is 1.5 <times>".into());
    Report { machine, quick: true, took, tables: tables.collect(), yardsticks, warning }
}

/// Every tag that is opened is closed in its turn, but for those that have no end.
fn check_tags(page: &str) {
    let mut open = Vec::new();
    for part in page.split('<').skip(1) {
        let (tag, _) = part.split_once('>').unwrap_or_else(|| panic!("a tag without end: {part}"));
        let name = tag.split_whitespace().next().unwrap();
        if let Some(name) = name.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{part}");
        } else if !tag.ends_with('/') && !["!doctype", "meta"].contains(&name) {
            open.push(name);
        }
    }
    assert_eq!(open, Vec::<&str>::new());
}

#[test]
fn a_page_is_well_formed_and_needs_nothing_from_elsewhere() {
    let page = page(&report());
    check_tags(&page);
    for outside in ["http:", "https:", "<script", "<link", "<img", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    // A finger reads all that a pointer does, and a reader that speaks knows whose head a head is.
    assert!(!page.contains(" title=") && page.contains("20 → 2 (1 to 9)"));
    assert!(page.split("<th").skip(1).all(|it| it.starts_with("ead") || it.contains(" scope=\"")));
    assert!(page.contains("<dt>this run took</dt><dd>12 min 34 s</dd>"));
    assert!(page.contains("<p class=\"flag\">x25519_us is 1.5 &lt;times&gt;</p>"));
    assert!(page.contains("prefers-color-scheme: dark") && page.contains("width=device-width"));
    assert!(
        page.contains("a &lt;processor&gt;") && page.contains("because &lt;this&gt; &amp; that")
    );
}

#[test]
fn a_page_has_every_table_and_says_where_we_are_worse_and_why() {
    let page = page(&report());
    for table in tables::all().unwrap() {
        let section = page.split(&format!("<section id=\"{}\"", table.id)).nth(1).unwrap();
        let section = section.split("</section>").next().unwrap();
        assert!(section.contains(&escape(&table.analysis)), "{}", table.id);
        assert!(section.contains("not in this build") && section.contains("20"), "{}", table.id);
        let has_ratio = table.columns.iter().any(|column| column.figure.has_ratio());
        assert_eq!(section.contains("Where we are worse"), has_ratio, "{}", table.id);
        assert!(page.contains(&format!("<a href=\"#{}\"", table.id)));
        assert!(section.contains("b; ours on another processor, a &lt;processor&gt;"));
        assert!(!section.contains("group\"; ours on another"));
        let machines = table.machine.map(|it| format!("theirs ran on {}; ours on", escape(&it)));
        assert!(machines.is_none_or(|it| section.contains(&it)), "{}", table.id);
    }
}

#[test]
fn a_page_begins_with_other_libraries_and_can_be_saved_as_csv() {
    let report = report();
    let page = page(&report);
    let begins = |what: &str| page.find(what).unwrap_or_else(|| panic!("{what}"));
    let sections = ["peers-psi", "peers-extension", "peers-base", "peers-triples", "roted-1"];
    let begins_at = sections.map(|id| begins(&format!("<section id=\"{id}\"")));
    assert!(begins_at.is_sorted(), "{begins_at:?}");
    let parts = ["Beside other libraries", "The papers’ tables and figures"];
    let [peers, papers] = parts.map(|part| begins(&format!("<h2 class=\"part\">{part}")));
    assert!(peers < begins_at[0] && (begins_at[3]..begins_at[4]).contains(&papers));

    let data = "href=\"data:text/csv;charset=utf-8,";
    let url = page[begins(data) + data.len()..].split('"').next().unwrap();
    let mut bytes = Vec::new();
    let mut rest = url.bytes();
    while let Some(byte) = rest.next() {
        let mut digit = || char::from(rest.next().unwrap()).to_digit(16).unwrap();
        bytes.push(if byte == b'%' { u8::try_from(16 * digit() + digit()).unwrap() } else { byte });
    }
    assert_eq!(String::from_utf8(bytes).unwrap(), record::tables(&report.tables));
}

#[test]
fn both_palettes_name_the_same_colours() {
    let names = |part: &str| -> Vec<String> {
        let part = part.split('}').next().unwrap();
        part.split("--").skip(1).map(|it| it.split(':').next().unwrap().to_owned()).collect()
    };
    let (light, dark) = STYLE.split_once("@media (prefers-color-scheme: dark)").unwrap();
    assert_eq!(names(light), names(dark));
}
