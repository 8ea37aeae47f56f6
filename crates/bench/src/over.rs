//! A thread for each party, and something between them: TCP over the loopback interface, or the imitation of
//! a link in memory.
//!
//! A party's CPU time is that of the threads that work for it: its own, which reads; the tasks on its workers; over
//! TCP also the channel's, which writes. Each is read from its own thread's clock, so what the system does inside a
//! call of one of them counts, and nothing is shared out by guess.

use std::{
    cell::Cell,
    io::{self, IoSlice, Write},
    sync::{
        Arc, Barrier,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use foxtrot_cli::shared::{Failure, Workers, thread_cpu};
use foxtrot_net::{
    Channel, Counters, Error, memory,
    tcp::{self, Listener, Socket},
};

use super::sample::{RECEIVER, SENDER, Sample};
use crate::{
    args::BenchTransport,
    link::{self, Net},
};

/// Longer than any message of a benchmark takes over any link.
const TIMEOUT: Duration = Duration::from_secs(120);

/// The connection between the parties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Over {
    /// No connection: both in one thread, one after the other.
    Memory,
    Tcp,
    Net(Net),
}

impl Over {
    pub(super) fn new(transport: BenchTransport, net: Option<Net>) -> Self {
        match (transport, net) {
            (_, Some(net)) => Self::Net(net),
            (BenchTransport::Memory, None) => Self::Memory,
            (BenchTransport::Tcp, None) => Self::Tcp,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Tcp => "tcp",
            Self::Net(net) => net.name(),
        }
    }

    /// Describes the connection, for the heads of tables.
    pub(super) fn words(self) -> String {
        match self {
            Self::Memory => "in memory".into(),
            Self::Tcp => "over loopback TCP, all threads counted".into(),
            Self::Net(net) => {
                let (rate, delay) = (net.link().bits_per_second(), net.link().delay());
                let (rate, rtt) = (rate as f64 / 1e9, 2e3 * delay.as_secs_f64());
                format!("over an imitated link of {rate} Gbit/s and {rtt} ms there and back")
            }
        }
    }
}

/// A party at its end of the link.
pub(super) struct End<'a> {
    pub(super) channel: &'a Channel,
    pub(super) workers: &'a Workers,
    started: Instant,
    set_up: Cell<(Duration, u64)>,
    begun: Cell<Duration>,
}

/// Figures of a party.
struct Figures {
    cpu: Duration,
    ended: Duration,
    begun: Duration,
    set_up: (Duration, u64),
    counters: Counters,
}

impl End<'_> {
    /// Marks the end of the set-up: keys, base OTs. The rest begins.
    pub(super) fn is_set_up(&self) {
        self.set_up.set((self.started.elapsed(), self.channel.counters().sent));
        self.begins();
    }

    /// The rest begins, later than the set-up ended.
    pub(super) fn begins(&self) {
        self.begun.set(self.started.elapsed());
    }
}

const _: () = assert!(SENDER == 0 && RECEIVER == 1);

/// Runs both parties. The clocks start when both are connected, and stop when both have their results.
pub(super) fn both<E: Into<Failure> + Send>(
    over: Over,
    workers: &Workers,
    sender: impl FnOnce(&End<'_>) -> Result<(), E> + Send,
    receiver: impl FnOnce(&End<'_>) -> Result<(), E>,
) -> Result<Sample, Failure> {
    let [(here, ours), (there, theirs)] = connect(over)?;
    let start = Barrier::new(2);
    let (sent, received) = thread::scope(|scope| {
        let sender = scope.spawn(|| party(there, &theirs, workers, &start, sender));
        let received = party(here, &ours, workers, &start, receiver);
        (sender.join(), received)
    });
    let sent = sent.map_err(|_| Failure::run("the sender panicked"))?;
    let both = match (sent, received) {
        (Ok(sent), Ok(received)) => [sent, received],
        // Who failed first told the other.
        (Err(sent), Err(received)) if sent.is_the_peers_end() => return Err(received),
        (Err(e), _) | (_, Err(e)) => return Err(e),
    };
    let each = |figure: fn(&Figures) -> Duration| both.each_ref().map(figure);
    let ended = each(|it| it.ended);
    let wall = ended[SENDER].max(ended[RECEIVER]);
    Ok(Sample {
        wall,
        cpu: each(|it| it.cpu),
        slower: wall,
        bytes: both.each_ref().map(|it| it.counters.sent),
        flows: both[RECEIVER].counters.flows,
        ended,
        begun: each(|it| it.begun),
        set_up: each(|it| it.set_up.0),
        set_up_bytes: both.each_ref().map(|it| it.set_up.1),
        peaks: [0; 2],
    })
}

/// Nanoseconds of CPU of a channel's writer, if it is measured.
type Writing = Arc<AtomicU64>;

fn connect(over: Over) -> Result<[(Channel, Writing); 2], Failure> {
    match over {
        Over::Memory => {
            Ok(<[_; 2]>::from(memory::pair(TIMEOUT)).map(|it| (it, Writing::default())))
        }
        Over::Net(net) => Ok(link::pair(net.link(), TIMEOUT)?.map(|it| (it, Writing::default()))),
        Over::Tcp => {
            let listener = Listener::bind("127.0.0.1:0")?;
            let there = tcp::connect(&listener.local_addr().to_string(), TIMEOUT)?;
            Ok([metered(listener.accept(TIMEOUT)?)?, metered(there)?])
        }
    }
}

fn metered(socket: Socket) -> Result<(Channel, Writing), Error> {
    let nanoseconds = Writing::default();
    let writing = Arc::clone(&nanoseconds);
    let channel = socket.open_through(|writer| Box::new(Metered { writer, nanoseconds }))?;
    Ok((channel, writing))
}

fn party<E: Into<Failure>>(
    channel: Channel,
    writing: &Writing,
    workers: &Workers,
    start: &Barrier,
    run: impl FnOnce(&End<'_>) -> Result<(), E>,
) -> Result<Figures, Failure> {
    let workers = workers.for_another();
    start.wait();
    let (cpu, started) = (thread_cpu(), Instant::now());
    let none = Duration::ZERO;
    let end = End {
        channel: &channel,
        workers: &workers,
        started,
        set_up: Cell::new((none, 0)),
        begun: Cell::new(none),
    };
    run(&end).map_err(Into::into)?;
    let ended = started.elapsed();
    let (begun, set_up) = (end.begun.get(), end.set_up.get());
    let counters = channel.counters();
    channel.close()?;
    let writing = Duration::from_nanos(writing.load(Ordering::Relaxed));
    let cpu = thread_cpu() - cpu + writing + workers.busy();
    Ok(Figures { cpu, ended, begun, set_up, counters })
}

/// Keeps the time of the thread that writes, which begins with the channel.
struct Metered {
    writer: Box<dyn Write + Send>,
    nanoseconds: Writing,
}

impl Metered {
    fn note(&self) {
        let so_far = u64::try_from(thread_cpu().as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.store(so_far, Ordering::Relaxed);
    }
}

impl Write for Metered {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.writer.write(bytes);
        self.note();
        written
    }

    /// Passes a frame's parts on together, as without the meter.
    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let written = self.writer.write_vectored(slices);
        self.note();
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.writer.flush();
        self.note();
        flushed
    }
}
