//! Errors on their way to Python: faults as JSON inside an exception.

use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde::Serialize;
use serde_json::{Map, Value, json};
use weft_net::error::Fault;

create_exception!(
    _core,
    FaultError,
    PyValueError,
    "Faults of an experiment: args[0] is a JSON list of {key, message}."
);
create_exception!(
    _core,
    TomlError,
    PyValueError,
    "A text that is no TOML: args[0] is JSON {line, column, message}."
);

/// The exception that carries `faults`.
pub(crate) fn fault_error(faults: &[Fault]) -> PyErr {
    let list: Vec<Value> = faults
        .iter()
        .map(|f| json!({ "key": f.key, "message": f.message }))
        .collect();
    FaultError::new_err(Value::from(list).to_string())
}

/// A value as JSON text.
pub(crate) fn to_json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|e| PyRuntimeError::new_err(e.to_string()))
}

/// A spec: a JSON object.
pub(crate) fn spec(text: &str) -> PyResult<Map<String, Value>> {
    serde_json::from_str(text)
        .map_err(|e| PyValueError::new_err(format!("the spec is no JSON object: {e}")))
}
