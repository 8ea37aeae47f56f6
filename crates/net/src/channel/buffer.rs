//! Buffers that grow with use: a channel on which little has been said takes little memory.

use std::{
    io::{self, ErrorKind, IoSlice, Read, Write},
    time::Instant,
};

use super::ReadHalf;

/// Bytes of a buffer at first, enough for a hello, and at most.
const FIRST: usize = 1 << 10;
const MOST: usize = 64 << 10;

/// The reading half with a buffer before it.
pub(crate) struct Reader {
    half: Box<dyn ReadHalf>,
    /// The end of every read.
    pub(crate) deadline: Instant,
    /// Bytes that have been read; `next..end` have not been taken.
    bytes: Vec<u8>,
    next: usize,
    end: usize,
}

/// The writing half with a buffer before it. Dropping it writes nothing.
pub(super) struct Writer {
    half: Box<dyn Write + Send>,
    bytes: Vec<u8>,
}

impl Reader {
    pub(crate) fn new(half: Box<dyn ReadHalf>) -> Self {
        Self { half, deadline: Instant::now(), bytes: vec![0; FIRST], next: 0, end: 0 }
    }

    /// Returns false if until then no byte comes, nor an end.
    pub(super) fn is_ready(&mut self, until: Instant) -> io::Result<bool> {
        self.deadline = until;
        while self.next == self.end {
            match self.fill() {
                // There are bytes, or there is the end, which the next read finds again.
                Ok(()) => break,
                Err(e) => match e.kind() {
                    ErrorKind::TimedOut | ErrorKind::WouldBlock => return Ok(false),
                    ErrorKind::Interrupted => {}
                    _ => return Err(e),
                },
            }
        }
        Ok(true)
    }

    /// Reads ahead. A buffer that the last read filled is doubled.
    fn fill(&mut self) -> io::Result<()> {
        if self.end == self.bytes.len() && self.end < MOST {
            self.bytes = vec![0; 2 * self.end];
        }
        (self.next, self.end) = (0, 0);
        self.end = self.half.read_by(self.deadline, &mut self.bytes)?;
        Ok(())
    }
}

impl Read for Reader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.next == self.end {
            if out.len() >= self.bytes.len() {
                return self.half.read_by(self.deadline, out);
            }
            self.fill()?;
        }
        let read = (&self.bytes[self.next..self.end]).read(out)?;
        self.next += read;
        Ok(read)
    }
}

impl Writer {
    pub(super) fn new(half: Box<dyn Write + Send>) -> Self {
        Self { half, bytes: Vec::new() }
    }

    pub(super) fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.bytes.len() + bytes.len() <= MOST {
            self.bytes.extend_from_slice(bytes);
            return Ok(());
        }
        // A header goes with its payload, in one call where the half can.
        let mut both = [IoSlice::new(&self.bytes), IoSlice::new(bytes)];
        let mut rest = &mut both[..];
        IoSlice::advance_slices(&mut rest, 0);
        while !rest.is_empty() {
            match self.half.write_vectored(rest) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(written) => IoSlice::advance_slices(&mut rest, written),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        self.bytes.clear();
        Ok(())
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.half.write_all(&self.bytes)?;
        self.bytes.clear();
        self.half.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives at most so many bytes at a time.
    struct Chunks(io::Cursor<Vec<u8>>, usize);

    impl ReadHalf for Chunks {
        fn read_by(&mut self, _: Instant, out: &mut [u8]) -> io::Result<usize> {
            let most = out.len().min(self.1);
            self.0.read(&mut out[..most])
        }
    }

    fn bytes(n: usize) -> Vec<u8> {
        (0..n).map(|i| i.to_le_bytes()[i / 256 % 2]).collect()
    }

    #[test]
    fn a_reader_gives_every_byte_once_whatever_the_sizes() {
        let all = bytes(300_000);
        for (chunk, piece) in [(1, 7), (700, 5), (usize::MAX, 3), (usize::MAX, 100_000), (999, 998)]
        {
            let mut reader = Reader::new(Box::new(Chunks(io::Cursor::new(all.clone()), chunk)));
            let (mut read, mut out) = (Vec::new(), vec![0; piece]);
            loop {
                match reader.read(&mut out).unwrap() {
                    0 => break,
                    some => read.extend_from_slice(&out[..some]),
                }
            }
            assert!(read == all, "{chunk}, {piece}");
            assert!(reader.bytes.len() <= MOST);
        }
    }

    #[test]
    fn a_reader_of_little_takes_little_memory_and_one_of_much_a_bounded_amount() {
        let mut reader = Reader::new(Box::new(Chunks(io::Cursor::new(bytes(300_000)), 200)));
        for _ in 0..60_000 {
            reader.read_exact(&mut [0; 5]).unwrap();
        }
        assert_eq!(reader.bytes.len(), FIRST);
        let mut reader = Reader::new(Box::new(Chunks(io::Cursor::new(bytes(300_000)), MOST)));
        for _ in 0..60_000 {
            reader.read_exact(&mut [0; 5]).unwrap();
        }
        assert_eq!(reader.bytes.len(), MOST);
    }

    #[test]
    fn a_reader_that_is_not_ready_has_lost_nothing_and_tells_errors_at_once() {
        /// Fails with these kinds, the last first, and then gives its bytes.
        struct Failing(Vec<ErrorKind>, io::Cursor<Vec<u8>>);

        impl ReadHalf for Failing {
            fn read_by(&mut self, _: Instant, out: &mut [u8]) -> io::Result<usize> {
                match self.0.pop() {
                    Some(kind) => Err(kind.into()),
                    None => self.1.read(out),
                }
            }
        }

        let reader = |kinds: &[ErrorKind]| {
            Reader::new(Box::new(Failing(kinds.to_vec(), io::Cursor::new(bytes(9)))))
        };
        for late in [ErrorKind::TimedOut, ErrorKind::WouldBlock] {
            let mut reader = reader(&[ErrorKind::Interrupted, late]);
            assert!(!reader.is_ready(Instant::now()).unwrap());
            assert!(reader.is_ready(Instant::now()).unwrap());
            let mut read = [0; 9];
            reader.read_exact(&mut read).unwrap();
            assert_eq!(read[..], bytes(9));
            assert!(reader.is_ready(Instant::now()).unwrap(), "the end is ready");
            assert_eq!(reader.read(&mut read).unwrap(), 0);
        }
        let failed =
            reader(&[ErrorKind::TimedOut, ErrorKind::InvalidData]).is_ready(Instant::now());
        assert_eq!(failed.unwrap_err().kind(), ErrorKind::InvalidData);
    }

    #[test]
    fn a_writer_keeps_order_and_a_bounded_amount() {
        use std::sync::{Arc, Mutex};
        #[derive(Clone, Default)]
        struct Out(Arc<Mutex<Vec<u8>>>);
        impl Write for Out {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.lock().unwrap().extend_from_slice(bytes);
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let (out, all) = (Out::default(), bytes(400_000));
        let mut writer = Writer::new(Box::new(out.clone()));
        assert_eq!(writer.bytes.capacity(), 0);
        let mut rest = &all[..];
        for len in [5, 60_000, 5, 65_536, 5, 65_537, 5, 100_000].into_iter().chain([1000; 90]) {
            let (piece, behind) = rest.split_at(len);
            writer.write_all(piece).unwrap();
            rest = behind;
            assert!(writer.bytes.capacity() <= 2 * MOST);
        }
        writer.flush().unwrap();
        assert!(*out.0.lock().unwrap() == all[..all.len() - rest.len()]);
    }
}
