//! A simulated KFD, the kernel half of ROCm. It is preloaded into a program and answers in place of the kernel (`/dev/kfd`, the
//! render nodes, the topology in sysfs), so that the stock runtime runs without a GPU.
//!
//! Kernels compute nothing, except that those with which the runtimes copy and fill move bytes. A dispatch takes the configured
//! time, its signal and timestamps are written as by hardware, and executed packets go to a log that a test can compare with.
//!
//! One file is one area of the kernel interface. The program calls [`preload`], [`status`] and [`drm`], `simulator` holds the
//! open objects of the process, and simulated time passes on the one thread of `engine`.

#![expect(
    unsafe_code,
    reason = "it stands where a kernel stands: C calls it and it reads the caller's memory"
)]

pub mod drm;
pub mod hsa;
pub mod preload;
pub mod status;

mod abi;
mod aql;
mod behaviour;
mod blit;
mod clock;
mod code;
mod device;
mod dma;
mod dma_queue;
mod engine;
mod events;
mod hardware;
mod ioctl;
mod kernels;
mod log;
mod memory;
mod movement;
mod process;
mod queue;
mod settings;
mod simulator;
mod topology;
mod word;
