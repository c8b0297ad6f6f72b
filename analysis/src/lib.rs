//! Where the GPU time went: columns in ([`rtl_schema::Tables`]), values out.
//!
//! One pure function for each report section (kernels, busy time, gaps, ...), and
//! [`Analysis`] for several that share what they need. The crate reads no file, knows no SQL and prints nothing.
//! Every result is deterministic: a total order with ties by name, the same values whatever the row order.
//! Times are integer nanoseconds; only means and shares are floating point.

pub mod align;
pub mod allocations;
mod analysis;
pub mod api;
pub mod busy_over_time;
pub mod categories;
pub mod collective_sizes;
pub mod combine;
pub mod compare;
pub mod complete_steps;
pub mod copies;
pub mod decomposition;
pub mod display_names;
pub mod distribution;
mod error;
pub mod facts;
pub mod findings;
mod first_use;
pub mod identity;
pub mod idle;
mod kernel_index;
pub mod kernel_keys;
mod kernel_names;
pub mod kernels;
pub mod labels;
pub mod launches;
pub mod live;
mod lookup;
pub mod memory;
pub mod operators;
pub mod ops;
pub mod overview;
pub mod pictures;
pub mod profile;
pub mod ranges;
pub mod ranks;
pub mod region;
pub mod rocprofv3;
pub mod rpt;
pub mod sanity;
pub mod stats;
pub mod streaming;
pub mod sweep;
pub mod tracing_cost;
pub mod trust;
mod uncovered;
pub mod unfinished;
mod union_length;
pub mod work;

pub use analysis::Analysis;
pub use categories::Categories;
pub use display_names::DisplayNames;
pub use error::{Error, Result};
pub use kernel_keys::KernelKeys;
pub use kernel_names::KernelNames;
pub use stats::Stats;
