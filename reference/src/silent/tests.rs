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
    let protocol = Protocol::named(name);
    let batch = Batch::new(protocol, &ID, 3, 40);
    let delta = 1 << 127 | 5;
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
}

#[test]
fn the_receiver_refuses_a_correction_of_a_leaf_with_bits_of_the_choice() {
    for (name, choice_bits) in [("silent-semi-honest", 1), ("silent-16-semi-honest", 15)] {
        let sizes = Protocol::named(name).sizes(40);
        let tree = 16 * (2 * sizes.h as usize + 1);
        for place in [tree - 16, sizes.t * tree - 16] {
            for bit in 0..8 {
                let result = run(name, |_, trees| {
                    if let Some(byte) = trees.get_mut(place) {
                        *byte ^= 1 << bit;
                    }
                });
                assert_eq!(result.is_err(), choice_bits >> bit & 1 == 1, "{name}, bit {bit}");
            }
        }
    }
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
