//! Computes what depends on secrets, once, for `cargo xtask device`: it runs this image with other secrets and compares every
//! instruction and every address. The emulator's arguments say which secrets, and which fault to plant.
#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
#[path = "../firmware.rs"]
mod firmware;

#[cfg(target_os = "none")]
mod run {
    extern crate alloc;

    use alloc::{vec, vec::Vec};
    use core::{arch::asm, hint::black_box};

    use foxtrot_ot::{
        Bits, Seed, Session, Sid,
        base::{
            Block,
            roted::{endemic, rot},
        },
        convert::{Format, Receiver, Sender},
        line::{Initiator, Key, Responder},
    };

    use crate::firmware::{self, heap::Heap, print};

    #[global_allocator]
    static HEAP: Heap<{ 64 << 10 }> = Heap::new();

    /// Between two calls of it the traces are compared.
    #[unsafe(no_mangle)]
    #[inline(never)]
    extern "C" fn edge() {
        // SAFETY: an instruction that does nothing. It keeps the calls.
        unsafe { asm!("nop") }
    }

    /// Runs a piece that is compared.
    fn compare<Out>(name: &str, piece: impl FnOnce() -> Out) -> Out {
        print(name.as_bytes());
        print(b"\n");
        edge();
        let out = piece();
        edge();
        out
    }

    /// The result, which is there.
    fn some<T, E>(it: Result<T, E>) -> T {
        it.unwrap_or_else(|_| firmware::exit(false))
    }

    /// Secrets of a run.
    struct Secrets(u8);

    impl Secrets {
        fn bytes<const L: usize>(&self, purpose: u64) -> [u8; L] {
            let mut bytes = [0; L];
            session(self.0).oracle("foxtrot v1 test secrets").answer(purpose, 0, &[], &mut bytes);
            bytes
        }

        fn seed(&self, purpose: u64) -> Seed {
            Seed::from_bytes(self.bytes(purpose))
        }

        fn bits(&self, n: usize) -> Bits {
            Bits::from_bools((0..n).map(|i| self.0 >> i & 1 == 1))
        }
    }

    fn session(number: u8) -> Session {
        Session::new(Sid::from_bytes([number; 32]))
    }

    /// Public values come from this run's number.
    const PUBLIC: Secrets = Secrets(0);

    fn endemic(secrets: &Secrets, n: usize) {
        let at = || session(1);
        let (_, blinded) = some(endemic::Receiver::start(at(), PUBLIC.bits(n), PUBLIC.seed(1)));
        let (_, reply) = endemic::respond(at(), &blinded, PUBLIC.seed(2));
        let (choices, seed) = (secrets.bits(n), secrets.seed(3));
        let receiver = compare("roted-endemic, receiver: Blinded", || {
            some(endemic::Receiver::start(at(), choices, seed)).0
        });
        compare("roted-endemic, receiver: keys", || drop(some(receiver.finish(&reply))));
        let seed = secrets.seed(4);
        compare("roted-endemic, sender", || drop(endemic::respond(at(), &blinded, seed)));
    }

    fn rot(secrets: &Secrets, n: usize) {
        let at = || session(2);
        let (receiver, blinded) = some(rot::Receiver::start(at(), n, PUBLIC.seed(1)));
        let (_, reply) = rot::Sender::respond(at(), &blinded, PUBLIC.seed(2));
        let (_, opening) = some(receiver.finish(&reply));
        let seed = secrets.seed(5);
        let receiver =
            compare("roted, receiver: Blinded", || some(rot::Receiver::start(at(), n, seed)).0);
        compare("roted, receiver: keys", || drop(some(receiver.finish(&reply))));
        // The sender's bits a are public, and its second step goes by them: secrets with which they are zero.
        let public = |k: &u64| {
            let (_, reply) = rot::Sender::respond(at(), &blinded, secrets.seed(*k));
            reply.as_bytes()[32] == 0
        };
        let seed = secrets.seed((6..).find(public).unwrap_or_default());
        let sender =
            compare("roted, sender: Reply", || rot::Sender::respond(at(), &blinded, seed).0);
        compare("roted, sender: keys", || drop(some(sender.finish(&opening))));
    }

    fn messages(secrets: &Secrets) {
        let sealer = || some(Sender::new(session(3), Format::Pairs, 20));
        let keys: [Block; 2] = [secrets.bytes(1000), secrets.bytes(1001)];
        let texts: [[u8; 20]; 2] = [secrets.bytes(1002), secrets.bytes(1003)];
        let mut sender = sealer();
        compare("messages: seal", || drop(some(sender.seal(&keys, &texts))));
        // Of a public frame, the one or the other is opened.
        let keys: [Block; 2] = [PUBLIC.bytes(1), PUBLIC.bytes(2)];
        let frame = some(sealer().seal(&keys, &[[3; 20], [4; 20]]));
        let choice = secrets.bits(1).get(0).unwrap_u8();
        let key = black_box(keys[usize::from(choice)]);
        let (chosen, keys) = (vec![u64::from(choice)].into(), vec![key].into());
        let sealed = compare("messages: take", || {
            let mut receiver = some(Receiver::new(session(3), Format::Pairs, 20, chosen, keys));
            some(receiver.take(&frame));
            some(receiver.finish())
        });
        compare("messages: open", || {
            drop(some(sealed.open().collect::<Option<Vec<_>>>().ok_or(())))
        });
    }

    fn line(secrets: &Secrets) {
        let key = || Key::from_bytes(secrets.bytes(2000));
        let (initiator, opening) = Initiator::open(key(), [1; 32]);
        let (responder, answer) =
            compare("line: answer", || some(Responder::answer(key(), &opening, [2; 32])));
        let (mut host, confirmation) = some(initiator.confirm(&answer));
        let mut line = compare("line: finish", || some(responder.finish(&confirmation)));
        let (text, mut record): ([u8; 100], _) = (secrets.bytes(2001), [0; 128]);
        compare("line: seal", || line.sealer.seal(&text, &mut record));
        let len = host.sealer.seal(&text, &mut record);
        compare("line: open", || some(line.opener.open(&mut record[..len])).len());
    }

    /// Leaks that the comparison has to find.
    fn planted(secrets: &Secrets, fault: &[u8]) {
        let (bit, table) = (usize::from(secrets.0 & 1), black_box([1u32, 2]));
        compare("planted", || {
            black_box(match fault {
                b"branch" if black_box(bit) == 1 => black_box(1),
                b"index" => table[black_box(bit)],
                b"division" => black_box(1000) / (bit as u32 + 3),
                _ => 0,
            })
        });
    }

    #[unsafe(no_mangle)]
    extern "C" fn image() -> ! {
        let mut buffer = [0; 64];
        let words: Vec<_> = firmware::arguments(&mut buffer).split(|&it| it == b' ').collect();
        let [_, number, fault] = words[..] else { firmware::exit(false) };
        let secrets = Secrets(number[0]);
        for n in [1, 2] {
            endemic(&secrets, n);
            rot(&secrets, n);
        }
        messages(&secrets);
        line(&secrets);
        planted(&secrets, fault);
        firmware::exit(true)
    }
}

#[cfg(not(target_os = "none"))]
fn main() {}
