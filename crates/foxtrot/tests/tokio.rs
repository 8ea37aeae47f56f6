//! Jobs as futures.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
#![cfg_attr(not(target_os = "linux"), allow(dead_code, unused_imports, reason = "/proc counts"))]

use std::{
    collections::BTreeMap,
    fs, io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc},
    task::{Context, Poll},
    thread,
    time::{Duration, Instant},
};

use foxtrot::{
    Config, Error, Identity, Peer, Side,
    net::tokio::{Lanes, Tokio},
    ot,
    psi::{self, Assumption, Count, Options, Outcome},
    rot, triples,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, DuplexStream, ReadBuf, duplex},
    join,
    net::{TcpListener, TcpStream},
    runtime::Builder,
    time::{sleep, timeout},
};

const AT_ONCE: Duration = Duration::from_secs(8);

/// Tests that count the threads of the process run one after another.
static THREADS: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    THREADS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts the threads of connections, by their names.
fn threads() -> BTreeMap<String, usize> {
    let mut all = BTreeMap::new();
    for task in fs::read_dir("/proc/self/task").unwrap() {
        // A thread may end in between.
        let name = fs::read_to_string(task.unwrap().path().join("comm")).unwrap_or_default();
        if name.starts_with("foxtrot-") {
            *all.entry(name.trim().to_owned()).or_default() += 1;
        }
    }
    all
}

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Waits until no thread of a connection is left, and no more descriptors than that.
fn all_end(before: usize) {
    let start = Instant::now();
    while !threads().is_empty() || descriptors() > before {
        assert!(start.elapsed() < AT_ONCE, "{:?}, {} > {before}", threads(), descriptors());
        thread::sleep(Duration::from_millis(5));
    }
}

fn insecure() -> Config {
    Config::insecure().runtime(Arc::new(Tokio))
}

fn over<S: AsyncRead + AsyncWrite + Unpin>(stream: S, side: Side) -> Peer<Lanes<S>> {
    insecure().over_async(stream, side).unwrap()
}

fn pair() -> (Peer<Lanes<DuplexStream>>, Peer<Lanes<DuplexStream>>) {
    let (ours, theirs) = duplex(1 << 14);
    (over(ours, Side::Initiator), over(theirs, Side::Responder))
}

#[cfg(target_os = "linux")]
#[test]
fn tokio_connections_over_streams_leave_nothing_behind() {
    let _alone = alone();
    for mut runtime in [Builder::new_current_thread(), Builder::new_multi_thread()] {
        let runtime = runtime.enable_all().build().unwrap();
        let before = descriptors();
        runtime.block_on(async {
            let listener = TcpListener::bind("localhost:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            for close in [true, false, true, false] {
                let (here, there) = join!(TcpStream::connect(address), listener.accept());
                let mut ours = over(here.unwrap(), Side::Initiator);
                let mut theirs = over(there.unwrap().0, Side::Responder);
                let (sent, received) =
                    join!(rot::send(&mut ours, 10), rot::receive(&mut theirs, 10));
                sent.unwrap();
                received.unwrap();
                if close {
                    ours.close().await.unwrap();
                } else {
                    drop(ours);
                }
                // The other side reads the end, and no time-out.
                let start = Instant::now();
                assert!(rot::receive(&mut theirs, 10).await.is_err());
                assert!(start.elapsed() < AT_ONCE);
            }
            // The other end reads an end, and stays open.
            let (here, there) = join!(TcpStream::connect(address), listener.accept());
            let (here, mut there) = (here.unwrap(), there.unwrap().0);
            drop(over(here, Side::Initiator));
            let read = timeout(AT_ONCE, there.read(&mut [0; 1])).await;
            assert_eq!(read.unwrap().unwrap(), 0);
            drop(listener);
            let before = before + 1;
            // The runtime's thread goes on meanwhile.
            timeout(AT_ONCE, tokio::task::spawn_blocking(move || all_end(before)))
                .await
                .unwrap()
                .unwrap();
            drop(there);
        });
    }
}

/// A stream that notes its shutdown, as a layer of TLS does.
struct Noted(DuplexStream, mpsc::Sender<()>);

impl AsyncRead for Noted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Noted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let _ = self.1.send(());
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

#[test]
fn tokio_streams_are_refused_where_keys_would_be_dropped() {
    let _alone = alone();
    Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        let identity = Identity::generate().unwrap();
        let config = Config::tls(&identity, &[identity.fingerprint()]).unwrap();
        let (stream, mut theirs) = duplex(1 << 10);
        let refused = config.over_async(stream, Side::Initiator);
        assert!(matches!(refused, Err(Error::Config(_))));
        // Nothing was said.
        assert_eq!(theirs.read(&mut [0; 1]).await.unwrap(), 0);
    });
}

#[test]
fn tokio_streams_are_shut_down_before_close_returns() {
    let _alone = alone();
    Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        let ((stream, _kept), (tell, told)) = (duplex(1 << 10), mpsc::channel());
        over(Noted(stream, tell), Side::Initiator).close().await.unwrap();
        assert!(told.try_recv().is_ok());
    });
}

#[cfg(target_os = "linux")]
#[test]
fn tokio_attempts_that_are_dropped_end_their_threads() {
    let _alone = alone();
    let runtime = Builder::new_current_thread().enable_all().max_blocking_threads(2).build();
    let (runtime, before) = (runtime.unwrap(), descriptors());
    runtime.block_on(async {
        let identity = Identity::generate().unwrap();
        let tls = Config::tls(&identity, &[identity.fingerprint()]).unwrap();
        for (config, has_keys) in [(Config::insecure(), false), (tls, true)] {
            let short = Duration::from_millis(100);
            // Nobody comes; or a stranger that says nothing, who without keys is the peer.
            for stranger in [false, true] {
                let listener = config.bind("127.0.0.1:0").unwrap();
                let address = listener.local_addr();
                let _silent = stranger.then(|| std::net::TcpStream::connect(address).unwrap());
                if has_keys || !stranger {
                    assert!(timeout(short, listener.accept_async()).await.is_err());
                }
            }
            // Somebody listens and does not speak TLS; then nobody listens.
            let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let address = silent.local_addr().unwrap().to_string();
            if has_keys {
                assert!(timeout(short, config.connect_async(&address)).await.is_err());
            }
            drop(silent);
            assert!(timeout(short, config.connect_async(&address)).await.is_err());
        }
        // Two threads would be in use still, and this one would wait.
        let work = tokio::task::spawn_blocking(move || all_end(before));
        timeout(AT_ONCE, work).await.unwrap().unwrap();
    });
}

#[test]
fn tokio_serves_many_peers_with_an_async_function_until_it_is_dropped() {
    let _alone = alone();
    Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        let config = Config::insecure();
        let listener = config.bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().to_string();
        let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
        let server = tokio::spawn(listener.serve_async(
            |mut peer| async move {
                sleep(Duration::from_millis(1)).await;
                psi::send(&mut peer, &["b"]).await
            },
            move |ended| {
                let _ = tell.send(ended.result.is_ok());
            },
        ));
        let ask = async || {
            let mut peer = config.connect_async(&address).await.unwrap();
            assert_eq!(psi::receive(&mut peer, &["a", "b"]).await.unwrap(), [1]);
        };
        join!(ask(), ask(), ask());
        for _ in 0..3 {
            assert_eq!(told.recv().await, Some(true));
        }
        server.abort();
        // The sender of what is told goes with the future, and soon the port with the thread that listens.
        assert_eq!(timeout(AT_ONCE, told.recv()).await.unwrap(), None);
        let closes = async { while TcpStream::connect(&address).await.is_ok() {} };
        timeout(AT_ONCE, closes).await.unwrap();
    });
}

#[test]
fn tokio_servers_tell_of_strangers_and_of_sessions_that_panic() {
    let _alone = alone();
    Builder::new_multi_thread().enable_all().build().unwrap().block_on(async {
        let [ours, friend, stranger] = [(), (), ()].map(|()| Identity::generate().unwrap());
        let config = Config::tls(&ours, &[friend.fingerprint()]).unwrap();
        let listener = config.bind("127.0.0.1:0").unwrap();
        let (address, peers) = (listener.local_addr().to_string(), [ours.fingerprint()]);
        let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
        let server = tokio::spawn(listener.serve_async(
            |_| async { panic!("as it must") },
            move |ended| drop(tell.send((ended.fingerprint, ended.result))),
        ));
        let mut peer = Peer::connect_async(&address, &stranger, &peers).await.unwrap();
        assert!(psi::receive(&mut peer, &["a"]).await.is_err());
        let (key, refused) = timeout(AT_ONCE, told.recv()).await.unwrap().unwrap();
        assert!(key.is_none() && matches!(refused, Err(Error::Session(_))), "{refused:?}");
        let mut peer = Peer::connect_async(&address, &friend, &peers).await.unwrap();
        assert!(psi::receive(&mut peer, &["a"]).await.is_err());
        let (key, ended) = timeout(AT_ONCE, told.recv()).await.unwrap().unwrap();
        assert_eq!(key, Some(friend.fingerprint()));
        assert!(matches!(&ended, Err(Error::Panicked(why)) if why == "as it must"), "{ended:?}");
        server.abort();
    });
}

#[test]
fn tokio_runs_silent_ots_over_tls() {
    const N: usize = 1000;
    let _alone = alone();
    Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        let (ours, theirs) = (Identity::generate().unwrap(), Identity::generate().unwrap());
        let listener =
            Config::tls(&ours, &[theirs.fingerprint()]).unwrap().bind("localhost:0").unwrap();
        let (address, peers) = (listener.local_addr().to_string(), [ours.fingerprint()]);
        let (here, there) =
            join!(listener.accept_async(), Peer::connect_async(&address, &theirs, &peers));
        let (mut ours, mut theirs) = (here.unwrap(), there.unwrap());
        let silent = foxtrot::extension::silent::malicious();
        let random = rot::Options::new().silent(silent);
        let (pairs, received) = join!(random.send(&mut ours, N), random.receive(&mut theirs, N),);
        let (pairs, (choices, keys)) = (pairs.unwrap(), received.unwrap());
        assert!((0..N).all(|i| keys[i] == pairs[i][usize::from(choices.get(i).unwrap_u8())]));
        let messages = ot::Options::new().silent(silent);
        let (sent, opened) = join!(
            messages.send(&mut ours, &[["no", "yes"], ["left", "right"]]),
            messages.receive(&mut theirs, &[true, false]),
        );
        sent.unwrap();
        let opened = opened.unwrap();
        assert_eq!([opened.get(0), opened.get(1)], [Some(&b"yes"[..]), Some(b"left")]);
        let (here, there) = join!(ours.close(), theirs.close());
        here.and(there).unwrap();
    });
}

#[test]
fn tokio_drops_a_peer_without_holding_up_the_runtime() {
    let _alone = alone();
    Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        // Nobody takes what is sent: the connection's drop waits for that for a while.
        let (stream, _kept) = duplex(16);
        let mut peer = over(stream, Side::Initiator);
        let _ = timeout(Duration::from_millis(20), rot::send(&mut peer, 10)).await;
        let (stream, _kept) = duplex(16);
        let other = over(stream, Side::Initiator);
        let start = Instant::now();
        drop((peer, other));
        assert!(start.elapsed() < Duration::from_millis(500));
    });
}

#[cfg(target_os = "linux")]
#[test]
fn tokio_ends_a_connection_whose_peer_takes_nothing() {
    let _alone = alone();
    Builder::new_multi_thread().enable_all().build().unwrap().block_on(async {
        let before = descriptors();
        let config = insecure().timeout(Duration::from_millis(50));
        // The hello is longer than what the stream holds.
        let (stream, kept) = duplex(16);
        let mut peer = config.over_async(stream, Side::Initiator).unwrap();
        assert!(rot::send(&mut peer, 10).await.is_err());
        drop(peer);
        tokio::task::spawn_blocking(move || all_end(before)).await.unwrap();
        drop(kept);
    });
}

#[test]
fn tokio_runs_all_jobs_on_one_thread_and_on_many() {
    let _alone = alone();
    for mut runtime in [Builder::new_current_thread(), Builder::new_multi_thread()] {
        runtime.enable_all().build().unwrap().block_on(async {
            let (mut ours, mut theirs) = pair();
            let (one, other) =
                join!(psi::send(&mut ours, &["a", "b"]), psi::receive(&mut theirs, &["c", "b"]));
            one.unwrap();
            assert_eq!(other.unwrap(), [1]);
            let lpn = Options::new().assumption(Assumption::Lpn);
            let (one, other) =
                join!(lpn.send(&mut ours, &["a", "b"]), lpn.receive(&mut theirs, &["c", "b"]));
            one.unwrap();
            assert_eq!(other.unwrap(), [1]);
            let rows = [("a", b"Ulm "), ("b", b"Bonn")];
            let (one, other) = join!(
                lpn.send_with(&mut ours, &rows, 4),
                lpn.receive_with(&mut theirs, &["c", "b"], 4)
            );
            one.unwrap();
            assert_eq!(other.unwrap(), [(1, b"Bonn".to_vec())]);
            let (one, other) = join!(
                lpn.send_both(&mut ours, &["a", "b"]),
                lpn.receive_both(&mut theirs, &["c", "a"])
            );
            assert_eq!((one.unwrap(), other.unwrap()), (vec![0], vec![1]));
            let (one, other) = join!(
                Count::new().send_sum(&mut ours, &[("a", 3), ("b", 4)], 9),
                Count::new().receive_sum(&mut theirs, &["b", "c"], 9)
            );
            let expected = Outcome::Released { count: 1, sum: Some(4) };
            assert_eq!((one.unwrap(), other.unwrap()), (expected, expected));
            let (one, other) = join!(
                Count::new().send(&mut ours, &["a", "b"]),
                Count::new().receive(&mut theirs, &["b", "a"])
            );
            let expected = Outcome::Released { count: 2, sum: None };
            assert_eq!((one.unwrap(), other.unwrap()), (expected, expected));
            let (one, other) = join!(rot::send(&mut ours, 500), rot::receive(&mut theirs, 500));
            let (pairs, (choices, keys)) = (one.unwrap(), other.unwrap());
            assert_eq!(keys[7], pairs[7][usize::from(choices.get(7).unwrap_u8())]);
            let (one, other) = join!(
                rot::send_correlated(&mut ours, 2),
                rot::receive_correlated(&mut theirs, &[false, true])
            );
            assert_eq!(one.unwrap().1[0], other.unwrap()[0]);
            let (one, other) =
                join!(ot::send(&mut ours, &[["x", "y"]]), ot::receive(&mut theirs, &[true]));
            one.unwrap();
            assert_eq!(other.unwrap().get(0), Some(&b"y"[..]));
            let (one, other) = join!(
                ot::one_of_n::send(&mut ours, 3, &["x", "y", "z"]),
                ot::one_of_n::receive(&mut theirs, 3, &[2])
            );
            one.unwrap();
            assert_eq!(other.unwrap().get(0), Some(&b"z"[..]));
            let (one, other) = join!(
                triples::generate::<u8, _>(&mut ours, 9),
                triples::generate::<u8, _>(&mut theirs, 9)
            );
            assert_eq!((one.unwrap().len(), other.unwrap().len()), (9, 9));
            ours.close().await.unwrap();
            theirs.close().await.unwrap();
        });
    }
}

#[test]
fn tokio_and_blocking_peers_talk_over_tls() {
    let _alone = alone();
    Builder::new_multi_thread().enable_all().build().unwrap().block_on(async {
        let (ours, theirs) = (Identity::generate().unwrap(), Identity::generate().unwrap());
        let config = Config::tls(&ours, &[theirs.fingerprint()]).unwrap();
        let listener = config.bind("localhost:0").unwrap();
        let address = listener.local_addr().to_string();
        let key = ours.fingerprint();
        let blocking = thread::spawn(move || {
            let mut peer = Peer::connect(&address, &theirs, &[key])?;
            rot::receive(&mut peer, 100)
        });
        let mut peer = listener.accept_async().await.unwrap();
        assert_eq!(rot::send(&mut peer, 100).await.unwrap().len(), 100);
        blocking.join().unwrap().unwrap();
    });
}

#[test]
fn tokio_cancels_a_job_whose_future_is_dropped() {
    let _alone = alone();
    Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        let (mut ours, mut theirs) = pair();
        let waited = timeout(Duration::from_millis(50), rot::send(&mut ours, 10)).await;
        assert!(waited.is_err(), "nobody answers");
        assert!(rot::send(&mut ours, 10).await.is_err(), "the connection has ended");
        // The peer reads the end, also where its hello has not come.
        let waited = timeout(AT_ONCE, rot::receive(&mut theirs, 10)).await.unwrap();
        assert!(waited.is_err());
    });
}
