//! Reaching a device over a serial line, under a pre-shared key.

use std::{io, path::Path, time::Duration};

use foxtrot::{Config, Peer};
use foxtrot_net::{line, small};
use foxtrot_ot::line::Key;
use zeroize::Zeroizing;

use crate::{args::Transport, failure::Failure, identity, lines::decode_hex, output::Output};

pub(crate) struct Way<'a> {
    path: &'a Path,
    #[cfg_attr(not(unix), expect(dead_code, reason = "there are no lines"))]
    baud: u32,
    key: Key,
}

impl<'a> Way<'a> {
    pub(crate) fn prepare(transport: &'a Transport) -> Result<Self, Failure> {
        let (Some(path), Some(file)) = (&transport.serial, &transport.psk) else {
            return Err(Failure::usage("--serial needs --psk"));
        };
        Ok(Self { path, baud: transport.baud, key: read_key(file)? })
    }

    /// Opens the line to the device, which has so long to answer.
    pub(crate) fn open(
        self,
        config: &Config,
        wait: Duration,
        timeout: Duration,
        output: Output,
    ) -> Result<Peer, Failure> {
        let device = self.path.display().to_string();
        output.detail(&format!("opening {device}; a pre-shared key protects the line"));
        let opened = |e: io::Error| {
            Failure::run(format!("cannot open {device}: {}", crate::failure::words(&e)))
                .hint("--serial needs a serial device or a UNIX socket that somebody listens on")
        };
        let line = self.connect(wait, timeout).map_err(opened)??;
        Ok(config.over_line(line, &device))
    }

    #[cfg(unix)]
    fn connect(
        self,
        wait: Duration,
        timeout: Duration,
    ) -> io::Result<Result<line::Secured, foxtrot_net::Error>> {
        use std::{
            net::Shutdown,
            os::unix::{fs::FileTypeExt, net::UnixStream},
        };

        let found = std::fs::metadata(self.path)?;
        Ok(if found.file_type().is_socket() {
            let stream = UnixStream::connect(self.path)?;
            let (reader, ends) = (stream.try_clone()?, stream.try_clone()?);
            // Not in one direction: an emulator would take that for the end of both.
            let closer = move |how| {
                if how != Shutdown::Write {
                    drop(ends.shutdown(how));
                }
            };
            line::connect(reader, stream, closer, self.key, wait, timeout)
        } else {
            let (reader, writer, closer) = tty::open(self.path, self.baud)?;
            line::connect(reader, writer, closer, self.key, wait, timeout)
        })
    }

    #[cfg(not(unix))]
    fn connect(
        self,
        _: Duration,
        _: Duration,
    ) -> io::Result<Result<line::Secured, foxtrot_net::Error>> {
        let _ = self.key;
        Err(io::ErrorKind::Unsupported.into())
    }
}

fn read_key(path: &Path) -> Result<Key, Failure> {
    let text = small::read(path).map_err(|e| Failure::reading(path, &e))?;
    identity::check_mode(path)?;
    let digits = text.strip_suffix(b"\n").unwrap_or(&text);
    let digits = digits.strip_suffix(b"\r").unwrap_or(digits);
    let key = decode_hex(digits).ok().map(Zeroizing::new);
    key.and_then(|key| key[..].try_into().ok()).map(Key::from_bytes).ok_or_else(|| {
        Failure::usage(format!("{} is not a key of a line", path.display()))
            .hint("it has 64 hexadecimal digits, for example from `openssl rand -hex 32`")
    })
}

#[cfg(unix)]
mod tty {
    //! Device files, raw.

    use std::{
        fs::{File, OpenOptions},
        io::{self, Read, Write},
        net::Shutdown,
        path::Path,
        sync::{
            Arc,
            atomic::{AtomicBool, Ordering},
        },
        time::{Duration, Instant},
    };

    use rustix::termios::{OptionalActions, SpecialCodeIndex, tcgetattr, tcsetattr};

    /// The time after which a read without a byte returns, in tenths of a second.
    const TENTHS: u8 = 1;

    pub(super) type Closer = Box<dyn Fn(Shutdown) + Send + Sync>;

    /// Opens the line: no echo, no translation, eight bits, no parity.
    pub(super) fn open(path: &Path, baud: u32) -> io::Result<(Reader, Writer, Closer)> {
        // A program without a terminal, say a service, gets this one as its own; it has no use for that, nor harm.
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        let mut settings = tcgetattr(&file)?;
        settings.make_raw();
        settings.set_speed(baud)?;
        settings.special_codes[SpecialCodeIndex::VMIN] = 0;
        settings.special_codes[SpecialCodeIndex::VTIME] = TENTHS;
        tcsetattr(&file, OptionalActions::Flush, &settings)?;
        let ended = Arc::new(AtomicBool::new(false));
        let reader = Reader { file: file.try_clone()?, ended: Arc::clone(&ended) };
        let closer = move |how| {
            if how != Shutdown::Write {
                ended.store(true, Ordering::Relaxed);
            }
        };
        Ok((reader, Writer(file), Box::new(closer)))
    }

    /// Reads until it is told to end.
    pub(super) struct Reader {
        file: File,
        ended: Arc<AtomicBool>,
    }

    impl Read for Reader {
        fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
            while !self.ended.load(Ordering::Relaxed) {
                let began = Instant::now();
                let read = self.file.read(bytes)?;
                // A line that has been unplugged ends every read at once.
                let hung_up = began.elapsed() < Duration::from_millis(u64::from(TENTHS) * 50);
                if read > 0 || hung_up {
                    return Ok(read);
                }
            }
            Ok(0)
        }
    }

    /// Writes; flushing waits until the bytes are on the line.
    pub(super) struct Writer(File);

    impl Write for Writer {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            rustix::termios::tcdrain(&self.0).map_err(io::Error::from)
        }
    }

    #[cfg(test)]
    mod tests {
        use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

        use super::*;

        #[test]
        fn every_byte_value_crosses_a_terminal_unchanged_and_a_closer_ends_reads() {
            let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
            grantpt(&master).unwrap();
            unlockpt(&master).unwrap();
            let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
            let (mut reader, mut writer, closer) = open(Path::new(&name), 115_200).unwrap();
            let mut master = File::from(master);
            let all: Vec<u8> = (0..=255).collect();
            let mut got = vec![0; all.len()];

            writer.write_all(&all).unwrap();
            master.read_exact(&mut got).unwrap();
            assert_eq!(got, all);
            master.write_all(&all).unwrap();
            got.fill(0);
            reader.read_exact(&mut got).unwrap();
            assert_eq!(got, all);

            closer(Shutdown::Both);
            assert_eq!(reader.read(&mut got).unwrap(), 0);
        }
    }
}
