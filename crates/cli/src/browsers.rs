//! Browsers as peers: tokens, origins and the page, `--websocket`.

use std::path::Path;

use foxtrot::{
    Config,
    websocket::{File, Site},
};
use foxtrot_net::{hello::hexadecimal, small};
use zeroize::Zeroizing;

use crate::{
    args::{Name, Transport},
    failure::Failure,
    identity,
};

/// The files of the page as gzip makes them, if this command has them.
#[cfg(feature = "page")]
const PAGE: &[(&str, &str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/page.rs"));
#[cfg(not(feature = "page"))]
const PAGE: &[(&str, &str, &[u8])] = &[];

/// The fewest characters of a token: somebody who hears a session can try tokens in silence.
const SHORTEST: usize = 20;

const BYTES: usize = 16;

type Token = (Option<Name>, Zeroizing<String>);

/// The way to the page, which is told when the address is known.
#[derive(Clone)]
pub(crate) struct Invitation {
    page: bool,
    token: Option<Zeroizing<String>>,
}

impl Invitation {
    pub(crate) fn words(&self, address: std::net::SocketAddr) -> String {
        let token = self.token.as_ref().map(|token| token.as_str());
        match (self.page, token) {
            (true, Some(token)) => format!("open http://{address}/#token={token}"),
            (true, None) => format!("open http://{address}/ and enter a token"),
            (false, Some(token)) => {
                format!("browsers connect to ws://{address}/foxtrot with the token {token}")
            }
            (false, None) => format!("browsers connect to ws://{address}/foxtrot with a token"),
        }
    }
}

pub(crate) fn config(transport: &Transport) -> Result<(Config, Invitation), Failure> {
    let Transport { page, allow_origin, tokens, .. } = transport;
    if !page && allow_origin.is_empty() {
        return Err(Failure::usage("--websocket accepts pages of no origin")
            .hint("pass --allow-origin https://HOST, or --page"));
    }
    let mut site = allow_origin.iter().fold(Site::new(), |site, origin| site.allow_origin(origin));
    if *page {
        if PAGE.is_empty() {
            return Err(Failure::usage("this command was built without the page")
                .hint("build it with `cargo xtask npm` and `--features page`"));
        }
        let file = |&(path, media, bytes): &(&'static str, &'static str, &'static [u8])| File {
            path,
            media,
            bytes: bytes.into(),
            is_gzipped: true,
        };
        site = site.files(PAGE.iter().map(file).collect());
    }
    let all = match tokens {
        Some(path) => read(path)?,
        None => vec![(None, fresh()?)],
    };
    for (name, token) in &all {
        let name = name.as_ref().map(ToString::to_string);
        site = site.token(name.as_deref(), token);
    }
    let made = all.into_iter().next().filter(|_| tokens.is_none()).map(|(_, token)| token);
    Ok((Config::websocket(site), Invitation { page: *page, token: made }))
}

/// Reads tokens: one alone, or one for each name.
fn read(path: &Path) -> Result<Vec<Token>, Failure> {
    let text = small::read_text(path).map_err(|e| Failure::reading(path, &e))?;
    identity::check_mode(path)?;
    let mut all = Vec::<Token>::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let at = |why: &str| Failure::at_line(path, number, why);
        let mut words = line.split_ascii_whitespace();
        let (name, token) = match (words.next(), words.next(), words.next()) {
            (Some(token), None, _) => (None, token),
            (Some(name), Some(token), None) => {
                (Some(name.parse().map_err(|why: String| at(&why))?), token)
            }
            _ => return Err(at("not a token, or a name and a token")),
        };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.~".contains(c);
        if token.len() < SHORTEST || !token.chars().all(is_plain) {
            let why = format!("a token has {SHORTEST} or more letters, digits, `-`, `_`, `.`, `~`");
            return Err(at(&why));
        }
        if all.iter().any(|(other, _)| *other == name) {
            return Err(at("a second token for one name"));
        }
        all.push((name, Zeroizing::new(token.into())));
    }
    match all.is_empty() {
        true => Err(Failure::usage(format!("{} has no token", path.display()))),
        false => Ok(all),
    }
}

/// A token that nobody has had.
fn fresh() -> Result<Zeroizing<String>, Failure> {
    let mut bytes = Zeroizing::new([0; BYTES]);
    let random = getrandom::fill(bytes.as_mut_slice());
    random.map_err(|e| Failure::run(format!("the system has no randomness: {e}")))?;
    Ok(Zeroizing::new(hexadecimal(bytes.as_slice())))
}
