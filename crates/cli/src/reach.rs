//! Reaching the peer: connecting to it, or listening for it.

use foxtrot_net::{hello::Hello, tcp};

use crate::{
    args::{Common, Transport},
    failure::Failure,
    host::Host,
    link::Link,
    output::Output,
    secure::Security,
};

/// A link to the one peer of this run.
pub(crate) fn reach(
    transport: &Transport,
    common: &Common,
    hello: Hello,
    output: Output,
) -> Result<Link, Failure> {
    let (security, timeout) = (Security::new(transport)?, common.timeout());
    let link = match (&transport.listen, &transport.connect) {
        (Some(address), _) => Host { security, hello, timeout, output }.first_peer(address)?,
        (None, Some(address)) => {
            output.detail(&format!("connecting to {address}; {}", security.words()));
            tcp::connect(address, timeout)
                .and_then(|socket| security.connect(socket))
                .and_then(|opened| Link::greet(opened, true, &hello))
                .map_err(|e| security.explain(e))?
        }
        (None, None) => return Err(Failure::usage("neither --listen nor --connect is given")),
    };
    output.detail(&format!("the peer is {}", link.peer));
    output.detail(&format!("the session is {:?}", link.agreement.sid));
    Ok(link)
}
