//! Tests of the end of a run of `rot`: a sender that succeeds has a peer that has its files, and no changed byte
//! gives keys.

use std::{fs, path::Path, thread, time::Duration};

use super::{
    relay::{Act, Place, Relay, Within},
    support::{Listening, Running, names},
    triples::name,
};

const N: usize = 1500;

/// The sender listens, the receiver connects through a relay.
struct Two {
    folder: tempfile::TempDir,
    relay: Relay,
    sender: Running,
    receiver: Running,
}

/// The results of both sides.
struct Ended {
    folder: tempfile::TempDir,
    /// Exit statuses of sender and receiver.
    statuses: [i32; 2],
    said: String,
}

impl Two {
    fn start(place: Place, act: Act, more: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let [ours, theirs] = ["s", "r"].map(|it| name(folder.path(), it));
        let n = N.to_string();
        let words = |side, out| [&["rot", side, "-n", &n, "-o", out][..], more].concat();
        let listening = Listening::start(&words("send", &ours));
        let relay = Relay::start(&listening.address, place, act);
        let transport = ["--insecure", "--connect", &relay.address];
        let receiver = Running::start(&[&words("receive", &theirs)[..], &transport].concat());
        Self { folder, relay, sender: listening.running, receiver }
    }

    fn end(self) -> Ended {
        let [sender, receiver] = [self.sender, self.receiver].map(Running::end);
        let said = format!("{sender:?}, {receiver:?}");
        Ended { folder: self.folder, statuses: [sender.0, receiver.0], said }
    }
}

impl Ended {
    /// Keys of both sides are there together, and fit, or the sender's are not.
    fn assert_sound(&self, what: &str) {
        let [sender, receiver] = self.statuses;
        let there = |file: &str| self.folder.path().join(file).exists();
        let what = format!("{what}: {}", self.said);
        assert_eq!(sender == 0, there("s.keys"), "{what}");
        assert_eq!(there("r.keys"), there("r.choices"), "{what}");
        assert!(receiver != 0 || there("r.keys"), "{what}");
        assert!(sender != 0 || there("r.keys"), "{what}");
        if sender == 0 {
            assert_keys_fit(self.folder.path(), &what);
        }
        // A process that is killed cannot remove what it has begun.
        let names = names(self.folder.path());
        let known = |name: &String| ["s.keys", "r.keys", "r.choices"].contains(&name.as_str());
        assert!(receiver == -1 || names.iter().all(known), "{names:?}, {what}");
    }
}

fn assert_keys_fit(folder: &Path, what: &str) {
    let [pairs, keys, choices] =
        ["s.keys", "r.keys", "r.choices"].map(|file| fs::read(folder.join(file)).unwrap());
    for i in 0..N {
        let c = usize::from(choices[i / 8] >> (i % 8) & 1);
        assert_eq!(keys[16 * i..][..16], pairs[32 * i + 16 * c..][..16], "{what}, {i}");
    }
}

/// Frames behind hello and details, of either side, until there are no more.
fn at_every_frame(check: impl Fn(Place) -> bool + Sync) {
    let check = &check;
    thread::scope(|scope| {
        for of_listener in [false, true] {
            scope.spawn(move || {
                let place = |frame| Place { of_listener, frame, within: Within::Header };
                let frames = (2..).take_while(|&frame| check(place(frame))).count();
                assert!(frames >= 4, "{frames}");
            });
        }
    });
}

#[test]
fn a_changed_bit_fails_a_run_of_rot_on_one_side_at_least_and_gives_no_wrong_keys() {
    // docs/wire: R2-15.
    at_every_frame(|place| {
        let two = Two::start(place, Act::Flip, &["--timeout", "5"]);
        let acts = two.relay.acts();
        let ended = two.end();
        ended.assert_sound(&format!("{place:?}"));
        assert_eq!(ended.statuses == [0; 2], !acts, "{place:?}: {}", ended.said);
        acts
    });
}

#[test]
fn a_sender_whose_receiver_is_killed_before_its_files_are_in_place_has_none() {
    // docs/wire: R2-16.
    at_every_frame(|place| {
        let two = Two::start(place, Act::Hold, &["--timeout", "20"]);
        if !two.relay.acts() {
            assert_eq!(two.end().statuses, [0; 2]);
            return false;
        }
        // What has come before is read.
        thread::sleep(Duration::from_millis(50));
        two.receiver.signal("-KILL");
        let ended = two.end();
        ended.assert_sound(&format!("{place:?}"));
        // All frames of the sender may have come before the last one is held back.
        assert!(ended.statuses[0] != 0 || place.of_listener, "{place:?}: {}", ended.said);
        true
    });
}
