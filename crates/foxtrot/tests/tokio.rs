//! Jobs as futures.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::time::Duration;

use foxtrot::{
    Config, Error, Identity, Side,
    tokio::{Peer, ot, psi, rot, triples},
};
use tokio::{
    io::{DuplexStream, duplex},
    join,
    runtime::Builder,
    time::{sleep, timeout},
};

fn over(stream: DuplexStream, side: Side) -> Peer {
    Peer::over(stream, side, &Config::insecure()).unwrap()
}

fn pair() -> (Peer, Peer) {
    let (ours, theirs) = duplex(1 << 14);
    (over(ours, Side::Initiator), over(theirs, Side::Responder))
}

#[test]
fn tokio_runs_all_jobs_on_one_thread_and_on_many() {
    for mut runtime in [Builder::new_current_thread(), Builder::new_multi_thread()] {
        runtime.enable_all().build().unwrap().block_on(async {
            let (mut ours, mut theirs) = pair();
            let (one, other) =
                join!(psi::send(&mut ours, &["a", "b"]), psi::receive(&mut theirs, &["c", "b"]));
            one.unwrap();
            assert_eq!(other.unwrap(), [1]);
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
                triples::generate::<u8>(&mut ours, 9),
                triples::generate::<u8>(&mut theirs, 9)
            );
            assert_eq!((one.unwrap().len(), other.unwrap().len()), (9, 9));
            ours.close().await.unwrap();
            theirs.close().await.unwrap();
        });
    }
}

#[test]
fn tokio_and_blocking_peers_talk_over_tls() {
    Builder::new_multi_thread().enable_all().build().unwrap().block_on(async {
        let (ours, theirs) = (Identity::generate().unwrap(), Identity::generate().unwrap());
        let config = Config::tls(&ours, &[theirs.fingerprint()]).unwrap();
        let listener = config.bind("localhost:0").unwrap();
        let address = listener.local_addr().to_string();
        let key = ours.fingerprint();
        let blocking = std::thread::spawn(move || {
            let mut peer = foxtrot::Peer::connect(&address, &theirs, &[key])?;
            foxtrot::rot::receive(&mut peer, 100)
        });
        let mut peer = Peer::accept(listener).await.unwrap();
        assert_eq!(rot::send(&mut peer, 100).await.unwrap().len(), 100);
        blocking.join().unwrap().unwrap();
    });
}

#[test]
fn tokio_cancels_a_job_whose_future_is_dropped() {
    Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
        let (mut ours, mut theirs) = pair();
        let waited = timeout(Duration::from_millis(50), rot::send(&mut ours, 10)).await;
        assert!(waited.is_err(), "nobody answers");
        assert!(matches!(rot::send(&mut ours, 10).await, Err(Error::Cancelled)));
        assert!(ours.get_mut().is_none());
        sleep(Duration::from_millis(10)).await;
        assert!(rot::receive(&mut theirs, 10).await.is_err());
    });
}
