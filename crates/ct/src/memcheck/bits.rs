//! Bit triples, whole runs: secret are seeds, and all that comes of them but messages.

use foxtrot_kernel::memcheck::public;
use foxtrot_ot::{Backend, Context, Session, Sid, engine::Engine, pair::Pair};
use foxtrot_triples::{
    Error, Shares, TripleKind,
    bits::registry,
    formats::{record_len, write_records, wrong_records},
};

use super::{Check, seed};

/// Triples: some words.
const N: u64 = 320;

pub(crate) fn checks() -> impl Iterator<Item = Check> {
    registry().map(|set| Check {
        name: set.name().into(),
        run: Box::new(move |backend| run(TripleKind::Bits(set), backend)),
    })
}

fn run(kind: TripleKind, backend: Backend) {
    let party = |we_are_initiator, byte| {
        Engine::new(move |io| async move {
            let session = Session::new(Sid::from_bytes([0; 32])).with_backend(backend);
            let mut cx = Context::new(&session, seed(byte));
            let mut records = Vec::new();
            let mut sink = |shares: &Shares| {
                records = vec![0; shares.len() * record_len(1)];
                write_records(shares, &mut records);
                Ok(())
            };
            kind.generate(&io, &mut cx, we_are_initiator, 0..1, N, &mut sink).await?;
            Ok::<_, Error>(records)
        })
    };
    let (mut ours, mut theirs) = Pair::new(party(true, 3), party(false, 4))
        .run_through(|_, mut message| {
            public(&mut message);
            message
        })
        .expect("both follow the protocol");
    public(&mut ours);
    public(&mut theirs);
    assert_eq!(wrong_records(1, &ours, &theirs).next(), None);
}
