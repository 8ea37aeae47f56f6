//! The arithmetic of a batch, on keys and shares of the test's choice.

use alloc::{vec, vec::Vec};

use foxtrot_ot::{Seed, Session, Sid, base::Block};

use super::{of_bits, products, registry};
use crate::{Shares, wrong_in_batch};

const WIDTHS: [usize; 4] = [1, 2, 4, 8];

/// Bytes that nobody would choose.
fn arbitrary(len: usize, which: u8) -> Vec<u8> {
    let session = Session::new(Sid::from_bytes([5; 32]));
    let mut bytes = vec![0; len];
    Seed::from_bytes([which; 32]).fill(&session.oracle("test"), len as u64, &mut bytes);
    bytes
}

fn blocks(bytes: &[u8]) -> Vec<Block> {
    bytes.as_chunks::<16>().0.to_vec()
}

/// One direction of a batch: the sender's a and c, what it sends, the receiver's c; own products are not there, as the
/// sender's b is 0.
fn one_direction(
    width: usize,
    pairs: &[[Block; 2]],
    a: &[u8],
    b: &[u8],
) -> (Vec<u8>, Vec<u8>, Vec<u8>) {
    let (bits, n) = (8 * width, a.len() / width);
    let set = of_bits(u32::try_from(bits).unwrap(), 4).unwrap();
    let chosen: Vec<Block> =
        (0..n * bits).map(|j| pairs[j][usize::from(b[j / 8] >> (j % 8) & 1)]).collect();
    let mut received = vec![0xaa; a.len()];
    products::gather(width, &chosen, &mut received);
    let (mut sent, mut message) = (vec![0; a.len()], vec![0; set.products_len(n)]);
    let (mut a, mut zero) = (a.to_vec(), vec![0; a.len()]);
    products::multiply(width, pairs, [&mut a, &mut zero, &mut sent], &mut message);
    products::add(width, b, &message, &mut received);
    (sent, message, received)
}

#[test]
fn the_parts_of_a_product_sum_to_it_for_all_keys_and_shares() {
    for width in WIDTHS {
        let extremes = [0, 1, 1 << (8 * width - 1), u64::MAX, u64::MAX >> 1, 0x5555_5555_5555_5555];
        let bytes = |x: u64| x.to_le_bytes()[..width].to_vec();
        let (a, b): (Vec<_>, Vec<_>) = extremes
            .iter()
            .flat_map(|x| extremes.iter().map(move |y| (bytes(*x), bytes(*y))))
            .chain([(arbitrary(width, 1), arbitrary(width, 2))])
            .unzip();
        let (a, b) = (a.concat(), b.concat());
        let ots = 8 * a.len();
        for keys in [
            vec![0; 32 * ots],
            vec![0xff; 32 * ots],
            arbitrary(32 * ots, 3),
            arbitrary(32 * ots, 4),
        ] {
            let pairs = blocks(&keys).as_chunks::<2>().0.to_vec();
            let (sent, _, received) = one_direction(width, &pairs, &a, &b);
            let none = vec![0; a.len()];
            let ours = Shares::of_parts(width, [&a, &none, &sent]);
            let theirs = Shares::of_parts(width, [&none, &b, &received]);
            assert_eq!(wrong_in_batch(&ours, &theirs), 0, "{width}");
        }
    }
}

/// `docs/wire/gilboa.md`, section 19, bit by bit.
#[test]
fn products_are_packed_without_gaps() {
    for width in WIDTHS {
        let bits = 8 * width;
        for n in [0, 1, 2, 3, 8, 9] {
            let pairs = blocks(&arbitrary(32 * n * bits, 5)).as_chunks::<2>().0.to_vec();
            let a = arbitrary(n * width, 6);
            let (sent, message, _) = one_direction(width, &pairs, &a, &vec![0; n * width]);
            let number = |bytes: &[u8]| {
                bytes[..width].iter().rev().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte))
            };
            let t = |triple: usize, i: usize| {
                let [zero, one] = pairs[triple * bits + i];
                let t = number(&zero)
                    .wrapping_sub(number(&one))
                    .wrapping_add(number(&a[triple * width..]));
                (0..bits - i).map(move |k| t >> k & 1 == 1)
            };
            let mut expected: Vec<bool> = Vec::new();
            for triple in 0..n {
                expected.extend(t(triple, 0));
                for i in 1..bits / 2 {
                    expected.extend(t(triple, i).chain(t(triple, bits - i)));
                }
            }
            (0..n).for_each(|triple| expected.extend(t(triple, bits / 2)));
            assert_eq!(expected.len(), n * bits * (bits + 1) / 2);
            expected.resize(8 * message.len(), false);
            let got: Vec<bool> =
                (0..8 * message.len()).map(|k| message[k / 8] >> (k % 8) & 1 == 1).collect();
            assert_eq!(got, expected, "{bits} bits, {n} triples");
            for (triple, sent) in sent.chunks(width).enumerate() {
                let kept = (0..bits)
                    .map(|i| number(&pairs[triple * bits + i][0]) << i)
                    .fold(0u64, u64::wrapping_add);
                let c = kept.wrapping_neg().to_le_bytes();
                assert_eq!(sent, &c[..width]);
            }
        }
    }
}

#[test]
fn every_set_has_a_unique_name_and_fewer_bytes_than_the_paper() {
    let names: Vec<_> = registry().map(super::Set::name).collect();
    for (at, set) in registry().enumerate() {
        assert_eq!(names.iter().position(|name| *name == set.name()), Some(at));
        let n = set.n();
        assert_eq!(n * set.bits() as usize, 1 << 16);
        // RSS19, Table 3.
        let paper = [272, 576, 1280, 3072][set.width().ilog2() as usize];
        let bytes = 2 * (set.corrections_len(n) + set.products_len(n));
        assert!(bytes < paper * n, "{set:?}: {bytes} for {n}");
        // ℓ(ℓ + 1) bits, and 2ℓ·(⌈128/k⌉ − 1) of the extension.
        let bits = set.bits() as usize;
        assert_eq!(8 * bytes, n * bits * (bits + 1 + 2 * (128usize.div_ceil(set.k()) - 1)));
    }
}
