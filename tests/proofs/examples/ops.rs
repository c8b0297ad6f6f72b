//! Cost of the analyses for each op: synthetic dispatches in memory, no file. `cargo run --release -p proofs --example ops --
//! 10000000`

#![allow(clippy::print_stdout, reason = "a measurement says what it measured")]

use std::time::Instant;

use rtl_analysis::ops::Order;
use rtl_analysis::sweep::sweep;
use rtl_analysis::{Analysis, Categories, KernelNames, Part};
use rtl_schema::table::{Agent, Dispatch, Process, Track};
use rtl_schema::{AgentId, Tables};

fn main() {
    let count = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(1_000_000);
    let tables = synthetic(count);
    let categories = Categories::default();
    let names = KernelNames::new(&tables, &categories);
    for _ in 0..3 {
        measure("kernels", count, || Analysis::new(&tables, &categories).kernels().len());
        let order = measure("order", count, || Order::of(&tables));
        measure("sweep", count, || sweep(&tables, &order, &names, 20).sweep.gpus.len());
        measure("report", count, || {
            let analysis = Analysis::new(&tables, &categories);
            analysis.prepare(&[Part::Kernels, Part::Sweep]);
            analysis.kernels().len() + analysis.sweep().gpus.len()
        });
    }
}

fn measure<T>(what: &str, count: usize, work: impl FnOnce() -> T) -> T {
    let (begin, before) = (Instant::now(), processor_seconds());
    let result = std::hint::black_box(work());
    let (wall, used) = (begin.elapsed().as_secs_f64(), processor_seconds() - before);
    println!("{what:>10} wall {wall:6.3} s  cpu {used:6.3} s {:6.1} ns/op", used * 1e9 / count as f64);
    result
}

/// User and system time of this process so far, in steps of 10 ms; wall time says nothing on a busy machine.
fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    ticks.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// Eight GPUs of two queues, 300 kernels of skewed use, one op in sixteen out of order.
fn synthetic(count: usize) -> Tables {
    let mut tables = Tables::default();
    tables.processes.push(Process::default());
    tables.agents = (0..8).map(|number| Agent { number, ..Agent::default() }).collect();
    let names: Vec<_> = (0..300)
        .map(|kernel| match kernel {
            7 | 19 => tables.strings.intern(&format!("ncclDevKernel_{kernel}")),
            _ => tables
                .strings
                .intern(&format!("void at::native::kernel_{kernel}<{}>()", "float, ".repeat(25))),
        })
        .collect();
    let mut state = 1_u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let mut clocks = [1_000_000_i64; 8];
    for _ in 0..count {
        let gpu = random() % 8;
        let duration = 1_000 + (random() % 20_000) as i64;
        clocks[gpu] += duration + (random() % 4_000) as i64 - 1_000;
        let late = if random() % 16 == 0 { -30_000 } else { 0 };
        let track = Track { agent: AgentId(gpu as u32), queue: (random() % 2) as i64, ..Track::default() };
        tables.dispatches.push(Dispatch {
            name: names[(random() % 300) * (random() % 300) / 300],
            track: tables.tracks.intern(track),
            start: clocks[gpu] + late,
            duration: Some(duration),
            ..Dispatch::default()
        });
    }
    tables
}
