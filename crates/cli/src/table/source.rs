//! The file with a set. It is read twice, at the beginning and for the output, and has to stay the
//! same in between.

use std::{
    env,
    fs::{self, File},
    io::{self, ErrorKind, Read, Seek, Write},
    path::{Path, PathBuf},
};

use foxtrot::table::{NoText, Packing, What};
#[cfg(feature = "spreadsheets")]
use foxtrot::table::{SHEET, SheetFault, visible, write_sheet};
use foxtrot_net::small::is_device;

#[cfg(feature = "spreadsheets")]
use crate::args::SetFormat;
use crate::{
    args::SetOptions,
    failure::Failure,
    files::{Stamp, open_regular},
    output::say,
    report::bytes,
};

pub(super) const CHUNK: usize = 1 << 18;

/// Bytes of a copy from which on it is told, again at each doubling.
const TOLD: u64 = 1 << 30;

/// The bound where the system does not tell its free space.
const USUAL: u64 = 64 << 30;

/// A file that can be read again. Another file in its place changes nothing: this one stays
/// open.
pub(super) struct Source {
    file: File,
    pub(super) path: PathBuf,
    /// The form of the file that was made into the open one.
    pub(super) made_of: Option<MadeOf>,
    found: Stamp,
}

/// The form of a file that was made into another one.
pub(super) enum MadeOf {
    /// Packed data.
    Packed(Packing),
    /// A workbook, whose sheet of this name became CSV.
    #[cfg_attr(not(feature = "spreadsheets"), expect(dead_code, reason = "workbooks are not read"))]
    Sheet(String),
}

impl Source {
    /// Opens a file; `-` is standard input. What is no regular file goes to a temporary one, without
    /// a name, as it cannot be read again. A file that may be read again when it changes has to be a regular one: nobody may
    /// ever write to a pipe.
    pub(super) fn open(path: &Path, options: &SetOptions) -> Result<Self, Failure> {
        let failed = |e: io::Error| Failure::reading(path, &e);
        let (mut packing, mut stdin) = (None, PathBuf::new());
        let (file, path) = if options.again {
            (open_regular(path).map_err(failed)?, path)
        } else if path == Path::new("-") {
            stdin.push("standard input");
            let file;
            (file, packing) = spool(io::stdin().lock(), &stdin, options)?;
            (file, stdin.as_path())
        } else {
            let found = fs::metadata(path).map_err(failed)?;
            if found.is_dir() {
                return Err(failed(ErrorKind::IsADirectory.into()));
            }
            if is_device(found.file_type()) {
                return Err(failed(io::Error::other("it is a device"))
                    .hint("a set is a file or a pipe; `-` is standard input"));
            }
            let file = File::open(path).map_err(failed)?;
            let mut file = file;
            if !found.is_file() {
                (file, packing) = spool(file, path, options)?;
            }
            (file, path)
        };
        let failed = |e: io::Error| Failure::reading(path, &e);
        let mut file = file;
        if packing.is_none() {
            let mut first = Vec::new();
            (&file).take(4).read_to_end(&mut first).map_err(failed)?;
            file.rewind().map_err(failed)?;
            if Packing::of(&first).is_some() {
                (file, packing) = spool(file, path, options)?;
            }
        }
        let made_of = packing.map(MadeOf::Packed);
        #[cfg(feature = "spreadsheets")]
        let (file, made_of) = match made_of_sheet(&file, path, options)? {
            Some((made, sheet)) => (made, Some(MadeOf::Sheet(sheet))),
            None => (file, made_of),
        };
        if options.sheet.is_some() && !matches!(made_of, Some(MadeOf::Sheet(_))) {
            check_workbook(&file, path)?;
            let why = format!("--sheet needs a workbook (.xlsx); {} is none", path.display());
            return Err(Failure::usage(why));
        }
        let found = Stamp::of(&file.metadata().map_err(failed)?);
        Ok(Self { file, path: path.to_owned(), made_of, found })
    }

    /// The first bytes, enough for a row that has the columns' names.
    pub(super) fn first(&self) -> Result<Vec<u8>, Failure> {
        let mut first = Vec::new();
        let read = self.rewound()?.take(CHUNK as u64).read_to_end(&mut first);
        read.map_err(|e| Failure::reading(&self.path, &e))?;
        Ok(first)
    }

    pub(super) fn rewound(&self) -> Result<&File, Failure> {
        (&self.file).rewind().map_err(|e| Failure::reading(&self.path, &e))?;
        Ok(&self.file)
    }

    /// Fails if somebody has written to the file since it was opened.
    pub(super) fn check_unchanged(&self) -> Result<(), Failure> {
        let now = self.file.metadata().map_err(|e| Failure::reading(&self.path, &e))?;
        if Stamp::of(&now) == self.found { Ok(()) } else { Err(self.changed()) }
    }

    pub(super) fn changed(&self) -> Failure {
        Failure::run(format!("{} has changed since it was read", self.path.display()))
            .hint("read a copy of the file")
    }

    /// Counts the lines that are not empty, and tells if there is a quote.
    pub(super) fn lines(&self) -> Result<(usize, bool), Failure> {
        let (mut file, mut chunk, mut count) = (self.rewound()?, vec![0; CHUNK], 0);
        let (mut has_content, mut has_quote) = (false, false);
        loop {
            match file.read(&mut chunk) {
                Ok(0) => return Ok((count + usize::from(has_content), has_quote)),
                Ok(len) => {
                    let bytes = &chunk[..len];
                    for &byte in bytes {
                        count += usize::from(has_content & (byte == b'\n'));
                        has_content = (byte != b'\n') & (has_content | (byte != b'\r'));
                    }
                    has_quote = has_quote || bytes.contains(&b'"');
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(Failure::reading(&self.path, &e)),
            }
        }
    }
}

/// Fails if the file begins like a workbook, with the option that a build needs to read it.
fn check_workbook(mut file: &File, path: &Path) -> Result<(), Failure> {
    let mut first = Vec::new();
    let read = file.rewind().and_then(|()| file.take(4).read_to_end(&mut first));
    read.map_err(|e| Failure::reading(path, &e))?;
    match first.as_slice() {
        b"PK\x03\x04" => Err(super::failure(path, What::NoText(NoText::WORKBOOK).into(), &[])),
        _ => Ok(()),
    }
}

/// Makes CSV of a workbook, in a temporary file without a name.
#[cfg(feature = "spreadsheets")]
fn made_of_sheet(
    mut file: &File,
    path: &Path,
    options: &SetOptions,
) -> Result<Option<(File, String)>, Failure> {
    let failed = |e: io::Error| Failure::reading(path, &e);
    let mut first = Vec::new();
    file.rewind().map_err(failed)?;
    file.take(4).read_to_end(&mut first).map_err(failed)?;
    file.rewind().map_err(failed)?;
    if first != SHEET || options.format_of(path)? != SetFormat::Csv {
        return Ok(None);
    }
    let folder = env::temp_dir();
    let unwritten = |e: io::Error| Failure::writing(&folder, &e);
    let mut made = io::BufWriter::new(tempfile::tempfile().map_err(unwritten)?);
    let name = write_sheet(io::BufReader::new(file), options.sheet.as_deref(), &mut made);
    let name = name.map_err(|fault| {
        let (why, file) = (fault.to_string(), path.display());
        let convert = "or make CSV of it with `soffice --headless --convert-to csv FILE`";
        match fault {
            SheetFault::Which(sheets) => {
                let sheets: Vec<_> = sheets.iter().map(|it| visible(it)).collect();
                let hint = format!("pass --sheet with one of: {}", sheets.join(", "));
                Failure::usage(format!("{file} is {why}")).hint(hint)
            }
            SheetFault::Io(e) => Failure::reading(path, &e),
            _ => Failure::usage(format!("{file} is {why}"))
                .hint(format!("save it as .xlsx or CSV UTF-8, {convert}")),
        }
    })?;
    let made = made.into_inner().map_err(|e| unwritten(e.into_error()))?;
    Ok(Some((made, name)))
}

/// Copies what can be read once only, and unpacks what is packed. It has a bound, or an endless pipe would fill the disk.
fn spool(
    mut from: impl Read,
    path: &Path,
    options: &SetOptions,
) -> Result<(File, Option<Packing>), Failure> {
    let folder = env::temp_dir();
    let failed = |e: io::Error| Failure::writing(&folder, &e);
    let mut first = Vec::new();
    let read = from.by_ref().take(4).read_to_end(&mut first);
    read.map_err(|e| Failure::reading(path, &e))?;
    let packing = Packing::of(&first);
    let whole = first.chain(from);
    let from: Box<dyn Read + '_> = match packing {
        Some(packing) => packing.unpack(whole),
        None => Box::new(whole),
    };
    let unread = |e: io::Error| match packing {
        Some(_) => {
            Failure::reading(path, &e).hint("unpack the file first, with `gzip -d` or `zstd -d`")
        }
        None => Failure::reading(path, &e),
    };
    let mut file = tempfile::tempfile().map_err(failed)?;
    let most = options.max_input.unwrap_or_else(|| half_of_the_space(&folder));
    let (mut copied, mut told) = (0, TOLD);
    let mut from = from.take(most.saturating_add(1));
    let mut piece = vec![0; CHUNK];
    loop {
        match from.read(&mut piece) {
            Ok(0) => break,
            Ok(len) => {
                file.write_all(&piece[..len]).map_err(failed)?;
                copied += len as u64;
            }
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(unread(e)),
        }
        if copied > most {
            let why = format!("{} has more than {}", path.display(), bytes(most));
            let hint = "pass --max-input, or set TMPDIR to a directory with more space";
            return Err(Failure::usage(why).hint(hint));
        }
        if copied >= told && !options.quiet {
            let (path, folder) = (path.display(), folder.display());
            say(&format!(
                "copying {path} to a temporary file in {folder}: {} so far",
                bytes(copied)
            ));
            told = copied.saturating_mul(2);
        }
    }
    Ok((file, packing))
}

fn half_of_the_space(folder: &Path) -> u64 {
    #[cfg(unix)]
    if let Ok(found) = rustix::fs::statvfs(folder) {
        return found.f_bavail.saturating_mul(found.f_frsize) / 2;
    }
    let _ = folder;
    USUAL
}
