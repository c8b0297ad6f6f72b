use std::path::Path;

use anyhow::Result;
use rtl_write::{Call, NativeWriter, Op as Row, OpKind, StringId};

use super::{Kernel, Kind, Op, Options, PID, Range, Sink};

/// A file as librtl.so writes it.
pub(super) struct Native {
    writer: NativeWriter,
    api: bool,
    names: Vec<Option<StringId>>,
}

impl Native {
    pub(super) fn create(path: &Path, options: &Options, kernels: &[Kernel]) -> Result<Self> {
        let mut writer = NativeWriter::create(path)?;
        for (tag, value) in [
            ("schema_version", "rtl-1"),
            ("tool", "rtl generate"),
            ("tool_version", env!("CARGO_PKG_VERSION")),
            ("pid", &PID.to_string()),
            ("host", "synthetic"),
            ("mode", "standard"),
            ("complete", "1"),
        ] {
            writer.push_metadata(tag, value)?;
        }
        for gpu in 0..options.gpus {
            let value = format!(
                r#"{{"number":{gpu},"sourceId":{gpu},"typeIndex":{gpu},"target":"gfx942","product":"AMD Instinct MI300X"}}"#
            );
            writer.push_metadata("gpu", &value)?;
        }
        for (symbol, kernel) in kernels.iter().enumerate() {
            let name = kernel.name.replace('\\', "\\\\").replace('"', "\\\"");
            let value = format!(
                r#"{{"id":{},"name":"{name}","lds":{},"scratch":{},"sgprs":48,"vgprs":96,"agprs":0}}"#,
                symbol + 1,
                kernel.lds,
                kernel.scratch,
            );
            writer.push_metadata("kernel", &value)?;
        }
        Ok(Self { writer, api: options.api, names: vec![None; kernels.len()] })
    }
}

impl Sink for Native {
    fn op(&mut self, op: &Op, kernels: &[Kernel]) -> Result<()> {
        let tid = Some(PID + 1 + op.gpu);
        let mut row = Row {
            gpu: Some(op.gpu),
            queue: Some(op.queue),
            start: op.start,
            end: Some(op.end),
            range: op.range,
            tid,
            correlation: op.number,
            ..Row::default()
        };
        if let Kind::Kernel { kernel, size } = op.kind {
            let index = usize::from(kernel);
            let launched = &kernels[index];
            let name = match self.names[index] {
                Some(name) => name,
                None => *self.names[index].insert(self.writer.intern(&launched.name)?),
            };
            row.description = Some(name);
            row.items = Some(launched.items[usize::from(size)]);
            row.workgroup = Some(launched.workgroup);
            row.lds = Some(launched.lds);
            row.scratch = Some(launched.scratch);
        } else {
            row.kind = match op.kind {
                Kind::HostToDevice { .. } => OpKind::CopyHostToDevice,
                Kind::DeviceToHost { .. } => OpKind::CopyDeviceToHost,
                _ => OpKind::CopyDeviceToDevice,
            };
            row.description = Some(StringId::EMPTY);
            row.bytes = super::copy(&op.kind).map(|(_, bytes)| bytes);
            if let Kind::DeviceToDevice { peer, .. } = op.kind {
                row.peer = Some(peer);
            }
        }
        self.writer.push_op(&row)?;
        if self.api {
            let name = if row.bytes.is_some() { "hipMemcpyAsync" } else { "hipModuleLaunchKernel" };
            let call = Call {
                tid,
                start: op.call.0,
                duration: Some(op.call.1 - op.call.0),
                name: Some(self.writer.intern(name)?),
                domain: Some(self.writer.intern("hip")?),
                correlation: op.number,
                ..Call::default()
            };
            self.writer.push_call(&call)?;
        }
        Ok(())
    }

    fn range(&mut self, range: &Range) -> Result<()> {
        let row = Row {
            gpu: Some(-1),
            queue: Some(0),
            start: range.start,
            end: Some(range.end),
            description: Some(self.writer.intern(&range.name)?),
            kind: OpKind::UserMarker,
            range: range.number,
            tid: Some(PID),
            sequence: Some(0),
            ..Row::default()
        };
        self.writer.push_op(&row)?;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<()> {
        Ok(self.writer.finish()?)
    }
}
