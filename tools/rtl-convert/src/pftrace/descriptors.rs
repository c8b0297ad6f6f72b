//! Track descriptors: the parent, position and name of each track.

use super::fields::{counter_descriptor, process_descriptor, thread_descriptor, track_descriptor};
use super::proto::Message;
use crate::counter_tracks::CounterTrack;
use crate::layout::TimelineLayout;
use crate::tracks::{self, PerfettoTrack, TrackGroup};

/// A parent track of all GPUs, where their order differs from that of their names: viewers sort top-level tracks by name.
pub fn gpus(uuid: u64, out: &mut Message<'_>) {
    out.number(track_descriptor::UUID, uuid);
    out.text(track_descriptor::NAME, "GPUs");
    out.number(track_descriptor::CHILD_ORDERING, track_descriptor::EXPLICIT);
}

/// The track of a group at position `rank`: a process for groups with threads; for a GPU a track that counts how busy it is,
/// because viewers order processes themselves and sort the tracks below them by name.
pub fn group(
    uuid: u64,
    parent: Option<u64>,
    group: TrackGroup,
    rank: usize,
    layout: &TimelineLayout<'_>,
    out: &mut Message<'_>,
) {
    let name = tracks::group_name(group, layout.tables);
    out.number(track_descriptor::UUID, uuid);
    out.number(track_descriptor::CHILD_ORDERING, track_descriptor::EXPLICIT);
    match group {
        TrackGroup::Agent(_) => {
            out.text(track_descriptor::NAME, &name);
            out.number(track_descriptor::SIBLING_ORDER_RANK, rank as u64);
            out.message(track_descriptor::COUNTER, |counter| {
                counter.text(counter_descriptor::UNIT_NAME, "%")
            });
            if let Some(parent) = parent {
                out.number(track_descriptor::PARENT_UUID, parent);
            }
        }
        TrackGroup::Process(_) => out.message(track_descriptor::PROCESS, |process| {
            process.number(process_descriptor::PID, layout.pid(group));
            process.text(process_descriptor::PROCESS_NAME, &name);
            process.number(process_descriptor::LEGACY_SORT_INDEX, rank as u64);
        }),
    }
}

/// The track of a thread: calls and ranges that nest.
pub fn thread(uuid: u64, tid: u64, track: usize, layout: &TimelineLayout<'_>, out: &mut Message<'_>) {
    let at = &layout.tracks[track];
    out.number(track_descriptor::UUID, uuid);
    out.message(track_descriptor::THREAD, |thread| {
        thread.number(thread_descriptor::PID, layout.pid(at.group));
        thread.number(thread_descriptor::TID, tid);
        // Viewers add the tid.
        if let Some(name) = layout.track_names.thread(at) {
            thread.text(thread_descriptor::THREAD_NAME, name);
        }
        thread.number(thread_descriptor::LEGACY_SORT_INDEX, layout.ranks[track] as u64);
    });
}

/// A lane of a track. Viewers merge all lanes of a track.
pub fn lane(uuid: u64, parent: u64, track: usize, layout: &TimelineLayout<'_>, out: &mut Message<'_>) {
    let at: &PerfettoTrack = &layout.tracks[track];
    out.number(track_descriptor::UUID, uuid);
    out.number(track_descriptor::PARENT_UUID, parent);
    out.text(track_descriptor::NAME, &layout.track_names.track(at));
    out.number(track_descriptor::SIBLING_ORDER_RANK, layout.ranks[track] as u64);
    out.number(track_descriptor::SIBLING_MERGE_BEHAVIOR, track_descriptor::BY_SIBLING_MERGE_KEY);
    out.number(track_descriptor::SIBLING_MERGE_KEY_INT, track as u64 + 1);
}

/// The track of a counter, below all lanes.
pub fn counter_track(
    uuid: u64,
    parent: u64,
    rank: usize,
    counter_track: &CounterTrack,
    out: &mut Message<'_>,
) {
    out.number(track_descriptor::UUID, uuid);
    out.number(track_descriptor::PARENT_UUID, parent);
    out.text(track_descriptor::NAME, &counter_track.name);
    out.number(track_descriptor::SIBLING_ORDER_RANK, rank as u64);
    out.message(track_descriptor::COUNTER, |counter| match counter_track.unit {
        "bytes" => counter.number(counter_descriptor::UNIT, counter_descriptor::SIZE_BYTES),
        "" => {}
        unit => counter.text(counter_descriptor::UNIT_NAME, unit),
    });
}
