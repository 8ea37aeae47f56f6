//! Time and memory of a private set intersection, each party a process of its own over loopback TCP:
//! `cargo run --release -p foxtrot-net --example psi-peak [ITEMS [SENDER_ITEMS [symmetric|lpn]]]`.
//!
//! The sets share half of the smaller one. It prints for each party the wall time after the base
//! OTs and the most memory that it has held, from `/proc`, with the items' own 32 bytes.

use std::{
    env,
    error::Error,
    fs,
    process::Command,
    time::{Duration, Instant},
};

use foxtrot_net::{Channel, drive, tcp};
use foxtrot_ot::{
    Direction, Session, Sid,
    base::{Adversary, roted::Endemic},
};
use foxtrot_psi::{
    Digest,
    method::{
        Assumption, Method, Parameters,
        protocol::{IntersectionPlan, Receiver, Sender},
    },
};

type Fallible<T> = Result<T, Box<dyn Error>>;

const LONG: Duration = Duration::from_secs(600);

fn main() -> Fallible<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let number = |k: usize| arguments.get(k).map(|it| it.parse::<usize>()).transpose();
    let n = number(0)?.unwrap_or(1 << 20);
    let m = number(1)?.unwrap_or(n);
    let name = arguments.get(2).map_or("symmetric", String::as_str);
    let assumption = Assumption::ALL.into_iter().find(|it| it.name() == name);
    let assumption = assumption.ok_or("symmetric or lpn")?;
    let method = Method { base: &Endemic, assumption, adversary: Adversary::Malicious };
    let parameters = method.parameters(n, m)?;
    if let Some(address) = arguments.get(3) {
        return send(&parameters, tcp::connect(address, LONG)?.open()?);
    }
    let listener = tcp::Listener::bind("127.0.0.1:0")?;
    let address = listener.local_addr().to_string();
    println!("{}", parameters.info().name);
    let arguments = [n.to_string(), m.to_string(), name.to_owned(), address];
    let mut sender = Command::new(env::current_exe()?).args(arguments).spawn()?;
    let received = receive(&parameters, listener.accept(LONG)?.open()?);
    sender.wait()?;
    received
}

/// The last half of the smaller set are the first items of the other.
fn shared(parameters: &Parameters) -> usize {
    parameters.receiver_items().min(parameters.sender_items()) / 2
}

fn receive(parameters: &Parameters, channel: Channel) -> Fallible<()> {
    let n = parameters.receiver_items();
    let session = session();
    let (mut cx, plan) = (drive::context(&session)?, plan(parameters));
    let set_up = |io| async move { Receiver::set_up(&io, &mut cx, plan).await };
    let receiver = drive::play(&channel, set_up)?;
    let started = Instant::now();
    let items = (0..n).map(digest).collect();
    let indices = drive::play(&channel, |io| async move {
        receiver.run(&io, items, &mut |_| ()).await?.intersect()
    })?;
    report("receiver", n, started);
    if !indices.iter().copied().eq(n - shared(parameters)..n) {
        return Err("the intersection is wrong".into());
    }
    let counters = channel.counters();
    let most = n.max(parameters.sender_items()) as f64;
    let bytes = (counters.sent + counters.received) as f64;
    println!("{} in common, {:.1} bytes per item of the larger set", indices.len(), bytes / most);
    Ok(channel.close()?)
}

fn send(parameters: &Parameters, channel: Channel) -> Fallible<()> {
    let first = parameters.receiver_items() - shared(parameters);
    let m = parameters.sender_items();
    let session = session();
    let (mut cx, plan) = (drive::context(&session)?, plan(parameters));
    let set_up = |io| async move { Sender::set_up(&io, &mut cx, plan).await };
    let sender = drive::play(&channel, set_up)?;
    let started = Instant::now();
    let items = (first..first + m).map(digest).collect();
    drive::play(&channel, |io| async move { sender.run(&io, items, &mut |_| ()).await })?;
    report("sender", m, started);
    Ok(channel.close()?)
}

fn session() -> Session {
    // In earnest from a handshake, and never the same again.
    Session::new(Sid::from_bytes([7; 32]))
}

fn plan(parameters: &Parameters) -> IntersectionPlan<'static> {
    let direction = Direction::InitiatorSends;
    IntersectionPlan { parameters: *parameters, base: &Endemic, direction, counter: 0 }
}

/// Digests of items: any distinct strings do.
fn digest(k: usize) -> Digest {
    let mut digest = [0x5a; 32];
    digest[..8].copy_from_slice(&(k as u64).to_le_bytes());
    digest
}

fn report(who: &str, items: usize, started: Instant) {
    let seconds = started.elapsed().as_secs_f64();
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|it| it.trim().strip_suffix(" kB")?.parse::<f64>().ok());
    let memory = match peak {
        Some(kib) => {
            let each = kib * 1024.0 / items.max(1) as f64;
            format!("{:.1} MiB at most, {each:.0} bytes per item", kib / 1024.0)
        }
        None => "memory unknown".into(),
    };
    println!("{who}: {items} items, {seconds:.2} s, {memory}");
}
