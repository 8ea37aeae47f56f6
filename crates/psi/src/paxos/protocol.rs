//! The protocol between base OTs and tags: bucket after bucket with several batches on their way at a time
//! (`docs/wire/paxos.md`, section 13).

use alloc::vec;

use foxtrot_ot::{
    engine::{
        Io, Limits,
        batches::{PROOFS, Step, Window, window_limits},
    },
    extension::one_of_n::{self, Places},
};

use super::{Parameters, Receiver, Sender};
use crate::{Error, Next, Received, RowSeed, Sent, erase::Secret};

/// Takes the receiver's words of all buckets; with the tags to be sent.
pub(crate) async fn send(
    io: &Io,
    parameters: &Parameters,
    mut ots: one_of_n::Sender,
    mut sender: Sender,
    count: &mut impl FnMut(usize),
) -> Result<Sent, Error> {
    loop {
        let bucket = sender.open(&io.recv(RowSeed::LEN).await)?;
        let rows = absorb(io, parameters, &mut ots, count).await?;
        match bucket.finish(&ots, rows)? {
            Next::Bucket(next) => sender = next,
            Next::Done(sent) => return Ok(sent),
        }
    }
}

/// The rows of a bucket's batches, as these come.
async fn absorb(
    io: &Io,
    parameters: &Parameters,
    ots: &mut one_of_n::Sender,
    count: &mut impl FnMut(usize),
) -> Result<Secret<u8>, Error> {
    let row_len = parameters.lengths().row_len();
    // Written, and so erased, only as far as the peer has come: it may have declared much and end at once.
    let mut rows = Secret::with_capacity(parameters.rows_len());
    let finish = |ots: &mut one_of_n::Sender, batch, n, proof: &[u8]| {
        let at = rows.len();
        // There is room: it does not grow.
        rows.0.resize(at + n * row_len, 0);
        ots.finish(batch, proof, Places::Rows(&mut rows[at..]))?;
        count(n);
        Ok::<_, Error>(())
    };
    ots.finish_each(io, parameters.batches(), finish).await?;
    Ok(rows)
}

/// Sends the words of all buckets; then tags are to come.
pub(crate) async fn receive(
    io: &Io,
    parameters: &Parameters,
    mut ots: one_of_n::Receiver,
    mut receiver: Receiver,
    count: &mut impl FnMut(usize),
) -> Result<Received, Error> {
    loop {
        let (bucket, row_seed) = receiver.encode()?;
        io.send(row_seed.as_bytes().to_vec()).await;
        let rows = extend(io, parameters, &mut ots, bucket.words(), count).await?;
        match bucket.finish(rows)? {
            Next::Bucket(next) => receiver = next,
            Next::Done(received) => return Ok(received),
        }
    }
}

/// The rows of a bucket's batches, from words of all slots.
async fn extend(
    io: &Io,
    parameters: &Parameters,
    ots: &mut one_of_n::Receiver,
    mut words: &[u8],
    count: &mut impl FnMut(usize),
) -> Result<Secret<u8>, Error> {
    let lengths = parameters.lengths();
    let mut rows = Secret(vec![0; parameters.rows_len()]);
    let mut left = &mut rows[..];
    let len = parameters.extension().challenge_len();
    let mut window = Window::new(io.clone(), len, 1, parameters.batches());
    while let Some(step) = window.step().await {
        match step {
            Step::Begin(n) => {
                let of_batch = words.split_off(..n * lengths.word_len()).unwrap_or_default();
                let batch = ots.begin(io, n, of_batch).await?;
                let rows = left.split_off_mut(..n * lengths.row_len()).unwrap_or_default();
                window.push((batch, n, rows));
            }
            Step::End((batch, n, rows)) => {
                let challenge = io.recv_any(len).await;
                let proof = ots.finish_rows(batch, &challenge, rows)?;
                io.on(PROOFS).send_any(proof).await;
                count(n);
            }
        }
    }
    Ok(rows)
}

/// The bounds of what is on its way to a party: batches of a window. A party that waits for the proof of a batch has read the
/// corrections of a window, and none follow before that proof.
pub(crate) fn limits(parameters: &Parameters) -> Limits {
    let extension = parameters.extension();
    let corrections = parameters.batches().map(|n| extension.corrections_len(n)).max();
    window_limits(corrections.unwrap_or(0).max(extension.proof_len()))
}
