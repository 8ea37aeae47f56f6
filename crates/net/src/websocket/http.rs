//! Answers to requests for files.

use std::{
    io::{self, Write},
    net::TcpStream,
};

/// The policy for our files: a browser may run our own scripts and WebAssembly, and talk to peers. Nothing of others, nothing
/// inline, no frames.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src data:; \
                      connect-src 'self' ws: wss:; worker-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

/// Sends an answer, behind which the connection ends.
pub(super) fn send(
    mut stream: &TcpStream,
    status: &str,
    media: &str,
    bytes: &[u8],
) -> io::Result<()> {
    let len = bytes.len();
    let head = format!(
        "HTTP/1.1 {status}\r\n\
         Content-Type: {media}\r\n\
         Content-Length: {len}\r\n\
         Content-Security-Policy: {POLICY}\r\n\
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
