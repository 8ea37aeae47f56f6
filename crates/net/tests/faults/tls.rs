//! TLS channels through a proxy that cuts.

use core::net::SocketAddr;
use std::{
    io::{self, Read},
    net::{Shutdown, TcpListener, TcpStream},
    sync::Arc,
    thread,
};

use foxtrot_net::{
    Error,
    identity::Identity,
    tcp::{self, Listener},
    tls::{Secured, Tls},
};

use crate::{
    blames_connection, in_parallel,
    session::{Job, LONG, Pairs, Received, bounded, jobs, receive, send},
    stream::Way,
};

/// More than the last opening and the end of TLS take: before them, both sides await something.
const TAIL: u64 = 128;

struct Keys {
    sender: Tls,
    receiver: Tls,
}

type Open = Box<dyn FnOnce(&Tls) -> Result<Secured, Error> + Send>;

/// Both parties through a proxy that ends the connection after so many bytes of that way, and
/// what the proxy forwarded.
fn run(
    keys: &Arc<Keys>,
    job: Job,
    cut: Option<(Way, u64)>,
) -> (Result<Pairs, Error>, Result<Received, Error>, [u64; 2]) {
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let server = listener.local_addr();
    let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = proxy.local_addr().unwrap().to_string();
    let connect: Open = Box::new(move |tls| tls.connect(tcp::connect(&address, LONG)?));
    let accept: Open = Box::new(move |tls| tls.accept(listener.accept(LONG)?));

    // By way, as the sockets are.
    let cuts = Way::BOTH.map(|way| cut.filter(|(cut, _)| *cut == way).map(|(_, after)| after));
    let forwarded = bounded(move || forward(&proxy, server, job.sender_opens, cuts));
    let (for_sender, for_receiver) =
        if job.sender_opens { (connect, accept) } else { (accept, connect) };
    let sender = bounded({
        let keys = Arc::clone(keys);
        move || {
            let secured = for_sender(&keys.sender)?;
            let binding = secured.binding;
            send(job, secured.channel()?, Some(binding))
        }
    });
    let receiver = bounded({
        let keys = Arc::clone(keys);
        move || {
            let secured = for_receiver(&keys.receiver)?;
            let binding = secured.binding;
            receive(job, secured.channel()?, Some(binding))
        }
    });
    (sender(), receiver(), forwarded())
}

/// Forwards one connection; says how many bytes it forwarded, by way.
fn forward(
    proxy: &TcpListener,
    server: SocketAddr,
    sender_opens: bool,
    cuts: [Option<u64>; 2],
) -> [u64; 2] {
    let (client, _) = proxy.accept().unwrap();
    let server = TcpStream::connect(server).unwrap();
    let (sender, receiver) = if sender_opens { (&client, &server) } else { (&server, &client) };
    let pump = |mut from: &TcpStream, mut to: &TcpStream, cut: Option<u64>| {
        let copied = io::copy(&mut from.by_ref().take(cut.unwrap_or(u64::MAX)), &mut to);
        // A side that has gone already cannot be shut.
        match copied {
            Ok(copied) if cut != Some(copied) => drop(to.shutdown(Shutdown::Write)),
            _ => [from, to].into_iter().for_each(|end| drop(end.shutdown(Shutdown::Both))),
        }
        copied.unwrap_or(0)
    };
    let [to_sender, to_receiver] = cuts;
    thread::scope(|scope| {
        let to_sender = scope.spawn(|| pump(receiver, sender, to_sender));
        let to_receiver = pump(sender, receiver, to_receiver);
        [to_sender.join().unwrap(), to_receiver]
    })
}

#[test]
fn a_tls_connection_that_ends_fails_both_sides() {
    let [a, b] = [(); 2].map(|()| Identity::generate().unwrap());
    let keys = Arc::new(Keys {
        sender: Tls::new(&a, &[b.fingerprint()]).unwrap(),
        receiver: Tls::new(&b, &[a.fingerprint()]).unwrap(),
    });
    // Here the receiver has the last word, and that is short.
    let roted = jobs().filter(|job| job.base.info().name == "roted");
    for job in roted.flat_map(|job| [true, false].map(|sender_opens| Job { sender_opens, ..job })) {
        let (pairs, received, totals) = run(&keys, job, None);
        assert_eq!(pairs.unwrap().len(), received.unwrap().keys.len());
        let cuts = Way::BOTH.iter().flat_map(|&way| {
            // The handshake is the first fifth or so.
            let spread = (0..=20).map(move |i| i * (totals[way as usize] - TAIL) / 20);
            [1, 5, 6].into_iter().chain(spread).map(move |k| (way, k))
        });
        in_parallel(&cuts.collect::<Vec<_>>(), |&cut| {
            let (pairs, received, _) = run(&keys, job, Some(cut));
            let what = format!("{job:?}, {cut:?}");
            assert!(pairs.as_ref().is_err_and(blames_connection), "{what}: {pairs:?}");
            assert!(received.as_ref().is_err_and(blames_connection), "{what}: {received:?}");
        });
    }
}
