//! GPU ops as Perfetto's render stages: one packet an op, which Perfetto itself places in lanes.

use super::fields::{
    SEQUENCE, gpu_specification, graphics_context, interned_data, launch, packet, render_stage,
    sequence_flags, trace,
};
use super::interning::Interning;
use super::proto::Message;
use crate::event::{Event, Kind};
use crate::layout::TimelineLayout;
use crate::tracks::{self, TrackGroup};

#[inline]
pub fn is_stage(event: &Event, layout: &TimelineLayout<'_>) -> bool {
    layout.options.gpu_events
        && event.kind != Kind::Idle
        && matches!(layout.tracks[event.track as usize].group, TrackGroup::Agent(_))
}

/// Writes an op as stage number `id`, `step` ns after the previous packet.
pub fn write(event: &Event, id: u64, step: u64, layout: &TimelineLayout<'_>, page: &mut Vec<u8>) {
    let track = event.track as usize;
    let at = &layout.tracks[track];
    Message(page).message(trace::PACKET, |out| {
        out.number(packet::TIMESTAMP, step);
        out.number(packet::TRUSTED_PACKET_SEQUENCE_ID, SEQUENCE);
        out.message(packet::GPU_RENDER_STAGE_EVENT, |out| {
            out.number(render_stage::EVENT_ID, id);
            out.number(render_stage::DURATION, event.duration.unsigned_abs());
            out.number(render_stage::CONTEXT, context(at.process.index()));
            if let TrackGroup::Agent(agent) = at.group {
                out.signed(render_stage::GPU_ID, layout.tables.agent(agent).number);
            }
            out.number(render_stage::HW_QUEUE_IID, queue(track));
            out.number(render_stage::STAGE_IID, stage(layout.event_names.number(event), layout));
            if let Some(shape) = event.shape.filter(|_| !layout.options.no_args) {
                let shape = layout.tables.shapes.get(shape);
                out.message(render_stage::LAUNCH, |out| {
                    axes(launch::GRID_SIZE, shape.groups, out);
                    axes(launch::WORKGROUP_SIZE, shape.workgroup.map(|axes| axes.map(u64::from)), out);
                });
            }
        });
        out.number(packet::SEQUENCE_FLAGS, sequence_flags::NEEDS_INCREMENTAL_STATE);
    });
}

#[derive(Debug)]
pub struct Specifications {
    known: Vec<bool>,
    contexts: Vec<bool>,
}

impl Specifications {
    pub fn new(layout: &TimelineLayout<'_>) -> Self {
        Self {
            known: vec![false; layout.tracks.len() + layout.event_names.count()],
            contexts: vec![false; layout.tables.processes.len()],
        }
    }

    pub fn add(&mut self, event: &Event, layout: &TimelineLayout<'_>, interning: &mut Interning) {
        let track = event.track as usize;
        let at = &layout.tracks[track];
        // Perfetto versions without several GPUs would merge queues of equal names.
        self.specification(queue(track), interning, || {
            format!("{} {}", tracks::group_name(at.group, layout.tables), layout.track_names.track(at))
        });
        // Older versions show no name but that of the stage.
        let event_name = layout.event_names.number(event);
        self.specification(stage(event_name, layout), interning, || {
            layout.event_names.text(event_name).into_owned()
        });
        self.context(at.process.index(), layout, interning);
    }

    fn specification(&mut self, iid: u64, interning: &mut Interning, name: impl FnOnce() -> String) {
        if !std::mem::replace(&mut self.known[iid as usize - 1], true) {
            interning.entry(interned_data::GPU_SPECIFICATIONS, |entry| {
                entry.number(gpu_specification::IID, iid);
                entry.text(gpu_specification::NAME, &name());
                entry.number(gpu_specification::CATEGORY, gpu_specification::COMPUTE);
            });
        }
    }

    fn context(&mut self, process: usize, layout: &TimelineLayout<'_>, interning: &mut Interning) {
        if !std::mem::replace(&mut self.contexts[process], true) {
            interning.entry(interned_data::GRAPHICS_CONTEXTS, |entry| {
                entry.number(graphics_context::IID, context(process));
                if let Some(pid) = layout.tables.processes[process].pid {
                    entry.signed(graphics_context::PID, pid);
                }
                entry.number(graphics_context::API, graphics_context::HIP);
            });
        }
    }
}

/// The number of the specification of a queue. Queues and kernels share one numbering.
fn queue(track: usize) -> u64 {
    track as u64 + 1
}

/// The number of the specification of a stage by the number of its name.
fn stage(name: usize, layout: &TimelineLayout<'_>) -> u64 {
    (layout.tracks.len() + name) as u64 + 1
}

fn context(process: usize) -> u64 {
    process as u64 + 1
}

fn axes(field: u32, axes: Option<[u64; 3]>, out: &mut Message<'_>) {
    if let Some(axes) = axes {
        out.message(field, |out| (1..).zip(axes).for_each(|(axis, size)| out.number(axis, size)));
    }
}
