//! Where the GPU time went: columns in ([`rtl_schema::Tables`]), values out.
//!
//! Pure functions answer one question each (below), and [`Analysis`] answers several that share what they need. The crate
//! reads no file, knows no SQL and prints nothing.
//! Every result is deterministic: a total order with ties by name, the same values whatever the row order.
//! Times are integer nanoseconds; only means and shares are floating point.
//!
//! # Questions
//! - Where did the GPU time go? [`kernels`] by name, queue, range or rank; [`operators`] and [`ranges`] of the program around
//!   them; [`copies`], [`api`] calls and [`memory`]; [`sweep`] for busy time, overlaps and gaps.
//! - Why was a GPU idle? [`idle`] gives every nanosecond one cause.
//! - Does the host launch in time? [`launches`] has latencies and the depth of queues.
//! - Which rank is late? [`ranks`] compares steps, kernels and waits; [`align`] puts their clocks onto one.
//! - Did it get slower? [`profile`] reduces a run, [`identity`] matches renamed kernels, [`compare`] judges each change,
//!   [`decomposition`] and [`work`] explain it.
//! - Can the figures be believed? [`trust`] looks for reasons against it, [`sanity`] for odd rows.
//! - What should be changed first? [`findings`] name where time is lost, and why.
//! - What does it look like over time? [`pictures`] reduce a trace to what a page can show.
//! - What does a recording do now? [`live`] updates figures at the cost of the new rows.
//! - Which part of the trace is asked about? [`region`] filters it, [`overview`] describes it, [`combine`] joins several.
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
//! assert_eq!(found.iter().map(|finding| finding.id.as_str()).take(2).collect::<Vec<_>>(), ["launch-bound", "idle-host"]);
//! # Ok(())
//! # }
//! ```
//!
//! # Versions
//! As of [`rtl_schema`], whose types are part of this crate's interface: both have the same version. A rule that finds more or
//! other things in a trace is a change of the second number and stands in the changelog.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod analysis;
mod base;
mod error;
pub mod findings;
mod gpu_time;
pub mod idle;
pub mod launches;
pub mod live;
mod names;
pub mod pictures;
pub mod ranks;
mod slower;
pub mod streaming;
mod trace;
pub mod trust;

pub use analysis::{Analysis, Part};
pub use base::stats::Stats;
pub use base::{ops, random, stats};
pub use error::{Error, Result};
pub use gpu_time::{
    allocations, api, copies, distribution, kernels, memory, operators, ranges, rocprofv3, rpt, sweep,
};
pub use names::categories::Categories;
pub use names::display_names::DisplayNames;
pub use names::kernel_keys::KernelKeys;
pub use names::kernel_names::KernelNames;
pub use names::{categories, display_names, kernel_keys, labels};
pub use ranks::{align, collective_sizes};
pub use slower::{compare, complete_steps, decomposition, facts, identity, profile, run, work};
pub use trace::{combine, overview, region, stray};
pub use trust::{sanity, tracing_cost, unfinished};
