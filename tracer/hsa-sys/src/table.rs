//! Finds the functions in the tables that `OnLoad` receives, by the version that each table carries.
//!
//! Every table begins with an [`ApiTableVersion`]. Its `minor_id` is the size of the table in bytes (ROCr puts
//! `sizeof` there, hsa_api_trace.cpp), so it says which fields exist. For the extension table it also decides
//! where they are, because functions were inserted in its middle three times without a new `major_id`. From 712 bytes on,
//! branches with the same size differ in their functions, and `step_id` tells them apart.
//! A version that is not listed here is refused: calling through a wrong offset would call another
//! function with our arguments.

use core::marker::PhantomData;
use core::mem::size_of;

use crate::bindings::ApiTableVersion;
#[cfg(doc)]
use crate::bindings::{AmdExtTable, CoreApiTable, HsaApiTable};

mod all;
mod entries;
mod functions;
mod generations;

pub use entries::*;
pub use functions::{FUNCTIONS, Function, Number};
pub use generations::{AMD_EXTENSION, CORE, ROOT};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `HsaApiTable`, which points to the others.
    Root,
    /// `CoreApiTable`: the functions of hsa.h.
    Core,
    /// `AmdExtTable`: the functions of hsa_ext_amd.h and those meant for tools.
    AmdExtension,
}

impl core::fmt::Display for Kind {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.write_str(match self {
            Kind::Root => "HsaApiTable",
            Kind::Core => "CoreApiTable",
            Kind::AmdExtension => "AmdExtTable",
        })
    }
}

/// The table of a runtime that nobody has looked at yet, so nothing may be read from it or written to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this ROCm runtime has an unknown {table} (major {major}, {minor} bytes, step {step:#x})")]
pub struct UnknownTable {
    pub table: Kind,
    pub major: u32,
    /// Size of the table in bytes.
    pub minor: u32,
    pub step: u32,
}

/// A layout that was found in the history of the runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generation {
    pub major: u32,
    /// Size of the table in bytes.
    pub minor: u32,
    /// `None` where the size alone identifies the layout.
    pub step: Option<u32>,
    /// The commit that made the table this large, its date, and the releases that have it.
    pub source: &'static str,
}

/// Finds the known layout of a table of this kind and version: the fields of [`HsaApiTable`] and [`CoreApiTable`] are then where
/// this crate's types say.
///
/// # Errors
/// [`UnknownTable`] for a version that is not in [`ROOT`], [`CORE`] or [`AMD_EXTENSION`].
pub fn check(table: Kind, version: &ApiTableVersion) -> Result<&'static Generation, UnknownTable> {
    let known = match table {
        Kind::Root => ROOT,
        Kind::Core => CORE,
        Kind::AmdExtension => AMD_EXTENSION,
    };
    let (major, minor, step) = (version.major_id, version.minor_id, version.step_id);
    let found = known.iter().find(|known| {
        (known.major, known.minor) == (major, minor) && known.step.is_none_or(|known| known == step)
    });
    found.ok_or(UnknownTable { table, major, minor, step })
}

/// The layout of one generation of `AmdExtTable`. Fields of the type [`AmdExtTable`] itself are right for
/// tables of 400 bytes only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AmdTable(&'static Generation);

impl AmdTable {
    /// Finds the layout of a table that carries this version.
    ///
    /// # Errors
    /// [`UnknownTable`] for a version that is not in [`AMD_EXTENSION`].
    pub fn for_version(version: &ApiTableVersion) -> Result<Self, UnknownTable> {
        check(Kind::AmdExtension, version).map(Self)
    }

    #[must_use]
    pub const fn generation(self) -> &'static Generation {
        self.0
    }

    /// Bytes from the start of the table to the function's pointer, an `Option<F>`; [`None`] where this
    /// generation does not have the function. Always within the table's size.
    #[must_use]
    pub const fn offset<F>(self, entry: &Entry<F>) -> Option<usize> {
        entry.function.offset(self)
    }

    const fn place(self, places: &[Place]) -> Option<usize> {
        let mut found = None;
        let mut index = 0;
        while index < places.len() {
            if places[index].since <= self.0.minor {
                found = Some(places[index].offset);
            }
            index += 1;
        }
        match found {
            Some(offset) if offset > 0 && offset + size_of::<usize>() <= self.0.minor as usize => {
                Some(offset)
            }
            _ => None,
        }
    }
}

/// Where a function is in tables of `since` bytes and more, until the next place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub since: u32,
    /// Bytes from the start of the table.
    pub offset: usize,
}

/// A function of `AmdExtTable` and its type.
#[derive(Debug)]
pub struct Entry<F> {
    function: &'static Function,
    pointer: PhantomData<fn() -> F>,
}

impl<F> Entry<F> {
    const fn new(number: Number) -> Self {
        Self { function: &FUNCTIONS[number as usize], pointer: PhantomData }
    }

    /// The function's name in C.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.function.name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(major_id: u32, minor_id: u32) -> ApiTableVersion {
        ApiTableVersion { major_id, minor_id, step_id: 0, reserved: 0 }
    }

    fn intercept(major: u32, minor: u32) -> (Option<usize>, Option<usize>) {
        let table = AmdTable::for_version(&version(major, minor)).unwrap();
        (table.offset(&QUEUE_INTERCEPT_CREATE), table.offset(&QUEUE_INTERCEPT_REGISTER))
    }

    #[test]
    fn queue_interception_moved_twice_within_major_1() {
        assert_eq!(intercept(1, 312), (Some(296), Some(304)));
        assert_eq!(intercept(1, 400), (Some(296), Some(304)));
        assert_eq!(intercept(1, 424), (Some(296), Some(304)));
        assert_eq!(intercept(1, 432), (Some(304), Some(312)));
        assert_eq!(intercept(1, 440), (Some(312), Some(320)));
        assert_eq!(intercept(2, 560), (Some(312), Some(320)));
        assert_eq!(intercept(2, 624), (Some(312), Some(320)));
    }

    #[test]
    fn whatever_lies_behind_the_copy_moved_by_one_function_and_then_by_another() {
        let [before, one, two] =
            [424, 432, 440].map(|minor| AmdTable::for_version(&version(1, minor)).unwrap());
        for function in FUNCTIONS.iter().filter(|function| function.table == Kind::AmdExtension) {
            let Some(before) = function.offset(before) else { continue };
            let moved = if before < 144 { 0 } else { 8 };
            let after = [one, two].map(|table| function.offset(table));
            assert_eq!(after, [Some(before + moved), Some(before + 2 * moved)], "{}", function.name);
        }
    }

    #[test]
    fn a_table_of_another_size_or_major_is_refused() {
        let refused = |major, minor| AmdTable::for_version(&version(major, minor)).unwrap_err();
        for (major, minor) in
            [(1, 264), (1, 416), (1, 560), (2, 400), (2, 632), (2, 720), (2, 752), (3, 624), (0, 0)]
        {
            assert_eq!(
                refused(major, minor),
                UnknownTable { table: Kind::AmdExtension, major, minor, step: 0 }
            );
        }
        assert_eq!(
            refused(3, 720).to_string(),
            "this ROCm runtime has an unknown AmdExtTable (major 3, 720 bytes, step 0x0)"
        );
    }

    #[test]
    fn where_branches_share_a_size_the_step_decides() {
        for (minor_id, known) in [(712, 0x10), (728, 0x11), (744, 0x12)] {
            for step_id in 0..0x20 {
                let table = AmdTable::for_version(&ApiTableVersion { step_id, ..version(2, minor_id) });
                assert_eq!(table.is_ok(), step_id == known, "{minor_id} {step_id:#x}");
                let create = table.ok().and_then(|table| table.offset(&QUEUE_CREATE));
                assert_eq!(create, (step_id == known).then_some(704));
            }
        }
        assert_eq!(AmdTable::for_version(&version(2, 704)).unwrap().offset(&QUEUE_CREATE), None);
    }

    #[test]
    fn the_core_table_has_one_size_and_the_root_four() {
        assert!(check(Kind::Core, &version(1, 1016)).is_ok() && check(Kind::Core, &version(2, 1016)).is_ok());
        assert!(
            check(Kind::Core, &version(2, 1024)).is_err() && check(Kind::Core, &version(3, 1016)).is_err()
        );
        assert!(check(Kind::Root, &version(1, 48)).is_ok() && check(Kind::Root, &version(3, 64)).is_ok());
        // Between August and November 2017 the root table also had AQL profiling.
        assert_eq!(check(Kind::Root, &version(1, 56)).unwrap_err().table, Kind::Root);
    }

    #[test]
    fn a_function_that_came_later_is_not_found_in_an_older_table() {
        let old = AmdTable::for_version(&version(1, 400)).unwrap();
        let new = AmdTable::for_version(&version(2, 552)).unwrap();
        assert_eq!(old.offset(&MEMORY_ASYNC_COPY_ON_ENGINE), None);
        assert_eq!(new.offset(&MEMORY_ASYNC_COPY_ON_ENGINE), Some(144));
        let set_priority = &FUNCTIONS[Number::hsa_amd_queue_set_priority as usize];
        assert_eq!(set_priority.offset(AmdTable::for_version(&version(1, 312)).unwrap()), None);
    }

    #[test]
    fn generations_and_places_rise() {
        for known in [ROOT, CORE, AMD_EXTENSION] {
            assert!(known.is_sorted_by(|a, b| (a.major, a.minor) < (b.major, b.minor)));
        }
        for function in FUNCTIONS {
            assert!(function.places.is_sorted_by(|a, b| a.since < b.since), "{}", function.name);
        }
    }
}
