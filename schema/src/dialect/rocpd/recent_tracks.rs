//! A cache of tracks by the place of a row.

use crate::{ProcessId, TrackId};

/// The number of slots.
const SLOTS: usize = 256;

/// The key of tracks of rows without a stream. It has fields in place of an option, so that two of them are compared in a few
/// steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    gpu: i64,
    queue: i64,
    /// 0 where it is not known.
    hardware_queue: u64,
    process: ProcessId,
    hardware: Hardware,
}

/// A hardware queue may be recorded or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
enum Hardware {
    /// No row has it: the slot is free.
    Free,
    Unknown,
    Recorded,
}

impl Place {
    /// The place of a row.
    #[inline(always)]
    pub(super) fn new(gpu: i64, queue: i64, process: ProcessId, hardware_queue: Option<u64>) -> Self {
        let hardware = if hardware_queue.is_some() { Hardware::Recorded } else { Hardware::Unknown };
        Self { gpu, queue, hardware_queue: hardware_queue.unwrap_or(0), process, hardware }
    }

    /// The slot of the track. Some tools number queues by their addresses, which differ in higher bits. Of copies no hardware queue is
    /// known: they would take turns with the dispatches of their queue.
    #[inline(always)]
    fn slot(&self) -> usize {
        let queue = self.queue.wrapping_add(self.queue >> 12).wrapping_add(self.queue >> 21);
        let place = self.gpu.wrapping_mul(16).wrapping_add(queue).wrapping_add(5 * i64::from(self.process.0));
        let half = if self.hardware == Hardware::Recorded { SLOTS / 2 } else { 0 };
        place as usize % (SLOTS / 2) + half
    }
}

/// Tracks of rows without a stream.
#[derive(Debug, Default)]
pub(super) struct RecentTracks {
    /// Empty until the first track is added.
    slots: Vec<(Place, TrackId)>,
}

impl RecentTracks {
    /// The track of a place, if it is cached.
    #[inline(always)]
    pub(super) fn find(&self, place: Place) -> Option<TrackId> {
        let (known, track) = *self.slots.get(place.slot())?;
        (known == place).then_some(track)
    }

    /// Adds the track of a place.
    pub(super) fn add(&mut self, place: Place, track: TrackId) {
        let free = Place { hardware: Hardware::Free, ..place };
        self.slots.resize(SLOTS, (free, track));
        self.slots[place.slot()] = (place, track);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_track_is_found_by_its_place_alone() {
        let place = Place::new(1, 2, ProcessId(3), Some(0));
        let mut recent = RecentTracks::default();
        assert_eq!(recent.find(place), None);
        recent.add(place, TrackId(7));
        assert_eq!(recent.find(place), Some(TrackId(7)));
        let others = [
            Place::new(2, 2 - 16, ProcessId(3), Some(0)),
            Place::new(1, 2 + 5, ProcessId(2), Some(0)),
            Place::new(1, 2, ProcessId(3), Some(1)),
            Place::new(1, 2, ProcessId(3), None),
            Place::new(0, 0, ProcessId(0), None),
        ];
        assert_eq!(others.map(|other| recent.find(other)), [None; 5]);
    }

    #[test]
    fn copies_do_not_take_the_slot_of_the_dispatches_of_their_queue() {
        for queue in [0, 1, 7, 0x7f3a_4c20_1000, i64::MAX, i64::MIN] {
            let place = |hardware_queue| Place::new(3, queue, ProcessId(1), hardware_queue);
            assert_ne!(place(None).slot(), place(Some(0x7f3a_4c20_1000)).slot());
            assert!(place(None).slot().max(place(Some(0)).slot()) < SLOTS);
        }
    }
}
