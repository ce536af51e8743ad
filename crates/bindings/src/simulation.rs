//! The simulators as Python sees them: one class each around a [`Run`].

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use weft_net::results::{Progress, Table};
use weft_packetsim as packetsim;

use crate::faults::{fault_error, spec};
use crate::parquet::WriteError;
use crate::run::{Run, Simulator, os_error};
use crate::scenario::Scenario;

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

/// The packet-level simulator, and the capture of what its ports saw.
struct Packets {
    simulation: packetsim::Simulation,
    capture: Option<CaptureFile>,
}

impl Simulator for Packets {
    const EVENTS: u64 = 100_000;
    type Summary = packetsim::Summary;

    fn advance(&mut self, events: u64) -> Progress {
        self.simulation.advance(events)
    }

    fn sample_rows(&self) -> usize {
        self.simulation.sample_rows()
    }

    fn samples(&mut self) -> Option<Table> {
        self.simulation.samples()
    }

    fn finish(&mut self) -> (Vec<Table>, Self::Summary) {
        let outcome = self.simulation.finish();
        (outcome.tables, outcome.summary)
    }

    fn write_more(&mut self) -> Result<(), WriteError> {
        match &mut self.capture {
            Some(capture) => capture.write(&self.simulation.captured()),
            None => Ok(()),
        }
    }
}

/// One run of the packet-level simulator.
#[pyclass]
pub(crate) struct PacketSimulation {
    run: Run<Packets>,
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
            .detach(|| packetsim::Simulation::new(scenario, &spec))
            .map_err(|faults| fault_error(&faults))?;
        let packets = Packets {
            simulation,
            capture: None,
        };
        Ok(Self {
            run: Run::new(packets, directory),
        })
    }

    /// What is known before the run that a reader must see.
    fn warnings(&self) -> Vec<String> {
        self.run.simulator.simulation.warnings()
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
        let Packets {
            simulation,
            capture,
        } = &mut self.run.simulator;
        if self.run.has_begun || capture.is_some() {
            return Err(PyRuntimeError::new_err(
                "capture() comes once, before advance()",
            ));
        }
        let known = simulation.links();
        if let Some(link) = links.iter().find(|&&l| l as usize >= known) {
            return Err(PyValueError::new_err(format!(
                "there is no link {link}; there are {known}"
            )));
        }
        let application = concat!("weft ", env!("CARGO_PKG_VERSION"));
        if !simulation.capture(&links, snaplen, application, comment) {
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
        *capture = Some(CaptureFile {
            out: BufWriter::new(out),
            path: file,
        });
        Ok(())
    }

    /// Frames in the capture so far, by link as they were named.
    fn captured_frames(&self) -> Vec<u64> {
        self.run.simulator.simulation.captured_frames()
    }

    /// Simulates for about `seconds` of wall time, or until the run is over: JSON {now_ps, end_ps, events, packet_hops,
    /// flows_done, flows_total, finished}. Samples are written as they come. Raises OSError if they cannot be.
    fn advance(&mut self, py: Python<'_>, seconds: f64) -> PyResult<String> {
        self.run.advance(py, seconds)
    }

    /// Ends the run: checks conservation, computes the tables, returns the summary as JSON.
    fn finish(&mut self, py: Python<'_>) -> PyResult<String> {
        if let Some(capture) = &mut self.run.simulator.capture {
            capture.write(&[]).map_err(os_error)?;
        }
        self.run.finish(py)
    }

    /// Writes flows, links, queues, paths, nodes, the trace if there is one, and what is left of the samples. Raises OSError.
    fn write(&mut self, py: Python<'_>) -> PyResult<()> {
        self.run.write(py)
    }
}

impl Simulator for weft_flowsim::Simulation {
    const EVENTS: u64 = 64;
    type Summary = weft_flowsim::Summary;

    fn advance(&mut self, events: u64) -> Progress {
        Self::advance(self, events)
    }

    fn sample_rows(&self) -> usize {
        Self::sample_rows(self)
    }

    fn samples(&mut self) -> Option<Table> {
        Self::samples(self)
    }

    fn finish(&mut self) -> (Vec<Table>, Self::Summary) {
        let outcome = Self::finish(self);
        (outcome.tables, outcome.summary)
    }
}

/// One run of the flow-level simulator.
#[pyclass]
pub(crate) struct FlowSimulation {
    run: Run<weft_flowsim::Simulation>,
}

#[pymethods]
impl FlowSimulation {
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
            .detach(|| weft_flowsim::Simulation::new(scenario, &spec))
            .map_err(|faults| fault_error(&faults))?;
        Ok(Self {
            run: Run::new(simulation, directory),
        })
    }

    /// Simulates for about `seconds` of wall time, or until the run is over: JSON {now_ps, end_ps, events, packet_hops,
    /// flows_done, flows_total, finished}; packet_hops is 0. Raises OSError if samples cannot be written.
    fn advance(&mut self, py: Python<'_>, seconds: f64) -> PyResult<String> {
        self.run.advance(py, seconds)
    }

    /// Ends the run: computes the tables, returns the summary as JSON.
    fn finish(&mut self, py: Python<'_>) -> PyResult<String> {
        self.run.finish(py)
    }

    /// Writes flows, links, queues, paths, nodes, and what is left of the samples. Raises OSError.
    fn write(&mut self, py: Python<'_>) -> PyResult<()> {
        self.run.write(py)
    }
}
