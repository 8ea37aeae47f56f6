//! Extensions between two processes: files that fit, what is agreed on and refused, and runs that end
//! in the middle.

use std::{fs, path::Path, process::Command, time::Duration};

use foxtrot_net::{
    Channel, Error, Lane, drive,
    hello::{self, Hello, Role},
    tcp,
};
use foxtrot_ot::{
    Direction, Session,
    base::{Adversary, Choice, Functionality, find},
    extension::{
        self, OtKind,
        protocol::{ExtensionPlan, Receiver},
    },
};

use super::support::{Listening, connect, foxtrot, root, stderr, stdout};

/// More than two batches, and not a whole number of bytes of choices.
const N: usize = 2 * 65536 + 21;

struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn name(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.0.path().join(name)).unwrap()
    }

    fn count(&self) -> usize {
        fs::read_dir(self.0.path()).unwrap().count()
    }
}

/// Asserts that the receiver has the key of its choice and not the other, and that both choices
/// occur.
fn assert_fit(n: usize, pairs: &[u8], keys: &[u8], choices: &[u8]) {
    assert_eq!((pairs.len(), keys.len(), choices.len()), (32 * n, 16 * n, n.div_ceil(8)));
    let mut ones = 0;
    for i in 0..n {
        let c = usize::from(choices[i / 8] >> (i % 8) & 1);
        ones += c;
        let (pair, key) = (&pairs[32 * i..][..32], &keys[16 * i..][..16]);
        assert!(pair[16 * c..][..16] == *key && pair[16 - 16 * c..][..16] != *key, "transfer {i}");
    }
    assert!((n / 3..n - n / 3).contains(&ones), "{ones} of {n} choices are 1");
    assert!(n.is_multiple_of(8) || choices[n / 8] >> (n % 8) == 0, "spare bits are set");
}

#[test]
fn files_of_every_extension_fit_together() {
    let n = N.to_string();
    for (extra, theirs, name) in [
        (&[][..], &[][..], "softspoken-4 from base OT roted, malicious"),
        (&["--extension", "kos"], &[], "kos from base OT roted, malicious"),
        (&["--extension", "iknp", "--semi-honest"], &[], "iknp from base OT roted, semi-"),
        (&["--extension", "softspoken-8"], &[], "softspoken-8 from base OT roted, mal"),
        (&["--extension", "silent"], &[], "silent from base OT roted, malicious"),
        // Threads are nobody else's business.
        (&["--semi-honest"], &["--threads", "2"], "softspoken-4-semi-honest from base OT"),
        (&[], &["--threads", "3"], "softspoken-4 from base OT"),
    ] {
        let files = Files::new();
        let (s, r) = (files.name("s"), files.name("r"));
        let common = [&["-n", &n][..], extra].concat();
        let send = [&["rot", "send", "-o", &s][..], &common].concat();
        let receive = [&["rot", "receive", "-o", &r, "--json"][..], &common, theirs].concat();
        let sender = Listening::start(&send);
        let receiver = connect(&receive, &sender.address);
        let (status, _, said) = sender.end();
        assert_eq!((status, receiver.status.code()), (0, Some(0)), "{said}{}", stderr(&receiver));
        for said in [&said, &stderr(&receiver)] {
            assert!(said.contains(&format!("transfers of random keys, {name}")), "{said}");
            assert!(said.contains(" OT/s\n"), "{said}");
        }
        assert_fit(N, &files.read("s.keys"), &files.read("r.keys"), &files.read("r.choices"));
        assert_eq!(files.count(), 3);

        let report: serde_json::Value = serde_json::from_str(&stdout(&receiver)).unwrap();
        let extension = name.split(' ').next().unwrap();
        assert_eq!(report["name"], format!("rot/{extension}"));
        let threads = theirs.get(1).map_or(1, |threads| threads.parse().unwrap());
        assert_eq!(report["threads"], threads);
        let extension = foxtrot_ot::protocols().find(|it| it.name == extension).unwrap();
        assert_eq!(report["bytes_receiver"], (extension.receiver_bytes)(N) + 48 + 2176 * 128);
        assert_eq!(report["bytes_sender"], serde_json::Value::Null);
    }
}

/// The bytes behind the header, and the shape in it.
fn numpy(file: &[u8]) -> (String, &[u8]) {
    assert_eq!(&file[..8], b"\x93NUMPY\x01\x00");
    let len = 10 + usize::from(u16::from_le_bytes([file[8], file[9]]));
    let header = String::from_utf8(file[10..len].to_vec()).unwrap();
    let shape = header.split("'shape': ").nth(1).unwrap().split(", }").next().unwrap();
    (shape.to_owned(), &file[len..])
}

#[test]
fn numpy_files_say_their_shape() {
    let files = Files::new();
    for extension in ["softspoken-2", "none"] {
        let n = if extension == "none" { 1100 } else { N };
        let count = n.to_string();
        let run = ["rot", "local", "-n", &count, "--format", "npy", "--extension", extension];
        let output =
            foxtrot(&[&run[..], &["-o", &files.name("k"), "--force"]].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let [pairs, keys, choices] =
            ["k.sender.keys", "k.receiver.keys", "k.receiver.choices"].map(|name| files.read(name));
        let [(pairs_shape, pairs), (keys_shape, keys), (choices_shape, choices)] =
            [&pairs, &keys, &choices].map(|file| numpy(file));
        assert_eq!(pairs_shape, format!("({n}, 2, 16)"));
        assert_eq!(keys_shape, format!("({n}, 16)"));
        assert_eq!(choices_shape, format!("({},)", n.div_ceil(8)));
        assert_fit(n, pairs, keys, choices);
    }
}

#[test]
fn both_sides_are_told_on_which_point_they_disagree() {
    let files = Files::new();
    let (s, r) = (files.name("s"), files.name("r"));
    let send = |more: &[&'static str]| [&["rot", "send", "-n", "300", "-o", &s][..], more].concat();
    let receive = ["rot", "receive", "-n", "300", "-o", &r];
    for (more, words) in [
        (&["--extension", "kos"][..], &["extension is kos here and softspoken-4 at the peer"][..]),
        (
            &["--semi-honest"],
            &[
                "adversary is semi-honest here and malicious at the peer",
                "extension is softspoken-4-semi-honest here and softspoken-4 at the peer",
            ],
        ),
        (&["--extension", "none"], &["extension is none here and softspoken-4 at the peer"]),
    ] {
        let listening = Listening::start(&send(more));
        let connected = connect(&receive, &listening.address);
        let (status, _, said) = listening.end();
        assert_eq!((status, connected.status.code()), (1, Some(1)), "{said}");
        let told = stderr(&connected);
        for words in words {
            assert!(said.contains(words), "{said}");
            let (ours, theirs) =
                words.split_once(" is ").unwrap().1.split_once(" here and ").unwrap();
            let theirs = theirs.trim_end_matches(" at the peer");
            let mirrored = format!("is {theirs} here and {ours} at the peer");
            assert!(told.contains(&mirrored), "{told}");
        }
        assert_eq!(files.count(), 0);
    }
}

/// Files for n transfers of messages, and what the receiver gets.
fn messages(files: &Files, n: usize) -> [String; 3] {
    let pairs: String = (0..n).map(|i| format!("left {i}\nright {i}\n")).collect();
    let choice = |i: usize| i % 3 == 1;
    let choices: String = (0..n).map(|i| if choice(i) { "1\n" } else { "0\n" }).collect();
    let side = |i| if choice(i) { "right" } else { "left" };
    fs::write(files.name("messages"), pairs).unwrap();
    fs::write(files.name("choices"), choices).unwrap();
    let expected = (0..n).map(|i| format!("{} {i}\n", side(i))).collect();
    [files.name("messages"), files.name("choices"), expected]
}

#[test]
fn chosen_messages_take_an_extension_above_128() {
    for (n, more, words) in [
        (128, &[][..], "bytes, base OT roted-endemic, malicious security\n"),
        (129, &[], "bytes, softspoken-4 from base OT roted-endemic, malicious security\n"),
        (129, &["--extension", "none"], "bytes, base OT roted-endemic, malicious security\n"),
        (3, &["--extension", "softspoken-8"], "bytes, softspoken-8 from base OT roted-endemic"),
        (3, &["--extension", "silent"], "bytes, silent from base OT roted-endemic, malicious"),
        (1500, &["--extension", "kos-two-round"], "bytes, kos-two-round:roted-endemic, malicious"),
        (
            1500,
            &["--extension", "kos-two-round", "--base", "mcquoid-rosulek-roy"],
            "kos-two-round:mcquoid-rosulek-roy:feistel:moeller, malicious security\n",
        ),
        (
            200,
            &["--base", "mcquoid-rosulek-roy"],
            "softspoken-4 from base OT mcquoid-rosulek-roy:feistel:moeller, malicious",
        ),
        (3, &["--base", "mcquoid-rosulek-roy"], "bytes, base OT mcquoid-rosulek-roy:feistel:moe"),
        (70_000, &["--semi-honest"], "softspoken-4-semi-honest from base OT roted-endemic, semi"),
    ] {
        let files = Files::new();
        let [pairs, choices, expected] = messages(&files, n);
        let receiver = Listening::start(&[&["ot", "receive", &choices][..], more].concat());
        let sender = connect(&[&["ot", "send", &pairs][..], more].concat(), &receiver.address);
        assert_eq!(sender.status.code(), Some(0), "{}", stderr(&sender));
        assert!(stderr(&sender).contains(words), "{}", stderr(&sender));
        let (status, got, said) = receiver.end();
        assert_eq!(status, 0, "{said}");
        assert!(got == expected, "{n} transfers");
    }
}

#[cfg(unix)]
#[test]
fn a_server_runs_an_extension() {
    let files = Files::new();
    let [pairs, choices, expected] = messages(&files, 200);
    let more = ["--threads", "2", "--json"];
    let server = Listening::start(&[&["ot", "send", &pairs, "--serve"][..], &more].concat());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let receiver = connect(&["ot", "receive", &choices], &server.address);
                assert_eq!(stdout(&receiver), expected, "{}", stderr(&receiver));
            });
        }
    });
    // The last session's line may come after its peer has gone.
    std::thread::sleep(Duration::from_millis(500));
    server.running.interrupt();
    let (status, reports, said) = server.end();
    assert_eq!(status, 130, "{said}");
    assert_eq!(reports.matches(r#""name":"ot/softspoken-4""#).count(), 4, "{reports}{said}");
}

/// A receiver of `rot -n N` that has run its base OTs; gives what it connects with.
fn peer(address: &str, run: impl FnOnce(&Channel, &mut Receiver) -> Result<(), Error>) {
    let extension = extension::find("softspoken", Adversary::Malicious).unwrap();
    let base = find("roted", Functionality::Random).unwrap();
    let hello = Hello::new(Role::Receiver)
        .term("job", "rot")
        .term("base", base.info().name)
        .term("extension", extension.info().name)
        .term("adversary", "malicious")
        .term("count", N);
    let channel = tcp::connect(address, Duration::from_secs(5)).unwrap().open().unwrap();
    let agreement = hello::exchange(&channel, true, &hello).unwrap();
    let (session, direction) = (Session::new(agreement.sid), agreement.direction());
    assert_eq!(direction, Direction::ResponderSends);
    let plan = ExtensionPlan { extension, base, direction, counter: 0 };
    let mut cx = drive::context(&session).unwrap();
    let set_up = |io| async move { Receiver::set_up(&io, &mut cx, plan).await };
    let mut receiver = drive::play(&channel, set_up).unwrap();
    run(&channel, &mut receiver).unwrap();
}

fn one_batch(channel: &Channel, receiver: &mut Receiver) -> Result<(), Error> {
    let choice = Choice::Random(65472);
    drive::play(channel, |io| async move {
        receiver.run(&io, &choice, OtKind::Random, |_, _| Ok(())).await
    })
}

fn send(files: &Files) -> Listening {
    Listening::start(&["rot", "send", "-n", &N.to_string(), "-o", &files.name("s")])
}

#[test]
fn a_peer_that_vanishes_in_the_middle_leaves_no_file() {
    let files = Files::new();
    let sender = send(&files);
    // One batch of three, and then nothing.
    peer(&sender.address, one_batch);
    let (status, _, said) = sender.end();
    assert_eq!(status, 1, "{said}");
    assert!(said.contains("the peer closed the connection"), "{said}");
    assert_eq!(files.count(), 0);
}

#[test]
fn a_peer_that_fails_a_check_in_the_middle_leaves_no_file() {
    let files = Files::new();
    let sender = send(&files);
    peer(&sender.address, |channel, receiver| {
        one_batch(channel, receiver)?;
        // Corrections of 31 trees for the other two batches, and a proof of 129 hashes, all of
        // nothing.
        for columns in [65536, 512] {
            channel.send(Lane::PROTOCOL, vec![0; 32 + 31 * columns / 8])?;
        }
        channel.send(Lane::new(2).unwrap(), vec![0; 32 + 129 * 8])?;
        // The challenges; then the verdict.
        channel.recv(Lane::PROTOCOL, 32)?;
        channel.recv(Lane::PROTOCOL, 32)?;
        let told = channel.recv(Lane::PROTOCOL, 32).unwrap_err().to_string();
        assert_eq!(told, "the peer gave up: our message failed its check");
        Ok(())
    });
    let (status, _, said) = sender.end();
    assert_eq!(status, 3, "{said}");
    assert!(said.contains("the peer's part of the extension is not consistent"), "{said}");
    assert_eq!(files.count(), 0);
}

/// The command, whose files may not get longer than a few 100 kB: as on a full disk, writing fails
/// in the middle.
#[cfg(target_os = "linux")]
fn with_short_files(arguments: &[&str]) -> Command {
    let mut command = Command::new("sh");
    let script = "trap '' XFSZ; ulimit -f 600; exec \"$0\" \"$@\"";
    command.args(["-c", script, env!("CARGO_BIN_EXE_foxtrot")]).args(arguments);
    command.current_dir(root());
    command
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_is_full_in_the_middle_ends_the_run_on_both_sides() {
    // More batches than may be on their way, so that neither side can have ended.
    let (files, n) = (Files::new(), "1000000");
    let (s, r, k) = (files.name("s"), files.name("r"), files.name("k"));

    let local = ["rot", "local", "-n", n, "-o", &k, "--quiet"];
    let output = with_short_files(&local).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    // Whichever party it was, the cause is told, not what the other saw of it.
    assert!(said.starts_with(&format!("foxtrot: cannot write {k}.")), "{said}");
    assert_eq!((said.ends_with(": file too large\n"), files.count()), (true, 0), "{said}");

    let receiver = Listening::start(&["rot", "receive", "-n", n, "-o", &r]);
    let send = ["rot", "send", "-n", n, "-o", &s, "--insecure", "--connect", &receiver.address];
    let sender = with_short_files(&send).output().unwrap();
    assert_eq!(sender.status.code(), Some(1));
    assert!(stderr(&sender).contains(&format!("cannot write {s}.keys: ")), "{}", stderr(&sender));
    let (status, _, said) = receiver.end();
    assert_eq!(status, 1);
    // The second where a reset of the connection took the sender's last word.
    let told = ["the peer gave up: something failed on its side", "the peer closed the connection"];
    assert!(told.iter().any(|told| said.contains(told)), "{said}");
    assert_eq!(files.count(), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_gets_all_when_the_run_has_succeeded() {
    let files = Files::new();
    std::os::unix::fs::symlink("/dev/null", Path::new(&files.name("k.sender.keys"))).unwrap();
    let run = |n: &str| {
        let local = ["rot", "local", "-n", n, "-o", &files.name("k"), "--force", "--quiet"];
        let output = foxtrot(&local).output().unwrap();
        (output.status.code(), stderr(&output))
    };
    assert_eq!(run("1000"), (Some(0), String::new()));
    assert_eq!(files.read("k.receiver.keys").len(), 16_000);
    fs::remove_file(files.name("k.sender.keys")).unwrap();
    std::os::unix::fs::symlink("/dev/full", Path::new(&files.name("k.sender.keys"))).unwrap();
    let said = "foxtrot: cannot write /dev/full: no space left on device\n".to_owned();
    assert_eq!(run("1000"), (Some(1), said));
    assert_eq!(files.read("k.receiver.keys").len(), 16_000);
}

#[test]
fn protocols_lists_every_extension_and_its_base_ots() {
    let output = foxtrot(&["protocols", "--json"]).output().unwrap();
    let all: Vec<serde_json::Value> = serde_json::from_str(&stdout(&output)).unwrap();
    let listed = |kind: &str, key: &str| -> Vec<String> {
        let of_kind = all.iter().filter(|it| it["kind"] == kind);
        of_kind.map(|it| it[key].as_str().unwrap().to_owned()).collect()
    };
    let extensions = extension::registry().map(|it| it.info().name);
    let silent = ["silent", "silent-semi-honest"];
    let extensions = extensions.chain([extension::two_round::FAMILY]).chain(silent);
    assert!(listed("extension", "name").iter().eq(extensions));
    let bases = listed("base", "name");
    for extension in all.iter().filter(|it| it["kind"] == "extension") {
        let carriers = extension["base_ots"].as_array().unwrap();
        let refused = extension["base_ots_refused"].as_object().unwrap();
        assert!(carriers.contains(&"roted-endemic".into()));
        assert_eq!(carriers.len() + refused.len(), bases.len());
    }
}
