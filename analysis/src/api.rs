//! API calls by function.

use schema::Tables;
use serde::Serialize;

use crate::Stats;

/// All calls of one function.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ApiGroup {
    /// The library or layer, if known.
    pub domain: Option<String>,
    /// The function.
    pub name: String,
    /// Host time.
    #[serde(flatten)]
    pub stats: Stats,
}

/// API calls by domain and function, largest total first, then by name and domain.
pub fn by_function(tables: &Tables) -> Vec<ApiGroup> {
    let _ = tables;
    Vec::new()
}
