//! Secured connections as streams of tokio.

use std::{
    io::{ErrorKind, Read},
    net::Shutdown,
};

use foxtrot_ot::{
    Error as Protocol,
    engine::{Engine, Io, Limits, join},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream as AsyncStream,
    runtime::Builder,
};

use super::*;
use crate::{
    drive,
    tokio::{Lanes, Tokio},
};

/// Runs a future that ends, or fails.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(LONG, future).await.unwrap() })
}

/// A secured connection in the present runtime.
fn lanes(side: Secured) -> Lanes<Secure<AsyncStream>> {
    Lanes::new(side.stream().unwrap()).on(Arc::new(Tokio), LONG)
}

/// A party that sends 12 MiB on each of two streams and receives as much.
fn swap() -> Engine<'static, [usize; 2]> {
    const LEN: usize = 4 << 20;
    Engine::new(|io: Io| async move {
        io.limit(Limits { streams: 3, messages: 3, len: LEN });
        let swap = |io: Io, byte| async move {
            io.send_all(vec![vec![byte; LEN]; 3]).await;
            let received = io.recv_all(vec![LEN; 3]).await.concat();
            Ok::<_, Protocol>(received.iter().filter(|it| **it == byte).count())
        };
        let (one, two) = join(swap(io.on(1), 1), swap(io.on(2), 2)).await?;
        Ok([one, two])
    })
}

#[test]
fn both_sides_may_send_much_before_they_read() {
    block_on(async {
        let [mut here, mut there] = secured().map(lanes);
        let (ours, theirs) = tokio::join!(here.run(swap()), there.run_owned(swap()));
        assert_eq!([ours.unwrap(), theirs.unwrap()], [[12 << 20; 2]; 2]);
        let (closed, rest) = tokio::join!(here.close(), async {
            let mut rest = Vec::new();
            there.into_inner().read_to_end(&mut rest).await.map(|_| rest)
        });
        assert_eq!((closed, rest.unwrap()), (Ok(()), Vec::new()));
    });
}

#[test]
fn one_side_may_block_and_the_other_not() {
    for is_server in [false, true] {
        let [one, other] = secured();
        let (blocks, waits) = if is_server { (one, other) } else { (other, one) };
        let blocking = thread::spawn(|| {
            let channel = blocks.channel().unwrap();
            let swapped = drive::run(&channel, swap());
            assert_eq!(channel.recv(LANE, 1), Err(ChannelError::ClosedReceiving.into()));
            swapped
        });
        block_on(async {
            let mut lanes = lanes(waits);
            assert_eq!(lanes.run(swap()).await.unwrap(), [12 << 20; 2]);
            lanes.close().await.unwrap();
        });
        assert_eq!(blocking.join().unwrap().unwrap(), [12 << 20; 2]);
    }
}

/// A socket's second handle, and both sides.
fn with_handle() -> (TcpStream, [Secured; 2]) {
    let identities = [(); 2].map(|()| Identity::generate().unwrap());
    let [server, client] = [(0, 1), (1, 0)]
        .map(|(own, peer)| Tls::new(&identities[own], &[identities[peer].fingerprint()]).unwrap());
    let (accepted, connected) = sockets();
    let handle = connected.stream.try_clone().unwrap();
    let sides = thread::scope(|scope| {
        let client = scope.spawn(move || client.connect(connected));
        [server.accept(accepted).unwrap(), client.join().unwrap().unwrap()]
    });
    (handle, sides)
}

#[test]
fn an_end_without_close_notify_is_an_error_and_one_with_it_is_an_end() {
    block_on(async {
        let (handle, [server, client]) = with_handle();
        handle.shutdown(Shutdown::Write).unwrap();
        let mut stream = server.stream().unwrap();
        assert_eq!(stream.read(&mut [0]).await.unwrap_err().kind(), ErrorKind::UnexpectedEof);
        drop(client);

        let (handle, [server, client]) = with_handle();
        handle.shutdown(Shutdown::Write).unwrap();
        let ended = lanes(server).look(None).await;
        assert_eq!(ended.map(drop), Err(ChannelError::ClosedReceiving.into()));
        drop(client);

        // Dropping is an end that was meant.
        let [mut server, mut client] = secured().map(|side| side.stream().unwrap());
        client.write_all(&[7]).await.unwrap();
        client.flush().await.unwrap();
        drop(client);
        let mut read = Vec::new();
        assert_eq!((server.read_to_end(&mut read).await.unwrap(), read), (1, vec![7]));
    });
}

#[test]
fn changed_bytes_are_an_error_of_tls() {
    block_on(async {
        let (mut handle, [server, _client]) = with_handle();
        // A record of application data that nobody has encrypted.
        handle.write_all(&[23, 3, 3, 0, 32]).unwrap();
        handle.write_all(&[0; 32]).unwrap();
        let ended = lanes(server).look(None).await;
        assert!(matches!(ended, Err(Error::Tls(TlsError::Failed(_)))), "{:?}", ended.map(drop));
    });
}

#[test]
fn a_rejected_key_is_reported_when_reading_and_when_writing() {
    block_on(async {
        let [server, client] = meet(2, 0);
        assert!(server.is_err());
        let mut stream = client.unwrap().stream().unwrap();
        let told = Some(TlsError::NotAccepted);
        assert_eq!(TlsError::within(&stream.read(&mut [0]).await.unwrap_err()), told);
        assert_eq!(TlsError::within(&stream.write(&[0]).await.unwrap_err()), told);

        // A side that only writes finds the alert behind the error of its stream.
        let [_, client] = meet(2, 0);
        let mut stream = client.unwrap().stream().unwrap();
        let error = loop {
            let written = async {
                stream.write_all(&[0; 1 << 16]).await?;
                stream.flush().await
            };
            if let Err(e) = written.await {
                break e;
            }
        };
        // The system may have thrown the alert away when it reset the connection.
        let told = TlsError::within(&error);
        assert!(told == Some(TlsError::NotAccepted) || told.is_none(), "{error:?}");
    });
}

/// A client whose last message of the handshake and first words come at once.
#[test]
fn bytes_that_came_with_the_handshake_are_not_lost() {
    let words: Vec<u8> = (0..3000_u32).flat_map(u32::to_le_bytes).collect();
    let [identity, other] = [(); 2].map(|()| Identity::generate().unwrap());
    let server = Tls::new(&identity, &[other.fingerprint()]).unwrap();
    let client = Tls::new(&other, &[identity.fingerprint()]).unwrap();
    let name = ServerName::try_from("foxtrot").unwrap();
    let mut client = ClientConnection::new(client.client, name).unwrap();
    let (accepted, connected) = sockets();
    let server = thread::spawn(move || server.accept(accepted).unwrap());
    let mut socket = &connected.stream;
    client.write_tls(&mut socket).unwrap();
    while client.is_handshaking() {
        client.read_tls(&mut socket).unwrap();
        client.process_new_packets().unwrap();
    }
    client.writer().write_all(&words).unwrap();
    let mut records = Vec::new();
    while client.wants_write() {
        client.write_tls(&mut records).unwrap();
    }
    socket.write_all(&records).unwrap();
    block_on(async {
        let mut stream = server.join().unwrap().stream().unwrap();
        let mut read = vec![0; words.len()];
        stream.read_exact(&mut read).await.unwrap();
        assert_eq!(read, words);
        stream.write_all(b"heard").await.unwrap();
        stream.flush().await.unwrap();
    });
    let mut heard = [0; 5];
    while client.reader().read(&mut heard).is_err() {
        client.read_tls(&mut socket).unwrap();
        client.process_new_packets().unwrap();
    }
    assert_eq!(&heard, b"heard");
}

#[test]
fn a_dropped_future_leaves_the_peer_an_end() {
    let [server, client] = secured();
    let peer = thread::spawn(|| {
        let channel = client.channel().unwrap();
        channel.recv(LANE, 3).unwrap();
        channel.recv(LANE, 3)
    });
    block_on(async {
        let mut lanes = lanes(server);
        let run = tokio::spawn(async move {
            let engine = Engine::new(|io: Io| async move {
                io.send(vec![1; 3]).await;
                Ok::<_, Protocol>(io.recv(1).await)
            });
            lanes.run(engine).await
        });
        tokio::time::sleep(Duration::from_millis(50)).await;
        run.abort();
        assert!(run.await.unwrap_err().is_cancelled());
    });
    assert_eq!(peer.join().unwrap(), Err(ChannelError::ClosedReceiving.into()));
}

/// Prints how fast a secured stream carries bytes beside a channel.
#[test]
fn a_stream_is_about_as_fast_as_a_channel() {
    let both = secured();
    let start = Instant::now();
    block_on(async {
        let [mut here, mut there] = both.map(lanes);
        let here = tokio::task::spawn(async move { here.run(swap()).await.unwrap() });
        there.run(swap()).await.unwrap();
        here.await.unwrap();
    });
    let streams = start.elapsed();
    let [here, there] = channels();
    let start = Instant::now();
    thread::scope(|scope| {
        scope.spawn(|| drive::run(&here, swap()).unwrap());
        drive::run(&there, swap()).unwrap();
    });
    println!("48 MiB: {streams:?} over streams on one thread, {:?} over channels", start.elapsed());
}
