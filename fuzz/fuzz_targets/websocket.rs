//! Checks that the frames of a browser are read alike in pieces of any size, and as far as they are well formed to the
//! last byte; everything else is an error.
#![no_main]

use foxtrot_net::websocket::read_all;
use libfuzzer_sys::{
    arbitrary::{self, Arbitrary},
    fuzz_target,
};

#[derive(Arbitrary, Debug)]
enum Said {
    /// A binary message in one frame, with its mask.
    Message([u8; 4], Vec<u8>),
    /// A ping, whose content is cut to what a ping may have.
    Ping([u8; 4], Vec<u8>),
    Bytes(Vec<u8>),
}

fuzz_target!(|input: (Vec<Said>, u16)| {
    let (said, at_once) = input;
    let (mut bytes, mut payload, mut pings, mut is_plain) =
        (Vec::new(), Vec::new(), Vec::new(), true);
    for said in &said {
        match said {
            Said::Message(mask, content) => {
                frame(0x82, *mask, content, &mut bytes);
                payload.extend_from_slice(if is_plain { content } else { &[] });
            }
            Said::Ping(mask, content) => {
                let content = &content[..content.len().min(125)];
                frame(0x89, *mask, content, &mut bytes);
                pings.extend(is_plain.then(|| content.to_vec()));
            }
            Said::Bytes(some) => {
                bytes.extend_from_slice(some);
                is_plain &= some.is_empty();
            }
        }
    }
    let whole = read_all([&bytes[..]]);
    let pieces = read_all(bytes.chunks(usize::from(at_once).max(1)));
    assert_eq!((&whole.0, &whole.1), (&pieces.0, &pieces.1));
    assert_eq!(whole.2.as_ref().ok(), pieces.2.as_ref().ok());
    assert!(whole.0.starts_with(&payload) && whole.1.starts_with(&pings));
    assert!(!is_plain || (whole.0 == payload && matches!(whole.2, Ok(false))));
});

fn frame(first: u8, mask: [u8; 4], content: &[u8], to: &mut Vec<u8>) {
    to.push(first);
    match content.len() {
        len @ 0..126 => to.push(0x80 | u8::try_from(len).expect("few")),
        len => {
            to.push(0xff);
            to.extend_from_slice(&(len as u64).to_be_bytes());
        }
    }
    to.extend_from_slice(&mask);
    to.extend(content.iter().zip(mask.iter().cycle()).map(|(byte, m)| byte ^ m));
}
