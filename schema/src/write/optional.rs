/// The tables that exist only with rows.
#[derive(Debug, Clone, Copy)]
pub(super) enum Optional {
    ApiOps,
    Kernelapi,
    Copyapi,
    Arg,
    Copy,
    Allocation,
    Monitor,
    Counter,
    Stackframe,
}

impl Optional {
    pub(super) const COUNT: usize = 9;

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::ApiOps => "rocpd_api_ops",
            Self::Kernelapi => "rocpd_kernelapi",
            Self::Copyapi => "rocpd_copyapi",
            Self::Arg => "rocpd_arg",
            Self::Copy => "rocpd_copy",
            Self::Allocation => "rocpd_allocation",
            Self::Monitor => "rocpd_monitor",
            Self::Counter => "rocpd_counter",
            Self::Stackframe => "rocpd_stackframe",
        }
    }

    /// The columns that a row gives, in this order.
    pub(super) fn columns(self) -> &'static [&'static str] {
        match self {
            Self::ApiOps => &["api_id", "op_id"],
            Self::Kernelapi => &[
                "api_id",
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
            Self::Copyapi => &[
                "api_id",
                "stream",
                "size",
                "dst",
                "src",
                "kind",
                "sync",
                "width",
                "height",
                "dstDevice",
                "srcDevice",
                "pinned",
            ],
            Self::Arg => &["api_id", "position", "type", "name", "value"],
            Self::Copy => &["op_id", "srcAddress", "dstAddress", "srcGpu", "dstGpu"],
            Self::Allocation => &[
                "pid",
                "tid",
                "gpuId",
                "queueId",
                "streamId",
                "kind",
                "level",
                "start",
                "end",
                "address",
                "bytes",
                "flags",
                "correlationId",
            ],
            Self::Monitor => &["deviceType", "deviceId", "monitorType", "start", "end", "value"],
            Self::Counter => &["value", "op_id", "name_id", "pid", "gpuId"],
            Self::Stackframe => &["api_ptr_id", "depth", "name_id"],
        }
    }
}
