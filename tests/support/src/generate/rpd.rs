use std::path::Path;

use anyhow::Result;

use super::batch::Cell;
use super::foreign::Foreign;
use super::{Kernel, Kind, Op, Options, PID, Range, Sink};
use crate::layouts::RPD3;

/// A file as RPD writes it, schema 3: what a call asked for and what the GPU did stand apart, tied by links.
pub(super) struct Rpd {
    file: Foreign,
    api: bool,
    ranges: i64,
}

const OPS: usize = 0;
const CALLS: usize = 1;
const LINKS: usize = 2;
const LAUNCHES: usize = 3;
const COPIES: usize = 4;
const UNIQUE_STRINGS: usize = 5;

/// Where the ids of RPD's markers begin.
const FIRST_MARKER: i64 = (1 << 31) + 1;

impl Rpd {
    pub(super) fn create(path: &Path, options: &Options) -> Result<Self> {
        let tables: [(&str, &[&str]); 6] = [
            (
                "rocpd_op",
                &["id", "gpuId", "queueId", "sequenceId", "start", "end", "description_id", "opType_id"],
            ),
            (
                "rocpd_api",
                &["id", "pid", "tid", "start", "end", "apiName_id", "category_id", "domain_id", "args_id"],
            ),
            ("rocpd_api_ops", &["api_id", "op_id"]),
            (
                "rocpd_kernelapi",
                &[
                    "api_ptr_id",
                    "stream",
                    "gridX",
                    "gridY",
                    "gridZ",
                    "workgroupX",
                    "workgroupY",
                    "workgroupZ",
                    "groupSegmentSize",
                    "privateSegmentSize",
                    "kernelName_id",
                ],
            ),
            (
                "rocpd_copyapi",
                &[
                    "api_ptr_id",
                    "stream",
                    "size",
                    "width",
                    "height",
                    "kind",
                    "dst",
                    "src",
                    "dstDevice",
                    "srcDevice",
                    "sync",
                    "pinned",
                ],
            ),
            ("rocpd_ustring", &["string"]),
        ];
        let mut file = Foreign::create(path, RPD3, &tables)?;
        file.text("")?;
        Ok(Self { file, api: options.api, ranges: 0 })
    }

    fn call(
        &mut self,
        id: i64,
        tid: i64,
        times: (i64, i64),
        name: &str,
        domain: &str,
        args: i64,
    ) -> Result<()> {
        let name = self.file.text(name)?;
        let empty = self.file.text("")?;
        let domain = self.file.text(domain)?;
        let row = [
            id.into(),
            PID.into(),
            tid.into(),
            times.0.into(),
            times.1.into(),
            name.into(),
            empty.into(),
            domain.into(),
            args.into(),
        ];
        self.file.row(CALLS, row)?;
        Ok(())
    }
}

impl Sink for Rpd {
    fn op(&mut self, op: &Op, kernels: &[Kernel]) -> Result<()> {
        let (description, kind) = match op.kind {
            Kind::Kernel { kernel, .. } => (kernels[usize::from(kernel)].name.as_str(), "KernelExecution"),
            _ => ("", super::copy(&op.kind).unwrap_or_default().0),
        };
        let (description, kind) = (self.file.text(description)?, self.file.text(kind)?);
        let row = [
            op.number.into(),
            op.gpu.into(),
            op.queue.into(),
            0.into(),
            op.start.into(),
            op.end.into(),
            description.into(),
            kind.into(),
        ];
        self.file.row(OPS, row)?;
        if !self.api {
            return Ok(());
        }
        let tid = PID + 1 + op.gpu;
        let stream = Cell::from(format!("0x{:x}", 0x5581_0000 + op.gpu * 256 + op.queue).as_str());
        match op.kind {
            Kind::Kernel { kernel, size } => {
                self.call(op.number, tid, op.call, "hipModuleLaunchKernel", "hip", 1)?;
                let launched = &kernels[usize::from(kernel)];
                let groups: [i64; 3] = std::array::from_fn(|axis| {
                    launched.items[usize::from(size)][axis].div_ceil(u64::from(launched.workgroup[axis]))
                        as i64
                });
                let [x, y, z] = launched.workgroup.map(i64::from);
                let row = [
                    op.number.into(),
                    stream,
                    groups[0].into(),
                    groups[1].into(),
                    groups[2].into(),
                    x.into(),
                    y.into(),
                    z.into(),
                    i64::from(launched.lds).into(),
                    i64::from(launched.scratch).into(),
                    description.into(),
                ];
                self.file.row(LAUNCHES, row)?;
            }
            _ => {
                self.call(op.number, tid, op.call, "hipMemcpyAsync", "hip", 1)?;
                let bytes = super::copy(&op.kind).unwrap_or_default().1 as i64;
                // The numbers of hipMemcpyKind; -1 is the host.
                let (way, from, to) = match op.kind {
                    Kind::HostToDevice { .. } => (1, -1, op.gpu),
                    Kind::DeviceToHost { .. } => (2, op.gpu, -1),
                    Kind::DeviceToDevice { peer, .. } => (3, peer, op.gpu),
                    Kind::Kernel { .. } => (4, 0, 0),
                };
                let row = [
                    op.number.into(),
                    stream,
                    bytes.into(),
                    0.into(),
                    0.into(),
                    way.into(),
                    "0x7f1200000000".into(),
                    "0x7f1300000000".into(),
                    to.into(),
                    from.into(),
                    0.into(),
                    1.into(),
                ];
                self.file.row(COPIES, row)?;
            }
        }
        self.file.row(LINKS, [op.number.into(), op.number.into()])?;
        Ok(())
    }

    fn range(&mut self, range: &Range) -> Result<()> {
        let id = FIRST_MARKER + self.ranges;
        self.ranges += 1;
        // The empty text is row 1 and stands there already.
        let text = 1 + self.file.row(UNIQUE_STRINGS, [range.name.as_str().into()])?;
        self.call(id, PID, (range.start, range.end), "UserMarker", "UserMarker", text)
    }

    fn finish(self: Box<Self>) -> Result<()> {
        self.file.finish()
    }
}
