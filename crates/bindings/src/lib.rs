//! The Python module `weft._core`: the only crate that knows Python.
//!
//! A handful of coarse calls: descriptions of all kinds, a TOML parser that keeps lines, the scenario, and a simulation
//! that is advanced in slices so that Python can show progress and hear Ctrl-C. Documents cross as JSON, tables as
//! Parquet files. Long calls release the interpreter lock.

mod csv;
mod document;
mod faults;
mod parquet;
mod run;
mod scenario;
mod simulation;

use pyo3::prelude::*;

/// All kinds of all rooms, as a JSON list.
#[pyfunction]
fn kinds() -> PyResult<String> {
    let all = [
        weft_net::kinds(),
        weft_packetsim::kinds(),
        weft_flowsim::kinds(),
    ]
    .concat();
    faults::to_json(&all)
}

/// Version of the package.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Git commit that was built, or `unknown`.
#[pyfunction]
fn commit() -> &'static str {
    env!("WEFT_COMMIT")
}

/// Largest resident memory of this process so far, bytes; `None` where the system does not tell.
///
/// Read from `VmHWM`: unlike `ru_maxrss` it does not include the parent's memory before the exec.
#[pyfunction]
fn peak_rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim()
        .strip_suffix("kB")?
        .trim()
        .parse::<u64>()
        .ok()
        .map(|kb| kb * 1024)
}

/// The compiled core of weft.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("FaultError", module.py().get_type::<faults::FaultError>())?;
    module.add("TomlError", module.py().get_type::<faults::TomlError>())?;
    module.add_function(wrap_pyfunction!(kinds, module)?)?;
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(commit, module)?)?;
    module.add_function(wrap_pyfunction!(peak_rss_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(document::parse_toml, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::predict, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::max_min, module)?)?;
    module.add_class::<scenario::Scenario>()?;
    module.add_class::<simulation::PacketSimulation>()?;
    module.add_class::<simulation::FlowSimulation>()?;
    Ok(())
}
