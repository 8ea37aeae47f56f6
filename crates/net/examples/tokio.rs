//! Any base OT over a socket of `tokio`, or anything that reads and writes asynchronously: the engine says which
//! message it waits for, takes it, and gives those to send.
//!
//! `cargo run -p foxtrot-net --example tokio`

use std::error::Error;

use foxtrot_ot::{
    Bits, Seed, Session, Sid,
    base::{Choice, Functionality, ReceiverKeys, SenderKeys, find},
    engine::{Engine, Progress},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    runtime::Builder,
};

type Fallible<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Runs one party to its end. A base OT has one stream, so its messages need no frames.
///
/// A step computes in proportion to the transfers: for many, give it to `spawn_blocking`. Dropping
/// the future in the middle is safe; the batch is then gone, and is not to be run again in the
/// same namespace.
async fn run<Out>(
    socket: &mut (impl AsyncRead + AsyncWrite + Unpin),
    mut engine: Engine<'_, Out>,
) -> Fallible<Out> {
    loop {
        let progress = engine.advance()?;
        while let Some((_, message)) = engine.outgoing() {
            socket.write_all(&message).await?;
        }
        socket.flush().await?;
        match progress {
            Progress::Sending => {}
            Progress::Done(out) => return Ok(out),
            Progress::Waiting { stream, len } => {
                let mut message = vec![0; len];
                socket.read_exact(&mut message).await?;
                engine.deliver(stream, message);
            }
        }
    }
}

/// What a party's batch takes of randomness. It is secret, and is never used again.
fn fresh_seed() -> Result<Seed, getrandom::Error> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed)?;
    Ok(Seed::from_bytes(seed))
}

async fn both_parties() -> Fallible<()> {
    // A real application agrees on this with its peer, and never uses it again: a hash of a fresh
    // nonce of each party and of all that the two have to agree on, the number of transfers too.
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
        run(&mut listener.accept().await?.0, engine).await
    });
    let engine = base.receiver(batch(), Choice::Given(Bits::from_bools(bits)), fresh_seed()?)?;
    let received = run(&mut TcpStream::connect(address).await?, engine).await?;
    let sent = sender.await??;

    check(&sent, &received, bits);
    println!("{} transfers: the receiver has the keys of its choices", bits.len());
    Ok(())
}

fn main() -> Fallible<()> {
    Builder::new_current_thread().enable_io().build()?.block_on(both_parties())
}

/// What only an example can do, with both parties at hand.
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
