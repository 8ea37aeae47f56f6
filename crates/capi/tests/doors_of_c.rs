//! Every door, the same: C plays the receiver of the cases that the library's tests also play.
#![cfg(unix)]
#![allow(unsafe_code, reason = "the functions take pointers")]
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
#![allow(clippy::undocumented_unsafe_blocks, reason = "pointers are of this test")]

use std::{
    ffi::{CStr, CString},
    ptr::null_mut,
};

use foxtrot_capi::exports::*;
use serde_json::Value;

#[path = "../../foxtrot/tests/doors_peer.rs"]
#[allow(dead_code, reason = "other doors need more of it")]
mod doors_peer;

use doors_peer::{cases, check_sender, columns, serve_by};

const NAMES: [&str; 2] = ["ann@example.org", "bob@example.org"];

/// The receiver of a case: the names that it finds, or the status and the message.
fn receive(address: &str, options: &Options) -> Result<Vec<String>, (Status, String)> {
    let mut error = Error { status: Status::Ok, message: [0; MESSAGE_SIZE] };
    let (mut config, mut peer, mut mask) = (null_mut(), null_mut(), [0; 2]);
    let items = NAMES.map(|name| Bytes { data: name.as_ptr(), len: name.len() });
    let address = CString::new(address).unwrap();
    let status = unsafe {
        foxtrot_config_insecure(&mut config, null_mut());
        let mut status = foxtrot_connect(config, address.as_ptr(), &mut peer, &mut error);
        if status == Status::Ok {
            let (n, mask) = (items.len(), mask.as_mut_ptr());
            status =
                foxtrot_psi_receive(peer, items.as_ptr(), n, options, mask, null_mut(), &mut error);
        }
        foxtrot_peer_free(peer);
        foxtrot_config_free(config);
        status
    };
    if status == Status::Ok {
        let found = NAMES.iter().zip(mask).filter(|(_, is_common)| *is_common == 1);
        return Ok(found.map(|(name, _)| (*name).to_owned()).collect());
    }
    let message = unsafe { CStr::from_ptr(error.message.as_ptr()) };
    Err((status, message.to_str().unwrap().to_owned()))
}

fn options(of: &Value) -> Options {
    let number = |name: &str| usize::try_from(of[name].as_u64().unwrap_or(0)).unwrap();
    let semi_honest = if of["semi_honest"] == true { SEMI_HONEST } else { 0 };
    let lpn = if of["assumption"] == "lpn" { LPN } else { 0 };
    Options {
        flags: semi_honest | lpn,
        max_peer_keys: number("max_peer_keys"),
        min_peer_keys: number("min_peer_keys"),
        ..Options::default()
    }
}

#[test]
fn c_is_told_what_the_table_says() {
    let mut played = 0;
    for case in cases() {
        // C has payloads in place of columns.
        if case["receiver"].get("with").is_some() {
            continue;
        }
        played += 1;
        let name = case["name"].as_str().unwrap();
        let (address, sender) = serve_by(&case, "none");
        let received = receive(&address.to_string(), &options(&case["receiver"]));
        let as_they_are = |text: &str| text.replace("email/2", "none/1");
        let mut case = case.clone();
        if let Some(says) = case["peer_says"].as_str() {
            case["peer_says"] = as_they_are(says).into();
        }
        check_sender(&case, sender.join().unwrap());
        if let Some(finds) = columns(&case["finds"]) {
            assert_eq!(received.unwrap(), finds, "{name}");
            continue;
        }
        let (status, message) = received.unwrap_err();
        let expected = match case["blame"].as_str().unwrap() {
            "agreement" => Status::Agreement,
            "connection" => Status::Connection,
            "peer" => Status::Peer,
            other => panic!("no status is {other}"),
        };
        assert_eq!(status, expected, "{name}: {message}");
        assert!(
            message.contains(&as_they_are(case["says"].as_str().unwrap())),
            "{name}: {message}"
        );
        if let Some(hint) = case["hint"].as_str() {
            let spelled = hint.replace(['{', '}'], "");
            assert!(message.ends_with(&format!("; {spelled}")), "{name}: {message}");
        }
    }
    assert!(played > 10, "{played}");
}

#[test]
fn fields_are_named_as_the_options_of_all_doors() {
    let header = include_str!("../include/foxtrot.h");
    let fields = header.split("typedef struct foxtrot_options {").nth(1).unwrap();
    let fields = fields.split('}').next().unwrap();
    for option in [foxtrot::options::MAX_PEER_KEYS, foxtrot::options::MIN_PEER_KEYS] {
        assert!(fields.contains(&format!(" {};", option.name)), "{}", option.name);
    }
    // The default stands in the comment of the field.
    assert_eq!(foxtrot::options::MAX_PEER_KEYS.number(), 100_000_000);
    assert!(fields.contains("0 is the default: 10^8"));
    assert_eq!(foxtrot::options::MIN_PEER_KEYS.number(), 0);
    let flags = [foxtrot::options::SEMI_HONEST.name.to_uppercase(), "LPN".to_owned()];
    for flag in flags {
        assert!(header.contains(&format!("#define FOXTROT_{flag} ")), "{flag}");
    }
    assert!(header.contains(&format!("uint64_t {},", foxtrot::options::MIN_COUNT.name)));
}
