//! An attempt to reach a peer, which another thread can end.

use std::sync::{Arc, Mutex};

use super::lock;

/// Shared by the thread that tries and the one that may end it.
#[derive(Clone, Default)]
pub(crate) struct Attempt(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    is_over: bool,
    end: Option<Box<dyn Fn() + Send>>,
}

impl Attempt {
    pub(super) fn is_wanted(&self) -> bool {
        !lock(&self.0).is_over
    }

    /// From now on `end` ends what is under way.
    pub(super) fn ends_by(&self, end: impl Fn() + Send + 'static) {
        let mut state = lock(&self.0);
        if state.is_over {
            end();
        }
        state.end = Some(Box::new(end));
    }

    /// Nothing is under way any more.
    pub(super) fn has_ended(&self) {
        lock(&self.0).end = None;
    }

    #[cfg_attr(not(feature = "tokio"), expect(dead_code, reason = "a dropped future cancels"))]
    pub(crate) fn cancel(&self) {
        let mut state = lock(&self.0);
        state.is_over = true;
        if let Some(end) = &state.end {
            end();
        }
    }
}
