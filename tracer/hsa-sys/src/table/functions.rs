//! All functions of the core table and of AMD's extension table.

use super::{AmdTable, Kind, Place};

#[derive(Debug)]
pub struct Function {
    /// The function's name in C.
    pub name: &'static str,
    /// Either [`Kind::Core`] or [`Kind::AmdExtension`].
    pub table: Kind,
    /// Offsets by rising `since`, each until the next; 0 where the function is absent or nobody knows where it is.
    pub places: &'static [Place],
}

impl Function {
    /// Bytes from the start of the table to the function's pointer, where the extension table is of this generation; [`None`]
    /// where the function is not in it, or nobody knows where.
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
        /// Numbers the functions of both tables from 0, in the order of [`crate::every_function`].
        #[expect(non_camel_case_types, reason = "as HSA has them")]
        #[derive(Clone, Copy, Debug)]
        #[repr(u16)]
        pub enum Number { $($name),+ }

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
    use crate::table::AMD_EXTENSION;

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
            assert!(
                offsets.iter().all(|&offset| offset >= 16 && offset + 8 <= size && offset % 8 == 0),
                "{generation:?}"
            );
            let known = offsets.len();
            offsets.sort_unstable();
            offsets.dedup();
            assert_eq!(offsets.len(), known, "{generation:?}");
            // One generation has two orders, and nobody has seen the headers of the last two.
            let (all, is_certain) = ((size - 16) / 8, size != 576 && size <= 624);
            assert!(!is_certain || known + usize::from(size == 312) == all, "{generation:?} {known}");
        }
    }

    /// Places that were read by hand in each version of hsa_api_trace.h in the runtime's history.
    const FOUND_BY_HAND: [(Number, &[(u32, usize)]); 19] = [
        (Number::hsa_amd_profiling_set_profiler_enabled, &[(312, 32)]),
        (Number::hsa_amd_profiling_async_copy_enable, &[(312, 40)]),
        (Number::hsa_amd_profiling_get_dispatch_time, &[(312, 48)]),
        (Number::hsa_amd_profiling_get_async_copy_time, &[(312, 56)]),
        (Number::hsa_amd_profiling_convert_tick_to_system_domain, &[(312, 64)]),
        (Number::hsa_amd_signal_async_handler, &[(312, 72)]),
        (Number::hsa_amd_signal_wait_any, &[(312, 88)]),
        (Number::hsa_amd_queue_cu_set_mask, &[(312, 96)]),
        (Number::hsa_amd_memory_async_copy, &[(312, 136)]),
        (Number::hsa_amd_memory_async_copy_on_engine, &[(440, 144)]),
        (Number::hsa_amd_memory_fill, &[(312, 192), (432, 200), (440, 208)]),
        (Number::hsa_amd_pointer_info, &[(312, 224), (432, 232), (440, 240)]),
        (Number::hsa_amd_signal_create, &[(312, 264), (432, 272), (440, 280)]),
        (Number::hsa_amd_queue_intercept_create, &[(312, 296), (432, 304), (440, 312)]),
        (Number::hsa_amd_queue_intercept_register, &[(312, 304), (432, 312), (440, 320)]),
        (Number::hsa_amd_queue_set_priority, &[(320, 312), (432, 320), (440, 328)]),
        (Number::hsa_amd_memory_async_copy_rect, &[(328, 320), (432, 328), (440, 336)]),
        (Number::hsa_amd_runtime_queue_create_register, &[(336, 328), (432, 336), (440, 344)]),
        (Number::hsa_amd_queue_cu_get_mask, &[(400, 392), (424, 416), (432, 424), (440, 432)]),
    ];

    #[test]
    fn the_generated_list_has_the_functions_where_they_were_found_by_hand() {
        for generation in AMD_EXTENSION {
            for (number, places) in FOUND_BY_HAND {
                let place = places.iter().rfind(|(since, _)| *since <= generation.minor);
                let listed = FUNCTIONS[number as usize].offset(AmdTable(generation));
                assert_eq!(listed, place.map(|&(_, offset)| offset), "{number:?} {generation:?}");
            }
        }
    }
}
