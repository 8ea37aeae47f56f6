//! Every door, the same: the cases of `doors.json` at blocking and at asynchronous peers. The command, Python and the page
//! have tests that read the same file.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod doors_peer;

use std::net::TcpStream as Socket;

use doors_peer::{blame, cases, check_sender, columns, keys, options, padding, serve};
use foxtrot::{
    Config, Error, Peer, Side, Stream,
    psi::{Options, keys::Keys},
};
use foxtrot_net::{Connection, tokio::Lanes};
use serde_json::Value;
use tokio::{net::TcpStream, runtime::Builder as Runtime};

/// The receiver of a case: the names that it finds.
async fn receive<C: Connection>(
    peer: &mut Peer<C>,
    of: &Value,
    wait: impl AsyncFn(&mut Peer<C>, Options, &Keys, Option<&[String]>) -> Result<Vec<usize>, Error>,
) -> Result<Vec<String>, Error> {
    let names = ["ann", "bob"];
    let (keys, with) = (keys(of, names), columns(&of["with"]));
    let found = wait(peer, options(of), &keys, with.as_deref()).await?;
    Ok(found.into_iter().map(|key| format!("{}@example.org", names[key])).collect())
}

/// Plays a case: `ours` is the receiver.
fn play(case: &Value, ours: impl FnOnce(Socket) -> Result<Vec<String>, Error>) {
    let name = case["name"].as_str().unwrap();
    let (address, sender) = serve(case);
    let received = ours(Socket::connect(address).unwrap());
    check_sender(case, sender.join().unwrap());
    if let Some(finds) = columns(&case["finds"]) {
        assert_eq!(received.unwrap(), finds, "{name}");
        return;
    }
    let error = received.unwrap_err();
    let cause = error.cause();
    assert_eq!(cause.blame, blame(case["blame"].as_str().unwrap()), "{name}: {error}");
    assert_eq!(u64::from(cause.status), case["status"].as_u64().unwrap(), "{name}: {error}");
    assert!(error.to_string().contains(case["says"].as_str().unwrap()), "{name}: {error}");
    let hint = cause.hint.map(|hint| hint.spelled(|option| format!("{{{option}}}")));
    assert_eq!(hint.as_deref(), case["hint"].as_str(), "{name}");
}

#[test]
fn a_blocking_peer_is_told_what_the_table_says() {
    for case in cases() {
        play(&case, |socket| {
            let (reader, closer) = (socket.try_clone().unwrap(), socket.try_clone().unwrap());
            let stream = Stream::new(Side::Initiator);
            let stream = stream.closer(move |how| drop(closer.shutdown(how)));
            let mut peer = Config::insecure().over(reader, socket, stream).unwrap();
            let of = &case["receiver"];
            let wait =
                async |peer: &mut Peer, options: Options, keys: &Keys, with: Option<&[String]>| {
                    match with {
                        None => options.receive_keys(peer, keys).map(|(found, _)| found),
                        Some(with) => {
                            let found = options.receive_keys_with(peer, keys, with, padding(of));
                            found.map(|(found, _)| found.into_iter().map(|(key, _)| key).collect())
                        }
                    }
                };
            let runtime = Runtime::new_current_thread().build().unwrap();
            runtime.block_on(receive(&mut peer, of, wait))
        });
    }
}

#[test]
fn an_asynchronous_peer_is_told_what_the_table_says() {
    for case in cases() {
        play(&case, |socket| {
            let of = &case["receiver"];
            let wait = async |peer: &mut Peer<Lanes<TcpStream>>,
                              options: Options,
                              keys: &Keys,
                              with: Option<&[String]>| {
                match with {
                    None => options.receive_keys(peer, keys).await.map(|(found, _)| found),
                    Some(with) => {
                        let found = options.receive_keys_with(peer, keys, with, padding(of)).await;
                        found.map(|(found, _)| found.into_iter().map(|(key, _)| key).collect())
                    }
                }
            };
            let runtime = Runtime::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                socket.set_nonblocking(true).unwrap();
                let stream = TcpStream::from_std(socket).unwrap();
                let peer = Config::insecure().over_async(stream, Side::Initiator);
                receive(&mut peer.unwrap(), of, wait).await
            })
        });
    }
}

/// The senders of all cases, one after another, for doors that are not of Rust: their tests run this one with `--ignored`, and
/// read where each sender listens.
#[test]
#[ignore = "it waits for the tests of Python and of the page"]
fn senders_wait_for_other_doors() {
    for case in cases() {
        let (address, sender) = serve(&case);
        println!("{} listens on {address}", case["name"]);
        check_sender(&case, sender.join().unwrap());
    }
}
