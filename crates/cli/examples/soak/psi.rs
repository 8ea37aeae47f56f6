//! The receiver's side of a set intersection, in this process.

use foxtrot_net::{
    drive,
    hello::{Hello, Role},
    tls::Tls,
};
use foxtrot_ot::{
    Session,
    base::{Adversary, BaseOt, roted::Endemic},
};
use foxtrot_psi::method::{
    Assumption, Method,
    protocol::{Digest, Plan, Receiver},
};

use crate::client::{Failure, open};

/// The server has those from 0 on.
pub(crate) fn key(k: usize) -> String {
    format!("key {k}")
}

/// Computes the item that is compared: see `docs/psi-files.md`.
fn item(k: usize) -> Digest {
    let key = key(k);
    let mut joined = (key.len() as u64).to_le_bytes().to_vec();
    joined.extend_from_slice(key.as_bytes());
    blake3::derive_key("foxtrot v1 psi item", &joined)
}

/// Receives what the server has in common with as many keys as it has, of which about half are its own, and checks
/// that they are those.
pub(crate) fn session(address: &str, tls: Option<&Tls>, keys: usize) -> Result<(), Failure> {
    let mut random = [0; 8];
    getrandom::fill(&mut random)?;
    let first = usize::try_from(u64::from_le_bytes(random) % (keys as u64 + 1))?;
    let (assumption, adversary) = (Assumption::Symmetric, Adversary::Malicious);
    let method = Method { base: &Endemic, assumption, adversary };
    let parameters = method.parameters(keys, keys)?;
    let hello = Hello::new(Role::Receiver)
        .term("job", "psi")
        .term("base", Endemic.info().name)
        .term("assumption", "symmetric")
        .term("adversary", "malicious")
        .term("normalize", "none/1")
        .keys(keys as u64, keys as u64);
    let (channel, agreement) = open(address, tls, hello)?;
    let (session, direction) = (&Session::new(agreement.sid), agreement.direction());
    let plan = Plan { parameters, base: &Endemic, direction, counter: 0 };
    let (mut cx, items) = (drive::context(session)?, (first..first + keys).map(item).collect());
    let received = drive::play(&channel, |io| async move {
        Receiver::set_up(&io, &mut cx, plan).await?.run(&io, items, &mut |_| ()).await
    })?;
    channel.finish()?;
    channel.close()?;
    if !received.intersect()?.into_iter().eq(0..keys - first) {
        return Err(format!("a wrong set from {first} on").into());
    }
    Ok(())
}
