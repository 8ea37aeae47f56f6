//! The functions of `foxtrot.h`. The rules for pointers, which every function relies on, are the header's first page, in
//! `cbindgen.toml`.
#![allow(unsafe_code, reason = "functions of C, whose callers keep the rules of the header")]
#![allow(clippy::missing_safety_doc, reason = "the header's first page has the rules")]

use std::ffi::{c_char, c_void};

use foxtrot::{Block as Key, psi::Outcome as Learnt};

#[cfg(unix)]
use crate::raw::copy_of;
use crate::{
    failure::Failure,
    jobs::mark,
    peer::{milliseconds, text_of},
    raw::{Foreign, all, all_mut, call, get, get_or_default, make, set, strings, take, text},
    stream::Kind,
};
pub use crate::{
    peer::{Config, Identity, Listener, Peer},
    stream::Stream,
    types::*,
};

/// The version of the library: three numbers with points between them.
#[unsafe(no_mangle)]
pub extern "C" fn foxtrot_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Generates an identity key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_identity_generate(
    identity: *mut *mut Identity,
    error: *mut Error,
) -> Status {
    // SAFETY: the header's rules.
    unsafe { call(error, || make(identity, "identity", Identity::generate)) }
}

/// Reads an identity key from a file of `foxtrot keygen`. A file that other users can read is an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_identity_read(
    path: *const c_char,
    identity: *mut *mut Identity,
    error: *mut Error,
) -> Status {
    // SAFETY: the header's rules.
    unsafe { call(error, || make(identity, "identity", || Identity::read(text(path, "path")?))) }
}

/// Reads an identity key from the content of such a file, which the caller erases.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_identity_from_pem(
    pem: Bytes,
    identity: *mut *mut Identity,
    error: *mut Error,
) -> Status {
    // SAFETY: the header's rules.
    unsafe {
        call(error, || {
            make(identity, "identity", || Identity::from_pem(all(pem.data, pem.len, "pem")?))
        })
    }
}

/// Writes the fingerprint of a key, for the peer: a text of up to `FOXTROT_FINGERPRINT_SIZE` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_identity_fingerprint(
    identity: *const Identity,
    fingerprint: *mut c_char,
    error: *mut Error,
) -> Status {
    // SAFETY: the header's rules.
    unsafe {
        call(error, || {
            let identity = get(identity, "identity")?;
            let to = all_mut(fingerprint.cast::<u8>(), FINGERPRINT_SIZE, "fingerprint")?;
            to.copy_from_slice(&text_of(Some(&identity.fingerprint())));
            Ok(())
        })
    }
}

/// Erases and frees a key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_identity_free(identity: *mut Identity) {
    // SAFETY: the header's rules.
    unsafe { free(identity) }
}

/// A configuration without keys: everybody on the way can read and change everything. For one machine, below a tunnel, and
/// for streams of the caller.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_config_insecure(
    config: *mut *mut Config,
    error: *mut Error,
) -> Status {
    // SAFETY: the header's rules.
    unsafe { call(error, || make(config, "config", || Ok(Config::insecure()))) }
}

/// A configuration with TLS 1.3, an identity key, and the fingerprints of the `n` keys that a peer may have.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_config_tls(
    identity: *const Identity,
    fingerprints: *const *const c_char,
    n: usize,
    config: *mut *mut Config,
    error: *mut Error,
) -> Status {
    // SAFETY: the header's rules.
    unsafe {
        call(error, || {
            make(config, "config", || {
                let peers = all(fingerprints, n, "fingerprints")?;
                let peers: Result<Vec<_>, _> =
                    peers.iter().map(|&peer| text(peer, "a fingerprint")).collect();
                Config::tls(get(identity, "identity")?, &peers?)
            })
        })
    }
}

/// Sets the longest wait for the peer in milliseconds; 30 seconds by default. A peer that draws from a stream
/// slower than that is not waited for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_config_set_timeout(
    config: *const Config,
    timeout_ms: u64,
    error: *mut Error,
) -> Status {
    // SAFETY: the header's rules.
    unsafe {
        call(error, || get(config, "config")?.set(|it| Ok(it.timeout(milliseconds(timeout_ms)))))
    }
}

/// Sets the time in milliseconds to try to connect or to wait for a peer that connects; by default 30 seconds to connect,
/// and without end for a listener.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_config_set_wait(
    config: *const Config,
    wait_ms: u64,
    error: *mut Error,
) -> Status {
    // SAFETY: the header's rules.
    unsafe { call(error, || get(config, "config")?.set(|it| Ok(it.wait(milliseconds(wait_ms))))) }
}

/// Sets the name and version of the application, which both sides have to give alike.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_config_set_application(
    config: *const Config,
    name: *const c_char,
    error: *mut Error,
) -> Status {
    // SAFETY: the header's rules.
    unsafe {
        call(error, || {
            let name = text(name, "name")?;
            get(config, "config")?.set(|it| Ok(it.application(name)))
        })
    }
}

/// Starts threads that compute for the peers of the configuration: `n` with the caller's own, from 1 to 1024.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_config_set_threads(
    config: *const Config,
    n: usize,
    error: *mut Error,
) -> Status {
    // SAFETY: the header's rules.
    unsafe { call(error, || get(config, "config")?.set_threads(n)) }
}

/// Frees a configuration. Peers of it stay as they are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_config_free(config: *mut Config) {
    // SAFETY: the header's rules.
    unsafe { free(config) }
}

/// Connects to a peer that listens at `address`, a host and a port.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_connect(
    config: *const Config,
    address: *const c_char,
    peer: *mut *mut Peer,
    error: *mut Error,
) -> Status {
    // SAFETY: the header's rules.
    unsafe {
        call(error, || {
            make(peer, "peer", || get(config, "config")?.connect(text(address, "address")?))
        })
    }
}

/// Takes the port at `address`, a host and a port; port 0 lets the system choose.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_bind(
    config: *const Config,
    address: *const c_char,
    listener: *mut *mut Listener,
    error: *mut Error,
) -> Status {
    // SAFETY: the header's rules.
    unsafe {
        call(error, || {
            make(listener, "listener", || get(config, "config")?.bind(text(address, "address")?))
        })
    }
}

/// The port of a listener; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_listener_port(listener: *const Listener) -> u16 {
    // SAFETY: the header's rules.
    unsafe { get(listener, "listener") }.map_or(0, Listener::port)
}

/// Waits for the first peer that may connect, and closes the port. Strangers are refused, and do not end the wait.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_accept(
    listener: *const Listener,
    peer: *mut *mut Peer,
    error: *mut Error,
) -> Status {
    // SAFETY: the header's rules.
    unsafe { call(error, || make(peer, "peer", || get(listener, "listener")?.accept())) }
}

/// Closes the port, if no peer was accepted, and frees the listener.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_listener_free(listener: *mut Listener) {
    // SAFETY: the header's rules.
    unsafe { free(listener) }
}

/// Talks to a peer over blocking file descriptors: two ends of pipes, or twice one socket. Nothing is encrypted, so the
/// configuration has no keys. `side` is `FOXTROT_INITIATOR` at one end, and `FOXTROT_RESPONDER` at the other.
///
/// The library uses copies of the descriptors; close yours when you do not need them, because the peer sees the end of a
/// pipe when all copies are closed. A program that writes to pipes ignores SIGPIPE; for sockets the library does.
#[cfg(unix)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_peer_over_fds(
    config: *const Config,
    reader: i32,
    writer: i32,
    side: i32,
    peer: *mut *mut Peer,
    error: *mut Error,
) -> Status {
    // SAFETY: the header's rules.
    unsafe {
        call(error, || {
            make(peer, "peer", || {
                let (reader, writer) = (copy_of(reader, "reader")?, copy_of(writer, "writer")?);
                get(config, "config")?.over_fds(reader, writer, side)
            })
        })
    }
}

/// Talks to a peer over callbacks, which are copied. Nothing is encrypted, so the configuration has no keys. `release` is also
/// called if this call fails, unless `callbacks` is NULL or has no `read` or no `write`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_peer_over_callbacks(
    config: *const Config,
    callbacks: *const Callbacks,
    side: i32,
    peer: *mut *mut Peer,
    error: *mut Error,
) -> Status {
    // SAFETY: the header's rules.
    unsafe {
        call(error, || {
            let foreign = Foreign::new(*get(callbacks, "callbacks")?)?;
            make(peer, "peer", || get(config, "config")?.over_callbacks(&foreign, side))
        })
    }
}

/// Writes the fingerprint of the peer's key, as `foxtrot_identity_fingerprint` does; no text if the connection has no keys.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_peer_fingerprint(
    peer: *const Peer,
    fingerprint: *mut c_char,
    error: *mut Error,
) -> Status {
    // SAFETY: the header's rules.
    unsafe {
        call(error, || {
            let peer = get(peer, "peer")?;
            let to = all_mut(fingerprint.cast::<u8>(), FINGERPRINT_SIZE, "fingerprint")?;
            to.copy_from_slice(&text_of(peer.fingerprint()));
            Ok(())
        })
    }
}

/// Ends the job and the connection, from any thread. The job returns `FOXTROT_CANCELLED`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_peer_cancel(peer: *const Peer, error: *mut Error) -> Status {
    // SAFETY: the header's rules.
    unsafe {
        call(error, || {
            get(peer, "peer")?.cancel();
            Ok(())
        })
    }
}

/// Ends the connection in order: the system has taken everything that was sent. The handle is still to be freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_peer_close(peer: *const Peer, error: *mut Error) -> Status {
    // SAFETY: the header's rules.
    unsafe { call(error, || get(peer, "peer")?.close()) }
}

/// Frees a peer. A connection that is still open is ended, for which this waits a second at most. A stream of the peer lives on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_peer_free(peer: *mut Peer) {
    // SAFETY: the header's rules.
    unsafe { free(peer) }
}

/// Lets the peer find out which of its items are among these. This side learns only how many different items the peer has.
///
/// Items are compared byte by byte. An empty item is never in common. `foxtrot psi receive` with one key column and without
/// normalisation is a peer of this call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_psi_send(
    peer: *const Peer,
    items: *const Bytes,
    n: usize,
    options: *const Options,
    error: *mut Error,
) -> Status {
    // SAFETY: the header's rules.
    unsafe {
        call(error, || {
            let items = strings(items, n, "items")?;
            get(peer, "peer")?.psi_send(&items, get_or_default(options)?)
        })
    }
}

/// Finds out which of these items the peer also has. `mask` has `n` bytes: 1 for a common item, else 0. `common`, which
/// may be NULL, is the number of ones.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_psi_receive(
    peer: *const Peer,
    items: *const Bytes,
    n: usize,
    options: *const Options,
    mask: *mut u8,
    common: *mut usize,
    error: *mut Error,
) -> Status {
    // SAFETY: the header's rules.
    unsafe {
        call(error, || {
            let (items, mask) = (strings(items, n, "items")?, all_mut(mask, n, "mask")?);
            let found = get(peer, "peer")?.psi_receive(&items, get_or_default(options)?)?;
            tell(common, mark(&found, mask))
        })
    }
}

/// Finds out which of these items the peer also has, and the peer finds out the same. One side is `FOXTROT_SENDER`, the other
/// `FOXTROT_RECEIVER`. There is no fairness: a peer that cheats can keep items back. `mask` and `common` are as in
/// `foxtrot_psi_receive`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_psi_both(
    peer: *const Peer,
    role: i32,
    items: *const Bytes,
    n: usize,
    options: *const Options,
    mask: *mut u8,
    common: *mut usize,
    error: *mut Error,
) -> Status {
    // SAFETY: the header's rules.
    unsafe {
        call(error, || {
            let (items, mask) = (strings(items, n, "items")?, all_mut(mask, n, "mask")?);
            let found = get(peer, "peer")?.psi_both(role, &items, get_or_default(options)?)?;
            tell(common, mark(&found, mask))
        })
    }
}

/// Lets the peer find out which of its items are among these, and read the payload of each: `len` bytes, in `payloads` one
/// after another. Both sides have the same `len`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_psi_send_with(
    peer: *const Peer,
    items: *const Bytes,
    payloads: *const u8,
    n: usize,
    len: usize,
    options: *const Options,
    error: *mut Error,
) -> Status {
    // SAFETY: the header's rules.
    unsafe {
        call(error, || {
            let items = strings(items, n, "items")?;
            let payloads = all(payloads, product(n, len)?, "payloads")?;
            get(peer, "peer")?.psi_send_with(&items, payloads, len, get_or_default(options)?)
        })
    }
}

/// Finds out which of these items the peer also has, and the peer's payload of each. `payloads` has `n` times `len` bytes:
/// the payload at the place of each common item, else zeros. `mask` and `common` are as in `foxtrot_psi_receive`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_psi_receive_with(
    peer: *const Peer,
    items: *const Bytes,
    n: usize,
    len: usize,
    options: *const Options,
    mask: *mut u8,
    payloads: *mut u8,
    common: *mut usize,
    error: *mut Error,
) -> Status {
    // SAFETY: the header's rules.
    unsafe {
        call(error, || {
            let (items, mask) = (strings(items, n, "items")?, all_mut(mask, n, "mask")?);
            let payloads = all_mut(payloads, product(n, len)?, "payloads")?;
            let peer = get(peer, "peer")?;
            let found = peer.psi_receive_with(&items, len, get_or_default(options)?, payloads)?;
            tell(common, mark(&found, mask))
        })
    }
}

/// Counts the items that both have. Both sides learn the number, and none of the items; neither learns a number below
/// `min_count`, on which both agree. Semi-honest: the options have `FOXTROT_SEMI_HONEST`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_psi_count(
    peer: *const Peer,
    role: i32,
    items: *const Bytes,
    n: usize,
    min_count: u64,
    options: *const Options,
    outcome: *mut Outcome,
    error: *mut Error,
) -> Status {
    // SAFETY: the header's rules.
    unsafe {
        call(error, || {
            let items = strings(items, n, "items")?;
            let learnt =
                get(peer, "peer")?.psi_count(role, &items, min_count, get_or_default(options)?)?;
            set(outcome, learnt.into(), "outcome")
        })
    }
}

/// Counts as `foxtrot_psi_count` does, and adds up the numbers of the common items, one beside each item of this side and none
/// above `largest`, on which both agree.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_psi_send_sum(
    peer: *const Peer,
    items: *const Bytes,
    numbers: *const u64,
    n: usize,
    largest: u64,
    min_count: u64,
    options: *const Options,
    outcome: *mut Outcome,
    error: *mut Error,
) -> Status {
    // SAFETY: the header's rules.
    unsafe {
        call(error, || {
            let (items, numbers) = (strings(items, n, "items")?, all(numbers, n, "numbers")?);
            let (peer, options) = (get(peer, "peer")?, get_or_default(options)?);
            let learnt = peer.psi_send_sum(&items, numbers, largest, min_count, options)?;
            set(outcome, learnt.into(), "outcome")
        })
    }
}

/// Counts the items that both have, and learns the sum of the peer's numbers, as the peer does: `foxtrot_psi_send_sum`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_psi_receive_sum(
    peer: *const Peer,
    items: *const Bytes,
    n: usize,
    largest: u64,
    min_count: u64,
    options: *const Options,
    outcome: *mut Outcome,
    error: *mut Error,
) -> Status {
    // SAFETY: the header's rules.
    unsafe {
        call(error, || {
            let items = strings(items, n, "items")?;
            let (peer, options) = (get(peer, "peer")?, get_or_default(options)?);
            let learnt = peer.psi_receive_sum(&items, largest, min_count, options)?;
            set(outcome, learnt.into(), "outcome")
        })
    }
}

/// Sends, of each `of` messages, the one that the peer picks. `messages` has `n` times `of` messages, those of the first transfer
/// first. The longest message decides how many bytes go for each, and the peer learns that length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_ot_send(
    peer: *const Peer,
    messages: *const Bytes,
    n: usize,
    of: usize,
    options: *const Options,
    error: *mut Error,
) -> Status {
    // SAFETY: the header's rules.
    unsafe {
        call(error, || {
            let messages = strings(messages, product(n, of)?, "messages")?;
            get(peer, "peer")?.ot_send(&messages, of, get_or_default(options)?)
        })
    }
}

/// Receives, of each `of` messages, the one with the number in `picks`, from 0. `messages` has `n` places of `size` bytes, and
/// a sender with longer messages is refused. `lengths` has the length of each message; zeros follow it.
///
/// The length of a message that does not open is `FOXTROT_NOT_OPENED`. A sender that cheats can make any message such a one, and
/// which of them a receiver meets depends on its picks. So go on with the sender as if all had opened.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_ot_receive(
    peer: *const Peer,
    picks: *const u64,
    n: usize,
    of: usize,
    size: usize,
    options: *const Options,
    messages: *mut u8,
    lengths: *mut usize,
    error: *mut Error,
) -> Status {
    // SAFETY: the header's rules.
    unsafe {
        call(error, || {
            let (picks, lengths) = (all(picks, n, "picks")?, all_mut(lengths, n, "lengths")?);
            let messages = all_mut(messages, product(n, size)?, "messages")?;
            let (peer, options) = (get(peer, "peer")?, get_or_default(options)?);
            peer.ot_receive(picks, of, size, options, messages, lengths)
        })
    }
}

/// Begins a stream of `n` random OTs. The sender draws by `foxtrot_rot_send`, the receiver by `foxtrot_rot_receive`, each in
/// batches of its own. `foxtrot rot` is a peer of this stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_rot_open(
    peer: *const Peer,
    role: i32,
    n: usize,
    options: *const Options,
    stream: *mut *mut Stream,
    error: *mut Error,
) -> Status {
    // SAFETY: the header's rules.
    unsafe {
        call(error, || {
            make(stream, "stream", || {
                Stream::rot(get(peer, "peer")?, role, n, get_or_default(options)?)
            })
        })
    }
}

/// Draws `n` random OTs as the sender: `pairs` has two keys of each, so 2 times `n` blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_rot_send(
    stream: *const Stream,
    n: usize,
    pairs: *mut Block,
    error: *mut Error,
) -> Status {
    // SAFETY: the header's rules.
    unsafe {
        call(error, || draw(stream, n, |it| it == Kind::RotSender, [(pairs.cast(), "pairs")]))
    }
}

/// Draws `n` random OTs as the receiver: `choices` has a byte of each, 0 or 1, and `keys` the chosen key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_rot_receive(
    stream: *const Stream,
    n: usize,
    choices: *mut u8,
    keys: *mut Block,
    error: *mut Error,
) -> Status {
    // SAFETY: the header's rules.
    unsafe {
        call(error, || {
            let buffers = [(choices, "choices"), (keys.cast(), "keys")];
            draw(stream, n, |it| it == Kind::RotReceiver, buffers)
        })
    }
}

/// Begins a stream of `n` correlated OTs as the sender, which draws rows by `foxtrot_cot_send`. The receiver's row is the sender's,
/// plus delta where its choice is 1; `foxtrot_cot_delta` tells delta at the end.
///
/// A receiver that cheats may guess groups of bits of delta, and ends the session if it is wrong. Either party may fix its own
/// rows. So hash each row with its number before you use it as a key.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_cot_open_sender(
    peer: *const Peer,
    n: usize,
    options: *const Options,
    stream: *mut *mut Stream,
    error: *mut Error,
) -> Status {
    // SAFETY: the header's rules.
    unsafe {
        call(error, || {
            make(stream, "stream", || {
                Stream::cot_sender(get(peer, "peer")?, n, get_or_default(options)?)
            })
        })
    }
}

/// Begins a stream of `n` correlated OTs as the receiver, with these choices, each a byte 0 or 1. It draws rows by
/// `foxtrot_cot_receive`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_cot_open_receiver(
    peer: *const Peer,
    choices: *const u8,
    n: usize,
    options: *const Options,
    stream: *mut *mut Stream,
    error: *mut Error,
) -> Status {
    // SAFETY: the header's rules.
    unsafe {
        call(error, || {
            make(stream, "stream", || {
                let choices = all(choices, n, "choices")?;
                Stream::cot_receiver(get(peer, "peer")?, choices, get_or_default(options)?)
            })
        })
    }
}

/// Draws `n` rows of correlated OTs as the sender.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_cot_send(
    stream: *const Stream,
    n: usize,
    rows: *mut Block,
    error: *mut Error,
) -> Status {
    // SAFETY: the header's rules.
    unsafe { call(error, || draw(stream, n, |it| it == Kind::CotSender, [(rows.cast(), "rows")])) }
}

/// Draws `n` rows of correlated OTs as the receiver, in the order of the choices.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_cot_receive(
    stream: *const Stream,
    n: usize,
    rows: *mut Block,
    error: *mut Error,
) -> Status {
    // SAFETY: the header's rules.
    unsafe {
        call(error, || draw(stream, n, |it| it == Kind::CotReceiver, [(rows.cast(), "rows")]))
    }
}

/// Writes delta, of a sender's stream of correlated OTs that has ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_cot_delta(
    stream: *const Stream,
    delta: *mut Block,
    error: *mut Error,
) -> Status {
    // SAFETY: the header's rules.
    unsafe {
        call(error, || {
            let bytes: Key = *get(stream, "stream")?.delta()?;
            set(delta, Block { bytes }, "delta")
        })
    }
}

/// Begins a stream of shares of `n` multiplication triples modulo 2^`bits`, for 1, 8, 16, 32 or 64 `bits`. Both sides make the
/// same call, and draw by `foxtrot_triples`. Semi-honest: the options have `FOXTROT_SEMI_HONEST`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_triples_open(
    peer: *const Peer,
    bits: u32,
    n: usize,
    options: *const Options,
    stream: *mut *mut Stream,
    error: *mut Error,
) -> Status {
    // SAFETY: the header's rules.
    unsafe {
        call(error, || {
            make(stream, "stream", || {
                Stream::triples(get(peer, "peer")?, bits, n, get_or_default(options)?)
            })
        })
    }
}

/// Draws shares of `n` triples: (a + a')(b + b') = c + c' with the peer's a', b', c'. Each buffer has `n` words of the stream's
/// bits, as `uint32_t` for 32. Of 1 bit it has 8 triples in a byte, the first in the lowest bit; `n` is a multiple of 8
/// then, but in the last draw.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_triples(
    stream: *const Stream,
    n: usize,
    a: *mut c_void,
    b: *mut c_void,
    c: *mut c_void,
    error: *mut Error,
) -> Status {
    // SAFETY: the header's rules.
    unsafe {
        call(error, || {
            let are_triples = |it| matches!(it, Kind::Triples(_) | Kind::Bits);
            draw(stream, n, are_triples, [(a.cast(), "a"), (b.cast(), "b"), (c.cast(), "c")])
        })
    }
}

/// Ends a stream of which everything is drawn: both sides have the same transcript. The peer takes other jobs again. The handle
/// is still to be freed. Show the peer nothing that depends on what was drawn before this has returned `FOXTROT_OK`. After a call
/// of the stream that failed because of its job, this and all others return the same error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_stream_end(stream: *const Stream, error: *mut Error) -> Status {
    // SAFETY: the header's rules.
    unsafe { call(error, || get(stream, "stream")?.end()) }
}

/// Erases what was not drawn, and frees the stream. A stream that has not ended ends the peer's connection.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn foxtrot_stream_free(stream: *mut Stream) {
    // SAFETY: the header's rules.
    unsafe { free(stream) }
}

impl From<Learnt> for Outcome {
    fn from(learnt: Learnt) -> Self {
        match learnt {
            Learnt::Released { count, sum } => {
                Self { released: true, count, sum: sum.unwrap_or(0) }
            }
            Learnt::Withheld => Self { released: false, count: 0, sum: 0 },
        }
    }
}

/// Frees the value of a handle; nothing for NULL.
unsafe fn free<T>(handle: *mut T) {
    let freed = || {
        // SAFETY: the header's rules.
        drop(unsafe { take(handle) });
        Ok(())
    };
    // SAFETY: there is no error to write.
    let _ = unsafe { call(std::ptr::null_mut(), freed) };
}

/// Writes a number that the caller may not want.
unsafe fn tell(to: *mut usize, n: usize) -> Result<(), Failure> {
    if to.is_null() {
        return Ok(());
    }
    // SAFETY: the header's rules.
    unsafe { set(to, n, "common") }
}

/// Fills the caller's buffers.
unsafe fn draw<const N: usize>(
    stream: *const Stream,
    n: usize,
    expected: impl Fn(Kind) -> bool,
    buffers: [(*mut u8, &str); N],
) -> Result<(), Failure> {
    // SAFETY: the header's rules.
    let stream = unsafe { get(stream, "stream")? };
    let sizes = stream.kind(expected)?.sizes(n)?;
    let mut all = Vec::with_capacity(N);
    for ((pointer, name), size) in buffers.into_iter().zip(sizes) {
        // SAFETY: the header's rules.
        all.push(unsafe { all_mut(pointer, size, name)? });
    }
    stream.draw(n, &mut all)
}

fn product(n: usize, each: usize) -> Result<usize, Failure> {
    n.checked_mul(each).ok_or_else(|| Failure::caller(format!("{n} times {each} is too large")))
}
