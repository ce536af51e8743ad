//! What a run has written down, done again.

mod common;

use common::{column, integers, run, spec};
use serde_json::{Value, json};
use weft_net::results::Column;
use weft_net::workload::Request;
use weft_packetsim::Outcome;

/// The trace of a run as its file.
fn csv(outcome: &Outcome) -> String {
    let table = outcome
        .tables
        .iter()
        .find(|t| t.name == "trace")
        .expect("a trace");
    let cell = |column: &Column, row: usize| match column {
        Column::Integer(values) => values[row].to_string(),
        Column::OptionalInteger(values) => values[row].map_or_else(String::new, |v| v.to_string()),
        Column::Word(codes, words) => words[codes[row].expect("a word") as usize].clone(),
        other => panic!("{other:?}"),
    };
    let names: Vec<_> = table.columns.iter().map(|c| c.0).collect();
    let rows = integers(outcome, "trace", "start_ps").len();
    let lines = (0..rows).map(|row| {
        let cells: Vec<_> = table.columns.iter().map(|c| cell(&c.1, row)).collect();
        cells.join(",") + "\n"
    });
    names.join(",") + "\n" + &lines.collect::<String>()
}

/// The run of these workloads and of their trace; `more` goes into the workload of the trace.
fn twice(name: &str, workloads: Value, more: Value) -> [Outcome; 2] {
    let mut first = spec(json!({
        "seed": 4,
        "topology": { "kind": "fat_tree", "link": { "rate": 1_000_000_000 } },
        "load_balance": { "kind": "ecmp" },
        "measure": { "trace": true },
        "workload": workloads,
    }));
    let original = run(&first, 10_000_000);
    let file = std::env::temp_dir().join(format!("weft-{}-{name}.csv", std::process::id()));
    std::fs::write(&file, csv(&original)).expect("a file");
    let mut trace = json!({ "kind": "trace", "file": file });
    for (key, value) in more.as_object().expect("a table") {
        trace[key] = value.clone();
    }
    first.insert("workload".into(), json!([trace]));
    let again = run(&first, 10_000_000);
    std::fs::remove_file(file).expect("the file");
    [original, again]
}

#[test]
fn flows_of_a_trace_are_those_of_the_run() {
    let size = json!({ "kind": "uniform", "min": 1000, "max": 50_000 });
    let workloads = json!([
        { "name": "p", "kind": "poisson", "load": 0.3, "size": size, "flows": 200 },
        { "name": "f", "kind": "fetch", "clients": 2, "servers": 3, "size": 20_000 },
        { "name": "s", "kind": "silent", "size": 30_000, "start": 1_000_000 },
    ]);
    let [original, again] = twice("flows", workloads, json!({}));
    assert!(original.summary.finished && again.summary.finished);
    assert_eq!(original.summary.fingerprint, again.summary.fingerprint);
    for name in ["fct_ns", "start_ns", "size_bytes"] {
        assert_eq!(
            column(&original, "flows", name),
            column(&again, "flows", name)
        );
    }
    // Done again, it leaves the same trace.
    assert_eq!(csv(&original), csv(&again));
}

#[test]
fn requests_of_a_trace_come_at_the_same_times_in_the_same_order() {
    let value = json!({ "kind": "uniform", "min": 100, "max": 20_000 });
    let place = json!({ "kind": "list", "hosts": ["h000", "h111", "h200", "h311"] });
    let rpc = |more: Value| {
        let mut rpc = json!({ "kind": "rpc", "place": place, "servers": 2, "fan_out": 2, "value": value,
            "gets": 0.7, "requests": 40 });
        for (key, value) in more.as_object().expect("a table") {
            rpc[key] = value.clone();
        }
        json!([rpc, { "kind": "permutation", "size": 200_000 }])
    };
    let times = |o: &Outcome| {
        (
            integers(o, "trace", "start_ps"),
            integers(o, "trace", "flow"),
            column(o, "trace", "size_bytes").clone(),
        )
    };
    for (name, more, timing) in [
        ("think", json!({ "think": 30_000_000 }), "recorded"),
        ("rate", json!({ "rate": 20_000.0 }), "recorded"),
        ("closed", json!({ "think": 30_000_000 }), "closed_loop"),
        ("busy", json!({}), "closed_loop"),
    ] {
        let [original, again] = twice(name, rpc(more), json!({ "timing": timing }));
        assert_eq!(times(&original), times(&again), "{name}");
        assert_eq!(
            original.summary.fingerprint, again.summary.fingerprint,
            "{name}"
        );
    }
}

#[test]
fn a_slower_network_delays_a_closed_loop_and_not_an_open_one() {
    let text = "kind,src,dst,size_bytes,start,query,think_ps\n\
        get,h0,h1,100000,1 ms,0,\n\
        get,h0,h1,100000,2 ms,1,10\n\
        get,h0,h1,100000,3 ms,2,10\n";
    let file = std::env::temp_dir().join(format!("weft-{}-slow.csv", std::process::id()));
    std::fs::write(&file, text).expect("a file");
    let times = |timing: &str| {
        // 100 kB take 80 ms at 10 Mb/s.
        let outcome = run(
            &spec(json!({
                "topology": { "kind": "star", "hosts": 2, "link": { "rate": 10_000_000 } },
                "measure": { "trace": true },
                "workload": [{ "kind": "trace", "file": file, "timing": timing }],
            })),
            1_000_000,
        );
        assert!(outcome.summary.finished);
        let starts = integers(&outcome, "trace", "start_ps");
        starts
            .into_iter()
            .map(|t| t / 1_000_000_000)
            .collect::<Vec<_>>()
    };
    assert_eq!(times("recorded"), [1, 2, 3]);
    let closed = times("closed_loop");
    assert!(
        closed[0] == 1 && closed[1] > 80 && closed[2] > closed[1] + 79,
        "{closed:?}"
    );
    std::fs::remove_file(file).expect("the file");
}

#[test]
fn messages_need_a_connection() {
    let request = |r: &Request| r.size;
    let file = std::env::temp_dir().join(format!("weft-{}-udp.csv", std::process::id()));
    std::fs::write(&file, "kind,src,dst,size_bytes,start_ps\nset,h0,h1,7,0\n").expect("a file");
    let build = |transport: Value| {
        weft_net::scenario::Scenario::build(&spec(json!({
            "topology": { "kind": "star", "hosts": 2 },
            "transport": transport,
            "workload": [{ "kind": "trace", "file": file }],
        })))
    };
    let scenario = build(json!({ "kind": "tcp" })).expect("valid");
    assert_eq!(
        scenario.requests.iter().map(request).collect::<Vec<_>>(),
        [7]
    );
    let fault = build(json!({ "kind": "udp", "rate": 1000 })).expect_err("no connection");
    assert_eq!(
        fault[0].to_string(),
        "workload[0].transport: a trace with gets or sets keeps connections open that carry messages, and only tcp and mptcp \
         can; take one of them for this workload"
    );
    std::fs::remove_file(file).expect("the file");
}
