//! How the ops of each id space are tied to ranges.

use std::sync::OnceLock;

use rtl_schema::Tables;

use super::attribution::{Attribution, BySpace};

/// The method of each id space of a trace, found when it is first asked for.
#[derive(Debug)]
pub(crate) struct Methods<'a> {
    pub(crate) tables: &'a Tables,
    by_space: OnceLock<BySpace>,
}

impl<'a> Methods<'a> {
    pub(crate) fn of(tables: &'a Tables) -> Self {
        Self { tables, by_space: OnceLock::new() }
    }

    pub(crate) fn find(&self) {
        self.by_space();
    }

    pub(super) fn by_space(&self) -> &BySpace {
        self.by_space.get_or_init(|| Attribution::of(self.tables).by_space())
    }

    /// Ties ops to ranges, which shows the methods as well.
    pub(crate) fn attribution(&self) -> Attribution {
        let attribution = Attribution::of(self.tables);
        self.by_space.get_or_init(|| attribution.by_space());
        attribution
    }
}
