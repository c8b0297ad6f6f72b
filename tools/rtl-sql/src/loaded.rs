//! A trace in memory, and what its columns share.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use duckdb::Dictionary;
use rtl_analysis::idle::{self, IdlePiece};
use rtl_analysis::launches::OpLatencies;
use rtl_analysis::{Categories, DisplayNames};
use rtl_schema::table::AgentKind;
use rtl_schema::{AgentId, NameId, ProcessId, Select, Tables};

/// A trace of which some parts were read. What follows from them is computed once, when a query asks for it.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// The value of the column `trace`.
    pub(crate) label: Dictionary,
    /// The parts that were read.
    pub(crate) select: Select,
    /// The parts.
    pub(crate) tables: Tables,
    texts: OnceLock<Dictionary>,
    kernels: OnceLock<Dictionary>,
    display_names: OnceLock<Dictionary>,
    categories: OnceLock<(Dictionary, Vec<bool>)>,
    latencies: OnceLock<OpLatencies>,
    idle: OnceLock<Vec<IdlePiece>>,
    collectives: OnceLock<Vec<u32>>,
}

impl Loaded {
    pub(crate) fn new(label: &str, select: Select, tables: Tables) -> Self {
        Self {
            label: Dictionary::new([Some(label)].into_iter()),
            select,
            tables,
            texts: OnceLock::new(),
            kernels: OnceLock::new(),
            display_names: OnceLock::new(),
            categories: OnceLock::new(),
            latencies: OnceLock::new(),
            idle: OnceLock::new(),
            collectives: OnceLock::new(),
        }
    }

    /// All strings as stored, in the places of [`Self::place`].
    pub(crate) fn texts(&self) -> &Dictionary {
        self.texts.get_or_init(|| self.dictionary(|text| text))
    }

    /// All strings as names of kernels.
    pub(crate) fn kernels(&self) -> &Dictionary {
        self.kernels.get_or_init(|| self.dictionary(rtl_schema::identity))
    }

    /// The display names of kernels, and the other strings as stored.
    pub(crate) fn display_names(&self) -> &Dictionary {
        self.display_names.get_or_init(|| {
            let used: BTreeSet<NameId> = self.tables.dispatches.name.iter().copied().collect();
            let names = used.iter().map(|&name| rtl_schema::identity(self.tables.strings.get(name)));
            let names = DisplayNames::of(names);
            self.dictionary(|text| names.get(rtl_schema::identity(text)))
        })
    }

    /// The categories of kernels by name.
    pub(crate) fn categories(&self) -> &Dictionary {
        &self.categorised().0
    }

    fn categorised(&self) -> &(Dictionary, Vec<bool>) {
        self.categories.get_or_init(|| {
            let rules = Categories::default();
            let mut used = vec![false; self.tables.strings.len() + 2];
            self.tables.dispatches.name.iter().for_each(|&name| used[self.place(name) as usize] = true);
            let category = |(place, used): (usize, &bool)| {
                used.then(|| rules.of(rtl_schema::identity(self.text(place))))
            };
            let categories: Vec<Option<&str>> = used.iter().enumerate().map(category).collect();
            let is_collective =
                categories.iter().map(|of| *of == Some(rtl_analysis::categories::COLLECTIVE)).collect();
            (Dictionary::new(categories.into_iter()), is_collective)
        })
    }

    /// The launch latency of each op.
    pub(crate) fn latencies(&self) -> &OpLatencies {
        self.latencies.get_or_init(|| OpLatencies::of(&self.tables))
    }

    /// The pieces of idle time.
    pub(crate) fn idle(&self) -> &[IdlePiece] {
        self.idle.get_or_init(|| idle::pieces(&self.tables))
    }

    /// The rows of dispatches that are collectives: by name, or because the source states it.
    pub(crate) fn collectives(&self) -> &[u32] {
        self.collectives.get_or_init(|| {
            let dispatches = &self.tables.dispatches;
            let by_name = &self.categorised().1;
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

    /// The string at a place.
    fn text(&self, place: usize) -> &str {
        let strings = self.tables.strings.len();
        self.tables.strings.get(match place.checked_sub(strings) {
            None => NameId(place as u32),
            Some(0) => NameId::NONE,
            Some(_) => NameId::DANGLING,
        })
    }

    /// A dictionary with a form of each string; a name that the source stores as null is null.
    fn dictionary<'a>(&'a self, form: impl Fn(&'a str) -> &'a str) -> Dictionary {
        let strings = self.tables.strings.len();
        let form = |place| (place != strings).then(|| form(self.text(place)));
        Dictionary::new((0..strings + 2).map(form))
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

    /// The rank of a process.
    pub(crate) fn rank(&self, process: ProcessId) -> Option<i64> {
        self.tables.processes.get(process.index())?.rank.map(i64::from)
    }
}
