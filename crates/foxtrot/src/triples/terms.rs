//! Terms of triples, and the memory that they take.

use foxtrot_net::{
    HelloError,
    hello::{self, Hello, JOB, Role, Table, hexadecimal},
};
use foxtrot_ot::{Session, Sid};
use foxtrot_triples::{BASE, DEFAULT_SIGMA, Kind};

use crate::transfers::{ALWAYS, memory_of_transfers, most_ahead};

/// The term of which run of `triples` goes on.
pub const RUN: &str = "run";
/// The term for the method of `triples`.
pub const METHOD: &str = "method";
/// The offer that tells how many batches of a run of `triples` are there.
const BATCHES: &str = "whole-batches";

/// The name of a run of triples, after the first session of the run. The run goes on only under the same terms between the
/// same keys: `digest` is the [`Agreement::terms_digest`](crate::job::Agreement::terms_digest) without [`RUN`].
#[must_use]
pub fn run_of(first: Sid, digest: &[u8; 32]) -> String {
    hexadecimal(
        &Session::new(first)
            .oracle("foxtrot v1 triples run")
            .query(0, 0)
            .field(digest)
            .finish::<32>(),
    )
}

/// The hello of `count` triples, of a run with this name of which so many batches are there. The roles only tell the
/// parties apart.
#[must_use]
pub fn triples(role: Role, kind: Kind, count: u64, run: &str, batches: u64) -> Hello {
    Hello::new(role)
        .term(JOB, "triples")
        .term(METHOD, kind.method())
        .term("adversary", "semi-honest")
        .term("bits", kind.bits())
        .term("sigma", kind.sigma().unwrap_or(DEFAULT_SIGMA))
        .term("count", count)
        .term(RUN, run)
        .offer(BATCHES, batches)
}

/// Returns the number of whole batches that the peer says it has, at most a given one.
///
/// # Errors
/// [`HelloError::Offer`].
pub fn peers_batches(offers: &Table, most: u64) -> Result<u64, HelloError> {
    hello::number(offers, BATCHES, "its number of whole batches", most)
}

/// The most bytes of memory that either side of so many triples takes, with so many threads, whatever its peer does: base OTs, batches at
/// work, and what the peer sends ahead. Shares that the caller keeps are not counted. For 10^6 triples of `rlwe-64` it is 113 MB; the
/// command's whole process took 55 MB.
#[must_use]
pub fn memory_of_triples(kind: Kind, count: u64, threads: usize) -> u64 {
    /// Batches at work at once, beside one for each thread, and how much more one takes there than its longest message.
    const BATCHES: u64 = 4;
    const WORK: u64 = 8;
    match kind {
        Kind::Bits(set) => {
            let ots = usize::try_from(count).map_or(usize::MAX, |n| n.saturating_mul(2));
            memory_of_transfers(&set.method(BASE), ots, threads) + set.usable() as u64
        }
        Kind::Rlwe(_) | Kind::Gilboa(_) => {
            let limits = kind.limits();
            let work = WORK * limits.len as u64 * (BATCHES + threads as u64);
            ALWAYS + work + most_ahead(&limits)
        }
    }
}

#[cfg(test)]
mod tests {
    use foxtrot_net::hello::of_hexadecimal;

    use super::*;

    #[test]
    fn a_run_has_the_name_of_the_schoolbook_implementation() {
        // Of another package, which has it in the repository only.
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../ot/tests/vectors/resumed.json");
        let vectors = std::fs::read_to_string(path).unwrap();
        let vectors: serde_json::Value = serde_json::from_str(&vectors).unwrap();
        let run = &vectors["triples"][0];
        let bytes = |key: &str| of_hexadecimal(run[key].as_str().unwrap()).unwrap();
        let named = run_of(Sid::from_bytes(bytes("sid")), &bytes("digest"));
        assert_eq!(named, run["run"].as_str().unwrap());
    }
}
