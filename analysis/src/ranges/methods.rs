//! How the ops of each id space are tied to ranges.

use std::sync::OnceLock;

use rtl_schema::{ProcessId, Tables};

use super::attribution::{Attribution, RangeMethod};

/// The method of each id space of a trace, found when it is first asked for.
#[derive(Debug)]
pub(crate) struct Methods<'a> {
    pub(crate) tables: &'a Tables,
    by_space: OnceLock<BySpace>,
}

/// The method of each space, `None` where it has no ranges.
#[derive(Debug, Clone)]
pub(super) struct BySpace {
    pub(super) space_of_process: Vec<usize>,
    pub(super) methods: Vec<Option<RangeMethod>>,
}

impl BySpace {
    /// The space of a process, if its ops are tied by `method`.
    pub(super) fn space(&self, method: RangeMethod, process: ProcessId) -> Option<usize> {
        let space = self.space_of_process.get(process.index()).copied();
        space.filter(|&space| self.methods[space] == Some(method))
    }
}

impl<'a> Methods<'a> {
    /// Of a trace of which nothing was looked at.
    pub(crate) fn of(tables: &'a Tables) -> Self {
        Self { tables, by_space: OnceLock::new() }
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
