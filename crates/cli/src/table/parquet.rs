//! Sets in Parquet files. Matching rows are written as Parquet, with the schema and all columns.

use std::{
    borrow::Cow,
    cell::Cell,
    fs::File,
    io::{self, BufReader, Read, Seek},
    panic::{self, AssertUnwindSafe},
    path::Path,
    sync::{Arc, Once},
};

use bytes::Bytes;
use foxtrot::psi::keys::Keyer;
use parquet::{
    basic::{Compression, Type as Physical},
    column::{reader::ColumnReaderImpl, writer::ColumnWriterImpl},
    data_type::{
        BoolType, ByteArrayType, DataType, DoubleType, FixedLenByteArrayType, FloatType, Int32Type,
        Int64Type, Int96Type,
    },
    errors::ParquetError,
    file::{
        metadata::{ParquetMetaData, RowGroupMetaData},
        properties::WriterProperties,
        reader::{ChunkReader, FileReader, Length, SerializedFileReader},
        writer::{SerializedColumnWriter, SerializedFileWriter},
    },
    record::Field,
    schema::types::{ColumnDescriptor, Type},
};

use crate::{args::SetOptions, failure::Failure};

use super::{
    Builder, Content, NUL, Row, Set,
    columns::Columns,
    source::{CHUNK, Source},
};

/// A file that has been read, and how.
pub(super) struct Parquet {
    source: Source,
    columns: Columns,
    keyer: Keyer,
}

/// Records that are copied at once.
const BATCH: usize = 8192;

impl Parquet {
    pub(super) fn read(path: &Path, options: &SetOptions) -> Result<Set, Failure> {
        options.without_csv(path)?;
        let source = Source::open(path)?;
        let reader = open(&source)?;
        check_compression(&source, reader.metadata())?;
        let metadata = reader.metadata().file_metadata();
        let root = metadata.schema_descr().root_schema();
        let names = root.get_fields().iter().map(|field| field.name().to_owned()).collect();
        let columns = Columns::find(source.path(), names, true, &options.key)?;
        let most = usize::try_from(metadata.num_rows()).unwrap_or(usize::MAX);
        let keyer = Keyer::new(options.normalisers(columns.keys().len())?);
        let mut builder = Builder::begin(keyer, most, "row", options.show)?;
        // Columns come in the order of the file, whatever the order of the key.
        let mut order: Vec<usize> = columns.keys().to_vec();
        order.sort_unstable();
        let place: Vec<usize> =
            columns.keys().iter().map(|key| order.partition_point(|other| other < key)).collect();
        let fields = order.iter().map(|&key| Arc::clone(&root.get_fields()[key])).collect();
        let wanted = Type::group_type_builder(root.name()).with_fields(fields).build();
        let wrong = |why: String| unreadable(&source, &why);
        let mut rows = guarded(|| reader.get_row_iter(Some(wanted?))).map_err(wrong)?;
        for number in 0.. {
            let Some(row) = guarded(|| rows.next().transpose()).map_err(wrong)? else { break };
            let fields: Vec<(&String, &Field)> = row.get_column_iter().collect();
            let mut parts = Vec::with_capacity(place.len());
            for &at in &place {
                let Some((name, field)) = fields.get(at) else { return Err(source.changed()) };
                parts.push(text(field).ok_or_else(|| {
                    Failure::usage(format!(
                        "{}, row {}: {name} is neither text nor a whole number",
                        source.path().display(),
                        number + 1
                    ))
                })?);
            }
            if parts.iter().any(|part| part.contains('\0')) {
                let file = source.path().display();
                return Err(Failure::usage(format!("{file}, row {}: {NUL}", number + 1)));
            }
            if builder.is_full() {
                return Err(source.changed());
            }
            builder.add(number as u64 + 1, (number as u64, 0), parts.into_iter());
        }
        source.check_unchanged()?;
        Ok(builder.finish(|keyer| Content::Parquet(Self { source, columns, keyer })))
    }

    pub(super) fn columns(&self) -> &Columns {
        &self.columns
    }

    pub(super) fn terms(&self) -> String {
        self.keyer.terms()
    }

    /// About: it is compressed.
    pub(super) fn written_len(&self) -> u64 {
        self.source.len()
    }

    /// Gives a Parquet file with these rows.
    pub(super) fn write(
        &self,
        rows: &[Row],
        mut to: impl FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.source.check_unchanged()?;
        let failed = |e: io::Error| Failure::writing(&std::env::temp_dir(), &e);
        let mut copy = tempfile::tempfile().map_err(failed)?;
        let from = open(&self.source)?;
        let file = copy.try_clone().map_err(failed)?;
        guarded(|| Self::copy(&from, rows, file))
            .map_err(|why| Failure::run(format!("cannot make a Parquet file: {why}")))?;
        self.source.check_unchanged()?;
        copy.rewind().map_err(failed)?;
        let mut piece = vec![0; CHUNK];
        loop {
            match copy.read(&mut piece).map_err(failed)? {
                0 => return Ok(()),
                len => to(&piece[..len])?,
            }
        }
    }

    fn copy(
        from: &SerializedFileReader<Whole>,
        rows: &[Row],
        to: File,
    ) -> Result<(), ParquetError> {
        let metadata = from.metadata().file_metadata();
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_key_value_metadata(metadata.key_value_metadata().cloned())
            .build();
        let schema = metadata.schema_descr().root_schema_ptr();
        let mut writer = SerializedFileWriter::new(to, schema, Arc::new(properties))?;
        let (mut start, mut rows) = (0, rows);
        for group in 0..from.num_row_groups() {
            let group = from.get_row_group(group)?;
            let len = u64::try_from(group.metadata().num_rows()).unwrap_or_default();
            let here = rows.partition_point(|row| row.offset < start + len);
            let wanted: Vec<u64> = rows[..here].iter().map(|row| row.offset - start).collect();
            (start, rows) = (start + len, &rows[here..]);
            if wanted.is_empty() {
                continue;
            }
            let mut copied = writer.next_row_group()?;
            let mut column = 0;
            while let Some(to) = copied.next_column()? {
                let description = group.metadata().column(column).column_descr_ptr();
                let from = group.get_column_reader(column)?;
                macro_rules! copy {
                    ($type:ty) => {
                        copy_column::<$type>(
                            parquet::column::reader::get_typed_column_reader(from),
                            to,
                            &description,
                            &wanted,
                        )?
                    };
                }
                match description.physical_type() {
                    Physical::BOOLEAN => copy!(BoolType),
                    Physical::INT32 => copy!(Int32Type),
                    Physical::INT64 => copy!(Int64Type),
                    Physical::INT96 => copy!(Int96Type),
                    Physical::FLOAT => copy!(FloatType),
                    Physical::DOUBLE => copy!(DoubleType),
                    Physical::BYTE_ARRAY => copy!(ByteArrayType),
                    Physical::FIXED_LEN_BYTE_ARRAY => copy!(FixedLenByteArrayType),
                }
                column += 1;
            }
            copied.close()?;
        }
        writer.close().map(drop)
    }
}

/// Copies the records with these numbers, which ascend.
fn copy_column<T: DataType>(
    mut from: ColumnReaderImpl<T>,
    mut to: SerializedColumnWriter<'_>,
    description: &ColumnDescriptor,
    wanted: &[u64],
) -> Result<(), ParquetError> {
    let (most_defined, repeats) = (description.max_def_level(), description.max_rep_level() > 0);
    let (mut start, mut wanted) = (0, wanted.iter().copied().peekable());
    let writer: &mut ColumnWriterImpl<'_, T> = to.typed::<T>();
    while wanted.peek().is_some() {
        let (mut values, mut defined, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
        let (records, _, levels) =
            from.read_records(BATCH, Some(&mut defined), Some(&mut repeated), &mut values)?;
        if records == 0 {
            return Err(ParquetError::General("a column is too short".into()));
        }
        let (mut kept, mut kept_defined, mut kept_repeated) = (Vec::new(), Vec::new(), Vec::new());
        let (mut values, mut record, mut keep) = (values.into_iter(), start, false);
        for level in 0..levels {
            let continues = repeats && repeated.get(level).is_some_and(|&level| level > 0);
            if !continues {
                keep = wanted.next_if_eq(&record).is_some();
                record += 1;
            }
            let has_value =
                most_defined == 0 || defined.get(level).is_some_and(|&level| level == most_defined);
            let value = if has_value { values.next() } else { None };
            if keep {
                kept.extend(value);
                kept_defined.extend(defined.get(level));
                kept_repeated.extend(repeated.get(level));
            }
        }
        start += records as u64;
        if kept_defined.is_empty() && kept.is_empty() {
            continue;
        }
        writer.write_batch(
            &kept,
            (most_defined > 0).then_some(&kept_defined[..]),
            repeats.then_some(&kept_repeated[..]),
        )?;
    }
    to.close()
}

fn open(source: &Source) -> Result<SerializedFileReader<Whole>, Failure> {
    let file = source.rewound()?.try_clone();
    let file = file.map_err(|e| Failure::reading(source.path(), &e))?;
    guarded(|| SerializedFileReader::new(Whole(file))).map_err(|why| unreadable(source, &why))
}

/// A file that says where it ends. What the crate `parquet` skips it does not miss: behind the end it
/// would go on skipping as much as a damaged file says, for hours. (Of lists of truth values it skips
/// any number without a byte, so that a file made for it still takes that long.)
struct Whole(File);

/// A reader for which the end is an error.
struct Ending<R>(R);

impl Length for Whole {
    fn len(&self) -> u64 {
        Length::len(&self.0)
    }
}

impl ChunkReader for Whole {
    type T = Ending<BufReader<File>>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        self.0.get_read(start).map(Ending)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        self.0.get_bytes(start, length)
    }
}

impl<R: Read> Read for Ending<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        match self.0.read(to)? {
            0 if !to.is_empty() => Err(io::ErrorKind::UnexpectedEof.into()),
            len => Ok(len),
        }
    }
}

thread_local! {
    /// True if the hook prints nothing about a panic, since [`guarded`] will.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs work of the crate `parquet` on a file. At some files whose parts contradict each other it
/// panics. (Where one makes it ask for more memory than there is, the process ends all the same.)
fn guarded<T>(work: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let others = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !GUARDED.get() {
                others(panic);
            }
        }));
    });
    let before = GUARDED.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(before);
    match result {
        Ok(result) => result.map_err(|error| error.to_string()),
        // The panic's text finds the place, should it be one of ours.
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref().copied()).unwrap_or_default();
            Err(format!("parts of the file contradict each other ({text})"))
        }
    }
}

/// Fails if a column is compressed as this program cannot undo it: rows that come out have all columns.
fn check_compression(source: &Source, metadata: &ParquetMetaData) -> Result<(), Failure> {
    let mut columns = metadata.row_groups().iter().flat_map(RowGroupMetaData::columns);
    let other = columns.find_map(|column| match column.compression() {
        Compression::UNCOMPRESSED | Compression::SNAPPY | Compression::ZSTD(_) => None,
        Compression::GZIP(_) => Some("gzip"),
        Compression::BROTLI(_) => Some("Brotli"),
        Compression::LZ4 | Compression::LZ4_RAW => Some("LZ4"),
        Compression::LZO => Some("LZO"),
    });
    let Some(other) = other else { return Ok(()) };
    let path = source.path().display();
    Err(Failure::usage(format!("the columns of {path} are compressed with {other}"))
        .hint("this program reads Parquet with Snappy, with Zstandard or not compressed"))
}

fn unreadable(source: &Source, why: &str) -> Failure {
    Failure::usage(format!("cannot read {} as Parquet: {why}", source.path().display()))
}

/// A part of a key as text; nothing for what is none.
fn text(field: &Field) -> Option<Cow<'_, str>> {
    Some(match field {
        Field::Null => Cow::Borrowed(""),
        Field::Str(text) => Cow::Borrowed(text),
        Field::Bytes(bytes) => Cow::Borrowed(std::str::from_utf8(bytes.data()).ok()?),
        Field::Byte(_)
        | Field::Short(_)
        | Field::Int(_)
        | Field::Long(_)
        | Field::UByte(_)
        | Field::UShort(_)
        | Field::UInt(_)
        | Field::ULong(_) => Cow::Owned(field.to_string()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
