//! A run, whatever simulates it: advanced in slices of wall time, its samples written as they come, its tables at the end.

// Slices of wall time are this module's business: what happens inside them does not depend on where they end.
#![allow(clippy::disallowed_methods)]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde::Serialize;
use weft_net::results::{Progress, Table};

use crate::csv;
use crate::faults::to_json;
use crate::parquet::{TableWriter, WriteError};

/// Rows of samples that make a row group.
const SAMPLE_ROWS: usize = 250_000;

/// What a simulator offers to be run.
pub(crate) trait Simulator: Send + Sync {
    /// Events between two looks at the clock: some ten milliseconds of work.
    const EVENTS: u64;
    /// What the manifest says of the run.
    type Summary: Serialize + Send;

    /// Handles about so many events.
    fn advance(&mut self, events: u64) -> Progress;
    /// How many rows of samples wait to be taken.
    fn sample_rows(&self) -> usize;
    /// The samples since the last call.
    fn samples(&mut self) -> Option<Table>;
    /// The tables and the summary.
    fn finish(&mut self) -> (Vec<Table>, Self::Summary);
    /// What else is written after each piece of work.
    fn write_more(&mut self) -> Result<(), WriteError> {
        Ok(())
    }
}

/// What may be called next.
enum Stage {
    /// `advance`, or `finish`.
    Running,
    /// `write`: these tables wait.
    Finished(Vec<Table>),
    /// Nothing.
    Written,
}

/// A simulator and the folder of its tables, which exists.
pub(crate) struct Run<S> {
    pub(crate) simulator: S,
    directory: PathBuf,
    /// `advance` has been called.
    pub(crate) has_begun: bool,
    samples: Option<TableWriter>,
    stage: Stage,
}

impl<S: Simulator> Run<S> {
    pub(crate) fn new(simulator: S, directory: PathBuf) -> Self {
        Self {
            simulator,
            directory,
            has_begun: false,
            samples: None,
            stage: Stage::Running,
        }
    }

    /// Simulates for about `seconds` of wall time, or until the run is over: the progress as JSON. Raises OSError if samples
    /// cannot be written.
    pub(crate) fn advance(&mut self, py: Python<'_>, seconds: f64) -> PyResult<String> {
        if !matches!(self.stage, Stage::Running) {
            return Err(PyRuntimeError::new_err("advance() after finish()"));
        }
        let slice = Duration::try_from_secs_f64(seconds).map_err(|_| {
            PyValueError::new_err(format!("seconds = {seconds} is no length of time"))
        })?;
        self.has_begun = true;
        let started = Instant::now();
        let progress = py.detach(|| {
            loop {
                let progress = self.simulator.advance(S::EVENTS);
                if self.simulator.sample_rows() >= SAMPLE_ROWS {
                    self.write_samples()?;
                }
                self.simulator.write_more()?;
                if progress.finished || started.elapsed() >= slice {
                    return Ok(progress);
                }
            }
        });
        to_json(&progress.map_err(os_error)?)
    }

    /// Ends the run: checks conservation, computes the tables, returns the summary as JSON.
    pub(crate) fn finish(&mut self, py: Python<'_>) -> PyResult<String> {
        if !matches!(self.stage, Stage::Running) {
            return Err(PyRuntimeError::new_err("finish() a second time"));
        }
        let (tables, summary) = py.detach(|| self.simulator.finish());
        self.stage = Stage::Finished(tables);
        to_json(&summary)
    }

    /// Writes flows, links, queues, paths, nodes, the trace if there is one, and what is left of the samples. Raises OSError.
    pub(crate) fn write(&mut self, py: Python<'_>) -> PyResult<()> {
        let Stage::Finished(tables) = std::mem::replace(&mut self.stage, Stage::Written) else {
            return Err(PyRuntimeError::new_err(
                "write() comes once, after finish()",
            ));
        };
        py.detach(|| {
            self.write_samples()?;
            if let Some(samples) = self.samples.take() {
                samples.close()?;
            }
            // One after another, so that what is written needs no memory any more.
            tables
                .into_iter()
                .try_for_each(|table| write_table(&self.directory, &table))
        })
        .map_err(os_error)
    }

    fn write_samples(&mut self) -> Result<(), WriteError> {
        let Some(chunk) = self.simulator.samples() else {
            return Ok(());
        };
        let writer = match &mut self.samples {
            Some(writer) => writer,
            none => none.insert(TableWriter::create(
                &self.directory.join("samples.parquet"),
                &chunk,
            )?),
        };
        writer.append(&chunk)
    }
}

fn write_table(directory: &Path, table: &Table) -> Result<(), WriteError> {
    if table.name == "trace" {
        // An input of other experiments: in the form in which people write it.
        return csv::write(&directory.join("trace.csv"), table);
    }
    let mut writer =
        TableWriter::create(&directory.join(format!("{}.parquet", table.name)), table)?;
    writer.append(table)?;
    writer.close()
}

/// As Python's own file functions raise it: error number, text, path.
pub(crate) fn os_error(failed: WriteError) -> PyErr {
    let text = failed.error.to_string();
    match failed.error.raw_os_error() {
        Some(number) => {
            let text = text
                .split(" (os error")
                .next()
                .unwrap_or_default()
                .to_owned();
            PyOSError::new_err((number, text, failed.path.into_os_string()))
        }
        None => PyOSError::new_err(format!("{}: {text}", failed.path.display())),
    }
}
