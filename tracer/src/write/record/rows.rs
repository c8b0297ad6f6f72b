//! Writes dispatch rows, with a fast path when only timestamps, grid-x and correlation id change.

use rtl_schema::table::Details;
use rtl_write::{Op, OpKind, Recording, RowDelta, RowTemplate, Target};

use super::naming::KernelColumns;
use crate::collect::dispatch::Dispatch;

/// The last dispatch of a kernel, and how to write similar ones.
#[derive(Debug)]
pub(super) struct Rows {
    pub(super) named: KernelColumns,
    last: Dispatch,
    /// Empty until a launch is repeated.
    template: RowTemplate,
}

impl Rows {
    /// Writes a dispatch that differs from the one before it.
    ///
    /// # Errors
    /// Those of [`NativeWriter::push_op`](rtl_write::NativeWriter::push_op).
    pub(super) fn begin<T: Target>(
        named: KernelColumns,
        dispatch: &Dispatch,
        recording: &mut Recording<T>,
    ) -> rtl_schema::Result<Self> {
        recording.push_op(&op(dispatch, named))?;
        Ok(Self { named, last: *dispatch, template: RowTemplate::default() })
    }

    /// True if a dispatch differs from the last one only in the fields of its [`RowDelta`].
    #[inline]
    pub(super) fn go_on_with(&self, dispatch: &Dispatch) -> bool {
        // The pattern has no "..", so that a new field has to be handled here.
        let Dispatch {
            start: _,
            end: _,
            correlation: _,
            enqueued,
            range,
            kernel,
            queue,
            tid,
            grid: [_, y, z],
            lds,
            scratch,
            workgroup,
            gpu,
        } = dispatch;
        let last = &self.last;
        // The fields that differ most often come first.
        *queue == last.queue
            && *tid == last.tid
            && (*y, *z) == (last.grid[1], last.grid[2])
            && *range == last.range
            && *workgroup == last.workgroup
            && (*lds, *scratch) == (last.lds, last.scratch)
            && (*gpu, *kernel, *enqueued) == (last.gpu, last.kernel, last.enqueued)
    }

    /// Writes a dispatch for which `go_on_with` is true.
    ///
    /// # Errors
    /// Those of [`NativeWriter::push_op`](rtl_write::NativeWriter::push_op).
    #[inline]
    pub(super) fn write<T: Target>(
        &mut self,
        dispatch: &Dispatch,
        recording: &mut Recording<T>,
    ) -> rtl_schema::Result<()> {
        let delta = RowDelta {
            start: dispatch.start,
            end: dispatch.end,
            items: u64::from(dispatch.grid[0]),
            correlation: dispatch.correlation as i64,
        };
        let named = self.named;
        recording.push_op_templated(&mut self.template, delta, || op(dispatch, named))?;
        Ok(())
    }
}

fn op(dispatch: &Dispatch, named: KernelColumns) -> Op {
    Op {
        gpu: Some(i64::from(dispatch.gpu)),
        queue: Some(i64::from(dispatch.queue.0)),
        start: dispatch.start,
        end: Some(dispatch.end),
        description: Some(named.text),
        kind: OpKind::KernelExecution,
        range: dispatch.range as i64,
        items: Some(dispatch.grid.map(u64::from)),
        workgroup: Some(dispatch.workgroup.map(u32::from)),
        tid: Some(i64::from(dispatch.tid)),
        correlation: dispatch.correlation as i64,
        symbol: named.symbol,
        lds: Some(dispatch.lds),
        scratch: Some(dispatch.scratch),
        details: Details::with_enqueued(Some(dispatch.enqueued).filter(|&moment| moment != 0)),
        ..Op::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::dispatch::{KernelId, QueueOrdinal};

    type Result<T = ()> = std::result::Result<T, Box<dyn std::error::Error>>;

    const FIRST: Dispatch = Dispatch {
        start: 1 << 41,
        end: (1 << 41) + 300,
        correlation: 70_000,
        enqueued: 0,
        range: 3,
        kernel: KernelId(5),
        queue: QueueOrdinal(1),
        tid: 4711,
        grid: [256, 4, 1],
        lds: 64,
        scratch: 16,
        workgroup: [64, 2, 1],
        gpu: 2,
    };

    /// Dispatches each of which differs from the first in a field that similar dispatches share.
    fn others() -> [Dispatch; 9] {
        [
            Dispatch { range: 4, ..FIRST },
            Dispatch { queue: QueueOrdinal(2), ..FIRST },
            Dispatch { tid: 4712, ..FIRST },
            Dispatch { grid: [256, 5, 1], ..FIRST },
            Dispatch { grid: [256, 4, 2], ..FIRST },
            Dispatch { lds: 65, ..FIRST },
            Dispatch { scratch: 17, ..FIRST },
            Dispatch { workgroup: [64, 2, 2], ..FIRST },
            Dispatch { gpu: 3, ..FIRST },
        ]
    }

    /// Dispatches that are similar: later, with a larger grid, and at last with times that take more bytes.
    fn later(dispatch: Dispatch) -> [Dispatch; 4] {
        let step = |by: i64, items| Dispatch {
            start: dispatch.start + by,
            end: dispatch.end + 2 * by,
            correlation: dispatch.correlation + 1,
            grid: [items, dispatch.grid[1], dispatch.grid[2]],
            ..dispatch
        };
        [step(700, 256), step(1_400, 512), step(2_100, 1 << 20), step(1 << 50, 256)]
    }

    #[test]
    fn rows_are_those_of_the_long_way_whatever_changes() -> Result {
        let folder = tempfile::tempdir()?;
        let (long, short) = (folder.path().join("long.db"), folder.path().join("short.db"));
        let mut recordings = (Recording::create(&long, None)?, Recording::create(&short, None)?);
        let named = KernelColumns { text: recordings.0.intern("alpha")?, symbol: None };
        assert_eq!(recordings.1.intern("alpha")?, named.text);
        let mut rows: Option<Rows> = None;
        let mut repeated = 0;
        for dispatch in others().into_iter().flat_map(|other| [FIRST, other]) {
            for dispatch in [dispatch].into_iter().chain(later(dispatch)) {
                recordings.0.push_op(&op(&dispatch, named))?;
                match &mut rows {
                    Some(rows) if rows.go_on_with(&dispatch) => {
                        repeated += 1;
                        rows.write(&dispatch, &mut recordings.1)?;
                    }
                    _ => rows = Some(Rows::begin(named, &dispatch, &mut recordings.1)?),
                }
            }
        }
        assert_eq!(repeated, 18 * 4, "all that differ from the one before in their own numbers");
        recordings.0.publish(&[])?;
        recordings.1.publish(&[])?;
        assert!(std::fs::read(long)? == std::fs::read(short)?);
        Ok(())
    }
}
