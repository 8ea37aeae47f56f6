//! Private set intersection, oblivious transfer and multiplication triples between two parties: post-quantum, and secure
//! against malicious peers by default.
//!
//! ```
//! # #[cfg(feature = "tls")] {
//! use std::thread;
//! use foxtrot::{Config, Identity, Peer, psi};
//!
//! // Each side makes a key once, and tells the other its fingerprint.
//! let (hospital, registry) = (Identity::generate()?, Identity::generate()?);
//! let (of_hospital, of_registry) = (hospital.fingerprint(), registry.fingerprint());
//! let listener = Config::tls(&registry, &[of_hospital])?.bind("localhost:0")?;
//! let address = listener.local_addr().to_string();
//!
//! let sender = thread::spawn(move || {
//!     let mut peer = listener.accept()?;
//!     psi::send(&mut peer, &["ann@example.org", "bob@example.org"])
//! });
//!
//! let mut peer = Peer::connect(&address, &hospital, &[of_registry])?;
//! let common = psi::receive(&mut peer, &["eve@example.org", "bob@example.org"])?;
//! assert_eq!(common, [1]);
//! sender.join().expect("no panic")?;
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! New to this? [`guide`] is a tutorial.
//!
//! # Which function?
//!
//! | need | call | this side learns | the peer learns |
//! |---|---|---|---|
//! | which items two lists share | [`psi::receive`], peer: [`psi::send`] | the common items | how many items |
//! | messages, one of two each | [`ot::receive`], peer: [`ot::send`] | the chosen messages | nothing |
//! | messages, one of N each | [`ot::one_of_n`] | the chosen messages | nothing |
//! | random keys for an MPC engine | [`rot::receive`], peer: [`rot::send`] | choice bits and keys | both keys of each |
//! | the same with an offset Δ | [`rot::receive_correlated`], peer: [`rot::send_correlated`] | a row of each | Δ and rows |
//! | shared products | [`triples::generate`] on both sides | shares | shares |
//!
//! Every job but triples is secure against a malicious peer, unless its `Options` say otherwise. Triples are secure only
//! against a peer that follows the protocol. All jobs are post-quantum by default: module-LWE or ring-LWE, and symmetric
//! primitives. The library was not audited.
//!
//! # How to reach the peer
//!
//! * [`Peer::connect`] and [`Peer::listen`]: TLS 1.3 with pinned keys. [`Config`] sets time-outs, names, threads, and the
//!   application's name, which both sides must give alike.
//! * [`Listener::serve`]: many peers, side by side.
//! * [`Peer::over`]: anything that reads and writes, say two pipes or a tunnel.
//! * [`Peer::pair`]: both parties in one program, for tests.
//! * The module `tokio`: the same jobs as futures, over tokio's sockets or any of its streams (feature `tokio`).
//! * The functions `…_over` of `Options`: an async function over an [`engine`](mod@engine), which needs no socket, no thread
//!   and no `std`.
//!
//! Both programs make matching calls in the same order on one peer. If they do not match, both get an error that names
//! both sides' values.
//!
//! # Errors
//!
//! [`Error::blame`] says who can do something: the [`Caller`](Blame::Caller), both sides
//! ([`Agreement`](Blame::Agreement)), the [`Connection`](Blame::Connection), the [`Peer`](Blame::Peer), which departed
//! from the protocol, or [`Nobody`](Blame::Nobody): then the same call with a new connection works.
//!
//! # What never to do
//!
//! * Do not use [`Config::insecure`] between machines: whoever is on the way reads and changes everything.
//! * Do not tell the peer that [`ot::receive`] returned [`Error::Unopened`]: that may depend on the choices.
//! * Do not retry after an error with blame [`Peer`](Blame::Peer): the peer may learn something from every attempt.
//! * Do not let the peer learn how long your program works on a result, if the result is secret.
//! * Do not use seeds (feature `vectors`) outside of tests: a seed that is used twice reveals everything.
//! * Do not use the keys of [`rot`] twice, nor one key for two purposes without a hash in between.
//!
//! # Threads
//!
//! A job computes on the thread that calls it. [`Threads`] adds others: [`Config::threads`]. [`Peer::on_progress`] reports
//! how far a job is, [`Peer::canceller`] ends it from another thread.
//!
//! # Features
//!
//! `tls` (default): peers with keys. `net`: peers without. `psi`, `triples` (default): these jobs. `tokio`: futures.
//! `vectors`: seeds for test vectors. Without features the crate is `no_std` and has the protocols over an engine only.
#![cfg_attr(not(feature = "net"), no_std)]
#![forbid(unsafe_code)]

extern crate alloc;

mod choice;
#[cfg(all(feature = "psi", feature = "tls"))]
pub mod guide;
pub mod ot;
#[cfg(feature = "psi")]
pub mod psi;
pub mod rot;
#[cfg(feature = "triples")]
pub mod triples;

#[cfg(feature = "net")]
mod error;
#[cfg(feature = "net")]
mod job;
#[cfg(feature = "net")]
mod peer;
#[cfg(feature = "net")]
mod threads;
#[cfg(feature = "tokio")]
pub mod tokio;

#[cfg(feature = "net")]
pub use {
    error::{Blame, Error},
    foxtrot_net as net,
    foxtrot_net::Counters,
    job::Sink,
    peer::{
        Canceller, ChannelBinding, Config, Ended, Listener, Peer, Progress, Server, Side, Stopper,
        Stream, TIMEOUT,
    },
    threads::Threads,
};

#[cfg(feature = "tls")]
pub use foxtrot_net::identity::{Fingerprint, Identity, KeyError};

pub use foxtrot_ot::{
    Bits, Context, Direction, Error as ProtocolError, Session, Sid, Usage,
    base::{self, Block},
    engine,
    erase::Secret,
    extension,
};

/// The examples of the package's README.
#[cfg(all(doctest, feature = "psi", feature = "tls"))]
#[doc = include_str!("../README.md")]
pub struct Readme;
