//! The paper's protocol: triples are right, parameters are Table 1's, messages are decoded strictly.

use foxtrot_ot::{Backend, Decode, Error, Seed, Session, Sid, Usage};
use foxtrot_papers::rlwe_paper::{P0, P1, PaperSet, SETS};
use foxtrot_triples::{params::width_of, wrong_in_batch};

fn session(set: &PaperSet, backend: Backend) -> Session {
    let whole = Session::new(Sid::from_bytes([7; 32])).with_backend(backend);
    whole.sub(set.name(), 0, Default::default())
}

fn parties(set: &'static PaperSet, backend: Backend) -> (P0, P1, Vec<u8>) {
    let (p0, public_key) = P0::new(session(set, backend), set, Seed::from_bytes([1; 32]));
    assert_eq!(public_key.len(), set.public_key_len());
    let seed = Seed::from_bytes([2; 32]);
    (p0, P1::new(session(set, backend), set, &public_key, seed).unwrap(), public_key)
}

#[test]
fn triples_of_every_set_are_right_and_the_same_on_every_backend() {
    for set in &SETS {
        let runs: Vec<_> = Backend::all()
            .map(|backend| {
                let (mut p0, mut p1, public_key) = parties(set, backend);
                let (mut ours, mut theirs) = (set.shares(), set.shares());
                let (mut request, mut response) = (Vec::new(), Vec::new());
                let mut hasher = blake3::Hasher::new();
                hasher.update(&public_key);
                for _ in 0..2 {
                    let requested = p0.request(&mut request);
                    assert_eq!(request.len(), set.request_len());
                    p1.respond(&request, &mut theirs, &mut response).unwrap();
                    assert_eq!(response.len(), set.response_len());
                    p0.receive(requested, &response, &mut ours).unwrap();
                    assert_eq!(wrong_in_batch(&ours, &theirs), 0, "{set:?} {backend:?}");
                    hasher.update(&request).update(&response).update(ours.c()).update(theirs.c());
                }
                hasher.finalize()
            })
            .collect();
        assert!(runs.iter().all(|run| *run == runs[0]), "{set:?}");
    }
}

/// log₂ of a product.
fn log2(primes: &[u64]) -> f64 {
    primes.iter().map(|p| (*p as f64).log2()).sum()
}

#[test]
fn parameters_match_table_1() {
    let rows = [(8, 150, 30, 2), (16, 170, 38, 2), (32, 218, 54, 2), (64, 190, 44, 4)];
    for (set, (bits, q, p, e)) in SETS.iter().zip(rows) {
        assert_eq!((set.bits(), set.plain().len(), set.n()), (bits, e, 8192));
        assert!(set.plain().iter().all(|prime| width_of(*prime) == p));
        assert!((log2(set.primes()) - f64::from(q)).abs() < 0.1, "{}", log2(set.primes()));
        // 128 bits of security in the standard of 2018.
        assert!(log2(set.primes()) < 218.0);
        // v + r does not wrap around: v < 2^(2ℓ+1), r < 2^(2ℓ+41).
        assert!(log2(set.plain()) >= f64::from(2 * bits + 42) - 0.01);
    }
    let bytes = SETS.each_ref().map(|set| (set.request_len() + set.response_len()) / set.n());
    assert_eq!(bytes, [175, 195, 252, 446]);
}

#[test]
fn flooding_hides_the_noise_of_a_batch_and_keeps_it_correct() {
    let n = 8192.0f64;
    let error = 10.5f64;
    // Noise of an encryption, and of the sum of two products by n centred coefficients.
    let fresh = (error * (1.0 + 2.0 * 2.0 * n / 3.0) + 0.25).sqrt();
    for set in &SETS {
        let (mut distance, mut paper) = (0.0, 0.0);
        for (i, p) in set.plain().iter().enumerate() {
            let p = *p as f64;
            let mean = (2.0 / core::f64::consts::PI).sqrt() * (2.0 * n / 12.0).sqrt() * fresh * p;
            let flood = 2f64.powi(set.flood_bits(i).cast_signed());
            distance += n * mean / (2.0 * flood);
            // Its own: 2^σ·p times the normal noise.
            paper += n * mean / (2.0 * p * fresh * 2f64.powi(40));
            // Flood and noise are below Δ/4, and what rounding to the kept primes adds is below half of
            // their Δ: h = 2n/3 terms, ten deviations.
            assert!(flood.log2() + 2.0 < log2(set.primes()) - p.log2(), "{set:?}");
            let rounding = 10.0 * (2.0 * n / 3.0 / 12.0).sqrt() + 1.0;
            assert!(rounding.log2() + 1.0 < log2(set.kept()) - p.log2(), "{set:?}");
        }
        println!(
            "{set:?}: 2^{:.1} per batch, as in the paper 2^{:.1}",
            distance.log2(),
            paper.log2()
        );
        assert!(distance < 2f64.powi(-40), "{set:?}: 2^{}", distance.log2());
        assert!((-23.0..-20.0).contains(&paper.log2()), "{}", paper.log2());
    }
}

#[test]
fn malformed_messages_are_refused() {
    let set = &SETS[0];
    let (mut p0, mut p1, public_key) = parties(set, Backend::best());
    let session = || session(set, Backend::best());
    let seed = || Seed::from_bytes([2; 32]);
    let length = |error: &Error| matches!(error, Error::Decode(Decode::Length { .. }));
    let range = |error: &Error| matches!(error, Error::Decode(Decode::Coefficient { .. }));

    assert!(length(&P1::new(session(), set, &public_key[1..], seed()).unwrap_err()));
    let mut large = public_key;
    large[set.public_key_len() - 8..].fill(0xff);
    assert!(range(&P1::new(session(), set, &large, seed()).unwrap_err()));

    let (mut request, mut response, mut shares) = (Vec::new(), vec![1], set.shares());
    let requested = p0.request(&mut request);
    let last = request.len() - 16;
    for place in [0, last / 3, last] {
        let mut large = request.clone();
        large[place..][..16].fill(0xff);
        let error = p1.respond(&large, &mut shares, &mut response).unwrap_err();
        assert!(range(&error) && response.is_empty() && shares.c().iter().all(|byte| *byte == 0));
        assert!(shares.a().iter().all(|byte| *byte == 0));
    }
    assert!(length(&p1.respond(&request[1..], &mut shares, &mut response).unwrap_err()));
    p1.respond(&request, &mut shares, &mut response).unwrap();

    let mut large = response.clone();
    large[..8].fill(0xff);
    assert!(range(&p0.receive(requested, &large, &mut shares).unwrap_err()));
    assert!(shares.c().iter().all(|byte| *byte == 0));
    let requested = p0.request(&mut request);
    assert!(length(&p0.receive(requested, &response[1..], &mut shares).unwrap_err()));
    let requested = p0.request(&mut request);
    let mut others = SETS[3].shares();
    let error = p0.receive(requested, &response, &mut others).unwrap_err();
    assert!(matches!(error, Error::Usage(Usage::CountMismatch { .. })));
}
