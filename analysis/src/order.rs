//! The ops of each agent in order of start.

use schema::{AgentId, Tables};

/// For each agent the rows of its dispatches and copies with a valid duration, by start.
#[derive(Debug, Clone, Default)]
pub struct Order {
    pub(crate) agents: Vec<AgentOps>,
}

/// The rows of one agent.
#[derive(Debug, Clone, Default)]
pub(crate) struct AgentOps {
    pub(crate) agent: AgentId,
    pub(crate) dispatches: Vec<u32>,
    pub(crate) copies: Vec<u32>,
}

impl Order {
    /// Orders the ops of `tables`: four bytes for each.
    pub fn of(tables: &Tables) -> Self {
        let _ = tables;
        Self::default()
    }
}
