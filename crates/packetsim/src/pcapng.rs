//! Blocks of a pcapng file (draft-ietf-opsawg-pcapng), in nanoseconds: one section, an interface per link.

/// Ethernet.
const LINK_TYPE: u16 = 1;

/// The block that begins the file.
pub(crate) fn section(out: &mut Vec<u8>, application: &str, comment: &str) {
    let mut body = Vec::new();
    body.extend(0x1a2b_3c4d_u32.to_le_bytes());
    body.extend(1_u16.to_le_bytes());
    body.extend(0_u16.to_le_bytes());
    // Length of the section: not said.
    body.extend(u64::MAX.to_le_bytes());
    option(&mut body, 1, comment.as_bytes());
    option(&mut body, 4, application.as_bytes());
    option(&mut body, 0, &[]);
    block(out, 0x0a0d_0d0a, &body);
}

/// An interface; they are numbered in the order of their blocks. `snaplen` 0 is no limit.
pub(crate) fn interface(out: &mut Vec<u8>, name: &str, rate_bps: u64, snaplen: u32) {
    let mut body = Vec::new();
    body.extend(LINK_TYPE.to_le_bytes());
    body.extend(0_u16.to_le_bytes());
    body.extend(snaplen.to_le_bytes());
    option(&mut body, 2, name.as_bytes());
    option(&mut body, 8, &rate_bps.to_le_bytes());
    // Times are in 10^-9 s.
    option(&mut body, 9, &[9]);
    option(&mut body, 0, &[]);
    block(out, 1, &body);
}

/// A packet that left an interface at `time_ns`; `captured` is the beginning of its `length` bytes.
pub(crate) fn packet(
    out: &mut Vec<u8>,
    interface: u32,
    time_ns: u64,
    captured: &[u8],
    length: u32,
) {
    let padding = captured.len().next_multiple_of(4) - captured.len();
    let total = (32 + captured.len() + padding) as u32;
    for word in [
        6,
        total,
        interface,
        (time_ns >> 32) as u32,
        time_ns as u32,
        captured.len() as u32,
        length,
    ] {
        out.extend(word.to_le_bytes());
    }
    out.extend(captured);
    out.extend(&[0; 3][..padding]);
    out.extend(total.to_le_bytes());
}

fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    body.extend(code.to_le_bytes());
    body.extend((value.len() as u16).to_le_bytes());
    body.extend(value);
    body.resize(body.len().next_multiple_of(4), 0);
}

fn block(out: &mut Vec<u8>, kind: u32, body: &[u8]) {
    let total = (12 + body.len()) as u32;
    out.extend(kind.to_le_bytes());
    out.extend(total.to_le_bytes());
    out.extend(body);
    out.extend(total.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_say_their_length_at_both_ends_and_fill_whole_words() {
        let mut out = Vec::new();
        section(&mut out, "weft", "run");
        interface(&mut out, "a>b", 10, 96);
        packet(&mut out, 0, 5 << 32 | 7, &[1, 2, 3, 4, 5], 9);
        let (mut at, mut kinds) = (0, Vec::new());
        while at < out.len() {
            let word = |i: usize| u32::from_le_bytes(out[i..i + 4].try_into().unwrap());
            let total = word(at + 4) as usize;
            assert_eq!((total % 4, word(at + total - 4) as usize), (0, total));
            kinds.push(word(at));
            if kinds.len() == 3 {
                assert_eq!(total, 32 + 8);
                assert_eq!([2, 3, 4, 5, 6].map(|i| word(at + 4 * i)), [0, 5, 7, 5, 9]);
            }
            at += total;
        }
        assert_eq!(kinds, [0x0a0d_0d0a, 1, 6]);
    }
}
