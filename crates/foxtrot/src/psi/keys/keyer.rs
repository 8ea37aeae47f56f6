//! The way from a row's key columns to the item that is compared.

use std::borrow::Cow;

use super::{super::ItemHasher, Item, Normaliser};

/// Makes items of keys, whose parts it normalises.
pub struct Keyer {
    normalisers: Vec<Normaliser>,
    hasher: ItemHasher,
}

impl Keyer {
    /// Makes a keyer for keys of as many parts as there are normalisers.
    #[must_use]
    pub fn new(normalisers: Vec<Normaliser>) -> Self {
        Self { normalisers, hasher: ItemHasher::new() }
    }

    /// The form in which both sides compare what they do to keys: `email/2;phone/2`.
    #[must_use]
    pub fn terms(&self) -> String {
        let each: Vec<_> = self.normalisers.iter().map(Normaliser::to_string).collect();
        each.join(";")
    }

    /// The parts of a key as they are compared.
    #[must_use]
    pub fn normalised(&self, parts: &[String]) -> Vec<String> {
        let both = self.normalisers.iter().zip(parts);
        both.map(|(normaliser, part)| normaliser.apply(part.into()).into_owned()).collect()
    }

    /// The item of a key, by its parts. None if one of them is empty: two rows that both lack
    /// something do not have it in common.
    pub fn item<'a>(&mut self, parts: impl Iterator<Item = Cow<'a, str>>) -> Option<Item> {
        let both = self.normalisers.iter().zip(parts);
        self.hasher.item(both.map(|(normaliser, part)| match normaliser.apply(part) {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        }))
    }
}

foxtrot_ot::erase::redacted! { Keyer; }

#[cfg(test)]
mod tests {
    use super::*;

    fn item(normalisers: &[&str], parts: &[&str]) -> Option<Item> {
        let normalisers = normalisers.iter().map(|text| text.parse().unwrap()).collect();
        Keyer::new(normalisers).item(parts.iter().map(|&part| part.into()))
    }

    #[test]
    fn an_item_is_the_tagged_hash_of_the_parts_with_their_lengths() {
        let joined = b"\x01\0\0\0\0\0\0\0a\x03\0\0\0\0\0\0\0b c";
        let expected = blake3::derive_key("foxtrot v1 psi item", joined);
        assert_eq!(item(&["lower", "trim"], &["A", " b c "]), Some(expected));
    }

    /// Compares with another implementation in Python, of normalisers also: `docs/psi-files.md` is
    /// normative.
    #[test]
    fn items_match_the_test_vectors() {
        let vectors = include_str!("../../../tests/vectors/psi-items.json");
        let vectors: serde_json::Value = serde_json::from_str(vectors).unwrap();
        let cases = vectors["cases"].as_array().unwrap();
        assert!(cases.len() > 150);
        for case in cases {
            let terms: Vec<&str> = case["terms"].as_str().unwrap().split(';').collect();
            let parts = case["parts"].as_array().unwrap();
            let parts: Vec<&str> = parts.iter().map(|part| part.as_str().unwrap()).collect();
            let hex = item(&terms, &parts).map(|item| blake3::Hash::from(item).to_string());
            assert_eq!(hex.as_deref(), case["item"].as_str(), "{case}");
        }
    }

    #[test]
    fn one_item_does_not_depend_on_the_one_before() {
        let mut keyer = Keyer::new(vec![Normaliser::default()]);
        let mut item = |text: &'static str| keyer.item([text.into()].into_iter());
        let first = item("a");
        assert_ne!(item("b"), first);
        assert_eq!(item(""), None);
        assert_eq!(item("a"), first);
    }

    #[test]
    fn parts_of_a_key_are_separated() {
        let both = ["none", "none"];
        assert_ne!(item(&both, &["ab", "c"]), item(&both, &["a", "bc"]));
        assert_ne!(item(&both, &["a,b", "c"]), item(&both, &["a", "b,c"]));
        assert_ne!(item(&both, &["a", "b"]), item(&both, &["b", "a"]));
    }

    #[test]
    fn a_key_that_lacks_a_part_is_none() {
        assert_eq!(item(&["trim"], &[" "]), None);
        assert_eq!(item(&["none", "none"], &["a", ""]), None);
        assert!(item(&["none"], &[" "]).is_some());
    }

    #[test]
    fn normalisers_are_told_part_by_part() {
        let normalisers = ["email", "trim,lower", "none"].map(|text| text.parse().unwrap());
        assert_eq!(Keyer::new(normalisers.into()).terms(), "email/2;trim/1,lower/1;none/1");
    }
}
