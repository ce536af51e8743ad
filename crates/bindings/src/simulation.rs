//! A packet-level run, advanced in slices of wall time; its tables go to Parquet files.

// Slices of wall time are this module's business: what happens inside them does not depend on where they end.
#![allow(clippy::disallowed_methods)]

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use weft_net::results::Table;
use weft_packetsim::Simulation;

use crate::csv;
use crate::faults::{fault_error, spec, to_json};
use crate::parquet::{TableWriter, WriteError};
use crate::scenario::Scenario;

/// Events between two looks at the clock: some ten milliseconds of work.
const EVENTS: u64 = 100_000;
/// Rows of samples that make a row group.
const SAMPLE_ROWS: usize = 250_000;

/// What may be called next.
enum Stage {
    /// `advance`, or `finish`.
    Running,
    /// `write`: these tables wait.
    Finished(Vec<Table>),
    /// Nothing.
    Written,
}

/// Where a capture goes.
struct CaptureFile {
    out: BufWriter<File>,
    path: PathBuf,
}

impl CaptureFile {
    /// Appends `bytes`; nothing is there to flush what is left.
    fn write(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        let written = if bytes.is_empty() {
            self.out.flush()
        } else {
            self.out.write_all(bytes)
        };
        written.map_err(|error| WriteError {
            path: self.path.clone(),
            error,
        })
    }
}

/// One run of the packet-level simulator.
#[pyclass]
pub(crate) struct PacketSimulation {
    simulation: Simulation,
    directory: PathBuf,
    /// `advance` has been called.
    has_begun: bool,
    samples: Option<TableWriter>,
    capture: Option<CaptureFile>,
    stage: Stage,
}

#[pymethods]
impl PacketSimulation {
    /// The idle network of `scenario`; tables will be written into `directory`, which exists. Raises `FaultError`.
    #[new]
    fn new(
        py: Python<'_>,
        scenario: &Scenario,
        spec_json: &str,
        directory: PathBuf,
    ) -> PyResult<Self> {
        let spec = spec(spec_json)?;
        let scenario = scenario.inner.clone();
        let simulation = py
            .detach(|| Simulation::new(scenario, &spec))
            .map_err(|faults| fault_error(&faults))?;
        Ok(Self {
            simulation,
            directory,
            has_begun: false,
            samples: None,
            capture: None,
            stage: Stage::Running,
        })
    }

    /// What is known before the run that a reader must see.
    fn warnings(&self) -> Vec<String> {
        self.simulation.warnings()
    }

    /// Captures what leaves the ports of `links`, by number, into a new pcapng file: `snaplen` bytes of each frame, 0 for
    /// all. Comes before `advance`. Raises OSError, and ValueError for a link that is not there or a
    /// fabric whose packets are no frames.
    fn capture(
        &mut self,
        file: PathBuf,
        links: Vec<u32>,
        snaplen: u32,
        comment: &str,
    ) -> PyResult<()> {
        if self.has_begun || self.capture.is_some() {
            return Err(PyRuntimeError::new_err(
                "capture() comes once, before advance()",
            ));
        }
        let known = self.simulation.links();
        if let Some(link) = links.iter().find(|&&l| l as usize >= known) {
            return Err(PyValueError::new_err(format!(
                "there is no link {link}; there are {known}"
            )));
        }
        let application = concat!("weft ", env!("CARGO_PKG_VERSION"));
        if !self
            .simulation
            .capture(&links, snaplen, application, comment)
        {
            return Err(PyValueError::new_err(
                "packets of lossless fabrics are no Ethernet frames, so that there is nothing to capture",
            ));
        }
        let out = File::create_new(&file).map_err(|e| {
            os_error(WriteError {
                path: file.clone(),
                error: e,
            })
        })?;
        self.capture = Some(CaptureFile {
            out: BufWriter::new(out),
            path: file,
        });
        Ok(())
    }

    /// Frames in the capture so far, by link as they were named.
    fn captured_frames(&self) -> Vec<u64> {
        self.simulation.captured_frames()
    }

    /// Simulates for about `seconds` of wall time, or until the run is over: JSON {now_ps, end_ps, events, packet_hops,
    /// flows_done, flows_total, finished}. Samples are written as they come. Raises OSError if they cannot be.
    fn advance(&mut self, py: Python<'_>, seconds: f64) -> PyResult<String> {
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
                let progress = self.simulation.advance(EVENTS);
                if self.simulation.sample_rows() >= SAMPLE_ROWS {
                    self.write_samples()?;
                }
                self.write_capture()?;
                if progress.finished || started.elapsed() >= slice {
                    return Ok(progress);
                }
            }
        });
        to_json(&progress.map_err(os_error)?)
    }

    /// Ends the run: checks conservation, computes the tables, returns the summary as JSON.
    fn finish(&mut self, py: Python<'_>) -> PyResult<String> {
        if !matches!(self.stage, Stage::Running) {
            return Err(PyRuntimeError::new_err("finish() a second time"));
        }
        if let Some(capture) = &mut self.capture {
            capture.write(&[]).map_err(os_error)?;
        }
        let outcome = py.detach(|| self.simulation.finish());
        self.stage = Stage::Finished(outcome.tables);
        to_json(&outcome.summary)
    }

    /// Writes flows, links, queues, paths, nodes, the trace if there is one, and what is left of the samples. Raises OSError.
    fn write(&mut self, py: Python<'_>) -> PyResult<()> {
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
}

impl PacketSimulation {
    fn write_capture(&mut self) -> Result<(), WriteError> {
        match &mut self.capture {
            Some(capture) => capture.write(&self.simulation.captured()),
            None => Ok(()),
        }
    }

    fn write_samples(&mut self) -> Result<(), WriteError> {
        let Some(chunk) = self.simulation.samples() else {
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
fn os_error(failed: WriteError) -> PyErr {
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
