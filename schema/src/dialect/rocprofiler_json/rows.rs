//! The objects of the file as serde reads them; absent keys read as nothing.

use serde::Deserialize;

use super::scalars::{Arguments, Scalar, Text, Whole};
use crate::dialect::rocprofiler::devices::Uuid;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Agent {
    pub(super) id: Whole,
    pub(super) r#type: Whole,
    pub(super) name: Text,
    pub(super) product_name: Text,
    pub(super) node_id: Whole,
    pub(super) logical_node_id: Whole,
    pub(super) logical_node_type_id: Whole,
    pub(super) uuid: Uuid,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CounterInfo {
    pub(super) id: Whole,
    pub(super) name: Text,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct KindInfo {
    pub(super) kind: Text,
    pub(super) operations: Vec<Text>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Pair {
    pub(super) key: Whole,
    pub(super) value: Text,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Symbol {
    pub(super) kernel_id: Whole,
    pub(super) code_object_id: Whole,
    pub(super) kernel_name: Text,
    pub(super) formatted_kernel_name: Text,
    pub(super) kernel_object: Whole,
    pub(super) kernarg_segment_size: Whole,
    pub(super) group_segment_size: Whole,
    pub(super) private_segment_size: Whole,
    pub(super) sgpr_count: Whole,
    pub(super) arch_vgpr_count: Whole,
    pub(super) accum_vgpr_count: Whole,
    pub(super) kernarg_segment_alignment: Whole,
    pub(super) kernel_code_entry_byte_offset: Whole,
    pub(super) kernel_address: Whole,
}

#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(default)]
pub(super) struct Correlation {
    pub(super) internal: Whole,
    pub(super) ancestor: Whole,
}

#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(default)]
pub(super) struct Extent {
    pub(super) x: Whole,
    pub(super) y: Whole,
    pub(super) z: Whole,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct DispatchInfo {
    pub(super) agent_id: Whole,
    pub(super) queue_id: Whole,
    pub(super) kernel_id: Whole,
    pub(super) dispatch_id: Whole,
    pub(super) private_segment_size: Whole,
    pub(super) group_segment_size: Whole,
    pub(super) workgroup_size: Extent,
    pub(super) grid_size: Extent,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Dispatch {
    pub(super) thread_id: Whole,
    pub(super) correlation_id: Correlation,
    pub(super) start_timestamp: Whole,
    pub(super) end_timestamp: Whole,
    pub(super) dispatch_info: DispatchInfo,
    pub(super) stream_id: Whole,
    pub(super) graph_exec_id: Whole,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CounterRecord {
    pub(super) thread_id: Whole,
    pub(super) dispatch_data: Dispatch,
    pub(super) records: Vec<CounterValue>,
    pub(super) stream_id: Whole,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CounterValue {
    pub(super) counter_id: Whole,
    pub(super) value: Option<f64>,
}

/// Any record but a dispatch: each list has some of the fields.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Record {
    pub(super) kind: Whole,
    /// A number to look up, or a name.
    pub(super) operation: Scalar,
    pub(super) thread_id: Whole,
    pub(super) correlation_id: Correlation,
    pub(super) start_timestamp: Whole,
    pub(super) end_timestamp: Whole,
    pub(super) stream_id: Whole,
    pub(super) args: Arguments,
    pub(super) retval: Whole,
    pub(super) dst_agent_id: Whole,
    pub(super) src_agent_id: Whole,
    pub(super) bytes: Whole,
    pub(super) agent_id: Whole,
    pub(super) queue_id: Whole,
    pub(super) address: Whole,
    pub(super) allocation_size: Whole,
    pub(super) flags: Whole,
}
