//! Addresses of e-mail.

use unicode_normalization::UnicodeNormalization;

use super::unseen::is_unseen;

/// The longest label of a domain that is written in Punycode.
const LONGEST_LABEL: usize = 63;

/// Version 2: `anna@xn--mller-kva.example` for `Anna@MÜLLER.example`; nothing for what is not one address.
pub(super) fn second(text: &str) -> String {
    address(text).map_or_else(String::new, |(local, domain)| format!("{local}@{domain}"))
}

/// Version 1: [`second`], and for Gmail's domains the local part without dots and the tag behind `+`.
pub(super) fn gmail(text: &str) -> String {
    let Some((local, domain)) = address(text) else { return String::new() };
    if !["gmail.com", "googlemail.com"].contains(&domain.as_str()) {
        return format!("{local}@{domain}");
    }
    let local = local.split('+').next().unwrap_or_default().replace('.', "");
    if local.is_empty() { String::new() } else { format!("{local}@gmail.com") }
}

/// The local part and the domain in its ASCII form.
fn address(text: &str) -> Option<(String, String)> {
    let text: String = text.chars().filter(|&c| !is_unseen(c)).nfkc().collect();
    let (local, domain) = text.trim().rsplit_once('@')?;
    let local: String = local.to_lowercase().nfkc().collect();
    let domain: String = domain.chars().flat_map(char::to_lowercase).nfkc().collect();
    let is_other = |c: char| c.is_whitespace() || "@<>,;\"".contains(c);
    if local.is_empty()
        || domain.is_empty()
        || [&local, &domain].iter().any(|it| it.contains(is_other))
    {
        return None;
    }
    let labels: Option<Vec<_>> = domain.split(['.', '\u{3002}']).map(ascii).collect();
    Some((local, labels?.join(".")))
}

/// A label of a domain as it is looked up.
fn ascii(label: &str) -> Option<String> {
    match label.is_ascii() {
        true => Some(label.to_owned()),
        false if label.chars().count() <= LONGEST_LABEL => Some(format!("xn--{}", punycode(label))),
        false => None,
    }
}

/// Punycode (RFC 3492, section 6.3).
fn punycode(label: &str) -> String {
    let mut written: String = label.chars().filter(char::is_ascii).collect();
    let (basic, total) = (written.len(), label.chars().count());
    if basic > 0 {
        written.push('-');
    }
    let (mut from, mut delta, mut bias, mut done) = (128, 0, 72, basic);
    // With 63 characters at most, delta stays below 64 · 2²¹.
    while done < total {
        let above = label.chars().map(u32::from).filter(|&c| c >= from);
        let Some(next) = above.min() else { break };
        let seen = u32::try_from(done).unwrap_or_default();
        delta += (next - from) * (seen + 1);
        for c in label.chars().map(u32::from) {
            if c < next {
                delta += 1;
            } else if c == next {
                number(delta, bias, &mut written);
                bias = adapted(delta, u32::try_from(done).unwrap_or_default() + 1, done == basic);
                (delta, done) = (0, done + 1);
            }
        }
        (delta, from) = (delta + 1, next + 1);
    }
    written
}

/// A number of variable length, in digits to the base 36 with thresholds.
fn number(mut rest: u32, bias: u32, to: &mut String) {
    const DIGITS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
    let digit = |value: u32| char::from(DIGITS[value as usize % 36]);
    let mut k = 36u32;
    loop {
        let threshold = k.saturating_sub(bias).clamp(1, 26);
        if rest < threshold {
            return to.push(digit(rest));
        }
        to.push(digit(threshold + (rest - threshold) % (36 - threshold)));
        (rest, k) = ((rest - threshold) / (36 - threshold), k + 36);
    }
}

/// The bias behind a delta.
fn adapted(delta: u32, points: u32, is_first: bool) -> u32 {
    let mut delta = delta / if is_first { 700 } else { 2 };
    delta += delta / points;
    let mut k = 0;
    while delta > 455 {
        (delta, k) = (delta / 35, k + 36);
    }
    k + 36 * delta / (delta + 38)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn punycode_follows_the_samples_of_rfc_3492() {
        for (text, code) in [
            ("ليهمابتكلموشعربي؟", "egbpdaj6bu4bxfgehfvwxn"),
            ("他们为什么不说中文", "ihqwcrb4cv8a8dqg056pqjye"),
            ("pročprostěnemluvíčesky", "proprostnemluvesky-uyb24dma41a"),
            ("почемужеонинеговорятпорусски", "b1abfaaepdrnnbgefbadotcwatmq2g4l"),
            ("3年b組金八先生", "3b-ww4c5e180e575a65lsy2b"),
            ("bücher", "bcher-kva"),
        ] {
            assert_eq!(punycode(text), code);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_an_address_or_none(text in "\\PC{0,80}@?\\PC{0,80}") {
            let once = second(&text);
            prop_assert_eq!(second(&once), once.clone());
            prop_assert!(once.split_once('@').is_none_or(|(_, domain)| domain.is_ascii()));
            let once = gmail(&text);
            prop_assert_eq!(gmail(&once), once);
        }
    }
}
