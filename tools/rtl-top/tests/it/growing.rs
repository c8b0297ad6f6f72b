//! A recording that is written step by step.

use std::path::{Path, PathBuf};

use rtl_schema::layout::tags;
use rtl_write::{Call, Op, OpKind, Recording};

/// A recording of a program that runs kernels of 6 us every 10 us on GPU 0, half of them on GPU 1 too.
pub(crate) struct Growing {
    path: PathBuf,
    recording: Recording,
    kernels: i64,
}

const START: i64 = 1_000_000_000;
const STEP: i64 = 10_000;

impl Growing {
    pub(crate) fn new(folder: &Path, pid: i64, rank: Option<u32>) -> Self {
        let path = folder.join(format!("trace_{pid}.db"));
        let mut recording = Recording::create(&path, None).unwrap();
        let mut tag = |tag: &str, value: &str| recording.push_metadata(tag, value).unwrap();
        tag(tags::PID, &pid.to_string());
        tag(tags::HOST, "node1");
        tag(tags::COMMAND, "python train.py");
        tag(tags::START_NS, &START.to_string());
        if let Some(rank) = rank {
            tag(tags::RANK, &rank.to_string());
        }
        for number in 0..2 {
            let product = "AMD Instinct MI300X";
            tag(tags::GPU, &format!("{{\"number\": {number}, \"product\": \"{product}\"}}"));
        }
        let mut growing = Self { path, recording, kernels: 0 };
        growing.publish("0", &[]);
        growing
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Kernels, and for each ten of them a copy, a range and a call.
    pub(crate) fn run(&mut self, kernels: i64) {
        for _ in 0..kernels {
            let at = self.kernels;
            self.kernels += 1;
            let start = START + at * STEP;
            let name = self.recording.intern(["gemm_kernel", "softmax_kernel"][at as usize % 2]).unwrap();
            let kernel = Op {
                description: Some(name),
                gpu: Some(0),
                queue: Some(1),
                start,
                end: Some(start + 6_000),
                kind: OpKind::KernelExecution,
                ..Op::default()
            };
            self.recording.push_op(&kernel).unwrap();
            if at % 2 == 0 {
                self.recording.push_op(&Op { gpu: Some(1), ..kernel }).unwrap();
            }
            if at % 10 == 0 {
                let copy = Op { kind: OpKind::CopyHostToDevice, bytes: Some(4096), ..kernel };
                self.recording.push_op(&copy).unwrap();
                let step = self.recording.intern("train step").unwrap();
                let range = Op {
                    kind: OpKind::UserMarker,
                    gpu: Some(-1),
                    queue: Some(0),
                    sequence: Some(0),
                    description: Some(step),
                    end: Some(start + 90_000),
                    ..kernel
                };
                self.recording.push_op(&range).unwrap();
                let call = self.recording.intern("hipMemcpyAsync").unwrap();
                let call = Call { start, duration: Some(2_000), name: Some(call), ..Call::default() };
                self.recording.push_call(&call).unwrap();
            }
        }
        self.publish("0", &[]);
    }

    pub(crate) fn publish(&mut self, complete: &str, more: &[(&str, String)]) {
        let end = (START + self.kernels * STEP).to_string();
        let kernels = self.kernels + (self.kernels + 1) / 2;
        let mut rows = vec![
            (tags::COMPLETE, complete.to_owned()),
            ("seen", (kernels + 5).to_string()),
            ("recorded", kernels.to_string()),
            ("lost:behind", "3".to_owned()),
            (tags::END_NS, end),
        ];
        rows.extend_from_slice(more);
        self.recording.publish(&rows).unwrap();
    }

    pub(crate) fn end(mut self) -> PathBuf {
        self.publish("1", &[]);
        self.recording.finish().unwrap();
        self.path
    }
}
