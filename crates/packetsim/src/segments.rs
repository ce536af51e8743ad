//! How the payload of a flow is cut into segments.

use weft_net::transport::Transport;

/// Payload of a full segment; a window smaller than that makes the segments smaller.
pub(crate) fn segment_bytes(mtu: u32, transport: &Transport) -> u16 {
    let most = u64::from(mtu - transport.header_bytes());
    match transport.tcp().map_or(0, |t| t.receive_window.0) {
        0 => most as u16,
        window => most.min(window) as u16,
    }
}

/// Segments of a flow, and the payload of the last one.
pub(crate) fn segments(size: Option<u64>, mss: u16) -> (u32, u16) {
    let Some(size) = size else {
        return (u32::MAX, mss);
    };
    let mss = u64::from(mss);
    let count = size.div_ceil(mss).max(1);
    (
        u32::try_from(count).expect("checked when the scenario is taken"),
        (size - (count - 1) * mss) as u16,
    )
}
