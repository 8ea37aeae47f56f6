//! Batches of `roted` in memory, both roles, on the backend that `FOXTROT_BACKEND` names; for tools
//! that count instructions: `cargo run --release -p foxtrot-ot --example roted-batches -- BATCHES N`.
//!
//! The difference between two runs with different numbers of batches is what the batches take:
//!
//!     qemu-aarch64 -singlestep -d nochain,exec -D /dev/stdout roted-batches 2 128 | grep -c ^Trace

use foxtrot_ot::{
    Backend, Seed, Session, Sid,
    base::roted::rot::{Receiver, Sender},
};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut next = |or: usize| arguments.next().map_or(or, |text| text.parse().expect("a number"));
    let (batches, n) = (next(1), next(128));
    eprintln!("{batches} batches of {n} on {}", Backend::best().name());
    for batch in (0..).take(batches) {
        let session =
            || Session::new(Sid::from_bytes([1; 32])).sub("batch", batch, Default::default());
        let seed = |role| Seed::from_bytes([role; 32]);
        let (receiver, blinded) = Receiver::start(session(), n, seed(2)).expect("not empty");
        let (sender, reply) = Sender::respond(session(), &blinded, seed(3));
        let (keys, opening) = receiver.finish(&reply).expect("as many as there are");
        let pairs = sender.finish(&opening).expect("the opening of the commitment");
        std::hint::black_box((keys, pairs));
    }
}
