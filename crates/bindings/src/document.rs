//! TOML with lines: so that every fault of an experiment file can say where it is.

use pyo3::prelude::*;
use serde::Serialize;
use serde::ser::{SerializeMap, SerializeSeq, Serializer};
use serde_json::json;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use crate::faults::{TomlError, to_json};

/// Parses TOML: JSON `{"value": ..., "lines": {"topology.k": 12, "workload[0].size": 20}}`, tables in the order of the
/// file, lines counted from 1.
///
/// Raises `TomlError` for a syntax error, a duplicate key, a date, or a number that JSON cannot hold (nan, inf).
#[pyfunction]
pub(crate) fn parse_toml(py: Python<'_>, text: &str) -> PyResult<String> {
    let parsed = py.detach(|| read(text));
    let (document, lines) = parsed.map_err(|fault| TomlError::new_err(fault.to_json(text)))?;
    to_json(&Document {
        value: Table(document.get_ref()),
        lines: Lines(&lines),
    })
}

/// What is wrong with a text, and the byte where it is.
struct TomlFault {
    at: usize,
    message: String,
}

impl TomlFault {
    fn to_json(&self, text: &str) -> String {
        let before = &text.as_bytes()[..self.at.min(text.len())];
        let line_start = before
            .iter()
            .rposition(|&b| b == b'\n')
            .map_or(0, |n| n + 1);
        let column = 1 + String::from_utf8_lossy(&before[line_start..])
            .chars()
            .count();
        let line = 1 + before.iter().filter(|&&b| b == b'\n').count();
        json!({ "line": line, "column": column, "message": self.message }).to_string()
    }
}

type Parsed<'a> = (Spanned<DeTable<'a>>, Vec<(String, usize)>);

/// The document and the line of every key and element.
fn read(text: &str) -> Result<Parsed<'_>, TomlFault> {
    let document = DeTable::parse(text).map_err(|error| TomlFault {
        at: error.span().map_or(0, |span| span.start),
        message: error.message().to_owned(),
    })?;
    let line_ends = text
        .bytes()
        .enumerate()
        .filter(|&(_, b)| b == b'\n')
        .map(|(at, _)| at)
        .collect();
    let mut walk = Walk {
        line_ends,
        lines: Vec::new(),
    };
    walk.table(document.get_ref(), "")?;
    Ok((document, walk.lines))
}

/// Goes through a document, notes lines, and refuses what JSON cannot hold.
struct Walk {
    line_ends: Vec<usize>,
    lines: Vec<(String, usize)>,
}

impl Walk {
    fn note(&mut self, path: &str, at: usize) {
        let line = 1 + self.line_ends.partition_point(|&end| end < at);
        self.lines.push((path.to_owned(), line));
    }

    fn table(&mut self, table: &DeTable<'_>, path: &str) -> Result<(), TomlFault> {
        for (key, value) in table {
            let dot = if path.is_empty() { "" } else { "." };
            let path = format!("{path}{dot}{}", part(key.get_ref()));
            self.note(&path, key.span().start);
            self.value(value, &path)?;
        }
        Ok(())
    }

    fn value(&mut self, value: &Spanned<DeValue<'_>>, path: &str) -> Result<(), TomlFault> {
        let refuse = |message: String| {
            Err(TomlFault {
                at: value.span().start,
                message,
            })
        };
        match value.get_ref() {
            DeValue::Integer(integer) if to_i64(integer).is_none() => {
                refuse(format!("{integer} does not fit into 64 bits"))
            }
            DeValue::Float(float) if to_f64(float).is_none() => {
                refuse(format!("{float} is not a finite number"))
            }
            DeValue::Datetime(date) => refuse(format!(
                "{date} is a date, and no key takes one; put it into quotes if it is text"
            )),
            DeValue::Table(table) => self.table(table, path),
            DeValue::Array(items) => items.iter().enumerate().try_for_each(|(i, item)| {
                let path = format!("{path}[{i}]");
                self.note(&path, item.span().start);
                self.value(item, &path)
            }),
            _ => Ok(()),
        }
    }
}

/// A key as it stands in a path: `weft.experiment.path.write` is the same in Python.
fn part(key: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !key.is_empty() && key.chars().all(is_bare) {
        key.to_owned()
    } else {
        format!("\"{}\"", key.replace('\\', "\\\\").replace('"', "\\\""))
    }
}

fn to_i64(integer: &toml::de::DeInteger<'_>) -> Option<i64> {
    i64::from_str_radix(integer.as_str(), integer.radix()).ok()
}

fn to_f64(float: &toml::de::DeFloat<'_>) -> Option<f64> {
    float
        .as_str()
        .parse()
        .ok()
        .filter(|number: &f64| number.is_finite())
}

#[derive(Serialize)]
struct Document<'a> {
    value: Table<'a>,
    lines: Lines<'a>,
}

struct Table<'a>(&'a DeTable<'a>);
struct Array<'a>(&'a DeArray<'a>);
struct Element<'a>(&'a DeValue<'a>);
struct Lines<'a>(&'a [(String, usize)]);

impl Serialize for Table<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in self.0 {
            map.serialize_entry(key.get_ref(), &Element(value.get_ref()))?;
        }
        map.end()
    }
}

impl Serialize for Array<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.0.len()))?;
        for value in self.0.iter() {
            list.serialize_element(&Element(value.get_ref()))?;
        }
        list.end()
    }
}

impl Serialize for Element<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            DeValue::String(text) => serializer.serialize_str(text),
            DeValue::Integer(integer) => to_i64(integer).serialize(serializer),
            DeValue::Float(float) => to_f64(float).serialize(serializer),
            DeValue::Boolean(flag) => serializer.serialize_bool(*flag),
            DeValue::Datetime(date) => unreachable!("the walk refuses dates: {date}"),
            DeValue::Array(items) => Array(items).serialize(serializer),
            DeValue::Table(table) => Table(table).serialize(serializer),
        }
    }
}

impl Serialize for Lines<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(path, line)| (path, line)))
    }
}
