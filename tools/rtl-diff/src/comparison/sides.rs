//! A figure of each side.

use serde::Serialize;

/// A figure of each side.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Sides<T> {
    pub(crate) baseline: T,
    pub(crate) candidate: T,
}
