//! A tokio server that lets many peers intersect their sets with its own, side by side, over TLS with pinned keys.
#![allow(clippy::panic_in_result_fn, clippy::unwrap_used, reason = "an example checks itself")]

use std::error::Error;

use foxtrot::{AsyncPeer, Config, Identity, Peer, psi};
use tokio::{sync::mpsc, task::JoinSet};

const SET: [&str; 3] = ["bob", "cid", "dan"];

/// Answers one peer.
async fn answer(mut peer: AsyncPeer) -> Result<(), foxtrot::Error> {
    psi::send(&mut peer, &SET).await?;
    peer.close().await
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // Each party makes its key once, and tells the others its fingerprint.
    let ours = Identity::generate()?;
    let peers = [Identity::generate()?, Identity::generate()?, Identity::generate()?];
    let names = ["ann", "bob", "cid"];
    let mut config = Config::tls(&ours, &peers.each_ref().map(Identity::fingerprint))?;
    for (peer, name) in peers.iter().zip(names) {
        config = config.name(peer.fingerprint(), name);
    }
    let listener = config.max_sessions(100).bind("localhost:0")?;
    let address = listener.local_addr().to_string();
    let (tell, mut told) = mpsc::unbounded_channel();
    let server = tokio::spawn(listener.serve_async(answer, move |ended| {
        // Nobody listens to the last ones when the program ends.
        let _ = tell.send(ended);
    }));

    let mut asking = JoinSet::new();
    for (peer, name) in peers.into_iter().zip(names) {
        let (address, key) = (address.clone(), ours.fingerprint());
        asking.spawn(async move {
            let mut peer = Peer::connect_async(&address, &peer, &[key]).await?;
            let common = psi::receive(&mut peer, &[name]).await?;
            println!("{name}: {}", if common.is_empty() { "not there" } else { "there" });
            assert_eq!(common.is_empty(), name == "ann");
            Ok::<_, foxtrot::Error>(())
        });
    }
    while let Some(asked) = asking.join_next().await {
        asked??;
    }
    for _ in names {
        let ended = told.recv().await.ok_or("the server has ended")?;
        println!("session with {}: {:?}", ended.peer, ended.result);
        ended.result?;
    }
    // No new peers; sessions would run on.
    server.abort();
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
