//! Limits per day, by the library's own calls.

use std::{path::PathBuf, sync::Arc, thread};

use foxtrot::{
    Config, Daily, Error, MostPerDay, Peer,
    policy::Policy,
    psi::{Count, Options},
};

/// Runs a job with a new file of limits at each side. Returns what each side has counted.
#[expect(clippy::unwrap_used, reason = "for tests")]
fn counted(
    sends: impl FnOnce(&mut Peer) -> Result<(), Error> + Send + 'static,
    receives: impl FnOnce(&mut Peer) -> Result<(), Error>,
) -> [Option<String>; 2] {
    let folder = tempfile::tempdir().unwrap();
    let files = ["sender", "receiver"].map(|name| folder.path().join(name));
    let [mut theirs, mut ours] = {
        let open = |file: &PathBuf| Arc::new(Daily::open(MostPerDay::default(), file).unwrap());
        let [sender, receiver] = files.each_ref().map(open);
        let (near, far) = foxtrot_net::memory::pair(foxtrot::TIMEOUT);
        let peer = |daily, channel, side| Config::insecure().per_day(daily).peer(channel, side);
        [
            peer(sender, near, foxtrot::Side::Initiator),
            peer(receiver, far, foxtrot::Side::Responder),
        ]
    };
    let other = thread::spawn(move || sends(&mut theirs));
    receives(&mut ours).unwrap();
    other.join().unwrap().unwrap();
    files.map(|file| {
        let text = std::fs::read_to_string(file).unwrap();
        text.lines().nth(2).map(str::to_owned)
    })
}

#[test]
fn each_side_counts_what_its_peer_can_learn() {
    let (keys, others) = (["ann", "bob", "cid"], ["bob", "eve"]);
    let line = |keys: u64| Some(format!("without%20identity 1 {keys}"));
    let lpn = Options::new().assumption(foxtrot::psi::Assumption::Lpn);
    for options in [Options::new(), lpn] {
        let most = options.most_tested(2).unwrap();
        assert!(most > 100);
        // The sender counts the bound that `most_tested` tells, and nobody asks about the receiver's set.
        let of_intersection = counted(
            move |peer| options.send(peer, &keys),
            |peer| options.receive(peer, &others).map(drop),
        );
        assert_eq!(of_intersection, [line(most), None]);
        let of_both = counted(
            move |peer| options.send_both(peer, &keys).map(drop),
            |peer| options.receive_both(peer, &others).map(drop),
        );
        assert_eq!(of_both, [line(most), line(3)]);
    }
    let honest = Options::new().semi_honest();
    let of_honest = counted(
        move |peer| honest.send(peer, &keys),
        |peer| honest.receive(peer, &others).map(drop),
    );
    assert_eq!(of_honest, [line(2), None]);
    let of_count = counted(
        move |peer| Count::new().send(peer, &keys).map(drop),
        |peer| Count::new().receive(peer, &others).map(drop),
    );
    assert_eq!(of_count, [line(2), line(3)]);
}

#[test]
fn limits_per_day_of_a_policy_need_a_file_where_the_peer_learns_something() {
    let policy = "policy = 1\nfunctions = ['intersection']\nmax-keys-per-day = 200\n";
    let policy = Policy::parse(policy).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let most = MostPerDay { runs: Some(9), keys: None };
    let in_memory = Arc::new(Daily::in_memory(most));
    for config in [Config::insecure(), Config::insecure().per_day(in_memory)] {
        let (mut ours, _theirs) = config.policy(&policy).pair();
        let error = Options::new().send(&mut ours, &["ann"]).unwrap_err();
        assert!(error.to_string().contains("no file keeps their counts"), "{error}");
    }
    let daily = Arc::new(Daily::open(most, &folder.path().join("limits")).unwrap());
    let config = Config::insecure().policy(&policy);
    let listener = config.clone().per_day(daily).bind("localhost:0").unwrap();
    let server = listener.serve(|peer| Options::new().send(peer, &["ann"])).unwrap();
    let address = server.local_addr().to_string();
    let ask = || Options::new().receive(&mut config.connect(&address)?, &["ann"]);
    assert_eq!(ask().unwrap(), [0]);
    // The policy's limit is the smaller one.
    let error = ask().unwrap_err();
    assert!(error.to_string().contains("limits for today"), "{error}");
}

#[test]
fn a_policy_that_has_expired_forbids_the_run_on_both_sides() {
    let rules = "policy = 1\nfunctions = ['intersection']\n";
    let policy = Policy::parse(&format!("{rules}expires = 2020-01-31\n")).unwrap();
    let (mut ours, mut theirs) = Config::insecure().policy(&policy).pair();
    let other = thread::spawn(move || Options::new().receive(&mut theirs, &["ann"]).unwrap_err());
    let error = Options::new().send(&mut ours, &["ann"]).unwrap_err();
    for error in [error, other.join().unwrap()] {
        assert!(error.to_string().contains("rule expires allows"), "{error}");
    }
}
