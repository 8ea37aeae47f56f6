//! More than an intersection: what the sender has beside its keys, matches for both sides, counts and sums.

use std::mem;

use foxtrot::psi::{
    Function,
    fields::{self, Matches, Padding},
};
use foxtrot_net::{
    Error, HelloError, Reason, drive,
    hello::{Agreement, Hello, Role},
    jobs::{COLUMNS, DUPLICATES, FUNCTION, LARGEST, MIN_COUNT, WIDTH, memory_of_count},
};
use foxtrot_ot::{Misbehaved, Session, Usage};
use foxtrot_psi::{
    circuit::{
        self, Outcome,
        protocol::{Plan as CircuitPlan, receive as receive_count, send as send_count},
    },
    join::Terms,
    method::{
        Assumption, Parameters,
        protocol::{OnProgress, Receiver, Sender},
    },
};
use tokio::io::{AsyncRead, AsyncWrite};

use super::{Keys, MOST_MEMORY, Options, Peer, Told, plan, sizes, told};

/// The term of the bytes of a payload.
const PAYLOAD: &str = "payload";

/// Numbers of keys in order, each with its payload.
pub type Payloads = Vec<(usize, Vec<u8>)>;

/// The agreement before a protocol begins.
type Begun = (Agreement, Parameters, Told);

/// The terms of a count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counting {
    /// Fewer common keys than this give no result.
    pub at_least: u64,
    /// The largest number of the sender's, if they are added up.
    pub largest: Option<u64>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Peer<S> {
    /// Finds out which of these keys the peer also has, with its payload of `len` bytes for each.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn join_receive(
        &mut self,
        options: &Options,
        keys: &Keys,
        len: usize,
        progress: OnProgress<'_>,
    ) -> Result<(Payloads, Told), Error> {
        let terms = Terms::NONE.payload(len)?;
        let hello = |hello: Hello| payload_of(hello, len);
        let begun = self.begin_psi(options, Role::Receiver, keys.len(), terms, hello).await?;
        let (_, payloads, told) =
            self.receive_joined(options, keys, begun, terms, progress).await?;
        Ok((payloads, told))
    }

    /// Lets the peer find out which of its keys are among these, and read the payload of each match: `len` bytes for each
    /// row. Of rows with one key, the first one's goes.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn join_send(
        &mut self,
        options: &Options,
        keys: &Keys,
        payloads: &[u8],
        len: usize,
        progress: OnProgress<'_>,
    ) -> Result<Told, Error> {
        let terms = Terms::NONE.payload(len)?;
        if payloads.len() != len * keys.of_rows.len() {
            let (got, expected) = (payloads.len(), len * keys.of_rows.len());
            return Err(Usage::MessageLength { len: got, max: expected }.into());
        }
        let mut firsts = vec![0; keys.len()];
        for row in (0..keys.of_rows.len()).rev() {
            keys.number_of(row).into_iter().for_each(|number| firsts[number] = row);
        }
        let hello = |hello: Hello| payload_of(hello, len);
        let begun = self.begin_psi(options, Role::Sender, keys.len(), terms, hello).await?;
        let payload = move |item: usize, to: &mut [u8]| {
            let start = len * firsts[item];
            to.copy_from_slice(&payloads[start..start + len]);
        };
        Ok(self.send_joined(options, keys, begun, (terms, payload), progress).await?.1)
    }

    /// Finds out which of these keys the peer also has, with its fields in these columns: the peer runs `foxtrot psi send
    /// --share`.
    ///
    /// # Errors
    /// [`Reason::Forbidden`] if the peer does not share such columns, on both sides; [`Error`].
    pub async fn receive_with(
        &mut self,
        options: &Options,
        keys: &Keys,
        (columns, padding): (&[String], Padding),
        progress: OnProgress<'_>,
    ) -> Result<(Matches, Told), Error> {
        let len = columns.len().saturating_mul(padding.slot());
        let terms = Terms::NONE.payload(len)?;
        let hello = |hello: Hello| {
            let hello = hello.term(FUNCTION, Function::Join).term(WIDTH, padding.width);
            let hello = hello.term(DUPLICATES, padding.duplicates.name());
            hello.detail(COLUMNS, columns.join("\n"))
        };
        let begun = self.begin_psi(options, Role::Receiver, keys.len(), terms, hello).await?;
        let shared = begun.2.details.get(COLUMNS).cloned().unwrap_or_default();
        if columns.iter().any(|column| !shared.split('\n').any(|it| it == column)) {
            return Err(self.lanes.give_up(HelloError::Refused(Reason::Forbidden)));
        }
        let (_, payloads, told) =
            self.receive_joined(options, keys, begun, terms, progress).await?;
        let read = |(key, payload): (usize, Vec<u8>)| Some((key, fields::read(&payload, padding)?));
        let read = payloads.into_iter().map(read).collect::<Option<_>>();
        Ok((read.ok_or(foxtrot_ot::Error::from(Misbehaved::Payload))?, told))
    }

    /// Finds out which of these keys the peer also has; the peer finds out the same.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn receive_both(
        &mut self,
        options: &Options,
        keys: &Keys,
        progress: OnProgress<'_>,
    ) -> Result<(Vec<usize>, Told), Error> {
        let begun =
            self.begin_psi(options, Role::Receiver, keys.len(), Terms::NONE.both(), both).await?;
        let terms = Terms::NONE.both();
        let (common, _, told) = self.receive_joined(options, keys, begun, terms, progress).await?;
        Ok((common, told))
    }

    /// Lets the peer find out which of its keys are among these, and finds out which they are.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn send_both(
        &mut self,
        options: &Options,
        keys: &Keys,
        progress: OnProgress<'_>,
    ) -> Result<(Vec<usize>, Told), Error> {
        let begun =
            self.begin_psi(options, Role::Sender, keys.len(), Terms::NONE.both(), both).await?;
        let nothing = (Terms::NONE.both(), |_: usize, _: &mut [u8]| ());
        self.send_joined(options, keys, begun, nothing, progress).await
    }

    /// Counts the keys that both sides have, and learns the sum of the sender's numbers beside them if there is one: the
    /// peer runs `foxtrot psi count` or `sum`. Secure only if both sides follow the protocol. A sender has no numbers.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn count(
        &mut self,
        options: &Options,
        role: Role,
        keys: &Keys,
        counting: Counting,
    ) -> Result<(Outcome, Told), Error> {
        let Counting { at_least, largest } = counting;
        let method = options.psi.assumption(Assumption::Lpn).semi_honest().method();
        let options = &Options { most: options.most.min(circuit::MAX_ITEMS), ..options.clone() };
        let ours = keys.len();
        if ours > circuit::MAX_ITEMS {
            return Err(Usage::BatchTooLarge { n: ours, max: circuit::MAX_ITEMS }.into());
        }
        let function = if largest.is_some() { Function::Sum } else { Function::Count };
        let hello = options.hello(role, &method, ours).term(FUNCTION, function);
        let hello = hello.term(MIN_COUNT, at_least);
        let hello = largest.iter().fold(hello, |hello, it| hello.term(LARGEST, it));
        let (agreement, (parameters, keys_there)) = self
            .agree(hello, |details| {
                let theirs = options.peers_keys(details)?;
                let [receivers, senders] = sizes(role, ours, theirs);
                let terms = circuit::Terms { largest, at_least, both: true };
                let too_large = HelloError::Refused(Reason::TooLarge);
                match circuit::Parameters::new(terms, receivers, senders) {
                    Ok(parameters) if memory_of_count(&parameters) <= MOST_MEMORY => {
                        Ok((parameters, theirs))
                    }
                    _ => Err(too_large),
                }
            })
            .await?;
        let (session, direction) = (Session::new(agreement.sid), agreement.direction());
        let (mut cx, mut items) = (drive::context(&session)?, keys.copy());
        let plan = CircuitPlan { parameters, base: method.base, direction, counter: 0 };
        let run = |io| async move {
            let items = mem::take(&mut *items);
            match role {
                Role::Sender => send_count(&io, &mut cx, plan, items, &[], &mut |_| ()).await,
                Role::Receiver => {
                    receive_count(&io, &mut cx, plan, items, &mut |_| ()).await.map(Some)
                }
            }
        };
        let outcome = self.lanes.play(run).await?;
        self.lanes.finish().await?;
        // Both sides learn it.
        Ok((outcome.ok_or(Usage::Abandoned)?, told(&agreement, keys_there)))
    }

    async fn receive_joined(
        &mut self,
        options: &Options,
        keys: &Keys,
        (agreement, parameters, told): Begun,
        terms: Terms,
        progress: OnProgress<'_>,
    ) -> Result<(Vec<usize>, Payloads, Told), Error> {
        let (session, plan) = (Session::new(agreement.sid), plan(options, parameters, &agreement));
        let (mut cx, mut items) = (drive::context(&session)?, keys.copy());
        let (mut store, mut payloads) = (Vec::new(), Vec::new());
        let kept = &mut store;
        let run = |io| async move {
            let receiver = Receiver::set_up(&io, &mut cx, plan).await?;
            receiver.join(&io, mem::take(&mut *items), terms, kept, progress).await
        };
        let joined = self.lanes.play(run).await?;
        // The session ends before the sets are compared: how long that takes depends on them.
        self.lanes.finish().await?;
        let common = joined.open(&mut store, |item: usize, payload: &[u8]| {
            payloads.push((item, payload.to_vec()));
        })?;
        payloads.sort_unstable_by_key(|(item, _)| *item);
        Ok((common, payloads, told))
    }

    async fn send_joined(
        &mut self,
        options: &Options,
        keys: &Keys,
        (agreement, parameters, told): Begun,
        (terms, mut payload): (Terms, impl FnMut(usize, &mut [u8]) + Send),
        progress: OnProgress<'_>,
    ) -> Result<(Vec<usize>, Told), Error> {
        let (session, plan) = (Session::new(agreement.sid), plan(options, parameters, &agreement));
        let (mut cx, mut items) = (drive::context(&session)?, keys.copy());
        let mut payload = move |item: usize, to: &mut [u8]| {
            payload(item, to);
            Ok(())
        };
        let run = |io| async move {
            let sender = Sender::set_up(&io, &mut cx, plan).await?;
            sender.join(&io, mem::take(&mut *items), terms, &mut payload, progress).await
        };
        let common = self.lanes.play(run).await?;
        self.lanes.finish().await?;
        Ok((common, told))
    }
}

fn payload_of(hello: Hello, len: usize) -> Hello {
    hello.term(FUNCTION, Function::Join).term(PAYLOAD, len)
}

fn both(hello: Hello) -> Hello {
    hello.term(FUNCTION, Function::Both)
}
