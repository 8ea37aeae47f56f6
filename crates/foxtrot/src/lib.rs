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
//! | which items two lists share | [`psi::receive`], peer: [`psi::send`] | the common items, how many items the peer has | how many items this side has |
//! | the same, with a payload for each | [`psi::Options::receive_with`], peer: [`send_with`](psi::Options::send_with) | the common items, their payloads | how many items this side has |
//! | which items two lists share, for both | [`psi::Options::receive_both`], peer: [`send_both`](psi::Options::send_both) | the common items | the common items |
//! | how many items two lists share, and a sum | [`psi::Count`] on both sides (semi-honest) | count and sum | count and sum |
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
//! * [`Listener::serve`]: many peers, side by side; how many, how long and in how much memory, [`Config`] says.
//! * [`Peer::over`]: anything that reads and writes, say two pipes or a tunnel. A [`Stream`] binds sessions to what secures it.
//! * [`Peer::pair`]: both parties in one program, for tests.
//! * `Peer::connect_async`, `Listener::accept_async` and `serve_async`: tokio's sockets, over which the same calls are futures (feature
//!   `tokio`). [`Config`]`::over_async`: any of its streams (feature `lanes`).
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
//! * Do not use [`Config::insecure`] between machines: a machine on the way reads and changes everything.
//! * Do not let the peer learn that a message of [`ot::receive`] did not open: that may depend on the choices. Go on as if it
//!   had opened.
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
//! `tls` (default): peers with keys. `net`: peers without. `psi`, `triples` (default): these jobs. `keys`: normalised keys of
//! rows, as the command compares them. `table`: reading them from CSV, lines and JSON lines; `encodings`, `packed`: in other
//! encodings, or packed with gzip or Zstandard; `spreadsheets`: from workbooks (`.xlsx`). `lanes`: jobs as futures over any asynchronous stream ([`Config`]`::over_async`). `tokio`: also connections of tokio.
//! `websocket`: listeners for browsers. `vectors`: seeds for test vectors. Without features the crate is `no_std` and has the protocols over an engine only.
#![cfg_attr(not(feature = "net"), no_std)]
#![forbid(unsafe_code)]

extern crate alloc;

mod choice;
#[cfg(all(feature = "psi", feature = "tls"))]
#[doc = include_str!("guide.md")]
pub mod guide {}
pub mod options;
pub mod ot;
#[cfg(feature = "psi")]
pub mod psi;
#[cfg(all(feature = "net", feature = "psi"))]
mod psi_terms;
pub mod rot;
#[cfg(feature = "table")]
pub mod table;
#[cfg(feature = "triples")]
pub mod triples;

#[cfg(feature = "net")]
mod cause;
#[cfg(feature = "net")]
mod error;
#[cfg(feature = "net")]
pub mod job;
#[cfg(feature = "net")]
mod peer;
#[cfg(feature = "policy")]
pub mod policy;
#[cfg(feature = "net")]
mod threads;
#[cfg(feature = "net")]
mod transfers;

#[cfg(feature = "net")]
pub use {
    cause::{Blame, Cause, Hint},
    error::Error,
    foxtrot_net::Counters,
    foxtrot_net::daily::{Daily, MostPerDay},
    job::SinkError,
    peer::{
        Attempt, Canceller, ChannelBinding, Config, Ended, Listener, Peer, Progress, Server, Side,
        Stopper, Stream, TIMEOUT,
    },
    threads::Threads,
};

#[cfg(feature = "tokio")]
pub use peer::{AsyncPeer, Duplex};

#[cfg(feature = "tls")]
pub use foxtrot_net::identity::{Fingerprint, Identity, KeyError};

pub use foxtrot_ot::{
    Bits, Context, Direction, Error as ProtocolError, Seed, Session, Sid, Usage, base::Block,
    erase::Secret,
};

/// Sites for browsers, as [`Config::websocket`] takes them.
#[cfg(feature = "websocket")]
pub mod websocket {
    pub use foxtrot_net::websocket::{File, PATH, Site};
}

/// Errors of connections, as [`Error::Session`] carries them.
#[cfg(feature = "net")]
pub mod net {
    /// Asynchronous connections, and their clocks and threads.
    #[cfg(feature = "lanes")]
    pub use foxtrot_net::tokio;
    pub use foxtrot_net::{
        ChannelError, Difference, Error, FrameError, HelloError, Reason, TlsError,
        daily::{Turn, Unusable},
        day::Day,
        escaped, gateway,
        hello::Role,
        is_shown,
        listen::Limits,
        printable, small,
    };
}

/// Base OTs that the `base` of `Options` takes. By default [`roted`](base::roted).
pub mod base {
    pub use foxtrot_ot::base::{
        BaseOt,
        bdgm::Bdgm,
        chou_orlandi::{ChouOrlandi, ChouOrlandiChosen},
        csw::Csw,
        masny_rindal::MasnyRindal,
        naor_pinkas::NaorPinkas,
        pvw::Pvw,
    };

    /// Random OT from module-LWE.
    pub mod roted {
        pub use foxtrot_ot::base::roted::{Endemic, Rot};
    }
}

/// Extensions of OTs that the `extension` of `Options` takes. By default [`softspoken::malicious(4)`](extension::softspoken::malicious).
pub mod extension {
    pub use foxtrot_ot::extension::{
        Extension, code, iknp, kkrt, kos, one_of_n::Extension as ExtensionOfN, oos, softspoken,
    };

    /// OTs of which the silent function of `Options` takes one.
    pub use silent::Silent;

    /// Silent OTs, by the LPN assumption.
    pub mod silent {
        pub use foxtrot_ot::silent::{ot as malicious, ot_semi_honest as semi_honest};

        /// Silent OTs with the adversary against whom they are secure.
        pub type Silent = foxtrot_ot::silent::Silent<foxtrot_ot::silent::Gf2>;
    }
}

/// Runs of protocols as plain values, for the functions `…_over` of `Options`: without socket, thread and `std`.
///
/// ```
/// use foxtrot::{
///     Bits, Context, Direction, Secret, Seed, Session, Sid,
///     engine::Engine, pair::Pair, rot,
/// };
///
/// # fn fresh_seed() -> Seed { let mut seed = [0; 32]; getrandom::fill(&mut seed).unwrap(); Seed::from_bytes(seed) }
/// // Both parties agree on a session id that was never used before.
/// let session = Session::new(Sid::from_bytes([7; 32]));
/// let (options, direction) = (rot::Options::new(), Direction::InitiatorSends);
///
/// let sender = Engine::new(|io| {
///     let mut cx = Context::new(&session, fresh_seed());
///     async move {
///         let mut pairs = Secret::default();
///         let sink = |some: &[_]| { pairs.0.extend_from_slice(some); Ok(()) };
///         options.send_over(&io, &mut cx, direction, 1000, sink).await?;
///         Ok::<_, foxtrot::ProtocolError>(pairs)
///     }
/// });
/// let receiver = Engine::new(|io| {
///     let mut cx = Context::new(&session, fresh_seed());
///     async move {
///         let mut keys = Secret::default();
///         let sink = |_: &Bits, some: &[_]| { keys.0.extend_from_slice(some); Ok(()) };
///         options.receive_over(&io, &mut cx, direction, 1000, sink).await?;
///         Ok::<_, foxtrot::ProtocolError>(keys)
///     }
/// });
///
/// // `Engine::advance` says what a driver has to carry to the peer; `Pair` carries it from one value to the other.
/// let (pairs, keys) = Pair::new(sender, receiver).run().expect("both are honest");
/// assert!((0..1000).all(|i| pairs[i].contains(&keys[i])));
/// ```
pub mod engine {
    pub use foxtrot_ot::engine::{Abandoned, Engine, Io, Limits, Progress, Stream, join};
}

/// Both parties in memory and in one thread: for tests and transcripts of runs over an [`engine`](mod@engine).
pub mod pair {
    pub use foxtrot_ot::pair::Pair;
}

/// The examples of the package's README.
#[cfg(all(doctest, feature = "psi", feature = "tls"))]
#[doc = include_str!("../README.md")]
pub struct Readme;
