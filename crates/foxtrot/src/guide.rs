//! A tutorial: from nothing to two programs that compare lists over TLS. It takes ten minutes, and no knowledge of
//! cryptography.
//!
//! `cargo add foxtrot-mpc` adds the library to a program; its name in Rust is `foxtrot`.
//!
//! # 1. Two parties in one program
//!
//! Foxtrot's functions are played by two parties. Each runs its own program, on its own machine, with its own secret
//! data. To learn the calls, put both into one program: [`Peer::pair`](crate::Peer::pair) gives each party its end of a
//! connection, and each end gets a thread.
//!
//! ```
//! use std::thread;
//! use foxtrot::{Peer, psi};
//!
//! let (mut ours, mut theirs) = Peer::pair();
//!
//! // The other party has a list of its own.
//! let other = thread::spawn(move || psi::send(&mut theirs, &["bob", "cid", "dan"]));
//!
//! let ours_have = ["ann", "bob", "cid"];
//! let common = psi::receive(&mut ours, &ours_have)?;
//! assert_eq!(common, [1, 2]);
//!
//! other.join().expect("no panic")?;
//! # Ok::<(), foxtrot::Error>(())
//! ```
//!
//! This is *private set intersection*. The receiver learns that entries 1 and 2 of its list are on both lists. It learns
//! nothing of `dan`. The sender learns that the receiver compared three entries, and not which.
//!
//! # 2. Two programs
//!
//! Each party makes a key pair once, and keeps it. The two parties tell each other the *fingerprint* of their public keys,
//! over the phone or in a contract. From then on each program talks to no one else.
//!
//! ```
//! use foxtrot::Identity;
//!
//! let identity = Identity::generate()?;
//! let secret = identity.to_pem(); // write it to a file that only you can read
//! println!("our fingerprint: {}", identity.fingerprint());
//! # assert!(Identity::from_pem(secret.as_bytes()).is_ok());
//! # Ok::<(), foxtrot::KeyError>(())
//! ```
//!
//! The command `foxtrot keygen` writes the same kind of file, which only its owner can read, and prints the fingerprint.
//!
//! One party listens, and the other connects; which party does which does not matter. The program of the registry listens
//! on port 7000, and has the fingerprint of the hospital:
//!
//! ```no_run
//! use foxtrot::{Fingerprint, Identity, Peer, psi};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let identity = Identity::from_pem(&std::fs::read("identity.pem")?)?;
//!     let hospital: Fingerprint = "SHA256:uU0nuZNNPgilLlLX2n2r-sSE7-N6U4DukIj3rOLvzek".parse()?;
//!     let mut peer = Peer::listen("0.0.0.0:7000", &identity, &[hospital])?;
//!     psi::send(&mut peer, &["bob", "cid", "dan"])?;
//!     peer.close()?;
//!     Ok(())
//! }
//! ```
//!
//! The program of the hospital connects, and has the fingerprint of the registry:
//!
//! ```no_run
//! use foxtrot::{Fingerprint, Identity, Peer, psi};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let identity = Identity::from_pem(&std::fs::read("identity.pem")?)?;
//!     let registry: Fingerprint = "SHA256:EPCU6nPV9oNUO_kQ_lB8mIRqUWO8PkHWRSTE7TZ9rr0".parse()?;
//!     let mut peer = Peer::connect("registry.example.org:7000", &identity, &[registry])?;
//!     let ours = ["ann", "bob", "cid"];
//!     for row in psi::receive(&mut peer, &ours)? {
//!         println!("{}", ours[row]);
//!     }
//!     peer.close()?;
//!     Ok(())
//! }
//! ```
//!
//! [`Peer::listen`](crate::Peer::listen) waits until the peer comes; [`Peer::connect`](crate::Peer::connect) tries for 30
//! seconds. The connection is TLS 1.3 with a post-quantum key exchange. [`Peer::close`](crate::Peer::close) reports whether
//! the last messages went out.
//!
//! # 3. When something goes wrong
//!
//! Every call returns an [`Error`](crate::Error). Print it: it says what happened, and of a disagreement what each side
//! wanted. [`Error::blame`](crate::Error::blame) is for programs that act on it.
//!
//! ```
//! use std::thread;
//! use foxtrot::{Blame, Peer, psi, rot};
//!
//! let (mut ours, mut theirs) = Peer::pair();
//! // The other program calls something else.
//! let other = thread::spawn(move || rot::send(&mut theirs, 10).map(drop));
//!
//! let error = psi::receive(&mut ours, &["ann"]).expect_err("the calls do not match");
//! match error.blame() {
//!     Blame::Agreement => println!("compare the two programs: {error}"),
//!     Blame::Connection | Blame::Nobody => println!("try again: {error}"),
//!     Blame::Peer => println!("stop, and ask who runs the other program: {error}"),
//!     Blame::Caller => println!("our own mistake: {error}"),
//! }
//! # assert_eq!(error.blame(), Blame::Agreement);
//! # assert!(other.join().expect("no panic").is_err());
//! ```
//!
//! # 4. Oblivious transfer
//!
//! Most other protocols between two parties are made of *oblivious transfers*. In one transfer the sender has two messages;
//! the receiver chooses one and gets it. The sender does not learn which; the receiver does not learn the other.
//!
//! ```
//! use std::thread;
//! use foxtrot::{Peer, ot};
//!
//! let (mut ours, mut theirs) = Peer::pair();
//! let other = thread::spawn(move || ot::send(&mut theirs, &[["left", "right"]]));
//! let messages = ot::receive(&mut ours, &[true])?;
//! assert_eq!(messages.get(0), Some(&b"right"[..]));
//! # other.join().expect("no panic")?;
//! # Ok::<(), foxtrot::Error>(())
//! ```
//!
//! Protocols that need millions of them take random ones, where messages and choices are random keys and bits that nobody
//! had before: [`rot`](crate::rot). A *correlated* one is a random one whose two keys differ by the same secret Δ every time:
//! [`rot::send_correlated`](crate::rot::send_correlated).
//!
//! # 5. Many jobs, many threads
//!
//! A [`Peer`](crate::Peer) runs any number of jobs one after another; both programs make matching calls in the same
//! order. [`Threads`](crate::Threads) lets a job compute on several threads, and
//! [`Peer::on_progress`](crate::Peer::on_progress) reports how far it is.
//!
//! ```
//! use std::thread;
//! use foxtrot::{Config, Identity, Threads, rot};
//!
//! let (ours, theirs) = (Identity::generate()?, Identity::generate()?);
//! let (of_ours, of_theirs) = (ours.fingerprint(), theirs.fingerprint());
//! let threads = Threads::new(2)?;
//! let listener = Config::tls(&ours, &[of_theirs])?.threads(&threads).bind("localhost:0")?;
//! let address = listener.local_addr().to_string();
//!
//! let other = thread::spawn(move || {
//!     let mut peer = Config::tls(&theirs, &[of_ours])?.connect(&address)?;
//!     for _ in 0..3 {
//!         rot::receive(&mut peer, 1000)?;
//!     }
//!     peer.close()
//! });
//!
//! let mut peer = listener.accept()?;
//! peer.on_progress(|it| println!("{} of {} {}", it.done, it.of, it.unit));
//! for _ in 0..3 {
//!     let pairs = rot::send(&mut peer, 1000)?;
//!     assert_eq!(pairs.len(), 1000);
//! }
//! peer.close()?;
//! other.join().expect("no panic")?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # 6. Where to go from here
//!
//! * The folder `examples/` has whole programs: PSI over TLS, a million random OTs, a tokio server, triples in an MPC
//!   engine, a transport of one's own.
//! * [The front page](crate) says which function serves which need, and what never to do.
//! * Without sockets, threads or `std`: the functions `…_over` of each `Options` run over an
//!   [`engine`](mod@crate::engine), which takes and gives messages as values.
