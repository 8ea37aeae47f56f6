//! A peer whose every byte may come from the fuzzer, for all fuzz targets.
//!
//! Next to nothing of what a fuzzer makes up has the right length. So the targets begin with what an
//! honest peer says and let the fuzzer make changes, of which a few suffice to replace all of it.

pub mod backends;
mod batch;
pub mod live;
mod peer;

pub use batch::{check_any, check_batch, receiver, sender};
pub use peer::{details, frame, greetings, payloads, said, scripted, sid};

use foxtrot_ot::base::{BaseOt, Functionality, find};

use libfuzzer_sys::arbitrary::{self, Arbitrary};

/// A change that the network, or a peer that cheats, makes to a message.
#[derive(Arbitrary, Clone, Debug)]
pub enum Change {
    /// Overwrites bytes from a place on; places in long messages are counted by more than one byte, here and below.
    Overwrite(u16, Vec<u8>),
    /// Overwrites everything, again and again with the same.
    Fill(Vec<u8>),
    /// Replaces a number of bytes from a place on by others.
    Splice(u16, u16, Vec<u8>),
}

impl Change {
    fn apply(&self, message: &mut Vec<u8>) {
        let step = message.len() / (1 << 16) + 1;
        let place = |at: u16| usize::from(at) * step + usize::from(at) % step;
        match self {
            Self::Overwrite(at, new) => {
                let old = message.iter_mut().skip(place(*at));
                old.zip(new).for_each(|(old, new)| *old = *new);
            }
            Self::Fill(new) => {
                message.iter_mut().zip(new.iter().cycle()).for_each(|(old, new)| *old = *new);
            }
            Self::Splice(at, count, new) => {
                let start = place(*at).min(message.len());
                let end = (start + usize::from(*count)).min(message.len());
                message.splice(start..end, new.iter().copied());
            }
        }
    }
}

/// A base OT for what stands on one: of lattices, or of short messages.
///
/// # Panics
/// If there is none by its name.
pub fn base_ot(short: bool) -> &'static dyn BaseOt {
    let name = if short { "mcquoid-rosulek-roy" } else { "roted" };
    find(name, Functionality::Endemic).expect("a base OT")
}

/// The message after all the changes.
pub fn changed<'a>(message: &[u8], changes: impl IntoIterator<Item = &'a Change>) -> Vec<u8> {
    let mut message = message.to_vec();
    changes.into_iter().for_each(|change| change.apply(&mut message));
    message
}
