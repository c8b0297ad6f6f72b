//! Documents of rocprofv3.

use serde_json::{Map, Value, json};

use super::Choices;

impl Choices<'_> {
    fn handle(&mut self) -> Value {
        json!({ "handle": self.number() })
    }

    fn text(&mut self) -> Value {
        let texts =
            ["gemm<float>(int)", "k", "", "a\u{0}b", "\u{202e}x", "HIP_RUNTIME_API", "KERNEL_DISPATCH"];
        json!(self.of(&texts))
    }

    fn axes(&mut self) -> Value {
        json!({ "x": self.number(), "y": self.number(), "z": self.number() })
    }

    fn record(&mut self) -> Map<String, Value> {
        let fields = ["kind", "operation", "thread_id", "start_timestamp", "end_timestamp", "size"];
        let mut record: Map<String, Value> =
            fields.iter().map(|field| ((*field).to_owned(), self.number())).collect();
        record.insert(
            "correlation_id".to_owned(),
            json!({ "internal": self.number(), "external": self.number(), "ancestor": self.number() }),
        );
        if self.below(3) == 0 {
            record.insert("stream_id".to_owned(), self.handle());
        }
        record
    }

    fn dispatch(&mut self) -> Value {
        let mut record = self.record();
        let info = json!({
            "agent_id": self.handle(), "queue_id": self.handle(), "kernel_id": self.number(),
            "dispatch_id": self.number(), "private_segment_size": self.number(),
            "group_segment_size": self.number(), "workgroup_size": self.axes(), "grid_size": self.axes(),
        });
        record.insert("dispatch_info".to_owned(), info);
        Value::Object(record)
    }

    fn copy(&mut self) -> Value {
        let mut record = self.record();
        for (field, value) in [
            ("src_agent_id", self.handle()),
            ("dst_agent_id", self.handle()),
            ("bytes", self.number()),
            ("src_address", self.number()),
            ("dst_address", self.number()),
        ] {
            record.insert(field.to_owned(), value);
        }
        Value::Object(record)
    }

    fn call(&mut self) -> Value {
        let mut record = self.record();
        if self.below(2) == 0 {
            let argument = |choices: &mut Self| json!({ "name": choices.text(), "value": choices.text() });
            record.insert("args".to_owned(), self.list(argument));
        }
        Value::Object(record)
    }

    fn agent(&mut self) -> Value {
        json!({
            "id": self.handle(), "type": self.number(), "name": self.text(), "node_id": self.number(),
            "logical_node_id": self.number(), "logical_node_type_id": self.number(),
        })
    }

    fn symbol(&mut self) -> Value {
        json!({
            "kernel_id": self.number(), "code_object_id": self.number(), "kernel_name": self.text(),
            "formatted_kernel_name": self.text(), "truncated_kernel_name": self.text(),
        })
    }

    fn names(&mut self) -> Value {
        let kind =
            |choices: &mut Self| json!({ "kind": choices.text(), "operations": choices.list(Self::text) });
        json!({ "buffer_records": self.list(kind), "callback_records": self.list(kind) })
    }

    fn process(&mut self) -> Value {
        json!({
            "metadata": {
                "node": { "machine_id": self.text(), "hostname": self.text() }, "pid": self.number(),
                "init_time": self.number(), "fini_time": self.number(), "command": self.list(Self::text),
            },
            "agents": self.list(Self::agent),
            "code_objects": [],
            "kernel_symbols": self.list(Self::symbol),
            "strings": self.names(),
            "buffer_records": {
                "kernel_dispatch": self.list(Self::dispatch),
                "hip_api": self.list(Self::call),
                "hsa_api": self.list(Self::call),
                "marker_api": self.list(Self::call),
                "memory_copy": self.list(Self::copy),
                "memory_allocation": self.list(Self::copy),
                "scratch_memory": self.list(Self::dispatch),
            },
        })
    }
}

/// The document of rocprofv3 that the bytes choose.
pub fn rocprofv3(bytes: &[u8]) -> String {
    let mut choices = Choices(bytes);
    let processes: Vec<Value> = (0..=choices.below(2)).map(|_| choices.process()).collect();
    json!({ "rocprofiler-sdk-tool": processes }).to_string()
}
