//! Foxtrot in the browser: intersections and oblivious transfers in a Web Worker, with a peer behind a WebSocket or any
//! other stream.
//!
//! The protocols, terms and items are those of `foxtrot`; the engine of each runs over [`Lanes`](foxtrot_net::tokio::Lanes).
//! [`peer`] has the jobs, without JavaScript, so that they are tested like other code; files are read by `foxtrot::table`. The
//! module `js`, which exists in WebAssembly only, is what the package `foxtrot-mpc` offers.
#![forbid(unsafe_code)]

#[cfg(target_arch = "wasm32")]
pub mod js;
pub mod peer;
