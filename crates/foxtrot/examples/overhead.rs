//! The cost of the library `foxtrot-mpc` beside the engine by hand, in turns in one process, over TCP on the loopback
//! interface: `cargo run --release -p foxtrot-mpc --example overhead [ROUNDS]`.
//!
//! By hand is what a program does that calls the lower crates: connect, hello, engine, results in a list that is erased when
//! it is dropped, closing. CPU time is that of the whole process, so of both parties and all their threads.
#![allow(clippy::unwrap_used, reason = "a failed run has no figures")]

use std::{
    env, thread,
    time::{Duration, Instant},
};

use foxtrot::{
    Config, Peer, Secret, Session, psi,
    rot::{self, terms::RotTerms},
};
use foxtrot_net::{
    Channel, drive,
    hello::{Agreement, Role, exchange},
    tcp::{Listener, connect},
};
use foxtrot_ot::{
    base::{Adversary, Block, Choice, roted},
    extension::{self, OtKind, Shape, protocol as extend},
    transfers::{Extension, Method},
};
use foxtrot_psi::method::{self, Assumption, protocol as intersect};
use rustix::time::{ClockId, clock_gettime};

const OTS: usize = 1_000_000;
const ITEMS: usize = 1 << 16;
const TIMEOUT: Duration = Duration::from_secs(60);

fn main() {
    let rounds = env::args().nth(1).map_or(15, |rounds| rounds.parse().unwrap());
    let sets = [0, ITEMS / 2].map(|start| {
        let names = start..start + ITEMS;
        names.map(|i| format!("person-{i}@example.org")).collect::<Vec<_>>()
    });
    compare("a connection", 1, rounds, || drop(peers()), || drop(channels()));
    compare("random OTs, malicious", OTS, rounds, rot_by_facade, rot_by_hand);
    compare("PSI, malicious", ITEMS, rounds, || psi_by_facade(&sets), || psi_by_hand(&sets));
}

/// Runs both in turns, and prints the medians.
fn compare(what: &str, n: usize, rounds: usize, facade: impl Fn(), hand: impl Fn()) {
    let mut times: [[Vec<f64>; 2]; 2] = Default::default();
    // The first round warms up.
    for round in 0..=rounds {
        let mut run = |which: usize, job: &dyn Fn()| {
            let (cpu, wall) = (cpu(), Instant::now());
            job();
            let taken = [self::cpu() - cpu, wall.elapsed()];
            if round > 0 {
                let [cpu, wall] = taken.map(|it| it.as_secs_f64() * 1e9 / n as f64);
                times[which][0].push(cpu);
                times[which][1].push(wall);
            }
        };
        if round % 2 == 0 {
            run(0, &facade);
            run(1, &hand);
        } else {
            run(1, &hand);
            run(0, &facade);
        }
    }
    let [[cpu, wall], [cpu_by_hand, wall_by_hand]] = times.map(|both| both.map(median));
    let more = |one: f64, other: f64| (one / other - 1.0) * 100.0;
    println!(
        "{what}, n = {n}, {rounds} rounds: CPU of both parties {cpu:.1} ns each by the library, {cpu_by_hand:.1} by hand: \
         {:+.1} %; wall {wall:.1} and {wall_by_hand:.1}: {:+.1} %",
        more(cpu, cpu_by_hand),
        more(wall, wall_by_hand)
    );
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn cpu() -> Duration {
    clock_gettime(ClockId::ProcessCPUTime).try_into().unwrap()
}

/// Two peers of the library.
fn peers() -> (Peer, Peer) {
    let listener = Config::insecure().bind("127.0.0.1:0").unwrap();
    let ours = Config::insecure().connect(&listener.local_addr().to_string()).unwrap();
    (ours, listener.accept().unwrap())
}

fn rot_by_facade() {
    let (mut ours, mut theirs) = peers();
    let sender = thread::spawn(move || rot::send(&mut theirs, OTS).unwrap());
    let (choices, keys) = rot::receive(&mut ours, OTS).unwrap();
    assert_eq!((choices.len(), keys.len(), sender.join().unwrap().len()), (OTS, OTS, OTS));
}

fn psi_by_facade([ours, theirs]: &[Vec<String>; 2]) {
    let (mut receiver, mut sender) = peers();
    let common = thread::scope(|scope| {
        let sent = scope.spawn(move || psi::send(&mut sender, theirs).unwrap());
        let common = psi::receive(&mut receiver, ours).unwrap();
        sent.join().unwrap();
        common
    });
    assert!(common.into_iter().eq(ITEMS / 2..ITEMS));
}

/// Two channels.
fn channels() -> [Channel; 2] {
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let ours = connect(&listener.local_addr().to_string(), TIMEOUT).unwrap();
    [ours, listener.accept(TIMEOUT).unwrap()].map(|socket| socket.open().unwrap())
}

fn rot_by_hand() {
    let extension = extension::find("softspoken", Adversary::Malicious).unwrap();
    let method = Method { base: &roted::Rot, extension: Extension::OneOfTwo(extension) };
    let plan = move |agreed: &Agreement| extend::ExtensionPlan {
        extension,
        base: method.base,
        direction: agreed.direction(),
        counter: 0,
    };
    let [ours, theirs] = channels();
    let sender = thread::spawn(move || {
        let hello = RotTerms { role: Role::Sender, method, n: OTS }.hello();
        let agreed = exchange(&theirs, false, &hello).unwrap();
        let session = Session::new(agreed.sid);
        let mut cx = drive::context(&session).unwrap();
        let mut pairs: Secret<[Block; 2]> = Secret(Vec::with_capacity(OTS));
        let all = &mut pairs;
        drive::play(&theirs, |io| async move {
            let mut sender = extend::Sender::set_up(&io, &mut cx, plan(&agreed)).await?;
            let sink = |some: &[[Block; 2]]| {
                all.0.extend_from_slice(some);
                Ok(())
            };
            sender.random(&io, Shape::random(OTS), sink).await
        })
        .unwrap();
        theirs.finish().unwrap();
        theirs.close().unwrap();
        pairs
    });
    let hello = RotTerms { role: Role::Receiver, method, n: OTS }.hello();
    let agreed = exchange(&ours, true, &hello).unwrap();
    let session = Session::new(agreed.sid);
    let mut cx = drive::context(&session).unwrap();
    let (mut choices, mut keys) =
        (Secret(Vec::<u8>::with_capacity(OTS / 8)), Secret(Vec::<Block>::with_capacity(OTS)));
    let (bits, all) = (&mut choices, &mut keys);
    drive::play(&ours, |io| async move {
        let mut receiver = extend::Receiver::set_up(&io, &mut cx, plan(&agreed)).await?;
        let sink = |choices: &foxtrot::Bits, some: &[Block]| {
            bits.0.extend_from_slice(choices.as_bytes());
            all.0.extend_from_slice(some);
            Ok(())
        };
        receiver.run(&io, &Choice::Random(OTS), OtKind::Random, sink).await
    })
    .unwrap();
    ours.finish().unwrap();
    ours.close().unwrap();
    assert_eq!((choices.len(), keys.len(), sender.join().unwrap().len()), (OTS / 8, OTS, OTS));
}

fn psi_by_hand([ours, theirs]: &[Vec<String>; 2]) {
    let (assumption, adversary) = (Assumption::Symmetric, Adversary::Malicious);
    let method = method::Method { base: &roted::Endemic, assumption, adversary };
    let parameters = method.parameters(ITEMS, ITEMS).unwrap();
    let hello = |role| psi::terms::psi(role, &method, "none/1", ITEMS, ITEMS);
    let items = |names: &[String]| {
        names.iter().map(|name| psi::item(name.as_bytes()).unwrap()).collect::<Vec<_>>()
    };
    let plan = |agreed: &Agreement| intersect::IntersectionPlan {
        parameters,
        base: method.base,
        direction: agreed.direction(),
        counter: 0,
    };
    let [receiver, sender] = channels();
    let common = thread::scope(|scope| {
        let sent = scope.spawn(move || {
            let items = items(theirs);
            let agreed = exchange(&sender, false, &hello(Role::Sender)).unwrap();
            let session = Session::new(agreed.sid);
            let mut cx = drive::context(&session).unwrap();
            drive::play(&sender, |io| async move {
                let sender = intersect::Sender::set_up(&io, &mut cx, plan(&agreed)).await?;
                sender.run(&io, items, &mut |_| ()).await
            })
            .unwrap();
            sender.finish().unwrap();
            sender.close().unwrap();
        });
        let items = items(ours);
        let agreed = exchange(&receiver, true, &hello(Role::Receiver)).unwrap();
        let session = Session::new(agreed.sid);
        let mut cx = drive::context(&session).unwrap();
        let received = drive::play(&receiver, |io| async move {
            let receiver = intersect::Receiver::set_up(&io, &mut cx, plan(&agreed)).await?;
            receiver.run(&io, items, &mut |_| ()).await
        })
        .unwrap();
        receiver.finish().unwrap();
        receiver.close().unwrap();
        sent.join().unwrap();
        received.intersect().unwrap()
    });
    assert!(common.into_iter().eq(ITEMS / 2..ITEMS));
}
