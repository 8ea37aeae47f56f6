//! Sets for experiments.

use alloc::{boxed::Box, vec::Vec};

use foxtrot_kernel::rns::Modulus;

use super::Set;

impl Set {
    /// No security: for experiments with constants at which rare events are not rare. `plain` and `rest` are
    /// lengths of primes in bits.
    pub(crate) fn experiment(
        log_n: u32,
        plain: &[u32],
        rest: &[u32],
        t: [u32; 2],
    ) -> &'static Self {
        let mut found: Vec<u64> = Vec::new();
        for bits in plain.iter().chain(rest) {
            let below = (1u64 << bits) >> (log_n + 1);
            let candidates = (1..below).rev().map(|k| (k << (log_n + 1)) + 1);
            let prime =
                candidates.filter(|p| Modulus::new(*p).is_some()).find(|p| !found.contains(p));
            found.push(prime.expect("there are enough"));
        }
        let rest = found.split_off(plain.len()).leak();
        let set = Self {
            name: "experiment",
            bits: 8,
            sigma: 0,
            log_n,
            plain: found.leak(),
            rest,
            t,
            failure: 0,
            fix: None,
            core_svp: "core-SVP 0 classical, 0 quantum",
        };
        Box::leak(Box::new(set))
    }
}
