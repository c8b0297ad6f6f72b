//! A trace in memory, and what its columns share.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use rtl_analysis::idle::{self, IdlePiece};
use rtl_analysis::launches::OpLatencies;
use rtl_analysis::{Categories, DisplayNames};
use rtl_schema::table::AgentKind;
use rtl_schema::{AgentId, NameId, ProcessId, Select, Tables};

/// A trace of which some parts were read. What follows from them is computed once, when a column asks for it.
#[derive(Debug)]
pub struct Loaded {
    label: Box<str>,
    select: Select,
    pub(crate) tables: Tables,
    display_names: OnceLock<DisplayNames>,
    categories: OnceLock<Vec<Option<Box<str>>>>,
    latencies: OnceLock<OpLatencies>,
    idle: OnceLock<Vec<IdlePiece>>,
    collectives: OnceLock<Vec<u32>>,
}

impl Loaded {
    /// A trace with its name, which is the column `trace`, and the parts that were read.
    pub fn new(label: &str, select: Select, tables: Tables) -> Self {
        Self {
            label: label.into(),
            select,
            tables,
            display_names: OnceLock::new(),
            categories: OnceLock::new(),
            latencies: OnceLock::new(),
            idle: OnceLock::new(),
            collectives: OnceLock::new(),
        }
    }

    /// The column `trace`.
    pub fn label(&self) -> &str {
        &self.label
    }

    pub fn select(&self) -> Select {
        self.select
    }

    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// The display name of a kernel, or the string as stored.
    pub(crate) fn display_name(&self, place: usize) -> Option<&str> {
        let names = self.display_names.get_or_init(|| {
            let used: BTreeSet<NameId> = self.tables.dispatches.name.iter().copied().collect();
            let names = used.iter().map(|&name| rtl_schema::identity(self.tables.strings.get(name)));
            DisplayNames::of(names)
        });
        self.text(place).map(|text| names.get(rtl_schema::identity(text)))
    }

    /// The category of a kernel by its name.
    pub(crate) fn category(&self, place: usize) -> Option<&str> {
        let categories = self.categories.get_or_init(|| {
            let rules = Categories::default();
            let mut used = vec![false; self.places()];
            self.tables.dispatches.name.iter().for_each(|&name| used[self.place(name) as usize] = true);
            let category = |(place, used): (usize, &bool)| {
                used.then(|| rules.of(rtl_schema::identity(self.stored(place))).into())
            };
            used.iter().enumerate().map(category).collect()
        });
        categories[place].as_deref()
    }

    pub(crate) fn latencies(&self) -> &OpLatencies {
        self.latencies.get_or_init(|| OpLatencies::of(&self.tables))
    }

    pub(crate) fn idle(&self) -> &[IdlePiece] {
        self.idle.get_or_init(|| idle::pieces(&self.tables))
    }

    /// The rows of dispatches that are collectives: by name, or because the source states it.
    pub(crate) fn collectives(&self) -> &[u32] {
        self.collectives.get_or_init(|| {
            let dispatches = &self.tables.dispatches;
            let of_name = |place| self.category(place) == Some(rtl_analysis::categories::COLLECTIVE);
            let by_name: Vec<bool> = (0..self.places()).map(of_name).collect();
            let is_collective = |row: &u32| {
                let row = *row as usize;
                by_name[self.place(dispatches.name[row]) as usize] || dispatches.collective.get(row).is_some()
            };
            (0..dispatches.len() as u32).filter(is_collective).collect()
        })
    }

    /// The place of a string in the dictionaries: after all strings come the two absent ones.
    #[inline]
    pub(crate) fn place(&self, name: NameId) -> u32 {
        let strings = self.tables.strings.len() as u32;
        match name {
            NameId::NONE => strings,
            _ if name.0 < strings => name.0,
            _ => strings + 1,
        }
    }

    /// How many places the dictionaries have.
    pub(crate) fn places(&self) -> usize {
        self.tables.strings.len() + 2
    }

    /// The string at a place; a name that the source stores as null is null.
    pub(crate) fn text(&self, place: usize) -> Option<&str> {
        (place != self.tables.strings.len()).then(|| self.stored(place))
    }

    /// The string at a place as reports print it.
    fn stored(&self, place: usize) -> &str {
        let strings = self.tables.strings.len();
        self.tables.strings.get(match place.checked_sub(strings) {
            None => NameId(place as u32),
            Some(0) => NameId::NONE,
            Some(_) => NameId::DANGLING,
        })
    }

    /// The number of a GPU; none of other agents.
    pub(crate) fn gpu(&self, agent: Option<AgentId>) -> Option<i64> {
        let agent = self.tables.agents.get(agent?.index())?;
        (agent.kind == AgentKind::Gpu).then_some(agent.number)
    }

    /// The process id of the system.
    pub(crate) fn pid(&self, process: ProcessId) -> Option<i64> {
        self.tables.processes.get(process.index())?.pid
    }

    pub(crate) fn rank(&self, process: ProcessId) -> Option<i64> {
        self.tables.processes.get(process.index())?.rank.map(i64::from)
    }
}
