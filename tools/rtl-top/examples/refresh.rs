//! The cost of a refresh on a recording of OPS ops that grows by 25,000 ops between two: `refresh OPS`.

#![expect(clippy::print_stdout, reason = "it prints figures")]

use std::path::PathBuf;

use rtl_analysis::live::Live;
use rtl_schema::LiveTrace;
use rtl_schema::layout::tags;
use rtl_top::document::{Document, Phase, Recording as Shown};
use rtl_top::text::{View, lines};
use rtl_write::{Op, OpKind, Recording, StringId};
use rustix::time::{ClockId, clock_gettime};

/// Ops of half a second at 50,000 a second.
const NEW: i64 = 25_000;
/// Ops of a publication, every 25 ms.
const PUBLISHED: i64 = 1_250;
const KERNELS: usize = 300;
const REFRESHES: usize = 21;

struct Growing {
    recording: Recording,
    names: Vec<StringId>,
    ops: i64,
}

impl Growing {
    fn write(&mut self, ops: i64) -> rtl_schema::Result<()> {
        for _ in 0..ops {
            let at = self.ops;
            self.ops += 1;
            // Eight GPUs with gaps between their kernels.
            let start = at * 20_000;
            let op = Op {
                description: Some(self.names[at as usize * 7 % KERNELS]),
                gpu: Some(at % 8),
                queue: Some(at / 8 % 2),
                start,
                end: Some(start + 110_000 + at % 13 * 1_000),
                kind: if at % 50 == 0 { OpKind::CopyHostToDevice } else { OpKind::KernelExecution },
                bytes: (at % 50 == 0).then_some(4096),
                tid: Some(4242),
                ..Op::default()
            };
            self.recording.push_op(&op)?;
            if self.ops % PUBLISHED == 0 {
                let end = (start + 20_000).to_string();
                self.recording.publish(&[(tags::COMPLETE, "0".to_owned()), (tags::END_NS, end)])?;
            }
        }
        Ok(())
    }
}

/// CPU time of this thread in ms.
fn cpu() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

fn main() -> anyhow::Result<()> {
    let ops: i64 = std::env::args().nth(1).map_or(Ok(10_000_000), |ops| ops.parse())?;
    let folder = tempfile::tempdir()?;
    let path: PathBuf = folder.path().join("trace.db");
    let mut recording = Recording::create(&path, None)?;
    recording.push_metadata(tags::PID, "4711")?;
    let kernel = |number| {
        format!("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x224x128_MI16x16x1_SN_{number}.kd")
    };
    let names: rtl_schema::Result<Vec<StringId>> =
        (0..KERNELS).map(|at| recording.intern(&kernel(at))).collect();
    let mut growing = Growing { recording, names: names?, ops: 0 };
    growing.write(ops)?;

    let mut trace = LiveTrace::open(&path)?;
    let mut live = Live::new(1_000_000_000);
    let mut parts = Vec::new();
    for _ in 0..=REFRESHES {
        let begin = cpu();
        trace.refresh(|chunk| live.add_chunk(chunk))?;
        let read = cpu();
        let state = live.state(trace.tables(), trace.in_flight(), trace.as_of());
        let counted = cpu();
        let shown = Shown { phase: Phase::Recording, state, ..Shown::default() };
        let document = Document { recordings: vec![shown], ..Document::default() };
        lines(&document, View { width: Some(160), height: Some(50), rows: None })?;
        parts.push([read - begin, counted - read, cpu() - counted]);
        growing.write(NEW)?;
    }
    let first: f64 = parts.remove(0).iter().sum();
    let median = |values: &mut Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let mut all: Vec<f64> = parts.iter().map(|part| part.iter().sum()).collect();
    let columns: Vec<f64> =
        (0..3).map(|at| median(&mut parts.iter().map(|part| part[at]).collect())).collect();
    println!("ops {ops}, first read {first:.0} ms CPU");
    println!("refresh: median {:.2} ms CPU, most {:.2}", median(&mut all), all[all.len() - 1]);
    println!("of it: read {:.2}, figures {:.2}, lines {:.2}", columns[0], columns[1], columns[2]);
    Ok(())
}
