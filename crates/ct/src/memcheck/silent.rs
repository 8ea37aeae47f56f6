//! Silent VOLE and silent OT: a batch with secret noise, places of noise, Δ and outputs.

use foxtrot_kernel::{
    gf::{gf64, gf128},
    memcheck::public,
};
use foxtrot_ot::{
    Backend, Bits, Direction,
    base::{self, Choice},
    erase::Secret,
    extension::{self, OtKind, Places, ROWS, Shape},
    silent::{self, Field, Gf2, Gf16, Received, Receiver, Sender, Sent, Silent},
    tasks::only,
};

use super::{Check, base::compare, seed, session};

/// Outputs: no multiple of a byte.
const M: usize = 1003;

pub(crate) fn checks() -> impl Iterator<Item = Check> {
    let large = [silent::vole(), silent::vole_packed()].map(|silent| {
        check(silent.name(), move |backend| {
            let (delta, w, (u, v)) = vole(silent, backend, M);
            fit(&v, &w, |i| gf128::mul(backend, u[i], delta));
        })
    });
    let small = silent::vole_semi_honest();
    let small = check(small.name(), move |backend| {
        let (delta, w, (u, v)) = vole(small, backend, M);
        fit(&v, &w, |i| {
            let delta = delta.to_le_bytes();
            let [low, high] = [0, 1].map(|half| {
                let half = u64::from_le_bytes(delta.as_chunks().0[half]);
                u128::from(gf64::mul(backend, u[i], half))
            });
            low | high << 64
        });
    });
    let ots = [silent::ot(), silent::ot_semi_honest()].into_iter().flat_map(|silent| {
        [false, true].map(|given| {
            let choices = if given { "given choices" } else { "random" };
            check(&format!("{}, {choices}", silent.name()), move |backend| {
                ots(silent, given, backend);
            })
        })
    });
    let of_sixteen = silent::ot_16_semi_honest();
    let of_sixteen = check(of_sixteen.name(), move |backend| one_of_sixteen(of_sixteen, backend));
    large.into_iter().chain([small]).chain(ots).chain([of_sixteen])
}

fn check(name: &str, run: impl Fn(Backend) + 'static) -> Check {
    Check { name: name.to_owned(), run: Box::new(run) }
}

/// Asserts V = W ⊕ U·Δ.
fn fit(v: &[u128], w: &[u128], product: impl Fn(usize) -> u128) {
    let mut wrong = [0];
    for (i, (v, w)) in v.iter().zip(w).enumerate() {
        wrong[0] |= v ^ w ^ product(i);
    }
    public(&mut wrong);
    assert_eq!(wrong, [0]);
}

pub(super) type Vole<U> = (u128, Vec<u128>, (U, Vec<u128>));

pub(super) fn vole<F: Field>(silent: Silent<F>, backend: Backend, m: usize) -> Vole<F::Values> {
    let ((sender, _), (sent, received)) = batch(silent, backend, m);
    let delta = *sender.delta().expect("a session that goes on");
    let (u, v) = received.into_parts();
    (delta, sent.into_rows().to_vec(), (u, v.to_vec()))
}

fn ots(silent: Silent<Gf2>, given: bool, backend: Backend) {
    let ((sender, receiver), (mut sent, mut received)) = batch(silent, backend, M);
    if given {
        let mut flips = received.choose(super::base::choices(M)).expect("a choice for each");
        public(&mut flips);
        sent.flip(&flips).expect("flips");
    }
    let (mut pairs, mut keys) = (vec![[[0; 16]; 2]; M], vec![[0; 16]; M]);
    sender.pairs(&sent, 0, &mut pairs).expect("places for all");
    let choices = receiver.keys(&received, 0, &mut keys).expect("places for all");
    compare(&pairs, &choices, &keys);
}

fn one_of_sixteen(silent: Silent<Gf16>, backend: Backend) {
    let ((sender, receiver), (sent, received)) = batch(silent, backend, M);
    let (mut tables, mut choices) = (vec![[0; 2]; M], vec![0; M]);
    sender.tables(&sent, 0, &mut tables).expect("places for all");
    receiver.choices(&received, 0, &mut choices).expect("places for all");
    let mut wrong = [0];
    for (table, choice) in tables.iter().zip(&choices) {
        let table = u16::from_le_bytes(*table);
        // Not by a shift: the compiler makes `bt` of it, which valgrind takes for an access to memory.
        let is_chosen = |place: u8| u16::from(place ^ choice & 0xf).wrapping_sub(1) >> 15;
        let bit = (0..16).fold(0, |bit, place| bit | table >> place & is_chosen(place));
        wrong[0] |= bit ^ u16::from(choice >> 4);
    }
    public(&mut wrong);
    assert_eq!(wrong, [0]);
}

type Parties<F> = (Sender<F>, Receiver<F>);

fn batch<F: Field>(
    silent: Silent<F>,
    backend: Backend,
    m: usize,
) -> (Parties<F>, (Sent<F>, Received<F>)) {
    let base = base::find("roted", base::Functionality::Endemic).expect("it is there");
    let (base_sent, base_received) = super::base::run(base, backend, ROWS);
    let session = |name: &str| session(backend, name, Direction::InitiatorSends);
    let extension = silent.extension();
    let of_extension = || session(extension.name());
    let (receiver, mut setup) =
        extension::Receiver::new(of_extension(), extension, base_sent, seed(3)).expect("128");
    public(&mut setup);
    let sender = extension::Sender::new(of_extension(), extension, base_received, &setup, seed(4))
        .expect("a setup as it should be");
    let mut sender =
        Sender::new(session(silent.name()), silent, sender, seed(5)).expect("its extension");
    let mut receiver =
        Receiver::new(session(silent.name()), silent, receiver, seed(6)).expect("its extension");

    let n = silent.size(m).expect("a batch").ots;
    let (mut q, mut t) = (vec![[0; 16]; n], vec![[0; 16]; n]);
    let (mut choices, mut start) = (Vec::new(), 0);
    for shape in Shape::random(n).batches(extension.max_batch()) {
        let places = start..start + shape.n();
        start = places.end;
        let mut corrections = Vec::new();
        let ots = receiver.ots().expect("a session that goes on");
        let begun = ots.extend(vec![(Choice::Random(shape.n()), &mut corrections)]);
        public(&mut corrections);
        let extension = sender.ots().expect("a session that goes on");
        let absorbed = extension.absorb(&[(shape, &corrections)]).expect("corrections");
        let (unverified, challenge) = only(absorbed);
        let mut challenge = challenge.map_or(Vec::new(), |challenge| challenge.to_vec());
        public(&mut challenge);
        let batch = only(begun.expect("a batch"));
        let batch = (batch, challenge.as_slice(), &mut t[places.clone()]);
        let finished = ots.finish(OtKind::Correlated, vec![batch]).expect("a challenge");
        let (bits, mut proof) = only(finished);
        public(&mut proof);
        let places = Places::Correlated(&mut q[places]);
        extension.finish(vec![(unverified, &proof, places)]).expect("a proof");
        choices.extend((0..bits.len()).map(|i| bits.get(i).unwrap_u8()));
    }
    let choices = Bits::from_bools(choices.iter().map(|bit| *bit == 1));
    let (planted, mut trees) = sender.plant(m, Secret(q)).expect("enough OTs");
    public(&mut trees);
    let (grown, mut challenge) = receiver.grow(m, choices, Secret(t), &trees).expect("trees");
    public(&mut challenge);
    let encoded = sender.encode(planted, &challenge).expect("a challenge");
    let (unverified, mut check) = receiver.encode(grown).expect("its own batch");
    public(&mut check);
    let (sent, mut answer) = sender.answer(encoded, &check).expect("a check");
    public(&mut answer);
    let received = receiver.verify(unverified, &answer).expect("an answer");
    ((sender, receiver), (sent, received))
}
