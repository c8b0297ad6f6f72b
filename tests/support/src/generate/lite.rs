use std::path::Path;

use anyhow::Result;

use super::batch::Cell;
use super::foreign::Foreign;
use super::{Kernel, Kind, Op, Options, PID, Range, Sink};
use crate::layouts::LITE;

/// A file as rocm-trace-lite writes it: queues are pointers, and the launch shape is a text in every row.
pub(super) struct Lite {
    file: Foreign,
    api: bool,
    names: Vec<Option<i64>>,
}

const OPS: usize = 0;
const CALLS: usize = 1;
const METADATA: usize = 2;

impl Lite {
    pub(super) fn create(path: &Path, options: &Options) -> Result<Self> {
        let tables: [(&str, &[&str]); 3] = [
            (
                "rocpd_op",
                &[
                    "gpuId",
                    "queueId",
                    "sequenceId",
                    "completionSignal",
                    "start",
                    "end",
                    "description_id",
                    "opType_id",
                    "roctxId",
                ],
            ),
            ("rocpd_api", &["pid", "tid", "start", "end", "apiName_id", "args_id"]),
            ("rocpd_metadata", &["tag", "value"]),
        ];
        let file = Foreign::create(path, LITE, &tables)?;
        Ok(Self { file, api: options.api, names: vec![None; usize::from(options.kernels.max(1))] })
    }
}

/// The address that stands for a queue.
fn queue_address(gpu: i64, queue: i64) -> i64 {
    0x7f3a_4c20_0000 + gpu * 0x2000_0000 + queue * 0x40_0000
}

impl Sink for Lite {
    fn op(&mut self, op: &Op, kernels: &[Kernel]) -> Result<()> {
        let queue = queue_address(op.gpu, op.queue);
        let (signal, description, kind) = if let Kind::Kernel { kernel, size } = op.kind {
            let index = usize::from(kernel);
            let launched = &kernels[index];
            let name = match self.names[index] {
                Some(name) => name,
                None => *self.names[index].insert(self.file.text(rtl_schema::identity(&launched.name))?),
            };
            let ([a, b, c], [x, y, z]) = (launched.workgroup, launched.items[usize::from(size)]);
            let signal = format!("hwq=0x{:x} wg={a},{b},{c} grid={x},{y},{z}", queue + 0x1000);
            (Cell::from(signal.as_str()), name, self.file.text("KernelExecution")?)
        } else {
            let (kind, bytes) = super::copy(&op.kind).unwrap_or_default();
            (Cell::Null, self.file.text(&format!("{kind}:{bytes}"))?, self.file.text(kind)?)
        };
        let row = [
            op.gpu.into(),
            queue.into(),
            0.into(),
            signal,
            op.start.into(),
            op.end.into(),
            description.into(),
            kind.into(),
            op.range.into(),
        ];
        self.file.row(OPS, row)?;
        if self.api {
            let name =
                if super::copy(&op.kind).is_some() { "hipMemcpyAsync" } else { "hipModuleLaunchKernel" };
            let name = self.file.text(name)?;
            let row = [
                PID.into(),
                (PID + 1 + op.gpu).into(),
                op.call.0.into(),
                op.call.1.into(),
                name.into(),
                Cell::Null,
            ];
            self.file.row(CALLS, row)?;
        }
        Ok(())
    }

    fn range(&mut self, range: &Range) -> Result<()> {
        let name = self.file.text(&range.name)?;
        let kind = self.file.text("UserMarker")?;
        let row = [
            (-1).into(),
            0.into(),
            0.into(),
            Cell::Null,
            range.start.into(),
            range.end.into(),
            name.into(),
            kind.into(),
            range.number.into(),
        ];
        self.file.row(OPS, row)?;
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.file.row(METADATA, ["pid".into(), PID.to_string().as_str().into()])?;
        self.file.finish()
    }
}
