//! Measures the recorder: a million dispatches of 300 kernels on 8 GPUs pass through its thread into a file.
//!
//! `scripts/bench/recorder` builds this and runs it alone and under callgrind. With `floor`, dispatches are handed over to a
//! thread that drops them, so that the difference is the recorder's. With `callbacks`, callbacks of a program receive them in
//! place of a file, and drop them.

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rtl::base::budget::Budget;
use rtl::base::kernels::{Kernel, descriptor::Resources};
use rtl::base::settings::Settings;
use rtl::base::{abi, output_sink};
use rtl::collect::batch_channel::batch_channel;
use rtl::collect::dispatch::{Dispatch, KernelId, Queue, QueueOrdinal};
use rtl::collect::recorder_state::RecorderState;
use rtl::write::record::Recorder;

const DISPATCHES: u64 = 1_000_000;
const KERNELS: u32 = 300;
const GPUS: u32 = 8;

fn main() -> std::io::Result<()> {
    let way = std::env::args().nth(1).unwrap_or_default();
    let (is_floor, is_embedded) = (way == "floor", way == "callbacks");
    if is_embedded {
        register();
    }
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("trace.db");
    let known = Arc::new(RecorderState::default());
    for kernel in 0..KERNELS {
        let mangled =
            format!("_ZN2at6native29vectorized_elementwise_kernelILi{kernel}EN3foo3barIfEEEvPT0_S4_S4_i");
        let resources = Resources { lds: Some(0), sgprs: Some(48), vgprs: Some(96), ..Resources::default() };
        known.kernels.add(Kernel { mangled, resources, ..Kernel::default() });
    }
    for queue in 0..2 * GPUS {
        known.queues.add(Queue { gpu: (queue % GPUS) as u16, address: u64::from(queue), hardware: 1 });
    }
    let (mut sender, receiver) = batch_channel(Arc::new(Budget::new(20 << 20)));
    let settings = Settings { output: Some(path.clone().into()), ..Settings::default() };
    let consumer = if is_floor {
        let forget = move || {
            let mut is_open = true;
            while is_open {
                is_open = receiver.wait(Duration::from_millis(50));
                while receiver.take(|dispatch| {
                    std::hint::black_box(dispatch);
                }) > 0
                {}
            }
        };
        Consumer::Forgets(std::thread::spawn(forget))
    } else {
        Consumer::Writes(Recorder::start(settings, Arc::clone(&known), receiver, |_| ())?)
    };
    for number in 1..=DISPATCHES {
        known.counters.see(1);
        let dispatch = dispatch(number);
        while sender.send(dispatch).is_err() {
            std::thread::yield_now();
        }
    }
    drop(sender);
    match consumer {
        Consumer::Forgets(thread) => drop(thread.join()),
        Consumer::Writes(recorder) => {
            recorder.finish(Instant::now() + Duration::from_secs(600));
            let bytes = if is_embedded { 0 } else { std::fs::metadata(&path)?.len() };
            let recorded = known.counters.snapshot().recorded;
            writeln!(
                std::io::stdout(),
                "{recorded} recorded, {:.1} bytes each",
                bytes as f64 / recorded as f64
            )?;
        }
    }
    Ok(())
}

/// Does what `rtl_set_callbacks` does in a program that the runtime can load the library into.
fn register() {
    extern "C-unwind" fn forget(kernels: *const abi::Kernel, count: usize, _: *mut std::ffi::c_void) {
        std::hint::black_box((kernels, count));
    }
    let callbacks = abi::Callbacks { kernels: Some(forget), ..abi::Callbacks::default() };
    output_sink::register(output_sink::Registration { callbacks, mode: None });
}

enum Consumer {
    Forgets(std::thread::JoinHandle<()>),
    Writes(Recorder),
}

/// A dispatch after twelve days of uptime; each GPU's queue has its turn, and half of all launches have two dimensions.
fn dispatch(number: u64) -> Dispatch {
    let start = 12 * 86_400_000_000_000 + number as i64 * 9_000;
    let kernel = (number as u32).wrapping_mul(7) % KERNELS;
    let queue = number as u32 % (2 * GPUS);
    Dispatch {
        start,
        end: start + 8_000 + i64::from(kernel),
        correlation: number,
        enqueued: 0,
        range: 0,
        kernel: KernelId(kernel),
        queue: QueueOrdinal(queue),
        tid: 4_243 + queue % GPUS,
        grid: [256 << (kernel % 12), if kernel.is_multiple_of(2) { 1 } else { 8 }, 1],
        lds: kernel % 3 * 16_384,
        scratch: 0,
        workgroup: [256, 1, 1],
        gpu: (queue % GPUS) as u16,
    }
}
