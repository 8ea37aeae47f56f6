//! Terms of a run and its progress, in every protocol.

use core::fmt;

use foxtrot_ot::{
    Direction, Session, Usage,
    base::{BaseOt, Protocol},
    protocol::compatible,
};

/// Terms that both parties have agreed on.
#[derive(Clone, Copy)]
pub struct PsiPlan<'a, Parameters> {
    /// The protocol's parameters, and the sizes.
    pub parameters: Parameters,
    /// The base OT that it starts from.
    pub base: &'a dyn BaseOt,
    /// The direction: the receiver learns the result. In an intersection the base OTs run the other way.
    pub direction: Direction,
    /// The counter of the run within its session.
    pub counter: u64,
}

/// The progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Steps so far: slots, tags and payloads; of a count, also random OTs and bytes.
    pub done: usize,
    /// All of them.
    pub of: usize,
}

/// A call that is told of the progress of a run.
pub type OnProgress<'a> = &'a mut (dyn FnMut(Progress) + Send);

impl<'a, Parameters> PsiPlan<'a, Parameters> {
    /// Checks that the protocol may stand on the base OT, and returns the run's session, under the family's name.
    pub(crate) fn begin(&self, session: &Session, protocol: &Protocol) -> Result<Session, Usage> {
        compatible(self.base.info(), protocol).map_err(Usage::Incompatible)?;
        Ok(session.sub(protocol.family, self.counter, self.direction))
    }

    /// The session of base OTs in which the receiver of the run sends.
    pub(crate) fn of_base(&self, session: &Session) -> Session {
        session.sub(self.base.info().name, 0, self.direction.reversed())
    }

    /// Terms with other parameters, and otherwise the same.
    pub(crate) fn with<Others>(self, parameters: Others) -> PsiPlan<'a, Others> {
        let Self { base, direction, counter, .. } = self;
        PsiPlan { parameters, base, direction, counter }
    }
}

/// Tells how many more of so many steps are done.
pub(crate) fn counter<F: FnMut(Progress)>(
    of: usize,
    mut progress: F,
) -> impl FnMut(usize) + use<F> {
    let mut done = 0;
    move |more| {
        done += more;
        if more > 0 {
            progress(Progress { done, of });
        }
    }
}

foxtrot_kernel::redacted! {
    [Parameters: fmt::Debug] PsiPlan<'_, Parameters>, plan => "{:?} from {}, counter {}", plan.parameters, plan.base.info().name, plan.counter;
}
