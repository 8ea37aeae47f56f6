use super::{Batch, Block, Protocol, Received, ReceiverBatch, SenderBatch, Sent, multiply};
use crate::extension::Rejected;
use crate::oracle::oracle;

const ID: [u8; 32] = [7; 32];

/// Random OTs under Δ: choices, the receiver's rows, the sender's.
fn ots(n: usize, delta: Block) -> (Vec<bool>, Vec<Block>, Vec<Block>) {
    let bytes = oracle("test", &ID, n, 0, &[], 17 * n);
    let choices: Vec<bool> = bytes[..n].iter().map(|byte| byte % 2 == 1).collect();
    let q = super::blocks(&bytes[n..]);
    let r = q.iter().zip(&choices).map(|(q, &b)| q ^ if b { delta } else { 0 }).collect();
    (choices, r, q)
}

/// Runs a batch of 40 outputs; `change` gets each message by its number.
fn run(name: &str, change: impl Fn(usize, &mut Vec<u8>)) -> Result<(Received, Sent), Rejected> {
    run_with(name, 1 << 127 | 5, change)
}

fn run_with(
    name: &str,
    delta: Block,
    change: impl Fn(usize, &mut Vec<u8>),
) -> Result<(Received, Sent), Rejected> {
    let protocol = Protocol::named(name);
    let batch = Batch::new(protocol, &ID, 3, 40);
    let (choices, r, q) = ots(batch.sizes.ots, delta);
    let (sender, mut trees) = SenderBatch::begin(batch, delta, &q, &[1; 32]);
    change(0, &mut trees);
    let (receiver, [mut challenge, mut check]) =
        ReceiverBatch::check(batch, &choices, &r, &[2; 32], &trees)?;
    change(1, &mut challenge);
    change(2, &mut check);
    let (sent, mut answer) = sender.answer(&challenge, &check)?;
    change(3, &mut answer);
    Ok((receiver.finish(&answer)?, sent))
}

#[test]
fn outputs_are_correlated_and_keys_fit_the_choices() {
    for name in [
        "silent-vole",
        "silent-vole-semi-honest",
        "silent",
        "silent-semi-honest",
        "silent-16-semi-honest",
    ] {
        let (received, sent) = run(name, |_, _| ()).expect("an honest run");
        let protocol = Protocol::named(name);
        for ((&u, &v), &w) in received.u.iter().zip(&received.rows).zip(&sent.rows) {
            assert_eq!(v, w ^ protocol.times(u, sent.delta), "{name}");
        }
        assert!(received.u.iter().any(|&u| u != 0));
        if protocol.bits == 4 {
            let outputs = sent.masks().into_iter().zip(received.nibbles()).zip(received.bits());
            for ((mask, choice), bit) in outputs {
                assert_eq!(mask >> choice & 1 == 1, bit, "{name}");
            }
            assert!(sent.masks().iter().any(|mask| ![0, u16::MAX].contains(mask)));
        }
        if protocol.bits == 1 {
            let given: Vec<bool> = (0..40).map(|i| i % 3 == 0).collect();
            let flips = received.flips(&given);
            for (sent, choices) in
                [(sent.clone().flip(Some(&flips)), given), (sent.flip(None), received.choices())]
            {
                let keys = sent.keys().into_iter().zip(received.keys()).zip(choices);
                for ((pair, key), choice) in keys {
                    assert_eq!(pair[usize::from(choice)], key, "{name}");
                    assert_ne!(pair[usize::from(!choice)], key, "{name}");
                }
            }
        }
    }
}

#[test]
fn a_flipped_bit_in_any_message_ends_a_checked_run() {
    let fails = |name: &str, message, at: fn(usize) -> usize| {
        let change = |number, it: &mut Vec<u8>| {
            if number == message {
                let place = at(it.len());
                it[place] ^= 1;
            }
        };
        run(name, change).is_err()
    };
    for name in ["silent-vole", "silent"] {
        for message in 0..4 {
            assert!(fails(name, message, |len| len - 1), "{name}: message {message}");
        }
        assert!(fails(name, 3, |_| 0), "{name}: hash");
    }
    assert!(fails("silent", 0, |_| 0), "commitment");
    // A receiver uses one of the sums of a level only.
    let [even, odd] = [|_| 0, |_| 16].map(|at| fails("silent-vole", 0, at));
    assert_ne!(even, odd);
    // Of a correlated tree it uses every sum, but for bit 0 of the last.
    assert!(fails("silent", 0, |_| 33), "first sum");
    assert!(fails("silent", 0, |_| 32), "bit of Δ");
    assert!(!fails("silent", 0, |len| len - 16), "bit 0 of the last sum");
}

#[test]
fn the_receiver_refuses_a_correction_of_a_leaf_with_bits_of_the_choice() {
    let sizes = Protocol::named("silent-16-semi-honest").sizes(40);
    let tree = 16 * sizes.blocks;
    for place in [tree - 16, sizes.t * tree - 16] {
        for bit in 0..8 {
            let result = run("silent-16-semi-honest", |_, trees| {
                if let Some(byte) = trees.get_mut(place) {
                    *byte ^= 1 << bit;
                }
            });
            assert_eq!(result.is_err(), bit < 4, "bit {bit}");
        }
    }
}

#[test]
fn levels_of_a_correlated_tree_add_up_to_delta() {
    let (key, first, delta) = (3, 1 << 100 | 9, 1 << 127 | 5);
    let levels = super::correlated_tree(key, first, delta, 5);
    for (level, nodes) in levels.iter().enumerate() {
        assert_eq!((nodes.len(), super::xor_of(nodes)), (1 << level, delta));
    }
    let [even, odd] = super::sums_of_sides(&levels[5]);
    assert_eq!(odd, even ^ delta);
    for place in [0, 11, 31] {
        let side = |level: usize| (place >> (5 - level) ^ 1) % 2;
        let sums: Vec<Block> =
            (1..=5).map(|it| super::sums_of_sides(&levels[it])[side(it)]).collect();
        let mut leaves = super::punctured(key, place, &sums, 0, super::tree::correlated_children);
        assert_eq!(leaves[place], 0);
        leaves[place] = super::xor_of(&leaves) ^ delta;
        assert_eq!(leaves, levels[5]);
    }
}

#[test]
fn bits_of_delta_that_are_choices_in_the_outputs_may_be_any() {
    for name in ["silent", "silent-semi-honest", "silent-16-semi-honest"] {
        for low in [0, 1, 6] {
            let delta = 1 << 127 | 1 << 64 | low;
            let (received, sent) = run_with(name, delta, |_, _| ()).expect("an honest run");
            let protocol = Protocol::named(name);
            assert_eq!(sent.delta, 1 << 127 | 1 << 64 | low & !protocol.choice_bits() | 1);
            for ((&u, &v), &w) in received.u.iter().zip(&received.rows).zip(&sent.rows) {
                assert_eq!((v, v & protocol.choice_bits()), (w ^ protocol.times(u, sent.delta), u));
            }
        }
    }
}

#[test]
fn the_children_of_a_correlated_tree_hash_the_swapped_halves() {
    let bytes: [u8; 16] = core::array::from_fn(|it| 17 * u8::try_from(it).unwrap_or(0));
    let mut swapped = [0; 16];
    for i in 0..8 {
        (swapped[i], swapped[i + 8]) = (bytes[i + 8], bytes[i] ^ bytes[i + 8]);
    }
    let [node, x] = [bytes, swapped].map(Block::from_le_bytes);
    let left = crate::aes::encrypt(7, x) ^ x;
    assert_eq!(super::tree::correlated_children(7, node), [left, left ^ node]);
}

#[test]
fn nibbles_multiply_as_elements_of_the_field_of_16() {
    let protocol = Protocol::named("silent-16-semi-honest");
    // X generates the group: its powers are the nibbles of one element, low to high.
    let mut power = 1;
    let mut all = 0;
    for k in 0..15 {
        all |= power << (4 * k);
        power = protocol.times(2, power);
    }
    assert_eq!((power, all), (1, 0x09df_e7a5_bc63_8421));
    for u in 0..16 {
        for v in 0..16 {
            assert_eq!(protocol.times(u, v), protocol.times(v, u));
            assert_eq!(protocol.times(u, v) == 0, u == 0 || v == 0);
            let of_all = protocol.times(u, all << 64 | v);
            assert_eq!(of_all, protocol.times(u, all) << 64 | protocol.times(u, v));
        }
    }
}

#[test]
fn products_obey_the_laws_of_a_field() {
    let (a, b) = (0x0123_4567_89ab_cdef_0f1e_2d3c_4b5a_6978, u128::MAX / 7);
    assert_eq!(multiply(1 << 127, 2), 0b1000_0111);
    assert_eq!((multiply(a, b), multiply(a, 1)), (multiply(b, a), a));
    // a^(2^128) = a, and a^(2^64) ≠ a.
    let square = |a, times| (0..times).fold(a, |a, _| multiply(a, a));
    assert_eq!(square(a, 128), a);
    assert_ne!(square(a, 64), a);
}

/// Two candidates for every tree leave more choices than a row has bits: Gauss finds trees, all of them honest, with which two rows are equal.
/// Without offsets their keys would be equal also.
#[test]
fn a_sender_that_chooses_its_trees_makes_rows_equal_but_not_keys() {
    let (batch, delta) = (Batch::new(Protocol::named("silent"), &ID, 3, 40), 1 << 127 | 5);
    let (code, keys, sizes) = (batch.code(), batch.tree_keys(), batch.sizes);
    let add_tree = |input: &mut [Block], j: usize, first: Block| {
        let leaves = super::correlated_tree(keys[j], first, delta, sizes.h).pop().expect("leaves");
        for (to, leaf) in input[j << sizes.h..].iter_mut().zip(leaves) {
            *to = leaf & !1;
        }
    };
    let of_tree = |j, first| {
        let mut input = vec![0; sizes.n];
        add_tree(&mut input, j, first);
        let y = code.encode(&input);
        y[3] ^ y[17]
    };
    let candidates =
        |j: usize| super::blocks(&oracle("test", &ID, j, 1, &[], 32)).try_into().expect("two");
    let candidates: Vec<[Block; 2]> = (0..sizes.t).map(candidates).collect();
    // What is left when known ones have been taken away, and the trees whose second candidates do this.
    let reduce = |known: &[(Block, Vec<bool>)], mut value: Block, mut trees: Vec<bool>| {
        for (pivot, others) in known {
            if value ^ pivot < value {
                value ^= pivot;
                trees.iter_mut().zip(others).for_each(|(tree, other)| *tree ^= other);
            }
        }
        (value, trees)
    };
    let (mut all, mut known) = (0, vec![]);
    for (j, [one, other]) in candidates.iter().enumerate() {
        let first = of_tree(j, *one);
        all ^= first;
        let this = (0..sizes.t).map(|tree| tree == j).collect();
        let reduced = reduce(&known, first ^ of_tree(j, *other), this);
        if reduced.0 != 0 {
            known.push(reduced);
            known.sort_by_key(|it: &(Block, _)| core::cmp::Reverse(it.0));
        }
    }
    let (left, second) = reduce(&known, all, vec![false; sizes.t]);
    assert_eq!(left, 0);
    let mut input = vec![0; sizes.n];
    for (j, candidates) in candidates.iter().enumerate() {
        add_tree(&mut input, j, candidates[usize::from(second[j])]);
    }
    let (rows, coins) = (batch.encode(&input), [vec![1; 16], vec![2; 32]]);
    assert_eq!(rows[3], rows[17]);
    let of_coins = coins.each_ref().map(|it| &it[..]);
    assert_eq!(batch.hash(3, rows[3], &of_coins), batch.hash(17, rows[17], &of_coins));
    let keys = Sent { batch, delta: batch.of_outputs(delta), coins, rows }.keys();
    let [[a, b], [c, d]] = [keys[3], keys[17]];
    assert!(a != c && a != d && b != c && b != d);
}
