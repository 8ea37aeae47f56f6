//! Private set intersection and what may follow it, but for items: where they are placed follows from them, as SECURITY.md says. So they are
//! public here, with the random ones that fill buckets up, and secret is all else, seeds and the keys of base OTs: Δ,
//! rows and their sums, the padding of slots, tags before they are sent. What the receiver finds at the end is looked up, and not run here.

use foxtrot_kernel::memcheck::public;
use foxtrot_ot::{
    Backend, Direction, Seed, Session,
    base::{self, Adversary, Functionality},
    engine::Engine,
    erase::Secret,
    extension::one_of_n::{self, Places},
    pair::Pair,
};
use foxtrot_psi::{
    Digest, Error, Joint, Next, Received, Sent,
    join::{Claimed, Join, JoinTerms},
    paxos::{Parameters, Receiver, Sender},
    receivers_coin, senders_coin,
};

use super::{Check, secrets, seed, session};

/// Items of receiver and sender.
const N: [usize; 2] = [61, 53];

pub(crate) fn checks() -> impl Iterator<Item = Check> {
    let all = [(Adversary::Malicious, 1), (Adversary::Malicious, 3), (Adversary::SemiHonest, 1)];
    all.into_iter().map(|(adversary, buckets)| Check {
        name: format!("paxos, {adversary}, buckets: {buckets}, items public"),
        run: Box::new(move |backend| run(adversary, buckets, backend)),
    })
}

fn run(adversary: Adversary, buckets: usize, backend: Backend) {
    let digests = |first: usize, n: usize| -> Vec<Digest> {
        (first..first + n).map(|k| [u8::try_from(k).expect("few"); 32]).collect()
    };
    let parameters = Parameters::with_buckets(adversary, N[0], N[1], buckets).expect("small sets");
    let base = base::find("roted", Functionality::Endemic).expect("it is there");
    let (sent, chosen) = super::base::run(base, backend, parameters.base_ots());
    let session = || session(backend, "paxos", Direction::InitiatorSends);
    // What the buckets are divided by is public.
    let joint = || (buckets > 1).then(|| toss(&session()));
    let ots = parameters.ots_receiver(&session(), sent, &seed(3)).expect("base OTs for all");
    let of_sender = parameters.ots_sender(&session(), chosen, &seed(4)).expect("base OTs for all");
    let mut both = (ots, of_sender);
    let receiver = Receiver::new(session(), parameters, digests(0, N[0]), joint(), seed(3));
    let sender = Sender::new(session(), parameters, digests(30, N[1]), joint(), seed(4));
    let (mut receiver, mut sender) = (
        receiver.expect("distinct items").keep_keys(),
        sender.expect("distinct items").keep_keys(),
    );
    let (mut received, sent) = loop {
        match bucket(&parameters, &mut both, receiver, sender) {
            (Next::Bucket(next), Next::Bucket(senders)) => (receiver, sender) = (next, senders),
            (Next::Done(received), Next::Done(sent)) => break (received, sent),
            _ => unreachable!("as many buckets"),
        }
    };
    for mut tags in sent.frames() {
        public(&mut tags);
        received.take(&tags).expect("tags");
    }
    join(&session(), sent, received);
}

/// Payloads of secret bytes, and claims. Which items match is public here.
fn join(session: &Session, sent: Sent, received: Received) {
    const LEN: usize = 40;
    let terms = JoinTerms::NONE.payload(LEN).expect("short").both();
    let join = Join::new(session, terms);
    let keys = sent.keys().expect("they were kept");
    let mut store = Vec::new();
    for frame in join.payload_frames(N[1]) {
        let payload = |_: usize, to: &mut [u8]| {
            to.copy_from_slice(&secrets([7; LEN]));
            Ok(())
        };
        let mut frame = join.seal(&keys, frame, payload).expect("payloads");
        public(&mut frame);
        store.extend(frame);
    }
    let matches = received.matches().expect("all tags");
    join.open(&matches, &mut store, |_, _| ()).expect("payloads");
    let mut messages = join.claim(&matches);
    let mut count = messages.next().expect("a number");
    public(&mut count);
    let mut claimed = Claimed::new(&join, &keys, &count, N[1]).expect("a number");
    for mut message in messages {
        public(&mut message);
        claimed.take(&message).expect("claims");
    }
    claimed.finish().expect("all claims");
}

/// The coin of both, from public seeds.
fn toss(session: &Session) -> Joint {
    let [ours, theirs] = [5, 6].map(|byte| Seed::from_bytes([byte; 32]));
    let receiver = Engine::new(|io| async move { receivers_coin(&io, session, &ours).await });
    let sender = Engine::new(|io| async move { senders_coin(&io, session, &theirs).await });
    let coins: Result<(Joint, _), (_, Error)> = Pair::new(sender, receiver).run();
    coins.expect("both are honest").0
}

fn bucket(
    parameters: &Parameters,
    (ots, of_sender): &mut (one_of_n::Receiver, one_of_n::Sender),
    receiver: Receiver,
    sender: Sender,
) -> (Next<Receiver, Received>, Next<Sender, Sent>) {
    let (encoded, row_seed) = receiver.encode().expect("slots for all");
    let mut message = row_seed.as_bytes().to_vec();
    public(&mut message);
    let opened = sender.open(&message).expect("a seed of rows");
    // So few slots are one batch.
    let (n, mut corrections) = (parameters.slots(), Vec::new());
    let unanswered = ots.extend(n, encoded.words(), &mut corrections).expect("a batch");
    public(&mut corrections);
    let (unverified, challenge) = of_sender.absorb(n, &corrections).expect("corrections");
    let mut challenge = challenge.map_or(Vec::new(), |challenge| challenge.to_vec());
    public(&mut challenge);
    let [mut receivers, mut senders] = [(); 2].map(|()| Secret::zeroed(parameters.rows_len()));
    let mut proof = ots.finish_rows(unanswered, &challenge, &mut receivers).expect("a challenge");
    public(&mut proof);
    of_sender.finish(unverified, &proof, Places::Rows(&mut senders)).expect("a proof");
    let receiver = encoded.finish(receivers).expect("all rows");
    (receiver, opened.finish(of_sender, senders).expect("all rows"))
}
