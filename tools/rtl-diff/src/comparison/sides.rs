//! A figure of each side, in a file of its own because both kinds of results have such figures.

use serde::Serialize;

#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Sides<T> {
    pub(crate) baseline: T,
    pub(crate) candidate: T,
}
