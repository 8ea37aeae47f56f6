//! A set intersection whose every message the fuzzer changes: nobody panics, and what the receiver gets
//! is part of the intersection, all of it if nothing was changed; in one to three buckets. So it is with the messages of the coin that
//! divides large sets: both have the same one or the sender has none, unless its own half was changed.
#![no_main]

use foxtrot_fuzz::{Change, changed};
use foxtrot_ot::{
    Seed, Session, Sid,
    base::Adversary,
    engine::Engine,
    erase::Secret,
    extension::one_of_n::Places,
    ideal,
    pair::{Pair, PairParty},
};
use foxtrot_psi::{
    Digest, Error, Joint, Next,
    paxos::{Parameters, Receiver, Sender},
    receivers_coin, senders_coin,
};
use libfuzzer_sys::fuzz_target;

type Changes = Vec<Change>;

fuzz_target!(|input: (u8, u8, u8, u8, [Changes; 5], [Changes; 3])| {
    let (how, ours, first, theirs, changes, of_coin) = input;
    let (checked, buckets) = (how % 2 == 1, 1 + usize::from(how / 2 % 3));
    let [_, half, _] = &of_coin;
    match toss(&of_coin) {
        Ok([receivers, senders]) => assert!(receivers == senders || !half.is_empty()),
        Err(_) => assert!(!of_coin.iter().all(Vec::is_empty)),
    }
    let adversary = if checked { Adversary::Malicious } else { Adversary::SemiHonest };
    let digests = |first: u8, n: u8| -> Vec<Digest> {
        (u16::from(first)..)
            .take(n.into())
            .map(|k| [k.to_le_bytes(); 16].concat().try_into().unwrap())
            .collect()
    };
    let (ours, theirs) = (digests(0, ours), digests(first, theirs));
    let shared: Vec<usize> = (0..ours.len()).filter(|&k| theirs.contains(&ours[k])).collect();
    let parameters =
        Parameters::with_buckets(adversary, ours.len(), theirs.len(), buckets).unwrap();
    let found = run(&parameters, ours, theirs, &changes);
    if changes.iter().all(Vec::is_empty) {
        assert_eq!(found, Ok(shared));
    } else if let Ok(found) = found {
        assert!(found.iter().all(|k| shared.contains(k)));
    }
});

fn run(
    parameters: &Parameters,
    ours: Vec<Digest>,
    theirs: Vec<Digest>,
    [row_seed, corrections, challenge, proof, tags]: &[Changes; 5],
) -> Result<Vec<usize>, Error> {
    let session = || Session::new(Sid::from_bytes([1; 32]));
    let (base, chosen) = ideal::random(parameters.base_ots(), &Seed::from_bytes([4; 32]));
    let seed = |byte| Seed::from_bytes([byte; 32]);
    let [joint, _] = toss(&[const { Vec::new() }; 3])?;
    let joint = || (parameters.buckets() > 1).then_some(joint);
    let mut ots = parameters.ots_receiver(&session(), base, &seed(3))?;
    let mut of_sender = parameters.ots_sender(&session(), chosen, &seed(2))?;
    let mut receiver = Receiver::new(session(), *parameters, ours, joint(), seed(3))?;
    let mut sender = Sender::new(session(), *parameters, theirs, joint(), seed(2))?;
    let (mut received, sent) = loop {
        let (encoded, message) = receiver.encode()?;
        let opened = sender.open(&changed(message.as_bytes(), row_seed))?;
        // So few slots are one batch.
        let (n, mut message) = (parameters.slots(), Vec::new());
        let unanswered = ots.extend(n, encoded.words(), &mut message)?;
        let (unverified, coin) = of_sender.absorb(n, &changed(&message, corrections))?;
        let coin = coin.map_or(Vec::new(), Vec::from);
        let [mut receivers, mut senders] = [(); 2].map(|()| Secret::zeroed(parameters.rows_len()));
        let coin = changed(&coin, challenge);
        let message = ots.finish_rows(unanswered, &coin, &mut receivers)?;
        let places = Places::Rows(&mut senders);
        of_sender.finish(unverified, &changed(&message, proof), places)?;
        match (encoded.finish(receivers)?, opened.finish(&of_sender, senders)?) {
            (Next::Bucket(next), Next::Bucket(senders)) => (receiver, sender) = (next, senders),
            (Next::Done(received), Next::Done(sent)) => break (received, sent),
            _ => unreachable!("as many buckets"),
        }
    };
    sent.frames().try_for_each(|frame| received.take(&changed(&frame, tags)))?;
    received.intersect()
}

/// The coin, as either party has it.
fn toss([commitment, half, opening]: &[Changes; 3]) -> Result<[Joint; 2], Error> {
    let session = &Session::new(Sid::from_bytes([1; 32]));
    let [ours, theirs] = [3, 2].map(|byte| Seed::from_bytes([byte; 32]));
    let receiver = Engine::new(|io| async move { receivers_coin(&io, session, &ours).await });
    let sender = Engine::new(|io| async move { senders_coin(&io, session, &theirs).await });
    let (mut of_receiver, mut is_changed) = ([commitment, opening].into_iter(), false);
    let coins = Pair::new(sender, receiver).run_through(|party, message| {
        let changes = match party {
            PairParty::Sender => half,
            PairParty::Receiver => of_receiver.next().expect("two messages"),
        };
        let as_it_came = changed(&message, changes);
        is_changed |= party == PairParty::Receiver && as_it_came != message;
        as_it_came
    });
    let (senders, receivers) = coins.map_err(|(_party, error)| error)?;
    assert!(!is_changed, "another opening");
    Ok([receivers, senders])
}
