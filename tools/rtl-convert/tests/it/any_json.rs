//! Documents of rocprofv3 whose shape and values bytes choose. The fuzz target `json` uses this file, too.

use serde_json::{Map, Value, json};

/// The bytes that choose; zeros when they are used up.
struct Choices<'a>(&'a [u8]);

impl Choices<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    fn below(&mut self, bound: u8) -> u8 {
        self.byte() % bound
    }

    /// A number: mostly small, sometimes at a limit, sometimes no number.
    fn number(&mut self) -> Value {
        match self.below(16) {
            0 => json!(i64::MAX),
            1 => json!(i64::MIN),
            2 => json!(u64::MAX),
            3 => json!(-1),
            4 => json!(i64::MAX.to_string()),
            5 => Value::Null,
            6 => json!(0.5),
            7 => json!("text"),
            8 => json!(1_700_000_000_000_000_000_i64 + i64::from(self.byte())),
            _ => json!(self.below(8)),
        }
    }

    fn handle(&mut self) -> Value {
        json!({ "handle": self.number() })
    }

    fn text(&mut self) -> Value {
        let texts =
            ["gemm<float>(int)", "k", "", "a\u{0}b", "\u{202e}x", "HIP_RUNTIME_API", "KERNEL_DISPATCH"];
        json!(texts[usize::from(self.below(texts.len() as u8))])
    }

    fn list(&mut self, of: impl Fn(&mut Self) -> Value) -> Value {
        let length = self.below(4);
        Value::Array((0..length).map(|_| of(self)).collect())
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

/// The document that the bytes choose.
pub(crate) fn document(bytes: &[u8]) -> String {
    let mut choices = Choices(bytes);
    let processes: Vec<Value> = (0..=choices.below(2)).map(|_| choices.process()).collect();
    json!({ "rocprofiler-sdk-tool": processes }).to_string()
}
