//! Counters of the operations of each kind, to compare with the tables of papers. Counts only with
//! the feature `counters`, which tests switch on; without it [`count`] is nothing.

/// A kind of operation that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A transform of one polynomial into values.
    Ntt,
    /// A transform of one polynomial back into coefficients.
    InverseNtt,
    /// A polynomial of noise.
    Noise,
    /// A uniform polynomial.
    Uniform,
    /// A query to the random oracle.
    Oracle,
    /// A point multiplied by a scalar.
    PointMultiplication,
    /// An attempt to hash to a curve: a query to the oracle as well.
    HashToCurve,
}

#[cfg(feature = "counters")]
const KINDS: usize = Operation::HashToCurve as usize + 1;

/// Counts operations of this thread.
#[inline(always)]
#[cfg_attr(not(feature = "counters"), expect(unused_variables, reason = "nothing is counted"))]
pub fn count(operation: Operation, times: usize) {
    #[cfg(feature = "counters")]
    COUNTS.with_borrow_mut(|counts| counts.0[operation as usize] += times);
}

#[cfg(feature = "counters")]
std::thread_local! {
    static COUNTS: core::cell::RefCell<Counts> = const { core::cell::RefCell::new(Counts([0; KINDS])) };
}

/// The counts of a thread.
#[cfg(feature = "counters")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts([usize; KINDS]);

#[cfg(feature = "counters")]
impl Counts {
    /// This thread's counts since it last took them.
    #[must_use]
    pub fn take() -> Self {
        COUNTS.replace(Self([0; KINDS]))
    }

    /// Returns the number of times that an operation ran.
    #[must_use]
    pub fn of(&self, operation: Operation) -> usize {
        self.0[operation as usize]
    }
}
