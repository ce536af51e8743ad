//! The buffer of a switch: shared by all its ports, counted by where packets came in.
//!
//! A class of an ingress port holds bytes of the shared part up to its threshold, then its headroom. While it holds headroom, or more than
//! its threshold (which falls as the buffer fills), the port on the other side is paused. The packet that brings about the pause is the last
//! in the shared part, if that has room: headroom is for what comes after. Bytes leave the headroom first.

use crate::flow_control::pfc::Pfc;

/// One class of an ingress port.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ingress {
    pub(super) shared: u64,
    pub(super) in_headroom: u64,
    headroom: u64,
    pub(super) is_pausing: bool,
    is_lossless: bool,
}

impl Ingress {
    /// `headroom` of a lossless class; `None` of one that drops.
    pub(super) fn new(headroom: Option<u64>) -> Self {
        Self {
            headroom: headroom.unwrap_or(0),
            is_lossless: headroom.is_some(),
            ..Self::default()
        }
    }

    pub(super) fn held(&self) -> u64 {
        self.shared + self.in_headroom
    }
}

/// The shared part of one switch's buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shared {
    size: u64,
    used: u64,
    alpha: f64,
    xoff: Option<u64>,
    xon_offset: u64,
}

impl Shared {
    /// What headroom leaves of the buffer.
    pub(super) fn new(pfc: &Pfc, headroom: u64) -> Self {
        Self {
            size: pfc.buffer.0.saturating_sub(headroom),
            used: 0,
            alpha: pfc.alpha,
            xoff: pfc.xoff.map(|x| x.0),
            xon_offset: pfc.xon_offset.0,
        }
    }

    pub(super) fn used(&self) -> u64 {
        self.used
    }

    /// What one class may hold now.
    pub(super) fn threshold(&self) -> u64 {
        let free = (self.alpha * (self.size - self.used) as f64) as u64;
        self.xoff.map_or(free, |xoff| xoff.min(self.size))
    }

    /// Takes a packet in, if there is room.
    #[inline]
    pub(super) fn admit(&mut self, ingress: &mut Ingress, bytes: u64) -> bool {
        let has_room = self.used + bytes <= self.size;
        if !ingress.is_lossless {
            if has_room {
                ingress.shared += bytes;
                self.used += bytes;
            }
            return has_room;
        }
        let is_before = !ingress.is_pausing || ingress.shared < self.threshold();
        if has_room && ingress.in_headroom == 0 && is_before {
            ingress.shared += bytes;
            self.used += bytes;
            return true;
        }
        let fits = ingress.in_headroom + bytes <= ingress.headroom;
        if fits {
            ingress.in_headroom += bytes;
        }
        fits
    }

    /// A packet has left.
    #[inline]
    pub(super) fn release(&mut self, ingress: &mut Ingress, bytes: u64) {
        let from_headroom = bytes.min(ingress.in_headroom);
        ingress.in_headroom -= from_headroom;
        ingress.shared -= bytes - from_headroom;
        self.used -= bytes - from_headroom;
    }

    /// Whether the other side must be told something: to stop (true) or to go on (false).
    #[inline]
    pub(super) fn signal(&self, ingress: &mut Ingress) -> Option<bool> {
        if !ingress.is_lossless {
            return None;
        }
        let threshold = self.threshold();
        let changed = if ingress.is_pausing {
            ingress.in_headroom == 0
                && ingress.shared + self.xon_offset <= threshold.max(self.xon_offset)
        } else {
            ingress.in_headroom > 0 || ingress.shared >= threshold
        };
        if changed {
            ingress.is_pausing = !ingress.is_pausing;
        }
        changed.then_some(ingress.is_pausing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_net::kinds::Describe;
    use weft_net::units::Bytes;

    #[test]
    fn a_class_pauses_at_its_threshold_and_uses_headroom_after() {
        let pfc = Pfc {
            buffer: Bytes(100_000),
            xoff: Some(Bytes(10_000)),
            ..Pfc::defaults()
        };
        let mut shared = Shared::new(&pfc, 5_000);
        let mut ingress = Ingress::new(Some(5_000));
        let mut signals = Vec::new();
        for _ in 0..10 {
            assert!(shared.admit(&mut ingress, 1_500));
            signals.push(shared.signal(&mut ingress));
        }
        // 7 x 1500 reach 10,000; three more fill 4,500 of the headroom.
        assert_eq!(signals.iter().position(|s| *s == Some(true)), Some(6));
        assert_eq!(signals.iter().flatten().count(), 1);
        assert_eq!((ingress.shared, ingress.in_headroom), (10_500, 4_500));
        assert!(!shared.admit(&mut ingress, 1_500));
        let mut freed = 0;
        while shared.signal(&mut ingress).is_none() {
            shared.release(&mut ingress, 1_500);
            freed += 1;
        }
        // Headroom first, then down to 10,000 - 3,000.
        assert_eq!((freed, ingress.shared), (6, 6_000));
        assert!(!ingress.is_pausing);
    }

    #[test]
    fn the_threshold_falls_as_the_buffer_fills() {
        let pfc = Pfc {
            buffer: Bytes(90_000),
            alpha: 1.0,
            ..Pfc::defaults()
        };
        let mut shared = Shared::new(&pfc, 0);
        let mut ingress = Ingress::new(Some(0));
        let mut held = 0;
        while shared.admit(&mut ingress, 1_000) {
            held += 1;
            shared.signal(&mut ingress);
        }
        // One class holds alpha / (1 + alpha) of the buffer, and pauses.
        assert_eq!(held, 45);
        let mut lossy = Ingress::new(None);
        assert!(shared.admit(&mut lossy, 45_000) && !shared.admit(&mut lossy, 1));
    }
}
