//! A synthetic trace of any size: a training loop with realistic names, lognormal durations, copies,
//! collectives, two or more queues that overlap, rows in order of completion. One seed, one file.

mod batch;
mod foreign;
mod kernels;
mod lite;
mod native;
mod random;
mod ranks;
mod rpd;
mod workload;

use std::path::Path;

use kernels::{Kernel, Kernels};
use random::Random;
pub use ranks::Job;
use workload::{Event, Kind, Op, Range, Workload};

/// The process of every synthetic trace.
const PID: i64 = 4_242;
/// Rows that are shuffled together: bounds the memory.
const WINDOW: usize = 1 << 20;

/// Whose layout the file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Layout {
    /// The layout that rtl's tracer records.
    #[default]
    Native,
    /// The layout of rocm-trace-lite.
    Lite,
    /// RPD with schema 3.
    Rpd3,
}

/// Size and properties of a synthetic trace.
#[derive(Debug, Clone, PartialEq, clap::Args)]
pub struct Options {
    /// The tool whose layout the file has.
    #[arg(long, value_enum, default_value_t)]
    pub layout: Layout,
    /// Number of kernels and copies.
    #[arg(long, default_value_t = 100_000)]
    pub ops: u64,
    /// Seed of the random numbers, which alone decides the file.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Number of GPUs.
    #[arg(long, default_value_t = 8)]
    pub gpus: u32,
    /// Queues of each GPU.
    #[arg(long, default_value_t = 2)]
    pub queues: u32,
    /// Number of distinct kernels.
    #[arg(long, default_value_t = 300)]
    pub kernels: u16,
    /// Mix up the rows of every million.
    #[arg(long)]
    pub shuffle: bool,
    /// Add the API call of every op.
    #[arg(long)]
    pub api: bool,
    /// Add a range for every step and each of its phases.
    #[arg(long)]
    pub ranges: bool,
    /// The seed of the kernels, where it is not that of everything: two seeds of one workload are two runs of a build.
    #[arg(long)]
    pub workload: Option<u64>,
    /// Make one kernel slower: its number (0 is the most frequent) and the factor, as `4=1.2`.
    #[arg(long, value_parser = parse_slow::<u16>)]
    pub slow: Option<(u16, f64)>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            layout: Layout::Native,
            ops: 100_000,
            seed: 1,
            gpus: 8,
            queues: 2,
            kernels: 300,
            shuffle: false,
            api: false,
            ranges: false,
            workload: None,
            slow: None,
        }
    }
}

/// Where the events go: one implementation for each layout.
trait Sink {
    fn op(&mut self, op: &Op, kernels: &[Kernel]) -> anyhow::Result<()>;
    fn range(&mut self, range: &Range) -> anyhow::Result<()>;
    fn finish(self: Box<Self>) -> anyhow::Result<()>;
}

/// Writes a synthetic trace to `path`, replacing what is there. Memory does not grow with the ops.
///
/// # Errors
/// If the file cannot be written.
pub fn generate(options: &Options, path: &Path) -> anyhow::Result<()> {
    let mut random = Random::new(options.seed);
    let mut kernels = match options.workload {
        Some(seed) => Kernels::new(options.kernels, &mut Random::new(seed)),
        None => Kernels::new(options.kernels, &mut random),
    };
    if let Some((kernel, factor)) = options.slow {
        kernels.slow(kernel, factor);
    }
    let mut sink: Box<dyn Sink> = match options.layout {
        Layout::Native => Box::new(native::Native::create(path, options, &kernels.all)?),
        Layout::Lite => Box::new(lite::Lite::create(path, options)?),
        Layout::Rpd3 => Box::new(rpd::Rpd::create(path, options)?),
    };
    let mut order = Random::new(!options.seed);
    let mut events = Workload::new(options, &kernels, random);
    loop {
        let mut window: Vec<Event> = events.by_ref().take(if options.shuffle { WINDOW } else { 1 }).collect();
        if window.is_empty() {
            return sink.finish();
        }
        for last in (1..window.len()).rev() {
            window.swap(last, order.below(last as u64 + 1) as usize);
        }
        for event in &window {
            match event {
                Event::Op(op) => sink.op(op, &kernels.all)?,
                Event::Range(range) => sink.range(range)?,
            }
        }
    }
}

fn parse_slow<N: std::str::FromStr>(text: &str) -> Result<(N, f64), String> {
    let parts =
        text.split_once('=').and_then(|(kernel, factor)| Some((kernel.parse().ok()?, factor.parse().ok()?)));
    parts
        .filter(|&(_, factor): &(N, f64)| factor > 0.0)
        .ok_or_else(|| "expected NUMBER=FACTOR, e.g. 4=1.2".to_owned())
}

/// The type and size of a copy; `None` for a kernel.
fn copy(kind: &Kind) -> Option<(&'static str, u64)> {
    match *kind {
        Kind::Kernel { .. } => None,
        Kind::HostToDevice { bytes } => Some(("CopyHostToDevice", bytes)),
        Kind::DeviceToHost { bytes } => Some(("CopyDeviceToHost", bytes)),
        Kind::DeviceToDevice { bytes, .. } => Some(("CopyDeviceToDevice", bytes)),
    }
}
