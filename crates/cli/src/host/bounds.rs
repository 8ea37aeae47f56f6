//! Reasons why a session is not admitted.

use foxtrot_net::gate::Full;

use crate::report::{bytes, counted};

pub(super) fn why(full: &Full) -> String {
    let open = |most, of_this_peer| match most {
        1 => format!("1 session{of_this_peer} is open"),
        _ => format!("{most} sessions{of_this_peer} are open"),
    };
    match *full {
        Full::Sessions(most) => format!("{}, and --max-sessions allows no more", open(most, "")),
        Full::OfThisPeer(most) => {
            let open = open(most, " of this peer");
            format!("{open}, and --max-sessions-per-peer allows no more")
        }
        Full::RunsOfToday(most) => {
            let runs = counted(usize::try_from(most).unwrap_or(usize::MAX), "run");
            format!("this peer has had {runs} today, and max-runs-per-day allows no more")
        }
        Full::KeysOfToday { asks, left, of } => format!(
            "this peer can test {asks} keys in this run, and {left} of {of} are left today (max-keys-per-day)"
        ),
        Full::PeersOfToday(_) | Full::OfALaterDay { .. } => full.to_string(),
        Full::Memory { takes, left, of } => {
            let (takes, left, all) = (bytes(takes), bytes(left), bytes(of));
            format!(
                "the session may take {takes} of memory, and {left} of {all} are left (--max-memory)"
            )
        }
    }
}
