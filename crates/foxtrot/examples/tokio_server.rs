//! A tokio server that lets many peers intersect their sets with its own, side by side.
#![allow(clippy::panic_in_result_fn, clippy::unwrap_used, reason = "an example checks itself")]

use std::{error::Error, sync::Arc};

use foxtrot::{
    Config, Side,
    tokio::{Peer, psi},
};
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

const SET: [&str; 3] = ["bob", "cid", "dan"];

/// Answers one peer. The stream is plain TCP here: between machines, give `Peer::over` a stream of a TLS library, or use
/// `Peer::accept` with `Config::tls`.
async fn answer(stream: TcpStream, config: Arc<Config>) -> Result<(), foxtrot::Error> {
    let mut peer = Peer::over(stream, Side::Responder, &config)?;
    psi::send(&mut peer, &SET).await?;
    peer.close().await
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("localhost:0").await?;
    let address = listener.local_addr()?;
    let config = Arc::new(Config::insecure().application("example/1"));

    let for_server = Arc::clone(&config);
    let server = tokio::spawn(async move {
        let mut sessions = JoinSet::new();
        while sessions.len() < 3 {
            let (stream, _) = listener.accept().await?;
            sessions.spawn(answer(stream, Arc::clone(&for_server)));
        }
        while let Some(ended) = sessions.join_next().await {
            ended??;
        }
        Ok::<_, Box<dyn Error + Send + Sync>>(())
    });

    let mut peers = JoinSet::new();
    for name in ["ann", "bob", "cid"] {
        let config = Arc::clone(&config);
        peers.spawn(async move {
            let stream = TcpStream::connect(address).await?;
            let mut peer = Peer::over(stream, Side::Initiator, &config)?;
            let common = psi::receive(&mut peer, &[name]).await?;
            println!("{name}: {}", if common.is_empty() { "not there" } else { "there" });
            assert_eq!(common.is_empty(), name == "ann");
            Ok::<_, Box<dyn Error + Send + Sync>>(())
        });
    }
    while let Some(ended) = peers.join_next().await {
        ended?.map_err(|e| e.to_string())?;
    }
    server.await?.map_err(|e| e.to_string())?;
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
