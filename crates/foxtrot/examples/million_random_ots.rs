//! A million random OTs over TCP, secure against malicious peers: the material of an MPC engine.
//!
//! `cargo run --release --package foxtrot-mpc --example million_random_ots`
#![allow(clippy::panic_in_result_fn, clippy::unwrap_used, reason = "an example checks itself")]

use std::{thread, time::Instant};

use foxtrot::{Config, Error, rot};

const N: usize = 1_000_000;

fn main() -> Result<(), Error> {
    // Without keys, since both ends are in this process: between machines take `Config::tls`.
    let listener = Config::insecure().bind("localhost:0")?;
    let address = listener.local_addr().to_string();

    let sender = thread::spawn(move || {
        let mut peer = listener.accept()?;
        rot::send(&mut peer, N)
    });

    let start = Instant::now();
    let mut peer = Config::insecure().connect(&address)?;
    let (choices, keys) = rot::receive(&mut peer, N)?;
    let took = start.elapsed();

    let pairs = sender.join().expect("no panic")?;
    for (i, key) in keys.iter().enumerate() {
        assert_eq!(*key, pairs[i][usize::from(choices.get(i).unwrap_u8())]);
    }
    let ns = took.as_nanos() / N as u128;
    println!("{N} random OTs: {} ms, {ns} ns each", took.as_millis());
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
