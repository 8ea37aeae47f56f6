//! Two organisations find out which customers they share, over TLS with pinned keys.
//!
//! Both parties are here so that the example runs by itself; in real use `hospital` and `registry` are two programs on two
//! machines, which told each other their fingerprints before.
#![allow(clippy::panic_in_result_fn, clippy::unwrap_used, reason = "an example checks itself")]

use std::{error::Error, thread};

use foxtrot::{Config, Fingerprint, Identity, Listener, Peer, psi};

/// Learns which of its patients the registry also has.
fn hospital(
    address: &str,
    identity: &Identity,
    registry: Fingerprint,
) -> Result<Vec<usize>, foxtrot::Error> {
    let patients = ["ann@example.org", "bob@example.org", "cid@example.org"];
    let mut peer = Peer::connect(address, identity, &[registry])?;
    psi::receive(&mut peer, &patients)
}

/// Learns only how many patients the hospital compared.
fn registry(listener: Listener) -> Result<(), foxtrot::Error> {
    let registered = ["bob@example.org", "dan@example.org", "cid@example.org"];
    let mut peer = listener.accept()?;
    psi::send(&mut peer, &registered)
}

fn main() -> Result<(), Box<dyn Error>> {
    // Each side makes its key once, keeps it (`Identity::to_pem`), and tells the other the fingerprint.
    let (ours, theirs) = (Identity::generate()?, Identity::generate()?);
    let (of_hospital, of_registry) = (ours.fingerprint(), theirs.fingerprint());
    let listener = Config::tls(&theirs, &[of_hospital])?.bind("localhost:0")?;
    let address = listener.local_addr().to_string();

    let sender = thread::spawn(move || registry(listener));
    let common = hospital(&address, &ours, of_registry)?;
    println!("rows that both have: {common:?}");
    assert_eq!(common, [1, 2]);
    Ok(sender.join().expect("no panic")?)
}

#[test]
fn runs() {
    main().unwrap();
}
