//! TOML with lines: so that every fault of an experiment file can say where it is.

use pyo3::prelude::*;
use serde_json::{Map, Value, json};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::faults::{TomlError, to_json};

/// Parses TOML: JSON `{"value": ..., "lines": {"topology.k": 12, "workload[0].size": 20}}`, lines counted from 1.
///
/// Raises `TomlError` for a syntax error, a duplicate key, a date, or a number that JSON cannot hold (nan, inf).
#[pyfunction]
pub(crate) fn parse_toml(text: &str) -> PyResult<String> {
    let document = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        fault(text, at, error.message())
    })?;
    let mut reader = Reader { text, lines: Map::new() };
    let value = reader.table(document.get_ref(), "")?;
    to_json(&json!({ "value": value, "lines": reader.lines }))
}

fn fault(text: &str, at: usize, message: &str) -> PyErr {
    let before = &text.as_bytes()[..at.min(text.len())];
    let line = 1 + before.iter().filter(|&&b| b == b'\n').count();
    let line_start = before.iter().rposition(|&b| b == b'\n').map_or(0, |n| n + 1);
    let column = 1 + String::from_utf8_lossy(&before[line_start..]).chars().count();
    TomlError::new_err(json!({ "line": line, "column": column, "message": message }).to_string())
}

struct Reader<'a> {
    text: &'a str,
    lines: Map<String, Value>,
}

impl Reader<'_> {
    fn line(&self, at: usize) -> usize {
        1 + self.text.as_bytes()[..at.min(self.text.len())].iter().filter(|&&b| b == b'\n').count()
    }

    fn table(&mut self, table: &DeTable<'_>, path: &str) -> PyResult<Value> {
        let mut out = Map::new();
        for (key, value) in table {
            let name = key.get_ref();
            // A key that itself holds a dot ("load_balance.kind" of a sweep) is quoted in its path.
            let part = if name.contains('.') { format!("\"{name}\"") } else { name.to_string() };
            let full = if path.is_empty() { part } else { format!("{path}.{part}") };
            self.lines.insert(full.clone(), self.line(key.span().start).into());
            let value = self.value(value, &full)?;
            out.insert(name.to_string(), value);
        }
        Ok(Value::Object(out))
    }

    fn value(&mut self, value: &Spanned<DeValue<'_>>, path: &str) -> PyResult<Value> {
        let at = value.span().start;
        Ok(match value.get_ref() {
            DeValue::String(text) => Value::from(text.to_string()),
            DeValue::Boolean(flag) => Value::from(*flag),
            DeValue::Integer(integer) => {
                let digits = integer.as_str();
                let number = i64::from_str_radix(digits, integer.radix())
                    .map_err(|_| fault(self.text, at, &format!("{digits} does not fit into 64 bits")))?;
                Value::from(number)
            }
            DeValue::Float(float) => {
                let number = float.as_str().parse::<f64>().ok().and_then(serde_json::Number::from_f64);
                Value::from(number.ok_or_else(|| fault(self.text, at, "not a finite number"))?)
            }
            DeValue::Datetime(date) => {
                let message = format!("{date} is a date, and no key takes one; quote it if it is text");
                return Err(fault(self.text, at, &message));
            }
            DeValue::Array(items) => {
                let mut out = Vec::new();
                for (i, item) in items.iter().enumerate() {
                    let full = format!("{path}[{i}]");
                    self.lines.insert(full.clone(), self.line(item.span().start).into());
                    out.push(self.value(item, &full)?);
                }
                Value::Array(out)
            }
            DeValue::Table(table) => self.table(table, path)?,
        })
    }
}
