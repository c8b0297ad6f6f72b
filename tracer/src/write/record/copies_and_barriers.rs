//! Writes rows of copies and barriers.

use rtl_schema::table::Details;
use rtl_write::{Op, OpKind, Target};

use super::recording_file::RecordingFile;
use crate::collect::copy_or_barrier::{Copy, CopyOrBarrier, CopyOrBarrierKind};
use crate::collect::recorder_state::RecorderState;

pub(super) fn write_copy_or_barrier<T: Target>(
    op: &CopyOrBarrier,
    file: &mut RecordingFile<T>,
    known: &RecorderState,
) -> rtl_schema::Result<()> {
    let queue = match op.what {
        CopyOrBarrierKind::Barrier { queue, .. } => Some(queue),
        CopyOrBarrierKind::Copy(_) => None,
    };
    file.register(op.tid, queue, known)?.push_op(&row(op))?;
    Ok(())
}

fn row(op: &CopyOrBarrier) -> Op {
    let common = Op {
        start: op.start,
        end: Some(op.end),
        range: op.range as i64,
        tid: Some(i64::from(op.tid)),
        correlation: op.correlation as i64,
        details: Details::with_enqueued(Some(op.enqueued).filter(|&moment| moment != 0)),
        ..Op::default()
    };
    match op.what {
        CopyOrBarrierKind::Barrier { queue, gpu } => {
            Op { kind: OpKind::Barrier, gpu: Some(i64::from(gpu)), queue: Some(i64::from(queue.0)), ..common }
        }
        CopyOrBarrierKind::Copy(Copy { bytes, source, destination }) => {
            let (kind, own, peer) = match (source, destination) {
                (None, None) => (OpKind::CopyHostToHost, None, None),
                (None, own) => (OpKind::CopyHostToDevice, own, None),
                (own, None) => (OpKind::CopyDeviceToHost, own, None),
                (peer, own) => (OpKind::CopyDeviceToDevice, own, peer),
            };
            Op { kind, gpu: own.map(i64::from), peer: peer.map(i64::from), bytes: Some(bytes), ..common }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(source: Option<u16>, destination: Option<u16>) -> (OpKind, Option<i64>, Option<i64>) {
        let what = CopyOrBarrierKind::Copy(Copy { bytes: 64, source, destination });
        let row =
            row(&CopyOrBarrier { start: 5, end: 7, correlation: 1, enqueued: 0, range: 0, tid: 9, what });
        assert_eq!((row.start, row.end, row.bytes), (5, Some(7), Some(64)));
        (row.kind, row.gpu, row.peer)
    }

    #[test]
    fn a_copy_is_on_the_gpu_that_it_goes_to_or_else_comes_from() {
        assert_eq!(copy(None, Some(1)), (OpKind::CopyHostToDevice, Some(1), None));
        assert_eq!(copy(Some(1), None), (OpKind::CopyDeviceToHost, Some(1), None));
        assert_eq!(copy(Some(0), Some(1)), (OpKind::CopyDeviceToDevice, Some(1), Some(0)));
        assert_eq!(copy(Some(1), Some(1)), (OpKind::CopyDeviceToDevice, Some(1), Some(1)));
        assert_eq!(copy(None, None), (OpKind::CopyHostToHost, None, None));
    }
}
