//! Where the GPU time went: columns in ([`rtl_schema::Tables`]), values out.
//!
//! One pure function for each report section (kernels, busy time, gaps, ...), and
//! [`Analysis`] for several that share what they need. The crate reads no file, knows no SQL and prints nothing.
//! Every result is deterministic: a total order with ties by name, the same values whatever the row order.
//! Times are integer nanoseconds; only means and shares are floating point.
//!
//! # Examples
//! The kernels with most time, and the queue on which they ran:
//!
//! ```
//! # fn main() -> Result<(), rtl_schema::Error> {
//! use rtl_analysis::kernels::GroupBy;
//! use rtl_analysis::{Analysis, Categories};
//! use rtl_schema::{Select, Trace};
//!
//! let tables = Trace::open("../tests/fixtures/real/gpt-loader.json.gz")?.read(&Select::summary())?;
//! let categories = Categories::default();
//! let analysis = Analysis::new(&tables, &categories);
//! let first = &analysis.kernels()[0];
//! assert_eq!((first.stats.calls, first.stats.total_ns), (85, 3_268_663));
//! let queues = analysis.groups(GroupBy::Queue);
//! assert_eq!(queues.iter().map(|queue| queue.stats.calls).sum::<u64>(), 1110);
//! # Ok(())
//! # }
//! ```
//!
//! Why GPUs were idle. Every nanosecond has one cause:
//!
//! ```
//! # fn main() -> Result<(), rtl_schema::Error> {
//! # use rtl_analysis::{Analysis, Categories};
//! # use rtl_schema::{Select, Trace};
//! let tables = Trace::open("../tests/fixtures/real/gpt-loader.json.gz")?.read(&Select::summary())?;
//! let categories = Categories::default();
//! let analysis = Analysis::new(&tables, &categories);
//! let gpu = &analysis.idle()[0];
//! assert_eq!(gpu.idle_ns, 72_220_115);
//! assert_eq!(gpu.causes.iter().map(|cause| cause.idle_ns).sum::<i64>(), gpu.idle_ns);
//! # Ok(())
//! # }
//! ```
//!
//! Where time is lost, most of it first:
//!
//! ```
//! # fn main() -> Result<(), rtl_schema::Error> {
//! # use rtl_analysis::{Analysis, Categories, findings, trust};
//! # use rtl_schema::{Select, Trace};
//! let tables = Trace::open("../tests/fixtures/real/gpt-loader.json.gz")?.read(&Select::summary())?;
//! let categories = Categories::default();
//! let analysis = Analysis::new(&tables, &categories);
//! let health = trust::health(&analysis, None);
//! let found = findings::findings(&analysis, &health).findings;
//! assert_eq!(found.iter().map(|finding| finding.id.as_str()).collect::<Vec<_>>(), ["idle-host", "launch-bound"]);
//! # Ok(())
//! # }
//! ```
//!
//! # Versions
//! As of [`rtl_schema`], whose types are part of this crate's interface: both have the same version. A rule that finds more or
//! other things in a trace is a change of the second number and stands in the changelog.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod activity;
pub mod align;
pub mod allocations;
mod analysis;
pub mod api;
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
mod late_calls;
pub mod launches;
pub mod live;
mod lookup;
pub mod memory;
pub mod operators;
pub mod ops;
pub mod overview;
mod parallel;
pub mod pictures;
pub mod profile;
pub mod random;
pub mod ranges;
pub mod ranks;
pub mod region;
pub mod rocprofv3;
pub mod rpt;
pub mod run;
pub mod sanity;
mod sorted_ops;
pub mod stats;
pub mod streaming;
pub mod sweep;
pub mod tracing_cost;
pub mod trust;
mod uncovered;
pub mod unfinished;
mod union_length;
mod unknown_idle;
pub mod work;

pub use analysis::{Analysis, Part};
pub use categories::Categories;
pub use display_names::DisplayNames;
pub use error::{Error, Result};
pub use kernel_keys::KernelKeys;
pub use kernel_names::KernelNames;
pub use stats::Stats;
