//! A table as CSV: a header line, and nothing where a value is null.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use weft_net::results::{Column, Table};

use crate::parquet::WriteError;

/// Writes `table` into a file. Its words contain no commas.
pub(crate) fn write(path: &Path, table: &Table) -> Result<(), WriteError> {
    write_to(path, table).map_err(|error| WriteError {
        path: path.to_owned(),
        error,
    })
}

fn write_to(path: &Path, table: &Table) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    let names: Vec<_> = table.columns.iter().map(|c| c.0).collect();
    writeln!(out, "{}", names.join(","))?;
    let rows = table.columns.first().map_or(0, |c| length(&c.1));
    for row in 0..rows {
        let cells: Vec<_> = table.columns.iter().map(|c| cell(&c.1, row)).collect();
        writeln!(out, "{}", cells.join(","))?;
    }
    out.flush()
}

fn length(column: &Column) -> usize {
    match column {
        Column::Integer(values) => values.len(),
        Column::OptionalInteger(values) => values.len(),
        Column::Real(values) => values.len(),
        Column::OptionalReal(values) => values.len(),
        Column::Word(codes, _) => codes.len(),
        Column::Words { ends, .. } => ends.len(),
    }
}

fn cell(column: &Column, row: usize) -> String {
    match column {
        Column::Integer(values) => values[row].to_string(),
        Column::OptionalInteger(values) => values[row].map_or_else(String::new, |v| v.to_string()),
        Column::Real(values) => values[row].to_string(),
        Column::OptionalReal(values) => values[row].map_or_else(String::new, |v| v.to_string()),
        Column::Word(codes, words) => {
            codes[row].map_or_else(String::new, |code| words[code as usize].clone())
        }
        Column::Words { ends, items, words } => {
            let begin = row.checked_sub(1).map_or(0, |before| ends[before] as usize);
            let items = items[begin..ends[row] as usize].iter();
            let names: Vec<_> = items.map(|&i| words[i as usize].as_str()).collect();
            names.join(" ")
        }
    }
}
