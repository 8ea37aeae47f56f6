//! A server under limits: of sessions, of memory, of threads, of lines about strangers.

use std::{
    fs,
    io::{self, Write},
    net::TcpStream,
    path::Path,
    process::Command,
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use foxtrot_net::{
    Channel, ChannelError, Error, Lane, Reason,
    hello::{self, Hello, Role},
    identity::Identity,
    tcp,
    tls::Tls,
};

use super::{
    support::{Key, Listening, Running, connect, connect_with, foxtrot, root, stderr, stdout},
    triples::name,
};

const LONG: Duration = Duration::from_secs(30);

/// Keys of the server.
const KEYS: usize = 1000;

/// KiB of address space, about 400 MB.
const SPACE: &str = "390625";

/// The sets of the server and of a receiver, which have five keys in common; these as they are written.
fn sets(folder: &Path) -> (String, String, String) {
    let lines =
        |range: std::ops::Range<usize>| range.map(|k| format!("key {k}\n")).collect::<String>();
    let [ours, theirs] = ["ours", "theirs"].map(|it| name(folder, it));
    fs::write(&ours, lines(0..KEYS)).unwrap();
    fs::write(&theirs, lines(KEYS - 5..KEYS + 5)).unwrap();
    (ours, theirs, lines(KEYS - 5..KEYS))
}

/// A server of that set; `under` is a command of the shell before it.
fn serve(set: &str, under: &str, options: &[&str]) -> Listening {
    let mut command = Command::new("sh");
    let script = format!("{under}exec \"$@\"");
    command.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_foxtrot")]);
    command.args(["psi", "send", set, "--serve", "--insecure", "--listen", "127.0.0.1:0"]);
    command.args(options).current_dir(root());
    let mut running = Running::of(command);
    let mut line = running.line();
    while line.starts_with("foxtrot: read ") {
        line = running.line();
    }
    let address = line.strip_prefix("foxtrot: listening on ");
    let address = address.unwrap_or_else(|| panic!("not an address: {line}")).to_owned();
    Listening { running, address }
}

fn terms() -> Hello {
    Hello::new(Role::Receiver)
        .term("job", "psi")
        .term("base", "roted-endemic")
        .term("assumption", "symmetric")
        .term("adversary", "malicious")
        .term("normalize", "none/1")
        .keys(9, 100_000_000)
}

/// A peer that says what it wants, and nothing more.
fn begins(address: &str) -> Result<Channel, Error> {
    let channel = tcp::connect(address, LONG)?.open()?;
    hello::exchange(&channel, true, &terms())?;
    Ok(channel)
}

/// Returns an error if the server did not begin the peer's session.
fn admitted(channel: &Channel) -> Result<(), Error> {
    // Its part of the base OTs.
    channel.recv(Lane::PROTOCOL, 128 * 1296).map(drop)
}

/// Keeps a copy of what is written.
struct Recorder(Box<dyn Write + Send>, Arc<Mutex<Vec<u8>>>);

impl Write for Recorder {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.0.write(bytes)?;
        self.1.lock().unwrap().extend_from_slice(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// All that an honest client says before the protocol begins.
fn recorded(address: &str) -> Vec<u8> {
    let recording = Arc::new(Mutex::new(Vec::new()));
    let copy = Arc::clone(&recording);
    let through = |out| Box::new(Recorder(out, copy)) as Box<dyn Write + Send>;
    let channel = tcp::connect(address, LONG).unwrap().open_through(through).unwrap();
    hello::exchange(&channel, true, &terms()).unwrap();
    drop(channel);
    let bytes = recording.lock().unwrap().clone();
    assert!(bytes.len() > 100, "{bytes:?}");
    bytes
}

/// A number of the server's process, of memory in KiB.
fn status(server: &Listening, key: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", server.running.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(key)).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

fn interrupted(server: Listening) -> String {
    server.running.interrupt();
    let (status, _, said) = server.end();
    assert_eq!(status, 130, "{said}");
    assert!(!said.contains("panicked") && !said.contains("memory allocation"), "{said}");
    said
}

#[test]
fn a_server_with_limited_address_space_refuses_sessions_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, theirs, common) = sets(folder.path());
    // With its own bounds, and without any but that of the memory.
    let no_bounds = ["--max-sessions", "1000", "--max-sessions-per-peer", "1000"];
    for bounds in [&[][..], &no_bounds] {
        let options = [bounds, &["--timeout", "20"]].concat();
        let server = serve(&ours, &format!("ulimit -v {SPACE}; "), &options);
        let address = &server.address;
        let hello = recorded(address);
        let replayed: Vec<_> = (0..400)
            .map(|_| {
                let mut socket = TcpStream::connect(address).unwrap();
                // The server may have ended it.
                let _ = socket.write_all(&hello);
                socket
            })
            .collect();
        let clients: Vec<Result<Channel, Error>> = thread::scope(|scope| {
            let clients: Vec<_> = (0..48).map(|_| scope.spawn(|| begins(address))).collect();
            clients.into_iter().map(|it| it.join().unwrap()).collect()
        });
        let outcome = |client: &Result<Channel, Error>| match client {
            Ok(channel) => admitted(channel).err(),
            Err(e) => Some(e.clone()),
        };
        let outcomes: Vec<_> = clients.iter().map(outcome).collect();
        let busy = Some(ChannelError::GivenUp(Reason::Busy).into());
        let (refused, began) = (
            outcomes.iter().filter(|it| **it == busy).count(),
            outcomes.iter().filter(|it| it.is_none()).count(),
        );
        println!("{began} sessions began, {refused} of {} were refused", outcomes.len());
        assert!(began >= 4 && refused >= 4, "{outcomes:?}");
        // A listener and a main thread, and two for each connection.
        let threads = status(&server, "Threads:");
        assert!(threads <= 2 + 2 * (256 + 64), "{threads}");
        drop((clients, replayed));
        let honest = (0..50).find_map(|_| {
            let run = connect(&["psi", "receive", &theirs], address);
            if run.status.success() {
                return Some(stdout(&run));
            }
            assert!(stderr(&run).contains("busy"), "{}", stderr(&run));
            thread::sleep(Duration::from_millis(200));
            None
        });
        assert_eq!(honest.as_ref(), Some(&common));
        interrupted(server);
    }
}

#[test]
fn a_replayed_hello_takes_little_memory_and_no_base_ots() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, ..) = sets(folder.path());
    let server = serve(&ours, "", &["--max-sessions-per-peer", "64"]);
    let hello = recorded(&server.address);
    let before = status(&server, "VmRSS:");
    // One byte is missing: they wait.
    let waiting: Vec<_> = (0..200)
        .map(|_| {
            let mut socket = TcpStream::connect(&server.address).unwrap();
            socket.write_all(&hello[..hello.len() - 1]).unwrap();
            socket
        })
        .collect();
    thread::sleep(Duration::from_millis(500));
    let each = (status(&server, "VmRSS:") - before) / 200;
    println!("{each} KiB for each of 200 connections that were not admitted");
    // Frames are larger without optimisation.
    let most = if cfg!(debug_assertions) { 112 } else { 64 };
    assert!(each < most, "{each} KiB");
    // Their end comes; what they said was of another session.
    for mut socket in waiting {
        let _ = socket.write_all(&hello[hello.len() - 1..]);
        let mut said = Vec::new();
        let _ = io::Read::read_to_end(&mut socket, &mut said);
        assert!(said.len() < 4096, "{} bytes", said.len());
    }
    interrupted(server);
}

#[test]
fn a_peer_beyond_the_most_sessions_is_told_to_try_again() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, theirs, common) = sets(folder.path());
    for (option, why) in [
        ("--max-sessions", "1 session is open, and --max-sessions allows no more\n"),
        (
            "--max-sessions-per-peer",
            "1 session of this peer is open, and --max-sessions-per-peer allows no more\n",
        ),
    ] {
        let server = serve(&ours, "", &[option, "1"]);
        let first = begins(&server.address).unwrap();
        admitted(&first).unwrap();
        let receive = ["psi", "receive", &theirs];
        let run = connect(&receive, &server.address);
        assert_eq!(run.status.code(), Some(1));
        let told = "foxtrot: the peer refuses the session: it is busy and answers no more sessions \
                    at once\nhint: try again later\n";
        assert!(stderr(&run).ends_with(told), "{}", stderr(&run));
        drop(first);
        // The server may hear of the end later.
        let again = (0..50).map(|_| connect(&receive, &server.address));
        let again = again.into_iter().find(|run| run.status.success()).unwrap();
        assert_eq!(stdout(&again), common);
        let said = interrupted(server);
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn sessions_of_one_key_are_bounded_and_other_keys_get_in() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, theirs, common) = sets(folder.path());
    let [key, first, second] = ["a", "b", "c"].map(|name| Key::generate(folder.path(), name));
    let serve = ["psi", "send", &ours, "--serve", "--max-sessions-per-peer", "1"];
    let both = [&key.expecting(&first)[..], &["--peer", &second.fingerprint]].concat();
    let server = Listening::with(&serve, &both);
    let identity = Identity::from_pem(&fs::read(&first.file).unwrap()).unwrap();
    let tls = Tls::new(&identity, &[key.fingerprint.parse().unwrap()]).unwrap();
    let secured = tls.connect(tcp::connect(&server.address, LONG).unwrap()).unwrap();
    let terms = terms().bound_to(secured.binding);
    let channel = secured.channel().unwrap();
    hello::exchange(&channel, true, &terms).unwrap();
    admitted(&channel).unwrap();

    let receive = ["psi", "receive", &theirs];
    let refused = connect_with(&receive, &first.expecting(&key), &server.address);
    assert!(stderr(&refused).contains("it is busy"), "{}", stderr(&refused));
    let run = connect_with(&receive, &second.expecting(&key), &server.address);
    assert_eq!(stdout(&run), common, "{}", stderr(&run));
    drop(channel);
    interrupted(server);
}

#[test]
fn a_session_that_could_take_more_memory_than_there_is_for_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, ..) = sets(folder.path());
    // The server says how much it needs for a peer with one key.
    let serve_in = |memory: &str| {
        foxtrot(&["psi", "send", &ours, "--serve", "--insecure", "--listen", "127.0.0.1:0"])
            .args(["--max-memory", memory])
            .output()
            .unwrap()
    };
    let told = stderr(&serve_in("8M"));
    assert!(told.contains("8.4 MB of memory are not enough for a session\n"), "{told}");
    let needed = told.split("hint: use at least --max-memory ").nth(1).unwrap();
    let needed = needed.strip_suffix("\n").unwrap();
    let many = name(folder.path(), "many");
    fs::write(&many, (0..100_000).map(|k| format!("key {k}\n")).collect::<String>()).unwrap();
    let server = serve(&ours, "", &["--max-memory", needed]);
    let run = connect(&["psi", "receive", &many], &server.address);
    assert_eq!(run.status.code(), Some(1));
    let told = "it has too little memory for a session of this size\n\
                hint: ask the peer to raise --max-memory, or use a smaller set\n";
    assert!(stderr(&run).ends_with(told), "{}", stderr(&run));
    let said = interrupted(server);
    assert!(said.contains("are left (--max-memory)\n"), "{said}");
}

#[test]
fn strangers_of_one_address_fill_a_few_lines_only() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, ..) = sets(folder.path());
    for (options, lines) in [(&[][..], 3), (&["-v"], 120)] {
        let server = serve(&ours, "", options);
        for _ in 0..120 {
            let mut socket = TcpStream::connect(&server.address).unwrap();
            socket.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
            let _ = io::copy(&mut socket, &mut io::sink());
        }
        thread::sleep(Duration::from_millis(300));
        let said = interrupted(server);
        assert_eq!(said.matches("refused a connection").count(), lines, "{said}");
    }
}
