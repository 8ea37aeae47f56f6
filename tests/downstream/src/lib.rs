//! Work on a thread with a small stack, and what the tests of all protocols share.

use std::thread;

use foxtrot_ot::{Backend, Bits, Seed, Session, Sid};

/// The stack on which every protocol runs at opt-level 0, in bytes.
pub const STACK: usize = 512 << 10;

/// The numbers of OTs or items of a slow test: it runs every protocol with each of them.
pub const ALL_SIZES: [usize; 5] = [1, 2, 17, 128, 1024];

/// Runs `work` on every backend of this machine, each time on a new thread of [`STACK`] bytes. A stack that
/// overflows ends the process, which then prints the thread's name: the work and the backend.
///
/// # Panics
/// If `work` panics, or the system gives no thread.
pub fn on_small_stacks(name: &str, work: impl Fn(Backend) + Clone + Send + 'static) {
    for backend in Backend::all() {
        let work = work.clone();
        let thread = thread::Builder::new()
            .name(format!("{name}, {}", backend.name()))
            .stack_size(STACK)
            .spawn(move || work(backend));
        thread.expect("a thread").join().expect("the work ends");
    }
}

/// A session for every test.
#[must_use]
pub fn session(backend: Backend) -> Session {
    Session::new(Sid::from_bytes([7; 32])).with_backend(backend).sub("test", 0, Default::default())
}

/// A seed for each byte.
#[must_use]
pub fn seed(byte: u8) -> Seed {
    Seed::from_bytes([byte; 32])
}

/// Choice bits, one in three of which is 1.
#[must_use]
pub fn choices(n: usize) -> Bits {
    Bits::from_bools((0..n).map(|i| i % 3 == 1))
}
