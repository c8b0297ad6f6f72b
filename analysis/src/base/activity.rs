//! Classes of the work of a GPU.

use rtl_schema::table::Direction;

/// A kind of op.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Activity {
    /// A position among the kernels of the trace.
    Kernel(usize),
    /// Copies or fills, by direction.
    Copies(Direction),
}
