//! `triples/gilboa-…`: both parties in this thread, who do the same one after the other.

use std::{hint::black_box, time::Instant};

use foxtrot_net::triples::gilboa::bytes_of_run;
use foxtrot_ot::{
    Direction, Session, Sid,
    base::{ReceiverKeys, SenderKeys},
    extension::ROWS,
};
use foxtrot_triples::{
    Shares,
    gilboa::{Joining, Party, Set},
    wrong_in_batch,
};

use super::{
    super::ext::{
        BASE, Sample,
        memory::{Meter, base_ots, seed},
    },
    P0, P1, check,
};
use crate::{failure::Failure, workers::Workers};

/// Party 0 opened the connection.
const DIRECTIONS: [Direction; 2] = [Direction::InitiatorSends, Direction::ResponderSends];

pub(super) fn sample(set: &'static Set, n: usize, workers: &Workers) -> Result<Sample, Failure> {
    let started = Instant::now();
    let workers = [workers.for_another(), workers.for_another()];
    let mut meter = Meter::start();
    let [zero, one] = set_up(&mut meter, set)?;
    let threads = |party: Party, workers: &Workers| match [(); 3].map(|()| workers.executor()) {
        [Some(first), Some(second), Some(third)] => party.with_executors([first, second, third]),
        _ => party,
    };
    let mut parties = [threads(zero, &workers[P0]), threads(one, &workers[P1])];

    let sizes: Vec<_> = (0..n).step_by(set.n()).map(|start| set.n().min(n - start)).collect();
    let mut spare = [Vec::new(), Vec::new()];
    for sizes in sizes.chunks(workers[P0].threads()) {
        run_group(&mut meter, &mut parties, sizes, &mut spare)?;
    }
    let sample = meter.sample(started, &workers);
    let announced = bytes_of_run(set, BASE, n as u64);
    match sample.bytes {
        bytes if bytes == [announced; 2] => Ok(sample),
        bytes => Err(Failure::run(format!("{set:?} sent {bytes:?} bytes, not {announced} each"))),
    }
}

/// Base OTs both ways, and both set-ups.
fn set_up(meter: &mut Meter, set: &'static Set) -> Result<[Party; 2], Failure> {
    let session = Session::new(Sid::from_bytes([0; 32]));
    // In the first ones party 1 has both keys.
    let first = base_ots(meter, ROWS)?;
    meter.swap();
    let second = base_ots(meter, ROWS)?;
    meter.swap();
    let mut join = |party: usize, base: SenderKeys| {
        let seed = seed(5 + party as u8);
        let joining =
            meter.step(party, || Party::new(&session, set, DIRECTIONS[party], base, seed))?;
        meter.sent(party, joining.1.len());
        Ok::<_, Failure>(joining)
    };
    let ((zero, of_zero), (one, of_one)) = (join(P0, second.0)?, join(P1, first.0)?);
    let mut finish = |party: usize, joining: Joining, base: ReceiverKeys, setup: &[u8]| {
        meter.step(party, || joining.finish(base, setup))
    };
    Ok([finish(P0, zero, first.1, &of_one)?, finish(P1, one, second.1, &of_zero)?])
}

/// Batches at once.
fn run_group(
    meter: &mut Meter,
    parties: &mut [Party; 2],
    sizes: &[usize],
    spare: &mut [Vec<Shares>; 2],
) -> Result<(), Failure> {
    let mut corrections = [(); 2].map(|()| vec![Vec::new(); sizes.len()]);
    let mut products = corrections.clone();
    let mut extended = Vec::new();
    for party in [P0, P1] {
        let state = &mut parties[party];
        let shares = sizes.iter().map(|size| {
            let used = spare[party].pop().filter(|shares| shares.len() == *size);
            used.unwrap_or_else(|| state.set().shares(*size))
        });
        let batches: Vec<_> = shares.zip(&mut corrections[party]).collect();
        extended.push(meter.step(party, || state.extend_all(batches)).map_err(Failure::from)?);
        corrections[party].iter().for_each(|message| meter.sent(party, message.len()));
    }
    let mut multiplied = Vec::new();
    for (party, batches) in extended.into_iter().enumerate() {
        let batches = batches.into_iter().zip(&corrections[1 - party]).zip(&mut products[party]);
        let batches = batches.map(|((batch, received), message)| (batch, &**received, message));
        let batches = batches.collect();
        multiplied.push(meter.step(party, || parties[party].multiply_all(batches))?);
        products[party].iter().for_each(|message| meter.sent(party, message.len()));
    }
    let mut outputs = Vec::new();
    for (party, batches) in multiplied.into_iter().enumerate() {
        let batches = batches.into_iter().zip(products[1 - party].iter().map(Vec::as_slice));
        let batches = batches.collect();
        outputs.push(meter.step(party, || parties[party].add_all(batches))?);
    }
    let [ours, theirs] = [&outputs[P0], &outputs[P1]];
    check(ours.iter().zip(theirs).map(|(ours, theirs)| wrong_in_batch(ours, theirs)).sum())?;
    black_box(&outputs);
    spare.iter_mut().zip(outputs).for_each(|(spare, shares)| *spare = shares);
    Ok(())
}
