//! Jobs over asynchronous streams: the same calls, with each other and with blocking peers.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::{net::TcpListener, thread};

use foxtrot::{
    Blame, ChannelBinding, Config, Error, Peer, Side, Stream, net, ot,
    psi::{
        self, Count, Outcome,
        fields::{Duplicates, Fields, Padding},
        keys::{Builder, Keys},
    },
    rot, triples,
};
use foxtrot_net::tokio::Lanes;
use tokio::{
    io::{DuplexStream, duplex},
    join,
    net::TcpStream,
    runtime::Builder as Runtime,
};

fn block_on<T>(future: impl Future<Output = T>) -> T {
    Runtime::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn pair() -> [Peer<Lanes<DuplexStream>>; 2] {
    let (near, far) = duplex(1 << 16);
    let over = |stream, side| Config::insecure().over_async(stream, side).unwrap();
    [over(near, Side::Initiator), over(far, Side::Responder)]
}

fn emails(all: &[&str]) -> Keys {
    let mut set = Builder::new(vec!["email".parse().unwrap()], all.len()).unwrap();
    all.iter().for_each(|key| set.push([(*key).into()].into_iter()));
    set.finish().unwrap()
}

/// A future that a runtime may move between threads.
fn movable<F: Future + Send>(future: F) -> F {
    future
}

#[test]
fn all_jobs_follow_one_another_over_one_stream() {
    let [mut here, mut there] = pair();
    let (asked, set) = (["ann", "", "bob", "ann", "cid"], ["cid", "ann", "eve"]);
    let few = Count::new().min_count(2);
    let many = Count::new().min_count(3);
    let receiving = movable(async {
        assert_eq!(psi::receive(&mut here, &asked).await?, [0, 3, 4]);
        let payloads = psi::Options::new().receive_with(&mut here, &asked, 2).await?;
        let payload = |row, text: &[u8]| (row, text.to_vec());
        assert_eq!(payloads, [payload(0, b"AN"), payload(3, b"AN"), payload(4, b"CI")]);
        assert_eq!(psi::Options::new().receive_both(&mut here, &asked).await?, [0, 3, 4]);
        let counted = few.receive(&mut here, &asked).await?;
        assert_eq!(counted, Outcome::Released { count: 2, sum: None });
        assert_eq!(many.receive(&mut here, &asked).await?, Outcome::Withheld);
        let random = rot::receive(&mut here, 1000).await?;
        let messages = ot::receive(&mut here, &[true, false]).await?;
        assert!(messages.iter().eq([Some(&b"yes"[..]), Some(b"left")]));
        let made = triples::generate::<u32, _>(&mut here, 10).await?;
        Ok::<_, Error>((random, made))
    });
    let sending = movable(async {
        psi::send(&mut there, &set).await?;
        let rows = [("cid", b"CI"), ("ann", b"AN"), ("eve", b"EV")];
        psi::Options::new().send_with(&mut there, &rows, 2).await?;
        assert_eq!(psi::Options::new().send_both(&mut there, &set).await?, [0, 1]);
        few.send(&mut there, &set).await?;
        assert_eq!(many.send(&mut there, &set).await?, Outcome::Withheld);
        let pairs = rot::send(&mut there, 1000).await?;
        ot::send(&mut there, &[["no", "yes"], ["left", "right"]]).await?;
        let made = triples::generate::<u32, _>(&mut there, 10).await?;
        Ok::<_, Error>((pairs, made))
    });
    let (received, sent) = block_on(async { join!(receiving, sending) });
    let (((bits, keys), ours), (pairs, theirs)) = (received.unwrap(), sent.unwrap());
    for (i, (pair, key)) in pairs.iter().zip(keys.iter()).enumerate() {
        assert_eq!(pair[usize::from(bits.get(i).unwrap_u8())], *key);
    }
    for i in 0..10 {
        let ([a, b, c], [d, e, f]) = (ours.get(i), theirs.get(i));
        assert_eq!(a.wrapping_add(d).wrapping_mul(b.wrapping_add(e)), c.wrapping_add(f));
    }
}

/// Runs blocking calls as the peer, over a socket that both sides bind to the same value.
fn with_blocking<T: Send + 'static, U>(
    blocking: impl FnOnce(&mut Peer) -> Result<T, Error> + Send + 'static,
    ours: impl AsyncFnOnce(&mut Peer<Lanes<TcpStream>>) -> U,
) -> (Result<T, Error>, U) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let bound = |side| Stream::new(side).bound(ChannelBinding::from_exporter([7; 32]));
    let other = thread::spawn(move || {
        let socket = listener.accept().unwrap().0;
        let (reader, closer) = (socket.try_clone().unwrap(), socket.try_clone().unwrap());
        let stream = bound(Side::Responder).closer(move |how| drop(closer.shutdown(how)));
        blocking(&mut Config::insecure().over(reader, socket, stream).unwrap())
    });
    let done = block_on(async {
        let stream = TcpStream::connect(address).await.unwrap();
        let peer = Config::insecure().over_async(stream, bound(Side::Initiator));
        ours(&mut peer.unwrap()).await
    });
    (other.join().unwrap(), done)
}

#[test]
fn a_blocking_peer_has_the_same_columns_and_sums() {
    let padding = Padding { width: 9, duplicates: Duplicates::First };
    let set = || emails(&["Bob@example.org", "ann@example.org"]);
    let (sent, found) = with_blocking(
        move |peer| {
            let its = set();
            let mut fields = Fields::new(2, padding, its.len())?;
            for (key, texts) in [["Köln", "gold"], ["", "tin"]].iter().enumerate() {
                fields.put(key, texts).unwrap();
            }
            let fields = fields.named(vec!["city".into(), "plan".into()]);
            let options = psi::Options::new();
            assert_eq!(options.send_keys(peer, &its)?.keys, 2);
            options.send_keys_with(peer, &its, &fields)?;
            Count::new().send_keys_sum(peer, &its, (None, &[7, 30]), 100)?;
            options.send_keys_with(peer, &its, &fields)
        },
        async |peer| {
            let ours = emails(&["eve@example.org", "bob@example.org"]);
            let (options, columns) = (psi::Options::new(), ["plan", "city"].map(str::to_owned));
            let (common, told) = options.receive_keys(peer, &ours).await?;
            assert_eq!((common, told.keys), (vec![1], 2));
            let found = options.receive_keys_with(peer, &ours, &columns, padding).await?.0;
            let sum = Count::new().receive_keys_sum(peer, &ours, 100).await?.0;
            let columns = ["name".to_owned()];
            let refused = options.receive_keys_with(peer, &ours, &columns, padding).await;
            Ok::<_, Error>((found, sum, refused.map(drop).unwrap_err()))
        },
    );
    let (found, sum, refused) = found.unwrap();
    assert_eq!(found, [(1, vec!["gold".to_owned(), "Köln".to_owned()])]);
    assert_eq!(sum, Outcome::Released { count: 1, sum: Some(7) });
    assert!(refused.to_string().contains("does not share column name"), "{refused}");
    let told = sent.map(drop).unwrap_err().to_string();
    // Whichever side finds it out first tells the other.
    assert!(told.contains("column name") || told.contains("refuses"), "{told}");
}

#[test]
fn limits_of_memory_and_of_keys_hold_over_asynchronous_streams() {
    let limited = [Config::insecure().max_memory(1000), Config::insecure()];
    let [near, far] = <[_; 2]>::from(duplex(1 << 16));
    let [mut ours, mut theirs] = [
        limited[0].over_async(near, Side::Initiator).unwrap(),
        limited[1].over_async(far, Side::Responder).unwrap(),
    ];
    let (refused, told) =
        block_on(async { join!(rot::send(&mut ours, 100), rot::receive(&mut theirs, 100)) });
    assert!(matches!(refused, Err(Error::Full(_))));
    let too_large = net::ChannelError::GivenUp(net::Reason::TooLarge).to_string();
    assert_eq!(told.map(drop).unwrap_err().to_string(), too_large);

    let [mut ours, mut theirs] = pair();
    let few = psi::Options::new().max_peer_keys(1);
    let (refused, told) = block_on(async {
        join!(few.send(&mut ours, &["ann"]), psi::receive(&mut theirs, &["ann", "bob"]))
    });
    let told = told.map(drop).unwrap_err();
    assert_eq!((refused.unwrap_err().blame(), told.blame()), (Blame::Agreement, Blame::Agreement));
    assert!(told.to_string().contains("the peer accepts 1"), "{told}");
}

#[test]
fn a_job_that_is_dropped_gives_up_and_later_ones_say_so() {
    let [mut ours, mut theirs] = pair();
    block_on(async {
        {
            let receiving = rot::receive(&mut ours, 1000);
            let mut receiving = Box::pin(receiving);
            // It has said its hello.
            let first = std::future::poll_fn(|cx| {
                std::task::Poll::Ready(receiving.as_mut().poll(cx).is_pending())
            });
            assert!(first.await);
        }
        drop(ours);
        assert!(rot::send(&mut theirs, 1000).await.is_err());
        assert!(rot::send(&mut theirs, 1000).await.is_err());
    });
}

#[test]
fn a_peer_that_waits_for_a_hello_hears_that_the_other_side_cannot_use_its_own_input() {
    let [mut here, mut there] = pair();
    let told = block_on(async {
        let (told, ()) = join!(psi::send(&mut there, &["ann"]), here.refuse(net::Reason::OwnInput));
        told.unwrap_err()
    });
    assert!(told.to_string().ends_with("it cannot use its own input or settings"), "{told}");
}
