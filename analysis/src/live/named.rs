//! Totals of rows by their names.

use rtl_schema::{NameId, Strings};

use super::state::NamedState;
use super::window::Window;
use crate::base::first_use::FirstUseMap;

#[derive(Debug, Clone)]
pub(super) struct ByName {
    totals: FirstUseMap<NameId, Total>,
    recent: Window<NameId>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Total {
    count: u64,
    total_ns: i64,
    max_ns: i64,
}

impl ByName {
    /// Recent time is that of the last `window` ns.
    pub(super) fn new(window: i64) -> Self {
        Self { totals: FirstUseMap::default(), recent: Window::new(window) }
    }

    /// Adds a row; without a duration it only counts.
    pub(super) fn add(&mut self, name: NameId, start: i64, duration: Option<i64>) {
        let total = self.totals.entry(name).or_default();
        total.count += 1;
        if let Some(duration) = duration.filter(|&duration| duration >= 0) {
            total.total_ns = total.total_ns.saturating_add(duration);
            total.max_ns = total.max_ns.max(duration);
            self.recent.add(start, start.saturating_add(duration), name);
        }
    }

    /// Totals by the text that `text` makes of a name: most recent time first, then total time, then name.
    pub(super) fn state<'a>(
        &self,
        strings: &'a Strings,
        until: i64,
        text: impl Fn(&'a str) -> &'a str,
    ) -> Vec<NamedState> {
        let mut states: FirstUseMap<&str, NamedState> = FirstUseMap::default();
        let key = |name: NameId| text(strings.get(name));
        for (&name, total) in &self.totals {
            let state = states.entry(key(name)).or_default();
            state.count += total.count;
            state.total_ns = state.total_ns.saturating_add(total.total_ns);
            state.max_ns = state.max_ns.max(total.max_ns);
        }
        // First by number, which costs less than by text.
        let mut recent: FirstUseMap<NameId, (u64, i64)> = FirstUseMap::default();
        for (time, name) in self.recent.rows(until) {
            recent.entry(name).or_default().1 += time;
        }
        for name in self.recent.ended(until) {
            recent.entry(name).or_default().0 += 1;
        }
        for (name, (count, time)) in recent {
            let state = states.entry(key(name)).or_default();
            state.recent_count += count;
            state.recent_ns = state.recent_ns.saturating_add(time);
        }
        let named = states.into_iter().map(|(name, state)| NamedState { name: name.to_owned(), ..state });
        let mut named: Vec<NamedState> = named.collect();
        named.sort_by(|one, other| {
            (other.recent_ns, other.total_ns)
                .cmp(&(one.recent_ns, one.total_ns))
                .then_with(|| one.name.cmp(&other.name))
        });
        named
    }
}
