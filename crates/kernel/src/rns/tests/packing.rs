use super::*;

fn words_come_back(backend: Backend) {
    let mut random = Stream(12);
    for bits in 1..=64 {
        let mask = u64::MAX >> (64 - bits);
        for n in [0, 8, 16, 72, 512] {
            let words: Vec<u64> =
                (0..n).map(|i| [0, mask, random.word() & mask, 1, mask >> 1][i % 5]).collect();
            let mut bytes = vec![0xa5; pack::packed_len(n, bits)];
            pack::pack(backend, bits, &words, &mut bytes);
            for i in 0..n * bits as usize {
                let bit = words[i / bits as usize] >> (i % bits as usize) & 1;
                assert_eq!(u64::from(bytes[i / 8] >> (i % 8) & 1), bit, "{bits} {n} {i}");
            }
            let mut back = vec![1; n];
            pack::unpack(backend, bits, &bytes, &mut back);
            assert_eq!(back, words, "{bits} {n}");
        }
    }
}

fn residues_beyond_the_prime_are_refused(backend: Backend) {
    let mut random = Stream(13);
    for value in PRIMES {
        let (p, n) = (prime(value), 64);
        let residues = words(&p, n, &mut random);
        let mut bytes = vec![0; pack::packed_len(n, p.bits())];
        let mut back = vec![0; n];
        pack::pack(backend, p.bits(), &residues, &mut bytes);
        assert_eq!(pack::unpack_residues(backend, &p, &bytes, &mut back), Ok(()));
        assert_eq!(back, residues);
        for at in 0..n {
            for bad in [value, value + 1, (1 << p.bits()) - 1] {
                let mut residues = residues.clone();
                residues[at] = bad;
                pack::pack(backend, p.bits(), &residues, &mut bytes);
                let result = pack::unpack_residues(backend, &p, &bytes, &mut back);
                assert_eq!(result, Err(OutOfRange), "{value} {at}");
            }
        }
    }
}

on_every_backend! {
    packing_is_the_documented_order_and_invertible => words_come_back;
    decoding_is_strict => residues_beyond_the_prime_are_refused;
}
