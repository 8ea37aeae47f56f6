//! Any base OT over a socket of `tokio`. Every other protocol runs the same way.
//!
//! `cargo run -p foxtrot-net --features tokio --example tokio`

use std::error::Error;

use foxtrot_net::tokio::Lanes;
use foxtrot_ot::{
    Bits, Seed, Session, Sid,
    base::{Choice, Functionality, ReceiverKeys, SenderKeys, find},
};
use tokio::{
    net::{TcpListener, TcpStream},
    runtime::Builder,
};

type Failure = Box<dyn Error + Send + Sync>;
type Fallible<T> = Result<T, Failure>;

/// Draws the randomness of a party's batch. It is secret, and is never used again.
fn fresh_seed() -> Result<Seed, getrandom::Error> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed)?;
    Ok(Seed::from_bytes(seed))
}

async fn both_parties() -> Fallible<()> {
    // A real application agrees on this with its peer, and never uses it again: a hash of a fresh
    // nonce of each party and of all that the two have to agree on, also the number of transfers.
    let sid = Sid::from_bytes([7; 32]);
    // It also has a secure channel in place of the bare socket, with a peer that it knows, say
    // TLS; and timeouts, lest a silent peer hold it up.
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;

    let base = find("roted", Functionality::Endemic).ok_or("no such base OT")?;
    // The namespace of this batch. Each further batch of the session has another counter.
    let batch = move || Session::new(sid).sub(base.info().name, 0, Default::default());
    let bits = [true, false, true, true];

    let sender = tokio::spawn(async move {
        let engine = base.sender(batch(), bits.len(), fresh_seed()?)?;
        Ok::<_, Failure>(Lanes::new(listener.accept().await?.0).run(engine).await?)
    });
    let engine = base.receiver(batch(), Choice::Given(Bits::from_bools(bits)), fresh_seed()?)?;
    let received = Lanes::new(TcpStream::connect(address).await?).run(engine).await?;
    let sent = sender.await??;

    check(&sent, &received, bits);
    println!("{} transfers: the receiver has the keys of its choices", bits.len());
    Ok(())
}

fn main() -> Fallible<()> {
    Builder::new_current_thread().enable_io().build()?.block_on(both_parties())
}

/// Compares both parties' outputs, which only an example can do.
fn check<const N: usize>(sent: &SenderKeys, received: &ReceiverKeys, bits: [bool; N]) {
    for ((pair, key), bit) in sent.pairs().iter().zip(received.keys()).zip(bits) {
        assert_eq!(key, &pair[usize::from(bit)]);
        assert_ne!(key, &pair[usize::from(!bit)]);
    }
}

#[cfg(test)]
#[test]
fn the_example_runs() {
    main().expect("it ends well");
}
