//! The processes that made the events of a document, the GPUs that a process id stands for in GPU events, and the
//! collectives that an external id stands for.

use rustc_hash::FxHashMap;

use super::event::Event;
use super::scalar::{numbered, unsigned, whole};
use crate::{AgentId, CollectiveId, ProcessId};

/// A process as events name it: `2774`, or `[TP00] 2774` in files that a tool has merged.
#[derive(Debug, Default)]
pub(super) struct Source {
    pub(super) raw: Vec<u8>,
    pub(super) id: ProcessId,
    /// The text before the number.
    pub(super) prefix: String,
    pub(super) pid: Option<i64>,
    /// The rank that its events state.
    pub(super) rank: Option<u32>,
}

/// A GPU as events name it, by its process id and its number.
#[derive(Debug, Default)]
pub(super) struct Place {
    pid: Vec<u8>,
    device: Vec<u8>,
    pub(super) prefix: String,
    /// The number of the GPU within its process.
    pub(super) number: i64,
    pub(super) rank: Option<u32>,
}

/// Collectives and kernels of one document that an external id ties together.
#[derive(Debug, Default)]
pub(super) struct StatedCollectives {
    /// Collectives that operators state.
    pub(super) stated: Vec<(i64, CollectiveId)>,
    /// Rows of kernels that may execute one.
    pub(super) kernels: Vec<(i64, u32)>,
}

/// The processes and GPUs of one document.
#[derive(Debug, Default)]
pub(super) struct Sources {
    pub(super) processes: Vec<Source>,
    pub(super) places: Vec<Place>,
    /// Positions of processes by their process id, and of places by process id and device.
    process_positions: FxHashMap<Vec<u8>, usize>,
    place_positions: FxHashMap<(Vec<u8>, Vec<u8>), usize>,
    /// Positions of the last ones, which most events repeat.
    last: (usize, usize),
}

impl Sources {
    /// The process of a host event; `next` is the id of a new one.
    #[inline]
    pub(super) fn process(&mut self, event: &Event<'_>, next: impl FnOnce() -> ProcessId) -> ProcessId {
        if let Some(source) = self.processes.get(self.last.0)
            && source.raw == event.pid
        {
            return source.id;
        }
        self.other_process(event, next)
    }

    #[cold]
    fn other_process(&mut self, event: &Event<'_>, next: impl FnOnce() -> ProcessId) -> ProcessId {
        let Self { processes, process_positions, .. } = self;
        let position = process_positions.get(event.pid).copied().unwrap_or_else(|| {
            let (prefix, pid) = numbered(event.pid);
            let rank = unsigned(event.arguments.rank);
            process_positions.insert(event.pid.to_vec(), processes.len());
            processes.push(Source { raw: event.pid.to_vec(), id: next(), prefix, pid, rank });
            processes.len() - 1
        });
        self.last.0 = position;
        self.processes[position].id
    }

    /// The position of the GPU of a device event, in the place of its agent.
    #[inline]
    pub(super) fn place(&mut self, event: &Event<'_>) -> AgentId {
        let is_of = |place: &Place| place.pid == event.pid && place.device == event.arguments.device;
        if !self.places.get(self.last.1).is_some_and(is_of) {
            self.last.1 = self.other_place(event);
        }
        AgentId(self.last.1 as u32)
    }

    /// The position of the GPU of an event that states its process id alone.
    pub(super) fn place_of_process(&mut self, event: &Event<'_>) -> AgentId {
        let is_of = |place: &Place| place.pid == event.pid;
        match self.places.iter().position(is_of).filter(|_| event.arguments.device.is_empty()) {
            Some(position) => AgentId(position as u32),
            None => self.place(event),
        }
    }

    #[cold]
    fn other_place(&mut self, event: &Event<'_>) -> usize {
        let key = (event.pid.to_vec(), event.arguments.device.to_vec());
        let places = &mut self.places;
        *self.place_positions.entry(key).or_insert_with_key(|(pid, device)| {
            let (prefix, number) = numbered(event.pid);
            places.push(Place {
                pid: pid.clone(),
                device: device.clone(),
                prefix,
                number: whole(event.arguments.device).or(number).unwrap_or(0),
                rank: unsigned(event.arguments.rank),
            });
            places.len() - 1
        })
    }
}

/// The rank in a text as `rank3`, `rank-3` or `rank_3`; of several the last one.
pub(super) fn rank_in(text: &str) -> Option<u32> {
    let text = text.to_ascii_lowercase();
    let after = &text[text.rfind("rank")? + 4..];
    let digits = after.trim_start_matches(['-', '_', '.', ' ', '=']);
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_states_a_rank() {
        for (name, rank) in [
            ("gpt-dist_overlap-rank12.json.gz", Some(12)),
            ("rank_3.json", Some(3)),
            ("RANK-0.1699.pt.trace.json", Some(0)),
            ("ranking.json", None),
            ("trace.json", None),
        ] {
            assert_eq!(rank_in(name), rank, "{name}");
        }
    }
}
