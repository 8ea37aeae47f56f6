//! Terms of transfers, which `rot`, `cot` and `ot` have in common, and the memory that they take.

use foxtrot_net::{
    channel::held_back,
    hello::{Hello, JOB, Role},
};
use foxtrot_ot::{
    engine::Limits,
    extension::{one_of_n, protocol as of_two},
    transfers::{Extension, Method},
};

/// Base OTs of transfers, and what does not depend on their number.
pub(crate) const ALWAYS: u64 = 8 << 20;

/// The hello of `n` transfers: of `rot`, of `cot`, or what those of [`ot`](crate::ot::terms::messages) begin with.
pub(crate) fn transfers(job: &str, role: Role, method: &Method, n: usize) -> Hello {
    Hello::new(role)
        .term(JOB, job)
        .term("base", method.base.info().name)
        .term("extension", method.extension_name())
        .term("adversary", method.adversary())
        .term("count", n)
}

/// The most bytes of memory that either side of `n` random or correlated transfers takes, with so many threads, whatever its peer
/// does: base OTs, and batches of an extension with what the peer sends ahead. Keys that the caller keeps are not counted.
/// For 8·10^6 silent OTs it is 100 MB; the command's whole process took 87 MB, of them 12 before it began.
pub(crate) fn memory_of_transfers(method: &Method, n: usize, threads: usize) -> u64 {
    /// Batches at work at once, beside one for each thread.
    const BATCHES: u64 = 8;
    /// Bytes of a transfer in a batch, and the most that a batch has.
    const TRANSFER: u64 = 64;
    const MOST: usize = 1 << 16;
    let batch = TRANSFER * n.min(MOST).next_multiple_of(512) as u64;
    let batches = batch * (BATCHES + threads as u64);
    ALWAYS
        + match method.extension {
            Extension::None => 0,
            Extension::OneOfTwo(extension) => batches + most_ahead(&of_two::limits(&extension)),
            Extension::Silent(silent) => silent.memory_of_sender(n),
            Extension::OneOfN(extension) => {
                batches + most_ahead(&one_of_n::protocol::limits(&extension))
            }
        }
}

/// The most bytes that wait for a party of a protocol with these limits, sent by a peer that does not wait for it, on the
/// two busiest of its lanes.
pub(crate) fn most_ahead(limits: &Limits) -> u64 {
    2 * held_back(limits.messages, limits.len) as u64
}
