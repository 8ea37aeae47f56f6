//! The firmware: a party that does one job per session, for QEMU's boards. The emulator's arguments say which (a product
//! would say it in its code): JOB PROTOCOL COUNT KEY SESSIONS SILENCE.
#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
#[path = "../firmware.rs"]
mod firmware;

#[cfg(target_os = "none")]
mod run {
    extern crate alloc;

    use alloc::{format, vec::Vec};
    use core::fmt::Write;

    use foxtrot_device::{Base, Bits, Board, Job, Outcome, Party, Step};
    use foxtrot_ot::{Session, Sid, line::Key};
    use zeroize::Zeroizing;

    use crate::firmware::{self, Console, heap::Heap, machine};

    /// Bytes of the heap: enough for one transfer, or for as many as the larger build takes.
    const HEAP_BYTES: usize = if cfg!(feature = "large") { 192 << 10 } else { 12 << 10 };

    #[global_allocator]
    static HEAP: Heap<HEAP_BYTES> = Heap::new();

    /// A board of QEMU.
    struct Emulated {
        tick: u32,
        ticks: u32,
        milliseconds: u32,
        drawn: u64,
        seed: [u8; 32],
    }

    impl Board for Emulated {
        fn receive(&mut self) -> Option<u8> {
            machine::read()
        }

        fn send(&mut self, byte: u8) -> bool {
            machine::write(byte)
        }

        fn milliseconds(&mut self) -> u32 {
            self.ticks += machine::ticks_since(&mut self.tick);
            self.milliseconds += self.ticks / machine::TICKS_PER_MILLISECOND;
            self.ticks %= machine::TICKS_PER_MILLISECOND;
            self.milliseconds
        }

        /// NOT FOR USE. These boards have no generator. The bytes are hashes of the key, of the clock's first value and of a
        /// counter: a reset may repeat them, the host can compute them, and so the host could read every choice. A real
        /// board fills this in from its hardware generator.
        fn random(&mut self, bytes: &mut [u8]) {
            let oracle =
                Session::new(Sid::from_bytes(self.seed)).oracle("foxtrot v1 example board");
            oracle.answer(self.drawn, 0, &[], bytes);
            self.drawn += 1;
        }
    }

    /// The job of the arguments.
    fn job(name: &str, base: &str, n: usize) -> Option<Job> {
        let base = match base {
            "roted" => Base::Roted,
            "roted-endemic" => Base::Endemic,
            _ => return None,
        };
        Some(match name {
            "send-random" => Job::SendRandom(base, n),
            "receive-random" => Job::ReceiveRandom(base, n),
            "send" => {
                let message = |i: usize, j: usize| {
                    Zeroizing::new(format!("message {j} of pair {i}").into_bytes())
                };
                let messages = (0..n).map(|i| [message(i, 0), message(i, 1)]).collect();
                Job::SendMessages { messages, hex: false }
            }
            "receive" => {
                // 0, 1, 1, 0, 1, 1, …
                Job::ReceiveMessages {
                    choices: Bits::from_bools((0..n).map(|i| i % 3 != 0)),
                    hex: false,
                }
            }
            _ => return None,
        })
    }

    fn key(hex: &str) -> Option<[u8; 32]> {
        let mut key = [0; 32];
        if hex.len() != 64 {
            return None;
        }
        for (byte, digits) in key.iter_mut().zip(hex.as_bytes().chunks(2)) {
            *byte = u8::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()?;
        }
        Some(key)
    }

    /// Prints the result as a development board would on its console. A product prints no keys.
    fn print(outcome: &Outcome) {
        let hex = |bytes: &[u8]| {
            for byte in bytes {
                let _ = write!(Console, "{byte:02x}");
            }
        };
        match outcome {
            Outcome::Sent => {}
            Outcome::Messages(messages) => {
                for message in messages {
                    let _ = writeln!(Console, "{}", str::from_utf8(message).unwrap_or("(bytes)"));
                }
            }
            Outcome::SenderKeys(keys) => {
                for pair in keys.pairs() {
                    hex(&pair[0]);
                    let _ = write!(Console, " ");
                    hex(&pair[1]);
                    let _ = writeln!(Console);
                }
            }
            Outcome::ReceiverKeys(keys) => {
                for (i, key) in keys.keys().iter().enumerate() {
                    let _ = write!(Console, "{} ", keys.choices().get(i).unwrap_u8());
                    hex(key);
                    let _ = writeln!(Console);
                }
            }
        }
    }

    fn sessions() -> Option<()> {
        let mut buffer = [0; 160];
        let words: Vec<&str> = firmware::arguments(&mut buffer).split(' ').collect();
        let [_, name, base, n, hex, sessions, silence] = words[..] else { return None };
        let (n, psk) = (n.parse().ok()?, key(hex)?);
        let (sessions, silence): (u32, u32) = (sessions.parse().ok()?, silence.parse().ok()?);
        drop(words);
        let mut board = Emulated { tick: 0, ticks: 0, milliseconds: 0, drawn: 0, seed: psk };
        for _ in 0..sessions {
            session(&mut board, job(name, base, n)?, psk, silence);
        }
        Some(())
    }

    /// Runs a session and says how it ended, and what it took.
    fn session(board: &mut Emulated, job: Job, psk: [u8; 32], silence: u32) {
        HEAP.forget_peak();
        firmware::paint_stack();
        let (mut all, mut longest) = (0, 0);
        let mut party = Party::new(job, Key::from_bytes(psk), board).with_silence(silence);
        let _ = writeln!(Console, "ready");
        let ended = loop {
            let start = machine::instructions();
            let step = party.step(board);
            let took = machine::since(start);
            // A board feeds its watchdog here.
            match step {
                Step::Waits => continue,
                _ => (all, longest) = (all + took, took.max(longest)),
            }
            match step {
                Step::Done(outcome) => break Ok(outcome),
                Step::Failed(fault) => break Err(fault),
                _ => {}
            }
        };
        drop(party);
        let (stack, heap) = (firmware::used_stack(), HEAP.peak());
        match ended {
            Ok(outcome) => {
                print(&outcome);
                let _ = writeln!(Console, "done");
            }
            Err(fault) => {
                let _ = writeln!(Console, "failed: {fault}");
            }
        }
        let statics = firmware::static_bytes() - size_of_val(&HEAP);
        let _ = writeln!(Console, "# {all},{longest},{stack},{heap},{statics}");
    }

    #[unsafe(no_mangle)]
    extern "C" fn image() -> ! {
        firmware::exit(sessions().is_some())
    }
}

#[cfg(not(target_os = "none"))]
fn main() {}
