//! A packet-level run, advanced in slices of wall time; its tables go to Parquet files.

// Slices of wall time are this module's business: what happens inside them does not depend on where they end.
#![allow(clippy::disallowed_methods)]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use weft_net::results::Table;
use weft_packetsim::Simulation;

use crate::faults::{fault_error, spec, to_json};
use crate::parquet::{TableWriter, WriteError};
use crate::scenario::Scenario;

/// Events between two looks at the clock: some ten milliseconds of work.
const EVENTS: u64 = 100_000;
/// Rows of samples that make a row group.
const SAMPLE_ROWS: usize = 250_000;

/// One run of the packet-level simulator.
#[pyclass]
pub(crate) struct PacketSimulation {
    simulation: Simulation,
    directory: PathBuf,
    samples: Option<TableWriter>,
    tables: Vec<Table>,
}

fn os_error(error: WriteError) -> PyErr {
    PyOSError::new_err((error.code, error.message, error.path))
}

#[pymethods]
impl PacketSimulation {
    /// The idle network of `scenario`; tables will be written into `directory`, which exists. Raises `FaultError`.
    #[new]
    fn new(scenario: &Scenario, spec_json: &str, directory: PathBuf) -> PyResult<Self> {
        let spec = spec(spec_json)?;
        let simulation =
            Simulation::new(scenario.inner.clone(), &spec).map_err(|faults| fault_error(&faults))?;
        Ok(Self { simulation, directory, samples: None, tables: Vec::new() })
    }

    /// Simulates for about `seconds` of wall time, or until the run is over: JSON {now_ps, end_ps, events, packet_hops,
    /// flows_done, flows_total, finished}. Samples are written as they come.
    fn advance(&mut self, py: Python<'_>, seconds: f64) -> PyResult<String> {
        let until = Instant::now() + Duration::from_secs_f64(seconds);
        let progress = py.detach(|| {
            loop {
                let progress = self.simulation.advance(EVENTS);
                if self.simulation.sample_rows() >= SAMPLE_ROWS {
                    self.write_samples()?;
                }
                if progress.finished || Instant::now() >= until {
                    return Ok(progress);
                }
            }
        });
        to_json(&progress.map_err(os_error)?)
    }

    /// Ends the run: checks conservation, computes the tables, returns the summary as JSON.
    fn finish(&mut self, py: Python<'_>) -> PyResult<String> {
        let outcome = py.detach(|| self.simulation.finish());
        self.tables = outcome.tables;
        to_json(&outcome.summary)
    }

    /// Writes flows, links, queues, paths, nodes and what is left of the samples. Raises OSError.
    fn write(&mut self, py: Python<'_>) -> PyResult<()> {
        if self.tables.is_empty() {
            return Err(PyRuntimeError::new_err("finish() comes before write()"));
        }
        py.detach(|| {
            self.write_samples()?;
            if let Some(samples) = self.samples.take() {
                samples.close()?;
            }
            for table in self.tables.drain(..) {
                write_table(&self.directory, &table)?;
            }
            Ok(())
        })
        .map_err(os_error)
    }
}

impl PacketSimulation {
    fn write_samples(&mut self) -> Result<(), WriteError> {
        let Some(chunk) = self.simulation.samples() else { return Ok(()) };
        if self.samples.is_none() {
            self.samples = Some(TableWriter::create(&self.directory.join("samples.parquet"), &chunk)?);
        }
        self.samples.as_mut().expect("just made").append(&chunk)
    }
}

fn write_table(directory: &Path, table: &Table) -> Result<(), WriteError> {
    let mut writer = TableWriter::create(&directory.join(format!("{}.parquet", table.name)), table)?;
    writer.append(table)?;
    writer.close()
}
