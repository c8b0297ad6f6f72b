//! `rocpd_op` and its links to calls.

use super::calls::space;
use super::state::KernelLaunch;
use super::texts::EMPTY;
use super::{RpdWriter, Table};
use crate::native::OpKind;
use rtl_schema::table::{Direction, Dispatch};
use rtl_schema::{NameId, Result, Tables};

/// The call of an op, and whether the source has it.
type Cause = (i64, bool);

impl RpdWriter {
    pub(super) fn all_ops(&mut self, piece: &Tables) -> Result<()> {
        for row in piece.dispatches.iter() {
            let kind = if row.graph { OpKind::Task } else { OpKind::KernelExecution };
            let texts = (self.name(piece, row.name)?, kind.text().0);
            if let Some((call, recorded)) = self.op(piece, true, &row, texts)?
                && (row.shape.is_some() || !recorded)
            {
                let kernel = KernelLaunch { name: row.name, shape: row.shape, track: row.track };
                self.kernel_launch(piece, call, recorded, kernel)?;
            }
        }
        for row in &piece.copies {
            let texts = self.texts_of_copy(piece, row.name, row.direction)?;
            if let Some((call, recorded)) = self.op(piece, false, &row.into(), texts)? {
                self.copy_launch(piece, call, recorded, row)?;
            }
        }
        for row in &piece.barriers {
            let texts = (self.name(piece, row.name)?, OpKind::Barrier.text().0);
            self.op(piece, false, &row.into(), texts)?;
        }
        Ok(())
    }

    /// Description and type of a copy. One that goes by its type has no description; RPD spells directions in several ways: the type keeps the spelling of the source.
    fn texts_of_copy(&mut self, piece: &Tables, name: NameId, direction: Direction) -> Result<(i64, i64)> {
        if name.is_some() && rtl_schema::dialect::copy_type(piece.strings.get(name)) == Some(direction) {
            return Ok((EMPTY, self.name(piece, name)?));
        }
        let (name, kind) = (self.name(piece, name)?, OpKind::of_copy(direction).text().0);
        Ok((if name == kind { EMPTY } else { name }, kind))
    }

    /// Writes an op with its link to a call and returns that; nothing where the op has no end.
    #[inline]
    fn op(
        &mut self,
        piece: &Tables,
        is_kernel: bool,
        op: &Dispatch,
        (name, kind): (i64, i64),
    ) -> Result<Option<Cause>> {
        // Name, shape and graph are used by the caller; RPD has no columns for the others.
        let &Dispatch {
            id: old,
            name: _,
            track: place,
            start,
            duration,
            tid,
            correlation,
            range: _,
            shape: _,
            symbol: _,
            graph: _,
            details: _,
            collective: _,
        } = op;
        let Some(duration) = duration else {
            self.left_out += 1;
            return Ok(None);
        };
        let track = piece.tracks.get(place);
        let (gpu, queue) = (self.numbers.gpu(track.agent), self.places.queue(place));
        let end = start.saturating_add(duration);
        let id = self.integers(Table::Op, [gpu, queue, 0, start, end, name, kind])?;
        let space = space(piece, track.process);
        let ids = if is_kernel { &mut self.ops.dispatches } else { &mut self.ops.others };
        ids.push(space, old, id);
        let cause = match self.calls.with_correlation(space, correlation) {
            Some(call) => (call, true),
            None => {
                let (pid, tid) = (self.numbers.pid(track.process), self.numbers.tid(track.process, tid));
                (self.unrecorded_call(pid, tid, start)?, false)
            }
        };
        self.link(cause.0, id)?;
        Ok(Some(cause))
    }
}
