use std::thread;

use foxtrot_net::{ChannelError, FrameError};
use tokio::{
    io::{DuplexStream, duplex},
    runtime::Builder as Runtime,
};

use super::*;

fn keys(all: &[&str]) -> Keys {
    Keys::of(all).unwrap()
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    Runtime::new_current_thread().build().unwrap().block_on(future)
}

/// Both ends, with these tokens.
fn ends([here, there]: [Option<&str>; 2]) -> [Peer<DuplexStream>; 2] {
    let (near, far) = duplex(1 << 16);
    [open(near, true, here).unwrap(), open(far, false, there).unwrap()]
}

/// An intersection by these options, at both ends.
fn intersect(
    tokens: [Option<&str>; 2],
    [ours, theirs]: [Options; 2],
) -> [Result<Vec<usize>, Error>; 2] {
    let [mut here, mut there] = ends(tokens);
    let (asked, set) = (keys(&["ann", "", "bob", "ann", "cid"]), keys(&["cid", "ann", "eve"]));
    let receiver = ours.terms(Role::Receiver, Function::Intersection, &asked);
    let sender = theirs.terms(Role::Sender, Function::Intersection, &set);
    let (received, sent) = block_on(async {
        tokio::join!(
            receiver.compare(&mut here, copy(&asked)),
            sender.compare(&mut there, copy(&set))
        )
    });
    let found = |it: Result<(psi::run::Found, _), _>| it.map(|(found, _)| found.first());
    [found(received), found(sent)]
}

#[test]
fn rows_are_found_by_the_numbers_of_their_keys() {
    let [common, _] = intersect([Some("a token"); 2], [Options::default(), Options::default()]);
    let common = common.unwrap();
    let ours = keys(&["ann", "", "bob", "ann", "cid"]);
    assert_eq!((&common[..], ours.indices(&common)), (&[0, 2][..], vec![0, 3, 4]));
    // Of rows with one key the first one's payload goes.
    assert_eq!(*firsts(&ours, b"AN--BOAMCI", 2).unwrap(), *b"ANBOCI");
    assert!(firsts(&ours, b"AN", 2).is_err());
}

#[test]
fn a_side_with_another_token_is_found_out_before_it_learns_sizes() {
    let options = [Options::default(), Options::default()];
    let [here, there] = intersect([Some("a token"), Some("another")], options);
    let [here, there] = [here, there].map(|it| it.unwrap_err().to_string());
    assert!(there.contains("did not answer our hello"), "{there}");
    assert_eq!(here, ChannelError::GivenUp(Reason::CheckFailed).to_string());
}

#[test]
fn sides_with_different_terms_name_both_values() {
    let other = Options { normalize: "email/1".into(), ..Options::default() };
    for error in intersect([None; 2], [Options::default(), other]).map(Result::unwrap_err) {
        assert!(error.to_string().contains("email"), "{error}");
        assert_eq!(code(&error), "terms");
    }
}

#[test]
fn a_look_at_the_terms_finds_a_wrong_token_and_begins_no_session() {
    let look = |token: &'static str| {
        let [here, mut there] = ends([Some(token), Some("a token")]);
        let set = keys(&["bob"]);
        let terms = Options::default().terms(Role::Sender, Function::Intersection, &set);
        let sending = thread::spawn(move || {
            block_on(terms.compare(&mut there, copy(&set))).map(drop).unwrap_err()
        });
        (block_on(here.look()).map(|heard| heard.role), sending.join().unwrap())
    };
    let (heard, sent) = look("a token");
    assert_eq!(heard.unwrap(), Role::Sender);
    assert_eq!(sent.to_string(), ChannelError::Served.to_string());
    let (heard, sent) = look("another");
    assert_eq!([&heard.unwrap_err(), &sent].map(code), ["token"; 2]);
}

#[test]
fn options_that_every_door_has_are_in_the_types_of_the_package() {
    let types = include_str!("../types.d.ts");
    for option in foxtrot::options::JOB_OPTIONS {
        let name = option.camel();
        assert!(types.contains(&format!("  {name}?: ")), "{name}");
    }
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
    let texts = include_str!("../../page/texts.js");
    let errors: Vec<NetError> = vec![
        HelloError::Confirmation.into(),
        HelloError::NotAHello.into(),
        HelloError::Terms(Vec::new()).into(),
        HelloError::TooManyKeys { ours: 2, most: 1 }.into(),
        HelloError::TooFewPeerKeys { theirs: 0, least: 1 }.into(),
        FrameError::Transcript.into(),
        ChannelError::ClosedReceiving.into(),
        ChannelError::GivenUp(Reason::Busy).into(),
        ChannelError::GivenUp(Reason::UsedUp).into(),
        ChannelError::GivenUp(Reason::NoSuchSet).into(),
        ChannelError::GivenUp(Reason::Other).into(),
        NetError::Unlucky,
    ];
    let here = [Error::OutOfMemory { bytes: 1 }, Error::Columns(String::new()), Error::NotText];
    for error in errors.into_iter().map(Error::from).chain(here) {
        let code = code(&error);
        let plain = code.chars().all(|c| c.is_ascii_lowercase());
        let key = if plain { format!(" {code}: \"") } else { format!("\"{code}\": \"") };
        assert!(texts.matches(&key).count() >= 2, "{code}");
    }
}
