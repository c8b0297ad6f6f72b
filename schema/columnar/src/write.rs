//! Writes a file.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Stored, ZstdLevel};
use parquet::data_type::{BoolType, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::file::metadata::{KeyValue, SortingColumn};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, Type as SchemaType};

use crate::Result;
use crate::values::{Data, Field, Type, Values};

/// Distinct integers of a row group, from which on they are stored as differences and not by a dictionary, in bytes.
const DICTIONARY: usize = 64 << 10;

/// What a file states beside its columns.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options<'a> {
    /// The position of the column by which the rows ascend.
    pub sorted_by: Option<usize>,
    /// Metadata of the file.
    pub metadata: &'a [(&'a str, &'a str)],
}

/// A file that grows by row groups. It has the page index, and is compressed by zstd.
pub struct Writer<W: Write + Send> {
    file: SerializedFileWriter<W>,
    fields: usize,
}

impl<W: Write + Send> std::fmt::Debug for Writer<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").field("fields", &self.fields).finish_non_exhaustive()
    }
}

impl<W: Write + Send> Writer<W> {
    /// Begins a file with these columns.
    ///
    /// # Errors
    /// The file cannot grow, or two columns have one name.
    pub fn new(out: W, fields: &[Field], options: &Options<'_>) -> Result<Self> {
        let columns = fields.iter().map(|field| Ok(Arc::new(schema(field)?))).collect::<Result<_>>()?;
        let schema = SchemaType::group_type_builder("schema").with_fields(columns).build()?;
        let properties = Arc::new(properties(fields, options));
        Ok(Self { file: SerializedFileWriter::new(out, Arc::new(schema), properties)?, fields: fields.len() })
    }

    /// Writes a row group: `column` gives the values of each column by its position, all of one length and of the declared types.
    ///
    /// # Errors
    /// The file cannot grow.
    pub fn push(&mut self, mut column: impl FnMut(usize) -> Values) -> Result<()> {
        let mut group = self.file.next_row_group()?;
        for position in 0..self.fields {
            write(&mut group, &column(position))?;
        }
        group.close().map(drop)
    }

    /// Completes the file.
    ///
    /// # Errors
    /// The file cannot grow.
    pub fn finish(self) -> Result<W> {
        self.file.into_inner()
    }
}

fn schema(field: &Field) -> Result<SchemaType> {
    let (stored, logical) = match field.kind {
        Type::Bool => (Stored::BOOLEAN, None),
        Type::Integer => (Stored::INT64, None),
        Type::Float => (Stored::DOUBLE, None),
        Type::Text => (Stored::BYTE_ARRAY, Some(LogicalType::String)),
    };
    SchemaType::primitive_type_builder(&field.name, stored)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical)
        .build()
}

fn properties(fields: &[Field], options: &Options<'_>) -> WriterProperties {
    let sorted =
        |position| SortingColumn { column_idx: position as i32, descending: false, nulls_first: false };
    let metadata =
        options.metadata.iter().map(|&(key, value)| KeyValue::new(key.to_owned(), value.to_owned()));
    let all = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by(concat!("rtl ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_sorting_columns(options.sorted_by.map(|position| vec![sorted(position)]))
        .set_key_value_metadata(Some(metadata.collect()));
    let integers = fields.iter().enumerate().filter(|(_, field)| field.kind == Type::Integer);
    let encoded = |builder: WriterPropertiesBuilder, (position, field): (usize, &Field)| {
        let path = || ColumnPath::from(field.name.clone());
        builder
            .set_column_encoding(path(), Encoding::DELTA_BINARY_PACKED)
            .set_column_dictionary_enabled(path(), options.sorted_by != Some(position))
            .set_column_dictionary_page_size_limit(path(), DICTIONARY)
    };
    integers.fold(all, encoded).build()
}

fn write<W: Write + Send>(group: &mut SerializedRowGroupWriter<'_, W>, values: &Values) -> Result<()> {
    let Some(mut column) = group.next_column()? else { return Ok(()) };
    let known = &values.known;
    match &values.data {
        Data::Bools(values) => batch::<BoolType, _>(&mut column, values, known, |value| *value)?,
        Data::Integers(values) => batch::<Int64Type, _>(&mut column, values, known, |value| *value)?,
        Data::Floats(values) => batch::<DoubleType, _>(&mut column, values, known, |value| *value)?,
        Data::Texts(values) => batch::<ByteArrayType, _>(&mut column, values, known, |text| text.0.clone())?,
    }
    column.close()
}

fn batch<D: DataType, T>(
    column: &mut SerializedColumnWriter<'_>,
    values: &[T],
    known: &[bool],
    stored: impl Fn(&T) -> D::T,
) -> Result<()> {
    let levels: Vec<i16> = match known {
        [] => vec![1; values.len()],
        known => known.iter().map(|&known| known.into()).collect(),
    };
    let is_known = |row: usize| levels[row] == 1;
    let values: Vec<D::T> =
        values.iter().enumerate().filter(|(row, _)| is_known(*row)).map(|(_, value)| stored(value)).collect();
    column.typed::<D>().write_batch(&values, Some(&levels), None).map(drop)
}
