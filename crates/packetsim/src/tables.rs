//! The tables `links`, `queues` and `paths`.

use weft_net::results::{self, Column, LinkRow, Table, link_names};
use weft_net::units::Time;

use crate::outcome::{QueueCount, Tally};

pub(crate) fn links(tally: &Tally<'_>) -> Table {
    let Tally {
        scenario, probe, ..
    } = *tally;
    let window = tally.window() as f64;
    results::links(scenario, |i| {
        let link = &tally.links[i];
        let until = probe.busy_until.get(i).copied().unwrap_or(link.busy);
        let before = probe.busy_before.get(i).copied().unwrap_or(0);
        LinkRow {
            tx_bytes: link.tx_bytes,
            tx_packets: Some(link.tx_packets),
            busy: link.busy,
            utilization: (window > 0.0).then(|| until.saturating_sub(before) as f64 / window),
            lost_packets: Some(link.lost),
        }
    })
}

pub(crate) fn queues(tally: &Tally<'_>) -> Table {
    let queues = &tally.queues;
    let integer = |f: &dyn Fn(&QueueCount) -> u64| {
        Column::Integer(queues.iter().map(|q| f(q) as i64).collect())
    };
    let columns = vec![
        (
            "link",
            Column::Word(
                queues.iter().map(|q| Some(q.link)).collect(),
                link_names(tally.scenario),
            ),
        ),
        ("priority", integer(&|q| u64::from(q.priority))),
        ("enqueued_packets", integer(&|q| q.enqueued)),
        ("dropped_packets", integer(&|q| q.dropped)),
        ("marked_packets", integer(&|q| q.marked)),
        ("max_bytes", integer(&|q| q.max_bytes)),
        (
            "mean_bytes",
            Column::Real(queues.iter().map(|q| q.mean_bytes).collect()),
        ),
        (
            "mean_wait_ns",
            Column::OptionalReal(queues.iter().map(|q| q.mean_wait_ns).collect()),
        ),
        ("paused_ns", integer(&|q| Time(q.paused).as_ns())),
    ];
    Table {
        name: "queues",
        columns,
    }
}

pub(crate) fn paths(tally: &Tally<'_>) -> Table {
    let turned = tally.turned.iter();
    results::paths(
        tally.scenario,
        |id| tally.records[id as usize].wire_bytes,
        turned.map(|(id, path, carried)| (*id, path.as_slice(), *carried)),
    )
}
