//! Every kind of protocol of this crate with messages lost, late, early, cut or changed.

use crate::support::faults::{Case, Run};
use foxtrot_ot::{
    Bits, Context, Decode, Direction, Error, Seed, Session, Sid,
    base::{Adversary, BaseOt, Block, Choice, roted::Endemic},
    engine::Engine,
    extension::{self, OtKind, Shape, one_of_n, two_round},
    silent,
};

/// OTs, and how many words each of 1-of-N OTs has keys of.
const N: usize = 60;
const CHOICES: usize = 4;

fn session() -> Session {
    Session::new(Sid::from_bytes([6; 32]))
}

fn seed(byte: u8) -> Seed {
    Seed::from_bytes([byte; 32])
}

fn choices() -> impl Iterator<Item = u8> {
    (0..N).map(|i| (i * i % 7 % CHOICES).to_le_bytes()[0])
}

fn bits() -> Bits {
    Bits::from_bools(choices().map(|choice| choice % 2 == 1))
}

/// Records of a choice and its key.
fn records(choices: impl Iterator<Item = u8>, keys: &[Block]) -> Vec<u8> {
    choices.zip(keys).flat_map(|(choice, key)| [&[choice], &key[..]].concat()).collect()
}

/// Returns true if the receiver's records have the keys of their choices among the sender's keys,
/// and no others.
fn keys_fit(choices: usize, sender: &[u8], receiver: &[u8]) -> bool {
    let all = sender.chunks(16 * choices);
    (all.len(), receiver.len()) == (N, 17 * N)
        && all.zip(receiver.chunks(17)).all(|(keys, of_one)| {
            let choice = usize::from(of_one[0]);
            let equal = keys.chunks(16).map(|key| key == &of_one[1..]);
            equal.enumerate().all(|(k, equal)| equal == (k == choice))
        })
}

/// Checks a protocol whose outputs are so many keys for each OT, and a record.
fn check(
    name: &'static str,
    adversary: Adversary,
    choices: usize,
    parties: impl Fn() -> (Run<Error>, Run<Error>) + 'static,
) {
    let fit = move |sender: &[u8], receiver: &[u8]| keys_fit(choices, sender, receiver);
    let case = Case {
        name,
        checked: adversary == Adversary::Malicious,
        parties: Box::new(parties),
        right: Box::new(fit),
        harmless: Box::new(fit),
        is_length: |error| matches!(error, Error::Decode(Decode::Length { .. })),
    };
    case.check(usize::MAX);
}

/// A base OT, or an extension of two messages: a changed message makes other keys.
fn check_base(base: &'static dyn BaseOt) {
    let sender = move || {
        Engine::new(move |io| async move {
            let keys = io.run(base.sender(session(), N, seed(1))?).await?;
            Ok(keys.pairs().as_flattened().as_flattened().to_vec())
        })
    };
    let receiver = move || {
        Engine::new(move |io| async move {
            let choice = Choice::Given(bits());
            let keys = io.run(base.receiver(session(), choice, seed(2))?).await?;
            Ok(records(choices().map(|choice| choice % 2), keys.keys()))
        })
    };
    check(base.info().name, Adversary::SemiHonest, 2, move || (sender(), receiver()));
}

#[test]
fn lost_late_cut_or_changed_messages_harm_no_base_ot() {
    check_base(&Endemic);
}

#[test]
fn lost_late_cut_or_changed_messages_harm_no_two_round_extension() {
    check_base(two_round::find("roted").unwrap());
}

fn check_extension(name: &'static str, adversary: Adversary) {
    use extension::protocol::{ExtensionPlan, Receiver, Sender};

    let extension = extension::find(name, adversary).unwrap();
    let plan = ExtensionPlan {
        extension,
        base: &Endemic,
        direction: Direction::InitiatorSends,
        counter: 0,
    };
    let sender = move || {
        Engine::new(move |io| async move {
            let (session, mut all) = (session(), Vec::new());
            let mut party = Sender::set_up(&io, &mut Context::new(&session, seed(1)), plan).await?;
            let sink = |keys: &[[Block; 2]]| {
                all.extend(keys.as_flattened().as_flattened());
                Ok(())
            };
            party.random(&io, Shape::given(N), sink).await?;
            Ok(all)
        })
    };
    let receiver = move || {
        Engine::new(move |io| async move {
            let (session, mut all) = (session(), Vec::new());
            let mut party =
                Receiver::set_up(&io, &mut Context::new(&session, seed(2)), plan).await?;
            let sink = |bits: &Bits, keys: &[Block]| {
                let choices = (0..bits.len()).map(|i| bits.get(i).unwrap_u8());
                all.extend(records(choices, keys));
                Ok(())
            };
            party.run(&io, &Choice::Given(bits()), OtKind::Random, sink).await?;
            Ok(all)
        })
    };
    check(name, adversary, 2, move || (sender(), receiver()));
}

#[test]
fn lost_late_cut_or_changed_messages_harm_no_extension() {
    for (name, adversary) in [
        ("softspoken", Adversary::Malicious),
        ("softspoken", Adversary::SemiHonest),
        ("kos", Adversary::Malicious),
        ("iknp", Adversary::SemiHonest),
    ] {
        check_extension(name, adversary);
    }
}

/// With random choices: given ones are sent under no check, and other flips are other choices.
fn check_silent(name: &'static str, adversary: Adversary) {
    use silent::protocol::{ExtensionPlan, Receiver, Sender};

    let extension = silent::find(name, adversary).unwrap();
    let plan = ExtensionPlan {
        extension,
        base: &Endemic,
        direction: Direction::InitiatorSends,
        counter: 0,
    };
    let sender = move || {
        Engine::new(move |io| async move {
            let (session, mut all) = (session(), Vec::new());
            let mut party = Sender::set_up(&io, &mut Context::new(&session, seed(1)), plan).await?;
            let sink = |keys: &[[Block; 2]]| {
                all.extend(keys.as_flattened().as_flattened());
                Ok(())
            };
            party.random(&io, Shape::random(N), sink).await?;
            Ok(all)
        })
    };
    let receiver = move || {
        Engine::new(move |io| async move {
            let (session, mut all) = (session(), Vec::new());
            let mut party =
                Receiver::set_up(&io, &mut Context::new(&session, seed(2)), plan).await?;
            let sink = |bits: &Bits, keys: &[Block]| {
                let choices = (0..bits.len()).map(|i| bits.get(i).unwrap_u8());
                all.extend(records(choices, keys));
                Ok(())
            };
            party.random(&io, &Choice::Random(N), sink).await?;
            Ok(all)
        })
    };
    check(name, adversary, 2, move || (sender(), receiver()));
}

#[test]
fn lost_late_cut_or_changed_messages_harm_no_silent_ots() {
    check_silent("silent", Adversary::Malicious);
    check_silent("silent", Adversary::SemiHonest);
}

fn check_one_of_n(name: &'static str, adversary: Adversary) {
    use one_of_n::protocol::{OneOfNPlan, Receiver, Sender, Shape};

    let extension = one_of_n::find(name, adversary).unwrap();
    let plan =
        OneOfNPlan { extension, base: &Endemic, direction: Direction::InitiatorSends, counter: 0 };
    let shape = Shape { n: N, choices: CHOICES };
    let sender = move || {
        Engine::new(move |io| async move {
            let (session, mut all) = (session(), Vec::new());
            let mut party = Sender::set_up(&io, &mut Context::new(&session, seed(1)), plan).await?;
            let sink = |keys: &[Block]| {
                all.extend(keys.as_flattened());
                Ok(())
            };
            party.run(&io, shape, sink).await?;
            Ok(all)
        })
    };
    let receiver = move || {
        Engine::new(move |io| async move {
            let (session, mut all) = (session(), Vec::new());
            let mut party =
                Receiver::set_up(&io, &mut Context::new(&session, seed(2)), plan).await?;
            let word = |choice: u8| extension.parameters().word(choice.into()).unwrap();
            let words: Vec<u8> = choices().flat_map(word).collect();
            let sink = |keys: &[Block]| {
                all.extend(records(choices(), keys));
                Ok(())
            };
            party.run(&io, shape, &words, sink).await?;
            Ok(all)
        })
    };
    check(name, adversary, CHOICES, move || (sender(), receiver()));
}

#[test]
fn lost_late_cut_or_changed_messages_harm_no_one_of_n_extension() {
    check_one_of_n("oos", Adversary::Malicious);
    check_one_of_n("kkrt", Adversary::SemiHonest);
}
