//! A thread for each party, and a channel between them. Shares are checked in memory only: here no party has both.

use std::{collections::VecDeque, hint::black_box};

use foxtrot_cli::shared::Failure;
use foxtrot_net::{Lane, drive};
use foxtrot_ot::{Direction, Session, Sid};
use foxtrot_papers::rlwe_paper::{P0, P1, PaperSet};
use foxtrot_triples::{
    gilboa::{self, protocol as from_ots},
    params::Set,
    rlwe::protocol as rlwe,
};

use super::{BASE, Protocol, Sample, Setting, seed, session};
use crate::over::{End, both};

/// Requests of the paper's protocol that have no answer yet: as many as keep a link of 100 ms busy.
const WINDOW: u64 = 16;

pub(super) fn sample(protocol: Protocol, setting: &Setting<'_>) -> Result<Sample, Failure> {
    let n = setting.n as u64;
    let run = |we_are_p0| {
        move |end: &End<'_>| match protocol {
            Protocol::Rlwe(set) => duplex(end, set, n, we_are_p0),
            Protocol::Gilboa(set) => from_ot(end, set, n, we_are_p0),
            Protocol::Paper(set) if we_are_p0 => p0(end, set, n),
            Protocol::Paper(set) => p1(end, set, n),
        }
    };
    both(setting.over, setting.workers, run(true), run(false))
}

fn duplex(end: &End<'_>, set: &'static Set, n: u64, we_are_initiator: bool) -> Result<(), Failure> {
    let session = end.workers.in_session(Session::new(Sid::from_bytes([0; 32])));
    let plan = rlwe::RlwePlan { set, we_are_initiator, batches: 0..set.batches(n) };
    let mut cx = drive::context(&session)?;
    let party =
        drive::play(
            end.channel,
            |io| async move { rlwe::RlweRun::set_up(&io, &mut cx, plan).await },
        )?;
    end.is_set_up();
    Ok(drive::play(end.channel, |io| async move {
        let sink = |shares: &_| {
            black_box(shares);
            Ok(())
        };
        party.run(&io, sink).await
    })?)
}

fn from_ot(
    end: &End<'_>,
    set: &'static gilboa::Set,
    count: u64,
    we_are_initiator: bool,
) -> Result<(), Failure> {
    let session = end.workers.in_session(Session::new(Sid::from_bytes([0; 32])));
    let plan = from_ots::GilboaPlan { set, base: BASE, we_are_initiator, count };
    let mut cx = drive::context(&session)?;
    let party = drive::play(end.channel, |io| async move {
        from_ots::GilboaRun::set_up(&io, &mut cx, plan).await
    })?;
    end.is_set_up();
    Ok(drive::play(end.channel, |io| async move {
        let sink = |shares: &_| {
            black_box(shares);
            Ok(())
        };
        party.run(&io, sink).await
    })?)
}

fn p0(end: &End<'_>, set: &'static PaperSet, n: u64) -> Result<(), Failure> {
    let (mut p0, key) = P0::new(session(set.name(), Direction::InitiatorSends), set, seed(1));
    end.channel.send(Lane::PROTOCOL, key)?;
    end.is_set_up();
    // The peer also has the key.
    end.channel.recv(Lane::PROTOCOL, 0)?;
    end.begins();
    let (mut pending, mut shares) = (VecDeque::new(), set.shares());
    let batches = set.batches(n);
    for turn in 0..batches + WINDOW {
        if turn < batches {
            let mut request = Vec::new();
            pending.push_back(p0.request(&mut request));
            end.channel.send(Lane::PROTOCOL, request)?;
        }
        if turn >= WINDOW
            && let Some(requested) = pending.pop_front()
        {
            let response = end.channel.recv(Lane::PROTOCOL, set.response_len())?;
            p0.receive(requested, &response, &mut shares)?;
            black_box(&shares);
        }
    }
    Ok(())
}

fn p1(end: &End<'_>, set: &'static PaperSet, n: u64) -> Result<(), Failure> {
    let key = end.channel.recv(Lane::PROTOCOL, set.public_key_len())?;
    let mut p1 = P1::new(session(set.name(), Direction::InitiatorSends), set, &key, seed(2))?;
    end.is_set_up();
    end.channel.send(Lane::PROTOCOL, Vec::new())?;
    let mut shares = set.shares();
    for _ in 0..set.batches(n) {
        let request = end.channel.recv(Lane::PROTOCOL, set.request_len())?;
        let mut response = Vec::new();
        p1.respond(&request, &mut shares, &mut response)?;
        end.channel.send(Lane::PROTOCOL, response)?;
        black_box(&shares);
    }
    Ok(())
}
