//! Sessions with browsers: the bytes of a channel in WebSocket messages (RFC 6455, `docs/wire/websocket.md`), and the
//! files of a page, on one port.
//!
//! A browser names the page's origin, which has to be one of those allowed. Who the peer is, a token says: it is never
//! sent, but both sides bind their hellos to it.

mod frames;
mod http;
#[cfg(feature = "tokio-net")]
mod messages;

#[cfg(feature = "fuzzing")]
pub use frames::read_all;
#[cfg(feature = "tokio-net")]
pub use messages::Messages;

#[cfg(test)]
mod tests;

use std::{
    borrow::Cow,
    io::{self, Read},
    net::{SocketAddr, TcpStream},
    sync::Arc,
    time::Instant,
};

use tungstenite::handshake::{
    machine::TryParse,
    server::{Request, create_response, write_response},
};

use crate::{
    Channel, ChannelError, Error, deadline,
    hello::{self, token_binding},
    percent,
    tcp::{ReadTimeout, Socket},
};

/// The path of sessions; a token's name may follow behind a slash, percent-encoded.
pub const PATH: &str = "/foxtrot";

/// The longest head of a request.
const MAX_HEAD: usize = 8 << 10;

/// The files of a page, and who may begin a session.
#[derive(Clone, Default)]
pub struct Site {
    origins: Vec<String>,
    tokens: Vec<(Option<String>, [u8; 32])>,
    files: Vec<File>,
}

/// A file of a page.
#[derive(Clone, Debug)]
pub struct File {
    /// The path, `/app.js`.
    pub path: &'static str,
    /// The media type.
    pub media: &'static str,
    /// The content.
    pub bytes: Cow<'static, [u8]>,
    /// True if gzip has compressed the content: a browser unpacks it.
    pub is_gzipped: bool,
}

/// A connection to a browser, which the hello's binding to the token authenticates.
pub struct Visitor {
    /// The name of the token, if it has one.
    pub name: Option<String>,
    /// The value to bind hellos to.
    pub binding: [u8; 32],
    socket: Socket,
    /// Bytes that came behind the handshake.
    rest: Vec<u8>,
}

impl Visitor {
    /// The connection as a channel.
    ///
    /// # Errors
    /// [`Error::Channel`] if the system does not give a thread.
    pub fn channel(self) -> Result<Channel, Error> {
        frames::open(Arc::new(self.socket.stream), self.rest, self.socket.timeout)
    }

    /// The connection as a stream of tokio's runtime.
    ///
    /// # Errors
    /// [`Error::Channel`].
    ///
    /// # Panics
    /// Outside of a runtime of tokio that has its I/O enabled.
    #[cfg(feature = "tokio-net")]
    pub fn stream(self) -> Result<Messages<tokio::net::TcpStream>, Error> {
        Ok(Messages::new(self.socket.stream()?, self.rest))
    }
}

impl Site {
    /// A site without files, for pages of no origin, with this token.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Admits pages of this origin, `https://psi.example.org`.
    #[must_use]
    pub fn allow_origin(mut self, origin: &str) -> Self {
        self.origins.push(origin.to_owned());
        self
    }

    /// Admits peers that have this token, and names them.
    #[must_use]
    pub fn token(mut self, name: Option<&str>, token: &str) -> Self {
        self.tokens.push((name.map(str::to_owned), token_binding(token)));
        self
    }

    /// Serves these files, and admits pages of its own address.
    #[must_use]
    pub fn files(self, files: Vec<File>) -> Self {
        Self { files, ..self }
    }

    /// Answers what comes on a connection: by a file, and then there is no visitor, or by the beginning of a session. There is
    /// none either if nothing comes: browsers open connections ahead, and do not use all of them.
    ///
    /// # Errors
    /// [`ChannelError::Refused`] for what is no such request, or comes from another origin; [`ChannelError`].
    pub fn answer(&self, socket: Socket) -> Result<Option<Visitor>, Error> {
        let stream = &socket.stream;
        let Some((request, rest)) = read_head(stream, deadline::after(socket.handshake))? else {
            return Ok(None);
        };
        let path = request.uri().path();
        if !request.headers().contains_key("upgrade") {
            let path = if path == "/" { "/index.html" } else { path };
            let Some(file) = self.files.iter().find(|file| file.path == path) else {
                return Err(refuse(stream, "404 Not Found", "no page here"));
            };
            let local = stream.local_addr().map_err(|e| failed(&e))?;
            let sockets = http::sockets(self.origins.iter().cloned().chain(ours(local)));
            http::send(stream, "200 OK", file, &sockets).map_err(|e| failed(&e))?;
            return Ok(None);
        }
        let name = match path.strip_prefix(PATH) {
            Some("") => None,
            Some(name) if name.starts_with('/') => match percent::decode(&name[1..]) {
                Some(name) => Some(name),
                None => return Err(refuse(stream, "400 Bad Request", "a name badly encoded")),
            },
            _ => return Err(refuse(stream, "404 Not Found", "no session here")),
        };
        let local = stream.local_addr().map_err(|e| failed(&e))?;
        let origin = request.headers().get("origin").and_then(|it| it.to_str().ok());
        if !origin.is_some_and(|origin| self.admits(origin, local)) {
            let origin = origin.map_or("none".to_owned(), crate::printable);
            let why = format!("a page of another origin ({origin}); --allow-origin admits it");
            return Err(refuse(stream, "403 Forbidden", &why));
        }
        let Ok(response) = create_response(&request) else {
            return Err(refuse(stream, "400 Bad Request", "no WebSocket handshake"));
        };
        // A name that nobody has is found out as a wrong token is.
        let known = self.tokens.iter().find(|(of, _)| *of == name);
        let binding = match known {
            Some((_, binding)) => *binding,
            None => hello::fresh_nonce()?,
        };
        let name = known.and_then(|(name, _)| name.clone());
        write_response(stream, &response).map_err(|_| ChannelError::ClosedSending)?;
        Ok(Some(Visitor { name, binding, socket, rest }))
    }

    /// Returns true if pages of this origin may begin a session: those of ours, by the address that the browser reached.
    fn admits(&self, origin: &str, local: SocketAddr) -> bool {
        if self.origins.iter().any(|it| it == origin) {
            return true;
        }
        !self.files.is_empty() && ours(local).any(|it| it == origin)
    }
}

/// The origins of our own page, by the address that the browser reached.
fn ours(local: SocketAddr) -> impl Iterator<Item = String> {
    let localhost = local.ip().is_loopback().then(|| format!("http://localhost:{}", local.port()));
    [format!("http://{local}")].into_iter().chain(localhost)
}

/// Reads the head of a request, and what came behind it; nothing from a browser that says nothing.
fn read_head(stream: &TcpStream, deadline: Instant) -> Result<Option<(Request, Vec<u8>)>, Error> {
    let (mut timeout, mut bytes, mut piece) = (ReadTimeout::default(), Vec::new(), [0; 2048]);
    loop {
        match timeout.read_by(stream, deadline, &mut piece) {
            Ok(0) if bytes.is_empty() => return Ok(None),
            Ok(0) => return Err(ChannelError::ClosedReceiving.into()),
            Ok(read) => bytes.extend_from_slice(&piece[..read]),
            Err(_) if bytes.is_empty() => return Ok(None),
            Err(e) => return Err(failed(&e)),
        }
        match Request::try_parse(&bytes) {
            Ok(Some((len, request))) if len <= MAX_HEAD => {
                return Ok(Some((request, bytes.split_off(len))));
            }
            Ok(None) if bytes.len() <= MAX_HEAD => {}
            Ok(_) => {
                return Err(refuse(
                    stream,
                    "431 Request Header Fields Too Large",
                    "a request with a long head",
                ));
            }
            Err(_) => return Err(refuse(stream, "400 Bad Request", "no HTTP request")),
        }
    }
}

/// Tells the browser that there is nothing for it; returns the error for us.
fn refuse(stream: &TcpStream, status: &str, why: &str) -> Error {
    // That it has gone is no news.
    let bytes = why.as_bytes().to_vec().into();
    let text = File { path: "", media: "text/plain; charset=utf-8", bytes, is_gzipped: false };
    let _ = http::send(stream, status, &text, "");
    // Unread bytes would reset the connection, and could take the answer back.
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let _ = stream.set_read_timeout(Some(core::time::Duration::from_millis(200)));
    let mut stream = stream;
    let _ = stream.read(&mut [0; 2048]);
    ChannelError::Refused(why.to_owned()).into()
}

fn failed(error: &io::Error) -> Error {
    let late = ChannelError::NothingReceived(core::time::Duration::ZERO);
    ChannelError::of(error, late, ChannelError::ClosedReceiving, "answer a browser").into()
}

foxtrot_ot::erase::redacted! {
    Visitor, visitor => "{:?}", visitor.name;
    Site, site => "{:?}, {} tokens, {} files", site.origins, site.tokens.len(), site.files.len();
}
