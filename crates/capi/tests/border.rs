//! The functions of C as C calls them, with wrong arguments and wrong callbacks. What right ones do, `examples/c` tests.
#![cfg(unix)]
#![allow(unsafe_code, reason = "the functions take pointers")]
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
#![allow(clippy::undocumented_unsafe_blocks, reason = "pointers are null or of this test")]

use std::{
    ffi::{CStr, c_void},
    os::unix::net::UnixStream,
    ptr::{null, null_mut},
    sync::atomic::{AtomicUsize, Ordering},
};

use foxtrot_capi::exports::*;

fn no_error() -> Error {
    Error { status: Status::Ok, message: [0; MESSAGE_SIZE] }
}

fn message(error: &Error) -> &str {
    unsafe { CStr::from_ptr(error.message.as_ptr()) }.to_str().unwrap()
}

fn config() -> *mut Config {
    let mut config = null_mut();
    assert_eq!(unsafe { foxtrot_config_insecure(&mut config, null_mut()) }, Status::Ok);
    config
}

#[test]
fn null_is_an_error_of_the_caller_wherever_a_pointer_is_needed() {
    let (n, e) = (3, null_mut());
    let (peer, stream, options) = (null::<Peer>(), null::<Stream>(), null::<Options>());
    let pem = Bytes { data: null(), len: 5 };
    let (mut key, mut peers, mut streams) = (null_mut(), null_mut(), null_mut());
    let config = config();
    let statuses = unsafe {
        [
            foxtrot_identity_generate(null_mut(), e),
            foxtrot_identity_read(null(), &mut key, e),
            foxtrot_identity_from_pem(pem, &mut key, e),
            foxtrot_identity_fingerprint(null(), null_mut(), e),
            foxtrot_config_insecure(null_mut(), e),
            foxtrot_config_tls(null(), null(), 0, null_mut(), e),
            foxtrot_config_set_timeout(null(), 1, e),
            foxtrot_config_set_wait(null(), 1, e),
            foxtrot_config_set_application(config, null(), e),
            foxtrot_config_set_threads(null(), 2, e),
            foxtrot_connect(config, null(), &mut peers, e),
            foxtrot_bind(null(), c"localhost:0".as_ptr(), null_mut(), e),
            foxtrot_accept(null(), &mut peers, e),
            foxtrot_peer_over_fds(null(), 0, 1, INITIATOR, &mut peers, e),
            foxtrot_peer_over_callbacks(config, null(), INITIATOR, &mut peers, e),
            foxtrot_peer_fingerprint(peer, null_mut(), e),
            foxtrot_peer_cancel(peer, e),
            foxtrot_peer_close(peer, e),
            foxtrot_psi_send(peer, null(), n, options, e),
            foxtrot_psi_receive(peer, null(), n, options, null_mut(), null_mut(), e),
            foxtrot_psi_both(peer, SENDER, null(), n, options, null_mut(), null_mut(), e),
            foxtrot_psi_send_with(peer, null(), null(), n, 2, options, e),
            foxtrot_psi_receive_with(
                peer,
                null(),
                n,
                2,
                options,
                null_mut(),
                null_mut(),
                null_mut(),
                e,
            ),
            foxtrot_psi_count(peer, SENDER, null(), n, 0, options, null_mut(), e),
            foxtrot_psi_send_sum(peer, null(), null(), n, 1, 0, options, null_mut(), e),
            foxtrot_psi_receive_sum(peer, null(), n, 1, 0, options, null_mut(), e),
            foxtrot_ot_send(peer, null(), n, 2, options, e),
            foxtrot_ot_receive(peer, null(), n, 2, 16, options, null_mut(), null_mut(), e),
            foxtrot_rot_open(peer, SENDER, n, options, &mut streams, e),
            foxtrot_rot_send(stream, n, null_mut(), e),
            foxtrot_rot_receive(stream, n, null_mut(), null_mut(), e),
            foxtrot_cot_open_sender(peer, n, options, &mut streams, e),
            foxtrot_cot_open_receiver(peer, null(), n, options, &mut streams, e),
            foxtrot_cot_send(stream, n, null_mut(), e),
            foxtrot_cot_receive(stream, n, null_mut(), e),
            foxtrot_cot_delta(stream, null_mut(), e),
            foxtrot_triples_open(peer, 64, n, options, &mut streams, e),
            foxtrot_triples(stream, n, null_mut(), null_mut(), null_mut(), e),
            foxtrot_stream_end(stream, e),
        ]
    };
    for (number, status) in statuses.into_iter().enumerate() {
        assert_eq!(status, Status::Caller, "call {number}");
    }
    assert!(key.is_null() && peers.is_null() && streams.is_null());
    assert_eq!(unsafe { foxtrot_listener_port(null()) }, 0);
    unsafe { foxtrot_config_free(config) };
}

#[test]
fn impossible_sizes_texts_and_alignments_are_errors_with_a_message() {
    let (config, mut error, mut peer) = (config(), no_error(), null_mut());
    let (ours, _theirs) = UnixStream::pair().unwrap();
    let fd = std::os::fd::AsRawFd::as_raw_fd(&ours);
    let said = |status, error: &Error, expected: &str| {
        assert_eq!((status, error.status), (Status::Caller, Status::Caller));
        assert!(message(error).contains(expected), "{}", message(error));
    };
    unsafe {
        let status = foxtrot_connect(config, c"\xff".as_ptr(), &mut peer, &mut error);
        said(status, &error, "address is not UTF-8");
        let status = foxtrot_peer_over_fds(config, fd, fd, 7, &mut peer, &mut error);
        said(status, &error, "FOXTROT_INITIATOR");
        assert!(peer.is_null());
        let status = foxtrot_peer_over_fds(config, fd, fd, INITIATOR, &mut peer, &mut error);
        assert_eq!(status, Status::Ok);
        let item = [Bytes { data: b"ann".as_ptr(), len: 3 }];
        let status = foxtrot_psi_send(peer, item.as_ptr(), usize::MAX / 2, null(), &mut error);
        said(status, &error, "items cannot have");
        let huge = [Bytes { data: b"ann".as_ptr(), len: usize::MAX }];
        let status = foxtrot_psi_send(peer, huge.as_ptr(), 1, null(), &mut error);
        said(status, &error, "items cannot have");
        let status = foxtrot_psi_send(peer, item.as_ptr().byte_add(1), 1, null(), &mut error);
        said(status, &error, "items is not aligned");
        let status = foxtrot_ot_send(peer, item.as_ptr(), usize::MAX, 2, null(), &mut error);
        said(status, &error, "too large");
        let status = foxtrot_psi_count(
            peer,
            5,
            item.as_ptr(),
            1,
            0,
            &Options { flags: SEMI_HONEST, ..Options::default() },
            null_mut(),
            &mut error,
        );
        said(status, &error, "FOXTROT_SENDER");
        foxtrot_peer_free(peer);
        foxtrot_config_free(config);
    }
}

#[test]
fn threads_are_from_1_to_1024() {
    let (config, mut error) = (config(), no_error());
    for n in [0, 1025, usize::MAX] {
        let status = unsafe { foxtrot_config_set_threads(config, n, &mut error) };
        assert_eq!(status, Status::Caller);
        assert!(message(&error).contains("from 1 to 1024"), "{}", message(&error));
    }
    for n in [1, 2] {
        let status = unsafe { foxtrot_config_set_threads(config, n, &mut error) };
        assert_eq!(status, Status::Ok);
    }
    unsafe { foxtrot_config_free(config) };
}

/// A peer whose other end has gone.
fn forsaken(config: *const Config) -> *mut Peer {
    let (mut peer, (ours, theirs)) = (null_mut(), UnixStream::pair().unwrap());
    let fd = std::os::fd::AsRawFd::as_raw_fd(&ours);
    let status = unsafe { foxtrot_peer_over_fds(config, fd, fd, INITIATOR, &mut peer, null_mut()) };
    assert_eq!(status, Status::Ok);
    drop(theirs);
    peer
}

#[test]
fn calls_after_a_draw_that_failed_tell_its_failure() {
    let (config, mut error) = (config(), no_error());
    let mut rows = [Block { bytes: [0; 16] }; 3];
    unsafe {
        let (peer, mut stream) = (forsaken(config), null_mut());
        assert_eq!(foxtrot_cot_open_sender(peer, 5, null(), &mut stream, &mut error), Status::Ok);
        let drawn = foxtrot_cot_send(stream, 3, rows.as_mut_ptr(), &mut error);
        assert_eq!(drawn, Status::Connection, "{}", message(&error));
        let first = message(&error).to_owned();
        let fails_as_before = |status, error: &Error| {
            assert_eq!((status, error.status), (Status::Connection, Status::Connection));
            assert_eq!(message(error), first);
        };
        let status = foxtrot_stream_end(stream, &mut error);
        fails_as_before(status, &error);
        let status = foxtrot_cot_send(stream, 3, rows.as_mut_ptr(), &mut error);
        fails_as_before(status, &error);
        let status = foxtrot_cot_delta(stream, rows.as_mut_ptr(), &mut error);
        fails_as_before(status, &error);
        let status = foxtrot_psi_send(peer, null(), 0, null(), &mut error);
        fails_as_before(status, &error);
        foxtrot_stream_free(stream);
        // The peer has come back, and is closed only once.
        foxtrot_peer_close(peer, &mut error);
        let status = foxtrot_peer_close(peer, &mut error);
        assert_ne!(message(&error), "a stream of the peer is open");
        assert!(status == Status::Connection || message(&error) == "the peer is closed");
        foxtrot_peer_free(peer);
        foxtrot_config_free(config);
    }
}

#[test]
fn a_listener_whose_wait_failed_tells_so_again() {
    let (config, mut error) = (config(), no_error());
    let (mut listener, mut peer) = (null_mut(), null_mut());
    unsafe {
        assert_eq!(foxtrot_config_set_wait(config, 1, &mut error), Status::Ok);
        let status = foxtrot_bind(config, c"127.0.0.1:0".as_ptr(), &mut listener, &mut error);
        assert_eq!(status, Status::Ok);
        for _ in 0..2 {
            let status = foxtrot_accept(listener, &mut peer, &mut error);
            assert_eq!(status, Status::Connection);
            assert!(message(&error).contains("nobody connected"), "{}", message(&error));
        }
        foxtrot_listener_free(listener);
        foxtrot_config_free(config);
    }
}

#[test]
fn the_largest_numbers_are_errors_and_neither_waits_nor_faults() {
    let (config, mut error, n) = (config(), no_error(), usize::MAX);
    let options = Options { flags: SEMI_HONEST, max_peer_keys: n, ..Options::default() };
    let semi_honest = Options { flags: SEMI_HONEST, ..Options::default() };
    let item = [Bytes { data: b"ann".as_ptr(), len: 3 }];
    let mut block = [Block { bytes: [0; 16] }; 2];
    let mut outcome = Outcome { released: false, count: 0, sum: 0 };
    unsafe {
        assert_eq!(foxtrot_config_set_timeout(config, u64::MAX, &mut error), Status::Ok);
        assert_eq!(foxtrot_config_set_wait(config, u64::MAX, &mut error), Status::Ok);
        let mut statuses = Vec::new();
        for job in 0..6 {
            let (peer, mut stream) = (forsaken(config), null_mut());
            statuses.push(match job {
                0 => foxtrot_psi_send(peer, item.as_ptr(), 1, &options, &mut error),
                1 => foxtrot_psi_count(
                    peer,
                    SENDER,
                    item.as_ptr(),
                    1,
                    u64::MAX,
                    &options,
                    &mut outcome,
                    &mut error,
                ),
                2 => foxtrot_psi_receive_sum(
                    peer,
                    item.as_ptr(),
                    1,
                    u64::MAX,
                    u64::MAX,
                    &semi_honest,
                    &mut outcome,
                    &mut error,
                ),
                3 => {
                    let opened = foxtrot_rot_open(peer, SENDER, n, null(), &mut stream, &mut error);
                    if opened == Status::Ok {
                        foxtrot_rot_send(stream, 1, block.as_mut_ptr(), &mut error)
                    } else {
                        opened
                    }
                }
                4 => {
                    let opened = foxtrot_cot_open_sender(peer, n, null(), &mut stream, &mut error);
                    if opened == Status::Ok {
                        foxtrot_cot_send(stream, 1, block.as_mut_ptr(), &mut error)
                    } else {
                        opened
                    }
                }
                _ => {
                    let [a, b, c] = [block.as_mut_ptr().cast(); 3];
                    let opened =
                        foxtrot_triples_open(peer, 64, n, &semi_honest, &mut stream, &mut error);
                    if opened == Status::Ok {
                        foxtrot_triples(stream, 1, a, b, c, &mut error)
                    } else {
                        opened
                    }
                }
            });
            foxtrot_stream_free(stream);
            foxtrot_peer_free(peer);
        }
        let failed = |it: &Status| matches!(it, Status::Caller | Status::Connection);
        assert!(statuses.iter().all(failed), "{statuses:?}");
        foxtrot_config_free(config);
    }
}

static READS: AtomicUsize = AtomicUsize::new(0);
static RELEASES: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" fn too_many(_: *mut c_void, _: *mut u8, size: usize) -> isize {
    READS.fetch_add(1, Ordering::SeqCst);
    isize::try_from(size).unwrap() + 1
}

unsafe extern "C" fn fails(_: *mut c_void, _: *const u8, _: usize) -> isize {
    -1
}

unsafe extern "C" fn count(_: *mut c_void) {
    RELEASES.fetch_add(1, Ordering::SeqCst);
}

#[test]
fn callbacks_that_lie_or_fail_are_errors_of_the_connection_and_are_released_once() {
    let (config, mut error, mut peer) = (config(), no_error(), null_mut());
    let callbacks = Callbacks {
        read: Some(too_many),
        write: Some(fails),
        close: None,
        release: Some(count),
        context: null_mut(),
    };
    unsafe {
        let status =
            foxtrot_peer_over_callbacks(config, &callbacks, INITIATOR, &mut peer, &mut error);
        assert_eq!(status, Status::Ok);
        let status = foxtrot_psi_send(peer, null(), 0, null(), &mut error);
        assert_eq!(status, Status::Connection, "{}", message(&error));
        foxtrot_peer_free(peer);
        let nothing = Callbacks { read: None, ..callbacks };
        let status =
            foxtrot_peer_over_callbacks(config, &nothing, INITIATOR, &mut peer, &mut error);
        assert_eq!(status, Status::Caller);
        // This one is released although there is no peer.
        foxtrot_peer_over_callbacks(config, &callbacks, 9, &mut peer, null_mut());
        foxtrot_config_free(config);
    }
    for _ in 0..1000 {
        if RELEASES.load(Ordering::SeqCst) == 2 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert_eq!(RELEASES.load(Ordering::SeqCst), 2);
    assert!(READS.load(Ordering::SeqCst) <= 1);
}
