//! The names of processes. GPUs have some, too: that of the process that uses them.

use rustc_hash::FxHashMap;

use super::event::Event;
use super::scalar::text;
use super::sources::Source;

/// The most processes whose names are kept.
const MOST: usize = 1 << 16;

/// The names of the processes of one document, by their process ids as events spell them.
#[derive(Debug, Default)]
pub(super) struct ProcessNames(FxHashMap<Vec<u8>, String>);

impl ProcessNames {
    /// Keeps the first name of a process.
    pub(super) fn add(&mut self, event: &Event<'_>) {
        if let Some(name) = text(event.arguments.name)
            && self.0.len() < MOST
        {
            self.0.entry(event.pid.to_vec()).or_insert_with(|| name.trim().to_owned());
        }
    }

    /// The command of a process, and the rank that rtl-convert writes behind it: `python (rank 3)`.
    pub(super) fn find(&self, source: &Source) -> (Option<String>, Option<u32>) {
        let Some(name) = self.0.get(&source.raw) else { return (None, None) };
        let ranked = || {
            let (name, rank) = name.strip_suffix(')')?.rsplit_once(" (rank ")?;
            Some((name, rank.parse().ok()?))
        };
        let (name, rank) = ranked().map_or((name.as_str(), None), |(name, rank)| (name, Some(rank)));
        // The name that rtl-convert gives a process without one.
        let is_number = source.pid.is_some_and(|pid| name == format!("Process {pid}"));
        (Some(name.to_owned()).filter(|name| !name.is_empty() && !is_number), rank)
    }
}
