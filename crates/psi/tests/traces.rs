//! The bytes of a set intersection in each direction, as hashes in `traces.baseline`: a change of the
//! wire, or of a party's choice of slots, is a change of that file. Print a new one with
//! `FOXTROT_TRACES=print cargo test -p foxtrot-psi --test all traces:: -- --nocapture`.
//!
//! These are our own bytes, and no evidence that they are right: that is what vectors are for, which the schoolbook
//! implementation made. They show that no byte changes unseen, also in the slots that vectors leave out.

use foxtrot_ot::{
    Backend, Direction, Seed, Session, Sid, base::Adversary, erase::Secret,
    extension::one_of_n::Places, ideal,
};
use foxtrot_psi::{
    Digest, Next,
    paxos::{Parameters, Receiver, Sender},
};

fn digest(k: u16) -> Digest {
    let mut digest = [0x77; 32];
    digest[..2].copy_from_slice(&k.to_le_bytes());
    digest
}

/// A run of sets that share 100 items.
fn trace(adversary: Adversary, backend: Backend) -> String {
    let (ours, theirs) = ((0..600).map(digest).collect(), (500..900).map(digest).collect());
    let parameters = Parameters::new(adversary, 600, 400).unwrap();
    let session = || {
        let whole = Session::new(Sid::from_bytes([1; 32])).with_backend(backend);
        whole.sub("trace", 0, Direction::InitiatorSends)
    };
    let (base, chosen) = ideal::random(parameters.base_ots(), &Seed::from_bytes([4; 32]));
    let seed = Seed::from_bytes([3; 32]);
    let mut ots = parameters.ots_receiver(&session(), base, &seed).unwrap();
    let receiver = Receiver::new(session(), parameters, ours, None, seed).unwrap();
    let seed = Seed::from_bytes([2; 32]);
    let mut of_sender = parameters.ots_sender(&session(), chosen, &seed).unwrap();
    let sender = Sender::new(session(), parameters, theirs, None, seed).unwrap();
    let mut hashers = [blake3::Hasher::new(), blake3::Hasher::new()];
    let (encoded, row_seed) = receiver.encode().unwrap();
    hashers[1].update(row_seed.as_bytes());
    let opened = sender.open(row_seed.as_bytes()).unwrap();
    // The slots are one batch.
    let (n, mut corrections) = (parameters.slots(), Vec::new());
    assert!(parameters.batches().eq([n]));
    let unanswered = ots.extend(n, encoded.words(), &mut corrections).unwrap();
    let (unverified, challenge) = of_sender.absorb(n, &corrections).unwrap();
    let challenge = challenge.map_or(Vec::new(), Vec::from);
    let [mut of_opened, mut of_encoded] = [(); 2].map(|()| Secret::zeroed(parameters.rows_len()));
    let proof = ots.finish_rows(unanswered, &challenge, &mut of_encoded).unwrap();
    of_sender.finish(unverified, &proof, Places::Rows(&mut of_opened)).unwrap();
    hashers[0].update(&challenge);
    hashers[1].update(&corrections).update(&proof);
    let Next::Done(sent) = opened.finish(&of_sender, of_opened).unwrap() else {
        panic!("one bucket")
    };
    let Next::Done(mut received) = encoded.finish(of_encoded).unwrap() else {
        panic!("one bucket")
    };
    for tags in sent.frames() {
        hashers[0].update(&tags);
        received.take(&tags).unwrap();
    }
    assert!(received.intersect().unwrap().into_iter().eq(500..600));
    let [sender, receiver] = hashers.map(|hasher| hasher.finalize().to_hex());
    format!(
        "{} n=600,400 sender={sender} receiver={receiver}\n",
        parameters.extension().info().name
    )
}

#[test]
fn the_bytes_on_the_wire_match_the_baseline_on_every_backend() {
    for backend in Backend::all() {
        let traces = [Adversary::Malicious, Adversary::SemiHonest].map(|it| trace(it, backend));
        let traces = traces.concat();
        if std::env::var_os("FOXTROT_TRACES").is_some() {
            println!("{traces}");
        }
        assert_eq!(traces, include_str!("traces.baseline"), "{}", backend.name());
    }
}
