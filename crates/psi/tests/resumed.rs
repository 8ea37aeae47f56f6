//! Set intersection over resumed base OTs: it works, and states that do not belong together end it.

use foxtrot_ot::{
    Context, Direction, Error as Protocol, Misbehaved, Seed, Session, Sid,
    base::{
        Adversary,
        resumed::{Kept, State},
        roted::Endemic,
    },
    engine::Engine,
    pair::Pair,
};
use foxtrot_psi::{
    Error,
    method::{
        Assumption, Method,
        protocol::{IntersectionPlan, Receiver, Sender},
    },
};

/// An intersection in the session with that number.
fn run(
    assumption: Assumption,
    number: u8,
    [ours, theirs]: [&Kept; 2],
) -> Result<Vec<usize>, Error> {
    let method = Method { base: &Endemic, assumption, adversary: Adversary::Malicious };
    let items = |numbers: std::ops::Range<u8>| numbers.map(|k| [k; 32]).collect::<Vec<_>>();
    let parameters = method.parameters(40, 60).unwrap();
    let plan = |base| IntersectionPlan {
        parameters,
        base,
        direction: Direction::InitiatorSends,
        counter: 0,
    };
    let session = move || Session::new(Sid::from_bytes([number; 32]));
    let sender = Engine::new(|io| async move {
        let session = session();
        let mut cx = Context::new(&session, Seed::from_bytes([number; 32]));
        Sender::set_up(&io, &mut cx, plan(ours)).await?.run(&io, items(30..90), &mut |_| ()).await
    });
    let receiver = Engine::new(|io| async move {
        let session = session();
        let mut cx = Context::new(&session, Seed::from_bytes([number + 100; 32]));
        let receiver = Receiver::set_up(&io, &mut cx, plan(theirs)).await?;
        receiver.run(&io, items(0..40), &mut |_| ()).await?.intersect()
    });
    Pair::new(sender, receiver).run().map(|((), found)| found).map_err(|(_party, e)| e)
}

fn copy(state: &State) -> State {
    State::from_bytes(state.n(), &state.to_bytes()).unwrap()
}

#[test]
fn sessions_one_after_another_find_the_same_and_states_of_two_sessions_find_nothing() {
    for assumption in Assumption::ALL {
        let common = || (30..40).collect::<Vec<_>>();
        let fresh = [Kept::fresh(&Endemic), Kept::fresh(&Endemic)];
        assert_eq!(run(assumption, 1, [&fresh[0], &fresh[1]]).unwrap(), common());
        let first = fresh.map(|it| it.into_state().unwrap());
        let resumed = [&first[0], &first[1]].map(|it| Kept::resume(&Endemic, copy(it)));
        assert_eq!(run(assumption, 2, [&resumed[0], &resumed[1]]).unwrap(), common());
        let second = resumed.map(|it| it.into_state().unwrap());
        // Either side returns to the state before, or goes ahead.
        for (ours, theirs) in [(&first[0], &second[1]), (&second[0], &first[1])] {
            let mixed = [ours, theirs].map(|it| Kept::resume(&Endemic, copy(it)));
            let error = run(assumption, 3, [&mixed[0], &mixed[1]]).unwrap_err();
            let failed = Protocol::Misbehaved(Misbehaved::ConsistencyCheck);
            assert!(matches!(&error, Error::Protocol(e) if *e == failed), "{error:?}");
        }
        let resumed = [&second[0], &second[1]].map(|it| Kept::resume(&Endemic, copy(it)));
        assert_eq!(run(assumption, 4, [&resumed[0], &resumed[1]]).unwrap(), common());
    }
}
