//! Rows of ranges and markers, and what the application calls its threads, devices and streams.

use rtl_write::{Op, OpKind, StringId, Target};

use super::close::Close;
use super::copies_and_barriers::RANGES;
use super::session::{Session, thread_row};
use crate::base::abi::RangeKind;
use crate::base::counters::Lost;
use crate::base::registry::place;
use crate::events::ranges::{Annotation, NOT_KEPT, Text, What};

/// What a session knows of them.
#[derive(Debug, Default)]
pub(super) struct Annotations {
    /// By the text's number.
    texts: Vec<Option<StringId>>,
    /// Metadata rows that wait for the next publication: a name alone is no reason for a file.
    pub(super) names: Vec<(&'static str, String)>,
}

/// Names that wait at most.
const MOST_NAMES: usize = 1 << 16;

impl<T: Target + Close> Session<T> {
    /// RecordSink an annotation or counts it as lost.
    pub(super) fn annotate(&mut self, annotation: &Annotation) {
        match *annotation {
            Annotation::Untracked => self.known.ranges.lose(Lost::Bounds, 1),
            Annotation::Name { what, number, text } if self.over.is_none() => self.name(what, number, text),
            Annotation::Name { .. } => {}
            Annotation::Range { .. } => {
                if self.over.is_none()
                    && let Err(error) = self.write_range(annotation)
                {
                    self.fail(&error);
                }
                self.count(RANGES);
            }
        }
    }

    fn write_range(&mut self, range: &Annotation) -> rtl_schema::Result<()> {
        let &Annotation::Range { number, text, tid, start, end, kind } = range else { return Ok(()) };
        let description = self.text(text)?;
        let recording = self.file.register(tid, None, &self.known)?;
        if text.number == NOT_KEPT.number {
            self.known.ranges.leave_unnamed();
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

    fn text(&mut self, text: &'static Text) -> rtl_schema::Result<StringId> {
        match place(&mut self.annotations.texts, text.number as usize) {
            Some(known) => Ok(*known),
            none => Ok(*none.insert(self.file.begun()?.intern(&text.spoken())?)),
        }
    }

    fn name(&mut self, what: What, number: u64, text: &'static Text) {
        let name = text.spoken();
        let row = match what {
            What::NameAgent => ("name", named("agent", number, &name)),
            What::NameDevice => ("name", named("hipDevice", number, &name)),
            What::NameStream => ("name", named("hipStream", number, &name)),
            _ => {
                self.file.threads.insert(number as u32);
                ("thread", thread_row(number as u32, Some(&name)))
            }
        };
        if self.annotations.names.len() < MOST_NAMES {
            self.annotations.names.push(row);
        }
    }
}

fn named(kind: &str, id: u64, name: &str) -> String {
    serde_json::json!({ "pid": std::process::id(), "kind": kind, "id": id, "name": name }).to_string()
}
