use std::thread;

use foxtrot::{
    Config, Side, Stream,
    psi::{
        Count, ItemHasher,
        fields::{Duplicates, Fields, Padding},
        keys::Builder,
    },
};
use foxtrot_psi::circuit::Outcome;
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
        let found = here.psi_receive(&options, &ours, &mut |_| ()).await?;
        assert_eq!((ours.rows_of(&found.0), found.1.keys), (vec![0, 3, 4], 3));
        let (payloads, _) = here.join_receive(&options, &ours, 2, &mut |_| ()).await?;
        assert_eq!(payloads, [(0, b"AN".to_vec()), (2, b"CI".to_vec())]);
        let (bits, keys) = here.rot_receive(1000).await?;
        let messages = here.ot_receive(&[true, false]).await?;
        let messages: Vec<_> = messages.iter().flatten().map(|it| it.as_slice()).collect();
        assert_eq!(messages, [&b"yes"[..], b"left"]);
        Ok::<_, Error>((bits, keys))
    };
    let sending = async {
        there.psi_send(&options, &theirs, &mut |_| ()).await?;
        there.join_send(&options, &theirs, b"CIANEV", 2, &mut |_| ()).await?;
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
    let [mut tell, mut tell_too] = [|_: foxtrot_psi::plan::Progress| (); 2];
    let (here, there) = block_on(async {
        tokio::join!(
            here.psi_receive(&options, &ours, &mut tell),
            there.psi_send(&options, &ours, &mut tell_too),
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
    let [mut tell, mut tell_too] = [|_: foxtrot_psi::plan::Progress| (); 2];
    let (here, there) = block_on(async {
        tokio::join!(
            here.psi_receive(&options, &ours, &mut tell),
            there.psi_send(&other, &ours, &mut tell_too),
        )
    });
    for error in [here.unwrap_err(), there.unwrap_err()] {
        assert!(error.to_string().contains("email"), "{error}");
    }
}

#[test]
fn both_sides_learn_their_matches_and_counts() {
    let [mut here, mut there] = ends([Some("a token"); 2]);
    let options = Options::default();
    let (ours, theirs) = (keys(&["ann", "", "bob", "ann", "cid"]), keys(&["cid", "ann", "eve"]));
    let [few, many] = [2, 3].map(|at_least| Counting { at_least, largest: None });
    let receiving = async {
        let common = here.receive_both(&options, &ours, &mut |_| ()).await?.0;
        let counted = here.count(&options, Role::Receiver, &ours, few).await?.0;
        Ok::<_, Error>((
            common,
            counted,
            here.count(&options, Role::Receiver, &ours, many).await?.0,
        ))
    };
    let sending = async {
        let common = there.send_both(&options, &theirs, &mut |_| ()).await?.0;
        let counted = there.count(&options, Role::Sender, &theirs, few).await?.0;
        Ok::<_, Error>((
            common,
            counted,
            there.count(&options, Role::Sender, &theirs, many).await?.0,
        ))
    };
    let (received, sent) = block_on(async { tokio::join!(receiving, sending) });
    let counted = Outcome::Released { count: 2, sum: None };
    assert_eq!(received.unwrap(), (vec![0, 2], counted, Outcome::Withheld));
    assert_eq!(sent.unwrap(), (vec![0, 1], counted, Outcome::Withheld));
    assert_eq!(ours.rows_of(&[2, 0]), [0, 3, 4]);
    assert_eq!(ours.places_of(&[2, 0]), [1, 1, 0]);
}

/// Runs the library's blocking calls as the peer, over a socket; the token is the same.
fn with_library<T: Send + 'static, U>(
    library: impl FnOnce(&mut foxtrot::Peer) -> Result<T, foxtrot::Error> + Send + 'static,
    ours: impl AsyncFnOnce(&mut Peer<tokio::net::TcpStream>) -> U,
) -> (Result<T, foxtrot::Error>, U) {
    meet("a token", library, async |mut peer| ours(&mut peer).await)
}

/// Runs the same as [`with_library`], where we have this token.
fn meet<T: Send + 'static, U>(
    token: &str,
    library: impl FnOnce(&mut foxtrot::Peer) -> Result<T, foxtrot::Error> + Send + 'static,
    ours: impl AsyncFnOnce(Peer<tokio::net::TcpStream>) -> U,
) -> (Result<T, foxtrot::Error>, U) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let other = thread::spawn(move || {
        let socket = listener.accept().unwrap().0;
        let (reader, closer) = (socket.try_clone().unwrap(), socket.try_clone().unwrap());
        let binding = foxtrot::ChannelBinding::from_exporter(token_binding("a token"));
        let stream = Stream::new(Side::Responder).bound(binding);
        let stream = stream.closer(move |how| drop(closer.shutdown(how)));
        library(&mut Config::insecure().over(reader, socket, stream).unwrap())
    });
    let runtime = Runtime::new_current_thread().enable_io().build().unwrap();
    let done = runtime.block_on(async {
        let stream = tokio::net::TcpStream::connect(address).await.unwrap();
        ours(Peer::new(stream, true, Some(token))).await
    });
    (other.join().unwrap(), done)
}

#[test]
fn a_look_at_the_terms_finds_a_wrong_token_and_begins_no_session() {
    use foxtrot_net::{ChannelError, Reason};
    let look = |token| {
        let send = |peer: &mut foxtrot::Peer| psi::Options::new().send_keys(peer, &its_keys());
        meet(token, send, async |peer| peer.terms().await.map(|heard| heard.role))
    };
    let (sent, heard) = look("a token");
    assert_eq!(heard.unwrap(), Role::Sender);
    let only_looked = |e: &foxtrot::Error| {
        matches!(e, foxtrot::Error::Session(Error::Channel(ChannelError::Served)))
    };
    assert!(sent.as_ref().is_err_and(only_looked), "{sent:?}");
    let (sent, heard) = look("another");
    let refused = |e: &foxtrot::Error| {
        matches!(e, foxtrot::Error::Session(Error::Hello(HelloError::Confirmation)))
    };
    assert!(sent.as_ref().is_err_and(refused), "{sent:?}");
    assert_eq!(heard.unwrap_err(), ChannelError::GivenUp(Reason::CheckFailed).into());
}

/// Two keys of the library.
fn its_keys() -> psi::keys::Keys {
    let mut set = Builder::new(vec!["email".parse().unwrap()], 2).unwrap();
    let push = |key: &&str| set.push([(*key).into()].into_iter());
    ["Bob@example.org", "ann@example.org"].iter().for_each(push);
    set.finish().unwrap()
}

fn by_email() -> Options {
    Options { normalize: "email/1".into(), ..Options::default() }
}

#[test]
fn the_library_is_a_peer() {
    let (sent, found) = with_library(
        |peer| psi::Options::new().send_keys(peer, &its_keys()).map(|told| told.keys),
        async |peer| {
            let ours = keys(&["eve@example.org", "bob@example.org"]);
            peer.psi_receive(&by_email(), &ours, &mut |_| ()).await
        },
    );
    let (common, told) = found.unwrap();
    assert_eq!((common, told.keys, sent.unwrap()), (vec![1], 2, 2));
}

#[test]
fn columns_and_sums_of_the_library_are_received() {
    let padding = Padding { width: 9, duplicates: Duplicates::First };
    let (sent, found) = with_library(
        move |peer| {
            let its = its_keys();
            let mut fields = Fields::new(2, padding, its.len())?;
            for (key, texts) in [["Köln", "gold"], ["", "tin"]].iter().enumerate() {
                fields.put(key, texts).unwrap();
            }
            let fields = fields.named(vec!["city".into(), "plan".into()]);
            let options = psi::Options::new();
            options.send_keys_with(peer, &its, &fields)?;
            Count::new().send_keys_sum(peer, &its, (None, &[7, 30]), 100)?;
            options.send_keys_with(peer, &its, &fields)
        },
        async |peer| {
            let ours = keys(&["eve@example.org", "bob@example.org"]);
            let (options, columns) = (by_email(), ["plan", "city"].map(str::to_owned));
            let found =
                peer.receive_with(&options, &ours, (&columns, padding), &mut |_| ()).await?;
            let counting = Counting { at_least: 0, largest: Some(100) };
            let sum = peer.count(&options, Role::Receiver, &ours, counting).await?;
            let columns = ["name".to_owned()];
            let refused =
                peer.receive_with(&options, &ours, (&columns, padding), &mut |_| ()).await;
            Ok::<_, Error>((found.0, sum.0, refused.unwrap_err()))
        },
    );
    let (found, sum, refused) = found.unwrap();
    assert_eq!(found, [(1, vec!["gold".to_owned(), "Köln".to_owned()])]);
    assert_eq!(sum, Outcome::Released { count: 1, sum: Some(7) });
    assert_eq!(refused, HelloError::Refused(foxtrot_net::Reason::Forbidden).into());
    assert!(sent.unwrap_err().to_string().contains("column name"));
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
