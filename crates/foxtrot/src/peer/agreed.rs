//! The terms of a job on which both sides have agreed.

use std::{fmt, ops::Deref};

use foxtrot_net::hello::{Agreement, Hello};

use super::{Offer, Seed};

/// The terms on which both sides of a connection have agreed; they are for one [`Job`](crate::job::Job).
#[must_use = "the peer waits for the job"]
pub struct Agreed {
    pub(crate) agreement: Agreement,
    /// For test vectors.
    pub(crate) seed: Option<Seed>,
    /// Base OTs that both sides keep.
    pub(crate) kept: Option<Offer>,
    pub(crate) erased: Vec<String>,
}

impl Agreed {
    /// Files of kept base OTs that no session can take up, each with the reason. They were erased before the negotiation
    /// ([`Config::resume_base`](crate::Config::resume_base)).
    #[must_use]
    pub fn erased(&self) -> &[String] {
        &self.erased
    }
}

impl Deref for Agreed {
    type Target = Agreement;

    fn deref(&self) -> &Agreement {
        &self.agreement
    }
}

impl fmt::Debug for Agreed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.agreement.fmt(f)
    }
}

/// The answer of this side to the details of a peer.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The most bytes of memory that the job takes.
    pub memory: u64,
    /// Keys that the peer can test in the job. They count against its limits of the day,
    /// [`Config::per_day`](crate::Config::per_day). `None` counts no run.
    pub keys: Option<u64>,
    /// A hello of which a responder tells the details in place of those of the hello that it began with.
    pub hello: Option<Hello>,
}
