//! The firmware: a party that does one job per session, for QEMU's boards. The emulator's arguments say which (a product
//! would say it in its code): JOB COUNT KEY SESSIONS SILENCE.
#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
#[path = "../firmware.rs"]
mod firmware;

#[cfg(target_os = "none")]
mod run {
    extern crate alloc;

    use foxtrot_device::{Bits, Board, Job, Outcome, Party, Step};
    use foxtrot_ot::{Session, Sid, line::Key};
    use zeroize::Zeroizing;

    use crate::firmware::{self, decimal, heap::Heap, machine, print, print_numbers};

    /// Bytes of the heap: enough for one transfer, or for as many as the larger build takes.
    const HEAP_BYTES: usize = if cfg!(feature = "large") { 192 << 10 } else { 10016 };

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
    fn job(name: &[u8], n: usize) -> Option<Job> {
        Some(match name.split(|&it| it == 0).next()? {
            b"send-random" if cfg!(feature = "send-random") => Job::SendRandom(n),
            b"receive-random" if cfg!(feature = "receive-random") => Job::ReceiveRandom(n),
            b"send" if cfg!(feature = "send-messages") => {
                let message = |i: usize, j: u8| {
                    let mut digits = [0; 10];
                    let number = decimal(i as u32, &mut digits);
                    let texts = [&b"message "[..], &[b'0' + j], b" of pair ", number];
                    Zeroizing::new(texts.concat())
                };
                let messages = (0..n).map(|i| [message(i, 0), message(i, 1)]).collect();
                Job::SendMessages { messages, hex: false }
            }
            b"receive" if cfg!(feature = "receive-messages") => {
                // 0, 1, 1, 0, 1, 1, …
                Job::ReceiveMessages {
                    choices: Bits::from_bools((0..n).map(|i| i % 3 != 0)),
                    hex: false,
                }
            }
            _ => return None,
        })
    }

    fn digit(byte: u8, radix: u32) -> Option<u8> {
        Some(char::from(byte).to_digit(radix)? as u8)
    }

    fn number(decimal: &[u8]) -> Option<usize> {
        decimal
            .iter()
            .try_fold(0, |number, &byte| Some(number * 10 + usize::from(digit(byte, 10)?)))
    }

    fn key(hex: &[u8]) -> Option<[u8; 32]> {
        let mut key = [0; 32];
        if hex.len() != 64 {
            return None;
        }
        for (byte, digits) in key.iter_mut().zip(hex.chunks_exact(2)) {
            *byte = digit(digits[0], 16)? << 4 | digit(digits[1], 16)?;
        }
        Some(key)
    }

    /// Prints the result as a development board would on its console. A product prints no keys.
    fn print_outcome(outcome: &Outcome) {
        let hex = |bytes: &[u8]| {
            for byte in bytes {
                print(&[byte >> 4, byte & 15].map(|it| b"0123456789abcdef"[usize::from(it)]));
            }
        };
        match outcome {
            Outcome::Sent => {}
            Outcome::Messages(messages) => {
                for message in messages {
                    print(message);
                    print(b"\n");
                }
            }
            Outcome::SenderKeys(keys) => {
                for pair in keys.pairs() {
                    hex(&pair[0]);
                    print(b" ");
                    hex(&pair[1]);
                    print(b"\n");
                }
            }
            Outcome::ReceiverKeys(keys) => {
                for (i, key) in keys.keys().iter().enumerate() {
                    print(&[b'0' + keys.choices().get(i).unwrap_u8(), b' ']);
                    hex(key);
                    print(b"\n");
                }
            }
        }
    }

    /// The emulator's arguments.
    struct Arguments {
        name: [u8; 14],
        n: usize,
        psk: [u8; 32],
        sessions: usize,
        silence: usize,
    }

    // Never inlined: the text is not to stay on the stack.
    #[inline(never)]
    fn read() -> Option<Arguments> {
        let mut buffer = [0; 160];
        let mut words = firmware::arguments(&mut buffer).split(|&it| it == b' ').skip(1);
        let mut name = [0; 14];
        let word = words.next()?;
        name.get_mut(..word.len())?.copy_from_slice(word);
        let n = number(words.next()?)?;
        let psk = key(words.next()?)?;
        let (sessions, silence) = (number(words.next()?)?, number(words.next()?)?);
        Some(Arguments { name, n, psk, sessions, silence })
    }

    fn sessions() -> Option<()> {
        let Arguments { name, n, psk, sessions, silence } = read()?;
        let mut board = Emulated { tick: 0, ticks: 0, milliseconds: 0, drawn: 0, seed: psk };
        for _ in 0..sessions {
            session(&mut board, job(&name, n)?, psk, silence as u32);
        }
        Some(())
    }

    /// Runs a session and says how it ended, and what it took.
    fn session(board: &mut Emulated, job: Job, psk: [u8; 32], silence: u32) {
        HEAP.forget_peak();
        firmware::paint_stack();
        let (mut all, mut longest) = (0, 0);
        let mut party = Party::new(job, Key::from_bytes(psk), board).with_silence(silence);
        print(b"ready\n");
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
                print_outcome(&outcome);
                print(b"done\n");
            }
            Err(fault) => {
                print(b"failed: ");
                print(fault.words().as_bytes());
                print(b"\n");
            }
        }
        let statics = firmware::static_bytes() - size_of_val(&HEAP);
        print(b"# ");
        print_numbers(&[all, longest, stack as u32, heap as u32, statics as u32]);
    }

    #[unsafe(no_mangle)]
    extern "C" fn image() -> ! {
        firmware::exit(sessions().is_some())
    }
}

#[cfg(not(target_os = "none"))]
fn main() {}
