//! Oblivious transfer over a `std` socket of one's own, with typed states: each message has a
//! length that both parties know, so bytes are all that the socket needs to carry.
//!
//! `cargo run -p foxtrot-net --example blocking`

use std::{
    error::Error,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    thread,
};

use foxtrot_ot::{
    Bits, Seed, Session, Sid,
    base::{
        ReceiverKeys, SenderKeys,
        roted::{Blinded, Endemic, Reply, endemic},
    },
};

type Fallible<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// One party: for each choice, that one key of two.
fn receive(mut stream: TcpStream, sid: Sid, choices: Bits) -> Fallible<ReceiverKeys> {
    let n = choices.len();
    let (receiver, blinded) = endemic::Receiver::start(batch(sid), choices, fresh_seed()?)?;
    stream.write_all(blinded.as_bytes())?;
    let mut reply = vec![0; Reply::<Endemic>::encoded_len(n)];
    stream.read_exact(&mut reply)?;
    Ok(receiver.finish(&Reply::decode(&reply, n)?)?)
}

/// The other party: n pairs of keys.
fn send(mut stream: TcpStream, sid: Sid, n: usize) -> Fallible<SenderKeys> {
    let mut blinded = vec![0; Blinded::<Endemic>::encoded_len(n)];
    stream.read_exact(&mut blinded)?;
    let blinded = Blinded::decode(&blinded, n)?;
    let (keys, reply) = endemic::respond(batch(sid), &blinded, fresh_seed()?);
    stream.write_all(reply.as_bytes())?;
    Ok(keys)
}

/// The namespace of this batch. Each further batch of the session has another counter.
fn batch(sid: Sid) -> Session {
    Session::new(sid).sub("roted-endemic", 0, Default::default())
}

/// Draws the randomness of a party's batch. It is secret, and is never used again.
fn fresh_seed() -> Result<Seed, getrandom::Error> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed)?;
    Ok(Seed::from_bytes(seed))
}

fn main() -> Fallible<()> {
    // A real application agrees on this with its peer, and never uses it again: a hash of a fresh
    // nonce of each party and of all that the two have to agree on, also the number of transfers.
    let sid = Sid::from_bytes([7; 32]);
    // It also has a secure channel in place of the bare socket, with a peer that it knows, say
    // TLS; and timeouts, lest a silent peer hold it up.
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;

    let bits = [true, false, true, true];
    let sender = thread::spawn(move || send(listener.accept()?.0, sid, bits.len()));
    let received = receive(TcpStream::connect(address)?, sid, Bits::from_bools(bits))?;
    let sent = sender.join().map_err(|_| "the sender panicked")??;

    check(&sent, &received, bits);
    println!("{} transfers: the receiver has the keys of its choices", bits.len());
    Ok(())
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
