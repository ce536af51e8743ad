//! Tables to Parquet, some rows of one column at a time: memory stays bounded however long the table.
//!
//! Written with the low-level column writers of crate `parquet`, so that no data-frame library is linked in.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
use weft_net::results::{Column, Table};

/// Rows that are converted at once.
const BATCH: usize = 8192;

/// A file that could not be written.
#[derive(Debug)]
pub(crate) struct WriteError {
    pub(crate) path: PathBuf,
    pub(crate) error: io::Error,
}

/// One table on its way to a file.
pub(crate) struct TableWriter {
    path: PathBuf,
    writer: SerializedFileWriter<File>,
}

impl TableWriter {
    /// A file with the columns of `table` and no rows yet.
    pub(crate) fn create(path: &Path, table: &Table) -> Result<Self, WriteError> {
        let columns: String = table
            .columns
            .iter()
            .map(|(name, column)| field(name, column))
            .collect();
        let schema = parse_message_type(&format!("message {} {{ {columns} }}", table.name))
            .expect("a valid schema");
        let level = ZstdLevel::try_new(3).expect("a valid level");
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(level))
            .set_created_by(concat!("weft ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        let at = |error| WriteError {
            path: path.to_owned(),
            error,
        };
        let file = File::create(path).map_err(at)?;
        let writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties))
            .map_err(|error| at(to_io(error)))?;
        Ok(Self {
            path: path.to_owned(),
            writer,
        })
    }

    /// Adds the rows of `table` as one row group.
    pub(crate) fn append(&mut self, table: &Table) -> Result<(), WriteError> {
        self.append_group(table).map_err(|error| WriteError {
            path: self.path.clone(),
            error: to_io(error),
        })
    }

    fn append_group(&mut self, table: &Table) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for (_, column) in &table.columns {
            let mut out = group
                .next_column()?
                .expect("as many columns as in the schema");
            write_column(column, &mut out)?;
            out.close()?;
        }
        group.close()?;
        Ok(())
    }

    /// Writes the footer.
    pub(crate) fn close(self) -> Result<(), WriteError> {
        let path = self.path;
        self.writer.close().map(|_| ()).map_err(|error| WriteError {
            path,
            error: to_io(error),
        })
    }
}

fn field(name: &str, column: &Column) -> String {
    match column {
        Column::Integer(_) => format!("REQUIRED INT64 {name}; "),
        Column::OptionalInteger(_) => format!("OPTIONAL INT64 {name}; "),
        Column::Real(_) => format!("REQUIRED DOUBLE {name}; "),
        Column::OptionalReal(_) => format!("OPTIONAL DOUBLE {name}; "),
        Column::Word(..) => format!("OPTIONAL BYTE_ARRAY {name} (STRING); "),
        Column::Words { .. } => {
            format!(
                "REQUIRED group {name} (LIST) {{ REPEATED group list {{ REQUIRED BYTE_ARRAY element (STRING); }} }} "
            )
        }
    }
}

fn write_column(column: &Column, out: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
    match column {
        Column::Integer(values) => write::<Int64Type>(out, values, None, None),
        Column::Real(values) => write::<DoubleType>(out, values, None, None),
        Column::OptionalInteger(values) => {
            write_optional::<Int64Type, _>(out, values, |&value| value)
        }
        Column::OptionalReal(values) => {
            write_optional::<DoubleType, _>(out, values, |&value| value)
        }
        Column::Word(codes, words) => {
            let words = shared(words);
            write_optional::<ByteArrayType, _>(out, codes, |code| {
                code.map(|code| words[code as usize].clone())
            })
        }
        Column::Words { ends, items, words } => write_lists(out, ends, items, &shared(words)),
    }
}

/// Words whose clones share their bytes.
fn shared(words: &[String]) -> Vec<ByteArray> {
    words.iter().map(|word| word.as_str().into()).collect()
}

fn write<T: DataType>(
    out: &mut SerializedColumnWriter<'_>,
    values: &[T::T],
    definition: Option<&[i16]>,
    repetition: Option<&[i16]>,
) -> Result<(), ParquetError> {
    out.typed::<T>()
        .write_batch(values, definition, repetition)
        .map(|_| ())
}

fn write_optional<T: DataType, V>(
    out: &mut SerializedColumnWriter<'_>,
    rows: &[V],
    value: impl Fn(&V) -> Option<T::T>,
) -> Result<(), ParquetError> {
    for rows in rows.chunks(BATCH) {
        let values: Vec<Option<T::T>> = rows.iter().map(&value).collect();
        let definition: Vec<i16> = values.iter().map(|v| i16::from(v.is_some())).collect();
        let values: Vec<T::T> = values.into_iter().flatten().collect();
        write::<T>(out, &values, Some(&definition), None)?;
    }
    Ok(())
}

fn write_lists(
    out: &mut SerializedColumnWriter<'_>,
    ends: &[u32],
    items: &[u32],
    words: &[ByteArray],
) -> Result<(), ParquetError> {
    let mut start = 0;
    for ends in ends.chunks(BATCH) {
        let (mut values, mut definition, mut repetition) = (Vec::new(), Vec::new(), Vec::new());
        for &end in ends {
            let row = &items[start..end as usize];
            // An empty list is one slot without a value.
            definition.extend(std::iter::repeat_n(
                i16::from(!row.is_empty()),
                row.len().max(1),
            ));
            repetition.push(0);
            repetition.extend(std::iter::repeat_n(1, row.len().saturating_sub(1)));
            values.extend(row.iter().map(|&code| words[code as usize].clone()));
            start = end as usize;
        }
        write::<ByteArrayType>(out, &values, Some(&definition), Some(&repetition))?;
    }
    Ok(())
}

/// The cause, where the file system is one.
fn to_io(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(cause) => *cause,
            Err(cause) => io::Error::other(cause),
        },
        error => io::Error::other(error),
    }
}
