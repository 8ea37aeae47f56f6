//! The examples of the protocols' pages.

/// The example of a base OT, and of the two-round extension.
macro_rules! base_ot_example {
    ($protocol:literal, $choice:literal) => {
        concat!(
            r"
Both parties in one program, over a [`Pair`](crate::pair::Pair); between two programs a driver takes its place:

```
use foxtrot_ot::base::{self, BaseOt, Choice};
use foxtrot_ot::{Bits, Seed, Session, Sid, pair::{Pair, assert_rot}};
# use foxtrot_ot::extension;

let protocol = ", $protocol, r";
let choice = ", $choice, r";
// The parties have agreed on the session; each has a secret seed, which it uses once.
let session = || Session::new(Sid::from_bytes([7; 32]));

let sender = protocol.sender(session(), 2, Seed::from_bytes([8; 32]))?;
let receiver = protocol.receiver(session(), choice, Seed::from_bytes([9; 32]))?;
let (pairs, chosen) = Pair::new(sender, receiver).run().map_err(|(_party, e)| e)?;
// Of each pair the receiver has the key of its choice.
assert_rot(&pairs, &chosen);
# Ok::<(), foxtrot_ot::Error>(())
```
"
        )
    };
}

/// The example of an extension of 1-of-2 OTs.
macro_rules! extension_example {
    ($extension:literal) => {
        concat!(
            r"
Both parties in one program, over a [`Pair`](crate::pair::Pair); between two programs a driver takes its place:

```
use foxtrot_ot::base::{Choice, roted::Endemic};
use foxtrot_ot::extension::{self, OtKind, Shape, protocol::{ExtensionPlan, Receiver, Sender}};
use foxtrot_ot::{Bits, Context, Direction, Seed, Session, Sid, engine::Engine, pair::Pair};

let extension = ", $extension, r";
let plan = ExtensionPlan { extension, base: &Endemic, direction: Direction::InitiatorSends, counter: 0 };
// The parties have agreed on the session; each has a secret seed, which it uses once.
let session = Session::new(Sid::from_bytes([7; 32]));
let context = |seed| Context::new(&session, Seed::from_bytes([seed; 32]));

let sender = Engine::new(|io| async move {
    let mut sender = Sender::set_up(&io, &mut context(8), plan).await?;
    let mut pairs = Vec::new();
    let sink = |some: &[[_; 2]]| Ok(pairs.extend_from_slice(some));
    sender.random(&io, Shape::random(1000), sink).await?;
    Ok::<_, foxtrot_ot::Error>(pairs)
});
let receiver = Engine::new(|io| async move {
    let mut receiver = Receiver::set_up(&io, &mut context(9), plan).await?;
    let mut chosen = Vec::new();
    let sink = |choices: &Bits, keys: &[_]| {
        Ok(chosen.extend(keys.iter().enumerate().map(|(i, key)| (choices.get(i).unwrap_u8(), *key))))
    };
    receiver.run(&io, &Choice::Random(1000), OtKind::Random, sink).await?;
    Ok(chosen)
});
let (pairs, chosen) = Pair::new(sender, receiver).run().map_err(|(_party, e)| e)?;
assert_eq!((pairs.len(), chosen.len()), (1000, 1000));
// Of each pair the receiver has the key of its choice.
assert!(pairs.iter().zip(&chosen).all(|(pair, (choice, key))| pair[usize::from(*choice)] == *key));
# Ok::<(), foxtrot_ot::Error>(())
```
"
        )
    };
}

/// The example of an extension of 1-of-N OTs.
macro_rules! one_of_n_example {
    ($extension:literal) => {
        concat!(
            r#"
Both parties in one program, over a [`Pair`](crate::pair::Pair); between two programs a driver takes its place:

```
use foxtrot_ot::extension::{self, one_of_n::protocol::{OneOfNPlan, Receiver, Sender, Shape}};
use foxtrot_ot::{Context, Direction, Seed, Session, Sid, base::roted::Endemic};
use foxtrot_ot::{engine::Engine, pair::Pair};

let extension = "#, $extension, r#";
let plan = OneOfNPlan { extension, base: &Endemic, direction: Direction::InitiatorSends, counter: 0 };
// The parties have agreed on the session; each has a secret seed, which it uses once.
let session = Session::new(Sid::from_bytes([7; 32]));
let context = |seed| Context::new(&session, Seed::from_bytes([seed; 32]));
// Two OTs, each one of 10: the receiver wants numbers 3 and 9.
let shape = Shape { n: 2, choices: 10 };
let words = [3, 9].map(|choice| extension.parameters().word(choice).expect("a word")).concat();

let sender = Engine::new(|io| async move {
    let mut sender = Sender::set_up(&io, &mut context(8), plan).await?;
    let mut all = Vec::new();
    sender.run(&io, shape, |keys| Ok(all.extend_from_slice(keys))).await?;
    Ok::<_, foxtrot_ot::Error>(all)
});
let receiver = Engine::new(|io| async move {
    let mut receiver = Receiver::set_up(&io, &mut context(9), plan).await?;
    let mut chosen = Vec::new();
    receiver.run(&io, shape, &words, |keys| Ok(chosen.extend_from_slice(keys))).await?;
    Ok(chosen)
});
let (all, chosen) = Pair::new(sender, receiver).run().map_err(|(_party, e)| e)?;
assert_eq!(chosen, [all[3], all[10 + 9]]);
# Ok::<(), foxtrot_ot::Error>(())
```
"#
        )
    };
}
