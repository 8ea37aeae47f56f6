//! Limits of what a peer may learn of this side in a day, `--limits`.

use std::{sync::Arc, time::SystemTime};

use foxtrot::{Daily, MostPerDay};

use super::agreement::SetTerms;
use crate::{
    args::PerDay,
    failure::Failure,
    output::{Output, say},
    reach::Way,
};

/// Counts the runs of each peer in the file, if there are limits. Those of the policy hold beside those of the options.
///
/// # Errors
/// Limits of the policy that no file keeps; a file that counts nothing, or cannot be used.
pub(super) fn keep<'a>(
    way: Way<'a>,
    per_day: &PerDay,
    terms: &SetTerms,
    output: Output,
) -> Result<Way<'a>, Failure> {
    let Some(path) = &per_day.limits else {
        return match of_policy(terms) && terms.psi.peer_learns() {
            true => {
                Err(Failure::usage("the policy has limits per day, and no file keeps their counts")
                    .hint("pass --limits FILE"))
            }
            false => Ok(way),
        };
    };
    if !terms.psi.peer_learns() {
        let why = "--limits counts what peers learn of this side, and a receiver without --both tells them nothing";
        return Err(Failure::usage(why).hint("leave out --limits"));
    }
    let (runs, keys) = (per_day.max_runs_per_day, per_day.max_keys_per_day);
    let daily = Daily::open(MostPerDay { runs, keys }, path).map_err(|unusable| {
        Failure::run(format!("cannot use the limits {}", unusable.why)).hint(unusable.hint)
    })?;
    let shown = path.display().to_string();
    let daily = daily.on_turn(SystemTime::now(), move |turn| match turn.counts > turn.clock {
        true => say(&format!(
            "warning: {turn}; set the clock or, if it is right, the day in the second line of {shown}"
        )),
        false => output.note(&turn.to_string()),
    });
    Ok(way.with(|config| config.per_day(Arc::new(daily))))
}

/// Fails if there are limits: machines that share a run would each count their part, and each attempt.
pub(super) fn check_shards(per_day: &PerDay, terms: &SetTerms) -> Result<(), Failure> {
    let has_limits = per_day.limits.is_some() || of_policy(terms) && terms.psi.peer_learns();
    match has_limits {
        true => Err(Failure::usage(
            "limits per day cannot count a run with --shards: its sessions are on many machines",
        )
        .hint("run without --shards, or without --limits and rules per day")),
        false => Ok(()),
    }
}

fn of_policy(terms: &SetTerms) -> bool {
    terms.policy.as_ref().is_some_and(|policy| policy.most_per_day().is_some())
}
