//! Rows of ranges and markers, and the application's names of threads, devices and streams.

use rtl_write::{Op, OpKind, StringId, Target};

use super::recording_file::{RecordingFile, thread_row};
use crate::base::abi::RangeKind;
use crate::base::registry::place;
use crate::collect::recorder_state::RecorderState;
use crate::events::ranges::{Annotation, NOT_KEPT, RangeEventKind, Text};

#[derive(Debug, Default)]
pub(super) struct Annotations {
    /// Ids by the number of the text.
    texts: Vec<Option<StringId>>,
    /// Metadata rows that wait for the next publication: a name alone is no reason for a file.
    pub(super) names: Vec<(&'static str, String)>,
}

/// Limit on the names that wait.
const MOST_NAMES: usize = 1 << 16;

impl Annotations {
    pub(super) fn write_range<T: Target>(
        &mut self,
        range: &Annotation,
        file: &mut RecordingFile<T>,
        known: &RecorderState,
    ) -> rtl_schema::Result<()> {
        let &Annotation::Range { number, text, tid, start, end, kind } = range else { return Ok(()) };
        let description = self.text(text, file)?;
        let recording = file.register(tid, None, known)?;
        if text.number == NOT_KEPT.number {
            known.ranges.leave_unnamed();
        }
        recording.push_op(&Op {
            gpu: Some(-1),
            queue: Some(0),
            start,
            end,
            description: Some(description),
            kind: OpKind::UserMarker,
            range: number as i64,
            tid: Some(i64::from(tid)),
            sequence: (kind != RangeKind::Marker).then_some(i64::from(kind == RangeKind::Started)),
            ..Op::default()
        })?;
        Ok(())
    }

    fn text<T: Target>(
        &mut self,
        text: &'static Text,
        file: &mut RecordingFile<T>,
    ) -> rtl_schema::Result<StringId> {
        match place(&mut self.texts, text.number as usize) {
            Some(known) => Ok(*known),
            none => Ok(*none.insert(file.begun()?.intern(&text.spoken())?)),
        }
    }

    pub(super) fn add_name<T>(
        &mut self,
        what: RangeEventKind,
        number: u64,
        text: &'static Text,
        file: &mut RecordingFile<T>,
    ) {
        let name = text.spoken();
        let row = match what {
            RangeEventKind::NameAgent => ("name", named("agent", number, &name)),
            RangeEventKind::NameDevice => ("name", named("hipDevice", number, &name)),
            RangeEventKind::NameStream => ("name", named("hipStream", number, &name)),
            _ => {
                file.threads.insert(number as u32);
                ("thread", thread_row(number as u32, Some(&name)))
            }
        };
        if self.names.len() < MOST_NAMES {
            self.names.push(row);
        }
    }
}

fn named(kind: &str, id: u64, name: &str) -> String {
    serde_json::json!({ "pid": std::process::id(), "kind": kind, "id": id, "name": name }).to_string()
}
