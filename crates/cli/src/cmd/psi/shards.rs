//! One intersection on many machines: the agreement on all shards, and the shard of this machine.

use std::{fs, path::Path, thread, time::Duration};

use foxtrot::{
    job::Role,
    psi::shards::{Shard, Ticket},
};
use foxtrot_net::{
    gateway::{Event, Gateway, Limits},
    jobs::{self, SHARDS},
};
use serde_json::json;

use super::{Agreed, Set, Terms};
use crate::{
    args::{Common, GatewayArgs, SetOptions, Sharding},
    failure::Failure,
    files::{Existing, write_secret},
    output::{Output, say},
    reach::Way,
    record::Entry,
    workers::Workers,
};

/// The shard of this machine.
pub(super) struct Worker {
    ticket: Ticket,
    shard: Shard,
    role: Role,
}

impl Worker {
    /// The shard that the options name, if they do.
    pub(super) fn of(sharding: &Sharding, role: Role) -> Result<Option<Self>, Failure> {
        let (Some(shards), Some(number), Some(path)) =
            (sharding.shards, sharding.shard, &sharding.ticket)
        else {
            return Ok(None);
        };
        let text = fs::read_to_string(path).map_err(|e| Failure::reading(path, &e))?;
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
        Ok(Some(Self { ticket, shard, role }))
    }

    /// Reads only rows of the shard.
    pub(super) fn reading(&self, options: SetOptions) -> SetOptions {
        SetOptions { shard: Some((self.ticket.division().clone(), self.shard.number)), ..options }
    }

    /// Fills up the shard to the size that both sides agreed on.
    pub(super) fn fill(&self, set: &mut Set) -> Result<(), Failure> {
        let (keys, load) = (set.items().len(), self.ticket.load(self.role));
        if keys > load {
            let why = format!("shard {} has {keys} keys, more than {load}", self.shard.number);
            return Err(
                Failure::run(why).hint("has the file changed since the ticket was written?")
            );
        }
        Ok(set.fill_up_to(load)?)
    }

    /// The terms of the shard's session.
    pub(super) fn terms(&self, terms: Terms) -> Result<Terms, Failure> {
        let theirs = self.ticket.load(self.role.other());
        let shard = Some(self.ticket.terms(self.shard)?);
        Ok(Terms { shard, most: theirs, least: theirs, ..terms })
    }

    /// The part of the route's name that tells the shard from others.
    pub(super) fn route(&self) -> Result<String, Failure> {
        let jobs::Shard { division, number, attempt, .. } = self.ticket.terms(self.shard)?;
        Ok(format!(":{number}:{attempt}:{}", jobs::hexadecimal(&division[..16])))
    }
}

/// Agrees with the peer on all shards, and writes the ticket.
pub(super) fn agree(
    set: &Set,
    terms: &Terms,
    way: Way<'_>,
    (role, shards, path): (Role, u32, &Path),
    (common, entry): (&Common, &mut Entry),
) -> Result<(), Failure> {
    let (output, workers, ours) = (Output::new(common), Workers::new(1)?, [set.items().len()]);
    let hello = terms.hello(role, &ours).term(SHARDS, shards);
    let link = terms.meet(way, hello, common, entry)?;
    let agreed = Agreed::on(terms, &link, &ours)?;
    entry.agreed(agreed.json());
    let theirs = terms.peers_keys(&link.agreed.peer_details)?;
    let (ticket, _) =
        link.run(&workers, |job| Ok(Ticket::toss(job, role, [ours[0], theirs], shards)?))?;
    write_secret(Existing::Replaced, path, ticket.to_string().as_bytes())?;
    output.note(&format!(
        "agreed on {shards} shards: {} keys here in each, {} at the peer; written to {}",
        ticket.load(role),
        ticket.load(role.other()),
        path.display()
    ));
    if common.json {
        println!(
            "{}",
            json!({ "shards": shards, "keys": ours[0], "peer_keys": theirs,
                "keys_of_a_shard": ticket.load(role), "files": [path.display().to_string()] })
        );
    }
    Ok(())
}

/// `foxtrot psi gateway`: joins connections until it is interrupted.
pub(super) fn gateway(args: &GatewayArgs) -> Result<(), Failure> {
    let quiet = args.quiet;
    let tell = move |event: Event| {
        if !quiet {
            say(&match event {
                Event::Joined(route, source) => format!("joined {route}, from {source}"),
                Event::Ended(route, [into, out]) => {
                    format!("ended {route}: {into} bytes in, {out} bytes out")
                }
                Event::Refused(source, why) => format!("refused {source}: {why}"),
            });
        }
    };
    let limits = Limits {
        waiting: args.max_routes,
        joined: args.max_routes,
        wait: Duration::from_secs(args.wait),
    };
    let gateway = Gateway::open(&args.listen, &args.inside, limits, tell)?;
    say(&format!("listening on {} for the peer", gateway.outside()));
    say(&format!("listening on {} for our machines", gateway.inside()));
    loop {
        // The threads of the gateway do all work.
        thread::sleep(Duration::from_secs(3600));
    }
}
