//! Reads a file.

use std::cell::Cell;
use std::fs::File;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::Once;

use parquet::basic::Type as Stored;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::Result;
use crate::values::{Data, Field, Text, Type, Values};

/// Rows for each byte of a file that has most of them: beyond that, a damaged file claims them.
const ROWS: u64 = 128;

/// Bytes of values for each byte of a file, besides the first 16 MiB: beyond that, a damaged file claims them.
const VALUES: u64 = 4096;

/// A file whose columns are plain.
pub struct Reader {
    file: SerializedFileReader<File>,
    fields: Vec<Field>,
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("fields", &self.fields).finish_non_exhaustive()
    }
}

impl Reader {
    /// Fails where the file is no Parquet, has columns of other types, or claims more rows than a file of its size has.
    pub fn open(path: &Path) -> Result<Self> {
        guarded(|| Self::open_checked(path))
    }

    fn open_checked(path: &Path) -> Result<Self> {
        let file = File::open(path)?;
        let bytes = file.metadata()?.len();
        let file = SerializedFileReader::new(file)?;
        check_size(&file, bytes)?;
        let columns = file.metadata().file_metadata().schema_descr().columns();
        let field = |column: &parquet::schema::types::ColumnDescPtr| {
            let kind = match column.physical_type() {
                Stored::BOOLEAN => Type::Bool,
                Stored::INT64 => Type::Integer,
                Stored::DOUBLE => Type::Float,
                Stored::BYTE_ARRAY => Type::Text,
                other => return Err(unexpected(format!("column {} is of type {other}", column.name()))),
            };
            if column.max_rep_level() > 0 || column.max_def_level() > 1 {
                return Err(unexpected(format!("column {} is nested", column.name())));
            }
            Ok(Field { name: column.name().to_owned(), kind })
        };
        let fields = columns.iter().map(field).collect::<Result<_>>()?;
        Ok(Self { file, fields })
    }

    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    pub fn groups(&self) -> usize {
        self.file.num_row_groups()
    }

    pub fn rows(&self, group: usize) -> usize {
        let group = self.file.metadata().row_groups().get(group);
        group.map_or(0, |group| usize::try_from(group.num_rows()).unwrap_or(0))
    }

    /// The values of a column in a row group, both by position.
    pub fn read(&self, group: usize, column: usize) -> Result<Values> {
        guarded(|| self.read_column(group, column))
    }

    fn read_column(&self, group: usize, column: usize) -> Result<Values> {
        let rows = self.rows(group);
        let group = self.file.get_row_group(group)?;
        let plain = group.metadata().column(column).column_descr().max_def_level() == 0;
        let mut known = Vec::new();
        let data = match group.get_column_reader(column)? {
            ColumnReader::BoolColumnReader(reader) => Data::Bools(all(reader, rows, plain, &mut known)?),
            ColumnReader::Int64ColumnReader(reader) => Data::Integers(all(reader, rows, plain, &mut known)?),
            ColumnReader::DoubleColumnReader(reader) => Data::Floats(all(reader, rows, plain, &mut known)?),
            ColumnReader::ByteArrayColumnReader(reader) => {
                let texts: Vec<ByteArray> = all(reader, rows, plain, &mut known)?;
                Data::Texts(texts.into_iter().map(Text).collect())
            }
            _ => return Err(unexpected("a column of another type".to_owned())),
        };
        Ok(Values { data, known })
    }
}

thread_local! {
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Makes an error of a panic: the library takes some of what a file says for granted, such as places that are not negative.
fn guarded<T>(read: impl FnOnce() -> Result<T>) -> Result<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_GUARDED.get() {
                before(info);
            }
        }));
    });
    IS_GUARDED.set(true);
    // What was read is dropped with the error.
    let outcome = panic::catch_unwind(AssertUnwindSafe(read));
    IS_GUARDED.set(false);
    outcome.unwrap_or_else(|_| Err(unexpected("its pages contradict each other".to_owned())))
}

/// Refuses claims that would take more memory than a file of this size needs.
fn check_size(file: &SerializedFileReader<File>, bytes: u64) -> Result<()> {
    let (mut rows, mut values) = (0_u64, 0_u64);
    for group in file.metadata().row_groups() {
        let claimed = |number: i64| {
            u64::try_from(number).map_err(|_| unexpected("a row group has a negative size".to_owned()))
        };
        rows = rows.saturating_add(claimed(group.num_rows())?);
        for column in group.columns() {
            values = values.saturating_add(claimed(column.uncompressed_size())?);
        }
    }
    if rows > bytes.saturating_mul(ROWS) || values > bytes.saturating_mul(VALUES).saturating_add(16 << 20) {
        return Err(unexpected(format!("{bytes} bytes claim {rows} rows")));
    }
    Ok(())
}

fn unexpected(what: String) -> ParquetError {
    ParquetError::General(what)
}

/// All values of a column of a row group, with a default where a row is null.
fn all<D: DataType>(
    mut reader: ColumnReaderImpl<D>,
    rows: usize,
    plain: bool,
    known: &mut Vec<bool>,
) -> Result<Vec<D::T>>
where
    D::T: Default + Clone,
{
    // The number of rows is what the file claims: nothing is reserved for it.
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    let levels_of = (!plain).then_some(&mut levels);
    let (read, ..) = reader.read_records(rows, levels_of, None, &mut values)?;
    if read != rows || !plain && levels.len() != rows {
        return Err(unexpected(format!("a column has {read} of {rows} rows")));
    }
    if values.len() == rows {
        return Ok(values);
    }
    let mut values = values.into_iter();
    let row = |level: &i16| if *level > 0 { values.next().unwrap_or_default() } else { D::T::default() };
    let spread = levels.iter().map(row).collect();
    *known = levels.iter().map(|&level| level > 0).collect();
    Ok(spread)
}
