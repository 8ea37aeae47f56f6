//! The jobs up to where their protocols begin: their hellos, and the numbers that they take from the peer's.

use std::io::Write;

use clap::Parser;
use foxtrot::Config;
use foxtrot_net::{
    Channel,
    hello::{Hello, Role},
};

use super::told;
use crate::{
    args::{Args, Command, SetOptions, TriplesCommand},
    cmd::{ot, psi, triples},
    failure::Failure,
    link::{Agree, Link},
    table::Set,
};

/// The messages of a job after the hello.
#[derive(Clone, Copy, Debug)]
pub enum Job {
    /// Messages, of which the sender tells the length.
    Ot,
    /// An intersection; each side tells how many keys it has, and accepts.
    Psi,
    /// Triples; each side tells how many batches it has.
    Triples,
}

/// One side of a small run.
pub struct Side {
    hello: Hello,
    agree: Agree,
}

impl Side {
    /// The first side is the sender, or P₀. Nonces are fixed, so that its peer can be recited.
    ///
    /// # Errors
    /// The words that the user would read.
    pub fn new(job: Job, first: bool) -> Result<Self, String> {
        let side = Self::with_defaults(job, first).map_err(told)?;
        Ok(Self { hello: side.hello.with_nonce([u8::from(first); 32]), ..side })
    }

    fn with_defaults(job: Job, first: bool) -> Result<Self, Failure> {
        let line = ["foxtrot", "triples", "local", "-n=1000", "--bits=8", "-o=out"];
        let command = Args::try_parse_from(line).map(|args| args.command);
        let Ok(Command::Triples(TriplesCommand::Local { out, common })) = command else {
            return Err(Failure::usage("options that clap does not take"));
        };
        let role = if first { Role::Sender } else { Role::Receiver };
        let (hello, agree): (_, Agree) = match job {
            Job::Ot => {
                let [sender, receiver] = ot::hellos(&common)?;
                match first {
                    true => (sender, Box::new(|_| Ok(()))),
                    false => (receiver, Box::new(|link| ot::offered_length(link).map(drop))),
                }
            }
            Job::Psi => {
                let set = three_keys().map_err(|e| Failure::run(e.to_string()))?;
                let set = Set::read(set.path(), &SetOptions::default())?;
                psi::side(role, &common, &set, 1000)?
            }
            Job::Triples => triples::side(u8::from(!first), &out, &common)?,
        };
        Ok(Self { hello, agree })
    }

    /// Returns the job's hello.
    #[must_use]
    pub fn hello(&self) -> &Hello {
        &self.hello
    }

    /// Says hello, and goes on with the peer on the channel until the protocol would begin.
    ///
    /// # Errors
    /// The words that the user would read.
    pub fn agree(&self, channel: Channel, initiator: bool) -> Result<(), String> {
        let side = if initiator { foxtrot::Side::Initiator } else { foxtrot::Side::Responder };
        let peer = Config::insecure().peer(channel, side);
        let link = Link::greet(peer, self.hello.clone()).map_err(|e| told(e.into()))?;
        (self.agree)(&link).map_err(told)
    }
}

fn three_keys() -> std::io::Result<tempfile::NamedTempFile> {
    let mut file = tempfile::NamedTempFile::new()?;
    file.write_all(b"one\ntwo\nthree\n")?;
    Ok(file)
}

impl std::fmt::Debug for Side {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Side")
    }
}
