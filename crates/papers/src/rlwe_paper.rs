//! The protocol of \[RSS19\] (Rathee, Schneider, Shukla, *Improved multiplication triple generation over rings via
//! RLWE-based AHE*, eprint 2019/577), Figure 3 with the moduli of Table 1. For comparison: [`rlwe`](foxtrot_triples::rlwe) sends a
//! third of the bytes and takes a fraction of the time.
//!
//! Semi-honest; P₀ is P₁'s peer with the key. Everything is done once for each of e primes of the plaintext's modulus,
//! under keys of their own ("CRT optimisation"), and P₁ drowns the noise of its ciphertext in uniform noise
//! ("flooding"). Shares are unsigned, r is in [0, 2^(2ℓ+σ+1)), so that v + r does not wrap around: no triple is wrong,
//! and v is hidden by r statistically.
//!
//! ```text
//! P₀: s                                                 P₁
//!                  ── pk ──►
//!    per batch of n triples:
//! a₀, b₀           ── Enc(a₀), Enc(b₀) ──►              a₁, b₁, r
//! c₀ = a₀b₀ + d    ◄── b₁·Enc(a₀) + a₁·Enc(b₀) + Enc'(r)  c₁ = a₁b₁ − r
//! ```
//!
//! The paper makes Enc′'s noise 2^σ·p times that of an encryption, which is 2⁻²² per batch: it leaves out that a product
//! sums n terms, and that there are n coefficients. Table 1's moduli have room for both, so here the noise is
//! uniform below 2⁶⁸·p in absolute value: 2⁻⁴⁰ and less. Of q, which in the
//! paper's program has a prime that is never used, all primes are used; P₁ rounds its ciphertext to the first of them.
//!
//! ```
//! use foxtrot_ot::{Seed, Session, Sid};
//! use foxtrot_papers::rlwe_paper::{P0, P1, SETS};
//! use foxtrot_triples::wrong_in_batch;
//!
//! # let (seed_0, seed_1) = (Seed::from_bytes([1; 32]), Seed::from_bytes([2; 32]));
//! let set = &SETS[0];
//! let session = || Session::new(Sid::from_bytes([7; 32])).sub(set.name(), 0, Default::default());
//! let (mut p0, public_key) = P0::new(session(), set, seed_0);
//! let mut p1 = P1::new(session(), set, &public_key, seed_1)?;
//! let (mut ours, mut theirs) = (set.shares(), set.shares());
//! let (mut request, mut response) = (Vec::new(), Vec::new());
//! let requested = p0.request(&mut request);
//! p1.respond(&request, &mut theirs, &mut response)?;
//! p0.receive(requested, &response, &mut ours)?;
//! assert_eq!(wrong_in_batch(&ours, &theirs), 0);
//! # Ok::<(), foxtrot_ot::Error>(())
//! ```
//!
//! # Sets
//!
//! | ℓ | log₂ q | primes of plaintexts | kept | bytes/triple | the paper's |
//! |---|---|---|---|---|---|
//! | 8 | 150 | 2 of 30 bits | 50 bits | 175 | 224 |
//! | 16 | 170 | 2 of 38 | 50 | 195 | 224 |
//! | 32 | 218 | 2 of 54 | 68 | 252 | 256 |
//! | 64 | 190 | 4 of 44 | 66 | 446 | 448 |
//!
//! * *Flooding.* The noise of b₁·ct_a + a₁·ct_b is E|N| = (2/π)^½·(2n/12)^½·s·p, s the deviation of an encryption's noise;
//!   adding what is uniform on ±2^w hides a coefficient but for E|N|/2^(w+1). The paper's 2^w = 2^σ·p·(normal noise) leaves
//!   2^(−21) to 2^(−22) per batch: it counts neither that a product has n terms nor that there are n coefficients. Here w
//!   is 68 more than the bits of p, 2⁻⁴⁰ per batch and less, which Table 1's moduli have room for (`crates/papers/tests/rlwe_paper.rs`).
//!   Encoding by ⌊q/p⌋·m instead would add noise of p² times the shares, which nothing drowns.
//! * *The mask.* v + r against r is a distance of up to 2^(−σ) per triple, not per batch, as in the paper.
//! * P₀'s view is hidden computationally, as in `docs/protocols/triples.md`, section 6: c₁ of what comes back is pseudorandom only.

mod coins;
mod p0;
mod p1;
mod params;
mod plain;
mod tables;

pub use p0::{P0, Requested};
pub use p1::P1;
pub use params::{PaperSet, SETS};
