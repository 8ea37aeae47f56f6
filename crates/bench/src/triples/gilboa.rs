//! `triples/gilboa-…`: both parties in this thread, who do the same one after the other.

use std::{hint::black_box, time::Instant};

use foxtrot_cli::shared::{Failure, Workers};
use foxtrot_ot::{Session, Sid, extension::ROWS};
use foxtrot_triples::{
    Shares,
    gilboa::{GilboaParty, Set, protocol::bytes_of_run},
    wrong_in_batch,
};

use super::{
    super::ext::{
        BASE, Sample,
        memory::{Meter, base_ots, seed},
    },
    P0, P1, check,
};

pub(super) fn sample(set: &'static Set, n: usize, workers: &Workers) -> Result<Sample, Failure> {
    let started = Instant::now();
    let workers = [workers.for_another(), workers.for_another()];
    let mut meter = Meter::start();
    let mut parties = set_up(&mut meter, set, &workers)?;

    let sizes: Vec<_> = (0..n).step_by(set.n()).map(|start| set.n().min(n - start)).collect();
    let mut spare = [Vec::new(), Vec::new()];
    for sizes in sizes.chunks(workers[P0].threads()) {
        run_group(&mut meter, &mut parties, sizes, &mut spare)?;
    }
    let sample = meter.sample(started, &workers);
    // Unlike in a run over a channel, no triple is opened.
    let batches: usize = sizes.iter().map(|&n| set.corrections_len(n) + set.products_len(n)).sum();
    let announced = bytes_of_run(set, BASE, 0).map(|once| once + batches as u64);
    match sample.bytes {
        bytes if bytes == announced => Ok(sample),
        bytes => Err(Failure::run(format!("{set:?} sent {bytes:?} bytes, not {announced:?}"))),
    }
}

/// Base OTs and set-ups.
fn set_up(
    meter: &mut Meter,
    set: &'static Set,
    workers: &[Workers; 2],
) -> Result<[GilboaParty; 2], Failure> {
    let session = |party: usize| workers[party].in_session(Session::new(Sid::from_bytes([0; 32])));
    // Their sender is party 1.
    let (pairs, chosen) = base_ots(meter, BASE, ROWS, workers)?;
    let responder = || GilboaParty::responder(&session(P1), set, pairs, seed(5));
    let (one, opening) = meter.step(P1, responder)?;
    meter.sent(P1, opening.len());
    let (zero, setup) =
        meter.step(P0, || GilboaParty::initiator(&session(P0), set, chosen, seed(6), &opening))?;
    meter.sent(P0, setup.len());
    Ok([zero, meter.step(P1, || one(&setup))?])
}

/// Batches at once.
fn run_group(
    meter: &mut Meter,
    parties: &mut [GilboaParty; 2],
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
        extended.push(meter.step(party, || state.extend(batches))?);
        corrections[party].iter().for_each(|message| meter.sent(party, message.len()));
    }
    let mut multiplied = Vec::new();
    for (party, batches) in extended.into_iter().enumerate() {
        let batches = batches.into_iter().zip(&corrections[1 - party]).zip(&mut products[party]);
        let batches = batches.map(|((batch, received), message)| (batch, &**received, message));
        let batches = batches.collect();
        multiplied.push(meter.step(party, || parties[party].multiply(batches))?);
        products[party].iter().for_each(|message| meter.sent(party, message.len()));
    }
    let mut outputs = Vec::new();
    for (party, batches) in multiplied.into_iter().enumerate() {
        let batches = batches.into_iter().zip(products[1 - party].iter().map(Vec::as_slice));
        let batches = batches.collect();
        outputs.push(meter.step(party, || parties[party].add(batches))?);
    }
    let [ours, theirs] = [&outputs[P0], &outputs[P1]];
    check(ours.iter().zip(theirs).map(|(ours, theirs)| wrong_in_batch(ours, theirs)).sum())?;
    black_box(&outputs);
    spare.iter_mut().zip(outputs).for_each(|(spare, shares)| *spare = shares);
    Ok(())
}
