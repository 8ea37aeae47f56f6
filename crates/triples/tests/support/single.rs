//! Steps of one batch at a time.

use foxtrot_ot::{Error, base::Block, tasks::only};
use foxtrot_triples::{
    Shares,
    rlwe::{Answering, Chosen, P0, P1, Receiving, Requested, Responded},
};

pub(crate) fn request(p0: &mut P0, request: &mut Vec<u8>) -> Requested {
    only(p0.request(vec![request]))
}

pub(crate) fn respond(
    p1: &mut P1,
    request: &[u8],
    ots: Option<Chosen<'_>>,
    shares: &mut Shares,
    response: &mut Vec<u8>,
) -> Result<Responded, Error> {
    p1.respond(vec![Answering { request, ots, shares, response }]).map(only)
}

pub(crate) fn receive(
    p0: &mut P0,
    requested: Requested,
    response: &[u8],
    ots: &[[Block; 2]],
    shares: &mut Shares,
    correction: &mut Vec<u8>,
) -> Result<(), Error> {
    p0.receive(vec![Receiving { requested, response, ots: Some(ots), shares, correction }])
}

pub(crate) fn finish(
    p1: &mut P1,
    responded: Responded,
    correction: &[u8],
    shares: &mut Shares,
) -> Result<(), Error> {
    p1.finish(vec![(responded, correction, shares)])
}
