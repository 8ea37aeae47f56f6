//! What reads as a key or a fingerprint is written as such, the fingerprint in the same characters.
#![no_main]

use std::sync::LazyLock;

use foxtrot_fuzz::{Change, changed};
use foxtrot_net::identity::{Fingerprint, Identity};
use libfuzzer_sys::fuzz_target;

/// A private key of zeros.
static PEM: LazyLock<String> = LazyLock::new(|| {
    let label = "PRIVATE KEY";
    let body = format!("MC4CAQAwBQYDK2VwBCIEI{}", "A".repeat(43));
    format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----\n")
});

static FINGERPRINT: LazyLock<String> = LazyLock::new(|| Fingerprint::from([5; 32]).to_string());

fuzz_target!(|changes: Vec<Change>| {
    let pem = changed(PEM.as_bytes(), &changes);
    match Identity::from_pem(&pem) {
        Ok(identity) => {
            let again = Identity::from_pem(identity.to_pem().as_bytes()).unwrap();
            assert_eq!(again.fingerprint(), identity.fingerprint());
            assert_eq!(again.to_pem(), identity.to_pem());
        }
        Err(_) => assert_ne!(pem, PEM.as_bytes()),
    }
    let text = changed(FINGERPRINT.as_bytes(), &changes);
    let text = String::from_utf8_lossy(&text);
    match text.parse::<Fingerprint>() {
        Ok(fingerprint) => assert_eq!(fingerprint.to_string(), text),
        Err(_) => assert_ne!(text, *FINGERPRINT),
    }
});
