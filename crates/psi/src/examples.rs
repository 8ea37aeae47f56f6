//! The example of the protocols' pages.

/// The example of an intersection.
macro_rules! intersection_example {
    ($parameters:literal) => {
        concat!(
            r"
Both parties in one program, over a [`Pair`](foxtrot_ot::pair::Pair); between two programs a driver takes its place:

```
use foxtrot_ot::{Context, Direction, Seed, Session, Sid, base::roted::Endemic};
use foxtrot_ot::{engine::Engine, pair::Pair};
use foxtrot_psi::method::protocol::{IntersectionPlan, Receiver, Sender};

// Items are digests of 32 bytes; both sides know the sizes.
let (ours, theirs) = (vec![[1; 32], [2; 32], [3; 32]], vec![[3; 32], [5; 32]]);
let parameters = ", $parameters, r"?.into();
let plan = IntersectionPlan { parameters, base: &Endemic, direction: Direction::InitiatorSends, counter: 0 };
// The parties have agreed on the session; each has a secret seed, which it uses once.
let session = Session::new(Sid::from_bytes([7; 32]));
let context = |seed| Context::new(&session, Seed::from_bytes([seed; 32]));

let sender = Engine::new(|io| async move {
    let sender = Sender::set_up(&io, &mut context(8), plan).await?;
    sender.run(&io, theirs, &mut |_| ()).await
});
let receiver = Engine::new(|io| async move {
    let receiver = Receiver::set_up(&io, &mut context(9), plan).await?;
    receiver.run(&io, ours, &mut |_| ()).await?.intersect()
});
let ((), common) = Pair::new(sender, receiver).run().map_err(|(_party, e)| e)?;
assert_eq!(common, [2]);
# Ok::<(), foxtrot_psi::Error>(())
```
"
        )
    };
}
