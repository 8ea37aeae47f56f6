use std::thread;

use foxtrot::{
    Config, Side, Stream,
    psi::{ItemHasher, keys::Builder},
};
use tokio::{
    io::{DuplexStream, duplex},
    runtime::Builder as Runtime,
};

use super::*;

fn keys(all: &[&str]) -> Keys {
    let mut hasher = ItemHasher::new();
    let items: Vec<_> = all.iter().map(|key| hasher.item([key])).collect();
    Keys::of(items.len(), items.into_iter()).unwrap()
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    Runtime::new_current_thread().build().unwrap().block_on(future)
}

/// Both ends, with these tokens.
fn ends([here, there]: [Option<&str>; 2]) -> [Peer<DuplexStream>; 2] {
    let (near, far) = duplex(1 << 16);
    [Peer::new(near, true, here), Peer::new(far, false, there)]
}

#[test]
fn all_jobs_follow_one_another_over_one_stream() {
    let [mut here, mut there] = ends([Some("a token"); 2]);
    let options = Options::default();
    let (ours, theirs) = (keys(&["ann", "", "bob", "ann", "cid"]), keys(&["cid", "ann", "eve"]));
    let receiving = async {
        let found = here.psi_receive(&options, &ours, |_| ()).await?;
        assert_eq!((ours.rows_of(&found.0), found.1.keys), (vec![0, 3, 4], 3));
        let (payloads, _) = here.join_receive(&options, &ours, 2, |_| ()).await?;
        assert_eq!(payloads, [(0, b"AN".to_vec()), (2, b"CI".to_vec())]);
        let (bits, keys) = here.rot_receive(1000).await?;
        let messages = here.ot_receive(&[true, false]).await?;
        let messages: Vec<_> = messages.iter().flatten().map(|it| it.as_slice()).collect();
        assert_eq!(messages, [&b"yes"[..], b"left"]);
        Ok::<_, Error>((bits, keys))
    };
    let sending = async {
        there.psi_send(&options, &theirs, |_| ()).await?;
        there.join_send(&options, &theirs, b"CIANEV", 2, |_| ()).await?;
        let pairs = there.rot_send(1000).await?;
        let words = [["no", "yes"], ["left", "right"]].map(|pair| pair.map(|it| it.into()));
        there.ot_send(&words).await?;
        Ok::<_, Error>(pairs)
    };
    let (received, sent) = block_on(async { tokio::join!(receiving, sending) });
    let ((bits, keys), pairs) = (received.unwrap(), sent.unwrap());
    for (i, (pair, key)) in pairs.iter().zip(keys.iter()).enumerate() {
        assert_eq!(pair[usize::from(bits[i / 8] >> (i % 8) & 1)], *key);
    }
}

#[test]
fn a_side_with_another_token_is_found_out_before_it_learns_sizes() {
    let [mut here, mut there] = ends([Some("a token"), Some("another")]);
    let (options, ours) = (Options::default(), keys(&["ann"]));
    let (here, there) = block_on(async {
        tokio::join!(
            here.psi_receive(&options, &ours, |_| ()),
            there.psi_send(&options, &ours, |_| ()),
        )
    });
    assert_eq!(there.unwrap_err(), HelloError::Confirmation.into());
    let told = foxtrot_net::ChannelError::GivenUp(foxtrot_net::Reason::CheckFailed);
    assert_eq!(here.unwrap_err(), told.into());
}

#[test]
fn sides_with_different_terms_name_both_values() {
    let [mut here, mut there] = ends([None; 2]);
    let (options, ours) = (Options::default(), keys(&["ann"]));
    let other = Options { normalize: "email/1".into(), ..options.clone() };
    let (here, there) = block_on(async {
        tokio::join!(
            here.psi_receive(&options, &ours, |_| ()),
            there.psi_send(&other, &ours, |_| ()),
        )
    });
    for error in [here.unwrap_err(), there.unwrap_err()] {
        assert!(error.to_string().contains("email"), "{error}");
    }
}

/// The library's blocking calls are the peer, over a socket.
#[test]
fn the_library_is_a_peer() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let other = thread::spawn(move || {
        let socket = listener.accept().unwrap().0;
        let (reader, closer) = (socket.try_clone().unwrap(), socket.try_clone().unwrap());
        let binding = foxtrot::ChannelBinding::from_exporter(token_binding("a token"));
        let stream = Stream::new(Side::Responder).bound(binding);
        let stream = stream.closer(move |how| drop(closer.shutdown(how)));
        let mut peer = Config::insecure().over(reader, socket, stream).unwrap();
        let mut set = Builder::new(vec!["email".parse().unwrap()], 2).unwrap();
        ["Bob@example.org", "ann@example.org"]
            .iter()
            .for_each(|key| set.push([(*key).into()].into_iter()));
        psi::Options::new().send_keys(&mut peer, &set.finish().unwrap()).map(|told| told.keys)
    });
    let runtime = Runtime::new_current_thread().enable_io().build().unwrap();
    let found = runtime.block_on(async {
        let stream = tokio::net::TcpStream::connect(address).await.unwrap();
        let mut peer = Peer::new(stream, true, Some("a token"));
        let options = Options { normalize: "email/1".into(), ..Options::default() };
        peer.psi_receive(&options, &keys(&["eve@example.org", "bob@example.org"]), |_| ()).await
    });
    let (common, told) = found.unwrap();
    assert_eq!((common, told.keys), (vec![1], 2));
    assert_eq!(other.join().unwrap().unwrap(), 2);
}

/// The tests of the npm package read the same file.
#[test]
fn a_run_with_fixed_seeds_has_the_messages_and_the_result_of_webassembly() {
    let runs = include_str!("../../tests/runs.json");
    let runs: serde_json::Value = serde_json::from_str(runs).unwrap();
    for run in runs.as_array().unwrap() {
        let n = u32::try_from(run["n"].as_u64().unwrap()).unwrap();
        assert_eq!(self_test(n).as_deref(), Ok(run["hash"].as_str().unwrap()), "n = {n}");
    }
}

#[test]
fn errors_have_codes_that_the_page_has_texts_for() {
    use foxtrot_net::{ChannelError, FrameError, Reason};
    let texts = include_str!("../../page/texts.js");
    let errors: Vec<Error> = vec![
        HelloError::Confirmation.into(),
        HelloError::NotAHello.into(),
        HelloError::Terms(Vec::new()).into(),
        HelloError::TooManyKeys { ours: 2, most: 1 }.into(),
        HelloError::TooFewPeerKeys { theirs: 0, least: 1 }.into(),
        HelloError::Refused(Reason::TooLarge).into(),
        FrameError::Transcript.into(),
        ChannelError::ClosedReceiving.into(),
        ChannelError::GivenUp(Reason::Busy).into(),
        ChannelError::GivenUp(Reason::UsedUp).into(),
        ChannelError::GivenUp(Reason::NoSuchSet).into(),
        ChannelError::GivenUp(Reason::Other).into(),
        Error::Unlucky,
    ];
    for error in &errors {
        let code = code(error);
        let plain = code.chars().all(|c| c.is_ascii_lowercase());
        let key = if plain { format!(" {code}: \"") } else { format!("\"{code}\": \"") };
        assert!(texts.matches(&key).count() >= 2, "{code}");
    }
}
