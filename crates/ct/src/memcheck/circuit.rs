//! Counts and sums over an intersection, whole runs, but for items: where they are placed follows from them. Secret are seeds, the
//! sender's numbers, and all that comes of them but messages and the result.

use foxtrot_kernel::memcheck::public;
use foxtrot_ot::{
    Backend, Context, Session, Sid, base::roted::Endemic, engine::Engine, pair::Pair,
};
use foxtrot_psi::circuit::{
    CircuitTerms, Outcome, Parameters,
    protocol::{CircuitPlan, receive, send},
};

use super::{Check, secrets, seed};

pub(crate) fn checks() -> impl Iterator<Item = Check> {
    let sum = CircuitTerms { largest: Some(1000), at_least: 3, both: false };
    [("count", CircuitTerms::default()), ("sum", sum)].into_iter().map(|(name, terms)| Check {
        name: format!("circuit-psi, {name}, items public"),
        run: Box::new(move |backend| run(terms, backend)),
    })
}

fn run(terms: CircuitTerms, backend: Backend) {
    let digests = |first: u8| (first..first + 20).map(|k| [k; 32]).collect::<Vec<_>>();
    let parameters = Parameters::new(terms, 20, 20).expect("small sets");
    let (base, direction) = (&Endemic, Default::default());
    let plan = CircuitPlan { parameters, base, direction, counter: 0 };
    let numbers: Vec<u64> = match terms.largest {
        Some(_) => secrets([7; 20]).map(u64::from).to_vec(),
        None => Vec::new(),
    };
    let session = || Session::new(Sid::from_bytes([0; 32])).with_backend(backend);
    let sender = Engine::new(|io| async move {
        let session = session();
        send(&io, &mut Context::new(&session, seed(3)), plan, digests(10), &numbers, &mut |_| ())
            .await
    });
    let receiver = Engine::new(|io| async move {
        let session = session();
        receive(&io, &mut Context::new(&session, seed(4)), plan, digests(0), &mut |_| ()).await
    });
    let (_, outcome) = Pair::new(sender, receiver)
        .run_through(|_, mut message| {
            public(&mut message);
            message
        })
        .expect("both follow the protocol");
    let sum = terms.largest.map(|_| 70);
    assert_eq!(outcome, Outcome::Released { count: 10, sum });
}
