//! Measures both roles of the protocols in memory: instructions, stack and heap of each.
#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
#[path = "../firmware.rs"]
mod firmware;

#[cfg(target_os = "none")]
mod run {
    extern crate alloc;

    use alloc::vec::Vec;
    use foxtrot_ot::{
        Bits, Seed, Session, Sid,
        base::{
            BaseOt, Choice,
            roted::{Endemic, Rot},
        },
        engine::{Engine, Progress},
    };

    use crate::firmware::{self, heap::Heap, machine, print, print_numbers};

    #[global_allocator]
    static HEAP: Heap<{ 512 << 10 }> = Heap::new();

    /// The cost of one party.
    #[derive(Default)]
    struct Cost {
        instructions: u32,
        longest: u32,
        stack: usize,
        heap: usize,
        sent: usize,
    }

    /// A party that is measured while it computes. Messages of the peer are on the heap when it gets them.
    struct Party<'a, Out> {
        engine: Engine<'a, Out>,
        cost: Cost,
    }

    impl<'a, Out> Party<'a, Out> {
        fn new(make: impl FnOnce() -> Engine<'a, Out>) -> Self {
            Self { engine: make(), cost: Cost::default() }
        }

        fn step(&mut self) -> (Vec<Vec<u8>>, Option<Out>) {
            HEAP.forget_peak();
            firmware::paint_stack();
            let start = machine::instructions();
            let progress = self.engine.advance();
            let took = machine::since(start);
            self.cost.stack = self.cost.stack.max(firmware::used_stack());
            self.cost.heap = self.cost.heap.max(HEAP.peak());
            self.cost.instructions += took;
            self.cost.longest = self.cost.longest.max(took);
            let Ok(progress) = progress else { firmware::exit(false) };
            let mut messages = Vec::new();
            while let Some((_, message)) = self.engine.outgoing() {
                self.cost.sent += message.len();
                messages.push(message);
            }
            (messages, if let Progress::Done(out) = progress { Some(out) } else { None })
        }

        fn report(&self, protocol: &str, role: &str, n: usize) {
            let Cost { instructions, longest, stack, heap, sent } = self.cost;
            for text in [protocol, ",", role, ","] {
                print(text.as_bytes());
            }
            let [n, stack, heap, sent] = [n, stack, heap, sent].map(|it| it as u32);
            print_numbers(&[n, instructions, longest, stack, heap, sent]);
        }
    }

    fn both(base: &dyn BaseOt, n: usize) {
        let session = || Session::new(Sid::from_bytes([7; 32]));
        let bits: Vec<bool> = (0..n).map(|i| i % 3 == 0).collect();
        let given = matches!(base.info().name, "roted-endemic");
        let mut sender = Party::new(|| {
            base.sender(session(), n, Seed::from_bytes([8; 32]))
                .unwrap_or_else(|_| firmware::exit(false))
        });
        let mut receiver = Party::new(|| {
            let choice =
                if given { Choice::Given(Bits::from_bools(bits)) } else { Choice::Random(n) };
            base.receiver(session(), choice, Seed::from_bytes([9; 32]))
                .unwrap_or_else(|_| firmware::exit(false))
        });
        let (mut pairs, mut chosen) = (None, None);
        while pairs.is_none() || chosen.is_none() {
            if chosen.is_none() {
                let (messages, out) = receiver.step();
                chosen = out;
                for message in messages {
                    sender.engine.deliver(0, message);
                }
            }
            if pairs.is_none() {
                let (messages, out) = sender.step();
                pairs = out;
                for message in messages {
                    receiver.engine.deliver(0, message);
                }
            }
        }
        if let (Some(pairs), Some(chosen)) = (pairs, chosen) {
            for (i, pair) in pairs.pairs().iter().enumerate() {
                let c = usize::from(chosen.choices().get(i).unwrap_u8());
                if pair[c] != chosen.keys()[i] || pair[1 - c] == chosen.keys()[i] {
                    firmware::exit(false);
                }
            }
        }
        sender.report(base.info().name, "sender", n);
        receiver.report(base.info().name, "receiver", n);
    }

    #[unsafe(no_mangle)]
    extern "C" fn image() -> ! {
        print(b"# ");
        print(machine::NAME.as_bytes());
        print(b"\n");
        for n in [1, 16] {
            both(&Endemic, n);
            both(&Rot, n);
        }
        firmware::exit(true)
    }
}

#[cfg(not(target_os = "none"))]
fn main() {}
