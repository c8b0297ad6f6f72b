//! How kernels, GPUs, queues and processes are named, and which category a kernel has.

pub mod categories;
pub mod display_names;
pub(crate) mod kernel_index;
pub mod kernel_keys;
pub(crate) mod kernel_names;
pub mod labels;
pub(crate) mod span_names;
