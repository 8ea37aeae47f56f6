//! Carries Foxtrot's protocols between two programs: channels with lanes, the hello that
//! agrees on a session, and the drivers that run a protocol's engine.
//!
//! ```
//! use std::{thread, time::Duration};
//! use foxtrot_net::{Lane, hello::{self, Hello, Role}, memory};
//!
//! let (here, there) = memory::pair(Duration::from_secs(30));
//! let peer = thread::spawn(move || {
//!     let agreement = hello::exchange(&there, false, &Hello::new(Role::Receiver))?;
//!     there.send(Lane::PROTOCOL, b"ready".to_vec())?;
//!     there.close()?;
//!     Ok::<_, foxtrot_net::Error>(agreement.sid)
//! });
//!
//! let agreement = hello::exchange(&here, true, &Hello::new(Role::Sender))?;
//! assert_eq!(here.recv(Lane::PROTOCOL, 5)?, b"ready");
//! assert_eq!(agreement.sid, peer.join().expect("no panic")?);
//! # Ok::<(), foxtrot_net::Error>(())
//! ```
//!
//! Frames and hello are laid down in `docs/wire/README.md`.
#![forbid(unsafe_code)]

pub mod bridge;
pub mod channel;
pub mod connection;
pub mod daily;
pub mod day;
pub mod drive;
pub mod gate;
pub mod gateway;
pub mod hello;
#[cfg(feature = "tls")]
pub mod identity;
pub mod line;
pub mod listen;
pub mod memory;
pub mod small;
pub mod tcp;
#[cfg(feature = "threads")]
pub mod threads;
#[cfg(feature = "tls")]
pub mod tls;

#[cfg(feature = "tokio")]
pub mod tokio;
#[cfg(feature = "websocket")]
pub mod websocket;

mod deadline;
mod error;
mod percent;
mod role;
mod words;

pub use channel::{Channel, Counters, Lane};
pub use connection::Connection;
pub use error::{ChannelError, Difference, Error, FrameError, HelloError, Reason, TlsError};
pub use words::{escaped, is_shown, printable};

/// The README's Rust, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
