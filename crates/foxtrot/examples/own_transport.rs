//! A transport of one's own: anything that reads and writes. Here two pipes, as between a program and its child.
#![allow(clippy::panic_in_result_fn, clippy::unwrap_used, reason = "an example checks itself")]

use std::{error::Error, io::pipe, thread};

use foxtrot::{Peer, Side, ot};

fn main() -> Result<(), Box<dyn Error>> {
    let (from_sender, to_receiver) = pipe()?;
    let (from_receiver, to_sender) = pipe()?;

    let sender = thread::spawn(move || {
        // The two ends of a transport have to know which of them is the initiator: it does not matter which.
        let mut peer = Peer::over(from_receiver, to_receiver, Side::Responder)?;
        ot::send(&mut peer, &[["heads", "tails"], ["left", "right"]])?;
        peer.close()
    });

    let mut peer = Peer::over(from_sender, to_sender, Side::Initiator)?;
    let messages = ot::receive(&mut peer, &[true, false])?;
    // A message that does not open would be `None`: the sender must not learn of it.
    for message in messages.iter().flatten() {
        println!("{}", String::from_utf8_lossy(message));
    }
    assert_eq!([messages.get(0), messages.get(1)], [Some(&b"tails"[..]), Some(b"left")]);
    sender.join().expect("no panic")?;
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
