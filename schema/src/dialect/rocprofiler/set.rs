use rustc_hash::FxHashSet;

use crate::Result;
use crate::sqlite::Database;

/// Tables of which every set has at least one.
const ANCHORS: [&str; 3] = ["rocpd_metadata", "rocpd_string", "rocpd_kernel_dispatch"];

/// The tables of one process: `rocpd_string` stands for `rocpd_string_0000ddb5_8903_7903_b269_cd8d3745bb8a`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Set<'a> {
    pub(super) database: &'a Database,
    pub(super) suffix: &'a str,
    /// The number of the set: the space of its ids.
    pub(super) space: u32,
}

impl Set<'_> {
    pub(super) fn table(&self, base: &str) -> String {
        format!("{base}{}", self.suffix)
    }

    /// The first pass over the dispatches, where rocprofv3 replayed kernels for counters (`replay_pass`, from 3.0.5).
    pub(super) fn first_pass(&self) -> Result<Option<i64>> {
        let table = self.table("rocpd_kernel_dispatch");
        let mut first: Option<i64> = None;
        if self.database.has_column(&table, "replay_pass")? {
            self.database.scan(&table, &["replay_pass"], |row| {
                first = row.int(0).map(|pass| first.map_or(pass, |first| first.min(pass))).or(first);
            })?;
        }
        Ok(first)
    }

    pub(super) fn guid(&self) -> String {
        self.suffix.trim_start_matches('_').replace('_', "-")
    }
}

/// The suffixes of all table sets, in the order of their guids, which begin with the start time.
pub(super) fn suffixes(database: &Database) -> Vec<String> {
    let found: FxHashSet<&str> = database
        .tables()
        .iter()
        .filter_map(|table| ANCHORS.iter().find_map(|anchor| table.strip_prefix(anchor)))
        .filter(|suffix| is_guid(suffix))
        .collect();
    let mut suffixes: Vec<String> = found.into_iter().map(str::to_owned).collect();
    suffixes.sort_unstable();
    suffixes
}

/// `_` and a guid with `_` for `-`.
fn is_guid(suffix: &str) -> bool {
    let mut groups = suffix.split('_');
    groups.next() == Some("")
        && [8, 4, 4, 4, 12].iter().all(|&length| {
            groups
                .next()
                .is_some_and(|group| group.len() == length && group.bytes().all(|b| b.is_ascii_hexdigit()))
        })
        && groups.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::is_guid;

    #[test]
    fn only_an_underscored_guid_ends_the_name_of_a_set() {
        assert!(is_guid("_0000ddb5_8903_7903_b269_cd8d3745bb8a"));
        for other in
            ["", "_", "_event", "0000ddb5_8903_7903_b269_cd8d3745bb8a", "_0000ddb5_8903_7903_b269_xyz"]
        {
            assert!(!is_guid(other), "{other}");
        }
    }
}
