//! What the tests of whole runs share: a run from a spec, and the columns of its tables.

// Each test binary uses some of these.
#![allow(dead_code)]

use std::sync::Arc;

use serde_json::{Map, Value};
use weft_net::results::{Column, Table};
use weft_net::scenario::Scenario;
use weft_packetsim::{Outcome, Simulation};

pub(crate) fn spec(value: Value) -> Map<String, Value> {
    value.as_object().cloned().expect("a table")
}

pub(crate) fn scenario(spec: &Map<String, Value>) -> Arc<Scenario> {
    Arc::new(Scenario::build(spec).expect("a valid scenario"))
}

/// Runs to the end; panics if it takes more than `most` events.
pub(crate) fn run(spec: &Map<String, Value>, most: u64) -> Outcome {
    let mut simulation = Simulation::new(scenario(spec), spec).expect("a valid simulation");
    let progress = simulation.advance(most);
    assert!(
        progress.finished,
        "not finished after {most} events: {progress:?}"
    );
    simulation.finish()
}

pub(crate) fn column<'a>(outcome: &'a Outcome, table: &str, name: &str) -> &'a Column {
    let table: &Table = outcome
        .tables
        .iter()
        .find(|t| t.name == table)
        .expect("a table");
    &table
        .columns
        .iter()
        .find(|c| c.0 == name)
        .expect("a column")
        .1
}

pub(crate) fn integers(outcome: &Outcome, table: &str, name: &str) -> Vec<i64> {
    match column(outcome, table, name) {
        Column::Integer(values) => values.clone(),
        Column::OptionalInteger(values) => values.iter().map(|v| v.expect("a value")).collect(),
        other => panic!("{name} is {other:?}"),
    }
}

pub(crate) fn reals(outcome: &Outcome, table: &str, name: &str) -> Vec<Option<f64>> {
    match column(outcome, table, name) {
        Column::Real(values) => values.iter().map(|&v| Some(v)).collect(),
        Column::OptionalReal(values) => values.clone(),
        other => panic!("{name} is {other:?}"),
    }
}

pub(crate) fn optional_integers(outcome: &Outcome, table: &str, name: &str) -> Vec<Option<i64>> {
    match column(outcome, table, name) {
        Column::OptionalInteger(values) => values.clone(),
        other => panic!("{name} is {other:?}"),
    }
}
