extern crate std;

use foxtrot_ot::{
    Decode,
    tasks::{InPlace, Task},
};

use super::*;

/// The parts of three threads, one after another.
#[derive(Debug)]
struct Parts;

impl Executor for Parts {
    fn threads(&self) -> usize {
        3
    }

    fn run<'a>(&self, tasks: Vec<Task<'a>>) {
        tasks.into_iter().for_each(|task| task());
    }
}

/// Bits that look random.
struct Random(u64);

impl Random {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (self.0 ^ self.0 >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    }

    fn tags(&mut self, n: usize, bits: u32) -> Vec<u128> {
        let mut tags = std::collections::BTreeSet::new();
        while tags.len() < n {
            let word = u128::from(self.word()) << 64 | u128::from(self.word());
            tags.insert(word & below(bits));
        }
        tags.into_iter().collect()
    }
}

fn decode(coding: Coding, bytes: &[u8], longest: usize) -> Result<Vec<u128>, Error> {
    decode_with(&Parts, coding, bytes, longest)
}

fn decode_with(
    executor: &dyn Executor,
    coding: Coding,
    bytes: &[u8],
    longest: usize,
) -> Result<Vec<u128>, Error> {
    let mut tags = Tags::new(coding);
    bytes.chunks(longest).try_for_each(|frame| tags.take(executor, frame))?;
    Ok(tags.all().map_or_else(Vec::new, <[u128]>::to_vec))
}

#[test]
fn tags_come_back_whatever_their_number_their_length_and_the_frames() {
    let mut random = Random(1);
    for n in (0..70_usize).chain([100, 127, 128, 129, 1000, 4095, 4096]) {
        let log = n.max(1).ilog2();
        for bits in [log + 1, log + 3, 40 + log, 63 + log, 64 + log, 127, 128] {
            let coding = Coding::new(n, bits, false).unwrap();
            let tags = random.tags(n, bits);
            for longest in [1, 7, 16, 17, 50, 1 << 20] {
                if longest < 16 && n > 200 {
                    continue;
                }
                let frames: Vec<_> = coding.frames(&tags, longest).collect();
                assert!(frames.iter().map(Vec::len).eq(coding.frame_lens(longest)));
                let bytes = frames.concat();
                assert_eq!(bytes.len(), coding.len(), "{n} {bits} {longest}");
                for longest in [1, 5, 16, 33, 1 << 20] {
                    for executor in [&InPlace as &dyn Executor, &Parts] {
                        let decoded = decode_with(executor, coding, &bytes, longest);
                        assert_eq!(decoded.unwrap(), tags, "{n} {bits} {longest}");
                    }
                }
            }
        }
    }
}

/// Every string of bytes of a tiny list is refused, or the encoding of what it is read as.
#[test]
fn every_list_has_one_encoding() {
    for (n, bits) in [(1, 3), (2, 4), (3, 3), (3, 2), (2, 2)] {
        for repeats in [false, true] {
            let coding = Coding::new(n, bits, repeats).unwrap();
            let mut lists = std::collections::BTreeSet::new();
            assert!(coding.len() <= 2);
            for word in 0..=u16::MAX {
                let bytes = &word.to_le_bytes()[..coding.len()];
                if let Ok(tags) = decode(coding, bytes, 9) {
                    assert!(
                        tags.windows(2)
                            .all(|pair| pair[0] < pair[1] || repeats && pair[0] == pair[1])
                    );
                    assert_eq!(coding.frames(&tags, 9).collect::<Vec<_>>().concat(), bytes);
                    lists.insert(tags);
                }
            }
            let choose = |m: u64, k: u64| (0..k).fold(1, |all, i| all * (m - i) / (i + 1));
            let (m, k) = (1 << bits, n as u64);
            let number = if repeats { choose(m + k - 1, k) } else { choose(m, k) };
            assert_eq!(lists.len() as u64, number, "{n} {bits} {repeats}");
        }
    }
}

#[test]
fn bytes_that_are_no_list_of_ascending_tags_are_refused() {
    let n = 1000;
    let coding = Coding::new(n, 60, false).unwrap();
    let tags = Random(2).tags(n, 60);
    let bytes = |tags: &[u128]| coding.frames(tags, 1 << 20).collect::<Vec<_>>().concat();
    let good = bytes(&tags);
    let refused = |bytes: &[u8]| decode(coding, bytes, 100).unwrap_err();

    let mut repeated = tags.clone();
    repeated[500] = repeated[499];
    assert_eq!(refused(&bytes(&repeated)), Misbehaved::Tags.into());
    let again = Coding::new(n, 60, true).unwrap();
    assert_eq!(decode(again, &bytes(&repeated), 100).unwrap(), repeated);

    let mut unsorted = tags.clone();
    // Two with the same first bits: the rests descend.
    let k = (1..n).find(|&k| tags[k] >> 51 == tags[k - 1] >> 51).unwrap();
    unsorted.swap(k, k - 1);
    assert_eq!(refused(&bytes(&unsorted)), Misbehaved::Tags.into());

    let mut fewer = good.clone();
    let mark = fewer.iter().position(|&byte| byte != 0).unwrap();
    fewer[mark] &= fewer[mark] - 1;
    assert_eq!(refused(&fewer), Misbehaved::Tags.into());
    let mut more = good.clone();
    let step = more.iter().position(|&byte| byte != 0xff).unwrap();
    more[step] |= more[step] + 1;
    assert_eq!(refused(&more), Misbehaved::Tags.into());

    // 1511 bits of marks and steps in 189 bytes; 1000 rests of 51 bits in 6375 bytes.
    let mut spare = good.clone();
    spare[188] |= 0x80;
    assert_eq!(refused(&spare), Decode::SpareBits { message: "Tags" }.into());
    let (three, tags) = (Coding::new(3, 60, false).unwrap(), [1, 2, 3]);
    let mut spare = three.frames(&tags, 99).next().unwrap();
    *spare.last_mut().unwrap() |= 0x80;
    assert_eq!(
        decode(three, &spare, 99).unwrap_err(),
        Decode::SpareBits { message: "Tags" }.into()
    );

    let long = [&good[..], &[0]].concat();
    assert_eq!(refused(&long), Usage::SessionEnded.into());
    assert_eq!(decode(coding, &good[..good.len() - 1], 100), Ok(Vec::new()), "they are not all");
}

#[test]
fn shapes_that_have_no_encoding_are_refused() {
    assert_eq!(Coding::new(3, 129, false), None);
    assert_eq!(Coding::new(1 << 20, 20, false), None);
    assert!(Coding::new(1 << 20, 21, true).is_some());
    assert_eq!(Coding::new(0, 128, false).map(|it| it.len()), Some(0));
}
