//! Attacks of a peer on a key agreement, and what the sender could read off its messages.

use alloc::{format, vec};

use foxtrot_kernel::curve::{
    CURVE_GENERATOR, TWIST_GENERATOR, elligator as kernel_elligator, ladder, mul_generators,
};

use super::*;
use crate::{
    Direction, Sid,
    base::Block,
    popf::{Eke, EvenMansour, Feistel, Feistel2, MasnyRindal, Popf, Strings},
};

fn session(counter: u64) -> Session {
    Session::new(Sid::from_bytes([1; 32])).sub("test", counter, Direction::default())
}

fn seed(byte: u8) -> Seed {
    Seed::from_bytes([byte; 32])
}

/// The keys of the sender with this secret and this share.
fn sender_keys<A: Agreement>(
    session: &Session,
    (secret, share): (&[u8; 32], &[u8]),
    messages: &[<A::Domain as Domain>::Element],
    tag: (u64, u8),
) -> Secrets<16> {
    let points = A::sender_points(session.backend(), secret, messages);
    keys::<A>(session, share, &points, |_| tag)
}

/// One message, and the keys that both sides agree on for it under these tags.
fn both_sides<A: Agreement>(tags: &[(u64, u8)]) -> [Vec<Block>; 2] {
    let session = session(0);
    let (secret, share) = A::share(&session, &seed(1));
    let (receiver, messages) = A::respond(&session, 1, &seed(2));
    let mut all = [vec![], vec![]];
    for &tag in tags {
        let [ours, theirs] = &mut all;
        ours.push(sender_keys::<A>(&session, (&secret, &share), &messages, tag)[0]);
        let points = A::receiver_points(session.backend(), &receiver, &share);
        theirs.push(keys::<A>(&session, &share, &points, |_| tag)[0]);
    }
    all
}

fn a_key_belongs_to_its_tag<A: Agreement>() {
    let tags: Vec<(u64, u8)> = (0..20).map(|k| (k / 2, u8::from(k % 2 == 1))).collect();
    let [mut ours, theirs] = both_sides::<A>(&tags);
    assert_eq!(ours, theirs, "{}", A::NAME);
    // The same secrets in another sub-sid, and the same point with another share before it.
    let (secret, share) = A::share(&session(0), &seed(1));
    let (_, other) = A::share(&session(0), &seed(9));
    let (_, messages) = A::respond(&session(0), 1, &seed(2));
    for (session, share) in [(session(1), &share), (session(0), &other)] {
        ours.push(sender_keys::<A>(&session, (&secret, share), &messages, tags[0])[0]);
    }
    let count = ours.len();
    ours.sort_unstable();
    ours.dedup();
    assert_eq!(ours.len(), count, "{}: a key occurs twice", A::NAME);
}

#[test]
fn a_key_belongs_to_its_sub_sid_instance_branch_and_share() {
    a_key_belongs_to_its_tag::<Moeller>();
    a_key_belongs_to_its_tag::<Elligator>();
    a_key_belongs_to_its_tag::<Ristretto>();
}

/// Few take a ladder, many a table.
fn keys_do_not_depend_on_how_many_there_are<A: Agreement>() {
    let session = session(0);
    let (_, share) = A::share(&session, &seed(1));
    let n = FOR_TABLE.min(200) + 3;
    let [many, few] = [n, 5].map(|n| {
        let (receiver, _) = A::respond(&session, n, &seed(2));
        let points = A::receiver_points(session.backend(), &receiver, &share);
        keys::<A>(&session, &share, &points, |i| (i as u64, 0))
    });
    assert_eq!(many[..5], few[..]);
}

#[test]
fn tables_and_ladders_give_the_same_keys() {
    keys_do_not_depend_on_how_many_there_are::<Moeller>();
    keys_do_not_depend_on_how_many_there_are::<Elligator>();
    keys_do_not_depend_on_how_many_there_are::<Ristretto>();
}

/// 8·P is neutral, whose x-coordinate is 0: of the points of order 8 or less, and no others.
#[test]
fn small_orders_are_those_that_the_cofactor_kills() {
    let mut eight = [0; 32];
    eight[0] = 8;
    let mut products = [[1; 32]; 5];
    ladder::mul(Backend::best(), &[eight], &SMALL_ORDER, &mut products);
    assert_eq!(products, [[0; 32]; 5]);
    // On the curve u = 0 is of order 2, u = 1 of 4, two have order 8; on the twist 0 and −1.
    let mut sides = [0];
    on_curve(Backend::best(), &SMALL_ORDER, &mut sides);
    assert_eq!(sides[0], 0b11011);
    assert!(SMALL_ORDER.iter().all(is_canonical));
    let mut distinct = SMALL_ORDER.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), 5);
}

fn plus_p(x: &[u8; 32]) -> [u8; 32] {
    assert!(x[0] < 19 && x[1..] == [0; 31], "it stays below 2^255");
    let mut bytes = [0xff; 32];
    (bytes[0], bytes[31]) = (0xed + x[0], 0x7f);
    bytes
}

/// A₀ must be on the curve and A₁ on the twist, both canonical, neither of small order. A wrong one is
/// refused in either place, whatever the other is.
#[test]
fn malformed_shares_of_moeller_are_refused() {
    let (_, share) = Moeller::share(&session(0), &seed(1));
    let [curve, twist]: [[u8; 32]; 2] = share.as_chunks().0.try_into().unwrap();
    let accepts = |a: [u8; 32], b: [u8; 32]| Moeller::is_share([a, b].as_flattened());
    assert!(accepts(curve, twist));
    assert!(accepts(CURVE_GENERATOR, TWIST_GENERATOR));
    let high = |mut bytes: [u8; 32]| {
        bytes[31] |= 0x80;
        bytes
    };
    // 2 is on the twist, 6 on the curve: beyond p both are.
    let beyond = [plus_p(&CURVE_GENERATOR), plus_p(&TWIST_GENERATOR)];
    let wrong = SMALL_ORDER.into_iter().chain([[0xff; 32]]).chain(beyond);
    for wrong in wrong.chain(SMALL_ORDER.map(high)) {
        assert!(!accepts(wrong, twist) && !accepts(curve, wrong), "{wrong:x?}");
        assert!(!accepts(wrong, wrong));
    }
    assert!(!accepts(twist, curve) && !accepts(curve, curve) && !accepts(twist, twist));
    assert!(!accepts(high(curve), twist) && !accepts(curve, high(twist)));
    assert!(!Moeller::is_share(&share[..63]) && !Moeller::is_share(&[]));
}

#[test]
fn malformed_shares_of_the_others_are_refused() {
    let (_, share) = Elligator::share(&session(0), &seed(1));
    assert!(Elligator::is_share(&share));
    let mut high = share.clone();
    high[31] |= 0x80;
    assert!(!Elligator::is_share(&high));
    let beyond = plus_p(&CURVE_GENERATOR);
    for wrong in SMALL_ORDER.into_iter().chain([TWIST_GENERATOR, beyond, [0xff; 32]]) {
        assert!(!Elligator::is_share(&wrong));
    }
    let (_, share) = Ristretto::share(&session(0), &seed(1));
    assert!(Ristretto::is_share(&share));
    for wrong in [[0; 32], [0xff; 32], CURVE_GENERATOR.map(|byte| byte | 1), plus_p(&[0; 32])] {
        assert!(!Ristretto::is_share(&wrong));
    }
}

/// No string is an error, and one of small order gives a key that anybody can compute: it is the
/// key of its sender.
#[test]
fn strings_are_never_rejected_and_small_orders_give_the_key_of_zero() {
    let session = session(0);
    let (secret, share) = Moeller::share(&session, &seed(1));
    let mut strings = SMALL_ORDER.to_vec();
    strings.extend([[0xff; 32], plus_p(&[0; 32]), plus_p(&SMALL_ORDER[1])]);
    strings.extend(SMALL_ORDER.map(|mut string| {
        string[31] |= 0x80;
        string
    }));
    let of_strings = sender_keys::<Moeller>(&session, (&secret, &share), &strings, (3, 1));
    let zero = keys::<Moeller>(&session, &share, &Shared(Secrets::zeroed(1)), |_| (3, 1));
    for (k, key) in of_strings.iter().enumerate() {
        // 2²⁵⁵ − 1 is 18, of large order.
        assert_eq!(*key == zero[0], k != 5, "{:x?}", strings[k]);
    }
}

/// Strings of Elligator are accepted, and points of small order give the key of zero. On the curve
/// the points of small order with u = 0 and u = 1 have strings, of order 2 and 4; the points of
/// order 8 have none.
#[test]
fn elligator_rejects_no_string_and_small_orders_give_the_key_of_zero() {
    let (backend, session) = (Backend::best(), session(0));
    let mut strings = Vec::new();
    // All but −1, which is on the twist; under every coin. Bit 2 of a coin is bit 255.
    for (u, count) in [(0, 2), (1, 8), (3, 0), (4, 0)] {
        let (mut of_u, mut found) = ([[0; 32]; 8], [0]);
        let coins = [0, 1, 2, 3, 4, 5, 6, 7];
        kernel_elligator::inverse(backend, &[SMALL_ORDER[u]; 8], &coins, &mut of_u, &mut found);
        let has = |k: &usize| found[0] >> k & 1 == 1;
        let mut of_u: Vec<_> = (0..8).filter(has).map(|k| of_u[k]).collect();
        let mut coordinates = vec![[0; 32]; of_u.len()];
        kernel_elligator::map(backend, &of_u, &mut coordinates);
        assert!(coordinates.iter().all(|it| *it == SMALL_ORDER[u]));
        of_u.sort_unstable();
        of_u.dedup();
        assert_eq!(of_u.len(), count);
        strings.extend(of_u);
    }
    // Of all these only 0 stays below 2²⁵⁵ with p added.
    let p = plus_p(&[0; 32]);
    let mut high = p;
    high[31] |= 0x80;
    strings.extend([p, high]);
    let of_small_order = strings.len();
    // 1, p + 1 and 18 are of large order.
    strings.extend([SMALL_ORDER[1], plus_p(&SMALL_ORDER[1]), [0xff; 32]]);

    let (secret, share) = Elligator::share(&session, &seed(1));
    let of_strings = sender_keys::<Elligator>(&session, (&secret, &share), &strings, (3, 1));
    let zero = keys::<Elligator>(&session, &share, &Shared(Secrets::zeroed(1)), |_| (3, 1));
    for (k, key) in of_strings.iter().enumerate() {
        assert_eq!(*key == zero[0], k < of_small_order, "{:x?}", strings[k]);
    }
}

/// ℓ, and ℓ′ of the twist.
const ORDERS: [[u8; 32]; 2] = [
    [
        0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde,
        0x14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
    ],
    [
        0x1d, 0x58, 0x14, 0x46, 0xcb, 0x39, 0xdb, 0x4f, 0x53, 0xc6, 0x10, 0xba, 0x42, 0x0c, 0x42,
        0xd6, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
        0xff, 0x1f,
    ],
];

/// Counts x-coordinates by the order of their part of small order: on the curve 1 or 2, 4, 8; on the
/// twist 1 or 2, 4.
fn orders(coordinates: &[[u8; 32]]) -> [usize; 5] {
    let backend = Backend::best();
    let mut sides = vec![0; coordinates.len().div_ceil(8)];
    on_curve(backend, coordinates, &mut sides);
    let is_on_curve = |k: &usize| sides[k / 8] >> (k % 8) & 1 == 1;
    let (of_curve, of_twist) = (0..coordinates.len()).partition::<Vec<_>, _>(is_on_curve);
    let mut counts = [0; 5];
    for (side, (order, of_side)) in ORDERS.iter().zip([of_curve, of_twist]).enumerate() {
        let of_side: Vec<_> = of_side.into_iter().map(|k| coordinates[k]).collect();
        let mut multiplied = vec![[0; 32]; of_side.len()];
        ladder::mul(backend, &[*order], &of_side, &mut multiplied);
        for small in multiplied {
            let class = match side {
                0 if small == SMALL_ORDER[0] => 0,
                0 if small == SMALL_ORDER[1] => 1,
                0 if SMALL_ORDER[3..].contains(&small) => 2,
                1 if small == SMALL_ORDER[0] => 3,
                1 if small == SMALL_ORDER[2] => 4,
                _ => panic!("side {side}: {small:x?}"),
            };
            counts[class] += 1;
        }
    }
    counts
}

/// Asserts that the counts are within six standard deviations of their means, for draws with these
/// probabilities, as parts of 64.
fn assert_drawn(counts: &[usize], of_64: &[usize], what: &str) {
    let n: usize = counts.iter().sum();
    for (count, parts) in counts.iter().zip(of_64) {
        // (64·count − n·parts)² ≤ 36·n·parts·(64 − parts)
        let off = (64 * count).abs_diff(n * parts);
        assert!(off * off <= 36 * n * parts * (64 - parts), "{what}: {counts:?} of {of_64:?}");
    }
}

/// Half on the curve: of Z/8 a quarter of order 1 or 2, a quarter of order 4, half of order 8; of Z/4 a
/// half each.
const UNIFORM: [usize; 5] = [8, 8, 16, 16, 16];

const DRAWS: usize = 6000;

/// The x-coordinates that strings stand for.
type Coordinates = fn(&[[u8; 32]]) -> Vec<[u8; 32]>;

/// The trap: a receiver's points must be of the whole group, or the sender tells the programmed value
/// of a POPF from the other one, which is uniform, by its order. The first is the receiver's message, whatever the POPF.
fn both_values_have_points_of_all_orders<P: Popf<Domain = Strings>>(
    session: &Session,
    messages: &[[u8; 32]],
    drawn: impl Fn(&[[u8; 32]], &str),
) {
    let popf = P::new(session);
    let coins = draw(session, "test coins", &seed(3), P::COINS_LEN, DRAWS, |i| (i as u64, 0));
    let x: Vec<u8> = (0..DRAWS).map(|i| u8::from(i % 3 == 1)).collect();
    let mut phis = vec![0; DRAWS * P::PHI_LEN];
    popf.program(0, &x, messages, &coins, &mut phis);
    let mut values = [vec![[0; 32]; DRAWS], vec![[0; 32]; DRAWS]];
    let [zero, one] = &mut values;
    popf.evaluate(0, &phis, [zero, one]);
    let of = |i: usize, branch: u8| values[usize::from(branch)][i];
    let programmed: Vec<_> = (0..DRAWS).map(|i| of(i, x[i])).collect();
    assert_eq!(programmed, messages, "{}", P::NAME);
    let others: Vec<_> = (0..DRAWS).map(|i| of(i, 1 - x[i])).collect();
    drawn(&others, P::NAME);
}

fn over_all_popfs<A: Agreement<Domain = Strings>>(expected: [usize; 5], map: Coordinates) {
    let session = session(0);
    let drawn = |strings: &[[u8; 32]], what: &str| {
        let what = format!("{what} {}", A::NAME);
        assert_drawn(&orders(&map(strings)), &expected, &what);
        // Every bit of the string is a coin, bit 255 included.
        for bit in 0..256 {
            let ones = strings.iter().filter(|s| s[bit / 8] >> (bit % 8) & 1 == 1).count();
            assert_drawn(&[ones, DRAWS - ones], &[32, 32], &what);
        }
    };
    let (_, messages) = A::respond(&session, DRAWS, &seed(2));
    drawn(&messages, "the message");
    both_values_have_points_of_all_orders::<Feistel<Strings>>(&session, &messages, drawn);
    both_values_have_points_of_all_orders::<MasnyRindal<Strings>>(&session, &messages, drawn);
    both_values_have_points_of_all_orders::<Feistel2<Strings>>(&session, &messages, drawn);
    both_values_have_points_of_all_orders::<EvenMansour>(&session, &messages, drawn);
    both_values_have_points_of_all_orders::<Eke>(&session, &messages, drawn);
}

#[test]
fn orders_of_moellers_points_do_not_show_the_programmed_value() {
    over_all_popfs::<Moeller>(UNIFORM, <[[u8; 32]]>::to_vec);
}

#[test]
fn orders_of_elligators_points_do_not_show_the_programmed_value() {
    over_all_popfs::<Elligator>([16, 16, 32, 0, 0], |strings| {
        let mut coordinates = vec![[0; 32]; strings.len()];
        kernel_elligator::map(Backend::best(), strings, &mut coordinates);
        coordinates
    });
}

/// Checks that the test of orders detects shares of plain X25519: with base 9, clamped scalars, or
/// no coin.
#[test]
fn the_test_of_orders_sees_points_of_subgroups() {
    let drawn = draw(&session(0), "test scalars", &seed(4), 32, DRAWS, |i| (i as u64, 0));
    let whole: Vec<[u8; 32]> = drawn.as_chunks().0.to_vec();
    let clamped: Vec<_> = whole.iter().map(|&scalar| clamped(scalar)).collect();
    let mut nine = [0; 32];
    nine[0] = 9;
    let mut two = nine;
    two[0] = 2;
    let mut points = vec![[0; 32]; DRAWS];
    for (point, expected) in [(nine, [64, 0, 0, 0, 0]), (two, [0, 0, 0, 64, 0])] {
        ladder::mul(Backend::best(), &whole, &[point], &mut points);
        assert_drawn(&orders(&points), &expected, "of prime order");
    }
    ladder::mul(Backend::best(), &clamped, &[CURVE_GENERATOR], &mut points);
    assert_drawn(&orders(&points), &[64, 0, 0, 0, 0], "clamped");
    let scalars: Vec<_> = whole.iter().map(|scalar| scalar_of_255_bits(*scalar)).collect();
    mul_generators(Backend::best(), &scalars, &vec![0; DRAWS], &mut points);
    assert_drawn(&orders(&points), &[16, 16, 32, 0, 0], "without a coin");
}

fn scalar_of_255_bits(mut scalar: [u8; 32]) -> [u8; 32] {
    scalar[31] &= 0x7f;
    scalar
}

/// β and b are independent of the number of instances and differ between them.
#[test]
fn no_two_messages_of_a_batch_or_of_two_batches_are_equal() {
    fn messages<A: Agreement>() -> Vec<[u8; 32]> {
        let mut all = Vec::new();
        for counter in [0, 1] {
            let session = session(counter);
            let (_, messages) = A::respond(&session, 300, &seed(2));
            let mut bytes = vec![[0; 32]; 300];
            A::Domain::encode(Backend::best(), &messages, &mut bytes);
            all.extend(bytes);
        }
        all
    }
    for mut all in [messages::<Moeller>(), messages::<Elligator>(), messages::<Ristretto>()] {
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 600);
    }
}
