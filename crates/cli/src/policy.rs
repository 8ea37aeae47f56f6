//! The policy of a run, `--policy FILE`. `docs/policy.md` has its rules.

use std::{path::Path, sync::Arc, time::SystemTime};

use foxtrot::{
    job::{Hello, Role},
    policy::{Forbidden, Policy},
};
use foxtrot_net::small;

use crate::failure::Failure;

#[derive(Clone, Copy)]
pub(crate) struct Under<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) role: Role,
}

pub(crate) fn read(path: Option<&Path>) -> Result<Option<Arc<Policy>>, Failure> {
    let Some(path) = path else { return Ok(None) };
    let text = small::read_text(path).map_err(|e| Failure::reading(path, &e))?;
    let wrong = |e| Failure::usage(format!("policy {}, {e}", path.display()));
    Policy::parse(&text).map(Arc::new).map(Some).map_err(wrong)
}

impl<'a> Under<'a> {
    pub(crate) fn of(policy: &'a Option<Arc<Policy>>, role: Role) -> Option<Self> {
        policy.as_deref().map(|policy| Self { policy, role })
    }
}

/// Fails, before the peer is met, if the policy forbids what this side is about to say, or has expired.
pub(crate) fn check(policy: Option<&Policy>, hello: &Hello) -> Result<(), Failure> {
    let Some(policy) = policy else { return Ok(()) };
    policy.check_hello(hello)?;
    Ok(policy.check_day(SystemTime::now())?)
}

/// A run of which this side knows alone that it is forbidden.
impl From<Forbidden> for Failure {
    fn from(why: Forbidden) -> Self {
        Self::usage(why.to_string())
            .hint("agree on another policy with the peer, or change the run")
    }
}
