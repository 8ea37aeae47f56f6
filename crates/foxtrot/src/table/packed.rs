//! Files that are packed with gzip or Zstandard.

use std::{
    error::Error,
    io::{self, BufRead, BufReader, Read},
};

use ruzstd::decoding::{
    BlockDecodingStrategy, FrameDecoder,
    errors::{FrameDecoderError, ReadFrameHeaderError},
};

/// The way in which a file is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// gzip, of one or several members.
    Gzip,
    /// Zstandard, of one or several frames.
    Zstandard,
}

/// The most that an unpacked file may be larger than the packed one: text that people write shrinks to a tenth.
const MOST_RATIO: u64 = 500;

/// Bytes that every file may unpack to.
const ALWAYS: u64 = 1 << 26;

impl Packing {
    /// The packing of a file that begins so.
    #[must_use]
    pub fn of(first: &[u8]) -> Option<Self> {
        match first {
            [0x1f, 0x8b, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstandard),
            _ => None,
        }
    }

    /// The packing that a file's ending tells.
    #[must_use]
    pub fn of_name(extension: &str) -> Option<Self> {
        match extension {
            "gz" => Some(Self::Gzip),
            "zst" => Some(Self::Zstandard),
            _ => None,
        }
    }

    /// The name of the packing.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstandard => "Zstandard",
        }
    }

    /// Unpacks what comes. It takes 8 MiB of memory at most, or 128 for frames with a large window.
    ///
    /// A damaged archive, one that ends too early, and one that unpacks to 500 times its size are errors with words for the
    /// user.
    pub fn unpack<'a>(self, from: impl Read + 'a) -> Box<dyn Read + 'a> {
        let packed = Counted { from, read: 0 };
        match self {
            Self::Gzip => Box::new(Unpacked {
                from: flate2::read::MultiGzDecoder::new(packed),
                read: |it| it.get_ref().read,
                packing: self,
                written: 0,
            }),
            Self::Zstandard => Box::new(Unpacked {
                from: Frames::new(packed),
                read: |it| it.read(),
                packing: self,
                written: 0,
            }),
        }
    }
}

/// The most bytes that an archive of this size may unpack to.
#[cfg(feature = "spreadsheets")]
pub(super) fn most_of(packed: u64) -> u64 {
    packed.saturating_mul(MOST_RATIO).max(ALWAYS)
}

struct Counted<R> {
    from: R,
    read: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let len = self.from.read(to)?;
        self.read += len as u64;
        Ok(len)
    }
}

struct Unpacked<R> {
    from: R,
    /// Bytes of the packed file that were read.
    read: fn(&R) -> u64,
    packing: Packing,
    written: u64,
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let name = self.packing.name();
        let len = self.from.read(to).map_err(|e| match e.kind() {
            io::ErrorKind::Interrupted => e,
            io::ErrorKind::UnexpectedEof => {
                io::Error::other(format!("the {name} archive ends too early"))
            }
            _ => io::Error::other(format!("the {name} archive is damaged ({e})")),
        })?;
        self.written += len as u64;
        let packed = (self.read)(&self.from);
        if self.written > ALWAYS && self.written / MOST_RATIO > packed {
            return Err(io::Error::other(format!(
                "the {name} archive unpacks to more than {MOST_RATIO} times its size, as no table does"
            )));
        }
        Ok(len)
    }
}

/// The frames of a Zstandard archive, one after another.
struct Frames<R> {
    from: BufReader<Counted<R>>,
    decoder: FrameDecoder,
    /// True within a frame.
    is_open: bool,
}

impl<R: Read> Frames<R> {
    fn new(from: Counted<R>) -> Self {
        Self { from: BufReader::new(from), decoder: FrameDecoder::new(), is_open: false }
    }

    fn read(&self) -> u64 {
        self.from.get_ref().read
    }

    /// Begins the next frame; false at the end of the archive.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.from.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.from) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let skipped =
                        io::copy(&mut self.from.by_ref().take(length.into()), &mut io::sink())?;
                    if skipped < u64::from(length) {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(e) => return Err(faulty(&e)),
            }
        }
        Ok(false)
    }
}

impl<R: Read> Read for Frames<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.is_open && !self.begin()? {
                return Ok(0);
            }
            self.is_open = true;
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let one = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder.decode_blocks(&mut self.from, one).map_err(|e| faulty(&e))?;
            }
            let len = self.decoder.read(to)?;
            if len > 0 || to.is_empty() {
                return Ok(len);
            }
            let sums =
                [self.decoder.get_checksum_from_data(), self.decoder.get_calculated_checksum()];
            if let [Some(told), Some(found)] = sums
                && told != found
            {
                return Err(io::Error::other("its checksum is wrong"));
            }
            self.is_open = false;
        }
    }
}

/// The error of a frame; what is missing at the end is told apart.
fn faulty(error: &FrameDecoderError) -> io::Error {
    let mut source: Option<&dyn Error> = Some(error);
    while let Some(e) = source {
        if e.downcast_ref::<io::Error>().is_some_and(|it| it.kind() == io::ErrorKind::UnexpectedEof)
        {
            return io::ErrorKind::UnexpectedEof.into();
        }
        source = e.source();
    }
    io::Error::other(error.to_string())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};
    use proptest::prelude::*;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(text).unwrap();
        packed.finish().unwrap()
    }

    fn zstandard(text: &[u8]) -> Vec<u8> {
        compress_to_vec(text, CompressionLevel::Fastest)
    }

    fn unpacked(packed: &[u8]) -> Result<Vec<u8>, String> {
        let mut text = Vec::new();
        let mut from = Packing::of(packed).unwrap().unpack(packed);
        from.read_to_end(&mut text).map(|_| text).map_err(|e| e.to_string())
    }

    #[test]
    fn archives_of_several_parts_are_unpacked_to_their_end() {
        let text = b"id,email\n7,ann@example.org\n".repeat(5000);
        for pack in [gzip, zstandard] {
            assert_eq!(unpacked(&pack(&text)), Ok(text.clone()));
            let two = [pack(&text), pack(b"8,bob\n")].concat();
            assert_eq!(unpacked(&two), Ok([&text[..], b"8,bob\n"].concat()));
        }
        let skipped = [&b"\x50\x2a\x4d\x18\x03\0\0\0abc"[..], &zstandard(b"a\n")].concat();
        let mut read = String::new();
        Packing::Zstandard.unpack(&skipped[..]).read_to_string(&mut read).unwrap();
        assert_eq!(read, "a\n");
    }

    /// The archive is of `zstd --check`, which shrinks more than the encoder of these tests.
    #[test]
    fn an_archive_of_the_usual_program_is_unpacked() {
        let packed = b"\x28\xb5\x2f\xfd\x04\x58\x65\x01\x00\x14\x02\x69\x64\x2c\x65\x6d\x61\x69\x6c\x0a\x31\x2c\x61\x6e\x6e\x61\x40\x65\x78\x61\x6d\x70\x6c\x65\x2e\x63\x6f\x6d\x0a\x32\x2c\x62\x6f\x62\x02\x00\x67\xa3\xaa\x40\xea\x98\x4f\x83\x7b\x3d\x4c";
        let text = b"id,email\n1,anna@example.com\n2,bob@example.com\n".repeat(20);
        assert_eq!(unpacked(packed), Ok(text));
        let mut damaged = *packed;
        damaged[56] ^= 1;
        let why = unpacked(&damaged).unwrap_err();
        assert_eq!(why, "the Zstandard archive is damaged (its checksum is wrong)");
    }

    #[test]
    fn a_damaged_or_cut_archive_is_refused_in_words() {
        let text: Vec<u8> =
            (0..20_000u32).flat_map(|i| format!("{i},{}\n", i * i % 977).into_bytes()).collect();
        for (pack, name) in [(gzip as fn(&[u8]) -> Vec<u8>, "gzip"), (zstandard, "Zstandard")] {
            let packed = pack(&text);
            let why = unpacked(&packed[..packed.len() - 9]).unwrap_err();
            assert_eq!(why, format!("the {name} archive ends too early"));
            let mut damaged = packed.clone();
            damaged[packed.len() / 2] ^= 1;
            let why = unpacked(&damaged).unwrap_err();
            assert!(why.starts_with(&format!("the {name} archive ")), "{why}");
            let why = unpacked(&[&packed[..], b"more"].concat()).unwrap_err();
            assert!(why.starts_with(&format!("the {name} archive ")), "{why}");
        }
    }

    #[test]
    fn an_archive_that_unpacks_to_hundreds_of_times_its_size_is_refused() {
        let zeros = vec![b'0'; 1 << 27];
        let why = unpacked(&gzip(&zeros)).unwrap_err();
        assert_eq!(
            why,
            "the gzip archive unpacks to more than 500 times its size, as no table does"
        );
        let why = unpacked(&zstandard(&zeros)).unwrap_err();
        assert_eq!(
            why,
            "the Zstandard archive unpacks to more than 500 times its size, as no table does"
        );
        // A small file may repeat itself.
        assert_eq!(unpacked(&gzip(&zeros[..1 << 20])).map(|it| it.len()), Ok(1 << 20));
    }

    proptest! {
        #[test]
        fn any_bytes_are_unpacked_or_refused(mut bytes: Vec<u8>, zstandard: bool) {
            let first = if zstandard { &b"\x28\xb5\x2f\xfd"[..] } else { b"\x1f\x8b\x08\0" };
            bytes.splice(0..0, first.iter().copied());
            let _ = unpacked(&bytes);
        }
    }
}
