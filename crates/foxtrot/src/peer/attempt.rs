//! An attempt to reach a peer, which another thread can end.

use std::{
    fmt,
    sync::{Arc, Mutex},
};

use super::lock;

/// An attempt to reach a peer, which another thread can end. Its clones are the same attempt.
///
/// ```
/// use foxtrot::{Attempt, Config};
///
/// let (attempt, listener) = (Attempt::default(), Config::insecure().bind("localhost:0")?);
/// let other = attempt.clone();
/// let waiting = std::thread::spawn(move || listener.accept_while(&other).map(drop));
/// attempt.cancel();
/// assert!(waiting.join().expect("no panic").is_err());
/// # Ok::<(), foxtrot::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Attempt(Arc<Mutex<State>>);

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

    /// Ends the attempt.
    pub fn cancel(&self) {
        let mut state = lock(&self.0);
        state.is_over = true;
        if let Some(end) = &state.end {
            end();
        }
    }
}

impl fmt::Debug for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attempt").finish_non_exhaustive()
    }
}
