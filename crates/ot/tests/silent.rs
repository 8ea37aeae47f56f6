//! Silent VOLE and silent OT: the correlation, both parties in one thread.

use std::{mem, ops::Deref, sync::Arc};

use foxtrot_kernel::gf::{gf64, gf128};
use foxtrot_ot::{
    Backend, Bits, Context, Direction, Error, Seed, Session, Sid,
    base::{Block, Choice, roted::Endemic},
    engine::Engine,
    erase::Secret,
    extension::Shape,
    pair::Pair,
    silent::{
        self, Field, Gf2, Gf16, Scratch, Silent,
        protocol::{ExtensionPlan, Receiver, Sender},
    },
    tasks::{Executor, Task},
};

fn session() -> Session {
    Session::new(Sid::from_bytes([8; 32]))
}

fn plan<F>(extension: Silent<F>) -> ExtensionPlan<'static, Silent<F>> {
    ExtensionPlan { extension, base: &Endemic, direction: Direction::InitiatorSends, counter: 0 }
}

/// Both parties of a protocol, set up.
fn set_up<F: Field>(silent: Silent<F>) -> (Sender<F>, Receiver<F>) {
    set_up_in(silent, session)
}

/// Both parties of a protocol, set up in these sessions.
fn set_up_in<F: Field>(
    silent: Silent<F>,
    session: impl Fn() -> Session + Copy + Send,
) -> (Sender<F>, Receiver<F>) {
    let sender = Engine::new(|io| async move {
        let session = session();
        let mut cx = Context::new(&session, Seed::from_bytes([1; 32]));
        Sender::set_up(&io, &mut cx, plan(silent)).await
    });
    let receiver = Engine::new(|io| async move {
        let session = session();
        let mut cx = Context::new(&session, Seed::from_bytes([2; 32]));
        Receiver::set_up(&io, &mut cx, plan(silent)).await
    });
    Pair::new(sender, receiver).run().unwrap()
}

/// A batch: W, U and V.
fn vole<F: Field>(
    (sender, receiver): &mut (Sender<F>, Receiver<F>),
    m: usize,
) -> (Secret<u128>, (F::Values, Secret<u128>)) {
    let sender = Engine::<_, Error>::new(|io| async move { sender.vole(&io, m).await });
    let receiver = Engine::new(|io| async move { receiver.vole(&io, m).await });
    Pair::new(sender, receiver).run().unwrap()
}

/// Runs batches of these sizes, and asserts V = W ⊕ U·Δ.
fn check<F: Field>(
    silent: Silent<F>,
    sizes: &[usize],
    product: impl Fn(&F::Values, usize, u128) -> u128,
) {
    let mut parties = set_up(silent);
    let delta = *parties.0.delta().unwrap();
    let mut last = None;
    for &m in sizes {
        let (w, (u, v)) = vole(&mut parties, m);
        assert_eq!((w.len(), v.len()), (m, m));
        for i in 0..m {
            assert_eq!(v[i], w[i] ^ product(&u, i, delta), "{silent:?}, output {i} of {m}");
        }
        assert!(w.iter().chain(v.iter()).all(|&it| it != 0));
        assert_ne!(last.replace(w[0]), Some(w[0]), "batches repeat");
    }
}

fn of_halves(a: u128, f: impl Fn(u64) -> u64) -> u128 {
    let half =
        |shift: u32| u128::from(f(u64::try_from(a >> shift & u128::from(u64::MAX)).unwrap()));
    half(0) | half(64) << 64
}

fn of_large(u: &Secret<u128>, i: usize, delta: u128) -> u128 {
    gf128::mul(Backend::best(), u[i], delta)
}

#[test]
fn vs_are_ws_plus_products_of_us_and_delta_at_ragged_sizes() {
    check(silent::vole(), &[1, 31, 32, 33, 1000, 3073, 8193, 20_001], of_large);
    check(silent::vole_margin(), &[2780], of_large);
}

#[test]
fn vs_are_ws_plus_products_of_us_in_the_small_field() {
    check(silent::vole_semi_honest(), &[1, 2780, 10_532], |u, i, delta| {
        of_halves(delta, |half| gf64::mul(Backend::best(), u[i], half))
    });
}

#[test]
fn vs_are_ws_plus_products_without_lpn() {
    check(silent::vole_packed(), &[1, 511, 512, 600], of_large);
}

#[test]
fn rows_of_silent_ots_differ_by_delta_where_the_choice_is_1() {
    let product = |u: &Bits, i, delta| u128::from(u.get(i).unwrap_u8()).wrapping_neg() & delta;
    check(silent::ot(), &[1, 1000, 8191], product);
    check(silent::ot_semi_honest(), &[1, 1000, 8191], product);
}

/// The product in GF(2)[X]/(X^4 + X + 1) of u and every nibble.
fn of_nibbles(u: u8, delta: u128) -> u128 {
    (0..4).rev().fold(0, |sum, k| {
        let nibbles = (0..32).map(|i| {
            let doubled = (sum >> (4 * i) & 0xf) << 1;
            (if doubled > 0xf { doubled ^ 0x13 } else { doubled }) << (4 * i)
        });
        nibbles.sum::<u128>() ^ u128::from(u >> k & 1).wrapping_neg() & delta
    })
}

#[test]
fn rows_of_one_of_sixteen_ots_differ_by_multiples_of_delta() {
    let silent = silent::ot_16_semi_honest();
    check(silent, &[1, 1000, 10_532], |u, i, delta| of_nibbles(u[i], delta));
    let mut parties = set_up(silent);
    assert_eq!(*parties.0.delta().unwrap() & 0xf, 1);
    let (_, (u, v)) = vole(&mut parties, 4096);
    assert!(u.iter().zip(&*v).all(|(u, v)| u128::from(*u) == v & 0xf));
    // Six standard deviations.
    for value in 0..16 {
        let number = u.iter().filter(|it| **it == value).count();
        assert!((163..=349).contains(&number), "{number} choices of {value}");
    }
}

/// Random OTs of one of sixteen bits: tables, and choices with bits.
fn random_of_sixteen(
    (sender, receiver): &mut (Sender<Gf16>, Receiver<Gf16>),
    n: usize,
) -> (Vec<u16>, Vec<u8>) {
    let sender = Engine::<_, Error>::new(|io| async move {
        let mut tables = Vec::new();
        let sink = |some: &[[u8; 2]]| {
            tables.extend(some.iter().map(|table| u16::from_le_bytes(*table)));
            Ok(())
        };
        sender.random(&io, n, sink).await?;
        Ok(tables)
    });
    let receiver = Engine::new(|io| async move {
        let mut choices = Vec::new();
        let sink = |some: &[u8]| {
            choices.extend_from_slice(some);
            Ok(())
        };
        receiver.random(&io, n, sink).await?;
        Ok(choices)
    });
    Pair::new(sender, receiver).run().unwrap()
}

#[test]
fn bits_of_one_of_sixteen_ots_belong_to_the_choices() {
    let of = |threads| move || session().with_executor(Arc::new(Parts(threads)));
    let mut all = Vec::new();
    for threads in [1, 3] {
        let mut parties = set_up_in(silent::ot_16_semi_honest(), of(threads));
        for n in [0, 70_001] {
            let (tables, choices) = random_of_sixteen(&mut parties, n);
            assert_eq!((tables.len(), choices.len()), (n, n));
            for (i, (table, choice)) in tables.iter().zip(&choices).enumerate() {
                assert_eq!(u16::from(choice >> 4), table >> (choice & 0xf) & 1, "OT {i}");
            }
            all.push((tables, choices));
        }
    }
    assert!(all[..2] == all[2..], "threads change nothing");
    // The tables are as good as random, also where the receiver has not looked.
    let (tables, choices) = &all[1];
    for moved in 0..16 {
        let ones =
            tables.iter().zip(choices).filter(|(it, k)| *it >> ((*k ^ moved) & 0xf) & 1 == 1);
        let ones = ones.count();
        assert!((34_200..35_800).contains(&ones), "{ones} ones");
    }
}

/// Tasks that may run side by side run one after another, the last first.
#[derive(Debug)]
struct Parts(usize);

impl Executor for Parts {
    fn threads(&self) -> usize {
        self.0
    }

    fn run<'a>(&self, tasks: Vec<Task<'a>>) {
        tasks.into_iter().rev().for_each(|task| task());
    }
}

#[test]
fn any_number_of_threads_gives_the_same_outputs() {
    let of = |threads| move || session().with_executor(Arc::new(Parts(threads)));
    // Trees of 32 leaves and of 1024, which begin and end within parts.
    for m in [1000, 81_608] {
        let outputs = [1, 2, 7, 300].map(|threads| {
            let (w, (u, v)) = vole(&mut set_up_in(silent::vole(), of(threads)), m);
            (w.to_vec(), u.to_vec(), v.to_vec())
        });
        assert!(outputs.windows(2).all(|pair| pair[0] == pair[1]));
        let outputs = [1, 3]
            .map(|threads| random(&mut set_up_in(silent::ot(), of(threads)), &Choice::Random(m)));
        assert_eq!(outputs[0], outputs[1]);
    }
}

/// Memory that both parties of a VOLE have left, longer than what others need.
fn left(threads: usize) -> [Scratch; 2] {
    let of = move || session().with_executor(Arc::new(Parts(threads)));
    let (sender, receiver) = lend(set_up_in(silent::vole(), of), [Scratch::of(0), Scratch::of(0)]);
    let mut parties = (sender, receiver);
    let _ = vole(&mut parties, 100_000);
    [mem::take(parties.0.scratch()), mem::take(parties.1.scratch())]
}

fn lend<F: Field>(
    (mut sender, mut receiver): (Sender<F>, Receiver<F>),
    [ours, theirs]: [Scratch; 2],
) -> (Sender<F>, Receiver<F>) {
    (*sender.scratch(), *receiver.scratch()) = (ours, theirs);
    (sender, receiver)
}

/// Two batches of VOLE over memory that another protocol has left are those over new memory.
fn memory_changes_no_vole<T: PartialEq, F: Field<Values: Deref<Target = [T]>>>(
    silent: Silent<F>,
    threads: usize,
) {
    let of = move || session().with_executor(Arc::new(Parts(threads)));
    let (mut lent, mut own) = (lend(set_up_in(silent, of), left(threads)), set_up_in(silent, of));
    for m in [9000, 5000] {
        let [(w, (u, v)), (expected, (of_u, of_v))] = [&mut lent, &mut own].map(|it| vole(it, m));
        assert!(*w == *expected && *u == *of_u && *v == *of_v, "{silent:?}, {threads} threads");
    }
}

#[test]
fn memory_of_another_protocol_changes_no_output() {
    for threads in [1, 3, 9] {
        memory_changes_no_vole(silent::vole(), threads);
        memory_changes_no_vole(silent::vole_margin(), threads);
        memory_changes_no_vole(silent::vole_semi_honest(), threads);
        memory_changes_no_vole(silent::vole_packed(), threads);
        let of = move || session().with_executor(Arc::new(Parts(threads)));
        let (n, fresh) = (20_001, || set_up_in(silent::ot(), of));
        let choice = Choice::Random(n);
        let lent = random(&mut lend(fresh(), left(threads)), &choice);
        assert_eq!(lent, random(&mut fresh(), &choice));
        let fresh = || set_up_in(silent::ot_16_semi_honest(), of);
        let lent = random_of_sixteen(&mut lend(fresh(), left(threads)), n);
        assert_eq!(lent, random_of_sixteen(&mut fresh(), n));
    }
}

/// Random OTs: pairs, choices and keys.
fn random(
    (sender, receiver): &mut (Sender<Gf2>, Receiver<Gf2>),
    choice: &Choice,
) -> (Vec<[Block; 2]>, Vec<(u8, Block)>) {
    let sender = Engine::<_, Error>::new(|io| async move {
        let mut pairs = Vec::new();
        let sink = |some: &[[Block; 2]]| {
            pairs.extend_from_slice(some);
            Ok(())
        };
        sender.random(&io, Shape::of(choice), sink).await?;
        Ok(pairs)
    });
    let receiver = Engine::new(|io| async move {
        let mut chosen = Vec::new();
        let sink = |bits: &Bits, keys: &[Block]| {
            let choices = (0..bits.len()).map(|i| bits.get(i).unwrap_u8());
            chosen.extend(choices.zip(keys.iter().copied()));
            Ok(())
        };
        receiver.random(&io, choice, sink).await?;
        Ok(chosen)
    });
    Pair::new(sender, receiver).run().unwrap()
}

#[test]
fn keys_of_silent_ots_belong_to_the_choices_given_or_drawn() {
    for silent in [silent::ot(), silent::ot_semi_honest()] {
        let mut parties = set_up(silent);
        let bits: Vec<bool> = (0..70_001).map(|i| i % 3 == 0).collect();
        let given = Choice::Given(Bits::from_bools(bits.iter().copied()));
        for (choice, n) in
            [(Choice::Random(0), 0), (Choice::Random(70_001), 70_001), (given, bits.len())]
        {
            let (pairs, chosen) = random(&mut parties, &choice);
            assert_eq!((pairs.len(), chosen.len()), (n, n));
            for (i, (pair, (bit, key))) in pairs.iter().zip(&chosen).enumerate() {
                assert_eq!((pair[usize::from(*bit)], pair[0] == pair[1]), (*key, false), "OT {i}");
            }
            let ones = chosen.iter().filter(|(bit, _)| *bit == 1).count();
            match choice {
                Choice::Given(_) => {
                    assert!(
                        chosen.iter().zip(&bits).all(|((bit, _), given)| *bit == u8::from(*given))
                    );
                }
                Choice::Random(n) => assert!(ones >= n / 3 && ones <= n - n / 3),
            }
        }
    }
}
