//! Shared by the layouts around the table `rocpd_op`: rocm-trace-lite's, RPD's and the native one.

mod agents;
mod calls;
mod fast_ops;
mod header;
mod id_map;
mod join;
mod kinds;
mod launch_columns;
mod launches;
mod links;
mod live_ops;
mod metadata;
mod names;
mod op_columns;
mod op_pieces;
mod ops;
mod plan;
mod processes;
mod read;
mod recent_shapes;
mod recent_tracks;
mod secondary_tables;
mod signal;

pub(super) use agents::{Agents, NO_GPU};
pub(super) use header::{Header, LaunchRows, OpenDispatch, References, Symbols, Variant};
pub(super) use id_map::IdMap;
pub(super) use kinds::OpKind;
pub use kinds::copy_type;
pub(super) use live_ops::LiveOps;
pub(super) use metadata::{Metadata, Object};
pub(super) use names::Names;
pub(super) use plan::{Field, Plan};
pub(super) use processes::Processes;
pub(crate) use read::PreparedOps;
