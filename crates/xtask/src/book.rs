//! The documents as a site, and their links.

use std::{fs, io, path::Path};

use crate::tools::{self, Failure, Result};

/// Builds the site into `target/book`.
pub(crate) fn run() -> Result {
    links()?;
    let there = tools::succeeds(&mut tools::command("mdbook", "--version"));
    tools::needs(there, "there is no mdbook: cargo install --locked mdbook")?;
    tools::run(&mut tools::command("mdbook", "build docs"))?;
    finish(&tools::root().join("target/book"))
}

/// Repairs the links of all pages below a folder: mdBook calls `README.md` `index.html`, and the site has no files of the
/// repository outside of `docs`.
fn finish(folder: &Path) -> Result {
    let failed = |e: io::Error| Failure::Failed(format!("{}: {e}", folder.display()));
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            finish(&path)?;
        } else if path.extension().is_some_and(|it| it == "html") {
            let text = fs::read_to_string(&path).map_err(failed)?;
            fs::write(&path, relinked(&text, |href| in_site(folder, href))).map_err(failed)?;
        }
    }
    Ok(())
}

/// The text with other targets of its links. Where there is none, the target becomes a title, which readers see.
fn relinked(html: &str, to: impl Fn(&str) -> Option<String>) -> String {
    let mut pieces = html.split("href=\"");
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (href, rest) = piece.split_once('"').unwrap_or((piece, ""));
        out += &match to(href) {
            Some(href) => format!("href=\"{href}\"{rest}"),
            None => format!("title=\"in the repository: {}\"{rest}", href.replace(".html", ".md")),
        };
    }
    out
}

/// The target of a link of a page in this folder, if the site has it.
fn in_site(folder: &Path, href: &str) -> Option<String> {
    let (path, anchor) = href.split_at(href.find('#').unwrap_or(href.len()));
    if path.is_empty() || path.starts_with('/') || path.contains(':') {
        return Some(href.to_owned());
    }
    let names = [path.to_owned(), path.replace("README.html", "index.html")];
    let there = names.into_iter().find(|name| folder.join(name).is_file());
    there.map(|name| name + anchor)
}

/// Checks that every relative link of a document leads to a file, and to a heading if it names one.
pub(crate) fn links() -> Result {
    let files = tools::stdout(&mut tools::command(
        "git",
        "ls-files --cached --others --exclude-standard *.md",
    ))?;
    let mut broken = 0;
    for file in String::from_utf8_lossy(&files).lines() {
        let path = tools::root().join(file);
        let Ok(text) = fs::read_to_string(&path) else { continue };
        for link in relative(&text) {
            if !leads(&path, link) {
                println!("{file}: {link}");
                broken += 1;
            }
        }
    }
    if broken == 0 { Ok(()) } else { tools::failed(format_args!("{broken} broken links")) }
}

/// The targets of the links in a document that name no site.
fn relative(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    let prose = text.lines().filter(move |line| {
        fenced ^= line.starts_with("```");
        !fenced && !line.starts_with("    ")
    });
    let targets = prose.flat_map(|line| {
        line.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target)
    });
    targets.filter(|target| !target.contains("://") && !target.contains(' '))
}

fn leads(from: &Path, link: &str) -> bool {
    let (file, heading) = link.split_once('#').unwrap_or((link, ""));
    let folder = from.parent().unwrap_or(from);
    let to = if file.is_empty() { from.to_owned() } else { folder.join(file) };
    if heading.is_empty() {
        return to.exists();
    }
    let Ok(text) = fs::read_to_string(&to) else { return false };
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings.map(anchor).any(|it| it == heading)
}

/// The anchor of a heading, as sites make it.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text.chars().filter(|&c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// The numbers of requirements in a text, such as `R2-4`.
#[cfg(test)]
fn requirements(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    words.filter(|word| {
        let number = word.strip_prefix('R').and_then(|rest| rest.split_once('-'));
        number.is_some_and(|(section, number)| {
            section.parse::<u16>().is_ok() && number.parse::<u16>().is_ok()
        })
    })
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs};

    use super::{anchor, in_site, links, relative, relinked, requirements};
    use crate::tools;

    #[test]
    fn links_of_all_documents_lead_somewhere() {
        links().unwrap();
    }

    #[test]
    fn links_of_the_site_lead_to_its_pages_or_become_titles() {
        let folder = tools::root().join("docs");
        let of = |href| in_site(&folder, href);
        assert_eq!(of("README.md#a").as_deref(), Some("README.md#a"));
        assert_eq!(of("https://a.example/b").as_deref(), Some("https://a.example/b"));
        assert_eq!((of("#a").as_deref(), of("../target")), (Some("#a"), None));
        let html = r#"<a href="b">c</a> <a href="d">e</a>"#;
        let other = |href: &str| (href == "b").then(|| "x".to_owned());
        let expected = r#"<a href="x">c</a> <a title="in the repository: d">e</a>"#;
        assert_eq!(relinked(html, other), expected);
    }

    #[test]
    fn links_are_found_outside_of_code_only() {
        let text = "[a](b.md#c) [d](https://e)\n```\n[f](g)\n```\n    [h](i)\n[j](k)\n";
        assert_eq!(relative(text).collect::<Vec<_>>(), ["b.md#c", "k"]);
        assert_eq!(anchor("### 7.1 Trees, `x`"), "71-trees-x");
    }

    #[test]
    fn every_cited_requirement_of_the_wire_is_defined_once() {
        let files = |pattern: &str| {
            let list = tools::stdout(&mut tools::command("git", &format!("ls-files {pattern}")));
            let list = String::from_utf8(list.unwrap()).unwrap();
            list.lines().map(|it| tools::root().join(it)).collect::<Vec<_>>()
        };
        let mut defined = BTreeSet::new();
        for page in files("docs/wire/*.md docs/wire/README.md") {
            let text = fs::read_to_string(&page).unwrap();
            for line in text.lines().filter(|line| line.starts_with("**R")) {
                // A paragraph with a number, or a sentence that begins in bold.
                if let Some(number) = requirements(line.split("**").nth(1).unwrap()).next() {
                    assert!(defined.insert(number.to_owned()), "{number} twice: {page:?}");
                }
            }
        }
        assert!(defined.len() > 50, "{defined:?}");
        let mut cited = 0;
        for file in files("crates/*.rs reference/*.rs") {
            // These tests have numbers of their own.
            if file.ends_with("xtask/src/book.rs") {
                continue;
            }
            let Ok(text) = fs::read_to_string(&file) else { continue };
            for number in requirements(&text) {
                assert!(defined.contains(number), "{number} in {file:?}");
                cited += 1;
            }
        }
        assert!(cited > 20, "{cited}");
        assert_eq!(
            requirements("// R2-4, R10-1. R-1 R2 XR2-4").collect::<Vec<_>>(),
            ["R2-4", "R10-1"]
        );
    }
}
