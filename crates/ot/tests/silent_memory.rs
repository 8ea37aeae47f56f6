//! The memory that a batch of a silent protocol takes, by the counts of the allocator.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use foxtrot_ot::{
    Bits, Seed, Session, Sid,
    base::Choice,
    erase::Secret,
    extension::{self, OtKind, Places, Shape},
    ideal,
    silent::{self, Field, Received, Receiver, Sender, Sent, Silent},
    tasks::only,
};
use peak_alloc::PeakAlloc;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

const SENDER: usize = 0;
const RECEIVER: usize = 1;

/// Bytes that each party holds, and the most that it has held.
#[derive(Default)]
struct Memory {
    held: [i64; 2],
    most: [i64; 2],
}

impl Memory {
    fn step<T>(&mut self, party: usize, step: impl FnOnce() -> T) -> T {
        let bytes = |it: usize| i64::try_from(it).unwrap();
        let before = bytes(HEAP.current_usage());
        HEAP.reset_peak_usage();
        let result = step();
        let most = self.held[party] + bytes(HEAP.peak_usage()) - before;
        self.most[party] = self.most[party].max(most);
        self.held[party] += bytes(HEAP.current_usage()) - before;
        result
    }
}

type Outputs<F> = ((Sender<F>, Sent<F>), (Receiver<F>, Received<F>));

fn batch<F: Field>(silent: Silent<F>, m: usize, memory: &mut Memory) -> Outputs<F> {
    let session = |name| Session::new(Sid::from_bytes([1; 32])).sub(name, 0, Default::default());
    let seed = |byte| Seed::from_bytes([byte; 32]);
    let (pairs, chosen) = ideal::random(128, &seed(4));
    let extension = silent.extension();
    let (receiver, setup) =
        extension::Receiver::new(session("ots"), extension, pairs, seed(3)).unwrap();
    let sender =
        extension::Sender::new(session("ots"), extension, chosen, &setup, seed(2)).unwrap();
    let mut sender = Sender::new(session("silent"), silent, sender, seed(5)).unwrap();
    let mut receiver = Receiver::new(session("silent"), silent, receiver, seed(6)).unwrap();
    let n = silent.size(m).unwrap().ots;
    let mut q = memory.step(SENDER, || vec![[0; 16]; n]);
    let (mut t, mut choices) = memory.step(RECEIVER, || (vec![[0; 16]; n], Vec::with_capacity(n)));
    let mut start = 0;
    for shape in Shape::random(n).batches(extension.max_batch()) {
        let places = start..start + shape.n();
        start = places.end;
        let mut corrections = Vec::new();
        let unanswered = memory.step(RECEIVER, || {
            let ots = receiver.ots().unwrap();
            only(ots.extend(vec![(Choice::Random(shape.n()), &mut corrections)]).unwrap())
        });
        let (unverified, challenge) = memory
            .step(SENDER, || only(sender.ots().unwrap().absorb(&[(shape, &corrections)]).unwrap()));
        let challenge = challenge.as_slice().as_flattened();
        let proof = memory.step(RECEIVER, || {
            let batch = (unanswered, challenge, &mut t[places.clone()]);
            let finished = receiver.ots().unwrap().finish(OtKind::Correlated, vec![batch]);
            let (bits, proof) = only(finished.unwrap());
            choices.extend((0..bits.len()).map(|i| bool::from(bits.get(i))));
            proof
        });
        memory.step(SENDER, || {
            let places = Places::Correlated(&mut q[places]);
            sender.ots().unwrap().finish(vec![(unverified, &proof, places)]).unwrap();
        });
    }
    let choices = memory.step(RECEIVER, || Bits::from_bools(choices));
    let (planted, trees) = memory.step(SENDER, || sender.plant(m, Secret(q)).unwrap());
    let (grown, challenge) =
        memory.step(RECEIVER, || receiver.grow(m, choices, Secret(t), &trees).unwrap());
    let encoded = memory.step(SENDER, || sender.encode(planted, &challenge).unwrap());
    let (unverified, check) = memory.step(RECEIVER, || receiver.encode(grown).unwrap());
    let (sent, answer) = memory.step(SENDER, || sender.answer(encoded, &check).unwrap());
    let received = memory.step(RECEIVER, || receiver.verify(unverified, &answer).unwrap());
    ((sender, sent), (receiver, received))
}

/// Bytes per output of each party, with the tables of the code, which are made once for a process.
fn most<F: Field>(
    silent: Silent<F>,
    m: usize,
    last: impl FnOnce(Outputs<F>, &mut Memory),
) -> [f64; 2] {
    drop(batch(silent, m, &mut Memory::default()));
    let mut memory = Memory::default();
    last(batch(silent, m, &mut memory), &mut memory);
    let size = silent.size(m).unwrap();
    let tables = 2 * size.accumulators * size.leaves();
    memory.most.map(|most| (most + i64::try_from(tables).unwrap()) as f64 / m as f64)
}

#[test]
fn a_batch_takes_eighty_bytes_per_output_at_most() {
    let vole = |(_, (_, received)): Outputs<silent::Gf128>, memory: &mut Memory| {
        memory.step(RECEIVER, || drop(received.into_parts()));
    };
    let ots = |((sender, sent), (receiver, received)): Outputs<silent::Gf2>,
               memory: &mut Memory| {
        let mut keys = vec![[0; 16]; received.n()];
        let choices: Bits =
            memory.step(RECEIVER, || receiver.keys(&received, 0, &mut keys).unwrap());
        assert_eq!(choices.len(), keys.len());
        let mut pairs = vec![[[0; 16]; 2]; keys.len()];
        memory.step(SENDER, || sender.pairs(&sent, 0, &mut pairs).unwrap());
    };
    let of_vole = most(silent::vole(), 1_179_648, vole);
    let of_ots = most(silent::ot(), silent::ot().max_batch(), ots);
    println!("sender and receiver: VOLE {of_vole:.1?}, OTs {of_ots:.1?}");
    // Strings and tables alone, or it has not been counted.
    assert!(of_vole.iter().chain(&of_ots).all(|bytes| (70.0..80.0).contains(bytes)));
}
