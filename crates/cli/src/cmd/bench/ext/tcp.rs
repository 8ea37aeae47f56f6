//! A thread for each party, and TCP over the loopback interface between them.
//!
//! A party's CPU time is that of all threads that work for it: its own, which reads; the channel's,
//! which writes; the tasks on its workers. Each is read from its own thread's clock, so what the
//! system does inside a call of one of them counts, and nothing is shared out by guess.

use std::{
    hint::black_box,
    io::{self, Write},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use foxtrot_net::{
    Channel, Counters, Error,
    extend::{Plan, Receiver, Sender},
    tcp::{self, Listener, Socket},
};
use foxtrot_ot::{
    Direction, Session, Sid,
    base::Choice,
    extension::{Any, Kind, Shape},
};

use super::{BASE, RECEIVER, SENDER, Sample};
use crate::{clock::thread_cpu, failure::Failure, workers::Workers};

const TIMEOUT: Duration = Duration::from_secs(60);

/// Keeps the time of the thread that writes, which begins with the channel.
struct Metered {
    writer: Box<dyn Write + Send>,
    nanoseconds: Arc<AtomicU64>,
}

pub(super) fn sample(extension: Any, n: usize, workers: &Workers) -> Result<Sample, Failure> {
    let listener = Listener::bind("127.0.0.1:0")?;
    let there = tcp::connect(&listener.local_addr().to_string(), TIMEOUT)?;
    let here = listener.accept(TIMEOUT)?;
    let session = Session::new(Sid::from_bytes([0; 32]));
    let direction = Direction::InitiatorSends;
    let plan = Plan { extension, base: BASE, session: &session, direction, counter: 0 };

    let started = Instant::now();
    let (sent, received) = thread::scope(|scope| {
        let sender = scope.spawn(|| {
            party(there, workers, |channel, workers| {
                let sender = Sender::set_up(channel, &plan)?;
                let mut sender = match workers.executor() {
                    Some(executor) => sender.with_executor(executor),
                    None => sender,
                };
                sender.random(Shape::random(n), |keys| {
                    black_box(keys);
                    Ok(())
                })
            })
        });
        let received = party(here, workers, |channel, workers| {
            let receiver = Receiver::set_up(channel, &plan)?;
            let mut receiver = match workers.executor() {
                Some(executor) => receiver.with_executor(executor),
                None => receiver,
            };
            receiver.run(&Choice::Random(n), Kind::Random, |choices, keys| {
                black_box((choices, keys));
                Ok(())
            })
        });
        (sender.join(), received)
    });
    let wall = started.elapsed();
    let panicked = |_| Failure::run("the sender panicked");
    let ((sender_cpu, sent), (receiver_cpu, received)) = (sent.map_err(panicked)??, received?);
    let (mut cpu, mut bytes) = ([Duration::ZERO; 2], [0; 2]);
    (cpu[SENDER], cpu[RECEIVER]) = (sender_cpu, receiver_cpu);
    (bytes[SENDER], bytes[RECEIVER]) = (sent.sent, received.sent);
    Ok(Sample { wall, cpu, slower: wall, bytes, flows: received.flows })
}

/// Runs one party, and gives its CPU time and what its channel counted.
fn party(
    socket: Socket,
    workers: &Workers,
    run: impl FnOnce(&Channel, &Workers) -> Result<(), Error>,
) -> Result<(Duration, Counters), Error> {
    let (start, workers) = (thread_cpu(), workers.for_another());
    let nanoseconds = Arc::new(AtomicU64::new(0));
    let metered = Arc::clone(&nanoseconds);
    let channel =
        socket.open_through(|writer| Box::new(Metered { writer, nanoseconds: metered }))?;
    run(&channel, &workers)?;
    let counters = channel.counters();
    channel.close()?;
    let writing = Duration::from_nanos(nanoseconds.load(Ordering::Relaxed));
    Ok((thread_cpu() - start + writing + workers.busy(), counters))
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

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.writer.flush();
        self.note();
        flushed
    }
}
