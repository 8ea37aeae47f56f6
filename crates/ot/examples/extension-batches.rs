//! Batches of an extension in memory, both parties, with base OTs and on the backend that `FOXTROT_BACKEND` names; for
//! tools that count instructions: `cargo run --release -p foxtrot-ot --example extension-batches -- BATCHES N NAME`.
//!
//! The difference between two runs with different numbers of batches is what the batches take.

use foxtrot_ot::{
    Backend, Bits, Direction, Error, Seed, Session, Sid,
    base::{BaseOt, Choice, roted},
    extension::{OtKind, Places, ROWS, Receiver, Sender, Shape, registry},
    pair::Pair,
};

const BASE: &dyn BaseOt = &roted::Endemic;

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let mut next = |or: usize| arguments.next().map_or(or, |text| text.parse().expect("a number"));
    let (batches, n) = (next(1), next(1 << 14));
    let name = arguments.next().unwrap_or_else(|| "softspoken-4".into());
    eprintln!("{batches} batches of {n}, {name}, on {}", Backend::best().name());
    let extension = registry().find(|it| it.info().name == name).expect("a name of the registry");
    let session =
        |protocol| Session::new(Sid::from_bytes([0; 32])).sub(protocol, 0, Direction::default());
    let seed = |byte| Seed::from_bytes([byte; 32]);

    let choice = Choice::Given(Bits::from_bools((0..ROWS).map(|i| i % 3 == 0)));
    let base = BASE.sender(session("base"), ROWS, seed(1))?;
    let base = Pair::new(base, BASE.receiver(session("base"), choice, seed(2))?);
    let (sent, received) = base.run().map_err(|(_, error)| error)?;
    let (mut receiver, setup) = Receiver::new(session("extension"), extension, sent, seed(3))?;
    let mut sender = Sender::new(session("extension"), extension, received, &setup, seed(4))?;

    let shape = Shape::random(n).batches(extension.max_batch()).next().expect("not empty");
    let (mut keys, mut pairs) = (vec![[0; 16]; shape.n()], vec![[[0; 16]; 2]; shape.n()]);
    for _ in 0..batches {
        let mut corrections = Vec::new();
        let begun = receiver.extend(vec![(Choice::Random(shape.n()), &mut corrections)])?;
        let absorbed = sender.absorb(&[(shape, &corrections)])?;
        let (absorbed, challenges): (Vec<_>, Vec<_>) = absorbed.into_iter().unzip();
        let challenge = challenges[0].as_ref().map_or(&[][..], |it| it);
        let begun = begun.into_iter().zip([keys.as_mut_slice()]);
        let begun = begun.map(|(batch, keys)| (batch, challenge, keys));
        let finished = receiver.finish(OtKind::Random, begun.collect())?;
        let proof = finished[0].1.as_slice();
        let absorbed = absorbed.into_iter().zip([Places::Random(&mut pairs)]);
        let absorbed = absorbed.map(|(batch, places)| (batch, proof, places));
        sender.finish(absorbed.collect())?;
        std::hint::black_box((&keys, &pairs));
    }
    Ok(())
}
