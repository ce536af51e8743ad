//! The scenario as Python sees it: built from a spec, its nodes, links and flows as columns.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::json;
use weft_net::ideal_fct::Ideals;
use weft_net::ids::{FlowId, LinkId};
use weft_packetsim::flow_control::FlowControl;

use crate::faults::{fault_error, spec, to_json};

/// Sizes and memory of a spec, without building it: JSON {hosts, switches, links, flows, memory_bytes}.
///
/// Raises `FaultError` with every fault that shows before building.
#[pyfunction]
pub(crate) fn predict(spec_json: &str) -> PyResult<String> {
    let spec = spec(spec_json)?;
    let net = weft_net::scenario::predict(&spec).map_err(|faults| fault_error(&faults))?;
    let flow_control = FlowControl::from_spec(&spec).map_err(|fault| fault_error(&[fault]))?;
    let run = weft_packetsim::memory_bytes(&flow_control, net.switches, net.links, net.subflows);
    let mut out = serde_json::to_value(net).expect("plain data");
    out["memory_bytes"] = json!(net.memory_bytes + run);
    to_json(&out)
}

/// Network, routes and flows: the same for every backend.
#[pyclass(frozen)]
pub(crate) struct Scenario {
    pub(crate) inner: Arc<weft_net::scenario::Scenario>,
}

#[pymethods]
impl Scenario {
    /// From a spec (JSON in base units). Raises `FaultError`.
    #[new]
    fn new(py: Python<'_>, spec_json: &str) -> PyResult<Self> {
        let spec = spec(spec_json)?;
        let built = py.detach(|| weft_net::scenario::Scenario::build(&spec));
        Ok(Self {
            inner: Arc::new(built.map_err(|faults| fault_error(&faults))?),
        })
    }

    /// JSON {hosts, switches, links, flows, seed}.
    fn summary(&self) -> PyResult<String> {
        let network = &self.inner.network;
        to_json(&json!({
            "hosts": network.hosts,
            "switches": network.nodes.len() - network.hosts,
            "links": network.links.len(),
            "flows": self.inner.flows.len(),
            "seed": self.inner.seed,
        }))
    }

    /// Columns name, kind, level, pod, address.
    fn nodes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let nodes = &self.inner.network.nodes;
        let columns = PyDict::new(py);
        columns.set_item(
            "name",
            nodes.iter().map(|n| n.name.as_str()).collect::<Vec<_>>(),
        )?;
        let kind = |i: usize| {
            if i < self.inner.network.hosts {
                "host"
            } else {
                "switch"
            }
        };
        columns.set_item("kind", (0..nodes.len()).map(kind).collect::<Vec<_>>())?;
        columns.set_item("level", nodes.iter().map(|n| n.level).collect::<Vec<_>>())?;
        columns.set_item("pod", nodes.iter().map(|n| n.pod).collect::<Vec<_>>())?;
        let address = |a: [u8; 4]| a.map(|byte| byte.to_string()).join(".");
        columns.set_item(
            "address",
            nodes.iter().map(|n| address(n.address)).collect::<Vec<_>>(),
        )?;
        Ok(columns)
    }

    /// Columns name, src, dst, rate_bps, delay_ps, is_up.
    fn links<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let network = &self.inner.network;
        let links = &network.links;
        let columns = PyDict::new(py);
        let name = |i: usize| network.link_name(LinkId::from(i));
        columns.set_item("name", (0..links.len()).map(name).collect::<Vec<_>>())?;
        let node = |n: weft_net::ids::NodeId| network.nodes[n.index()].name.as_str();
        columns.set_item("src", links.iter().map(|l| node(l.src)).collect::<Vec<_>>())?;
        columns.set_item("dst", links.iter().map(|l| node(l.dst)).collect::<Vec<_>>())?;
        columns.set_item(
            "rate_bps",
            links.iter().map(|l| l.rate.0).collect::<Vec<_>>(),
        )?;
        columns.set_item(
            "delay_ps",
            links.iter().map(|l| l.delay.0).collect::<Vec<_>>(),
        )?;
        columns.set_item("is_up", links.iter().map(|l| l.is_up).collect::<Vec<_>>())?;
        Ok(columns)
    }

    /// Columns workload, src, dst, size_bytes, start_ps, src_port, dst_port, ideal_fct_ps, path.
    ///
    /// `path` is a list of link numbers, or None where packets of one flow take several ways.
    fn flows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let scenario = &self.inner;
        let flows = &scenario.flows;
        let columns = PyDict::new(py);
        let node = |n: weft_net::ids::NodeId| scenario.network.nodes[n.index()].name.as_str();
        let workload = |w: u32| scenario.workloads[w as usize].name.as_str();
        columns.set_item(
            "workload",
            flows
                .iter()
                .map(|f| workload(f.workload))
                .collect::<Vec<_>>(),
        )?;
        columns.set_item("src", flows.iter().map(|f| node(f.src)).collect::<Vec<_>>())?;
        columns.set_item("dst", flows.iter().map(|f| node(f.dst)).collect::<Vec<_>>())?;
        columns.set_item(
            "size_bytes",
            flows.iter().map(|f| f.size).collect::<Vec<_>>(),
        )?;
        columns.set_item(
            "start_ps",
            flows.iter().map(|f| f.start.0).collect::<Vec<_>>(),
        )?;
        columns.set_item(
            "src_port",
            flows.iter().map(|f| f.src_port).collect::<Vec<_>>(),
        )?;
        columns.set_item(
            "dst_port",
            flows.iter().map(|f| f.dst_port).collect::<Vec<_>>(),
        )?;
        let mut ideals = Ideals::new(scenario);
        let ideal = |i: usize| ideals.fct(FlowId::from(i)).map(|t| t.0);
        columns.set_item(
            "ideal_fct_ps",
            (0..flows.len()).map(ideal).collect::<Vec<_>>(),
        )?;
        let path = |i: usize| {
            scenario
                .flow_path(FlowId::from(i))
                .map(|p| p.iter().map(|l| l.0).collect::<Vec<_>>())
        };
        columns.set_item("path", (0..flows.len()).map(path).collect::<Vec<_>>())?;
        Ok(columns)
    }

    /// JSON of a switch's tables at the start: what `weft_net::forwarding` finds. `node` counts as the rows of `nodes`.
    fn forwarding(&self, py: Python<'_>, node: usize) -> PyResult<String> {
        let network = &self.inner.network;
        if node < network.hosts || node >= network.nodes.len() {
            return Err(PyValueError::new_err(format!(
                "node {node} is no switch; switches are {}..{}",
                network.hosts,
                network.nodes.len()
            )));
        }
        to_json(&py.detach(|| self.inner.forwarding(weft_net::ids::NodeId::from(node))))
    }

    /// Bits per second that each flow gets under max-min fairness, split into so many subflows. Raises `FaultError` where
    /// packets are balanced one by one.
    fn max_min(&self, py: Python<'_>, subflows: u16) -> PyResult<Vec<f64>> {
        if subflows == 0 {
            return Err(PyValueError::new_err("subflows = 0; the least is 1"));
        }
        let rates = py.detach(|| weft_flowsim::bound::rates(&self.inner, subflows));
        rates.map_err(|fault| fault_error(&[fault]))
    }

    /// By flow: the links that routes offer it, by number, and the share of its packets on each if all are spread equally.
    fn spread(&self, py: Python<'_>) -> Vec<(Vec<u32>, Vec<f64>)> {
        let scenario = &self.inner;
        py.detach(|| {
            let mut known = std::collections::BTreeMap::new();
            let of_pair = |f: &weft_net::workload::Flow| {
                let pair = (f.src, f.dst);
                known
                    .entry(pair)
                    .or_insert_with(|| {
                        let spread = scenario.spread(pair.0, pair.1);
                        spread.into_iter().map(|(l, share)| (l.0, share)).unzip()
                    })
                    .clone()
            };
            scenario.flows.iter().map(of_pair).collect()
        })
    }

    /// The paths that routes offer a flow, at most `most`, as lists of link numbers. Raises `ValueError` for a flow that
    /// there is not.
    fn offered_paths(&self, flow: usize, most: usize) -> PyResult<Vec<Vec<u32>>> {
        let Some(plan) = self.inner.flows.get(flow) else {
            let count = self.inner.flows.len();
            return Err(PyValueError::new_err(format!(
                "flow {flow}: there are {count}"
            )));
        };
        let paths = self.inner.offered_paths(plan.src, plan.dst, most);
        let numbers = |path: Vec<LinkId>| path.into_iter().map(|l| l.0).collect();
        Ok(paths.into_iter().map(numbers).collect())
    }

    /// What to know of the routes before numbers are trusted.
    fn warnings(&self) -> Vec<String> {
        self.inner.routes.warnings.clone()
    }

    /// JSON of the fabric's paths: what `weft_net::survey` finds.
    fn survey(&self, py: Python<'_>) -> PyResult<String> {
        to_json(&py.detach(|| weft_net::survey::survey(&self.inner.network, &self.inner.routes)))
    }
}

/// The rate of every flow under max-min fairness. `paths` are the links of each flow by number, `capacities` those of the
/// links, finite and not negative; `shares`, as long as `paths`, says how much of a flow's rate crosses each of its links,
/// all of it if left out. Raises `ValueError`.
#[pyfunction]
#[pyo3(signature = (paths, capacities, shares=None))]
pub(crate) fn max_min(
    py: Python<'_>,
    paths: Vec<Vec<u32>>,
    capacities: Vec<f64>,
    shares: Option<Vec<Vec<f64>>>,
) -> PyResult<Vec<f64>> {
    let links = capacities.len();
    if let Some(link) = paths.iter().flatten().find(|&&l| l as usize >= links) {
        return Err(PyValueError::new_err(format!(
            "a path names link {link}, and there are {links} capacities"
        )));
    }
    if let Some(wrong) = capacities.iter().find(|c| !(c.is_finite() && **c >= 0.0)) {
        return Err(PyValueError::new_err(format!(
            "{wrong} is no capacity; it is a number, at least 0"
        )));
    }
    let Some(shares) = shares else {
        return Ok(py.detach(|| weft_flowsim::sharing::max_min::rates(&paths, &capacities)));
    };
    let is_alike = shares.len() == paths.len()
        && shares.iter().zip(&paths).all(|(of, path)| {
            of.len() == path.len() && of.iter().all(|s| s.is_finite() && *s > 0.0)
        });
    if !is_alike {
        return Err(PyValueError::new_err(
            "shares are as many as links of each path, and above 0",
        ));
    }
    let uses: Vec<Vec<(u32, f64)>> = paths
        .into_iter()
        .zip(shares)
        .map(|(path, of)| path.into_iter().zip(of).collect())
        .collect();
    Ok(py.detach(|| weft_flowsim::sharing::divided::rates(&uses, &capacities)))
}
