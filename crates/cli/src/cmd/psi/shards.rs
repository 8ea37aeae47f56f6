//! One intersection on many machines: the agreement on all shards, and the shard of this machine.

use std::path::Path;

use foxtrot::{
    job::Role,
    psi::{
        Options,
        agreement::PsiTerms,
        shards::{Shard, Ticket},
        terms::{self, SHARDS},
    },
};
use foxtrot_net::{hello::hexadecimal, small};
use serde_json::json;

use super::{Agreed, Set, SetTerms, attempts::Attempts};
use crate::{
    args::{Common, SetOptions, Sharding},
    failure::Failure,
    files::{Existing, write_secret},
    output::{self, Output, print},
    reach::Way,
    record::Entry,
    workers::Workers,
};

pub(super) struct Worker {
    ticket: Ticket,
    shard: Shard,
    role: Role,
    pub(super) attempts: Attempts,
}

impl Worker {
    /// The shard that the options name, if they do.
    pub(super) fn of(sharding: &Sharding, role: Role) -> Result<Option<Self>, Failure> {
        let (Some(shards), Some(number), Some(path)) =
            (sharding.shards, sharding.shard, &sharding.ticket)
        else {
            return Ok(None);
        };
        let text = small::read_text(path).map_err(|e| Failure::reading(path, &e))?;
        let ticket: Ticket =
            text.parse().map_err(|why| Failure::usage(format!("{}: {why}", path.display())))?;
        let of = ticket.division().shards();
        if of != shards {
            let why = format!("{} is of {of} shards, not of {shards}", path.display());
            return Err(Failure::usage(why));
        }
        if number >= of {
            return Err(Failure::usage(format!("there are shards 0 to {}, not {number}", of - 1)));
        }
        let shard = Shard { number, attempt: sharding.attempt };
        let attempts = Attempts::of(path, role, &ticket.terms(shard)?, sharding.again)?;
        Ok(Some(Self { ticket, shard, role, attempts }))
    }

    pub(super) fn reading(&self, options: SetOptions) -> SetOptions {
        SetOptions { shard: Some((self.ticket.division().clone(), self.shard.number)), ..options }
    }

    /// Fills up the shard to the size that both sides agreed on.
    pub(super) fn fill(&self, set: &mut Set) -> Result<(), Failure> {
        let (keys, load) = (set.keys.len(), self.ticket.load(self.role));
        if keys > load {
            let why = format!("shard {} has {keys} keys, more than {load}", self.shard.number);
            return Err(
                Failure::run(why).hint("has the file changed since the ticket was written?")
            );
        }
        Ok(set.keys.fill_up_to(load)?)
    }

    pub(super) fn terms(&self, terms: SetTerms) -> Result<SetTerms, Failure> {
        let shard = |options: Options| options.shard(&self.ticket, self.role, self.shard);
        let options = shard(terms.psi.options)?;
        Ok(terms.with(|psi| PsiTerms { options, ..psi }))
    }

    /// The part of the route's name that tells the shard from others.
    pub(super) fn route(&self) -> Result<String, Failure> {
        let terms::Shard { division, number, attempt, .. } = self.ticket.terms(self.shard)?;
        Ok(format!(":{number}:{attempt}:{}", hexadecimal(&division[..16])))
    }
}

/// Agrees with the peer on all shards, and writes the ticket.
pub(super) fn agree(
    terms: &SetTerms,
    way: Way<'_>,
    (shards, path): (u32, &Path),
    (common, entry): (&Common, &mut Entry),
) -> Result<(), Failure> {
    let (output, workers) = (Output::new(common), Workers::new(1)?);
    let mut link = terms.meet(way, terms.hello()?.term(SHARDS, shards), common, entry)?;
    let agreed = Agreed::on(terms, &mut link)?;
    entry.agreed(agreed.json());
    let (role, ours, theirs) = (terms.psi.role, terms.psi.keys[0].size, agreed.psi.peers_keys());
    let (ticket, cost) =
        link.run(&workers, |job| Ok(Ticket::toss(job, role, [ours, theirs], shards)?))?;
    entry.set("transcript", cost.transcript.map(|it| hexadecimal(&it)));
    write_secret(Existing::Replaced, path, ticket.to_string().as_bytes())?;
    output.note(&format!(
        "agreed on {shards} shards: {} keys here in each, {} at the peer; written to {}",
        ticket.load(role),
        ticket.load(role.other()),
        path.display()
    ));
    if !output.json {
        return Ok(());
    }
    print(output::json(&json!({ "shards": shards, "keys": ours, "peer_keys": theirs,
        "keys_of_a_shard": ticket.load(role), "files": [path.display().to_string()] })))
}
