//! Tables to Parquet, a row group at a time, one column after another: memory stays bounded however long the table.
//!
//! Written with the low-level column writers of crate `parquet`, so that no second data-frame library is linked in.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
use weft_net::results::{Column, Table};

/// A file that could not be written.
#[derive(Debug)]
pub(crate) struct WriteError {
    pub(crate) code: i32,
    pub(crate) message: String,
    pub(crate) path: PathBuf,
}

/// One table on its way to a file.
pub(crate) struct TableWriter {
    path: PathBuf,
    writer: SerializedFileWriter<File>,
}

impl TableWriter {
    /// A file with the columns of `table` and no rows yet.
    pub(crate) fn create(path: &Path, table: &Table) -> Result<Self, WriteError> {
        let columns: String = table.columns.iter().map(|(name, column)| field(name, column)).collect();
        let schema = parse_message_type(&format!("message {} {{ {columns} }}", table.name)).expect("a valid schema");
        let level = ZstdLevel::try_new(3).expect("a valid level");
        let properties = WriterProperties::builder().set_compression(Compression::ZSTD(level)).build();
        let file = File::create(path).map_err(|e| from_io(path, &e))?;
        let writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties))
            .map_err(|e| from_parquet(path, e))?;
        Ok(Self { path: path.to_owned(), writer })
    }

    /// Adds the rows of `table` as one row group.
    pub(crate) fn append(&mut self, table: &Table) -> Result<(), WriteError> {
        self.try_append(table).map_err(|e| from_parquet(&self.path, e))
    }

    fn try_append(&mut self, table: &Table) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for (_, column) in &table.columns {
            let mut out = group.next_column()?.expect("as many columns as in the schema");
            write_column(column, &mut out)?;
            out.close()?;
        }
        group.close()?;
        Ok(())
    }

    /// Writes the footer.
    pub(crate) fn close(self) -> Result<(), WriteError> {
        self.writer.close().map(|_| ()).map_err(|e| from_parquet(&self.path, e))
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
            format!("REQUIRED group {name} (LIST) {{ REPEATED group list {{ REQUIRED BYTE_ARRAY element (STRING); }} }} ")
        }
    }
}

/// Definition levels and present values of a column with nulls.
fn present<T: Copy>(values: &[Option<T>]) -> (Vec<i16>, Vec<T>) {
    (values.iter().map(|v| i16::from(v.is_some())).collect(), values.iter().flatten().copied().collect())
}

fn write_column(column: &Column, out: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
    match column {
        Column::Integer(values) => {
            out.typed::<Int64Type>().write_batch(values, None, None)?;
        }
        Column::OptionalInteger(values) => {
            let (levels, values) = present(values);
            out.typed::<Int64Type>().write_batch(&values, Some(&levels), None)?;
        }
        Column::Real(values) => {
            out.typed::<DoubleType>().write_batch(values, None, None)?;
        }
        Column::OptionalReal(values) => {
            let (levels, values) = present(values);
            out.typed::<DoubleType>().write_batch(&values, Some(&levels), None)?;
        }
        Column::Word(codes, words) => {
            // Cloning a ByteArray shares its bytes.
            let words: Vec<ByteArray> = words.iter().map(|w| w.as_str().into()).collect();
            let (levels, codes) = present(codes);
            let values: Vec<ByteArray> = codes.iter().map(|&code| words[code as usize].clone()).collect();
            out.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None)?;
        }
        Column::Words { ends, items, words } => {
            let words: Vec<ByteArray> = words.iter().map(|w| w.as_str().into()).collect();
            let values: Vec<ByteArray> = items.iter().map(|&code| words[code as usize].clone()).collect();
            let (mut definition, mut repetition) = (Vec::new(), Vec::new());
            let mut start = 0;
            for &end in ends {
                // An empty list is one slot without a value.
                definition.extend(std::iter::repeat_n(i16::from(end > start), (end - start).max(1) as usize));
                repetition.push(0);
                repetition.extend(std::iter::repeat_n(1, (end - start).saturating_sub(1) as usize));
                start = end;
            }
            out.typed::<ByteArrayType>().write_batch(&values, Some(&definition), Some(&repetition))?;
        }
    }
    Ok(())
}

fn from_io(path: &Path, error: &io::Error) -> WriteError {
    WriteError { code: error.raw_os_error().unwrap_or(0), message: error.to_string(), path: path.to_owned() }
}

fn from_parquet(path: &Path, error: ParquetError) -> WriteError {
    if let ParquetError::External(inner) = &error
        && let Some(inner) = inner.downcast_ref::<io::Error>()
    {
        return from_io(path, inner);
    }
    WriteError { code: 0, message: error.to_string(), path: path.to_owned() }
}
