//! Writes a file.

use std::borrow::Borrow;
use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Stored, ZstdLevel};
use parquet::column::writer::{ColumnCloseResult, ColumnWriter, ColumnWriterImpl, get_column_writer};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, SortingColumn};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterPropertiesPtr};
use parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use parquet::schema::types::{ColumnPath, SchemaDescPtr, SchemaDescriptor, Type as SchemaType};

use bytes::Bytes;

use crate::Result;
use crate::values::{Data, Field, Type, Values};

/// Distinct integers of a row group, from which on they are stored as differences and not by a dictionary, in bytes.
const DICTIONARY: usize = 64 << 10;

/// How many integers of a row group tell whether they have a dictionary.
const SAMPLE: usize = 1024;

#[derive(Debug, Clone, Copy, Default)]
pub struct Options<'a> {
    /// The positions of the columns by which the rows ascend, the first one first.
    pub sorted_by: &'a [usize],
    pub metadata: &'a [(&'a str, &'a str)],
}

/// Makes the row groups of a file, on any thread.
#[derive(Debug, Clone)]
pub struct Encoder {
    schema: SchemaDescPtr,
    /// For files whose integers have dictionaries.
    dictionary: WriterPropertiesPtr,
    /// For files whose integers are stored as differences.
    differences: WriterPropertiesPtr,
}

/// An encoded row group.
pub struct Group {
    columns: Vec<(Bytes, ColumnCloseResult)>,
}

/// A file that grows by row groups. It has the page index, and is compressed by zstd.
pub struct Writer<W: Write + Send> {
    file: SerializedFileWriter<W>,
    encoder: Encoder,
}

impl std::fmt::Debug for Group {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Group").field("columns", &self.columns.len()).finish_non_exhaustive()
    }
}

impl<W: Write + Send> std::fmt::Debug for Writer<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").field("encoder", &self.encoder).finish_non_exhaustive()
    }
}

impl Encoder {
    /// Fails where two columns have one name.
    pub fn new(fields: &[Field], options: &Options<'_>) -> Result<Self> {
        let columns = fields.iter().map(|field| Ok(Arc::new(schema(field)?))).collect::<Result<_>>()?;
        let schema = SchemaType::group_type_builder("schema").with_fields(columns).build()?;
        let schema = Arc::new(SchemaDescriptor::new(Arc::new(schema)));
        let properties = |has_dictionary| Arc::new(properties(fields, options, has_dictionary));
        Ok(Self { schema, dictionary: properties(true), differences: properties(false) })
    }

    /// Makes a row group of the values of each column: all of one length, of the declared types, in the order of the columns. Fails where a
    /// column has another type.
    pub fn encode<V: Borrow<Values>>(&self, columns: impl IntoIterator<Item = V>) -> Result<Group> {
        let descriptions = self.schema.columns().iter();
        let encoded = descriptions.zip(columns).map(|(description, values)| {
            let values: &Values = values.borrow();
            let is_distinct = matches!(&values.data, Data::Integers(values) if is_distinct(values));
            let properties = if is_distinct { &self.differences } else { &self.dictionary };
            let mut bytes = TrackedWrite::new(Vec::new());
            let pages = Box::new(SerializedPageWriter::new(&mut bytes));
            let writer = get_column_writer(description.clone(), properties.clone(), pages);
            let closed = write(writer, values)?;
            Ok((Bytes::from(bytes.into_inner()?), closed))
        });
        Ok(Group { columns: encoded.collect::<Result<_>>()? })
    }
}

impl<W: Write + Send> Writer<W> {
    pub fn new(out: W, encoder: &Encoder) -> Result<Self> {
        let (schema, properties) = (encoder.schema.root_schema_ptr(), encoder.dictionary.clone());
        Ok(Self { file: SerializedFileWriter::new(out, schema, properties)?, encoder: encoder.clone() })
    }

    /// Writes the values of each column, as [`Encoder::encode`] takes them.
    pub fn push<V: Borrow<Values>>(&mut self, columns: impl IntoIterator<Item = V>) -> Result<()> {
        let group = self.encoder.encode(columns)?;
        self.append(group)
    }

    /// The group is one of the encoder of the file.
    pub fn append(&mut self, group: Group) -> Result<()> {
        let mut rows = self.file.next_row_group()?;
        for (bytes, closed) in group.columns {
            rows.append_column(&bytes, closed)?;
        }
        rows.close().map(drop)
    }

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

fn properties(fields: &[Field], options: &Options<'_>, has_dictionary: bool) -> WriterProperties {
    let sorted = |&position: &usize| SortingColumn {
        column_idx: position as i32,
        descending: false,
        nulls_first: false,
    };
    let sorted: Vec<SortingColumn> = options.sorted_by.iter().map(sorted).collect();
    let metadata =
        options.metadata.iter().map(|&(key, value)| KeyValue::new(key.to_owned(), value.to_owned()));
    let all = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by(concat!("rtl ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_sorting_columns(Some(sorted).filter(|columns| !columns.is_empty()))
        .set_key_value_metadata(Some(metadata.collect()));
    let integers = fields.iter().filter(|field| field.kind == Type::Integer);
    let encoded = |builder: WriterPropertiesBuilder, field: &Field| {
        let path = || ColumnPath::from(field.name.clone());
        builder
            .set_column_encoding(path(), Encoding::DELTA_BINARY_PACKED)
            .set_column_dictionary_enabled(path(), has_dictionary)
            .set_column_dictionary_page_size_limit(path(), DICTIONARY)
    };
    integers.fold(all, encoded).build()
}

/// Decides by a sample: a dictionary of integers that mostly differ would be as long as they are.
fn is_distinct(values: &[i64]) -> bool {
    if values.len() < SAMPLE {
        return false;
    }
    let mut sample: Vec<i64> = values.iter().step_by(values.len() / SAMPLE).copied().collect();
    sample.sort_unstable();
    sample.dedup();
    sample.len() > SAMPLE / 2
}

fn write(writer: ColumnWriter<'_>, values: &Values) -> Result<ColumnCloseResult> {
    let known = &values.known;
    match (writer, &values.data) {
        (ColumnWriter::BoolColumnWriter(writer), Data::Bools(values)) => {
            batch(writer, values, known, |value| *value)
        }
        (ColumnWriter::Int64ColumnWriter(writer), Data::Integers(values)) => {
            batch(writer, values, known, |value| *value)
        }
        (ColumnWriter::DoubleColumnWriter(writer), Data::Floats(values)) => {
            batch(writer, values, known, |value| *value)
        }
        (ColumnWriter::ByteArrayColumnWriter(writer), Data::Texts(values)) => {
            batch(writer, values, known, |text| text.0.clone())
        }
        _ => Err(ParquetError::General("a column of another type".to_owned())),
    }
}

fn batch<D: DataType, T>(
    mut column: ColumnWriterImpl<'_, D>,
    values: &[T],
    known: &[bool],
    stored: impl Fn(&T) -> D::T,
) -> Result<ColumnCloseResult> {
    let levels: Vec<i16> = match known {
        [] => vec![1; values.len()],
        known => known.iter().map(|&known| known.into()).collect(),
    };
    let is_known = |row: usize| levels[row] == 1;
    let values: Vec<D::T> =
        values.iter().enumerate().filter(|(row, _)| is_known(*row)).map(|(_, value)| stored(value)).collect();
    column.write_batch(&values, Some(&levels), None)?;
    column.close()
}
