//! GPU ops as Perfetto's render stages: one packet an op, which Perfetto itself places in lanes.

use super::fields::{
    SEQUENCE, gpu_specification, graphics_context, interned_data, launch, packet, render_stage,
    sequence_flags, trace,
};
use super::interning::Interning;
use super::proto::Message;
use crate::event::Event;
use crate::layout::TimelineLayout;
use crate::tracks::{self, TrackGroup};

/// The specifications written so far. Queues and kernels share one numbering.
#[derive(Debug)]
pub struct Stages {
    known: Vec<bool>,
    contexts: Vec<bool>,
    events: u64,
}

impl Stages {
    /// No specification so far.
    pub fn new(layout: &TimelineLayout<'_>) -> Self {
        Self {
            known: vec![false; layout.tracks.len() + layout.event_names.count()],
            contexts: vec![false; layout.tables.processes.len()],
            events: 0,
        }
    }

    /// Writes an op `step` ns after the previous packet.
    pub fn event(
        &mut self,
        event: &Event,
        step: u64,
        layout: &TimelineLayout<'_>,
        interning: &mut Interning,
        page: &mut Vec<u8>,
    ) {
        let track = event.track as usize;
        let at = &layout.tracks[track];
        // Perfetto versions without several GPUs would merge queues of equal names.
        let queue = self.specification(track, interning, || {
            format!(
                "{} {}",
                tracks::group_name(at.group, layout.tables),
                tracks::track_name(at, layout.tables)
            )
        });
        // Older versions show no name but that of the stage.
        let event_name = layout.event_names.number(event);
        let stage = self.specification(layout.tracks.len() + event_name, interning, || {
            layout.event_names.text(event_name).into_owned()
        });
        let context = self.context(at.process.index(), layout, interning);
        self.events += 1;
        Message(page).message(trace::PACKET, |out| {
            out.number(packet::TIMESTAMP, step);
            out.number(packet::TRUSTED_PACKET_SEQUENCE_ID, SEQUENCE);
            out.message(packet::GPU_RENDER_STAGE_EVENT, |out| {
                out.number(render_stage::EVENT_ID, self.events);
                out.number(render_stage::DURATION, event.duration.unsigned_abs());
                out.number(render_stage::CONTEXT, context);
                if let TrackGroup::Agent(agent) = at.group {
                    out.signed(render_stage::GPU_ID, layout.tables.agent(agent).number);
                }
                out.number(render_stage::HW_QUEUE_IID, queue);
                out.number(render_stage::STAGE_IID, stage);
                if let Some(shape) = event.shape.filter(|_| !layout.options.no_args) {
                    let shape = layout.tables.shapes.get(shape);
                    out.message(render_stage::LAUNCH, |out| {
                        axes(launch::GRID_SIZE, shape.groups, out);
                        axes(launch::WORKGROUP_SIZE, shape.workgroup.map(|axes| axes.map(u64::from)), out);
                    });
                }
            });
            interning.bring(out);
            out.number(packet::SEQUENCE_FLAGS, sequence_flags::NEEDS_INCREMENTAL_STATE);
        });
    }

    fn specification(
        &mut self,
        number: usize,
        interning: &mut Interning,
        name: impl FnOnce() -> String,
    ) -> u64 {
        let iid = number as u64 + 1;
        if !std::mem::replace(&mut self.known[number], true) {
            interning.entry(interned_data::GPU_SPECIFICATIONS, |entry| {
                entry.number(gpu_specification::IID, iid);
                entry.text(gpu_specification::NAME, &name());
                entry.number(gpu_specification::CATEGORY, gpu_specification::COMPUTE);
            });
        }
        iid
    }

    fn context(&mut self, process: usize, layout: &TimelineLayout<'_>, interning: &mut Interning) -> u64 {
        let iid = process as u64 + 1;
        if !std::mem::replace(&mut self.contexts[process], true) {
            interning.entry(interned_data::GRAPHICS_CONTEXTS, |entry| {
                entry.number(graphics_context::IID, iid);
                if let Some(pid) = layout.tables.processes[process].pid {
                    entry.signed(graphics_context::PID, pid);
                }
                entry.number(graphics_context::API, graphics_context::HIP);
            });
        }
        iid
    }
}

fn axes(field: u32, axes: Option<[u64; 3]>, out: &mut Message<'_>) {
    if let Some(axes) = axes {
        out.message(field, |out| (1..).zip(axes).for_each(|(axis, size)| out.number(axis, size)));
    }
}
