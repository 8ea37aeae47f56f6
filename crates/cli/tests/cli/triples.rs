//! Triples in one process and in two, and what `verify` finds.

use std::{fs, path::Path, thread, time::Duration};

use foxtrot_net::{
    Channel, Lane,
    hello::{self, Hello, Role},
    tcp,
};
use foxtrot_ot::{
    base::{BaseOt, roted::Endemic},
    extension::ROWS,
};
use foxtrot_triples::params;

use super::support::{Key, Listening, connect, connect_with, foxtrot, stderr, stdout};

/// Returns the arguments of a party.
pub(crate) fn generate<'a>(party: &'a str, dir: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["triples", "generate", "--party", party, "-o", dir], more].concat()
}

pub(crate) fn name(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().unwrap().to_owned()
}

/// Asserts that the files of both parties hold `count` triples.
pub(crate) fn verified(dirs: [&str; 2], count: u64, bits: &str) {
    let output = foxtrot(&["triples", "verify", dirs[0], dirs[1]]).output().unwrap();
    let right = format!("right: {count} of {count} triples modulo 2^{bits}\n");
    assert_eq!((stdout(&output), stderr(&output)), (right, String::new()));
}

#[test]
fn two_processes_make_triples_of_every_length_over_tls() {
    let folder = tempfile::tempdir().unwrap();
    let [ours, peers] = ["a", "b"].map(|name| Key::generate(folder.path(), name));
    // A party's format is its own business, as is its number of threads; either side listens.
    for (i, (bits, sigma, format, count)) in [
        ("8", "40", "raw", 100_001),
        ("16", "40", "npy", 8192),
        ("32", "40", "npy", 1),
        ("64", "40", "mp-spdz", 32_769),
        ("8", "64", "npy", 16_385),
        ("32", "lift", "raw", 16_385),
    ]
    .into_iter()
    .enumerate()
    {
        let (zero, one) =
            (name(folder.path(), &format!("{i}.0")), name(folder.path(), &format!("{i}.1")));
        let count_text = count.to_string();
        let kind = match sigma {
            "lift" => vec!["-n", &count_text, "--bits", bits, "--method", "rlwe", "--lift"],
            _ => vec!["-n", &count_text, "--bits", bits, "--method", "rlwe", "--sigma", sigma],
        };
        let zero_does = generate("0", &zero, &[&kind[..], &["--format", format]].concat());
        let one_does = generate("1", &one, &[&kind[..], &["--threads", "2", "--json"]].concat());
        let (listens, connects, json) = match i % 2 {
            0 => (&zero_does, &one_does, "connects"),
            _ => (&one_does, &zero_does, "listens"),
        };
        let listening = Listening::with(listens, &ours.expecting(&peers));
        let connected = connect_with(connects, &peers.expecting(&ours), &listening.address);
        let (status, heard, said) = listening.end();
        assert_eq!((status, connected.status.code()), (0, Some(0)), "{said}{}", stderr(&connected));
        assert!(said.contains("semi-honest"), "{said}");
        verified([&zero, &one], count, bits);
        let json = if json == "listens" { heard } else { stdout(&connected) };
        let report: serde_json::Value = serde_json::from_str(&json).unwrap();
        let set = match sigma {
            "lift" => format!("rlwe-lift-{bits}"),
            "64" => format!("rlwe-{bits}-s64"),
            _ => format!("rlwe-{bits}"),
        };
        assert_eq!(report["name"], format!("triples/{set}"));
        assert_eq!(
            (&report["transport"], &report["security"]),
            (&"tls".into(), &"semi-honest".into())
        );
        assert_eq!((&report["n"], &report["parties"]), (&count.into(), &"receiver".into()));
        assert_eq!(report["cpu_seconds_sender"], serde_json::Value::Null);
    }
    // In either order.
    let [zero, one] = ["0.0", "0.1"].map(|it| name(folder.path(), it));
    verified([&one, &zero], 100_001, "8");
    assert!(!folder.path().join("0.0.partial").exists());
}

/// Both parties in a directory.
fn local(folder: &Path, dir: &str, more: &[&str]) -> String {
    let dir = name(folder, dir);
    let output = foxtrot(&[&["triples", "local", "-o", &dir], more].concat()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    dir
}

#[test]
fn triple_formats_match_their_documentation() {
    let folder = tempfile::tempdir().unwrap();
    let read = |dir: &str, file: &str| fs::read(Path::new(dir).join(file)).unwrap();
    for party in [0, 1] {
        let raw = local(folder.path(), &format!("raw{party}"), &["-n", "10", "--bits", "16"]);
        assert_eq!(read(&raw, &format!("P{party}.triples")).len(), 60);
        let options = ["-n", "10", "--bits", "16", "--format", "npy"];
        let npy = local(folder.path(), &format!("npy{party}"), &options);
        let npy = read(&npy, &format!("P{party}.npy"));
        let header = b"{'descr': '<u2', 'fortran_order': False, 'shape': (10, 3), }";
        assert_eq!((npy.len(), &npy[..10]), (128 + 60, &b"\x93NUMPY\x01\x00\x76\x00"[..]));
        assert_eq!(&npy[10..][..header.len()], header);
        let options = ["-n", "10", "--bits", "64", "--format", "mp-spdz", "--sigma", "64"];
        let spdz = local(folder.path(), &format!("spdz{party}"), &options);
        let spdz = read(&spdz, &format!("2-DR-64/Triples-DR-P{party}"));
        assert_eq!(spdz[..17], *b"\x09\0\0\0\0\0\0\0Z2^64\x40\0\0\0");
        assert_eq!(spdz.len(), 17 + 240);
    }
    // What MP-SPDZ would read is right.
    let [zero, one] = [0, 1].map(|party| {
        let bytes = read(&name(folder.path(), "spdz0"), &format!("2-DR-64/Triples-DR-P{party}"));
        let words =
            bytes[17..].chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap()));
        words.collect::<Vec<_>>()
    });
    for (x, y) in zero.chunks_exact(3).zip(one.chunks_exact(3)) {
        let [a, b, c] = [0, 1, 2].map(|i| x[i].wrapping_add(y[i]));
        assert_eq!(a.wrapping_mul(b), c);
    }
}

#[cfg(unix)]
#[test]
fn files_are_their_owners_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let dir = local(folder.path(), "t", &["-n", "10", "--bits", "8"]);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(Path::new(&dir)), 0o700);
    let files = fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path());
    let modes: Vec<_> = files.map(|path| mode(&path)).collect();
    assert_eq!(modes, [0o600; 4]);
}

#[test]
fn verify_names_every_fault_and_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let kind = ["-n", "20000", "--bits", "64", "--format", "npy"];
    let dir = local(folder.path(), "t", &kind);
    let other = local(folder.path(), "u", &kind);
    let file = Path::new(&dir).join("P1.npy");
    let verify = |dirs: &[&str]| {
        let output = foxtrot(&[&["triples", "verify"], dirs].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(stdout(&output), "");
        stderr(&output)
    };
    let whole = fs::read(&file).unwrap();
    let spoiled = |places: &[usize]| {
        let mut bytes = whole.clone();
        places.iter().for_each(|&at| bytes[at] ^= 1);
        fs::write(&file, bytes).unwrap();
    };
    // Triple 17000, its c; and one more.
    spoiled(&[128 + 17_000 * 24 + 16, 128 + 19_999 * 24]);
    let why = "foxtrot: wrong triples: 2 of 20000; the first is 17000, at byte 408128 of ";
    let (zero, one) = (name(Path::new(&dir), "P0.npy"), file.display());
    let expected = format!("{why}{zero} and byte 408128 of {one}\n");
    assert!(verify(&[&dir]).starts_with(&expected), "{}", verify(&[&dir]));

    spoiled(&[30]);
    assert!(verify(&[&dir]).contains("does not begin as npy of 20000 triples"));
    fs::write(&file, &whole[..whole.len() - 1]).unwrap();
    assert!(verify(&[&dir]).contains("has 480127 bytes instead of 480128"));
    fs::write(&file, &whole).unwrap();
    assert!(verify(&[&dir, &other]).contains("of different runs"));
    verified([&dir, &dir], 20_000, "64");
    fs::write(Path::new(&dir).join("P1.json"), "{}").unwrap();
    assert!(verify(&[&dir]).contains("is not what `triples` writes about party 1"));
}

#[test]
fn both_sides_say_the_same_of_a_disagreement() {
    let folder = tempfile::tempdir().unwrap();
    let [zero, one] = ["z", "o"].map(|it| name(folder.path(), it));
    let kind = ["-n", "10", "--bits", "8"];
    for (theirs, here, there) in [
        (&["-n", "11", "--bits", "8"][..], "count is 10 here and 11", "count is 11 here and 10"),
        (&["-n", "10", "--bits", "64"], "bits is 8 here and 64", "bits is 64 here and 8"),
        (
            &["-n", "10", "--bits", "8", "--sigma", "64"],
            "sigma is 40 here and 64",
            "sigma is 64 here and 40",
        ),
        (
            &["-n", "10", "--bits", "8", "--lift"],
            "method is rlwe here and rlwe-lift",
            "method is rlwe-lift here and rlwe",
        ),
    ] {
        let rlwe = |kind: &[&'static str]| [kind, &["--method", "rlwe"]].concat();
        let listening = Listening::start(&generate("0", &zero, &rlwe(&kind)));
        let connected = connect(&generate("1", &one, &rlwe(theirs)), &listening.address);
        let (status, _, said) = listening.end();
        assert_eq!((status, connected.status.code()), (1, Some(1)));
        assert!(said.contains(&format!("disagree: {here} at the peer\n")), "{said}");
        let told = stderr(&connected);
        assert!(told.contains(&format!("disagree: {there} at the peer\n")), "{told}");
    }
    let listening = Listening::start(&generate("1", &zero, &kind));
    let connected = connect(&generate("1", &one, &kind), &listening.address);
    let hint = "hint: one side passes --party 0, the other --party 1\n";
    assert!(listening.end().2.ends_with(hint));
    assert!(stderr(&connected).ends_with(hint));
    // Nothing was begun.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// A peer, party 1, which says that it makes them so and has so many batches.
fn peer(address: &str, method: &str, batches: &str) -> Channel {
    let channel = tcp::connect(address, Duration::from_secs(20)).unwrap().open().unwrap();
    let hello = Hello::new(Role::Receiver)
        .term("job", "triples")
        .term("method", method)
        .term("adversary", "semi-honest")
        .term("bits", 8)
        .term("sigma", 40)
        .term("count", 100_000)
        .term("run", "new")
        .offer("whole-batches", batches);
    hello::exchange(&channel, true, &hello).unwrap();
    channel.use_lanes(6);
    channel
}

#[test]
fn an_impossible_message_blames_the_peer_and_delivers_no_triples() {
    let set = params::find("rlwe-lift-8").unwrap();
    let blinded = (Endemic.info().receiver_bytes)(ROWS);
    let (first, base) = (Lane::PROTOCOL, Lane::new(3).unwrap());
    for (method, messages, why) in [
        ("rlwe-lift", vec![(first, vec![0xff; set.public_key_len()])], "PublicKey"),
        (
            "rlwe-lift",
            vec![(first, vec![0; set.public_key_len()]), (first, vec![0xff; set.request_len()])],
            "Request",
        ),
        ("rlwe-lift", vec![(first, vec![0; 5])], "a message of 5 bytes instead of"),
        ("rlwe-lift", vec![(Lane::new(4).unwrap(), vec![0; 5])], "lane 4"),
        ("rlwe", vec![(base, vec![0xff; blinded])], "Blinded"),
        ("rlwe", vec![(base, vec![0; 5])], "a message of 5 bytes instead of"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let dir = name(folder.path(), "t");
        let kind = ["-n", "100000", "--bits", "8", "--lift"];
        let kind = if method == "rlwe" { &kind[..4] } else { &kind };
        let party = Listening::start(&generate("0", &dir, kind));
        let channel = peer(&party.address, method, "0");
        for (lane, message) in messages {
            channel.send(lane, message).unwrap();
        }
        // It says what it thinks of that, however much else is on its way.
        let reading = thread::spawn(move || while channel.recv(Lane::PROTOCOL, 1).is_ok() {});
        let (status, _, said) = party.end();
        assert_eq!(status, 3, "{said}");
        assert!(said.contains(why), "{said}");
        reading.join().unwrap();
        assert!(!Path::new(&dir).exists());
    }
    let folder = tempfile::tempdir().unwrap();
    for offer in ["26", "-1", "x", ""] {
        let dir = name(folder.path(), "t");
        let party = Listening::start(&generate("0", &dir, &["-n", "100000", "--bits", "8"]));
        let _channel = peer(&party.address, "rlwe", offer);
        let (status, _, said) = party.end();
        assert_eq!(status, 3, "{said}");
        assert!(said.contains("as its number of whole batches"), "{said}");
    }
}
