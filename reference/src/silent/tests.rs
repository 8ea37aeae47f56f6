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
    for name in ["silent-vole", "silent-vole-semi-honest", "silent", "silent-semi-honest"] {
        let (received, sent) = run(name, |_, _| ()).expect("an honest run");
        let protocol = Protocol::named(name);
        for ((&u, &v), &w) in received.u.iter().zip(&received.rows).zip(&sent.rows) {
            assert_eq!(v, w ^ protocol.times(u, sent.delta), "{name}");
        }
        assert!(received.u.iter().any(|&u| u != 0));
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
fn products_obey_the_laws_of_a_field() {
    let (a, b) = (0x0123_4567_89ab_cdef_0f1e_2d3c_4b5a_6978, u128::MAX / 7);
    assert_eq!(multiply(1 << 127, 2), 0b1000_0111);
    assert_eq!((multiply(a, b), multiply(a, 1)), (multiply(b, a), a));
    // a^(2^128) = a, and a^(2^64) ≠ a.
    let square = |a, times| (0..times).fold(a, |a, _| multiply(a, a));
    assert_eq!(square(a, 128), a);
    assert_ne!(square(a, 64), a);
}
