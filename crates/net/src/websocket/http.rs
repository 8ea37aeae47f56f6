//! Answers to requests for files.

use std::{
    io::{self, Write},
    net::TcpStream,
};

use super::File;

/// The policy for our files, before the addresses that scripts may connect to: a browser may run our own scripts and
/// WebAssembly. Nothing of others, nothing inline, no frames.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src data:; \
                      worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
                      connect-src 'self'";

/// The addresses of WebSockets at these origins, each behind a space: not every browser counts them as `'self'`. An origin
/// that could say more in a header is left out.
pub(super) fn sockets(origins: impl Iterator<Item = String>) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-.:[]".contains(c);
    let socket = |origin: String| {
        let (scheme, host) = origin.split_once("://")?;
        let scheme = [("http", "ws"), ("https", "wss")].into_iter().find(|it| it.0 == scheme)?.1;
        (!host.is_empty() && host.chars().all(plain)).then(|| format!(" {scheme}://{host}"))
    };
    origins.filter_map(socket).collect()
}

/// Sends an answer, behind which the connection ends. Scripts in it may connect to its origin, and to these `sockets`.
pub(super) fn send(
    mut stream: &TcpStream,
    status: &str,
    File { media, bytes, is_gzipped, .. }: &File,
    sockets: &str,
) -> io::Result<()> {
    let len = bytes.len();
    let encoding = if *is_gzipped { "Content-Encoding: gzip\r\n" } else { "" };
    let head = format!(
        "HTTP/1.1 {status}\r\n\
         Content-Type: {media}\r\n\
         Content-Length: {len}\r\n{encoding}\
         Content-Security-Policy: {POLICY}{sockets}\r\n\
         X-Content-Type-Options: nosniff\r\n\
         Referrer-Policy: no-referrer\r\n\
         Cross-Origin-Opener-Policy: same-origin\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\n\
         Permissions-Policy: camera=(self), geolocation=(), microphone=()\r\n\
         Cache-Control: no-cache\r\n\
         Connection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(bytes)?;
    stream.flush()
}
