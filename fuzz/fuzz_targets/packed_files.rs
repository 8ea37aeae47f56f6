//! An archive of gzip or Zstandard of which the fuzzer changes anything: it is unpacked or refused in words, and never to
//! hundreds of times its size.
#![no_main]

use std::io::Read;

use foxtrot::table::Packing;
use foxtrot_fuzz::{Change, changed};
use libfuzzer_sys::fuzz_target;

/// Twenty rows, by `zstd --check`.
const ZSTANDARD: &[u8] = b"\x28\xb5\x2f\xfd\x04\x58\x65\x01\x00\x14\x02\x69\x64\x2c\x65\x6d\x61\x69\x6c\x0a\x31\x2c\x61\x6e\x6e\x61\x40\x65\x78\x61\x6d\x70\x6c\x65\x2e\x63\x6f\x6d\x0a\x32\x2c\x62\x6f\x62\x02\x00\x67\xa3\xaa\x40\xea\x98\x4f\x83\x7b\x3d\x4c";

/// Twenty rows, by zlib.
const GZIP: &[u8] = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\x4c\xd1\x49\xcd\x4d\xcc\xcc\xe1\x32\xd4\x49\xcc\xcb\x4b\x74\x48\xad\x48\xcc\x2d\xc8\x49\xd5\x4b\xce\xcf\xe5\x32\xd2\x49\xca\x4f\x42\x11\xc9\x1c\x55\x3d\xaa\x7a\x54\x35\x1d\x54\x03\x00\x61\x90\x05\xd7\x98\x03\x00\x00";

fuzz_target!(|input: (bool, Vec<Change>)| {
    let (zstandard, changes) = input;
    let packed = changed(if zstandard { ZSTANDARD } else { GZIP }, &changes);
    let Some(packing) = Packing::of(&packed) else { return };
    let mut text = Vec::new();
    match packing.unpack(&packed[..]).read_to_end(&mut text) {
        Ok(_) => assert!(text.len() <= (1 << 26) + 501 * (packed.len() + (1 << 18))),
        Err(why) => assert!(
            why.to_string().starts_with(&format!("the {} archive ", packing.name())),
            "{why}"
        ),
    }
});
