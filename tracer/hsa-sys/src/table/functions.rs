//! All functions of the core table and of AMD's extension table.

use super::{AmdTable, Kind, Place};

/// A function of a table, whatever its type.
#[derive(Debug)]
pub struct Function {
    /// Its name in C.
    pub name: &'static str,
    /// [`Kind::Core`] or [`Kind::AmdExtension`].
    pub table: Kind,
    /// Where it is, by rising `since`; an offset of 0 is nowhere.
    pub places: &'static [Place],
}

impl Function {
    /// Bytes from the start of its table to its pointer, where the extension table is of this generation; [`None`] where
    /// the function is not in it, or nobody knows where.
    #[must_use]
    pub const fn offset(&self, extension: AmdTable) -> Option<usize> {
        match self.table {
            Kind::AmdExtension => extension.place(self.places),
            _ => Some(self.places[0].offset),
        }
    }
}

macro_rules! list {
    ($($table:ident $name:ident $parameters:tt -> $result:ty, [$($since:literal: $offset:literal),+];)+) => {
        /// Every function of both tables, by the numbers of [`crate::every_function`]: from 0 in its order.
        pub const FUNCTIONS: &[Function] = &[$(Function {
            name: stringify!($name),
            table: list!(@ $table),
            places: &[$(Place { since: $since, offset: $offset }),+],
        }),+];
    };
    (@ core) => { Kind::Core };
    (@ extension) => { Kind::AmdExtension };
}

crate::every_function!(list);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{AMD_EXTENSION, ENTRIES};

    #[test]
    fn a_place_of_a_core_function_is_in_every_core_table() {
        let core: Vec<usize> =
            FUNCTIONS.iter().filter(|one| one.table == Kind::Core).map(|one| one.places[0].offset).collect();
        assert!(core.into_iter().eq((16..1016).step_by(8)));
    }

    #[test]
    fn functions_of_a_generation_are_at_places_of_their_own_within_it() {
        for generation in AMD_EXTENSION {
            let table = AmdTable(generation);
            let functions = FUNCTIONS.iter().filter(|function| function.table == Kind::AmdExtension);
            let mut offsets: Vec<usize> = functions.filter_map(|function| function.offset(table)).collect();
            let size = generation.minor as usize;
            assert!(offsets.iter().all(|&offset| offset >= 16 && offset + 8 <= size), "{generation:?}");
            let known = offsets.len();
            offsets.sort_unstable();
            offsets.dedup();
            assert_eq!(offsets.len(), known, "{generation:?}");
            // One generation has two orders, and nobody has seen the headers of the last two.
            let (all, is_certain) = ((size - 16) / 8, size != 576 && size <= 624);
            assert!(!is_certain || known + usize::from(size == 312) == all, "{generation:?} {known}");
        }
    }

    #[test]
    fn the_generated_list_has_the_entries_where_they_were_found_by_hand() {
        for generation in AMD_EXTENSION {
            let table = AmdTable(generation);
            for (name, offset) in table.entries() {
                let listed = FUNCTIONS.iter().find(|function| function.name == name);
                assert!(
                    listed.is_none_or(|function| function.offset(table) == offset),
                    "{name} {generation:?}"
                );
            }
        }
        let unlisted =
            |&(name, _): &(&'static str, _)| FUNCTIONS.iter().all(|function| function.name != name);
        let unlisted: Vec<_> = ENTRIES.iter().copied().filter(unlisted).map(|(name, _)| name).collect();
        let unreleased = [
            "hsa_amd_counted_queue_acquire",
            "hsa_amd_counted_queue_release",
            "hsa_amd_memory_async_batch_copy",
        ];
        assert_eq!(unlisted, unreleased);
    }
}
