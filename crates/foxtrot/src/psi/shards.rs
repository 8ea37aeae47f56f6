//! One intersection on many machines: the parties agree once on a [`Ticket`], and every shard is a session of its own between two
//! machines that have it. `docs/clusters.md` shows the whole; `docs/wire/shards.md` has the bytes.
//!
//! ```
//! # #[cfg(feature = "keys")] {
//! use foxtrot::{Peer, job::Role, psi::{Options, keys::{Builder, Keys}, shards::{Shard, Ticket}}};
//!
//! fn keys(names: impl ExactSizeIterator<Item = String>) -> Result<Keys, foxtrot::Error> {
//!     let mut keys = Builder::new(vec!["none".parse().expect("a normaliser")], names.len())?;
//!     names.for_each(|name| keys.push([name.into()].into_iter()));
//!     keys.finish()
//! }
//!
//! /// What one company does: it agrees, and intersects 4 shards, here one after another.
//! fn company(role: Role, names: Vec<String>, mut peers: Vec<Peer>) -> Result<Vec<String>, foxtrot::Error> {
//!     let (options, items) = (Options::new(), keys(names.clone().into_iter())?);
//!     let ticket = options.agree_on_shards(&mut peers[0], role, items.len(), "none/1", 4)?;
//!     let of = ticket.division().shards_of(items.items());
//!     let mut common = Vec::new();
//!     for number in 0..4 {
//!         let mine: Vec<_> = names.iter().zip(&of).filter(|(_, it)| **it == number).map(|(name, _)| name.clone()).collect();
//!         let (shard, mut items) = (Shard { number, attempt: 0 }, keys(mine.clone().into_iter())?);
//!         items.fill_up_to(ticket.load(role))?;
//!         let (options, peer) = (options.shard(&ticket, role, shard)?, &mut peers[1 + number as usize]);
//!         match role {
//!             Role::Sender => drop(options.send_keys(peer, &items)?),
//!             Role::Receiver => {
//!                 let (found, _) = options.receive_keys(peer, &items)?;
//!                 common.extend(found.into_iter().map(|found| mine[found].clone()));
//!             }
//!         }
//!     }
//!     Ok(common)
//! }
//!
//! let names = |range: std::ops::Range<u32>| range.map(|i| format!("name {i}")).collect::<Vec<_>>();
//! let (ours, theirs) = (0..5).map(|_| Peer::pair()).unzip();
//! let sender = std::thread::spawn(move || company(Role::Sender, names(50..200), theirs));
//! let mut common = company(Role::Receiver, names(0..100), ours)?;
//! common.sort();
//! assert_eq!(common, names(50..100));
//! sender.join().expect("no panic")?;
//! # }
//! # Ok::<(), foxtrot::Error>(())
//! ```

use std::{fmt, future::Future};

use foxtrot_net::{
    Connection,
    hello::{Agreement, decimal, hexadecimal, of_hexadecimal},
};
pub use foxtrot_psi::shards::{Division, MOST};

use foxtrot_ot::{Context, Session, Sid, pair::PairParty};

use super::{
    MAX_ITEMS, Options,
    agreement::{KeyTerms, PsiTerms},
    terms::{self, NOT_OF_A_DIVISION, SHARDS},
};
use crate::{
    Error, Peer,
    job::{Answer, Job, Role, Table, refused},
};

/// The agreement of both sides on all shards of an intersection. With TLS it is no secret; keep it from strangers, who could know by it what to
/// disturb.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    division: Division,
    receivers: usize,
    senders: usize,
    /// The digest of the terms, roles and keys of the agreement.
    terms: [u8; 32],
}

/// A shard of an intersection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Its number, from 0.
    pub number: u32,
    /// The number of earlier attempts. Both sides have to mean the same.
    pub attempt: u32,
}

/// The first line of a ticket in a file.
const HEAD: &str = "foxtrot shards 2";
/// The first line of a ticket that is bound to less.
const OLD_HEAD: &str = "foxtrot shards 1";

impl Options {
    /// Agrees on the shards of an intersection, for a set of so many keys that this side has: [`Ticket`]. A number that is larger
    /// than the set is as good, and hides its size. `terms` are [`Keys::terms`](super::keys::Keys::terms), which the peer compares.
    ///
    /// # Errors
    /// [`Error`].
    pub fn agree_on_shards<C: Connection>(
        self,
        peer: &mut Peer<C>,
        role: Role,
        keys: usize,
        terms: &str,
        shards: u32,
    ) -> C::Outcome<impl Future<Output = Result<Ticket, Error>>> {
        C::outcome(async move {
            let key = KeyTerms { normalize: terms.to_owned(), columns: None, size: keys };
            let terms = PsiTerms { keys: vec![key], ..PsiTerms::new(role, self) };
            let agree = |details: &Table| {
                let theirs = terms.peers_keys(details, 0).map_err(refused)?;
                Ok((theirs, Answer::default()))
            };
            let hello = terms.hello()?.term(SHARDS, shards);
            let (agreed, theirs) = peer.agree::<_, Error>(hello, agree, |_, _| Ok(())).await?;
            toss(peer.job(agreed), role, [keys, theirs], shards).await
        })
    }

    /// The options for a shard: both sides then have [`Ticket::load`] keys. Every attempt lets a cheating peer test as many keys
    /// as the first. So the caller keeps a record of attempts, and answers a finished shard no more.
    ///
    /// # Errors
    /// [`Error::Config`] if there is no such shard.
    pub fn shard(self, ticket: &Ticket, role: Role, shard: Shard) -> Result<Self, Error> {
        let shard = Some(ticket.terms(shard)?);
        let theirs = ticket.load(role.other());
        Ok(Self { shard, most: theirs, least: theirs, ..self })
    }
}

impl Ticket {
    /// Tosses the coin of a job whose terms have the number of shards, and ends the job. The sizes are ours and the peer's.
    ///
    /// # Errors
    /// Errors of [`Job`].
    #[must_use = "it is the result, or its future"]
    pub fn toss<C: Connection>(
        job: Job<'_, C>,
        role: Role,
        sizes: [usize; 2],
        shards: u32,
    ) -> C::Outcome<impl Future<Output = Result<Self, Error>>> {
        C::outcome(toss(job, role, sizes, shards))
    }

    /// The division of items into shards.
    #[must_use]
    pub fn division(&self) -> &Division {
        &self.division
    }

    /// The number of keys that the side of this role has declared.
    #[must_use]
    pub fn keys(&self, role: Role) -> usize {
        match role {
            Role::Receiver => self.receivers,
            Role::Sender => self.senders,
        }
    }

    /// The number of keys of each shard of the side of this role, with those that fill it up.
    #[must_use]
    pub fn load(&self, role: Role) -> usize {
        self.division.load(self.keys(role))
    }

    /// The terms of the session of a shard.
    ///
    /// # Errors
    /// [`Error::Config`] if there is no such shard.
    pub fn terms(&self, shard: Shard) -> Result<terms::Shard, Error> {
        let (division, of, terms) = (self.id(), self.division.shards(), self.terms);
        match shard {
            Shard { number, attempt } if number < of => {
                Ok(terms::Shard { division, of, number, attempt, terms })
            }
            _ => Err(Error::Config("there is no shard of that number")),
        }
    }

    /// The digest of the whole ticket, by which the sessions of shards name it: `docs/wire/shards.md`, section 27.1.
    fn id(&self) -> [u8; 32] {
        let (sid, coin, shards) = self.division.parts();
        let query =
            Session::new(Sid::from_bytes(sid)).oracle("foxtrot v1 psi division").query(0, 0);
        let query = query.field(&coin).field(&u64::from(shards).to_le_bytes());
        let query = query.field(&(self.receivers as u64).to_le_bytes());
        query.field(&(self.senders as u64).to_le_bytes()).field(&self.terms).finish()
    }
}

/// The future of [`Ticket::toss`].
async fn toss<C: Connection>(
    mut job: Job<'_, C>,
    role: Role,
    [ours, theirs]: [usize; 2],
    shards: u32,
) -> Result<Ticket, Error> {
    let ((session, seed), direction) = (job.start()?, job.direction());
    let terms = job.agreement().terms_digest(&NOT_OF_A_DIVISION);
    let (party, receivers, senders) = match role {
        Role::Sender => (PairParty::Sender, theirs, ours),
        Role::Receiver => (PairParty::Receiver, ours, theirs),
    };
    let division = job
        .run(|io| async move {
            let mut cx = Context::new(&session, seed);
            Division::toss(&io, &mut cx, direction, party, shards).await
        })
        .await?;
    job.end().await?;
    Ok(Ticket { division, receivers, senders, terms })
}

/// Fails unless the session of a shard has the terms, roles and keys of the agreement on all shards.
///
/// # Errors
/// [`Error::Ticket`].
pub fn check(agreement: &Agreement, shard: Option<&terms::Shard>) -> Result<(), Error> {
    let Some(shard) = shard else { return Ok(()) };
    match agreement.terms_digest(&NOT_OF_A_DIVISION) == shard.terms {
        true => Ok(()),
        false => Err(Error::Ticket(
            "the ticket of shards was made under other terms, or between other keys".into(),
        )),
    }
}

/// The text of a file: eight lines.
impl fmt::Display for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sid, coin, shards) = self.division.parts();
        let Self { receivers, senders, .. } = self;
        let [sid, coin, terms, id] =
            [sid, coin, self.terms, self.id()].map(|bytes| hexadecimal(&bytes));
        writeln!(f, "{HEAD}\nsession {sid}\ncoin {coin}\nshards {shards}")?;
        writeln!(f, "receiver {receivers}\nsender {senders}\nterms {terms}\ndivision {id}")
    }
}

impl std::str::FromStr for Ticket {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const WRONG: &str = "not a ticket of shards";
        let mut lines = text.strip_suffix('\n').ok_or(WRONG)?.split('\n');
        match lines.next() {
            Some(HEAD) => {}
            Some(OLD_HEAD) => {
                return Err("a ticket of an earlier version; agree on the shards again");
            }
            _ => return Err(WRONG),
        }
        let mut value = |key: &str| {
            lines.next().and_then(|it| it.strip_prefix(key)?.strip_prefix(' ')).ok_or(WRONG)
        };
        let (sid, coin) = (value("session")?, value("coin")?);
        let [shards, receivers, senders] = [value("shards")?, value("receiver")?, value("sender")?]
            .map(|it| decimal(it.as_bytes()));
        let (terms, id) = (value("terms")?, value("division")?);
        if lines.next().is_some() {
            return Err(WRONG);
        }
        let [sid, coin, terms, id] = [sid, coin, terms, id].map(of_hexadecimal);
        let shards = shards.and_then(|it| u32::try_from(it).ok()).ok_or(WRONG)?;
        let size = |it: Option<u64>| {
            it.and_then(|it| usize::try_from(it).ok()).filter(|it| *it <= MAX_ITEMS).ok_or(WRONG)
        };
        let division = Division::from_parts(sid.ok_or(WRONG)?, coin.ok_or(WRONG)?, shards);
        let ticket = Self {
            division: division.map_err(|_| WRONG)?,
            receivers: size(receivers)?,
            senders: size(senders)?,
            terms: terms.ok_or(WRONG)?,
        };
        match id.ok_or(WRONG)? == ticket.id() {
            true => Ok(ticket),
            false => Err("a damaged ticket of shards"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::{Blame, psi::Assumption};

    fn tickets(shards: [u32; 2]) -> [Result<Ticket, Error>; 2] {
        let (mut ours, mut theirs) = Peer::pair();
        let other = thread::spawn(move || {
            Options::new().agree_on_shards(&mut theirs, Role::Sender, 70, "none/1", shards[1])
        });
        let ours =
            Options::new().agree_on_shards(&mut ours, Role::Receiver, 50, "none/1", shards[0]);
        [ours, other.join().unwrap()]
    }

    /// The text with another first digit behind these words.
    fn changed(text: &str, words: &str) -> String {
        let at = text.find(words).unwrap() + words.len();
        let digit = if text[at..].starts_with('0') { "1" } else { "0" };
        format!("{}{digit}{}", &text[..at], &text[at + 1..])
    }

    #[test]
    fn both_sides_have_the_same_ticket_which_a_file_keeps() {
        let [ours, theirs] = tickets([4, 4]).map(Result::unwrap);
        assert_eq!(ours, theirs);
        assert_eq!(ours.to_string().parse(), Ok(ours.clone()));
        assert_eq!((ours.keys(Role::Receiver), ours.keys(Role::Sender)), (50, 70));
        for wrong in [
            ours.to_string() + "\n",
            ours.to_string().replace("shards 4", "shards 0"),
            ours.to_string().replace("shards 4", "shards 04"),
            ours.to_string().replace("coin ", "coin f"),
            ours.to_string().replace("sender 70", "sender 71"),
            ours.to_string().replace("foxtrot shards 2", "foxtrot shards 1"),
            changed(&ours.to_string(), "coin "),
            changed(&ours.to_string(), "session "),
            changed(&ours.to_string(), "terms "),
            ours.to_string().trim_end().to_owned(),
        ] {
            assert!(wrong.parse::<Ticket>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_ticket_has_the_name_of_the_schoolbook_implementation() {
        // Of another package, which has it in the repository only.
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../ot/tests/vectors/resumed.json");
        let vectors = std::fs::read_to_string(path).unwrap();
        let vectors: serde_json::Value = serde_json::from_str(&vectors).unwrap();
        let of = &vectors["divisions"][0];
        let text = |key: &str| of[key].as_str().map_or_else(|| of[key].to_string(), str::to_owned);
        let (id, coin, shards) = (text("id"), text("coin"), text("shards"));
        let (receivers, senders) = (text("receivers"), text("senders"));
        let (digest, division) = (text("digest"), text("division"));
        let file = format!(
            "foxtrot shards 2\nsession {id}\ncoin {coin}\nshards {shards}\nreceiver {receivers}\n\
             sender {senders}\nterms {digest}\ndivision {division}\n"
        );
        assert_eq!(file.parse::<Ticket>().unwrap().to_string(), file);
    }

    #[test]
    fn sides_with_other_numbers_of_shards_do_not_agree() {
        for error in tickets([4, 5]).map(Result::unwrap_err) {
            assert_eq!(error.blame(), Blame::Agreement, "{error}");
        }
    }

    #[test]
    fn a_shard_of_another_session_number_size_or_attempt_is_refused() {
        let [[one, _], [other, _]] =
            [tickets([4, 4]), tickets([4, 4])].map(|it| it.map(Result::unwrap));
        let shard = |number, attempt| Shard { number, attempt };
        let larger = Ticket { senders: 71, ..one.clone() };
        let (sid, mut coin, shards) = one.division.parts();
        coin[31] ^= 1;
        let division = Division::from_parts(sid, coin, shards).unwrap();
        let tossed = Ticket { division, ..one.clone() };
        let weaker = Ticket { terms: [0; 32], ..one.clone() };
        let all = [
            (&one, shard(1, 0)),
            (&one, shard(0, 1)),
            (&other, shard(0, 0)),
            (&larger, shard(0, 0)),
            (&tossed, shard(0, 0)),
            (&weaker, shard(0, 0)),
        ];
        for (ticket, wrong) in all {
            let (mut ours, mut theirs) = Peer::pair();
            let options = Options::new().shard(ticket, Role::Sender, wrong).unwrap();
            let items: Vec<_> = (0..ticket.load(Role::Sender)).map(|i| i.to_string()).collect();
            let sender = thread::spawn(move || options.send(&mut theirs, &items).map(drop));
            let options = Options::new().shard(&one, Role::Receiver, shard(0, 0)).unwrap();
            let items: Vec<_> = (0..one.load(Role::Receiver)).map(|i| i.to_string()).collect();
            let error = options.receive(&mut ours, &items).unwrap_err();
            assert_eq!(error.blame(), Blame::Agreement, "{error}");
            drop(ours);
            sender.join().unwrap().unwrap_err();
        }
        assert!(Options::new().shard(&one, Role::Sender, shard(4, 0)).is_err());
    }

    #[test]
    fn a_shard_may_tell_more_of_a_match_than_the_agreement_names() {
        let [ticket, _] = tickets([4, 4]).map(Result::unwrap);
        let (mut ours, mut theirs) = Peer::pair();
        let of =
            |role| Options::new().shard(&ticket, role, Shard { number: 0, attempt: 0 }).unwrap();
        let [sender, receiver] = [of(Role::Sender), of(Role::Receiver)];
        let rows = (0..ticket.load(Role::Sender)).map(|i| (i.to_string(), [7]));
        let rows: Vec<_> = rows.collect();
        let asked: Vec<_> = (0..ticket.load(Role::Receiver)).map(|i| i.to_string()).collect();
        let other = thread::spawn(move || sender.send_with(&mut theirs, &rows, 1));
        let found = receiver.receive_with(&mut ours, &asked, 1).unwrap();
        other.join().unwrap().unwrap();
        assert!(!found.is_empty() && found.iter().all(|(_, payload)| *payload == [7]));
    }

    #[test]
    fn a_shard_under_other_terms_than_those_of_the_agreement_compares_nothing() {
        let [ticket, _] = tickets([4, 4]).map(Result::unwrap);
        let shard = Shard { number: 0, attempt: 0 };
        for options in [Options::new().semi_honest(), Options::new().assumption(Assumption::Lpn)] {
            let (mut ours, mut theirs) = Peer::pair();
            let of = |role| options.shard(&ticket, role, shard).unwrap();
            let (sender, receiver) = (of(Role::Sender), of(Role::Receiver));
            let n = [Role::Sender, Role::Receiver].map(|role| ticket.load(role));
            let names = |n: usize| (0..n).map(|i| i.to_string()).collect::<Vec<_>>();
            let (sets, asked) = (names(n[0]), names(n[1]));
            let other = thread::spawn(move || sender.send(&mut theirs, &sets).unwrap_err());
            let error = receiver.receive(&mut ours, &asked).unwrap_err();
            drop(ours);
            // Each side has the same ticket, and finds out by itself.
            for error in [error, other.join().unwrap()] {
                let is_told = matches!(error.blame(), Blame::Connection);
                assert!(is_told || error.to_string().contains("under other terms"), "{error}");
            }
        }
    }
}
